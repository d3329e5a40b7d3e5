//! The part of `cargo metadata` that the checks read.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

use serde::Deserialize;

use crate::command::{Failed, cargo, output};

/// What cargo says about the workspace and everything it is built from.
#[derive(Debug, Deserialize)]
pub(crate) struct Metadata {
    pub(crate) packages: Vec<Package>,
    pub(crate) workspace_members: BTreeSet<String>,
    pub(crate) resolve: Resolve,
}

/// One package.
#[derive(Debug, Deserialize)]
pub(crate) struct Package {
    pub(crate) id: String,
    pub(crate) name: String,
    pub(crate) version: String,
    pub(crate) license: Option<String>,
    pub(crate) source: Option<String>,
    pub(crate) manifest_path: PathBuf,
    pub(crate) dependencies: Vec<Dependency>,
    pub(crate) targets: Vec<Target>,
}

/// A dependency as its manifest declares it.
#[derive(Debug, Deserialize)]
pub(crate) struct Dependency {
    pub(crate) name: String,
    pub(crate) kind: Option<String>,
}

/// Something that cargo builds.
#[derive(Debug, Deserialize)]
pub(crate) struct Target {
    pub(crate) name: String,
    pub(crate) kind: Vec<String>,
    pub(crate) src_path: PathBuf,
}

/// The resolved graph.
#[derive(Debug, Deserialize)]
pub(crate) struct Resolve {
    pub(crate) nodes: Vec<Node>,
}

/// One package of the resolved graph.
#[derive(Debug, Deserialize)]
pub(crate) struct Node {
    pub(crate) id: String,
    pub(crate) deps: Vec<NodeDep>,
}

/// One edge of the resolved graph.
#[derive(Debug, Deserialize)]
pub(crate) struct NodeDep {
    pub(crate) pkg: String,
    pub(crate) dep_kinds: Vec<DepKind>,
}

/// Why an edge exists; no kind means an ordinary dependency.
#[derive(Debug, Deserialize)]
pub(crate) struct DepKind {
    pub(crate) kind: Option<String>,
}

impl Metadata {
    /// Asks cargo, with the lock file as it stands.
    pub(crate) fn load() -> Result<Self, Failed> {
        let text = output(&mut cargo(&["metadata", "--format-version", "1", "--locked"]))?;
        serde_json::from_str(&text)
            .map_err(|error| Failed::Answer { program: "cargo metadata", why: error.to_string() })
    }

    /// Our own packages.
    pub(crate) fn members(&self) -> impl Iterator<Item = &Package> {
        self.packages.iter().filter(|package| self.workspace_members.contains(&package.id))
    }

    /// Every bench target as (package, bench).
    pub(crate) fn benches(&self) -> Vec<(String, String)> {
        let of = |package: &Package| {
            let benches = package.targets.iter().filter(|target| target.kind.iter().any(|kind| kind == "bench"));
            benches.map(|bench| (package.name.clone(), bench.name.clone())).collect::<Vec<_>>()
        };
        self.members().flat_map(of).collect()
    }

    /// Names of all packages that `id` is built from, itself included, tests left out.
    pub(crate) fn closure<'a>(&'a self, id: &'a str) -> BTreeSet<&'a str> {
        let edges: BTreeMap<&str, &Node> = self.resolve.nodes.iter().map(|node| (node.id.as_str(), node)).collect();
        let mut seen = BTreeSet::from([id]);
        let mut open = vec![id];
        while let Some(next) = open.pop() {
            let deps = edges.get(next).map_or(&[][..], |node| node.deps.as_slice());
            for dep in deps.iter().filter(|dep| dep.is_built_in()) {
                if seen.insert(&dep.pkg) {
                    open.push(&dep.pkg);
                }
            }
        }
        self.packages
            .iter()
            .filter(|package| seen.contains(package.id.as_str()))
            .map(|package| package.name.as_str())
            .collect()
    }
}

impl Package {
    /// Names of what it depends on, outside tests.
    pub(crate) fn uses(&self) -> impl Iterator<Item = &str> {
        let built_in = |dependency: &&Dependency| dependency.kind.as_deref() != Some("dev");
        self.dependencies.iter().filter(built_in).map(|dependency| dependency.name.as_str())
    }
}

impl NodeDep {
    fn is_built_in(&self) -> bool {
        self.dep_kinds.iter().any(|kind| kind.kind.is_none())
    }
}
