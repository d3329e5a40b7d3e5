//! Ruby and PHP: package managers.

use super::row::{Row, Rule, Say, quiet, sub, subs};
use crate::action::{Flow, InstallScope, InstallSource};

pub(super) const ROWS: &[Row] = &[
    subs(
        &["gem"],
        "",
        &[
            quiet(
                ",list,search,query,info,contents,which,environment,env,help,dependency,outdated,specification,spec,stale,-v,--version,check,server-list",
            ),
            sub(
                "install,update,uninstall,cleanup,pristine,i",
                "-v --version -i --install-dir -n --bindir --source",
                &[
                    Rule::Always(Say::Install(InstallScope::Global, InstallSource::Registry)),
                    Rule::Always(Say::Registry("gem", Flow::Fetch)),
                ],
            ),
            sub("build", "-o --output", &[Rule::Always(Say::Project)]),
            sub("push,yank,owner", "", &[Rule::Always(Say::Package("a package registry"))]),
            sub("*", "", &[Rule::Always(Say::Unknown)]),
        ],
        "gem list",
        "gem push x.gem",
    ),
    subs(
        &["bundle", "bundler"],
        "",
        &[
            quiet(
                "list,show,info,outdated,check,config list,config get,platform,env,doctor,licenses,help,version,--version,viz",
            ),
            sub(
                ",install,update,add,remove,lock,cache,package,pristine,clean,binstubs,init,gem,open,inject",
                "--path --jobs -j --gemfile --without --with --group",
                &[
                    Rule::Always(Say::Project),
                    Rule::Always(Say::Install(InstallScope::Project, InstallSource::Manifest)),
                    Rule::Always(Say::Registry("gem", Flow::Fetch)),
                ],
            ),
            sub("config,config set", "", &[Rule::Always(Say::Project)]),
            sub("*", "", &[Rule::Always(Say::Unknown)]),
        ],
        "bundle list",
        "bundle plugin install x",
    ),
    subs(
        &["composer"],
        "-d --working-dir",
        &[
            quiet(
                ",show,info,outdated,validate,diagnose,licenses,depends,why,prohibits,why-not,search,status,check-platform-reqs,about,fund,browse,help,--version,list,audit,suggests",
            ),
            sub(
                "install,update,require,remove,dump-autoload,dumpautoload,init,reinstall,bump,upgrade,u,i,r",
                "",
                &[
                    Rule::Always(Say::Project),
                    Rule::Always(Say::Install(InstallScope::Project, InstallSource::Manifest)),
                    Rule::Always(Say::Registry("composer", Flow::Fetch)),
                ],
            ),
            sub("run-script,run,exec,test,archive,clear-cache", "", &[Rule::Always(Say::Project)]),
            sub(
                "create-project",
                "",
                &[
                    Rule::Always(Say::Project),
                    Rule::Always(Say::Install(InstallScope::Project, InstallSource::Registry)),
                ],
            ),
            sub(
                "global,self-update,selfupdate",
                "",
                &[Rule::Always(Say::Install(InstallScope::Global, InstallSource::Registry))],
            ),
            sub("config", "", &[Rule::Always(Say::Configuration("composer settings"))]),
            sub("*", "", &[Rule::Always(Say::Project)]),
        ],
        "composer show",
        "composer global require x/y",
    ),
];
