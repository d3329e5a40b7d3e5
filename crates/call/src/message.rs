//! Messages: their bounds, and recipients in the one form in which they are judged, shown and addressed.

use crate::address::{HostClass, judge_host};

/// Most bytes of a subject: a line of a message (RFC 5322, section 2.1.1).
pub const MAX_SUBJECT: usize = 998;
/// Most bytes of a text.
pub const MAX_BODY: usize = 65_536;

/// Longest mail address (RFC 5321, section 4.5.3.1).
const MAX_ADDRESS: usize = 254;
/// Longest part before the `@`.
const MAX_LOCAL: usize = 64;

/// Who a message is for.
///
/// ```
/// use tollgate_call::message::Recipient;
/// assert_eq!(Recipient::parse("Ada@Example.ORG")?.to_string(), "Ada@example.org");
/// assert!(Recipient::parse("ada@example.org, eve@evil.example").is_err());
/// # Ok::<(), tollgate_call::message::RecipientError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Recipient {
    /// One mail address; the domain in normal form.
    Mail {
        /// What stands before the `@`, as written.
        local: String,
        /// The domain: lower case, ASCII, no trailing dot.
        domain: String,
    },
    /// A name that only a webhook knows, such as `#builds`.
    Channel(String),
}

/// Why a text is not one recipient.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum RecipientError {
    /// Letters that look like others, or turn the reading order.
    #[error("it holds letters beyond ASCII, which can look like others{}", in_ascii(.0.as_deref()))]
    Letters(Option<String>),
    /// Blanks, commas, quotes, angle brackets: more than one address, or more than an address.
    #[error("it is not one bare address: `{0}` has no place in it; write `user@host.example`")]
    Form(char),
    /// `%` and `!` before the `@` made old servers pass a message on.
    #[error("it names a way to pass the message on; write the address of the recipient itself")]
    Route,
    /// No name of a host after the `@`.
    #[error("`{0}` after the `@` is not a domain")]
    Domain(String),
    /// Empty, too long, or with dots where none may be.
    #[error("the part before the `@` is empty, too long or has a dot out of place")]
    Local,
}

fn in_ascii(domain: Option<&str>) -> String {
    domain.map_or_else(String::new, |domain| format!("; its domain is written `{domain}`"))
}

impl Recipient {
    /// Reads one recipient.
    ///
    /// # Errors
    /// [`RecipientError`] for lists, display names, quoted parts, routes, address literals, and letters beyond
    /// ASCII: who approves a message must see the address that it goes to.
    pub fn parse(text: &str) -> Result<Self, RecipientError> {
        let Some((local, domain)) = text.rsplit_once('@') else { return channel(text) };
        if !text.is_ascii() {
            return Err(RecipientError::Letters(self::domain(domain).ok().filter(|_| local.is_ascii())));
        }
        if local.contains(['%', '!']) {
            return Err(RecipientError::Route);
        }
        if let Some(odd) = local.chars().find(|c| !is_atom(*c) && *c != '.') {
            return Err(RecipientError::Form(odd));
        }
        let dots = local.split('.').any(str::is_empty);
        if dots || local.len() > MAX_LOCAL || text.len() > MAX_ADDRESS {
            return Err(RecipientError::Local);
        }
        Ok(Self::Mail { local: local.to_owned(), domain: self::domain(domain)? })
    }
}

impl std::fmt::Display for Recipient {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Mail { local, domain } => write!(f, "{local}@{domain}"),
            Self::Channel(name) => f.write_str(name),
        }
    }
}

/// An entry of the operator's list: a recipient, or `@domain` for everybody there.
///
/// ```
/// use tollgate_call::message::{Recipient, RecipientPattern};
/// let team = RecipientPattern::parse("@example.org")?;
/// assert!(team.covers(&Recipient::parse("ada@EXAMPLE.org")?));
/// assert!(!team.covers(&Recipient::parse("ada@mail.example.org")?));
/// # Ok::<(), tollgate_call::message::RecipientError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum RecipientPattern {
    /// Exactly this one. `ada+x@…` is another address than `ada@…`.
    One(Recipient),
    /// Every address of exactly this domain.
    Domain(String),
}

impl RecipientPattern {
    /// Reads an entry. The operator may write the domain in any letters.
    ///
    /// # Errors
    /// [`RecipientError`] when it names nobody that a message could be for.
    pub fn parse(text: &str) -> Result<Self, RecipientError> {
        match text.rsplit_once('@') {
            Some(("", domain)) => Ok(Self::Domain(self::domain(domain)?)),
            Some((local, domain)) => Recipient::parse(&format!("{local}@{}", self::domain(domain)?)).map(Self::One),
            None => Recipient::parse(text).map(Self::One),
        }
    }

    /// Whether a message to `recipient` is meant. Upper and lower case before the `@` are one.
    pub fn covers(&self, recipient: &Recipient) -> bool {
        match (self, recipient) {
            (Self::Domain(own), Recipient::Mail { domain, .. }) => own == domain,
            (Self::One(Recipient::Mail { local: own, domain: place }), Recipient::Mail { local, domain }) => {
                own.eq_ignore_ascii_case(local) && place == domain
            }
            (Self::One(Recipient::Channel(own)), Recipient::Channel(name)) => own == name,
            (Self::Domain(_), Recipient::Channel(_)) | (Self::One(_), _) => false,
        }
    }

