"""The client of redis against a server of the test's own, on the network in memory."""
import asyncio

import redis.asyncio

import buzzer


class Server:
    """As much of redis as the test needs."""

    def __init__(self):
        self.values = {}

    async def handle(self, reader, writer):
        try:
            while line := await reader.readline():
                words = []
                for _ in range(int(line[1:])):
                    size = int((await reader.readline())[1:])
                    words.append((await reader.readexactly(size + 2))[:-2])
                writer.write(self.answer(*words))
                await writer.drain()
        except (ConnectionError, asyncio.IncompleteReadError):
            pass  # the client has left
        writer.close()

    def answer(self, command, key=b"", *words):
        if command == b"INCRBY":
            self.values[key] = b"%d" % (int(self.values.get(key, 0)) + 1)
            return b":%s\r\n" % self.values[key]
        if command == b"GET":
            value = self.values.get(key, b"0")
            return b"$%d\r\n%s\r\n" % (len(value), value)
        if command == b"SET":
            self.values[key] = words[0]
        return b"+OK\r\n"


async def count(sim, increment):
    async with await asyncio.start_server(Server().handle, "redis", 6379):
        client = redis.asyncio.Redis(host="redis", decode_responses=True)
        await asyncio.gather(*[increment(client) for _ in range(3)])
        value = await client.get("key")
        sim.check(value == "3", f"the counter is {value} after 3 increments")
        await client.close()


@buzzer.test(runs=100, cancel="none", order="fifo")
async def test_count(sim):
    async def increment(client):
        await client.incr("key")
    await count(sim, increment)


async def faulty_count(sim):
    """Wrong on purpose: another client may write between the two commands."""
    async def increment(client):
        await client.set("key", int(await client.get("key")) + 1)
    await count(sim, increment)
