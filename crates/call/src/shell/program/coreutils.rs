//! Files: listing, copying, moving, removing.

use super::row::{ALL, Pick, Row, Rule, Say, row};
use super::run::Use;
use crate::action::{ActionKind, Depth, Target, Why, WriteHow};

pub(super) const ROWS: &[Row] = &[
    row(
        &["ls", "dir", "vdir", "exa", "eza", "tree", "lsd"],
        "-I --ignore -w --width -L -P --block-size -T --tabsize --filelimit -H",
        &[Rule::Code(list), Rule::WriteFlag("-o --output-file")],
        "ls -la src",
        "ls ~/.ssh",
    ),
    row(&["rm", "unlink", "srm"], "", &[Rule::Code(rm)], "rm --help", "rm -rf build"),
    row(&["trash", "trash-put"], "", &[Rule::Delete(ALL, Depth::Recursive)], "trash --help", "trash a"),
    row(&["rmdir"], "", &[Rule::Delete(ALL, Depth::Single)], "rmdir --help", "rmdir old"),
    row(&["mv"], "-t --target-directory -S --suffix", &[Rule::Code(mv)], "mv a b", "mv a /etc/b"),
    row(
        &["cp", "gcp"],
        "-t --target-directory -S --suffix --sparse",
        &[Rule::Code(cp)],
        "cp a b",
        "cp ~/.ssh/id_rsa x",
    ),
    row(&["ln", "link"], "-t --target-directory -S --suffix", &[Rule::Code(ln)], "ln -s a b", "ln -sf a /etc/b"),
    row(
        &["install", "ginstall"],
        "-m --mode -o --owner -g --group -t --target-directory -S --suffix",
        &[Rule::Code(install)],
        "install -m 644 a out/b",
        "install -m 4755 a /usr/bin/b",
    ),
    row(&["mkdir"], "-m --mode -Z", &[Rule::Write(ALL, WriteHow::MakeDir)], "mkdir -p a/b", "mkdir /opt/x"),
    row(&["touch"], "-d --date -r --reference -t", &[Rule::Write(ALL, WriteHow::Change)], "touch a", "touch /etc/x"),
    row(&["mktemp"], "-p --tmpdir --suffix", &[], "mktemp -d", "mktemp; cat ~/.ssh/id_rsa"),
    row(&["mkfifo"], "-m --mode", &[Rule::Write(ALL, WriteHow::Change)], "mkfifo p", "mkfifo /etc/p"),
    row(
        &["mknod"],
        "-m --mode",
        &[Rule::Always(Say::Privilege("a device node"))],
        "mknod --help",
        "mknod /dev/sdz b 8 0",
    ),
    row(&["tee", "sponge"], "", &[Rule::Code(tee)], "tee out.log", "tee /etc/hosts"),
    row(
        &["truncate"],
        "-s --size -r --reference",
        &[Rule::Write(ALL, WriteHow::Replace)],
        "truncate -s 0 a",
        "truncate -s 0 /etc/passwd",
    ),
    row(&["shred", "wipe"], "-n --iterations -s --size", &[Rule::Code(shred)], "shred --help", "shred -u a"),
    row(&["dd", "dcfldd"], "", &[Rule::Code(dd)], "dd if=a of=b", "dd if=/dev/zero of=/dev/sda"),
    row(
        &["split", "csplit"],
        "-b --bytes -l --lines -n --number -a --suffix-length -C -f --prefix -k",
        &[Rule::Read(Pick::At(0)), Rule::Code(split)],
        "split -l 10 a",
        "split --filter='rm -rf x' a",
    ),
    row(
        &["realpath", "readlink", "greadlink", "namei"],
        "--relative-to --relative-base",
        &[],
        "realpath a",
        "readlink a; cat ~/.ssh/id_rsa",
    ),
    row(&["basename", "dirname", "pathchk"], "-s --suffix", &[], "basename a/b", "dirname a > /etc/x"),
    row(
        &["stat", "file", "du", "df", "sync", "gstat", "dust", "duf", "ncdu"],
        "-c --format -d --max-depth -t --threshold -m -X --exclude -B --block-size -f -F",
        &[Rule::Read(ALL)],
        "stat a",
        "file ~/.ssh/id_rsa",
    ),
];

/// Listing shows names, not contents: a single secret file is not read by it.
fn list(it: &mut Use<'_, '_, '_>) {
    it.each(ALL, |it, word| {
        let secret = word.literal().and_then(crate::places::protection);
        if !matches!(secret, Some(crate::places::Protection::EnvFile | crate::places::Protection::Key)) {
            it.read(word);
        }
    });
}

fn rm(it: &mut Use<'_, '_, '_>) {
    let short = |name: &str| name.len() > 2 && "--recursive".starts_with(name);
    let depth = if it.has("-r -R") || it.args.flags.iter().any(|flag| short(&flag.name)) {
        Depth::Recursive
    } else {
        Depth::Single
    };
    it.each(ALL, |it, word| it.delete(word, depth));
}

