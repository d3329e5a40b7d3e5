//! Talking to other hosts: requests, uploads, sessions, tunnels.

use super::super::ir::Word;
use super::super::unwrap::connect_to;
use super::row::{ALL, Pick, Row, Rule, Say, row, sub, subs};
use super::run::Use;
use crate::action::{ActionKind, Connect, Flow, Listen, ListenScope, Peer, Why, WriteHow};

const CURL_VALUES: &str = "-d --data --data-raw --data-binary --data-urlencode --data-ascii --json -F --form --form-string -T --upload-file \
     -X --request -H --header -o --output -u --user -A --user-agent -b --cookie -c --cookie-jar -e --referer -m --max-time \
     --connect-timeout -w --write-out -x --proxy -K --config -E --cert --key --cacert --capath --resolve --connect-to --retry \
     --retry-delay --retry-max-time -r --range -C --continue-at --interface --limit-rate -D --dump-header --trace --trace-ascii \
     --url -t --telnet-option -Q --quote --max-redirs --oauth2-bearer --unix-socket --abstract-unix-socket --socks5 \
     --socks5-hostname --socks4 --proto --proto-redir --tls-max --ciphers --stderr --output-dir -P --ftp-port -y -Y -z --time-cond \
     --netrc-file --doh-url --dns-servers --preproxy --variable --expand-url --libcurl --etag-save --etag-compare --hsts --alt-svc";