    /// Whether everybody that `other` means is meant by this entry too.
    pub fn includes(&self, other: &Self) -> bool {
        match other {
            Self::One(recipient) => self.covers(recipient),
            Self::Domain(domain) => matches!(self, Self::Domain(own) if own == domain),
        }
    }
}

/// Whether a character turns the order in which a line is read, so that it shows another line than it is.
pub const fn turns_reading(c: char) -> bool {
    matches!(c, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{2028}' | '\u{2029}')
}

fn channel(text: &str) -> Result<Recipient, RecipientError> {
    if !text.is_ascii() {
        return Err(RecipientError::Letters(None));
    }
    match text.chars().find(|c| !c.is_ascii_alphanumeric() && !matches!(c, '#' | '-' | '_' | '.' | '/' | ':')) {
        Some(odd) => Err(RecipientError::Form(odd)),
        None if text.is_empty() || text.len() > MAX_ADDRESS => Err(RecipientError::Local),
        None => Ok(Recipient::Channel(text.to_owned())),
    }
}

fn domain(text: &str) -> Result<String, RecipientError> {
    match judge_host(text) {
        HostClass::Name(name) | HostClass::Local(name) | HostClass::Loopback(name) => Ok(name),
        HostClass::Metadata(_) | HostClass::Address(..) | HostClass::Refused(_) => {
            Err(RecipientError::Domain(text.escape_debug().take(120).collect()))
        }
    }
}

/// Characters of a bare local part (RFC 5322, section 3.2.3), without `*`, by which people mean everybody.
const fn is_atom(c: char) -> bool {
    c.is_ascii_alphanumeric()
        || matches!(c, '#' | '$' | '&' | '\'' | '+' | '-' | '/' | '=' | '?' | '^' | '_' | '`' | '{' | '|' | '}' | '~')
}

#[cfg(test)]
mod tests {
    use super::*;

    fn one(text: &str) -> Recipient {
        Recipient::parse(text).unwrap()
    }

    fn listed(entry: &str, recipient: &str) -> bool {
        RecipientPattern::parse(entry).unwrap().covers(&one(recipient))
    }

    #[test]
    fn one_bare_address_or_channel_is_a_recipient_and_nothing_else() {
        for good in ["ada@example.org", "a.b+tag@mail.example.org", "o'neil@example.org", "root@localhost", "#ops"] {
            assert!(Recipient::parse(good).is_ok(), "{good}");
        }
        for bad in [
            "",
            "@example.org",
            "ada@",
            "ada@example.org,eve@evil.example",
            "ada@example.org eve@evil.example",
            "Ada <ada@example.org>",
            "\"ada x\"@example.org",
            "ada@example.org\r\nBcc: eve@evil.example",
            "eve%evil.example@example.org",
            "evil!eve@example.org",
            ".ada@example.org",
            "a..b@example.org",
            "ada@[192.0.2.1]",
            "ada@192.0.2.1",
            "ada@exa mple.org",
            "ada@example.org@evil.example",
            "ada@-example.org",
            "two words",
        ] {
            assert!(Recipient::parse(bad).is_err(), "{bad:?}");
        }
        assert!(Recipient::parse(&format!("{}@example.org", "a".repeat(65))).is_err());
    }

    #[test]
    fn letters_that_look_like_others_are_refused_and_the_true_domain_is_told() {
        let cyrillic = Recipient::parse("ada@ex\u{430}mple.org").unwrap_err();
        assert!(cyrillic.to_string().ends_with("its domain is written `xn--exmple-4nf.org`"), "{cyrillic}");
        for bad in ["\u{430}da@example.org", "ada@example.org\u{202e}", "#\u{43e}ps", "ada\u{200b}@example.org"] {
            assert!(matches!(Recipient::parse(bad), Err(RecipientError::Letters(_))), "{bad:?}");
        }
        assert!(!listed("@example.org", "ada@xn--exmple-4nf.org"));
    }

    #[test]
    fn lists_compare_the_normal_form() {
        assert!(listed("ada@example.org", "ADA@Example.ORG."));
        assert!(listed("@B\u{fc}cher.example", "a@xn--bcher-kva.example"));
        assert!(listed("a@b\u{fc}cher.example", "a@xn--bcher-kva.example"));
        assert!(listed("#ops", "#ops"));
        assert!(!listed("#ops", "#OPS"));
        for other in ["ada+x@example.org", "a.da@example.org", "ada@example.org.evil.example", "ada@sub.example.org"] {
            assert!(!listed("ada@example.org", other), "{other}");
        }
        assert!(listed("@example.org", "ada+x@example.org"));
        assert!(!listed("@example.org", "ada@notexample.org"));
    }

    #[test]
    fn a_domain_includes_its_people_and_not_the_other_way_round() {
        let entry = |text| RecipientPattern::parse(text).unwrap();
        assert!(entry("@example.org").includes(&entry("ada@example.org")));
        assert!(entry("@example.org").includes(&entry("@EXAMPLE.org")));
        assert!(!entry("ada@example.org").includes(&entry("@example.org")));
        assert!(RecipientPattern::parse("@").is_err() && RecipientPattern::parse("*@example.org,x").is_err());
    }
}
