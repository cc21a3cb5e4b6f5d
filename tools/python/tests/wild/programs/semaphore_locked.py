"""locked() of a semaphore is false, although an acquire() would wait (gh-97028)."""
import asyncio


async def main():
    semaphore = asyncio.Semaphore(1)
    await semaphore.acquire()
    waiter = asyncio.ensure_future(semaphore.acquire())
    await asyncio.sleep(0)
    semaphore.release()
    locked = semaphore.locked()
    late = asyncio.ensure_future(semaphore.acquire())
    await asyncio.sleep(0)
    await asyncio.sleep(0)
    assert not locked and waiter.done() and not late.done()
    late.cancel()
    print("locked() was false, and the next acquire() waits")

asyncio.run(main())
