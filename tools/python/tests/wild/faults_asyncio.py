"""Faults of asyncio. A program without arguments, or with watch= alone, needs no Buzzer, and returns
whether it shows its fault. Where that depends on the schedule, a test beside it lets Buzzer search."""
import asyncio
import gc

from entries import Claim, as_it_is, fault

if Claim is not None:
    LOCK = Claim.FIFO | Claim.LOCKED_EXACT | Claim.REFUSES_MISUSE | Claim.WAKE_IS_GRANT
    SEMAPHORE = LOCK | Claim.NO_PASSING | Claim.WORK_CONSERVING


async def together(sim, *coroutines):
    await asyncio.wait([sim.spawn(None, coro) for coro in coroutines])


async def hold(permits):
    async with permits:
        await asyncio.sleep(0)


async def waits(condition):
    async with condition:
        await condition.wait()


async def woken(permits):
    """A task that was woken to the one permit, and has not resumed."""
    await permits.acquire()
    waiter = asyncio.ensure_future(permits.acquire())
    await asyncio.sleep(0)
    permits.release()
    return waiter


async def ends_cancelled(task):
    await asyncio.wait([task])
    print("the task", "was cancelled" if task.cancelled() else task.result())
    return task.cancelled()


async def sleeps_on(task):
    """Whether the task that should have been woken has not been."""
    _, pending = await asyncio.wait([task], timeout=0.1)
    print("the next waiter", "sleeps" if pending else "was woken")
    return bool(pending)


# --- locks and semaphores -----------------------------------------------------------------------


async def locked_window():
    """A lock that was released to a waiter says that it is free, and is not (gh-138121)."""
    lock = asyncio.Lock()
    waiter = await woken(lock)
    says_free = not lock.locked()
    newcomer = asyncio.ensure_future(lock.acquire())
    await waiter
    await asyncio.sleep(0)
    print("locked() was", not says_free, "- a newcomer", "got it" if newcomer.done() else "waits")
    return says_free and not newcomer.done()


@fault("LOCK-LOCKED-WINDOW", "gh-138121", "3.4 to 3.15", ["locked-definition"],
       program=locked_window, message="locked() of 'lock' is false, and should be true")
async def lock_locked_window(sim):
    lock = sim.watch(asyncio.Lock(), claims=LOCK)
    await together(sim, hold(lock), hold(lock))


async def semaphore_locked():
    """locked() of a semaphore is false, although an acquire() would wait (gh-97028)."""
    semaphore = asyncio.Semaphore(1)
    waiter = await woken(semaphore)
    locked = semaphore.locked()
    late = asyncio.ensure_future(semaphore.acquire())
    await asyncio.sleep(0)
    await asyncio.sleep(0)
    assert not locked and waiter.done() and not late.done()
    late.cancel()
    print("locked() was false, and the next acquire() waits")
    return True


@fault("SEM-LOCKED-WINDOW", "gh-97028", "before 3.10.8", ["locked-definition"],
       program=semaphore_locked, until=(3, 10, 8), message="locked() of 'semaphore' is false")
async def semaphore_locked_window(sim):
    semaphore = sim.watch(asyncio.Semaphore(1), claims=SEMAPHORE & ~Claim.WORK_CONSERVING)
    await together(sim, *(hold(semaphore) for _ in range(2)))


async def one_wake():
    """Four permits are free, and the waiters get them one a turn (gh-111693)."""
    semaphore = asyncio.Semaphore(0)
    turns = []
    turn = [0]

    async def takes():
        await semaphore.acquire()
        turns.append(turn[0])
    tasks = [asyncio.ensure_future(takes())]
    await asyncio.sleep(0)
    tasks += [asyncio.ensure_future(takes()) for _ in range(3)]
    for _ in range(4):
        semaphore.release()
    for _ in range(8):
        turn[0] += 1
        await asyncio.sleep(0)
    print("granted in turns", turns)
    return len(set(turns[1:])) > 1


@fault("SEM-ONE-WAKE", "gh-111693", "3.10.8 to 3.12", ["work-conserving"], program=one_wake,
       until=(3, 13), since=(3, 10, 8), message="'semaphore'")
async def semaphore_one_wake(sim):
    semaphore = sim.watch(asyncio.Semaphore(0), claims=SEMAPHORE)

    async def gives():
        for _ in range(3):
            semaphore.release()

    async def takes():
        await semaphore.acquire()
    await together(sim, takes(), gives(), takes(), takes())


