"""Finds the known faults of the installed libraries in the real libraries, and runs the program
without Buzzer that shows the same. With --tokens: prints what scenarios/FINDINGS.md lists."""
import importlib
import importlib.util
import os
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "tests"))

from entries import FAULTS  # noqa: E402
from harness import Checks  # noqa: E402


def shows_itself(program):
    path = os.path.join(HERE, "programs", program + ".py")
    return subprocess.run([sys.executable, path], stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, timeout=60)


def find(checks, test, with_tokens):
    found = checks.finds(test.oracles, test, runs=test.runs, message=test.message)
    if found and with_tokens:
        print(f"{test.of:8} {test.name:24} {found['oracle']:18} {found['token']}")
        print(f"         {found['message']}")
    shown = shows_itself(test.program)
    checks.check(shown.returncode == 0,
                 f"{test.name}: programs/{test.program}.py shows it: {shown.returncode} "
                 f"{shown.stdout.decode()}{shown.stderr.decode()}")


def main():
    checks = Checks()
    for library in ("asyncio", "anyio", "aiohttp", "async_timeout", "twisted"):
        if importlib.util.find_spec(library) is None:
            print(f"skipped: the package {library} is missing")
        elif importlib.util.find_spec("faults_" + library) is not None:
            importlib.import_module("faults_" + library)
    only = [argument for argument in sys.argv[1:] if not argument.startswith("--")]
    for test in FAULTS:
        if only and test.name not in only:
            continue
        if test.is_here:
            find(checks, test, "--tokens" in sys.argv)
        else:
            print(f"skipped: {test.name}: {test.of} has it in {test.versions}, not here")
    checks.end()


if __name__ == "__main__":
    main()
