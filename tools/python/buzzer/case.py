"""Tests: the decorator, their names, and the way from a name back to the function.

A test is a scenario of the program, and its name is part of tokens and traces. It is the path of
the file from the current folder, and what its module calls it: "tests/test_pool.py/test_pool". The
function may have another name, if a function has made it: "make.<locals>.check".
"""
import difflib
import functools
import importlib
import inspect
import os
import shlex
import sys
import traceback
import types
import urllib.parse

NAME_BYTES_MAX = 128  # what a trace takes

# Those of `buzzer run`, which has their defaults and says what is wrong with a value.
OPTIONS = frozenset((
    "runs", "time", "seed", "seeds", "seed_first", "jobs", "keep_going", "strict", "no_shrink",
    "shrink_steps", "shrink_time",
    "require_window", "strategy", "order", "cancel", "max_cancels", "max_steps",
    "starvation_bound", "max_lag", "step_time", "max_memory", "out", "corpus", "check_determinism"))
_SEEDS = ("seed", "seeds", "runs", "time")  # each selects the seeds


class NotATest(Exception):
    """There is no such test: the message says why."""


class NeedsPytest(NotATest):
    """Only pytest can run it. `node` is what pytest calls it."""

    def __init__(self, label, why, flag=""):
        self.node = _node_of(label)
        super().__init__(f"{label}: {why}. To run it: python3 -m pytest {shlex.quote(self.node)}"
                         f"{flag}; to replay a run, add --buzzer-replay TOKEN|TRACE")


def check_options(where, options):
    for name in options:
        if name != "permits" and name not in OPTIONS:
            near = difflib.get_close_matches(name, [*OPTIONS, "permits"], n=1)
            hint = f"; did you mean '{near[0]}'?" if near else ""
            raise TypeError(f"{where}() got an unexpected keyword argument '{name}'{hint}")


def merged(options, later):
    """Options of a decorator, and those of a call, which win."""
    later = {name: value for name, value in later.items() if value is not None}
    if any(name in later for name in _SEEDS):
        options = {name: value for name, value in options.items() if name not in _SEEDS}
    return {**options, **later}


def words_of(options):
    """The options as words of a command line."""
    options = dict(options)
    if options.get("runs") is not None and options.get("seed") is not None:
        options["seed_first"] = options.pop("seed")
    for name, value in options.items():
        option = "--" + name.replace("_", "-")
        if name == "permits" or value is None or value is False:
            continue
        if value is True:
            yield option
        elif isinstance(value, (list, tuple, set, frozenset)):
            yield f"{option}={','.join(str(item) for item in value)}"
        elif name == "max_lag" and isinstance(value, (int, float)):  # seconds, as asyncio has them
            yield f"{option}={round(value * 1e9)}ns"
        else:
            yield f"{option}={value}"


# --- profiles -----------------------------------------------------------------------------------

_profiles = {"default": {}, "dev": {"runs": 1000}, "ci": {"runs": 100_000, "time": "1m"}}


def profile(name, **options):
    """Sets what options have if neither the decorator nor the command line says it, wherever
    BUZZER_PROFILE, `--profile` or `pytest --buzzer-profile` is this name."""
    check_options("profile", options)
    _profiles[name] = options


def options_of_profile():
    name = os.environ.get("BUZZER_PROFILE") or "default"
    if name not in _profiles:
        raise ValueError(f"there is no profile '{name}': there are {', '.join(sorted(_profiles))}; "
                         "buzzer.profile(NAME, ...) makes one, before the test runs")
    return _profiles[name]


# --- the decorator ------------------------------------------------------------------------------

class Spec:
    """What a decorated function carries, as its __buzzer__."""

    def __init__(self, function, options):
        if not inspect.iscoroutinefunction(function):
            raise TypeError(f"{_said(function)} is no 'async def' function")
        if "sim" not in inspect.signature(function).parameters:
            raise TypeError(f"{_said(function)} does not take the argument 'sim'")
        self.function = function
        self.test = function  # what a module has: the function, or what the decorator returned
        self.options = options


def _said(function):
    return f"'{getattr(function, '__qualname__', function)}'"


def spec_of(function):
    """Of a function, decorated or not."""
    own = getattr(function, "__buzzer__", None)
    return own if isinstance(own, Spec) else Spec(function, {})


