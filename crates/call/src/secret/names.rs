//! Variables that hold secrets, by their names, and the hosts that a secret of theirs is for.

/// Ends of a word that say what a variable holds: `GITHUB_TOKEN`, `PGPASSWORD`, `authToken`.
const ENDS: &[&str] = &["TOKEN", "SECRET", "PASSWORD", "PASSWD", "PASSPHRASE", "APIKEY", "CREDENTIAL", "CREDENTIALS"];
/// Words that say it alone.
const WORDS: &[&str] = &["PASS", "PAT", "PRIVATE", "TOKENS", "SECRETS", "CREDS"];
/// Words that say it at the end of a name.
const LAST: &[&str] = &["PWD", "AUTH"];
/// What may follow `KEY` in the name of a key.
const AFTER_KEY: &[&str] = &["ID", "BASE", "B64", "BASE64", "JSON", "PEM", "VALUE"];

/// Whether a variable is named as tokens, keys and passwords are.
///
/// ```
/// use tollgate_call::secret::is_secret_name;
/// assert!(is_secret_name("AWS_SECRET_ACCESS_KEY") && is_secret_name("PGPASSWORD"));
/// assert!(!is_secret_name("TOKENIZERS_PARALLELISM") && !is_secret_name("KEYMAP") && !is_secret_name("PWD"));
/// ```
///
/// # Security
/// A name is only a name: a secret in a variable of another name is not known as one.
#[must_use]
pub fn is_secret_name(name: &str) -> bool {
    let name = name.to_ascii_uppercase();
    let words: Vec<&str> = name.split(['_', '-', '.']).filter(|word| !word.is_empty()).collect();
    if words.contains(&"PUBLIC") {
        return false;
    }
    let key = words.iter().rposition(|word| *word == "KEY");
    let is_key = key.is_some_and(|at| words.get(at + 1).is_none_or(|next| AFTER_KEY.contains(next)));
    // The shell's own `PWD` is a directory.
    let at_end = name != "PWD" && words.last().is_some_and(|word| LAST.contains(word));
    is_key || at_end || words.iter().any(|word| ENDS.iter().any(|end| word.ends_with(end)) || WORDS.contains(word))
}

/// Whose secrets they are: the first word of a variable's name, and the domains of who issued it.
const OWNERS: &[(&str, &[&str])] = &[
    ("ANTHROPIC", &["anthropic.com"]),
    ("AWS", &["amazonaws.com", "aws.amazon.com"]),
    ("AZURE", &["azure.com", "windows.net", "microsoftonline.com"]),
    ("BITBUCKET", &["bitbucket.org"]),
    ("CARGO", &["crates.io"]),
    ("CLOUDFLARE", &["cloudflare.com"]),
    ("CF", &["cloudflare.com"]),
    ("COHERE", &["cohere.com", "cohere.ai"]),
    ("DATADOG", &["datadoghq.com", "datadoghq.eu"]),
    ("DD", &["datadoghq.com", "datadoghq.eu"]),
    ("DIGITALOCEAN", &["digitalocean.com"]),
    ("DISCORD", &["discord.com"]),
    ("DOCKER", &["docker.com", "docker.io"]),
    ("DOCKERHUB", &["docker.com", "docker.io"]),
    ("FIGMA", &["figma.com"]),
    ("FLY", &["fly.io"]),
    ("GEMINI", &["googleapis.com"]),
    ("GH", &["github.com", "ghcr.io"]),
    ("GITHUB", &["github.com", "githubusercontent.com", "ghcr.io"]),
    ("GITLAB", &["gitlab.com"]),
    ("GOOGLE", &["googleapis.com", "google.com"]),
    ("GROQ", &["groq.com"]),
    ("HEROKU", &["heroku.com"]),
    ("HF", &["huggingface.co"]),
    ("HUGGINGFACE", &["huggingface.co"]),
    ("JIRA", &["atlassian.net", "atlassian.com"]),
    ("LINEAR", &["linear.app"]),
    ("MISTRAL", &["mistral.ai"]),
    ("NETLIFY", &["netlify.com"]),
    ("NOTION", &["notion.com"]),
    ("NPM", &["npmjs.org", "npmjs.com"]),
    ("OPENAI", &["openai.com"]),
    ("OPENROUTER", &["openrouter.ai"]),
    ("PYPI", &["pypi.org"]),
    ("SENDGRID", &["sendgrid.com"]),
    ("SENTRY", &["sentry.io"]),
    ("SLACK", &["slack.com"]),
    ("STRIPE", &["stripe.com"]),
    ("SUPABASE", &["supabase.co", "supabase.com"]),
    ("TELEGRAM", &["telegram.org"]),
    ("TWILIO", &["twilio.com"]),
    ("VERCEL", &["vercel.com"]),
];

/// Whether `host` belongs to whoever issued the secret of this name: `GITHUB_TOKEN` is for
/// `api.github.com`, and for nobody else that is known.
///
/// ```
/// use tollgate_call::secret::is_owner;
/// assert!(is_owner("GITHUB_TOKEN", "api.github.com"));
/// assert!(!is_owner("GITHUB_TOKEN", "github.com.evil.example") && !is_owner("API_TOKEN", "api.github.com"));
/// ```
#[must_use]
pub fn is_owner(name: &str, host: &str) -> bool {
    let name = name.to_ascii_uppercase();
    let first = name.split('_').next().unwrap_or_default();
    let domains = OWNERS.iter().find(|(owner, _)| *owner == first).map_or(&[][..], |(_, domains)| domains);
    domains.iter().any(|domain| host.strip_suffix(domain).is_some_and(|lead| lead.is_empty() || lead.ends_with('.')))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_secrets_are_told_from_names_that_only_sound_like_them() {
        for name in [
            "AWS_SECRET_ACCESS_KEY",
            "AWS_ACCESS_KEY_ID",
            "GITHUB_TOKEN",
            "GH_PAT",
            "OPENAI_API_KEY",
            "MYSQL_PWD",
            "PGPASSWORD",
            "DB_PASS",
            "SECRET_KEY_BASE",
            "npm_config__authToken",
            "KEY",
            "STRIPE_KEY",
            "NPM_AUTH",
            "APIKEY",
        ] {
            assert!(is_secret_name(name), "{name}");
        }
        for name in [
            "PWD",
            "OLDPWD",
            "PATH",
            "TOKENIZERS_PARALLELISM",
            "XKB_KEYMAP",
            "SSH_ASKPASS",
            "KEYBOARD",
            "NEXT_PUBLIC_API_KEY",
            "SSH_AUTH_SOCK",
            "COMPASS",
            "PATTERN",
            "SECRETARY",
            "MONKEY",
            "AUTHOR",
        ] {
            assert!(!is_secret_name(name), "{name}");
        }
    }

    #[test]
    fn a_secret_is_for_its_issuers_hosts_and_no_look_alikes() {
        for (name, host) in [("GH_TOKEN", "github.com"), ("AWS_SECRET_ACCESS_KEY", "s3.eu-west-1.amazonaws.com")] {
            assert!(is_owner(name, host), "{name} {host}");
        }
        for host in ["evilgithub.com", "github.com.evil.example", "github.example", ""] {
            assert!(!is_owner("GITHUB_TOKEN", host), "{host}");
        }
    }
}
