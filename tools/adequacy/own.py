#!/usr/bin/env python3
"""buzzer adequacy for files of Buzzer itself.

    own.py [--build FOLDER] FILE.c... [OPTION...]    OPTION: of buzzer adequacy

Compiles a mutant as the build in FOLDER (build/quick) compiles the file for the simulator, and
links it with everything else that is built there; a definition of the mutant comes first. The
results of primitives/sync/lock.c are in FOLDER/adequacy/lock.c: adequacy.jsonl, report.json. Exit
status: the greatest of all files.
"""
import os
import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


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


def main(words):
    build = ROOT / "build/quick"
    if words[:1] == ["--build"]:
        build, words = Path(words[1]).resolve(), words[2:]
    files = [word for word in words if word.endswith(".c")]
    if not files:
        sys.exit(__doc__)
    options = [word for word in words if word not in files]
    code = 0
    for file in files:
        path = Path(file).resolve().relative_to(ROOT)
        out = build / "adequacy" / path.name
        command = [sys.executable, str(ROOT / "tools/adequacy/adequacy.py"), str(path), "--build",
                   recipe(build, path), "--program", "--out", str(out), *options]
        code = max(code, subprocess.run(command, cwd=ROOT, check=False).returncode)
    return code


if __name__ == "__main__":
    os.environ.setdefault("PYTHONDONTWRITEBYTECODE", "1")
    sys.exit(main(sys.argv[1:]))
