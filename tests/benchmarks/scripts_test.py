"""scripts/bench and scripts/compare-peer with stand-ins for the programs that they run and for the peer."""
import importlib.machinery
import importlib.util
import json
import os
import subprocess
import sys
import tempfile
import textwrap
import unittest

sys.dont_write_bytecode = True
ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
SCRIPTS = os.path.join(ROOT, "scripts")

# Answers like ockham-bench: the pass takes N · P · 1e-9 seconds, with P = the last number of --network squared.
STAND_IN = """\
#!{python}
import json, re, sys
arguments = sys.argv[1:]
if "--help" in arguments:
    print("{help}")
    sys.exit(0)
def value(flag):
    return arguments[arguments.index(flag) + 1]
with open("{calls}", "a") as file:
    file.write(" ".join(arguments) + "\\n")
parameters = int(re.findall(r"[0-9]+", value("--network"))[-1]) ** 2
passed = "--pass-only" in arguments
print(json.dumps(dict(schema=1, network=value("--network"), structure=value("--structure"), curvature=value("--curvature"),
    samples=int(value("--samples")), batch=128, threads=2, parameters=parameters, seconds_train_epoch=0.25,
    seconds_curvature=int(value("--samples")) * parameters * 1e-9, seconds_decompose=None if passed else 0.1, ratio=2.625,
    ratio_fit_and_step=None if passed else 31.0, peak_memory_bytes=None if passed else 120, peak_memory_training_bytes=None if passed else 100,
    seconds_per_hyper_step=None if passed else 0.00025, gemm_gflops=200.0, gflops_curvature=100.0, flop_train_epoch=1e9,
    flop_curvature=4e9, flop_bound=4.0, loss=0.5)))
"""

LAPLACE = """\
class Fitted:
    def __init__(self, model, likelihood, subset_of_weights, hessian_structure, backend, backend_kwargs=None, **rest):
        self.model, self.structure, self.backend = model, hessian_structure, backend
        assert likelihood in ("classification", "regression") and subset_of_weights == "all"
    def fit(self, train_loader):
        if self.structure == "kron" and self.backend.__name__ == "BackPackEF":
            raise NotImplementedError("no Kronecker factors\\nof this kind")
        assert len(train_loader.dataset) == sum(len(x) for x, _ in train_loader)
        self.outputs = [self.model(x).detach() for x, _ in train_loader]
        self.H_facs = self
    def decompose(self):
        pass
    def log_marginal_likelihood(self, prior_precision=None, sigma_noise=None):
        total = prior_precision.log().sum()
        return total if sigma_noise is None else total - sigma_noise.log()
Laplace = Fitted
__version__ = "0.0"
"""
CURVATURE = """\
class BackPackGGN: pass
class BackPackEF: pass
"""


def load(name):
    loader = importlib.machinery.SourceFileLoader(name.replace("-", "_"), os.path.join(SCRIPTS, name))
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader(loader.name, loader))
    sys.path.insert(0, SCRIPTS)
    loader.exec_module(module)
    return module


def run(script, *arguments):
    return subprocess.run([sys.executable, os.path.join(SCRIPTS, script), *arguments], capture_output=True, text=True)


def python_with_torch():
    for python in (sys.executable, "/usr/bin/python3"):
        if os.path.exists(python) and subprocess.run([python, "-c", "import torch"], capture_output=True).returncode == 0:
            return python
    return None


