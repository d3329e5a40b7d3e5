//! What of this machine's secrets an agent could stumble over: names only, never values.

use serde_json::{Value, json};
use tollgate::call::places::CREDENTIALS;

use crate::assembly::is_secret_name;
use crate::home::Home;

/// Secret-looking variables of this process, and the stores of credentials in the home directory.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Exposure {
    pub(crate) variables: Vec<String>,
    pub(crate) places: Vec<String>,
}

impl Exposure {
    /// Looks for both.
    pub(crate) fn look(home: &Home) -> Self {
        let names = std::env::vars_os().map(|(name, _)| name.to_string_lossy().into_owned());
        let mut variables: Vec<String> = names.filter(|name| is_secret_name(name)).collect();
        variables.sort_unstable();
        let person = std::path::Path::new(&home.person.home);
        let there = |name: &&&str| person.join(name).symlink_metadata().is_ok();
        let places = CREDENTIALS.iter().filter(there).map(|name| format!("~/{name}")).collect();
        Self { variables, places }
    }

    /// In sentences, one for each kind that there is.
    pub(crate) fn lines(&self) -> Vec<String> {
        let kinds = [
            ("Variables that look like secrets, kept from commands", &self.variables),
            ("Stores of credentials, hidden from commands and never read", &self.places),
        ];
        let told = kinds.into_iter().filter(|(_, names)| !names.is_empty());
        told.map(|(what, names)| format!("{what}: {}", names.join(", "))).collect()
    }

    pub(crate) fn json(&self) -> Value {
        json!({ "variables": self.variables, "places": self.places })
    }
}
