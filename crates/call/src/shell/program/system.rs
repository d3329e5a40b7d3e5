//! The system: disks, packages, users, kernels.

use super::row::{ALL, Pick, Row, Rule, Say, quiet, row, sub, subs};
use super::run::Use;
use crate::action::{DestroyClass, Flow, InstallScope, InstallSource, WriteHow};

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
    row(
        &[
            "mkfs",
            "mkfs.ext4",
            "mkfs.ext3",
            "mkfs.ext2",
            "mkfs.xfs",
            "mkfs.btrfs",
            "mkfs.vfat",
            "mkfs.fat",
            "mkfs.ntfs",
            "mkfs.f2fs",
            "mke2fs",
            "mkswap",
            "wipefs",
            "fdisk",
            "cfdisk",
            "sfdisk",
            "gdisk",
            "sgdisk",
            "parted",
            "gparted",
            "blkdiscard",
            "hdparm",
            "nvme",
            "badblocks",
            "fsck",
            "fsck.ext4",
            "e2fsck",
            "xfs_repair",
            "resize2fs",
            "tune2fs",
            "debugfs",
            "dmsetup",
            "cryptsetup",
            "lvremove",
            "vgremove",
            "pvremove",
            "lvcreate",
            "vgcreate",
            "pvcreate",
            "lvextend",
            "lvresize",
            "lvreduce",
            "mdadm",
            "zpool",
            "zfs",
            "btrfs",
            "ddrescue",
            "testdisk",
            "partprobe",
            "kpartx",
            "scrub",
            "nwipe",
            "newfs",
            "losetup",
            "growpart",
            "sg_format",
        ],
        "-t -L -b -o -n -f -s",
        &[Rule::Code(disks)],
        "zpool list",
        "mkfs.ext4 /dev/sda1",
    ),
    row(
        &[
            "lvs",
            "vgs",
            "pvs",
            "lvdisplay",
            "vgdisplay",
            "pvdisplay",
            "dumpe2fs",
            "xfs_info",
            "smartctl",
            "lsscsi",
            "udevadm",
            "swapon",
            "swapoff",
            "mount",
            "umount",
            "fusermount",
            "pmount",
            "udisksctl",
            "mountpoint",
            "automount",
            "quota",
            "repquota",
            "edquota",
            "fstrim",
            "bindfs",
            "overlay",
            "e4defrag",
        ],
        "-t -o -O -L -U --source --target",
        &[Rule::Code(mounts)],
        "mount",
        "mount /dev/sda1 /mnt",
    ),
    row(
        &[
            "useradd",
            "adduser",
            "userdel",
            "deluser",
            "usermod",
            "groupadd",
            "groupdel",
            "groupmod",
            "gpasswd",
            "passwd",
            "chpasswd",
            "chsh",
            "chfn",
            "chage",
            "visudo",
            "newgrp",
            "sg",
            "vipw",
            "vigr",
            "pwck",
            "faillock",
            "loginctl",
            "sudoedit",
            "addgroup",
            "delgroup",
            "newusers",
            "pwconv",
            "authselect",
            "pam-auth-update",
            "realm",
            "dseditgroup",
            "sysadminctl",
        ],
        "-s -g -G -u -d -c",
        &[Rule::Code(|it| {
            if !(it.name == "passwd" && it.has("-S")
                || it.name == "chage" && it.has("-l")
                || it.name == "loginctl"
                    && matches!(
                        it.literal(0),
                        None | Some("list-sessions" | "list-users" | "show-session" | "show-user")
                    ))
            {
                it.say(Say::Privilege("accounts of the machine"))
            }
        })],
        "loginctl list-sessions",
        "useradd x",
    ),
    row(
        &[
            "modprobe",
            "insmod",
            "rmmod",
            "depmod",
            "kmod",
            "setenforce",
            "setsebool",
            "semanage",
            "chcon",
            "restorecon",
            "aa-complain",
            "aa-disable",
            "aa-enforce",
            "apparmor_parser",
            "timedatectl",
            "hostnamectl",
            "localectl",
            "hwclock",
            "ntpdate",
            "chronyc",
            "sestatus",
            "getenforce",
            "bpftool",
            "bpftrace",
            "perf-probe",
            "trace-cmd",
            "cgset",
            "cgcreate",
            "coredumpctl",
            "tuned-adm",
            "cpupower",
            "rfkill",
            "setpci",
            "flashrom",
            "mokutil",
            "bootctl",
            "firewalld",
            "fail2ban-client",
            "tripwire",
            "aide",
            "rkhunter",
            "chkrootkit",
            "lynis",
        ],
        "",
        &[Rule::Code(kernel)],
        "timedatectl status",
        "modprobe x",
    ),
    subs(
        &[
            "systemd-tmpfiles",
            "systemd-nspawn",
            "systemd-resolve",
            "systemd-inhibit",
            "systemd-cat",
            "systemd-mount",
            "systemd-ask-password",
            "busctl",
            "dbus-send",
            "gdbus",
            "qdbus",
            "gsettings",
            "dconf",
            "kwriteconfig5",
            "xfconf-query",
        ],
        "",
        &[
            quiet(
                ",list,tree,status,introspect,get,get-property,list-schemas,list-keys,list-recursively,range,describe,read,dump,help,--version,statistics,query",
            ),
            sub("*", "", &[Rule::Always(Say::Privilege("services or settings of the session"))]),
        ],
        "busctl list",
        "gsettings set a b c",
    ),
    row(
        &[
            "xset",
            "xrandr",
            "xrdb",
            "xmodmap",
            "setxkbmap",
            "amixer",
            "pactl",
            "alsamixer",
            "brightnessctl",
            "light",
            "feh",
            "nitrogen",
            "wmctrl",
            "i3-msg",
            "swaymsg",
            "hyprctl",
            "bspc",
            "rofi",
            "dmenu",
            "fzf",
            "dialog",
            "whiptail",
            "gum",
            "peco",
            "sk",
            "zoxide",
            "z",
            "autojump",
            "starship",
            "thefuck",
            "fuck",
            "fasd",
            "broot",
            "ranger",
            "nnn",
            "lf",
            "vifm",
            "yazi",
            "xplr",
        ],
        "",
        &[Rule::Code(|it| {
            if matches!(it.name, "thefuck" | "fuck") {
                it.say(Say::Hidden("a corrected command"))
            } else if it.has("--preview --bind --execute") {
                it.say(Say::Hidden("a preview command"))
            }
        })],
        "fzf --height 40%",
        "fuck",
    ),
];

