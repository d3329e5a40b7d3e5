//! Decision tables: what each guard says, and the benign twin one step away.

use std::net::IpAddr;

use tollgate_call::action::*;
use tollgate_call::facts::*;
use tollgate_call::places::Place;
use tollgate_call::proposal::Door;
use tollgate_call::run_state::{End, Labels, PastCall, digest};

use crate::decision::Decision::{Allow, Ask, Deny};
use crate::fixture::*;
use crate::mode::Mode;
use crate::profile::Profile;
use crate::subject::Doer;

/// Judges each action alone in a scene and compares with `decision rule`.
fn table(scene: &Scene, rows: Vec<(ActionKind, &str)>) {
    for (kind, want) in rows {
        let shown = format!("{kind:?}");
        assert_eq!(scene.clone().act(kind).verdict(), want, "{shown}");
    }
}

const FREE: &str = "allow default.allow";

#[test]
fn file_tools_read_inside_and_ask_outside() {
    table(
        &file_tool(),
        vec![
            (read("src/main.rs"), FREE),
            (read("a/../b.txt"), FREE),
            (read("/home/u/w//a///b.txt"), FREE),
            (read_beneath("."), FREE),
            (read("../w-evil/secret"), "ask path.outside"),
            (read("/etc/hosts"), "ask path.outside"),
            (read("/tmp/x"), "ask path.outside"),
            (read("~/notes.txt"), "ask path.outside"),
            (read("~/.ssh/id_rsa"), "deny path.credential"),
            (read("/etc/shadow"), "deny path.credential"),
            (read("/proc/self/environ"), "deny path.device"),
            (read("/dev/stdin"), "deny path.device"),
            (read("/dev/sda"), "deny path.device"),
            (read("~/.local/state/tollgate/log"), "deny path.guard"),
            (read("~/.config/tollgate/tollgate.toml"), FREE),
            (read(".env"), "ask path.protected"),
            (read(".env.example"), FREE),
            (read("server.pem"), "ask path.protected"),
            (read(".git/config"), FREE),
            (read("CLAUDE.md"), FREE),
        ],
    );
}

#[test]
fn commands_that_only_read_may_read_outside_but_no_credentials() {
    table(
        &command(),
        vec![
            (read("src/main.rs"), FREE),
            (read("/etc/hosts"), FREE),
            (read("/tmp/x"), FREE),
            (read("~"), FREE),
            (read("../other/README.md"), FREE),
            (read("/dev/null"), FREE),
            (read("/proc/cpuinfo"), FREE),
            (read("/proc/sys/kernel/threads-max"), FREE),
            (read("/proc/1/environ"), "deny path.device"),
            (read("~/.aws/credentials"), "deny path.credential"),
            (read_beneath("/etc"), FREE),
            (read_beneath("~"), "ask path.outside"),
            (read_beneath("/"), "ask path.outside"),
            (read("*.rs"), FREE),
            (read(".e*"), "ask path.protected"),
            (read("~/.ssh/*"), "deny path.credential"),
            (ActionKind::Read(Target::Opaque(Why::Input)), "ask shell.opaque"),
        ],
    );
    table(&command().boxed(), vec![(ActionKind::Read(Target::Opaque(Why::Input)), FREE), (read_beneath("~"), FREE)]);
}

#[test]
fn names_may_be_listed_where_contents_may_not_be_read() {
    let by = |program: &str, kind: ActionKind| command().act(runs(program, Standing::Row)).act(kind).verdict();
    assert_eq!(by("ls", read(".env")), FREE);
    assert_eq!(by("cat", read(".env")), "ask path.protected");
    let other = command().act(runs("./ls", Standing::Row)).act(read(".env")).judge().rules();
    assert!(other.contains(&crate::rule::PATH_PROTECTED), "another program of that name");
    assert_eq!(by("ls", read("~/.ssh")), "deny path.credential");
    assert_eq!(by("find", read_beneath("/")), FREE);
    assert_eq!(by("grep", read_beneath("/")), "ask path.outside");
    assert_eq!(by("ls", ActionKind::Read(Target::Opaque(Why::Substitution))), FREE);
    let both = command().act(runs("find", Standing::Row)).act(runs("cat", Standing::Row)).act(read(".env"));
    assert_eq!(both.verdict(), "ask path.protected", "another program in the same part");
}

#[test]
fn descriptors_of_the_shell_are_its_own() {
    assert_eq!(command().act(read("/dev/fd/63")).verdict(), FREE);
    assert_eq!(command().act(write("/dev/fd/63")).verdict(), FREE);
    assert_eq!(file_tool().act(read("/dev/fd/63")).verdict(), "deny path.device");
    assert_eq!(command().act(read("/dev/fd/../sda")).verdict(), "deny path.device");
    assert_eq!(command().act(read("/proc/self/fd/3")).verdict(), "deny path.device");
}

#[test]
fn copying_from_outside_is_not_only_reading() {
    let copy = |from: &str| command().act(read(from)).act(write("copy"));
    assert_eq!(copy("../other/node_modules").verdict(), "ask path.outside");
    assert_eq!(copy("/usr/share/dict/words").verdict(), FREE);
    assert_eq!(copy("src/a").verdict(), FREE);
    let quiet = command().act(read("../other/x")).act(write("/dev/null"));
    assert_eq!(quiet.verdict(), FREE, "a sink is no copy");
    let parts = command().act_in(0, read("../other/x")).act_in(1, write("out"));
    assert_eq!(parts.verdict(), FREE, "another part");
}

