"""A program without Buzzer that shows a fault of httpcore; it returns whether it does."""
import asyncio

import httpcore


class Backend:
    async def connect_tcp(self, **arguments):
        await asyncio.sleep(60)


async def place_in_pool():
    """A request that is cancelled while it connects keeps its place in the pool (#830)."""
    pool = httpcore.AsyncConnectionPool(max_connections=1, network_backend=Backend())
    first = asyncio.ensure_future(pool.request("GET", "http://example.org/"))
    await asyncio.sleep(0.01)
    first.cancel()
    await asyncio.wait([first])
    try:
        await pool.request("GET", "http://example.net/", extensions={"timeout": {"pool": 0.1}})
    except httpcore.PoolTimeout:
        print("no request is made, and the pool is full:", pool.connections)
        return True
    return False
