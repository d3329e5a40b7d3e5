//! Databases, their command languages, and migrations.

use super::super::ir::Word;
use super::row::{ALL, Pick, Row, Rule, Say, quiet, row, sub, subs};
use super::run::Use;
use crate::action::{DestroyClass, Flow, Peer, Why, WriteHow};

const LOST: Rule = Rule::Always(Say::Destroy(DestroyClass::Database, "a database or its rows"));
const TALKS: Rule = Rule::Always(Say::Service("database", Flow::Session));

pub(super) const ROWS: &[Row] = &[
    row(
        &[
            "psql",
            "pgcli",
            "usql",
            "mysql",
            "mariadb",
            "mycli",
            "litecli",
            "clickhouse-client",
            "clickhouse",
            "sqlcmd",
            "sqlplus",
            "duckdb",
            "snowsql",
            "trino",
            "presto",
            "isql",
            "cqlsh",
            "impala-shell",
            "beeline",
            "vsql",
            "ysqlsh",
        ],
        "-c --command -f --file -d --dbname -h --host -p? --port -U --username -u --user -e --execute -D --database -o --output -v --set -F -R -P -S --socket -Q -q? -i -s? --query -L --log-file --password",
        &[Rule::Code(sql_client)],
        "psql -c 'SELECT 1'",
        "psql -c 'DROP TABLE users'",
    ),
    row(
        &["sqlite3", "sqlite", "sqlite-utils", "sqlite-analyzer"],
        "-cmd -init -separator -newline -nullvalue -vfs",
        &[Rule::Code(sqlite)],
        "sqlite3 a.db 'select 1'",
        "sqlite3 a.db 'DELETE FROM t'",
    ),
    row(
        &["mongosh", "mongo", "mongoimport", "mongoexport", "mongodump", "mongorestore", "mongostat", "mongotop"],
        "--eval -f --file --host --port -u --username -p --password --db -d -c --collection -o --out --uri --archive",
        &[Rule::Code(mongo)],
        "mongostat",
        "mongosh --eval 'db.dropDatabase()'",
    ),
    row(
        &["redis-cli", "valkey-cli", "keydb-cli", "iredis"],
        "-h -p -a -n -u --user --pass -s -r -i -x? --eval --pipe-timeout --scan? --pattern",
        &[Rule::Code(redis)],
        "redis-cli GET k",
        "redis-cli FLUSHALL",
    ),
    row(
        &[
            "pg_dump",
            "pg_dumpall",
            "mysqldump",
            "mariadb-dump",
            "pg_isready",
            "pgbench",
            "pg_config",
            "mysqlshow",
            "mysqlslap",
            "pg_basebackup",
            "pg_lsclusters",
            "pg_controldata",
            "mysqlcheck",
        ],
        "-f --file -d --dbname -h --host -p? --port -U --username -u -t --table -n --schema -F --format -r --result-file -D --pgdata",
        &[TALKS, Rule::WriteFlag("-f --file -r --result-file -D --pgdata")],
        "pg_isready",
        "pg_dump -f /etc/x db",
    ),
    row(
        &[
            "dropdb",
            "dropuser",
            "pg_dropcluster",
            "pg_resetwal",
            "mysqladmin",
            "createdb",
            "createuser",
            "pg_restore",
            "mysqlimport",
            "pg_ctl",
            "initdb",
            "mysqld",
            "mysqld_safe",
            "mongod",
            "redis-server",
            "postgres",
            "pg_upgrade",
            "pg_ctlcluster",
            "myisamchk",
            "valkey-server",
            "memcached",
            "etcd",
            "influxd",
            "cockroach",
            "clickhouse-server",
            "elasticsearch",
        ],
        "-h --host -p --port -U --username -d --dbname -D --pgdata -l --log -u -o -f --config -c",
        &[Rule::Code(server)],
        "createdb --help",
        "dropdb prod",
    ),
    subs(
        &["prisma"],
        "--schema",
        &[
            quiet(
                ",version,-v,validate,format,generate,studio,init,migrate status,migrate diff,help,--version,debug,db pull",
            ),
            sub(
                "migrate dev,migrate deploy,migrate resolve,db seed,migrate",
                "--schema --name -n",
                &[TALKS, Rule::Always(Say::Project)],
            ),
            sub(
                "db push",
                "--schema",
                &[
                    TALKS,
                    Rule::If(
                        "--force-reset --accept-data-loss",
                        Say::Destroy(DestroyClass::Database, "every row of the database"),
                    ),
                    Rule::Always(Say::Project),
                ],
            ),
            sub("migrate reset", "--schema", &[TALKS, LOST]),
            sub("db execute", "--schema --file --url", &[TALKS, Rule::Always(Say::Hidden("sql"))]),
        ],
        "prisma generate",
        "prisma migrate reset --force",
    ),
    row(
        &[
            "alembic",
            "flyway",
            "liquibase",
            "dbmate",
            "migrate",
            "atlas",
            "sqitch",
            "knex",
            "sequelize",
            "sequelize-cli",
            "typeorm",
            "mikro-orm",
            "diesel",
            "sea-orm-cli",
            "sqlx",
            "refinery",
            "phinx",
            "doctrine",
            "yoyo",
            "sql-migrate",
            "tern",
            "dbt",
            "bytebase",
            "skeema",
            "gh-ost",
            "pt-online-schema-change",
            "evolve",
            "rambler",
            "node-pg-migrate",
            "umzug",
            "db-migrate",
        ],
        "-c --config -x -n --name -d --dir -url --url -path -database -m --message -e --env -t --target",
        &[Rule::Code(migration)],
        "alembic history",
        "flyway clean",
    ),
    row(
        &[
            "etcdctl",
            "kafka-topics",
            "kafka-topics.sh",
            "kcat",
            "kafkacat",
            "rabbitmqctl",
            "rabbitmqadmin",
            "nats",
            "influx",
            "curator",
            "esrally",
            "elasticdump",
            "zkCli.sh",
            "nodetool",
            "arangosh",
            "couchbase-cli",
            "cypher-shell",
            "rethinkdb",
            "faktory",
            "pulsar-admin",
            "mosquitto_pub",
            "mosquitto_sub",
        ],
        "-b -t -h -p -u --endpoints --bootstrap-server --topic -P -C -o",
        &[Rule::Code(store)],
        "etcdctl get k",
        "etcdctl del --prefix ''",
    ),
];

