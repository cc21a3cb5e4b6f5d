"""The fault of httpcore's pool, on the network in memory."""
import asyncio

import httpcore
import httpx

from entries import example, fault, is_before

server = example("client_httpx")


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


@fault("HTTPCORE-830", "httpcore #830", "before 1.0", ["assertion"], program=place_in_pool,
       of="httpcore", message="TimeoutError", runs=200, is_here=is_before(httpcore, 1, 0, 0))
async def pool_of_httpcore(sim):
    async def answer(body):
        return body.upper()
    await server.start(sim.background, answer)
    limits = httpx.Limits(max_connections=1)
    async with httpx.AsyncClient(limits=limits, timeout=None, verify=False) as client:
        async def request():
            await client.post("http://server/", content="text")
        await asyncio.wait([sim.spawn(None, request()) for _ in range(3)])
        await asyncio.wait_for(request(), 60)
