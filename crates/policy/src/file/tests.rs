use super::raw::RawFile;
use super::*;
use crate::decision::Decision;
use crate::fixture::GROUND;
use crate::mode::Mode;
use crate::profile::Profile;
use crate::relay::{Header, Login, Relay, RelayTls, SecretPlace, Smtp, Webhook};
use crate::settings::{ActionName, HostPrompt};

fn layer<'a>(kind: LayerKind, text: &'a str) -> Layer<'a> {
    let name = match kind {
        LayerKind::System => "system.toml",
        LayerKind::User => "user.toml",
        LayerKind::Project => "tollgate.toml",
    };
    Layer { kind, name, text }
}

fn load(layers: &[(LayerKind, &str)]) -> Result<Policy, String> {
    let layers: Vec<Layer<'_>> = layers.iter().map(|(kind, text)| layer(*kind, text)).collect();
    Policy::from_layers(&layers, &GROUND).map_err(|error| error.to_string())
}

fn user(text: &str) -> Result<Policy, String> {
    load(&[(LayerKind::User, text)])
}

#[test]
fn no_file_is_the_built_in_policy() {
    assert_eq!(load(&[]).unwrap().settings(), Policy::builtin().settings());
    assert_eq!(load(&[]).unwrap().digest(), Policy::builtin().digest());
}

#[test]
fn every_key_reaches_the_settings() {
    let policy = user(
        r#"
        profile = "strict"
        mode = "acceptEdits"
        host_prompt = true
        roots = ["~/w", "/srv/data/"]
        read_roots = ["/srv/docs"]
        protected = ["tests/**"]
        secret = ["private"]
        allow_hosts = ["*.example.com", "localhost:3000"]
        recipients = ["a@example.com"]
        tools = ["read_file", "run_bash", "mcp__x__*"]
        disabled_tools = ["webfetch"]
        env_allow = ["RUSTFLAGS"]
        [caps]
        turns = 10
        tool_calls = 50
        cost_usd = 1.5
        wall_secs = 60
        tokens = 1000
        per_tool = { write_file = 5 }
        hour = { tool_calls = 100, cost_usd = 0.5 }
        [relay]
        host = "127.0.0.1"
        port = 1025
        from = "agent@example.com"
        tls = "none"
        [[rule]]
        effect = "deny"
        program = "docker"
        [[rule]]
        effect = "allow"
        action = "read"
        path = "~/notes/**"
        "#,
    )
    .unwrap();
    let settings = policy.settings();
    assert_eq!((settings.profile, settings.mode), (Profile::Strict, Mode::AcceptEdits));
    assert_eq!(settings.host_prompt, HostPrompt::Accepted);
    assert_eq!(settings.roots, ["/home/u/w", "/srv/data"]);
    assert_eq!(settings.caps.cost_microusd, 1_500_000);
    assert_eq!((settings.caps.hour.tool_calls, settings.caps.hour.cost_microusd), (Some(100), Some(500_000)));
    assert!(settings.caps.day.is_open());
    assert_eq!((settings.caps.turns, settings.caps.tokens), (10, Some(1_000)));
    assert_eq!(settings.caps.per_tool["write_file"], 5);
    assert!(matches!(settings.relay.as_ref().unwrap(), Relay::Smtp(smtp) if smtp.port == 1025));
    assert_eq!(settings.rules[0].effect, Decision::Deny);
    assert_eq!(settings.rules[1].action, Some(ActionName::Read));
    assert!(settings.rules[0].at.starts_with("user.toml:"));
    assert_ne!(policy.digest(), Policy::builtin().digest());
}

