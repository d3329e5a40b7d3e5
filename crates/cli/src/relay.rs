//! The operator's relay with its secret, which is read when a run begins and shown nowhere.

use std::os::unix::fs::MetadataExt as _;
use std::path::Path;

use secrecy::{ExposeSecret as _, SecretString};
use tollgate::act::relay::{Relay, RelayTls, Smtp, Webhook};
use tollgate::policy::relay as configured;

use crate::home::read_small;

/// The relay as the hands use it. One whose secret or certificates cannot be read says so when a message is
/// to be sent: work that sends none goes on.
pub(crate) fn open(relay: &configured::Relay) -> Relay {
    let opened = match relay {
        configured::Relay::Smtp(smtp) => open_smtp(smtp).map(Relay::Smtp),
        configured::Relay::Webhook(webhook) => open_webhook(webhook).map(Relay::Webhook),
    };
    opened.unwrap_or_else(Relay::Unusable)
}

/// The values that must never be seen: the secret, and what follows a word such as `Bearer` in it.
pub(crate) fn secrets(relay: &configured::Relay) -> Vec<(String, String)> {
    let Some(Ok(value)) = relay.secret().map(read) else { return Vec::new() };
    let whole = value.expose_secret();
    let last = whole.rsplit(' ').next().filter(|last| *last != whole);
    std::iter::once(whole).chain(last).map(|value| ("relay".to_owned(), value.to_owned())).collect()
}

fn open_smtp(smtp: &configured::Smtp) -> Result<Smtp, String> {
    let login = smtp.login.as_ref().map(|login| Ok::<_, String>((login.user.clone(), read(&login.secret)?)));
    Ok(Smtp {
        host: smtp.host.clone(),
        port: smtp.port,
        from: smtp.from.clone(),
        tls: match smtp.tls {
            configured::RelayTls::Starttls => RelayTls::StartTls,
            configured::RelayTls::Tls => RelayTls::Wrapped,
            configured::RelayTls::None => RelayTls::None,
        },
        login: login.transpose()?,
        trust: trust(smtp.ca_file.as_deref())?,
    })
}

fn open_webhook(webhook: &configured::Webhook) -> Result<Webhook, String> {
    let header = webhook.header.as_ref().map(|header| Ok::<_, String>((header.name.clone(), read(&header.secret)?)));
    Ok(Webhook { url: webhook.url.clone(), header: header.transpose()?, trust: trust(webhook.ca_file.as_deref())? })
}

fn trust(file: Option<&str>) -> Result<Option<String>, String> {
    file.map(text).transpose()
}

fn read(place: &configured::SecretPlace) -> Result<SecretString, String> {
    let value = match place {
        configured::SecretPlace::Env(name) => {
            std::env::var(name).map_err(|_| format!("the variable `{name}` with its secret is not set"))?
        }
        configured::SecretPlace::File(file) => {
            let mode = std::fs::metadata(file).map_err(|error| format!("`{file}` cannot be read: {error}"))?.mode();
            if mode & 0o077 != 0 {
                return Err(format!("`{file}` holds a secret that others can read; run `chmod 600` on it"));
            }
            text(file)?
        }
    };
    let value = value.trim_end_matches(['\r', '\n']);
    if value.is_empty() { Err("its secret is empty".to_owned()) } else { Ok(SecretString::from(value)) }
}

fn text(file: &str) -> Result<String, String> {
    let text = read_small(Path::new(file)).map_err(|error| format!("`{file}` cannot be read: {error}"))?;
    text.ok_or_else(|| format!("`{file}` is not there"))
}