async def flag_stuck():
    """A woken waiter is cancelled, and the semaphore is stuck although a permit is free (gh-90155)."""
    semaphore = asyncio.Semaphore(1)
    waiter = await woken(semaphore)
    waiter.cancel()
    await asyncio.wait([waiter])
    try:
        await asyncio.wait_for(semaphore.acquire(), 0.1)
    except asyncio.TimeoutError:
        print("a permit is free:", semaphore._value, "- and acquire() waits")
        return True
    return False


@fault("SEM-FLAG-STUCK", "gh-90155, gh-97545", "3.9.12 to 3.9.25, 3.10.4 to 3.10.7",
       ["lost-wakeup", "deadlock"], program=flag_stuck, until=(3, 10), runs=1000)
async def semaphore_flag_stuck(sim):
    semaphore = sim.watch(asyncio.Semaphore(1))
    await together(sim, *(hold(semaphore) for _ in range(3)))


async def bounded_accepts():
    """A stranger's release is accepted while a woken waiter has not resumed (since 3.10.8)."""
    semaphore = asyncio.BoundedSemaphore(1)
    waiter = await woken(semaphore)
    try:
        semaphore.release()  # nobody holds a permit
    except ValueError:
        print("refused")
        return False
    await waiter
    print("accepted: one permit, and", "another one is free" if not semaphore.locked() else "none")
    return not semaphore.locked()


@fault("BOUNDED-STRANGER", "not known to us as a report", "3.10.8 to 3.15", ["misuse"],
       program=bounded_accepts, since=(3, 10, 8), message="nobody held, and was not refused")
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


async def leaves_by_close(permits):
    await permits.acquire()
    waiter = permits.acquire()  # driven by hand
    waiter.send(None)
    second = asyncio.ensure_future(permits.acquire())
    await asyncio.sleep(0)
    permits.release()
    waiter.close()
    return await sleeps_on(second)


@fault("LOCK-NONCANCEL-EXIT", "PR 5466", "all", ["assertion"])
async def lock_close():
    """A woken waiter leaves by close(), not by a cancel, and the lock is lost to the others."""
    return await leaves_by_close(asyncio.Lock())


@fault("SEM-NONCANCEL-EXIT", "foreseen in python/asyncio PR 271", "3.10.8 to 3.15", ["assertion"],
       since=(3, 10, 8))
async def semaphore_close():
    """A woken waiter leaves by close(), not by a cancel, and the semaphore is lost to the others."""
    return await leaves_by_close(asyncio.Semaphore(1))


@fault("SEM-THROW-PENDING", "gh-111693", "3.10.8 to 3.12", ["assertion"], since=(3, 10, 8),
       until=(3, 13))
async def semaphore_throw():
    """A CancelledError that is thrown into a waiter whose future is pending makes a permit."""
    semaphore = asyncio.Semaphore(1)
    await semaphore.acquire()
    waiter = semaphore.acquire()  # driven by hand
    waiter.send(None)
    try:
        waiter.throw(asyncio.CancelledError())
    except asyncio.CancelledError:
        pass
    print("the one permit is held, and", "none" if semaphore.locked() else "another one", "is free")
    return not semaphore.locked()


# --- conditions, barriers, queues ---------------------------------------------------------------


async def notify_lost():
    """A notified waiter is cancelled, and nobody else is notified (gh-112202)."""
    condition = asyncio.Condition()
    first, second = (asyncio.ensure_future(waits(condition)) for _ in range(2))
    await asyncio.sleep(0)
    async with condition:
        condition.notify(1)
        first.cancel()
    return await sleeps_on(second)


@fault("COND-NOTIFY-LOST", "gh-112202", "3.4 to 3.12", ["lost-notification"], program=notify_lost,
       until=(3, 13), message="'condition'")
async def condition_notify_lost(sim):
    condition = sim.watch(asyncio.Condition())

    async def notifies():
        async with condition:
            condition.notify(1)
    await together(sim, waits(condition), waits(condition), notifies(), notifies())


@fault("COND-EXC-IDENTITY", "gh-111693", "before 3.13", ["assertion"], until=(3, 13))
async def condition_message():
    """A cancel of Condition.wait() loses its message, if it comes as the lock is taken again."""
    condition = asyncio.Condition()
    task = asyncio.ensure_future(waits(condition))
    await asyncio.sleep(0.01)
    await condition.acquire()
    condition.notify()
    await asyncio.sleep(0.01)
    task.cancel("why")
    await asyncio.sleep(0.01)
    condition.release()
    try:
        await task
    except asyncio.CancelledError as error:
        print("the message is", error.args)
        return error.args != ("why",)
    return False