class ScriptTest(unittest.TestCase):
    def setUp(self):
        self.directory = tempfile.TemporaryDirectory()
        self.addCleanup(self.directory.cleanup)

    def path(self, *parts):
        return os.path.join(self.directory.name, *parts)

    def write(self, text, *parts, executable=False):
        os.makedirs(os.path.dirname(self.path(*parts)), exist_ok=True)
        with open(self.path(*parts), "w", encoding="utf-8") as file:
            file.write(text)
        if executable:
            os.chmod(self.path(*parts), 0o755)
        return self.path(*parts)

    def read(self, *parts):
        with open(self.path(*parts), encoding="utf-8") as file:
            return file.read()

    def stand_in(self, help=""):
        return self.write(STAND_IN.format(python=sys.executable, calls=self.path("calls"), help=help), "ockham-bench", executable=True)

    def assert_sentence(self, answer, *mentioned):
        self.assertEqual(answer.returncode, 1, answer.stderr)
        lines = answer.stderr.strip().splitlines()
        self.assertEqual(len([line for line in lines if not line.startswith("[")]), 1, answer.stderr)
        for part in mentioned:
            self.assertIn(part, lines[-1])


class BenchTest(ScriptTest):
    def bench(self, *arguments, program=None):
        return run("bench", "--ockham-bench", program or self.stand_in(), "--results", self.path("results.json"), "--document",
                   self.path("performance.md"), "--busy-ok", *arguments)

    def test_dry_run_lists_every_cell_and_runs_nothing(self):
        answer = self.bench("--dry-run")
        self.assertEqual(answer.returncode, 0, answer.stderr)
        names = [line.split(":")[0] for line in answer.stdout.splitlines()]
        for word in ("mlp", "3c3d-28", "3c3d-32", "resnet", "small"):
            for kind in ("diag ef", "kron ef", "kron mc", "diag ggn", "kron ggn"):
                self.assertIn(f"table {word} {kind}", names)
        self.assertIn("table small full ggn", names)
        for variable in ("N", "width", "depth", "C"):
            self.assertTrue(any(name.startswith(f"curve {variable} full ggn") for name in names), variable)
        self.assertFalse(any(name.startswith("tolerance") for name in names))
        self.assertFalse(os.path.exists(self.path("calls")))

    def test_tolerance_only_where_the_program_has_it(self):
        program = self.stand_in(help="--ggn-tolerance FLOAT")
        answer = self.bench("--dry-run", "--only", "tolerance", program=program)
        self.assertEqual(len(answer.stdout.splitlines()), 4)
        self.assertIn("--ggn-tolerance 1e-3 --epochs-before", answer.stdout)

    def test_writes_between_the_markers_only(self):
        before, after = "# Title\n\ntext <!-- other -->\n", "\n## After\nmore\n"
        marked = before + "<!-- scripts/bench: begin -->\nold\n<!-- scripts/bench: end -->" + after
        self.write(marked, "performance.md")
        answer = self.bench("--only", "table mlp", "--only", "table small")
        self.assertEqual(answer.returncode, 0, answer.stderr)
        text = self.read("performance.md")
        self.assertTrue(text.startswith(before) and text.endswith(after))
        self.assertNotIn("old", text)
        self.assertRegex(text, r"\| MLP 784-1024-512-256-128-10, P = 16,384, N = 2560 \| diag EF[^|]* \| 2.62 \| 4.00 \| "
                         r"100 of 200 \(50 %\) \| 1.20 \| 0.025 s \|")
        self.assertIn("take 31.0 training epochs", text)

    def test_adds_missing_markers_at_the_end(self):
        self.write("# Title\n", "performance.md")
        self.assertEqual(self.bench("--only", "table mlp diag ef").returncode, 0)
        text = self.read("performance.md")
        self.assertTrue(text.startswith("# Title\n\n<!-- scripts/bench: begin -->\n"))
        self.assertTrue(text.endswith("<!-- scripts/bench: end -->\n"))

    def test_refuses_half_a_pair_of_markers(self):
        self.write("# Title\n<!-- scripts/bench: begin -->\n", "performance.md")
        self.assert_sentence(self.bench("--only", "table mlp diag ef"), "performance.md", "in this order")
        self.assertEqual(self.read("performance.md"), "# Title\n<!-- scripts/bench: begin -->\n")

    def test_keeps_finished_cells(self):
        for arguments, calls in (([], 1), ([], 1), (["--again"], 2)):
            self.assertEqual(self.bench("--only", "table mlp diag ef", "--print", *arguments).returncode, 0)
            self.assertEqual(len(self.read("calls").splitlines()), calls)
        self.assertEqual(len(json.loads(self.read("results.json"))["cells"]), 1)
        self.assertFalse(os.path.exists(self.path("performance.md")))

    def test_fits_exponents(self):
        answer = self.bench("--quick", "--only", "curve N kron ggn", "--only", "curve width kron ef", "--print")
        self.assertEqual(answer.returncode, 0, answer.stderr)
        self.assertRegex(answer.stdout, r"kron GGN \| 64: [^|]* \| 1.00 \(1\) \|")
        self.assertRegex(answer.stdout, r"kron EF \| 16: [^|]* \| 2.00 \(2\) \| 1.00 \(1\) \|")
        self.assertAlmostEqual(load("bench").exponent([1, 2, 4], [3, 24, 192]), 3)

    def test_refusals_are_one_sentence(self):
        self.assert_sentence(self.bench(program=self.path("none")), "There is no program", "cmake --build")
        self.assert_sentence(self.bench("--only", "nonsense"), "'nonsense'", "--dry-run")
        broken = self.write("#!/bin/sh\necho 'ockham-bench: it hurts' >&2\nexit 4\n", "broken", executable=True)
        self.assert_sentence(self.bench("--only", "table mlp diag ef", program=broken), "failed", "it hurts")
        self.write("[]", "results.json")
        self.assert_sentence(self.bench("--only", "table mlp diag ef"), "results.json")

    def test_refuses_a_busy_machine(self):
        machine = load("quiet_machine.py")
        machine.busy_cpus = lambda seconds=1.0: 1.5
        with self.assertRaisesRegex(machine.Refusal, "not quiet: other processes keep 1.5 of"):
            machine.run_quietly(["true"], busy_ok=False)
        self.assertEqual(machine.run_quietly(["echo", "one"], busy_ok=True)[0], "one\n")
        machine.busy_cpus = lambda seconds=1.0: 0.02
        machine.run = lambda command, environment=None: ("two", 0.01)
        self.assertEqual(machine.run_quietly(["echo"], busy_ok=False), ("two", False))
        machine.run = lambda command, environment=None: ("three", 1.0)
        self.assertEqual(machine.run_quietly(["echo"], busy_ok=True), ("three", True))
        with self.assertRaisesRegex(machine.Refusal, "did not stay quiet: other processes kept 1.0 of"):
            machine.run_quietly(["echo"], busy_ok=False)


