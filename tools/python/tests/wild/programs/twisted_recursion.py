"""release() calls the next waiter, which releases, and so on: a long line breaks (#9304)."""
from twisted.internet.defer import DeferredLock

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
raise SystemExit(0 if lock.locked or len(done) < 1000 else 1)
