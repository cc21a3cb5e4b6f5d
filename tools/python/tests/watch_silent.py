"""Correct programs on watched primitives, for watch_test.py: they cancel, time out, shield, gather,
and use objects from helper tasks."""
import asyncio
import sys

from buzzer.watch import Claim

HAS_TIMEOUT = hasattr(asyncio, "timeout")
HAS_BARRIER = hasattr(asyncio, "Barrier")
HAS_SHUTDOWN = hasattr(asyncio.Queue, "shutdown")
HAS_FLAG_STUCK = sys.version_info < (3, 10, 8)  # gh-90155: a cancelled waiter of a semaphore
HAS_NOTIFY_LOST = sys.version_info < (3, 13)    # gh-112202: a cancelled waiter of a condition
# gh-155233, in all versions: a cancel at a barrier gives an index twice
INDEX_TWICE = (("barrier-round", "index"),)
# gh-90155: who comes while a woken waiter has not resumed sleeps beside a free permit
FLAG_STUCK = (("lost-wakeup", "is free"),) if HAS_FLAG_STUCK else ()


async def together(sim, *coroutines):
    """Spawns them, and waits until all have ended, in whatever way."""
    tasks = [sim.spawn(None, coro, name=f"{coro.__name__}-{number}")
             for number, coro in enumerate(coroutines)]
    await asyncio.wait(tasks)
    for task in tasks:
        if not task.cancelled() and task.exception() is not None:
            raise task.exception()


async def hold(permits, naps=1):
    async with permits:
        for _ in range(naps):
            await asyncio.sleep(0)


# --- silent: locks and semaphores --------------------------------------------------------------


async def lock_plain(sim):
    lock = sim.watch(asyncio.Lock())
    await together(sim, *(hold(lock) for _ in range(4)))
    sim.check(not lock.locked(), "the lock is free")
    sim.check(isinstance(lock, asyncio.Lock), "a watched lock is a Lock")


async def semaphore_plain(sim):
    semaphore = sim.watch(asyncio.Semaphore(2))

    async def twice():
        await hold(semaphore)
        await hold(semaphore, 2)
    await together(sim, *(twice() for _ in range(4)))


async def bounded_plain(sim):
    semaphore = sim.watch(asyncio.BoundedSemaphore(2), name="tables")
    await together(sim, *(hold(semaphore) for _ in range(5)))
    try:
        semaphore.release()
    except ValueError:
        pass
    else:
        sim.check(False, "one release too many is refused")


async def semaphore_signals(sim):
    """Released by others than acquired it, and by the loop."""
    semaphore = sim.watch(asyncio.Semaphore(0))

    async def wants():
        await semaphore.acquire()

    async def gives():
        await asyncio.sleep(0)
        semaphore.release()
    asyncio.get_running_loop().call_later(1, semaphore.release)
    asyncio.get_running_loop().call_soon(semaphore.release)
    await together(sim, wants(), gives(), wants())


async def lock_shared_by_helpers(sim):
    """acquire() in tasks that wait_for(), shield() and gather() make."""
    lock = sim.watch(asyncio.Lock())

    async def waits_for():
        try:
            await asyncio.wait_for(hold(lock), 1)
        except asyncio.TimeoutError:
            pass

    async def shields():
        await asyncio.shield(hold(lock, 2))

    async def gathers():
        await asyncio.gather(hold(lock), hold(lock), return_exceptions=True)

    async def by_helper():
        helper = asyncio.ensure_future(lock.acquire())
        helper.add_done_callback(lambda helper: lock.release())
        await asyncio.shield(helper)
    await together(sim, waits_for(), shields(), gathers(), by_helper())


async def semaphore_timeouts(sim):
    semaphore = sim.watch(asyncio.Semaphore(1))

    async def impatient(delay):
        try:
            async with sim.watch(asyncio.timeout(delay)):
                async with semaphore:
                    await asyncio.sleep(2)
        except TimeoutError:
            pass
    await together(sim, impatient(1), impatient(3), impatient(2.5), hold(semaphore))


