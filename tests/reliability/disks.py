"""Real disks that are full or read-only: small file systems in memory, which only root can mount."""
import os
import subprocess

import cases
from tool import Scratch


def mount(path, options):
    os.makedirs(path, exist_ok=True)
    return subprocess.run(["mount", "-t", "tmpfs", "-o", options, "ockham-crash", path], capture_output=True).returncode == 0


def remount(path, options):
    return subprocess.run(["mount", "-o", "remount," + options, path], capture_output=True).returncode == 0


def try_disks(crash, case):
    with Scratch(crash.root) as directory:
        if not mount(os.path.join(directory, "disk"), "size=1m"):
            crash.report.note("skipped: full and read-only disks, because this user may not mount them")
            return
        subprocess.run(["umount", os.path.join(directory, "disk")], check=True)
        for kilobytes in (4, 8, 16, 24, 32, 48, 64, 96, 128, 192, 256, 320):
            fill_disk(crash, case, directory, kilobytes)
        protect_disk(crash, case, directory)


def fill_disk(crash, case, directory, kilobytes):
    """A disk that is too small, and then large enough."""
    disk, told = os.path.join(directory, "disk"), f"a disk of {kilobytes} kB"
    mount(disk, f"size={kilobytes}k")
    try:
        outcome = crash.tool.run(case.arguments, disk)
        crash.check_whole(case, disk, told)
        if outcome.code == 0:
            crash.report.count("disks that were large enough")
        else:
            crash.report.count("full disks")
            crash.check_sentence(case, outcome, told, "the disk is full")
            for name in cases.files_of(disk):
                if cases.PARTIAL.match(os.path.basename(name)):
                    crash.report.blame(f"{case.name}, {told}: {name} is left")
        remount(disk, "size=64m")
        crash.finish(case, disk, told)
    finally:
        subprocess.run(["umount", disk], check=True)


def protect_disk(crash, case, directory):
    """A disk becomes read-only under a half-finished and under a finished run."""
    disk = os.path.join(directory, "disk")
    mount(disk, "size=64m")
    try:
        remount(disk, "ro")
        outcome = crash.tool.run(case.arguments, disk)
        crash.check_sentence(case, outcome, "a read-only disk", "read-only")
        remount(disk, "rw")
        crash.tool.run(case.arguments, disk, kill_after=0.8 * crash.seconds[case.name])
        before = cases.files_of(disk)
        remount(disk, "ro")
        outcome = crash.tool.run(case.go_on(disk), disk)
        crash.check_sentence(case, outcome, "a read-only half-finished run", "read-only")
        remount(disk, "rw")
        if before != cases.files_of(disk):
            crash.report.blame(f"{case.name}: a read-only disk has changed")
        crash.finish(case, disk, "a read-only disk in between")
        remount(disk, "ro")
        table = os.path.join(crash.data, "table.csv")
        outcome = crash.tool.run(["predict", "run", table], disk)
        if outcome.code != 0:
            crash.report.blame(f"predicting from a read-only disk: {outcome.error.strip()}")
        outcome = crash.tool.run(["predict", "run", table, "--out", "predictions.csv"], disk)
        crash.check_sentence(case, outcome, "predictions to a read-only disk", "read-only")
        outcome = crash.tool.run(["report", "run"], disk)
        crash.check_sentence(case, outcome, "a report to a read-only disk", "read-only")
        crash.report.count("jobs on a read-only disk", 5)
    finally:
        subprocess.run(["umount", disk], check=True)
