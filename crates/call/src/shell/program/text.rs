//! Text: showing, searching, sorting, comparing, changing.

use super::super::ir::Word;
use super::row::{ALL, Does, Pick, Row, Rule, Say, Style, row};
use super::run::Use;
use crate::action::{Why, WriteHow};

pub(super) const ROWS: &[Row] = &[
    row(
        &[
            "cat", "zcat", "bzcat", "xzcat", "zstdcat", "tac", "nl", "bat", "batcat", "more", "rev", "expand",
            "unexpand", "fmt", "fold", "pr", "ul", "column", "paste", "join", "comm", "tsort", "look",
        ],
        "-w --width -d --delimiters -s --separator -b -f -v -i -l --language --line-range -r --theme --style --pager -t -o -1 -2 -j -a -e -H",
        &[Rule::Read(ALL), Rule::If("--pager", Say::Hidden("pager"))],
        "cat README.md",
        "cat ~/.ssh/id_rsa",
    ),
    row(
        &["less", "most", "zless", "pg"],
        "-p -P -t -x -y -z -b -h -j -k -T",
        &[
            Rule::Read(ALL),
            Rule::WriteFlag("-o -O --log-file --LOG-FILE"),
            Rule::If("-k --lesskey-file", Say::Hidden("lesskey")),
        ],
        "less a",
        "less -o /etc/x a",
    ),
    row(
        &["head", "tail", "ghead", "gtail"],
        "-n --lines -c --bytes -s --sleep-interval --pid",
        &[Rule::Read(ALL)],
        "tail -n 5 a",
        "head ~/.ssh/id_rsa",
    ),
    row(
        &["grep", "egrep", "fgrep", "zgrep", "ggrep", "rgrep", "ag", "ack", "ugrep"],
        "-A --after-context -B --before-context -C --context -e --regexp -f --file -m --max-count --include --exclude --exclude-dir --exclude-from -d -D --label --color -g --glob --ignore --ignore-dir -G --depth",
        &[Rule::Code(grep)],
        "grep -rn 'a|b' src",
        "grep -r KEY ~/.ssh",
    ),
    row(
        &["rg", "ripgrep"],
        "-A --after-context -B --before-context -C --context -e --regexp -f --file -m --max-count -g --glob --iglob -t --type -T --type-not -r --replace -d --max-depth -j --threads -M --max-columns --sort --sortr -E --encoding --color --colors --pre --pre-glob --type-add --max-filesize --engine --hostname-bin",
        &[Rule::Code(grep), Rule::If("--pre --hostname-bin", Say::Hidden("preprocessor"))],
        "rg -n 'fn main' src",
        "rg --pre ./evil x",
    ),
    row(
        &["sort", "gsort"],
        "-k --key -t --field-separator -S --buffer-size -T --temporary-directory -o --output --parallel --batch-size --compress-program --files0-from --random-source",
        &[Rule::Read(ALL), Rule::WriteFlag("-o --output"), Rule::If("--compress-program", Say::Hidden("compressor"))],
        "sort -u a",
        "sort -o /etc/passwd a",
    ),
    row(
        &["uniq"],
        "-f --skip-fields -s --skip-chars -w --check-chars",
        &[Rule::Read(Pick::At(0)), Rule::Write(Pick::At(1), WriteHow::Replace)],
        "uniq -c a",
        "uniq a /etc/x",
    ),
    row(
        &[
            "wc",
            "cut",
            "cksum",
            "sum",
            "md5sum",
            "sha1sum",
            "sha224sum",
            "sha256sum",
            "sha384sum",
            "sha512sum",
            "b2sum",
            "b3sum",
            "shasum",
            "md5",
            "od",
            "hexdump",
            "hd",
            "strings",
            "nm",
            "size",
            "ldd",
            "objdump",
            "readelf",
            "otool",
            "cloc",
            "tokei",
            "scc",
            "sloccount",
            "iconv",
            "wdiff",
            "cmp",
            "numfmt",
            "ptx",
        ],
        "-f --fields -d --delimiter -c --characters -b --bytes -a -A -N -j -t -s -w -e -n --read-bytes --skip-bytes --width --format -S -G -g --to --from --output-delimiter --include-lang --exclude-dir --files0-from --from-unit --to-unit --field -i --ignore-initial -l",
        &[Rule::Read(ALL), Rule::WriteFlag("-o --output --report-file --out")],
        "wc -l a",
        "md5sum ~/.ssh/id_rsa",
    ),
    row(
        &["xxd"],
        "-c -g -l -o -s -seek -len -cols",
        &[Rule::Read(Pick::At(0)), Rule::Write(Pick::At(1), WriteHow::Replace)],
        "xxd a",
        "xxd -r a /etc/x",
    ),
    row(
        &["base64", "base32", "basenc", "uuencode", "uudecode"],
        "-w --wrap -o",
        &[Rule::Read(ALL), Rule::WriteFlag("-o --output")],
        "base64 a",
        "base64 ~/.ssh/id_rsa",
    ),
    row(
        &["diff", "colordiff", "delta", "difft", "sdiff", "diff3", "gdiff"],
        "-U --unified -C --context -I -x --exclude -X --exclude-from -W --width -F -D --label -L --from-file --to-file --color --diff-program",
        &[Rule::Read(ALL), Rule::WriteFlag("-o --output"), Rule::If("--diff-program", Say::Hidden("diff program"))],
        "diff -u a b",
        "diff a ~/.ssh/id_rsa",
    ),
    row(
        &["patch", "gpatch"],
        "-p --strip -i --input -d --directory -o --output -r --reject-file -F --fuzz -B -D -V -Y -z",
        &[Rule::Code(patch)],
        "patch -p1 -i a.diff",
        "patch /etc/passwd a.diff",
    ),
    row(
        &["jq", "jaq", "gojq", "fx", "yq", "xq", "dasel", "tomlq"],
        "--indent -f --from-file -L --arg --argjson --slurpfile --rawfile -o --output-format -p --input-format -I",
        &[Rule::Code(jq)],
        "jq -r .name package.json",
        "jq . ~/.ssh/id_rsa",
    ),
    row(
        &["xmllint", "xmlstarlet", "xsltproc", "tidy"],
        "--xpath --schema --encode --stringparam -o --output",
        &[Rule::Read(ALL), Rule::WriteFlag("-o --output")],
        "xmllint a.xml",
        "xmllint -o /etc/x a.xml",
    ),
    row(
        &[
            "tr",
            "seq",
            "yes",
            "expr",
            "factor",
            "bc",
            "dc",
            "test",
            "cal",
            "ncal",
            "banner",
            "figlet",
            "cowsay",
            "lolcat",
            "shuf",
            "date",
            "gdate",
            "sleep",
            "usleep",
            "tput",
            "tty",
            "nproc",
            "arch",
            "uname",
            "hostid",
            "locale",
            "getconf",
            "uptime",
            "printenv",
            "clear",
            "reset",
            "tldr",
            "man",
            "apropos",
            "whatis",
            "info",
            "which",
            "whereis",
            "units",
            "uuidgen",
            "mcookie",
            "pwgen",
            "stty",
            "tset",
            "cheat",
            "gseq",
            "dircolors",
            "lsb_release",
            "sw_vers",
            "getent",
            "w",
            "who",
            "users",
            "last",
            "lastlog",
            "finger",
            "free",
            "vmstat",
            "iostat",
            "mpstat",
            "lscpu",
            "lsblk",
            "lspci",
            "lsusb",
            "lsmem",
            "lsmod",
            "lslocks",
            "dmidecode",
            "dmesg",
            "sensors",
            "hwinfo",
            "inxi",
            "neofetch",
            "fastfetch",
            "screenfetch",
            "blkid",
            "findmnt",
            "sar",
            "nvidia-smi",
            "rocm-smi",
            "pidstat",
            "acpi",
            "runlevel",
            "tzselect",
            "gettext",
            "jot",
            "printf",
            "echo",
            "true",
            "false",
            "pwd",
        ],
        "-d --date -f --format -s --separator -n -w -e -i -I -r --reference --random-source -H -P -M -C -L -k",
        &[Rule::Code(clock)],
        "date +%F",
        "date -s 2020-01-01",
    ),
    row(
        &["awk", "gawk", "mawk", "nawk", "original-awk", "goawk"],
        "-F --field-separator -v --assign -f --file -i --include -l --load -e --source -E --exec",
        &[Rule::Code(awk)],
        "awk '{print $1}' a",
        "awk 'BEGIN{system(\"id\")}'",
    ),
    row(
        &["sed", "gsed", "ssed"],
        "-e --expression -f --file -l --line-length -i? -I?",
        &[Rule::Code(sed)],
        "sed -n '1,5p' a",
        "sed -i s/a/b/ /etc/passwd",
    ),
    Row {
        names: &["vim", "vi", "nvim", "ex", "view", "gvim", "vimdiff"],
        values: "-c --cmd -S -u -U -i -s -w -W -T -t -q",
        style: Style::Gnu,
        always: &[],
        does: Does::Rules(&[Rule::Code(vim)]),
        allowed: "vim --version",
        refused: "vim -c '!id' a",
    },
    row(
        &["nano", "pico", "emacs", "ed", "micro", "hx", "helix", "kak", "joe", "mcedit", "subl"],
        "-f -l --eval -e",
        &[
            Rule::Write(ALL, WriteHow::Change),
            Rule::If("--eval -f --funcall -l --load --script", Say::Hidden("editor code")),
        ],
        "nano a",
        "nano /etc/hosts",
    ),
    row(&["dos2unix", "unix2dos"], "", &[Rule::Write(ALL, WriteHow::Change)], "dos2unix a", "dos2unix /etc/x"),
    row(&["envsubst", "gomplate", "m4"], "-D -I", &[Rule::Read(ALL)], "envsubst a", "envsubst ~/.ssh/id_rsa"),
];

