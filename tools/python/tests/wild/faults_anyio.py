"""Programs on which the faults of anyio's asyncio backend show."""
import asyncio

import anyio

from buzzer.watch import Claim
from entries import fault

VERSION = getattr(anyio, "__version__", None)
if VERSION is None:
    from importlib.metadata import version
    VERSION = version("anyio")
NUMBERS = tuple(int(part) for part in VERSION.split(".")[:2])


def anyio_fault(name, issue, fixed, oracles, program, message, **more):
    def register(test):
        fault(name, issue, f"before {fixed[0]}.{fixed[1]}", oracles, program, of="anyio",
              message=message, **more)(test)
        test.is_here = NUMBERS < fixed
        return test
    return register


class Limited:
    """A capacity limiter as a semaphore: each task borrows for itself."""

    def __init__(self, total):
        self.limiter = anyio.CapacityLimiter(total)

    async def acquire(self):
        await self.limiter.acquire()

    def release(self):
        self.limiter.release()


@anyio_fault("LIMITER-OVER-GRANT", "anyio #1170", (4, 14), ["mutual-exclusion"],
             "anyio_limiter", "'semaphore'")
async def anyio_limiter(sim):
    limiter = sim.watch(Limited(1), kind="semaphore", permits=1)

    async def borrows():
        await limiter.acquire()
        try:
            await anyio.sleep(0)
        finally:
            limiter.release()
    async with anyio.create_task_group() as group:
        for number in range(3):
            sim.spawn(group, borrows(), name=f"borrower-{number}")


@anyio_fault("AN-1075", "anyio #1075", (4, 13), ["assertion"], "anyio_condition",
             "none has returned", runs=2000, max_lag="2s")  # two pauses of a second
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


@anyio_fault("AN-947", "anyio #947", (4, 10), ["lost-wakeup", "deadlock"], "limiter_cancelled",
             "but borrower-")
async def anyio_limiter_cancelled(sim):
    limiter = sim.watch(Limited(1), kind="semaphore", permits=1)

    async def borrows():
        await limiter.acquire()
        try:
            await anyio.sleep(1)
        finally:
            limiter.release()
    await asyncio.wait([sim.spawn(None, borrows(), name=f"borrower-{number}")
                        for number in range(3)])


@anyio_fault("LIMITER-LIFO", "anyio #538", (4, 0), ["fifo"], "limiter_order",
             "waiters overtaken")
async def anyio_limiter_order(sim):
    limiter = sim.watch(Limited(1), kind="semaphore", permits=1,
                        claims=Claim.FIFO | Claim.OWN_DEADLINES)

    async def borrows():
        await limiter.acquire()
        await anyio.sleep(1)
        limiter.release()
    async with anyio.create_task_group() as group:
        for number in range(4):
            group.start_soon(borrows)


@anyio_fault("AN-646", "anyio #646", (4, 2), ["assertion"], "limiter_raised",
             "a newcomer has to wait")
async def anyio_limiter_raised(sim):
    limiter = anyio.CapacityLimiter(1)

    async def borrows():
        async with limiter:
            await anyio.sleep(5)
    async with anyio.create_task_group() as group:
        for number in range(2):
            group.start_soon(borrows)
        await anyio.sleep(1)
        limiter.total_tokens = 3
        await anyio.sleep(1)
        free = limiter.available_tokens
        with anyio.move_on_after(1) as scope:
            await limiter.acquire()
            limiter.release()
        sim.check(not free or not scope.cancel_called,
                  "a token is free, and a newcomer has to wait")


@anyio_fault("STREAM-SWALLOW", "anyio #728, the policy before it", (3, 7), ["assertion"],
             "stream_swallow", "lost a cancel")
async def anyio_stream_swallow(sim):
    sends, receives = anyio.create_memory_object_stream(1)
    receiver = asyncio.ensure_future(receives.receive())
    was_accepted = []

    async def cancels():
        await asyncio.sleep(0)
        was_accepted.append(receiver.cancel())

    async def gives():
        await asyncio.sleep(0)
        await sends.send("item")
    await asyncio.wait([receiver, asyncio.ensure_future(gives()),
                        asyncio.ensure_future(cancels())])
    sim.check(receiver.cancelled() or was_accepted != [True], "receive() lost a cancel")


@anyio_fault("STREAM-GHOST-SEND", "#536", (4, 0), ["assertion"],
             "stream_ghost", "and its send was cancelled")
async def anyio_stream_ghost(sim):
    sends, receives = anyio.create_memory_object_stream(0)
    received = []

    async def gets():
        await anyio.sleep(1)
        received.append(receives.receive_nowait())
    sender = asyncio.ensure_future(sends.send("item"))
    getter = asyncio.ensure_future(gets())
    await asyncio.sleep(0)
    asyncio.get_running_loop().call_later(1, sender.cancel)
    await asyncio.wait([sender, getter])
    sim.check(not sender.cancelled() or not received,
              "an item was received, and its send was cancelled")


@anyio_fault("CONDITION-NATIVE-RELOCK", "not known to us as a report", (4, 0), ["assertion"],
             "condition_relock", "is not holding this lock")
async def anyio_condition_relock(sim):
    condition = anyio.Condition()

    async def waits():
        async with condition:
            await condition.wait()
    task = asyncio.ensure_future(waits())
    await asyncio.sleep(1)
    await condition.acquire()
    condition.notify()
    await asyncio.sleep(1)
    task.cancel()
    await asyncio.wait([task])
    condition.release()
    if not task.cancelled():
        task.result()
