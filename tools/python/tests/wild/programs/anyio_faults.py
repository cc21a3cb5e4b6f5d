"""Programs without Buzzer that show faults of anyio: each returns whether it shows its fault."""
import asyncio

import anyio


async def anyio_condition():
    """A notified waiter is cancelled, and nobody else is notified (anyio #1075)."""
    condition = anyio.Condition()

    async def waits():
        async with condition:
            await condition.wait()
    first, second = asyncio.ensure_future(waits()), asyncio.ensure_future(waits())
    for _ in range(5):
        await asyncio.sleep(0)
    async with condition:
        condition.notify(1)
        first.cancel()
    _, pending = await asyncio.wait([first, second], timeout=0.1)
    print("the second waiter", "sleeps" if pending else "was notified")
    return bool(pending)


async def anyio_limiter():
    """A newcomer passes a woken borrower, and both borrow the one token (anyio 3.6.2)."""
    limiter = anyio.CapacityLimiter(1)
    await limiter.acquire_on_behalf_of("holder")
    waiter = asyncio.ensure_future(limiter.acquire_on_behalf_of("waiter"))
    for _ in range(6):
        await asyncio.sleep(0)
    limiter.release_on_behalf_of("holder")
    limiter.acquire_on_behalf_of_nowait("newcomer")
    await waiter
    print("borrowed:", limiter.borrowed_tokens, "of", limiter.total_tokens)
    return limiter.borrowed_tokens > limiter.total_tokens


async def condition_relock():
    """anyio: a Task.cancel() makes Condition.wait() leave without the lock, as it takes it again."""
    condition = anyio.Condition()
    ends = []

    async def waits():
        try:
            async with condition:
                await condition.wait()
        except BaseException as error:
            ends.append(error)
    task = asyncio.ensure_future(waits())
    await asyncio.sleep(0.01)
    await condition.acquire()
    condition.notify()
    await asyncio.sleep(0.01)
    task.cancel()  # it waits for the lock
    await asyncio.wait([task])
    condition.release()
    assert [type(error) for error in ends] == [RuntimeError], ends
    print("the `async with` found the lock in other hands:", ends[0])
    return True


async def limiter_cancelled():
    """A woken borrower of a CapacityLimiter is cancelled, and the next one waits for ever (#947)."""
    limiter = anyio.CapacityLimiter(1)
    await limiter.acquire()
    waiters = [asyncio.ensure_future(limiter.acquire()) for _ in range(2)]
    await asyncio.sleep(0.01)
    limiter.release()
    waiters[1].cancel()  # it is woken, and has not resumed
    await asyncio.sleep(0.01)
    assert not waiters[0].done() and limiter.borrowed_tokens == 0, limiter.statistics()
    print("the token is free, and a task waits for it:", limiter.statistics())
    waiters[0].cancel()
    return True


async def limiter_order():
    """A CapacityLimiter grants its token to the last that came (#538)."""
    limiter = anyio.CapacityLimiter(1)
    served = []

    async def borrows(number):
        async with limiter:
            served.append(number)
            await anyio.sleep(0.01)
    async with anyio.create_task_group() as group:
        for number in range(4):
            group.start_soon(borrows, number)
    assert served == [0, 3, 2, 1], served
    print("served:", served)
    return True


async def limiter_raised():
    """total_tokens is raised, a waiter leaves its event in the queue, and newcomers wait (#646)."""
    limiter = anyio.CapacityLimiter(1)

    async def borrows():
        async with limiter:
            await anyio.sleep(1)
    async with anyio.create_task_group() as group:
        for _ in range(2):
            group.start_soon(borrows)
        await anyio.sleep(0.01)
        limiter.total_tokens = 3
        await anyio.sleep(0.01)
        free = limiter.available_tokens
        with anyio.move_on_after(0.01) as scope:
            await limiter.acquire()
        assert free == 1 and scope.cancel_called, (free, scope.cancel_called)
        print("a token was free, and a newcomer had to wait")
        group.cancel_scope.cancel()
    return True


async def stream_ghost():
    """A send that ends as cancelled has delivered its item (anyio memory object stream)."""
    sends, receives = anyio.create_memory_object_stream(0)
    sender = asyncio.ensure_future(sends.send("item"))
    await asyncio.sleep(0.01)
    item = receives.receive_nowait()
    sender.cancel()
    await asyncio.wait([sender])
    assert sender.cancelled() and item == "item"
    print("send() was cancelled, and the receiver has its", item)
    return True


async def stream_swallow():
    """A receiver that has its item loses a cancel: the policy before anyio's #728."""
    sends, receives = anyio.create_memory_object_stream(1)
    receiver = asyncio.ensure_future(receives.receive())
    await asyncio.sleep(0.01)
    sends.send_nowait("item")
    assert receiver.cancel()
    await asyncio.wait([receiver])
    assert not receiver.cancelled() and receiver.result() == "item"
    print("cancel() was accepted, and the task returned", receiver.result())
    return True