class Abortable:
    """A lock of one's own; its methods start tasks, which its waiters wait for."""

    def __init__(self):
        self._lock, self._stop = asyncio.Lock(), asyncio.Event()

    async def acquire(self):
        lock = asyncio.ensure_future(self._lock.acquire())
        stop = asyncio.ensure_future(self._stop.wait())
        has_it = False
        try:
            await asyncio.wait({lock, stop}, return_when=asyncio.FIRST_COMPLETED)
            has_it = lock.done()
            return has_it
        finally:
            stop.cancel()
            if not has_it:
                lock.cancel()
                try:
                    await lock
                    self._lock.release()
                except asyncio.CancelledError:
                    pass

    def release(self):
        self._lock.release()

    async def __aenter__(self):
        await self.acquire()

    async def __aexit__(self, *unused):
        self.release()


async def starts_tasks(sim):
    lock = sim.watch(Abortable(), kind="lock")
    await together(sim, hold(lock), hold(lock, 2), hold(lock))


class NewestFirst(asyncio.Semaphore):
    """A subclass that works otherwise, and takes arguments."""

    def __init__(self, permits):
        super().__init__(permits)
        self._free, self._stack = permits, []

    def locked(self):
        return self._free == 0

    async def acquire(self, patience=None):
        if self._free > 0 and not self._stack:
            self._free -= 1
            return True
        future = asyncio.get_running_loop().create_future()
        self._stack.append(future)
        try:
            await asyncio.wait({future}, timeout=patience)
        except asyncio.CancelledError:
            if future.done():
                self.release()
            else:
                self._stack.remove(future)
            raise
        if not future.done():
            self._stack.remove(future)
        return future.done()

    def release(self):
        while self._stack:
            future = self._stack.pop()
            if not future.done():
                future.set_result(None)
                return
        self._free += 1


async def subclass_of_its_own(sim):
    semaphore = sim.watch(NewestFirst(1), kind="semaphore", permits=1)

    async def impatient():
        if await semaphore.acquire(patience=1.5):
            await asyncio.sleep(1)
            semaphore.release()
    await together(sim, impatient(), impatient(), impatient())


class Payload(asyncio.Event):
    def set(self, value=None):
        self.value = value
        super().set()


async def subclass_with_arguments(sim):
    event = sim.watch(Payload())
    asyncio.get_running_loop().call_later(1, lambda: event.set(value=3))
    await event.wait()
    sim.check(event.value == 3, "the value of set()")


# --- silent: event, condition ------------------------------------------------------------------


async def event_plain(sim):
    event = sim.watch(asyncio.Event())

    async def waits():
        await event.wait()

    async def waits_impatiently():
        try:
            await asyncio.wait_for(event.wait(), 1)
        except asyncio.TimeoutError:
            pass

    async def sets():
        await asyncio.sleep(0)
        event.set()
        event.clear()
        await asyncio.sleep(0)
    tasks = [sim.spawn(None, coro) for coro in (waits(), waits(), waits_impatiently())]
    await asyncio.wait([sim.spawn(None, sets())])
    event.set()
    await asyncio.wait(tasks)


def condition_program(shared):
    async def condition(sim):
        lock = asyncio.Lock() if shared else None
        first = asyncio.Condition(lock)
        if shared == "lock first":
            sim.watch(lock)
        first = sim.watch(asyncio.Condition(lock))
        second = sim.watch(asyncio.Condition(lock)) if shared else first
        state = {"value": 0}

        async def consumes(condition):
            async with condition:
                await condition.wait_for(lambda: state["value"] > 0)
                state["value"] -= 1

        async def produces():
            async with first:
                state["value"] += 1
                first.notify_all()
                second.notify_all()

        async def consumes_impatiently():
            async with first:
                try:
                    async with asyncio.timeout(1):
                        await first.wait()
                except TimeoutError:
                    pass
                sim.check(first.locked(), "the lock is held after the wait")

        async def uses_lock():
            async with (lock if shared else first):
                await asyncio.sleep(0)
        impatient = [] if HAS_NOTIFY_LOST else [consumes_impatiently()]
        await together(sim, *impatient, produces(), uses_lock(), produces())
        state["value"] = 2
        await together(sim, consumes(first), consumes(second), uses_lock())
        state["value"] = 0
        tasks = [sim.spawn(None, coro) for coro in (consumes(first), consumes(second))]
        for _ in range(4):
            await asyncio.sleep(0)
            await produces()
        async with first:
            state["value"] = 9
            first.notify_all()
            second.notify_all()
        await asyncio.wait(tasks)
    condition.__name__ = "condition_" + (shared or "own").replace(" ", "_")
    return condition