#[test]
fn a_diagnostic_points_at_the_key() {
    assert_eq!(
        user("mode = \"plan\"\nprofil = \"strict\"\n").unwrap_err().lines().take(3).collect::<Vec<_>>().join("\n"),
        "user.toml:2:1: unknown field `profil`, expected one of `profile`, `mode`, `host_prompt`, `roots`, \
         `read_roots`, `protected`, `secret`, `allow_hosts`, `recipients`, `tools`, `disabled_tools`, `env_allow`, \
         `caps`, `relay`, `rule`\n  2 | profil = \"strict\"\n    | ^^^^^^"
    );
    assert_eq!(
        user("[[rule]]\neffect = \"deny\"\ntool = \"run_bsh\"\n").unwrap_err(),
        format!(
            "user.toml:3:8: there is no tool `run_bsh`\n  3 | tool = \"run_bsh\"\n    |        ^^^^^^^^^\n  \
             help: the tools are: {}",
            tollgate_call::schema::known_names()
        )
    );
    assert_eq!(
        user("[[rule]]\neffect = \"allow\"\nprogram = \"mkdir*\"\n").unwrap_err(),
        "user.toml:3:11: `mkdir*` can never match: a program is a bare name\n  3 | program = \"mkdir*\"\n    |           \
         ^^^^^^^^\n  help: write the name alone, such as `git`; arguments and wildcards have no place"
    );
}

#[test]
fn examples_of_a_rule_are_tried_when_it_is_read() {
    let rule = |effect: &str, examples: &str| {
        user(&format!(
            "[[rule]]\neffect = \"{effect}\"\nprogram = \"git\"\nsubcommand = \"push\"\nnot_flag = [\"--force\", \"-f\"]\n\
             {examples}\n"
        ))
    };
    rule(
        "allow",
        r#"matches = ["git push", "git push -u origin x"]
           not_matches = ["git push --force", "git push -uf", "git push --forc", "git push $X", "git push && rm x",
                          "git push > out", "GIT_SSH_COMMAND=x git push", "sudo git push", "git -C /x push", "/tmp/git push"]"#,
    )
    .unwrap();
    rule(
        "deny",
        r#"matches = ["git push", "cd x && git push", "sudo git push"]
                    not_matches = ["git pull", "git push --force"]"#,
    )
    .unwrap();
    let wrong = rule("allow", "matches = [\"git push --force\"]").unwrap_err();
    assert!(wrong.contains("does not match `git push --force`") && wrong.contains("user.toml:6"), "{wrong}");
    let wrong = rule("deny", "not_matches = [\"ls; git push\"]").unwrap_err();
    assert!(wrong.contains("the rule does match"), "{wrong}");
}

#[test]
fn what_could_never_decide_anything_refuses_to_start() {
    for (text, want) in [
        ("profile = \"lax\"", "unknown variant `lax`"),
        ("mode = true", "wanted string"),
        ("mode = \"plan\"\nmode = \"plan\"", "duplicate key"),
        ("tools = [\"Write\"]", "write `write_file`"),
        ("tools = [\"read_fil\"]", "there is no tool `read_fil`"),
        ("allow_hosts = [\"*\"]", "`*`"),
        ("allow_hosts = [\"https://example.com/\"]", "not a host name"),
        ("allow_hosts = [\"u@example.com\"]", "user"),
        ("protected = [\"../x\"]", "can never match"),
        ("protected = [\"a[\"]", "not a glob"),
        ("roots = [\"/\"]", "may be opened"),
        ("roots = [\"sub\"]", "may be opened"),
        ("caps = { cost_usd = -1.0 }", "out of bounds"),
        ("caps = { cost_usd = nan }", "out of bounds"),
        ("caps = { day = { cost_usd = -1.0 } }", "out of bounds"),
        ("caps = { turn = 1 }", "unknown field `turn`"),
        ("caps = { per_tool = { writ = 1 } }", "there is no tool `writ`"),
        ("relay = { host = \"h\", port = 70000, from = \"a\" }", "70000"),
        ("[[rule]]\neffect = \"maybe\"", "unknown variant"),
        ("[[rule]]\ntool = \"grep\"", "missing field `effect`"),
        ("[[rule]]\neffect = \"deny\"\nprogram = \"Bash(ls)\"", "bare name"),
        ("[[rule]]\neffect = \"deny\"\nsubcommand = \"push\"", "add `program`"),
        ("[[rule]]\neffect = \"deny\"\nprogram = \"git\"\nsubcommand = \"push --force\"", "no subcommand"),
        ("[[rule]]\neffect = \"deny\"\nprogram = \"git\"\nflag = [\"force\"]", "no flag"),
        ("[[rule]]\neffect = \"deny\"\npath = \"src/\"", "write `src/**`"),
        ("[[rule]]\neffect = \"deny\"\npath = \"a\"\nhost = \"a.example\"", "both a path and a host"),
        ("[[rule]]\neffect = \"deny\"\naction = \"connect\"\npath = \"a\"", "have a path"),
        ("[[rule]]\neffect = \"deny\"\naction = \"read\"\nhost = \"a.example\"", "only connect has a host"),
        ("[[rule]]\neffect = \"deny\"\ntool = \"read_file\"\nprogram = \"ls\"", "only `run_bash`"),
        ("[[rule]]\neffect = \"deny\"\ntool = \"read_file\"\naction = \"write\"", "never does this"),
        ("[[rule]]\neffect = \"deny\"\ntool = \"webfetch\"\npath = \"a\"", "has no path"),
        ("[[rule]]\neffect = \"deny\"\ntool = \"grep\"\nhost = \"a.example\"", "has no host"),
        ("[[rule]]\neffect = \"allow\"", "must say more"),
        ("[[rule]]\neffect = \"allow\"\ntool = \"run_bash\"", "must say more"),
        ("[[rule]]\neffect = \"allow\"\ntool = \"run_*\"", "must say more"),
        ("[[rule]]\neffect = \"allow\"\naction = \"spend\"", "always needs a human"),
        (
            "[[rule]]\neffect = \"deny\"\nprogram = \"ls\"\n[[rule]]\neffect = \"ask\"\nprogram = \"ls\"\naction = \"read\"",
            "on line 2 already covers",
        ),
        ("\u{7}", "expected"),
    ] {
        let error = user(text).expect_err(text);
        assert!(error.contains(want), "{text}: {error}");
        assert!(error.starts_with("user.toml:"), "{text}: {error}");
    }
}

