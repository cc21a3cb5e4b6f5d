"""A woken borrower of a CapacityLimiter is cancelled, and the next one waits for ever (#947)."""
import asyncio

import anyio


async def main():
    limiter = anyio.CapacityLimiter(1)
    await limiter.acquire()
    waiters = [asyncio.ensure_future(limiter.acquire()) for _ in range(2)]
    await asyncio.sleep(0.01)
    limiter.release()
    waiters[1].cancel()  # it is woken, and has not resumed
    await asyncio.sleep(0.01)
    assert not waiters[0].done() and limiter.borrowed_tokens == 0, limiter.statistics()
    print("the token is free, and a task waits for it:", limiter.statistics())
    waiters[0].cancel()

asyncio.run(main())
