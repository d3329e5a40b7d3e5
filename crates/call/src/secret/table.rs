//! The forms of tokens, one row each: kind, prefix, what follows.

/// Names a set of characters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Charset {
    /// `0-9 a-f A-F`
    Hex,
    /// `0-9 A-Z`
    Upper,
    /// `0-9 A-Z a-z`
    Alnum,
    /// `0-9 A-Z a-z _`
    Word,
    /// `0-9 A-Z a-z _ -`
    Url64,
    /// `0-9 A-Z a-z _ - .`
    Dotted,
    /// `0-9 A-Z a-z + / = _ - . ~`
    Token68,
    /// What may stand before the `@` of a URL.
    UserInfo,
}

impl Charset {
    pub(super) const COUNT: usize = 8;

    pub(super) const fn holds(self, b: u8) -> bool {
        match self {
            Self::Hex => b.is_ascii_hexdigit(),
            Self::Upper => b.is_ascii_uppercase() || b.is_ascii_digit(),
            Self::Alnum => b.is_ascii_alphanumeric(),
            Self::Word => b.is_ascii_alphanumeric() || b == b'_',
            Self::Url64 => b.is_ascii_alphanumeric() || matches!(b, b'_' | b'-'),
            Self::Dotted => b.is_ascii_alphanumeric() || matches!(b, b'_' | b'-' | b'.'),
            Self::Token68 => b.is_ascii_alphanumeric() || matches!(b, b'+' | b'/' | b'=' | b'_' | b'-' | b'.' | b'~'),
            Self::UserInfo => {
                b.is_ascii_graphic()
                    && !matches!(b, b'/' | b'?' | b'#' | b'@' | b'"' | b'\'' | b'<' | b'>' | b'\\' | b'`')
            }
        }
    }
}

/// Says what follows a prefix.
#[derive(Clone, Copy, Debug)]
pub(super) enum Shape {
    /// A run of characters of this length.
    Run { set: Charset, min: usize, max: usize },
    /// The same for a prefix that is also an ordinary word: not behind a hyphen (`cache-key-…`).
    Alone { set: Charset, min: usize, max: usize },
    /// Separators, then a run of at least this length, which alone is the secret.
    Value { set: Charset, min: usize },
    /// A value right behind, perhaps in quotes, of letters and digits; it alone is the secret.
    Assigned { set: Charset, min: usize },
    /// Parts separated by dots, the prefix included in the first.
    Parts { set: Charset, mins: &'static [usize] },
    /// A private key block.
    Pem,
    /// `user:password@`
    UserInfo,
}

impl Shape {
    pub(super) const fn needs_boundary(self) -> bool {
        match self {
            Self::Run { .. } | Self::Alone { .. } | Self::Value { .. } | Self::Parts { .. } => true,
            Self::Assigned { .. } | Self::Pem | Self::UserInfo => false,
        }
    }

