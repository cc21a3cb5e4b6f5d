"""A notified waiter is cancelled, and nobody else is notified (gh-112202)."""
import asyncio


async def main():
    condition = asyncio.Condition()

    async def waits():
        async with condition:
            await condition.wait()
    first, second = asyncio.ensure_future(waits()), asyncio.ensure_future(waits())
    await asyncio.sleep(0)
    async with condition:
        condition.notify(1)
        first.cancel()
    _, pending = await asyncio.wait([first, second], timeout=0.1)
    print("the second waiter", "sleeps" if pending else "was notified")
    return bool(pending)


raise SystemExit(0 if asyncio.run(main()) else 1)