#[test]
fn neighbours_of_dead_rules_are_alive() {
    for text in [
        "[[rule]]\neffect = \"deny\"",
        "[[rule]]\neffect = \"allow\"\nprogram = \"mkdir\"",
        "[[rule]]\neffect = \"allow\"\ntool = \"mcp__x__*\"",
        "[[rule]]\neffect = \"ask\"\ntool = \"run_bash\"",
        "[[rule]]\neffect = \"allow\"\nprogram = \"ls\"\n[[rule]]\neffect = \"deny\"\nprogram = \"ls\"\naction = \"write\"",
        "[[rule]]\neffect = \"ask\"\nprogram = \"ls\"\naction = \"read\"\n[[rule]]\neffect = \"ask\"\nprogram = \"ls\"",
        "allow_hosts = [\"*.example.com:8443\", \"10.0.0.5:8080\"]",
        "tools = [\"NotebookEdit\", \"mcp__a__b\"]",
    ] {
        user(text).unwrap_or_else(|error| panic!("{text}: {error}"));
    }
}

#[test]
fn a_project_only_tightens() {
    for key in [
        "host_prompt = true",
        "roots = [\"~/x\"]",
        "read_roots = [\"~/x\"]",
        "allow_hosts = [\"a.example\"]",
        "recipients = [\"a@b.example\"]",
        "env_allow = [\"X\"]",
        "relay = { host = \"h.example\", port = 25, from = \"a\" }",
        "[[rule]]\neffect = \"allow\"\nprogram = \"x\"",
    ] {
        let error = load(&[(LayerKind::Project, key)]).expect_err(key);
        assert!(error.contains("may only tighten") && error.starts_with("tollgate.toml:"), "{error}");
    }
    let user = "profile = \"strict\"\nmode = \"default\"\ntools = [\"read_file\", \"run_bash\"]\n[caps]\nturns = 10\n";
    let project = "profile = \"standard\"\nmode = \"dangerouslySkipPermissions\"\ntools = [\"read_file\", \"write_file\"]\n\
                   protected = [\"tests\"]\n[caps]\nturns = 99\ntool_calls = 3\n[[rule]]\neffect = \"deny\"\nprogram = \"x\"\n";
    let policy = load(&[(LayerKind::Project, project), (LayerKind::User, user)]).unwrap();
    let settings = policy.settings();
    assert_eq!((settings.profile, settings.mode), (Profile::Strict, Mode::Default));
    assert_eq!(settings.tools.as_deref().unwrap(), ["read_file"]);
    assert_eq!((settings.caps.turns, settings.caps.tool_calls), (10, 3));
    assert_eq!(settings.protected, ["tests"]);
    let planned = load(&[(LayerKind::Project, "mode = \"plan\"")]).unwrap().in_mode(Mode::AcceptEdits);
    assert_eq!(planned.settings().mode, Mode::Plan, "the command line does not lift it either");
}