/// The pattern is the first operand unless `-e` or `-f` gives it.
fn grep(it: &mut Use<'_, '_, '_>) {
    it.each_value("-f --file --exclude-from", |it, word| it.read(word));
    let listing = it.has("--files --type-list --list-file-types");
    let from = usize::from(!it.has("-e --regexp -f --file") && !listing);
    it.each(Pick::From(from), |it, word| it.read(word));
    let recursive = it.has("-r -R --recursive --dereference-recursive")
        || matches!(it.name, "rg" | "ag" | "ack" | "rgrep" | "ripgrep");
    if recursive && it.operand(from).is_none() {
        let here = Word::literal_at(".", it.span());
        it.read(&here);
    }
}

fn patch(it: &mut Use<'_, '_, '_>) {
    it.each_value("-i --input", |it, word| it.read(word));
    it.each_value("-o --output -r --reject-file", |it, word| it.write(word, WriteHow::Replace));
    match it.operand(0) {
        Some(file) => it.write(&file, WriteHow::Change),
        None => {
            let here = it.value("-d --directory").unwrap_or_else(|| Word::literal_at(".", it.span()));
            it.write(&here.beneath(), WriteHow::Change);
        }
    }
    it.each(Pick::At(1), |it, word| it.read(word));
}

fn jq(it: &mut Use<'_, '_, '_>) {
    it.each_value("-f --from-file", |it, word| it.read(word));
    // `yq eval EXPR FILE`, `--slurpfile NAME FILE`: every later word may be a file.
    let skip = usize::from(matches!(it.literal(0), Some("eval" | "e" | "ea" | "eval-all")));
    let from = skip + usize::from(!it.has("-f --from-file"));
    let in_place = it.name != "jq" && it.has("-i --inplace");
    it.each(Pick::From(from), |it, word| if in_place { it.write(word, WriteHow::Change) } else { it.read(word) });
}