/// Says what a text of SQL loses or runs.
fn sql(it: &mut Use<'_, '_, '_>, text: &str, at: &Word) {
    for statement in statements(text) {
        let upper = statement.to_ascii_uppercase();
        let words: Vec<&str> = upper
            .split(|mark: char| !mark.is_ascii_alphanumeric() && mark != '_')
            .filter(|word| !word.is_empty())
            .collect();
        let has = |word: &str| words.contains(&word);
        let what = match words.as_slice() {
            ["DROP", kind, ..] => Some(format!("drops a {}", kind.to_ascii_lowercase())),
            ["TRUNCATE", ..] => Some("empties a table".to_owned()),
            ["DELETE", ..] if !has("WHERE") => Some("deletes every row of a table".to_owned()),
            ["UPDATE", ..] if !has("WHERE") => Some("overwrites every row of a table".to_owned()),
            ["ALTER", ..] if has("DROP") => Some("drops part of a table".to_owned()),
            _ if has("DROP")
                && (has("TABLE") || has("DATABASE") || has("SCHEMA"))
                && !matches!(words.first(), Some(&"SELECT" | &"INSERT")) =>
            {
                Some("drops something".to_owned())
            }
            _ if has("DELETE")
                && has("FROM")
                && !has("WHERE")
                && !matches!(words.first(), Some(&"SELECT" | &"INSERT" | &"CREATE")) =>
            {
                Some("deletes every row of a table".to_owned())
            }
            _ => None,
        };
        if let Some(what) = what {
            it.destroy(DestroyClass::Database, what);
        }
        let runs = upper.contains("PROGRAM '")
            || upper.contains("LOAD_FILE")
            || upper.contains("XP_CMDSHELL")
            || upper.contains("INTO OUTFILE")
            || upper.contains("LO_EXPORT")
            || upper.contains("PG_READ_FILE")
            || upper.contains("LOAD_EXTENSION")
            || upper.contains("SYS_EXEC")
            || upper.contains("INTO DUMPFILE")
            || (has("DO") && has("LANGUAGE"))
            || (has("EXECUTE") && has("DO"));
        if runs
            || statement.trim_start().starts_with("\\!")
            || statement.contains("\\copy")
            || statement.contains("\\o |")
            || statement.trim_start().starts_with(".shell")
            || statement.trim_start().starts_with(".system")
        {
            it.act_at(crate::action::ActionKind::Opaque(Why::Code("sql".to_owned())), at);
        }
        if matches!(words.first(), Some(&"GRANT" | &"REVOKE"))
            || (matches!(words.first(), Some(&"CREATE" | &"ALTER")) && matches!(words.get(1), Some(&"USER" | &"ROLE")))
        {
            it.say(Say::Privilege("rights in a database"));
        }
    }
}

