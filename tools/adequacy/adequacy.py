#!/usr/bin/env python3
"""buzzer adequacy: what the campaign of a pipeline would miss in a file.

`buzzer adequacy --help` describes the options; tools/commands/adequacy.c reads the command line,
and starts this.
"""
import argparse
import fcntl
import hashlib
import itertools
import json
import os
import random
import shlex
import shutil
import signal
import sys
import threading
import time
from pathlib import Path

if __name__ == "__main__":
    sys.dont_write_bytecode = True
    sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

import process  # noqa: E402
from campaign import SEARCH, Builder, Buzzer, Judge, Test, compiled_with, loaded_hash  # noqa: E402
from mutate import Unusable, apply, mutants  # noqa: E402
from page import html  # noqa: E402
from report import HOLES, Report, explain, junit, print_text, read_reasons  # noqa: E402

STOPPING = {signal.SIGINT, signal.SIGTERM}
OK, USAGE, SURVIVORS, INTERRUPTED = 0, 2, 4, 5
STATE = "adequacy.jsonl"
KEPT = ("file", "build", "kind", "scenario", "without", "variant", "plugin", "runs", "seed",
        "mutants", "is_drawn")


class Progress:
    """A line on a terminal, elsewhere one every 30 seconds."""

    def __init__(self, is_quiet):
        self.is_quiet, self.is_live = is_quiet, sys.stderr.isatty()
        self.last = time.monotonic()

    def show(self, text):
        now = time.monotonic()
        if self.is_quiet or now - self.last < (0.1 if self.is_live else 30):
            return
        self.last = now
        print(f"\r\033[K{text}" if self.is_live else text, end="" if self.is_live else "\n",
              file=sys.stderr, flush=True)

    def end(self):
        if self.is_live and not self.is_quiet:
            print("\r\033[K", end="", file=sys.stderr, flush=True)


