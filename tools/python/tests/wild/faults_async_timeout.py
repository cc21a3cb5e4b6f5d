"""The fault of async-timeout, with which aiohttp limits its requests."""
import asyncio

import async_timeout

from entries import fault


@fault("TO-ANY-CANCEL", "aiohttp #5979, async-timeout #229", "before 5.0", ["assertion"],
       "timeout_any_cancel", of="async_timeout", message="ended with TimeoutError")
async def async_timeout_any_cancel(sim):
    async def waits():
        async with async_timeout.timeout(1):
            await asyncio.sleep(5)

    task = asyncio.ensure_future(waits())
    await asyncio.sleep(0)
    accepted = []
    asyncio.get_running_loop().call_later(1, lambda: accepted.append(task.cancel()))
    await asyncio.wait([task])
    sim.check(task.cancelled() or accepted != [True],
              "a cancel was accepted, and the task ended with TimeoutError")
    if not task.cancelled():
        task.exception()


async_timeout_any_cancel.is_here = int(async_timeout.__version__.split(".")[0]) < 5
