"""A DeferredFilesystemLock that has timed out once never answers again, and takes the lock."""
from twisted.internet.defer import DeferredFilesystemLock
from twisted.internet.error import AlreadyCalled
from twisted.internet.task import Clock


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
    raise SystemExit("nothing was raised")
except AlreadyCalled:
    pass
assert MemoryLock.is_taken and ends == ["timed out"]
print("the second use has no answer, and the lock is taken by nobody")
