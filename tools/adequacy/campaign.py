"""Builds the file and its mutants, and runs the campaigns of CI on each."""
import hashlib
import json
import os
import re
import shlex
import shutil
import struct
from dataclasses import asdict, dataclass, field
from pathlib import Path

from mutate import Unusable, apply
from process import at_once, execute

FIRST_RUNS = 200     # of every campaign, before the rest of any
STEP_TIME_MS = 250   # of CPU time: a step of a run takes microseconds
BUILD_SECONDS = 600
LATE_FACTOR, LATE_MORE = 10, 20  # a campaign may use so many times what it takes unchanged
ALL = "all"         # scenarios: a name for --scenario
MANY = 2 ** 31      # states: no limit
SEARCH = "explore"  # before the name of a scenario: a search, and no campaign
BROKEN = b"#error {source} is compiled\n"
# Options of `run`: the first finding ends it, with no search for a smaller one.
FIRST_FINDING = ("--shrink-steps=1", f"--step-time={STEP_TIME_MS}", "--json", "--quiet")
PARSED = {"-I", "-D", "-U", "-include", "-isystem", "-iquote", "-idirafter", "-x", "-std"}


# --- building -------------------------------------------------------------------------------------

def compiled_with(command, source):
    """The options of the build command that the syntax tree depends on. The shell expands them."""
    words = shlex.shlex(command, posix=False, punctuation_chars=";&|")
    words.whitespace_split = True
    segment = []
    for word in list(words) + [";"]:
        if not set(word) <= set(";&|"):
            segment.append(word)
            continue
        if any("{source}" in part for part in segment):
            break
        segment = []
    text = " ".join(segment).replace("{source}", shlex.quote(source)).replace("{out}", "/dev/null")
    result = execute(["sh", "-c", f"printf '%s\\0' {text}"])
    found, words = [], result.out.split("\0")
    while words:
        word = words.pop(0)
        if word in PARSED and words:
            found += [word, words.pop(0)]
        elif word.startswith(tuple(PARSED)):
            found.append(word)
    return found


def loaded_hash(path):
    """Of the sections of an ELF file that are loaded: paths and debugging data do not count."""
    data = Path(path).read_bytes()
    digest = hashlib.sha256()
    if data[:4] != b"\x7fELF":
        return hashlib.sha256(data).hexdigest()
    wide, order = data[4] == 2, "<" if data[5] == 1 else ">"
    at, size, count = struct.unpack_from(order + ("Q" if wide else "I"), data, 40 if wide else 32) \
        + struct.unpack_from(order + "HH", data, 58 if wide else 46)
    for index in range(count):
        head = struct.unpack_from(order + ("IIQQQQ" if wide else "IIIIII"), data, at + index * size)
        _, kind, flags, address, offset, length = head
        if flags & 2 and kind != 7:  # SHF_ALLOC, and no note: the build's identity is one
            digest.update(repr((kind, flags, address, length)).encode())
            digest.update(data[offset:offset + length] if kind != 8 else b"")
    return digest.hexdigest()


@dataclass
class Built:
    out: Path        # None: it does not compile
    error: str = ""  # the line that says why
    log: str = ""
    hash: str = ""


class Builder:
    """Runs the build command with a changed file. The file has the name of the original, says that
    it is the original (#line), and finds the headers of its folder (CPATH)."""

    def __init__(self, source, command, folder, is_plugin):
        self.source, self.command, self.folder = Path(source), command, Path(folder).resolve()
        self.suffix = ".so" if is_plugin else ""
        paths = [str(self.source.resolve().parent), os.environ.get("CPATH", "")]
        self.environment = {**os.environ, "CPATH": ":".join(filter(None, paths))}

    def build(self, name, text):
        self.clean(name)
        folder = self.folder / name
        folder.mkdir(parents=True)
        source, out = folder / self.source.name, folder / (self.source.stem + self.suffix)
        source.write_bytes(b'#line 1 "%s"\n' % str(self.source).encode() + text)
        command = self.command.replace("{source}", shlex.quote(str(source)))
        command = command.replace("{out}", shlex.quote(str(out)))
        result = execute(["sh", "-c", command], BUILD_SECONDS, env=self.environment)
        if result.status != 0 or not out.exists():
            lines = [line for line in (result.err + result.out).splitlines() if line.strip()]
            error = next((line for line in lines if "error:" in line), (lines or ["no output"])[0])
            return Built(None, "it takes too long" if result.is_late else error, "\n".join(lines))
        return Built(out, hash=loaded_hash(out))

    def clean(self, name):
        shutil.rmtree(self.folder / name, ignore_errors=True)


