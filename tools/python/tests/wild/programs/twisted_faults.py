"""Programs without Buzzer that show faults of twisted: each returns whether it shows its fault."""
from twisted.internet.defer import AlreadyCalledError, DeferredFilesystemLock, DeferredLock
from twisted.internet.error import AlreadyCalled
from twisted.internet.task import Clock


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


def twisted_file_lock():
    """A DeferredFilesystemLock that has timed out once never answers again, and takes the lock."""
    class MemoryLock(DeferredFilesystemLock):
        is_taken = True  # the file

        def lock(self):
            was_taken, MemoryLock.is_taken = MemoryLock.is_taken, True
            return not was_taken
    clock = Clock()
    lock = MemoryLock("name", scheduler=clock)
    ends = []
    lock.deferUntilLocked(3).addBoth(lambda result: ends.append("timed out"))
    clock.pump([1] * 10)
    lock.deferUntilLocked(3).addBoth(lambda result: ends.append("second"))
    clock.pump([1] * 60)
    assert ends == ["timed out"], ends
    MemoryLock.is_taken = False
    try:
        clock.pump([1] * 2)
        return False
    except AlreadyCalled:
        print("the second use has no answer, and the lock is taken by nobody")
    return MemoryLock.is_taken and ends == ["timed out"]


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
