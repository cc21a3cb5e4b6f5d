"""The fault of aiohttp's connector, with connections of the test's own: no socket is opened."""
import asyncio
import os
import sys

import aiohttp

from entries import fault

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "programs"))
import aiohttp_faults  # noqa: E402

NUMBERS = tuple(int(part) for part in aiohttp.__version__.split(".")[:3])


class Connector(aiohttp_faults.Connector):
    async def _create_connection(self, request, traces, timeout):
        await asyncio.sleep(0)
        return aiohttp_faults.Protocol()


class Connections:
    """The connector as a semaphore: a permit is a connection."""

    def __init__(self, limit):
        self.connector = Connector(limit=limit, force_close=True)
        self.open = []

    async def acquire(self):
        timeout = aiohttp.ClientTimeout()
        self.open.append(await self.connector.connect(aiohttp_faults.Request(), [],
                                                      timeout))

    def release(self):
        self.open.pop().release()


@fault("AH-9670", "aiohttp #9670", "before 3.10.11", ["lost-wakeup", "deadlock"], "aiohttp_waiter",
       of="aiohttp", message="is free, but client-")
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


aiohttp_waiter.is_here = NUMBERS < (3, 10, 11)
