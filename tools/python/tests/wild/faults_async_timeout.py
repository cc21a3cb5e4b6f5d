"""The fault of async-timeout, with which aiohttp limits its requests."""
import asyncio

import async_timeout

from entries import fault


@fault("TO-ANY-CANCEL", "aiohttp #5979, async-timeout #229", "before 5.0", ["assertion"],
       of="async_timeout", is_here=int(async_timeout.__version__.split(".")[0]) < 5)
async def timeout_any_cancel():
    """async_timeout: a cancel that comes with the deadline turns into a TimeoutError (#229)."""
    loop = asyncio.get_running_loop()
    deadline = loop.time() + 0.01

    async def waits():
        async with async_timeout.timeout_at(deadline):
            await asyncio.sleep(5)
    task = asyncio.ensure_future(waits())
    await asyncio.sleep(0)
    accepted = []
    loop.call_at(deadline, lambda: accepted.append(task.cancel()))
    await asyncio.wait([task])
    print("cancel() was accepted:", accepted, "- the task", "was cancelled" if task.cancelled()
          else f"ended with {type(task.exception()).__name__}")
    return accepted == [True] and not task.cancelled()
