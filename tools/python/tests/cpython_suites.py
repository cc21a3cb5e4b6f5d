"""CPython's own tests of asyncio under `pytest --buzzer`: none fails, but those of KNOWN faults."""
import importlib.util
import os
import re
import subprocess
import sys
import tempfile

MODULES = ("locks", "queues", "taskgroups", "timeouts", "waitfor", "threads")
KNOWN = {"test_filling_tasks_cancel_one"}  # gh-155233
REFUSED_MAX = 2  # they call time.sleep()
RUNS = os.environ.get("BUZZER_SUITE_RUNS", "100")

if importlib.util.find_spec("test.test_asyncio") is None or sys.version_info[:2] != (3, 11):
    print("skipped: CPython's tests of 3.11 are not installed")
    sys.exit(77)
with tempfile.TemporaryDirectory() as folder:
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-rfs", "-p", "buzzer.pytest_plugin", "-p",
         "no:cacheprovider", f"--buzzer={RUNS}", "--pyargs",
         *[f"test.test_asyncio.test_{name}" for name in MODULES]], cwd=folder, text=True,
        capture_output=True, check=False, env={**os.environ, "PYTHONHASHSEED": "0"})
print(done.stdout[-10000:], done.stderr)
failed = set(re.findall(r"^(?:FAILED|ERROR) .*::(\w+)", done.stdout, re.MULTILINE))
counts = {word: int(count) for count, word in re.findall(
    r"(\d+) (passed|failed|skipped)", done.stdout.splitlines()[-1])}
is_ok = (failed == KNOWN and counts.get("skipped", 0) <= REFUSED_MAX
         and sum(counts.values()) >= 187)
sys.exit(0 if is_ok else 1)
