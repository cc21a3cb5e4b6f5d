"""aiohttp's server and client in one test, on the network in memory."""
import asyncio

import aiohttp
from aiohttp import web

import buzzer

LIMIT = 2


async def serve(handler):
    app = web.Application()
    app.router.add_post("/", handler)
    runner = web.AppRunner(app)
    await runner.setup()
    await web.TCPSite(runner, "server", 80).start()
    return runner


async def requests(sim, count=4, limit=LIMIT):
    """Each request gets its own answer, and never are there more connections than the limit."""
    open_now = 0

    async def handler(request):
        nonlocal open_now
        open_now += 1
        sim.check(open_now <= LIMIT, f"{open_now} requests at once, and the limit is {LIMIT}")
        text = await request.text()
        await asyncio.sleep(0)
        open_now -= 1
        return web.Response(text=text.upper())

    runner = await serve(handler)
    async with aiohttp.ClientSession(connector=aiohttp.TCPConnector(limit=limit)) as session:
        async def client(number):
            async with session.post("http://server/", data=f"text {number}") as response:
                text = await response.text()
                sim.check(text == f"TEXT {number}", f"client {number} got {text}")
        await asyncio.gather(*[client(number) for number in range(count)])
    await runner.cleanup()


@buzzer.test(runs=100, cancel="none", order="fifo")
async def test_requests(sim):
    await requests(sim)


async def faulty_limit(sim):
    """Wrong on purpose: the client has one connection too many."""
    await requests(sim, limit=LIMIT + 1)
