"""A cancel that comes as the inner task ends is lost in wait_for() (gh-86296)."""
import asyncio


async def main():
    inner = asyncio.get_running_loop().create_future()

    async def waits():
        await asyncio.wait_for(inner, 1)
        return "went on"
    task = asyncio.ensure_future(waits())
    await asyncio.sleep(0)
    inner.set_result(None)
    task.cancel()
    await asyncio.wait([task])
    print("the task", "was cancelled" if task.cancelled() else task.result())
    return not task.cancelled()


raise SystemExit(0 if asyncio.run(main()) else 1)
