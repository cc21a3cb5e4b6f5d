"""A program without Buzzer that shows a fault of discord.py; it returns whether it does."""
import asyncio
import types

from discord.http import Ratelimit


def limiter():
    return Ratelimit(None)


async def request(limit):
    async with limit:
        await asyncio.sleep(0)
        limit.update(types.SimpleNamespace(headers={
            "X-Ratelimit-Limit": 1, "X-Ratelimit-Remaining": 0, "X-Ratelimit-Reset-After": 0.01}))


async def sleeper_cancelled():
    """The request that waits for the limit to be reset is cancelled, and nobody wakes the others."""
    limit = limiter()
    first, second = asyncio.ensure_future(request(limit)), asyncio.ensure_future(request(limit))
    while not limit._sleeping.locked():
        await asyncio.sleep(0)
    first.cancel()
    _, pending = await asyncio.wait([first, second], timeout=0.2)
    print("the limit is over:", limit.is_expired(), "- the second request",
          "waits" if second in pending else "is made")
    return second in pending
