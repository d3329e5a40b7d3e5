//! Code hosts: gh, glab and kin.

use super::row::{ALL, Row, Rule, Say, Sub, quiet, sub, subs};
use super::run::Use;
use crate::action::{ActionKind, AgentRights, Control, DestroyClass, Flow, Peer, WriteHow};

const READS: &[Rule] = &[Rule::Always(Say::Service("code host", Flow::Fetch))];
const POSTS: &[Rule] = &[Rule::Code(posts)];
const DESTROYS: &[Rule] = &[
    Rule::Always(Say::Destroy(DestroyClass::RemoteRef, "something on the code host")),
    Rule::Always(Say::Service("code host", Flow::Send)),
];
const SECRETS: &[Rule] = &[
    Rule::Always(Say::Privilege("secrets and access on the code host")),
    Rule::Always(Say::Service("code host", Flow::Send)),
    Rule::ReadFlag("-f --env-file"),
];
const RUNS: &[Rule] =
    &[Rule::Always(Say::Deploy("a workflow on the code host")), Rule::Always(Say::Service("code host", Flow::Send))];

const VALUES: &str = "-R --repo -t --title -b --body -F --body-file -l --label -a --assignee -r --reviewer -B --base -H --head -m --milestone -p --project -L --limit -s --state -S --search -q --jq -T --template --json -A --author -f --field -n --notes --notes-file --target -g --group -d --description -c --comment -w --workflow -u --user -e --env -o --org -v --visibility -N --name";