class ComparePeerTest(ScriptTest):
    def compare(self, *arguments):
        loop = self.write(f"#!{sys.executable}\nprint('{json.dumps({'benchmarks': [{'median_ms': 2.0}]})}')\n", "kernels", executable=True)
        return run("compare-peer", "--ockham-bench", self.stand_in(), "--kernel-benchmarks", loop, "--busy-ok", *arguments)

    def peer(self, check, *lines):
        """A stand-in for a Python that has the peer."""
        answers = textwrap.dedent(f"""\
            #!{sys.executable}
            import sys
            if "--check" in sys.argv:
                print({json.dumps(check)!r})
                sys.exit(3 if "missing" in {check!r} else 0)
            for line in {[json.dumps(line) for line in lines]!r}:
                print(line)
            """)
        return self.write(answers, "peer-python", executable=True)

    def test_dry_run_needs_nothing(self):
        answer = self.compare("--dry-run", "--python", self.path("none"))
        self.assertEqual(answer.returncode, 0, answer.stderr)
        for name in ("pass mlp kron ggn:", "pass 3c3d-28 diag ef:", "pass 3c3d-32 kron mc:", "pass resnet diag ggn:", "loop energy full ggn:"):
            self.assertIn(name, answer.stdout)

    def test_says_what_to_install(self):
        python = self.peer({"missing": "ModuleNotFoundError: No module named 'laplace'"})
        self.assert_sentence(self.compare("--python", python), "No module named 'laplace'", "-m pip install laplace-torch")
        self.assert_sentence(self.compare("--python", self.path("none")), "cannot be started", "--python")
        python = self.peer({"torch": "1", "laplace": "2", "backends": []})
        self.assert_sentence(self.compare("--python", python), "no backend")

    def test_compares_with_the_fastest_backend(self):
        found = {"torch": "1.13", "laplace": "0.1", "backends": ["A", "B"]}
        slow = {"backend": "A", "ratio": 9.0, "seconds_curvature": 0.9}
        fast = {"backend": "B", "ratio": 5.25, "seconds_curvature": 0.256 * 16384e-6 * 10}
        unable = {"backend": "C", "reason": "NotImplementedError: never"}
        answer = self.compare("--python", self.peer(found, slow, fast, unable), "--quick", "--only", "pass mlp kron ggn")
        self.assertEqual(answer.returncode, 0, answer.stderr)
        self.assertRegex(answer.stdout, r"kron GGN[^|]* \| B +\| 5.25 +\| 2.62 +\| 41.9 +\| 4.19 +\| 2.0 +\| 10.0 ")
        self.assertIn("C: NotImplementedError: never", answer.stdout)

    def test_goes_on_when_the_peer_dies(self):
        python = self.peer({"torch": "1.13", "laplace": "0.1", "backends": ["A"]})
        with open(python, "a") as file:
            file.write("sys.exit('out of memory')\n")
        answer = self.compare("--python", python, "--quick", "--only", "pass mlp kron ggn")
        self.assertEqual(answer.returncode, 0, answer.stderr)
        self.assertRegex(answer.stdout, r"kron GGN[^|]* \| none can +\| +\| 2.62 ")
        self.assertIn("failed: out of memory", answer.stdout)

    def test_compares_the_online_loop(self):
        found = {"torch": "1.13", "laplace": "0.1", "backends": ["A"]}
        python = self.peer(found, {"backend": "A", "seconds_epoch": 0.03})
        answer = self.compare("--python", python, "--only", "loop boston full ggn")
        self.assertEqual(answer.returncode, 0, answer.stderr)
        self.assertRegex(answer.stdout, r"online loop, boston \| full GGN[^|]* \| A .*\| 30 +\| 2 +\| +\| 15.0 ")

    def test_times_a_peer_with_torch(self):
        python = python_with_torch()
        if python is None:
            self.skipTest("no Python here has torch")
        self.write(LAPLACE, "site", "laplace", "__init__.py")
        self.write(CURVATURE, "site", "laplace", "curvature", "__init__.py")
        answer = self.compare("--python", python, "--site", self.path("site"), "--quick", "--only", "3c3d-28 kron ef",
                              "--only", "resnet diag ef", "--only", "loop boston full")
        self.assertEqual(answer.returncode, 0, answer.stderr)
        self.assertIn("laplace-torch 0.0", answer.stdout)
        self.assertIn("pass 3c3d-28 kron ef: BackPACK: NotImplementedError: no Kronecker factors\n", answer.stdout)
        self.assertEqual(answer.stdout.count("| BackPACK "), 2, answer.stdout)
        # The networks are those of ockham: as many parameters.
        count = "import peer_timing as t; print([sum(p.numel() for p in make().parameters()) for _, make in t.NETWORKS.values()])"
        places = os.pathsep.join([self.path("site"), os.path.join(ROOT, "benchmarks")])
        sizes = subprocess.run([python, "-c", count], capture_output=True, text=True,
                               env=dict(os.environ, PYTHONPATH=places, PYTHONDONTWRITEBYTECODE="1"))
        self.assertEqual(sizes.stdout.strip(), "[1494154, 892010, 895210, 268393]", sizes.stderr)


if __name__ == "__main__":
    unittest.main()
