"""A woken waiter leaves by close(), not by a cancel, and the lock is lost to the others."""
import asyncio


async def main():
    lock = asyncio.Lock()
    await lock.acquire()
    waiter = lock.acquire()
    waiter.send(None)
    second = asyncio.ensure_future(lock.acquire())
    await asyncio.sleep(0)
    lock.release()
    waiter.close()
    _, pending = await asyncio.wait([second], timeout=0.1)
    print("the next waiter", "sleeps" if pending else "has it")
    return bool(pending)


raise SystemExit(0 if asyncio.run(main()) else 1)