fn packages(it: &mut Use<'_, '_, '_>) {
    let lead = it.simple.words.get(1).map_or("", super::super::ir::Word::lead).to_owned();
    let reads = match it.name {
        "pacman" | "yay" | "paru" => {
            lead.starts_with("-Q")
                || lead.starts_with("-Si")
                || lead.starts_with("-Ss")
                || lead.starts_with("-F")
                || lead.starts_with("-V")
        }
        "dpkg" | "dpkg-query" => [
            "-l",
            "-L",
            "-s",
            "-S",
            "-p",
            "-W",
            "-c",
            "-I",
            "--list",
            "--listfiles",
            "--status",
            "--search",
            "--print",
            "--get",
            "--contents",
            "--info",
            "--audit",
            "--show",
            "--version",
            "--compare",
        ]
        .iter()
        .any(|flag| lead.starts_with(flag)),
        "rpm" => {
            lead.starts_with("-q")
                || lead.starts_with("--query")
                || lead.starts_with("-V")
                || lead.starts_with("--eval")
        }
        "makepkg" | "debuild" | "dpkg-buildpackage" => return it.say(Say::Project),
        "update-alternatives" | "alternatives" => {
            ["--list", "--display", "--query", "--get-selections"].contains(&lead.as_str())
        }
        "ldconfig" => lead == "-p",
        "xbps-query" | "equery" => true,
        "efibootmgr" => lead.is_empty() || lead == "-v",
        "fwupdmgr" => lead.starts_with("get"),
        "trust" | "pkgutil" | "pamac" => matches!(lead.as_str(), "list" | "search" | "info" | "--pkgs"),
        _ => false,
    };
    if reads {
        return;
    }
    if lead.starts_with("-R")
        || lead.starts_with("-r")
        || lead.starts_with("-e")
        || lead.starts_with("--remove")
        || lead.starts_with("--purge")
    {
        it.say(Say::Privilege("packages of the machine"));
    }
    let file = it
        .operands(0)
        .iter()
        .any(|word| word.lead().contains('/') || word.lead().ends_with(".deb") || word.lead().ends_with(".rpm"));
    it.say(Say::Install(InstallScope::Global, if file { InstallSource::Direct } else { InstallSource::Registry }));
}

