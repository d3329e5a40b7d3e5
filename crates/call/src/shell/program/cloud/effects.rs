//! What the rows of this family cannot say as data.

use super::super::super::ir::Word;
use super::super::row::{Say, among};
use super::super::run::Use;
use crate::action::{DestroyClass, Flow, Peer, WriteHow};

pub(super) fn apply(it: &mut Use<'_, '_, '_>) {
    if it.has("-destroy --destroy") || it.operands(0).iter().any(|word| word.literal() == Some("destroy")) {
        it.destroy(DestroyClass::Infrastructure, "infrastructure");
    }
    if it.has("-auto-approve --auto-approve") {
        it.destroy(DestroyClass::Infrastructure, "whatever the plan removes, unseen");
    }
    it.say(Say::Deploy("a change of infrastructure"));
}

/// Verbs by what they do, for command lines of the form `service noun verb`.
pub(super) const READING: &[&str] = &[
    "scan",
    "lookup",
    "estimate",
    "simulate",
    "head",
    "count",
    "list",
    "ls",
    "show",
    "get",
    "describe",
    "status",
    "info",
    "logs",
    "log",
    "view",
    "inspect",
    "whoami",
    "version",
    "help",
    "diff",
    "synth",
    "plan",
    "validate",
    "doctor",
    "check",
    "lint",
    "domains",
    "projects",
    "env-list",
    "tail",
    "events",
    "releases",
    "ps",
    "regions",
    "open",
    "docs",
    "history",
    "du",
    "preview",
    "search",
    "query",
    "wait",
    "test",
    "init",
    "link",
    "dev",
    "build",
    "login-status",
    "config-list",
    "print-access-token-no",
    "apps",
    "usage",
    "read",
    "synthesize",
    "watch-logs",
    "serve",
    "start",
    "emulators:start",
    "types",
    "gen",
    "functions-serve",
    "local",
    "ping",
    "stat",
    "filter-log-events",
    "account",
    "get-caller-identity",
    "configure-list",
    "dry-run",
    "bootstrap-check",
    "inspect-db",
    "pg:info",
    "config",
    "addons",
    "buildpacks",
    "sizes",
    "images",
    "locations",
    "quote",
    "catalog",
    "completion",
    "accounts",
    "list-projects",
    "tree",
];
pub(super) const REMOVING: &[&str] = &[
    "delete",
    "rm",
    "rb",
    "remove",
    "destroy",
    "terminate",
    "terminate-instances",
    "purge",
    "drop",
    "reset",
    "nuke",
    "wipe",
    "deprovision",
    "apps:destroy",
    "pg:reset",
    "databases:delete",
    "firestore:delete",
    "deregister",
    "detach",
    "revoke",
    "cancel",
    "undeploy",
    "disable",
    "delete-stack",
    "teardown",
    "uninstall",
    "down",
    "unpublish",
    "empty",
    "force-reset",
    "clear",
];

/// Cloud command lines: known readers fetch, known removers destroy, all else changes.
pub(super) fn cloud(it: &mut Use<'_, '_, '_>) {
    let words: Vec<String> = it.operands(0).iter().map(Word::shown).collect();
    if words.is_empty() {
        return bare(it);
    }
    secrets(it, &words);
    if transfer(it, &words) {
        return;
    }
    let head = words.get(..words.len().min(4)).unwrap_or(&words);
    if head.iter().any(|word| is_verb(word, REMOVING)) && !it.has("--dry-run --dryrun") {
        it.connect(Peer::Service(it.name.to_owned()), Flow::Send);
        let database =
            words.iter().any(|word| among("db database databases sql rds firestore pg:reset migration", word));
        let class = if database { DestroyClass::Database } else { DestroyClass::Infrastructure };
        return it.destroy(class, words.join(" "));
    }
    if head.first().is_some_and(|word| among("version help completion", word)) {
        return;
    }
    let deploys =
        head.iter().any(|word| among("deploy publish release up push promote rollback submit apply import", word));
    if !deploys && head.iter().any(|word| is_verb(word, READING)) {
        return it.connect(Peer::Service(it.name.to_owned()), Flow::Fetch);
    }
    it.connect(Peer::Service(it.name.to_owned()), Flow::Send);
    it.say(match it.name {
        "slack" | "twilio" | "linear" | "jira" | "trello" | "notion" => Say::Message("people, through a service"),
        "stripe" => Say::Spend("a payment service"),
        "vsce" | "ovsx" => Say::Package("an extension registry"),
        _ => Say::Deploy("a change of what runs in the cloud"),
    });
}

