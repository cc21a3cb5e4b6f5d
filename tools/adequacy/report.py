"""What the mutants of a file have shown: as text, as JSON and as JUnit XML."""
import math
import re
import shlex
import textwrap
from collections import Counter
from pathlib import Path
from xml.sax.saxutils import escape, quoteattr

from mutate import Unusable

# The verdicts that are holes, in the order of the report: a title, and what to do.
HOLES = {
    "not-executed": ("never executed",
                     "No run gets to these lines. Add settings or a scenario that does: --scenario "
                     "all --scenario 'NAME --set ...'."),
    "no-difference": ("no difference in any run",
                      "These lines were executed, and every run was the same, event by event, as "
                      "without the change. Add settings in which it matters, or a scenario of your "
                      "own: --scenario all --scenario 'NAME --set ...'."),
    "unnoticed": ("a difference that no oracle noticed",
                  "Runs took another course, and no check of Buzzer (oracle) objected. Add a "
                  "claim, a check in the scenario, or a model, unless both courses are right."),
    "unkilled": ("not noticed", "The test passes, and shows no digests of runs, so Buzzer cannot "
                 "tell whether the change made a difference."),
}
JUDGED = ("killed", *HOLES)
APART = {"equivalent": "equivalent (the machine code of the unchanged file)",
         "duplicate": "duplicate (the machine code of another mutant)",
         "invalid": "invalid (not compiled)", "explained": "explained"}
Z = 1.959964  # of 95 %


def read_reasons(path):
    """The lines "SOURCE LINE | CHANGE | REASON" of a file: the place, and the three parts."""
    try:
        lines = Path(path).read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeError) as error:
        raise Unusable(f"cannot read '{path}': {getattr(error, 'strerror', error)}") from None
    reasons = []
    for number, line in enumerate(lines, 1):
        parts = [part.strip() for part in line.rsplit(" | ", 2)]
        if not line.strip() or line.startswith("#"):
            continue
        if len(parts) != 3:
            raise Unusable(f"{path}:{number}: not of the form 'SOURCE LINE | CHANGE | REASON'")
        reasons.append((f"{path}:{number}", *parts))
    return reasons


def explain(reasons, text, mutants, verdicts, is_shared):
    """Takes survivors out that have a reason; a '*' of the source line stands for anything.
    "FUNCTION() | not executed | REASON" explains all that no run executes in a function, and
    "FUNCTION() | * | REASON" all survivors in it. Returns what is wrong with reasons.
    Shared ones are also for other files."""
    wrong = []
    rows = text.decode(errors="replace").splitlines()
    for place, row, words, why in reasons:
        pattern = re.escape(row).replace(r"\*", ".*")
        is_unreached = words == "not executed"
        fitting = [mutant.number for mutant in mutants if
                   (is_unreached or words in (mutant.words, "*")) and
                   (row == f"{mutant.function}()" or not is_unreached and
                    re.fullmatch(pattern, rows[mutant.line - 1].strip()))]
        kinds = ["not-executed"] if is_unreached else HOLES
        survivors = [one for one in fitting if verdicts.get(one, {}).get("verdict") in kinds]
        for one in survivors:
            verdicts[one] = {**verdicts[one], "verdict": "explained", "why": why}
        if not fitting and not is_shared:
            wrong.append(f"{place} fits no mutant: no line, or no change of it, is written so")
        elif fitting and not survivors and all(
                one in verdicts and verdicts[one]["verdict"] != "duplicate" for one in fitting):
            wrong.append(f"{place} explains no survivor")
    return wrong


def wilson(killed, judged):
    """The interval of 95 % for the share of killed mutants (Wilson 1927)."""
    if judged == 0:
        return 0.0, 1.0
    share = killed / judged
    middle = share + Z * Z / (2 * judged)
    half = Z * math.sqrt(share * (1 - share) / judged + Z * Z / (4 * judged * judged))
    scale = 1 + Z * Z / judged
    return max(0.0, (middle - half) / scale), min(1.0, (middle + half) / scale)


