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
from harness import Checks, run  # noqa: E402


def shows_itself(program):
    path = os.path.join(HERE, "programs", program + ".py")
    return subprocess.run([sys.executable, path], stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, timeout=60)


def find(checks, test, runs, with_tokens):
    report = run(test, "--keep-going", "--no-shrink", runs=runs)
    found = [one for one in (report or {}).get("violations", []) if one["oracle"] in test.oracles]
    checks.check(found, f"{test.name} is found in {runs} runs: {(report or {}).get('violations')}")
    if found and with_tokens:
        print(f"{test.of:8} {test.name:24} {found[0]['oracle']:18} {found[0]['token']}")
    shown = shows_itself(test.program)
    checks.check(shown.returncode == 0,
                 f"{test.name}: programs/{test.program}.py shows it: {shown.returncode} "
                 f"{shown.stdout.decode()}{shown.stderr.decode()}")


def main():
    checks = Checks()
    for library in ("asyncio", "anyio", "aiohttp", "twisted"):
        if importlib.util.find_spec(library) is None:
            print(f"skipped: the package {library} is missing")
        elif importlib.util.find_spec("faults_" + library) is not None:
            importlib.import_module("faults_" + library)
    only = [argument for argument in sys.argv[1:] if not argument.startswith("--")]
    for test in FAULTS:
        if test.is_here and (not only or test.name in only):
            find(checks, test, 300, "--tokens" in sys.argv)
    checks.end()


if __name__ == "__main__":
    main()