# --- campaigns ------------------------------------------------------------------------------------

@dataclass
class Campaign:
    """One command `buzzer run`. Its parts: the first runs, and the rest. Or one `buzzer explore`."""
    scenario: str
    options: list
    order: str
    variant: str
    primitive: str
    runs: int
    digests: list = field(default_factory=lambda: ["", ""])
    reached: list = field(default_factory=lambda: [None, None])  # numbers of statements
    seconds: list = field(default_factory=lambda: [60, 600])  # of CPU time, at most
    command: str = "run"

    def range(self, part):
        first = min(FIRST_RUNS, self.runs)
        return (0, first) if part == 0 else (first, self.runs - first)

    def is_empty(self, part):
        return part == 1 and (self.command == SEARCH or self.range(1)[1] == 0)

    def name(self):
        kind = ", ".join(filter(None, (self.variant, self.primitive, self.order)))
        search = [SEARCH] if self.command == SEARCH else []
        return " ".join([*search, self.scenario, *self.options]) + (f" ({kind})" if kind else "")

    def as_dict(self):
        return {"command": self.command, "scenario": self.scenario, "options": self.options,
                "variant": self.variant, "primitive": self.primitive, "order": self.order,
                "runs": self.runs}


@dataclass
class Outcome:
    """Of a part of a campaign, or of a test program."""
    killer: str = None   # an oracle, crash, hang, ...
    message: str = ""
    run: int = 0         # that killed it, from 1 on
    runs: int = 0
    token: str = None
    digest: str = ""
    is_late: bool = False


