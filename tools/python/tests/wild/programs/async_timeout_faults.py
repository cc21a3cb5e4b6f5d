"""A program without Buzzer that shows a fault of async_timeout; it returns whether it does."""
import asyncio

import async_timeout


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
    assert accepted == [True] and not task.cancelled()
    assert isinstance(task.exception(), asyncio.TimeoutError)
    print("cancel() was accepted, and the task ended with TimeoutError")
    return True
