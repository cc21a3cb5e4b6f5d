"""The fault of discord.py's rate limiter: no request is made."""
import asyncio
import os
import sys

import discord

from entries import fault

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "programs"))
from discord_faults import limiter, request  # noqa: E402


@fault("DISCORD-10160", "PR 10160", "before 2.6", ["deadlock"], "sleeper_cancelled",
       of="discord", message="have not ended: ")
async def discord_limiter(sim):
    limit = limiter()
    await asyncio.wait([sim.spawn(None, request(limit), name=f"request-{number}")
                        for number in range(3)])


discord_limiter.is_here = discord.version_info[:2] < (2, 6)
