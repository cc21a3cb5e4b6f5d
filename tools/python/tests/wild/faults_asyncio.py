"""Programs on which the faults of asyncio show. Each is correct but for what it shows; a fault is
found by an oracle, or by a check of the program's own."""
import asyncio

from buzzer.watch import Claim
from entries import fault

LOCK = Claim.FIFO | Claim.LOCKED_EXACT | Claim.REFUSES_MISUSE | Claim.WAKE_IS_GRANT
SEMAPHORE = LOCK | Claim.NO_PASSING | Claim.WORK_CONSERVING


async def together(sim, *coroutines):
    await asyncio.wait([sim.spawn(None, coro) for coro in coroutines])


async def hold(permits):
    async with permits:
        await asyncio.sleep(0)


@fault("LOCK-LOCKED-WINDOW", "gh-138121", "3.4 to 3.15", ["locked-definition"], "locked_window",
       message="locked() of 'lock' is false, and should be true")
async def lock_locked_window(sim):
    lock = sim.watch(asyncio.Lock(), claims=LOCK)
    await together(sim, hold(lock), hold(lock))


@fault("SEM-ONE-WAKE", "gh-111693", "3.10.8 to 3.12", ["work-conserving"], "one_wake",
       until=(3, 13), since=(3, 10, 8),
       message="'semaphore'")
async def semaphore_one_wake(sim):
    semaphore = sim.watch(asyncio.Semaphore(0), claims=SEMAPHORE)

    async def gives():
        for _ in range(3):
            semaphore.release()

    async def takes():
        await semaphore.acquire()
    await together(sim, takes(), gives(), takes(), takes())


@fault("SEM-FLAG-STUCK", "gh-90155, gh-97545", "3.9.12 to 3.9.25, 3.10.4 to 3.10.7",
       ["lost-wakeup", "deadlock"], "flag_stuck", until=(3, 10), runs=1000)
async def semaphore_flag_stuck(sim):
    semaphore = sim.watch(asyncio.Semaphore(1))
    await together(sim, *(hold(semaphore) for _ in range(3)))


@fault("BOUNDED-STRANGER", "not known to us as a report", "3.10.8 to 3.15", ["misuse"],
       "bounded_stranger", since=(3, 10, 8),
       message="nobody held, and was not refused")
async def bounded_stranger(sim):
    """The program is wrong: a stranger releases. One turn later every version accepts that."""
    semaphore = sim.watch(asyncio.BoundedSemaphore(1))

    async def stranger():
        await asyncio.sleep(0)
        try:
            semaphore.release()
        except ValueError:
            pass

    async def patient():
        try:
            await hold(semaphore)
        except ValueError:
            pass
    await together(sim, patient(), patient(), stranger())


@fault("COND-NOTIFY-LOST", "gh-112202", "3.4 to 3.12", ["lost-notification"], "notify_lost",
       until=(3, 13),
       message="'condition'")
async def condition_notify_lost(sim):
    condition = sim.watch(asyncio.Condition())

    async def waits():
        async with condition:
            await condition.wait()

    async def notifies():
        async with condition:
            condition.notify(1)
    await together(sim, waits(), waits(), notifies(), notifies())


@fault("BAR-DUP-INDEX", "gh-155233", "3.11 to 3.15", ["barrier-round"], "barrier_index",
       since=(3, 11),
       message="index")
async def barrier_dup_index(sim):
    barrier = sim.watch(asyncio.Barrier(3))

    async def meets():
        await barrier.wait()
    tasks = [asyncio.ensure_future(meets()) for _ in range(2)]
    await asyncio.sleep(0)
    tasks[0].cancel()
    await asyncio.wait(tasks[:1])
    tasks += [asyncio.ensure_future(meets()) for _ in range(2)]
    await asyncio.wait(tasks)


@fault("Q-BARGE", "gh-83055, by documented choice", "3.5.1 to 3.15", ["fifo"], "queue_barge",
       message="'slots of queue'")
async def queue_barge(sim):
    queue = sim.watch(asyncio.Queue(1), claims=Claim.FIFO | Claim.TAKES_AT_RETURN)
    queue.put_nowait(1)

    async def puts(item):
        await queue.put(item)

    async def gets():
        await asyncio.sleep(0)
        queue.get_nowait()
        await queue.put(3)
    tasks = [asyncio.ensure_future(coro) for coro in (puts(2), gets())]
    await asyncio.sleep(1)
    while not queue.empty():
        await queue.get()
    await asyncio.wait(tasks)


