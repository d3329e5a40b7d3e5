//! The one who looks: from a call to its facts and handles.

use std::sync::Arc;
use std::time::{Duration, Instant};

use tollgate_call::action::{PathRef, Peer};
use tollgate_call::address::{self, HostClass, WebAddress};
use tollgate_call::call::{Call, Tool};
use tollgate_call::facts::{Confinement, Fact, Facts, Kind, PathFact, Refused, Unknown};
use tollgate_call::places::{Layout, Place, clean};
use tollgate_call::{Action, assume};

use crate::asked::{Use, Wanted};
use crate::bounded::Slots;
use crate::dir::ScopedDir;
use crate::error::{PathError, RootError};
use crate::git::Repos;
use crate::handles::{Handles, Surveyed};
use crate::path::{Asked, Handle, Opens, Seen, World};
use crate::program::Programs;
use crate::real;
use crate::resolve::{Resolve, SystemResolver, destination, unasked};
use crate::root::Root;
use crate::scoped::{Intent, ScopedPath, Within};
use crate::sys;
use crate::tree::Trees;
use crate::twins::Twins;

/// Paths that are looked at for one call; the rest stays unknown.
const MAX_PATHS: usize = 1024;

/// Paths are few and quick; they are late only when the system stalls, so they wait longer.
const PATHS_PATIENCE: u32 = 20;

/// Looks at what a call is about. Reads only; decides nothing.
///
/// ```
/// use tollgate_call::action::{Action, ActionKind, PathRef, Target};
/// use tollgate_call::Span;
/// use tollgate_call::places::{Layout, Place};
/// use tollgate_survey::Surveyor;
/// let project = std::env::temp_dir().join(format!("tollgate-look-{}", std::process::id()));
/// std::fs::create_dir_all(&project)?;
/// let name = project.to_string_lossy();
/// let surveyor = Surveyor::open(Layout::of(&name, "/home/u"), "/usr/bin:/bin")?;
/// let read = ActionKind::Read(Target::Path(PathRef::join(&name, "../../etc/passwd")));
/// let facts = surveyor.facts(&[Action { kind: read, span: Span::new("/path", 0, 16), part: 0 }], &name);
/// assert!(facts.paths.values().all(|fact| fact.place != Place::Inside));
/// # std::fs::remove_dir(&project)?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct Surveyor {
    world: World,
    program_path: String,
    resolver: Arc<dyn Resolve>,
    confinement: Confinement,
    slots: Slots,
    look: Duration,
    dns: Duration,
}

impl Surveyor {
    /// Opens the roots of `layout`. `program_path` is the search path that commands will be given.
    ///
    /// # Errors
    /// [`RootError`] when a directory cannot be a root.
    pub fn open(layout: Layout, program_path: &str) -> Result<Self, RootError> {
        let layout = real_layout(layout);
        let mut roots = Vec::new();
        for root in &layout.roots {
            roots.push(Root::open(root, &layout)?);
        }
        for root in &layout.read_roots {
            roots.push(Root::open_read_only(root, &layout)?);
        }
        Ok(Self {
            world: World { open: sys::kernel, layout, roots },
            program_path: program_path.to_owned(),
            resolver: Arc::new(SystemResolver::default()),
            confinement: Confinement::Outside,
            slots: Slots::default(),
            look: Duration::from_millis(50),
            dns: Duration::from_secs(5),
        })
    }

    /// Asks this resolver instead of the system's.
    #[must_use]
    pub fn resolver(mut self, resolver: Arc<dyn Resolve>) -> Self {
        self.resolver = resolver;
        self
    }

    /// Says which walls commands will run in.
    #[must_use]
    pub fn confinement(mut self, confinement: Confinement) -> Self {
        self.confinement = confinement;
        self
    }

    /// How long trees and repositories are looked at, and how long addresses are waited for.
    #[must_use]
    pub const fn patience(mut self, look: Duration, dns: Duration) -> Self {
        (self.look, self.dns) = (look, dns);
        self
    }

    /// The places of the installation, by their real names.
    pub const fn layout(&self) -> &Layout {
        &self.world.layout
    }

    /// The held roots, writable ones first.
    pub fn roots(&self) -> &[Root] {
        &self.world.roots
    }

