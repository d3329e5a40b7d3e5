//! Archives and compression.

use super::super::ir::Word;
use super::super::unwrap::connect_to;
use super::network::{host_of, is_remote};
use super::row::{ALL, Pick, Row, Rule, Say, row};
use super::run::Use;
use crate::action::{Depth, Flow, WriteHow};

pub(super) const ROWS: &[Row] = &[
    row(
        &["tar", "gtar", "bsdtar", "star"],
        "-f --file -C --directory -T --files-from -X --exclude-from --exclude -I --use-compress-program -b -s --transform --to-command --checkpoint-action --strip-components --owner --group --mode --mtime --rsh-command --info-script --new-volume-script -F -g --listed-incremental --suffix --warning -K -N --newer",
        &[Rule::Code(tar)],
        "tar tf a.tar",
        "tar xf a.tar --to-command='sh -c id'",
    ),
    row(
        &["zip", "7z", "7za", "7zz", "rar", "arj", "lha"],
        "-x -i -t -n -b -P -O -TT --unzip-command -w",
        &[Rule::Code(zip)],
        "zip -r a.zip src",
        "zip /etc/x.zip a",
    ),
    row(
        &[
            "unzip",
            "unrar",
            "unar",
            "lsar",
            "zipinfo",
            "cabextract",
            "dpkg-deb",
            "rpm2cpio",
            "cpio",
            "pax",
            "atool",
            "ouch",
            "unsquashfs",
            "mksquashfs",
            "genisoimage",
            "mkisofs",
            "xorriso",
            "hdiutil",
        ],
        "-d -x -P -o -e -i -C -D -F -I -O -H -E --directory",
        &[Rule::Code(unzip)],
        "unzip -l a.zip",
        "unzip a.zip -d /etc",
    ),
    row(
        &[
            "gzip",
            "gunzip",
            "bzip2",
            "bunzip2",
            "xz",
            "unxz",
            "zstd",
            "unzstd",
            "lz4",
            "lzma",
            "unlzma",
            "compress",
            "uncompress",
            "pigz",
            "pbzip2",
            "brotli",
            "lzop",
            "lzip",
            "pxz",
            "zopfli",
        ],
        "-S --suffix -T --threads -o --output -b -B -D -M --memory",
        &[Rule::Code(compress)],
        "gzip -l a.gz",
        "gzip /etc/hosts",
    ),
];

/// Old-style flags come without a dash: `tar xzf a.tgz`.
fn mode(it: &Use<'_, '_, '_>) -> (String, Vec<Word>) {
    let words = it.simple.words.get(1..).unwrap_or(&[]);
    let first = words.first().and_then(Word::literal).unwrap_or("");
    let bundled = !first.is_empty()
        && !first.starts_with('-')
        && first.bytes().all(|byte| byte.is_ascii_alphabetic())
        && first.contains(['x', 'c', 't', 'r', 'u']);
    if bundled {
        let letters = first.to_owned();
        let mut operands = it.operands(1);
        let mut archive = Vec::new();
        if letters.contains('f') && !operands.is_empty() {
            archive.push(operands.remove(0));
        }
        archive.extend(operands);
        return (letters, archive);
    }
    let mut letters = String::new();
    for flag in &it.args.flags {
        letters.push_str(match flag.name.as_str() {
            "-x" | "--extract" | "--get" => "x",
            "-c" | "--create" => "c",
            "-t" | "--list" => "t",
            "-r" | "--append" | "-u" | "--update" => "r",
            "--delete" => "r",
            _ => "",
        });
    }
    let mut operands: Vec<Word> = it.values("-f --file");
    if !operands.is_empty() {
        letters.push('f');
    }
    operands.extend(it.operands(0));
    (letters, operands)
}

fn tar(it: &mut Use<'_, '_, '_>) {
    programs(it);
    let (letters, operands) = mode(it);
    let directories = it.values("-C --directory");
    let (archive, members) = if letters.contains('f') {
        operands.split_at_checked(1).unwrap_or((&[], &[]))
    } else {
        (&[][..], operands.as_slice())
    };
    it.each_value("-T --files-from -X --exclude-from", |it, word| it.read(word));
    let writes = letters.contains(['c', 'r', 'u']);
    let archive = archive.iter().filter(|word| !elsewhere(it, word, writes)).collect::<Vec<_>>();
    if writes {
        archive.iter().for_each(|word| it.write(word, WriteHow::Replace));
        directories.iter().for_each(|word| it.read(word));
        members.iter().for_each(|word| it.read(word));
        if it.has("--remove-files") {
            members.iter().for_each(|word| it.delete(word, Depth::Recursive));
        }
    } else {
        archive.iter().for_each(|word| it.read(word));
    }
    if letters.contains('x') && !it.has("-O --to-stdout") {
        let here = directories.last().cloned().unwrap_or_else(|| Word::literal_at(".", it.span()));
        it.write(&here.beneath(), WriteHow::Replace);
        if it.has("-P --absolute-names") {
            it.write(&Word::literal_at("/", it.span()).beneath(), WriteHow::Replace);
        }
    }
}

