"""httpx and uvicorn, on the network in memory: a signal stops the server gracefully."""
import asyncio
import signal

import httpx
import uvicorn

import buzzer


def app_of(answer):
    async def app(scope, receive, send):
        body, message = b"", {"more_body": True}
        while message.get("more_body"):  # it may come in pieces
            message = await receive()
            body += message.get("body", b"")
        text = await answer(body)
        await send({"type": "http.response.start", "status": 200,
                    "headers": [(b"content-length", b"%d" % len(text))]})
        await send({"type": "http.response.body", "body": text})
    return app


async def start(create_task, answer):
    server = uvicorn.Server(uvicorn.Config(app_of(answer), host="server", port=80, http="h11",
                                           lifespan="off", log_config=None))
    serving = create_task(server.serve())
    while not server.started:
        await asyncio.sleep(0.1)
    return serving


async def requests(sim, answer):
    serving = await start(asyncio.create_task, answer)
    limits = httpx.Limits(max_connections=2)
    async with httpx.AsyncClient(limits=limits, timeout=None, verify=False) as client:
        async def request(number):
            response = await client.post("http://server/", content=f"text {number}")
            sim.check(response.text == f"TEXT {number}", f"{number} got {response.text}")
        await asyncio.gather(*[request(number) for number in range(3)])
    sim.signal(signal.SIGTERM)
    await serving


@buzzer.test(runs=100, cancel="none", order="fifo")
async def test_requests(sim):
    async def answer(body):
        await asyncio.sleep(0)
        return body.upper()
    await requests(sim, answer)


async def faulty_server(sim):
    """Wrong on purpose: two requests share a variable of the server."""
    last = None

    async def answer(body):
        nonlocal last
        last = body
        await asyncio.sleep(0)
        return last.upper()
    await requests(sim, answer)
