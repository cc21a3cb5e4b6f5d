"""The fault of redis-py, on the network in memory."""
import asyncio
import re

import redis.asyncio

from entries import example, fault, is_before

server = example("client_redis")


async def serve(reader, writer):
    """Answers commands together, a little later."""
    while data := await reader.read(1000):
        await asyncio.sleep(0.02)
        for command, word in re.findall(rb"\$3\r\n([GS]ET)\r\n\$\d+\r\n(\w+)", data):
            writer.write(b"+OK\r\n" if command == b"SET" else b"$%d\r\n%s\r\n" % (len(word), word))
    writer.close()


async def answers():
    """A command is cancelled, and its answer goes to the next one (#2624)."""
    async with await asyncio.start_server(serve, "127.0.0.1", 0) as server:
        client = redis.asyncio.Redis(port=server.sockets[0].getsockname()[1],
                                     single_connection_client=True)
        await client.set("warm", "warm")

        async def use(key):
            await client.set(key, key)
            return await client.get(key)
        first, second = asyncio.ensure_future(use("first")), asyncio.ensure_future(use("second"))
        while not client.connection._reader._buffer:
            await asyncio.sleep(0)
        second.cancel()
        await asyncio.wait([first, second])
        await client.close()
    print("after SET first, GET first is", first.result())
    return first.result() == b"OK"


@fault("REDIS-2624", "redis-py #2624", "before 4.5.3", ["assertion"], program=answers, of="redis",
       message="has OK", runs=200, is_here=is_before(redis, 4, 5, 3))
async def answers_of_redis(sim):
    async with await asyncio.start_server(server.Server().handle, "redis", 6379):
        client = redis.asyncio.Redis(host="redis", decode_responses=True,
                                     single_connection_client=True)
        await client.ping()

        async def worker(number):
            try:
                await client.set(f"key {number}", f"value {number}")
                value = await client.get(f"key {number}")
            except redis.exceptions.ConnectionError:
                return
            sim.check(value == f"value {number}", f"key {number} has {value}")
        await asyncio.wait([sim.spawn(None, worker(number)) for number in range(3)])
        await client.close()