/// `date -s` sets the clock; `dmesg -C` erases; the rest only print.
fn clock(it: &mut Use<'_, '_, '_>) {
    if it.name.ends_with("date") && it.has("-s --set") {
        it.say(Say::Privilege("the system clock"));
    }
    if it.name == "dmesg" && it.has("-C --clear -c --read-clear") {
        it.say(Say::Traces("the kernel log"));
    }
    if matches!(it.name, "shuf" | "bc" | "factor") {
        it.each_value("-o --output", |it, word| it.write(word, WriteHow::Replace));
        let files = it.operands(0);
        files.iter().for_each(|word| it.read(word));
    }
    if it.name == "man" && it.has("-P --pager -H --html") {
        it.say(Say::Hidden("pager"));
    }
}

/// An awk program that only computes and prints.
fn awk(it: &mut Use<'_, '_, '_>) {
    it.each_value("-f --file -i --include -E --exec", |it, word| {
        it.read(word);
        it.opaque(Why::Code("awk".to_owned()));
    });
    if it.has("-l --load") {
        it.say(Say::Hidden("awk"));
    }
    let given = it.has("-f --file -E --exec");
    let mut programs = it.values("-e --source");
    let from = usize::from(!given && programs.is_empty());
    programs.extend(it.operand(0).filter(|_| from == 1));
    for program in programs {
        match program.literal() {
            Some(text) if awk_is_pure(text) => {}
            Some(_) | None => it.opaque(program.why().cloned().unwrap_or_else(|| Why::Code("awk".to_owned()))),
        }
    }
    if it.has("-i --include") && it.value("-i --include").is_some_and(|word| word.literal() == Some("inplace")) {
        it.each(Pick::From(from), |it, word| it.write(word, WriteHow::Change));
    }
    for word in it.operands(from) {
        let assigns = super::super::scan::is_assignment(word.lead());
        if !assigns {
            it.read(&word);
        }
    }
}

