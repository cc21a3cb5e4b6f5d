"""A newcomer passes a woken borrower, and both borrow the one token (anyio 3.6.2)."""
import asyncio

import anyio


async def main():
    limiter = anyio.CapacityLimiter(1)
    await limiter.acquire_on_behalf_of("holder")
    waiter = asyncio.ensure_future(limiter.acquire_on_behalf_of("waiter"))
    for _ in range(6):
        await asyncio.sleep(0)
    limiter.release_on_behalf_of("holder")
    limiter.acquire_on_behalf_of_nowait("newcomer")
    await waiter
    print("borrowed:", limiter.borrowed_tokens, "of", limiter.total_tokens)
    return limiter.borrowed_tokens > limiter.total_tokens


raise SystemExit(0 if asyncio.run(main()) else 1)