@fault("WF-SWALLOW", "gh-86296", "3.8.18 to 3.11", ["assertion"], "wait_for_swallow",
       until=(3, 12),
       message="wait_for() returned although")
async def wait_for_swallow(sim):
    async def quick():
        await asyncio.sleep(0)

    async def waits():
        was_cancelled[0] = False
        await asyncio.wait_for(quick(), 1)
        sim.check(not was_cancelled[0], "wait_for() returned although its task was cancelled")

    async def cancels(task):
        await asyncio.sleep(0)
        was_cancelled[0] = task.cancel()
    was_cancelled = [False]
    task = asyncio.ensure_future(waits())
    await asyncio.wait([task, asyncio.ensure_future(cancels(task))])
    if not task.cancelled():
        task.result()


@fault("TASK-STALE-MUST-CANCEL", "gh-116720", "3.11, 3.12", ["assertion"], "stale_must_cancel",
       since=(3, 11), until=(3, 13),
       message="taken back")
async def task_stale_must_cancel(sim):
    async def takes_back():
        task = asyncio.current_task()
        task.cancel()
        task.uncancel()
        try:
            await asyncio.sleep(0)
        except asyncio.CancelledError:
            sim.check(task.cancelling() > 0, "a request was delivered that was taken back")
    await asyncio.ensure_future(takes_back())


@fault("TG-EXTERNAL-SWALLOW", "gh-116720", "3.11, 3.12", ["assertion"], "group_swallow",
       since=(3, 11), until=(3, 13),
       message="goes on after a cancel from outside")
async def group_swallows_outside_cancel(sim):
    async def fails():
        await asyncio.sleep(0)
        raise KeyError

    async def body():
        try:
            async with asyncio.TaskGroup() as group:
                group.create_task(fails())
                await asyncio.sleep(5)
        except BaseExceptionGroup:
            if asyncio.current_task().cancelling():
                await asyncio.sleep(0)
                sim.check(False, "the body goes on after a cancel from outside")

    async def cancels(task):
        await asyncio.sleep(0)
        task.cancel()
    task = asyncio.ensure_future(body())
    await asyncio.wait([task, asyncio.ensure_future(cancels(task))])


@fault("TO-ZERO-SWALLOW", "gh-134471", "3.11.3 to 3.15", ["cancel-count"],
       "timeout_swallow", since=(3, 11, 3))
async def timeout_swallows_earlier_cancel(sim):
    async def body():
        asyncio.current_task().cancel()
        try:
            async with sim.watch(asyncio.timeout(0)):
                await asyncio.sleep(5)
        except TimeoutError:
            pass
    await asyncio.wait([asyncio.ensure_future(body())])


@fault("TO-BASELINE", "gh-102780", "3.11.0 to 3.11.2", ["cancel-count"], "timeout_baseline",
       since=(3, 11), until=(3, 11, 3))
async def timeout_in_cancel_handler(sim):
    async def body():
        try:
            await asyncio.sleep(5)
        except asyncio.CancelledError:
            try:
                async with sim.watch(asyncio.timeout(1)):
                    await asyncio.sleep(5)
            except TimeoutError:
                pass
            raise
    task = asyncio.ensure_future(body())
    await asyncio.sleep(0)
    task.cancel()
    await asyncio.wait([task])


def leaves_by_close(sim, permits):
    async def test():
        await permits.acquire()
        waiter = permits.acquire()  # driven by hand
        waiter.send(None)
        second = sim.spawn(None, hold(permits))
        await asyncio.sleep(0)
        permits.release()
        waiter.close()
        await asyncio.wait([second])
    return test()


@fault("LOCK-NONCANCEL-EXIT", "PR 5466", "all", ["deadlock"], "lock_close",
       message="task-1 (in await)")
async def lock_noncancel_exit(sim):
    await leaves_by_close(sim, asyncio.Lock())


@fault("SEM-NONCANCEL-EXIT", "foreseen in python/asyncio PR 271", "3.10.8 to 3.15", ["deadlock"],
       "semaphore_close",
       since=(3, 10, 8),
       message="task-1 (in await)")
async def semaphore_noncancel_exit(sim):
    await leaves_by_close(sim, asyncio.Semaphore(1))