/// Tools that deploy when they are told nothing.
fn bare(it: &mut Use<'_, '_, '_>) {
    let deploys = matches!(it.name, "vercel" | "now" | "surge") && it.simple.words.len() > 1;
    if deploys && !it.has("--help -h --version -v") {
        it.connect(Peer::Service(it.name.to_owned()), Flow::Send);
        it.say(Say::Deploy("a deployment"));
    }
}

/// Whether a word is one of the verbs, alone or as in `delete-stack` and `pg:reset`.
fn is_verb(word: &str, list: &[&str]) -> bool {
    let first = word.split(['-', ':']).next().unwrap_or(word);
    let last = word.rsplit(':').next().unwrap_or(word);
    list.contains(&word) || list.contains(&first) || list.contains(&last)
}

/// Words that hand out or change credentials.
pub(super) fn secrets(it: &mut Use<'_, '_, '_>, words: &[String]) {
    let hit = words.iter().any(|word| {
        let word = word.to_ascii_lowercase();
        matches!(
            word.as_str(),
            "secretsmanager"
                | "secrets"
                | "secret"
                | "keyvault"
                | "print-access-token"
                | "print-identity-token"
                | "get-access-token"
                | "get-credentials"
                | "assume-role"
                | "get-session-token"
                | "create-access-key"
                | "ssm"
                | "kms"
                | "iam"
                | "add-iam-policy-binding"
                | "set-iam-policy"
                | "config:get"
                | "get-secret-value"
                | "login"
                | "logout"
                | "service-accounts"
                | "export-credentials"
                | "put-user-policy"
                | "tokens"
                | "token"
                | "auth:token"
        )
    });
    let lists = words.iter().any(|word| word.starts_with("list") || word == "ls");
    if hit && !lists {
        it.say(Say::Privilege("credentials or rights in the cloud"));
    }
}

/// `aws s3 cp A B` and kin: local files on one side, a bucket on the other.
pub(super) fn transfer(it: &mut Use<'_, '_, '_>, words: &[String]) -> bool {
    let at =
        match (words.first().map(String::as_str), words.get(1).map(String::as_str), words.get(2).map(String::as_str)) {
            (Some("s3"), Some("cp" | "mv" | "sync"), _) => 2,
            (Some("storage"), Some("cp" | "mv" | "rsync"), _) => 2,
            (Some("storage"), Some("blob"), Some("upload" | "upload-batch")) => 3,
            (Some("compute"), Some("scp"), _) => 2,
            _ => return false,
        };
    let operands = it.operands(at);
    let remote = |word: &Word| word.lead().contains("://") || word.lead().contains(':');
    let (Some(from), Some(to)) = (operands.first(), operands.get(1)) else {
        it.connect(Peer::Service(it.name.to_owned()), Flow::Send);
        it.say(Say::Upload("objects of a bucket"));
        return true;
    };
    if !remote(from) {
        it.read(from);
    }
    if remote(to) {
        it.connect(Peer::Service(it.name.to_owned()), Flow::Send);
        it.say(Say::Upload("objects of a bucket"));
    } else {
        it.connect(Peer::Service(it.name.to_owned()), Flow::Fetch);
        it.write(to, WriteHow::Replace);
    }
    if it.has("--delete --delete-unmatched-destination-objects") {
        it.destroy(DestroyClass::Infrastructure, "objects that the source does not have");
    }
    true
}

pub(super) fn deployer(it: &mut Use<'_, '_, '_>) {
    let words: Vec<String> = it.operands(0).iter().map(Word::shown).collect();
    let verb = words.first().map_or("", String::as_str).to_owned();
    let group = matches!(
        it.name,
        "ansible"
            | "ansible-playbook"
            | "ansible-pull"
            | "ansible-console"
            | "salt"
            | "salt-call"
            | "salt-ssh"
            | "puppet"
            | "chef-client"
            | "fab"
            | "pyinfra"
    );
    if !group
        && (READING.contains(&verb.as_str())
            || verb.is_empty()
            || matches!(
                verb.as_str(),
                "ls" | "synth" | "diff" | "invoke" | "package" | "breakdown" | "members" | "job-status"
            ))
    {
        it.say(Say::Project);
        return it.connect(Peer::Service(it.name.to_owned()), Flow::Fetch);
    }
    if group && it.has("--check --syntax-check --list-hosts --list-tasks --list-tags -C --noop") {
        it.say(Say::Project);
        return it.connect(Peer::Service(it.name.to_owned()), Flow::Fetch);
    }
    it.connect(Peer::Service(it.name.to_owned()), Flow::Send);
    if REMOVING.contains(&verb.as_str()) {
        return it.destroy(DestroyClass::Infrastructure, format!("{} {}", it.name, words.join(" ")));
    }
    it.say(Say::Deploy("a change of machines or services"));
}
