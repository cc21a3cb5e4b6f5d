"""The faults that are looked for in the real libraries: one entry for each."""
import contextlib
import functools
import importlib
import inspect
import os
import sys

try:
    from buzzer.watch import Claim
except ImportError:  # of show.py, which needs no Buzzer
    Claim = None

EXAMPLES = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "examples")
FAULTS = []


def example(name):
    """A module of the examples; None without Buzzer, which it needs."""
    if EXAMPLES not in sys.path:
        sys.path.insert(0, EXAMPLES)
    return importlib.import_module(name) if Claim is not None else None


def is_before(module, *fixed):
    """Whether a library has a version before that one."""
    return tuple(int(part) for part in module.__version__.split(".")[:3]) < fixed


def as_it_is(primitive, **about):
    """In the place of sim.watch(), without Buzzer."""
    return primitive


def _test_by(program):
    """A test that a program fails which shows its fault, unless the judge objects before."""
    takes_watch = "watch" in inspect.signature(program).parameters

    @functools.wraps(program)
    async def test(sim):
        with contextlib.redirect_stdout(None):
            is_shown = program(*([sim.watch] if takes_watch else []))
            is_shown = await is_shown if inspect.iscoroutine(is_shown) else is_shown
        sim.check(not is_shown, inspect.getdoc(program))
    return test


def fault(name, issue, versions, oracles, *, program=None, since=(0,), until=(99,), is_here=True,
          of="asyncio", message="", runs=100, max_lag="99ms"):
    """Registers a test, and the program that shows the same without Buzzer. If it is None, the
    function is that program, and the test is made of it.

    since, until: the interpreters that have it (asyncio's own); is_here: the library has it
    of: whose fault it is
    message: words that the message of the violation has, beside its oracle; runs: until then
    max_lag: that it may need, if its own pauses are longer than the default"""
    def register(function):
        test = _test_by(function) if program is None else function
        test.name, test.issue, test.versions, test.oracles = name, issue, versions, oracles
        test.program, test.of, test.runs, test.max_lag = program or function, of, runs, max_lag
        is_checked = program is None and oracles == ["assertion"]
        test.message = inspect.getdoc(function).splitlines()[0] if is_checked else message
        test.is_here = is_here and since <= sys.version_info[:3] < until
        FAULTS.append(test)
        return function
    return register
