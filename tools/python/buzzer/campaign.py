"""buzzer.run() and buzzer.replay(): campaigns and replays from Python."""
import dataclasses
import os
import re
import tempfile
import typing
import urllib.parse
import warnings

from buzzer import program
from buzzer.case import Case, check_options, spec_of, words_of

# Pytest's exit code if it has called the program: this and the program's. Its own are smaller.
PYTEST_DONE = 100

OK, VIOLATION, USAGE, DIVERGED, UNPROVED, INTERRUPTED = range(6)


class Failure(AssertionError):
    """A run of the test fails; the text is the program's report."""

    def __init__(self, text, results=None):
        super().__init__(text)
        self._results = results or {}

    @property
    def run(self):
        """The path of the trace of a run that fails, or its token; None."""
        for found in _items_in(self._results):
            shrunk = found.get("shrunk") or found
            return shrunk.get("trace") or shrunk.get("token") or found["trace"] or found["token"]
        return None

    @property
    def has_hung(self):
        """In the run that fails, which is not made once more for its report then: it has none."""
        return next(_items_in(self._results), {}).get("oracle") == "hang"


class NoVerdict(RuntimeError):
    """A limit ended runs, or something ran out, and no run fails."""


@dataclasses.dataclass(frozen=True)
class Violation:
    oracle: str
    seed: int
    step: int
    message: str
    token: typing.Optional[str]  # None: only the trace leads to the run
    trace: typing.Optional[str]  # the path of its file
    task: typing.Optional[str] = None
    shrunk: typing.Optional[str] = None  # the token of the smallest run that fails so
    fifo: typing.Optional[str] = None    # of a run that fails so on a plain FIFO loop


@dataclasses.dataclass(frozen=True)
class Result:
    runs: int
    steps: int
    digest: str
    violations: typing.Tuple[Violation, ...]
    warnings: typing.Tuple[str, ...]
    exit_code: int  # of `python3 -m buzzer run`
    document: dict = dataclasses.field(repr=False)  # all that `run --json` says


@dataclasses.dataclass(frozen=True)
class Replay:
    matched: bool
    steps: int
    digest: str
    violation: typing.Optional[Violation]
    # Where it did not match, the first difference:
    step: typing.Optional[int] = None
    expected: typing.Optional[str] = None
    got: typing.Optional[str] = None
    cause: typing.Optional[str] = None


def _results(answer):
    """The results of the program; its message as an exception, if there are none."""
    if answer.results is not None:
        return answer.results
    message = answer.errors.strip() or f"exit code {answer.code}"
    raise ValueError(message) if answer.code == USAGE else RuntimeError(message)


# --- a campaign ---------------------------------------------------------------------------------

def words_of_run(case, *more):
    """The command line: what failed before is tried first, and what fails is kept."""
    words = ["run", case.name, *words_of(case.options), *more]
    if case.options.get("out") is None and os.access(os.curdir, os.W_OK):
        words.append(f"--out={program.FOLDER}")
        if case.options.get("corpus") is None and os.path.isdir(program.FOLDER):
            words.append(f"--corpus={program.FOLDER}")
    return words


def _violation(item):
    shrunk = item.get("shrunk") or {}
    return Violation(item["oracle"], int(item["seed"], 0), item["step"], item["message"],
                     item["token"], item["trace"], item.get("task"), shrunk.get("token"),
                     item.get("fifo_token"))


def _items_in(results):
    for found in (results, results.get("stored", {}), results.get("stored_own", {})):
        yield from found.get("violations", found.get("failures", ()))


def run(function, **options):
    """Runs a test, decorated or not, under many schedules.

    The options are those of buzzer.test(). What `python3 -m buzzer run` would refuse raises
    ValueError with its message.
    """
    check_options("run", options)
    case = function if isinstance(function, Case) else Case(spec_of(function), options=options)
    answer = program.ask(words_of_run(case, "--json"), [case])
    results = _results(answer)
    return Result(results["runs"], results["steps"], results["digest"],
                  tuple(map(_violation, _items_in(results))),
                  tuple(item["message"] for item in results["warnings"]), answer.code, results)


def _report(*answers):
    parts = [text.strip() for answer in answers for text in (answer.output, answer.errors)]
    return "\n".join(filter(None, parts)) or f"exit {answers[-1].code}"


