#!/usr/bin/env python3
"""Measures runs of a test in Python, beside the same program on a plain asyncio loop.

    python_speed.py PACKAGE [--rounds N]

PACKAGE is the folder that holds the package `buzzer`, built for this interpreter. Figures are steps
(handles that ran) for each second of CPU time, and ratios to asyncio's BaseEventLoop without a
selector; the best of N rounds (5), because other work on the machine only makes things slower.
"""
import argparse
import asyncio
import json
import os
import resource
import subprocess
import sys
import tempfile
import time

TASKS = 6
TURNS = 500
FIRST = 60  # the first runs of a campaign are repeated, to see that they are deterministic
RUNS = {"unwatched": 60, "watched": 60, "short": 4000}  # beyond those


async def contend(semaphore, turns, spawn):
    async def worker():
        for _ in range(turns):
            async with semaphore:
                await asyncio.sleep(0)

    await asyncio.gather(*(spawn(worker(), number) for number in range(TASKS)))


async def unwatched(sim, turns=TURNS, semaphore=None):
    await contend(semaphore or asyncio.Semaphore(2), turns,
                  lambda coro, number: sim.spawn(None, coro, name=f"w{number}"))


async def watched(sim, turns=TURNS):
    await unwatched(sim, turns, sim.watch(asyncio.Semaphore(2)))


async def short(sim):
    await watched(sim, 2)


class NoSelector:
    def select(self, timeout):
        return ()

    def close(self):
        pass


class PlainLoop(asyncio.base_events.BaseEventLoop):
    def __init__(self):
        super().__init__()
        self._selector = NoSelector()

    def _process_events(self, events):
        pass

    def _write_to_self(self):
        pass


def plain_rate():
    async def main():
        await contend(asyncio.Semaphore(2), TURNS, lambda coro, number: asyncio.create_task(coro))

    count = 0
    run = asyncio.events.Handle._run

    def counted(self):
        nonlocal count
        count += 1
        return run(self)

    asyncio.events.Handle._run = counted
    PlainLoop().run_until_complete(main())
    asyncio.events.Handle._run = run
    begin = time.process_time()
    for _ in range(20):
        PlainLoop().run_until_complete(main())
    return 20 * count / (time.process_time() - begin)


def campaign(package, name, runs):
    """Steps of so many runs, and CPU seconds, the program's own start included."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    with tempfile.TemporaryDirectory() as folder:
        done = subprocess.run(
            [sys.executable, "-m", "buzzer", "run", f"{os.path.abspath(__file__)}::{name}",
             "--cancel", "none", "--runs", str(runs), "--json"], cwd=folder, check=True,
            stdout=subprocess.PIPE, env={**os.environ, "PYTHONPATH": os.path.abspath(package)})
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return json.loads(done.stdout)["steps"], \
        after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def best(package, name, runs, rounds):
    measured = [campaign(package, name, runs) for _ in range(rounds)]
    return min(measured, key=lambda one: one[1])


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("package")
    parser.add_argument("--rounds", type=int, default=5)
    options = parser.parse_args()
    plain = max(plain_rate() for _ in range(options.rounds))
    print(f"plain loop      {plain:9.0f} steps/s")
    for name, runs in RUNS.items():
        # The start of the program cancels out: the difference of a long and of a short campaign.
        few, few_s = best(options.package, name, FIRST, options.rounds)
        many, many_s = best(options.package, name, FIRST + runs, options.rounds)
        steps, seconds = many - few, many_s - few_s
        if name == "short":
            print(f"runs of {steps / runs:2.0f} steps {runs / seconds:8.0f} runs/s")
        else:
            rate = steps / seconds
            print(f"{name:15} {rate:9.0f} steps/s   {rate / plain:.2f} of it")


if __name__ == "__main__":
    main()
