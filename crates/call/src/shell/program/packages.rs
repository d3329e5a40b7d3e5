//! Package managers of operating systems and of other languages.

use super::super::ir::Word;
use super::row::{Row, Rule, Say, among, row, sub, subs};
use super::run::Use;
use crate::action::{Flow, InstallScope, InstallSource};

const INSTALLS: &[Rule] = &[
    Rule::Always(Say::Install(InstallScope::Global, InstallSource::Registry)),
    Rule::Always(Say::Registry("system packages", Flow::Fetch)),
];
const REMOVES: &[Rule] = &[
    Rule::Always(Say::Install(InstallScope::Global, InstallSource::Registry)),
    Rule::Always(Say::Privilege("packages of the machine")),
];
const ASKS: &[Rule] = &[];

pub(super) const ROWS: &[Row] = &[
    subs(
        &[
            "apt",
            "apt-get",
            "aptitude",
            "apt-cache",
            "apt-mark",
            "apt-file",
            "dnf",
            "yum",
            "zypper",
            "microdnf",
            "tdnf",
            "apk",
            "xbps-install",
            "pkg",
            "port",
            "emerge",
            "eopkg",
            "opkg",
            "swupd",
            "snap",
            "flatpak",
            "winget",
            "choco",
            "scoop",
            "brew",
            "linuxbrew",
            "pkcon",
            "slackpkg",
            "urpmi",
            "nala",
            "tlmgr",
            "opam",
            "cpan",
            "cpanm",
            "luarocks",
            "ghcup",
            "sdkman",
            "sdk",
            "mas",
            "pkgin",
            "pkg_add",
            "spack",
            "gup",
        ],
        "-t -o -c --option",
        &[
            sub(
                ",list,search,show,info,policy,depends,rdepends,madison,showpkg,stats,changelog,download-only,history,repolist,provides,whatprovides,repoquery,deps,uses,leaves,outdated,cat,config,--version,version,doctor,home,desc,log,ls,missing,options,shellenv,--prefix,--cellar,--repository,help,find,connections,services,interfaces,why,check,dotty,pkgnames,unmet,xvcg,dump,formulae,casks,tap-info,livecheck,analytics-state,commands,list-upgrades,patches,packages,repos,lr,se,if,showmanual,showauto,showhold,status,env,switch list,var,exec",
                "",
                ASKS,
            ),
            sub(
                "install,add,update,upgrade,full-upgrade,dist-upgrade,reinstall,build-dep,in,dup,up,get,refresh,swap,downgrade,distro-sync,groupinstall,group,module,localinstall,builddep,source,download,tap,bundle,cask,link,unlink,switch,pin,unpin,hold,unhold,enable,mark,auto,manual,cleanup,clean,autoclean,fetch,sync,-S,-i,-U,--add,postinstall,services start,services stop,services restart,import,init,self-update,selfupdate,makecache,snap,ports",
                "",
                INSTALLS,
            ),
            sub(
                "remove,purge,autoremove,uninstall,rm,del,erase,rem,untap,zap,disable,services,implode,un",
                "",
                REMOVES,
            ),
            sub("*", "", INSTALLS),
        ],
        "apt list --installed",
        "apt-get install -y x",
    ),
    row(
        &[
            "pacman",
            "yay",
            "paru",
            "pamac",
            "dpkg",
            "rpm",
            "dpkg-reconfigure",
            "add-apt-repository",
            "apt-key",
            "installer",
            "rpm-ostree",
            "pkgutil",
            "xbps-query",
            "xbps-remove",
            "equery",
            "makepkg",
            "debuild",
            "dpkg-buildpackage",
            "alien",
            "gdebi",
            "update-alternatives",
            "alternatives",
            "ldconfig",
            "update-initramfs",
            "dracut",
            "mkinitcpio",
            "update-grub",
            "grub-install",
            "grub-mkconfig",
            "efibootmgr",
            "fwupdmgr",
            "update-ca-certificates",
            "trust",
            "locale-gen",
            "dpkg-query",
            "dpkg-divert",
            "do-release-upgrade",
            "unattended-upgrade",
        ],
        "-t",
        &[Rule::Code(packages)],
        "dpkg -l",
        "pacman -S x",
    ),
];

fn packages(it: &mut Use<'_, '_, '_>) {
    let lead = it.simple.words.get(1).map_or("", Word::lead).to_owned();
    if among("makepkg debuild dpkg-buildpackage", it.name) {
        return it.say(Say::Project);
    }
    if only_looks(it.name, &lead) {
        return;
    }
    let removes = ["-R", "-r", "-e", "--remove", "--purge"].iter().any(|flag| lead.starts_with(flag));
    if removes {
        it.say(Say::Privilege("packages of the machine"));
    }
    let file = it
        .operands(0)
        .iter()
        .any(|word| word.lead().contains('/') || word.lead().ends_with(".deb") || word.lead().ends_with(".rpm"));
    it.say(Say::Install(InstallScope::Global, if file { InstallSource::Direct } else { InstallSource::Registry }));
}

/// Whether the first word after the program asks it to show and not to change.
fn only_looks(name: &str, lead: &str) -> bool {
    let starts = |list: &str| list.split_ascii_whitespace().any(|flag| lead.starts_with(flag));
    match name {
        "pacman" | "yay" | "paru" => starts("-Q -Si -Ss -F -V"),
        "dpkg" | "dpkg-query" => starts(
            "-l -L -s -S -p -W -c -I --list --listfiles --status --search --print --get --contents --info --audit --show --version --compare",
        ),
        "rpm" => starts("-q --query -V --eval"),
        "update-alternatives" | "alternatives" => among("--list --display --query --get-selections", lead),
        "ldconfig" => lead == "-p",
        "xbps-query" | "equery" => true,
        "efibootmgr" => lead.is_empty() || lead == "-v",
        "fwupdmgr" => lead.starts_with("get"),
        "trust" | "pkgutil" | "pamac" => among("list search info --pkgs", lead),
        _ => false,
    }
}