#[test]
fn writes_stay_beneath_the_roots() {
    let rows = || {
        vec![
            (write("src/main.rs"), FREE),
            (write("new/deep/file"), FREE),
            (write("~/.bashrc"), "deny path.outside"),
            (write("/etc/passwd"), "deny path.outside"),
            (write("~/.ssh/authorized_keys"), "deny path.credential"),
            (write("~/.config/tollgate/tollgate.toml"), "deny path.guard"),
            (write("/etc/tollgate/tollgate.toml"), "deny path.guard"),
            (write("~/.local/state/tollgate/ledger.db"), "deny path.guard"),
            (write("/dev/sda"), "deny path.device"),
            (write(".git/config"), "ask path.protected"),
            (write(".git/hooks/pre-commit"), "ask path.protected"),
            (write(".git/config."), "ask path.protected"),
            (write(".git"), "ask path.protected"),
            (write(".github/workflows/ci.yml"), "ask path.protected"),
            (write(".claude/settings.json"), "ask path.protected"),
            (write(".env"), "ask path.protected"),
            (write("tollgate.toml"), "ask path.guard"),
            (write("/tmp/x"), "ask path.temp"),
        ]
    };
    table(&file_tool(), rows());
    table(&command(), rows());
    for outside in ["../other/x", "/home/u/w-evil/x"] {
        assert_eq!(file_tool().act(write(outside)).verdict(), "deny path.outside", "{outside}");
        assert_eq!(command().act(write(outside)).verdict(), "ask path.outside", "{outside}");
        let there = command().act(write(outside)).fact(outside, |fact| fact.kind = Fact::Known(Kind::File(3)));
        assert_eq!(there.verdict(), "deny path.outside", "{outside}: what is there is lost");
    }
    assert_eq!(command().act(write("~/bin/x")).verdict(), "deny path.outside", "a program that runs later");
    let link = command().act(write("out/x")).fact("out/x", |fact| {
        fact.place = Place::Elsewhere;
        fact.resolved = "/home/u/other/x".to_owned();
    });
    assert_eq!(link.verdict(), "deny path.outside", "a name inside that leads outside");
    assert_eq!(command().act(write("/dev/null")).verdict(), FREE);
    assert_eq!(file_tool().act(write("/dev/null")).verdict(), "deny path.device");
    assert_eq!(command().half_boxed().act(write("/tmp/x")).verdict(), FREE, "a temporary directory of its own");
    assert_eq!(file_tool().boxed().act(write("/tmp/x")).verdict(), "ask path.temp");
    assert_eq!(command().act(ActionKind::Write(Target::Opaque(Why::Substitution), WriteHow::Change)).decision(), Ask);
}

#[test]
fn what_is_there_counts_for_file_tools() {
    let with = |kind: Kind| file_tool().act(read("x")).fact("x", |fact| fact.kind = Fact::Known(kind));
    assert_eq!(with(Kind::File(3)).verdict(), FREE);
    assert_eq!(with(Kind::Special).verdict(), "deny path.special");
    assert_eq!(with(Kind::Device(1, 5)).verdict(), "deny path.device");
    let late = file_tool().act(read("x")).fact("x", |fact| fact.kind = Fact::Unknown(Unknown::Late));
    assert_eq!(late.verdict(), "ask path.unknown");
    let directory = file_tool().act(write("x")).fact("x", |fact| fact.kind = Fact::Known(Kind::Directory));
    assert_eq!(directory.verdict(), "deny path.special");
    let copy_into = command().act(write("x")).fact("x", |fact| fact.kind = Fact::Known(Kind::Directory));
    assert_eq!(copy_into.verdict(), FREE);
}

#[test]
fn a_second_name_of_a_file_is_a_question() {
    let links = |names: Fact<u64>| file_tool().act(write("x")).fact("x", |fact| fact.links = names);
    assert_eq!(links(Fact::Known(1)).verdict(), FREE);
    assert_eq!(links(Fact::Known(2)).verdict(), "ask path.hardlink");
    assert_eq!(links(Fact::Unknown(Unknown::Failed)).verdict(), "ask path.unknown");
    assert_eq!(file_tool().act(read("x")).fact("x", |fact| fact.links = Fact::Known(2)).verdict(), FREE);
    let dir = command().act(ActionKind::Write(at("d"), WriteHow::Metadata)).fact("d", |fact| {
        fact.links = Fact::Known(5);
        fact.kind = Fact::Known(Kind::Directory);
    });
    assert_eq!(dir.verdict(), FREE);
}

#[test]
fn what_the_kernel_refuses_is_denied() {
    for (refused, rule) in [
        (Refused::Escapes, "path.escape"),
        (Refused::MagicLink, "path.escape"),
        (Refused::Loop, "path.escape"),
        (Refused::Race, "path.escape"),
        (Refused::TooLong, "path.unknown"),
        (Refused::NotDirectory, "path.unknown"),
        (Refused::Permission, "path.unknown"),
        (Refused::Other, "path.unknown"),
    ] {
        for kind in [read("x"), write("x"), delete("x")] {
            let scene = file_tool().act(kind).fact("x", |fact| fact.refused = Some(refused));
            assert_eq!(scene.verdict(), format!("deny {rule}"), "{refused:?}");
        }
    }
    let link = command().act(read("l")).fact("l", |fact| {
        fact.refused = Some(Refused::Escapes);
        fact.place = Place::System;
    });
    assert_eq!(link.verdict(), FREE, "a command that reads through a link reads what it could name");
    let link = command().act(write("l")).fact("l", |fact| {
        fact.refused = Some(Refused::Escapes);
        fact.place = Place::System;
    });
    assert_eq!(link.verdict(), "deny path.outside");
}

