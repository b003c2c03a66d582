#!/usr/bin/env python3
"""Trains many candidates in one process of the tool and watches its memory, descriptors and threads after each.

soak.py --tool PROGRAM [--candidates 200] [--workers 1,2] [--out FILE.csv]
soak.py --self-test

After the first ten candidates memory must stay within five per cent, and descriptors and threads must not grow. The self-test runs
programs that leak each of the three, and one that leaks nothing, in the place of the tool.
"""
import argparse
import itertools
import math
import os
import random
import re
import statistics
import subprocess
import sys
import tempfile
import time

SETTLED = 10  # candidates until everything that is made once has been made
MOST_GROWTH = 0.05
FINISHED = re.compile(r"^(\d+)/(\d+) ")


def make_table(path, rows=200, seed=1):
    numbers = random.Random(seed)
    with open(path, "w") as file:
        file.write("a,b,c,y\n")
        for _ in range(rows):
            a, b, c = (numbers.gauss(0, 1) for _ in range(3))
            file.write(f"{a:.4f},{b:.4f},{c:.4f},{math.sin(a) + 0.3 * b * c + numbers.gauss(0, 0.1):.4f}\n")


def make_networks(count):
    """Different candidates of nearly the same size: what grows is then no larger network."""
    widths = itertools.product(range(20, 28), range(20, 28), ("tanh", "relu", "gelu", "silu"))
    return [f"mlp:{a}-{b},act={act}" for a, b, act in itertools.islice(widths, count)]


def look_at(process):
    """Bytes in memory, open descriptors, threads."""
    place = f"/proc/{process}"
    with open(f"{place}/statm") as file:
        resident = int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    return resident, len(os.listdir(f"{place}/fd")), len(os.listdir(f"{place}/task"))


def watch(command):
    """(bytes, descriptors, threads) at each finished candidate, and how the process ended."""
    samples = []
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    last = ""
    for line in process.stderr:
        last = line.strip()
        if FINISHED.match(line):
            samples.append(look_at(process.pid))
    return samples, process.wait(), last


def judge(samples, expected):
    """What is wrong, one sentence each; and what was seen, in words."""
    if len(samples) < expected:
        return [f"{len(samples)} of {expected} candidates were seen to finish"], ""
    memory, descriptors, threads = zip(*samples)
    level = statistics.median(memory[SETTLED // 2 : SETTLED])
    highest = max(memory[SETTLED:])
    growth = highest / level - 1
    wrong = []
    if growth > MOST_GROWTH:
        wrong.append(f"memory grew by {100 * growth:.1f} % after {SETTLED} candidates")
    for name, counts in (("descriptors", descriptors), ("threads", threads)):
        # A file may be open just now: what leaks does not go away again.
        if min(counts[-SETTLED:]) > max(counts[:SETTLED]):
            wrong.append(f"{name} grew from {max(counts[:SETTLED])} to {min(counts[-SETTLED:])}")
    seen = (f"{level / 2**20:.1f} MB after {SETTLED} candidates, at most {highest / 2**20:.1f} MB later ({100 * growth:+.2f} %), "
            f"{memory[-1] / 2**20:.1f} MB at the end; at most {max(descriptors)} descriptors, {max(threads)} threads")
    return wrong, seen


def soak(tool, candidates, workers, out):
    with tempfile.TemporaryDirectory() as place:
        table = os.path.join(place, "table.csv")
        make_table(table)
        command = [tool, "fit", table, "--target", "y", "--out", os.path.join(place, "run"), "--workers", str(workers),
                   "--epochs", "20", "--frequency", "5", "--structure", "kron"]
        for network in make_networks(candidates):
            command += ["--network", network]
        started = time.monotonic()
        samples, code, last = watch(command)
    wrong, seen = judge(samples, candidates)
    if code != 0:
        wrong.append(f"the tool ended with {code}: {last}")
    print(f"{candidates} candidates, {workers} at once, {time.monotonic() - started:.0f} s: {seen}", flush=True)
    for sentence in wrong:
        print(f"  WRONG: {sentence}")
    if out:
        with open(out, "a") as file:
            for index, (memory, descriptors, threads) in enumerate(samples, 1):
                file.write(f"{workers},{index},{memory},{descriptors},{threads}\n")
    return not wrong


STAND_IN = """
import sys, threading, time
leak, kept = sys.argv[1], [bytearray(b"x" * 40_000_000)]
for i in range(1, 41):
    if leak == "memory": kept.append(bytearray(b"x" * 200_000))
    if leak == "descriptors" and i % 4 == 0: kept.append(open("/dev/null"))
    if leak == "threads" and i % 8 == 0: threading.Thread(target=lambda: time.sleep(20), daemon=True).start()
    print(f"{i}/40 candidate", file=sys.stderr, flush=True)
    time.sleep(0.01)
"""


def test_itself():
    fine = True
    for leak in ("nothing", "memory", "descriptors", "threads"):
        samples, _, _ = watch([sys.executable, "-c", STAND_IN, leak])
        wrong, _ = judge(samples, 40)
        noticed = any(leak in sentence for sentence in wrong)
        right = noticed and len(wrong) == 1 if leak != "nothing" else not wrong
        print(f"a program that leaks {leak}: {'; '.join(wrong) or 'nothing to say'}{'' if right else '  WRONG'}")
        fine = fine and right
    return fine


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tool")
    parser.add_argument("--candidates", type=int, default=200)
    parser.add_argument("--workers", default="1,2")
    parser.add_argument("--out", help="adds workers,candidate,bytes,descriptors,threads to this file")
    parser.add_argument("--self-test", action="store_true")
    flags = parser.parse_args()
    if flags.self_test:
        return 0 if test_itself() else 1
    results = [soak(flags.tool, flags.candidates, int(workers), flags.out) for workers in flags.workers.split(",")]
    return 0 if all(results) else 1


if __name__ == "__main__":
    sys.exit(main())
