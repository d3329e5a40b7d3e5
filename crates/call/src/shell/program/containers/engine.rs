//! What container engines do.

use super::super::super::ir::Word;
use super::super::row::{ALL, Pick, Say, among};
use super::super::run::Use;
use crate::action::{DestroyClass, Flow, ListenScope, Peer, Standing, Why, WriteHow};

/// Another engine, named on the command line.
pub(super) fn host(it: &mut Use<'_, '_, '_>) {
    if it.global.has("-H --host -c --context --connection --url") {
        it.opaque(Why::Elsewhere("another container engine".to_owned()));
    }
}

pub(super) fn build(it: &mut Use<'_, '_, '_>) {
    if !matches!(it.sub, "build" | "image build" | "buildx build" | "builder build") {
        it.each_value("-i --input", |it, word| it.read(word));
        return;
    }
    if it.has("--push") {
        it.say(Say::Package("a container image"));
    }
    it.each_value("-f --file", |it, word| it.read(word));
    it.each(ALL, |it, word| {
        if !word.lead().contains("://") {
            it.read(word)
        }
    });
    for secret in it.values("--secret") {
        if let Some(at) = secret.lead().find("src=") {
            it.read(&secret.without_lead(at + 4));
        }
    }
    if it.has("--allow --privileged")
        || it.values("--network").iter().any(|word| word.literal() == Some("host")) && it.has("--security-opt")
    {
        it.say(Say::Privilege("a build with the machine's rights"));
    }
}

pub(super) fn copy(it: &mut Use<'_, '_, '_>) {
    let inside = |word: &Word| word.lead().split_once(':').is_some_and(|(name, _)| !name.contains('/'));
    it.each(Pick::At(0), |it, word| {
        if !inside(word) {
            it.read(word)
        }
    });
    it.each(Pick::At(1), |it, word| {
        if !inside(word) {
            it.write(word, WriteHow::Replace)
        }
    });
}

/// Flags of `docker run` that open the machine to the container.
pub(super) fn run(it: &mut Use<'_, '_, '_>) {
    it.stands(Standing::Project);
    // Flags after the image belong to the command inside.
    let privileged = it.has("--privileged --cap-add --device --security-opt --userns --cgroupns --volumes-from --gpus-all --pid --ipc --uts");
    let shares_host =
        it.values("--network --net").iter().any(|word| word.literal() == Some("host") || word.literal().is_none());
    if privileged {
        it.say(Say::Privilege("a container with rights over the machine"));
    }
    if shares_host {
        it.say(Say::Listen(ListenScope::Wide, "the machine's network inside a container"));
    }
    for volume in it.values("-v --volume --mount") {
        mount(it, &volume);
    }
    it.each_value("--env-file", |it, word| it.read(word));
    if it
        .values("-p --publish")
        .iter()
        .any(|port| !port.lead().starts_with("127.0.0.1:") && !port.lead().starts_with("localhost:"))
    {
        it.say(Say::Listen(ListenScope::Wide, "a published port"));
    }
    it.say(Say::Registry("container registry", Flow::Fetch));
}

/// `-v HOST:INSIDE[:ro]`, `--mount type=bind,source=HOST,…`.
pub(super) fn mount(it: &mut Use<'_, '_, '_>, volume: &Word) {
    let lead = volume.lead();
    let source = if lead.contains('=') {
        let at = ["source=", "src="].iter().find_map(|key| lead.find(key).map(|at| at + key.len()));
        at.map(|at| volume.without_lead(at)).map(|word| cut(&word, ','))
    } else {
        Some(cut(volume, ':'))
    };
    let Some(source) = source else { return };
    let named = source.literal().is_some_and(|name| !name.contains('/') && !name.starts_with(['.', '~']));
    if named {
        return;
    }
    let read_only =
        volume.tail().ends_with(":ro") || volume.shown().contains("readonly") || volume.tail().contains(":ro,");
    let whole = source.literal().is_some_and(|name| {
        let clean = crate::places::clean(name);
        name.starts_with('/') && among(MACHINE, &clean)
    });
    if whole {
        it.say(Say::Privilege("the machine's own directories inside a container"));
    }
    it.read(&source);
    if !read_only {
        it.write(&source.beneath(), WriteHow::Change);
    }
}