class Report:
    """The mutants of a file and their verdicts, counted."""

    def __init__(self, file, text, mutants, verdicts):
        self.file, self.text, self.mutants, self.verdicts = file, text, mutants, verdicts
        self.counts = Counter(verdict["verdict"] for verdict in verdicts.values())
        self.killed = self.counts["killed"]
        self.judged = sum(self.counts[name] for name in JUDGED)
        self.left = len(mutants) - len(verdicts)
        self.score = self.killed / self.judged if self.judged else None
        self.killers = Counter(verdict["oracle"] for verdict in verdicts.values()
                               if verdict["verdict"] == "killed").most_common()
        self.runs = sorted(verdict["run"] for verdict in verdicts.values()
                           if verdict["verdict"] == "killed")
        # Set by the command.
        self.campaigns, self.left_out, self.options = [], [], None
        self.seconds, self.interrupted, self.exit_code = 0, False, 0
        self.is_drawn, self.has_marks, self.folder = False, True, None

    @property
    def interval(self):
        return wilson(self.killed, self.judged) if self.left and self.is_drawn else None

    def verdict(self, mutant):
        return self.verdicts.get(mutant.number, {"verdict": "not-judged"})

    def twin(self, mutant):
        """The verdict, also of a duplicate."""
        verdict = self.verdict(mutant)
        return self.verdicts[verdict["of"]] if "of" in verdict else verdict

    def name(self, mutant):
        """Of its file in survivors/."""
        return f"{mutant.line}-{mutant.number}-{Path(self.file).name}"

    def having(self, *names):
        return [mutant for mutant in self.mutants if self.verdict(mutant)["verdict"] in names]

    def score_text(self):
        if self.score is None:
            return "no mutant was judged"
        text = f"{100 * self.score:.1f} % killed ({self.killed} of {self.judged}"
        if self.interval is None:
            return text + (f"; {self.left} are not judged)" if self.left else ")")
        low, high = self.interval
        return text + f" drawn at random); of all, {100 * low:.0f} to {100 * high:.0f} % (95 %, Wilson)"

    def apart_text(self):
        return ", ".join(f"{self.counts[name]} {words}" for name, words in APART.items()
                         if self.counts[name])

    def changed_lines(self, mutant):
        """The lines with the change, before and after it."""
        start = self.text.rfind(b"\n", 0, mutant.start) + 1
        end = self.text.find(b"\n", mutant.end)
        end = len(self.text) if end < 0 else end
        old = self.text[start:end].decode(errors="replace")
        new = (self.text[start:mutant.start] + mutant.after.encode() +
               self.text[mutant.end:end]).decode(errors="replace")
        return old.splitlines(), new.splitlines()

    def as_document(self):
        """Of --json."""
        return {
            "file": self.file, "build": self.options.build, "seed": self.options.seed,
            "campaigns": [campaign.as_dict() for campaign in self.campaigns],
            "left_out": [{"campaign": campaign.name(), "why": why}
                         for campaign, why in self.left_out],
            "score": self.score, "interval": self.interval, "judged": self.judged,
            "killed": self.killed, "not_judged": self.left,
            "counts": {name: self.counts[name] for name in (*JUDGED, *APART)},
            "mutants": [{**mutant.as_dict(), **self.verdict(mutant)} for mutant in self.mutants],
            "seconds": self.seconds, "interrupted": self.interrupted,
            "exit_code": self.exit_code,
        }


def plural(number, noun):
    return f"{number} {noun}{'' if number == 1 else 's'}"


def print_text(report, out):
    def line(words="", indent=""):
        for row in textwrap.wrap(words, 80, subsequent_indent=indent, break_on_hyphens=False,
                                 break_long_words=False) or [""]:
            print(row, file=out)
    line(f"{report.file}: {plural(len(report.mutants), 'mutant')}, each the file with one small "
         "change in a function (no macro, no included file); "
         f"{plural(len(report.campaigns), 'campaign')}")
    line(f"score: {report.score_text()}", "  ")
    if report.apart_text():
        line(f"not counted: {report.apart_text()}", "  ")
    for why, count in Counter(verdict["why"] for verdict in report.verdicts.values()
                              if verdict["verdict"] == "explained").most_common():
        line(f"explained {count}: {why}", "  ")
    if report.killers:
        line("killed by " + ", ".join(f"{name} {count}" for name, count in report.killers), "  ")
        line(f"in run {report.runs[len(report.runs) // 2]} (median), at the latest in run "
             f"{report.runs[-1]} of a campaign")
    for campaign, why in report.left_out:
        line(f"left out, as the unchanged file comes to no verdict: {campaign.name()}: {why}", "  ")
    if not report.has_marks:
        line("The file does not build with a mark at each statement, so survivors that no run "
             "executes are among those without a difference.")
    for name, (title, advice) in HOLES.items():
        survivors = report.having(name)
        if survivors:
            line()
            line(f"{plural(len(survivors), 'survivor')}: {title}")
            line(advice)
            (print_lines if name == "not-executed" else print_changes)(report, survivors, out)
    print_next(report, line, out)
    print_invalid(report, line)


