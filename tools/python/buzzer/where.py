"""Where something happened, in one line of text: the innermost line of the user's own code. And
values in one line.
"""
import ast
import asyncio
import dataclasses
import enum
import functools
import linecache
import os
import reprlib
import sys
import sysconfig

_TEXT_MAX = 300
_BYTES_MAX = 120  # what a trace takes
_OWN = os.path.dirname(os.path.realpath(__file__)) + os.sep
_STANDARD = tuple({os.path.realpath(sysconfig.get_path(name)) + os.sep
                   for name in ("stdlib", "platstdlib")})
_INSTALLED = (os.sep + "site-packages" + os.sep, os.sep + "dist-packages" + os.sep)

_BUZZERS, _STANDARDS, _LIBRARYS, _USERS = range(4)


@functools.lru_cache(maxsize=None)
def _rank(filename):
    """Whose code it is: people look for their own first, then for that of packages."""
    path = os.path.realpath(filename)
    if path.startswith(_OWN):
        return _BUZZERS
    if any(part in path for part in _INSTALLED):
        return _LIBRARYS
    is_standard = filename.startswith("<frozen") or path.startswith(_STANDARD)
    return _STANDARDS if is_standard else _USERS


@functools.lru_cache(maxsize=None)
def _short(filename):
    """The path from here; of a file elsewhere, its name."""
    path = os.path.relpath(filename) if os.path.isabs(filename) else filename
    if path.startswith(os.pardir + os.sep) or len(os.fsencode(path)) > _BYTES_MAX:
        path = os.path.basename(filename)
    return os.fsencode(path)[-_BYTES_MAX:].decode("utf-8", "replace")


def _best(places):
    """Of (filename, line, name), innermost last; None: there is none."""
    best = None
    for place in places:
        if best is None or _rank(place[0]) >= _rank(best[0]):
            best = place
    return best


def text_of(place):
    return "" if place is None else f"{place[0]}:{place[1]} in {place[2]}"


def _place(traceback):
    code = traceback.tb_frame.f_code
    return code.co_filename, traceback.tb_lineno, code.co_name


def of_traceback(traceback):
    places = []
    while traceback is not None:
        places.append(_place(traceback))
        traceback = traceback.tb_next
    return text_of(_best(places))


def of_frame(frame):
    places = []
    while frame is not None:
        places.append((frame.f_code.co_filename, frame.f_lineno, frame.f_code.co_name))
        frame = frame.f_back
    return text_of(_best(reversed(places)))


def of_caller():
    return of_frame(sys._getframe(1))


def catcher_of(error):
    """The frame that has caught an exception: the outermost one that it has come to. None: it was
    not raised."""
    return error.__traceback__ and _place(error.__traceback__)


def is_in_frame(task, place):
    return place is not None and any((file, name) == (place[0], place[2])
                                     for file, _, name in _frames(task))


def _frames(task):
    """The frames of a suspended task, the innermost last."""
    awaited = task.get_coro()
    while awaited is not None:
        for prefix, awaits in (("cr", "cr_await"), ("gi", "gi_yieldfrom"), ("ag", "ag_await")):
            frame = getattr(awaited, prefix + "_frame", None)
            if frame is not None:
                yield frame.f_code.co_filename, frame.f_lineno, frame.f_code.co_name
                awaited = getattr(awaited, awaits)
                break
        else:
            return


def _innermost(task):
    """The innermost coroutine that is suspended."""
    inner = awaited = task.get_coro()
    while getattr(awaited, "cr_frame", None) is not None:
        inner, awaited = awaited, awaited.cr_await
    return inner


def _drops_in_wait_for(inner):
    """It answers a CancelledError by the result, if that is there."""
    future = inner.get("fut")
    return ("waiter" in inner and isinstance(future, asyncio.Future) and future.done()
            and not future.cancelled() and future.exception() is None)


def _drops_in_group(inner):
    """It waits for its tasks, which it has cancelled, and remembers no CancelledError."""
    group = inner["self"]
    return (group._aborting and group._base_error is None
            and inner.get("propagate_cancellation_error", group) is None)


def _known_swallowers():
    """By code: what it is called, and whether it swallows a CancelledError that it gets now."""
    known = {}
    if sys.version_info < (3, 12):
        known[asyncio.wait_for.__code__] = (
            "asyncio's wait_for() (gh-86296, repaired in Python 3.12)", _drops_in_wait_for)
    if (3, 11) <= sys.version_info < (3, 13):
        known[asyncio.TaskGroup.__aexit__.__code__] = (
            "asyncio's TaskGroup.__aexit__() (gh-116720, repaired in Python 3.13)",
            _drops_in_group)
    return known


