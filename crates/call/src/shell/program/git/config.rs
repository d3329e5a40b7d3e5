//! git configuration: which keys run code or change whom git talks to.

use super::super::super::ir::Word;
use super::super::row::{Say, among};
use super::super::run::Use;
use crate::action::{ActionKind, Control, PathRef, Target, WriteHow};

/// `-c key=value`.
pub(super) fn setting(it: &mut Use<'_, '_, '_>, word: &Word) {
    let lead = word.lead();
    let key = lead.split('=').next().unwrap_or(lead);
    let value = word.without_lead((key.len() + 1).min(lead.len()));
    if word.literal().is_none() && !lead.contains('=') || runs_code(key, &value) {
        control(it, key, word);
    }
}

fn control(it: &mut Use<'_, '_, '_>, key: &str, at: &Word) {
    it.act_at(ActionKind::Control(Control::Configuration(format!("git {key}"))), at);
}

/// Whether setting `key` makes git run a program, trust a place, or talk to another host.
pub(super) fn runs_code(key: &str, value: &Word) -> bool {
    let key = key.to_ascii_lowercase();
    let last = key.rsplit('.').next().unwrap_or("");
    let section = key.split('.').next().unwrap_or("");
    let harmless =
        value.literal().is_some_and(|text| text.is_empty() || text == "code --wait" || among(HARMLESS, text));
    match (section, last) {
        ("core", "editor" | "pager" | "fsmonitor" | "askpass") | ("pager", _) | ("sequence", "editor") => !harmless,
        ("core", plain) if among(PLAIN_CORE, plain) => false,
        ("http", last) => among("sslverify proxy sslcainfo extraheader cookiefile", last),
        ("remote", last) => among("url pushurl uploadpack receivepack proxy vcs fetch push", last),
        ("submodule", "update" | "url") | ("init", "templatedir") | ("help", "browser") | ("protocol", "allow") => true,
        (section, _) if among(WHOLE_SECTIONS, section) => true,
        (section, last) if among(PROGRAM_SECTIONS, section) && among(PROGRAM_KEYS, last) => true,
        (_, last) => {
            last.ends_with("command") || last.ends_with("program") || last.ends_with("helper") || last == "hookspath"
        }
    }
}

const HARMLESS: &str = "cat true false less vim vi nano :";
/// Keys of `core` that change no program and no peer.
const PLAIN_CORE: &str = "autocrlf eol ignorecase filemode quotepath abbrev safecrlf symlinks longpaths commentchar preloadindex \
     untrackedcache compression whitespace logallrefupdates bare bigfilethreshold packedgitlimit packedgitwindowsize \
     deltabasecachelimit precomposeunicode excludesfile splitindex multipackindex commitgraph sharedrepository checkstat";
const WHOLE_SECTIONS: &str =
    "core alias filter include includeif url credential safe uploadpack receive sendemail man web";
const PROGRAM_SECTIONS: &str =
    "sequence gpg diff difftool mergetool merge interactive instaweb browser trailer lfs ssh";
const PROGRAM_KEYS: &str = "editor program external cmd path driver textconv command difffilter allowedsignersfile defaultkeycommand \
     httpd customtransfer variant process";

/// `git config`: reading is free; writing a plain key in the repository is ordinary.
pub(super) fn config(it: &mut Use<'_, '_, '_>) {
    let verb =
        it.literal(0).filter(|word| among(READ_VERBS, word) || among(WRITE_VERBS, word)).unwrap_or("").to_owned();
    let reads = it.has(READ_FLAGS) || among(READ_VERBS, &verb);
    it.each_value("-f --file", |it, word| it.read(word));
    let at = usize::from(!verb.is_empty());
    let (key, value) = (it.operand(at), it.operand(at + 1));
    let unsets = it.has("--unset --unset-all --remove-section --rename-section")
        || among("unset remove-section rename-section", &verb);
    let writes = value.is_some() || unsets || it.has("-e --edit --add --replace-all") || among(WRITE_VERBS, &verb);
    if it.sub != "alias" && (reads || !writes) {
        return;
    }
    it.say(Say::Project);
    write(it);
    let name =
        if it.sub == "alias" { "alias.x".to_owned() } else { key.as_ref().map_or_else(String::new, Word::shown) };
    let known = key.as_ref().is_some_and(|key| key.literal().is_some());
    let value = value.unwrap_or_else(|| Word::literal_at("", it.span()));
    if it.has("-e --edit") || verb == "edit" || !known || (runs_code(&name, &value) && !unsets) {
        let at = key.unwrap_or(value);
        control(it, &name, &at);
    }
}

const READ_FLAGS: &str =
    "-l --list --get --get-all --get-regexp --get-urlmatch --get-color --get-colorbool --show-origin --name-only";
const READ_VERBS: &str = "get list get-all get-regexp get-urlmatch get-color get-colorbool";
const WRITE_VERBS: &str = "set unset edit rename-section remove-section";

/// Names the file that is written, where it is not the repository's own.
fn write(it: &mut Use<'_, '_, '_>) {
    if let Some(file) = it.value("-f --file") {
        return it.write(&file, WriteHow::Change);
    }
    let path = if it.has("--system") {
        "/etc/gitconfig".to_owned()
    } else if it.has("--global") {
        format!("{}/.gitconfig", it.reader.setting.home)
    } else {
        return;
    };
    let path = PathRef { raw: path.clone(), abs: path };
    it.act(ActionKind::Write(Target::Path(path), WriteHow::Change));
}

/// `git remote`, `git remote -v`.
pub(super) fn remote(it: &mut Use<'_, '_, '_>) {
    if it.operand(0).is_some() {
        it.say(Say::Unknown);
    }
}

/// `git remote add|set-url|remove …`: later fetches and pushes go elsewhere.
pub(super) fn remote_change(it: &mut Use<'_, '_, '_>) {
    it.say(Say::Project);
    if matches!(it.sub, "remote add" | "remote set-url") {
        let at = it.operand(1).or_else(|| it.operand(0)).unwrap_or_else(|| Word::literal_at("", it.span()));
        control(it, "remote.*.url", &at);
    }
}