async def pass_on_under_the_lock(condition):
    async with condition:
        try:
            await condition.wait()
        except asyncio.CancelledError:
            condition.notify()
            raise


async def pass_on_later(condition):
    async with condition:
        try:
            await condition.wait()
        except asyncio.CancelledError:
            await asyncio.sleep(0)
            condition.notify()
            raise


async def pass_on_outside(condition):
    """The lock may be another task's by then."""
    try:
        async with condition:
            await condition.wait()
    except asyncio.CancelledError:
        async with condition:
            condition.notify()
        raise


async def pass_on_after_a_timeout(condition):
    """Before 3.12, wait_for() waits in a task of its own, which has ended by then."""
    async with condition:
        try:
            await asyncio.wait_for(condition.wait(), 1e-9)
        except (asyncio.TimeoutError, asyncio.CancelledError):
            condition.notify()


async def keep(condition):
    """It does not pass it on, and not even at once."""
    async with condition:
        try:
            await condition.wait()
        except asyncio.CancelledError:
            await asyncio.sleep(0)
            raise


def notification_program(waits):
    """Before 3.13, a waiter that is notified and then cancelled keeps the notification (gh-112202),
    unless the program passes it on."""
    async def notification(sim):
        condition = sim.watch(asyncio.Condition())

        async def notifies():
            async with condition:
                condition.notify()
                await asyncio.sleep(0)
        tasks = [sim.spawn(None, waits(condition)) for _ in range(3)]
        tasks += [asyncio.create_task(notifies()) for _ in range(2)]
        while not all(task.done() for task in tasks):
            async with condition:
                await asyncio.sleep(0)
                condition.notify_all()
            await asyncio.sleep(1e-9)
    notification.__name__ = waits.__name__
    return notification


async def condition_odd_counts(sim):
    condition = sim.watch(asyncio.Condition())

    async def waits():
        async with condition:
            await condition.wait()
    tasks = [asyncio.create_task(waits()) for _ in range(5)]
    await asyncio.sleep(1)
    async with condition:
        for count in (-5, -0.5, 0, False, 1.5, True):
            condition.notify(count)
    while not all(task.done() for task in tasks):
        async with condition:
            condition.notify(2 ** 70)
        await asyncio.sleep(0)


async def queue_odd_bounds(sim):
    for bound in (1.5, -2 ** 70, 2 ** 32 + 1):
        queue = sim.watch(asyncio.Queue(bound))
        queue.put_nowait(1)
        queue.put_nowait(2)


async def condition_misused(sim):
    condition = sim.watch(asyncio.Condition())
    for call in (condition.wait, condition.notify, condition.notify_all):
        try:
            result = call()
            if result is not None:
                await result
        except RuntimeError:
            continue
        sim.check(False, "the call is refused")


# --- silent: queues, barrier, scopes -----------------------------------------------------------


def queue_program(kind, maxsize):
    async def queue(sim):
        queue = sim.watch(kind(maxsize))

        async def produces(*items):
            for item in items:
                await asyncio.wait_for(queue.put(item), 5)

        async def produces_at_once():
            for item in (3, 7):
                try:
                    queue.put_nowait(item)
                except asyncio.QueueFull:
                    await asyncio.sleep(0)

        async def consumes():
            for _ in range(3):
                await asyncio.wait_for(queue.get(), 5)
                queue.task_done()

        async def consumes_at_once():
            for _ in range(2):
                try:
                    queue.get_nowait()
                    queue.task_done()
                except asyncio.QueueEmpty:
                    await asyncio.sleep(0)

        async def tries(coro):
            try:
                await coro
            except asyncio.TimeoutError:
                pass
        await together(sim, tries(produces(1, 7, 7)), tries(consumes()), produces_at_once(),
                       tries(consumes()), tries(produces(2, 8)), consumes_at_once())
        while not queue.empty():
            queue.get_nowait()
            queue.task_done()
        await queue.join()
    queue.__name__ = f"{kind.__name__.lower()}_{maxsize}"
    return queue


