"""Programs without Buzzer that show faults of tornado; each returns whether it does."""
import asyncio

from tornado import locks, queues


async def tornado_semaphore():
    """A woken waiter is cancelled, and its permit is lost."""
    semaphore = locks.Semaphore(1)

    async def works():
        async with semaphore:
            await asyncio.sleep(0)
    await semaphore.acquire()
    first, second = asyncio.ensure_future(works()), asyncio.ensure_future(works())
    await asyncio.sleep(0)
    semaphore.release()
    first.cancel()
    _, pending = await asyncio.wait([first, second], timeout=0.1)
    print("no task holds a permit, and the second one", "waits" if pending else "has it")
    return second in pending


async def tornado_queue():
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
