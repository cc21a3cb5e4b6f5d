"""A lock that was released to a waiter says that it is free, and is not (gh-138121)."""
import asyncio


async def main():
    lock = asyncio.Lock()
    await lock.acquire()
    waiter = asyncio.ensure_future(lock.acquire())
    await asyncio.sleep(0)
    lock.release()
    says_free = not lock.locked()
    newcomer = asyncio.ensure_future(lock.acquire())
    await waiter
    await asyncio.sleep(0)
    print("locked() was", not says_free, "- a newcomer", "got it" if newcomer.done() else "waits")
    return says_free and not newcomer.done()


raise SystemExit(0 if asyncio.run(main()) else 1)
