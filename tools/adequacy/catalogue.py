"""Catalogues of mutants: changes of a source file that make one fault each.

A catalogue is text. Keys in a paragraph of their own hold for all mutants below:

    source: primitives/sync/lock.c      the file to change
    users: primitives/sync/queue.c      if that is a header: the sources that call what changes
    primitives: lock                    campaigns judge it, run as these primitives
    variant: buzzer/rwlock              the variant that it is run as; without the key: buzzer

    mutant: lock-release-wakes-nobody
      lock->is_held = false;            two blanks: a line that stays, for the place
    - bz_waitq_wake_oldest(...);        a line to remove
    + ...                               a line to add
    settings: restaurant tables=3       tried after the defaults of all scenarios; may be there more
                                        than once
    tests: sim-choice                   instead of primitives: names of CTest, a regular expression;
                                        a mutant may add to those of its catalogue
    lockstep: asyncio-3.11              instead of primitives: the reference (or the version of
                                        CPython) that then differs from the interpreter

The lines that stay and go are whole lines, next to each other in the source, exactly once.
Comments, indentation and line breaks do not count.
"""
import re
from pathlib import Path

JUDGES = ["primitives", "tests", "lockstep"]  # a mutant has one of these keys
KEYS = "source users primitives variant mutant change settings tests lockstep".split()
JOINED = {"settings": ";", "tests": "|", "change": "\n"}  # keys that may continue


class Bad(Exception):
    """What is wrong with a catalogue."""


def read(path):
    """The mutants of a catalogue, each a dictionary of KEYS."""
    common, mutants = {}, []
    mutant = common
    for number, line in enumerate(Path(path).read_text().splitlines(), 1):
        if not line.strip():
            mutant = common
        if not line.strip() or line.startswith("#"):
            continue
        if line[:2] in ("  ", "- ", "+ "):
            key, value = "change", line
        else:
            key, _, value = (part.strip() for part in line.partition(":"))
        if key == "mutant":
            mutant = dict(common)
            mutants.append(mutant)
        if key not in KEYS or (key == "change" and mutant is common):
            raise Bad(f"{path}:{number}: not understood: {line}")
        joined = key in JOINED and key in mutant
        mutant[key] = mutant[key] + JOINED[key] + value if joined else value
    for mutant in mutants:
        lines = mutant.get("change", "").splitlines()
        for keys in (["source"], JUDGES):
            if sum(key in mutant for key in keys) != 1:
                raise Bad(f"{path}: mutant '{mutant['mutant']}': needs the key "
                          f"{' or '.join(keys)}")
        if not any(line[0] in "-+" for line in lines) or all(line[0] == "+" for line in lines):
            raise Bad(f"{path}: mutant '{mutant['mutant']}' does not say what changes, and where")
        mutant["change"] += "\n"
    return mutants


def apply(mutant, text):
    """The text of its source with the change, and the number of the line where it begins."""
    lines = mutant["change"].splitlines()
    old = " ".join(line[2:] for line in lines if line[0] != "+")
    new = "\n".join(line[2:] for line in lines if line[0] != "-")
    code = re.sub(r"/\*.*?\*/", lambda note: re.sub(r"\S", " ", note[0]), text, flags=re.DOTALL)
    pattern = r"^ *(" + r"\s+".join(map(re.escape, old.split())) + r") *$"
    places = list(re.finditer(pattern, code, re.MULTILINE))
    if len(places) != 1:
        raise Bad(f"mutant '{mutant['mutant']}': its lines occur {len(places)} times in "
                  f"{mutant['source']}; it must be exactly once")
    start, end = places[0].span(1)
    return text[:start] + new + text[end:], text.count("\n", 0, start) + 1
