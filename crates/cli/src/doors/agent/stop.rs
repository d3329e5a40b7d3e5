//! Stopping: Ctrl-C once (end the step and summarise), twice (now), and a halt from anywhere.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU8, Ordering};
use std::thread;
use std::time::Duration;

use signal_hook::consts::{SIGINT, SIGTERM};
use signal_hook::iterator::{Handle, Signals};
use tollgate::act::sandbox::HaltSignal;
use tollgate::ledger::{HaltScope, Store};

use crate::model::cancel::CancelFlag;

/// How often a halt is looked for while something runs, in milliseconds.
const LOOK_MS: u64 = 10;

/// How urgently the run should stop.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Urgency {
    /// Not at all.
    None,
    /// After this step, with a summary.
    Soon,
    /// Now.
    Now,
}

/// The shared stop of one run.
#[derive(Debug, Clone)]
pub(crate) struct Stop {
    level: Arc<AtomicU8>,
    halted: Arc<AtomicBool>,
    /// Kills what runs in a box.
    pub(crate) signal: HaltSignal,
    /// Ends a model request.
    pub(crate) cancel: CancelFlag,
    /// Ends the last request, the summary, which the first press leaves alone.
    pub(crate) cancel_summary: CancelFlag,
}

impl Stop {
    /// A stop that nothing has asked for yet.
    ///
    /// # Errors
    /// The process is out of descriptors.
    pub(crate) fn new() -> std::io::Result<Self> {
        Ok(Self {
            level: Arc::default(),
            halted: Arc::default(),
            signal: HaltSignal::new()?,
            cancel: CancelFlag::new(),
            cancel_summary: CancelFlag::new(),
        })
    }

    /// How urgent it is.
    pub(crate) fn urgency(&self) -> Urgency {
        match self.level.load(Ordering::SeqCst) {
            0 => Urgency::None,
            1 => Urgency::Soon,
            _ => Urgency::Now,
        }
    }

    /// Whether a halt, rather than a person at this terminal, asked for it.
    pub(crate) fn is_halted(&self) -> bool {
        self.halted.load(Ordering::SeqCst)
    }

    fn press(&self) {
        if self.level.fetch_add(1, Ordering::SeqCst) > 0 {
            self.cancel_summary.cancel();
        }
        self.cut();
    }

    fn halt(&self) {
        self.halted.store(true, Ordering::SeqCst);
        self.level.store(2, Ordering::SeqCst);
        self.cancel_summary.cancel();
        self.cut();
    }

    /// Ends the model's answer and what runs in a box.
    fn cut(&self) {
        self.cancel.cancel();
        if self.signal.raise().is_err() {
            std::process::abort();
        }
    }

    /// Turns SIGINT into a press, SIGTERM into two.
    ///
    /// # Errors
    /// The handlers could not be installed.
    pub(crate) fn listen(&self) -> std::io::Result<Listening> {
        let mut signals = Signals::new([SIGINT, SIGTERM])?;
        let handle = signals.handle();
        let stop = self.clone();
        thread::Builder::new().name("signals".to_owned()).spawn(move || {
            for signal in signals.forever() {
                stop.press();
                if signal == SIGTERM {
                    stop.press();
                }
            }
        })?;
        Ok(Listening(handle))
    }

    /// Looks for a halt in the ledger until the watch is dropped.
    ///
    /// # Errors
    /// The thread could not be started.
    pub(crate) fn watch(&self, store: Arc<dyn Store>, scope: HaltScope) -> std::io::Result<Watch> {
        let stop = self.clone();
        let over = Arc::new(AtomicBool::new(false));
        let ended = Arc::clone(&over);
        let thread = thread::Builder::new().name("halt watch".to_owned()).spawn(move || {
            while !ended.load(Ordering::SeqCst) {
                // An unreadable ledger is a raised halt: nothing may run unwatched.
                if store.halt_state(&scope).map_or(true, |state| state.raised.is_some()) {
                    stop.halt();
                    return;
                }
                thread::park_timeout(Duration::from_millis(LOOK_MS));
            }
        })?;
        Ok(Watch { over, thread: Some(thread) })
    }
}

/// Ends listening for signals when dropped.
#[derive(Debug)]
pub(crate) struct Listening(Handle);

impl Drop for Listening {
    fn drop(&mut self) {
        self.0.close();
    }
}

/// Ends the halt watch when dropped.
#[derive(Debug)]
pub(crate) struct Watch {
    over: Arc<AtomicBool>,
    thread: Option<thread::JoinHandle<()>>,
}

impl Drop for Watch {
    fn drop(&mut self) {
        self.over.store(true, Ordering::SeqCst);
        if let Some(thread) = self.thread.take() {
            thread.thread().unpark();
            drop(thread.join());
        }
    }
}
