"""A CancelledError that is thrown into a waiter whose future is pending makes a permit."""
import asyncio


async def main():
    semaphore = asyncio.Semaphore(1)
    await semaphore.acquire()
    waiter = semaphore.acquire()
    waiter.send(None)
    try:
        waiter.throw(asyncio.CancelledError)
    except asyncio.CancelledError:
        pass
    assert not semaphore.locked()
    print("the one permit is held, and there is another one")

asyncio.run(main())
