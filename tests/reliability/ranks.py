#!/usr/bin/env python3
"""Several processes against one: the same evidence, the same fit, the same choice; killed ranks; speed. By hand: scripts/ranks.

  ranks.py --build DIR equal        1, 2 and 4 ranks on this machine
  ranks.py --build DIR namespaces   the same over TCP, each rank in a network namespace with an address of its own (root)
  ranks.py --build DIR kill [-n 50] kills or stops a random rank at a random moment; the run must end in time and go on
  ranks.py --build DIR speed        overhead of communication, weak scaling of the curvature pass
"""
import argparse
import json
import os
import random
import signal
import subprocess
import sys
import tempfile
import time

TIMEOUT = 8  # --rank-timeout of killed runs, in seconds
SLACK = 20   # for start, checkpoint and end on a busy machine


class Trial:
    def __init__(self, build):
        self.tool = os.path.join(os.path.realpath(build), "ockham")
        self.place = tempfile.TemporaryDirectory(prefix="ockham-ranks-trial-")
        os.chdir(self.place.name)
        self.failures = 0

    def run(self, *arguments, code=0):
        done = subprocess.run([self.tool, *arguments], capture_output=True, text=True)
        if done.returncode != code:
            sys.exit(f"ockham {' '.join(arguments)}: exit {done.returncode}, {code} expected\n{done.stderr}")
        return done.stdout

    def json(self, *arguments):
        return json.loads(self.run(*arguments, "--json"))

    def check(self, what, good, detail=""):
        print(f"{'ok    ' if good else 'WRONG '} {what} {detail}", flush=True)
        self.failures += not good


def relative(one, other):
    return abs(one - other) / max(abs(other), 1e-300)


def candidates(summary):
    """What must be equal bit for bit."""
    return [{key: value for key, value in one.items() if not key.startswith("seconds")} for one in summary["candidates"]]


def evidences(summary):
    return {one["network"]: one["log_marginal_likelihood"] for one in summary["candidates"]}


def make_table(path, rows, columns, seed=1):
    numbers = random.Random(seed)
    with open(path, "w") as out:
        out.write(",".join(f"x{i}" for i in range(columns)) + ",y\n")
        for _ in range(rows):
            row = [numbers.gauss(0, 1) for _ in range(columns)]
            target = sum(row[:3]) + row[0] * row[1] + 0.3 * numbers.gauss(0, 1)
            out.write(",".join(f"{value:.6f}" for value in row) + f",{target:.6f}\n")


FIT = ["--target", "y", "--threads", "1", "--dtype", "float64", "--epochs", "50", "--frequency", "5", "--batch-size", "64"]
NETWORKS = ["--network", "linear", "--network", "mlp:20,act=tanh", "--network", "mlp:20-20,act=tanh"]


def compare(trial, start, sizes, words):
    """`start(ranks, arguments)` is the JSON of a run with so many ranks."""
    make_table("table.csv", 500, 6)
    fit = ["fit", "table.csv", *FIT, *NETWORKS]
    alone = trial.json(*fit, "--out", "alone")
    for structure in ("full", "kron", "diag"):
        # The full structure is taken by rows for the largest network and as a matrix for the smallest.
        evidence = ["evidence", "--from-run", "alone", "--structure", structure, "--threads", "1"]
        one = trial.json(*evidence)["log_marginal_likelihood"]
        for ranks in sizes:
            other = start(ranks, evidence)["log_marginal_likelihood"]
            trial.check(f"{words}evidence, {structure}, {ranks} ranks", relative(other, one) < 1e-10,
                        f"relative difference {relative(other, one):.1e}")
    for ranks in sizes:
        data = start(ranks, [*fit, "--parallel", "data", "--out", f"data-{ranks}"])
        worst = max(relative(evidences(data)[name], value) for name, value in evidences(alone).items())
        trial.check(f"{words}50 epochs, data shared by {ranks} ranks", worst < 1e-6, f"relative difference {worst:.1e}")
        trial.check(f"{words}  the same network is selected", data["selected"] == alone["selected"], data["selected"])
        queue = start(ranks, [*fit, "--parallel", "candidates", "--out", f"queue-{ranks}"])
        trial.check(f"{words}50 epochs, candidates shared by {ranks} ranks",
                    candidates(queue) == candidates(alone) and queue["selected"] == alone["selected"], "bit for bit")


