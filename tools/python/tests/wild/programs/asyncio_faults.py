"""Programs without Buzzer that show faults of asyncio: each returns whether it shows its fault."""
import asyncio
import gc


async def woken(permits):
    """A task that was woken to the one permit, and has not resumed."""
    await permits.acquire()
    waiter = asyncio.ensure_future(permits.acquire())
    await asyncio.sleep(0)
    permits.release()
    return waiter


async def waits(condition):
    async with condition:
        await condition.wait()


async def ends_cancelled(task):
    await asyncio.wait([task])
    print("the task", "was cancelled" if task.cancelled() else task.result())
    return task.cancelled()


async def sleeps_on(task):
    """Whether the task that should have been woken has not been."""
    _, pending = await asyncio.wait([task], timeout=0.1)
    print("the next waiter", "sleeps" if pending else "was woken")
    return bool(pending)


async def leaves_by_close(permits):
    """A woken waiter leaves by close(), not by a cancel: whether the next one sleeps on."""
    await permits.acquire()
    waiter = permits.acquire()
    waiter.send(None)
    second = asyncio.ensure_future(permits.acquire())
    await asyncio.sleep(0)
    permits.release()
    waiter.close()
    return await sleeps_on(second)


async def barrier_cancelled():
    """A barrier of three lets two through: a waiter that was cancelled counts until it resumes."""
    barrier = asyncio.Barrier(3)
    tasks = [asyncio.ensure_future(barrier.wait()) for _ in range(2)]
    await asyncio.sleep(0)
    third = asyncio.ensure_future(barrier.wait())
    tasks[0].cancel()  # before the third one comes
    await third
    await asyncio.gather(*tasks, return_exceptions=True)
    assert tasks[0].cancelled() and tasks[1].result() == 1 and third.result() == 2
    print("two tasks passed a barrier of three; the other one was cancelled before the third came")
    return True


async def barrier_index():
    """A task is cancelled at a barrier, and two others get one index (gh-155233)."""
    barrier = asyncio.Barrier(3)
    tasks = [asyncio.ensure_future(barrier.wait()) for _ in range(2)]
    await asyncio.sleep(0)
    tasks[0].cancel()
    await asyncio.sleep(0)
    tasks += [asyncio.ensure_future(barrier.wait()) for _ in range(2)]
    indices = await asyncio.gather(*tasks[1:])
    print("indices", indices)
    return len(set(indices)) < 3


async def bounded_stranger():
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


async def condition_message():
    """A cancel of Condition.wait() loses its message, if it comes as the lock is taken again."""
    condition = asyncio.Condition()
    task = asyncio.ensure_future(waits(condition))
    await asyncio.sleep(0)
    await condition.acquire()
    condition.notify()
    await asyncio.sleep(0)
    await asyncio.sleep(0)
    task.cancel("why")
    await asyncio.sleep(0)
    condition.release()
    try:
        await task
    except asyncio.CancelledError as error:
        assert error.args == () and error.__context__ is None or error.args != ("why",), error.args
        print("the message is lost:", error.args)
    return True


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
            except* ValueError:
                pass
            await asyncio.sleep(0)
            went_on.append(asyncio.current_task().cancelling())
    except* KeyError:
        pass
    assert went_on and went_on[0] > 0, went_on
    print("the body of the outer group ran on after its child had failed")
    return True


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


async def lock_close():
    """A woken waiter leaves by close(), not by a cancel, and the lock is lost to the others."""
    return await leaves_by_close(asyncio.Lock())


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


async def notify_lost():
    """A notified waiter is cancelled, and nobody else is notified (gh-112202)."""
    condition = asyncio.Condition()
    first, second = (asyncio.ensure_future(waits(condition)) for _ in range(2))
    await asyncio.sleep(0)
    async with condition:
        condition.notify(1)
        first.cancel()
    return await sleeps_on(second)


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


async def queue_barge():
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


async def semaphore_close():
    """A woken waiter leaves by close(), not by a cancel, and the semaphore is lost to the others."""
    return await leaves_by_close(asyncio.Semaphore(1))


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


async def semaphore_throw():
    """A CancelledError that is thrown into a waiter whose future is pending makes a permit."""
    semaphore = asyncio.Semaphore(1)
    await semaphore.acquire()
    waiter = semaphore.acquire()
    waiter.send(None)
    try:
        waiter.throw(asyncio.CancelledError)
    except asyncio.CancelledError:
        pass
    assert not semaphore.locked()
    print("the one permit is held, and there is another one")
    return True


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


async def timeout_baseline():
    """timeout() in the handler of a cancel: TimeoutError does not appear (gh-102780)."""
    async def body():
        try:
            await asyncio.sleep(5)
        except asyncio.CancelledError:
            try:
                async with asyncio.timeout(0.01):
                    await asyncio.sleep(5)
            except TimeoutError:
                return "got TimeoutError"
            raise
    task = asyncio.ensure_future(body())
    await asyncio.sleep(0)
    task.cancel()
    return await ends_cancelled(task)


async def timeout_swallow():
    """A cancel that was requested before timeout(0) comes out as TimeoutError (gh-134471)."""
    async def body():
        asyncio.current_task().cancel()
        try:
            async with asyncio.timeout(0):
                await asyncio.sleep(5)
        except TimeoutError:
            return f"TimeoutError; cancelling() = {asyncio.current_task().cancelling()}"
    return not await ends_cancelled(asyncio.ensure_future(body()))


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


async def wait_for_second_cancel():
    """wait_for() leaves before its inner task has ended, if a cancel comes after the deadline. So
Condition.wait() has not taken the lock again, and the `async with` frees the lock of another."""
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
