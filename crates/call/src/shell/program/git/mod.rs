//! git: which subcommands read, which change what git can bring back, and which lose something.
//!
//! Commits, merges and kin run the project's hooks and change only what the reflog keeps: they
//! stand as `Project` and add no action of their own.

mod config;
mod lose;
mod share;

pub(super) use share::PUSH;

use super::super::ir::Word;
use super::row::{ALL, Pick, Row, Rule, Say, Sub, quiet, sub, subs};
use super::run::Use;
use crate::action::{Depth, WriteHow};

pub(super) const ROWS: &[Row] = &[
    Row {
        always: &[Rule::Code(global)],
        ..subs(
            &["git"],
            "-C -c --git-dir --work-tree --namespace --super-prefix --config-env --attr-source",
            SUBS,
            "git -C sub commit -m 'a; b'",
            "git -c core.pager='sh -c id' log",
        )
    },
    subs(
        &["git-lfs"],
        "",
        &[quiet("ls-files,status,env,track,logs,fsck"), sub("push", "", share::PUSH)],
        "git-lfs status",
        "git-lfs push origin main",
    ),
    subs(
        &["git-filter-repo"],
        "",
        &[sub("*", "", lose::REWRITE), sub("", "", lose::REWRITE)],
        "git-filter-repo --version",
        "git-filter-repo --invert-paths --path a",
    ),
    subs(
        &["svn", "hg", "jj", "bzr", "fossil", "p4"],
        "-m --message -r --revision -R --repository",
        OTHER_SUBS,
        "hg status",
        "svn commit -m x",
    ),
];

