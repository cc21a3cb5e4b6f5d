"""Twisted: a DeferredLock, and delayed calls on a Clock that Buzzer's order steps."""
import asyncio

from twisted.internet.defer import DeferredLock, ensureDeferred
from twisted.internet.task import Clock, deferLater

import buzzer


class Steps:
    """Fires the delayed calls of a Clock one by one; of those due, Buzzer chooses the next."""

    def __init__(self, sim):
        self.sim = sim
        self.clock = Clock()

    def run(self):
        calls = self.clock.calls
        while calls:
            now = min(call.getTime() for call in calls)
            due = [call for call in calls if call.getTime() == now]
            call = due[self.sim.draw(len(due), "call")]
            calls.remove(call)
            self.clock.rightNow = max(self.clock.rightNow, now)
            call.called = 1
            call.func(*call.args, **call.kw)


@buzzer.test(runs=100, cancel="none")
async def test_lock(sim):
    """One task at a time has the lock, in whatever order the calls come."""
    steps = Steps(sim)
    lock = DeferredLock()
    inside = []
    done = []

    async def worker(number):
        await deferLater(steps.clock, sim.draw(2, "arrival"), lambda: None)
        await lock.acquire()
        inside.append(number)
        sim.check(len(inside) == 1, f"{inside} have the lock")
        await deferLater(steps.clock, 1, lambda: None)
        inside.remove(number)
        lock.release()
        done.append(number)

    workers = [ensureDeferred(worker(number)) for number in range(3)]
    steps.run()
    await asyncio.gather(*(each.asFuture(asyncio.get_running_loop()) for each in workers))
    sim.check(sorted(done) == [0, 1, 2] and not lock.locked, "all had it, and it is free")
