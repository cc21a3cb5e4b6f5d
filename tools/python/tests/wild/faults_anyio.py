"""Faults of anyio's asyncio backend (see faults_asyncio.py)."""
import asyncio
import importlib.metadata

import anyio

from entries import fault

NUMBERS = tuple(int(part) for part in importlib.metadata.version("anyio").split(".")[:2])


def anyio_fault(name, issue, fixed, oracles, **more):
    return fault(name, issue, f"before {fixed[0]}.{fixed[1]}", oracles, of="anyio",
                 is_here=NUMBERS < fixed, **more)


class Limited:
    """A capacity limiter as a semaphore: each task borrows for itself."""

    def __init__(self, total):
        self.limiter = anyio.CapacityLimiter(total)

    async def acquire(self):
        await self.limiter.acquire()

    def release(self):
        self.limiter.release()


async def borrow(limiter, seconds):
    await limiter.acquire()
    try:
        await anyio.sleep(seconds)
    finally:
        limiter.release()


# --- limiters -----------------------------------------------------------------------------------


async def limiter_passed():
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


@anyio_fault("LIMITER-OVER-GRANT", "anyio #1170", (4, 14), ["mutual-exclusion"],
             program=limiter_passed, message="'semaphore'")
async def anyio_limiter(sim):
    limiter = sim.watch(Limited(1), kind="semaphore", permits=1)
    async with anyio.create_task_group() as group:
        for number in range(3):
            sim.spawn(group, borrow(limiter, 0), name=f"borrower-{number}")


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


@anyio_fault("AN-947", "anyio #947", (4, 10), ["lost-wakeup", "deadlock"],
             program=limiter_cancelled, message="but borrower-")
async def anyio_limiter_cancelled(sim):
    limiter = sim.watch(Limited(1), kind="semaphore", permits=1)
    await asyncio.wait([sim.spawn(None, borrow(limiter, 1), name=f"borrower-{number}")
                        for number in range(3)])


@anyio_fault("LIMITER-LIFO", "anyio #538", (4, 0), ["assertion"])
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
    print("served:", served)
    return served == [0, 3, 2, 1]


@anyio_fault("AN-646", "anyio #646", (4, 2), ["assertion"])
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
        print("free tokens:", free, "- a newcomer", "waits" if scope.cancel_called else "has one")
        group.cancel_scope.cancel()
    return free > 0 and scope.cancel_called


# --- streams, conditions ------------------------------------------------------------------------


@anyio_fault("STREAM-SWALLOW", "anyio #728, the policy before it", (3, 7), ["assertion"])
async def stream_swallow():
    """A receiver that has its item loses a cancel: the policy before anyio's #728."""
    sends, receives = anyio.create_memory_object_stream(1)
    receiver = asyncio.ensure_future(receives.receive())
    await asyncio.sleep(0.01)
    sends.send_nowait("item")
    assert receiver.cancel()
    await asyncio.wait([receiver])
    print("cancel() was accepted, and the task",
          "was cancelled" if receiver.cancelled() else f"returned {receiver.result()}")
    return not receiver.cancelled()


@anyio_fault("STREAM-GHOST-SEND", "#536", (4, 0), ["assertion"])
async def stream_ghost():
    """A send that ends as cancelled has delivered its item (anyio memory object stream)."""
    sends, receives = anyio.create_memory_object_stream(0)
    sender = asyncio.ensure_future(sends.send("item"))
    await asyncio.sleep(0.01)
    item = receives.receive_nowait()
    sender.cancel()
    await asyncio.wait([sender])
    print("send() was cancelled:", sender.cancelled(), "- the receiver has its", item)
    return sender.cancelled()


@anyio_fault("CONDITION-NATIVE-RELOCK", "not known to us as a report", (4, 0), ["assertion"])
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
    print("the `async with` ended with", ends)
    return [type(error) for error in ends] == [RuntimeError]


async def notified_is_cancelled():
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


@anyio_fault("AN-1075", "anyio #1075", (4, 13), ["assertion"], program=notified_is_cancelled,
             message="none has returned", runs=2000, max_lag="2s")  # two pauses of a second
async def anyio_condition(sim):
    condition = anyio.Condition()
    woken = []

    async def waits(number):
        async with condition:
            await condition.wait()
            woken.append(number)

    async with anyio.create_task_group() as group:
        for number in range(2):
            sim.spawn(group, waits(number), name=f"waiter-{number}")
        await anyio.sleep(1)
        async with condition:
            was_waiting = condition.statistics().tasks_waiting
            condition.notify(1)
        await anyio.sleep(1)
        left = condition.statistics().tasks_waiting
        sim.check(was_waiting < 2 or woken or left == 0,
                  "one waiter was notified, none has returned, and another one sleeps on")
        group.cancel_scope.cancel()
