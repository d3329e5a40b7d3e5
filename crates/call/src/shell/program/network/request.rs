//! Requests to web servers.

use super::super::super::ir::{Part, Word};
use super::super::super::unwrap::connect_to;
use super::super::row::{ALL, Pick, Say, among};
use super::super::run::Use;
use crate::action::{ActionKind, Connect, Flow, Peer, Why, WriteHow};
use crate::secret::is_secret_name;

/// Notes a request to what `word` names.
pub(super) fn request(it: &mut Use<'_, '_, '_>, word: &Word, flow: Flow) {
    let flow = if flow == Flow::Fetch && carries(it, word) { Flow::Send } else { flow };
    let peer = match (word.literal(), word.why()) {
        (Some(text), _) => Peer::Url(schemed(it.name, text)),
        (None, Some(why)) => match known_host(&schemed(it.name, word.lead())) {
            Some(url) => Peer::Url(url),
            None => Peer::Opaque(why.clone()),
        },
        (None, None) => Peer::Url(word.shown()),
    };
    it.act_at(ActionKind::Connect(Connect { peer, flow }), word);
}

/// Whether an address holds what a command read, or a variable named like a secret: it leaves as a
/// body would.
fn carries(it: &Use<'_, '_, '_>, word: &Word) -> bool {
    word.parts.iter().any(|part| match part {
        Part::Opaque(Why::Variable(name)) => is_secret_name(name),
        Part::Opaque(Why::Substitution) => match it.reader.source.as_deref() {
            Some(source) => !among(PLAIN_SOURCES, source),
            None => word.lead().contains('?'),
        },
        Part::Opaque(Why::Piped(_) | Why::DecodedCode) => true,
        Part::Opaque(
            Why::Input
            | Why::Code(_)
            | Why::Directory
            | Why::Expansion(_)
            | Why::Unparsed(_)
            | Why::Unexplained
            | Why::Limit(_)
            | Why::UnknownProgram(_)
            | Why::UnknownTool(_)
            | Why::Elsewhere(_),
        )
        | Part::Text(_)
        | Part::Glob(_) => false,
    })
}

/// Whether one of these flags carries a secret or what a command read.
fn carried(it: &Use<'_, '_, '_>, flags: &str) -> bool {
    it.values(flags).iter().any(|word| carries(it, word))
}

/// Programs that print versions, times and counts, not what is in files.
const PLAIN_SOURCES: &str = "date uname uuidgen seq nproc git basename dirname arch dpkg whoami hostname";

/// An address as the program completes it: without a scheme it is a web address, and to some an address
/// without a host is one of this machine.
fn schemed(program: &str, text: &str) -> String {
    let secure = matches!(program, "https" | "xhs");
    let scheme = if secure { "https" } else { "http" };
    if let Some(rest) = text.strip_prefix(':')
        && matches!(program, "http" | "https" | "xh" | "xhs")
    {
        let port = if rest.starts_with(|c: char| c.is_ascii_digit()) { ":" } else { "" };
        return format!("{scheme}://localhost{port}{rest}");
    }
    let before = text.split(['/', '?', '#']).next().unwrap_or(text);
    // `host:3000` is a host and its port, `file:` and `http:` are schemes.
    let whole = before.split_once(':').is_some_and(|(_, port)| !port.starts_with(|c: char| c.is_ascii_digit()))
        && !before.starts_with('[');
    if text.contains("://") || whole || text.is_empty() { text.to_owned() } else { format!("{scheme}://{text}") }
}

/// The known beginning of a URL, if it holds the whole host: `https://host/…`.
pub(super) fn known_host(lead: &str) -> Option<String> {
    let (scheme, rest) = lead.split_once("://")?;
    let (host, _) = rest.split_once('/')?;
    (!host.is_empty() && !host.contains('@')).then(|| format!("{scheme}://{host}/"))
}

