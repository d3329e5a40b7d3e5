//! The world that a case is made in: policy, facts and run state, from its `@key=value` pairs.

use std::collections::BTreeMap;
use std::net::{IpAddr, Ipv4Addr};

use tollgate_call::action::{ActionKind, PathRef, Peer};
use tollgate_call::address::{WebAddress, judge_host, split_port};
use tollgate_call::facts::{Confinement, Expansion, Fact, Facts, Kind, PathFact, Refused, RepoFact, Tracked, Unknown};
use tollgate_call::places::{Layout, Place, clean, is_beneath, protection};
use tollgate_call::run_state::{Labels, RunState, digest};
use tollgate_call::{Call, Door, Origin, Person, Proposal, Untrusted, assume};
use tollgate_policy::{Ground, Mode, Policy, Profile, Settings};

use crate::case::{Case, Key};

const WORKSPACE: &str = "/home/dev/app";
const HOME: &str = "/home/dev";
/// Where names resolve to.
pub(crate) const PUBLIC: IpAddr = IpAddr::V4(Ipv4Addr::new(93, 184, 215, 14));

/// The call of a case, as a model would propose it.
pub(crate) fn proposal(case: &Case) -> Proposal {
    let door = match case.one(Key::Door) {
        None | Some("library") => Door::Library,
        Some("agent") => Door::Agent,
        Some("mcp") => Door::Mcp,
        Some("exec") => Door::Exec,
        Some("hook") => Door::Hook,
        Some("check") => Door::Check,
        Some(other) => panic!("{}: `@door={other}` is no door", case.id),
    };
    let cwd = case.one(Key::Cwd).map_or(WORKSPACE.to_owned(), at);
    Proposal {
        tool: Untrusted::new(case.tool.clone()),
        args: Untrusted::new(case.args.clone().into_bytes()),
        origin: Origin { door, run: "cases".to_owned(), call_id: case.id.clone(), cwd },
    }
}

/// Who makes the call.
pub(crate) fn person() -> Person {
    Person { home: HOME.to_owned(), user: "dev".to_owned() }
}

/// The policy of a case.
pub(crate) fn policy(case: &Case) -> Policy {
    policy_at(case, &Ground { workspace: WORKSPACE, home: HOME })
}

/// The policy of a case, for a workspace somewhere else.
pub(crate) fn policy_at(case: &Case, ground: &Ground<'_>) -> Policy {
    let mut settings = Settings { roots: vec![ground.workspace.to_owned()], ..Settings::default() };
    settings.mode = match case.one(Key::Mode) {
        None | Some("default") => Mode::Default,
        Some("plan") => Mode::Plan,
        Some("acceptEdits") => Mode::AcceptEdits,
        Some("dangerouslySkipPermissions") => Mode::DangerouslySkipPermissions,
        Some(other) => panic!("{}: `@mode={other}` is no mode", case.id),
    };
    settings.profile = match case.one(Key::Profile) {
        None | Some("standard") => Profile::Standard,
        Some("strict") => Profile::Strict,
        Some("locked") => Profile::Locked,
        Some(other) => panic!("{}: `@profile={other}` is no profile", case.id),
    };
    settings.allow_hosts = case.all(Key::Host).map(str::to_owned).collect();
    settings.recipients = case.all(Key::Recipient).map(str::to_owned).collect();
    settings.tools = case.one(Key::Tools).map(|tools| tools.split(',').map(str::to_owned).collect());
    for (name, cap) in case.all(Key::Cap).filter_map(|cap| cap.split_once(':')) {
        let cap = cap.parse().unwrap_or_else(|_| panic!("{}: `{cap}` is no number", case.id));
        if name == "calls" {
            settings.caps.tool_calls = cap;
        } else {
            settings.caps.per_tool.insert(name.to_owned(), cap);
        }
    }
    Policy::new(settings, ground).unwrap_or_else(|error| panic!("{}: {error}", case.id))
}

/// What the run has done so far.
pub(crate) fn run_state(case: &Case) -> RunState {
    let mut labels = Labels::default();
    for label in case.all(Key::Taint).flat_map(|labels| labels.split(',')) {
        match label {
            "untrusted" => labels.untrusted = true,
            "sensitive" => labels.sensitive = true,
            other => panic!("{}: `@taint={other}` is no label", case.id),
        }
    }
    RunState { labels, given: case.all(Key::Given).map(digest).collect(), ..RunState::default() }
}

/// What looking at the world of a case would tell.
pub(crate) fn facts(case: &Case, call: &Call) -> Facts {
    let layout = Layout::of(WORKSPACE, HOME);
    let mut facts = assume::facts(&layout, call.actions());
    for (abs, fact) in &mut facts.paths {
        follow(case, &layout, abs, fact);
        describe(case, fact);
    }
    let names: Vec<String> = facts.paths.keys().cloned().collect();
    facts.expansions = names.iter().filter_map(|abs| Some((abs.clone(), Fact::Known(reached(case, abs)?)))).collect();
    facts.hosts = hosts(case, call);
    facts.repo = repo(case);
    facts.confinement = match case.one(Key::Box) {
        None => Confinement::Outside,
        Some("enforced") => Confinement::Enforced,
        Some("partial") => Confinement::Partial(vec!["seccomp".to_owned()]),
        Some(other) => panic!("{}: `@box={other}` is no box", case.id),
    };
    facts
}