    /// Real paths inside the roots that are protected because something points at them: a link with a protected name,
    /// or git, which was told to look for hooks there.
    pub fn pointed(&self) -> Vec<String> {
        let twins = Twins::new(self.world.open, &self.world.layout);
        twins.all_pointed().iter().map(|(path, _)| path.clone()).collect()
    }

    /// Looks at everything that judging `call` needs.
    pub fn survey(&self, call: &Call) -> Surveyed {
        self.looking(|look| {
            let mut facts = look.no_facts();
            let handles = look.handles(call, &mut facts);
            look.facts(call.actions(), &call.origin().cwd, &mut facts);
            Surveyed { facts, handles }
        })
    }

    /// Asks for the addresses of the host that Tollgate itself would dial for `call`, and adds them to what
    /// was surveyed. Returns whether there was anything to ask.
    ///
    /// # Security
    /// The question carries the host's name to whoever serves it. Only who has judged the name, and let it
    /// through, may ask; the answer is to be judged in turn.
    pub fn resolve(&self, call: &Call, facts: &mut Facts, handles: &mut Handles) -> bool {
        let Tool::WebFetch { url } = call.tool() else { return false };
        let Ok(address) = WebAddress::parse(url) else { return false };
        let (HostClass::Name(name) | HostClass::Local(name)) = &address.host else { return false };
        let answer = self.resolver.lookup(name, Instant::now() + self.dns);
        let known = answer.map_or_else(Fact::Unknown, Fact::Known);
        handles.destination = destination(&address, &known);
        facts.hosts.insert(address.host_name(), known);
        true
    }

    /// Looks at what bare actions are about, as if a command in `cwd` did them.
    pub fn facts(&self, actions: &[Action], cwd: &str) -> Facts {
        self.looking(|look| {
            let mut facts = look.no_facts();
            look.facts(actions, cwd, &mut facts);
            facts
        })
    }

    fn looking<T>(&self, work: impl FnOnce(&Looking<'_>) -> T) -> T {
        let now = Instant::now();
        let deadline = now + self.look;
        let repos = Repos::new(self.world.open, self.slots.clone(), deadline);
        work(&Looking {
            surveyor: self,
            twins: Twins::new(self.world.open, &self.world.layout),
            trees: Trees { open: self.world.open, repos: &repos, deadline },
            deadline: now + self.look * PATHS_PATIENCE,
        })
    }
}

/// One survey under way.
struct Looking<'a> {
    surveyor: &'a Surveyor,
    twins: Twins<'a>,
    trees: Trees<'a>,
    deadline: Instant,
}

