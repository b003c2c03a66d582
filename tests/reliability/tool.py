"""Runs the tool under test, with faults on request, and kills it."""
import os
import shutil
import signal
import subprocess
import tempfile
import time

class Outcome:
    def __init__(self, code, out, error, seconds):
        self.code, self.out, self.error, self.seconds = code, out, error, seconds

    def killed(self):
        return self.code == -signal.SIGKILL

    def sentences(self):
        return [line for line in self.error.splitlines() if line.startswith("ockham: ")]


class Tool:
    def __init__(self, build, preload):
        # Absolute: the tool is started in directories of its own.
        self.program, self.preload = os.path.abspath(os.path.join(build, "ockham")), os.path.abspath(preload)
        self.environment = dict(os.environ, OMP_WAIT_POLICY="passive", NO_COLOR="1")

    def start(self, arguments, directory, faults=None, out=subprocess.PIPE):
        environment = dict(self.environment)
        if faults is not None:
            environment.update(faults, LD_PRELOAD=self.preload)
        # Its own group, so that nothing that ends the tests ends it unnoticed; the signals as a terminal has them.
        return subprocess.Popen([self.program] + arguments, cwd=directory, env=environment, stdout=out,
                                stderr=subprocess.PIPE, text=True, start_new_session=True,
                                preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL))

    def run(self, arguments, directory, faults=None, kill_after=None):
        """Waits for the end; kills it after so many seconds if it still runs."""
        start = time.monotonic()
        process = self.start(arguments, directory, faults)
        try:
            out, error = process.communicate(timeout=kill_after if kill_after is not None else 300)
        except subprocess.TimeoutExpired:
            process.kill()
            out, error = process.communicate()
        return Outcome(process.returncode, out, error, time.monotonic() - start)


def faults(directory, at=0, how="kill-before", calls="", log="", onwards=False):
    """The environment of fail_nth_call.cpp."""
    variables = {"OCKHAM_FAIL_DIRECTORY": os.path.realpath(directory), "OCKHAM_FAIL_AT": str(at),
                 "OCKHAM_FAIL_HOW": how, "OCKHAM_FAIL_CALLS": calls, "OCKHAM_FAIL_LOG": log}
    if onwards:
        variables["OCKHAM_FAIL_ONWARDS"] = "1"
    return variables


class Scratch:
    """A directory of its own for a job, removed at the end."""

    def __init__(self, root):
        self.path = tempfile.mkdtemp(dir=root)

    def __enter__(self):
        return self.path

    def __exit__(self, *ignored):
        shutil.rmtree(self.path, ignore_errors=True)
