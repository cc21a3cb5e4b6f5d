#!/usr/bin/env python3
"""buzzer adequacy: what the campaign of a pipeline would miss in a file.

`buzzer adequacy --help` describes the options; tools/commands/adequacy.c reads the command line,
and starts this.
"""
import argparse
import fcntl
import hashlib
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
from campaign import Builder, Buzzer, Judge, Test, compiled_with  # noqa: E402
from mutate import Unusable, apply, mutants  # noqa: E402
from page import html, junit, write  # noqa: E402
from report import HOLES, Report, explain, print_text  # noqa: E402

OK, USAGE, SURVIVORS, INTERRUPTED = 0, 2, 4, 5
STATE = "adequacy.jsonl"
KEPT = ("file", "build", "kind", "scenario", "variant", "plugin", "runs", "seed", "mutants",
        "is_drawn")  # by --resume


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
    """The file that --resume reads: the options, then a line for each mutant."""

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
        """The head and the verdicts. Later verdicts are appended; a torn last line is dropped."""
        try:
            text = self.path.read_bytes()
            items = [json.loads(line) for line in text.split(b"\n")[:-1]]
            head = items[0]["options"] and items[0]
            os.truncate(self.path, text.rfind(b"\n") + 1)
            self.file = open(self.path, "a", encoding="utf-8")
        except (OSError, ValueError, IndexError, KeyError) as error:
            raise Unusable(f"cannot resume from '{self.path}': {error}") from None
        return head, {item.pop("number"): item for item in items[1:]}


class Work:
    """The mutants of a file, in the order in which they are judged."""

    def __init__(self, options, progress):
        self.options, self.progress = options, progress
        self.lock = threading.Lock()
        self.twins = {}  # hash -> number

    def read(self):
        options = self.options
        try:
            self.text = Path(options.file).read_bytes()
        except OSError as error:
            raise Unusable(f"cannot read '{options.file}': {error.strerror}") from None
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
    parser.add_argument("file", nargs="?")
    for name in ("build", "out", "resume", "html", "junit", "explained"):
        parser.add_argument(f"--{name}")
    for name in ("scenario", "variant", "plugin"):
        parser.add_argument(f"--{name}", action="append", default=[])
    for name, default in (("runs", 10000), ("seed", 0), ("mutants", 0), ("time", 0),
                          ("jobs", os.cpu_count()), ("threshold", 100)):
        parser.add_argument(*["-j"][:name == "jobs"], f"--{name}", type=int, default=default)
    for name in ("program", "test", "json", "quiet"):
        parser.add_argument(f"--{name}", nargs="?", const="yes")
    parser.add_argument("--buzzer", default="buzzer")
    options = parser.parse_args(words)
    options.is_drawn = options.time > 0 or options.mutants > 0
    options.kind = "program" if options.program else "test" if options.test else "plugin"
    return options


def begin(options):
    """The folder with its state, and what is known of an earlier session."""
    if not options.resume:
        folder = Path(options.out or f".buzzer/adequacy/{Path(options.file).name}")
        state = State(folder)
        state.occupy()
        return folder, state, None, {}
    state = State(options.resume)
    head, verdicts = state.read()
    state.occupy()
    for name in KEPT:
        setattr(options, name, head["options"][name])
    return Path(options.resume), state, head, verdicts


def run(options, progress):
    start = time.monotonic()
    folder, state, head, verdicts = begin(options)
    work = Work(options, progress)
    work.read()
    builder = Builder(options.file, options.build, folder / "work", options.kind == "plugin")
    runner = Test() if options.kind == "test" else \
        Buzzer(options.buzzer, options.kind == "plugin", options.plugin)
    judge = Judge(builder, runner)
    progress.show("the unchanged file ...")
    judge.prepare(work.text, work.probes, options)
    own = {"options": {name: getattr(options, name) for name in KEPT},
           "source": hashlib.sha256(work.text).hexdigest(), "code": judge.hash,
           "digests": [campaign.digests for campaign in judge.campaigns]}
    if head is not None and head != own:
        raise Unusable(f"cannot resume from '{folder}': the file, its build or its campaigns "
                       "have changed")
    if head is None:
        state.begin(own)
    is_interrupted = False
    try:
        work.judge_all(judge, verdicts, state, start + options.time if options.time else None)
    except KeyboardInterrupt:
        is_interrupted = True
    progress.end()
    settle(verdicts)
    unused = explain(options.explained, work.text, work.mutants, verdicts) \
        if options.explained else []
    for line in unused:
        print(f"buzzer adequacy: {line} explains no survivor", file=sys.stderr)
    report = Report(options.file, work.text, work.mutants, verdicts)
    report.campaigns, report.left_out, report.options = judge.campaigns, judge.left_out, options
    report.is_drawn, report.has_marks = options.is_drawn, judge.has_marks
    report.seconds, report.interrupted = round(time.monotonic() - start, 1), is_interrupted
    report.exit_code = INTERRUPTED if is_interrupted else OK if \
        100 * report.killed >= options.threshold * report.judged else SURVIVORS
    shutil.rmtree(builder.folder, ignore_errors=True)
    put(report, folder, options)
    if is_interrupted:
        print(f"interrupted; 'buzzer adequacy --resume {shlex.quote(str(folder))}' continues",
              file=sys.stderr)
    return report.exit_code


def put(report, folder, options):
    document = json.dumps(report.as_document(), indent=1) + "\n"
    survivors = folder / "survivors"
    try:
        write(folder / "report.json", document)
        shutil.rmtree(survivors, ignore_errors=True)
        survivors.mkdir()
        for mutant in report.having(*HOLES):
            name = f"{mutant.line}-{mutant.number}-{Path(options.file).name}"
            (survivors / name).write_bytes(apply(report.text, mutant))
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


def settle(verdicts):
    """Of mutants with the same code, the first one is counted, whichever was judged."""
    twins = {}
    for number, verdict in verdicts.items():
        twins.setdefault(verdict.get("of", number), []).append(number)
    for judged, numbers in twins.items():
        first = min(numbers)
        if first != judged:
            verdicts[first], verdicts[judged] = verdicts[judged], {"verdict": "duplicate"}
        for number in numbers:
            if number != first:
                verdicts[number]["of"] = first


def main(words):
    options = read_options(words)
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    process.begin()
    progress = Progress(options.quiet)
    try:
        return run(options, progress)
    except Unusable as error:
        progress.end()
        if options.json:
            print(json.dumps({"command": "adequacy", "error": str(error), "exit_code": USAGE}))
        print(f"buzzer adequacy: {error}", file=sys.stderr)
        return USAGE
    except KeyboardInterrupt:
        progress.end()
        print("buzzer adequacy: interrupted", file=sys.stderr)
        return INTERRUPTED
    finally:
        process.stop()
        process.kill_orphans()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