/// Everything here can lose a disk; the listed forms only look.
fn disks(it: &mut Use<'_, '_, '_>) {
    let words: Vec<String> = it.operands(0).iter().map(super::super::ir::Word::shown).collect();
    let verb = words.first().map_or("", String::as_str);
    let looks = it.has("-l --list -n --dry-run --no-act -p --print -a?")
        && matches!(
            it.name,
            "fdisk" | "sfdisk" | "sgdisk" | "gdisk" | "parted" | "wipefs" | "losetup" | "fsck" | "e2fsck"
        )
        || matches!(
            (it.name, verb),
            ("zpool", "list" | "status" | "get" | "history" | "iostat" | "")
                | ("zfs", "list" | "get" | "")
                | ("btrfs", "filesystem" | "device" | "subvolume" | "")
                | ("nvme", "list" | "smart-log" | "id-ctrl" | "")
                | ("cryptsetup", "status" | "isLuks" | "luksDump")
                | ("dmsetup", "ls" | "info" | "status" | "table" | "deps")
        ) && !words.iter().any(|word| matches!(word.as_str(), "delete" | "destroy" | "remove"))
        || it.name == "mdadm" && it.has("--detail -D --examine -E")
        || it.name == "losetup" && words.is_empty();
    if looks {
        return;
    }
    let image = words.iter().any(|word| word.contains('/') && !word.starts_with("/dev")) && it.name.starts_with("mk");
    if image {
        return it.each(Pick::Last, |it, word| it.write(word, WriteHow::Replace));
    }
    it.say(Say::Privilege("disks of the machine"));
    it.destroy(DestroyClass::Disk, format!("{} {}", it.name, words.join(" ")));
    it.each(ALL, |it, word| {
        if word.lead().starts_with("/dev") {
            it.write(word, WriteHow::Replace)
        }
    });
}

fn mounts(it: &mut Use<'_, '_, '_>) {
    let changes = match it.name {
        "mount" | "swapon" => {
            it.operand(0).is_some() && !it.has("-l --show -s --summary") || it.has("-a --all --bind --move")
        }
        "umount" | "fusermount" | "pmount" | "swapoff" | "bindfs" | "overlay" | "automount" | "edquota" | "fstrim"
        | "e4defrag" => true,
        "udisksctl" => !matches!(it.literal(0), Some("status" | "info" | "dump" | "monitor")),
        "udevadm" => !matches!(it.literal(0), Some("info" | "monitor" | "test" | "settle")),
        "smartctl" => it.has("-s -t -o -S --test --smart"),
        _ => false,
    };
    if changes {
        it.say(Say::Privilege("mounts of the machine"));
    }
}

fn kernel(it: &mut Use<'_, '_, '_>) {
    let looks = matches!(it.name, "sestatus" | "getenforce" | "coredumpctl")
        || matches!(
            it.name,
            "timedatectl"
                | "hostnamectl"
                | "localectl"
                | "bootctl"
                | "chronyc"
                | "kmod"
                | "rfkill"
                | "fail2ban-client"
                | "cpupower"
        ) && matches!(
            it.literal(0),
            None | Some(
                "status"
                    | "show"
                    | "list"
                    | "list-timezones"
                    | "tracking"
                    | "sources"
                    | "list-locales"
                    | "timesync-status"
                    | "frequency-info"
                    | "list-keymaps"
            )
        )
        || it.has("--show-depends --list -l --dry-run -n") && matches!(it.name, "modprobe" | "semanage" | "restorecon");
    if !looks {
        it.say(Say::Privilege("the kernel or its guards"));
    }
}