#[test]
fn names_that_the_operator_lists_are_not_changed() {
    let listed = file_tool().set(|settings| {
        settings.protected = vec!["tests".into(), "docs/**".into(), "*.lock".into()];
        settings.secret = vec!["private/".into()];
    });
    table(
        &listed,
        vec![
            (write("tests/a.rs"), "deny path.protected"),
            (write("TESTS/a.rs"), "deny path.protected"),
            (write("sub/tests/a.rs"), "deny path.protected"),
            (write("docs/x.md"), "deny path.protected"),
            (write("sub/docs/x.md"), FREE),
            (write("Cargo.lock"), "deny path.protected"),
            (delete("tests/a.rs"), "deny path.protected"),
            (moves("tests", "t"), "deny path.protected"),
            (read("tests/a.rs"), FREE),
            (read("private/x"), "deny path.protected"),
            (write("private/x"), "deny path.protected"),
            (write("src/tests.rs"), FREE),
        ],
    );
}

#[test]
fn the_workspace_and_what_holds_it_are_the_floor_of_deletes() {
    for mode in [Mode::Default, Mode::AcceptEdits, Mode::DangerouslySkipPermissions] {
        let scene = command().boxed().set(|settings| settings.mode = mode);
        for raw in [".", "/", "~", "/home", "..", "/home/u/w", "/*", "~/*", "../*", "./sub/.."] {
            assert_eq!(scene.clone().act(delete_tree(raw)).verdict(), "deny delete.root", "{raw} in {mode}");
        }
        assert_eq!(scene.clone().act(moves("../w", "x")).verdict(), "deny delete.root");
        let beneath = |raw: &str| ActionKind::Delete(Target::Beneath(path(raw)), Depth::Recursive);
        assert_eq!(scene.clone().act(beneath("~")).verdict(), "deny delete.root");
        assert_eq!(scene.clone().act(beneath("/")).verdict(), "deny delete.root");
        assert_ne!(scene.act(beneath(".")).decision(), Allow, "which names match is not known");
    }
}

#[test]
fn trees_are_deleted_when_something_can_bring_them_back() {
    table(
        &command(),
        vec![
            (delete_tree("target"), FREE),
            (delete_tree("./node_modules/"), FREE),
            (delete_tree("pkg/__pycache__"), FREE),
            (delete_tree("docs/journeys"), "ask delete.untracked"),
            (delete_tree("src"), "ask delete.untracked"),
            (delete_tree("*"), "ask delete.untracked"),
            (delete_tree(".git"), "ask path.protected"),
            (delete_tree("../other"), "deny path.outside"),
            (delete_tree("/usr/lib"), "deny path.outside"),
            (delete_tree("~/Documents"), "deny path.outside"),
            (delete("notes.txt"), FREE),
            (delete("*.txt"), FREE),
            (delete("*"), "ask delete.untracked"),
            (delete("*.pyc"), FREE),
            (delete("/tmp/x"), "ask path.temp"),
            (delete("../x"), "deny path.outside"),
            (delete(".env"), "ask path.protected"),
            (ActionKind::Delete(Target::Opaque(Why::Variable("X".into())), Depth::Recursive), "ask shell.opaque"),
            (ActionKind::Delete(Target::Beneath(path(".")), Depth::Single), "ask delete.untracked"),
            (ActionKind::Delete(Target::Beneath(path("build")), Depth::Single), FREE),
        ],
    );
    let boxed = ActionKind::Delete(Target::Opaque(Why::Input), Depth::Single);
    assert_eq!(command().boxed().act(boxed).verdict(), "ask shell.opaque", "the box does not pay for lost work");
}

#[test]
fn a_search_is_judged_by_the_names_it_looks_for() {
    let sought = |pattern: &str| Target::Beneath(PathRef { raw: format!("./{pattern}"), ..path(".") });
    let delete = |pattern: &str| ActionKind::Delete(sought(pattern), Depth::Recursive);
    table(
        &command(),
        vec![
            (delete("*.pyc"), FREE),
            (delete("node_modules"), FREE),
            (delete("*.rs"), "ask delete.untracked"),
            (ActionKind::Read(sought(".env")), "ask path.protected"),
            (ActionKind::Read(sought("*.rs")), FREE),
        ],
    );
    let counted = command().act(delete("*.pyc")).expansion(".", &["a", "b"], Fact::Known(2));
    assert_eq!(counted.verdict(), FREE, "the count is of the whole directory");
}

#[test]
fn facts_about_deletes_win_over_names() {
    let tree = |raw: &str, untracked| command().act(delete_tree(raw)).expansion(raw, &["build/a"], untracked);
    assert_eq!(tree("build", Fact::Known(3)).verdict(), "ask delete.untracked");
    assert_eq!(tree("src", Fact::Known(0)).verdict(), FREE);
    assert_eq!(tree("src", Fact::Unknown(Unknown::Late)).verdict(), "ask delete.untracked");
    let file = |tracked| command().act(delete("x")).fact("x", |fact| fact.tracked = Fact::Known(tracked));
    assert_eq!(file(Tracked::Clean).verdict(), FREE);
    assert_eq!(file(Tracked::Ignored).verdict(), FREE);
    assert_eq!(file(Tracked::Untracked).verdict(), "ask delete.untracked");
    assert_eq!(file(Tracked::Untracked).half_boxed().verdict(), FREE, "where undo keeps a snapshot");
    let own = file(Tracked::Untracked).running(|run| run.written.push(digest("/home/u/w/x")));
    assert_eq!(own.verdict(), FREE, "what this run wrote itself");
    let tool = file_tool().act(delete("x")).fact("x", |fact| fact.tracked = Fact::Known(Tracked::Untracked));
    assert_eq!(tool.verdict(), FREE);
}

