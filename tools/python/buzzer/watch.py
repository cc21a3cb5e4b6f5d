"""Watched primitives: the real ones, whose calls the judge is told of.

The methods of the one instance are wrapped, so it stays the object that the rest of the program
knows: `async with` works, and so does a condition on a watched lock.
"""
import asyncio

from buzzer import _native

FIFO, LOCKED_EXACT, REFUSES_MISUSE, WAKE_IS_GRANT = 0x1, 0x2, 0x4, 0x8
WORK_CONSERVING, NO_PASSING = 0x10, 0x80


def watch_permits(loop, primitive, kind, claims, permits, name):
    judged = _native.Object(loop, kind, name, "", claims, permits, 0, primitive)
    primitive.acquire = judged.wrap_acquire(primitive.acquire)
    primitive.release = judged.wrap_release(primitive.release)
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
