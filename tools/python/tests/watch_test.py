"""Watched primitives: the judge is silent on the real ones, and objects to faulty ones.

The silent tests cancel, time out, shield, gather, and use objects from helper tasks, as correct
programs do. What a version of CPython is known to do wrong is declared, with its issue."""
import asyncio
import os
import sys

from buzzer.watch import Claim
from harness import Checks

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


# --- clear messages ----------------------------------------------------------------------------


async def refused(sim):
    """What cannot be watched is refused, with a sentence."""
    locked = asyncio.Lock()
    await locked.acquire()
    full = asyncio.Queue()
    full.put_nowait(1)
    for text, primitive, about in (
            ("before it is used", locked, {}), ("before it is used", full, {}),
            ("nothing of asyncio's", object(), {}), ("kind='mutex'", object(), {"kind": "mutex"}),
            ("permits=", Pool(1), {"kind": "semaphore"})):
        try:
            sim.watch(primitive, **about)
        except (ValueError, TypeError) as exception:
            sim.check(text in str(exception), f"{text}: {exception}")
        else:
            sim.check(False, f"{text}: watched")


async def behind_the_back(sim):
    """A condition has kept the methods of its lock from before it was watched."""
    lock = asyncio.Lock()
    condition = asyncio.Condition(lock)
    sim.watch(lock)
    async with condition:
        try:
            await lock.acquire()
        except RuntimeError as exception:
            sim.check("watch it first" in str(exception), str(exception))
            return
    sim.check(False, "the change is noticed")


async def only_spawned(sim):
    """No cancel strikes a task that sim.spawn() has not made."""
    async def naps():
        for _ in range(3):
            await asyncio.sleep(0)
    helpers = [asyncio.ensure_future(naps()) for _ in range(2)]
    task = sim.spawn(None, naps())
    await asyncio.wait([task, *helpers])
    sim.check(not any(helper.cancelled() for helper in helpers), "a helper was cancelled")


shared_lock = asyncio.Lock() if sys.version_info >= (3, 10) else None


async def outlives_runs(sim):
    """A module's own lock is watched in each run, and left as it was after it."""
    lock = sim.watch(shared_lock)
    async with lock:
        await asyncio.sleep(0)


class OwnQueue:
    """Of the program's own: it does not say how many items are in it."""

    def __init__(self):
        self.queue = asyncio.Queue()

    async def put(self, item):
        await self.queue.put(item)

    async def get(self):
        return await self.queue.get()


async def own_queue(sim):
    queue = sim.watch(OwnQueue(), kind="queue", claims=Claim.TAKES_AT_RETURN)

    async def gets():
        await queue.get()
    task = asyncio.ensure_future(gets())
    await asyncio.sleep(0)
    task.cancel()
    await asyncio.wait([task])
    await queue.put(1)
    await queue.get()


async def cancels_own_handle(sim):
    """As the deadline of a scope of anyio does: the callback and its arguments live on."""
    done = []

    def fires(argument):
        handles.pop().cancel()
        done.append(argument.copy())
    handles = [asyncio.get_running_loop().call_later(1, fires, [[1, 2, 3]])]
    await asyncio.sleep(2)
    sim.check(done == [[[1, 2, 3]]], f"the callback saw {done}")


def main():
    checks = Checks()
    conditions = [condition_program(shared) for shared in (None, "lock first", "condition first")]
    silent = [lock_plain, bounded_plain, semaphore_plain, semaphore_signals,
              lock_shared_by_helpers, starts_tasks, subclass_of_its_own, subclass_with_arguments,
              event_plain,
              condition_misused, refused, behind_the_back, only_spawned, own_queue,
              cancels_own_handle, condition_odd_counts, queue_odd_bounds,
              queue_program(asyncio.Queue, 0), queue_program(asyncio.Queue, 1),
              queue_program(asyncio.LifoQueue, 2), queue_program(asyncio.PriorityQueue, 2)]
    silent += conditions
    repaired = [notification_program(waits)
                for waits in (pass_on_under_the_lock, pass_on_later, pass_on_outside)]
    silent += repaired
    silent += [scopes, semaphore_timeouts, own_pool] if HAS_TIMEOUT else []
    silent += [barrier_plain, barrier_rounds] if HAS_BARRIER else []
    silent += [queue_shut_down] if HAS_SHUTDOWN else []
    silent += [outlives_runs] if shared_lock else []
    semaphores = [bounded_plain, semaphore_plain, semaphore_signals]
    faulty_by_cancel = conditions if HAS_NOTIFY_LOST else []
    faulty_by_cancel += semaphores if HAS_FLAG_STUCK else []
    known = dict.fromkeys(semaphores, FLAG_STUCK)
    known.update(dict.fromkeys((barrier_plain, barrier_rounds) if HAS_BARRIER else (), INDEX_TWICE))
    # gh-86296, wait_for() before 3.12; gh-116720, task groups before 3.13
    swallowed = [test for test in silent if test.__name__.rpartition("_")[0].endswith("queue")]
    swallowed = swallowed if (3, 11) <= sys.version_info < (3, 12) else []
    swallowed += [scopes] if (3, 11) <= sys.version_info < (3, 13) else []
    known.update(dict.fromkeys(swallowed, [("cancel-delivered", "the cancel was swallowed")]))
    only = sys.argv[1:]
    runs = int(os.environ.get("BUZZER_TEST_RUNS", "100"))
    after_timeout = notification_program(pass_on_after_a_timeout)
    if not only or after_timeout.__name__ in only:
        checks.silent(after_timeout, "--quiet", "--max-cancels", "0", runs=runs)
    for test in silent:
        if not only or test.__name__ in only:
            cancels = ("--max-cancels", "1") if test in repaired else ("--max-cancels", "0" if test in faulty_by_cancel else "3")
            but = known.get(test, ())
            checks.silent(test, "--quiet", *cancels, runs=runs, but=but)
            checks.silent(test, "--quiet", "--order", "fifo", *cancels, runs=runs // 2, but=but)
    faulty = [(bad_lock, "lost-wakeup deadlock"), (bad_lock_beside_a_server, "lost-wakeup"),
              (bad_semaphore, "mutual-exclusion"),
              (bad_bounded, "misuse permit-conservation"),
              (bad_event, "lost-notification lost-wakeup"), (bad_condition, "relock"),
              (bad_queue(RepeatingQueue, oracle_name="repeats"), "item-once queue-size"),
              (bad_queue(StackQueue, oracle_name="stack"), "item-order"),
              (bad_queue(RoomyQueue, oracle_name="roomy"), "bound"),
              (bad_queue(UnsortedQueue, oracle_name="unsorted"), "item-order"),
              (bad_own_lock, "mutual-exclusion"), (bad_own_event, "cancel-delivered")]
    faulty += [(notification_program(keep), "lost-notification")] if HAS_NOTIFY_LOST else []
    faulty += [] if HAS_FLAG_STUCK else [(unfair_semaphore, "fifo")]
    faulty += [(bad_scope, "cancel-count")] if HAS_TIMEOUT else []
    faulty += [(bad_barrier, "barrier-round")] if HAS_BARRIER else []
    for test, oracles in faulty:
        if not only or test.__name__ in only:
            needs_cancels = test in (bad_lock, bad_lock_beside_a_server, bad_own_event,
                                     bad_condition) or test.__name__ == "keep"
            checks.finds(oracles.split(), test, "--max-cancels", "2" if needs_cancels else "0",
                         runs=120)
    checks.end()


if __name__ == "__main__":
    main()
