"""The fault of aiomysql's pool, with connections of the test's own."""
import asyncio
import os
import sys

import aiomysql

from entries import fault

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "programs"))
from aiomysql_faults import pool_of_one  # noqa: E402


@fault("AIOMYSQL-RELEASE", "not known to us", "0.1.1", ["deadlock"], "release_cancelled",
       of="aiomysql", message="have not ended: ")
async def aiomysql_release(sim):
    pool = await pool_of_one()

    async def uses():
        async with pool.acquire():
            await asyncio.sleep(0)
    # Cancels strike the first one only: asyncio's own condition keeps a notification (gh-112202).
    tasks = [sim.spawn(None, uses(), name="first"), asyncio.ensure_future(uses())]
    await asyncio.wait(tasks)


aiomysql_release.is_here = aiomysql.__version__ == "0.1.1"
