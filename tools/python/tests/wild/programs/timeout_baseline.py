"""timeout() in the handler of a cancel: TimeoutError does not appear (gh-102780)."""
import asyncio


async def main():
    async def body():
        try:
            await asyncio.sleep(5)
        except asyncio.CancelledError:
            try:
                async with asyncio.timeout(0.01):
                    await asyncio.sleep(5)
            except TimeoutError:
                return "got TimeoutError"
            raise
    task = asyncio.ensure_future(body())
    await asyncio.sleep(0)
    task.cancel()
    await asyncio.wait([task])
    print("the task", "was cancelled" if task.cancelled() else task.result())
    return task.cancelled()


raise SystemExit(0 if asyncio.run(main()) else 1)
