"""All that the rest of a run depends on, as a text, for searches: sim.state()."""
import asyncio
import sys
import types

from buzzer import _native

_PLAIN = (type(None), bool, int, float, str, bytes)


class Unknown(Exception):
    """It cannot be said, so the search takes the state for a new one."""


def said(value):
    """A value of the test: the same text for equal ones, in each process."""
    if isinstance(value, (set, frozenset)):
        return f"{{{','.join(sorted(map(said, value)))}}}"
    if isinstance(value, dict):
        return f"{{{','.join(f'{said(key)}:{said(own)}' for key, own in value.items())}}}"
    if isinstance(value, (list, tuple)):
        return f"{type(value).__name__}({','.join(map(said, value))})"
    text = repr(value)
    if " at 0x" in text:
        raise TypeError(f"sim.state() takes what repr() says in full, not {text}")
    return text


def _of_frame(frame):
    code = frame.f_code
    return f"{code.co_filename}:{code.co_firstlineno}:{code.co_name}:{frame.f_lasti}"


def _of_suspended(coro):
    """Where a task is, from its coroutine inwards."""
    while coro is not None and type(coro).__name__ != "FutureIter":
        if isinstance(coro, types.CoroutineType):
            yield "ended" if coro.cr_frame is None else _of_frame(coro.cr_frame)
            coro = coro.cr_await
        elif isinstance(coro, types.GeneratorType):
            yield "ended" if coro.gi_frame is None else _of_frame(coro.gi_frame)
            coro = coro.gi_yieldfrom
        else:
            raise Unknown


class _Things:
    """Texts of what waits in the queues of the loop."""

    def __init__(self):
        self._known = {}  # by id: a number, in the order in which they were met

    def text(self, thing):
        if isinstance(thing, _PLAIN):
            return repr(thing)
        if isinstance(thing, _native.Task):
            return f"task {thing.number}"
        if id(thing) in self._known:
            return f"again {self._known[id(thing)]}"
        self._known[id(thing)] = len(self._known)
        return f"{type(thing).__name__}({','.join(self._parts(thing))})"

    def _parts(self, thing):
        if isinstance(thing, asyncio.Future):
            yield thing._state
            yield from map(self.text, (callback for callback, _ in thing._callbacks or ()))
            if thing.done() and not thing.cancelled():
                yield self.text(thing._exception or thing._result)
        elif isinstance(thing, types.FunctionType):
            yield f"{thing.__code__.co_filename}:{thing.__code__.co_firstlineno}"
            for cell in thing.__closure__ or ():
                yield self.text(cell.cell_contents)
        elif isinstance(thing, (list, tuple)):
            yield from map(self.text, thing)
        elif type(thing).__name__ == "Timeout":  # asyncio's
            yield self.text(thing._task)
        elif hasattr(thing, "__self__"):
            yield from (getattr(thing, "__name__", ""), self.text(thing.__self__))
        elif not isinstance(thing, (types.ModuleType, _native.Loop)):
            raise Unknown


def text_of(loop, value):
    """None: it cannot be said. The judge takes words of 8 bytes."""
    words, things, running = [said(value)], _Things(), asyncio.current_task()
    if loop._root is not loop or loop._sim_world is not None:
        return None
    frame = sys._getframe(2)
    while frame is not None:
        words.append(_of_frame(frame))
        frame = frame.f_back
    try:
        for task in loop._left(True):
            words.append(f"{task.number} {task._strikes} {task._must_cancel} "
                         f"{task.number in loop._gone_on} {things.text(task._fut_waiter)}")
            words += () if task is running else _of_suspended(task.get_coro())
        words += (" ".join(map(things.text, item)) for item in loop._queues())
    except (Unknown, ValueError):  # or the cell of a closure is empty
        return None
    text = "\n".join(words).encode("utf-8", "backslashreplace")
    return text + bytes(-len(text) % 8)
