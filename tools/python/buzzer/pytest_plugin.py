"""The pytest plug-in: runs the functions of @buzzer.test, and shows a run that fails.

Such a function is no coroutine function for pytest, so the plug-ins for asyncio and anyio leave it
alone. Fixtures and parametrize work; the argument `sim` is Buzzer's.
"""
import shlex

import pytest


def pytest_addoption(parser):
    group = parser.getgroup("buzzer", "deterministic simulation (Buzzer)")
    group.addoption("--buzzer-runs", metavar="N", type=int,
                    help="schedules of each test, in the place of its own number")
    group.addoption("--buzzer-replay", metavar="TOKEN|TRACE",
                    help="replay this run of the selected test, and no other")


def _case(item, spec):
    from buzzer.case import Case
    callspec = getattr(item, "callspec", None)
    arguments = {name: item.funcargs[name] for name in item._fixtureinfo.argnames}
    own = (item.instance,) if getattr(item, "instance", None) is not None else ()
    runs = item.config.getoption("buzzer_runs")
    return Case(spec, own, arguments, case=f"[{callspec.id}]" if callspec else "",
                options={} if runs is None else {"runs": runs}), bool(arguments)


def _replay(case, text):
    from buzzer import campaign, program
    case.name = campaign._name_in(text) or case.name
    code, output, errors = program.ask(campaign.replay_words(text), [case])
    report = "\n".join(part.strip() for part in (output, errors) if part.strip())
    if code != 0 or "\nviolation: " in output:
        raise campaign.Failure(report)


@pytest.hookimpl(tryfirst=True)
def pytest_pyfunc_call(pyfuncitem):
    spec = getattr(pyfuncitem.obj, "__buzzer__", None)
    if spec is None:
        return None
    from buzzer import campaign
    text = pyfuncitem.config.getoption("buzzer_replay")
    report = None
    try:
        case, needs_pytest = _case(pyfuncitem, spec)
        command = f"pytest {shlex.quote(pyfuncitem.nodeid)} --buzzer-replay"
        if text is not None:
            _replay(case, text)
        else:
            campaign.check(case, replay=command if needs_pytest else None)
    except (campaign.Failure, ImportError, ValueError) as error:
        report = str(error)
    if report is not None:
        pytest.fail(report, pytrace=False)
    return True
