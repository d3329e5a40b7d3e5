//! Modes, owners and attributes.

use super::super::ir::Word;
use super::row::{ALL, Pick, Row, Rule, Say, row};
use super::run::Use;
use crate::action::WriteHow;

pub(super) const ROWS: &[Row] = &[
    row(&["chmod", "gchmod"], "--reference", &[Rule::Code(chmod)], "chmod +x run.sh", "chmod u+s a"),
    row(&["chown", "chgrp"], "--reference --from", &[Rule::Code(chown)], "chown --help", "chown -R root /"),
    row(
        &["chattr", "lsattr", "setfacl", "xattr"],
        "-m --modify -x --remove -M -X -p -v",
        &[Rule::Code(attributes)],
        "lsattr a",
        "chattr +i a",
    ),
    row(&["getfacl", "getfattr"], "-n --name -m", &[Rule::Read(ALL)], "getfacl a", "getfacl ~/.ssh/id_rsa"),
    row(
        &["setcap"],
        "-n",
        &[Rule::Always(Say::Privilege("a capability of a file"))],
        "setcap --help",
        "setcap cap_setuid+ep a",
    ),
    row(&["umask", "id", "groups", "whoami", "logname", "getcap"], "-n", &[], "id -u", "whoami > /etc/x"),
];

fn chmod(it: &mut Use<'_, '_, '_>) {
    let from = usize::from(!it.has("--reference"));
    // `chmod -w a`: the mode looks like a flag.
    let dashed = it.args.flags.iter().any(|flag| matches!(flag.name.as_str(), "-r" | "-w" | "-x" | "-s" | "-t" | "-X"));
    let from = if dashed { 0 } else { from };
    if from == 1 && it.operand(0).is_some_and(|mode| grants_identity(&mode)) {
        it.say(Say::Privilege("a set-user-id or set-group-id file"));
    }
    it.each(Pick::From(from), |it, word| it.write(word, WriteHow::Metadata));
}

/// Whether a mode sets the user or group identity bit, or is not known.
pub(super) fn grants_identity(mode: &Word) -> bool {
    let Some(text) = mode.literal() else { return true };
    let octal = text.bytes().all(|byte| byte.is_ascii_digit());
    if octal {
        let digits = text.trim_start_matches('0');
        return digits.len() >= 4 && !digits.starts_with('1');
    }
    text.split(',').any(|clause| {
        let grants = clause.split_once(['+', '=']).map(|(_, bits)| bits);
        grants.is_some_and(|bits| bits.contains('s'))
    })
}

fn chown(it: &mut Use<'_, '_, '_>) {
    it.say(Say::Privilege("a change of owner"));
    let from = usize::from(!it.has("--reference"));
    it.each(Pick::From(from), |it, word| it.write(word, WriteHow::Metadata));
}

fn attributes(it: &mut Use<'_, '_, '_>) {
    if it.name == "lsattr" {
        return it.each(ALL, |it, word| it.read(word));
    }
    if it.name == "chattr" {
        it.say(Say::Privilege("a file attribute"));
    }
    let from = usize::from(it.name == "chattr" && !it.args.flags.is_empty()).min(1);
    it.each(Pick::From(1 - from), |it, word| it.write(word, WriteHow::Metadata));
}
