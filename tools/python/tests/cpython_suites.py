"""Suites of others under `pytest --buzzer`: none fails, but those of KNOWN faults.

CPython's own tests of asyncio, and Twisted's of its primitives, where it is installed.
"""
import importlib.util
import os
import re
import subprocess
import sys
import tempfile

MODULES = ("locks", "queues", "taskgroups", "timeouts", "waitfor", "threads")
KNOWN = {"test_filling_tasks_cancel_one"}  # gh-155233
RUNS = os.environ.get("BUZZER_SUITE_RUNS", "100")


def is_passed(modules, *options, known=frozenset(), tests_min=1):
    with tempfile.TemporaryDirectory() as folder:
        done = subprocess.run(
            [sys.executable, "-m", "pytest", "-q", "-rfs", "-p", "buzzer.pytest_plugin", "-p",
             "no:cacheprovider", f"--buzzer={RUNS}", *options, "--pyargs", *modules], cwd=folder,
            text=True, capture_output=True, check=False,
            env={**os.environ, "PYTHONHASHSEED": "0"})
    print(done.stdout[-10000:], done.stderr)
    failed = set(re.findall(r"^(?:FAILED|ERROR) .*::(\w+)", done.stdout, re.MULTILINE))
    counts = {word: int(count) for count, word in re.findall(
        r"(\d+) (passed|failed|skipped)", done.stdout.splitlines()[-1])}
    return (failed == known and counts.get("skipped", 0) == 0
            and sum(counts.values()) >= tests_min)


results = []
if sys.version_info[:2] == (3, 11) and importlib.util.find_spec("test.test_asyncio") is not None:
    results.append(is_passed([f"test.test_asyncio.test_{name}" for name in MODULES], known=KNOWN,
                             tests_min=187))
if importlib.util.find_spec("twisted") is not None:
    results.append(is_passed(["twisted.test.test_defer"], "--buzzer-sync", "-k",
                             "OtherPrimitivesTests", tests_min=10))
if not results:
    print("skipped: neither CPython's tests of 3.11 nor Twisted's are installed")
    sys.exit(77)
sys.exit(0 if all(results) else 1)
