#!/usr/bin/env python3
"""ockham fit with automatic settings on UCI tables, on their standard splits, beside the paper's Table 1.

    experiments/uci_table.py --data DIR [--sets energy,yacht] [--splits 0-4] [--ockham build/ockham] [--out DIR] [-- flags of fit]

DIR holds NAME.csv (the target last) and splits/NAME.json (a list of {"train": rows, "test": rows}). Results are kept in --out, one
run directory per split, and are not computed twice.
"""
import argparse
import csv
import json
import math
import pathlib
import statistics
import subprocess
import sys

# The best of the marginal-likelihood columns of the paper's Table 1: mean and standard error of the test NLL.
PAPER = {"boston": (2.62, 0.12), "concrete": (3.06, 0.05), "energy": (0.53, 0.02), "wine-quality-red": (0.93, 0.01),
         "yacht": (1.48, 0.07)}


def write_rows(path, header, rows):
    with open(path, "w", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(header)
        writer.writerows(rows)


def fit(arguments, name, split):
    run = arguments.out / f"{name}-{split}"
    if not (run / "run.json").exists():
        with open(arguments.data / f"{name}.csv", newline="") as file:
            header, *rows = list(csv.reader(file))
        parts = json.loads((arguments.data / "splits" / f"{name}.json").read_text())[split]
        files = {}
        for part in ("train", "test"):
            files[part] = arguments.out / f"{name}-{split}-{part}.csv"
            write_rows(files[part], header, [rows[index] for index in parts[part]])
        subprocess.run([arguments.ockham, "fit", files["train"], "--test", files["test"], "--target", header[-1],
                        "--out", run, *arguments.flags], check=True, stdout=subprocess.DEVNULL)
    return json.loads((run / "run.json").read_text())


def mean_and_error(values):
    error = statistics.stdev(values) / math.sqrt(len(values)) if len(values) > 1 else float("nan")
    return statistics.mean(values), error


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=pathlib.Path, required=True)
    parser.add_argument("--sets", default=",".join(PAPER))
    parser.add_argument("--splits", default="0-4", help="first-last")
    parser.add_argument("--ockham", default="build/ockham")
    parser.add_argument("--out", type=pathlib.Path, default=pathlib.Path("uci-runs"))
    parser.add_argument("flags", nargs="*", help="further flags of ockham fit, after --")
    arguments = parser.parse_args()
    arguments.out.mkdir(parents=True, exist_ok=True)
    first, _, last = arguments.splits.partition("-")
    splits = range(int(first), int(last or first) + 1)
    print("| set | NLL, linearised | NLL, MAP | paper's best | bound | seconds a split | selected |")
    print("|---|---|---|---|---|---|---|")
    for name in arguments.sets.split(","):
        runs = [fit(arguments, name, split) for split in splits]
        best = [run["candidates"][0] for run in runs]
        mean, error = mean_and_error([one["test"]["nll_bayes"] for one in best])
        map_mean, map_error = mean_and_error([one["test"]["nll"] for one in best])
        paper, paper_error = PAPER.get(name, (float("nan"), float("nan")))
        bound = paper + 2 * math.hypot(error, paper_error)
        seconds = statistics.mean(run["seconds"] for run in runs)
        print(f"| {name} | {mean:.3f} ± {error:.3f} | {map_mean:.3f} ± {map_error:.3f} | {paper:.2f} ± {paper_error:.2f} "
              f"| {bound:.3f} {'holds' if mean <= bound else 'does not hold'} | {seconds:.0f} "
              f"| {', '.join(one['network'] for one in best)} |")
        sys.stdout.flush()


if __name__ == "__main__":
    main()
