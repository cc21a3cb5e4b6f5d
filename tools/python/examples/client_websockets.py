"""websockets: an echo server and its clients, on the network in memory."""
import asyncio

import websockets

import buzzer


async def talk(sim, echo):
    async with websockets.serve(echo, "server", 80):
        async def client(number):
            async with websockets.connect("ws://server:80/") as socket:
                for part in range(3):
                    await socket.send(f"{number}.{part}")
                    text = await socket.recv()
                    sim.check(text == f"{number}.{part}", f"client {number} got {text}")
        await asyncio.gather(*[client(number) for number in range(2)])


@buzzer.test(runs=100, cancel="none", order="fifo")
async def test_echo(sim):
    async def echo(socket):
        async for text in socket:
            await socket.send(text)
    await talk(sim, echo)


async def faulty_echo(sim):
    """Wrong on purpose: it sends to the client that came last."""
    current = None

    async def echo(socket):
        nonlocal current
        async for text in socket:
            current = socket
            await asyncio.sleep(0)
            await current.send(text)
    await talk(sim, echo)