/// No `system`, no pipes, no output to files, no `getline` from commands, no indirect calls.
fn awk_is_pure(program: &str) -> bool {
    let code = without_strings(program);
    let redirect = code.split(['{', ';', '\n', '}']).any(|statement| {
        let statement = statement.trim_start();
        (statement.starts_with("print") || statement.contains(" print"))
            && statement.contains('>')
            && !statement.contains('(')
    });
    let quoted_redirect = code.contains(">\"") || code.contains("> \"") || code.contains(">>");
    let pipe = code.replace("||", "").contains('|');
    !redirect
        && !quoted_redirect
        && !pipe
        && !["system", "getline", "@load", "@include", "@", "/inet/", "close(", "ENVIRON"]
            .iter()
            .any(|word| code.contains(word))
}

/// The program with the inside of its strings and regular expressions left out.
fn without_strings(program: &str) -> String {
    let mut code = String::with_capacity(program.len());
    let mut marks = program.chars();
    let mut quote = None;
    while let Some(mark) = marks.next() {
        match (quote, mark) {
            (Some(_), '\\') => {
                marks.next();
            }
            (Some(open), mark) if mark == open => {
                quote = None;
                code.push(mark);
            }
            (Some(_), _) => {}
            (None, '"') => {
                quote = Some('"');
                code.push('"');
            }
            (None, '/')
                if !code
                    .trim_end()
                    .ends_with(|before: char| before.is_alphanumeric() || matches!(before, ')' | ']' | '_' | '$')) =>
            {
                quote = Some('/');
            }
            (None, mark) => code.push(mark),
        }
    }
    code
}

fn sed(it: &mut Use<'_, '_, '_>) {
    let mut scripts = it.values("-e --expression");
    let given = !scripts.is_empty() || it.has("-f --file");
    let from = usize::from(!given);
    scripts.extend(it.operand(0).filter(|_| !given));
    for script in it.values("-f --file") {
        it.read(&script);
        it.opaque(Why::Code("sed".to_owned()));
    }
    for script in &scripts {
        match script.literal() {
            Some(text) => sed_commands(it, text, script),
            None if script.why().is_some() && !script.lead().starts_with("s") => it.opaque(Why::Code("sed".to_owned())),
            None => {}
        }
    }
    let in_place = it.has("-i -I --in-place");
    it.each(Pick::From(from), |it, word| if in_place { it.write(word, WriteHow::Change) } else { it.read(word) });
}

