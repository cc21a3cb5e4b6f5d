"""The pytest plug-in: runs the functions of @buzzer.test, and shows a run that fails.

Such a function is no coroutine function for pytest, so the plug-ins for asyncio and anyio leave it
alone. Fixtures and parametrize work; the argument `sim` is Buzzer's.
"""
import argparse
import json
import shlex

import pytest


def pytest_addoption(parser):
    group = parser.getgroup("buzzer", "deterministic simulation (Buzzer)")
    group.addoption("--buzzer-runs", metavar="N", type=int,
                    help="schedules of each test, in the place of its own number")
    group.addoption("--buzzer-replay", metavar="TOKEN|TRACE",
                    help="replay this run of the selected test, and no other")
    # A command line of `python3 -m buzzer`, as JSON, about the selected test.
    group.addoption("--buzzer-words", help=argparse.SUPPRESS)


def pytest_sessionfinish(session):
    code = getattr(session.config, "_buzzer_code", None)
    session.exitstatus = session.exitstatus if code is None else code


def _arguments(item):
    own = (item.instance,) if getattr(item, "instance", None) is not None else ()
    return own, {name: item.funcargs[name] for name in item._fixtureinfo.argnames}


def _case(item, spec):
    """The test as pytest names it: the classes, the function, and the parameters."""
    from buzzer.case import Case, name_of
    own, arguments = _arguments(item)
    parts = [node.name for node in item.listchain() if isinstance(node, pytest.Class)]
    path = getattr(item, "path", None) or item.fspath
    return Case(spec, own, arguments, name=name_of(str(path), ".".join([*parts, item.name])),
                options={"runs": item.config.getoption("buzzer_runs")})


def _run(item, spec):
    """A test that takes arguments of pytest's is replayed by pytest."""
    from buzzer import campaign
    case = _case(item, spec)
    command = (f"python3 -m pytest {shlex.quote(item.nodeid)} --buzzer-replay" if case.kwargs
               else None)
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
        _run(pyfuncitem, spec)
    except (Failure, BuzzerWarning, ImportError, ValueError, RuntimeError) as error:
        report = str(error)
    if report is not None:
        pytest.fail(report, pytrace=False)
    return True
