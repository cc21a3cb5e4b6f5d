"""A program without Buzzer that shows a fault of aiohttp; it returns whether it does."""
import asyncio

from aiohttp import ClientTimeout
from aiohttp.client_reqrep import ConnectionKey
from aiohttp.connector import BaseConnector


class Protocol:
    should_close = False
    transport = None

    def is_connected(self):
        return True

    def close(self):
        pass


class Connector(BaseConnector):
    async def _create_connection(self, request, traces, timeout):
        return Protocol()


class Request:
    connection_key = ConnectionKey("example.org", 80, False, None, None, None, None)


async def aiohttp_waiter():
    """A woken request is cancelled, and the next one waits for ever (aiohttp #9670)."""
    connector = Connector(limit=1, force_close=True)

    async def connects():
        return await connector.connect(Request(), [], ClientTimeout())
    connection = await connects()
    first, second = asyncio.ensure_future(connects()), asyncio.ensure_future(connects())
    await asyncio.sleep(0)
    connection.release()
    first.cancel()
    _, pending = await asyncio.wait([first, second], timeout=0.1)
    print("no connection is open:", not connector._acquired, "- the second request",
          "waits" if pending else "has one")
    return bool(pending)