async def queue_shut_down(sim):
    queue = sim.watch(asyncio.Queue(1))
    is_immediate = sim.draw(2) == 1

    async def uses(call):
        try:
            await call()
        except asyncio.QueueShutDown:
            pass

    async def shuts():
        await asyncio.sleep(0)
        queue.shutdown(is_immediate)
    helper = asyncio.ensure_future(shuts())  # is not cancelled: the others wait for it
    await together(sim, uses(queue.get), uses(lambda: queue.put(1)), uses(lambda: queue.put(2)),
                   uses(lambda: queue.put(3)))
    await helper


async def barrier_plain(sim):
    barrier = sim.watch(asyncio.Barrier(2))

    async def meets():
        try:
            await barrier.wait()
        except asyncio.BrokenBarrierError:
            pass

    async def breaks():
        if sim.draw(2):
            await barrier.reset()
        else:
            await barrier.abort()
            await asyncio.sleep(0)
            await barrier.reset()
    tasks = [sim.spawn(None, meets()) for _ in range(4)]
    await asyncio.wait([sim.spawn(None, breaks())])
    await barrier.abort()
    await asyncio.wait(tasks)


async def barrier_rounds(sim):
    barrier = sim.watch(asyncio.Barrier(3))
    indices = []

    async def meets():
        for _ in range(2):
            indices.append(await barrier.wait())
    await asyncio.gather(*(meets() for _ in range(3)))
    sim.check(sorted(indices) == [0, 0, 1, 1, 2, 2], f"the indices of two rounds: {indices}")


async def scopes(sim):
    """Scopes in scopes, task groups in scopes, scopes that are moved."""
    async def fails():
        await asyncio.sleep(1)
        raise KeyError

    async def nested():
        try:
            async with sim.watch(asyncio.timeout(2)):
                try:
                    async with sim.watch(asyncio.timeout_at(1)):
                        await asyncio.sleep(3)
                except TimeoutError:
                    pass
                await asyncio.sleep(3)
        except TimeoutError:
            pass

    async def moved():
        try:
            await moves()
        except TimeoutError:
            pass

    async def moves():
        async with sim.watch(asyncio.timeout(1)) as scope:
            scope.reschedule(None)
            await asyncio.sleep(5)
            scope.reschedule(asyncio.get_running_loop().time() + 500)
            await asyncio.sleep(1)

    async def grouped():
        try:
            async with sim.watch(asyncio.timeout(5)):
                try:
                    async with asyncio.TaskGroup() as group:
                        group.create_task(fails())
                        await asyncio.sleep(9)
                except BaseExceptionGroup:
                    pass
                async with asyncio.timeout(None):
                    await asyncio.sleep(1)
        except TimeoutError:
            pass
    await together(sim, nested(), moved(), grouped())


# --- silent: one's own -------------------------------------------------------------------------


class Pool:
    """A pool with a deadline of its own, exceptions of its own, and no asyncio.Semaphore."""

    class Empty(Exception):
        pass

    def __init__(self, size):
        self.free = size
        self.waiters = []

    async def acquire(self):
        if self.free == 0 or any(not waiter.cancelled() for waiter in self.waiters):
            waiter = asyncio.get_running_loop().create_future()
            self.waiters.append(waiter)
            try:
                async with asyncio.timeout(1):
                    await waiter
            except (asyncio.CancelledError, TimeoutError) as exception:
                if waiter.done() and not waiter.cancelled():
                    self.give()
                elif waiter in self.waiters:
                    self.waiters.remove(waiter)
                if isinstance(exception, TimeoutError):
                    raise Pool.Empty from None
                raise
            return True
        self.free -= 1
        return True

    def give(self):
        while self.waiters:
            waiter = self.waiters.pop(0)
            if not waiter.done():
                waiter.set_result(None)
                return
        self.free += 1

    def release(self):
        self.give()


async def own_pool(sim):
    pool = sim.watch(Pool(2), kind="semaphore", permits=2)

    async def uses():
        try:
            await pool.acquire()
        except Pool.Empty:
            return
        try:
            await asyncio.sleep(0.4)
        finally:
            pool.release()
    await together(sim, *(uses() for _ in range(6)))
