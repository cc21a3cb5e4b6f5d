"""Watched primitives: the judge is silent on the real ones (watch_silent.py), and objects to faulty
ones (watch_faulty.py). What a version of CPython is known to do wrong is declared, with its issue."""
import asyncio
import os
import sys

from buzzer.watch import Claim
from harness import Checks
from watch_faulty import *
from watch_silent import *

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
    for cancels in "013":
        tests = [test for test in silent if not only or test.__name__ in only
                 if cancels == ("1" if test in repaired else "0" if test in faulty_by_cancel else "3")]
        for order, some in (("any", runs), ("fifo", runs // 2)):
            words = ("--quiet", "--order", order, "--max-cancels", cancels)
            checks.all_silent([test for test in tests if test not in swallowed], *words, runs=some,
                              known=known)
            for test in tests:
                if test in swallowed:
                    checks.silent(test, *words, runs=some, but=known[test])
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