class Buzzer:
    """Runs campaigns with {out} as a plug-in, or as the program."""

    def __init__(self, program, is_plugin, plugins=()):
        self.program, self.is_plugin = program, is_plugin
        self.plugins = [f"--plugin={path}" for path in plugins]

    def words(self, out, *words):
        return [self.program, *words, *self.plugins, "--plugin", out] if self.is_plugin else \
            [out, *words, *self.plugins]

    def listing(self, words):
        result = execute([*words, "--json"], 60)
        if result.status != 0:
            raise Unusable(f"'{' '.join(map(str, words))}' fails: "
                           f"{(result.err or result.out).strip()}")
        return json.loads(result.out)

    def campaigns(self, out, options):
        """Every scenario, or those wanted ("NAME [OPTION...]"), with every primitive and variant
        that fits, in both orders."""
        variants = options.variant
        listing = self.listing(self.words(out, "list"))
        built_in = {item["name"] for item in self.listing(
            [self.program, "list", "variants", *self.plugins])["variants"]} \
            if self.is_plugin else set()
        own = [item for item in listing["variants"] if item["name"] in variants] if variants else \
            [item for item in listing["variants"]
             if item["name"] not in built_in and not item["faults"]]
        missing = set(variants) - {item["name"] for item in own}
        if missing or not own:
            raise Unusable(f"no variant '{missing.pop()}'" if missing else
                           "the plug-in has no variant that declares no fault")
        scenarios = {item["name"]: item["primitives"] for item in listing["scenarios"]}
        found = []
        for text in options.scenario or [ALL]:
            words = shlex.split(re.sub("--set[= ]+(?=order=|primitive=)", "--", text)) or [""]
            command = words.pop(0) if words[0] == SEARCH and len(words) > 1 else "run"
            name, fitting = words[0], []
            for one in scenarios if name == ALL else [name]:
                if one not in scenarios:
                    raise Unusable(f"no scenario '{text}'")
                fitting += self.of_scenario(command, [one, *words[1:]], scenarios[one], own,
                                            options.runs)
            if not fitting:
                raise Unusable(f"--scenario '{text}': no variant fits")
            found += fitting
        unknown = set(options.without) - set(scenarios)
        if unknown:
            raise Unusable(f"--without: no scenario '{unknown.pop()}'")
        found = [campaign for campaign in found if campaign.scenario not in options.without]
        if not found:
            raise Unusable("--without leaves no campaign")
        return found

    @staticmethod
    def of_scenario(command, words, primitives, variants, runs):
        options, orders, chosen, own_runs = [], ["any", "fifo"], None, runs
        rest = words[1:]
        while rest:
            word = rest.pop(0)
            name, equals, value = word.partition("=")
            if name in ("--order", "--primitive", "--runs", "--variant"):
                value = value if equals else (rest.pop(0) if rest else "")
                orders = [value] if name == "--order" else orders
                chosen = value if name == "--primitive" else chosen
                own_runs = int(value) if name == "--runs" and value.isdigit() else own_runs
                variants = [item for item in variants if item["name"] == value] \
                    if name == "--variant" else variants
            elif name in ("--seed", "--seeds", "--seed-first", "--time", "--out", "--resume",
                          "--shrink-steps", "--step-time", "--shard", "--plugin"):
                raise Unusable(f"--scenario '{' '.join(words)}': {name} cannot be used here")
            else:
                options.append(word)
        return [Campaign(words[0], options, order, variant["name"], primitive, own_runs,
                         command=command)
                for order in orders for variant in variants for primitive in primitives
                if primitive in variant["primitives"] and chosen in (None, primitive)]

    def command(self, out, campaign):
        return self.words(out, campaign.command, campaign.scenario, *campaign.options, "--order",
                          campaign.order, "--variant", campaign.variant, "--primitive",
                          campaign.primitive)

    def run(self, out, campaign, part, reached=None):
        first, runs = campaign.range(part)
        folder = Path(out).resolve().parent / f"search-{id(campaign)}"
        shutil.rmtree(folder, ignore_errors=True)
        command = [*self.command(out, campaign), *FIRST_FINDING, *(
            ("--out", folder) if campaign.command == SEARCH else
            ("--seed-first", first, "--runs", runs, "--no-shrink"))]
        environment = {**os.environ, "BUZZER_CONTAIN": "1"}
        if reached is not None:
            environment["BUZZER_ADEQUACY_REACHED"] = str(reached)
        result = execute(command, campaign.seconds[part], env=environment)
        if '"end":\t"states"' in result.out:  # a search that ends at its --max-states continues
            result = execute(self.words(out, SEARCH, "--resume", folder, "--max-states", MANY,
                                        *FIRST_FINDING), campaign.seconds[part], env=environment)
        if result.is_late:
            return late(f"{runs} runs take", campaign.seconds[part]), result.seconds
        if list(folder.glob("*.before")):
            return Outcome("nondeterminism", "the search did not continue from its place"), \
                result.seconds
        documents = documents_in(result.out)
        return outcome_of(documents[0], first) if documents else ended(result), result.seconds

    def again(self, out, campaign):
        """The command that repeats it, for people."""
        words = self.command(out, campaign)
        return shlex.join(map(str, ["buzzer", *words[1:]] if self.is_plugin else words))


def late(what, seconds):
    return Outcome("hang", f"{what} more than {seconds:.0f} s of CPU time, or are stuck",
                   is_late=True)


def ended(result):
    """The outcome of a program that has ended without a result."""
    return Outcome("crash" if result.status < 0 else "error",
                   (result.err.strip().splitlines() or [f"exit status {result.status}"])[-1])


def outcome_of(document, first):
    """Of what `run --json` has printed."""
    runs = document.get("runs", 0)
    digest = " ".join(str(document[name]) for name in ("digest", "states", "outcomes_digest")
                      if name in document)
    done = Outcome(runs=runs, run=first + runs, digest=digest)
    if document.get("violations"):
        violation = document["violations"][0]
        done.killer, done.message = violation["oracle"], violation["message"]
        done.token = violation["token"]
    elif document["exit_code"] != 0:
        done.killer = "step-limit" if document.get("end") == "step-limit" else \
            "no-resource" if document.get("end") == "no-resource" or \
            document["exit_code"] == 5 and "error" in document else \
            "not-judged" if document["exit_code"] == 5 else "error"
        done.message = document.get("error") or document.get("not_judged") or \
            f"exit status {document['exit_code']}"
    return done


