"""Faults of tornado's queue and semaphore, whose futures know of no cancel of the task that waits."""
import asyncio

from tornado import locks, queues

from entries import fault


class Semaphore:
    """What `async with` does with it."""

    def __init__(self, value):
        self.semaphore = locks.Semaphore(value)

    async def acquire(self):
        await self.semaphore.acquire()

    def release(self):
        self.semaphore.release()


@fault("TN-SEM-WOKEN-CANCEL", "not known to us", "6.2", ["lost-wakeup"], "tornado_semaphore",
       of="tornado", message="is free, but worker-")
async def tornado_semaphore(sim):
    semaphore = sim.watch(Semaphore(1), kind="semaphore", permits=1)

    async def works():
        await semaphore.acquire()
        try:
            await asyncio.sleep(0)
        finally:
            semaphore.release()
    await asyncio.wait([sim.spawn(None, works(), name=f"worker-{number}") for number in range(3)])


@fault("TN-2826", "tornado #2826", "6.2", ["assertion"], "tornado_queue", of="tornado",
       message="an item is lost")
async def tornado_queue(sim):
    queue, items = queues.Queue(), []

    async def gets():
        items.append(await queue.get())
    tasks = [sim.spawn(None, gets(), name=f"getter-{number}") for number in range(2)]
    await asyncio.sleep(0)
    for item in range(2):
        queue.put_nowait(item)
    await asyncio.wait(tasks)
    while queue.qsize():
        items.append(queue.get_nowait())
    sim.check(sorted(items) == [0, 1], "an item is lost: its getter was cancelled")
