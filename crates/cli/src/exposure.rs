//! What of this machine's secrets an agent could stumble over: names only, never values.

use serde_json::{Value, json};
use tollgate::call::places::CREDENTIALS;
use tollgate::ledger::Scrubber;

use crate::assembly::{held_secrets, variables};
use crate::home::Home;

/// Secret-looking variables of this process, and the stores of credentials in the home directory.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Exposure {
    pub(crate) variables: Vec<String>,
    pub(crate) places: Vec<String>,
    /// Variables whose values are too short to be hidden in what is shown.
    pub(crate) unhidden: Vec<String>,
}

impl Exposure {
    /// Looks for both.
    pub(crate) fn look(home: &Home) -> Self {
        let mut variables: Vec<String> = held_secrets(variables()).into_iter().map(|(name, _)| name).collect();
        variables.sort_unstable();
        variables.dedup();
        let person = std::path::Path::new(&home.person.home);
        let there = |name: &&&str| person.join(name).symlink_metadata().is_ok();
        let places = CREDENTIALS.iter().filter(there).map(|name| format!("~/{name}")).collect();
        Self { variables, places, unhidden: unhidden() }
    }

    /// In sentences, one for each kind that there is.
    pub(crate) fn lines(&self) -> Vec<String> {
        let kinds = [
            ("Variables that look like secrets, kept from commands", &self.variables),
            ("Of these too short to be hidden in results", &self.unhidden),
            ("Stores of credentials, hidden from commands and never read", &self.places),
        ];
        let told = kinds.into_iter().filter(|(_, names)| !names.is_empty());
        told.map(|(what, names)| format!("{what}: {}", names.join(", "))).collect()
    }

    pub(crate) fn json(&self) -> Value {
        json!({ "variables": self.variables, "places": self.places, "unhidden": self.unhidden })
    }
}

/// Variables whose value is too short to be hidden.
fn unhidden() -> Vec<String> {
    let held = held_secrets(variables());
    Scrubber::new(held.iter().map(|(name, value)| (name.as_str(), value.as_str()))).too_short().to_vec()
}
