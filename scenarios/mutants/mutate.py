#!/usr/bin/env python3
"""Makes mutants: copies of a source file with one fault each.

    mutate.py OUT CATALOGUE.mut...    writes OUT/NAME.c for each mutant, and OUT/registry.c
    mutate.py --list CATALOGUE.mut... prints the name and the variant of each

Runs in the root of the repository. A catalogue is text. Keys in a paragraph of their own hold for
all mutants below:

    source: primitives/sync/lock.c      the file to change
    users: primitives/sync/queue.c      if that is a header: the sources that call what changes
    primitives: lock                    the primitives that the mutant is run as
    variant: rwlock                     whose table it is run by, bz_variant_rwlock; without the
                                        key: buzzer

    mutant: lock-release-wakes-nobody
      lock->is_held = false;            two blanks: a line that stays, for the place
    - bz_waitq_wake_oldest(...);        a line to remove
    + ...                               a line to add
    settings: restaurant tables=3       tried after the defaults of all scenarios; may be there more
                                        than once
    tests: sim-choice                   for tools/lab/mutants.py

The lines that stay and go are whole lines, next to each other in the source, exactly once.
Comments, indentation and line breaks do not count. Where this fails, the build stops with the name
of the mutant.
"""
import json
import re
import sys
from pathlib import Path

KEYS = "source users primitives variant mutant change settings tests".split()
JOINED = {"settings": ";", "tests": "|", "change": "\n"}  # keys that may continue


class Bad(Exception):
    """What is wrong with a catalogue."""


def read(path, *required):
    """The mutants of a catalogue, each a dictionary of KEYS, the required ones among them."""
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
        for key in {"source", *required} - mutant.keys():
            raise Bad(f"{path}: mutant '{mutant['mutant']}': no key '{key}'")
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


def write(path, text):
    """Leaves a file alone that is right already, so that nothing is compiled again for it."""
    if not path.exists() or path.read_text() != text:
        path.write_text(text)


def row(mutant, line):
    """A row of the table in mutants.h."""
    def quoted(key):
        return json.dumps(mutant[key]) if key in mutant else "0"
    bits = " | ".join(f"1u << BZ_PRIMITIVE_{name.upper()}" for name in mutant["primitives"].split())
    fields = ", ".join(f".{key} = {quoted(key)}" for key in ("source", "change", "settings"))
    variant = "bz_mutant_" + mutant["mutant"].replace("-", "_")
    return (f"extern const struct bz_variant {variant};",
            f"    {{.name = {quoted('mutant')}, {fields},\n"
            f"     .line = {line}, .primitives = {bits}, .variant = &{variant}}},")


def main(out, *catalogues):
    rows = []
    mutants = [mutant for path in catalogues for mutant in read(path, "primitives")]
    if out == "--list":
        print(*(f"{mutant['mutant']} {mutant.get('variant', 'buzzer')}" for mutant in mutants),
              sep="\n")
        return
    for mutant in mutants:
        source = Path(mutant["source"])
        text, line = apply(mutant, source.read_text())
        # A header's guard keeps the shipped one out of the sources that use it.
        text += "".join(f'#include "{user}"\n' for user in mutant.get("users", "").split())
        write(Path(out, mutant["mutant"] + ".c"), text)
        rows.append(row(mutant, line))
    externs, table = ("\n".join(part) for part in zip(*rows))
    write(Path(out, "registry.c"), f'#include "scenarios/mutants/mutants.h"\n\n{externs}\n\n'
          f"const struct bz_mutant bz_mutants[] = {{\n{table}\n    {{0}},\n}};\n")


if __name__ == "__main__":
    try:
        main(*sys.argv[1:])
    except (Bad, OSError) as error:
        sys.exit(f"mutate.py: {error}")
