//! Tools that stay inside the run: the plan, the notes, a question to the user.

use std::cell::RefCell;
use std::rc::Rc;

use tollgate::act::Inner;
use tollgate::call::Tool;
use tollgate::gate::Report;

use super::console::Console;

/// Most items a plan holds.
const MAX_ITEMS: usize = 200;

/// The inner tools of one run.
pub(crate) struct RunInner {
    plan: Rc<RefCell<Plan>>,
    console: Rc<RefCell<dyn Console>>,
}

impl RunInner {
    /// The plan of a run, and whom to ask.
    pub(crate) const fn new(plan: Rc<RefCell<Plan>>, console: Rc<RefCell<dyn Console>>) -> Self {
        Self { plan, console }
    }
}

impl Inner for RunInner {
    fn perform(&self, tool: &Tool) -> Report {
        if let Tool::AskQuestion { question } = tool {
            return match self.console.borrow_mut().question(question) {
                Some(answer) => Report::read(answer),
                None => Report::failed("nobody is there to answer; decide by yourself and say what you assumed"),
            };
        }
        self.plan.borrow_mut().perform(tool.clone())
    }
}

/// The plan and the notes of one run.
#[derive(Debug, Default)]
pub(crate) struct Plan {
    items: Vec<Item>,
    notes: String,
}

#[derive(Debug)]
struct Item {
    text: String,
    status: String,
    failures: u32,
}

impl Plan {
    fn perform(&mut self, tool: Tool) -> Report {
        match tool {
            Tool::TodoAppend { text } => self.append(text),
            Tool::TodoList => Report::read(self.list()),
            Tool::TodoUpdate { id, status } => self.update(id, status),
            Tool::ReadScratchpad => Report::read(self.notes.clone()),
            Tool::WriteScratchpad { content } => {
                self.notes = content;
                Report::changed("noted")
            }
            Tool::AskQuestion { .. }
            | Tool::RunBash { .. }
            | Tool::ReadFile { .. }
            | Tool::GlobFiles { .. }
            | Tool::Grep { .. }
            | Tool::WriteFile { .. }
            | Tool::EditFile { .. }
            | Tool::DeleteFile { .. }
            | Tool::WebFetch { .. }
            | Tool::SendMessage { .. }
            | Tool::Foreign { .. } => Report::failed("this tool does not stay inside the run"),
        }
    }

    fn append(&mut self, text: String) -> Report {
        if self.items.len() >= MAX_ITEMS {
            return Report::failed(format!("the plan holds {MAX_ITEMS} items; finish some first"));
        }
        self.items.push(Item { text, status: "pending".to_owned(), failures: 0 });
        Report::changed(format!("item {} added", self.items.len()))
    }

    fn update(&mut self, id: u64, status: String) -> Report {
        let count = self.items.len();
        let at = usize::try_from(id).ok().and_then(|id| id.checked_sub(1));
        let Some(item) = at.and_then(|at| self.items.get_mut(at)) else {
            return Report::failed(format!("there is no item {id}; the plan has {count}"));
        };
        if status == "failed" {
            item.failures = item.failures.saturating_add(1);
        }
        item.status = status;
        Report::changed(format!("item {id} is {} (failed {} times)", item.status, item.failures))
    }

    /// The items that are neither done nor failed, one a line.
    pub(crate) fn open(&self) -> Vec<String> {
        let open = |item: &&Item| item.status == "pending" || item.status == "in_progress";
        self.items.iter().filter(open).map(|item| item.text.clone()).collect()
    }

    /// The whole plan, one item a line.
    pub(crate) fn list(&self) -> String {
        if self.items.is_empty() {
            return "the plan is empty".to_owned();
        }
        let line = |(at, item): (usize, &Item)| {
            let retries = if item.failures > 0 { format!(", failed {} times", item.failures) } else { String::new() };
            format!("{}. [{}{retries}] {}\n", at + 1, item.status, item.text)
        };
        self.items.iter().enumerate().map(line).collect()
    }
}