impl Looking<'_> {
    fn no_facts(&self) -> Facts {
        Facts { confinement: self.surveyor.confinement.clone(), ..Facts::none() }
    }

    /// Everything that the actions name and that is not known yet.
    fn facts(&self, actions: &[Action], cwd: &str, facts: &mut Facts) {
        let mut wanted = Wanted::of(actions);
        for peer in &wanted.hosts {
            self.unasked(peer, facts);
        }
        self.paths(&wanted, facts);
        self.expansions(&mut wanted, facts);
        self.paths(&wanted, facts);
        self.tracked(&wanted, facts);
        self.code(&wanted, facts);
        let (open, layout) = (self.surveyor.world.open, self.layout());
        let programs = Programs { open, layout, path: &self.surveyor.program_path, cwd };
        facts.programs = wanted.programs.iter().filter_map(|program| programs.find(program)).collect();
        if wanted.repo {
            facts.repo = self.trees.repos.fact(&real::resolve(open, cwd, Intent::Read).path);
        }
    }

    /// The paths that are not known yet.
    fn paths(&self, wanted: &Wanted, facts: &mut Facts) {
        for (abs, how) in wanted.paths.iter().take(MAX_PATHS) {
            if !facts.paths.contains_key(abs) {
                facts.paths.insert(abs.clone(), self.named(abs, *how));
            }
        }
    }

    const fn layout(&self) -> &Layout {
        &self.surveyor.world.layout
    }

    /// What the hands will hold; the facts of the same things come from the same look.
    fn handles(&self, call: &Call, facts: &mut Facts) -> Handles {
        let cwd = call.origin().cwd.as_str();
        let mut handles = Handles::default();
        match call.tool() {
            Tool::ReadFile { path, .. } => handles.path = Some(self.file(cwd, path, Intent::Read, facts)),
            Tool::WriteFile { path, .. } | Tool::EditFile { path, .. } => {
                handles.path = Some(self.file(cwd, path, Intent::Write, facts));
            }
            Tool::DeleteFile { path } => handles.path = Some(self.file(cwd, path, Intent::Entry, facts)),
            Tool::GlobFiles { path, .. } | Tool::Grep { path, .. } => {
                self.place(cwd, path.as_deref().unwrap_or("."), facts, &mut handles);
            }
            Tool::RunBash { .. } => handles.dir = Some(self.start(cwd)),
            Tool::WebFetch { url } => fetch(url, facts, &mut handles),
            Tool::SendMessage { .. }
            | Tool::TodoAppend { .. }
            | Tool::TodoList
            | Tool::TodoUpdate { .. }
            | Tool::ReadScratchpad
            | Tool::WriteScratchpad { .. }
            | Tool::AskQuestion { .. }
            | Tool::Foreign { .. } => {}
        }
        handles
    }

    fn tool(&self, abs: &str, intent: Intent, facts: &mut Facts) -> Result<Handle, PathError> {
        let asked = Asked { abs, intent, opens: Opens::Tool };
        let Seen { fact, handle } = self.surveyor.world.path(asked, &self.twins);
        facts.paths.insert(abs.to_owned(), fact);
        handle
    }

    fn file(&self, cwd: &str, raw: &str, intent: Intent, facts: &mut Facts) -> Result<ScopedPath, PathError> {
        match self.tool(&PathRef::join(cwd, raw).abs, intent, facts)? {
            // No handle for changing what is open for reading only, whatever policy says of it.
            Handle::Path(path) if intent != Intent::Read && path.within() != Within::Root => {
                Err(PathError::Outside(raw.to_owned()))
            }
            Handle::Path(path) => Ok(path),
            Handle::Dir(_) => Err(PathError::IsDirectory(raw.to_owned())),
        }
    }

    /// A listing or search starts in a directory; a search may also name one file.
    fn place(&self, cwd: &str, raw: &str, facts: &mut Facts, handles: &mut Handles) {
        match self.tool(&PathRef::join(cwd, raw).abs, Intent::Read, facts) {
            Ok(Handle::Path(path)) if path.stat().is_none_or(|look| look.kind != Kind::Directory) => {
                handles.path = Some(Ok(path));
                handles.dir = Some(Err(PathError::NotDirectory(raw.to_owned())));
            }
            Ok(handle) => handles.dir = Some(self.surveyor.world.as_dir(handle)),
            Err(error) => handles.dir = Some(Err(error)),
        }
    }

    /// The directory that a command starts in: only ever inside a root.
    fn start(&self, cwd: &str) -> Result<ScopedDir, PathError> {
        let world = &self.surveyor.world;
        let asked = Asked { abs: cwd, intent: Intent::Read, opens: Opens::Command };
        world.as_dir(world.path(asked, &self.twins).handle?)
    }

    /// A host that a command will look up by itself: an answer given to us would prove nothing about
    /// the answer given to it, and the question alone would carry the name out.
    fn unasked(&self, peer: &Peer, facts: &mut Facts) {
        let host = match peer {
            Peer::Url(url) => WebAddress::parse(url).ok().map(|address| address.host),
            Peer::Host(text) => address::split_port(text).ok().map(|(host, _)| address::judge_host(host)),
            Peer::Remote(_) | Peer::Registry(_) | Peer::Service(_) | Peer::Opaque(_) => None,
        };
        let Some(host) = host else { return };
        facts.hosts.entry(host.name()).or_insert_with(|| unasked(&host));
    }

    fn expansions(&self, wanted: &mut Wanted, facts: &mut Facts) {
        for (pattern, (reach, how)) in std::mem::take(&mut wanted.globs) {
            let told = self.trees.glob(&pattern, reach);
            for name in told.known().into_iter().flat_map(|told| &told.matches) {
                wanted.path(&PathRef::join("/", name), how);
            }
            facts.expansions.insert(pattern, told);
        }
        for (abs, reach) in &wanted.trees.clone() {
            let told =
                if self.is_walked(abs) { self.trees.beneath(abs, *reach) } else { Fact::Unknown(Unknown::NotAsked) };
            for name in told.known().into_iter().flat_map(|told| &told.matches) {
                wanted.path(&PathRef::join("/", name), wanted.paths.get(abs).copied().unwrap_or_default());
            }
            facts.expansions.insert(abs.clone(), told);
        }
    }

    /// Trees of the machine are not walked: their place says enough.
    fn is_walked(&self, abs: &str) -> bool {
        let real = real::resolve(self.surveyor.world.open, abs, Intent::Entry).path;
        match self.layout().place(&real) {
            Place::Inside | Place::Root | Place::ReadRoot | Place::Temp | Place::Elsewhere => true,
            Place::Ancestor
            | Place::Home
            | Place::Credential
            | Place::GuardState
            | Place::GuardPolicy
            | Place::HarmlessDevice
            | Place::Device
            | Place::System => false,
        }
    }

    /// A path that a command names. Where both the entry and what it leads to matter, the one that
    /// lies further out is told.
    fn named(&self, abs: &str, how: Use) -> PathFact {
        if Instant::now() >= self.deadline {
            return late(self.layout(), abs);
        }
        let fact = |intent| self.surveyor.world.path(Asked { abs, intent, opens: Opens::Command }, &self.twins).fact;
        match (how.follow, how.entry) {
            (_, false) => fact(Intent::Read),
            (false, true) => fact(Intent::Entry),
            (true, true) => {
                let (entry, content) = (fact(Intent::Entry), fact(Intent::Read));
                let inside = |fact: &PathFact| matches!(fact.place, Place::Inside | Place::Root);
                if inside(&content) && !inside(&entry) { entry } else { content }
            }
        }
    }

    fn code(&self, wanted: &Wanted, facts: &mut Facts) {
        for abs in &wanted.code {
            let target = real::resolve(self.surveyor.world.open, abs, Intent::Read).target;
            let version = target.and_then(|target| target.look.version());
            facts.code.insert(abs.clone(), version.map_or(Fact::Unknown(Unknown::Failed), Fact::Known));
        }
    }

    fn tracked(&self, wanted: &Wanted, facts: &mut Facts) {
        for (abs, fact) in &mut facts.paths {
            let asked = wanted.paths.get(abs).is_some_and(|how| how.loss);
            if asked && matches!(fact.place, Place::Inside) && fact.refused.is_none() {
                fact.tracked = self.trees.repos.tracked(&fact.resolved, fact.kind.known().copied());
            }
        }
    }
}

