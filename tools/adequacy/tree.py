"""A copy of the tree whose tests kill mutants: those of code that cannot be linked beside the
original, as the judge. Only the copy is changed."""
import filecmp
import re
import resource
import shutil
import time
from pathlib import Path

import process
from catalogue import Bad, apply
from mutate import Unusable

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


class Tree:
    """The copy, its build, and its tests."""

    def __init__(self, root, folder):
        self.root, self.tree, self.build = root, folder / "tree", folder / "build"
        self.seconds = {}  # that a test takes on the unchanged tree
        self.targets = {}  # what to build for a test

    def prepare(self, mutants):
        """Copies and builds the tree, and runs every test that a mutant is for."""
        resource.setrlimit(resource.RLIMIT_AS, (MEMORY_BYTES, MEMORY_BYTES))
        self.copy()
        try:
            run(["cmake", "-G", "Ninja", "-S", self.tree, "-B", self.build,
                 "-DCMAKE_BUILD_TYPE=RelWithDebInfo", "-DCMAKE_C_FLAGS_RELWITHDEBINFO=-O1",
                 "-DBUZZER_TESTS=ON", "-DBUZZER_LAB=OFF"], self.tree)
            targets = run(["ninja", "-t", "targets", "all"], self.build)
            for name in re.findall(r"Test +#\d+: (\S+)", run(["ctest", "-N"], self.build)):
                self.targets[name] = name if f"\n{name}: phony" in targets else "buzzer"
            for name in {name for mutant in mutants for name in self.wanted(mutant)}:
                self.compile(name)
                start = time.monotonic()
                self.test(name)
                self.seconds[name] = time.monotonic() - start
        except Failed as error:
            raise Unusable(f"the unchanged tree fails:\n{error}") from None

    def copy(self):
        """Makes the copy equal to the tree; what is equal keeps its time, and is not compiled."""
        files = set()
        for top in self.root.iterdir():
            if top.name not in ("build", "out") and not top.name.startswith("."):
                paths = [top, *top.rglob("*")]
                files |= {path.relative_to(self.root) for path in paths if path.is_file()}
        for path in [path for path in self.tree.rglob("*") if path.is_file()]:
            if path.relative_to(self.tree) not in files:
                path.unlink()
        for name in files:
            target = self.tree / name
            if not target.exists() or not filecmp.cmp(target, self.root / name, shallow=False):
                target.parent.mkdir(parents=True, exist_ok=True)
                shutil.copy(self.root / name, target)

    def wanted(self, mutant):
        """The names of the tests that a mutant is for, and of those that all have to pass."""
        if not any(re.fullmatch(mutant["tests"], name) for name in self.targets):
            raise Bad(f"no test fits '{mutant['tests']}'")
        return [name for name in self.targets
                if re.fullmatch(f"{mutant['tests']}|{COMMON_TESTS}", name)]

    def compile(self, name):
        run(["ninja", self.targets[name]], self.build)

    def test(self, name):
        limit = 5 * self.seconds[name] + SECONDS_MORE if name in self.seconds else None
        run(["ctest", "-R", f"^{name}$"], self.build, limit)

    def killer(self, mutant):
        """The test that fails or hangs, from fast to slow; None."""
        path = self.tree / mutant["source"]
        original = path.read_text()
        try:
            path.write_text(apply(mutant, original)[0])
            for name in sorted(self.wanted(mutant), key=self.seconds.get):
                try:
                    self.compile(name)
                except Failed as error:
                    raise Bad(f"mutant '{mutant['mutant']}' does not compile: {error}") from None
                try:
                    self.test(name)
                except Failed as error:
                    return f"test {name}" + (" (hangs)" if str(error) == "hangs" else "")
        finally:
            path.write_text(original)
        return None
