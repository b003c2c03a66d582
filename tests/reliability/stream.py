#!/usr/bin/env python3
"""Predicts tables of more and more rows and watches the peak of the memory, which must not grow with them.

stream.py --tool PROGRAM [--rows 100000,1000000,10000000]

The rows repeat, so that the right output is known: each table's predictions must be those of the smallest one, again and again, bit for
bit. To a file, and as JSON into a pipe.
"""
import argparse
import hashlib
import os
import random
import subprocess
import sys
import tempfile
import time

sys.dont_write_bytecode = True  # the sources' directory stays as it is
import soak  # noqa: E402

BLOCK = 102400  # rows that repeat: a multiple of the parts that the tool predicts at once
MOST_GROWTH = 0.05


def make_block(seed=2):
    numbers = random.Random(seed)
    return "".join(f"{numbers.gauss(0, 1):.4f},{numbers.gauss(0, 1):.4f},{numbers.gauss(0, 1):.4f},{numbers.gauss(0, 1):.3f}\n"
                   for _ in range(BLOCK))


def write_table(path, block, rows):
    with open(path, "w") as file:
        file.write("a,b,c,y\n")
        for _ in range(rows // BLOCK):
            file.write(block)
        file.writelines(line + "\n" for line in block.split("\n", rows % BLOCK)[: rows % BLOCK])


def run(command, read=None):
    """Seconds, processor seconds and peak bytes; `read` looks at standard output while it comes."""
    started = time.monotonic()
    process = subprocess.Popen(command, stdout=subprocess.PIPE if read else subprocess.DEVNULL, stderr=subprocess.PIPE)
    if read:
        read(process.stdout)
    message = process.stderr.read().decode()
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode != 0:
        sys.exit(f"{' '.join(command[:3])} ended with {process.returncode}: {message}")
    return time.monotonic() - started, usage.ru_utime + usage.ru_stime, usage.ru_maxrss * 1024


def digests(file, rows):
    """Of the header, and of each block of rows."""
    header = file.readline()
    blocks = []
    while rows > 0:
        digest = hashlib.sha256()
        for _ in range(min(rows, BLOCK)):
            digest.update(file.readline())
        blocks.append(digest.hexdigest())
        rows -= BLOCK
    return header, blocks, file.read(1)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tool", required=True)
    parser.add_argument("--rows", default="102400,1024000,10240000")
    flags = parser.parse_args()
    sizes = [int(rows) for rows in flags.rows.split(",")]
    wrong = []
    peaks = {}
    with tempfile.TemporaryDirectory() as place:
        table, model, data, out = (os.path.join(place, name) for name in ("train.csv", "run", "data.csv", "predictions.csv"))
        soak.make_table(table, rows=500)
        run([flags.tool, "fit", table, "--target", "y", "--network", "mlp:16", "--epochs", "100", "--quiet", "--out", model])
        block, expected = make_block(), None
        for rows in sizes:
            write_table(data, block, rows)
            for kind in ("linearised to a file", "map to a file", "linearised as JSON to a pipe"):
                if kind.endswith("pipe"):
                    received = [0]

                    def read(pipe):
                        for part in iter(lambda: pipe.read(1 << 20), b""):
                            received[0] += len(part)

                    seconds, busy, peak = run([flags.tool, "predict", model, data, "--json", "--quiet"], read)
                    size = received[0]
                else:
                    method = kind.split()[0]
                    seconds, busy, peak = run([flags.tool, "predict", model, data, "--out", out, "--method", method, "--quiet"])
                    size = os.path.getsize(out)
                    with open(out, "rb") as file:
                        header, blocks, rest = digests(file, rows)
                    if method == "linearised":
                        expected = expected or blocks[0]
                        if rest or any(block != expected for block in blocks[: rows // BLOCK]):
                            wrong.append(f"{rows} rows: the predictions are not those of the smallest table again and again")
                    os.remove(out)
                first = peaks.setdefault(kind, peak)
                print(f"{rows} rows, {kind}: peak {peak / 2**20:.0f} MB ({100 * (peak / first - 1):+.1f} %), {seconds:.0f} s "
                      f"({busy:.0f} s of processor, {rows / busy:.0f} rows a second of it), {size / 2**20:.0f} MB written", flush=True)
                if peak > (1 + MOST_GROWTH) * first:
                    wrong.append(f"{rows} rows, {kind}: the memory grew with the rows")
    for sentence in wrong:
        print(f"  WRONG: {sentence}")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
