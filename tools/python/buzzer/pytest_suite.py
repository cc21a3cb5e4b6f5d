"""`pytest --buzzer`: the tests of a suite that exists, under Buzzer's loop.

A run is what pytest does for a test: its fixtures, the call, the end of the fixtures, with the hooks
of all plug-ins. Those make their loops, which are Buzzer's then. Fixtures of a wider scope that run
without a loop are made once, before the runs, as pytest does.
"""
import asyncio
import inspect
import json
import mmap
import os
import re
import shlex
import tempfile
import unittest

import pytest
from _pytest.outcomes import OutcomeException

from buzzer import campaign, loop, where
from buzzer.case import Case, merged, options_of_profile
from buzzer.pytest_plugin import expects, name_of_item, run_case

RUNS = 100
_LOOPS = {"event_loop", "event_loop_policy", "loop", "loop_factory", "anyio_backend"}
_TEXT_BYTES = 1000


def wants(item):
    """True for a test that an event loop runs."""
    if not isinstance(item, pytest.Function) or getattr(item.obj, "is_hypothesis_test", False):
        return False
    params = getattr(getattr(item, "callspec", None), "params", {})
    if "trio" in str(params.get("anyio_backend", "")):
        return False
    return (inspect.iscoroutinefunction(item.function)
            or issubclass(item.cls or object, unittest.IsolatedAsyncioTestCase)
            or any(map(item.config.getoption, ("buzzer_sync", "buzzer_words"))))


def _is_wide(definition):
    scope = definition.scope
    return str(getattr(scope, "value", scope)) != "function"


class _RunIsOver(loop.RunIsOver, OutcomeException):
    """In one fixture's end: pytest goes on with the others."""


class _Sibling:
    """The next test, for pytest: what belongs to the test alone ends, and no more."""

    def __init__(self, item):
        self.parent, self.session, self.config = item.parent, item.session, item.config
        self.name, self.nodeid = "next", item.nodeid

    def listchain(self):
        return [*self.parent.listchain(), self]


