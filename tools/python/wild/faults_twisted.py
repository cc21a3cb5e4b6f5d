"""Faults of Twisted: Deferreds on callbacks of the loop, and Twisted's own Clock. No reactor."""
import asyncio

from twisted.internet.defer import DeferredLock

from entries import fault


@fault("TW-RECURSE", "twisted #9304", "all", ["assertion"], "twisted_recursion", of="twisted")
async def twisted_recursion(sim):
    lock = DeferredLock()
    done = []

    def has_it(result):
        done.append(1)
        lock.release()
    lock.acquire()
    for _ in range(1000):
        lock.acquire().addCallback(has_it).addErrback(lambda failure: None)
    asyncio.get_running_loop().call_soon(lock.release)
    await asyncio.sleep(1)
    sim.check(len(done) == 1000 and not lock.locked,
              f"{len(done)} of 1000 waiters had the lock, and it is "
              f"{'locked for ever' if lock.locked else 'free'}")
