#!/usr/bin/env python3
"""buzzer adequacy for files of Buzzer itself.

    own.py [--build FOLDER] [--threshold PERCENT] FILE.c... [OPTION...]

OPTION is one of buzzer adequacy, for each file; --time is in seconds. A mutant is compiled as the
build in FOLDER (build/quick) compiles the file for the simulator, and linked with everything else
that is built there; a definition of the mutant comes first. The results of primitives/sync/lock.c
are in FOLDER/adequacy/lock.c. explained.txt has the survivors that are all right. The threshold is
for all files together. Exit status: as of buzzer adequacy.
"""
import json
import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
EXPLAINED = ROOT / "tools/adequacy/explained.txt"
sys.dont_write_bytecode = True


def recipe(build, path):
    """The commands that make a program with a changed file."""
    listing = subprocess.run(["ninja", "-C", build, "-t", "commands", "tools/buzzer"], check=True,
                             capture_output=True, text=True).stdout.splitlines()
    compiles = [line for line in listing if line.endswith(f" -c {ROOT / path}")]
    compiles = [line for line in compiles if "buzzer-sim" in line] or compiles
    if not compiles:
        sys.exit(f"own.py: {path} is no part of the program")
    compile_words = re.sub(r"-MD -MT \S+ -MF \S+ -o \S+ -c \S+$", "-c {source} -o {out}.o",
                           compiles[0]).replace("/usr/bin/ccache ", "")
    link = re.sub(r"^: && (\S+) (.*) -o tools/buzzer (.*) && :$",
                  r"\1 {out}.o \2 -Wl,-z,muldefs -s -o {out} \3", listing[-1])
    return f"cd {build} && {compile_words} && {link}"


def take(words, name, default):
    """The value of an option, which is taken out of the words."""
    if name not in words:
        return default
    at = words.index(name)
    value = words[at + 1]
    del words[at:at + 2]
    return value


def main(words):
    build = Path(take(words, "--build", ROOT / "build/quick")).resolve()
    threshold = float(take(words, "--threshold", 100))
    files = [word for word in words if word.endswith(".c")]
    if not files:
        print(__doc__, file=sys.stderr)
        return 2
    killed = judged = 0
    for file in files:
        path = Path(file).resolve().relative_to(ROOT)
        out = build / "adequacy" / path.name
        status = subprocess.run(
            [sys.executable, ROOT / "tools/adequacy/adequacy.py", path, "--build",
             recipe(build, path), "--program", "--out", out, "--explained", EXPLAINED,
             *(word for word in words if word not in files)], cwd=ROOT, check=False).returncode
        if status not in (0, 4):
            return status
        report = json.loads((out / "report.json").read_text())
        killed, judged = killed + report["killed"], judged + report["judged"]
        print(flush=True)
    print(f"all {len(files)} files: {killed} of {judged} mutants killed")
    return 0 if 100 * killed >= threshold * judged else 4


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