class Suite(Case):
    is_suite = True

    def __init__(self, item):
        option = item.config.getoption
        self.item = item
        self.function = item.function
        self.permits = {}
        self.name = name_of_item(item, is_cut=True)
        runs = option("buzzer_runs") or option("buzzer")
        given = {"runs": None if runs is True else runs, "order": option("buzzer_order"),
                 "max_cancels": option("buzzer_cancels") or None, "max_lag": option("buzzer_lag"),
                 "max_steps": option("buzzer_max_steps")}
        usual = {"runs": RUNS, "order": "fifo", "max_lag": 0}
        self.options = merged(merged(usual, options_of_profile()), given)
        if "max_cancels" not in self.options:
            self.options["cancel"] = "none"
        self.is_watched = not option("buzzer_no_watch")
        pattern = option("buzzer_targets")
        self.targets = pattern and re.compile(pattern).search
        self.flags = "".join(f" {word}" for word, is_on in (
            ("--buzzer", True), ("--buzzer-sync", option("buzzer_sync")),
            ("--buzzer-no-watch", not self.is_watched),
            (f"--buzzer-targets {shlex.quote(pattern or '')}", pattern)) if is_on)
        self._outcome = mmap.mmap(-1, _TEXT_BYTES)  # of a run without a verdict, and why
        self._shown = None  # the file for what pytest reports of a run
        self._in_runs = []  # fixtures of a wider scope that need a loop
        self._obj = item.obj

    def install(self):
        self.item.setup, self.item.teardown = self._set_up_once, lambda: None
        self.item.runtest = self.runtest

    # --- once, in pytest's own process --------------------------------------------------------

    def _needs_loop(self, name, definition):
        function = inspect.unwrap(definition.func)
        if inspect.iscoroutinefunction(function) or inspect.isasyncgenfunction(function):
            return True
        return name in _LOOPS or any(self._needs_loop(other, found) for other in
                                     definition.argnames for found in self._definitions(other)
                                     if found is not definition)

    def _definitions(self, name):
        return (self.item._fixtureinfo.name2fixturedefs.get(name) or ())[-1:]

    def _set_up_once(self):
        item, self._in_runs = self.item, []
        if hasattr(item, "_testcase"):  # of unittest, before pytest 8.2
            item._testcase = item.parent.obj(item.name)
            item._obj = getattr(item._testcase, item.name)
        for name in list(item.fixturenames):
            for definition in filter(_is_wide, self._definitions(name)):
                if not self._needs_loop(name, definition):
                    value = item._request.getfixturevalue(name)
                    if not isinstance(value, asyncio.AbstractEventLoop):
                        continue
                    definition.finish(item._request)
                self._in_runs.append(definition)

    def runtest(self):
        item, failure = self.item, None
        try:
            run_case(item, self)
        except campaign.Failure as error:
            failure = error
        outcome, _, text = self._outcome[:].rstrip(b"\0").decode("utf-8", "ignore").partition(" ")
        if failure is not None and outcome != "refused":
            run = None if failure.has_hung else (item.config.getoption("buzzer_replay")
                                                 or failure.run)
            report, is_expected = self._report_of(run)
            if is_expected:
                pytest.xfail("raises as expected")
            pytest.fail(f"{report}{failure}", pytrace=False)
        if outcome:
            if outcome == "xfail":
                pytest.xfail(text)
            skipped = pytest.skip.Exception(text)
            skipped._use_item_location = True  # pytest shows the place of the test
            raise skipped

    def _report_of(self, run):
        """What pytest reports of the run, with what it has captured, and whether it raises what
        xfail(raises=) expects."""
        if run is None:
            return "", False
        with tempfile.TemporaryDirectory() as folder:
            self._shown = os.path.join(folder, "report")
            campaign.remake(self, run)
            if not os.path.exists(self._shown):
                return "", False
            with open(self._shown, encoding="utf-8") as file:
                sections, is_expected = json.load(file)
        parts = [f"{title:-^80}\n{text}" if title else text for title, text in sections]
        return "\n".join([*parts, ""]), is_expected

    # --- each run -----------------------------------------------------------------------------

    def prepare(self):
        """In the process that makes the runs."""
        item = self.item
        loop.RunIsOver = _RunIsOver
        for name in ("setup", "teardown", "runtest"):
            vars(item).pop(name, None)
        item.session._setupstate.teardown_exact(_Sibling(item))
        capture = item.config.pluginmanager.getplugin("capturemanager")
        if capture is not None and capture._method != "no":
            capture.read_global_capture()
            capture.stop_global_capturing()
            capture._method = "sys"
            capture.start_global_capturing()

    def __call__(self, sim):
        item = self.item
        item._initrequest()
        del item._report_sections[:]
        vars(item).pop("_instance", None)
        is_method = item.cls is not None and not issubclass(item.cls, unittest.TestCase)
        item.obj = item._getobj() if is_method else self._obj
        sections = []
        self._is_expected = []
        if self._phase(sim, "setup", item.ihook.pytest_runtest_setup, sections):
            self._phase(sim, "call", item.ihook.pytest_runtest_call, sections)
        self._phase(sim, "teardown", item.ihook.pytest_runtest_teardown, sections,
                    nextitem=_Sibling(item))
        for definition in reversed(self._in_runs):
            self._phase(sim, "teardown", lambda item: definition.finish(item._request), sections)
        if self._shown is not None:
            sections += [(f" Captured {name} {when} ", text)
                         for when, name, text in item._report_sections if text]
            with open(self._shown, "w", encoding="utf-8") as file:
                json.dump([sections, bool(self._is_expected) and all(self._is_expected)], file)

    def _phase(self, sim, when, hook, sections, **more):
        """False: it has raised an exception."""
        item = self.item
        call = pytest.CallInfo.from_call(lambda: hook(item=item, **more), when)
        found = [call.excinfo] if call.excinfo else []
        found += vars(item).pop("_excinfo", None) or []  # those of unittest
        for call.excinfo in found:
            if isinstance(call.excinfo.value, _RunIsOver):
                break
            self._note(sim, call.excinfo.value, when)
            self._is_expected.append(expects(item, call.excinfo.value))
            if self._shown is not None:
                report = pytest.TestReport.from_item_and_call(item, call)
                sections.append(("", report.longreprtext))
        return not found

    def _note_outcome(self, outcome, text):
        line = f"{outcome} {text}".encode()[:_TEXT_BYTES]
        self._outcome[:len(line)] = line

    def note_refusal(self, sentence):
        self._note_outcome("refused", f"Buzzer refuses it: {sentence}")

    def _note(self, sim, value, when):
        for kind, outcome in ((pytest.skip.Exception, "skip"), (unittest.SkipTest, "skip"),
                              (pytest.xfail.Exception, "xfail")):
            if isinstance(value, kind):
                self._note_outcome(outcome, value)
                return
        sim.fail(where.sentence_of(value) + ("" if when == "call" else f", in the {when}"))
