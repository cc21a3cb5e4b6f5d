"""Where a task is suspended, for people: the line of the program, and not of a library."""
import functools
import os
import sysconfig

_BYTES_MAX = 120  # what a trace takes
_OWN = os.path.dirname(os.path.realpath(__file__)) + os.sep
_STANDARD = tuple({os.path.realpath(sysconfig.get_path(name)) + os.sep
                   for name in ("stdlib", "platstdlib")})
_INSTALLED = (os.sep + "site-packages" + os.sep, os.sep + "dist-packages" + os.sep)

_NOBODYS, _LIBRARY, _USERS = range(3)


@functools.lru_cache(maxsize=None)
def _rank(filename):
    """Whose code it is: the highest of a stack is shown."""
    path = os.path.realpath(filename)
    if path.startswith(_OWN) or filename.startswith("<frozen"):
        return _NOBODYS
    if any(part in path for part in _INSTALLED):
        return _LIBRARY
    return _NOBODYS if path.startswith(_STANDARD) else _USERS


@functools.lru_cache(maxsize=None)
def short(filename):
    """The path from here; of a file elsewhere, its name."""
    path = os.path.relpath(filename) if os.path.isabs(filename) else filename
    if path.startswith(os.pardir + os.sep) or len(os.fsencode(path)) > _BYTES_MAX:
        path = os.path.basename(filename)
    return os.fsencode(path)[-_BYTES_MAX:].decode("utf-8", "replace")


def _frame_and_next(awaitable):
    """Of a coroutine, a generator, or an asynchronous generator."""
    for prefix, awaits in (("cr", "cr_await"), ("gi", "gi_yieldfrom"), ("ag", "ag_await")):
        frame = getattr(awaitable, prefix + "_frame", None)
        if frame is not None:
            return frame, getattr(awaitable, awaits)
    return None, None


def place_of_task(task):
    """"FILE:LINE" of the innermost frame of the program; None: it has no frame."""
    best, best_rank = None, _LIBRARY
    frame, awaited = _frame_and_next(task.get_coro())
    while frame is not None:
        rank = _rank(frame.f_code.co_filename)
        if rank >= best_rank:
            best, best_rank = frame, rank
        frame, awaited = _frame_and_next(awaited)
    return best and f"{short(best.f_code.co_filename)}:{best.f_lineno}"