const SUBS: &[Sub] = &[
    quiet(""),
    // Readers.
    sub(
        "status,log,shortlog,show,blame,annotate,describe,rev-parse,rev-list,name-rev,cherry,whatchanged,merge-base,\
         show-branch,show-ref,for-each-ref,ls-files,ls-tree,cat-file,diff-tree,diff-index,diff-files,range-diff,count-objects,\
         var,version,help,check-ignore,check-attr,check-mailmap,check-ref-format,verify-commit,verify-tag,verify-pack,merge-tree,\
         get-tar-commit-id,patch-id,stripspace,column,fsck,diagnose,grep,reflog show,reflog list,reflog exists,stash list,stash show,\
         worktree list,notes list,notes show,bundle verify,bundle list-heads,submodule status,submodule summary,lfs ls-files,\
         lfs status,lfs env,bisect log,bisect visualize,bisect view,remote show,remote get-url,branch --list,tag --list,show-index,\
         mailinfo,interpret-trailers,unpack-file,summary,effort,fame,standup,missing,commits-since,count,authors,guilt,locked,\
         extras,info,shortlog-summary,cliff,changelog,ignore-io,browse-ci,rerere status,rerere diff,sparse-checkout list,flow version",
        "-n --max-count --since --until --after --before --author --committer --grep -S -G -L --format --pretty --date -C -M --skip -A -B -e -m -O --open-files-in-pager",
        &[Rule::Code(readers)],
    ),
    sub(
        "diff",
        "-U --unified -S -G -O --output --diff-filter --stat --word-diff-regex --inter-hunk-context",
        &[Rule::WriteFlag("--output"), Rule::Code(no_index), Rule::If("--ext-diff", Say::Hidden("external diff"))],
    ),
    sub("reflog", "", &[Rule::Code(reflog)]),
    sub("remote", "", &[Rule::Code(config::remote)]),
    sub(
        "branch",
        "-u --set-upstream-to --contains --merged --no-merged --sort --format --points-at --abbrev --color",
        &[Rule::Code(lose::branch)],
    ),
    sub(
        "tag",
        "-m --message -F --file -u --local-user --sort --format --contains --points-at -n? --cleanup",
        &[Rule::Code(lose::tag)],
    ),
    sub("stash", "-m --message", &[Rule::Code(lose::stash)]),
    // What git keeps.
    sub(
        "add,stage,commit,merge,rebase,cherry-pick,revert,pull-request-draft,init,mv,stash push,stash save,stash apply,stash pop,\
         stash branch,stash create,stash store,notes,notes add,notes append,notes copy,notes edit,notes merge,bisect,bisect start,\
         bisect good,bisect bad,bisect skip,bisect reset,bisect new,bisect old,bisect terms,commit-tree,commit-graph,write-tree,\
         mktree,mktag,hash-object,read-tree,update-index,merge-index,merge-file,merge-one-file,am,apply,rerere,rerere forget,\
         rerere clear,pack-refs,repack,multi-pack-index,maintenance run,update-server-info,fast-export,fast-import,pack-objects,\
         unpack-objects,index-pack,prune-packed,symbolic-ref,replace,sparse-checkout,sparse-checkout set,sparse-checkout add,\
         sparse-checkout disable,sparse-checkout init,sparse-checkout reapply,worktree,worktree add,worktree move,worktree lock,\
         worktree unlock,worktree repair,worktree prune,submodule,submodule init,submodule sync,submodule absorbgitdirs,bundle create,\
         bundle unbundle,flow,flow init,flow feature,flow release,flow hotfix,squash,setup,cp,rename-branch,rename-tag,fresh-branch,\
         feature,bug,chore,refactor,coauthor,unstage,ignore,stamp,undo-soft,subtree add,subtree merge,subtree split,subtree pull,\
         lfs,lfs track,lfs untrack,lfs checkout,lfs prune,imerge,annex,annex add,annex get,mergetool,cola,gui,citool,magic,graft,\
         merge-into,psykorebase,rebase-patch,utimes,request-pull",
        "-m --message -F --file -C -c --author --date -t --template -S? -s --strategy -X --strategy-option --onto -x --exec --trailer --directory -p -b --branch --prefix -i",
        &[Rule::Code(keeps)],
    ),
    sub(
        "format-patch",
        "-o --output-directory -n -v --subject-prefix --start-number --to --cc --base --signature --cover-from-description",
        &[Rule::WriteFlag("-o --output-directory"), Rule::Always(Say::Project)],
    ),
    sub(
        "archive",
        "-o --output --format --prefix --remote --exec",
        &[
            Rule::WriteFlag("-o --output"),
            Rule::If("--exec", Say::Hidden("remote archiver")),
            Rule::If("--remote", Say::Service("git remote", crate::action::Flow::Fetch)),
        ],
    ),
    sub(
        "bugreport",
        "-o --output-directory -s --suffix",
        &[Rule::WriteFlag("-o --output-directory"), Rule::Always(Say::Project)],
    ),
    sub("bisect run", "", &[Rule::Code(runs_words)]),
    sub("submodule foreach,for-each-repo,filter-tree", "--config", &[Rule::Code(runs_code)]),
    sub(
        "submodule add,submodule update,submodule set-url,submodule set-branch",
        "--reference -b --branch --name --depth",
        share::FETCH,
    ),
    sub(
        "submodule deinit",
        "",
        &[Rule::If("-f --force", Say::Destroy(crate::action::DestroyClass::Worktree, "changes in a submodule"))],
    ),
    sub(
        "difftool",
        "-t --tool -x --extcmd",
        &[Rule::Code(|it| it.each_value("-x --extcmd", |it, word| it.code(word)))],
    ),
    // What may lose something.
    sub("checkout", "-b -B --orphan --conflict --pathspec-from-file", &[Rule::Code(lose::checkout)]),
    sub("switch", "-c -C --create --force-create --orphan --conflict", &[Rule::Code(lose::switch)]),
    sub("restore", "-s --source --conflict --pathspec-from-file", &[Rule::Code(lose::restore)]),
    sub("reset", "--pathspec-from-file", &[Rule::Code(lose::reset)]),
    sub("clean", "-e --exclude", &[Rule::Code(lose::clean)]),
    sub("rm", "--pathspec-from-file", &[Rule::Code(remove)]),
    sub(
        "checkout-index",
        "--prefix --stage",
        &[Rule::If(
            "-f --force",
            Say::Destroy(crate::action::DestroyClass::Worktree, "changes of files in the work tree"),
        )],
    ),
    sub("gc", "--prune --aggressive-depth", &[Rule::Code(lose::gc)]),
    sub(
        "prune",
        "--expire",
        &[Rule::IfNot("-n --dry-run", Say::Destroy(crate::action::DestroyClass::LocalHistory, "unreachable objects"))],
    ),
    sub("reflog expire,reflog delete", "--expire --expire-unreachable", lose::REFLOG),
    sub(
        "update-ref",
        "-m",
        &[
            Rule::If("-d --delete --stdin", Say::Destroy(crate::action::DestroyClass::LocalHistory, "a ref")),
            Rule::Always(Say::Project),
        ],
    ),
    sub("notes remove,notes prune", "", &[Rule::Always(Say::Project)]),
    sub(
        "filter-branch",
        "--tree-filter --index-filter --msg-filter --env-filter --commit-filter --parent-filter --tag-name-filter --subdirectory-filter -d --setup --state-branch",
        lose::FILTER_BRANCH,
    ),
    sub(
        "filter-repo",
        "--path --path-glob --path-rename --replace-text --paths-from-file --commit-callback --blob-callback --refname-callback",
        lose::REWRITE,
    ),
    sub(
        "worktree remove",
        "",
        &[
            Rule::Delete(ALL, Depth::Recursive),
            Rule::If(
                "-f --force",
                Say::Destroy(crate::action::DestroyClass::Worktree, "changes in a linked work tree"),
            ),
        ],
    ),
    sub(
        "delete-branch,delete-merged-branches,delete-squashed-branches,delete-tag,clear,clear-soft,reset-file,obliterate",
        "",
        lose::EXTRAS,
    ),
    // What leaves or arrives.
    sub(
        "clone",
        "-b --branch -o --origin --depth -c --config --reference -u --upload-pack --template --separate-git-dir -j --jobs --filter --recurse-submodules? --shallow-since --server-option --bundle-uri",
        share::CLONE,
    ),
    sub(
        "fetch,pull,ls-remote,remote update,lfs fetch,lfs pull,svn fetch,svn rebase,svn clone,p4 sync,p4 clone,sync,fetch-pack",
        "--depth --deepen --shallow-since -j --jobs -o --upload-pack -s --strategy -X --strategy-option --exec --sort",
        share::FETCH,
    ),
    sub(
        "push,lfs push,subtree push,send-pack",
        "-o --push-option --receive-pack --exec --repo --prefix -P",
        share::PUSH,
    ),
    sub(
        "svn dcommit,svn commit,p4 submit,svn set-tree,cvsexportcommit,annex sync,annex push",
        "",
        &[Rule::Always(Say::Post("a commit on a remote"))],
    ),
    sub(
        "send-email,imap-send",
        "--to --cc --bcc --from --subject --smtp-server",
        &[Rule::Always(Say::Message("patches by mail"))],
    ),
    sub("daemon", "--port --base-path --listen --user --group", share::DAEMON),
    sub("instaweb", "-p --port -d --httpd -b --browser -m", &[Rule::Code(share::instaweb)]),
    // What changes what runs later.
    sub(
        "config,alias",
        "-f --file --blob --get --get-all --get-regexp --unset --unset-all --default -t --type --comment --value --fixed-value --url",
        &[Rule::Code(config::config)],
    ),
    sub(
        "remote add,remote set-url,remote rename,remote remove,remote rm,remote set-head,remote set-branches,remote prune",
        "-t -m",
        &[Rule::Code(config::remote_change)],
    ),
    sub(
        "maintenance start,maintenance stop,maintenance register,maintenance unregister",
        "--scheduler",
        &[Rule::Always(Say::Persist("git maintenance"))],
    ),
    sub("lfs install,lfs uninstall", "", &[Rule::Always(Say::Configuration("git lfs filters"))]),
    sub(
        "credential,credential fill,credential approve,credential reject,credential-store,credential-cache",
        "",
        &[Rule::Always(Say::Privilege("stored credentials"))],
    ),
];

