"""A woken waiter is cancelled, and the semaphore is stuck although a permit is free (gh-90155)."""
import asyncio


async def main():
    semaphore = asyncio.Semaphore(1)
    await semaphore.acquire()
    waiter = asyncio.ensure_future(semaphore.acquire())
    await asyncio.sleep(0)
    semaphore.release()
    waiter.cancel()
    await asyncio.wait([waiter])
    try:
        await asyncio.wait_for(semaphore.acquire(), 0.1)
    except asyncio.TimeoutError:
        print("a permit is free:", semaphore._value, "- and acquire() waits")
        return True
    return False


raise SystemExit(0 if asyncio.run(main()) else 1)
