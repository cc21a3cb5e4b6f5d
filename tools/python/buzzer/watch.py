"""Watched primitives: the real ones, whose calls the judge is told of.

The methods of the one instance are wrapped, so it stays the object that the rest of the program
knows: `async with` works, and so does a condition on a watched lock.
"""
import asyncio

from buzzer import _native

OK, CANCELLED, FAILED, NOT_HELD = 0, 1, 3, 4
FIFO, LOCKED_EXACT, REFUSES_MISUSE, WAKE_IS_GRANT = 0x1, 0x2, 0x4, 0x8
WORK_CONSERVING, NO_PASSING = 0x10, 0x80


def status_of(exception):
    return CANCELLED if isinstance(exception, asyncio.CancelledError) else FAILED


def watch_permits(loop, primitive, kind, claims, permits, name):
    judged = _native.Object(loop, kind, name, "", claims, permits, 0, primitive)
    acquire, release = primitive.acquire, primitive.release

    async def watched_acquire():
        judged.acquires()
        try:
            result = await acquire()
        except BaseException as exception:
            judged.acquired(status_of(exception))
            raise
        judged.acquired(OK)
        return result

    def watched_release():
        judged.releases()
        try:
            release()
        except BaseException:
            judged.released(NOT_HELD)
            raise
        judged.released(OK)

    primitive.acquire, primitive.release = watched_acquire, watched_release
    return judged


def watch(loop, primitive, *, permits=None, name=None):
    if isinstance(primitive, asyncio.BoundedSemaphore):
        kind, claims = "bounded", FIFO | LOCKED_EXACT | NO_PASSING | REFUSES_MISUSE
    elif isinstance(primitive, asyncio.Semaphore):
        kind, claims = "semaphore", FIFO | LOCKED_EXACT | NO_PASSING
    elif isinstance(primitive, asyncio.Lock):
        kind, claims, permits = "lock", FIFO | REFUSES_MISUSE, 1
    else:
        raise TypeError(f"{type(primitive).__name__} is nothing that Buzzer can watch")
    watch_permits(loop, primitive, kind, claims, primitive._value if permits is None else permits,
                  name or kind)
    return primitive
