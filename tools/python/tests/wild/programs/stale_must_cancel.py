"""A request that was taken back is delivered all the same (gh-116720)."""
import asyncio


async def main():
    task = asyncio.current_task()
    task.cancel()
    task.uncancel()
    try:
        await asyncio.sleep(0)
    except asyncio.CancelledError:
        print("cancelled, with cancelling() =", task.cancelling())
        return True
    return False


raise SystemExit(0 if asyncio.run(main()) else 1)