@fault("BAR-DUP-INDEX", "gh-155233", "3.11 to 3.15", ["barrier-round"], since=(3, 11),
       message="index")
async def barrier_index(watch=as_it_is):
    """A task is cancelled at a barrier, and two others get one index (gh-155233)."""
    barrier = watch(asyncio.Barrier(3))
    tasks = [asyncio.ensure_future(barrier.wait()) for _ in range(2)]
    await asyncio.sleep(0)
    tasks[0].cancel()
    await asyncio.wait(tasks[:1])
    tasks += [asyncio.ensure_future(barrier.wait()) for _ in range(2)]
    indices = await asyncio.gather(*tasks[1:])
    print("indices", indices)
    return len(set(indices)) < 3


@fault("BAR-CANCELLED-PARTY", "not known to us as a report", "3.11 to 3.13", ["barrier-round"],
       since=(3, 11), message="with only 2 of 3 parties there")
async def barrier_cancelled(watch=as_it_is):
    """A barrier of three lets two through: a waiter that was cancelled counts until it resumes."""
    barrier = watch(asyncio.Barrier(3))
    tasks = [asyncio.ensure_future(barrier.wait()) for _ in range(2)]
    await asyncio.sleep(0.01)
    third = asyncio.ensure_future(barrier.wait())
    tasks[0].cancel()  # before the third one comes
    await third
    await asyncio.gather(*tasks, return_exceptions=True)
    assert tasks[0].cancelled() and tasks[1].result() == 1 and third.result() == 2
    print("two tasks passed a barrier of three; the other one was cancelled before the third came")
    return True


async def barges():
    """A put that waits is overtaken by one that comes later (gh-83055: a queue is not fair)."""
    queue = asyncio.Queue(1)
    queue.put_nowait("a")
    putter = asyncio.ensure_future(queue.put("b"))
    await asyncio.sleep(0)
    items = [queue.get_nowait()]
    queue.put_nowait("c")
    items += [await queue.get(), await queue.get()]
    await putter
    print("items", items)
    return items == ["a", "c", "b"]


@fault("Q-BARGE", "gh-83055, by documented choice", "3.5.1 to 3.15", ["fifo"], program=barges,
       message="'slots of queue'")
async def queue_barge(sim):
    queue = sim.watch(asyncio.Queue(1), claims=Claim.FIFO | Claim.TAKES_AT_RETURN)
    queue.put_nowait(1)

    async def gets():
        await asyncio.sleep(0)
        queue.get_nowait()
        await queue.put(3)
    tasks = [asyncio.ensure_future(coro) for coro in (queue.put(2), gets())]
    await asyncio.sleep(1)
    while not queue.empty():
        await queue.get()
    await asyncio.wait(tasks)


# --- wait_for(), groups, timeouts ---------------------------------------------------------------


@fault("WF-SWALLOW", "gh-86296", "3.8.18 to 3.11", ["assertion"], until=(3, 12))
async def wait_for_swallow():
    """A cancel that comes as the inner task ends is lost in wait_for() (gh-86296)."""
    inner = asyncio.get_running_loop().create_future()

    async def waits():
        await asyncio.wait_for(inner, 1)
        return "went on"
    task = asyncio.ensure_future(waits())
    await asyncio.sleep(0)
    inner.set_result(None)
    task.cancel()
    return not await ends_cancelled(task)


@fault("WF-SECOND-CANCEL", "not known to us as a report", "3.9 to 3.11", ["assertion"],
       until=(3, 12))
async def wait_for_second_cancel():
    """wait_for() leaves before its inner task has ended, if a cancel comes after the deadline.

    So Condition.wait() has not taken the lock again, and the `async with` frees the lock of another."""
    condition = asyncio.Condition()

    async def waits():
        async with condition:
            await asyncio.wait_for(condition.wait(), 0.01)
    task = asyncio.ensure_future(waits())
    await asyncio.sleep(0)
    await asyncio.sleep(0)
    await condition.acquire()
    another = asyncio.ensure_future(condition.acquire())
    await asyncio.sleep(0.02)
    task.cancel()  # it has timed out, and its inner task waits for the lock
    await asyncio.sleep(0.01)
    has_entered = another.done()  # although the lock is held here
    condition.release()
    assert task.done() and has_entered
    print("the lock was freed by a task that did not hold it, and another one took it")
    return True


