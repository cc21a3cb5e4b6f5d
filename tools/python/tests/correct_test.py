"""Correct programs are not accused: those of correct_programs.py in both orders, with the default
settings; and CPython's own tests of task groups, timeouts, wait_for() and locks, where they are
installed, on a plain loop with the default lag.

BUZZER_CORRECT_RUNS says how many runs of each (300)."""
import importlib
import inspect
import os
import sys
import unittest
import warnings

from correct_programs import CORRECT
from harness import Checks, run

RUNS = int(os.environ.get("BUZZER_CORRECT_RUNS", "300"))
PLAIN = ("--order", "fifo", "--cancel", "none", "--no-shrink")
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
    for name in MODULES:
        try:
            module = importlib.import_module("test.test_asyncio." + name)
        except ImportError:
            print(f"skipped: CPython's {name} is not installed")
            continue
        for case, method in tests_of(module):
            test = as_test(case, method)
            report = run(test, *PLAIN, runs=min(RUNS, 200))
            if report is not None and report["end"] == "no-resource":
                print(f"skipped: {test.__name__} needs more than a simulated loop")
            else:
                checks.check_silent(test, report, min(RUNS, 200))


def is_silent_without_bound(test):
    report = run(test, *PLAIN, "--max-lag", "any", runs=200) or {}
    return not report.get("violations")


def main():
    checks = Checks()
    for test in CORRECT:
        for order in ("any", "fifo"):
            checks.silent(test, "--order", order, runs=RUNS)
    count = sum(not is_silent_without_bound(test) for test in CORRECT)
    checks.check(count >= 15, f"a timer that comes too early shows in {count} programs")
    if sys.version_info >= (3, 11):
        silent_in_cpython(checks)
    checks.end()


main()