    pub(super) const fn stands_alone(self) -> bool {
        matches!(self, Self::Alone { .. })
    }
}

/// Holds one form.
#[derive(Clone, Copy, Debug)]
pub(super) struct Rule {
    pub(super) kind: &'static str,
    pub(super) prefix: &'static str,
    pub(super) shape: Shape,
}

use Charset::{Alnum, Dotted, Hex, Token68, Upper, Url64, Word};

const fn run(kind: &'static str, prefix: &'static str, set: Charset, min: usize) -> Rule {
    Rule { kind, prefix, shape: Shape::Run { set, min, max: usize::MAX } }
}

const fn exact(kind: &'static str, prefix: &'static str, set: Charset, len: usize) -> Rule {
    Rule { kind, prefix, shape: Shape::Run { set, min: len, max: len } }
}

const fn alone(kind: &'static str, prefix: &'static str, set: Charset, min: usize, max: usize) -> Rule {
    Rule { kind, prefix, shape: Shape::Alone { set, min, max } }
}

const fn value(kind: &'static str, prefix: &'static str, set: Charset, min: usize) -> Rule {
    Rule { kind, prefix, shape: Shape::Value { set, min } }
}

const fn assigned(prefix: &'static str) -> Rule {
    Rule { kind: "assigned-secret", prefix, shape: Shape::Assigned { set: Token68, min: 12 } }
}

const fn parts(kind: &'static str, prefix: &'static str, mins: &'static [usize]) -> Rule {
    Rule { kind, prefix, shape: Shape::Parts { set: Url64, mins } }
}

/// Longer prefixes stand before the shorter ones that they begin with.
pub(super) const RULES: &[Rule] = &[
    // Clouds
    exact("aws-access-key", "AKIA", Upper, 16),
    exact("aws-access-key", "ASIA", Upper, 16),
    exact("aws-access-key", "ABIA", Upper, 16),
    exact("aws-access-key", "ACCA", Upper, 16),
    value("aws-secret-key", "aws_secret_access_key", Token68, 40),
    value("aws-secret-key", "AWS_SECRET_ACCESS_KEY", Token68, 40),
    value("aws-secret-key", "SecretAccessKey", Token68, 40),
    value("aws-session-token", "aws_session_token", Token68, 100),
    value("aws-session-token", "AWS_SESSION_TOKEN", Token68, 100),
    run("google-api-key", "AIza", Url64, 35),
    run("google-oauth-token", "ya29.", Dotted, 20),
    run("google-client-secret", "GOCSPX-", Url64, 24),
    value("azure-storage-key", "AccountKey", Token68, 80),
    run("digitalocean-token", "dop_v1_", Hex, 64),
    run("digitalocean-token", "doo_v1_", Hex, 64),
    run("digitalocean-token", "dor_v1_", Hex, 64),
    run("alibaba-access-key", "LTAI", Alnum, 16),
    run("heroku-token", "HRKU-", Url64, 30),
    run("fly-token", "fo1_", Url64, 40),
    run("fly-token", "fm2_", Token68, 60),
    exact("google-hmac-key", "GOOG1", Alnum, 56),
    run("netlify-token", "nfp_", Alnum, 36),
    run("tailscale-key", "tskey-", Url64, 30),
    run("dynatrace-token", "dt0c01.", Dotted, 80),
    run("databricks-token", "dapi", Hex, 32),
    run("planetscale-token", "pscale_tkn_", Dotted, 32),
    run("planetscale-password", "pscale_pw_", Dotted, 32),
    run("supabase-token", "sbp_", Hex, 40),
    run("supabase-token", "sb_secret_", Url64, 24),
    run("vault-token", "hvs.", Url64, 24),
    run("vault-token", "hvb.", Url64, 24),
    run("pulumi-token", "pul-", Hex, 40),
    run("doppler-token", "dp.pt.", Alnum, 40),
    run("doppler-token", "dp.st.", Dotted, 40),
    // Code and packages
    run("github-token", "github_pat_", Word, 22),
    run("github-token", "ghp_", Word, 36),
    run("github-token", "gho_", Word, 36),
    run("github-token", "ghu_", Word, 36),
    run("github-token", "ghs_", Dotted, 36),
    run("github-token", "ghr_", Word, 36),
    run("gitlab-token", "glpat-", Dotted, 20),
    run("gitlab-token", "gldt-", Dotted, 20),
    run("gitlab-token", "glrt-", Dotted, 20),
    run("gitlab-token", "glcbt-", Dotted, 20),
    run("gitlab-token", "glptt-", Dotted, 20),
    run("gitlab-token", "glft-", Dotted, 20),
    run("gitlab-token", "glsoat-", Dotted, 20),
    run("gitlab-token", "glagent-", Dotted, 20),
    run("bitbucket-token", "ATBB", Alnum, 28),
    run("atlassian-token", "ATATT3", Token68, 60),
    run("npm-token", "npm_", Alnum, 36),
    run("pypi-token", "pypi-AgE", Url64, 50),
    run("rubygems-token", "rubygems_", Hex, 48),
    exact("cargo-token", "cio", Alnum, 32),
    run("docker-token", "dckr_pat_", Url64, 24),
    run("docker-token", "dckr_oat_", Url64, 24),
    run("buildkite-token", "bkua_", Hex, 40),
    run("circleci-token", "CCIPAT_", Word, 40),
    run("sourcegraph-token", "sgp_", Word, 40),
    // Models
    run("anthropic-key", "sk-ant-", Url64, 20),
    run("openrouter-key", "sk-or-v1-", Hex, 40),
    run("openai-key", "sk-proj-", Url64, 20),
    run("openai-key", "sk-svcacct-", Url64, 20),
    run("openai-key", "sk-admin-", Url64, 20),
    alone("openai-key", "sk-", Alnum, 32, usize::MAX),
    run("huggingface-token", "hf_", Alnum, 30),
    run("replicate-token", "r8_", Alnum, 37),
    run("groq-key", "gsk_", Alnum, 40),
    run("xai-key", "xai-", Alnum, 60),
    run("perplexity-key", "pplx-", Alnum, 40),
    run("nvidia-key", "nvapi-", Url64, 60),
    run("langsmith-key", "lsv2_pt_", Word, 40),
    run("pinecone-key", "pcsk_", Word, 60),
    // Messages and money
    run("slack-token", "xoxb-", Url64, 16),
    run("slack-token", "xoxp-", Url64, 16),
    run("slack-token", "xoxa-", Url64, 16),
    run("slack-token", "xoxr-", Url64, 16),
    run("slack-token", "xoxs-", Url64, 16),
    run("slack-token", "xoxe-", Url64, 16),
    run("slack-token", "xoxe.", Dotted, 16),
    run("slack-token", "xapp-", Url64, 16),
    run("slack-webhook", "hooks.slack.com/services/", Token68, 30),
    run("discord-webhook", "discord.com/api/webhooks/", Token68, 40),
    run("stripe-key", "sk_live_", Alnum, 16),
    run("stripe-key", "rk_live_", Alnum, 16),
    run("stripe-key", "sk_test_", Alnum, 16),
    run("stripe-key", "rk_test_", Alnum, 16),
    run("stripe-webhook-secret", "whsec_", Token68, 24),
    run("square-token", "sq0atp-", Url64, 22),
    run("square-token", "sq0csp-", Url64, 40),
    run("shopify-token", "shpat_", Hex, 32),
    run("shopify-token", "shpca_", Hex, 32),
    run("shopify-token", "shppa_", Hex, 32),
    run("shopify-token", "shpss_", Hex, 32),
    run("razorpay-key", "rzp_live_", Alnum, 14),
    run("brevo-key", "xkeysib-", Hex, 64),
    parts("sendgrid-key", "SG.", &[2, 16, 32]),
    alone("mailgun-key", "key-", Hex, 32, 32),
    exact("twilio-key", "SK", Hex, 32),
    // Tools
    run("sentry-token", "sntrys_", Token68, 40),
    run("sentry-token", "sntryu_", Hex, 64),
    run("grafana-token", "glsa_", Word, 32),
    run("grafana-token", "glc_", Token68, 32),
    run("newrelic-key", "NRAK-", Alnum, 27),
    run("linear-key", "lin_api_", Alnum, 40),
    run("notion-token", "ntn_", Alnum, 40),
    run("posthog-key", "phx_", Alnum, 40),
    run("onepassword-token", "ops_eyJ", Token68, 200),
    run("postman-key", "PMAK-", Url64, 50),
    run("figma-token", "figd_", Url64, 40),
    run("age-secret-key", "AGE-SECRET-KEY-1", Upper, 58),
    // General forms
    parts("jwt", "eyJ", &[16, 16, 16]),
    value("authorization", "Bearer", Token68, 20),
    value("authorization", "bearer", Token68, 20),
    value("authorization", "Authorization: Basic", Token68, 12),
    value("authorization", "authorization: basic", Token68, 12),
    assigned("_TOKEN="),
    assigned("_SECRET="),
    assigned("_PASSWORD="),
    assigned("_API_KEY="),
    assigned("_SECRET_KEY="),
    assigned("_PRIVATE_KEY="),
    assigned("_ACCESS_KEY="),
    Rule { kind: "private-key", prefix: "-----BEGIN ", shape: Shape::Pem },
    Rule { kind: "url-password", prefix: "://", shape: Shape::UserInfo },
];

/// Lists the rules whose prefix begins with this byte, in the order of the table; almost every byte of
/// a text begins none.
pub(super) fn beginning_with(byte: u8) -> impl Iterator<Item = &'static Rule> {
    let mut next = INDEX.first.get(usize::from(byte)).copied().flatten();
    std::iter::from_fn(move || {
        let at = usize::from(next?);
        next = INDEX.next.get(at).copied().flatten();
        RULES.get(at)
    })
}

/// Chains the rules that share a first byte.
struct Index {
    first: [Option<u8>; 256],
    next: [Option<u8>; RULES.len()],
}

static INDEX: Index = index();
const _: () = assert!(RULES.len() < 256, "a place in the table fits a byte");

#[expect(clippy::indexing_slicing, reason = "runs at compile time, where an index out of bounds is an error")]
const fn index() -> Index {
    let mut made = Index { first: [None; 256], next: [None; RULES.len()] };
    let mut at = RULES.len();
    while let Some(before) = at.checked_sub(1) {
        at = before;
        let byte = RULES[at].prefix.as_bytes()[0] as usize;
        made.next[at] = made.first[byte];
        made.first[byte] = Some(at as u8);
    }
    made
}
