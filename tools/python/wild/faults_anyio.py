"""Programs on which the faults of anyio's asyncio backend show."""
import anyio

from entries import fault

VERSION = getattr(anyio, "__version__", None)
if VERSION is None:
    from importlib.metadata import version
    VERSION = version("anyio")
NUMBERS = tuple(int(part) for part in VERSION.split(".")[:2])


def anyio_fault(name, issue, fixed, oracles, program):
    def register(test):
        fault(name, issue, f"before {fixed[0]}.{fixed[1]}", oracles, program, of="anyio")(test)
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


@anyio_fault("AN-947", "anyio #947", (4, 10), ["lost-wakeup", "deadlock"], "anyio_limiter")
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


@anyio_fault("AN-1075", "anyio #1075", (4, 13), ["deadlock"], "anyio_condition")
async def anyio_condition(sim):
    condition = anyio.Condition()
    notified = [0]

    async def waits():
        async with condition:
            await condition.wait()

    async with anyio.create_task_group() as group:
        for number in range(2):
            sim.spawn(group, waits(), name=f"waiter-{number}")
        while condition.statistics().tasks_waiting:
            await anyio.sleep(0)
        for _ in range(2):
            await anyio.sleep(0)
        while condition.statistics().tasks_waiting and notified[0] < 2:
            async with condition:
                condition.notify(condition.statistics().tasks_waiting and 1)
                notified[0] += 1
            await anyio.sleep(0)


@anyio_fault("AN-728", "anyio #728", (4, 4), ["assertion"], "anyio_stream")
async def anyio_stream(sim):
    send, receive = anyio.create_memory_object_stream(2)
    got = []

    async def receives():
        got.append(await receive.receive())

    async def all_receive():
        async with anyio.create_task_group() as group:
            sim.spawn(group, receives(), name="receiver")
            await anyio.sleep(0)
            send.send_nowait("item")
    await all_receive()
    left = receive.statistics().current_buffer_used
    sim.check(len(got) + left == 1, "an item was sent, and nobody has it")


@anyio_fault("AN-646", "anyio #646", (4, 2), ["lost-wakeup", "deadlock", "assertion"],
             "anyio_total_tokens")
async def anyio_total_tokens(sim):
    limiter = anyio.CapacityLimiter(1)

    async def borrows():
        async with limiter:
            await anyio.sleep(0)

    async def late():
        try:
            limiter.acquire_nowait()
        except anyio.WouldBlock:
            free = limiter.total_tokens - limiter.borrowed_tokens
            waiting = limiter.statistics().tasks_waiting
            sim.check(waiting == 0 or free <= 0 or waiting > was_waiting[0],
                      f"{free} tokens are free, {waiting} tasks are told to wait")
        else:
            limiter.release()
    was_waiting = [0]
    async with anyio.create_task_group() as group:
        for number in range(3):
            sim.spawn(group, borrows(), name=f"borrower-{number}")
        await anyio.sleep(0)
        was_waiting[0] = limiter.statistics().tasks_waiting
        limiter.total_tokens = 5
        await anyio.sleep(0)
        await late()