def documents_in(text):
    """The JSON documents of `run` in a text, among whatever else is printed."""
    decoder, found, at = json.JSONDecoder(), [], 0
    while (at := text.find("{", at)) >= 0:
        try:
            document, at = decoder.raw_decode(text, at)
            found += [document] if "exit_code" in document else []
        except ValueError:
            at += 1
    return found


class Test:
    """Runs {out} itself, a test: exit status 0 is all right. Its checks (bz_check) print JSON."""

    def campaigns(self, out, options):
        return [Campaign("the test", [], "", "", "", 0)]

    def run(self, out, campaign, part, reached=None):
        environment = {**os.environ, "BUZZER_OPTIONS": " ".join(("--no-shrink", *FIRST_FINDING))}
        if reached is not None:
            environment["BUZZER_ADEQUACY_REACHED"] = str(reached)
        result = execute([out], campaign.seconds[0], env=environment)
        outcomes = [outcome_of(document, 0) for document in documents_in(result.out)]
        done = next((outcome for outcome in outcomes if outcome.killer), None)
        if result.is_late:
            done = late("the test and its runs take", campaign.seconds[0])
        elif done is None and result.status != 0:
            done = Outcome("crash" if result.status < 0 else "test",
                           f"exit status {result.status}")
        elif done is None:
            done = Outcome(runs=sum(outcome.runs for outcome in outcomes),
                           digest=" ".join(outcome.digest for outcome in outcomes))
        return done, result.seconds

    def again(self, out, campaign):
        return str(out)


# --- judging --------------------------------------------------------------------------------------

