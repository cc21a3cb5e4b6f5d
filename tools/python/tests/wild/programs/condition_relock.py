"""anyio: a Task.cancel() makes Condition.wait() leave without the lock, as it takes it again."""
import asyncio

import anyio


async def main():
    condition = anyio.Condition()
    ends = []

    async def waits():
        try:
            async with condition:
                await condition.wait()
        except BaseException as error:
            ends.append(error)
    task = asyncio.ensure_future(waits())
    await asyncio.sleep(0.01)
    await condition.acquire()
    condition.notify()
    await asyncio.sleep(0.01)
    task.cancel()  # it waits for the lock
    await asyncio.wait([task])
    condition.release()
    assert [type(error) for error in ends] == [RuntimeError], ends
    print("the `async with` found the lock in other hands:", ends[0])

asyncio.run(main())
