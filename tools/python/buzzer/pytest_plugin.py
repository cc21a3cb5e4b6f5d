"""The pytest plug-in: runs the functions of @buzzer.test, and shows a run that fails. With --buzzer,
it does so for every test that an event loop runs (pytest_suite.py).

A function of @buzzer.test is no coroutine function for pytest, so the plug-ins for asyncio and anyio
leave it alone. Fixtures and parametrize work; the argument `sim` is Buzzer's.
"""
import argparse
import copy
import hashlib
import json
import shlex

import pytest


def _runs(text):
    """None: the word is not the number of --buzzer, but the next argument."""
    return int(text) if text.isdigit() else None


def pytest_addoption(parser):
    group = parser.getgroup("buzzer", "deterministic simulation (Buzzer)")
    group.addoption("--buzzer", metavar="RUNS", type=_runs, nargs="?", const=100,
                    help="run all asynchronous tests under Buzzer's loop, each under RUNS schedules "
                    "(default: 100)")
    group.addoption("--buzzer-runs", metavar="N", type=int,
                    help="schedules of each test, in the place of its own number")
    group.addoption("--buzzer-order", choices=("fifo", "any"), default="fifo",
                    help="with --buzzer: the order of ready callbacks (default: fifo, as asyncio)")
    group.addoption("--buzzer-cancels", metavar="N", type=int, default=0,
                    help="with --buzzer: inject up to N cancels a run into the tasks that a test "
                    "creates")
    group.addoption("--buzzer-targets", metavar="REGEX",
                    help="with --buzzer-cancels: only into tasks whose coroutine's name matches")
    group.addoption("--buzzer-no-watch", action="store_true",
                    help="with --buzzer: do not watch asyncio's primitives")
    group.addoption("--buzzer-sync", action="store_true",
                    help="with --buzzer: also run tests that are no coroutine functions, which "
                    "may call asyncio.run()")
    group.addoption("--buzzer-replay", metavar="TOKEN|TRACE",
                    help="replay this run of the selected test, and no other")
    # A command line of `python3 -m buzzer`, as JSON, about the selected test.
    group.addoption("--buzzer-words", help=argparse.SUPPRESS)


@pytest.hookimpl(tryfirst=True)
def pytest_load_initial_conftests(early_config, parser, args):
    """In `--buzzer FILE`, FILE is no number of runs."""
    for index, (word, after) in enumerate(zip(args, args[1:])):
        if word == "--buzzer" and _runs(after) is None:
            args[index] = "--buzzer=100"
            early_config.known_args_namespace = parser.parse_known_args(
                args, namespace=copy.copy(early_config.option))


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(config, items):
    if not any(config.getoption(name) for name in ("buzzer", "buzzer_words")):
        return
    from buzzer.pytest_suite import Suite, wants
    for item in items:
        if not hasattr(getattr(item, "obj", None), "__buzzer__") and wants(item):
            Suite(item).install()


def pytest_sessionfinish(session):
    code = getattr(session.config, "_buzzer_code", None)
    session.exitstatus = session.exitstatus if code is None else code


def _arguments(item):
    own = (item.instance,) if getattr(item, "instance", None) is not None else ()
    return own, {name: item.funcargs[name] for name in item._fixtureinfo.argnames}


def name_of_item(item, is_cut=False):
    """The test as pytest names it: the classes, the function, and the parameters."""
    from buzzer.case import NAME_BYTES_MAX, name_of
    parts = [node.name for node in item.listchain() if isinstance(node, pytest.Class)]
    path = str(getattr(item, "path", None) or item.fspath)
    name = ".".join([*parts, item.name])
    try:
        return name_of(path, name)
    except ValueError:
        if not is_cut:
            raise
    mark = hashlib.sha1(name.encode()).hexdigest()[:12]
    return f"{name_of(path, '')[:NAME_BYTES_MAX - len(mark)]}{mark}"


def _case(item, spec):
    from buzzer.case import Case
    return Case(spec, *_arguments(item), name=name_of_item(item),
                options={"runs": item.config.getoption("buzzer_runs")})


def run_case(item, case):
    """A test that takes arguments of pytest's is replayed by pytest."""
    from buzzer import campaign
    command = None
    if case.is_suite or case.kwargs:
        flags = case.flags if case.is_suite else ""
        command = f"python3 -m pytest {shlex.quote(item.nodeid)}{flags} --buzzer-replay"
    words = item.config.getoption("buzzer_words")
    if words is not None:
        code = campaign.call(case, json.loads(words))
        item.config._buzzer_code = campaign.PYTEST_DONE + code
        return
    text = item.config.getoption("buzzer_replay")
    if text is not None:
        campaign.check_replay(case, text, replay=command)
        return
    campaign.check(case, replay=command)


@pytest.hookimpl(tryfirst=True)
def pytest_pyfunc_call(pyfuncitem):
    spec = getattr(pyfuncitem.obj, "__buzzer__", None)
    if spec is None:
        return None
    from buzzer.campaign import BuzzerWarning, Failure
    report = None
    try:
        run_case(pyfuncitem, _case(pyfuncitem, spec))
    except (Failure, BuzzerWarning, ImportError, ValueError, RuntimeError) as error:
        report = str(error)
    if report is not None:
        pytest.fail(report, pytrace=False)
    return True