def test(function=None, **options):
    """Makes a test of a function `async def test_...(sim)`.

    The options are those of `python3 -m buzzer run`, with '_' for '-': runs, seed, order,
    strategy, cancel, max_cancels, max_steps, keep_going, ... With `runs`, `seed` is the first one.
    `permits` has the number of permits of watched objects, by name.

    What it returns is a plain function: a call runs the test under many schedules, and raises
    buzzer.Failure if one fails. So any test runner can run it.
    """
    check_options("test", options)
    if function is None:
        return functools.partial(_decorate, options=options)
    return _decorate(function, options)


test.__test__ = False  # pytest collects it neither where it is imported


def _decorate(function, options):
    spec = Spec(function, options)

    @functools.wraps(function)
    def run_test(*args, **kwargs):
        from buzzer import campaign
        campaign.check(Case(spec, args, kwargs))

    signature = inspect.signature(function)
    run_test.__signature__ = signature.replace(
        parameters=[own for name, own in signature.parameters.items() if name != "sim"])
    run_test.__buzzer__ = spec
    spec.test = run_test
    return run_test


# --- names --------------------------------------------------------------------------------------

def _plain(function):
    """The function of a functools.partial()."""
    while isinstance(function, functools.partial):
        function = function.func
    return function


def _is(value, spec):
    """Whether an attribute of a module or of a class is the test; others may wrap it."""
    return isinstance(value, (types.FunctionType, functools.partial)) and (
        value is spec.test or getattr(value, "__buzzer__", None) is spec)


def _attribute(holder, spec):
    """What a module or a class calls the test; None."""
    found = (name for name, value in list(getattr(holder, "__dict__", {}).items())
             if _is(value, spec))
    return next(found, None)


def place_of(spec, args=()):
    """The file of a test, and what it is called there. args: of a call, with `self` of a method."""
    plain = _plain(spec.function)
    module, value = sys.modules.get(plain.__module__), None
    if module is not None:
        value = module
        for part in plain.__qualname__.split("."):
            value = inspect.getattr_static(value, part, None)
    if not _is(value, spec):
        for owner in type(args[0]).__mro__ if args else ():
            name = _attribute(owner, spec)
            home = sys.modules.get(type(args[0]).__module__)
            if name is not None and getattr(home, "__file__", None):
                return home.__file__, f"{type(args[0]).__qualname__}.{name}"
        for module in (module, *list(sys.modules.values())):
            name = _attribute(module, spec)
            if name is not None and getattr(module, "__file__", None):
                return module.__file__, name
    return inspect.unwrap(plain).__code__.co_filename, plain.__qualname__


def name_of(filename, qualname):
    """"tests/test_pool.py/test_pool", of characters that are fit for tokens."""
    path = os.path.relpath(filename) if os.path.isabs(filename) else filename
    if path.startswith(os.pardir + os.sep):
        path = filename
    quoted = (urllib.parse.quote(path, safe="/"), urllib.parse.quote(qualname, safe="[]"))
    name = "/".join(quoted)
    if len(name) > NAME_BYTES_MAX:
        raise ValueError(f"the name '{name}' is longer than {NAME_BYTES_MAX} bytes: start Buzzer "
                         "in a folder nearer to the file, or give the test a shorter name")
    return name


class Case:
    """A test with its arguments: what a run calls with the simulation."""
    is_suite = False  # it makes its loops itself, and drives them

    def __init__(self, spec, args=(), kwargs=None, *, name=None, options=None):
        self.function = spec.function
        self.args = args
        self.kwargs = kwargs or {}
        self.name = name or name_of(*place_of(spec, args))
        self.options = merged(merged(options_of_profile(), spec.options), options or {})
        self.permits = self.options.get("permits") or {}

    def prepare(self):
        """In the process that makes the runs."""

    def __call__(self, sim):
        return self.function(*self.args, sim=sim, **self.kwargs)

    @property
    def summary(self):
        return (inspect.getdoc(_plain(self.function)) or "a test in Python").splitlines()[0]


# --- and back -----------------------------------------------------------------------------------

def _imported(path, name):
    """The module; a file that cannot be imported has no tests, so that is no verdict on them."""
    try:
        return importlib.import_module(name)
    except (Exception, SystemExit) as error:
        lines = traceback.TracebackException.from_exception(error)
        lines.stack = traceback.StackSummary.from_list(
            [frame for frame in lines.stack if "importlib" not in frame.filename
             and os.path.dirname(os.path.abspath(frame.filename)) != os.path.dirname(__file__)])
        text = "".join(lines.format(chain=False)).rstrip()
        raise NotATest(f"'{path}' cannot be imported:\n{text}") from None


