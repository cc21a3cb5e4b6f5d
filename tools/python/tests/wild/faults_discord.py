"""The fault of discord.py's rate limiter: no request is made."""
import asyncio
import types

import discord
from discord.http import Ratelimit

from entries import fault


async def request(limit):
    async with limit:
        await asyncio.sleep(0)
        limit.update(types.SimpleNamespace(headers={
            "X-Ratelimit-Limit": 1, "X-Ratelimit-Remaining": 0, "X-Ratelimit-Reset-After": 0.01}))


async def sleeper_cancelled():
    """The request that waits for the limit to be reset is cancelled, and nobody wakes the others."""
    limit = Ratelimit(None)
    first, second = asyncio.ensure_future(request(limit)), asyncio.ensure_future(request(limit))
    while not limit._sleeping.locked():
        await asyncio.sleep(0)
    first.cancel()
    _, pending = await asyncio.wait([first, second], timeout=0.2)
    print("the limit is over:", limit.is_expired(), "- the second request",
          "waits" if second in pending else "is made")
    return second in pending


@fault("DISCORD-10160", "PR 10160", "before 2.6", ["deadlock"], program=sleeper_cancelled,
       of="discord", message="have not ended: ", is_here=discord.version_info[:2] < (2, 6))
async def discord_limiter(sim):
    limit = Ratelimit(None)
    await asyncio.wait([sim.spawn(None, request(limit), name=f"request-{number}")
                        for number in range(3)])
