"""A page with the source, coloured by what the mutants of each line have shown."""
from collections import defaultdict
from html import escape

from report import APART, HOLES, plural

STYLE = """
:root { color-scheme: light dark; --good: #dff3df; --bad: #fbd5d5; --never: #fde8c0; --note: #777;
  --open: #e4e4e4; --why: #dbe7fb }
@media (prefers-color-scheme: dark) {
  :root { --good: #16351a; --bad: #551c1c; --never: #50400f; --note: #999;
          --open: #3a3a3a; --why: #1d2f52 } }
body { font: 15px/1.5 system-ui, sans-serif; margin: 2em auto; max-width: 72em; padding: 0 1em }
.source { font: 13px/1.5 ui-monospace, monospace }
.row { display: block; white-space: pre-wrap; padding: 0 .5em }
.row b { color: var(--note); display: inline-block; font-weight: normal; width: 4em }
.good { background: var(--good) } .bad { background: var(--bad) } .never { background: var(--never) }
.open { background: var(--open) } .why { background: var(--why) }
summary { cursor: pointer } summary.row { list-style: none }
summary.row b::after { content: " +" } details[open] > summary.row b::after { content: " -" }
.change { border-left: 3px solid var(--note); margin: .3em 0 .8em 4em; padding-left: .6em }
.change pre { margin: 0; white-space: pre-wrap }
td { padding-right: 2em; vertical-align: top }
.tag { display: inline-block; padding: 0 .5em }
"""


# The colour of a line is the first one of which it has a mutant.
COLOURS = (("bad", "a mutant of the line survives", {*HOLES} - {"not-executed"}),
           ("never", "never executed", {"not-executed"}),
           ("open", "a mutant is not judged", {"not-judged"}),
           ("why", "all that survive are explained", {"explained"}),
           ("good", "every mutant is killed", {"killed"}),
           ("", "no mutant that counts", set()))


def html(report):
    on_line = defaultdict(list)
    for mutant in report.mutants:
        on_line[mutant.line].append(mutant)
    rows = report.text.decode(errors="replace").splitlines()
    source = "".join(html_line(report, number, row, on_line[number])
                       for number, row in enumerate(rows, 1))
    killers = "".join(f"<tr><td>{escape(name)}<td>{count}" for name, count in report.killers)
    holes = "".join(f"<tr><td>{report.counts[name]}<td>{title}<td>{advice}"
                    for name, (title, advice) in HOLES.items() if report.counts[name])
    legend = "\n".join(f'<span class="tag {name}">{words}</span>' for name, words, _ in COLOURS)
    campaigns = "".join(f"<li>{escape(campaign.name())}" for campaign in report.campaigns)
    return f"""<!DOCTYPE html>
<html lang="en"><meta charset="utf-8"><title>{escape(report.file)}: adequacy</title>
<style>{STYLE}</style>
<h1>{escape(report.file)}</h1>
<p>A mutant is this file with one small change. A killed mutant fails a campaign; one that survives
is a fault that the campaigns would miss.
<p><b>{escape(report.score_text())}</b>{"; not counted: " if report.apart_text() else ""}{
    escape(report.apart_text())}
<table>{holes}</table>
<p>{legend}
<p>Click a line with a + to see its mutants. Nothing is changed in macros, or outside of functions.
<div class="source">{source}</div>
<details><summary>Killed by</summary><table>{killers}</table></details>
<details><summary>{plural(len(report.campaigns), "campaign")}</summary><ul>{campaigns}</ul></details>
</html>
"""


def html_line(report, number, row, mutants):
    colour = colour_of(map(report.verdict, mutants)) or colour_of(map(report.twin, mutants))
    text = f"<b>{number}</b>{escape(row)}"
    if not mutants:
        return f'<span class="row">{text}</span>'
    return (f'<details><summary class="row {colour}">{text}</summary>'
            f'{"".join(html_mutant(report, mutant) for mutant in mutants)}</details>')


def colour_of(verdicts):
    names = {verdict["verdict"] for verdict in verdicts}
    return next(name for name, _, wanted in COLOURS if not wanted or names & wanted)


def html_mutant(report, mutant):
    verdict = report.twin(mutant)
    name, seen = verdict["verdict"], verdict.get("campaign")
    if name == "killed":
        said = f"killed by {verdict['oracle']} in run {verdict['run']} of {seen}"
    elif name in HOLES:
        said = HOLES[name][0] + (f", first in {seen}" if seen else "")
    else:
        said = APART.get(name, "not judged") + (f": {verdict['why']}" if "why" in verdict else "")
    said += " (the same machine code as another mutant)" if "of" in report.verdict(mutant) else ""
    token = f"<div>{escape(verdict['token'])}</div>" if verdict.get("token") else ""
    _, new = report.changed_lines(mutant)
    code = escape("\n".join(new))
    return (f'<div class="change">{escape(mutant.words)}: {escape(said)}{token}'
            f"<pre>{code}</pre></div>")