/// An absolute, clean name of the world, from one relative to the workspace.
fn at(name: &str) -> String {
    let name = name.strip_prefix('~').map_or_else(|| name.to_owned(), |rest| format!("{HOME}{rest}"));
    clean(&PathRef::join(WORKSPACE, &name).abs)
}

/// Walks the name as the kernel would, through the links of the case.
fn follow(case: &Case, layout: &Layout, abs: &str, fact: &mut PathFact) {
    if abs.len() > 4095 || abs.split('/').any(|part| part.len() > 255) {
        fact.refused = Some(Refused::TooLong);
        return;
    }
    let links: BTreeMap<String, String> =
        case.all(Key::Link).filter_map(|link| link.split_once('>')).map(|(from, to)| (at(from), at(to))).collect();
    let (mut here, mut crossed) = ("/".to_owned(), 0);
    for part in abs.split('/').filter(|part| !part.is_empty()) {
        here = clean(&format!("{here}/{part}"));
        while let Some(target) = links.get(&here).filter(|_| crossed < 40) {
            here.clone_from(target);
            crossed += 1;
        }
    }
    if crossed == 0 {
        return;
    }
    fact.place = layout.place(&here);
    fact.protection = protection(&here);
    let stays = matches!(fact.place, Place::Inside | Place::Root | Place::ReadRoot);
    fact.refused = if crossed == 40 { Some(Refused::Loop) } else { (!stays).then_some(Refused::Escapes) };
    fact.resolved = here;
}

/// Fills in what the case says is there.
fn describe(case: &Case, fact: &mut PathFact) {
    let under = |key| case.all(key).any(|name| is_beneath(&fact.resolved, &at(name)));
    let is = |key| case.all(key).any(|name| fact.resolved == at(name));
    let tracked = [
        (Key::Tracked, Tracked::Clean),
        (Key::Modified, Tracked::Modified),
        (Key::Untracked, Tracked::Untracked),
        (Key::Ignored, Tracked::Ignored),
    ];
    if let Some((_, state)) = tracked.into_iter().find(|(key, _)| under(*key)) {
        fact.tracked = Fact::Known(state);
    }
    if is(Key::Dir) {
        fact.kind = Fact::Known(Kind::Directory);
    } else if is(Key::File) || is(Key::Hardlink) {
        fact.kind = Fact::Known(Kind::File(1));
        fact.links = Fact::Known(1 + u64::from(is(Key::Hardlink)));
    }
}

/// What a pattern or a tree of this name would reach, where the case says.
fn reached(case: &Case, abs: &str) -> Option<Expansion> {
    let known = |matches: Vec<String>, untracked| Expansion {
        files: matches.len() as u64,
        matches,
        more: false,
        untracked: Fact::Known(untracked),
    };
    let expansion =
        case.all(Key::Expands).filter_map(|pair| pair.split_once('>')).find(|(glob, _)| at(glob) == clean(abs));
    if let Some((_, names)) = expansion {
        let matches: Vec<String> = names.split(',').map(|name| format!("{WORKSPACE}/{name}")).collect();
        return Some(Expansion { untracked: Fact::Unknown(Unknown::NotAsked), ..known(matches, 0) });
    }
    let says = |key| case.all(key).any(|name| is_beneath(&clean(abs), &at(name)));
    if says(Key::Untracked) {
        return Some(known(vec![abs.to_owned()], 1));
    }
    (says(Key::Tracked) || says(Key::Ignored)).then(|| known(vec![abs.to_owned()], 0))
}

/// The addresses of every host that the call names: public, unless the case says otherwise.
fn hosts(case: &Case, call: &Call) -> BTreeMap<String, Fact<Vec<IpAddr>>> {
    let resolved = |host: String| {
        let said = case.all(Key::Resolves).filter_map(|pair| pair.split_once('>')).find(|(name, _)| *name == host);
        let parse = |ip: &str| ip.parse().unwrap_or_else(|_| panic!("{}: `{ip}` is no address", case.id));
        let ips = said.map_or_else(|| vec![PUBLIC], |(_, ips)| ips.split(',').map(parse).collect());
        (host, Fact::Known(ips))
    };
    call.actions().iter().filter_map(|action| host(&action.kind)).map(resolved).collect()
}

fn host(kind: &ActionKind) -> Option<String> {
    let ActionKind::Connect(connect) = kind else { return None };
    match &connect.peer {
        Peer::Url(url) => WebAddress::parse(url).ok().map(|address| address.host_name()),
        Peer::Host(host) => split_port(host).ok().map(|(host, _)| judge_host(host).name()),
        Peer::Remote(_) | Peer::Registry(_) | Peer::Service(_) | Peer::Opaque(_) => None,
    }
}

fn repo(case: &Case) -> Fact<RepoFact> {
    let says = [Key::Branch, Key::Dirty, Key::Remote].into_iter().any(|key| case.one(key).is_some());
    if !says {
        return Fact::Unknown(Unknown::NotAsked);
    }
    let dirty = case.one(Key::Dirty).map_or(Fact::Unknown(Unknown::NotAsked), |dirty| Fact::Known(dirty == "yes"));
    let remotes = case.all(Key::Remote).filter_map(|pair| pair.split_once('>'));
    Fact::Known(RepoFact {
        branch: case.one(Key::Branch).map(str::to_owned),
        dirty,
        remotes: remotes.map(|(name, url)| (name.to_owned(), url.to_owned())).collect(),
        obeyed: Vec::new(),
    })
}
