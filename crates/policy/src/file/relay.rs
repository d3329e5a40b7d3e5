//! From the keys of `[relay]` to a relay that can work.

use tollgate_call::address::{HostClass, WebAddress, judge_host};
use tollgate_call::message::Recipient;

use super::raw::{RawRelay, RawRelayKind};
use crate::relay::{Header, Login, Relay, RelayTls, SecretPlace, Smtp, Webhook};

/// What is wrong with a relay, and what to write instead.
pub(super) type Wrong = (String, &'static str);

const SMTP: &str = "an smtp relay has host, port, from, and perhaps tls, user, secret_file or secret_env, ca_file";
const WEBHOOK: &str = "a webhook has url, and perhaps header, secret_file or secret_env, ca_file";

impl RawRelay {
    /// The relay that is meant; `directory` makes names beneath `~/` absolute.
    pub(super) fn relay(&self, directory: impl Fn(&str) -> String) -> Result<Relay, Wrong> {
        let file = |file: &Option<String>| file.as_deref().map(|file| absolute(file, &directory)).transpose();
        let (secret, ca_file) = (self.secret(&directory)?, file(&self.ca_file)?);
        match self.kind {
            RawRelayKind::Smtp => self.smtp(secret, ca_file).map(Relay::Smtp),
            RawRelayKind::Webhook => self.webhook(secret, ca_file).map(Relay::Webhook),
        }
    }

    fn smtp(&self, secret: Option<SecretPlace>, ca_file: Option<String>) -> Result<Smtp, Wrong> {
        absent("an smtp relay", [("url", self.url.is_some()), ("header", self.header.is_some())], SMTP)?;
        let host = needed("host", self.host.as_ref(), SMTP)?;
        let port = needed("port", self.port.as_ref().filter(|port| **port > 0), SMTP)?;
        let from = needed("from", self.from.as_ref(), SMTP)?;
        if !matches!(Recipient::parse(&from), Ok(Recipient::Mail { .. })) {
            return Err((format!("`{from}` is not a mail address"), "write `from` as user@host.example"));
        }
        let class = judge_host(&host);
        let tls = self.tls.unwrap_or_default();
        match class {
            HostClass::Refused(error) => return Err((error.to_string(), "write the host as a name or address")),
            _ if tls == RelayTls::None && !is_here(&class) => {
                let wrong = format!("`{host}` is not this machine, and `tls = \"none\"` sends in the clear");
                return Err((wrong, "use starttls or tls"));
            }
            HostClass::Name(_)
            | HostClass::Loopback(_)
            | HostClass::Local(_)
            | HostClass::Metadata(_)
            | HostClass::Address(..) => {}
        }
        let login = match (&self.user, secret) {
            (Some(user), Some(secret)) => Some(Login { user: user.clone(), secret }),
            (None, None) => None,
            (Some(_), None) => return Err(("`user` logs in without a password".to_owned(), "add secret_file")),
            (None, Some(_)) => return Err(("a password is nobody's".to_owned(), "add `user`")),
        };
        Ok(Smtp { host, port, from, tls, login, ca_file })
    }

    fn webhook(&self, secret: Option<SecretPlace>, ca_file: Option<String>) -> Result<Webhook, Wrong> {
        let others = [
            ("host", self.host.is_some()),
            ("port", self.port.is_some()),
            ("from", self.from.is_some()),
            ("tls", self.tls.is_some()),
            ("user", self.user.is_some()),
        ];
        absent("a webhook", others, WEBHOOK)?;
        let url = needed("url", self.url.as_ref(), WEBHOOK)?;
        let address = WebAddress::parse(&url).map_err(|error| (error.to_string(), "write https://host/path"))?;
        if !url.starts_with("https:") && !is_here(&address.host) {
            return Err((format!("`{url}` would send in the clear"), "use https, or http on loopback"));
        }
        let header = match (&self.header, secret) {
            (Some(name), Some(secret)) if is_header(name) => Some(Header { name: name.clone(), secret }),
            (None, None) => None,
            (Some(name), Some(_)) => {
                return Err((format!("`{name}` is not the name of a header"), "write such as `Authorization`"));
            }
            (Some(_), None) => return Err(("`header` has no value".to_owned(), "add secret_file or secret_env")),
            (None, Some(_)) => return Err(("a secret is sent in no header".to_owned(), "add `header`")),
        };
        Ok(Webhook { url, header, ca_file })
    }

    fn secret(&self, directory: impl Fn(&str) -> String) -> Result<Option<SecretPlace>, Wrong> {
        match (&self.secret_file, &self.secret_env) {
            (None, None) => Ok(None),
            (Some(file), None) => Ok(Some(SecretPlace::File(absolute(file, directory)?))),
            (None, Some(name)) if is_variable(name) => Ok(Some(SecretPlace::Env(name.clone()))),
            (None, Some(name)) => Err((format!("`{name}` is not the name of a variable"), "write such as MAIL_TOKEN")),
            (Some(_), Some(_)) => Err(("the secret is in two places".to_owned(), "keep secret_file or secret_env")),
        }
    }
}

fn needed<T: Clone>(key: &str, value: Option<&T>, help: &'static str) -> Result<T, Wrong> {
    value.cloned().ok_or_else(|| (format!("the relay has no `{key}`"), help))
}

fn absent<const N: usize>(what: &str, keys: [(&str, bool); N], help: &'static str) -> Result<(), Wrong> {
    match keys.iter().find(|(_, given)| *given) {
        Some((key, _)) => Err((format!("{what} has no `{key}`"), help)),
        None => Ok(()),
    }
}

fn absolute(file: &str, directory: impl Fn(&str) -> String) -> Result<String, Wrong> {
    let from = file.starts_with('/') || file.starts_with("~/");
    if !from || file.split('/').any(|part| part == "..") || file.ends_with('/') {
        return Err((format!("`{file}` is not a file that can be named from anywhere"), "write it from `/` or `~/`"));
    }
    Ok(directory(file))
}

/// This machine, by number or by the one name that is never looked up elsewhere.
fn is_here(class: &HostClass) -> bool {
    use tollgate_call::address::AddressClass::Loopback;
    matches!(class, HostClass::Address(_, Loopback)) || *class == HostClass::Loopback("localhost".to_owned())
}

fn is_variable(name: &str) -> bool {
    !name.starts_with(|c: char| c.is_ascii_digit())
        && !name.is_empty()
        && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
}

/// A token (RFC 9110, section 5.6.2), and none that the request itself needs.
fn is_header(name: &str) -> bool {
    let taken = ["host", "content-type", "content-length", "transfer-encoding", "connection"];
    !name.is_empty()
        && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_'))
        && !taken.iter().any(|own| own.eq_ignore_ascii_case(name))
}