#[test]
fn the_system_file_is_a_ceiling() {
    let system = "mode = \"default\"\nallow_hosts = [\"*.example.com\"]\nroots = [\"/srv\"]\nhost_prompt = false\n\
                  recipients = []\n[caps]\nturns = 20\n";
    let under = |text: &str| load(&[(LayerKind::User, text), (LayerKind::System, system)]);
    for text in [
        "allow_hosts = [\"other.test\"]",
        "allow_hosts = [\"example.com\"]",
        "roots = [\"/srv-evil/x\"]",
        "roots = [\"~/w\"]",
        "host_prompt = true",
        "recipients = [\"a@example.com\"]",
    ] {
        let error = under(text).expect_err(text);
        assert!(error.contains("beyond the ceiling") && error.starts_with("user.toml:1:"), "{error}");
    }
    let policy =
        under("mode = \"dangerouslySkipPermissions\"\nallow_hosts = [\"a.example.com\"]\n[caps]\nturns = 30").unwrap();
    assert_eq!(policy.settings().mode, Mode::Default);
    assert_eq!(policy.settings().caps.turns, 20);
    assert_eq!(policy.settings().allow_hosts, ["a.example.com"]);
    assert_eq!(policy.clone().in_mode(Mode::DangerouslySkipPermissions).settings().mode, Mode::Default);
    assert_eq!(under("").unwrap().settings().allow_hosts, ["*.example.com"]);
}

#[test]
fn the_digest_is_over_what_decides_and_not_over_layout() {
    let digest = |text: &str| user(text).unwrap().digest();
    assert_eq!(digest("mode = \"plan\""), digest("# a comment\n\nmode='plan'"));
    let rule = |before: &str| digest(&format!("{before}[[rule]]\neffect = \"deny\"\nprogram = \"x\"\n"));
    assert_eq!(rule(""), rule("\n\n\n"));
    assert_ne!(digest("mode = \"plan\""), digest("mode = \"default\""));
    assert_ne!(digest("allow_hosts = [\"a.example\"]"), digest(""));
}

#[test]
fn a_relay_names_where_its_secret_is_and_the_agent_may_not_read_it() {
    let smtp = user(
        "[relay]\nhost = \"mail.example.org\"\nport = 587\nfrom = \"bot@example.org\"\nuser = \"bot\"\n\
         secret_file = \"~/.mail-[1]\"\nca_file = \"/etc/ca.pem\"\n",
    )
    .unwrap();
    let login = Login { user: "bot".into(), secret: SecretPlace::File("/home/u/.mail-[1]".into()) };
    let wanted = Smtp {
        host: "mail.example.org".into(),
        port: 587,
        from: "bot@example.org".into(),
        tls: RelayTls::Starttls,
        login: Some(login),
        ca_file: Some("/etc/ca.pem".into()),
    };
    assert_eq!(smtp.settings().relay, Some(Relay::Smtp(wanted)));
    assert!(smtp.is_secret("/home/u/.mail-[1]") && !smtp.is_secret("/home/u/.mail-1"));
    let hook = user(
        "[relay]\nkind = \"webhook\"\nurl = \"https://hooks.example.org/in\"\nheader = \"X-Key\"\nsecret_env = \"HOOK\"\n",
    )
    .unwrap();
    let header = Some(Header { name: "X-Key".into(), secret: SecretPlace::Env("HOOK".into()) });
    let wanted = Webhook { url: "https://hooks.example.org/in".into(), header, ca_file: None };
    assert_eq!(hook.settings().relay, Some(Relay::Webhook(wanted)));
    assert_ne!(smtp.digest(), hook.digest(), "an approval is bound to where messages go out");
}