class Judge:
    """What the unchanged file does, and what a mutant of it does."""

    def __init__(self, builder, runner):
        self.builder, self.runner = builder, runner
        self.hash, self.original = "", None
        self.campaigns = []
        self.left_out = []     # (campaign, why): those that do not judge the original
        self.has_marks = False

    def build(self, text):
        """Builds the original."""
        original = self.builder.build("original", text)
        if original.out is None:
            raise Unusable(f"the unchanged file does not build:\n{original.log}")
        if self.builder.build("broken", BROKEN + text).out is not None:
            raise Unusable("--build makes {out} also of a file that has an error: does it compile "
                           "{source}, and fail if that fails?")
        self.hash, self.original = original.hash, original.out

    def prepare(self, probes, options, show):
        """Runs the campaigns of the original."""
        self.campaigns, self.left_out = self.runner.campaigns(self.original, options), []
        marked = self.builder.build("marked", probes) if probes else Built(None)
        self.has_marks = marked.out is not None
        done = []

        def one(campaign, out=marked.out):
            done.append(self.baseline(campaign, self.original, out))
            show(f"the unchanged file: {len(done)} of {len(self.campaigns)} campaigns")
            return done[-1]
        if not all(at_once(options.jobs, one, self.campaigns)):  # the marks disturb it
            self.has_marks = False
            self.left_out, done = [], []
            at_once(options.jobs, lambda campaign: one(campaign, None), self.campaigns)
        out_of = [campaign for campaign, _ in self.left_out]
        self.campaigns = [campaign for campaign in self.campaigns if campaign not in out_of]
        if not self.campaigns:
            raise Unusable("the campaign of the unchanged file proves nothing: "
                           f"{self.left_out[0][1]}")

    def baseline(self, campaign, original, marked):
        """Runs a campaign on the original, with marks if there is a file with marks; its first part
        also without. True if that made no difference."""
        for part in (0, 1):
            if campaign.is_empty(part):
                continue
            if part == 1 and marked is not None and campaign.reached[0] == []:
                campaign.reached[1] = []  # it is of another file
                continue
            outcome = None
            if marked is not None:
                outcome, seconds = self.run_marked(campaign, part, marked)
            is_known = outcome is not None and (outcome.is_late or part and not outcome.killer)
            if not is_known:
                plain, seconds = self.runner.run(original, campaign, part)
                if outcome is not None and plain.digest != outcome.digest:
                    return False
                outcome = plain
            if outcome.killer in ("step-limit", "not-judged") or outcome.is_late:
                self.left_out.append((campaign, outcome.message + (
                    "; --runs and smaller settings make it shorter" if outcome.is_late else "")))
                return True
            if outcome.killer == "error":
                raise Unusable(f"{campaign.name()} does not run: {outcome.message}")
            if outcome.killer is not None:
                raise Unusable(f"the campaign of the unchanged file fails: {campaign.name()}: "
                               f"{outcome.killer}: {outcome.message}\n"
                               + (f"token   {outcome.token}\n" if outcome.token else "")
                               + f"again   {self.runner.again(original, campaign)}")
            campaign.digests[part] = outcome.digest
            campaign.seconds[part] = LATE_FACTOR * seconds + LATE_MORE
        return True

    def as_dict(self):
        """What prepare() has found."""
        return {"campaigns": [asdict(campaign) for campaign in self.campaigns],
                "left_out": [[asdict(campaign), why] for campaign, why in self.left_out],
                "has_marks": self.has_marks}

    def adopt(self, found):
        self.campaigns = [Campaign(**item) for item in found["campaigns"]]
        self.left_out = [(Campaign(**item), why) for item, why in found["left_out"]]
        self.has_marks = found["has_marks"]

    def restore(self, found, jobs):
        """True if the first part of each campaign runs as it did."""
        self.adopt(found)
        return all(at_once(jobs, lambda campaign: campaign.digests[0] == self.runner.run(
            self.original, campaign, 0)[0].digest, self.campaigns))

    def run_marked(self, campaign, part, marked):
        folder = self.builder.folder / "reached" / f"{id(campaign)}-{part}"
        folder.mkdir(parents=True, exist_ok=True)
        result = self.runner.run(marked, campaign, part, folder)
        campaign.reached[part] = sorted(int(name) for name in os.listdir(folder))
        shutil.rmtree(folder, ignore_errors=True)
        return result

    def reaches(self, campaign, part, mutant):
        reached = campaign.reached[part]
        return not self.has_marks or reached is None or mutant.statement is None or \
            mutant.statement in reached

    def judge(self, mutant, text, claim):
        """A dictionary with the verdict. claim(hash) is the mutant that has this code, or None."""
        name = str(mutant.number)
        try:
            built = self.builder.build(name, apply(text, mutant))
            if built.out is None:
                return {"verdict": "invalid", "message": built.error}
            if built.hash == self.hash:
                return {"verdict": "equivalent"}
            twin = claim(built.hash, mutant)
            if twin is not None:
                return {"verdict": "duplicate", "of": twin}
            return {"hash": built.hash, **self.compare(mutant, built.out)}
        finally:
            self.builder.clean(name)

    def compare(self, mutant, out):
        runs, differs, is_reached = 0, None, False
        for part in (0, 1):
            for campaign in self.campaigns:
                if campaign.is_empty(part) or not self.reaches(campaign, part, mutant):
                    continue
                is_reached = True
                outcome, _ = self.runner.run(out, campaign, part)
                runs += outcome.runs
                if outcome.killer == "no-resource" and self.runner.run(
                        self.original, campaign, part)[0].killer == "no-resource":
                    raise Unusable(f"a campaign ran out of memory or processes: {outcome.message}")
                if outcome.killer is not None:
                    return {"verdict": "killed", "oracle": outcome.killer, "run": outcome.run,
                            "runs": runs, "campaign": campaign.name(), "token": outcome.token,
                            "message": outcome.message}
                if outcome.digest != campaign.digests[part] and differs is None:
                    differs = campaign.name()
        if not is_reached:
            return {"verdict": "not-executed", "runs": 0}
        if differs is not None:
            return {"verdict": "unnoticed", "runs": runs, "campaign": differs}
        if not any(any(campaign.digests) for campaign in self.campaigns):
            return {"verdict": "unkilled", "runs": runs}  # a test that has no digest
        return {"verdict": "no-difference", "runs": runs}
