"""A woken borrower is cancelled, and nobody else is woken (anyio #947)."""
import asyncio

import anyio


async def main():
    limiter = anyio.CapacityLimiter(1)
    await limiter.acquire_on_behalf_of("holder")

    async def borrows():
        await limiter.acquire()
    first, second = asyncio.ensure_future(borrows()), asyncio.ensure_future(borrows())
    for _ in range(6):
        await asyncio.sleep(0)
    limiter.release_on_behalf_of("holder")
    first.cancel()
    _, pending = await asyncio.wait([first, second], timeout=0.1)
    print("borrowed:", limiter.borrowed_tokens, "- the second borrower",
          "sleeps" if pending else "has it")
    return bool(pending)


raise SystemExit(0 if asyncio.run(main()) else 1)
