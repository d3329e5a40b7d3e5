//! A workspace with a world around it, laid out anew for each test.

use std::fs;
use std::io::Read;
use std::os::unix::fs::symlink;
use std::path::PathBuf;

use tollgate_call::action::{Action, ActionKind, PathRef, Target};
use tollgate_call::call::Person;
use tollgate_call::places::Layout;
use tollgate_call::{Call, Door, Origin, Proposal, Span, Untrusted};
use tollgate_survey::{Intent, PathError, Root, Surveyor};

/// A directory of its own for one test.
pub(crate) struct Place {
    _held: tempfile::TempDir,
    pub(crate) top: PathBuf,
}

impl Place {
    /// A workspace `W` with a few files, and `outside/secret` and `W-evil/secret` beside it.
    pub(crate) fn new() -> Self {
        let held = tempfile::tempdir().unwrap();
        let top = held.path().canonicalize().unwrap();
        for dir in ["W/a", "W/..hidden", "W/%2e%2e", "outside/sub", "W-evil", "home"] {
            fs::create_dir_all(top.join(dir)).unwrap();
        }
        for file in ["W/b.txt", "W/a/b.txt", "W/..hidden/file", "W/a..b", "W/%2e%2e/file", "W/naïve–ファイル.txt"]
        {
            fs::write(top.join(file), "inside").unwrap();
        }
        for file in ["outside/secret", "W-evil/secret"] {
            fs::write(top.join(file), "outside").unwrap();
        }
        Self { _held: held, top }
    }

    pub(crate) fn path(&self, rel: &str) -> String {
        self.top.join(rel).to_str().unwrap().to_owned()
    }

    pub(crate) fn link(&self, to: &str, at: &str) {
        symlink(to, self.top.join(at)).unwrap();
    }

    pub(crate) fn layout(&self) -> Layout {
        Layout::of(&self.path("W"), &self.path("home"))
    }

    pub(crate) fn root(&self) -> Root {
        Root::open(&self.path("W"), &self.layout()).unwrap()
    }

    pub(crate) fn read(&self, named: &str) -> Result<String, PathError> {
        let mut text = String::new();
        self.root().scope(named, Intent::Read)?.open_regular()?.read_to_string(&mut text).unwrap();
        Ok(text)
    }

    pub(crate) fn write(&self, rel: &str, text: &str) {
        let at = self.top.join(rel);
        fs::create_dir_all(at.parent().unwrap()).unwrap();
        fs::write(at, text).unwrap();
    }

    pub(crate) fn hard_link(&self, of: &str, at: &str) {
        fs::hard_link(self.top.join(of), self.top.join(at)).unwrap();
    }

    pub(crate) fn fifo(&self, rel: &str) {
        rustix::fs::mknodat(rustix::fs::CWD, self.top.join(rel), rustix::fs::FileType::Fifo, 0o600.into(), 0).unwrap();
    }

    pub(crate) fn surveyor(&self) -> Surveyor {
        let minute = std::time::Duration::from_secs(60);
        Surveyor::open(self.layout(), "/usr/bin:/bin").unwrap().patience(minute, minute)
    }

    /// A call of the agent door, made in the workspace.
    pub(crate) fn call(&self, tool: &str, args: &serde_json::Value) -> Call {
        let origin = Origin { door: Door::Agent, run: "r".into(), call_id: "c".into(), cwd: self.path("W") };
        let args = Untrusted::new(serde_json::to_vec(args).unwrap());
        let proposal = Proposal { tool: Untrusted::new(tool.into()), args, origin };
        Call::read(&proposal, &Person { home: self.path("home"), user: "u".into() }).unwrap()
    }

    /// A path relative to the workspace.
    pub(crate) fn at(&self, raw: &str) -> PathRef {
        PathRef::join(&self.path("W"), raw)
    }

    pub(crate) fn target(&self, raw: &str) -> Target {
        Target::Path(self.at(raw))
    }
}

/// An action of a command.
pub(crate) fn action(kind: ActionKind) -> Action {
    Action { kind, span: Span::new("/command", 0, 1), part: 0 }
}
