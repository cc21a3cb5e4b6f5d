"""What the mutants of a file have shown: as text and as JSON."""
import math
from collections import Counter

# The verdicts that are holes, in the order of the report: a title, and what to do.
HOLES = {
    "not-executed": ("never executed",
                     "No run of the campaign gets to these lines. Add a scenario that does."),
    "no-difference": ("no difference in any run",
                      "Executed, and every run was as before. Either the change makes no difference "
                      "at all, or no scenario makes it matter: think of a program that would "
                      "notice."),
    "unnoticed": ("a difference that no oracle noticed",
                  "The runs went another way, and nothing objected. A claim, a check in the scenario "
                  "or a model is missing, or both ways are right."),
    "unkilled": ("the test passes", "Add a check that fails."),
}
JUDGED = ("killed", *HOLES)
Z = 1.959964  # of 95 %


def wilson(killed, judged):
    """The interval of 95 % for the share of killed mutants (Wilson 1927)."""
    if judged == 0:
        return 0.0, 1.0
    share = killed / judged
    middle = share + Z * Z / (2 * judged)
    half = Z * math.sqrt(share * (1 - share) / judged + Z * Z / (4 * judged * judged))
    scale = 1 + Z * Z / judged
    return max(0.0, (middle - half) / scale), min(1.0, (middle + half) / scale)


class Summary:
    """The verdicts of all mutants, counted."""

    def __init__(self, mutants, verdicts):
        self.mutants = mutants
        self.verdicts = verdicts  # number -> dictionary
        self.counts = Counter(verdict["verdict"] for verdict in verdicts.values())
        self.killed = self.counts["killed"]
        self.judged = sum(self.counts[name] for name in JUDGED)
        self.left = len(mutants) - len(verdicts)
        self.score = self.killed / self.judged if self.judged else None
        self.interval = wilson(self.killed, self.judged)

    def survivors(self, verdict=None):
        return [mutant for mutant in self.mutants if mutant.number in self.verdicts
                and self.verdicts[mutant.number]["verdict"] in ([verdict] if verdict else HOLES)]


def plural(number, noun, many=None):
    return f"{number} {noun if number == 1 else many or noun + 's'}"


def changed_lines(text, mutant):
    """The lines before and after the change, without what they share around it."""
    start = text.rfind(b"\n", 0, mutant.start) + 1
    end = text.find(b"\n", mutant.end)
    end = len(text) if end < 0 else end
    old = text[start:end].decode(errors="replace")
    new = (text[start:mutant.start] + mutant.after.encode() + text[mutant.end:end]).decode(
        errors="replace")
    return old.splitlines(), new.splitlines()


def score_text(summary):
    if summary.score is None:
        return "no mutant was judged"
    text = f"{100 * summary.score:.1f} % killed"
    if summary.left:
        low, high = summary.interval
        text += (f" of {summary.judged} drawn at random; of all, {100 * low:.0f} to "
                 f"{100 * high:.0f} % (95 %, Wilson)")
    return text


def print_text(report, out):
    summary, text = report["summary"], report["text"]

    def line(words=""):
        print(words, file=out)
    apart = [f"{summary.counts[name]} {words}" for name, words in (
        ("equivalent", "equivalent (the same machine code)"),
        ("duplicate", "the same as another"), ("invalid", "do not compile")) if summary.counts[name]]
    line(f"{report['file']}: {plural(len(summary.mutants), 'mutant')}, "
         f"{plural(len(report['campaigns']), 'campaign')} of {report['runs_text']}")
    if apart:
        line(f"not counted: {', '.join(apart)}")
    line(f"score: {score_text(summary)} ({summary.killed} of {summary.judged})")
    kills = Counter(verdict["oracle"] for verdict in summary.verdicts.values()
                    if verdict["verdict"] == "killed")
    if kills:
        line("killed by: " + ", ".join(f"{name} {count}" for name, count in kills.most_common()))
        runs = sorted(verdict["run"] for verdict in summary.verdicts.values()
                      if verdict["verdict"] == "killed")
        line(f"in run: median {runs[len(runs) // 2]}, last {runs[-1]}")
    for campaign, why in report["left_out"]:
        line(f"left out, because the unchanged file proves nothing there: {campaign}: {why}")
    for name, (title, advice) in HOLES.items():
        survivors = summary.survivors(name)
        if survivors:
            line(f"\n{plural(len(survivors), 'survivor')}: {title}")
            line(advice)
        for mutant in survivors:
            print_survivor(line, report, text, mutant, summary.verdicts[mutant.number])
    invalid = [mutant for mutant in summary.mutants
               if summary.verdicts.get(mutant.number, {}).get("verdict") == "invalid"]
    if invalid:
        line(f"\n{plural(len(invalid), 'mutant')} that do not compile" +
             ("; build without -Werror to judge more" if any(
                 "-Werror" in summary.verdicts[mutant.number]["message"] for mutant in invalid)
              else ""))
    for mutant in invalid:
        line(f"{report['file']}:{mutant.line}: {mutant.words}: "
             f"{summary.verdicts[mutant.number]['message']}")


def print_survivor(line, report, text, mutant, verdict):
    where = f"; first seen in {verdict['campaign']}" if verdict.get("campaign") else ""
    line(f"\n{report['file']}:{mutant.line}: {mutant.function}(): {mutant.words}{where}")
    old, new = changed_lines(text, mutant)
    for row in old:
        line(f"  - {row}")
    for row in new:
        if row.strip() or len(new) == 1:
            line(f"  + {row}")


def as_document(report, code):
    """Of --json."""
    summary = report["summary"]
    low, high = summary.interval
    return {
        "file": report["file"], "build": report["build"], "seed": report["seed"],
        "campaigns": [campaign.as_dict() for campaign in report["campaigns"]],
        "left_out": [{"campaign": name, "why": why} for name, why in report["left_out"]],
        "score": summary.score, "interval": [low, high] if summary.left else None,
        "judged": summary.judged, "killed": summary.killed, "not_judged": summary.left,
        "counts": {name: summary.counts[name] for name in (
            *JUDGED, "equivalent", "duplicate", "invalid")},
        "mutants": [{**{key: value for key, value in mutant.as_dict().items()
                        if key != "statement"},
                     **summary.verdicts.get(mutant.number, {"verdict": "not-judged"})}
                    for mutant in summary.mutants],
        "seconds": report["seconds"], "interrupted": report["interrupted"], "exit_code": code,
    }
