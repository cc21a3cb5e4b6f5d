"""wait_for() leaves before its inner task has ended, if a cancel comes after the deadline. So
Condition.wait() has not taken the lock again, and the `async with` frees the lock of another."""
import asyncio


async def main():
    condition = asyncio.Condition()

    async def waits():
        async with condition:
            await asyncio.wait_for(condition.wait(), 0.01)

    task = asyncio.ensure_future(waits())
    await asyncio.sleep(0)
    await asyncio.sleep(0)
    await condition.acquire()
    another = asyncio.ensure_future(condition.acquire())
    await asyncio.sleep(0.02)
    task.cancel()  # it has timed out, and its inner task waits for the lock
    await asyncio.sleep(0.01)
    has_entered = another.done()  # although the lock is held here
    condition.release()
    assert task.done() and has_entered
    print("the lock was freed by a task that did not hold it, and another one took it")

asyncio.run(main())