/// Commands of a sed script that write files or run code: `w`, `W`, `e`, and `s///w`, `s///e`.
fn sed_commands(it: &mut Use<'_, '_, '_>, text: &str, at: &Word) {
    for line in text.split(['\n', ';']) {
        let command = line.trim_start_matches(|mark: char| {
            mark.is_ascii_digit() || matches!(mark, ' ' | '\t' | ',' | '$' | '!' | '{' | '~' | '+')
        });
        let command = after_address(command);
        let mut marks = command.chars();
        match marks.next() {
            Some('e') => it.opaque(Why::Code("sed".to_owned())),
            Some('w' | 'W') => it.write(&Word::literal_at(marks.as_str().trim(), at.span.clone()), WriteHow::Replace),
            Some('r' | 'R') => it.read(&Word::literal_at(marks.as_str().trim(), at.span.clone())),
            Some('s') => substitution_flags(it, marks.as_str(), at),
            _ => {}
        }
    }
}

/// `/re/cmd` and `/a/,/b/cmd`: what follows the addresses.
fn after_address(command: &str) -> &str {
    let mut rest = command;
    while let Some(inside) = rest.strip_prefix('/') {
        let Some(end) = unescaped(inside, '/') else { return rest };
        rest = inside.get(end + 1..).unwrap_or("").trim_start_matches(['I', 'M']);
        rest = rest.trim_start_matches(|mark: char| {
            mark.is_ascii_digit() || matches!(mark, ' ' | '\t' | ',' | '$' | '!' | '{')
        });
    }
    rest
}

fn unescaped(text: &str, mark: char) -> Option<usize> {
    let mut escaped = false;
    text.char_indices().find_map(|(at, now)| {
        let hit = now == mark && !escaped;
        escaped = now == '\\' && !escaped;
        hit.then_some(at)
    })
}

fn substitution_flags(it: &mut Use<'_, '_, '_>, rest: &str, at: &Word) {
    let Some(mark) = rest.chars().next() else { return };
    let after = rest.get(mark.len_utf8()..).unwrap_or("");
    let flags = unescaped(after, mark)
        .and_then(|end| after.get(end + mark.len_utf8()..))
        .and_then(|after| unescaped(after, mark).and_then(|end| after.get(end + mark.len_utf8()..)));
    let Some(flags) = flags else { return };
    let (plain, file) = flags.split_once('w').map_or((flags, None), |(plain, file)| (plain, Some(file)));
    if plain.contains('e') {
        it.opaque(Why::Code("sed".to_owned()));
    }
    if let Some(file) = file {
        it.write(&Word::literal_at(file.trim(), at.span.clone()), WriteHow::Replace);
    }
}

fn vim(it: &mut Use<'_, '_, '_>) {
    for code in it.values("-c --cmd") {
        match code.literal() {
            Some("q" | "wq" | "qa" | "qa!" | "q!" | "x") => {}
            Some(text) => match text.trim_start_matches(':').strip_prefix('!') {
                Some(shell) => {
                    let shell = Word::literal_at(shell, code.span.clone());
                    it.code(&shell);
                    it.opaque(Why::Code("vim".to_owned()));
                }
                None => it.opaque(Why::Code("vim".to_owned())),
            },
            None => it.opaque(Why::Code("vim".to_owned())),
        }
    }
    it.each_value("-S -u -U -s", |it, word| {
        it.read(word);
        it.opaque(Why::Code("vim".to_owned()));
    });
    it.each(ALL, |it, word| {
        if word.lead().starts_with('+') {
            it.opaque(Why::Code("vim".to_owned()))
        } else {
            it.write(word, WriteHow::Change)
        }
    });
}