pub(super) const ROWS: &[Row] = &[
    subs(
        &["gh"],
        "-R --repo --hostname",
        &[
            quiet(
                ",version,help,completion,--version,alias list,config get,config list,extension list,auth status,browse",
            ),
            sub(
                "pr list,pr view,pr status,pr diff,pr checks,issue list,issue view,issue status,repo view,repo list,release list,release view,run list,run view,run watch,workflow list,workflow view,gist list,gist view,label list,search,status,ruleset,cache list,secret list,variable list,variable get,org list,project list,project view,codespace list,attestation verify,repo license,repo gitignore,ssh-key list,gpg-key list,auth token-check,search repos,search issues,search prs,search code,search commits",
                VALUES,
                READS,
            ),
            sub(
                "pr checkout,repo clone,gist clone,run download,release download,repo sync,pr update-branch-local",
                "-D --dir -n --name -p --pattern -O --output -b --branch",
                &[
                    Rule::Always(Say::Project),
                    Rule::Always(Say::Service("code host", Flow::Fetch)),
                    Rule::WriteFlag("-D --dir -O --output"),
                ],
            ),
            sub(
                "pr create,pr comment,pr edit,pr review,pr ready,pr reopen,pr close,pr lock,pr unlock,pr update-branch,issue create,issue comment,issue edit,issue close,issue reopen,issue lock,issue unlock,issue pin,issue unpin,issue transfer,issue develop,gist create,gist edit,gist rename,label create,label edit,label clone,discussion create,project create,project edit,project item-add,project item-edit,project close,project copy,repo create,repo fork,repo set-default,repo edit,repo rename,repo unarchive",
                VALUES,
                POSTS,
            ),
            sub(
                "pr merge",
                VALUES,
                &[
                    Rule::Always(Say::Deploy("a merge on the code host")),
                    Rule::Always(Say::Service("code host", Flow::Send)),
                ],
            ),
            sub(
                "release create,release edit,release upload",
                VALUES,
                &[Rule::Always(Say::Package("a release on the code host")), Rule::Code(release)],
            ),
            sub(
                "run rerun,run cancel,workflow run,workflow enable,workflow disable,codespace create,codespace ssh,codespace cp",
                VALUES,
                RUNS,
            ),
            sub(
                "repo delete,repo archive,release delete,release delete-asset,issue delete,run delete,cache delete,gist delete,label delete,project delete,codespace delete,repo deploy-key delete,ruleset delete",
                VALUES,
                DESTROYS,
            ),
            sub(
                "secret set,secret delete,secret remove,variable set,variable delete,auth login,auth logout,auth refresh,auth setup-git,auth token,auth switch,ssh-key add,ssh-key delete,gpg-key add,gpg-key delete,repo deploy-key add,repo deploy-key",
                VALUES,
                SECRETS,
            ),
            sub(
                "extension install,extension upgrade,extension create,extension remove,extension exec,alias set,alias import,alias delete,config set",
                "",
                &[Rule::Always(Say::Configuration("gh extensions and aliases"))],
            ),
            sub(
                "api",
                "-X --method -f --raw-field -F --field --input -H --header -q --jq -t --template --hostname -p --preview --cache",
                &[Rule::Code(api)],
            ),
        ],
        "gh pr list",
        "gh repo delete x --yes",
    ),
    subs(
        &["glab", "hub", "tea", "lab", "bb", "fj"],
        "-R --repo -C",
        &[
            quiet(",version,help,completion,--version,config get,auth status,browse,ci-status"),
            sub(
                "mr list,mr view,mr diff,mr approvers,issue list,issue view,repo view,repo list,repo search,release list,release view,ci list,ci view,ci status,ci trace,ci get,pipeline list,pipeline status,pipeline view,pipeline ci view,pipelines list,label list,snippet list,variable list,variable get,user events,pr list,pr show,issue,pr,mr,compare,ci",
                VALUES,
                READS,
            ),
            sub(
                "mr checkout,repo clone,pr checkout,clone,fetch,sync,co,checkout,am,apply,release download",
                "",
                &[Rule::Always(Say::Project), Rule::Always(Say::Service("code host", Flow::Fetch))],
            ),
            sub(
                "mr create,mr note,mr update,mr approve,mr close,mr reopen,mr rebase,mr revoke,mr subscribe,mr todo,issue create,issue note,issue update,issue close,issue reopen,snippet create,label create,repo create,repo fork,pull-request,issue comment,gist create,fork,create,pr create",
                VALUES,
                POSTS,
            ),
            sub(
                "mr merge,ci run,ci retry,pipeline run,ci trigger,ci cancel,schedule create,schedule run,pr merge",
                VALUES,
                RUNS,
            ),
            sub(
                "release create,release upload,release edit",
                VALUES,
                &[Rule::Always(Say::Package("a release on the code host"))],
            ),
            sub(
                "repo delete,mr delete,issue delete,release delete,label delete,ci delete,pipeline delete,variable delete,delete,repo archive",
                VALUES,
                DESTROYS,
            ),
            sub(
                "variable set,auth login,auth logout,ssh-key add,token create,token revoke,config set,alias set,variable update,variable export,deploy-key add,securefile create",
                VALUES,
                SECRETS,
            ),
            sub("api", "-X --method -f --raw-field -F --field --input -H --header -d --data", &[Rule::Code(api)]),
            sub("push", "", super::git::PUSH),
            sub("status,log,diff,commit,add,branch,show,remote,stash", "", &[Rule::Always(Say::Project)]),
        ],
        "glab mr list",
        "glab mr merge 1",
    ),
    subs(
        &[
            "claude",
            "codex",
            "gemini",
            "cursor-agent",
            "aider",
            "opencode",
            "amp",
            "goose",
            "qwen",
            "crush",
            "copilot",
            "droid",
            "q",
            "kiro-cli",
            "cline",
            "auggie",
            "openhands",
            "continue",
            "cn",
            "plandex",
            "llm",
            "aichat",
            "sgpt",
            "ollama",
            "mods",
            "fabric",
        ],
        "",
        AGENTS,
        "claude --version",
        "claude --dangerously-skip-permissions -p x",
    ),
    subs(
        &["tollgate"],
        "--state-dir --config",
        &[
            quiet(
                "check,explain,log,log verify,log query,log show,log export,doctor,watch,policy show,policy check,policy test,--version,version,help,demo,redteam,deny,halt",
            ),
            sub("exec", "", &[Rule::Code(tollgate_exec)]),
            sub("*", "", &[Rule::Always(Say::Guard("tollgate"))]),
            sub("", "", &[]),
        ],
        "tollgate log verify",
        "tollgate approve x",
    ),
    subs(
        &["code", "cursor", "windsurf", "codium", "code-insiders", "idea", "zed", "code-server", "devcontainer"],
        "--user-data-dir --extensions-dir --install-extension --uninstall-extension -g --goto -d --diff -a --add --locale --profile",
        &[
            quiet(",--version,version,help,--list-extensions,--status"),
            sub(
                "tunnel,serve-web,serve",
                "",
                &[
                    Rule::Always(Say::Listen(crate::action::ListenScope::Wide, "an editor tunnel")),
                    Rule::Always(Say::Persist("an editor tunnel")),
                ],
            ),
            sub(
                "*",
                "--user-data-dir --extensions-dir --install-extension --uninstall-extension -g --goto",
                &[Rule::Code(editor)],
            ),
        ],
        "code .",
        "code tunnel",
    ),
];

const AGENTS: &[Sub] = &[
    quiet("--version,version,help,doctor,--help"),
    sub(
        "mcp,plugin,plugins,config,settings,install,update,upgrade,setup-token,login,logout,extensions,hooks,skills,agents,permissions,auth",
        "",
        &[Rule::Code(|it| {
            if !matches!(it.literal(0), Some("list" | "get" | "show" | "ls" | "status")) {
                it.say(Say::Configuration("a child agent's settings"))
            }
        })],
    ),
    sub("list,ls,ps,show,models,logs,ollama-list,history,status,info,mcp list,mcp get,stats", "", &[]),
    sub(
        "serve,web,server,remote-control",
        "--port --hostname",
        &[Rule::Always(Say::Listen(crate::action::ListenScope::Loopback, "an agent's server"))],
    ),
    sub("", "", &[Rule::Code(agent)]),
    sub("*", "", &[Rule::Code(agent)]),
];

