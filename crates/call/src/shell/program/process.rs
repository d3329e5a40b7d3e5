//! Processes, jobs, the machine's state, and things that outlive a command.

use super::super::ir::Word;
use super::super::scope::PARENT;
use super::row::{Pick, Row, Rule, Say, among, quiet, row, sub, subs};
use super::run::Use;
use crate::action::{ActionKind, Signal, Why};
use crate::span::Span;

pub(super) const ROWS: &[Row] = &[
    row(&["kill"], "-s --signal -n", &[Rule::Code(kill)], "kill -l", "kill -9 -1"),
    row(
        &["pkill", "killall", "killall5", "xkill", "skill", "slay", "taskkill"],
        "-s --signal -u --user -t -g -P -G -U -n",
        &[Rule::Code(kill_by_name)],
        "pkill --help",
        "pkill -f node",
    ),
    row(
        &[
            "ps", "pgrep", "pidof", "top", "htop", "btop", "atop", "glances", "pstree", "pmap", "pwdx", "procs",
            "jobs", "iotop", "prtstat", "tasklist", "lsns", "powertop",
        ],
        "-o -C -u -U -p -t -g -n -d -b -s -F -w --sort --format --pid --ppid --user --cols --columns --lines --quick-pid",
        &[Rule::Code(list)],
        "ps aux",
        "ps aux > /etc/x",
    ),
    row(
        &["renice"],
        "-n -p -g -u",
        &[Rule::Always(Say::Privilege("the priority of other processes"))],
        "renice --help",
        "renice -n 5 1",
    ),
    row(
        &["shutdown", "reboot", "poweroff", "halt", "init", "telinit", "kexec", "pm-suspend", "pm-hibernate"],
        "",
        &[Rule::Always(Say::SignalAll("the machine"))],
        "shutdown --help",
        "shutdown -h now",
    ),
    row(&["crontab"], "-u", &[Rule::Code(crontab)], "crontab -l", "crontab -r"),
    row(
        &["at", "batch", "atrm"],
        "-f -q -t -r",
        &[Rule::IfNot("-l", Say::Persist("a command for later"))],
        "at -l",
        "at now + 1 hour",
    ),
    row(
        &["atq", "systemd-analyze", "systemd-cgls", "systemd-cgtop", "systemd-detect-virt"],
        "",
        &[],
        "atq",
        "atq > /etc/x",
    ),
    row(
        &["screen", "tmux", "zellij", "byobu", "dtach", "abduco"],
        "-S -L -f -c -t -n -s -p",
        &[Rule::Code(multiplexer)],
        "tmux ls",
        "tmux send-keys -t 0 'rm -rf /' Enter",
    ),
    subs(
        &["systemctl"],
        "-p --property -t --type -H --host -M --machine -n --lines -o --output --state",
        &[
            quiet(
                "status,show,list-units,list-unit-files,list-timers,list-sockets,list-dependencies,is-active,is-enabled,is-failed,cat,get-default,help,is-system-running,show-environment,list-jobs,",
            ),
            sub(
                "poweroff,reboot,halt,suspend,hibernate,kexec,rescue,emergency,isolate,exit",
                "",
                &[Rule::Always(Say::SignalAll("the machine"))],
            ),
            sub(
                "enable,link,edit,set-default,preset,add-wants,add-requires,set-environment,import-environment,unmask,reenable,set-property",
                "",
                &[Rule::Always(Say::Persist("a service")), Rule::Always(Say::Privilege("services of the machine"))],
            ),
            sub("*", "", &[Rule::Always(Say::Privilege("services of the machine"))]),
        ],
        "systemctl status nginx",
        "systemctl enable evil",
    ),
    row(
        &[
            "service",
            "rc-service",
            "rc-update",
            "update-rc.d",
            "chkconfig",
            "initctl",
            "invoke-rc.d",
            "sv",
            "supervisorctl",
        ],
        "",
        &[Rule::Code(service)],
        "service nginx status",
        "service nginx stop",
    ),
    subs(
        &["launchctl"],
        "",
        &[quiet("list,print,version,blame,help,"), sub("*", "", &[Rule::Always(Say::Persist("a launch agent"))])],
        "launchctl list",
        "launchctl load a.plist",
    ),
    subs(
        &["pm2", "forever", "supervisord"],
        "",
        &[
            quiet("list,ls,status,logs,show,info,describe,monit,"),
            sub("*", "", &[Rule::Always(Say::Persist("a process manager")), Rule::Always(Say::Project)]),
        ],
        "pm2 list",
        "pm2 start app.js",
    ),
    subs(
        &["journalctl"],
        "-u --unit -n --lines -S --since -U --until -p --priority -o --output -t --identifier -b? -k?",
        &[
            sub("", "-u --unit -n --lines -S --since -U --until -p --priority -o --output -t --identifier", JOURNAL),
            sub("*", "", JOURNAL),
        ],
        "journalctl -u nginx",
        "journalctl --vacuum-time=1s",
    ),
    row(
        &[
            "logger",
            "wall",
            "write",
            "mesg",
            "notify-send",
            "say",
            "terminal-notifier",
            "zenity",
            "xmessage",
            "growlnotify",
        ],
        "-t -p -f -i -u -a -s",
        &[Rule::Code(speak)],
        "notify-send done",
        "wall hello",
    ),
    row(&["logrotate"], "-s -l", &[Rule::Always(Say::Traces("logs"))], "logrotate --help", "logrotate -f a"),
    row(&["auditctl", "ausearch", "aureport"], "", &[Rule::Code(audit)], "ausearch --help", "auditctl -e 0"),
];