const OTHER_SUBS: &[Sub] = &[
    quiet(
        ",status,st,stat,diff,log,info,cat,blame,annotate,list,ls,ls-files,manifest,show,branches,tags,heads,summary,identify,help,version,root,paths,proplist,propget,--version",
    ),
    sub(
        "add,commit-local,mkdir,copy,cp,rename,move,mv,resolve,resolved,merge,update,up,switch,checkout,co,branch,bookmark,tag,graft,rebase,new,describe,desc,edit,squash,split,abandon,undo,export,cleanup,changelist,relocate,unshelve,shelve",
        "",
        &[Rule::Always(Say::Project)],
    ),
    sub("clone,pull,incoming,in,outgoing,out,fetch,sync,git fetch,git clone", "", share::FETCH),
    sub("push,commit,ci,submit,git push,dcommit", "", &[Rule::Always(Say::Post("a commit on a remote"))]),
    sub(
        "revert,restore,purge",
        "",
        &[Rule::Always(Say::Destroy(crate::action::DestroyClass::Worktree, "changes in the work tree"))],
    ),
    sub(
        "strip,obliterate,histedit",
        "",
        &[Rule::Always(Say::Destroy(crate::action::DestroyClass::LocalHistory, "commits"))],
    ),
    sub("delete,rm,remove,forget,del", "", &[Rule::Delete(ALL, Depth::Recursive)]),
];

