#!/usr/bin/env python3
"""buzzer adequacy for files of Buzzer itself.

    own.py [--build FOLDER] [--threshold PERCENT] FILE.c... [OPTION...]
    own.py --catalogue [--build FOLDER] [--only PATTERN] [--mutants N] [--seed N] [--runs N] [-j N]
           [--list] FILE.mut...

OPTION is one of buzzer adequacy, for each file; --time is in seconds. A mutant is compiled as the
build in FOLDER (build/quick) compiles the file for the simulator, and linked with everything else
that is built there; a definition of the mutant comes first. Without --scenario, the campaigns are
CAMPAIGNS. The unchanged program runs them once for all files, before any --time begins. The results
of primitives/sync/lock.c are in FOLDER/adequacy/lock.c. explained.txt has the survivors that are all
right. The threshold is for all files together. Files of which no run depends are named and left out
(OUTSIDE). Exit status: as of buzzer adequacy.

With --catalogue, the mutants are those of catalogues (catalogue.py has the format): all, those with
names that fit a PATTERN with * and ?, or N drawn from each catalogue. One with primitives runs every
scenario in both orders, up to --runs schedules each (10000), then its settings, until an oracle
objects. One with tests is put into a copy of the tree (build/mutants), where they run until one
fails or hangs. One with lockstep is linked into buzzer-lab, where drawn programs must differ within
LOCKSTEP_PROGRAMS from an interpreter of BUZZER_PYTHONS (python3); without one of its version, it is
not judged. Exit status: 4 a mutant survives, 2 one does not fit or compile, 5 interrupted.
"""
import argparse
import fnmatch
import json
import os
import random
import re
import shutil
import sys
from functools import partial
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
EXPLAINED = ROOT / "tools/adequacy/explained.txt"
# No verdict of a simulation depends on these; unit tests judge them.
OUTSIDE = {
    "primitives/runtime/check.c": "says which internal check has failed",
    "primitives/runtime/place.c": "maps memory at addresses; no run depends on an address",
    "primitives/runtime/room.c": "maps memory at addresses; no run depends on an address",
    "primitives/runtime/run.c": "runs a loop on the system's clock; the simulator drives loops itself",
    "primitives/runtime/status.c": "has the names of statuses, for reports",
}
# Besides all scenarios, for what these alone execute: a search that is resumed, one with several
# processes, and a run whose record and arena are large.
CAMPAIGNS = (
    "all",
    "explore handoff --variant buzzer --max-cancels 2 --max-states 100",
    "explore contended --variant buzzer --primitive lock --order any --max-cancels 1",
    "contended --variant buzzer --primitive semaphore --order any --runs 1 --max-steps 9999999 "
    "--set cancels=0 --set workers=600 --set rounds=1000",
)
LOCKSTEP_PROGRAMS = 2000
sys.dont_write_bytecode = True
sys.path.insert(0, str(ROOT / "tools/adequacy"))

import adequacy  # noqa: E402
import process  # noqa: E402
from campaign import Builder, Built, Buzzer, Judge, compiled_with  # noqa: E402
from catalogue import JUDGES, Bad, apply, read  # noqa: E402
from mutate import Unusable, mutants  # noqa: E402
from tree import Tree  # noqa: E402


def recipe(build, path, program="tools/buzzer"):
    """The commands that compile a changed file, and that link a program with it."""
    listing = process.execute(["ninja", "-C", build, "-t", "commands", program])
    if listing.status != 0:
        raise Unusable(f"{build} is not built: {listing.err.strip()}")
    listing = listing.out.splitlines()
    compiles = [line for line in listing if line.endswith(f" -c {ROOT / path}")]
    compiles = [line for line in compiles if "buzzer-sim" in line] or compiles
    if not compiles:
        raise Unusable(f"{path} is no part of the program")
    compile_words = re.sub(r"-MD -MT \S+ -MF \S+ -o \S+ -c \S+$", "-w -c {source} -o {out}.o",
                           compiles[0]).replace("/usr/bin/ccache ", "")
    link = re.sub(rf"^: && (\S+) (.*) -o {program} (.*) && :$",
                  r"\1 {out}.o \2 -Wl,-z,muldefs -s -o {out} \3", listing[-1])
    return f"cd {build} && {compile_words}", link


def parser_of():
    """With the options of both kinds of work."""
    parser = argparse.ArgumentParser(allow_abbrev=False, usage=__doc__)
    parser.add_argument("--build", type=lambda text: Path(text).resolve(),
                        default=ROOT / "build/quick")
    return parser


def built(options, mutant, program, judge):
    """What `judge` says of the program with the mutant."""
    path = Path(mutant.get("users", mutant["source"]).split()[0])
    text, _ = apply(mutant, (ROOT / mutant["source"]).read_text())
    # A header's guard keeps the shipped one out of the sources that use it.
    text += "".join(f'#include "{user}"\n' for user in mutant.get("users", "").split())
    builder = Builder(path, " && ".join(recipe(options.build, path, program)),
                      options.build / "adequacy/catalogue", False)
    try:
        result = builder.build(mutant["mutant"], text.encode())
        if result.out is None:
            raise Bad(f"mutant '{mutant['mutant']}' does not compile: {result.error}")
        return judge(result.out)
    finally:
        builder.clean(mutant["mutant"])