def print_lines(report, mutants, out):
    rows = report.text.decode(errors="replace").splitlines()
    for number, count in sorted(Counter(mutant.line for mutant in mutants).items()):
        print(f"{report.file}:{number}: {plural(count, 'mutant')}\n    {rows[number - 1].strip()}",
              file=out)


def print_changes(report, mutants, out):
    for mutant in mutants:
        seen = report.verdict(mutant).get("campaign")
        print(f"{report.file}:{mutant.line}: {mutant.words}"
              f"{f'; first in {seen}' if seen else ''}", file=out)
        old, new = report.changed_lines(mutant)
        for row in old:
            print(f"  - {row}", file=out)
        for row in new:
            print(f"  + {row}", file=out)


def print_next(report, line, out):
    survivors = report.having(*HOLES)
    line()
    if not survivors:
        line("No mutant that was judged survives." if report.judged else "No mutant was judged.")
        return
    first, folder = survivors[0], shlex.quote(str(report.folder))
    line("To try a change to the campaigns on one survivor, in seconds:")
    words = "" if report.options.kind == "test" else " SCENARIO [OPTION...]"
    print(f"  sh {folder}/try {folder}/survivors/{report.name(first)}{words}", file=out)
    rows = report.text.decode(errors="replace").splitlines()
    lines = [(f"  {mutant.function}() | not executed" if
              report.verdict(mutant)["verdict"] == "not-executed" else
              f"  {rows[mutant.line - 1].strip()} | {mutant.words}") + " | REASON"
             for mutant in survivors]
    line("A survivor is all right if no caller can tell it from the original. Then put its line "
         "into a FILE, with your reason. With --explained FILE, it is not counted:")
    print(*dict.fromkeys(lines), sep="\n", file=out)


def print_invalid(report, line):
    invalid = report.having("invalid")
    if invalid:
        messages = [report.verdict(mutant)["message"] for mutant in invalid]
        line()
        line(f"{plural(len(invalid), 'mutant')} {'does' if len(invalid) == 1 else 'do'} not compile"
             + ("; more would without -Werror" if any("-Werror" in text for text in messages)
                else ""))
        for mutant, message in zip(invalid, messages):
            line(f"{report.file}:{mutant.line}: {mutant.words}: {message}", "  ")


def junit(report):
    """A case for each mutant; its name does not depend on the verdict."""
    cases = []
    for mutant in report.mutants:
        verdict = report.verdict(mutant)
        name = verdict["verdict"]
        if name == "killed":
            inner = ""
        elif name in HOLES:
            old, new = report.changed_lines(mutant)
            change = "\n".join([f"- {row}" for row in old] + [f"+ {row}" for row in new])
            inner = f"<failure message={quoteattr(HOLES[name][0])}>{escape(change)}</failure>"
        else:
            inner = f"<skipped message={quoteattr(APART.get(name, 'not judged'))}/>"
        cases.append(f"  <testcase classname={quoteattr(report.file)} name="
                     + quoteattr(f"{mutant.line}:{mutant.column} {mutant.words}") + f">{inner}"
                     "</testcase>\n")
    failures = len(report.having(*HOLES))
    return ('<?xml version="1.0" encoding="UTF-8"?>\n'
            f'<testsuite name="adequacy" tests="{len(cases)}" failures="{failures}" errors="0" '
            f'skipped="{len(cases) - failures - report.killed}" time="{report.seconds}">\n'
            f'{"".join(cases)}</testsuite>\n')