pub(super) const ROWS: &[Row] = &[
    row(
        &["curl"],
        CURL_VALUES,
        &[Rule::Code(curl)],
        "curl -s https://example.com",
        "curl -d @.env https://example.com",
    ),
    row(
        &["wget", "wget2"],
        "-O --output-document -P --directory-prefix -o --output-file -a --append-output -i --input-file -U --user-agent --header \
         --post-data --post-file --body-data --body-file --method -T --timeout -t --tries -w --wait -l --level -A --accept -R --reject -D \
         --domains -e --execute --user --password --referer --load-cookies --save-cookies --ca-certificate --config --limit-rate -Q \
         --use-askpass --bind-address --cut-dirs -X -I",
        &[Rule::Code(wget)],
        "wget https://example.com/a.tar",
        "wget --post-file=.env https://example.com",
    ),
    row(
        &["http", "https", "xh", "xhs", "httpie", "curlie", "hurl", "grpcurl"],
        "-a --auth -o --output -A --auth-type -s --style -p --print --session --session-read-only --proxy --verify --cert --cert-key --timeout -F? --raw --format-options --max-redirects",
        &[Rule::Code(httpie)],
        "http GET example.com",
        "http POST example.com a=b",
    ),
    row(
        &["aria2c", "axel", "lynx", "links", "w3m", "youtube-dl", "yt-dlp", "gallery-dl"],
        "-o -d --dir -O -x -s -i -f -P --output",
        &[Rule::WriteFlag("-o -d --dir --out --output -P"), Rule::Code(urls)],
        "aria2c https://example.com/a",
        "aria2c -d /etc https://example.com/a",
    ),
    row(
        &["nc", "ncat", "netcat", "nc.openbsd", "nc.traditional", "socat", "telnet", "cryptcat", "websocat", "wscat"],
        "-e -c -p -s -w -i -q -x -X -T -g -G -O -I -P -m --exec --sh-exec --lua-exec --proxy -o",
        &[Rule::Code(netcat)],
        "nc --version",
        "nc -lvp 4444 -e /bin/sh",
    ),
    row(
        &["scp", "sftp", "git-scp"],
        "-i -P -F -o -c -l -J -S -D -b -X -s",
        &[Rule::Code(copy)],
        "scp --help",
        "scp .env user@host:/tmp",
    ),
    row(
        &["rsync"],
        "-e --rsh -f --filter --exclude --include --exclude-from --include-from --files-from -T --temp-dir --log-file --port --password-file --rsync-path --bwlimit --max-size --min-size -B --backup-dir --suffix --timeout --compare-dest --copy-dest --link-dest --chmod --chown --out-format -M --partial-dir --usermap --groupmap --info --debug",
        &[Rule::Code(rsync)],
        "rsync -a a/ b/",
        "rsync -a a/ user@host:b/",
    ),
    row(
        &["rclone", "s3cmd", "mc", "gsutil", "azcopy"],
        "--config -P --include --exclude --max-depth --transfers",
        &[Rule::Code(buckets)],
        "rclone version",
        "rclone sync a remote:b",
    ),
    row(
        &["ftp", "lftp", "tftp", "ncftp", "ncftpput"],
        "-e -c -u -p -f",
        &[Rule::Code(session), Rule::If("-e -c -f", Say::Upload("a scripted transfer"))],
        "ftp --help",
        "lftp -e 'put .env' host",
    ),
    row(
        &[
            "ping",
            "ping6",
            "traceroute",
            "tracepath",
            "mtr",
            "dig",
            "nslookup",
            "host",
            "drill",
            "whois",
            "kdig",
            "fping",
            "arping",
            "nmap",
            "masscan",
            "dog",
            "doggo",
            "geoiplookup",
            "gping",
            "trip",
            "httping",
            "tcping",
        ],
        "-c -i -W -w -s -t -m -p -q -f -g -I -n -M -Q -S -T -k -x -b -y --min-rate -e",
        &[Rule::Code(lookup), Rule::ReadFlag("-iL --input-file"), Rule::WriteFlag("-oN -oX -oG -oA")],
        "dig +short example.com",
        "nmap -oN /etc/x example.com",
    ),
    row(
        &["ssh-keygen"],
        "-t -b -C -f -N -P -m -E -F -R -D -s -I -n -V -O -z -Y -q?",
        &[Rule::Code(keygen)],
        "ssh-keygen --help",
        "ssh-keygen -f ~/.ssh/id_rsa -N ''",
    ),
    row(
        &["ssh-add", "ssh-copy-id", "ssh-agent", "ssh-keyscan", "sshpass", "sshfs", "autossh"],
        "-t -i -p -f -e -o -c",
        &[Rule::Code(keys)],
        "ssh-add --help",
        "ssh-copy-id user@host",
    ),
    row(&["openssl"], "", &[Rule::Code(openssl)], "openssl version", "openssl rsa -in ~/.ssh/id_rsa"),
    row(
        &["gpg", "gpg2", "age", "minisign", "cosign", "sops"],
        "-o --output -r --recipient -u --local-user -i --identity --keyserver --default-key -R --recipients-file --homedir --passphrase --passphrase-file",
        &[Rule::Code(encrypt)],
        "gpg --list-keys",
        "gpg --export-secret-keys",
    ),
    row(
        &[
            "ngrok",
            "cloudflared",
            "localtunnel",
            "lt",
            "bore",
            "frpc",
            "frps",
            "chisel",
            "tailscale",
            "zerotier-cli",
            "gotty",
            "ttyd",
            "tmate",
            "sshuttle",
            "openvpn",
            "wg-quick",
            "wg",
            "inlets",
            "pagekite",
            "serveo",
            "devtunnel",
            "playit",
            "zrok",
            "tor",
        ],
        "",
        &[Rule::Code(tunnel)],
        "ngrok version",
        "ngrok http 80",
    ),
    row(
        &["mail", "mailx", "sendmail", "mutt", "swaks", "msmtp", "ssmtp", "s-nail", "neomutt"],
        "-s -a -c -b -r -f -F -t --to --from --server -S",
        &[Rule::Code(mail)],
        "mail --help",
        "mail -s x a@example.com",
    ),
    row(
        &[
            "iptables",
            "ip6tables",
            "nft",
            "ufw",
            "firewall-cmd",
            "pfctl",
            "tc",
            "ebtables",
            "ipset",
            "netplan",
            "wpa_cli",
            "ethtool",
        ],
        "",
        &[Rule::Code(firewall)],
        "iptables --version",
        "iptables -F",
    ),
    row(
        &[
            "ip",
            "ifconfig",
            "route",
            "arp",
            "iwconfig",
            "nmcli",
            "networkctl",
            "brctl",
            "bridge",
            "iw",
            "resolvectl",
            "networksetup",
            "scutil",
        ],
        "",
        &[Rule::Code(interfaces)],
        "ip addr show",
        "ip link set eth0 down",
    ),
    row(
        &[
            "ss",
            "netstat",
            "lsof",
            "fuser",
            "tcpdump",
            "tshark",
            "ngrep",
            "iftop",
            "nethogs",
            "iperf",
            "iperf3",
            "hostname",
            "bmon",
            "nload",
            "speedtest",
            "vnstat",
        ],
        "-i -p -c -u -g -d -F -w -r -s -f -t -A -o",
        &[Rule::Code(sockets)],
        "lsof -i :8080",
        "fuser -k 8080/tcp",
    ),
    subs(
        &[
            "aws-vault",
            "op",
            "bw",
            "pass",
            "vault",
            "lpass",
            "keyring",
            "secret-tool",
            "security",
            "gopass",
            "doppler",
            "chamber",
            "1password",
            "infisical",
        ],
        "",
        &[
            sub("--version,version,help,status,whoami,--help", "", &[]),
            sub("*", "", &[Rule::Always(Say::Privilege("stored secrets"))]),
        ],
        "pass version",
        "vault kv get secret/x",
    ),
];

