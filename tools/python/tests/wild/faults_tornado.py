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


async def work(semaphore):
    await semaphore.acquire()
    try:
        await asyncio.sleep(0)
    finally:
        semaphore.release()


async def woken_is_cancelled():
    """A woken waiter is cancelled, and its permit is lost."""
    semaphore = locks.Semaphore(1)
    await semaphore.acquire()
    first, second = (asyncio.ensure_future(work(semaphore)) for _ in range(2))
    await asyncio.sleep(0)
    semaphore.release()
    first.cancel()
    _, pending = await asyncio.wait([first, second], timeout=0.1)
    print("no task holds a permit, and the second one", "waits" if pending else "has it")
    return second in pending


@fault("TN-SEM-WOKEN-CANCEL", "not known to us", "6.2", ["lost-wakeup"],
       program=woken_is_cancelled, of="tornado", message="is free, but worker-")
async def tornado_semaphore(sim):
    semaphore = sim.watch(Semaphore(1), kind="semaphore", permits=1)
    await asyncio.wait([sim.spawn(None, work(semaphore), name=f"worker-{number}")
                        for number in range(3)])


async def item_is_lost():
    """A getter is cancelled after an item was put for it, and the item is lost (#2826)."""
    queue = queues.Queue()

    async def gets():
        return await queue.get()
    getter = asyncio.ensure_future(gets())
    await asyncio.sleep(0)
    queue.put_nowait("item")
    getter.cancel()
    await asyncio.wait([getter])
    print("the getter is cancelled:", getter.cancelled(), "- items in the queue:", queue.qsize())
    return getter.cancelled() and queue.qsize() == 0


@fault("TN-2826", "tornado #2826", "6.2", ["assertion"], program=item_is_lost, of="tornado",
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
