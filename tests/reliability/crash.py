#!/usr/bin/env python3
"""Kills and hinders the tool, lets it go on, and compares with an undisturbed run, bit for bit.

crash.py --build BUILD --preload LIBRARY [--full] [--kills N] [--only WORD] [--jobs N] [--seed N]

Without --full a sample that takes well under a minute. --full: 200 kills at random moments, a kill at every call by which
a job changes its directory (write, fsync, rename, open, close, unlink, mkdir, ...), failures instead of kills, full and
read-only disks, two processes in one directory, and signals, whose answers are timed.
"""
import argparse
import concurrent.futures
import os
import random
import shutil
import signal
import sys
import tempfile
import threading
import time

sys.dont_write_bytecode = True  # the sources' directory stays as it is
import cases  # noqa: E402
import disks  # noqa: E402
import interrupts  # noqa: E402
from tool import Scratch, Tool, faults  # noqa: E402


class Report:
    """Counts what was tried and keeps what went wrong."""

    def __init__(self):
        self.counts, self.wrong, self.notes, self.lock = {}, [], [], threading.Lock()

    def count(self, what, number=1):
        with self.lock:
            self.counts[what] = self.counts.get(what, 0) + number

    def blame(self, sentence):
        with self.lock:
            self.wrong.append(sentence)
            print(f"WRONG: {sentence}", flush=True)

    def note(self, sentence):
        with self.lock:
            self.notes.append(sentence)
            print(sentence, flush=True)