def load(path):
    """The module of a file, imported as pytest does: from the folder above its packages."""
    if not os.path.isfile(path):
        raise NotATest(f"there is no file '{path}' here")
    folder, name = os.path.split(os.path.abspath(path))
    parts = [os.path.splitext(name)[0]]
    while os.path.exists(os.path.join(folder, "__init__.py")):
        folder, package = os.path.split(folder)
        parts.insert(0, package)
    if folder not in sys.path:
        sys.path.insert(0, folder)
    module = _imported(path, ".".join(parts))
    found = getattr(module, "__file__", None)
    if found is None or not os.path.samefile(found, path):
        raise NotATest(f"'{path}' has the name of another module, which is in {found}")
    return module


def _needs(spec, owner):
    """The arguments that only a test runner has."""
    parameters = list(inspect.signature(spec.function).parameters.values())
    parameters = parameters[1:] if owner is not None else parameters
    return [own.name for own in parameters
            if own.name != "sim" and own.default is own.empty
            and own.kind in (own.POSITIONAL_ONLY, own.POSITIONAL_OR_KEYWORD, own.KEYWORD_ONLY)]


def _node_of(label):
    """What pytest calls the test FILE.py::Class.method[case]."""
    path, _, qualname = label.partition("::")
    own, bracket, case = qualname.partition("[")
    return f"{path}::{own.replace('.', '::')}{bracket}{case}"


def _case_of(value, owner, label, name):
    try:
        spec = spec_of(value)
    except TypeError as error:
        raise NeedsPytest(label, error, " --buzzer") from None
    needs = _needs(spec, owner)
    if needs:
        raise NeedsPytest(label, f"it takes '{needs[0]}', which pytest gives it")
    return Case(spec, () if owner is None else (owner(),), name=name)


def find(path, qualname, name=None):
    """The test of that name: a function, decorated or not, or Class.method."""
    label = f"{path}::{qualname}"
    owner, value = None, load(path)
    for part in _called(value, qualname.partition("[")[0]).split("."):
        owner = value if inspect.isclass(value) else None
        value = inspect.getattr_static(value, part, None) if owner else getattr(value, part, None)
        if value is None:
            raise NotATest(f"{label}: there is no '{part}'")
    if isinstance(value, (staticmethod, classmethod)):
        raise NotATest(f"{label}: a static method or a class method is no test")
    return _case_of(value, owner, label, name or name_of(os.path.abspath(path), qualname))


def _called(module, qualname):
    """What the module calls a test that once had the name of its function, if there is one only."""
    if "<locals>" not in qualname:
        return qualname
    names = [name for name, value in vars(module).items()
             if isinstance(getattr(value, "__buzzer__", None), Spec)
             and _plain(value.__buzzer__.function).__qualname__ == qualname]
    if len(names) != 1:
        raise NotATest(f"'{qualname}' is the name of a function that another one makes, of which "
                       f"{', '.join(names) or 'nothing'} is left in the module: to replay a run, "
                       "call buzzer.replay(test, token)")
    return names[0]


def find_all(path):
    """The decorated tests of a file in their order, and why some cannot run here."""
    cases, problems = [], []
    module = load(path)
    members = []
    for name, value in vars(module).items():
        if inspect.isclass(value) and value.__module__ == module.__name__:
            members += [(value, f"{name}.{inner}", method) for inner, method in vars(value).items()]
        else:
            members.append((None, name, value))
    for owner, name, value in members:
        if not isinstance(getattr(value, "__buzzer__", None), Spec):
            continue
        try:
            cases.append(_case_of(value, owner, f"{path}::{name}",
                                  name_of(os.path.abspath(path), name)))
        except NotATest as problem:
            problems.append(str(problem))
    return cases, problems


def find_named(name):
    """The test of a token or a trace."""
    path, _, qualname = name.rpartition("/")
    if not path.endswith(".py"):
        raise NotATest(f"'{name}' is not the name of a test in Python")
    try:
        return find(urllib.parse.unquote(path), urllib.parse.unquote(qualname), name)
    except NeedsPytest:
        raise
    except NotATest as problem:
        raise NotATest(f"{problem} (the run is of '{name}')") from None
