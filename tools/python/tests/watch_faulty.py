"""Faulty primitives, and programs that show their faults, for watch_test.py."""
import asyncio

from buzzer.watch import Claim
from watch_silent import hold, together

# --- faulty ------------------------------------------------------------------------------------


class DroppingLock(asyncio.Lock):
    """A woken waiter that is cancelled does not pass the lock on (bpo-27585)."""

    async def acquire(self):
        if not self._locked and not self._waiters:
            self._locked = True
            return True
        self._waiters = asyncio.locks.collections.deque() if self._waiters is None else (
            self._waiters)
        future = asyncio.get_running_loop().create_future()
        self._waiters.append(future)
        try:
            await future
        finally:
            self._waiters.remove(future)
        self._locked = True
        return True


class GreedySemaphore(asyncio.Semaphore):
    async def acquire(self):
        self._value -= self._value > 0
        return True


class NewestFirstSemaphore(asyncio.Semaphore):
    def _wake_up_next(self):
        for future in reversed(self._waiters or ()):
            if not future.done():
                self._value -= 1
                future.set_result(True)
                return True
        return False


class CarelessBounded(asyncio.BoundedSemaphore):
    def release(self):
        self._bound_value += 1
        super().release()


class ForgetfulEvent(asyncio.Event):
    def set(self):
        if not self._value:
            self._value = True
            for future in list(self._waiters)[:1]:
                if not future.done():
                    future.set_result(True)


class UnlockedCondition(asyncio.Condition):
    async def wait(self):
        self.release()
        future = asyncio.get_running_loop().create_future()
        self._waiters.append(future)
        try:
            await future
        finally:
            self._waiters.remove(future)
        await self.acquire()
        return True


class RepeatingQueue(asyncio.Queue):
    def _get(self):
        return self._queue[0] if len(self._queue) > 1 else self._queue.popleft()


class StackQueue(asyncio.Queue):
    def _get(self):
        return self._queue.pop()


class RoomyQueue(asyncio.Queue):
    def full(self):
        return self.qsize() > self._maxsize


class UnsortedQueue(asyncio.PriorityQueue):
    def _put(self, item):
        self._queue.append(item)

    def _get(self):
        return self._queue.pop(0)


async def bad_lock(sim):
    lock = sim.watch(DroppingLock())
    await together(sim, *(hold(lock) for _ in range(3)))


async def bad_lock_beside_a_server(sim):
    async def serves():
        while True:
            await asyncio.sleep(1)
    sim.background(serves())
    lock = sim.watch(DroppingLock(), claims=Claim.UNAIDED)
    await together(sim, *(hold(lock) for _ in range(3)))


async def bad_semaphore(sim):
    semaphore = sim.watch(GreedySemaphore(1))
    await together(sim, *(hold(semaphore) for _ in range(2)))


async def unfair_semaphore(sim):
    semaphore = sim.watch(NewestFirstSemaphore(1))
    await together(sim, *(hold(semaphore) for _ in range(4)))


async def bad_bounded(sim):
    semaphore = sim.watch(CarelessBounded(1))
    semaphore.release()
    await asyncio.sleep(0)


async def bad_event(sim):
    event = sim.watch(ForgetfulEvent())

    async def sets():
        event.set()

    async def waits():
        await event.wait()
    await together(sim, waits(), waits(), sets())


async def bad_condition(sim):
    condition = sim.watch(UnlockedCondition())

    async def waits():
        async with condition:
            await condition.wait()

    async def notifies():
        async with condition:
            condition.notify()
            await asyncio.sleep(0)
    await together(sim, waits(), notifies())


def bad_queue(kind, *, oracle_name):
    async def test(sim):
        queue = sim.watch(kind(2))

        async def puts():
            for item in (3, 1, 2, 4):
                await queue.put(item)

        async def gets():
            for _ in range(4):
                await queue.get()
        await together(sim, puts(), gets())
    test.__name__ = f"bad_{oracle_name}"
    return test


async def bad_barrier(sim):
    class Open(asyncio.Barrier):
        async def wait(self):
            return 0
    barrier = sim.watch(Open(2))
    await barrier.wait()


async def bad_scope(sim):
    class Forgets(asyncio.Timeout):
        async def __aexit__(self, kind, exception, traceback):
            try:
                return await super().__aexit__(kind, exception, traceback)
            except TimeoutError:
                return None
    async def is_late():
        try:
            async with sim.watch(Forgets(1)):
                await asyncio.sleep(2)
        except TimeoutError:
            pass
    await together(sim, is_late())


class OwnLock:
    """Wakes everybody, and the first to come takes it, without a second look."""

    def __init__(self):
        self.is_locked = False
        self.waiters = []

    async def acquire(self):
        if self.is_locked:
            waiter = asyncio.get_running_loop().create_future()
            self.waiters.append(waiter)
            await waiter
        self.is_locked = True

    def release(self):
        self.is_locked = False
        for waiter in self.waiters:
            if not waiter.done():
                waiter.set_result(None)
        self.waiters.clear()


async def bad_own_lock(sim):
    lock = sim.watch(OwnLock(), kind="lock")

    async def uses():
        await lock.acquire()
        try:
            await asyncio.sleep(0)
        finally:
            lock.release()
    await together(sim, *(uses() for _ in range(3)))


class SwallowingEvent:
    def __init__(self):
        self.future = asyncio.get_running_loop().create_future()

    def is_set(self):
        return self.future.done()

    def set(self):
        if not self.future.done():
            self.future.set_result(None)

    async def wait(self):
        try:
            await asyncio.shield(self.future)
        except asyncio.CancelledError:
            pass


async def bad_own_event(sim):
    event = sim.watch(SwallowingEvent(), kind="event", claims=Claim(0))

    async def waits():
        await event.wait()
    tasks = [sim.spawn(None, waits()) for _ in range(2)]
    await asyncio.sleep(1)
    event.set()
    await asyncio.wait(tasks)
