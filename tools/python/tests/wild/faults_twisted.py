"""Faults of Twisted. Their programs are driven by a reactor of Twisted's own, Clock, which needs no
loop; in the tests the delayed calls are timers of Buzzer's loop."""
import asyncio

from twisted.internet.defer import AlreadyCalledError, DeferredFilesystemLock, DeferredLock
from twisted.internet.error import AlreadyCalled
from twisted.internet.task import Clock

from entries import example, fault

twisted_reactor = example("twisted_reactor")


@fault("TW-RECURSE", "twisted #9304", "all", ["assertion"], of="twisted", runs=2)
def twisted_recursion():
    """release() calls the next waiter, which releases, and so on: a long line breaks (#9304)."""
    lock = DeferredLock()
    done = []

    def has_it(result):
        done.append(1)
        lock.release()
    lock.acquire()
    for _ in range(1000):
        lock.acquire().addCallback(has_it).addErrback(lambda failure: None)
    lock.release()
    print(len(done), "of 1000 had the lock; locked:", bool(lock.locked))
    return lock.locked or len(done) < 1000


@fault("TW-NOCANCEL", "twisted, by hand since 10.1", "all", ["assertion"], of="twisted", runs=2)
def twisted_abandoned():
    """A waiter of a DeferredLock that somebody else has answered strands those behind it."""
    lock = DeferredLock()
    lock.acquire()
    abandoned = lock.acquire()
    abandoned.addErrback(lambda failure: None)
    waiter = lock.acquire()
    abandoned.errback(KeyError())
    try:
        lock.release()
        return False
    except AlreadyCalledError:
        print("the lock is held by nobody, and a task waits")
    return lock.locked and not waiter.called


class MemoryLock(DeferredFilesystemLock):
    """The file is a flag."""
    is_taken = True

    def lock(self):
        was_taken, MemoryLock.is_taken = MemoryLock.is_taken, True
        return not was_taken


def use_twice(reactor):
    """Returns how the uses ended; the first one times out."""
    MemoryLock.is_taken = True
    lock = MemoryLock("name", scheduler=reactor)
    ends = []
    lock.deferUntilLocked(3).addBoth(lambda result: ends.append("timed out"))
    reactor.callLater(10, lambda: lock.deferUntilLocked(3).addBoth(
        lambda result: ends.append("second")))
    return ends


def locks_file():
    """A DeferredFilesystemLock that has timed out once never answers again, and takes the lock."""
    clock = Clock()
    ends = use_twice(clock)
    clock.pump([1] * 11)
    MemoryLock.is_taken = False  # the holder unlocks
    try:
        clock.pump([1] * 2)
        return False
    except AlreadyCalled:
        print("the second use has no answer, and the lock is taken by nobody")
    return MemoryLock.is_taken and ends == ["timed out"]


@fault("TW-FSLOCK-TIMEOUT-STUCK", "no ticket found", "all", ["assertion"], program=locks_file,
       of="twisted", message="taken by nobody", runs=20)
async def twisted_file_lock(sim):
    ends = use_twice(twisted_reactor.Reactor())
    asyncio.get_running_loop().set_exception_handler(
        lambda _, context: ends.append(type(context.get("exception"))))
    await asyncio.sleep(11)
    MemoryLock.is_taken = False  # the holder unlocks
    await asyncio.sleep(60)
    sim.check("second" in ends or AlreadyCalled not in ends,
              "the second use got no answer, and the lock is taken by nobody")