class State:
    """The file of a session: the options and what is known of the unchanged file, then a line for
    each mutant."""

    def __init__(self, folder):
        self.path = Path(folder) / STATE
        self.lock = threading.Lock()
        self.file = None

    def occupy(self):
        """Nobody else may work in the folder."""
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            self.occupied = open(self.path.with_suffix(".lock"), "w", encoding="utf-8")
            fcntl.flock(self.occupied, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise Unusable(f"another 'buzzer adequacy' works in '{self.path.parent}'; "
                           "choose a folder with --out") from None
        except OSError as error:
            raise Unusable(f"cannot write to '{self.path.parent}': {error.strerror}") from None

    def begin(self, head):
        self.file = open(self.path, "w", encoding="utf-8")
        self.add(head)

    def add(self, item):
        with self.lock:
            self.file.write(json.dumps(item) + "\n")
            self.file.flush()

    def read(self):
        """The head and the verdicts; None if there is nothing. A torn last line is dropped."""
        try:
            self.text = self.path.read_bytes()
            items = [json.loads(line) for line in self.text.split(b"\n")[:-1]]
            return {name: items[0][name] for name in ("options", "inputs", "found")}, \
                {item.pop("number"): item for item in items[1:]}
        except (OSError, ValueError, LookupError):
            return None, {}

    def go_on(self):
        """Later verdicts are appended."""
        os.truncate(self.path, self.text.rfind(b"\n") + 1)
        self.file = open(self.path, "a", encoding="utf-8")


class Work:
    """The mutants of a file, in the order in which they are judged."""

    def __init__(self, options, progress):
        self.options, self.progress = options, progress
        self.lock = threading.Lock()
        self.twins = {}  # hash -> number

    def read(self):
        try:
            self.text = Path(self.options.file).read_bytes()
        except OSError as error:
            raise Unusable(f"cannot read '{self.options.file}': {error.strerror}") from None

    def parse(self):
        options = self.options
        self.mutants, self.probes = mutants(options.file,
                                            compiled_with(options.build, options.file))
        if not self.mutants:
            raise Unusable(f"'{options.file}' has no function with anything to change")
        self.by_number = {mutant.number: mutant for mutant in self.mutants}
        self.order = list(self.by_number)
        if options.is_drawn:
            random.Random(options.seed).shuffle(self.order)
            self.order = self.order[:options.mutants] if options.mutants else self.order

    def claim(self, code, mutant):
        with self.lock:
            twin = self.twins.setdefault(code, mutant.number)
        return twin if twin != mutant.number else None

    def judge_all(self, judge, verdicts, state, deadline):
        self.twins = {item.pop("hash"): number for number, item in verdicts.items()
                      if "hash" in item}

        def one(number):
            if deadline is not None and time.monotonic() > deadline:
                return
            verdict = judge.judge(self.by_number[number], self.text, self.claim)
            state.add({"number": number, **verdict})
            verdict.pop("hash", None)
            with self.lock:
                verdicts[number] = verdict
                killed = sum(item["verdict"] == "killed" for item in verdicts.values())
            self.progress.show(f"{len(verdicts)} of {len(self.order)} mutants, {killed} killed")
        process.at_once(self.options.jobs, one,
                        [number for number in self.order if number not in verdicts])


def read_options(words):
    """tools/commands/adequacy.c has checked them, and has the help."""
    parser = argparse.ArgumentParser(allow_abbrev=False, prog="buzzer adequacy")
    parser.add_argument("file")
    for name in ("build", "out", "html", "junit", "explained"):
        parser.add_argument(f"--{name}")
    for name in ("scenario", "without", "variant", "plugin"):
        parser.add_argument(f"--{name}", action="append", default=[])
    for name, default in (("runs", 10000), ("seed", 0), ("mutants", 0), ("time", 0),
                          ("jobs", os.cpu_count()), ("threshold", 100)):
        parser.add_argument(*["-j"][:name == "jobs"], f"--{name}", type=int, default=default)
    for name in ("program", "test", "json", "quiet", "shared"):  # --shared: --explained, by files
        parser.add_argument(f"--{name}", nargs="?", const="yes")
    parser.add_argument("--buzzer", default="buzzer")
    options = parser.parse_args(words)
    options.is_drawn = options.time > 0 or options.mutants > 0
    options.kind = "program" if options.program else "test" if options.test else "plugin"
    return options


def begin(options):
    """The folder with its state, and what is known of an earlier session with the same options."""
    name = f".buzzer/adequacy/{Path(options.file).name}"
    for folder in [options.out] if options.out else (
            name + (f"-{number}" if number > 1 else "") for number in itertools.count(1)):
        state = State(folder)
        head, _ = state.read()
        if head is None or head["options"] == kept(options):
            state.occupy()
            return state, *state.read()
    raise Unusable(f"'{options.out}' has the results of other options; choose another folder, or "
                   "remove it")


def kept(options):
    return {name: getattr(options, name) for name in KEPT}


def prepare(options, state, head, work, judge, show, found_of):
    """Builds the unchanged file and runs its campaigns, unless an earlier session did. Returns true
    if its verdicts hold. found_of(file): what the caller has found in these campaigns."""
    show("the unchanged file ...")
    work.read()
    judge.build(work.text)
    work.parse()
    programs = [options.buzzer, *options.plugin] if options.kind == "plugin" else options.plugin
    inputs = [hashlib.sha256(work.text).hexdigest(), judge.hash, *map(loaded_hash, programs)]
    if head is not None and head["inputs"] == inputs and judge.restore(head["found"], options.jobs):
        state.go_on()
        return True
    if found_of is not None:
        judge.adopt(found_of(options.file))
    else:
        judge.prepare(work.probes, options, show)
    state.begin({"options": kept(options), "inputs": inputs, "found": judge.as_dict()})
    return False


def run(options, progress, found_of):
    start = time.monotonic()
    reasons = read_reasons(options.explained) if options.explained else []
    state, head, verdicts = begin(options)
    folder = state.path.parent
    work = Work(options, progress)
    builder = Builder(options.file, options.build, folder / "work", options.kind == "plugin")
    runner = Test() if options.kind == "test" else \
        Buzzer(options.buzzer, options.kind == "plugin", options.plugin)
    judge = Judge(builder, runner)
    goes_on = prepare(options, state, head, work, judge, progress.show, found_of)
    if head is not None and not options.quiet:
        print(f"'{folder}' has {len(verdicts)} verdicts of an earlier session "
              + ("with the same options" if goes_on else
                 "of another file, build, campaign or Buzzer: they are replaced"),
              file=sys.stderr)
    verdicts = verdicts if goes_on else {}
    is_interrupted = False
    try:
        work.judge_all(judge, verdicts, state, start + options.time if options.time else None)
    except KeyboardInterrupt:
        is_interrupted = True
    progress.end()
    settle(verdicts)
    for line in explain(reasons, work.text, work.mutants, verdicts, options.shared):
        print(f"buzzer adequacy: {line}", file=sys.stderr)
    report = Report(options.file, work.text, work.mutants, verdicts)
    report.campaigns, report.left_out, report.options = judge.campaigns, judge.left_out, options
    report.is_drawn, report.has_marks, report.folder = options.is_drawn, judge.has_marks, folder
    report.seconds, report.interrupted = round(time.monotonic() - start, 1), is_interrupted
    least = options.threshold * (report.judged or not report.counts["explained"])  # none: no proof
    report.exit_code = INTERRUPTED if is_interrupted else \
        OK if 100 * report.killed >= least else SURVIVORS
    shutil.rmtree(builder.folder, ignore_errors=True)
    put(report, folder, options)
    if is_interrupted:
        print("interrupted; the same command continues", file=sys.stderr)
    return report.exit_code


def write(path, text):
    """As a whole, or not at all."""
    part = f"{path}.part"
    with open(part, "w", encoding="utf-8") as file:
        file.write(text)
    os.replace(part, path)


def put(report, folder, options):
    document = json.dumps(report.as_document(), indent=1) + "\n"
    survivors = folder / "survivors"
    try:
        write(folder / "report.json", document)
        shutil.rmtree(survivors, ignore_errors=True)
        survivors.mkdir()
        for mutant in report.having(*HOLES):
            (survivors / report.name(mutant)).write_bytes(apply(report.text, mutant))
        write(folder / "try", trial(options, folder))
        for path, text in ((options.html, html), (options.junit, junit)):
            if path:
                write(path, text(report))
        if options.json:
            sys.stdout.write(document)
        else:
            print_text(report, sys.stdout)
        sys.stdout.flush()
    except OSError as error:
        raise Unusable(f"cannot write '{error.filename or 'the standard output'}': "
                       f"{error.strerror}") from None


def trial(options, folder):
    """A script that runs a scenario on a survivor."""
    out = (folder / "survivor").resolve().with_suffix(".so" if options.kind == "plugin" else "")
    command = options.build.replace("{source}", '"$source"').replace("{out}", '"$out"')
    paths = shlex.quote(str(Path(options.file).resolve().parent))
    plugins = shlex.join(f"--plugin={path}" for path in options.plugin)
    run_it = {"plugin": f'{shlex.quote(options.buzzer)} "$@" {plugins} --plugin "$out"',
              "program": f'"$out" "$@" {plugins}', "test": '"$out"'}[options.kind]
    return f"""#!/bin/sh
# try SURVIVOR [{SEARCH}] SCENARIO [OPTION...]: builds a survivor, and runs a scenario on it.
source=$(realpath "$1") && shift && cd {shlex.quote(os.getcwd())} || exit
[ "$1" = {SEARCH} ] || set -- run "$@"
export source out={shlex.quote(str(out))} CPATH={paths}:"$CPATH"
{command} || exit
exec {run_it}
"""


def settle(verdicts):
    """Of mutants with the same code, the first one is counted, whichever was judged."""
    twins = {}
    for number in [number for number, verdict in verdicts.items()
                   if verdict.get("of", number) not in verdicts]:  # interrupted
        del verdicts[number]
    for number, verdict in verdicts.items():
        twins.setdefault(verdict.get("of", number), []).append(number)
    for judged, numbers in twins.items():
        first = min(numbers)
        if first != judged:
            verdicts[first], verdicts[judged] = verdicts[judged], {"verdict": "duplicate"}
        for number in numbers:
            if number != first:
                verdicts[number]["of"] = first


def main(words, found_of=None):
    options = read_options(words)
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    process.begin()
    progress = Progress(options.quiet)
    try:
        signal.pthread_sigmask(signal.SIG_UNBLOCK, STOPPING)  # adequacy.c has blocked them
        return run(options, progress, found_of)
    except Unusable as error:
        progress.end()
        if options.json:
            print(json.dumps({"command": "adequacy", "error": str(error), "exit_code": USAGE}))
        print(f"buzzer adequacy: {error}", file=sys.stderr)
        return USAGE
    except KeyboardInterrupt:
        progress.end()
        print("buzzer adequacy: interrupted before the first mutant was judged", file=sys.stderr)
        return INTERRUPTED
    finally:
        process.stop()
        process.kill_orphans()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
