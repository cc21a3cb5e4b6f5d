"""Programs without Buzzer that show faults of psycopg's pool; each returns whether it does."""
import asyncio
import types

import psycopg_pool
from psycopg.pq import TransactionStatus


class Connection:
    closed = False
    pgconn = types.SimpleNamespace(transaction_status=TransactionStatus.IDLE)

    @classmethod
    async def connect(cls, conninfo, **arguments):
        return cls()

    async def close(self):
        self.closed = True

    async def __aenter__(self):
        return self

    async def __aexit__(self, *error):
        pass


def pool_of_one():
    return psycopg_pool.AsyncConnectionPool(connection_class=Connection, open=False, min_size=1,
                                            max_size=1)


async def cancel_waiter(after):
    """The waiter, which is cancelled before or after the connection is given back, and whether the
    pool still has it."""
    async with pool_of_one() as pool:
        connection = await pool.getconn()
        waiter = asyncio.ensure_future(pool.getconn())
        await asyncio.sleep(0.01)
        if after:
            await pool.putconn(connection)
        waiter.cancel()
        if not after:
            await asyncio.wait([waiter])
            await pool.putconn(connection)
        await asyncio.wait([waiter])
        try:
            await pool.putconn(await pool.getconn(timeout=0.1))
            return waiter, True
        except psycopg_pool.PoolTimeout:
            return waiter, False


async def pool_509():
    """A waiter that was cancelled gets the next connection, which is lost (#509)."""
    waiter, is_whole = await cancel_waiter(after=False)
    print("the waiter is cancelled:", waiter.cancelled(), "- the pool has its connection:", is_whole)
    return waiter.cancelled() and not is_whole


async def pool_1345():
    """A waiter that is cancelled as it gets a connection goes on with it (#1345)."""
    waiter, _ = await cancel_waiter(after=True)
    print("cancel() was called, and the waiter",
          "is cancelled" if waiter.cancelled() else "has a connection")
    return not waiter.cancelled()