/// The place that a fetch names, as far as nobody needs to be asked: see [`Surveyor::resolve`].
fn fetch(url: &str, facts: &mut Facts, handles: &mut Handles) {
    let Ok(address) = WebAddress::parse(url) else { return };
    let known = unasked(&address.host);
    handles.destination = destination(&address, &known);
    facts.hosts.insert(address.host_name(), known);
}

/// What is told of a path when there is no time left: its letters, and that it was not opened.
fn late(layout: &Layout, abs: &str) -> PathFact {
    PathFact { kind: Fact::Unknown(Unknown::Late), refused: Some(Refused::Other), ..assume::fact(layout, abs) }
}

/// Gives every place its real name beside the given one, because judged paths are real.
fn real_layout(layout: Layout) -> Layout {
    let real = |path: &String| real::resolve(sys::kernel, path, Intent::Read).path;
    let both = |paths: Vec<String>| {
        let mut all: Vec<String> = paths.iter().map(real).chain(paths.iter().map(|path| clean(path))).collect();
        all.sort_unstable();
        all.dedup();
        all
    };
    Layout {
        roots: layout.roots.iter().map(real).collect(),
        read_roots: layout.read_roots.iter().map(real).collect(),
        home: real(&layout.home),
        guard_state: both(layout.guard_state),
        guard_policy: both(layout.guard_policy),
        temp: both(layout.temp),
    }
}
