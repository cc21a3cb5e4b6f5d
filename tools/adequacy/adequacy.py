#!/usr/bin/env python3
"""buzzer adequacy: what the campaign of a pipeline would miss in a file.

`buzzer adequacy --help` describes the options; tools/commands/adequacy.c reads the command line,
and starts this.
"""
import argparse
import hashlib
import json
import os
import random
import shlex
import signal
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

if __name__ == "__main__":
    sys.dont_write_bytecode = True
    sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

import process  # noqa: E402
from campaign import Builder, Buzzer, Judge, Test, compiled_with  # noqa: E402
from mutate import Unusable, mutants  # noqa: E402
from report import Summary, as_document, print_text  # noqa: E402

OK, USAGE, SURVIVORS, INTERRUPTED = 0, 2, 4, 5
STATE = "adequacy.jsonl"
KEPT = ("file", "build", "kind", "scenario", "variant", "runs", "seed", "mutants", "time",
        "threshold")  # by --resume


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

    def begin(self, head):
        self.path.parent.mkdir(parents=True, exist_ok=True)
        self.file = open(self.path, "w", encoding="utf-8")
        self.add(head)

    def add(self, item):
        with self.lock:
            self.file.write(json.dumps(item) + "\n")
            self.file.flush()

    def read(self):
        """The head and the verdicts; continues the file. A torn last line is dropped."""
        try:
            lines = self.path.read_text(encoding="utf-8").split("\n")
            items = [json.loads(line) for line in lines[:-1]]
            head = items[0]["options"] and items[0]
        except (OSError, ValueError, IndexError, KeyError) as error:
            raise Unusable(f"cannot resume from '{self.path}': {error}") from None
        self.file = open(self.path, "w", encoding="utf-8")
        for item in items:
            self.add(item)
        return head, {item.pop("number"): item for item in items[1:]}


class Work:
    """The mutants of a file, in the order in which they are judged."""

    def __init__(self, options, progress):
        self.options, self.progress = options, progress
        self.stop = threading.Event()
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
        if options.time or options.mutants:
            random.Random(options.seed).shuffle(self.order)
            self.order = self.order[:options.mutants] if options.mutants else self.order

    def claim(self, code, mutant):
        with self.lock:
            twin = self.twins.setdefault(code, mutant.number)
        return twin if twin != mutant.number else None

    def judge_all(self, judge, verdicts, state, deadline):
        self.verdicts = verdicts
        self.twins = {item.pop("hash"): number for number, item in verdicts.items()
                      if "hash" in item}

        def one(number):
            if self.stop.is_set() or deadline is not None and time.monotonic() > deadline:
                return
            verdict = judge.judge(self.by_number[number], self.text, self.claim)
            if self.stop.is_set():
                return
            state.add({"number": number, **verdict})
            verdict.pop("hash", None)
            with self.lock:
                verdicts[number] = verdict
            killed = sum(item["verdict"] == "killed" for item in verdicts.values())
            self.progress.show(f"{len(verdicts)} of {len(self.order)} mutants, {killed} killed")
        with ThreadPoolExecutor(self.options.jobs) as pool:
            waiting = [pool.submit(one, number) for number in self.order
                       if number not in verdicts]
            try:
                for item in waiting:
                    item.result()
            except BaseException:
                self.stop.set()
                process.kill_all()
                raise


def read_options(words):
    """tools/commands/adequacy.c has checked them, and has the help."""
    parser = argparse.ArgumentParser(allow_abbrev=False, prog="buzzer adequacy")
    parser.add_argument("file", nargs="?")
    for name in ("build", "out", "resume"):
        parser.add_argument(f"--{name}")
    for name in ("scenario", "variant"):
        parser.add_argument(f"--{name}", action="append", default=[])
    for name, default in (("runs", 10000), ("seed", 0), ("mutants", 0), ("time", 0),
                          ("jobs", os.cpu_count()), ("threshold", 100)):
        parser.add_argument(*["-j"][:name == "jobs"], f"--{name}", type=int, default=default)
    for name in ("program", "test", "json", "quiet"):
        parser.add_argument(f"--{name}", action="store_true")
    parser.add_argument("--buzzer", default="buzzer")
    options = parser.parse_args(words)
    options.kind = "program" if options.program else "test" if options.test else "plugin"
    return options


def begin(options):
    """The folder with its state, and what is known of an earlier session."""
    if not options.resume:
        folder = Path(options.out or f".buzzer/adequacy/{Path(options.file).name}")
        return folder, State(folder), None, {}
    state = State(options.resume)
    head, verdicts = state.read()
    for name in KEPT:
        setattr(options, name, head["options"][name])
    return Path(options.resume), state, head, verdicts


def run(options, progress):
    start = time.monotonic()
    folder, state, head, verdicts = begin(options)
    work = Work(options, progress)
    work.read()
    builder = Builder(options.file, options.build, folder / "work", options.kind == "plugin")
    runner = Test() if options.kind == "test" else Buzzer(options.buzzer, options.kind == "plugin")
    judge = Judge(builder, runner)
    progress.show("the unchanged file ...")
    with ThreadPoolExecutor(options.jobs) as pool:
        judge.prepare(work.text, work.probes, options.scenario, options.variant, options.runs, pool)
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
    settle(work, verdicts)
    summary = Summary(work.mutants, verdicts)
    report = {"file": options.file, "build": options.build, "seed": options.seed,
              "text": work.text, "summary": summary, "campaigns": judge.campaigns,
              "left_out": [(campaign.name(), why) for campaign, why in judge.left_out],
              "runs_text": f"{options.runs} runs" if options.kind != "test" else "the test",
              "seconds": round(time.monotonic() - start, 1), "interrupted": is_interrupted}
    code = INTERRUPTED if is_interrupted else OK if summary.killed == summary.judged or \
        100 * summary.killed >= options.threshold * summary.judged else SURVIVORS
    document = json.dumps(as_document(report, code), indent=1)
    (folder / "report.json").write_text(document + "\n", encoding="utf-8")
    if options.json:
        print(document)
    else:
        print_text(report, sys.stdout)
    if is_interrupted:
        print(f"interrupted; 'buzzer adequacy --resume {shlex.quote(str(folder))}' continues",
              file=sys.stderr)
    return code


def settle(work, verdicts):
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
        process.kill_all()
        process.kill_orphans()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