/// `-f HOST:FILE` is a file on another host.
fn elsewhere(it: &mut Use<'_, '_, '_>, archive: &Word, writes: bool) -> bool {
    let remote = is_remote(archive) && !it.has("--force-local");
    if remote && writes {
        connect_to(it.reader, &host_of(archive), Flow::Send);
        it.say(Say::Upload("an archive to another host"));
    } else if remote {
        connect_to(it.reader, &host_of(archive), Flow::Session);
    }
    remote
}

/// Programs that tar runs: compressors, and whatever it is told to run for a member.
fn programs(it: &mut Use<'_, '_, '_>) {
    for code in it.values("--to-command -I --use-compress-program --rsh-command --info-script --new-volume-script -F") {
        let plain = code.literal().is_some_and(|text| {
            matches!(
                text.split(' ').next(),
                Some("gzip" | "pigz" | "zstd" | "xz" | "bzip2" | "lz4" | "pbzip2" | "zstdmt" | "pixz")
            ) && !text.contains([';', '|', '&', '$', '`'])
        });
        if !plain {
            it.code(&code);
            it.say(Say::Hidden("tar program"));
        }
    }
    for action in it.values("--checkpoint-action") {
        if action.lead().starts_with("exec=") || action.why().is_some() {
            it.code(&action.without_lead("exec=".len()));
            it.say(Say::Hidden("tar checkpoint action"));
        }
    }
}

fn zip(it: &mut Use<'_, '_, '_>) {
    // `-TT` is one flag of two letters.
    let mut words = it.simple.words.iter().skip_while(|word| word.literal() != Some("-TT"));
    let tester = words.nth(1).cloned().or_else(|| it.value("--unzip-command"));
    if let Some(code) = tester {
        it.code(&code);
        it.say(Say::Hidden("zip test program"));
    }
    let seven = it.name.starts_with('7') || it.name == "rar";
    let verb = if seven { it.literal(0).unwrap_or("").to_owned() } else { "a".to_owned() };
    let from = usize::from(seven);
    if matches!(verb.as_str(), "l" | "t" | "i" | "b") {
        return it.each(Pick::At(1), |it, word| it.read(word));
    }
    if matches!(verb.as_str(), "x" | "e") {
        it.each(Pick::At(1), |it, word| it.read(word));
        let here = it.value("-o").unwrap_or_else(|| Word::literal_at(".", it.span()));
        return it.write(&here.beneath(), WriteHow::Replace);
    }
    it.each(Pick::At(from), |it, word| it.write(word, WriteHow::Change));
    it.each(Pick::From(from + 1), |it, word| it.read(word));
    if it.has("-m --move") {
        it.each(Pick::From(from + 1), |it, word| it.delete(word, Depth::Recursive));
    }
}

fn unzip(it: &mut Use<'_, '_, '_>) {
    if it.name == "mksquashfs"
        || it.name == "genisoimage"
        || it.name == "mkisofs"
        || it.name == "xorriso"
        || it.name == "hdiutil"
    {
        it.each(Pick::ButLast, |it, word| it.read(word));
        it.each_value("-o", |it, word| it.write(word, WriteHow::Replace));
        return it.each(Pick::Last, |it, word| it.write(word, WriteHow::Replace));
    }
    it.each(ALL, |it, word| it.read(word));
    let lists = it.has("-l -t -v -Z -p --list")
        || matches!(it.name, "zipinfo" | "lsar" | "rpm2cpio")
        || it.literal(0) == Some("l");
    if !lists {
        let here = it.value("-d --directory -o -C").unwrap_or_else(|| Word::literal_at(".", it.span()));
        it.write(&here.beneath(), WriteHow::Replace);
    }
}

/// The file is replaced by its packed or unpacked form, unless it is kept or printed.
fn compress(it: &mut Use<'_, '_, '_>) {
    it.each_value("-o --output", |it, word| it.write(word, WriteHow::Replace));
    if it.has("-l --list -t --test -c --stdout --to-stdout") {
        return it.each(ALL, |it, word| it.read(word));
    }
    let keeps =
        it.has("-k --keep") || matches!(it.name, "zstd" | "unzstd" | "lz4" | "brotli" | "lzop") && !it.has("--rm");
    it.each(ALL, |it, word| {
        it.read(word);
        if word.literal() == Some("-") {
            return;
        }
        it.write(word, WriteHow::Replace);
        if !keeps && it.has("--rm") {
            it.delete(word, Depth::Single);
        }
    });
}