const JOURNAL: &[Rule] = &[Rule::Code(|it| {
    if it
        .global
        .flags
        .iter()
        .chain(&it.args.flags)
        .any(|flag| flag.name.starts_with("--vacuum") || flag.name == "--rotate" || flag.name == "--flush")
    {
        it.say(Say::Traces("the journal"));
    }
})];

/// `ps auxe`: the environments of other processes; only without a dash is `e` that.
fn list(it: &mut Use<'_, '_, '_>) {
    let letters = it.literal(0).filter(|text| it.name == "ps" && text.bytes().all(|byte| byte.is_ascii_alphabetic()));
    if letters.is_some_and(|text| text.contains('e')) {
        let environments = Word::literal_at("/proc/self/environ", it.span());
        it.read(&environments);
    }
}

/// `kill PID…`, `kill %1`, `kill -9 -1`.
fn kill(it: &mut Use<'_, '_, '_>) {
    // `-KILL` is no cluster with `-L` in it.
    if it.simple.words.iter().any(|word| matches!(word.literal(), Some("-l" | "-L" | "--list" | "--table"))) {
        return;
    }
    // Signals look like flags: `-9`, `-TERM`; so do process groups after the first.
    let words: Vec<_> = it.simple.words.iter().skip(1).cloned().collect();
    let mut pids = Vec::new();
    let mut jobs = false;
    let mut signal_given = false;
    let mut skip = false;
    for word in &words {
        let text = word.shown();
        if std::mem::take(&mut skip) || text == "--" {
            continue;
        }
        match text.as_bytes() {
            [b'-', b's' | b'n'] => skip = true,
            [b'-', ..] if !signal_given && text != "-1" || text.starts_with("-S") || text.starts_with("--") => {
                signal_given = true
            }
            [b'%', ..] => jobs = true,
            _ => pids.push(text),
        }
        signal_given |= skip;
    }
    finds_guard(it);
    if let Some(name) = chosen_by_name(it) {
        return it.act(ActionKind::Signal(Signal::Name(name)));
    }
    let all = pids.iter().any(|pid| matches!(pid.as_str(), "-1" | "0" | "1"));
    let signal = if all {
        Signal::All("every process".to_owned())
    } else if pids.is_empty() && jobs {
        Signal::Job
    } else {
        Signal::Pid(pids)
    };
    it.act(ActionKind::Signal(signal));
}

/// What `$(pgrep NAME)`, or `pgrep NAME |` before it, looks for.
fn chosen_by_name(it: &Use<'_, '_, '_>) -> Option<String> {
    let unknown = it.simple.words.iter().skip(1).find(|word| word.why().is_some())?;
    let piped = unknown.why() == Some(&Why::Input);
    let within = |span: &Span| piped || (unknown.span.start <= span.start && span.end <= unknown.span.end);
    let finder = it.reader.commands.iter().rev().find(|command| {
        within(&command.span)
            && matches!(command.words.first().and_then(Word::literal), Some("pgrep" | "pidof" | "lsof" | "fuser"))
    })?;
    let sought = finder.words.iter().skip(1).filter(|word| !word.lead().starts_with('-'));
    Some(sought.map(Word::shown).collect::<Vec<_>>().join(" "))
}

