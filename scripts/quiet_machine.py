"""Running a program that measures time, and knowing what other processes did meanwhile (Linux)."""
import os
import signal
import subprocess
import sys
import tempfile
import time

BUSY_LIMIT = 0.15  # CPUs that others may keep busy on a quiet machine
LOOKS = 3          # one second each, before a machine is called busy: what just ended may still be cleaned up


class Refusal(Exception):
    """One sentence for the user; the program ends with exit code 1."""


class CommandFailed(Refusal):
    """A program that was run ended with an error."""


def cpus():
    return len(os.sched_getaffinity(0))


def _busy_seconds():
    """Of all CPUs since the start of the machine, all processes together."""
    with open("/proc/stat") as file:
        fields = [int(field) for field in file.readline().split()[1:9]]
    idle = fields[3] + fields[4]
    return (sum(fields) - idle) / os.sysconf("SC_CLK_TCK")


def busy_cpus(seconds=1.0):
    """How many CPUs are busy now."""
    before, start = _busy_seconds(), time.monotonic()
    time.sleep(seconds)
    return max(0.0, (_busy_seconds() - before) / (time.monotonic() - start))


def require_quiet():
    """Refuses a machine that is not quiet."""
    for _ in range(LOOKS):
        busy = busy_cpus()
        if busy <= BUSY_LIMIT:
            return
    raise Refusal(f"The machine is not quiet: other processes keep {busy:.1f} of {cpus()} CPUs busy; stop them and start "
                  "again (finished cells are kept), or measure all the same with --busy-ok, which marks the rows.")


def run(command, environment=None):
    """Runs a command; gives its output and how many CPUs others kept busy while it ran."""
    before, start = _busy_seconds(), time.monotonic()
    with tempfile.TemporaryFile("w+") as output, tempfile.TemporaryFile("w+") as errors:
        process = subprocess.Popen(command, stdout=output, stderr=errors, stdin=subprocess.DEVNULL, env=environment)
        try:
            _, status, usage = os.wait4(process.pid, 0)  # its processor time, and that of its children
        except BaseException:
            process.kill()
            process.wait()
            raise
        process.returncode = os.waitstatus_to_exitcode(status)
        elapsed = max(time.monotonic() - start, 1e-3)
        others = (_busy_seconds() - before - usage.ru_utime - usage.ru_stime) / elapsed
        output.seek(0)
        errors.seek(0)
        text, complaint = output.read(), errors.read().strip()
    if process.returncode != 0:
        last = complaint.splitlines()[-1] if complaint else f"exit code {process.returncode}"
        raise CommandFailed(f"`{' '.join(command)}` failed: {last}")
    return text, max(0.0, others)


def run_quietly(command, busy_ok, environment=None):
    """Runs a command on a quiet machine, once more if others disturbed it; gives its output and whether it was disturbed."""
    if not busy_ok:
        require_quiet()
    for _ in range(2):
        text, others = run(command, environment)
        if others <= BUSY_LIMIT or busy_ok:
            return text, others > BUSY_LIMIT
    raise Refusal(f"The machine did not stay quiet: other processes kept {others:.1f} of {cpus()} CPUs busy during `"
                  f"{' '.join(command)}`; stop them and start again (finished cells are kept), or use --busy-ok.")


def require_program(path, target):
    if not (os.path.isfile(path) and os.access(path, os.X_OK)):
        raise Refusal(f"There is no program {path}: build it with `cmake --build build --target {target}`, or say where it "
                      "is (--help).")


def end_with_one_sentence(main):
    """Runs main() and turns a refusal into a sentence and an exit code."""
    program = os.path.basename(sys.argv[0])
    signal.signal(signal.SIGPIPE, signal.SIG_DFL)  # `... | head` is no mistake
    try:
        sys.exit(main())
    except Refusal as refusal:
        print(f"{program}: {refusal}", file=sys.stderr)
        sys.exit(1)
    except KeyboardInterrupt:
        print(f"{program}: interrupted", file=sys.stderr)
        sys.exit(130)
