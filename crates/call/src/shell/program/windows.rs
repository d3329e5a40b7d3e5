//! Windows and macOS: a first reading of what their shells are asked to do.

use super::super::ir::Word;
use super::row::{ALL, Row, Rule, Say, quiet, row, sub, subs};
use super::run::Use;
use crate::action::{ActionKind, Depth, Destroy, DestroyClass, Signal, Target, Why};

pub(super) const ROWS: &[Row] = &[
    row(
        &[
            "powershell",
            "pwsh",
            "cmd",
            "wsl",
            "wscript",
            "cscript",
            "mshta",
            "rundll32",
            "regsvr32",
            "certutil",
            "bitsadmin",
            "wmic",
            "reg",
            "schtasks",
            "sc",
            "net",
            "netsh",
            "icacls",
            "takeown",
            "attrib",
            "bcdedit",
            "vssadmin",
            "wbadmin",
            "cipher",
            "diskpart",
            "format",
            "robocopy",
            "xcopy",
            "runas",
            "msiexec",
        ],
        "",
        &[Rule::Code(windows)],
        "pwsh --version",
        "cmd.exe /c rd /s /q build",
    ),
    row(
        &[
            "rd",
            "del",
            "erase",
            "Remove-Item",
            "ri",
            "Clear-Content",
            "Clear-RecycleBin",
            "Format-Volume",
            "Stop-Process",
            "Invoke-Expression",
            "Invoke-WebRequest",
            "iwr",
            "Start-Process",
            "Set-ExecutionPolicy",
        ],
        "",
        &[Rule::Code(command_let)],
        "del --help",
        "Remove-Item -Recurse -Force x",
    ),
    subs(
        &["defaults"],
        "",
        &[
            quiet("read,read-type,domains,find,help,"),
            sub("*", "", &[Rule::Always(Say::Configuration("macOS settings"))]),
        ],
        "defaults read x",
        "defaults write x y z",
    ),
    row(
        &[
            "open",
            "xdg-open",
            "start",
            "explorer",
            "cygstart",
            "wslview",
            "gnome-open",
            "sensible-browser",
            "firefox",
            "google-chrome",
            "chromium",
            "brave",
        ],
        "-a -b -e",
        &[Rule::Code(opens)],
        "open --help",
        "open /Applications/X.app",
    ),
    row(
        &["pbcopy", "pbpaste", "xclip", "xsel", "wl-copy", "wl-paste", "clip", "xdotool", "wtype", "ydotool"],
        "-selection -i -o -t",
        &[Rule::Code(clipboard)],
        "pbcopy --help",
        "pbpaste",
    ),
    row(
        &[
            "diskutil",
            "tmutil",
            "csrutil",
            "spctl",
            "nvram",
            "pmset",
            "systemsetup",
            "dscl",
            "softwareupdate",
            "kextload",
            "bless",
            "fdesetup",
            "profiles",
            "tccutil",
            "codesign",
            "sips",
            "plutil",
            "mdfind",
            "mdls",
            "ioreg",
            "system_profiler",
            "sysctl",
            "PlistBuddy",
            "screencapture",
            "afplay",
            "xcode-select",
            "xcrun",
            "instruments",
            "lipo",
            "install_name_tool",
            "vm_stat",
            "purge",
        ],
        "-w -n",
        &[Rule::Code(mac)],
        "sysctl -a",
        "diskutil eraseDisk x",
    ),
];

/// The text after `/c`, `-Command`, `-c`, as far as it is understood.
fn windows(it: &mut Use<'_, '_, '_>) {
    let words: Vec<Word> = it.simple.words.get(1..).unwrap_or(&[]).to_vec();
    let text = words.iter().map(Word::shown).collect::<Vec<_>>().join(" ");
    let lower = text.to_ascii_lowercase();
    if words.is_empty()
        || matches!(lower.as_str(), "-version" | "-v" | "--version" | "/?" | "--list" | "-l -v" | "-l" | "--status")
    {
        return;
    }
    it.opaque(Why::Code(it.name.to_owned()));
    if lower.contains("-enc") || lower.contains("frombase64") || lower.contains("-e ") && it.name.starts_with("p") {
        it.opaque(Why::DecodedCode);
    }
    first_reading(it, &lower, &words);
}

