"""The faults of psycopg's pool, with connections of the test's own: libpq opens no socket."""
import asyncio
import os
import sys

import psycopg_pool

from entries import fault

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "programs"))
from psycopg_pool_faults import pool_of_one  # noqa: E402

NUMBERS = tuple(int(part) for part in psycopg_pool.__version__.split(".")[:3])


async def use(sim):
    async with pool_of_one() as pool:
        async def uses():
            async with pool.connection(timeout=60):
                await asyncio.sleep(0)
        await asyncio.wait([sim.spawn(None, uses(), name=f"client-{number}")
                            for number in range(3)])
        async with pool.connection(timeout=60):
            pass


@fault("PSY-509", "psycopg #509", "before 3.1.8", ["assertion"], "pool_509", of="psycopg_pool",
       message="PoolTimeout: couldn't get a connection after 60 sec")
async def psycopg_pool_509(sim):
    await use(sim)


@fault("PSY-1345", "psycopg #1345", "before 3.3.2", ["cancel-delivered"], "pool_1345",
       of="psycopg_pool", until=(3, 12), message="in wait_for caught the CancelledError")
async def psycopg_pool_1345(sim):
    await use(sim)


psycopg_pool_509.is_here = NUMBERS < (3, 1, 8)