/// The operands that are sources, and where they go.
fn sources(it: &Use<'_, '_, '_>) -> (Vec<super::super::ir::Word>, Option<super::super::ir::Word>) {
    let mut operands = it.operands(0);
    match it.value("-t --target-directory") {
        Some(directory) => (operands, Some(directory)),
        None => {
            let last = operands.pop();
            (operands, last)
        }
    }
}

/// Where `source` ends up: `to` itself, and the name beneath it when `to` is a directory.
fn landing(it: &Use<'_, '_, '_>, source: &super::super::ir::Word, to: &super::super::ir::Word) -> Target {
    let Some(name) =
        to.literal().filter(|name| name.ends_with('/') || matches!(*name, "." | "..") || name.ends_with("/."))
    else {
        return it.target(to);
    };
    let Some(base) = source.literal().and_then(|text| text.trim_end_matches('/').rsplit('/').next()) else {
        return it.target(to);
    };
    if matches!(base, "" | "." | "..") {
        return it.target(to);
    }
    let joined = format!("{}/{base}", name.trim_end_matches('/'));
    it.target(&super::super::ir::Word::literal_at(
        if name == "/" { format!("/{base}") } else { joined },
        to.span.clone(),
    ))
}

fn mv(it: &mut Use<'_, '_, '_>) {
    let (from, to) = sources(it);
    let Some(to) = to else { return };
    for word in from {
        let (source, landing) = (it.target(&word), landing(it, &word, &to));
        it.act_at(ActionKind::Move(source, landing), &word);
    }
}

fn cp(it: &mut Use<'_, '_, '_>) {
    let (from, to) = sources(it);
    let how = if it.has("-l --link -s --symbolic-link") { WriteHow::Link } else { WriteHow::Replace };
    let Some(to) = to else { return };
    for word in &from {
        it.read(word);
    }
    for word in &from {
        let target = landing(it, word, &to);
        it.act_at(ActionKind::Write(target, how), &to);
    }
    if from.is_empty() {
        it.write(&to, how);
    }
}

fn ln(it: &mut Use<'_, '_, '_>) {
    let (from, to) = sources(it);
    match (from.as_slice(), to) {
        ([], Some(only)) => {
            it.read(&only);
            let name = only.literal().and_then(|text| text.rsplit('/').next()).unwrap_or(".").to_owned();
            let here = super::super::ir::Word::literal_at(name, only.span.clone());
            it.write(&here, WriteHow::Link);
        }
        (from, Some(to)) => {
            for word in from {
                it.read(word);
                let target = landing(it, word, &to);
                it.act_at(ActionKind::Write(target, WriteHow::Link), &to);
            }
        }
        (_, None) => {}
    }
}

fn install(it: &mut Use<'_, '_, '_>) {
    if it.value("-m --mode").is_some_and(|mode| super::permission::grants_identity(&mode)) {
        it.say(Say::Privilege("a set-user-id or set-group-id file"));
    }
    if it.value("-o --owner -g --group").is_some() {
        it.say(Say::Privilege("a change of owner"));
    }
    if it.has("-d --directory") {
        return it.each(ALL, |it, word| it.write(word, WriteHow::MakeDir));
    }
    cp(it);
}

fn tee(it: &mut Use<'_, '_, '_>) {
    let how = if it.has("-a --append") { WriteHow::Change } else { WriteHow::Replace };
    it.each(ALL, |it, word| it.write(word, how));
}

fn shred(it: &mut Use<'_, '_, '_>) {
    let removes = it.has("-u --remove --");
    it.each(ALL, |it, word| {
        it.write(word, WriteHow::Replace);
        if removes || it.name == "wipe" {
            it.delete(word, Depth::Single);
        }
    });
}

fn dd(it: &mut Use<'_, '_, '_>) {
    for word in it.operands(0) {
        match word.lead() {
            lead if lead.starts_with("if=") => it.read(&word.without_lead(3)),
            lead if lead.starts_with("of=") => it.write(&word.without_lead(3), WriteHow::Replace),
            "" => it.act_at(
                ActionKind::Write(Target::Opaque(word.why().cloned().unwrap_or(Why::Input)), WriteHow::Replace),
                &word,
            ),
            _ => {}
        }
    }
}

fn split(it: &mut Use<'_, '_, '_>) {
    for code in it.values("--filter") {
        it.code(&code);
    }
    let named = if it.name == "csplit" { it.value("-f --prefix") } else { it.operand(1) };
    let prefix = named.unwrap_or_else(|| super::super::ir::Word::literal_at("xaa", it.span()));
    it.write(&prefix, WriteHow::Replace);
}
