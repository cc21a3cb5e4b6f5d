"""A notified waiter is cancelled, and nobody else is notified (anyio #1075)."""
import asyncio

import anyio


async def main():
    condition = anyio.Condition()

    async def waits():
        async with condition:
            await condition.wait()
    first, second = asyncio.ensure_future(waits()), asyncio.ensure_future(waits())
    for _ in range(5):
        await asyncio.sleep(0)
    async with condition:
        condition.notify(1)
        first.cancel()
    _, pending = await asyncio.wait([first, second], timeout=0.1)
    print("the second waiter", "sleeps" if pending else "was notified")
    return bool(pending)


raise SystemExit(0 if asyncio.run(main()) else 1)
