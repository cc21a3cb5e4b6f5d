"""Replays the findings of scenarios/FINDINGS.md in the real libraries, as installed, and runs the
programs without Buzzer that show the same. A finding that has no token for this interpreter is
looked for; with --search, every one is, and what FINDINGS.md lists is printed."""
import importlib
import os
import re
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, ".."))

from entries import FAULTS  # noqa: E402
from harness import VARIANT, Checks, ask  # noqa: E402

FINDINGS = os.path.join(HERE, "..", "..", "..", "..", "scenarios", "FINDINGS.md")


def tokens_here():
    """The tokens of this interpreter, by the name of the test."""
    with open(FINDINGS, encoding="utf-8") as file:
        text = re.sub(r"`(\w+):(0x\w+)(#\w+)`",
                      r"`\1:python-3.11.2:portfolio:\2:order=fifo\3`", file.read())
    tokens = [word for word in text.split("`") if f":{VARIANT}:" in word]
    return {token.split(":")[0]: token for token in tokens}


def replay(checks, test, token):
    report = ask(test, "replay", token) or {}
    violation = report.get("violation") or {}
    checks.check(report.get("result") == "matched" and violation.get("oracle") in test.oracles and
                 test.message in violation.get("message", ""),
                 f"{test.name}: {token} shows it: {report}")


def find(checks, test, is_said):
    found = checks.finds(test.oracles, test, "--max-lag", test.max_lag, runs=test.runs,
                         message=test.message)
    if found and is_said:
        print(f"{test.of:8} {test.name:24} {found['oracle']:18} {found['token']}")
        print(f"         {found['message']}")


def run_program(checks, test):
    command = [sys.executable, os.path.join(HERE, "show.py"), test.of, test.program.__name__]
    shown = subprocess.run(command, capture_output=True, text=True, timeout=60)
    checks.check(shown.returncode == 0, f"{test.name}: {' '.join(command[1:])}: exit status "
                 f"{shown.returncode} {shown.stdout}{shown.stderr}")


def main():
    checks = Checks()
    for library in ("asyncio", "anyio", "aiohttp", "aiomysql", "async_timeout", "discord",
                    "httpcore", "psycopg_pool", "redis", "tornado", "twisted"):
        try:
            importlib.import_module("faults_" + library)
        except ModuleNotFoundError as error:
            print(f"skipped: {library}: {error}")
    tokens = tokens_here()
    only = [argument for argument in sys.argv[1:] if not argument.startswith("--")]
    for test in FAULTS:
        if only and test.name not in only:
            continue
        if not test.is_here:
            print(f"skipped: {test.name}: {test.of} has it in {test.versions}, not here")
            continue
        if "--search" in sys.argv or test.__name__ not in tokens:
            find(checks, test, "--search" in sys.argv)
        else:
            replay(checks, test, tokens[test.__name__])
        run_program(checks, test)
    checks.end()


if __name__ == "__main__":
    main()
