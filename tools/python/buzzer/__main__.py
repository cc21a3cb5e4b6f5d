"""python3 -m buzzer: the program `buzzer`, with the tests of files in Python.

    run FILE.py[::TEST] [OPTION...]      a test, or all of a file; --profile ci|dev|NAME
    run --suite PATH... [OPTION...]      a suite of pytest's, as `pytest --buzzer`
    list FILE.py                         the tests of a file
    replay, shrink, explain, show, diff, corpus, ... TOKEN|TRACE

The rest is the program's: `python3 -m buzzer --help`.
"""
import importlib.util
import json
import os
import re
import sys
import tempfile

from buzzer import case as cases_of
from buzzer import hashes, program
from buzzer.campaign import PYTEST_DONE, debug, replay_words, words_of_run

# The exit code of several tests: the first of these that is among theirs.
_WORST = (70, 2, 5, 1, 4, 3, 0)

_BY_PYTEST = ("replay", "explain", "shrink", "show")

# In traces, and at the beginning of checkpoints. Names have no quotes and no backslashes.
_NAMES = re.compile(r'(?:"scenario"\s*:\s*"|^buzzer-work/1 \w+ )([^":\\\s]+\.py/[^":\\/\s]+)[":]')


def _target(word):
    """FILE.py::TEST or FILE.py as a pair; None: the word is something else."""
    path, colons, test = word.partition("::")
    if path.startswith("-") or not path.endswith(".py"):
        return None
    return path, test if colons else None


def _names_in_file(path):
    try:
        with open(path, encoding="utf-8", errors="replace") as file:
            return set(_NAMES.findall(file.read()))
    except OSError:
        return set()


def _names_in(word):
    """The tests that a word is about, and whether it is about one: a token, a trace, a folder."""
    value = word.partition("=")[2] if word.startswith("--") else word
    if os.path.isdir(value):
        files = (entry.path for entry in os.scandir(value)
                 if entry.name.endswith((".json", ".checkpoint")))
        return set().union(*map(_names_in_file, files)), False
    if os.path.isfile(value):
        return _names_in_file(value), True
    head = value.partition(":")[0]
    return ({head} if re.search(r"\.py/[^/]+$", head) and ":" in value else set()), True


def _named(words, command):
    """The tests that the words name, and why others are not there, by name: one that is gone
    matters only if it is to be run."""
    found, missing = {}, {}
    for word in words:
        names, is_wanted = _names_in(word)
        for name in sorted(names - set(found) - set(missing)):
            try:
                found[name] = cases_of.find_named(name)
            except cases_of.NotATest as problem:
                if is_wanted and command not in ("show", "diff"):
                    raise
                missing[name] = str(problem)
    return list(found.values()), missing


# --- run ----------------------------------------------------------------------------------------

def _options_given(words):
    """The names of the options of a command line, which may be cut short."""
    given = {word[2:].partition("=")[0] for word in words if word.startswith("--")}
    return {name for name in cases_of.OPTIONS
            if any(text and name.replace("_", "-").startswith(text) for text in given)}


def _run_one(case, words):
    given = _options_given(words)
    case.options = cases_of.merged(case.options, dict.fromkeys(given & {"seed", "runs"}, 0))
    case.options = {name: value for name, value in case.options.items() if name not in given}
    if given & {"seed", "seeds", "time", "runs"}:
        case.options = cases_of.merged(case.options, {"seeds": ""})
        del case.options["seeds"]
    line = words_of_run(case)
    if "out" in given or "corpus" in given:
        line = [word for word in line if not word.startswith(("--out=", "--corpus="))]
    return program.call_one([*line, *words], [case])


def _refuse_many(words, count):
    """One document, or one file, has the results of one test: those of the next would replace it."""
    given = {word[2:].partition("=")[0] for word in words if word.startswith("--")}
    for name in "json", "junit":
        if any(len(text) > 1 and name.startswith(text) for text in given):
            raise ValueError(f"--{name} takes one test, as FILE.py::TEST, and these are {count}; "
                             "pytest --junitxml=FILE is for all of them")


def _run(cases, problems, words):
    if len(cases) > 1:
        _refuse_many(words, len(cases))
    codes = []
    for case in cases:
        if codes:
            print()
        code, is_interrupted = _run_one(case, words)
        codes.append(code)
        if code >= 128:
            return code
        if is_interrupted:
            left = len(cases) - len(codes)
            if left > 0:
                print(f"{program.COMMAND} run: interrupted; {left} of {len(cases)} tests did not "
                      "begin", file=sys.stderr)
            codes.append(5)
            break
    for problem in problems:
        print(f"{program.COMMAND} run: {problem}", file=sys.stderr)
    if problems or not codes:
        codes.append(2)
    return next(code for code in _WORST if code in codes)


def _take(words, option):
    """Takes --profile, which is not the program's, out of the words."""
    for index, word in enumerate(words):
        name, sign, value = word.partition("=")
        if name == option:
            if not sign and index + 1 == len(words):
                raise ValueError(f"option '{option}' needs an argument")
            value = value if sign else words.pop(index + 1)
            del words[index]
            return value
    return None