fn kill_by_name(it: &mut Use<'_, '_, '_>) {
    if it.has("-l --list") && it.operand(0).is_none() || it.has("-0") {
        return;
    }
    let text = it
        .simple
        .words
        .iter()
        .skip(1)
        .filter(|word| !word.lead().starts_with('-'))
        .map(|word| word.shown())
        .collect::<Vec<_>>()
        .join(" ");
    if names_guard(&text) {
        it.say(Say::Guard("its processes"));
    }
    it.act(ActionKind::Signal(Signal::Name(text)));
}

fn names_guard(text: &str) -> bool {
    text.to_ascii_lowercase().contains("tollgate")
}

/// `kill $(pidof tollgate)`, `pgrep tollgate | xargs kill`.
fn finds_guard(it: &mut Use<'_, '_, '_>) {
    let finds = it.reader.commands.iter().any(|command| {
        let finder = command.words.first().and_then(Word::literal).is_some_and(|name| {
            matches!(name.rsplit('/').next(), Some("pidof" | "pgrep" | "ps" | "grep" | "awk" | "systemctl"))
        });
        finder && command.words.iter().skip(1).any(|word| names_guard(&word.shown()))
    });
    let host = it.simple.words.iter().skip(1).any(|word| word.shown().trim_start_matches('-') == PARENT);
    if host {
        it.say(Say::Guard("the process that it serves"));
    }
    if finds {
        it.say(Say::Guard("its processes"));
    }
}

fn crontab(it: &mut Use<'_, '_, '_>) {
    if it.has("-l") {
        return;
    }
    if it.has("-r") {
        it.destroy(crate::action::DestroyClass::Recovery, "every timer of the user");
    }
    it.each(Pick::At(0), |it, word| it.read(word));
    it.say(Say::Persist("a timer of the user"));
}

/// Panes are other shells: what is sent to them runs there.
fn multiplexer(it: &mut Use<'_, '_, '_>) {
    let verb = it.literal(0).unwrap_or("").to_owned();
    let detached = it.has("-d -dm -dmS") || it.simple.words.iter().any(|word| word.lead().starts_with("-d"));
    if among(QUIET_PANES, &verb) || verb.is_empty() && (it.has("-ls -list --list") || it.simple.words.len() <= 2) {
        return;
    }
    match verb.as_str() {
        "kill-server" | "kill-session" | "kill-pane" | "kill-window" => {
            it.act(ActionKind::Signal(Signal::Name(format!("{} {verb}", it.name))));
        }
        "send-keys" | "send" => {
            for word in it.operands(1) {
                if !matches!(word.literal(), Some("Enter" | "C-m" | "C-c" | "Space" | "Escape")) {
                    it.code(&word);
                }
            }
            it.say(Say::Hidden("keys for another shell"));
        }
        _ if among(NEW_PANES, &verb) => {
            it.operands(1).iter().for_each(|word| it.code(word));
            if detached || verb == "run-shell" || verb == "pipe-pane" {
                it.say(Say::Persist("a detached session"));
            }
        }
        _ if it.has("-X") => it.say(Say::Hidden("keys for another shell")),
        _ if detached => {
            it.say(Say::Persist("a detached session"));
            let words = it.tail(0);
            it.inner(&words);
        }
        _ if it.name != "screen" || !it.has("-r -x -ls") => it.say(Say::Unknown),
        _ => {}
    }
}

const QUIET_PANES: &str = "ls list-sessions list-windows list-panes capture-pane display-message info show-options list-keys attach \
     attach-session a switch-client detach select-pane select-window resize-pane";
const NEW_PANES: &str =
    "new-session new new-window neww split-window splitw respawn-pane run-shell run if-shell pipe-pane";

fn service(it: &mut Use<'_, '_, '_>) {
    let reads = it.operands(0).iter().any(|word| matches!(word.literal(), Some("status" | "show" | "avail")))
        || it.has("--status-all --list -l");
    if !reads {
        it.say(Say::Privilege("services of the machine"));
    }
}

fn speak(it: &mut Use<'_, '_, '_>) {
    match it.name {
        "wall" | "write" => it.say(Say::Message("people logged in to the machine")),
        "logger" => it.each_value("-f", |it, word| it.read(word)),
        _ => {}
    }
}

fn audit(it: &mut Use<'_, '_, '_>) {
    if it.name == "auditctl" && !it.has("-l -s") {
        it.say(Say::Traces("the audit rules of the machine"));
    }
}