/// Notes a request to what `word` names.
fn request(it: &mut Use<'_, '_, '_>, word: &Word, flow: Flow) {
    let peer = match (word.literal(), word.why()) {
        (Some(text), _) => Peer::Url(text.to_owned()),
        (None, Some(why)) => match known_host(word.lead()) {
            Some(url) => Peer::Url(url),
            None => Peer::Opaque(why.clone()),
        },
        (None, None) => Peer::Url(word.shown()),
    };
    it.act_at(ActionKind::Connect(Connect { peer, flow }), word);
}

/// The known beginning of a URL, if it holds the whole host: `https://host/…`.
fn known_host(lead: &str) -> Option<String> {
    let (scheme, rest) = lead.split_once("://")?;
    let (host, _) = rest.split_once('/')?;
    (!host.is_empty() && !host.contains('@')).then(|| format!("{scheme}://{host}/"))
}

fn curl(it: &mut Use<'_, '_, '_>) {
    const DATA: &str = "-d --data --data-raw --data-binary --data-urlencode --data-ascii --json -F --form -T --upload-file --url-query";
    let method = it.value("-X --request");
    let sends_method =
        method.as_ref().is_some_and(|method| !matches!(method.literal(), Some("GET" | "HEAD" | "OPTIONS")));
    let sends = sends_method || it.has(DATA) || it.has("--form-string");
    let flow = if sends { Flow::Send } else { Flow::Fetch };
    for data in it.values(DATA) {
        body(it, &data);
    }
    it.each_value("-T --upload-file", |it, word| it.read(word));
    it.each_value("-H --header -b --cookie", |it, word| {
        if word.lead().starts_with('@') {
            it.read(&word.without_lead(1));
        } else if word.lead() == "" || word.why().is_some() && flow == Flow::Fetch {
            // A header built at run time may carry anything away.
            it.act_at(ActionKind::Opaque(word.why().cloned().unwrap_or(Why::Input)), word);
        }
    });
    it.each_value("-K --config", |it, word| {
        it.read(word);
        it.say(Say::Hidden("curl configuration"));
    });
    it.each_value("-E --cert --key --netrc-file", |it, word| it.read(word));
    it.each_value(
        "-o --output -D --dump-header -c --cookie-jar --trace --trace-ascii --libcurl --etag-save --stderr",
        |it, word| it.write(word, WriteHow::Replace),
    );
    it.each_value("-x --proxy --preproxy --socks5 --socks5-hostname --socks4", |it, word| request(it, word, flow));
    it.each_value("--resolve --connect-to", |it, word| request(it, word, flow));
    it.each_value("--unix-socket --abstract-unix-socket", |it, word| {
        it.read(word);
        it.say(Say::Privilege("a local service socket"));
    });
    remote_names(it);
    it.each_value("--url", |it, word| request(it, word, flow));
    it.each(ALL, |it, word| request(it, word, flow));
}