#[test]
fn a_relay_that_cannot_work_or_would_tell_its_secret_refuses_to_start() {
    let smtp = "host = \"mail.example.org\"\nport = 587\nfrom = \"bot@example.org\"\n";
    let hook = "kind = \"webhook\"\nurl = \"https://hooks.example.org/in\"\n";
    for (base, more, want) in [
        ("", "", "the relay has no `host`"),
        ("host = \"mail.example.org\"\n", "", "the relay has no `port`"),
        ("kind = \"webhook\"\n", "", "the relay has no `url`"),
        (smtp, "tls = \"none\"", "sends in the clear"),
        (smtp, "user = \"bot\"", "logs in without a password"),
        (smtp, "secret_env = \"X\"", "a password is nobody's"),
        (smtp, "user = \"bot\"\nsecret_env = \"X\"\nsecret_file = \"/x\"", "in two places"),
        (smtp, "user = \"bot\"\nsecret_env = \"s3cr=t\"", "not the name of a variable"),
        (smtp, "user = \"bot\"\nsecret_file = \"mail.key\"", "not a file that can be named"),
        (smtp, "ca_file = \"~/../x\"", "not a file that can be named"),
        (smtp, "url = \"https://x.example\"", "has no `url`"),
        (smtp, "password = \"x\"", "unknown field `password`"),
        (hook, "port = 1", "a webhook has no `port`"),
        (hook, "header = \"X-Key\"", "has no value"),
        (hook, "secret_env = \"X\"", "sent in no header"),
        (hook, "header = \"X: y\"\nsecret_env = \"X\"", "not the name of a header"),
        (hook, "header = \"Host\"\nsecret_env = \"X\"", "not the name of a header"),
        ("kind = \"webhook\"\nurl = \"http://hooks.example.org/\"\n", "", "in the clear"),
        ("kind = \"webhook\"\nurl = \"https://u:p@hooks.example.org/\"\n", "", "leave `user@` out"),
        ("host = \"h\"\nport = 25\nfrom = \"Bot <b@x.example>\"\n", "", "is not a mail address"),
    ] {
        let error = user(&format!("[relay]\n{base}{more}\n")).unwrap_err();
        assert!(error.contains(want), "{base}{more}: {error}");
    }
    for entry in ["a@b.example, c@d.example", "*@b.example", "@", "@192.0.2.1", "two words"] {
        let error = user(&format!("recipients = [\"{entry}\"]\n")).unwrap_err();
        assert!(error.contains("can never be a recipient"), "{entry}: {error}");
    }
}

#[test]
fn a_user_lists_no_recipient_beyond_the_system_s() {
    let both = |entry: &str| {
        let user = format!("recipients = [\"{entry}\"]\n");
        load(&[(LayerKind::System, "recipients = [\"@example.org\", \"#ops\"]\n"), (LayerKind::User, &user)])
    };
    for within in ["ada@EXAMPLE.org", "@example.org", "#ops"] {
        assert!(both(within).is_ok(), "{within}");
    }
    for beyond in ["ada@example.com", "@sub.example.org", "#all"] {
        assert!(both(beyond).unwrap_err().contains("beyond the ceiling"), "{beyond}");
    }
}

/// The schema of the file, as `docs/tollgate.schema.json` holds it.
fn schema() -> serde_json::Value {
    let mut schema = serde_json::to_value(schemars::schema_for!(RawFile)).unwrap();
    schema["title"] = "Tollgate policy file".into();
    schema
}

#[test]
fn the_published_schema_is_that_of_the_types() {
    let published: serde_json::Value =
        serde_json::from_str(include_str!("../../../../docs/tollgate.schema.json")).unwrap();
    let now = serde_json::to_string_pretty(&schema()).unwrap();
    assert_eq!(published, schema(), "write this to docs/tollgate.schema.json:\n{now}");
}

#[test]
fn the_reference_names_every_key_and_every_rule() {
    let text = include_str!("../../../../docs/policy.md");
    let keys = schema()["properties"].as_object().unwrap().keys().cloned().collect::<Vec<_>>();
    for key in keys {
        assert!(text.contains(&format!("`{key}`")), "docs/policy.md does not name the key `{key}`");
    }
    for rule in crate::rule::ALL {
        let row = format!("| `{rule}` | {} |", rule.rule().meaning);
        assert!(text.contains(&row), "docs/policy.md lacks the row: {row}");
    }
}
