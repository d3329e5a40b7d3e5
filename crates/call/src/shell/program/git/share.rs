//! git subcommands that talk to others.

use super::super::super::ir::Word;
use super::super::row::{Rule, Say, among};
use super::super::run::Use;
use crate::action::{ActionKind, Flow, Force, ListenScope, Peer, Publish, Push, Target, WriteHow};
use crate::places::{clean, is_beneath};

pub(super) const CLONE: &[Rule] = &[Rule::Code(clone)];
pub(super) const FETCH: &[Rule] = &[Rule::Code(fetch)];
pub(in crate::shell::program) const PUSH: &[Rule] = &[Rule::Code(push)];
pub(super) const DAEMON: &[Rule] = &[Rule::Always(Say::Listen(ListenScope::Wide, "git daemon"))];

/// Whom a word names: a URL, `host:path`, a remote's name, or a directory here.
fn peer(word: &Word) -> Option<Peer> {
    let Some(text) = word.literal() else {
        return Some(word.why().map_or_else(|| Peer::Remote(word.shown()), |why| Peer::Opaque(why.clone())));
    };
    if text.contains("::") {
        // `ext::sh -c …` and other remote helpers run programs; the caller looks at the prefix.
        return Some(Peer::Url(text.to_owned()));
    }
    let scp_like = text.split_once(':').is_some_and(|(host, _)| !host.contains('/'));
    if text.contains("://") && !text.starts_with("file://") {
        Some(Peer::Url(text.to_owned()))
    } else if scp_like {
        let host = text.split(':').next().unwrap_or(text);
        Some(Peer::Host(host.rsplit('@').next().unwrap_or(host).to_owned()))
    } else if text.starts_with(['/', '.', '~']) || text.starts_with("file://") || text.contains('/') {
        None
    } else {
        Some(Peer::Remote(text.to_owned()))
    }
}

fn talk(it: &mut Use<'_, '_, '_>, word: &Word) {
    if word.lead().starts_with("ext::") || word.lead().starts_with("fd::") {
        it.say(Say::Hidden("git remote helper"));
    }
    match peer(word) {
        Some(peer) => it.connect(peer, Flow::Fetch),
        None => it.read(word),
    }
}

fn programs(it: &mut Use<'_, '_, '_>) {
    if it.value("--upload-pack -u --receive-pack --exec").is_some() {
        it.say(Say::Hidden("git pack program"));
    }
}

fn clone(it: &mut Use<'_, '_, '_>) {
    it.say(Say::Project);
    programs(it);
    for setting in it.args.values("-c --config").cloned().collect::<Vec<_>>() {
        super::config::setting(it, &setting);
    }
    if it.value("--template").is_some() {
        it.say(Say::Configuration("git templates with hooks"));
    }
    if let Some(source) = it.operand(0) {
        talk(it, &source);
        let target = it.operand(1).unwrap_or_else(|| {
            let name = source.literal().and_then(|text| text.trim_end_matches('/').rsplit(['/', ':']).next());
            let name = name.map_or("clone", |name| name.trim_end_matches(".git"));
            Word::literal_at(name, source.span.clone())
        });
        it.write(&target, WriteHow::MakeDir);
    }
}

fn fetch(it: &mut Use<'_, '_, '_>) {
    it.say(Say::Project);
    programs(it);
    match it.operand(0).filter(|_| it.sub != "submodule update") {
        Some(word) => talk(it, &word),
        None => it.connect(Peer::Remote("origin".to_owned()), Flow::Fetch),
    }
    if it.has("-f --force") && it.operand(1).is_some() {
        it.destroy(crate::action::DestroyClass::LocalHistory, "where a local ref pointed");
    }
}

fn push(it: &mut Use<'_, '_, '_>) {
    it.say(Say::Project);
    programs(it);
    if it.has("-n --dry-run") {
        return it.connect(Peer::Remote("origin".to_owned()), Flow::Fetch);
    }
    let remote = it.operand(0).or_else(|| it.value("--repo"));
    let specs = it.operands(1);
    let mut force = if it.has("-f --force --mirror") {
        Force::Plain
    } else if it.has("--force-with-lease --force-if-includes") {
        Force::Lease
    } else {
        Force::No
    };
    if specs.iter().any(|spec| spec.lead().starts_with('+')) {
        force = Force::Plain;
    }
    let empty_source = specs
        .iter()
        .any(|spec| spec.lead().starts_with(':') && spec.literal() != Some(":") || spec.lead().starts_with("+:"));
    let deletes = it.has("-d --delete --prune --mirror") || empty_source;
    let refs = specs.iter().map(destination).collect();
    if let Some(word) = &remote
        && (word.lead().starts_with("ext::") || word.lead().starts_with("fd::"))
    {
        it.say(Say::Hidden("git remote helper"));
    }
    let push = Push { remote: remote.as_ref().map(Word::shown), refs, force, deletes };
    it.act(ActionKind::Publish(Publish::Push(push)));
    if let Some(peer) = remote.as_ref().and_then(peer) {
        it.connect(peer, Flow::Send);
    }
}

/// The ref that a refspec changes on the other side.
fn destination(spec: &Word) -> String {
    let shown = spec.shown();
    let text = shown.trim_start_matches('+');
    text.rsplit(':').next().unwrap_or(text).to_owned()
}

pub(super) fn instaweb(it: &mut Use<'_, '_, '_>) {
    if it.has("--stop") {
        return;
    }
    let scope = if it.has("-l --local") { ListenScope::Loopback } else { ListenScope::Wide };
    it.say(Say::Listen(scope, "git instaweb"));
}

/// Subcommands that change nothing, alone or without operands.
const QUIET: &str = "status log shortlog show blame annotate describe rev-parse rev-list name-rev cherry whatchanged merge-base \
    diff show-branch show-ref for-each-ref ls-files ls-tree cat-file diff-tree diff-index diff-files range-diff count-objects \
    var version help check-ignore check-attr grep fsck reflog ls-remote archive clone";
const QUIET_ALONE: &str = "branch tag remote worktree notes submodule config";

/// `git -C ELSEWHERE commit`, `cd ELSEWHERE && git commit`: what changes is that directory.
pub(super) fn other_repository(it: &mut Use<'_, '_, '_>) {
    let mut words = it.sub.split(' ');
    let verb = words.next().unwrap_or("");
    let lists = words.next().is_some_and(|word| among("list show get-url status verify view", word));
    let listed = among(QUIET_ALONE, verb)
        && (it.operand(0).is_none()
            || verb == "config" && it.operand(1).is_none() && !it.has("--unset --unset-all --edit -e")
            || it.has("-l --list --get --get-all --get-regexp --contains"));
    if verb.is_empty() || among(QUIET, verb) || lists || listed {
        return;
    }
    let mut places: Vec<Word> = it.values("--git-dir --work-tree");
    places.extend(it.reader.scope.cwd.clone().map(|cwd| Word::literal_at(cwd, it.span())));
    for place in places {
        let Target::Path(path) = it.target(&place) else { continue };
        let directory = clean(path.abs.trim_end_matches('/').trim_end_matches("/.git"));
        if !is_beneath(&directory, it.reader.setting.cwd) {
            it.write(&Word::literal_at(directory, it.span()), WriteHow::MakeDir);
        }
    }
}
