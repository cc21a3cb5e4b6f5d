"""A program without Buzzer that shows a fault of aiomysql; it returns whether it does."""
import asyncio
from unittest import mock

import aiomysql.pool


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


async def release_cancelled():
    """`async with pool.acquire()` awaits the task that wakes the next one, so a cancel kills it."""
    pool = await pool_of_one()

    async def uses():
        async with pool.acquire():
            await asyncio.sleep(0)
    first, second = asyncio.ensure_future(uses()), asyncio.ensure_future(uses())
    while pool.freesize:
        await asyncio.sleep(0)
    while not pool.freesize:
        await asyncio.sleep(0)
    first.cancel()
    _, pending = await asyncio.wait([first, second], timeout=0.1)
    print("free connections:", pool.freesize, "- the second task",
          "waits" if second in pending else "has one")
    return second in pending
