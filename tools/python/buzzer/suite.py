"""A test that makes its loops itself: by a plug-in of pytest, by unittest, or by asyncio.run().

While it runs, each new loop is Buzzer's, and asyncio's locks, semaphores, events, conditions,
queues and barriers are watched from their creation on.
"""
import asyncio
import contextlib
import functools

from buzzer import watch as _watch

_LOOPS = ("SelectorEventLoop", "EventLoop")
_WATCHED = {cls for name, (classes, _) in _watch.KINDS.items() if name != "timeout"
            for cls in classes} | {asyncio.LifoQueue, asyncio.PriorityQueue}


def _constructor(root, cls, outer):
    """The __init__ of a class of asyncio that watches the new object. outer: the objects whose
    construction goes on; parts of a watched object are not watched themselves."""
    real = cls.__init__

    @functools.wraps(real)
    def construct(self, *args, **kwargs):
        outer.append(self)
        try:
            real(self, *args, **kwargs)
        finally:
            outer.pop()
        if not outer and type(self) in _WATCHED:
            with contextlib.suppress(TypeError, ValueError, RuntimeError):  # then it is not
                _watch.watch(root, self, is_looked_into=False)
    return construct


def _replacements(root, is_watched):
    """What a run replaces, as (holder, name, value). root: the loop with which the run began."""
    loop_class = type(root)
    for cls in asyncio.DefaultEventLoopPolicy.__mro__:
        if "_loop_factory" in vars(cls):
            yield cls, "_loop_factory", loop_class
    yield asyncio.events, "_event_loop_policy", None  # one of uvloop's, say
    for holder in (asyncio, asyncio.unix_events):
        for name in _LOOPS:
            yield holder, name, loop_class
    outer = []
    for cls in _WATCHED if is_watched else ():
        if "__init__" in vars(cls):
            yield cls, "__init__", _constructor(root, cls, outer)


@contextlib.contextmanager
def replaced(root, is_watched):
    before = []
    try:
        for holder, name, value in list(_replacements(root, is_watched)):
            if name in vars(holder):
                before.append((holder, name, vars(holder)[name]))
                setattr(holder, name, value)
        yield
    finally:
        for holder, name, value in reversed(before):
            setattr(holder, name, value)
