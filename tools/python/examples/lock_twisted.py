"""Twisted: a DeferredLock, and a reactor whose delayed calls are timers of Buzzer's loop."""
import asyncio

from twisted.internet.defer import Deferred, DeferredLock, ensureDeferred, succeed
from twisted.internet.task import deferLater

import buzzer
from twisted_reactor import Reactor, future_of


async def workers(sim, lock):
    """Three workers come at drawn times; one at a time may be inside."""
    reactor = Reactor()
    inside = []
    done = []

    async def worker(number):
        await deferLater(reactor, sim.draw(2, "arrival"), lambda: None)
        await lock.acquire()
        inside.append(number)
        sim.check(len(inside) == 1, f"{inside} have the lock")
        await deferLater(reactor, 1, lambda: None)
        inside.remove(number)
        lock.release()
        done.append(number)

    await asyncio.gather(*(future_of(ensureDeferred(worker(number))) for number in range(3)))
    sim.check(sorted(done) == [0, 1, 2], f"only {done} had the lock")


@buzzer.test(runs=100, cancel="none")
async def test_lock(sim):
    """One task at a time has the lock, in whatever order the calls come."""
    lock = DeferredLock()
    await workers(sim, lock)
    sim.check(not lock.locked, "the lock is free in the end")


class HastyLock:
    """Wrong on purpose: a release opens the lock, and then fires who waits."""

    def __init__(self):
        self.locked = False
        self.waiting = []

    def acquire(self):
        if not self.locked:
            self.locked = True
            return succeed(self)
        self.waiting.append(Deferred())
        return self.waiting[-1]

    def release(self):
        self.locked = False
        if self.waiting:
            self.waiting.pop(0).callback(self)


async def faulty_lock(sim):
    """A worker that comes while another one was let in finds the lock open."""
    await workers(sim, HastyLock())
