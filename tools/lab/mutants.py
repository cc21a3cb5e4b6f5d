#!/usr/bin/env python3
"""Mutants of code that cannot be linked beside the original: the judge, the driver, the replay.

    mutants.py [--only PATTERN] [--build FOLDER] CATALOGUE.mut...

Copies the tree into FOLDER (build/lab) and builds the copy. Then it puts one mutant at a time into
the copy, compiles what changed, and runs tests from fast to slow until one fails or hangs: those
that the catalogue names, and COMMON_TESTS. Prints a table: mutant, verdict, killer, seconds.

A catalogue is what tools/adequacy/catalogue.py reads, with one more key:

    tests: sim-choice|traces    a regular expression of CTest names; a mutant may add to
                                        those of its catalogue

Exit status: 0 each mutant was killed; 1 otherwise; 2 usage, a mutant that does not fit or compile, or a
failure of the unchanged tree; 130 interrupted. Only the copy is changed.
"""
import argparse
import filecmp
import fnmatch
import re
import resource
import shutil
import subprocess
import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.dont_write_bytecode = True
sys.path.insert(0, str(ROOT / "tools/adequacy"))
import process  # noqa: E402
from catalogue import Bad, apply, read  # noqa: E402

COMMON_TESTS = "corpus|zoo|replay-edited|scenarios-variants"
SECONDS_MORE = 10  # a test may take five times what it takes on the unchanged tree, and this
MEMORY_BYTES = 64 << 30  # of address space: each simulated world reserves gigabytes


class Failed(Exception):
    """A command that failed or took too long, and what it printed."""


def run(command, folder, seconds=None):
    """Returns the output of the command. No process that it has started outlives it."""
    result = process.execute(command, seconds, cwd=folder)
    process.kill_orphans()
    if result.is_late:
        raise Failed("hangs")
    if result.status != 0:
        raise Failed(result.out + result.err)
    return result.out


def progress(text):
    if sys.stderr.isatty():
        print(f"\r\033[K{text}", end="", file=sys.stderr, flush=True)


class Lab:
    """A copy of the tree, its build, and its tests."""

    def __init__(self, folder):
        self.tree = folder / "tree"
        self.build = folder / "build"
        self.seconds = {}  # that a test takes on the unchanged tree
        self.targets = {}  # what to build for a test

    def make(self, patterns):
        """Copies and builds the tree, and runs every test that fits one of the patterns."""
        progress("copying and building the tree ...")
        self.copy()
        run(["cmake", "-G", "Ninja", "-S", self.tree, "-B", self.build,
             "-DCMAKE_BUILD_TYPE=RelWithDebInfo", "-DCMAKE_C_FLAGS_RELWITHDEBINFO=-O1",
             "-DBUZZER_TESTS=ON", "-DBUZZER_LAB=OFF"], self.tree)
        targets = run(["ninja", "-t", "targets", "all"], self.build)
        for name in re.findall(r"Test +#\d+: (\S+)", run(["ctest", "-N"], self.build)):
            self.targets[name] = name if f"\n{name}: phony" in targets else "buzzer"
        for name in {name for pattern in patterns for name in self.wanted(pattern)}:
            progress(f"the unchanged tree: {name} ...")
            self.compile(name)
            start = time.monotonic()
            self.test(name)
            self.seconds[name] = time.monotonic() - start

    def copy(self):
        """Makes the copy equal to the tree; what is equal keeps its time, and is not compiled."""
        files = set()
        for top in ROOT.iterdir():
            if top.name not in ("build", "out") and not top.name.startswith("."):
                paths = [top, *top.rglob("*")]
                files |= {path.relative_to(ROOT) for path in paths if path.is_file()}
        for path in [path for path in self.tree.rglob("*") if path.is_file()]:
            if path.relative_to(self.tree) not in files:
                path.unlink()
        for name in files:
            target = self.tree / name
            if not target.exists() or not filecmp.cmp(target, ROOT / name, shallow=False):
                target.parent.mkdir(parents=True, exist_ok=True)
                shutil.copy(ROOT / name, target)

    def wanted(self, pattern):
        """The names of the tests that fit a pattern, and of those that everything has to pass."""
        if not any(re.fullmatch(pattern, name) for name in self.targets):
            raise Bad(f"no test fits '{pattern}'")
        return [name for name in self.targets if re.fullmatch(f"{pattern}|{COMMON_TESTS}", name)]

    def compile(self, name):
        run(["ninja", self.targets[name]], self.build)

    def test(self, name):
        limit = 5 * self.seconds[name] + SECONDS_MORE if name in self.seconds else None
        run(["ctest", "-R", f"^{name}$"], self.build, limit)

    def judge(self, mutant):
        """The name of the test that kills it; None."""
        path = self.tree / mutant["source"]
        original = path.read_text()
        try:
            path.write_text(apply(mutant, original)[0])
            for name in sorted(self.wanted(mutant["tests"]), key=self.seconds.get):
                progress(f"{mutant['mutant']}: {name} ...")
                try:
                    self.compile(name)
                except Failed as error:
                    raise Bad(f"{mutant['mutant']} does not compile:\n{error}") from None
                try:
                    self.test(name)
                except Failed as error:
                    return name + (" (hangs)" if str(error) == "hangs" else "")
        finally:
            path.write_text(original)
        return None


def judge_all(lab, mutants):
    counts = dict.fromkeys(("killed", "SURVIVED"), 0)
    for mutant in mutants:
        start = time.monotonic()
        killer = lab.judge(mutant)
        verdict = "killed" if killer else "SURVIVED"
        counts[verdict] += 1
        progress("")
        print(f"{mutant['mutant']:40} {verdict:14} {killer or '':28} "
              f"{time.monotonic() - start:6.1f} s", flush=True)
        if verdict.isupper():
            print(f"{mutant['source']}\n{mutant['change']}", end="", flush=True)
    print(f"{len(mutants)} mutants:", ", ".join(f"{n} {name}" for name, n in counts.items()))
    return 1 if counts["SURVIVED"] else 0


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--only", default="*", metavar="PATTERN", help="mutants, with * and ?")
    parser.add_argument("--build", type=Path, default=ROOT / "build/lab", metavar="FOLDER")
    parser.add_argument("catalogues", nargs="+", metavar="CATALOGUE.mut")
    arguments = parser.parse_args()
    mutants = [mutant for path in arguments.catalogues for mutant in read(path, "tests")
               if fnmatch.fnmatchcase(mutant["mutant"], arguments.only)]
    for mutant in mutants:  # before anything is built
        apply(mutant, (ROOT / mutant["source"]).read_text())
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY_BYTES, MEMORY_BYTES))
    process.begin()
    lab = Lab(arguments.build.resolve())
    lab.make({mutant["tests"] for mutant in mutants})
    return judge_all(lab, mutants)


if __name__ == "__main__":
    try:
        sys.exit(main())
    except (Bad, Failed, OSError) as error:
        progress("")
        print(f"mutants.py: {error}", file=sys.stderr)
        sys.exit(2)
    except KeyboardInterrupt:
        progress("")
        print("interrupted", file=sys.stderr)
        sys.exit(130)
