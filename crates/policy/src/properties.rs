//! Properties over made-up calls: what no mode, rule, layer or missing fact may do.

use proptest::prelude::*;
use tollgate_call::action::*;
use tollgate_call::facts::{Confinement, Fact, Kind, Tracked, Unknown};
use tollgate_call::places::Place;
use tollgate_call::run_state::Labels;

use crate::decision::Decision;
use crate::file::{Layer, LayerKind};
use crate::fixture::*;
use crate::mode::Mode;
use crate::policy::Policy;
use crate::profile::Profile;
use crate::rule::Class;
use crate::settings::{ActionName, UserRule};
use crate::subject::Doer;

fn name() -> impl Strategy<Value = String> {
    prop::sample::select(vec![
        "a.txt",
        "src/main.rs",
        ".env",
        ".git/config",
        "target",
        "*",
        "*.txt",
        "..",
        ".",
        "/",
        "~",
        "~/x",
        "~/.ssh/id_rsa",
        "/etc/hosts",
        "/tmp/x",
        "/dev/null",
        "/dev/sda",
        "tollgate.toml",
        "../w-evil/x",
        "~/.config/tollgate/t.toml",
        "tests/a",
    ])
    .prop_map(str::to_owned)
}

fn why() -> impl Strategy<Value = Why> {
    prop::sample::select(vec![
        Why::Variable("X".into()),
        Why::Substitution,
        Why::Input,
        Why::Piped("sh".into()),
        Why::DecodedCode,
        Why::Unparsed("x".into()),
        Why::Unexplained,
        Why::UnknownProgram("x".into()),
        Why::UnknownTool("x".into()),
        Why::Elsewhere("x".into()),
        Why::Limit("x".into()),
    ])
}

fn target() -> impl Strategy<Value = Target> {
    prop_oneof![
        6 => name().prop_map(|raw| at(&raw)),
        1 => name().prop_map(|raw| Target::Beneath(path(&raw))),
        1 => why().prop_map(Target::Opaque),
    ]
}

fn flow() -> impl Strategy<Value = Flow> {
    prop::sample::select(vec![Flow::Fetch, Flow::Send, Flow::Session])
}

fn address() -> impl Strategy<Value = String> {
    prop::sample::select(vec![
        "https://ok.example/",
        "https://any.example/",
        "http://127.0.0.1/",
        "http://10.0.0.1/",
        "http://169.254.169.254/",
        "https://any.example:22/",
        "file:///etc/passwd",
    ])
    .prop_map(str::to_owned)
}

fn kind() -> impl Strategy<Value = ActionKind> {
    prop_oneof![
        target().prop_map(ActionKind::Read),
        target().prop_map(|target| ActionKind::Write(target, WriteHow::Replace)),
        (target(), prop::bool::ANY).prop_map(|(target, tree)| {
            ActionKind::Delete(target, if tree { Depth::Recursive } else { Depth::Single })
        }),
        (target(), target()).prop_map(|(from, to)| ActionKind::Move(from, to)),
        prop::sample::select(vec![
            Standing::Row,
            Standing::Builtin,
            Standing::NoRow,
            Standing::Project,
            Standing::Inline("python".into()),
        ])
        .prop_map(|standing| runs("prog", standing)),
        name().prop_map(|raw| script(&raw)),
        (address(), flow()).prop_map(|(text, flow)| url(&text, flow)),
        why().prop_map(ActionKind::Opaque),
        prop::sample::select(vec![
            ActionKind::Message("x@evil.example".into()),
            ActionKind::Spend("1".into()),
            ActionKind::Privilege("x".into()),
            ActionKind::Persist("x".into()),
            ActionKind::Control(Control::Guard("x".into())),
            ActionKind::Control(Control::Environment("PATH".into())),
            ActionKind::Publish(Publish::Post("pr".into())),
            ActionKind::Publish(Publish::Deploy("x".into())),
            ActionKind::Destroy(Destroy { class: DestroyClass::Worktree, what: "x".into() }),
            ActionKind::Destroy(Destroy { class: DestroyClass::Disk, what: "x".into() }),
            ActionKind::Signal(Signal::Name("x".into())),
        ]),
    ]
}