class BuzzerWarning(UserWarning):
    """A campaign found nothing, and could hardly have found something."""


def check(case, *more, replay=None):
    """Runs a test; raises Failure with the report for people if a run fails. Returns the results."""
    __tracebackhide__ = True  # by pytest without the plug-in
    answer = program.ask(words_of_run(case, "--quiet", *more), [case], replay=replay)
    results = answer.results or {"warnings": ()}
    for item in () if case.is_suite else results["warnings"]:
        warnings.warn(BuzzerWarning(f"after {results['runs']} runs of {results['scenario']}: "
                                    f"{item['message']}"), stacklevel=3)
    if answer.code in (INTERRUPTED, program.INTERNAL):
        option = "--buzzer-max-steps" if case.is_suite else "--max-steps"
        raise NoVerdict(f"no verdict: {_report(answer)}".replace("--max-steps", option))
    if answer.code != OK:
        raise Failure(_report(answer), answer.results)
    return results


# --- a replay -----------------------------------------------------------------------------------

def _name_in(text):
    """The name of the test in a token, or in a trace."""
    if os.path.isfile(text):
        with open(text, encoding="utf-8", errors="replace") as file:
            found = re.search(r'"scenario"\s*:\s*"([^"\\]*)"', file.read(1 << 20))
        return found and found.group(1)
    return text.partition(":")[0] if ":" in text and "#" in text else None


def _test_in(name):
    """The test in its file: "TestGroup.test_n[3]"."""
    return urllib.parse.unquote(name.rpartition("/")[2])


def _named_case(case, text):
    """The test as the token or the trace names it: it may be of another folder, or have the name
    of its function, as it once had."""
    name = _name_in(text)
    own = _test_in(case.name)
    said = own if name is None else _test_in(name)
    names = own.partition("[")[0], getattr(case.function, "__qualname__", None)
    if said.partition("[")[0] not in names:
        raise ValueError(f"the run is of the test '{said}', and this is '{own}'")
    case.name = name or case.name
    return case


def replay_words(text, *more):
    return ["replay", *more, "--", text]


def check_replay(case, text, replay=None):
    """Replays a run for people; raises Failure with the report unless it passes as recorded."""
    case = _named_case(case, text)
    answers = [program.ask(replay_words(text), [case], replay=replay)]
    if answers[0].code in (USAGE, DIVERGED) and os.path.isfile(text):
        words = replay_words(text, f"--variant={program.RUNTIME}")
        answers.append(program.ask(words, [case], replay=replay))
    if answers[-1].code != OK or _results(answers[-1])["violation"]:
        raise Failure(_report(*answers))


def remake(case, run):
    """Makes a run again, for what else the test does in it. The run of a trace is made once."""
    more = [f"--variant={program.RUNTIME}"] if os.path.isfile(run) else []
    program.ask(replay_words(run, *more), [case], has_results=False)


def call(case, words):
    """A command about runs of the test, on this terminal. The exit code."""
    case.name = next(filter(None, map(_name_in, words[1:])), case.name)
    return program.call(words, [case])


def debug(case, text, trace):
    """The one run once more, in a process with breakpoints, prints and no limits."""
    path = text if os.path.isfile(text) else trace
    if os.path.isfile(path):
        program.call_bare(replay_words(path, f"--once={program.NO_STOP}"), [case])


def replay(function, token_or_trace):
    """Replays one run of a test from its token or its trace.

    A breakpoint() in the test stops there, once the run is known to be the recorded one.
    """
    text = os.fspath(token_or_trace)
    case = _named_case(Case(spec_of(function)), text)
    signs = program.Signs()
    with tempfile.TemporaryDirectory() as folder:
        trace = os.path.join(folder, "run.json")
        more = [] if os.path.isfile(text) else [f"--output={trace}"]
        document = _results(program.ask(replay_words(text, "--json", *more), [case], signs=signs))
        if signs.has_stopped:
            debug(case, text, trace)
    found = document["violation"]
    violation = found and Violation(found["oracle"], int(document["seed"], 0), found["step"],
                                    found["message"], document["token"],
                                    text if os.path.isfile(text) else None)
    return Replay(document["result"] == "matched", document["steps"], document["digest"],
                  violation, document.get("step"), document.get("expected"), document.get("got"),
                  document.get("cause_text"))
