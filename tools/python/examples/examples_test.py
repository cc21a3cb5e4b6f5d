"""Runs the examples whose package is here: each is silent, and with all its schedules."""
import importlib.util
import json
import os
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
EXAMPLES = (("anyio", "pool_anyio.py"), ("aiohttp", "connector_aiohttp.py"),
            ("twisted", "lock_twisted.py"))
SKIPPED = 77


def holds(name, folder):
    process = subprocess.run(
        [sys.executable, "-m", "buzzer", "run", name, "--json", "--out", folder], cwd=HERE,
        stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    try:
        report = json.loads(process.stdout)
    except ValueError:
        report = {}
    if process.returncode == 0 and report.get("runs") == 100 and report["violations"] == []:
        print(f"{name}: 100 runs, silent")
        return True
    print(f"FAILED: {name}: exit status {process.returncode}: {process.stdout.decode()[:2000]}"
          f"{process.stderr.decode()[-2000:]}", file=sys.stderr)
    return False


def main():
    results = []
    for package, name in EXAMPLES:
        if importlib.util.find_spec(package) is None:
            print(f"skipped: {name}: the package {package} is missing")
        else:
            with tempfile.TemporaryDirectory() as folder:
                results.append(holds(name, folder))
    sys.exit(SKIPPED if not results else 0 if all(results) else 1)


if __name__ == "__main__":
    main()