@fault("SEM-THROW-PENDING", "gh-111693", "3.10.8 to 3.12", ["assertion"], "semaphore_throw",
       since=(3, 10, 8), until=(3, 13), message="there is another one")
async def semaphore_throw_pending(sim):
    semaphore = asyncio.Semaphore(1)
    await semaphore.acquire()
    waiter = semaphore.acquire()  # driven by hand
    waiter.send(None)
    try:
        waiter.throw(asyncio.CancelledError())
    except asyncio.CancelledError:
        pass
    sim.check(semaphore.locked(), "the one permit is held, and there is another one")


@fault("SEM-LOCKED-WINDOW", "gh-97028", "before 3.10.8", ["locked-definition"],
       "semaphore_locked", until=(3, 10, 8), message="locked() of 'semaphore' is false")
async def semaphore_locked_window(sim):
    semaphore = sim.watch(asyncio.Semaphore(1), claims=SEMAPHORE & ~Claim.WORK_CONSERVING)
    await together(sim, *(hold(semaphore) for _ in range(2)))


@fault("COND-EXC-IDENTITY", "gh-111693", "before 3.13", ["assertion"], "condition_message",
       until=(3, 13), message="has lost its message")
async def condition_exception_identity(sim):
    condition = asyncio.Condition()

    async def waits():
        async with condition:
            await condition.wait()

    task = asyncio.ensure_future(waits())
    await asyncio.sleep(1)
    await condition.acquire()
    condition.notify()
    await asyncio.sleep(1)
    task.cancel("why")
    await asyncio.sleep(1)
    condition.release()
    try:
        await task
    except asyncio.CancelledError as error:
        sim.check(error.args == ("why",), "the cancel has lost its message")


@fault("TG-NESTED-SWALLOW", "gh-116720", "3.11, 3.12", ["assertion"], "group_nested",
       since=(3, 11), until=(3, 13), message="goes on after its child has failed")
async def group_nested_swallow(sim):
    async def fails(error):
        await asyncio.sleep(0)
        raise error

    async def body():
        try:
            async with asyncio.TaskGroup() as outer:
                outer.create_task(fails(KeyError()))
                try:
                    async with asyncio.TaskGroup() as inner:
                        inner.create_task(fails(ValueError()))
                except BaseExceptionGroup:
                    if asyncio.current_task().cancelling():
                        await asyncio.sleep(0)
                        sim.check(False, "the outer body goes on after its child has failed")
        except BaseExceptionGroup:
            pass
    await asyncio.ensure_future(body())


@fault("BAR-CANCELLED-PARTY", "not known to us as a report", "3.11 to 3.13", ["barrier-round"],
       "barrier_cancelled", since=(3, 11), message="with only 2 of 3 parties there")
async def barrier_cancelled_party(sim):
    barrier = sim.watch(asyncio.Barrier(3))

    async def meets():
        await barrier.wait()
    tasks = [asyncio.ensure_future(meets()) for _ in range(2)]
    await asyncio.sleep(1)
    tasks.append(asyncio.ensure_future(meets()))
    tasks[0].cancel()
    await asyncio.sleep(1)
    for task in tasks:
        task.cancel()
    await asyncio.wait(tasks)


@fault("WF-SECOND-CANCEL", "not known to us as a report", "3.9 to 3.11", ["assertion"],
       "wait_for_second_cancel", until=(3, 12), message="before the inner task")
async def wait_for_second_cancel(sim):
    async def tidies():
        try:
            await asyncio.sleep(5)
        finally:
            await asyncio.sleep(5)
            is_tidy[0] = True

    async def waits():
        try:
            await asyncio.wait_for(tidies(), 1)
        finally:
            sim.check(is_tidy[0], "wait_for() was left before the inner task had ended")
    is_tidy = [False]
    task = asyncio.ensure_future(waits())
    await asyncio.sleep(2)
    task.cancel()
    await asyncio.wait([task])


@fault("WF-LOST-EXCEPTION", "not known to us as a report", "3.9 to 3.11", ["assertion"],
       "wait_for_lost_exception", until=(3, 12), message="KeyError")
async def wait_for_lost_exception(sim):
    async def fails():
        try:
            await asyncio.sleep(5)
        finally:
            raise KeyError

    task = asyncio.ensure_future(asyncio.wait_for(fails(), 9))
    await asyncio.sleep(1)
    task.cancel()
    await asyncio.wait([task])
    if not task.cancelled():
        task.exception()