#[test]
fn each_match_of_a_glob_is_judged_by_what_it_really_is() {
    let far = |kind: ActionKind| {
        let scene = command().act(kind).expansion("*.txt", &["a.txt", "l.txt"], Fact::Known(0));
        scene.fact("a.txt", |_| {}).fact("l.txt", |fact| fact.place = Place::Credential).verdict()
    };
    assert_eq!(far(read("*.txt")), "deny path.credential");
    assert_eq!(far(write("*.txt")), "deny path.credential");
    assert_eq!(far(delete("*.txt")), "deny path.credential");
    let near = command().act(read("*.txt")).expansion("*.txt", &["a.txt"], Fact::Known(0)).fact("a.txt", |_| {});
    assert_eq!(near.verdict(), FREE);
}

#[test]
fn a_child_named_like_home_stops_a_glob() {
    let scene = |names: &[&str]| command().act(delete_tree("*")).expansion("*", names, Fact::Known(0));
    assert_eq!(scene(&["a", "b"]).verdict(), FREE);
    assert_eq!(scene(&["a", "./~"]).verdict(), "deny delete.untracked");
    assert_eq!(scene(&["a", "tollgate.toml"]).verdict(), "ask path.protected");
}

#[test]
fn programs_without_a_row_ask_unless_the_box_pays() {
    let rows = |want: [&'static str; 6]| {
        let [row, unknown, inline, opaque, project, word] = want;
        vec![
            (runs("ls", Standing::Row), row),
            (runs("frobnicate", Standing::NoRow), unknown),
            (runs("python3", Standing::Inline("python".into())), inline),
            (ActionKind::Opaque(Why::Substitution), opaque),
            (runs("make", Standing::Project), project),
            (
                ActionKind::Execute(Execute {
                    program: Program::Opaque(Why::Variable("X".into())),
                    standing: Standing::NoRow,
                }),
                word,
            ),
        ]
    };
    let asks = "ask shell.unknown-program";
    table(&command(), rows([FREE, asks, "ask shell.inline-code", "ask shell.opaque", FREE, "ask shell.opaque"]));
    table(
        &command().half_boxed(),
        rows([FREE, asks, "ask shell.inline-code", "ask shell.opaque", FREE, "ask shell.opaque"]),
    );
    table(&command().boxed(), rows([FREE; 6]));
    let strict = command().boxed().set(|settings| settings.profile = Profile::Strict);
    table(
        &strict,
        vec![(ActionKind::Opaque(Why::Substitution), "deny shell.opaque"), (runs("ls", Standing::Row), FREE)],
    );
}

#[test]
fn hidden_and_piped_code_is_denied_and_unread_text_asks_even_in_the_box() {
    for scene in [command(), command().boxed()] {
        table(
            &scene,
            vec![
                (ActionKind::Opaque(Why::DecodedCode), "deny shell.decoded"),
                (ActionKind::Opaque(Why::Piped("sh".into())), "deny shell.piped"),
                (ActionKind::Opaque(Why::Unparsed("x".into())), "ask shell.unparsed"),
                (ActionKind::Opaque(Why::Unexplained), "ask shell.unparsed"),
                (ActionKind::Opaque(Why::Limit("x".into())), "ask shell.long"),
                (ActionKind::Opaque(Why::Elsewhere("ssh h".into())), "ask shell.elsewhere"),
            ],
        );
    }
}

#[test]
fn a_file_of_the_workspace_runs_as_committed_or_in_the_box() {
    let run = |tracked| command().act(script("./x.sh")).fact("./x.sh", |fact| fact.tracked = tracked);
    assert_eq!(run(Fact::Known(Tracked::Clean)).verdict(), FREE);
    assert_eq!(run(Fact::Known(Tracked::Modified)).verdict(), "ask shell.own-code");
    assert_eq!(run(Fact::Unknown(Unknown::NotAsked)).verdict(), "ask shell.own-code");
    assert_eq!(run(Fact::Known(Tracked::Modified)).boxed().verdict(), FREE);
    let own = run(Fact::Known(Tracked::Clean)).running(|run| run.written.push(digest("/home/u/w/x.sh")));
    assert_eq!(own.verdict(), "ask shell.own-code");
    assert_eq!(command().act(script("/tmp/x.sh")).verdict(), "ask shell.own-code");
    assert_eq!(command().act(script("~/.ssh/rc")).verdict(), "deny path.credential");
}

