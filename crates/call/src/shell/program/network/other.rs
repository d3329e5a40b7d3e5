//! Look-ups, keys, tunnels, mail and the network of the machine.

use super::super::super::ir::Word;
use super::super::super::unwrap::connect_to;
use super::super::row::{ALL, Pick, Say};
use super::super::run::Use;
use crate::action::{ActionKind, Flow, Listen, ListenScope, Peer, WriteHow};

pub(super) fn session(it: &mut Use<'_, '_, '_>) {
    it.each(Pick::At(0), |it, word| connect_to(it.reader, word, Flow::Session));
}

pub(super) fn lookup(it: &mut Use<'_, '_, '_>) {
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

pub(super) fn keygen(it: &mut Use<'_, '_, '_>) {
    if it.has("-l -F -B -e -y -L -Q") {
        return it.each_value("-f", |it, word| it.read(word));
    }
    match it.value("-f") {
        Some(file) => it.write(&file, WriteHow::Replace),
        None => it.say(Say::Privilege("a key in the user's key directory")),
    }
}

pub(super) fn keys(it: &mut Use<'_, '_, '_>) {
    match it.name {
        "ssh-keyscan" => it.each(ALL, |it, word| connect_to(it.reader, word, Flow::Fetch)),
        "ssh-agent" if it.operand(0).is_none() => it.say(Say::Persist("an agent that holds keys")),
        "ssh-add" if it.has("-l -L") => {}
        "sshpass" | "ssh-agent" | "autossh" => {
            let words = it.tail(0);
            it.say(Say::Privilege("a login"));
            it.inner(&words);
        }
        _ => it.say(Say::Privilege("keys or logins of the user")),
    }
}

pub(super) fn openssl(it: &mut Use<'_, '_, '_>) {
    let words = it.simple.words.clone();
    if it.literal(0) == Some("engine") && it.operands(1).iter().any(|word| word.lead().contains(['/', '.'])) {
        it.say(Say::Hidden("openssl engine"));
    }
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

pub(super) fn encrypt(it: &mut Use<'_, '_, '_>) {
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

pub(super) fn tunnel(it: &mut Use<'_, '_, '_>) {
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

/// `mail`, `mutt`, `swaks`: copies, blind ones too, are recipients as others are.
pub(super) fn mail(it: &mut Use<'_, '_, '_>) {
    let copies = if it.name == "swaks" { "-t --to --cc --bcc" } else { "-c -b -t --to --cc --bcc" };
    let files = if it.name == "swaks" { "--attach" } else { "-a -A -i" };
    it.each_value(files, |it, word| it.read(word));
    it.each_value("--body --data --attach", |it, word| {
        if word.lead().starts_with('@') {
            it.read(&word.without_lead(1));
        }
    });
    if it.name == "swaks" {
        it.each_value("-s --server", |it, word| connect_to(it.reader, word, Flow::Session));
    }
    let recipients = it.operands(0).into_iter().chain(it.values(copies)).collect();
    // A draft names its own.
    addressed(it, recipients, it.has("-H"));
}

/// `sendmail` and kin take the message whole; with `-t` it says itself who gets it.
pub(super) fn hand_over(it: &mut Use<'_, '_, '_>) {
    if it.has("--version --help -V -bp -bv --serverinfo") {
        return;
    }
    it.each_value("-C --file", |it, word| it.read(word));
    it.each_value("--host", |it, word| connect_to(it.reader, word, Flow::Session));
    let flags = it.simple.words.iter().skip(1).map(|word| word.lead());
    let reads = flags.into_iter().any(|flag| flag == "--read-recipients" || (flag.starts_with("-t") && flag.len() < 4));
    let recipients = it.operands(0);
    addressed(it, recipients, reads);
}

/// Notes a message to each of `recipients`, and to whom nobody knows if there are none or `more`.
fn addressed(it: &mut Use<'_, '_, '_>, recipients: Vec<Word>, more: bool) {
    if recipients.is_empty() || more {
        it.say(Say::Message("a recipient that is not known"));
    }
    for recipient in recipients {
        it.act_at(ActionKind::Message(recipient.shown()), &recipient);
    }
}

pub(super) fn firewall(it: &mut Use<'_, '_, '_>) {
    let lists = it.has("-L --list -S --list-rules --list-all --state -V")
        || matches!(it.literal(0), Some("list" | "status" | "show"));
    if !lists {
        it.say(Say::Privilege("the network rules of the machine"));
    }
}

pub(super) fn interfaces(it: &mut Use<'_, '_, '_>) {
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

pub(super) fn sockets(it: &mut Use<'_, '_, '_>) {
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