MARKS = 10000  # of a file, at most


class Baseline:
    """What the campaigns of the unchanged program execute, once for all files: they take longer
    than the mutants of one file."""

    def __init__(self, build, recipes, options):
        self.recipes, self.program = recipes, build / "tools/buzzer"
        self.folder = build / "adequacy/unchanged"
        judge = Judge(self, Buzzer(self.program, False))
        judge.original = self.program
        judge.prepare(True, options, adequacy.Progress(options.quiet).show)
        shutil.rmtree(self.folder)
        self.found = judge.as_dict()

    def build(self, name, _):
        """The program with marks in all files, for Judge."""
        objects = []
        for index, (path, (compiles, link)) in enumerate(self.recipes.items()):
            builder = Builder(path, f"{compiles} && mv {{out}}.o {{out}}", self.folder, False)
            _, probes = mutants(str(path), compiled_with(compiles, str(path)), index * MARKS)
            objects.append(str(builder.build(f"{name}-{index}", probes).out))
        out = self.folder / name
        links = link.replace("{out}.o", " ".join(objects)).replace("{out}", str(out))
        result = process.execute(["sh", "-c", f"{compiles.partition(' && ')[0]} && {links}"])
        if result.status != 0:
            raise Unusable(f"the program with marks does not build: {result.err}")
        return Built(out)

    def of(self, file):
        """For one file: its marks alone."""
        first = list(map(str, self.recipes)).index(file) * MARKS

        def own(reached):
            return reached and [mark - first for mark in reached if 0 <= mark - first < MARKS]
        return {**self.found, "campaigns": [
            {**item, "reached": list(map(own, item["reached"]))} for item in self.found["campaigns"]]}


class NotJudged(Exception):
    """This machine lacks something that the mutant needs."""


class Lockstep:
    """Kills mutants of references: drawn programs differ from those of the interpreter."""

    def __init__(self, options, mutants):
        self.options, self.pythons = options, {}
        for python in os.environ.get("BUZZER_PYTHONS", "python3").split() if mutants else ():
            result = self.run(options.build / "tools/buzzer-lab", python)
            if result.status not in (0, 2):
                raise Unusable(f"unchanged, lockstep fails beside {python}: {result.err}")
            if result.status == 0:
                result = json.loads(result.out)
                for name in result["variant"], result["version"].rpartition(".")[0]:
                    self.pythons.setdefault(name, python)

    def run(self, program, python):
        return process.execute([program, "lockstep", "--python", python, "--json", "--programs",
                                str(LOCKSTEP_PROGRAMS)], 600)

    def killer(self, mutant):
        python = self.pythons.get(mutant["lockstep"])
        if python is None:
            raise NotJudged(f"BUZZER_PYTHONS has no interpreter for {mutant['lockstep']}")
        result = built(self.options, mutant, "tools/buzzer-lab",
                       partial(self.run, python=python))
        if result.status == 1:
            found = json.loads(result.out)
            return f"{found['differences'][0]['what']}, program {found['same'] + 1}"
        if result.status == 2:
            raise Bad(f"mutant '{mutant['mutant']}': lockstep could not run: {result.err}")
        return None if result.status == 0 else f"end with status {result.status}"


class Campaigns:
    """Kill mutants of code that is linked into the program."""

    def __init__(self, options):
        self.options, self.original = options, options.build / "tools/buzzer"
        self.runner = Buzzer(self.original, False)

    def of(self, mutant):
        """All scenarios with their defaults, then the mutant's own list."""
        wanted = argparse.Namespace(variant=[mutant.get("variant", "buzzer")], scenario=[],
                                    without=[], runs=self.options.runs)
        found = self.runner.campaigns(self.original, wanted)
        wanted.scenario = [" ".join(f"--set {word}" if "=" in word else word
                                    for word in item.replace(",", " ").split())
                           for item in mutant.get("settings", "").split(";") if item]
        found += self.runner.campaigns(self.original, wanted) if wanted.scenario else []
        return [item for item in found if item.primitive in mutant["primitives"].split()]

    def check_original(self, campaign, first):
        """The campaign that kills a mutant must pass without it."""
        for part in (0, 1):
            if part == 0 or not first:
                outcome, _ = self.runner.run(self.original, campaign, part)
                if outcome.killer is not None:
                    raise Unusable(f"unchanged, {campaign.name()} fails: {outcome.message}")

    def killer(self, mutant):
        """The oracle, the campaign and the run; None."""
        judge = Judge(None, self.runner)
        judge.original, judge.campaigns = self.original, self.of(mutant)
        verdict = built(self.options, mutant, "tools/buzzer", partial(judge.compare, None))
        if verdict["verdict"] != "killed":
            return None
        killer = next(item for item in judge.campaigns if item.name() == verdict["campaign"])
        self.check_original(killer, verdict["run"] <= killer.range(0)[1])
        return f"{verdict['oracle']} in {verdict['campaign']}, run {verdict['run']}"