#[test]
fn a_row_describes_the_systems_program_only() {
    table(
        &command(),
        vec![
            (runs("/bin/cat", Standing::Row), FREE),
            (runs("/tmp/cat", Standing::Row), "ask shell.own-code"),
            (runs("./cat", Standing::Row), "ask shell.own-code"),
            (runs("node_modules/.bin/eslint", Standing::Row), FREE),
        ],
    );
    let planted = |place| {
        let mut scene = command().act(runs("git", Standing::Row));
        let file = "/x/git".to_owned();
        scene.facts.programs.insert("git".into(), Fact::Known(ProgramFact { file, place, identity: (1, 1) }));
        scene.verdict()
    };
    assert_eq!(planted(Place::System), FREE);
    assert_eq!(planted(Place::Elsewhere), FREE);
    assert_eq!(planted(Place::Inside), "ask shell.own-code");
    assert_eq!(planted(Place::Temp), "ask shell.own-code");
}

#[test]
fn a_long_command_asks_unless_it_only_reads() {
    let long = Scene { command_bytes: 5_000, ..command() };
    assert_eq!(long.clone().act(read("a")).verdict(), FREE);
    assert_eq!(long.act(write("a")).verdict(), "ask shell.long");
}

#[test]
fn the_fetch_tool_goes_where_somebody_pointed() {
    let get = |text: &str| url(text, Flow::Fetch);
    let scene = fetch().set(|settings| settings.allow_hosts = vec!["*.example.com".into(), "localhost:3000".into()]);
    let scene = scene.running(|run| {
        run.given.push(digest("given.test"));
        run.given.push(digest("https://page.test/a"));
    });
    table(
        &scene,
        vec![
            (get("https://api.example.com/x"), FREE),
            (get("https://example.com/"), "ask net.host"),
            (get("https://evilexample.com/"), "ask net.host"),
            (get("https://given.test/any"), FREE),
            (get("https://page.test/a"), FREE),
            (get("https://page.test/b"), "ask net.host"),
            (get("http://localhost:3000/"), FREE),
            (get("http://localhost:3001/"), "deny net.private"),
            (get("http://127.0.0.1/"), "deny net.private"),
            (get("http://192.168.1.1/admin"), "deny net.private"),
            (get("http://169.254.169.254/latest/"), "deny net.metadata"),
            (get("http://metadata.google.internal/"), "deny net.metadata"),
            (get("http://169.254.169.254.nip.io/"), "deny net.private"),
            (get("https://api.example.com:22/"), "deny net.port"),
            (get("file:///etc/passwd"), "deny net.scheme"),
            (get("http://a@127.0.0.1/"), "deny net.scheme"),
            (get("not a url"), "deny net.scheme"),
        ],
    );
}

#[test]
fn one_bad_answer_spoils_a_name() {
    let answers = |fact: Fact<Vec<IpAddr>>| {
        let mut scene = fetch().act(url("https://a.example.com/", Flow::Fetch));
        scene.settings.allow_hosts = vec!["*.example.com".into()];
        scene.facts.hosts.insert("a.example.com".into(), fact);
        scene.verdict()
    };
    let ip = |text: &str| text.parse::<IpAddr>().unwrap();
    assert_eq!(answers(Fact::Known(vec![ip("93.184.215.14")])), FREE);
    assert_eq!(answers(Fact::Known(vec![ip("93.184.215.14"), ip("10.0.0.5")])), "deny net.private");
    assert_eq!(answers(Fact::Known(vec![ip("::ffff:169.254.169.254")])), "deny net.metadata");
    assert_eq!(answers(Fact::Unknown(Unknown::Late)), "deny net.unknown");
}

#[test]
fn commands_fetch_freely_and_send_only_to_listed_hosts() {
    let scene = command().set(|settings| settings.allow_hosts = vec!["ok.example".into(), "git.example:22".into()]);
    let service = |flow| ActionKind::Connect(Connect { peer: Peer::Service("aws".into()), flow });
    table(
        &scene,
        vec![
            (url("https://any.example/x", Flow::Fetch), FREE),
            (url("https://any.example/x", Flow::Send), "ask net.upload"),
            (url("https://ok.example/x", Flow::Send), FREE),
            (host("any.example", Flow::Session), "ask net.session"),
            (host("git@git.example:22", Flow::Session), FREE),
            (host("ok.example", Flow::Session), "ask net.session"),
            (url("http://10.0.0.1/", Flow::Fetch), "deny net.private"),
            (url("http://169.254.169.254/", Flow::Fetch), "deny net.metadata"),
            (url("https://any.example:6379/", Flow::Fetch), "ask net.port"),
            (url("git://any.example/x", Flow::Fetch), "ask net.scheme"),
            (service(Flow::Fetch), FREE),
            (service(Flow::Send), "ask net.upload"),
            (service(Flow::Session), FREE),
            (ActionKind::Connect(Connect { peer: Peer::Remote("origin".into()), flow: Flow::Fetch }), FREE),
            (ActionKind::Connect(Connect { peer: Peer::Opaque(Why::Input), flow: Flow::Fetch }), "ask net.unknown"),
            (ActionKind::Listen(Listen { scope: ListenScope::Loopback, text: "8000".into() }), FREE),
            (ActionKind::Listen(Listen { scope: ListenScope::Wide, text: "0.0.0.0".into() }), "ask net.listen"),
        ],
    );
}

