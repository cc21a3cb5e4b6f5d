"""A waiter of a DeferredLock that somebody else has answered strands those behind it."""
from twisted.internet.defer import AlreadyCalledError, DeferredLock

lock = DeferredLock()
lock.acquire()
abandoned = lock.acquire()
abandoned.addErrback(lambda failure: None)
waiter = lock.acquire()
abandoned.errback(KeyError())
try:
    lock.release()
    raise SystemExit("nothing was raised")
except AlreadyCalledError:
    pass
assert lock.locked and not waiter.called
print("the lock is held by nobody, and a task waits")
