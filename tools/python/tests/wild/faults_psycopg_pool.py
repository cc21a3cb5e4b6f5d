"""The faults of psycopg's pool, with connections of the test's own: libpq opens no socket."""
import asyncio
import types

import psycopg_pool
from psycopg.pq import TransactionStatus

from entries import fault, is_before


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


async def use(sim):
    async with pool_of_one() as pool:
        async def uses():
            async with pool.connection(timeout=60):
                await asyncio.sleep(0)
        await asyncio.wait([sim.spawn(None, uses(), name=f"client-{number}")
                            for number in range(3)])
        async with pool.connection(timeout=60):
            pass


@fault("PSY-509", "psycopg #509", "before 3.1.8", ["assertion"], program=pool_509,
       of="psycopg_pool", message="PoolTimeout: couldn't get a connection after 60 sec",
       is_here=is_before(psycopg_pool, 3, 1, 8))
async def psycopg_pool_509(sim):
    await use(sim)


@fault("PSY-1345", "psycopg #1345", "before 3.3.2", ["cancel-delivered"], program=pool_1345,
       of="psycopg_pool", until=(3, 12), message="in wait_for caught the CancelledError")
async def psycopg_pool_1345(sim):
    await use(sim)
