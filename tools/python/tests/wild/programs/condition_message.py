"""A cancel of Condition.wait() loses its message, if it comes as the lock is taken again."""
import asyncio


async def main():
    condition = asyncio.Condition()

    async def waits():
        async with condition:
            await condition.wait()
    task = asyncio.ensure_future(waits())
    await asyncio.sleep(0)
    await condition.acquire()
    condition.notify()
    await asyncio.sleep(0)
    await asyncio.sleep(0)
    task.cancel("why")
    await asyncio.sleep(0)
    condition.release()
    try:
        await task
    except asyncio.CancelledError as error:
        assert error.args == () and error.__context__ is None or error.args != ("why",), error.args
        print("the message is lost:", error.args)

asyncio.run(main())
