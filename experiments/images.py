#!/usr/bin/env python3
"""Online training against default weight decay on image sets: the paper's Table 2 at the size of two cores.

    experiments/images.py run    --data DIR [--ood DIR] [--seeds 0-2] [--only WORD]... [--ockham build/ockham] [--out DIR]
    experiments/images.py table
    experiments/images.py curves --out DIR --to FILE.svg

DIR holds fashion-mnist/, mnist/ and cifar-10/ as `ockham data` leaves them; --ood is a directory of other images (SVHN) for
the networks trained on CIFAR-10. Every training is one `ockham fit` in a run directory of its own; finished ones are not
repeated, and interrupted ones go on. What a training gave goes to --results (experiments/image_results.json, kept in the
repository), and `table` prints it; delete an entry to train it again. `curves` draws the evidence against the epochs. The settings were fixed before test data were looked at.
"""
import argparse
import json
import math
import pathlib
import statistics
import subprocess

# What is trained: set, network, training images. The optimiser follows the preset; a ResNet has Fixup's learning rate.
PROBLEMS = [
    ("fashion-mnist", "mlp:1024-512-256-128", 10000, []),
    ("fashion-mnist", "cnn:3c3d", 10000, []),
    ("mnist", "cnn:3c3d", 10000, []),
    ("cifar-10", "cnn:3c3d", 10000, []),
    ("cifar-10", "resnet:depth=20", 5000, ["--lr", "0.1"]),
]
ONLINE = ["--frequency", "5", "--hyper-steps", "100", "--hyper-lr", "1"]
WEIGHT_DECAY = 5e-4  # of the mean loss: a precision of 5e-4 N, the same for all weights


def method_flags(method, examples):
    if method == "kron":
        return ["--structure", "kron", "--curvature", "ggn", *ONLINE]
    if method == "expand":  # another rule for the positions of a convolution than the paper's
        return [*method_flags("kron", examples), "--kron-approx", "expand"]
    if method == "ef":
        return ["--structure", "diag", "--curvature", "ef", *ONLINE]
    # No learning; one estimate of the evidence at the end.
    return ["--structure", "diag", "--curvature", "ef", "--hyper-steps", "0", "--frequency", "1000",
            "--prior", "scalar", "--prior-precision", f"{WEIGHT_DECAY * examples:g}"]


METHODS = {"kron": "kron GGN", "ef": "diag EF", "decay": "weight decay", "expand": "kron GGN, expand"}


def concerns(method, problem):
    return method != "expand" or not problem[1].startswith("mlp")  # positions are a matter of convolutions


def run_path(arguments, problem, method, seed):
    return arguments.out / f"{problem[0]}-{problem[1].replace(':', '-').replace('=', '')}-{method}-{seed}"


def fit(arguments, problem, method, seed):
    """Trains, assesses out of distribution where asked, and returns what is kept."""
    data, network, examples, flags = problem
    run = run_path(arguments, problem, method, seed)
    if not (run / "run.json").exists():
        command = [arguments.ockham, "fit", arguments.data / data, "--network", network, "--preset", "paper-images",
                   "--epochs", "40", "--train-size", str(examples), "--seed", str(seed), "--out", run,
                   *method_flags(method, examples), *flags, *(["--resume"] if run.exists() else [])]
        print(" ".join(str(word) for word in command), flush=True)
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    candidate = json.loads((run / "run.json").read_text())["candidates"][0]
    kept = {"seconds": candidate["seconds"], "evidence": candidate["log_marginal_likelihood_per_example"],
            **{name: candidate["test"][name] for name in ("accuracy", "log_likelihood", "ece")}}
    if arguments.ood and data == "cifar-10":
        answer = subprocess.run([arguments.ockham, "predict", run, arguments.data / data, "--ood", arguments.ood, "--method",
                                 "map", "--json"], check=True, stdout=subprocess.PIPE)
        kept["auroc"] = json.loads(answer.stdout)["ood"]["auroc_map"]
    return kept


def read_results(arguments):
    return json.loads(arguments.results.read_text()) if arguments.results.exists() else {}


def run_all(arguments):
    first, _, last = arguments.seeds.partition("-")
    for seed in range(int(first), int(last or first) + 1):
        for problem in PROBLEMS:
            for method in METHODS:
                name = run_path(arguments, problem, method, seed).name
                if not concerns(method, problem) or not all(word in name for word in arguments.only):
                    continue
                if name in read_results(arguments):
                    continue
                kept = fit(arguments, problem, method, seed)
                results = {**read_results(arguments), name: kept}  # read anew: another process may have added its own
                partial = arguments.results.with_suffix(".partial")
                partial.write_text(json.dumps(results, indent=1, sort_keys=True) + "\n")
                partial.replace(arguments.results)


def spread(values, digits):
    if not values:
        return "–"
    mean = statistics.mean(values)
    if len(values) == 1:
        return f"{mean:.{digits}f}"
    return f"{mean:.{digits}f} ± {statistics.stdev(values) / math.sqrt(len(values)):.{digits}f}"


