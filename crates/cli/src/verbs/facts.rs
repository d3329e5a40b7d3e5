//! Facts that the caller of `check` supplies. Only `check` takes any.

use std::collections::BTreeMap;
use std::net::IpAddr;

use serde::Deserialize;
use tollgate::call::action::PathRef;
use tollgate::call::facts::{Confinement, Fact, Facts, Kind, RepoFact, Tracked};

/// The `facts` of a batch line; what is not given is unknown.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Told {
    /// By path, absolute or relative to the line's `cwd`.
    #[serde(default)]
    paths: BTreeMap<String, ToldPath>,
    /// Addresses by host.
    #[serde(default)]
    hosts: BTreeMap<String, Vec<IpAddr>>,
    /// The repository around the working directory.
    #[serde(default)]
    repo: Option<ToldRepo>,
    /// Whether every wall holds.
    #[serde(default, rename = "box")]
    walls: Option<ToldBox>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct ToldPath {
    #[serde(default)]
    kind: Option<ToldKind>,
    #[serde(default)]
    tracked: Option<ToldTracked>,
    #[serde(default)]
    links: Option<u64>,
}

#[derive(Debug, Clone, Copy, Deserialize)]
#[serde(rename_all = "lowercase")]
enum ToldKind {
    Absent,
    File,
    Directory,
}

#[derive(Debug, Clone, Copy, Deserialize)]
#[serde(rename_all = "lowercase")]
enum ToldTracked {
    Clean,
    Modified,
    Untracked,
    Ignored,
    None,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct ToldRepo {
    #[serde(default)]
    branch: Option<String>,
    #[serde(default)]
    dirty: Option<bool>,
    #[serde(default)]
    remotes: BTreeMap<String, String>,
}

#[derive(Debug, Clone, Copy, Deserialize)]
#[serde(rename_all = "lowercase")]
enum ToldBox {
    Enforced,
    Outside,
}

/// Lays what was told over what was found. Where a path lies and what protects it is never told.
pub(crate) fn lay_over(facts: &mut Facts, told: &Told, cwd: &str) {
    for (name, path) in &told.paths {
        if let Some(fact) = facts.paths.get_mut(&PathRef::join(cwd, name).abs) {
            if let Some(kind) = path.kind {
                fact.kind = Fact::Known(kind.into());
            }
            if let Some(tracked) = path.tracked {
                fact.tracked = Fact::Known(tracked.into());
            }
            if let Some(links) = path.links {
                fact.links = Fact::Known(links);
            }
        }
    }
    for (host, addresses) in &told.hosts {
        facts.hosts.insert(host.to_lowercase(), Fact::Known(addresses.clone()));
    }
    if let Some(repo) = &told.repo {
        facts.repo = Fact::Known(RepoFact {
            branch: repo.branch.clone(),
            dirty: repo.dirty.map_or(Fact::Unknown(tollgate::call::facts::Unknown::NotAsked), Fact::Known),
            remotes: repo.remotes.clone(),
            obeyed: Vec::new(),
        });
    }
    match told.walls {
        Some(ToldBox::Enforced) => facts.confinement = Confinement::Enforced,
        Some(ToldBox::Outside) => facts.confinement = Confinement::Outside,
        None => {}
    }
}

impl From<ToldKind> for Kind {
    fn from(kind: ToldKind) -> Self {
        match kind {
            ToldKind::Absent => Self::Absent,
            ToldKind::File => Self::File(0),
            ToldKind::Directory => Self::Directory,
        }
    }
}

impl From<ToldTracked> for Tracked {
    fn from(tracked: ToldTracked) -> Self {
        match tracked {
            ToldTracked::Clean => Self::Clean,
            ToldTracked::Modified => Self::Modified,
            ToldTracked::Untracked => Self::Untracked,
            ToldTracked::Ignored => Self::Ignored,
            ToldTracked::None => Self::NoRepo,
        }
    }
}
