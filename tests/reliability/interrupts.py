"""Ctrl-C and the polite kill at random moments: how long the tool takes to answer, and whether it can go on."""
import os
import random
import signal
import struct
import time

import cases
from tool import Scratch

LIMIT, BUSY_LIMIT = 2.0, 4.0  # seconds; the second where other tests run beside this one


def write_npy(path, shape, values):
    header = str({"descr": "<f4", "fortran_order": False, "shape": shape}).ljust(117) + "\n"
    with open(path, "wb") as file:
        file.write(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header.encode())
        file.write(struct.pack(f"<{len(values)}f", *values))


class SlowJob:
    """A job with long steps. It is asked to end at a random moment between two times (seconds)."""

    def __init__(self, name, arguments, first, last, waits_for=None):
        self.name, self.arguments, self.first, self.last, self.waits_for = name, arguments, first, last, waits_for


def slow_jobs(tool, data, finished, full):
    table, images = os.path.join(data, "table.csv"), os.path.join(data, "images")
    many = ["--network", "linear", "--network", "mlp:50", "--network", "mlp:50-50", "--restarts", "3"]
    out, started = ["--out", "run"], "run/format.json"
    jobs = [SlowJob("fit a table", ["fit", table, "--target", "y", "--network", "mlp:50", "--epochs", "1000000"] + out,
                    0, 1.5, started),
            SlowJob("fit many candidates", ["fit", table, "--target", "y", "--epochs", "1000000", "--workers", "2"] +
                    many + out, 0, 1.5, started),
            SlowJob("fit images, full structure",
                    ["fit", images, "--network", "mlp:80-8", "--structure", "full", "--epochs", "1000",
                     "--frequency", "1", "--memory", "8GB"] + out, 0, 8 if full else 3, started),
            SlowJob("start of fit", ["fit", table, "--target", "y", "--network", "mlp:50", "--epochs", "1000000"] + out,
                    0, 0.7)]
    if not full:
        return jobs
    big = os.path.join(data, "big.csv")
    if not os.path.exists(big):
        cases.make_table(big, rows=400000)
    inputs, targets = os.path.join(data, "inputs.npy"), os.path.join(data, "targets.npy")
    numbers = random.Random(5)
    write_npy(inputs, (3000, 50), [numbers.gauss(0, 1) for _ in range(150000)])
    write_npy(targets, (3000,), [numbers.gauss(0, 1) for _ in range(3000)])
    fit_arrays = ["fit", "--inputs", inputs, "--targets", targets, "--epochs", "1000000", "--memory", "8GB"] + out
    large = os.path.join(data, "large-run")
    outcome = tool.run(["fit", "--inputs", inputs, "--targets", targets, "--epochs", "1", "--network", "mlp:700-700",
                        "--structure", "kron", "--out", large, "--quiet"], data)
    if outcome.code != 0:
        raise SystemExit(f"the run for 'ockham evidence' failed: {outcome.error}")
    toy = ["paper", "toy-regression", "--quick", "--epochs", "100000", "--workers", "2", "--data",
           os.path.join(data, "toy"), "--out", "out"]
    return jobs + [
        SlowJob("paper", toy, 0, 5, "out/working"),
        SlowJob("predict a large table", ["predict", finished, big, "--out", "predictions.csv"], 0.3, 6),
        SlowJob("read a large table", ["fit", big, "--target", "y"] + out, 0.3, 4),
        SlowJob("fit a large network, Kronecker", fit_arrays + ["--network", "mlp:1500-1500", "--structure", "kron",
                                                                "--frequency", "1"], 0, 10, started),
        # One decomposition of 3,000 x 3,000 is a long step.
        SlowJob("fit arrays, full structure", fit_arrays + ["--network", "mlp:100", "--structure", "full",
                                                            "--frequency", "1"], 0, 12, started),
        SlowJob("evidence of a large network", ["evidence", "--from-run", large, "--dtype", "float64"], 0.3, 4),
        SlowJob("fit with a baseline", ["fit", table, "--target", "y", "--network", "mlp:20", "--epochs", "20000",
                                        "--frequency", "10000", "--baseline", "holdout"] + out, 0.2, 8, started)]


def ask(tool, job, name, wait, root, report, limit=LIMIT):
    """Sends the signal after `wait` seconds and times the answer."""
    with Scratch(root) as directory:
        process = tool.start(job.arguments, directory)
        if job.waits_for:
            while process.poll() is None and not os.path.exists(os.path.join(directory, job.waits_for)):
                time.sleep(0.005)
        end = time.monotonic() + wait
        while process.poll() is None and time.monotonic() < end:
            time.sleep(0.005)
        asked = time.monotonic()
        if process.poll() is not None:
            _, error = process.communicate()
            if process.returncode != 0:
                report.blame(f"{job.name}: ended with {process.returncode} before it was asked: {error.strip()}")
            report.count("jobs that were quicker than the signal")
            return 0
        process.send_signal(getattr(signal, name))
        _, error = process.communicate()
        seconds = time.monotonic() - asked
        report.count("signals answered")
        told = f"{job.name}, {name} after {wait:.2f} s"
        if seconds > limit:
            report.blame(f"{told}: answered after {seconds:.2f} s")
        if process.returncode not in (130, -getattr(signal, name)):
            report.blame(f"{told}: exit code {process.returncode}, {error.strip()}")
        if process.returncode == 130 and ("goes on" not in error or error.count("ockham: ") != 1):
            report.blame(f"{told}: said {error.strip()}")
        for sentence in cases.damage(directory):
            report.blame(f"{told}: {sentence}")
        for file in cases.files_of(directory):
            if cases.PARTIAL.match(os.path.basename(file)):
                report.blame(f"{told}: {file} is left")
        return seconds


def try_signals(tool, data, finished, root, report, full, seed):
    moments, worst = random.Random(seed), {}
    for job in slow_jobs(tool, data, finished, full):
        for number in range(12 if full else 1):
            seconds = ask(tool, job, ("SIGINT", "SIGTERM")[number % 2], moments.uniform(job.first, job.last), root, report,
                          LIMIT if full else BUSY_LIMIT)
            worst[job.name] = max(worst.get(job.name, 0), seconds)
    for name, seconds in worst.items():
        report.note(f"longest answer to a signal, {name}: {seconds:.2f} s")