/// Statements without comments and quoted text.
fn statements(text: &str) -> Vec<String> {
    let mut all = vec![String::new()];
    let mut marks = text.chars().peekable();
    let mut quote = None;
    let mut comment = false;
    while let Some(mark) = marks.next() {
        let next = marks.peek().copied();
        let Some(now) = all.last_mut() else { return all };
        match (quote, mark, next) {
            (Some(open), _, _) if mark == open => quote = None,
            (Some(_), _, _) => {
                if mark == '\'' {
                    now.push(mark);
                }
            }
            (None, '\n', _) if comment => comment = false,
            (None, _, _) if comment => {}
            (None, '-', Some('-')) => comment = true,
            (None, '/', Some('*')) => {
                let mut before = ' ';
                for inside in marks.by_ref() {
                    if before == '*' && inside == '/' {
                        break;
                    }
                    before = inside;
                }
                now.push(' ');
            }
            (None, '\'' | '"', _) => {
                quote = Some(mark);
                now.push('\'');
            }
            (None, ';', _) => all.push(String::new()),
            (None, mark, _) => now.push(mark),
        }
    }
    all
}

fn sql_word(it: &mut Use<'_, '_, '_>, word: &Word) {
    let text = word.shown();
    sql(it, &text, word);
    if word.why().is_some() {
        it.act_at(crate::action::ActionKind::Opaque(Why::Code("sql".to_owned())), word);
    }
}

fn input(it: &mut Use<'_, '_, '_>) {
    match it.input.clone() {
        super::super::feed::Feed::Text { text, .. } => {
            let at = Word::literal_at(String::new(), it.span());
            sql(it, &text, &at);
        }
        super::super::feed::Feed::Stream { .. } => it.opaque(Why::Code("sql".to_owned())),
        super::super::feed::Feed::Outer => {}
    }
}

fn sql_client(it: &mut Use<'_, '_, '_>) {
    let host = it.value("-h --host").or_else(|| it.operands(0).into_iter().find(|word| word.lead().contains("://")));
    match host {
        Some(host) if host.literal().is_some_and(|text| text.contains("://")) => {
            it.connect(Peer::Url(host.shown()), Flow::Session)
        }
        Some(host) if host.literal().is_some() => it.connect(Peer::Host(host.shown()), Flow::Session),
        Some(host) => it.connect(Peer::Opaque(host.why().cloned().unwrap_or(Why::Input)), Flow::Session),
        None => it.connect(Peer::Service("database".to_owned()), Flow::Session),
    }
    let texts = it.values("-c --command -e --execute -Q --query");
    let texts: Vec<Word> = texts.into_iter().chain(it.values("-q")).collect();
    texts.iter().for_each(|text| sql_word(it, text));
    for file in it.values("-f --file -i --init-file") {
        it.read(&file);
        it.act_at(crate::action::ActionKind::Opaque(Why::Code("sql".to_owned())), &file);
    }
    it.each_value("-o --output -L --log-file", |it, word| it.write(word, WriteHow::Replace));
    if texts.is_empty() && !it.has("-l --list -f --file") {
        input(it);
    }
}

