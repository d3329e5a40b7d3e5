//! Random trees full of links, with the kernel's own resolution as the oracle.

use std::fs;
use std::path::Path;

use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::select;
use tollgate_call::action::ActionKind;
use tollgate_call::facts::{Fact, Kind};
use tollgate_call::places::Place as Lies;
use tollgate_survey::Intent;

use crate::place::{Place, action};

const LINKS: [&str; 4] = ["W/l1", "W/a/l2", "W/a/b/l3", "outside/l4"];
const PARTS: [&str; 16] =
    ["a", "b", "c", "f", "l1", "l2", "l3", "l4", "..", "..", ".", "", "x", "W", "outside", "secret"];

fn path() -> impl Strategy<Value = String> {
    vec(select(&PARTS[..]), 1..8).prop_map(|parts| parts.join("/")).prop_filter("a name", |path| !path.is_empty())
}

/// A tree with links whose texts are random, some of them absolute.
fn lay_out(texts: &[(String, bool)]) -> Place {
    let place = Place::new();
    for file in ["W/a/b/c/f", "W/a/f", "W/f", "outside/f"] {
        place.write(file, "");
    }
    for (at, (text, absolute)) in LINKS.iter().zip(texts) {
        let text = if *absolute { place.path(text) } else { text.clone() };
        place.link(&text, at);
    }
    place
}

fn inside(real: &Path, place: &Place) -> bool {
    real.starts_with(place.top.join("W"))
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn what_is_scoped_is_what_the_kernel_finds_and_lies_inside(
        texts in vec((path(), any::<bool>()), LINKS.len()),
        named in path(),
    ) {
        let place = lay_out(&texts);
        let kernel = fs::canonicalize(place.top.join("W").join(&named));
        let scoped = place.root().scope(named.trim_start_matches('/'), Intent::Read);
        if let Ok(scoped) = scoped && !named.starts_with('/') {
            let resolved = scoped.resolved();
            prop_assert!(inside(Path::new(&resolved), &place));
            match (scoped.stat(), kernel) {
                (Some(look), Ok(real)) => {
                    prop_assert_eq!(Path::new(&resolved), real.as_path());
                    let same = std::os::unix::fs::MetadataExt::ino(&fs::metadata(&real).unwrap());
                    prop_assert_eq!(look.identity.1, same);
                }
                (Some(_), Err(error)) => prop_assert!(false, "the kernel does not find it: {}", error),
                (None, kernel) => prop_assert!(kernel.is_err(), "the kernel finds {:?}", kernel),
            }
        }
    }

    #[test]
    fn a_command_s_path_is_placed_where_the_kernel_finds_it(
        texts in vec((path(), any::<bool>()), LINKS.len()),
        named in path(),
    ) {
        let place = lay_out(&texts);
        let at = format!("{}/{named}", place.path("W"));
        let facts = place.surveyor().facts(&[action(ActionKind::Read(place.target(&at)))], &place.path("W"));
        let fact = facts.paths.values().next().unwrap();
        match fs::canonicalize(&at) {
            Ok(real) => {
                prop_assert_eq!(Path::new(&fact.resolved), real.as_path());
                prop_assert_eq!(fact.refused, None);
                prop_assert_eq!(matches!(fact.place, Lies::Inside | Lies::Root), inside(&real, &place));
                prop_assert!(!matches!(fact.kind, Fact::Known(Kind::Absent)));
            }
            // A command may make what is missing before it goes up from there.
            Err(_) if at.contains("..") || texts.iter().any(|(text, _)| text.contains("..")) => {}
            Err(_) => prop_assert!(fact.refused.is_some() || fact.kind == Fact::Known(Kind::Absent), "{:?}", fact),
        }
    }
}
