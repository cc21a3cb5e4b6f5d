"""A woken waiter leaves by close(), not by a cancel, and the semaphore is lost to the others."""
import asyncio


async def main():
    semaphore = asyncio.Semaphore(1)
    await semaphore.acquire()
    waiter = semaphore.acquire()
    waiter.send(None)
    second = asyncio.ensure_future(semaphore.acquire())
    await asyncio.sleep(0)
    semaphore.release()
    waiter.close()
    _, pending = await asyncio.wait([second], timeout=0.1)
    print("the next waiter", "sleeps" if pending else "has it")
    return bool(pending)


raise SystemExit(0 if asyncio.run(main()) else 1)
