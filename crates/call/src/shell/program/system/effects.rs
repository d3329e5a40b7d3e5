//! What the rows of this family cannot say as data.

use super::super::row::{ALL, Pick, Say};
use super::super::run::Use;
use crate::action::{DestroyClass, WriteHow};

/// Everything here can lose a disk; the listed forms only look.
pub(super) fn disks(it: &mut Use<'_, '_, '_>) {
    let words: Vec<String> = it.operands(0).iter().map(super::super::super::ir::Word::shown).collect();
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

pub(super) fn mounts(it: &mut Use<'_, '_, '_>) {
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

pub(super) fn kernel(it: &mut Use<'_, '_, '_>) {
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