# Options of `run` that a suite takes, and what pytest calls them; others are pytest's own.
_OF_SUITE = {"--runs": "--buzzer", "--order": "--buzzer-order", "--max-cancels": "--buzzer-cancels",
             "--max-lag": "--buzzer-lag", "--junit": "--junitxml"}
_SUITE_CODES = {0: 0, 1: 1, 2: 5, 3: 70, 4: 2, 5: 2}  # by pytest's: 5 is `no tests`


def _run_suite(words):
    if importlib.util.find_spec("pytest") is None:
        raise ValueError("--suite needs pytest, which is not installed for this interpreter")
    own = [f"{name}={value}" for option, name in _OF_SUITE.items()
           if (value := _take(words, option)) is not None]
    code = _call_pytest("--buzzer=", *own, *words)
    return _SUITE_CODES.get(code, code)


# --- the other commands -------------------------------------------------------------------------

def _replay(words, cases):
    """A run is shown once more, with what it prints and its breakpoints, if it has any."""
    signs = program.Signs()
    is_plain = not any(word.startswith("-") for word in words[1:]) and len(words) == 2
    if not is_plain:
        return program.call(words, cases, signs=signs)
    with tempfile.TemporaryDirectory() as folder:
        trace = os.path.join(folder, "run.json")
        more = [] if os.path.isfile(words[1]) else [f"--output={trace}"]
        code = program.call(replay_words(words[1], *more), cases, signs=signs)
        is_known = not more or os.path.isfile(trace)
        if (signs.has_stopped or signs.has_printed) and is_known and len(cases) == 1:
            what = "stops at a breakpoint" if signs.has_stopped else "prints"
            print(f"\nthe test {what}: the same run again, alone and without limits", flush=True)
            debug(cases[0], words[1], trace)
    return code


def _list(targets):
    for path, _ in targets:
        cases, problems = cases_of.find_all(path)
        for case in cases:
            print(f"{case.name:<40} {case.summary}")
        for problem in problems:
            print(f"{program.COMMAND} list: {problem}", file=sys.stderr)
    return 0


def _parted(words):
    """The tests that the words name as FILE.py::TEST or FILE.py, and the other words."""
    targets, rest = [], []
    for before, word in zip(["", *words], words):
        target = None if before in ("-o", "--output") else _target(word)
        if target is None:
            rest.append(word)
        else:
            targets.append(target)
    return targets, rest


def _main(words):
    command = words[0] if words else ""
    profile = _take(words, "--profile") if command == "run" else None
    if profile is not None:
        os.environ["BUZZER_PROFILE"] = profile
    if words[:2] == ["run", "--suite"]:
        return _run_suite(words[2:])
    targets, rest = _parted(words[1:])
    if command == "list" and targets:
        return _list(targets)
    if not targets:
        cases, missing = _named(words[1:], command)
        if command == "replay":
            return _replay(words, cases)
        return program.call(words, cases, missing=missing)
    cases, problems = [], []
    for path, test in targets:
        found, unfit = ([cases_of.find(path, test)], []) if test else cases_of.find_all(path)
        if not found and not unfit:
            problems.append(f"{path}: it has no function with @buzzer.test")
        cases += found
        problems += unfit
    if command == "run":
        return _run(cases, problems, rest)
    if len(cases) != 1 or problems:
        raise cases_of.NotATest(problems[0] if problems else
                                f"'{command}' takes one test, as FILE.py::TEST")
    others, missing = _named(rest, command)
    return program.call([command, cases[0].name, *rest], cases + others, missing=missing)


def _call_pytest(*words):
    """The exit code of pytest with the plug-in."""
    import importlib.metadata
    try:
        importlib.metadata.version("buzzer")
        own = []  # pytest finds the plug-in
    except importlib.metadata.PackageNotFoundError:
        own = ["-p", "buzzer.pytest_plugin"]
    return program.call_python("-m", "pytest", *own, *words)


def _by_pytest(need, words):
    """The test takes arguments that pytest gives: pytest makes them, and calls the program. The
    exit code; None: pytest is not there, or has no such test."""
    if importlib.util.find_spec("pytest") is None:
        return None
    code = _call_pytest("-o", "addopts=", "-p", "no:terminal", "-p", "no:cacheprovider", "-s",
                        "--buzzer-words", json.dumps(words), need.node)
    return code - PYTEST_DONE if code >= PYTEST_DONE else None


def main():
    hashes.pin()
    words = sys.argv[1:]
    try:
        try:
            return _main(words)
        except cases_of.NeedsPytest as need:
            code = _by_pytest(need, words) if words[0] in _BY_PYTEST else None
            if code is not None:
                return code
            raise
    except (cases_of.NotATest, program.NotBuilt, ValueError) as error:
        print(" ".join([program.COMMAND, *words[:1]]) + f": {error}", file=sys.stderr)
        return 2


if __name__ == "__main__":
    sys.exit(main())