#[test]
fn a_developer_s_own_servers_are_free_and_what_gives_the_machine_away_is_not() {
    let here = |flow| url("http://localhost:3000/", flow);
    let engine = |flow| url("http://127.0.0.1:2375/", flow);
    let store = |flow| url("http://[::1]:9200/", flow);
    table(
        &command(),
        vec![
            (here(Flow::Fetch), FREE),
            (here(Flow::Send), FREE),
            (here(Flow::Session), FREE),
            (engine(Flow::Fetch), "ask net.private"),
            (store(Flow::Fetch), FREE),
            (store(Flow::Send), "ask net.private"),
            (host("localhost", Flow::Session), FREE),
            (host("localhost:22", Flow::Session), "ask net.private"),
            (url("ws://localhost:3000/", Flow::Fetch), FREE),
            (url("postgres://u:p@localhost/x", Flow::Session), FREE),
            (url("redis://localhost:6379", Flow::Fetch), "ask net.private"),
            (url("ws://169.254.169.254/", Flow::Fetch), "deny net.metadata"),
            (url("mysql://10.0.0.1/x", Flow::Session), "deny net.private"),
            (url("ws://any.example/", Flow::Fetch), "ask net.scheme"),
            (url("gopher://127.0.0.1:6379/_FLUSHALL", Flow::Fetch), "ask net.scheme"),
        ],
    );
    table(&command().boxed(), vec![(here(Flow::Send), FREE), (engine(Flow::Send), FREE), (store(Flow::Send), FREE)]);
    let listed = command().set(|settings| settings.allow_hosts = vec!["127.0.0.1:2375".into()]);
    table(&listed, vec![(engine(Flow::Send), FREE)]);
    let tainted = command().running(|run| run.labels.untrusted = true);
    table(&tainted, vec![(here(Flow::Fetch), FREE), (here(Flow::Send), "ask flow.untrusted")]);
    assert_eq!(fetch().act(here(Flow::Fetch)).verdict(), "deny net.private");
}

#[test]
fn pushes_are_judged_by_what_they_may_lose() {
    let push = |refs: &[&str], force, deletes| {
        let refs = refs.iter().map(|name| (*name).to_owned()).collect();
        ActionKind::Publish(Publish::Push(Push { remote: Some("origin".into()), refs, force, deletes }))
    };
    table(
        &command(),
        vec![
            (push(&["main"], Force::No, false), FREE),
            (push(&["feat/x"], Force::Lease, false), FREE),
            (push(&["main"], Force::Lease, false), "ask git.protected-branch"),
            (push(&["HEAD:refs/heads/main"], Force::Lease, false), "ask git.protected-branch"),
            (push(&[], Force::Lease, false), "ask git.protected-branch"),
            (push(&["feat/x"], Force::Plain, false), "ask git.force-push"),
            (push(&["feat/x"], Force::No, true), "ask git.remote-delete"),
        ],
    );
    let mut known = command().act(push(&[], Force::Lease, false));
    let repo = |branch: &str| RepoFact {
        branch: Some(branch.into()),
        dirty: Fact::Known(false),
        remotes: Default::default(),
        obeyed: Vec::new(),
    };
    known.facts.repo = Fact::Known(repo("feat/x"));
    assert_eq!(known.verdict(), FREE);
    known.facts.repo = Fact::Known(repo("main"));
    assert_eq!(known.verdict(), "ask git.protected-branch");
}

#[test]
fn losses_are_questions_and_disks_are_the_floor() {
    let lose = |class| ActionKind::Destroy(Destroy { class, what: "x".into() });
    table(
        &command(),
        vec![
            (lose(DestroyClass::Worktree), "ask git.discard"),
            (lose(DestroyClass::Untracked), "ask git.discard"),
            (lose(DestroyClass::LocalHistory), "ask git.history"),
            (lose(DestroyClass::PublishedHistory), "ask git.history"),
            (lose(DestroyClass::RemoteRef), "ask git.remote-delete"),
            (lose(DestroyClass::Database), "ask destroy.database"),
            (lose(DestroyClass::Infrastructure), "ask destroy.infrastructure"),
            (lose(DestroyClass::Container), "ask destroy.container"),
            (lose(DestroyClass::Recovery), "ask destroy.recovery"),
            (lose(DestroyClass::Disk), "deny destroy.disk"),
        ],
    );
    let mut clean = command().act(lose(DestroyClass::Worktree));
    clean.facts.repo = Fact::Known(RepoFact {
        branch: None,
        dirty: Fact::Known(false),
        remotes: Default::default(),
        obeyed: Vec::new(),
    });
    assert_eq!(clean.verdict(), FREE);
    let mut carried = command().act(lose(DestroyClass::Carried));
    assert_eq!(carried.verdict(), FREE);
    carried.facts.repo = Fact::Known(RepoFact {
        branch: None,
        dirty: Fact::Known(true),
        remotes: Default::default(),
        obeyed: Vec::new(),
    });
    assert_eq!(carried.verdict(), "ask git.discard");
}