/// Names of what destroys, in the shells of Windows.
fn first_reading(it: &mut Use<'_, '_, '_>, lower: &str, words: &[Word]) {
    let tokens: Vec<&str> = lower
        .split(|mark: char| {
            mark.is_whitespace() || matches!(mark, ';' | '|' | '&' | '"' | '\'' | '(' | ')' | '{' | '}')
        })
        .collect();
    let has = |names: &[&str]| tokens.iter().any(|token| names.contains(token));
    let flag = |start: &str| tokens.iter().any(|token| token.starts_with(start));
    let last = words.last().cloned();
    let removes = has(&["rd", "rmdir", "del", "erase", "remove-item", "ri", "rm"]);
    if removes {
        let deep = flag("/s") || flag("-r") || flag("-recurse");
        let why = last.as_ref().and_then(|word| word.why().cloned()).unwrap_or_else(|| Why::Code(it.name.to_owned()));
        it.act(ActionKind::Delete(Target::Opaque(why), if deep { Depth::Recursive } else { Depth::Single }));
    }
    if has(&["format", "diskpart", "clear-disk", "format-volume", "cipher"]) || matches!(it.name, "format" | "diskpart")
    {
        it.act(ActionKind::Destroy(Destroy { class: DestroyClass::Disk, what: "a volume".to_owned() }));
    }
    if has(&["vssadmin", "wbadmin", "shadowcopy", "bcdedit"]) || matches!(it.name, "vssadmin" | "wbadmin" | "bcdedit") {
        it.act(ActionKind::Destroy(Destroy {
            class: DestroyClass::Recovery,
            what: "shadow copies or boot settings".to_owned(),
        }));
    }
    if has(&["taskkill", "stop-process", "kill", "spps"]) {
        it.act(ActionKind::Signal(Signal::Name(lower.to_owned())));
    }
    if has(&["schtasks", "sc", "new-service", "register-scheduledtask"]) || matches!(it.name, "schtasks" | "sc") {
        it.say(Say::Persist("a scheduled task or service"));
    }
    if matches!(it.name, "runas" | "takeown" | "icacls" | "reg" | "net" | "netsh" | "msiexec" | "regsvr32") {
        it.say(Say::Privilege("the Windows system"));
    }
}

/// A Windows command given to a POSIX shell, as agents on Windows do.
fn command_let(it: &mut Use<'_, '_, '_>) {
    let words: Vec<Word> = it.simple.words.clone();
    let lower = words.iter().map(Word::shown).collect::<Vec<_>>().join(" ").to_ascii_lowercase();
    let deep = lower.contains("/s") || lower.contains("-r");
    match it.name {
        "rd" | "del" | "erase" | "Remove-Item" | "ri" | "Clear-Content" | "Clear-RecycleBin" => {
            let depth = if deep { Depth::Recursive } else { Depth::Single };
            for word in words.iter().skip(1).filter(|word| {
                !(word.lead().starts_with('-') || word.lead().starts_with('/') && word.shown().len() <= 3)
            }) {
                it.delete(word, depth);
            }
        }
        "Format-Volume" => it.destroy(DestroyClass::Disk, "a volume"),
        "Stop-Process" => it.act(ActionKind::Signal(Signal::Name(lower))),
        _ => it.opaque(Why::Code("powershell".to_owned())),
    }
}

/// Opens a file or a page with the user's own program.
fn opens(it: &mut Use<'_, '_, '_>) {
    it.each(ALL, |it, word| {
        if word.lead().starts_with("http://") || word.lead().starts_with("https://") {
            let peer = crate::action::Peer::Url(word.shown());
            it.connect(peer, crate::action::Flow::Fetch);
        } else {
            it.read(word);
            it.opaque(Why::UnknownProgram("the program that opens it".to_owned()));
        }
    });
}

fn clipboard(it: &mut Use<'_, '_, '_>) {
    match it.name {
        "pbpaste" | "wl-paste" => it.opaque(Why::Input),
        "xclip" | "xsel" if it.has("-o --output") => it.opaque(Why::Input),
        "xdotool" | "wtype" | "ydotool" => it.say(Say::Hidden("keys for another program")),
        _ => it.each(ALL, |it, word| it.read(word)),
    }
}

fn mac(it: &mut Use<'_, '_, '_>) {
    let verb = it.literal(0).unwrap_or("").to_owned();
    match it.name {
        "diskutil" if matches!(verb.as_str(), "list" | "info" | "") => {}
        "diskutil" => it.destroy(DestroyClass::Disk, "a disk"),
        "tmutil" if verb.starts_with("delete") || verb == "disable" => it.destroy(DestroyClass::Recovery, "backups"),
        "sysctl"
            if it.has("-w")
                || it.operands(0).iter().any(|word| word.lead().contains('='))
                || it.has("-p --load --system") =>
        {
            it.say(Say::Privilege("kernel settings"));
        }
        "sysctl" | "sips" | "plutil" | "mdfind" | "mdls" | "ioreg" | "system_profiler" | "tmutil" | "lipo"
        | "vm_stat" | "xcode-select" | "afplay" => {
            it.each(ALL, |it, word| {
                if word.lead().contains('/') {
                    it.read(word)
                }
            });
        }
        "xcrun" => {
            let words = it.tail(0);
            it.say(Say::Project);
            it.inner(&words);
        }
        "codesign" | "instruments" | "install_name_tool" | "screencapture" => it.say(Say::Project),
        _ => it.say(Say::Privilege("macOS settings")),
    }
}
