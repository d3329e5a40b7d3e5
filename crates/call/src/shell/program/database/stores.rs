//! Stores with other languages, and migrations.

use super::super::super::ir::Word;
use super::super::row::{ALL, Pick, Say, among};
use super::super::run::Use;
use crate::action::{DestroyClass, Flow, Peer, Why, WriteHow};

pub(super) fn mongo(it: &mut Use<'_, '_, '_>) {
    it.connect(Peer::Service("database".to_owned()), Flow::Session);
    match it.name {
        "mongostat" | "mongotop" => {}
        "mongodump" | "mongoexport" => {
            it.each_value("-o --out --archive", |it, word| it.write(word, WriteHow::Replace))
        }
        "mongorestore" | "mongoimport" => {
            if it.has("--drop") {
                it.destroy(DestroyClass::Database, "collections");
            }
            it.each_value("--file", |it, word| it.read(word));
            it.say(Say::Project);
        }
        _ => {
            for code in it.values("--eval") {
                let text = code.shown();
                if ["drop", "deleteMany", "remove(", "deleteOne", "updateMany"].iter().any(|verb| text.contains(verb)) {
                    it.destroy(DestroyClass::Database, "a collection or its documents");
                }
                let reads = ["find(", "countDocuments", "stats()", "show ", "getCollectionNames", "aggregate("]
                    .iter()
                    .any(|verb| text.contains(verb));
                if !reads || code.why().is_some() {
                    it.act_at(crate::action::ActionKind::Opaque(Why::Code("javascript".to_owned())), &code);
                }
            }
            if it.has("-f --file") || it.operands(0).iter().any(|word| word.lead().ends_with(".js")) {
                it.opaque(Why::Code("javascript".to_owned()));
            }
        }
    }
}

/// The developer's own server, as without `-h`.
fn is_loopback(host: &str) -> bool {
    matches!(host, "localhost" | "127.0.0.1" | "::1")
}

pub(super) fn redis(it: &mut Use<'_, '_, '_>) {
    match it.value("-h -u") {
        Some(host) if host.literal().is_some_and(|name| !is_loopback(name)) => {
            it.connect(Peer::Host(host.shown()), Flow::Session)
        }
        _ => it.connect(Peer::Service("redis".to_owned()), Flow::Session),
    }
    let words: Vec<String> = it.operands(0).iter().map(|word| word.shown().to_ascii_uppercase()).collect();
    let first = words.first().map_or("", String::as_str);
    match first {
        "FLUSHALL" | "FLUSHDB" => it.destroy(DestroyClass::Database, "every key"),
        "DEL" | "UNLINK" => it.destroy(DestroyClass::Database, "keys"),
        "SHUTDOWN" | "DEBUG" | "REPLICAOF" | "SLAVEOF" | "MODULE" | "FAILOVER" => {
            it.say(Say::Privilege("the redis server"))
        }
        "CONFIG" if words.get(1).is_none_or(|word| word != "GET") => {
            it.say(Say::Privilege("the redis server's settings"))
        }
        "EVAL" | "EVALSHA" | "SCRIPT" | "FUNCTION" => it.say(Say::Hidden("lua")),
        _ => {}
    }
    if it.has("--eval --pipe") {
        it.say(Say::Hidden("redis commands"));
    }
    if words.is_empty() {
        match it.input.clone() {
            super::super::super::feed::Feed::Text { text, .. } if text.to_ascii_uppercase().contains("FLUSH") => {
                it.destroy(DestroyClass::Database, "every key")
            }
            super::super::super::feed::Feed::Text { .. } | super::super::super::feed::Feed::Outer => {}
            super::super::super::feed::Feed::Stream { .. } => it.opaque(Why::Code("sql".to_owned())),
        }
    }
}

pub(super) fn server(it: &mut Use<'_, '_, '_>) {
    it.say(Say::Project);
    match it.name {
        "dropdb" | "dropuser" | "pg_dropcluster" | "pg_resetwal" => it.destroy(DestroyClass::Database, "a database"),
        "mysqladmin" => {
            let words = it.operands(0);
            if words.iter().any(|word| matches!(word.literal(), Some("drop" | "flush-hosts" | "shutdown"))) {
                it.destroy(DestroyClass::Database, "a database");
            }
        }
        "pg_restore" if it.has("-c --clean") => it.destroy(DestroyClass::Database, "what the backup replaces"),
        "createdb" | "createuser" | "pg_restore" | "mysqlimport" => {
            it.connect(Peer::Service("database".to_owned()), Flow::Session)
        }
        "initdb" | "pg_ctl" => it.each_value("-D --pgdata", |it, word| it.write(word, WriteHow::Change)),
        _ => it.say(Say::Listen(crate::action::ListenScope::Loopback, "a database server")),
    }
}

pub(super) fn migration(it: &mut Use<'_, '_, '_>) {
    let words: Vec<String> = it.operands(0).iter().map(Word::shown).collect();
    let any = |list: &str| {
        words.iter().any(|word| among(list, word) || word.rsplit_once(':').is_some_and(|(_, verb)| among(list, verb)))
    };
    it.say(Say::Project);
    if any(CLEARS) && !(it.name == "dbt" && any("clean")) {
        return it.destroy(DestroyClass::Database, "a schema and its rows");
    }
    let all_down = it.name == "migrate" && words.last().is_some_and(|word| word == "down");
    if all_down || any("downgrade") && any("base") {
        return it.destroy(DestroyClass::Database, "every migration is undone");
    }
    if !any(LOOKS) {
        it.connect(Peer::Service("database".to_owned()), Flow::Session);
    }
}

const CLEARS: &str =
    "clean drop reset dropAll drop-all schema:drop fresh db:drop db:reset undo:all revert:all wipe database-drop";
const LOOKS: &str = "history current heads show status info validate list version compile docs ls parse check branches lint diff inspect";

pub(super) fn store(it: &mut Use<'_, '_, '_>) {
    it.connect(Peer::Service(it.name.to_owned()), Flow::Session);
    let words: Vec<String> = it.operands(0).iter().map(Word::shown).collect();
    let removes = it.has("--delete")
        || words.iter().take(2).any(|word| {
            ["del", "delete", "rm", "purge", "reset", "drop", "delete_queue", "purge_queue", "force_reset", "remove"]
                .contains(&word.as_str())
        });
    if removes {
        it.destroy(DestroyClass::Database, words.join(" "));
    } else if matches!(it.name, "mosquitto_pub")
        || words
            .iter()
            .take(2)
            .any(|word| ["put", "pub", "publish", "write", "set", "produce"].contains(&word.as_str()))
    {
        it.say(Say::Upload("records of a store"));
    }
    it.each(Pick::From(usize::MAX), |_, _| {});
    it.each(ALL, |it, word| {
        if word.lead().starts_with('@') {
            it.read(&word.without_lead(1))
        }
    });
}