fn confinement() -> impl Strategy<Value = Confinement> {
    prop::sample::select(vec![Confinement::Outside, Confinement::Partial(vec!["x".into()]), Confinement::Enforced])
}

fn scene() -> impl Strategy<Value = Scene> {
    let labels = (prop::bool::ANY, prop::bool::ANY);
    let doer = prop::sample::select(vec![Doer::Command, Doer::FileTool, Doer::Foreign]);
    (prop::collection::vec((0_u32..3, kind()), 0..5), confinement(), labels, doer).prop_map(
        |(actions, confinement, (untrusted, sensitive), doer)| {
            let mut scene = Scene { doer, ..command() };
            for (part, kind) in actions {
                scene = scene.act_in(part, kind);
            }
            scene.facts.confinement = confinement;
            scene.run.labels = Labels { untrusted, sensitive, control: false };
            scene
        },
    )
}

fn rule() -> impl Strategy<Value = UserRule> {
    let effect = prop::sample::select(vec![Decision::Allow, Decision::Ask, Decision::Deny]);
    let action = prop::option::of(prop::sample::select(ActionName::ALL.to_vec()));
    let program = prop::option::of(Just("prog".to_owned()));
    let path = prop::option::of(prop::sample::select(vec!["**".to_owned(), "src/**".to_owned(), "/tmp/*".to_owned()]));
    let host = prop::option::of(prop::sample::select(vec!["any.example".to_owned(), "*.example".to_owned()]));
    (effect, action, program, path, host).prop_map(|(effect, action, program, path, host)| UserRule {
        effect,
        tool: None,
        program,
        action,
        path,
        host,
        invocation: crate::Invocation::default(),
        at: "f:1".into(),
    })
}

const MODES: [Mode; 4] = [Mode::Plan, Mode::Default, Mode::AcceptEdits, Mode::DangerouslySkipPermissions];