_SWALLOWERS = _known_swallowers()


def swallower_in(task):
    """The function of asyncio that swallows the CancelledError which the task is about to get; None,
    unless that is certain."""
    inner = _innermost(task)
    frame = getattr(inner, "cr_frame", None)
    name, drops = _SWALLOWERS.get(frame and frame.f_code, (None, None))
    return name if drops is not None and drops(frame.f_locals) else None


def of_task(task):
    """Where a task is suspended."""
    return text_of(_best(_frames(task)))


def line_of_task(task):
    """The same as "FILE:LINE", for a trace; None: nowhere in code of users or packages."""
    place = _best(_frames(task))
    if place is None or _rank(place[0]) < _LIBRARYS:
        return None
    return f"{_short(place[0])}:{place[1]}"


@functools.lru_cache(maxsize=4)
def _asserts(filename):
    """Of each assert in the file the first line, the last one, and the names in it."""
    try:
        nodes = ast.walk(ast.parse("".join(linecache.getlines(filename))))
    except (SyntaxError, ValueError, RecursionError):
        nodes = ()
    return [(node.lineno, node.end_lineno, dict.fromkeys(
        inner.id for inner in ast.walk(node) if isinstance(inner, ast.Name)))
        for node in nodes if isinstance(node, ast.Assert)]


def _text_of_assert(traceback):
    """An assert, with the values of its names."""
    while traceback.tb_next is not None:
        traceback = traceback.tb_next
    filename, found = traceback.tb_frame.f_code.co_filename, traceback.tb_frame.f_locals
    for first, last, names in _asserts(filename):
        if first <= traceback.tb_lineno <= last:
            text = " ".join("".join(linecache.getlines(filename)[first - 1:last]).split())
            values = [f"{name} = {text_of_value(found[name])}" for name in names if name in found]
            if text.startswith("assert"):
                return text + f" ({', '.join(values)})" * bool(values)
    return ""


def _said(exception):
    """Its text, in one line, without the addition of pytest to an assert, which the same run does
    not have elsewhere."""
    try:
        text = str(exception)
    except Exception:  # of the user's __str__()
        text = "its text cannot be had"
    if isinstance(exception, AssertionError):
        text = text.partition("\n")[0]
        text = "" if text.startswith("assert ") else text
        if not text and exception.__traceback__ is not None:
            text = _text_of_assert(exception.__traceback__)
    return " ".join(text.split())


def sentence_of(exception):
    """An exception in one line, with its place; of a group also the first one in it."""
    names = []
    while True:
        text = _said(exception)
        names.append(type(exception).__name__ + (f": {text}" if text else ""))
        inner = getattr(exception, "exceptions", None)
        if not (isinstance(inner, (list, tuple)) and inner
                and isinstance(inner[0], BaseException)):
            break
        exception = inner[0]
    place = of_traceback(exception.__traceback__)
    text = ": ".join(names)
    text = text if len(text) <= _TEXT_MAX else text[:_TEXT_MAX] + "..."
    return f"{text} ({place})" if place else text


# --- values -------------------------------------------------------------------------------------

_PLAIN = frozenset(("datetime", "decimal", "fractions", "uuid", "ipaddress"))
_BUILT_IN = (bool, float, complex, bytes, bytearray, range, type(None))


class _Values(reprlib.Repr):
    """Calls no code of the user's, which would run in recorded runs only, and shows no address."""

    def __init__(self):
        super().__init__()
        self.maxlevel = 4
        self.maxlist = self.maxtuple = self.maxdict = self.maxset = self.maxfrozenset = 12
        self.maxstring = self.maxother = self.maxlong = 60

    def repr_instance(self, value, level):
        kind = type(value)
        if isinstance(value, enum.Enum):
            return f"{kind.__name__}.{value._name_}"
        if dataclasses.is_dataclass(kind):
            inner = vars(value) if hasattr(value, "__dict__") else {}
            said = ", ".join(f"{field.name}={self.repr1(inner[field.name], level - 1)}"
                             for field in dataclasses.fields(kind) if field.name in inner)
            return f"{kind.__name__}({said if level > 0 else '...'})"
        if kind in _BUILT_IN or kind.__module__ in _PLAIN:
            return super().repr_instance(value, level)
        return f"<{kind.__name__}>"


_values = _Values()


def text_of_value(value):
    """The text of repr(), but cut."""
    try:
        return " ".join(_values.repr(value).split())
    except Exception:
        return f"<{type(value).__name__}>"
