//! What cluster tools do.

use super::super::super::ir::Word;
use super::super::row::Say;
use super::super::run::Use;
use super::engine::{copy, remote};
use crate::action::{DestroyClass, Flow, Peer, Standing, Why};

pub(super) fn kube_global(it: &mut Use<'_, '_, '_>) {
    if it.has("--kubeconfig") {
        it.each_value("--kubeconfig", |it, word| it.read(word));
    }
}

pub(super) fn kube_get(it: &mut Use<'_, '_, '_>) {
    it.connect(Peer::Service("cluster".to_owned()), Flow::Fetch);
    let secret = it
        .operands(0)
        .iter()
        .any(|word| word.shown().split([',', '/']).any(|part| matches!(part, "secret" | "secrets")));
    if secret && it.has("-o --output") {
        it.say(Say::Privilege("secrets of the cluster"));
    }
    it.each_value("-f --filename", |it, word| {
        if !word.lead().contains("://") {
            it.read(word)
        }
    });
}

pub(super) fn kube_exec(it: &mut Use<'_, '_, '_>) {
    it.stands(Standing::Project);
    it.connect(Peer::Service("cluster".to_owned()), Flow::Session);
    match it.sub {
        "cp" => copy(it),
        "debug" => it.say(Say::Privilege("a container with rights over a node")),
        _ => {
            let dashes = it.simple.words.iter().position(|word| word.literal() == Some("--"));
            let words: Vec<Word> = match dashes {
                Some(at) => it.simple.words.get(at + 1..).unwrap_or(&[]).to_vec(),
                None => it.operands(1),
            };
            if words.is_empty() {
                it.opaque(Why::Elsewhere("a pod".to_owned()));
            } else {
                remote(it, &words, "a pod");
            }
        }
    }
}

pub(super) fn kube_change(it: &mut Use<'_, '_, '_>) {
    it.each_value("-f --filename -k --kustomize", |it, word| {
        if !word.lead().contains("://") {
            it.read(word)
        }
    });
    let dry = it.has("--dry-run");
    if dry {
        return it.connect(Peer::Service("cluster".to_owned()), Flow::Fetch);
    }
    it.connect(Peer::Service("cluster".to_owned()), Flow::Send);
    if it.has("--prune --force") || it.sub == "replace" && it.has("--force") {
        it.destroy(DestroyClass::Infrastructure, "objects of the cluster that are not in the files");
    }
    it.say(Say::Deploy("a change of the cluster"));
}

pub(super) fn kube_delete(it: &mut Use<'_, '_, '_>) {
    if it.has("--dry-run") {
        return it.connect(Peer::Service("cluster".to_owned()), Flow::Fetch);
    }
    let what = it.operands(0).iter().map(Word::shown).collect::<Vec<_>>().join(" ");
    it.connect(Peer::Service("cluster".to_owned()), Flow::Send);
    it.destroy(DestroyClass::Infrastructure, format!("of the cluster: {what}"));
}
