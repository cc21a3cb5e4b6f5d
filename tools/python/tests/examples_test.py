"""Runs the examples whose package is here: each is silent with all its schedules, and its variant
with a fault is caught."""
import importlib.util
import json
import os
import subprocess
import sys
import tempfile

EXAMPLES_FOLDER = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "examples")
EXAMPLES = (("anyio", "pool_anyio.py", "faulty_table", "3 guests at a table for two"),
            ("twisted", "lock_twisted.py", "faulty_lock", "] have the lock"),
            ("aiohttp", "client_aiohttp.py", "faulty_limit", "3 requests at once, and the limit"),
            ("asyncpg", "client_asyncpg.py", "faulty_pool", "3 connections, not 2"),
            ("uvicorn", "client_httpx.py", "faulty_server", "got TEXT"),
            ("redis", "client_redis.py", "faulty_count", "after 3 increments"),
            ("websockets", "client_websockets.py", "faulty_echo", "got "))
SKIPPED = 77


def run(name, folder, *options):
    process = subprocess.run(
        [sys.executable, "-m", "buzzer", "run", name, "--json", "--out", folder, *options],
        cwd=EXAMPLES_FOLDER, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    try:
        return process, json.loads(process.stdout)
    except ValueError:
        return process, {}


def is_caught(name, message, folder):
    order = ("--order", "fifo") if name.startswith("client") else ()  # the libraries rely on it
    process, report = run(name, folder, "--runs", "200", "--cancel", "none", "--no-shrink", *order)
    found = [one["message"] for one in report.get("violations", ())]
    if process.returncode == 1 and len(found) == 1 and message in found[0]:
        print(f"{name}: caught")
        return True
    print(f"FAILED: {name} is not caught: exit status {process.returncode}: {found} "
          f"{process.stderr.decode()[-2000:]}", file=sys.stderr)
    return False


def holds(name, folder):
    process, report = run(name, folder)
    if process.returncode == 0 and report.get("runs") == 100 and report["violations"] == []:
        print(f"{name}: 100 runs, silent")
        return True
    print(f"FAILED: {name}: exit status {process.returncode}: {process.stdout.decode()[:2000]}"
          f"{process.stderr.decode()[-2000:]}", file=sys.stderr)
    return False


def main():
    results = []
    for package, name, faulty, message in EXAMPLES:
        if len(sys.argv) > 1 and name not in sys.argv:
            continue
        if importlib.util.find_spec(package) is None:
            print(f"skipped: {name}: the package {package} is missing")
        else:
            with tempfile.TemporaryDirectory() as folder:
                results.append(holds(name, folder))
                results.append(is_caught(f"{name}::{faulty}", message, folder))
    sys.exit(SKIPPED if not results else 0 if all(results) else 1)


if __name__ == "__main__":
    main()