/// The word up to the first `mark` of its known text.
pub(super) fn cut(word: &Word, mark: char) -> Word {
    match word.lead().split_once(mark) {
        Some((before, _)) => Word::literal_at(before, word.span.clone()),
        None => word.clone(),
    }
}

/// A command inside a container: read there, judged as elsewhere unless it only reads.
pub(super) fn exec(it: &mut Use<'_, '_, '_>) {
    it.stands(Standing::Project);
    if it.has("--privileged") {
        it.say(Say::Privilege("a container with rights over the machine"));
    }
    let words = it.operands(0);
    let rest = words.get(1..).unwrap_or(&[]).to_vec();
    remote(it, &rest, "a container");
}

pub(super) fn remote(it: &mut Use<'_, '_, '_>, words: &[Word], place: &str) {
    let flags: Vec<Word> = it.simple.words.iter().skip_while(|word| Some(*word) != words.first()).cloned().collect();
    let text: Option<Vec<String>> = flags.iter().map(|word| word.literal().map(quote)).collect();
    let setting = super::super::super::Setting { cwd: "/", home: "/root", user: "root" };
    // What a shell is told on the far side is not in this input, even where the words given only read.
    let shell = words
        .first()
        .and_then(Word::literal)
        .is_some_and(|name| SHELLS.contains(&name.rsplit('/').next().unwrap_or(name)));
    let harmless = !shell && text.is_some_and(|text| super::super::super::read(&text.join(" "), &setting).read_only);
    if !harmless {
        it.opaque(Why::Elsewhere(place.to_owned()));
    }
}

pub(super) fn quote(text: &str) -> String {
    format!("'{}'", text.replace('\'', "'\\''"))
}

pub(super) fn machine(it: &mut Use<'_, '_, '_>) {
    let verb = it.literal(0).unwrap_or("").to_owned();
    let reads = among(MACHINE_READS, &verb);
    let destroys =
        matches!(verb.as_str(), "delete" | "destroy" | "rm" | "remove" | "undefine" | "purge" | "unregistervm")
            || it.operands(0).iter().any(|word| word.literal() == Some("delete"));
    if verb.is_empty() || reads && !destroys {
        return;
    }
    it.stands(Standing::Project);
    if destroys {
        it.destroy(DestroyClass::Container, "a virtual machine");
    } else if matches!(verb.as_str(), "ssh" | "exec" | "shell" | "kubectl" | "enter" | "run") || it.name == "lxc-attach"
    {
        let words = it.operands(1);
        if !words.is_empty() {
            it.opaque(Why::Elsewhere("a virtual machine".to_owned()));
        }
    }
}

const MACHINE_READS: &str = "status list ls ip version help info logs global-status box get profile addons active env inspect url config \
     ssh-config port dashboard validate fmt snapshot-list domstate dominfo node cluster";
/// Directories that are the machine, as far as a container should know.
const MACHINE: &str = "/ /etc /root /home /var /usr /proc /sys /dev /boot /var/run /run /var/run/docker.sock /run/docker.sock /Users /opt /lib /bin /sbin";

pub(super) fn images(it: &mut Use<'_, '_, '_>) {
    match it.literal(0) {
        Some(
            "inspect" | "list-tags" | "images" | "ls" | "manifest" | "digest" | "config" | "version" | "catalog"
            | "tag" | "export",
        )
        | None => {}
        Some(
            "push" | "copy" | "cp" | "sync" | "publish" | "append" | "mutate" | "rebase" | "apply" | "resolve"
            | "login" | "delete",
        ) => it.say(Say::Package("a container image")),
        Some(_) => it.stands(Standing::Project),
    }
    it.connect(Peer::Service("container registry".to_owned()), Flow::Fetch);
}

const SHELLS: &[&str] = &["sh", "bash", "ash", "dash", "zsh", "ksh", "fish", "busybox", "su"];