def equal(trial, _):
    compare(trial, lambda ranks, arguments: trial.json(*arguments, "--ranks", str(ranks)), (2, 4), "")


def namespaces(trial, options):
    if not options.inside:
        # A network and a list of namespaces of its own: nothing of the machine's is touched.
        os.execvp("unshare", ["unshare", "-mn", sys.executable, os.path.realpath(options.script), "--inside", "--build",
                              options.build, "namespaces"])
    system = lambda line: subprocess.run(line, shell=True, check=True)
    system("mount -t tmpfs tmpfs /run && ip link set lo up && ip link add middle type bridge && ip link set middle up")
    for rank in range(4):
        system(f"ip netns add rank{rank} && ip link add out{rank} type veth peer name in{rank} && "
               f"ip link set in{rank} netns rank{rank} && ip link set out{rank} master middle up && "
               f"ip -n rank{rank} addr add 10.77.0.{rank + 1}/24 dev in{rank} && ip -n rank{rank} link set in{rank} up && "
               f"ip -n rank{rank} link set lo up")
    port = iter(range(30000, 31000))

    def start(ranks, arguments):
        here = str(next(port))
        processes = []
        for rank in range(ranks):
            words = dict(os.environ, RANK=str(rank), WORLD_SIZE=str(ranks), MASTER_ADDR="10.77.0.1", MASTER_PORT=here)
            processes.append(subprocess.Popen(["ip", "netns", "exec", f"rank{rank}", trial.tool, *arguments, "--json"], env=words,
                                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True))
        outcomes = [process.communicate() for process in processes]
        if any(process.returncode for process in processes):
            sys.exit(f"{arguments}: {[process.returncode for process in processes]} {outcomes}")
        trial.check("  only rank 0 prints", all(not out and not err for out, err in outcomes[1:]))
        return json.loads(outcomes[0][0])

    compare(trial, start, (2, 4), "namespaces: ")


def children_of(process):
    with open(f"/proc/{process}/task/{process}/children") as names:
        return [int(name) for name in names.read().split()]


def kill(trial, options):
    make_table("table.csv", 300, 6)
    fit = ["fit", "table.csv", "--target", "y", "--threads", "1", "--dtype", "float64", "--epochs", "150", "--frequency", "10",
           "--batch-size", "0", "--network", "mlp:20,act=tanh", "--rank-timeout", str(TIMEOUT), "--checkpoint-interval", "0.2",
           "--parallel", "data", "--quiet"]
    whole, length = {}, {}
    for ranks in (2, 3, 4):
        whole[ranks] = trial.json(*fit, "--ranks", str(ranks), "--out", f"whole-{ranks}")
        length[ranks] = min(10, sum(whole[ranks]["candidates"][0][f"seconds_{part}"] for part in ("training", "curvature")))
    numbers, counts, slowest = random.Random(options.seed), {}, 0
    for number in range(options.n):
        ranks = numbers.choice((2, 3, 4))
        victim, how = numbers.randrange(ranks), numbers.choice((signal.SIGKILL, signal.SIGKILL, signal.SIGSTOP))
        out = f"run-{number}"
        process = subprocess.Popen([trial.tool, *fit, "--ranks", str(ranks), "--out", out, "--json"], stdout=subprocess.PIPE,
                                   stderr=subprocess.PIPE, text=True)
        # Most blows fall within the trainings, some at the beginning or the end.
        while number % 10 and process.poll() is None and not os.path.exists(f"{out}/format.json"):
            time.sleep(0.01)
        time.sleep(numbers.uniform(0, 1.1 * length[ranks]))
        listed = children_of(process.pid) if process.poll() is None else []
        struck = len(listed) == ranks
        if struck:
            os.kill(listed[victim], how)
        moment = time.time()
        try:
            output, message = process.communicate(timeout=TIMEOUT + 10 + SLACK)  # the launcher's grace is 10 s
        except subprocess.TimeoutExpired:
            trial.check(f"{out}: {ranks} ranks, {how.name} on {victim}", False, "hangs")
            process.kill()
            continue
        slowest = max(slowest, time.time() - moment)
        code = process.returncode
        counts[code] = counts.get(code, 0) + 1
        if not struck and code == 5 and "did not find the others" in message:
            print(f"       {out}: the machine was too busy to start {ranks} ranks within {TIMEOUT} s")
            continue
        # Struck before there is a run, there is nothing to go on from; after the trainings rank 0 does without the others.
        if code not in (0, 5) or (not struck and code != 0):
            trial.check(f"{out}: exit code", False, f"{code}: {message}")
            continue
        if not os.path.exists(f"{out}/format.json"):
            subprocess.run(["rm", "-rf", out])
            same = trial.json(*fit, "--ranks", str(ranks), "--out", out)
            trial.check(f"{out}: {ranks} ranks, {how.name} on {victim} before the run began", candidates(same) == candidates(whole[ranks]))
            continue
        subprocess.run(["cp", "-r", out, out + "-other"])
        same = trial.json("fit", "--resume", "--out", out, "--ranks", str(ranks))
        fewer = numbers.choice([other for other in (1, 2, 3, 4) if other != ranks])
        other = trial.json("fit", "--resume", "--out", out + "-other", "--ranks", str(fewer))
        value, expected = (next(iter(evidences(one).values())) for one in (other, whole[ranks]))
        trial.check(f"{out}: {ranks} ranks, {how.name} on {victim}, exit {code}",
                    candidates(same) == candidates(whole[ranks]) and relative(value, expected) < 1e-6,
                    f"again with {ranks}: {'the same bits' if candidates(same) == candidates(whole[ranks]) else 'OTHER BITS'}, "
                    f"with {fewer}: {relative(value, expected):.1e}")
    print(f"exit codes {counts}, slowest end {slowest:.1f} s after the blow (timeout {TIMEOUT} s + 10 s)")


