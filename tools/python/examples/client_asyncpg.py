"""The pool of asyncpg against a server of the test's own, on the network in memory."""
import asyncio
import struct

import asyncpg

import buzzer

INT4 = 23
READY = (b"Z", b"I")


def message(kind, body=b""):
    return kind + struct.pack("!I", 4 + len(body)) + body


class Server:
    """As much of PostgreSQL as the test needs: each query has one parameter, and returns it."""

    def __init__(self):
        self.connections = 0

    async def handle(self, reader, writer):
        self.connections += 1
        try:
            size, = struct.unpack("!I", await reader.readexactly(4))
            await reader.readexactly(size - 4)
            for kind, body in ((b"R", struct.pack("!I", 0)), (b"S", b"server_version\x0015.0\0"),
                               (b"S", b"client_encoding\0UTF8\0"), (b"K", bytes(8)), READY):
                writer.write(message(kind, body))
            while (kind := await reader.readexactly(1)) != b"X":
                size, = struct.unpack("!I", await reader.readexactly(4))
                for answer in self.answers(kind, await reader.readexactly(size - 4)):
                    writer.write(message(*answer))
                await writer.drain()
        except (ConnectionError, asyncio.IncompleteReadError):
            pass  # the client has left
        self.connections -= 1
        writer.close()

    def answers(self, kind, body):
        if kind == b"P":
            return [(b"1",)]
        if kind == b"D":
            field = b"value\0" + struct.pack("!IhIhih", 0, 0, INT4, 4, -1, 1)
            return [(b"t", struct.pack("!hI", 1, INT4)), (b"T", struct.pack("!h", 1) + field)]
        if kind == b"B":
            value = body[-8:-4]  # of the parameter, before the format of the result
            return [(b"2",), (b"D", struct.pack("!hI", 1, 4) + value), (b"C", b"SELECT 1\0")]
        if kind == b"Q":
            return [(b"C", b"SELECT 1\0"), READY]
        return [READY] if kind == b"S" else [(b"3",)] if kind == b"C" else []


async def use(sim, size):
    server = Server()
    async with await asyncio.start_server(server.handle, "db", 5432):
        # Names of cached statements would have a number that grows from run to run.
        pool = await asyncpg.create_pool(host="db", user="user", database="data", ssl=False,
                                         min_size=1, max_size=size, statement_cache_size=0)

        async def client(number):
            async with pool.acquire() as connection:
                sim.check(server.connections <= 2, f"{server.connections} connections, not 2")
                value = await connection.fetchval("select $1::int", number)
                sim.check(value == number, f"client {number} got {value}")
        await asyncio.gather(*[client(number) for number in range(4)])
        await pool.close()


@buzzer.test(runs=100, cancel="none", order="fifo")
async def test_pool(sim):
    await use(sim, 2)


async def faulty_pool(sim):
    """Wrong on purpose: the pool is larger than the server allows."""
    await use(sim, 3)
