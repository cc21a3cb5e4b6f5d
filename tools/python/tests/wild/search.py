"""Searches the installed libraries with drawn programs, for a time.

search.py [--seconds N] [--turn N] [--runs PERCENT] [--only TEST]: what is known is counted by name; the
rest is shrunk and shown, with its token. Exit status: 0 nothing new, 1 something, 77 no library.
"""
import argparse
import collections
import os
import sys
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, ".."))

import drawn  # noqa: E402
try:
    import drawn_anyio  # noqa: E402
except ImportError:
    drawn_anyio = None
import known  # noqa: E402
from harness import VARIANT, run  # noqa: E402

TESTS = {**vars(drawn), **(vars(drawn_anyio) if drawn_anyio else {})}

# A library, its test, and how its programs are run. Whoever finds something under --order any looks
# for a plain loop's run that does the same, which is slow with anyio.
RUNS = {"asyncio": 4000, "anyio": 400}  # of a campaign
CAMPAIGNS = (
    ("asyncio", "asyncio_programs", ("--order", "any", "--max-cancels", "3")),
    ("asyncio", "asyncio_programs", ("--order", "fifo", "--max-cancels", "2")),
    ("asyncio", "asyncio_programs", ("--order", "any", "--cancel", "none")),
    ("anyio", "anyio_programs", ("--order", "fifo", "--cancel", "none")),
    ("anyio", "anyio_programs", ("--order", "any", "--cancel", "none")),
    ("anyio", "anyio_programs", ("--order", "fifo", "--max-cancels", "2")),
)


class Search:
    def __init__(self, percent):
        self.percent = percent
        self.known = collections.Counter()
        self.new = {}
        self.runs = collections.Counter()
        self.failed = False

    def campaign(self, library, test, how, turn):
        runs = max(1, RUNS[library] * self.percent // 100)
        seed = turn * runs
        report = run(test, "--keep-going", "--no-shrink", "--seed-first", str(seed), *how,
                     runs=runs)
        if report is None:
            print(f"FAILED: no report of {test.__name__} {' '.join(how)} from {seed}")
            self.failed = True
            return
        self.runs[library] += report["runs"]
        for one in report["violations"]:
            name = known.name_of(library, one)
            if name is not None:
                self.known[f"{library}: {name}"] += one.get("count", 1)
            else:
                self.meet(library, test, one, how)

    def meet(self, library, test, one, how):
        """What is not known: the first of each kind is shrunk."""
        kind = (library, one["oracle"], "".join(
            letter for letter in one["message"] if not letter.isdigit()))
        if kind in self.new:
            self.new[kind] += one.get("count", 1)
            return
        self.new[kind] = one.get("count", 1)
        print(f"{library}: new: {one['oracle']}: {one['message']}\n  {' '.join(how)}\n"
              f"  {one['token']}", flush=True)
        shrunk = run(test, *how, "--seed", one["seed"], runs=None)
        for small in (shrunk or {}).get("violations", [])[:1]:
            small = small.get("shrunk") or {}
            print(f"  shrunk: {small.get('token')}", flush=True)

    def report(self):
        print(f"{VARIANT}: " + ", ".join(f"{count} runs of {library}"
                                         for library, count in self.runs.items()))
        for name, count in sorted(self.known.items()):
            print(f"  known  {name}: {count}")
        for (library, oracle, message), count in self.new.items():
            print(f"  new    {library}: {oracle}: {message}: {count}")
        return 1 if self.new or self.failed else 0 if self.runs else 77


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--turn", type=int, default=0, help="where to begin; each has new seeds")
    parser.add_argument("--runs", type=int, default=100, help="of a campaign, in percent")
    parser.add_argument("--only", default="")
    options = parser.parse_args()
    here = [one for one in CAMPAIGNS if options.only in one[1] and one[1] in TESTS]
    end = time.monotonic() + options.seconds
    search = Search(options.runs)
    turn = options.turn
    while here and (time.monotonic() < end or turn == options.turn):
        for library, test, how in here:
            search.campaign(library, TESTS[test], how, turn)
        turn += 1
    sys.exit(search.report())


if __name__ == "__main__":
    main()
