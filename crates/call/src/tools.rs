//! The table of the agent door's tools.

use crate::message::{MAX_BODY, MAX_SUBJECT};
use crate::schema::{Field, Form, Kind, Need, ToolSpec};

const fn text(name: &'static str, about: &'static str, min: usize, max: usize, form: Form) -> Field {
    Field { name, about, kind: Kind::Text { min, max, form }, need: Need::Required }
}

const fn path(about: &'static str) -> Field {
    text("path", about, 1, 4096, Form::Path)
}

const fn optional(field: Field) -> Field {
    Field { need: Need::Optional, ..field }
}

const fn int(name: &'static str, about: &'static str, min: u64, max: u64) -> Field {
    Field { name, about, kind: Kind::Int { min, max }, need: Need::Optional }
}

const MB: usize = 1024 * 1024;

/// Every tool of the agent door, in the order in which it is offered.
pub const TOOLS: &[ToolSpec] = &[
    ToolSpec {
        name: "run_bash",
        about: "Runs a bash command in the sandbox, starting in the workspace, and returns its output.",
        fields: &[
            text("command", "The command.", 1, 65_536, Form::Command),
            int("timeout_secs", "Seconds until it is stopped (default 120).", 1, 600),
            Field {
                name: "outside_box",
                about: "The host leaves its own sandbox.",
                kind: Kind::Flag,
                need: Need::Hidden,
            },
        ],
    },
    ToolSpec {
        name: "read_file",
        about: "Reads lines of a text file.",
        fields: &[
            path("The file, relative to the workspace."),
            int("offset", "First line, counted from 1.", 1, 1_000_000),
            int("limit", "Number of lines (default 200).", 1, 2_000),
        ],
    },
    ToolSpec {
        name: "glob_files",
        about: "Lists files whose path matches a relative glob such as `src/**/*.rs`.",
        fields: &[text("pattern", "The glob.", 1, 4096, Form::Pattern), optional(path("Directory to start in."))],
    },
    ToolSpec {
        name: "grep",
        about: "Searches files for a regular expression.",
        fields: &[
            text("pattern", "The regular expression.", 1, 4096, Form::Line),
            optional(path("File or directory to search.")),
            optional(text("glob", "Only files whose path matches.", 1, 4096, Form::Pattern)),
        ],
    },
    ToolSpec {
        name: "write_file",
        about: "Writes a whole file, creating or replacing it.",
        fields: &[path("The file."), text("content", "The new content.", 0, MB, Form::Content)],
    },
    ToolSpec {
        name: "edit_file",
        about: "Replaces one exact text in a file; it must occur once unless replace_all is true.",
        fields: &[
            path("The file."),
            text("old_string", "The text to replace.", 1, MB, Form::Content),
            text("new_string", "The text to put there.", 0, MB, Form::Content),
            Field { name: "replace_all", about: "Replace every occurrence.", kind: Kind::Flag, need: Need::Optional },
        ],
    },
    ToolSpec { name: "delete_file", about: "Deletes one file. It can be undone.", fields: &[path("The file.")] },
    ToolSpec {
        name: "webfetch",
        about: "Fetches a page by GET and returns it as text.",
        fields: &[text("url", "An http or https address.", 1, 4096, Form::Line)],
    },
    ToolSpec {
        name: "send_message",
        about: "Sends a message through the relay that the operator configured.",
        fields: &[
            text("to", "The one recipient, such as user@host.example.", 1, 254, Form::Recipient),
            text("subject", "The subject.", 0, MAX_SUBJECT, Form::Heading),
            text("body", "The text.", 0, MAX_BODY, Form::Content),
        ],
    },
    ToolSpec {
        name: "todo_append",
        about: "Adds an item to the plan.",
        fields: &[text("text", "The item.", 1, 2_000, Form::Content)],
    },
    ToolSpec { name: "todo_list", about: "Lists the plan with statuses and retry counts.", fields: &[] },
    ToolSpec {
        name: "todo_update",
        about: "Sets the status of an item of the plan.",
        fields: &[
            Field { need: Need::Required, ..int("id", "The item's number.", 1, 10_000) },
            Field {
                name: "status",
                about: "Its new status.",
                kind: Kind::Choice(&["pending", "in_progress", "done", "failed"]),
                need: Need::Required,
            },
        ],
    },
    ToolSpec { name: "read_scratchpad", about: "Reads your notes of this run.", fields: &[] },
    ToolSpec {
        name: "write_scratchpad",
        about: "Replaces your notes of this run.",
        fields: &[text("content", "The notes.", 0, 65_536, Form::Content)],
    },
    ToolSpec {
        name: "ask_question",
        about: "Asks the user a question and waits for the answer.",
        fields: &[text("question", "The question.", 1, 4_000, Form::Content)],
    },
];
