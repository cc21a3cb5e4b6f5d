"""The fault of aiohttp's connector, with connections of the test's own, and on the network in memory."""
import asyncio

import aiohttp
import aiohttp.web
from aiohttp.client_reqrep import ConnectionKey
from aiohttp.connector import BaseConnector

from entries import example, fault, is_before

server = example("client_aiohttp")
HAS_IT = is_before(aiohttp, 3, 10, 11)


class Protocol:
    should_close = False
    transport = None

    def is_connected(self):
        return True

    def close(self):
        pass


class Connector(BaseConnector):
    async def _create_connection(self, request, traces, timeout):
        await asyncio.sleep(0)
        return Protocol()


class Request:
    connection_key = ConnectionKey("example.org", 80, False, None, None, None, None)


class Connections:
    """The connector as a semaphore: a permit is a connection."""

    def __init__(self, limit):
        self.connector = Connector(limit=limit, force_close=True)
        self.open = []

    async def acquire(self):
        timeout = aiohttp.ClientTimeout()
        self.open.append(await self.connector.connect(Request(), [], timeout))

    def release(self):
        self.open.pop().release()


async def woken_is_cancelled():
    """A woken request is cancelled, and the next one waits for ever (aiohttp #9670)."""
    connections = Connections(1)
    await connections.acquire()
    first, second = (asyncio.ensure_future(connections.acquire()) for _ in range(2))
    await asyncio.sleep(0)
    connections.release()
    first.cancel()
    _, pending = await asyncio.wait([first, second], timeout=0.1)
    print("no connection is open:", not connections.connector._acquired, "- the second request",
          "waits" if pending else "has one")
    return bool(pending)


@fault("AH-9670", "aiohttp #9670", "before 3.10.11", ["lost-wakeup", "deadlock"],
       program=woken_is_cancelled, of="aiohttp", message="is free, but client-",
       is_here=HAS_IT)
async def aiohttp_waiter(sim):
    connections = sim.watch(Connections(1), kind="semaphore", permits=1)

    async def requests():
        await connections.acquire()
        try:
            await asyncio.sleep(0)
        finally:
            connections.release()
    await asyncio.wait([sim.spawn(None, requests(), name=f"client-{number}")
                        for number in range(3)])


@fault("AH-9670 in the network", "aiohttp #9670", "before 3.10.11", ["assertion"],
       program=woken_is_cancelled, of="aiohttp", message="TimeoutError", runs=200, is_here=HAS_IT)
async def connector_of_aiohttp(sim):
    async def handler(request):
        return aiohttp.web.Response(text=await request.text())
    runner = await server.serve(handler)
    async with aiohttp.ClientSession(connector=aiohttp.TCPConnector(limit=1)) as session:
        async def request():
            async with session.post("http://server/", data="text") as response:
                await response.text()
        await asyncio.wait([sim.spawn(None, request()) for _ in range(3)])
    await runner.cleanup()
