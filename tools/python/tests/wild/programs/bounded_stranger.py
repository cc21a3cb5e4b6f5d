"""A stranger's release is accepted while a woken waiter has not resumed (since 3.10.8)."""
import asyncio


async def main():
    semaphore = asyncio.BoundedSemaphore(1)
    await semaphore.acquire()
    waiter = asyncio.ensure_future(semaphore.acquire())
    await asyncio.sleep(0)
    semaphore.release()
    try:
        semaphore.release()  # nobody holds a permit
    except ValueError:
        print("refused")
        return False
    await waiter
    print("accepted: one permit, and", "another one is free" if not semaphore.locked() else "none")
    return not semaphore.locked()


raise SystemExit(0 if asyncio.run(main()) else 1)
