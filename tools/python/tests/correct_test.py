"""Correct programs are not accused: those of correct_programs.py in both orders, with the default
settings; and CPython's own tests of task groups, timeouts, wait_for() and locks, where they are
installed, on a plain loop with the default lag.

BUZZER_CORRECT_RUNS says how many runs of each (150), all made twice."""
import importlib
import inspect
import itertools
import os
import sys
import unittest
import warnings

from correct_programs import CORRECT
from harness import Checks, run

RUNS = int(os.environ.get("BUZZER_CORRECT_RUNS", "150"))
PLAIN = ("--order", "fifo", "--cancel", "none")
MODULES = ("test_taskgroups", "test_timeouts", "test_waitfor", "test_locks")


def tests_of(module):
    """The tests of a module of CPython's that are coroutine functions."""
    for case in vars(module).values():
        if inspect.isclass(case) and issubclass(case, unittest.IsolatedAsyncioTestCase):
            for name in dir(case):
                is_test = name.startswith("test") and case.__module__ == module.__name__
                if is_test and inspect.iscoroutinefunction(getattr(case, name)):
                    yield case, name


def as_test(case, name):
    async def test(sim):
        one = case(name)
        one.setUp()
        try:
            await one.asyncSetUp()
            await getattr(one, name)()
            await one.asyncTearDown()
        except unittest.SkipTest:
            pass
    test.__name__ = f"{case.__module__}.{case.__name__}.{name}"
    return test


def silent_in_cpython(checks):
    warnings.simplefilter("ignore", DeprecationWarning)
    tests = []
    for name in MODULES:
        try:
            module = importlib.import_module("test.test_asyncio." + name)
        except ImportError:
            print(f"skipped: CPython's {name} is not installed")
            continue
        tests += [as_test(*test) for test in tests_of(module)]
    checks.all_silent(tests, *PLAIN, runs=min(RUNS, 100), skips=True)


def fails_without_bound(test):
    report = run(test, *PLAIN, "--no-shrink", "--max-lag", "any", runs=200) or {}
    return bool(report.get("violations"))


def main():
    checks = Checks()
    for order in ("any", "fifo"):
        checks.all_silent(CORRECT, "--order", order, runs=RUNS)
    early = list(itertools.islice(filter(fails_without_bound, CORRECT), 15))
    checks.check(len(early) == 15, f"a timer that comes too early shows in {len(early)} programs")
    if sys.version_info >= (3, 11):
        silent_in_cpython(checks)
    checks.end()


main()