proptest! {
    #[test]
    fn a_mode_never_lifts_a_denial(scene in scene()) {
        if scene.decision() == Decision::Deny {
            for mode in MODES {
                prop_assert_eq!(scene.clone().set(|s| s.mode = mode).decision(), Decision::Deny, "in {}", mode);
            }
        }
    }

    #[test]
    fn always_confirm_is_never_allowed(scene in scene(), rules in prop::collection::vec(rule(), 0..4)) {
        let asked = scene.judge().iter().any(|f| f.rule.rule().class == Class::AlwaysConfirm);
        if asked {
            for mode in MODES {
                let judged = scene.clone().set(|s| { s.mode = mode; s.rules = rules.clone(); });
                prop_assert_ne!(judged.decision(), Decision::Allow);
            }
        }
    }

    #[test]
    fn more_rules_that_ask_or_deny_never_loosen(
        scene in scene(),
        rules in prop::collection::vec(rule(), 0..4),
        more in prop::collection::vec(rule(), 0..4),
    ) {
        let before = scene.clone().set(|s| s.rules = rules.clone()).decision();
        let stricter = more.into_iter().filter(|rule| rule.effect != Decision::Allow);
        let after = scene.set(|s| s.rules = rules.iter().cloned().chain(stricter).collect()).decision();
        prop_assert!(after >= before, "{} became {}", before, after);
    }

    #[test]
    fn an_allow_rule_never_lifts_a_denial(scene in scene(), rules in prop::collection::vec(rule(), 0..6)) {
        if scene.decision() == Decision::Deny {
            let allows: Vec<_> = rules.into_iter().filter(|rule| rule.effect == Decision::Allow).collect();
            prop_assert_eq!(scene.set(|s| s.rules = allows).decision(), Decision::Deny);
        }
    }

    #[test]
    fn a_stricter_profile_is_never_milder(scene in scene(), rules in prop::collection::vec(rule(), 0..4)) {
        let under = |profile| scene.clone().set(|s| { s.profile = profile; s.rules = rules.clone(); }).decision();
        prop_assert!(under(Profile::Strict) >= under(Profile::Standard));
        prop_assert!(under(Profile::Locked) >= under(Profile::Strict));
    }

    #[test]
    fn taint_and_a_weaker_box_never_loosen(scene in scene()) {
        let with = |confinement: Confinement, untrusted| {
            let mut scene = scene.clone();
            scene.facts.confinement = confinement;
            scene.run.labels.untrusted = untrusted;
            scene.decision()
        };
        let boxed = with(Confinement::Enforced, scene.run.labels.untrusted);
        let half = with(Confinement::Partial(Vec::new()), scene.run.labels.untrusted);
        prop_assert!(half >= boxed);
        prop_assert!(with(Confinement::Outside, scene.run.labels.untrusted) >= half);
        let confinement = scene.facts.confinement.clone();
        prop_assert!(with(confinement.clone(), true) >= with(confinement, false));
    }

    #[test]
    fn an_unknown_fact_is_never_milder_than_the_mildest_known(scene in scene(), which in 0_usize..4) {
        let unknown = [Unknown::NotAsked, Unknown::Late, Unknown::Failed][which % 3];
        let with = |kind: Fact<Kind>, links: Fact<u64>, tracked: Fact<Tracked>| {
            let mut scene = scene.clone();
            for fact in scene.facts.paths.values_mut() {
                (fact.kind, fact.links, fact.tracked) = (kind.clone(), links.clone(), tracked.clone());
            }
            scene.decision()
        };
        let mildest = with(Fact::Known(Kind::File(1)), Fact::Known(1), Fact::Known(Tracked::Clean));
        let absent = with(Fact::Known(Kind::Absent), Fact::Known(1), Fact::Known(Tracked::Clean));
        let dark = with(Fact::Unknown(unknown), Fact::Unknown(unknown), Fact::Unknown(unknown));
        prop_assert!(dark >= mildest.min(absent));
        let (mut inside, mut blind) = (scene.clone(), scene);
        for fact in inside.facts.paths.values_mut() {
            (fact.place, fact.protection, fact.tracked) = (Place::Inside, None, Fact::Known(Tracked::Clean));
        }
        blind.facts.paths.clear();
        prop_assert!(blind.decision() >= inside.decision());
    }

    #[test]
    fn the_parts_of_a_call_are_at_least_as_severe_together(scene in scene()) {
        let together = scene.decision();
        for part in 0..3 {
            let mut alone = scene.clone();
            alone.actions.retain(|action| action.part == part);
            prop_assert!(together >= alone.decision(), "part {}", part);
        }
    }

    #[test]
    fn a_project_file_never_loosens(
        scene in scene(),
        mode in prop::sample::select(MODES.to_vec()),
        profile in prop::sample::select(vec!["standard", "strict", "locked"]),
        tools in prop::option::of(prop::sample::select(vec!["run_bash", "read_file"])),
        effect in prop::sample::select(vec!["ask", "deny"]),
    ) {
        let user = "mode = \"acceptEdits\"\nallow_hosts = [\"ok.example\"]\n[[rule]]\neffect = \"allow\"\nprogram = \"prog\"\n";
        let tools = tools.map(|tool| format!("tools = [\"{tool}\"]\n")).unwrap_or_default();
        let project = format!(
            "mode = \"{mode}\"\nprofile = \"{profile}\"\n{tools}[[rule]]\neffect = \"{effect}\"\naction = \"connect\"\n"
        );
        let user = Layer { kind: LayerKind::User, name: "u", text: user };
        let project = Layer { kind: LayerKind::Project, name: "p", text: &project };
        let alone = Policy::from_layers(&[user], &GROUND).unwrap();
        let both = Policy::from_layers(&[user, project], &GROUND).unwrap();
        prop_assert!(scene.judge_by(&both).decision() >= scene.judge_by(&alone).decision());
    }

    #[test]
    fn any_text_is_a_policy_or_a_pointed_diagnostic(text in "(?s).{0,200}") {
        let layer = Layer { kind: LayerKind::User, name: "f", text: &text };
        if let Err(error) = Policy::from_layers(&[layer], &GROUND) {
            prop_assert!(error.iter().all(|diagnostic| diagnostic.line > 0 && !diagnostic.help.is_empty()));
        }
    }
}