#[test]
fn other_effects_ask_by_what_they_are() {
    let install = |scope, source| ActionKind::Install(Install { manager: "npm".into(), scope, source });
    let control = ActionKind::Control;
    table(
        &command().set(|settings| settings.recipients = vec!["a@ok.example".into()]),
        vec![
            (ActionKind::Message("A@ok.example".into()), FREE),
            (ActionKind::Message("x@evil.example".into()), "ask message.unlisted"),
            (ActionKind::Message("a@ok.example.evil.example".into()), "ask message.unlisted"),
            (ActionKind::Spend("5".into()), "ask spend.money"),
            (ActionKind::Privilege("sudo".into()), "ask privilege.raise"),
            (ActionKind::Persist("cron".into()), "ask persist.outlives"),
            (install(InstallScope::Project, InstallSource::Manifest), FREE),
            (install(InstallScope::Project, InstallSource::Registry), FREE),
            (install(InstallScope::Project, InstallSource::Direct), "ask install.direct"),
            (install(InstallScope::Global, InstallSource::Registry), "ask install.global"),
            (control(Control::Environment("LD_PRELOAD".into())), "ask control.environment"),
            (control(Control::Configuration("core.pager".into())), "ask control.configuration"),
            (control(Control::Traces("history -c".into())), "ask control.traces"),
            (control(Control::Guard("x".into())), "deny control.guard"),
            (control(Control::Agent(AgentRights::Inherited)), "ask control.agent"),
            (control(Control::Agent(AgentRights::Raised)), "deny control.agent-raised"),
            (ActionKind::Publish(Publish::Package("x".into())), "ask publish.package"),
            (ActionKind::Publish(Publish::Deploy("x".into())), "ask publish.deploy"),
            (ActionKind::Publish(Publish::Post("pr".into())), FREE),
            (ActionKind::Publish(Publish::Upload("x".into())), "ask net.upload"),
            (ActionKind::Signal(Signal::Pid(vec!["123".into()])), FREE),
            (ActionKind::Signal(Signal::Name("node".into())), "ask signal.name"),
            (ActionKind::Signal(Signal::All("-1".into())), "deny signal.all"),
        ],
    );
}

#[test]
fn a_tool_that_nobody_described_is_refused_or_asked_by_door() {
    let tool = |door| Scene { doer: Doer::Foreign, door, tool: "mcp__x__y", ..command() };
    let unknown = || ActionKind::Opaque(Why::UnknownTool("mcp__x__y".into()));
    assert_eq!(tool(Door::Hook).act(unknown()).verdict(), "ask tool.unknown");
    assert_eq!(tool(Door::Mcp).boxed().act(unknown()).verdict(), "ask tool.unknown");
    assert_eq!(tool(Door::Agent).act(unknown()).verdict(), "deny tool.unknown");
    assert_eq!(tool(Door::Hook).verdict(), FREE, "a host tool without effects");
    let off = |change: fn(&mut crate::settings::Settings)| command().act(read("a")).set(change).verdict();
    assert_eq!(off(|settings| settings.disabled_tools = vec!["run_*".into()]), "deny tool.disabled");
    assert_eq!(off(|settings| settings.tools = Some(vec!["read_file".into()])), "deny tool.disabled");
    assert_eq!(off(|settings| settings.tools = Some(vec!["run_bash".into()])), FREE);
}

#[test]
fn reading_a_secret_and_reaching_a_host_do_not_share_a_call() {
    let call =
        |file: &str| command().act(read(file)).act_in(1, url("https://any.example/", Flow::Fetch)).judge().rules();
    assert!(call(".env.server").contains(&crate::rule::SECRET_EGRESS));
    assert!(call("README.md").is_empty());
}

#[test]
fn text_of_others_makes_effects_questions() {
    let tainted = |scene: Scene| scene.running(|run| run.labels = Labels { untrusted: true, ..Labels::default() });
    let listed = |scene: Scene| scene.set(|settings| settings.allow_hosts = vec!["ok.example".into()]);
    let flow = "ask flow.untrusted";
    table(
        &tainted(listed(command())),
        vec![
            (read("a"), FREE),
            (write("a"), FREE),
            (delete("a"), flow),
            (runs("ls", Standing::Row), FREE),
            (runs("make", Standing::Project), flow),
            (url("https://any.example/", Flow::Fetch), flow),
            (url("https://ok.example/", Flow::Fetch), FREE),
            (ActionKind::Publish(Publish::Post("pr".into())), flow),
            (ActionKind::Connect(Connect { peer: Peer::Registry("npm".into()), flow: Flow::Fetch }), FREE),
        ],
    );
    assert_eq!(tainted(command()).boxed().act(runs("make", Standing::Project)).verdict(), FREE);
    assert_eq!(tainted(file_tool()).act(delete("a")).verdict(), flow, "undo is for those who notice");
    let kept = tainted(file_tool()).act(delete("a")).fact("a", |fact| fact.tracked = Fact::Known(Tracked::Clean));
    assert_eq!(kept.verdict(), FREE);
    let both = |scene: Scene| scene.running(|run| run.labels.sensitive = true);
    let out = both(tainted(listed(command()))).act(url("https://any.example/", Flow::Fetch));
    assert_eq!(out.verdict(), "deny flow.exfiltration");
    let fine = both(tainted(listed(command()))).act(url("https://ok.example/", Flow::Fetch));
    assert_eq!(fine.verdict(), FREE);
}

fn past(call: u8, result: u8, end: End) -> PastCall {
    PastCall { call: [call; 32], result: Some([result; 32]), end }
}

#[test]
fn the_fourth_identical_call_without_a_change_is_denied() {
    let after = |recent: Vec<PastCall>| command().act(read("a")).running(|run| run.recent = recent).verdict();
    let same = |n: usize, end| vec![past(7, 1, end); n];
    assert_eq!(after(same(2, End::Read)), FREE);
    assert_eq!(after(same(3, End::Read)), "deny loop.identical");
    assert_eq!(after(same(3, End::Changed)), "deny loop.identical");
    assert_eq!(after(same(3, End::Failed)), "deny loop.error");
    let edited = [same(3, End::Changed), vec![past(9, 1, End::Changed)]].concat();
    assert_eq!(after(edited), FREE, "another call changed something");
    let looked = [same(3, End::Read), vec![past(9, 1, End::Read)]].concat();
    assert_eq!(after(looked), "deny loop.identical");
    let moving = vec![past(7, 1, End::Read), past(7, 2, End::Read), past(7, 3, End::Read)];
    assert_eq!(after(moving), FREE, "results differ");
    let because = command().act(read("a")).running(|run| run.recent = same(3, End::Read)).judge();
    assert_eq!(because.deciding().because, "identical call repeated 4 times");
}

