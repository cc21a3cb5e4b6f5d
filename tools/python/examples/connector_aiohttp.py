"""aiohttp's connector with connections of the test's own: no socket is opened."""
import asyncio

from aiohttp import ClientTimeout
from aiohttp.client_reqrep import ConnectionKey
from aiohttp.connector import BaseConnector

import buzzer


class Protocol:
    """A connection that is never at fault."""
    should_close = False
    transport = None

    def is_connected(self):
        return True

    def close(self):
        pass


class Connector(BaseConnector):
    async def _create_connection(self, request, traces, timeout):
        await asyncio.sleep(0.1)
        return Protocol()


class Request:
    connection_key = ConnectionKey("example.org", 80, False, None, None, None, None)


async def requests(sim, connector):
    served = open_now = 0

    async def request():
        nonlocal served, open_now
        connection = await connector.connect(Request(), [], ClientTimeout())
        open_now += 1
        sim.check(open_now <= 2, f"{open_now} connections, and the limit is 2")
        await asyncio.sleep(0)
        open_now -= 1
        served += 1
        connection.release()

    await asyncio.wait([sim.spawn(None, request(), name=f"client-{n}") for n in range(5)])
    sim.check(served == 5, f"{served} of 5 requests were served")


@buzzer.test(runs=100, cancel="none")
async def test_limit(sim):
    """Not more connections are open than the limit, and every request gets one."""
    await requests(sim, Connector(limit=2, force_close=True))


class HastyConnector(Connector):
    """Wrong on purpose: it looks at the limit, and counts the connection a turn later."""

    async def connect(self, request, traces, timeout):
        while self._available_connections(request.connection_key) <= 0:
            await asyncio.sleep(0.1)
        await asyncio.sleep(0)
        self._limit, limit = 0, self._limit
        try:
            return await super().connect(request, traces, timeout)
        finally:
            self._limit = limit


async def faulty_limit(sim):
    """Two requests find the same place."""
    await requests(sim, HastyConnector(limit=2, force_close=True))
