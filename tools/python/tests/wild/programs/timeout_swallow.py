"""A cancel that was requested before timeout(0) comes out as TimeoutError (gh-134471)."""
import asyncio


async def main():
    async def body():
        asyncio.current_task().cancel()
        try:
            async with asyncio.timeout(0):
                await asyncio.sleep(5)
        except TimeoutError:
            return f"TimeoutError; cancelling() = {asyncio.current_task().cancelling()}"
    task = asyncio.ensure_future(body())
    await asyncio.wait([task])
    print("the task", "was cancelled" if task.cancelled() else task.result())
    return not task.cancelled()


raise SystemExit(0 if asyncio.run(main()) else 1)
