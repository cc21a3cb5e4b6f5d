"""Programs on which the faults of anyio's asyncio backend show."""
import anyio

from entries import fault

VERSION = getattr(anyio, "__version__", None)
if VERSION is None:
    from importlib.metadata import version
    VERSION = version("anyio")
NUMBERS = tuple(int(part) for part in VERSION.split(".")[:2])


def anyio_fault(name, issue, fixed, oracles, program, message):
    def register(test):
        fault(name, issue, f"before {fixed[0]}.{fixed[1]}", oracles, program, of="anyio",
              message=message)(test)
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


@anyio_fault("LIMITER-OVER-GRANT", "not known to us as a report", (3, 7), ["mutual-exclusion"],
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
             "none has returned")
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