def choose(options):
    """The mutants of the catalogues that the options name."""
    draw, chosen = random.Random(options.seed), []
    for file in options.files:
        mutants = read(file)
        for mutant in mutants:  # before anything is built
            apply(mutant, (ROOT / mutant["source"]).read_text())
        mutants = [item for item in mutants if fnmatch.fnmatchcase(item["mutant"], options.only)]
        chosen += draw.sample(mutants, min(options.mutants, len(mutants))) if options.mutants \
            else mutants
    return chosen


def judge_all(options, mutants):
    """Prints a line for each mutant, and returns the numbers of survivors and of those not judged."""
    survivors, left_out = [], []

    def judge(killer_of, mutant):
        try:
            killer = killer_of(mutant)
        except NotJudged as reason:
            left_out.append(mutant)
            killer = f"not judged: {reason}"
        print(f"{mutant['mutant']:40} {killer or 'SURVIVED'}", flush=True)
        if killer is None:
            survivors.append(mutant)
            print(f"{mutant['source']}\n{mutant['change']}", end="", flush=True)

    by_campaigns, by_tests, by_lockstep = ([mutant for mutant in mutants if key in mutant]
                                           for key in JUDGES)
    for kind, some in (Campaigns(options), by_campaigns), (Lockstep(options, by_lockstep),
                                                           by_lockstep):
        process.at_once(options.jobs, partial(judge, kind.killer), some)
    if by_tests:
        tree = Tree(ROOT, options.build.parent / "mutants")
        tree.prepare(by_tests)
        for mutant in by_tests:
            judge(tree.killer, mutant)
    return len(survivors), len(left_out)


def catalogues(words):
    """--catalogue: see above."""
    parser = parser_of()
    parser.add_argument("--only", default="*")
    for name, default in (("mutants", 0), ("seed", 0), ("runs", 10000), ("jobs", os.cpu_count())):
        parser.add_argument(*["-j"][:name == "jobs"], f"--{name}", type=int, default=default)
    parser.add_argument("--list", action="store_true")
    parser.add_argument("files", nargs="+")
    options = parser.parse_args(words)
    chosen = choose(options)
    if options.list or not chosen:
        print(*(mutant["mutant"] for mutant in chosen), sep="\n")
        return 0 if chosen else 2
    process.begin()
    try:
        survived, left_out = judge_all(options, chosen)
    finally:
        process.stop()
        process.kill_orphans()
    print(f"{len(chosen)} mutants: {len(chosen) - survived - left_out} killed, {survived} survived, "
          f"{left_out} not judged")
    return 4 if survived else 0


def main(words):
    if "--catalogue" in words:
        return catalogues([word for word in words if word != "--catalogue"])
    parser = parser_of()
    parser.add_argument("--threshold", type=float, default=100)
    options, words = parser.parse_known_args(words)
    files = [word for word in words if word.endswith(".c")]
    if not files:
        parser.error("no FILE.c")
    paths = [Path(file).resolve().relative_to(ROOT) for file in files]
    os.chdir(ROOT)
    for path in paths:
        if str(path) in OUTSIDE:
            print(f"{path}: left out: it {OUTSIDE[str(path)]}", flush=True)
    paths = [path for path in paths if str(path) not in OUTSIDE]
    recipes = {path: recipe(options.build, path) for path in paths}
    words = [word for word in words if word not in files]
    if not any(word.startswith("--scenario") for word in words):
        words += [f"--scenario={text}" for text in CAMPAIGNS]
    killed = judged = 0
    baseline = None
    for path, commands in recipes.items():
        out = options.build / "adequacy" / path.name
        shutil.rmtree(out, ignore_errors=True)
        whole = [str(path), "--build", " && ".join(commands), "--program", "--out", str(out),
                 "--explained", str(EXPLAINED), "--shared", *words]
        if baseline is None:
            process.begin()
            baseline = Baseline(options.build, recipes, adequacy.read_options(whole))
        status = adequacy.main(whole, baseline.of)
        if status not in (0, 4):
            return status
        report = json.loads((out / "report.json").read_text())
        killed, judged = killed + report["killed"], judged + report["judged"]
        print(flush=True)
    print(f"all {len(paths)} files: {killed} of {judged} mutants killed")
    return 0 if 100 * killed >= options.threshold * (judged or 1) else 4  # none: no proof


if __name__ == "__main__":
    try:
        sys.exit(main(sys.argv[1:]))
    except (Bad, Unusable, OSError) as error:
        sys.exit(print(f"own.py: {error}", file=sys.stderr) or 2)
    except KeyboardInterrupt:
        sys.exit(print("own.py: interrupted", file=sys.stderr) or 5)
