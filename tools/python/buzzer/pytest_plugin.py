"""The pytest plug-in: runs the functions of @buzzer.test, and shows a run that fails. With --buzzer,
it does so for every test that an event loop runs (pytest_suite.py).

A function of @buzzer.test is no coroutine function for pytest, so the plug-ins for asyncio and anyio
leave it alone. Fixtures and parametrize work; the argument `sim` is Buzzer's.
"""
import argparse
import copy
import hashlib
import json
import os
import shlex

import pytest
from _pytest.skipping import evaluate_xfail_marks


def _runs(text):
    """True: `--buzzer=`, as --buzzer; None: not its number, but the next argument."""
    return int(text) if text.isdigit() else text == "" or None


def pytest_addoption(parser):
    group = parser.getgroup("buzzer", "deterministic simulation (Buzzer)")
    group.addoption("--buzzer", metavar="RUNS", type=_runs, nargs="?", const=True,
                    help="run all asynchronous tests under Buzzer's loop, each under RUNS schedules "
                    "(default: 100)")
    group.addoption("--buzzer-runs", metavar="N", type=int,
                    help="schedules of each test, in the place of its own number")
    group.addoption("--buzzer-order", choices=("fifo", "any"),
                    help="with --buzzer: the order of ready callbacks (default: fifo, as asyncio)")
    group.addoption("--buzzer-cancels", metavar="N", type=int, default=0,
                    help="with --buzzer: inject up to N cancels a run into the tasks that a test "
                    "creates")
    group.addoption("--buzzer-targets", metavar="REGEX",
                    help="with --buzzer-cancels: only into tasks whose coroutine's name matches")
    group.addoption("--buzzer-lag", metavar="TIME",
                    help="with --buzzer: how long the steps of a run take, in sum, such as 99ms: "
                    "a timer may fire before ready work (default: 0, as tests have short delays)")
    group.addoption("--buzzer-max-steps", metavar="N", type=int,
                    help="with --buzzer: the step limit of a run (default: 100000)")
    group.addoption("--buzzer-no-watch", action="store_true",
                    help="with --buzzer: do not watch asyncio's primitives")
    group.addoption("--buzzer-sync", action="store_true",
                    help="with --buzzer: also run tests that are no coroutine functions, which "
                    "may call asyncio.run()")
    group.addoption("--buzzer-profile", metavar="NAME",
                    help="the profile with options of tests: dev, ci, or one of buzzer.profile() "
                    "(default: $BUZZER_PROFILE)")
    group.addoption("--buzzer-replay", metavar="TOKEN|TRACE",
                    help="replay this run of the selected test, and no other")
    # A command line of `python3 -m buzzer`, as JSON, about the selected test.
    group.addoption("--buzzer-words", help=argparse.SUPPRESS)


@pytest.hookimpl(tryfirst=True)
def pytest_load_initial_conftests(early_config, parser, args):
    """In `--buzzer FILE`, FILE is no number of runs."""
    for index, (word, after) in enumerate(zip(args, args[1:])):
        if word == "--buzzer" and _runs(after) is None:
            args[index] = "--buzzer="
            early_config.known_args_namespace = parser.parse_known_args(
                args, namespace=copy.copy(early_config.option))


def pytest_configure(config):
    profile = config.getoption("buzzer_profile")
    if profile is not None:
        os.environ["BUZZER_PROFILE"] = profile


def pytest_report_header():
    from buzzer.program import hint_of_venv
    hint = hint_of_venv("pytest")
    return f"buzzer{hint.replace(';', ':', 1)}" if hint else None


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(config, items):
    if not any(config.getoption(name) for name in ("buzzer", "buzzer_words")):
        return
    from buzzer.pytest_suite import Suite, wants
    try:
        for item in items:
            if not hasattr(getattr(item, "obj", None), "__buzzer__") and wants(item):
                Suite(item).install()
    except ValueError as error:  # a name that is no profile, or that no token can have
        raise pytest.UsageError(str(error)) from None


def pytest_sessionfinish(session):
    code = getattr(session.config, "_buzzer_code", None)
    session.exitstatus = session.exitstatus if code is None else code


def pytest_terminal_summary(terminalreporter):
    found = [dict(report.user_properties).get("schedules")
             for report in terminalreporter.getreports("passed")]
    for kind, text in (("1, complete", "one schedule, and no other: no run offers a choice"),
                       ("none", "no step on Buzzer's loop: they use none, or one of their own")):
        if kind in found:
            terminalreporter.write_line(f"buzzer: tests with {text}: {found.count(kind)}")


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
    own = (item.instance,) if getattr(item, "instance", None) is not None else ()
    return Case(spec, own, {name: item.funcargs[name] for name in item._fixtureinfo.argnames},
                name=name_of_item(item), options={"runs": item.config.getoption("buzzer_runs")})


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
    results = campaign.check(case, replay=command)
    if results.get("end") == "complete":
        item.user_properties.append(("schedules", "1, complete" if results["steps"] else "none"))


@pytest.hookimpl(hookwrapper=True, tryfirst=True)
def pytest_runtest_makereport(call):
    """Without a verdict a test has an error, and no failure."""
    outcome = yield
    if call.excinfo is not None and type(call.excinfo.value).__name__ == "NoVerdict":
        report = outcome.get_result()
        report.outcome, report.when, report.longrepr = "failed", "setup", str(call.excinfo.value)


def expects(item, error):
    """True for xfail(raises=) of this exception: pytest sees another one, with the report."""
    xfail = evaluate_xfail_marks(item)
    return bool(xfail and xfail.raises and isinstance(error, xfail.raises))


@pytest.hookimpl(tryfirst=True)
def pytest_pyfunc_call(pyfuncitem):
    spec = getattr(pyfuncitem.obj, "__buzzer__", None)
    if spec is None:
        return None
    from buzzer.campaign import BuzzerWarning, Failure, NoVerdict
    report = None
    try:
        run_case(pyfuncitem, _case(pyfuncitem, spec))
    except NoVerdict:
        raise
    except (Failure, BuzzerWarning, ImportError, ValueError, RuntimeError) as error:
        report = str(error)
        if expects(pyfuncitem, error):
            pytest.xfail("raises as expected")
    if report is not None:
        pytest.fail(report, pytrace=False)
    return True