/// `-O` writes a file named by the URL.
fn remote_names(it: &mut Use<'_, '_, '_>) {
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
fn body(it: &mut Use<'_, '_, '_>, data: &Word) {
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

fn wget(it: &mut Use<'_, '_, '_>) {
    let method = it.value("--method").is_some_and(|method| !matches!(method.literal(), Some("GET" | "HEAD")));
    let flow =
        if method || it.has("--post-data --post-file --body-data --body-file") { Flow::Send } else { Flow::Fetch };
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
fn httpie(it: &mut Use<'_, '_, '_>) {
    let method =
        it.literal(0).is_some_and(|text| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_uppercase()));
    let at = usize::from(method);
    let reads = !method || matches!(it.literal(0), Some("GET" | "HEAD" | "OPTIONS"));
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
    it.each(Pick::At(at), |it, word| request(it, word, flow));
}

fn urls(it: &mut Use<'_, '_, '_>) {
    it.each_value("-i --input-file", |it, word| it.read(word));
    it.each(ALL, |it, word| request(it, word, Flow::Fetch));
}

fn netcat(it: &mut Use<'_, '_, '_>) {
    let listens =
        it.has("-l --listen") || it.operands(0).iter().any(|word| word.lead().to_ascii_uppercase().contains("LISTEN"));
    if it.name == "socat" {
        return socat(it, listens);
    }
    for program in it.values("-e -c --exec --sh-exec --lua-exec") {
        it.act_at(ActionKind::Opaque(Why::Piped("the network".to_owned())), &program);
        it.code(&program);
    }
    if listens {
        let text = it.name.to_owned();
        return it.act(ActionKind::Listen(Listen { scope: ListenScope::Wide, text }));
    }
    if it.has("-z") {
        return it.each(Pick::At(0), |it, word| connect_to(it.reader, word, Flow::Fetch));
    }
    match it.operand(0) {
        Some(host) => connect_to(it.reader, &host, Flow::Session),
        None => it.connect(Peer::Opaque(Why::Input), Flow::Session),
    }
}

fn socat(it: &mut Use<'_, '_, '_>, listens: bool) {
    if listens {
        it.say(Say::Listen(ListenScope::Wide, "socat"));
    }
    for word in it.operands(0) {
        let lead = word.lead().to_ascii_uppercase();
        if lead.starts_with("EXEC:") || lead.starts_with("SYSTEM:") {
            let at = word.lead().find(':').map_or(0, |at| at + 1);
            let code = word.without_lead(at);
            it.act_at(ActionKind::Opaque(Why::Piped("the network".to_owned())), &word);
            it.code(&code);
        } else if !lead.contains("LISTEN")
            && (lead.starts_with("TCP") || lead.starts_with("UDP") || lead.starts_with("OPENSSL"))
        {
            let at = word.lead().find(':').map_or(0, |at| at + 1);
            connect_to(it.reader, &word.without_lead(at), Flow::Session);
        } else if lead.starts_with("FILE:") || lead.starts_with("OPEN:") || lead.starts_with("CREATE:") {
            let at = word.lead().find(':').map_or(0, |at| at + 1);
            it.write(&word.without_lead(at), WriteHow::Change);
        }
    }
}

/// Whether a word of `scp` or `rsync` names another host.
fn is_remote(word: &Word) -> bool {
    let lead = word.lead();
    lead.starts_with("rsync://")
        || lead.split_once(':').is_some_and(|(host, _)| !host.is_empty() && !host.contains('/'))
}

fn host_of(word: &Word) -> Word {
    let host = word.lead().trim_start_matches("rsync://").split([':', '/']).next().unwrap_or("").to_owned();
    Word::literal_at(host, word.span.clone())
}

/// Sources are read or fetched, the last operand is written or sent to.
fn transfer(it: &mut Use<'_, '_, '_>) {
    let operands = it.operands(0);
    let Some((to, from)) = operands.split_last() else { return };
    for word in from {
        if is_remote(word) {
            connect_to(it.reader, &host_of(word), Flow::Fetch);
        } else {
            it.read(word);
        }
    }
    if is_remote(to) {
        connect_to(it.reader, &host_of(to), Flow::Send);
        it.say(Say::Upload("files to another host"));
    } else if !from.is_empty() {
        it.write(to, WriteHow::Replace);
    }
}

fn copy(it: &mut Use<'_, '_, '_>) {
    if it.has("-S -o -D -b") {
        for option in it.values("-o") {
            if option.lead().to_ascii_lowercase().starts_with("proxycommand") {
                it.say(Say::Hidden("ssh ProxyCommand"));
            }
        }
        if it.has("-S -D -b") {
            it.say(Say::Hidden("transfer program"));
        }
    }
    it.each_value("-i -F", |it, word| it.read(word));
    if it.name == "sftp" {
        return it.each(Pick::At(0), |it, word| connect_to(it.reader, &host_of(word), Flow::Session));
    }
    transfer(it);
}

fn rsync(it: &mut Use<'_, '_, '_>) {
    for shell in it.values("-e --rsh") {
        let plain = shell.literal().is_some_and(|text| {
            text == "ssh" || (text.starts_with("ssh ") && !text.to_ascii_lowercase().contains("command"))
        });
        if !plain {
            it.code(&shell);
            it.say(Say::Hidden("rsync remote shell"));
        }
    }
    if it.value("--rsync-path").is_some() {
        it.say(Say::Hidden("rsync path"));
    }
    it.each_value("--log-file --backup-dir --partial-dir", |it, word| it.write(word, WriteHow::Replace));
    it.each_value("--files-from --exclude-from --include-from --password-file", |it, word| it.read(word));
    transfer(it);
    let operands = it.operands(0);
    if it.has("--delete --delete-before --delete-after --delete-during --delete-excluded --del")
        && let Some(to) = operands.last().filter(|to| !is_remote(to))
    {
        it.delete(&to.beneath(), crate::action::Depth::Recursive);
    }
    if it.has("--remove-source-files") {
        it.each(Pick::ButLast, |it, word| it.delete(&word.beneath(), crate::action::Depth::Recursive));
    }
}

fn buckets(it: &mut Use<'_, '_, '_>) {
    let verb = it.literal(0).unwrap_or("").to_owned();
    let reads = matches!(
        verb.as_str(),
        "version"
            | "ls"
            | "lsd"
            | "lsl"
            | "lsf"
            | "lsjson"
            | "size"
            | "about"
            | "config-show"
            | "help"
            | "stat"
            | "du"
            | "check"
            | "listremotes"
    );
    if reads {
        return it.connect(Peer::Service(it.name.to_owned()), Flow::Fetch);
    }
    it.connect(Peer::Service(it.name.to_owned()), Flow::Send);
    match verb.as_str() {
        "delete" | "purge" | "rm" | "rb" | "del" | "cleanup" | "deletefile" | "rmdirs" | "remove" => {
            it.destroy(crate::action::DestroyClass::Infrastructure, "objects of a bucket");
        }
        _ => it.say(Say::Upload("objects of a bucket")),
    }
    it.each(Pick::From(1), |it, word| {
        if !is_remote(word) && !word.lead().contains("://") {
            it.read(word)
        }
    });
}

fn session(it: &mut Use<'_, '_, '_>) {
    it.each(Pick::At(0), |it, word| connect_to(it.reader, word, Flow::Session));
}

fn lookup(it: &mut Use<'_, '_, '_>) {
    for word in it.operands(0) {
        if !word.lead().starts_with('+') {
            let address = word.without_lead(usize::from(word.lead().starts_with('@')));
            // A name that is looked up leaves the machine, whatever was put into it.
            connect_to(it.reader, &address, Flow::Fetch);
        }
    }
    if it.has("--script -sC") || it.simple.words.iter().any(|word| word.lead().starts_with("--script")) {
        it.say(Say::Hidden("scan scripts"));
    }
}

fn keygen(it: &mut Use<'_, '_, '_>) {
    if it.has("-l -F -B -e -y -L -Q") {
        return it.each_value("-f", |it, word| it.read(word));
    }
    match it.value("-f") {
        Some(file) => it.write(&file, WriteHow::Replace),
        None => it.say(Say::Privilege("a key in the user's key directory")),
    }
}

fn keys(it: &mut Use<'_, '_, '_>) {
    match it.name {
        "ssh-keyscan" => it.each(ALL, |it, word| connect_to(it.reader, word, Flow::Fetch)),
        "ssh-agent" if it.operand(0).is_none() => it.say(Say::Persist("an agent that holds keys")),
        "ssh-add" if it.has("-l -L") => {}
        "sshpass" | "ssh-agent" | "autossh" => {
            let words = it.operands(0);
            it.say(Say::Privilege("a login"));
            it.inner(&words);
        }
        _ => it.say(Say::Privilege("keys or logins of the user")),
    }
}

fn openssl(it: &mut Use<'_, '_, '_>) {
    let words = it.simple.words.clone();
    for pair in words.windows(2) {
        let [flag, value] = pair else { continue };
        match flag.literal() {
            Some("-in" | "-inkey" | "-key" | "-cert" | "-CAfile" | "-config" | "-CAkey" | "-certfile" | "-rand") => {
                it.read(value)
            }
            Some("-out" | "-keyout" | "-writerand") => it.write(value, WriteHow::Replace),
            Some("-connect" | "-proxy" | "-url") => connect_to(it.reader, value, Flow::Session),
            Some("-engine" | "-provider-path") => it.say(Say::Hidden("openssl engine")),
            Some("-accept" | "-port") => it.say(Say::Listen(ListenScope::Wide, "openssl")),
            Some(_) | None => {}
        }
    }
}

fn encrypt(it: &mut Use<'_, '_, '_>) {
    if it.has("--export-secret-keys --export-secret-subkeys --export-secret-key --delete-secret-keys --delete-keys --delete-secret-key --import --edit-key --gen-key --generate-key --full-generate-key --quick-generate-key --change-passphrase") {
        it.say(Say::Privilege("the user's keys"));
    }
    if it.has("--send-keys --send-key") {
        it.say(Say::Upload("keys to a key server"));
    }
    if it.has("--recv-keys --search-keys --refresh-keys --receive-keys") {
        it.say(Say::Service("key server", Flow::Fetch));
    }
    it.each_value("-o --output", |it, word| it.write(word, WriteHow::Replace));
    it.each_value("-i --identity --passphrase-file", |it, word| it.read(word));
    if matches!(it.name, "cosign" | "sops") && it.operand(0).is_some() {
        it.say(Say::Privilege("keys and secrets"));
    }
    if !it.has("--list-keys --list-secret-keys -k -K --fingerprint --list-sigs --recv-keys --version") {
        it.each(ALL, |it, word| it.read(word));
    }
}

fn tunnel(it: &mut Use<'_, '_, '_>) {
    let quiet = matches!(
        it.literal(0),
        Some("version" | "help" | "status" | "config" | "ip" | "netcheck" | "show" | "info" | "listnetworks")
    );
    if quiet || it.has("-v") && it.operand(0).is_none() {
        return;
    }
    let text = it.name.to_owned();
    it.act(ActionKind::Listen(Listen { scope: ListenScope::Wide, text: text.clone() }));
    it.connect(Peer::Service(text), Flow::Session);
}

fn mail(it: &mut Use<'_, '_, '_>) {
    let recipients = it.operands(0).into_iter().chain(it.values("-t --to"));
    let mut any = false;
    for recipient in recipients {
        any = true;
        it.act_at(ActionKind::Message(recipient.shown()), &recipient);
    }
    it.each_value("-a -A", |it, word| it.read(word));
    if !any {
        it.say(Say::Message("a recipient that is not known"));
    }
}

fn firewall(it: &mut Use<'_, '_, '_>) {
    let lists = it.has("-L --list -S --list-rules --list-all --state -V")
        || matches!(it.literal(0), Some("list" | "status" | "show"));
    if !lists {
        it.say(Say::Privilege("the network rules of the machine"));
    }
}

fn interfaces(it: &mut Use<'_, '_, '_>) {
    let changes = it.simple.words.iter().skip(1).any(|word| {
        matches!(
            word.literal(),
            Some(
                "add"
                    | "del"
                    | "delete"
                    | "set"
                    | "up"
                    | "down"
                    | "change"
                    | "replace"
                    | "flush"
                    | "exec"
                    | "connect"
                    | "disconnect"
                    | "modify"
                    | "edit"
                    | "reload"
                    | "dns"
                    | "-setwebproxy"
                    | "-s"
                    | "-d"
                    | "attach"
                    | "link-set"
                    | "append"
            ) | None
        )
    });
    if changes {
        it.say(Say::Privilege("the network of the machine"));
    }
}

fn sockets(it: &mut Use<'_, '_, '_>) {
    match it.name {
        "fuser" if it.has("-k --kill") => {
            let text = it.operand(0).map_or_else(String::new, |word| word.shown());
            it.act(ActionKind::Signal(crate::action::Signal::Name(text)));
        }
        "tcpdump" | "tshark" | "ngrep" => {
            it.say(Say::Privilege("all traffic of the machine"));
            it.each_value("-w", |it, word| it.write(word, WriteHow::Replace));
            it.each_value("-r", |it, word| it.read(word));
            if it.has("-z") {
                it.say(Say::Hidden("tcpdump -z"));
            }
        }
        "hostname" if it.operand(0).is_some() => it.say(Say::Privilege("the name of the machine")),
        "iperf" | "iperf3" if it.has("-s --server") => it.say(Say::Listen(ListenScope::Wide, "iperf")),
        "iperf" | "iperf3" => it.each_value("-c --client", |it, word| connect_to(it.reader, word, Flow::Session)),
        _ => {}
    }
    if it.has("-K --kill") && it.name == "ss" {
        it.say(Say::Privilege("the network of the machine"));
    }
}