/// Flags that take a child agent's own guard away.
const RAISES: &[&str] = &[
    "--dangerously-skip-permissions",
    "--allow-dangerously-skip-permissions",
    "--dangerously-bypass-approvals-and-sandbox",
    "--full-auto",
    "--yolo",
    "-y",
    "--yes-always",
    "--yes",
    "--force",
    "-f",
    "--trust",
    "--trust-all-tools",
    "--allow-all-tools",
    "--allow-all-paths",
    "--allow-all",
    "--no-sandbox",
    "--auto-approve",
    "--auto-accept",
    "--skip-permissions-unsafe",
    "--dangerously-allow-all",
    "--autonomous",
];

/// A child agent: no more rights than its parent, unless a flag says so.
fn agent(it: &mut Use<'_, '_, '_>) {
    let words = it.simple.words.clone();
    let flagged = words.iter().skip(1).any(|word| {
        let name = word.lead().split('=').next().unwrap_or("");
        RAISES.contains(&name)
    });
    let pairs = words.windows(2).any(|pair| match pair {
        [flag, value] => raises(it.name, flag.lead(), value.literal()),
        _ => false,
    });
    let joined = words.iter().any(|word| {
        let pair = word.lead().split_once('=');
        pair.is_some_and(|(flag, mode)| raises(it.name, flag, word.literal().map(|_| mode)))
    });
    let raised = flagged || pairs || joined;
    let rights = if raised { AgentRights::Raised } else { AgentRights::Inherited };
    it.act(ActionKind::Control(Control::Agent(rights)));
    it.connect(Peer::Service(it.name.to_owned()), Flow::Session);
}

/// Whether a flag with this value gives a child agent more than its default; a value that is not
/// known does.
fn raises(name: &str, flag: &str, value: Option<&str>) -> bool {
    match flag {
        "--permission-mode" => !matches!(value, Some("default" | "plan")),
        "--approval-mode" | "--ask-for-approval" => {
            !matches!(value, Some("default" | "untrusted" | "on-request" | "plan"))
        }
        "-a" => name == "codex" && !matches!(value, Some("untrusted" | "on-request")),
        "--sandbox" => !matches!(value, Some("read-only" | "workspace-write" | "true" | "docker")),
        "-s" => name == "codex" && !matches!(value, Some("read-only" | "workspace-write")),
        "-c" | "--config" => name == "codex",
        "--settings" | "--mcp-config" | "--allowedTools" | "--allowed-tools" | "--permission-prompt-tool" => true,
        _ => false,
    }
}

fn posts(it: &mut Use<'_, '_, '_>) {
    it.each_value("-F --body-file", |it, word| it.read(word));
    let files = it.sub.starts_with("gist create") || it.sub.starts_with("snippet");
    if files {
        it.each(ALL, |it, word| it.read(word));
    }
    if it.sub == "repo edit" || it.sub == "repo rename" {
        it.say(Say::Privilege("settings of a repository"));
    }
    // A text for others is a post; files, or a whole repository, are an upload.
    if files || it.sub == "repo create" {
        it.say(Say::Upload("files on the code host"));
    } else {
        it.say(Say::Post("text on the code host"));
    }
    it.connect(Peer::Service("code host".to_owned()), Flow::Send);
}

fn release(it: &mut Use<'_, '_, '_>) {
    it.each_value("--notes-file -F", |it, word| it.read(word));
    it.each(super::row::Pick::From(1), |it, word| it.read(word));
}

/// `gh api`: GET unless a method or a field is given.
fn api(it: &mut Use<'_, '_, '_>) {
    let method = it.value("-X --method");
    let fields = it.has("-f --raw-field -F --field --input -d --data");
    let reads = match method.as_ref().map(|word| word.literal().map(str::to_ascii_uppercase)) {
        Some(Some(method)) => method == "GET" || method == "HEAD",
        Some(None) => false,
        None => !fields,
    };
    let query = it.operand(0).is_some_and(|word| word.literal() == Some("graphql"))
        && it
            .values("-f --raw-field -F --field")
            .iter()
            .all(|field| !field.shown().contains("mutation") && field.why().is_none());
    it.each_value("--input", |it, word| it.read(word));
    for field in it.values("-F --field") {
        if let Some(at) = field.lead().find("=@") {
            it.read(&field.without_lead(at + 2));
        }
    }
    if reads || query && method.is_none() {
        return it.connect(Peer::Service("code host".to_owned()), Flow::Fetch);
    }
    it.connect(Peer::Service("code host".to_owned()), Flow::Send);
    if method.is_some_and(|word| word.literal().is_none_or(|text| text.eq_ignore_ascii_case("DELETE"))) {
        it.destroy(DestroyClass::RemoteRef, "something on the code host");
    }
    it.say(Say::Post("a change through the code host's interface"));
}

/// `tollgate exec -- CMD`: judged again there; the words are a command.
fn tollgate_exec(it: &mut Use<'_, '_, '_>) {
    let words = it.tail(0);
    it.inner(&words);
}

fn editor(it: &mut Use<'_, '_, '_>) {
    if it.has("--install-extension --uninstall-extension") {
        it.say(Say::Configuration("editor extensions"));
    }
    let words = it.operands(0);
    words.iter().for_each(|word| it.write(word, WriteHow::Change));
}
