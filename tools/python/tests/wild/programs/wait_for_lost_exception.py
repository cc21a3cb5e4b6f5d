"""A wait_for() that is cancelled drops the exception with which its inner task ends."""
import asyncio
import gc


async def main():
    lost = []
    asyncio.get_running_loop().set_exception_handler(lambda _, context: lost.append(context))

    async def fails():
        try:
            await asyncio.sleep(1)
        finally:
            raise KeyError

    task = asyncio.ensure_future(asyncio.wait_for(fails(), 5))
    await asyncio.sleep(0)
    await asyncio.sleep(0)
    task.cancel()
    await asyncio.wait([task])
    assert task.cancelled()
    del task
    gc.collect()
    await asyncio.sleep(0)
    assert [type(each["exception"]) for each in lost] == [KeyError], lost
    print(lost[0]["message"])

asyncio.run(main())