pub(super) fn curl(it: &mut Use<'_, '_, '_>) {
    let flow = if sends(it) || carried(it, "-A --user-agent -e --referer -u --user --oauth2-bearer") {
        Flow::Send
    } else {
        Flow::Fetch
    };
    for data in it.values(DATA) {
        body(it, &data);
    }
    it.each_value("-T --upload-file", |it, word| it.read(word));
    it.each_value("-H --header -b --cookie", |it, word| header(it, word, flow));
    it.each_value("-K --config", |it, word| {
        it.read(word);
        it.say(Say::Hidden("curl configuration"));
    });
    it.each_value("-E --cert --key --netrc-file", |it, word| it.read(word));
    named_files(it);
    it.each_value(
        "-o --output -D --dump-header -c --cookie-jar --trace --trace-ascii --libcurl --etag-save --stderr",
        |it, word| it.write(word, WriteHow::Replace),
    );
    // A proxy sees all that passes.
    it.each_value("-x --proxy --preproxy --socks5 --socks5-hostname --socks4", |it, word| {
        request(it, word, Flow::Session)
    });
    it.each_value("--resolve --connect-to", |it, word| redirected(it, word, flow));
    it.each_value("--unix-socket --abstract-unix-socket", |it, word| {
        it.read(word);
        it.say(Say::Privilege("a local service socket"));
    });
    remote_names(it);
    it.each_value("--url", |it, word| request(it, word, flow));
    it.each(ALL, |it, word| request(it, word, flow));
}

/// A header of a file reads it; one built at run time may carry anything away.
fn header(it: &mut Use<'_, '_, '_>, word: &Word, flow: Flow) {
    if word.lead().starts_with('@') {
        it.read(&word.without_lead(1));
    } else if word.lead() == "" || word.why().is_some() && flow == Flow::Fetch {
        it.act_at(ActionKind::Opaque(word.why().cloned().unwrap_or(Why::Input)), word);
    }
}

const DATA: &str =
    "-d --data --data-raw --data-binary --data-urlencode --data-ascii --json -F --form -T --upload-file --url-query";

fn sends(it: &Use<'_, '_, '_>) -> bool {
    let method = it.value("-X --request");
    let sends_method =
        method.as_ref().is_some_and(|method| !matches!(method.literal(), Some("GET" | "HEAD" | "OPTIONS")));
    // `-G` puts known words into the address; a file or what a command printed leaves all the same.
    let query =
        it.has("-G --get") && it.values(DATA).iter().all(|data| data.literal().is_some_and(|it| !it.contains('@')));
    sends_method || it.has(DATA) && !query || it.has("--form-string")
}

/// Files that curl reads under other names: cookies, variables, formats, the user's own netrc.
fn named_files(it: &mut Use<'_, '_, '_>) {
    it.each_value("-b --cookie", |it, word| {
        if word.literal().is_some_and(|text| !text.contains('=') && !text.is_empty()) {
            it.read(word);
        }
    });
    it.each_value("--variable -w --write-out", |it, word| {
        if let Some(at) = word.lead().find('@').filter(|at| !word.lead().get(..*at).unwrap_or("").contains('=')) {
            it.read(&word.without_lead(at + 1));
        }
    });
    if it.has("-n --netrc --netrc-optional") && it.value("--netrc-file").is_none() {
        let netrc = Word::literal_at(format!("{}/.netrc", it.reader.setting.home), it.span());
        it.read(&netrc);
    }
}

/// `--resolve HOST:PORT:ADDRESS,…`, `--connect-to HOST:PORT:HOST:PORT`: who is reached in truth.
fn redirected(it: &mut Use<'_, '_, '_>, word: &Word, flow: Flow) {
    let Some(text) = word.literal() else { return connect_to(it.reader, word, flow) };
    let Some(target) = text.splitn(3, ':').nth(2) else { return };
    for host in target.split(',').filter(|host| !host.is_empty() && !host.starts_with(':')) {
        connect_to(it.reader, &Word::literal_at(host, word.span.clone()), flow);
    }
}

/// `-O` writes a file named by the URL.
pub(super) fn remote_names(it: &mut Use<'_, '_, '_>) {
    if !it.has("-O --remote-name --remote-name-all -J --remote-header-name") {
        return;
    }
    for url in it.operands(0) {
        let name = url
            .literal()
            .map(|text| text.split(['?', '#']).next().unwrap_or(text).rsplit('/').next().unwrap_or("index").to_owned());
        let directory =
            it.value("--output-dir").map_or_else(String::new, |directory| format!("{}/", directory.shown()));
        match name {
            Some(name) => {
                it.write(&Word::literal_at(format!("{directory}{name}"), url.span.clone()), WriteHow::Replace)
            }
            None => it.write(&url, WriteHow::Replace),
        }
    }
}