/// Flags before the subcommand: where git runs, and configuration for this run.
fn global(it: &mut Use<'_, '_, '_>) {
    for setting in it.global.values("-c --config-env").cloned().collect::<Vec<_>>() {
        config::setting(it, &setting);
    }
    for directory in it.global.values("-C").cloned().collect::<Vec<_>>() {
        it.enter(&directory);
    }
    let moved = it.global.flags.iter().any(|flag| flag.name == "--exec-path" && flag.value.is_some());
    if moved {
        it.say(Say::Environment("git --exec-path"));
    }
    if it.global.has("--git-dir") {
        it.say(Say::Configuration("git --git-dir"));
    }
    share::other_repository(it);
}

fn readers(it: &mut Use<'_, '_, '_>) {
    it.each_value("--output", |it, word| it.write(word, WriteHow::Replace));
    if it.sub == "grep" && it.has("-O --open-files-in-pager") || it.has("--ext-diff --textconv") && it.sub != "grep" {
        it.say(Say::Hidden("external program"));
    }
    if it.sub == "show-index" || it.sub == "blame" {
        it.each(Pick::Last, |it, word| it.read(word));
    }
    no_index(it);
}

/// `git diff --no-index A B` reads any two files, and so may `git grep --no-index`.
fn no_index(it: &mut Use<'_, '_, '_>) {
    let outside =
        it.operands(0).iter().any(|word| word.lead().starts_with(['/', '~']) || word.lead().starts_with("../"));
    if it.has("--no-index") || outside {
        it.each(ALL, |it, word| it.read(word));
    }
}

fn reflog(it: &mut Use<'_, '_, '_>) {
    if matches!(it.literal(0), Some("expire" | "delete")) {
        it.destroy(crate::action::DestroyClass::LocalHistory, "reflog entries");
    }
}

/// Commits, merges and kin; their hooks and editors are the project's and the user's own.
fn keeps(it: &mut Use<'_, '_, '_>) {
    it.say(Say::Project);
    if it.sub == "rebase" {
        it.each_value("-x --exec", |it, word| it.code(word));
    }
    if matches!(it.sub, "commit" | "tag" | "notes add") {
        it.each_value("-F --file -t --template", |it, word| it.read(word));
    }
    if it.sub == "apply" || it.sub == "am" {
        it.each(ALL, |it, word| it.read(word));
        if it.has("--unsafe-paths") {
            it.write(&Word::literal_at("/", it.span()).beneath(), WriteHow::Replace);
        }
    }
    if it.sub == "hash-object" {
        it.each(ALL, |it, word| it.read(word));
    }
    if it.sub == "mv" {
        it.each(Pick::ButLast, |it, word| it.write(word, WriteHow::Change));
    }
    if matches!(it.sub, "mv" | "bundle create" | "worktree add" | "worktree move") {
        let pick = if it.sub == "mv" { Pick::Last } else { Pick::At(usize::from(it.sub == "worktree move")) };
        it.each(pick, |it, word| it.write(word, WriteHow::Change));
    }
    if it.sub == "init" {
        it.each(ALL, |it, word| it.write(word, WriteHow::MakeDir));
        it.each_value("--template", |it, _| it.say(Say::Configuration("git templates with hooks")));
    }
    if matches!(it.sub, "merge-index" | "mergetool" | "submodule" | "flow") && it.sub == "merge-index" {
        it.say(Say::Unknown);
    }
}

/// `git rm` removes work tree files that the last commit keeps, unless forced.
fn remove(it: &mut Use<'_, '_, '_>) {
    it.say(Say::Project);
    if it.has("--cached -n --dry-run") {
        return;
    }
    let depth = if it.has("-r") { Depth::Recursive } else { Depth::Single };
    it.each(ALL, |it, word| it.delete(word, depth));
}

fn runs_words(it: &mut Use<'_, '_, '_>) {
    let words =
        it.simple.words.iter().skip_while(|word| word.literal() != Some("run")).skip(1).cloned().collect::<Vec<_>>();
    it.say(Say::Project);
    it.inner(&words);
}

fn runs_code(it: &mut Use<'_, '_, '_>) {
    it.say(Say::Project);
    let words = it.tail(0);
    match words.as_slice() {
        [only] => it.code(only),
        words => it.inner(words),
    }
}