@fault("WF-LOST-EXCEPTION", "not known to us as a report", "3.9 to 3.11", ["assertion"],
       until=(3, 12))
async def wait_for_lost_exception():
    """A wait_for() that is cancelled drops the exception with which its inner task ends."""
    lost = []
    asyncio.get_running_loop().set_exception_handler(lambda _, context: lost.append(context))

    async def fails():
        try:
            await asyncio.sleep(1)
        finally:
            raise KeyError

    task = asyncio.ensure_future(asyncio.wait_for(fails(), 5))
    await asyncio.sleep(0)
    await asyncio.sleep(0)
    task.cancel()
    await asyncio.wait([task])
    assert task.cancelled()
    del task
    gc.collect()
    await asyncio.sleep(0)
    assert [type(each["exception"]) for each in lost] == [KeyError], lost
    print(lost[0]["message"])
    return True


@fault("TASK-STALE-MUST-CANCEL", "gh-116720", "3.11, 3.12", ["assertion"], since=(3, 11),
       until=(3, 13))
async def stale_must_cancel():
    """A request that was taken back is delivered all the same (gh-116720)."""
    task = asyncio.current_task()
    task.cancel()
    task.uncancel()
    try:
        await asyncio.sleep(0)
    except asyncio.CancelledError:
        print("cancelled, with cancelling() =", task.cancelling())
        return True
    return False


@fault("TG-EXTERNAL-SWALLOW", "gh-116720", "3.11, 3.12", ["assertion"], since=(3, 11),
       until=(3, 13))
async def group_swallow():
    """A cancel from outside that comes with a child's error is lost in a task group (gh-116720)."""
    async def fails():
        await asyncio.sleep(0)
        raise KeyError

    async def body():
        try:
            async with asyncio.TaskGroup() as group:
                group.create_task(fails())
                await asyncio.sleep(5)
        except BaseExceptionGroup:
            pass
        await asyncio.sleep(0)
        return "went on"
    task = asyncio.ensure_future(body())
    for _ in range(3):
        await asyncio.sleep(0)
    task.cancel()
    return not await ends_cancelled(task)


@fault("TG-NESTED-SWALLOW", "gh-116720", "3.11, 3.12", ["assertion"], since=(3, 11),
       until=(3, 13))
async def group_nested():
    """A group inside another reports its own error, and the request of the outer one is lost."""
    went_on = []

    async def fails(error):
        await asyncio.sleep(0)
        raise error
    try:
        async with asyncio.TaskGroup() as outer:
            outer.create_task(fails(KeyError()))
            try:
                async with asyncio.TaskGroup() as inner:
                    inner.create_task(fails(ValueError()))
            except BaseExceptionGroup:
                pass
            await asyncio.sleep(0)
            went_on.append(asyncio.current_task().cancelling())
    except BaseExceptionGroup:
        pass
    print("the body of the outer group ran on after its child had failed:", went_on)
    return went_on != [] and went_on[0] > 0


@fault("TO-ZERO-SWALLOW", "gh-134471", "3.11.3 to 3.15", ["cancel-count"], since=(3, 11, 3))
async def timeout_swallow(watch=as_it_is):
    """A cancel that was requested before timeout(0) comes out as TimeoutError (gh-134471)."""
    async def body():
        asyncio.current_task().cancel()
        try:
            async with watch(asyncio.timeout(0)):
                await asyncio.sleep(5)
        except TimeoutError:
            return f"TimeoutError; cancelling() = {asyncio.current_task().cancelling()}"
    return not await ends_cancelled(asyncio.ensure_future(body()))


@fault("TO-BASELINE", "gh-102780", "3.11.0 to 3.11.2", ["cancel-count"], since=(3, 11),
       until=(3, 11, 3))
async def timeout_baseline(watch=as_it_is):
    """timeout() in the handler of a cancel: TimeoutError does not appear (gh-102780)."""
    async def body():
        try:
            await asyncio.sleep(5)
        except asyncio.CancelledError:
            try:
                async with watch(asyncio.timeout(0.01)):
                    await asyncio.sleep(5)
            except TimeoutError:
                return "got TimeoutError"
            raise
    task = asyncio.ensure_future(body())
    await asyncio.sleep(0)
    task.cancel()
    return await ends_cancelled(task)