/// `-d @file`, `-F name=@file`, `-F name=<file`: the file is read.
pub(super) fn body(it: &mut Use<'_, '_, '_>, data: &Word) {
    let lead = data.lead();
    if lead.starts_with('@') {
        return it.read(&data.without_lead(1));
    }
    for mark in ["=@", "=<", "@"] {
        if let Some(at) = lead
            .find(mark)
            .filter(|at| mark != "@" || *at > 0 && !lead.contains(' ') && !lead.contains('=') && !lead.contains('.'))
        {
            let file = data.without_lead(at + mark.len());
            let file = match file.literal().and_then(|text| text.split_once(';')) {
                Some((name, _)) => Word::literal_at(name, file.span.clone()),
                None => file,
            };
            return it.read(&file);
        }
    }
}

pub(super) fn wget(it: &mut Use<'_, '_, '_>) {
    let method = it.value("--method").is_some_and(|method| !matches!(method.literal(), Some("GET" | "HEAD")));
    let flow = if method
        || carried(it, "--header -U --user-agent --user --password --referer")
        || it.has("--post-data --post-file --body-data --body-file")
    {
        Flow::Send
    } else {
        Flow::Fetch
    };
    it.each_value("--post-file --body-file -i --input-file --load-cookies --certificate --private-key", |it, word| {
        it.read(word)
    });
    it.each_value("-o --output-file -a --append-output --save-cookies -P --directory-prefix", |it, word| {
        it.write(word, WriteHow::Replace)
    });
    if it.has("-e --execute --use-askpass --config") {
        it.say(Say::Hidden("wget configuration"));
    }
    match it.value("-O --output-document") {
        Some(file) => it.write(&file, WriteHow::Replace),
        None if it.has("--spider -P --directory-prefix") => {}
        None => {
            for url in it.operands(0) {
                let name = url
                    .literal()
                    .map_or("index.html", |text| text.trim_end_matches('/').rsplit('/').next().unwrap_or("index.html"));
                let file = Word::literal_at(name, url.span.clone());
                it.write(&file, WriteHow::Replace);
            }
        }
    }
    it.each(ALL, |it, word| request(it, word, flow));
}

/// `http [METHOD] URL [items]`: items with `=` or `@` make a body.
pub(super) fn httpie(it: &mut Use<'_, '_, '_>) {
    let first = it.literal(0).unwrap_or("").to_ascii_uppercase();
    let method = among("GET HEAD OPTIONS POST PUT PATCH DELETE", &first)
        || !first.is_empty() && it.literal(0).is_some_and(|text| text.bytes().all(|byte| byte.is_ascii_uppercase()));
    let at = usize::from(method);
    let reads = !method || among("GET HEAD OPTIONS", &first);
    let items = it.operands(at + 1);
    let body = items.iter().any(|item| {
        let lead = item.lead();
        item.why().is_some()
            || (lead.contains('=') && !lead.contains("=="))
            || lead.contains('@')
            || lead.contains(":=")
    });
    let flow = if body || !reads || it.has("--raw") { Flow::Send } else { Flow::Fetch };
    for item in &items {
        if let Some(at) = item.lead().find('@') {
            it.read(&item.without_lead(at + 1));
        }
    }
    it.each_value("-o --output", |it, word| it.write(word, WriteHow::Replace));
    it.each_value("--proxy", |it, word| {
        // `http:http://proxy`: for which scheme it stands.
        let lead = word.lead().to_owned();
        let skip = ["http:", "https:", "all:"]
            .iter()
            .find(|which| lead.starts_with(**which) && !lead.starts_with(&format!("{which}//")));
        request(it, &word.without_lead(skip.map_or(0, |which| which.len())), Flow::Session)
    });
    it.each(Pick::At(at), |it, word| request(it, word, flow));
}