fn sqlite(it: &mut Use<'_, '_, '_>) {
    // Its long flags have one dash; operands are the file, then statements.
    let words: Vec<Word> = it.simple.words.get(1..).unwrap_or(&[]).to_vec();
    let mut operands = Vec::new();
    let mut rest = words.iter();
    while let Some(word) = rest.next() {
        match word.lead() {
            "-cmd" | "-init" | "-separator" | "-newline" | "-nullvalue" | "-vfs" | "--cmd" | "--init" => {
                if let Some(value) = rest.next()
                    && word.lead().ends_with("cmd")
                {
                    sqlite_text(it, value);
                }
            }
            lead if lead.starts_with('-') => {}
            _ => operands.push(word.clone()),
        }
    }
    let read_only = words.iter().any(|word| matches!(word.literal(), Some("-readonly" | "--readonly")));
    let Some((file, texts)) = operands.split_first() else { return input(it) };
    let selects = !texts.is_empty() && texts.iter().all(|text| text.literal().is_some_and(selects));
    if read_only || selects || file.literal() == Some(":memory:") {
        it.read(file);
    } else {
        it.write(file, WriteHow::Change);
    }
    texts.iter().for_each(|text| sqlite_text(it, text));
    if texts.is_empty() {
        input(it);
    }
}

fn selects(text: &str) -> bool {
    let text = text.trim_start().to_ascii_lowercase();
    [".schema", ".tables", ".dump", ".indexes", ".databases", "select", "pragma table", "explain", ".mode", ".headers"]
        .iter()
        .any(|start| text.starts_with(start))
        && !text.trim_end_matches([';', ' ']).contains(';')
}

fn sqlite_text(it: &mut Use<'_, '_, '_>, text: &Word) {
    let shown = text.shown();
    if [
        ".shell", ".system", ".load", ".import", ".output", ".once", ".read", ".open", ".restore", ".save", ".backup",
        ".clone", ".log",
    ]
    .iter()
    .any(|verb| shown.trim_start().starts_with(verb))
    {
        it.act_at(crate::action::ActionKind::Opaque(Why::Code("sqlite command".to_owned())), text);
    }
    sql_word(it, text);
}

fn mongo(it: &mut Use<'_, '_, '_>) {
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

fn redis(it: &mut Use<'_, '_, '_>) {
    match it.value("-h -u") {
        Some(host) if host.literal().is_some() => it.connect(Peer::Host(host.shown()), Flow::Session),
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
            super::super::feed::Feed::Text { text, .. } if text.to_ascii_uppercase().contains("FLUSH") => {
                it.destroy(DestroyClass::Database, "every key")
            }
            super::super::feed::Feed::Text { .. } | super::super::feed::Feed::Outer => {}
            super::super::feed::Feed::Stream { .. } => it.opaque(Why::Code("sql".to_owned())),
        }
    }
}

fn server(it: &mut Use<'_, '_, '_>) {
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

fn migration(it: &mut Use<'_, '_, '_>) {
    let words: Vec<String> = it.operands(0).iter().map(Word::shown).collect();
    let any = |names: &[&str]| {
        words
            .iter()
            .any(|word| names.contains(&word.as_str()) || names.iter().any(|name| word.ends_with(&format!(":{name}"))))
    };
    it.say(Say::Project);
    let reads = any(&[
        "history", "current", "heads", "show", "status", "info", "validate", "list", "version", "compile", "docs",
        "ls", "parse", "check", "branches", "lint", "diff", "inspect",
    ]);
    if any(&[
        "clean",
        "drop",
        "reset",
        "dropAll",
        "drop-all",
        "schema:drop",
        "fresh",
        "db:drop",
        "db:reset",
        "undo:all",
        "revert:all",
        "wipe",
        "down-to-zero",
        "database-drop",
    ]) && !(it.name == "dbt" && any(&["clean"]))
    {
        return it.destroy(DestroyClass::Database, "a schema and its rows");
    }
    let down = (any(&["downgrade"]) && any(&["base"]))
        || (it.name == "migrate"
            && any(&["down"])
            && words.len() == words.iter().position(|word| word == "down").map_or(0, |at| at + 1));
    if down {
        return it.destroy(DestroyClass::Database, "every migration is undone");
    }
    if !reads {
        it.connect(Peer::Service("database".to_owned()), Flow::Session);
    }
}

fn store(it: &mut Use<'_, '_, '_>) {
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