def speed(trial, options):
    rows_of = {1: options.rows, 2: 2 * options.rows}
    print("weak scaling of the curvature pass: N examples on one rank, 2 N on two, one thread each; median of 5")
    for name, flags in (("mlp:400-400, kron", ["kron"]), ("mlp:30-30, full", ["full"])):
        network = name.split(",")[0]
        for rows in rows_of.values():
            make_table(f"rows-{rows}.csv", rows, 30)
            trial.run("fit", f"rows-{rows}.csv", "--target", "y", "--network", network, "--epochs", "1", "--structure", "diag",
                      "--threads", "1", "--out", f"weak-{network}-{rows}", "--quiet")
        ratios = []
        for _ in range(5):
            times = [trial.json("evidence", "--from-run", f"weak-{network}-{rows}", "--structure", flags[0], "--threads", "1",
                                "--ranks", str(ranks))["seconds_curvature"] for ranks, rows in rows_of.items()]
            ratios.append(2 * times[0] / times[1])
        ratios.sort()
        trial.check(f"weak scaling, {name}", ratios[2] >= 1.7, f"{ratios[2]:.2f} of 2 (from {ratios[0]:.2f} to {ratios[-1]:.2f})")
    print("overhead of a training step")
    for network, epochs in (("mlp:20", 60), ("mlp:200-200", 20), ("mlp:1000-1000", 3)):
        line = []
        for ranks in (1, 2):
            summary = trial.json("fit", f"rows-{options.rows}.csv", "--target", "y", "--network", network, "--epochs", str(epochs), "--batch-size",
                                 "256", "--structure", "diag", "--threads", "1", "--burn-in", str(epochs), "--parallel", "data", "--ranks", str(ranks), "--out",
                                 f"overhead-{network}-{ranks}", "--quiet")
            steps = epochs * -(-options.rows // 256)
            line.append(summary["candidates"][0]["seconds_training"] / steps)
        print(f"  {network}: a step of 256 examples takes {1e3 * line[0]:.2f} ms on one rank, {1e3 * line[1]:.2f} ms on two", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=["equal", "namespaces", "kill", "speed"])
    parser.add_argument("--build", default="build")
    parser.add_argument("-n", type=int, default=50)
    parser.add_argument("--rows", type=int, default=20000, help="N of `speed`")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--inside", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    options.script, options.build = os.path.realpath(__file__), os.path.realpath(options.build)
    trial = Trial(options.build)
    globals()[options.what](trial, options)
    os.chdir("/")
    sys.exit(f"{trial.failures} wrong" if trial.failures else 0)


if __name__ == "__main__":
    main()