#[test]
fn a_cycle_is_denied_at_its_third_round() {
    let after = |recent: &[(u8, u8, End)]| {
        let recent = recent.iter().map(|(call, result, end)| past(*call, *result, *end)).collect();
        command().act(read("a")).running(|run| run.recent = recent).verdict()
    };
    let read = End::Read;
    assert_eq!(after(&[(7, 1, read), (9, 2, read), (7, 1, read), (9, 2, read)]), "deny loop.cycle");
    assert_eq!(after(&[(7, 1, read), (9, 2, read)]), FREE);
    assert_eq!(after(&[(7, 1, read), (9, 2, read), (7, 1, read), (9, 3, read)]), FREE);
    assert_eq!(after(&[(7, 1, read), (9, 2, End::Changed), (7, 1, read), (9, 2, End::Changed)]), FREE);
}

#[test]
fn a_denied_intent_is_not_judged_forever() {
    let denied = |n: usize| command().act(read("a")).running(|run| run.denied = vec![[8; 32]; n]).verdict();
    assert_eq!(denied(2), FREE);
    assert_eq!(denied(3), "deny loop.denied");
}

#[test]
fn the_plan_mode_only_reads() {
    let plan = command().boxed().set(|settings| settings.mode = Mode::Plan);
    for kind in [
        write("a"),
        delete("a"),
        moves("a", "b"),
        runs("make", Standing::Project),
        runs("x", Standing::NoRow),
        runs("python3", Standing::Inline("python".into())),
        ActionKind::Opaque(Why::Substitution),
        url("https://a.example/", Flow::Send),
        ActionKind::Read(Target::Opaque(Why::Input)),
    ] {
        let shown = format!("{kind:?}");
        assert_eq!(plan.clone().act(kind).verdict(), "deny mode.plan", "{shown}");
    }
    for kind in [read("a"), runs("ls", Standing::Row), url("https://a.example/", Flow::Fetch), write("/dev/null")] {
        assert_eq!(plan.clone().act(kind).decision(), Allow);
    }
}

#[test]
fn skipping_lifts_ordinary_questions_and_denies_what_needs_a_human() {
    let skip = command().set(|settings| settings.mode = Mode::DangerouslySkipPermissions);
    for (kind, want) in [
        (runs("frobnicate", Standing::NoRow), Allow),
        (ActionKind::Listen(Listen { scope: ListenScope::Wide, text: "x".into() }), Allow),
        (write("/tmp/x"), Allow),
        (ActionKind::Spend("1".into()), Deny),
        (delete_tree("src"), Deny),
        (ActionKind::Publish(Publish::Deploy("x".into())), Deny),
        (write(".git/config"), Ask),
        (ActionKind::Opaque(Why::Unexplained), Ask),
        (write("../x"), Deny),
    ] {
        let shown = format!("{kind:?}");
        assert_eq!(skip.clone().act(kind).decision(), want, "{shown}");
    }
}

#[test]
fn the_strict_profile_denies_by_name_and_what_cannot_be_known() {
    let strict = command().boxed().set(|settings| settings.profile = Profile::Strict);
    let named = "deny profile.strict";
    table(
        &strict,
        vec![
            (runs("docker", Standing::Row), named),
            (runs("/usr/bin/curl", Standing::Row), named),
            (runs("mkfs.ext4", Standing::Row), named),
            (runs("eval", Standing::Builtin), named),
            (runs("exec", Standing::Builtin), named),
            (runs("cd", Standing::Builtin), FREE),
            (runs("git", Standing::Row), FREE),
            (ActionKind::Control(Control::Environment("PATH".into())), named),
            (ActionKind::Control(Control::Traces("history -c".into())), named),
            (runs("frobnicate", Standing::NoRow), "deny shell.unknown-program"),
        ],
    );
    let mut link = strict.act(runs("c", Standing::Row));
    let file = ProgramFact { file: "/usr/bin/curl".into(), place: Place::System, identity: (1, 1) };
    link.facts.programs.insert("c".into(), Fact::Known(file));
    assert_eq!(link.verdict(), named, "by what the word resolves to");
}

#[test]
fn the_locked_profile_allows_only_what_a_rule_names() {
    let rule = |program: &str| crate::settings::UserRule {
        effect: Allow,
        tool: None,
        program: Some(program.into()),
        action: None,
        path: None,
        host: None,
        invocation: crate::Invocation::default(),
        at: "tollgate.toml:1".into(),
    };
    let locked = command().set(|settings| {
        settings.profile = Profile::Locked;
        settings.rules = vec![rule("ls")];
    });
    assert_eq!(locked.clone().act(runs("cat", Standing::Row)).verdict(), "deny profile.locked");
    assert_eq!(locked.clone().act(runs("ls", Standing::Row)).act(read("a")).verdict(), "allow rule.allow");
    let both = locked.act_in(0, runs("ls", Standing::Row)).act_in(1, runs("cat", Standing::Row));
    assert_eq!(both.verdict(), "deny profile.locked", "every part must be covered");
}
