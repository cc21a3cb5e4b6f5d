"""A cancel from outside that comes with a child's error is lost in a task group (gh-116720)."""
import asyncio


async def main():
    async def fails():
        await asyncio.sleep(0)
        raise KeyError

    async def body():
        try:
            async with asyncio.TaskGroup() as group:
                group.create_task(fails())
                await asyncio.sleep(5)
        except BaseExceptionGroup:
            pass
        await asyncio.sleep(0)
        return "went on"
    task = asyncio.ensure_future(body())
    for _ in range(3):
        await asyncio.sleep(0)
    task.cancel()
    await asyncio.wait([task])
    print("the task", "was cancelled" if task.cancelled() else task.result())
    return not task.cancelled()


raise SystemExit(0 if asyncio.run(main()) else 1)
