//! Connections and copies to other hosts.

use super::super::super::ir::Word;
use super::super::super::unwrap::connect_to;
use super::super::row::{ALL, Pick, Say};
use super::super::run::Use;
use super::request::request;
use crate::action::{ActionKind, Flow, Listen, ListenScope, Peer, Why, WriteHow};

pub(super) fn urls(it: &mut Use<'_, '_, '_>) {
    it.each_value("-i --input-file", |it, word| it.read(word));
    it.each(ALL, |it, word| request(it, word, Flow::Fetch));
}

pub(super) fn netcat(it: &mut Use<'_, '_, '_>) {
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
    match (it.operand(0), it.literal(1)) {
        (Some(host), Some(port)) if host.literal().is_some() && port.bytes().all(|byte| byte.is_ascii_digit()) => {
            let place = Word::literal_at(format!("{}:{port}", host.shown()), host.span.clone());
            connect_to(it.reader, &place, Flow::Session);
        }
        (Some(host), _) => match host.literal().filter(|text| text.contains("://")) {
            Some(_) => request(it, &host, Flow::Session),
            None => connect_to(it.reader, &host, Flow::Session),
        },
        (None, _) => it.connect(Peer::Opaque(Why::Input), Flow::Session),
    }
}

pub(super) fn socat(it: &mut Use<'_, '_, '_>, listens: bool) {
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
pub(in super::super) fn is_remote(word: &Word) -> bool {
    let lead = word.lead();
    lead.starts_with("rsync://")
        || lead.split_once(':').is_some_and(|(host, _)| !host.is_empty() && !host.contains('/'))
}

pub(in super::super) fn host_of(word: &Word) -> Word {
    let host = word.lead().trim_start_matches("rsync://").split([':', '/']).next().unwrap_or("").to_owned();
    Word::literal_at(host, word.span.clone())
}

/// Sources are read or fetched, the last operand is written or sent to.
pub(super) fn transfer(it: &mut Use<'_, '_, '_>) {
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

pub(super) fn copy(it: &mut Use<'_, '_, '_>) {
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

pub(super) fn rsync(it: &mut Use<'_, '_, '_>) {
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

pub(super) fn buckets(it: &mut Use<'_, '_, '_>) {
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
