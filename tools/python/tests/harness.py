"""Runs tests under Buzzer, each session in a process of its own, and says what was found."""
import gc
import itertools
import json
import mmap
import os
import platform
import sys
import tempfile
import traceback
import warnings

from buzzer import _native
from buzzer.loop import Loop

warnings.simplefilter("ignore", RuntimeWarning)  # of tasks cancelled before they began
sys.unraisablehook = lambda unraisable: None  # from what a run leaves behind
VARIANT = f"python-{platform.python_version()}"


def be_program(test, *command):
    """Runs the program in this process, with the test in its catalog. Its exit status."""
    return _native.main(["buzzer", *command], [(test.__name__, "a test", test)], VARIANT, Loop,
                        "buzzer", "buzzer replay", {}, -1)


def call(test, *command, with_errors=False):
    """The exit status, and what the program writes on standard output (and error)."""
    with tempfile.TemporaryFile("w+") as output:
        sys.stdout.flush()  # or the child writes it again, into its output
        gc.freeze()  # or the child copies what is here
        process = os.fork()
        if process == 0:
            for number in (1, 2) if with_errors else (1,):
                os.dup2(output.fileno(), number)
            code = 70
            try:
                code = be_program(test, *command)
            except BaseException:
                traceback.print_exc()
            sys.stdout.flush()
            os._exit(code)
        status = os.waitstatus_to_exitcode(os.waitpid(process, 0)[1])
        output.seek(0)
        return status, output.read()


def ask(test, *command):
    """What the program says in JSON; None if it says nothing (see standard error)."""
    _, text = call(test, *command, "--json")
    return json.loads(text) if text else None


def run(test, *arguments, runs=1000):
    """The report of `buzzer run` for one test; None."""
    with tempfile.TemporaryDirectory() as folder:
        return ask(test, "run", test.__name__, "--variant", VARIANT,
                   *(["--runs", str(runs)] if runs else []), "--out", folder, *arguments)


class Checks:
    """Counts what holds and what does not."""

    def __init__(self):
        self.failed = 0
        self.count = 0

    def check(self, condition, text):
        self.count += 1
        if not condition:
            self.failed += 1
            print(f"FAILED: {text}", file=sys.stderr)

    def silent(self, test, *arguments, runs=1000, but=()):
        """Nothing is found; but: what may be, as oracles with words of the message."""
        more = ["--keep-going"] if but else []
        report = run(test, "--no-shrink", *more, *arguments, runs=runs)
        self.check_silent(test, report, runs, but)
        return report

    def check_silent(self, test, report, runs, but=()):
        found = self._unexpected(report, but)
        self.check(report is not None and not found and report["runs"] == runs,
                   f"{test.__name__} finds nothing: {found or report}")

    @staticmethod
    def _unexpected(report, but):
        return [one for one in (report or {}).get("violations", [])
                if not any(one["oracle"] == oracle and words in one["message"]
                           for oracle, words in but)]

    def all_silent(self, tests, *arguments, runs=1000, known={}, skips=False):
        """Nothing is found in any, in one campaign that makes so many runs of each, and each run
        twice. The first that fails is tried alone. known: what may be, by test; skips: a test may
        be refused."""
        tests, reached = list(tests), mmap.mmap(-1, 4)
        while tests:
            calls, reached[:] = itertools.count(), bytes(4)

            async def in_turn(sim):
                place = next(calls) // 2 // runs % len(tests)
                reached[:] = max(reached[:], place.to_bytes(4, "big"))
                await tests[place](sim)
            report = run(in_turn, "--no-shrink", "--check-determinism", *arguments,
                         runs=runs * len(tests)) or {"violations": [], "runs": 0, "end": None}
            place = int.from_bytes(reached[:], "big")
            if not report["violations"] and report["runs"] == runs * len(tests):
                self.check(place == len(tests) - 1, f"{tests[place].__name__} is not the last to run")
                place = len(tests) - 1
            elif skips and report["end"] == "no-resource":
                print(f"skipped: {tests[place].__name__} needs more than a simulated loop")
            else:
                but, failed = known.get(tests[place], ()), self.failed
                self.silent(tests[place], *arguments, runs=runs, but=but)
                if not report["violations"] or self._unexpected(report, but):
                    self.check(self.failed > failed, f"{tests[place].__name__} finds nothing, "
                                                     f"after others: {report}")
            self.count += place
            tests = tests[place + 1:]

    def finds(self, oracles, test, *arguments, runs=1000, message=""):
        """A violation of one of the oracles, with words in its message; None."""
        # Most find it at once in the order of a plain loop, and then no such run is looked for.
        for more in (("--order", "fifo"), (), ("--keep-going",),
                     ("--keep-going", "--order", "fifo")):
            report = run(test, "--no-shrink", *more, *arguments, runs=runs) or {}
            for one in report.get("violations", []):
                if one["oracle"] in oracles and message in one["message"]:
                    self.check(True, "")
                    return one
        self.check(False, f"{test.__name__} finds {' or '.join(oracles)} ({message!r}) in {runs} "
                          f"runs: {report.get('violations', 'no report')}")
        return None

    def end(self):
        print(f"{self.count - self.failed} of {self.count} checks hold")
        sys.exit(1 if self.failed else 0)