def print_table(arguments):
    print("| set | network | method | seeds | test accuracy % | test log likelihood | ECE | evidence per image | AUROC | "
          "minutes |")
    print("|---|---|---|---|---|---|---|---|---|---|")
    results = read_results(arguments)
    for problem in PROBLEMS:
        for method, name in METHODS.items():
            start = run_path(arguments, problem, method, "").name
            runs = [kept for run, kept in sorted(results.items()) if run.startswith(start)]
            if not runs:
                continue
            print(f"| {problem[0]} | {problem[1]} | {name} | {len(runs)} "
                  f"| {spread([100 * run['accuracy'] for run in runs], 2)} "
                  f"| {spread([run['log_likelihood'] for run in runs], 3)} "
                  f"| {spread([run['ece'] for run in runs], 3)} "
                  f"| {spread([run['evidence'] for run in runs], 3)} "
                  f"| {spread([run['auroc'] for run in runs if 'auroc' in run], 3)} "
                  f"| {statistics.mean(run['seconds'] for run in runs) / 60:.1f} |")


WIDTH, HEIGHT, LEFT, TOP, GAP = 210, 150, 56, 40, 66  # of a panel of `curves`, and around it
COLORS = {"kron": "#0072b2", "ef": "#d55e00", "expand": "#009e73"}


def panel(problem, curves, x, y):
    """Evidence per image against the epochs, as SVG at (x, y); a curve is a list of (epoch, evidence)."""
    values = [value for curve in curves.values() for _, value in curve]
    low, high, last = min(values), max(values), max(epoch for curve in curves.values() for epoch, _ in curve)
    low, high = low - 0.05 * (high - low), high + 0.05 * (high - low)
    place = lambda epoch, value: (x + WIDTH * epoch / last, y + HEIGHT * (high - value) / (high - low))
    parts = [f'<text x="{x}" y="{y - 8}" font-weight="bold">{problem[0]} {problem[1]}</text>',
             f'<rect x="{x}" y="{y}" width="{WIDTH}" height="{HEIGHT}" fill="none" stroke="#999"/>']
    for step in range(5):
        value = low + (high - low) * step / 4
        parts.append(f'<text x="{x - 5}" y="{place(0, value)[1] + 4:.1f}" text-anchor="end">{value:.2f}</text>')
    for epoch in range(0, last + 1, 10):
        parts.append(f'<text x="{place(epoch, low)[0]:.1f}" y="{y + HEIGHT + 15}" text-anchor="middle">{epoch}</text>')
    for method, curve in curves.items():
        points = " ".join("%.1f,%.1f" % place(*point) for point in curve)
        parts.append(f'<polyline points="{points}" fill="none" stroke="{COLORS[method]}" stroke-width="1.8"/>')
        parts += ['<circle cx="%.1f" cy="%.1f" r="2.4" fill="%s"/>' % (*place(*point), COLORS[method]) for point in curve]
    return parts


def draw_curves(arguments):
    """Seed 0 of every problem, from the run directories."""
    parts, count = [], 0
    for problem in PROBLEMS:
        curves = {}
        for method in COLORS:
            log = run_path(arguments, problem, method, 0) / "metrics.jsonl"
            if log.exists():
                passes = [json.loads(line) for line in log.read_text().splitlines()]
                curves[method] = [(one["epoch"], one["log_marginal_likelihood"] / problem[2]) for one in passes]
        if curves:
            parts += panel(problem, curves, LEFT + (count % 3) * (WIDTH + GAP), TOP + count // 3 * (HEIGHT + GAP))
            count += 1
    if not count:
        raise SystemExit(f"images.py: {arguments.out} has no run directories; give --out as in 'run'")
    width, height = 3 * (WIDTH + GAP) + 10, TOP + (count + 2) // 3 * (HEIGHT + GAP)
    for i, (method, color) in enumerate(COLORS.items()):
        parts.append(f'<text x="{LEFT + 150 * i}" y="{height - 10}" fill="{color}">{METHODS[method]}</text>')
    parts.append(f'<text x="{LEFT + 470}" y="{height - 10}">evidence per image against epochs, seed 0</text>')
    arguments.to.write_text(f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" '
                            f'font-family="sans-serif" font-size="11"><rect width="100%" height="100%" fill="white"/>\n'
                            + "\n".join(parts) + "\n</svg>\n")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=["run", "table", "curves"])
    parser.add_argument("--data", type=pathlib.Path)
    parser.add_argument("--ood", type=pathlib.Path)
    parser.add_argument("--seeds", default="0-2", help="first-last")
    parser.add_argument("--only", action="append", default=[], help="trainings whose name has this word; repeatable")
    parser.add_argument("--ockham", default="build/ockham")
    parser.add_argument("--out", type=pathlib.Path, default=pathlib.Path("image-runs"), help="run directories")
    parser.add_argument("--results", type=pathlib.Path,
                        default=pathlib.Path(__file__).resolve().parent / "image_results.json")
    parser.add_argument("--to", type=pathlib.Path, default=pathlib.Path("image-curves.svg"), help="of curves")
    arguments = parser.parse_args()
    if arguments.what == "curves":
        draw_curves(arguments)
        return
    if arguments.what == "table":
        print_table(arguments)
        return
    if not arguments.data:
        parser.error("run needs --data")
    arguments.out.mkdir(parents=True, exist_ok=True)
    run_all(arguments)


if __name__ == "__main__":
    main()
