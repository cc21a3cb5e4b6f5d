"""Faults of Twisted, on a reactor whose delayed calls are timers of Buzzer's loop."""
import asyncio
import os
import sys

from twisted.internet.defer import AlreadyCalledError, DeferredFilesystemLock, DeferredLock
from twisted.internet.error import AlreadyCalled
from twisted.python.failure import Failure

from entries import fault

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "examples"))

from twisted_reactor import Reactor  # noqa: E402


@fault("TW-RECURSE", "twisted #9304", "all", ["assertion"], "twisted_recursion", of="twisted",
       message="is locked for ever", runs=2)
async def twisted_recursion(sim):
    """Each waiter releases in its callback, which is inside the release of the one before."""
    reactor, lock, served = Reactor(), DeferredLock(), []

    def use(_):
        served.append(1)
        lock.release()

    def begin():
        lock.acquire()
        for _ in range(1000):
            lock.acquire().addCallback(use).addErrback(lambda failure: None)
    reactor.callLater(1, begin)
    reactor.callLater(2, lock.release)
    await asyncio.sleep(3)
    sim.check(not lock.locked, f"{len(served)} of 1000 had the lock, and it is locked for ever")


class MemoryLock(DeferredFilesystemLock):
    """The file is a flag."""
    is_taken = True

    def lock(self):
        was_taken, MemoryLock.is_taken = MemoryLock.is_taken, True
        return not was_taken


@fault("TW-FSLOCK-TIMEOUT-STUCK", "no ticket found", "all", ["assertion"], "twisted_file_lock",
       of="twisted", message="taken by nobody", runs=20)
async def twisted_file_lock(sim):
    reactor = Reactor()
    MemoryLock.is_taken = True
    lock = MemoryLock("name", scheduler=reactor)
    ends = []
    asyncio.get_running_loop().set_exception_handler(
        lambda _, context: ends.append(type(context.get("exception"))))
    lock.deferUntilLocked(3).addBoth(lambda result: ends.append("timed out"))
    await asyncio.sleep(10)
    lock.deferUntilLocked(3).addBoth(lambda result: ends.append("second"))
    await asyncio.sleep(1)
    MemoryLock.is_taken = False  # the holder unlocks
    await asyncio.sleep(60)
    sim.check("second" in ends or AlreadyCalled not in ends,
              "the second use got no answer, and the lock is taken by nobody")


@fault("TW-NOCANCEL", "twisted, by hand since 10.1", "all", ["assertion"], "twisted_abandoned",
       of="twisted", message="strands who waits", runs=2)
async def twisted_abandoned(sim):
    reactor, lock, served = Reactor(), DeferredLock(), []
    lock.acquire()
    abandoned = lock.acquire()
    abandoned.addErrback(lambda failure: None)
    lock.acquire().addCallback(served.append)
    reactor.callLater(1, abandoned.errback, Failure(KeyError()))

    def release():
        try:
            lock.release()
        except AlreadyCalledError:
            pass
    reactor.callLater(2, release)
    await asyncio.sleep(3)
    sim.check(served, "a waiter that somebody else has answered strands who waits behind it")