class Crash:
    def __init__(self, options):
        self.options = options
        self.tool = Tool(options.build, options.preload)
        self.root = tempfile.mkdtemp(prefix="ockham-crash-")
        self.report = Report()
        self.random = random.Random(options.seed)
        self.data = os.path.join(self.root, "data")
        os.mkdir(self.data)
        cases.make_table(os.path.join(self.data, "table.csv"))
        cases.make_images(os.path.join(self.data, "images"))
        cases.make_toy(os.path.join(self.data, "toy"))
        self.references, self.seconds, self.calls = {}, {}, {}

    def close(self):
        shutil.rmtree(self.root, ignore_errors=True)

    # An undisturbed run, and what is compared with it.

    def learn(self, case, keep=None):
        """What the case gives when nothing happens, how long it takes, and by which calls."""
        with Scratch(self.root) as directory:
            case.prepare(directory)
            log = os.path.join(directory, "calls.log")
            outcome = self.tool.run(case.arguments, directory, faults(os.path.join(directory, case.place), log=log))
            if outcome.code != 0:
                raise SystemExit(f"{case.name}: the undisturbed run failed: {outcome.error}")
            place = os.path.join(directory, case.place)
            self.references[case.name], self.seconds[case.name] = cases.results(place), outcome.seconds
            with open(log) as file:
                self.calls[case.name] = [line.split(" ", 2) for line in file.read().splitlines()]
            self.check_order(case, self.calls[case.name], place)
            self.check_clean(case, directory, "undisturbed")
            if keep:
                shutil.copytree(place, keep)

    def check_order(self, case, calls, place):
        """Written under a temporary name, synced, renamed, and the directory synced: in this order, for every file."""
        unsynced, unsettled, last_synced = set(), set(), None
        for _, call, path in calls:
            base = os.path.basename(path)
            if call == "open" and not cases.PARTIAL.match(base) and base not in (".lock", "metrics.jsonl") and \
                    not base.endswith(".lock"):
                self.report.blame(f"{case.name}: {base} is written under its own name")
            if call in ("write", "pwrite", "writev", "ftruncate") and cases.PARTIAL.match(base):
                unsynced.add(path)
            if call == "fsync":
                unsynced.discard(path)
                unsettled.discard(path)
                last_synced = path
            if call == "rename":
                if last_synced is None or unsynced:
                    self.report.blame(f"{case.name}: {base} is renamed before it is synced")
                unsettled.add(os.path.dirname(path))
        if unsettled:
            self.report.blame(f"{case.name}: {sorted(unsettled)} not synced after a renaming")
        self.report.count("files seen written, synced, renamed", sum(call == "rename" for _, call, _ in calls))

    def check_clean(self, case, directory, how):
        for name in cases.files_of(os.path.join(directory, case.place)):
            base = os.path.basename(name)
            if cases.PARTIAL.match(base) or base == cases.BEGUN or name.startswith(("checkpoint/", "working/")):
                self.report.blame(f"{case.name}, {how}: {name} is left")

    def check_whole(self, case, directory, how):
        for sentence in cases.damage(os.path.join(directory, case.place)):
            self.report.blame(f"{case.name}, {how}: {sentence}")

    def finish(self, case, directory, how):
        """Goes on after a crash, to the end, and compares."""
        outcome = self.tool.run(case.go_on(directory), directory)
        if outcome.code != 0:
            self.report.blame(f"{case.name}, {how}: going on fails with {outcome.code}: {outcome.error.strip()}")
            return
        self.compare(case, directory, how)

    def compare(self, case, directory, how):
        self.check_clean(case, directory, how)
        reached, expected = cases.results(os.path.join(directory, case.place)), self.references[case.name]
        for name in sorted(set(reached) | set(expected)):
            if reached.get(name) != expected.get(name):
                state = "is missing" if name not in reached else "differs" if name in expected else "is new"
                self.report.blame(f"{case.name}, {how}: {name} {state}")
        self.report.count("results compared with the undisturbed run", 1)

    # Kills.

    def kill_at_random(self, case, number):
        moments = random.Random(f"{self.options.seed} {case.name} {number}")
        with Scratch(self.root) as directory:
            case.prepare(directory)
            told = []
            for _ in range(moments.choice((1, 1, 2, 3)) if self.options.full else 1):
                after = moments.uniform(0.2, 1.02) * self.seconds[case.name]
                outcome = self.tool.run(case.go_on(directory), directory, kill_after=after)
                told.append(f"{after:.2f} s")
                self.check_whole(case, directory, f"killed after {', '.join(told)}")
                self.report.count("kills at random moments" if outcome.killed() else "runs that were quicker than the kill")
            self.finish(case, directory, f"killed after {', '.join(told)}")

    def kill_at_call(self, case, number, how):
        """Kills at the n-th call; and the continuation too, at a call of its own, every third time."""
        call = self.calls[case.name][number - 1]
        told = f"{how} at call {number} ({call[1]} {os.path.basename(call[2])})"
        with Scratch(self.root) as directory:
            case.prepare(directory)
            place = os.path.join(directory, case.place)
            outcome = self.tool.run(case.arguments, directory, faults(place, number, how))
            self.check_whole(case, directory, told)
            self.report.count("kills at a call" if outcome.killed() else "runs with fewer calls than the undisturbed one")
            if number % 3 == 0 and outcome.killed():
                second = 1 + (7 * number) % max(1, len(self.calls[case.name]))
                outcome = self.tool.run(case.go_on(directory), directory, faults(place, second, how))
                self.check_whole(case, directory, f"{told}, then at call {second}")
                if outcome.killed():
                    self.report.count("kills at a call of a continuation")
            self.finish(case, directory, told)

    # Failures.

    def fail_at_call(self, case, number, how, onwards):
        """The n-th call that can fail so does; the job says so in a sentence, or did not need it."""
        told = f"{how} {'from' if onwards else 'at'} call {number}"
        with Scratch(self.root) as directory:
            case.prepare(directory)
            place = os.path.join(directory, case.place)
            outcome = self.tool.run(case.arguments, directory,
                                    faults(place, number, how, FAILING_CALLS[how], onwards=onwards))
            self.report.count("failed calls")
            self.check_whole(case, directory, told)
            if outcome.code == 0 and how != "short":
                self.report.count("failed calls that nothing depends on")
            elif how != "short":
                self.check_sentence(case, outcome, told, REASONS[how])
            elif outcome.code != 0:
                self.report.blame(f"{case.name}, {told}: {outcome.error.strip()}")
            for name in cases.files_of(place):
                if cases.PARTIAL.match(os.path.basename(name)) and not onwards:
                    self.report.blame(f"{case.name}, {told}: {name} is left by a process that ended by itself")
            self.finish(case, directory, told)

    def check_sentence(self, case, outcome, told, reason):
        if outcome.code not in (1, 3) or len(outcome.sentences()) != 1 or reason not in outcome.sentences()[0]:
            self.report.blame(f"{case.name}, {told}: exit code {outcome.code}, stderr: {outcome.error.strip()}")

    def share_directory(self, case):
        """Others come while one works: they are sent away, and nothing changes for it."""
        with Scratch(self.root) as directory:
            one = self.tool.start(case.arguments, directory)
            if self.wait_for(os.path.join(directory, case.place, "format.json"), one):
                one.send_signal(signal.SIGSTOP)
                before = cases.files_of(os.path.join(directory, case.place))
                for arguments, word in ((case.arguments, "holds a run already"), (case.resume, "is in use by process"),
                                        (["report", "run"], "is in use by process")):
                    outcome = self.tool.run(arguments, directory)
                    if outcome.code == 0 or len(outcome.sentences()) != 1 or word not in outcome.error:
                        self.report.blame(f"{case.name}, second process: {outcome.code} {outcome.error.strip()}")
                    self.report.count("second processes sent away")
                if before != cases.files_of(os.path.join(directory, case.place)):
                    self.report.blame(f"{case.name}: a second process left its marks")
                one.send_signal(signal.SIGCONT)
            _, error = one.communicate()
            if one.returncode != 0:
                self.report.blame(f"{case.name}: disturbed by a second process: {error.strip()}")
            self.compare(case, directory, "two processes")
        with Scratch(self.root) as directory:
            both = [self.tool.start(case.arguments, directory) for _ in range(2)]
            ends = [process.communicate()[1] for process in both]
            codes = sorted(process.returncode for process in both)
            if codes[0] != 0 or codes[1] == 0:
                self.report.blame(f"{case.name}, two at once: exit codes {codes}: {ends}")
            self.compare(case, directory, "two at once")

    def fill_output(self, finished):
        """Results that go to a full disk by a redirection."""
        predict = ["predict", finished, os.path.join(self.data, "table.csv")]
        for arguments in (predict, ["paper"]):  # more and less than fits into a buffer
            with open("/dev/full", "w") as full:
                process = self.tool.start(arguments, self.root, out=full)
                _, error = process.communicate()
            if process.returncode != 1 or not error.splitlines()[-1].endswith("the disk is full; free some space"):
                self.report.blame(f"{arguments[0]} to a full disk: {process.returncode} {error.strip()}")
            self.report.count("outputs to a full disk")

    @staticmethod
    def wait_for(path, process):
        while process.poll() is None and not os.path.exists(path):
            time.sleep(0.002)
        return process.poll() is None

    def run_all(self):
        options, full = self.options, self.options.full
        fits = cases.fit_cases(self.data)
        if not full:
            fits = [case for case in fits if case.name in ("table-many-2", "images-one")]
        fits = [case for case in fits if options.only in case.name] or fits[:1]
        finished = os.path.join(self.root, "finished")
        with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
            list(pool.map(lambda case: self.learn(case, finished if case is fits[0] else None), fits))
            others = cases.file_cases(finished, self.data)
            if full:  # few epochs: every call is tried, and most of those of later checkpoints are like those of the first
                others += cases.fit_cases(self.data, 300, 1, "-short") + [cases.paper_case(self.data)]
            others = [case for case in others if options.only in case.name]
            list(pool.map(self.learn, others))
            jobs = list(self.jobs(fits, others))
            self.random.shuffle(jobs)
            started = time.monotonic()
            for done, _ in enumerate(pool.map(lambda job: job[0](*job[1:]), jobs), 1):
                if full and done % 100 == 0:
                    print(f"{done}/{len(jobs)} jobs, {time.monotonic() - started:.0f} s: {self.report.counts}", flush=True)
        for case in fits[:1]:
            self.share_directory(case)
        self.fill_output(finished)
        if full:
            disks.try_disks(self, fits[0])
        interrupts.try_signals(self.tool, self.data, finished, self.root, self.report, full, options.seed)

    def jobs(self, fits, others):
        options, full = self.options, self.options.full
        kills = options.kills if options.kills is not None else 200 if full else 8
        for number in range(kills):
            yield (self.kill_at_random, fits[number % len(fits)], number)
        for case in others if full else fits + others:
            numbers = range(1, len(self.calls[case.name]) + 1)
            chosen = numbers if full else self.random.sample(numbers, 4 if case in fits else 1)
            for number in chosen:
                torn = self.calls[case.name][number - 1][1] == "write" and number % 2 == 0
                yield (self.kill_at_call, case, number, "kill-torn" if torn else "kill-before")
            for how, calls in FAILING_CALLS.items():
                able = sum(call[1] in calls.split(",") for call in self.calls[case.name])
                if not able or (not full and case not in fits[:1]):
                    continue
                for number in range(1, able + 1, max(1, able // 12)) if full else [self.random.randint(1, able)]:
                    yield (self.fail_at_call, case, number, how, how != "short" and number % 2 == 0)


# What a full disk, a broken one and a read-only one can refuse.
FAILING_CALLS = {"ENOSPC": "open,write,pwrite,fsync,rename,mkdir", "EIO": "open,write,pwrite,fsync,close,rename",
                 "EROFS": "open,rename,mkdir,unlink,ftruncate", "short": "write"}
REASONS = {"ENOSPC": "the disk is full", "EIO": "the disk reports an error", "EROFS": "the file system is read-only"}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", required=True, help="the directory that has the tool")
    parser.add_argument("--preload", required=True, help="the library made from fail_nth_call.cpp")
    parser.add_argument("--full", action="store_true")
    parser.add_argument("--kills", type=int, help="at random moments (default: 8, with --full 200)")
    parser.add_argument("--only", default="", help="cases that have this word in their name")
    parser.add_argument("--jobs", type=int, default=2, help="at once")
    parser.add_argument("--seed", type=int, default=0)
    crash = Crash(parser.parse_args())
    started = time.monotonic()
    try:
        crash.run_all()
    finally:
        crash.close()
    report = crash.report
    print("\n== what was tried")
    for what, number in sorted(report.counts.items()):
        print(f"{number:6}  {what}")
    for sentence in report.notes:
        print(f"        {sentence}")
    print(f"{time.monotonic() - started:6.0f}  seconds")
    if report.wrong:
        print(f"\n== {len(report.wrong)} WRONG")
        for sentence in report.wrong:
            print(sentence)
        return 1
    print("\n== nothing lost, nothing broken, nothing left")
    return 0


if __name__ == "__main__":
    sys.exit(main())
