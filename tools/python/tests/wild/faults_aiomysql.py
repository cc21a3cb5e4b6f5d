"""The fault of aiomysql's pool, with connections of the test's own."""
import asyncio
from unittest import mock

import aiomysql.pool

from entries import fault


async def connect(**arguments):
    connection = mock.Mock(closed=False, last_usage=0)
    connection._reader = mock.Mock(eof_received=False)
    connection._reader.at_eof.return_value = False
    connection._reader.exception.return_value = None
    connection.get_transaction_status.return_value = False
    return connection


async def pool_of_one():
    aiomysql.pool.connect = connect
    return await aiomysql.create_pool(minsize=1, maxsize=1)


async def use(pool):
    async with pool.acquire():
        await asyncio.sleep(0)


async def release_cancelled():
    """`async with pool.acquire()` awaits the task that wakes the next one, so a cancel kills it."""
    pool = await pool_of_one()
    first, second = asyncio.ensure_future(use(pool)), asyncio.ensure_future(use(pool))
    while pool.freesize:
        await asyncio.sleep(0)
    while not pool.freesize:
        await asyncio.sleep(0)
    first.cancel()
    _, pending = await asyncio.wait([first, second], timeout=0.1)
    print("free connections:", pool.freesize, "- the second task",
          "waits" if second in pending else "has one")
    return second in pending


@fault("AIOMYSQL-RELEASE", "not known to us", "0.1.1", ["deadlock"], program=release_cancelled,
       of="aiomysql", message="have not ended: ", is_here=aiomysql.__version__ == "0.1.1")
async def aiomysql_release(sim):
    pool = await pool_of_one()
    # Cancels strike the first one only: asyncio's own condition keeps a notification (gh-112202).
    await asyncio.wait([sim.spawn(None, use(pool), name="first"), asyncio.ensure_future(use(pool))])
