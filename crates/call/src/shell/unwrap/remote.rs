//! Commands that run on another machine.

use super::super::args::{Args, Order, Style};
use super::super::command::Named;
use super::super::feed::Feed;
use super::super::ir::{Simple, Word};
use super::super::walk::Reader;
use crate::action::{ActionKind, Connect, Flow, Listen, ListenScope, Peer, Why};

/// Options of `ssh` that name a local command.
const RUNS: &[&str] = &["proxycommand", "localcommand", "knownhostscommand", "proxyusefdpass"];

pub(super) fn ssh(reader: &mut Reader<'_>, named: &Named, simple: &Simple) -> Feed {
    reader.wrapper(named, simple);
    let words = simple.words.get(1..).unwrap_or(&[]);
    let values = "-B -b -c -D -E -e -F -I -i -J -L -l -m -O -o -P -p -Q -R -S -W -w --ssh";
    let args = Args::parse(words, values, Style::Gnu, Order::Leading);
    for option in args.values("-o --ssh") {
        local_command(reader, option, simple);
    }
    for file in args.values("-i -F") {
        let target = file.target(reader.scope.cwd.as_deref());
        reader.act(ActionKind::Read(target), file.span.clone());
    }
    for forward in args.values("-L -R -D -w") {
        let listen = Listen { scope: ListenScope::Wide, text: forward.shown() };
        reader.act(ActionKind::Listen(listen), forward.span.clone());
    }
    let Some((host, command)) = args.operands.split_first() else { return Feed::stream("ssh") };
    connect(reader, host, Flow::Session);
    if !command.is_empty() {
        reader.opaque(Why::Elsewhere(host.shown()), simple.span.clone());
    }
    Feed::stream("ssh")
}

/// Notes a connection to the host that `word` names, without user and path.
pub(in crate::shell) fn connect(reader: &mut Reader<'_>, word: &Word, flow: Flow) {
    let peer = match (word.literal(), word.why()) {
        (Some(text), _) => Peer::Host(text.rsplit('@').next().unwrap_or(text).to_owned()),
        (None, why) => Peer::Opaque(why.cloned().unwrap_or_else(|| Why::Expansion("pattern".to_owned()))),
    };
    reader.act(ActionKind::Connect(Connect { peer, flow }), word.span.clone());
}

/// `-o ProxyCommand=CODE` runs here, not there.
fn local_command(reader: &mut Reader<'_>, option: &Word, simple: &Simple) {
    let lead = option.lead();
    let at = lead.find(['=', ' ']).unwrap_or(lead.len());
    let (name, _) = lead.split_at_checked(at).unwrap_or((lead, ""));
    if RUNS.contains(&name.to_ascii_lowercase().as_str()) {
        let code = option.without_lead(at + 1);
        let decoded = reader.decoded;
        reader.code(std::slice::from_ref(&code), decoded, simple);
    }
}
