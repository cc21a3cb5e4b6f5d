"""Where something happened, in one line of text: the innermost line of the user's own code."""
import os
import sys

_STDLIB = os.path.dirname(os.__file__) + os.sep
_OWN = os.path.dirname(__file__) + os.sep
_TEXT_MAX = 300


def _rank(filename):
    """What people look for first: their own code, packages, the standard library, Buzzer."""
    if filename.startswith(_OWN):
        return 0
    if filename.startswith("<frozen"):
        return 1
    if f"{os.sep}site-packages{os.sep}" in filename or f"{os.sep}dist-packages{os.sep}" in filename:
        return 3
    return 1 if filename.startswith(_STDLIB) else 4


def _best(places):
    """Of (filename, line, name), innermost last."""
    best = None
    for place in places:
        if best is None or _rank(place[0]) >= _rank(best[0]):
            best = place
    return "" if best is None else f"{best[0]}:{best[1]} in {best[2]}"


def of_traceback(traceback):
    places = []
    while traceback is not None:
        code = traceback.tb_frame.f_code
        places.append((code.co_filename, traceback.tb_lineno, code.co_name))
        traceback = traceback.tb_next
    return _best(places)


def of_frame(frame):
    places = []
    while frame is not None:
        places.append((frame.f_code.co_filename, frame.f_lineno, frame.f_code.co_name))
        frame = frame.f_back
    return _best(reversed(places))


def of_caller():
    return of_frame(sys._getframe(1))


def of_task(task):
    """Where a task is suspended."""
    places, awaited = [], task.get_coro()
    while awaited is not None:
        frame = getattr(awaited, "cr_frame", None) or getattr(awaited, "gi_frame", None)
        if frame is not None:
            places.append((frame.f_code.co_filename, frame.f_lineno, frame.f_code.co_name))
        following = getattr(awaited, "cr_await", None)
        awaited = getattr(awaited, "gi_yieldfrom", None) if following is None else following
    return _best(places)


def sentence_of(exception):
    """An exception in one line, with its place; of a group the first one in it, too."""
    names = []
    while True:
        text = " ".join(str(exception).split())
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
