"""The network in memory: asyncio's own streams, transports and sockets above it."""
import asyncio
import contextlib
import errno
import json
import os
import select
import signal
import socket
import sys
import tempfile

from harness import Checks, ask, run


def in_loop():
    return asyncio.get_running_loop()


async def echo(reader, writer):
    while data := await reader.read(100):
        writer.write(data)
        await writer.drain()
    writer.close()


# --- silent --------------------------------------------------------------------------------------

async def streams(sim):
    """All bytes arrive in order, then the end."""
    async with await asyncio.start_server(echo, "server", 80):
        async def client(number):
            reader, writer = await asyncio.open_connection("server", 80)
            assert writer.get_extra_info("peername") == ("10.0.0.1", 80)
            sent = bytes([number]) * 200
            writer.write(sent)
            writer.write_eof()
            got = await reader.read()
            assert got == sent, got
            writer.close()
            await writer.wait_closed()
        await asyncio.gather(*[client(number) for number in range(3)])


async def large(sim):
    """More than the network takes: the writer waits, and the reader is paused."""
    sim.network.capacity = 4000
    sizes = []

    async def sink(reader, writer):
        await asyncio.sleep(1)
        sizes.append(len(await reader.readexactly(200_000)))
        writer.close()
    async with await asyncio.start_server(sink, "server", 80, limit=10_000):
        reader, writer = await asyncio.open_connection("server", 80)
        writer.write(bytes(100_000))
        assert writer.transport.get_write_buffer_size() > 90_000
        await writer.drain()
        writer.write(bytes(100_000))
        await writer.drain()
        assert await reader.read() == b""
        writer.close()
    assert sizes == [200_000]


class Counting(asyncio.Protocol):
    def __init__(self):
        self.calls = []
        self.lost = in_loop().create_future()

    def __getattr__(self, name):
        raise AttributeError(name)

    def connection_made(self, transport):
        self.transport = transport
        self.calls.append("made")

    def data_received(self, data):
        self.calls.append(len(data))

    def eof_received(self):
        self.calls.append("eof")

    def connection_lost(self, exc):
        self.calls.append("lost")
        self.lost.set_result(exc)


async def protocols(sim):
    """Calls of a protocol come in the order that asyncio promises."""
    made = []

    def factory():
        made.append(Counting())
        return made[-1]
    server = await in_loop().create_server(factory, "127.0.0.1", 0)
    host, port = server.sockets[0].getsockname()
    transport, client = await in_loop().create_connection(Counting, host, port)
    transport.writelines([b"ab", b"cd"])
    transport.close()
    assert await client.lost is None
    while not made:
        await asyncio.sleep(0)
    assert await made[0].lost is None
    assert client.calls == ["made", "lost"], client.calls
    calls = made[0].calls
    assert calls[0] == "made" and calls[-2:] == ["eof", "lost"], calls
    assert sum(calls[1:-2]) == 4, calls
    server.close()
    await server.wait_closed()


async def unix(sim):
    async with await asyncio.start_unix_server(echo, "/run/service"):
        reader, writer = await asyncio.open_unix_connection("/run/service")
        writer.write(b"x")
        assert await reader.readexactly(1) == b"x"
        writer.close()
    try:
        await asyncio.open_unix_connection("/run/service")
    except (FileNotFoundError, ConnectionRefusedError):
        return
    raise AssertionError("no server is there")


async def sockets(sim):
    """sock_*() of the loop, and poll() of the system."""
    loop = in_loop()
    with socket.socket() as listener, socket.socket() as client:
        for each in (listener, client):
            each.setblocking(False)
        listener.bind(("server", 0))
        listener.listen()
        await loop.sock_connect(client, ("server", listener.getsockname()[1]))
        peer, address = await loop.sock_accept(listener)
        assert address == client.getsockname() and peer.getsockname() == client.getpeername()
        with peer:
            poll = select.poll()
            poll.register(peer, select.POLLIN)
            assert poll.poll(0) == []
            await loop.sock_sendall(client, b"hello")
            got = await loop.sock_recv(peer, 1)
            while len(got) < 5:
                buffer = bytearray(4)
                count = await loop.sock_recv_into(peer, buffer)
                got += buffer[:count]
            assert got == b"hello" and poll.poll(0) == []
            client.close()
            while not poll.poll(0):
                await asyncio.sleep(0)
            assert await loop.sock_recv(peer, 9) == b""
    one, other = socket.socketpair()
    one.setblocking(False)
    other.setblocking(False)
    got = asyncio.ensure_future(loop.sock_recv(other, 3))
    await loop.sock_sendall(one, b"x")
    assert await got == b"x"
    with contextlib.closing(one), contextlib.closing(other):
        assert isinstance(one, socket.socket)


async def names(sim):
    loop = in_loop()
    first = await loop.getaddrinfo("alpha", "http", type=socket.SOCK_STREAM)
    assert first == [(socket.AF_INET, socket.SOCK_STREAM, 6, "", ("10.0.0.1", 80))], first
    assert (await loop.getaddrinfo("beta", 1))[0][4] == ("10.0.0.2", 1)
    assert (await loop.getaddrinfo("Alpha.", 1))[0][4] == ("10.0.0.1", 1)
    assert (await loop.getaddrinfo("::1", 1))[0][4] == ("::1", 1, 0, 0)
    assert (await loop.getaddrinfo(None, 1, flags=socket.AI_PASSIVE))[0][4] == ("0.0.0.0", 1)
    assert await loop.getnameinfo(("10.0.0.2", 80)) == ("beta", "80")
    for host, port in (("nowhere.invalid", 80), ("alpha", "no-service")):
        try:
            await loop.getaddrinfo(host, port)
        except socket.gaierror:
            continue
        raise AssertionError((host, port))
    for address in (("server", 80), ("127.0.0.1", 1)):
        try:
            await asyncio.open_connection(*address)
        except ConnectionRefusedError:
            continue
        raise AssertionError(f"nobody listens at {address}")
    await asyncio.start_server(echo, "server", 80)
    try:
        await asyncio.start_server(echo, "server", 80)
    except OSError as error:
        assert error.errno == errno.EADDRINUSE
    else:
        raise AssertionError("two servers have one address")


class Datagrams(asyncio.DatagramProtocol):
    def __init__(self):
        self.got = asyncio.Queue()

    def datagram_received(self, data, addr):
        self.got.put_nowait((data, addr))


async def datagrams(sim):
    _, server = await in_loop().create_datagram_endpoint(Datagrams, local_addr=("server", 53))
    one, client = await in_loop().create_datagram_endpoint(Datagrams, remote_addr=("server", 53))
    one.sendto(b"question")
    data, address = await server.got.get()
    assert data == b"question" and address == one.get_extra_info("sockname")
    one.close()
    await asyncio.sleep(0)
    one, _ = await in_loop().create_datagram_endpoint(Datagrams, local_addr=("0.0.0.0", 0))
    one.sendto(b"lost", ("nobody", 9))
    one.sendto(b"found", ("server", 53))
    assert (await server.got.get())[0] == b"found"
    one.abort()


async def reset(sim):
    """Both ends see it, also while they wait to write."""
    ended = []
    sim.network.capacity = 4000

    async def handler(reader, writer):
        try:
            await reader.readexactly(1_000_000)
        except ConnectionResetError:
            ended.append("server")
        writer.close()
    async with await asyncio.start_server(handler, "server", 80):
        _, writer = await asyncio.open_connection("server", 80)
        writer.write(bytes(100_000))
        sim.network.reset(sim.network.connections[0])
        try:
            await writer.drain()
            await writer.wait_closed()
        except ConnectionResetError:
            ended.append("client")
        writer.close()
        while len(ended) < 2:
            await asyncio.sleep(0.1)
    assert sim.network.connections == []


async def shuts_down(sim):
    """A server that a signal stops, with connections."""
    stopping = asyncio.Event()
    in_loop().add_signal_handler(signal.SIGTERM, stopping.set)
    server = await asyncio.start_server(echo, "server", 80)
    reader, writer = await asyncio.open_connection("server", 80)
    writer.write(b"x")
    assert await reader.readexactly(1) == b"x"
    await asyncio.open_connection("server", 80)  # the server may reset it, if it has not seen it
    sim.signal(signal.SIGTERM)
    await stopping.wait()
    server.close()
    writer.write(b"y")
    assert await reader.readexactly(1) == b"y"
    try:
        await asyncio.open_connection("server", 80)
    except ConnectionRefusedError:
        return
    raise AssertionError("it listens")


async def sends_file(sim):
    with tempfile.TemporaryFile() as file:
        file.write(bytes(3000))
        file.seek(0)
        async with await asyncio.start_server(echo, "server", 80):
            reader, writer = await asyncio.open_connection("server", 80)
            await in_loop().sendfile(writer.transport, file)
            assert len(await reader.readexactly(3000)) == 3000
            writer.close()


# --- found ---------------------------------------------------------------------------------------

async def in_one_piece(sim):
    """A read is not a write."""
    async def handler(reader, writer):
        writer.write(b"hello, world")
        writer.close()
    async with await asyncio.start_server(handler, "server", 80):
        reader, writer = await asyncio.open_connection("server", 80)
        got = await reader.read(100)
        writer.close()
        assert got == b"hello, world", "the text came in pieces"


async def in_order_of_connects(sim):
    """Connections are not served in the order in which clients opened them."""
    order = []

    async def handler(reader, writer):
        order.append(await reader.readexactly(1))
        writer.close()
    async with await asyncio.start_server(handler, "server", 80):
        ends = [await asyncio.open_connection("server", 80) for _ in range(2)]
        for number, (_, writer) in enumerate(ends):
            writer.write(b"%d" % number)
        for reader, writer in ends:
            await reader.read()
            writer.close()
    assert order == [b"0", b"1"], f"order {order}"


async def drops_result_of_cancelled(sim):
    """Redis #2624: the response to a cancelled command goes to the next one."""
    async def handler(reader, writer):
        while line := await reader.readline():
            writer.write(line)
        writer.close()
    async with await asyncio.start_server(handler, "server", 80):
        reader, writer = await asyncio.open_connection("server", 80)
        lock = asyncio.Lock()

        async def command(text):
            async with lock:
                writer.write(text)
                assert (got := await reader.readline()) == text, f"{text} got {got}"
        tasks = [sim.spawn(None, command(b"%d\n" % number)) for number in range(3)]
        await asyncio.wait(tasks)
        writer.close()
        for task in tasks:
            if not task.cancelled():
                task.result()


async def meets_resets(sim):
    """Asked for, they come."""
    sim.network.resets = 1
    await streams(sim)


def main():
    checks = Checks()
    only = sys.argv[1:]
    before = set(os.listdir("/proc/self/fd"))
    for runs, tests in ((10, (large, reset)), (100, (streams, protocols, unix, sockets, names,
                                                     datagrams, shuts_down, sends_file))):
        for order in ("any", "fifo"):
            checks.all_silent([test for test in tests if not only or test.__name__ in only],
                              "--order", order, runs=runs)
    for test, message in ((in_one_piece, "came in pieces"),
                          (in_order_of_connects, "order [b'1', b'0']"),
                          (drops_result_of_cancelled, "got b'"),
                          (meets_resets, "ConnectionResetError")):
        if only and test.__name__ not in only:
            continue
        for order in ("any", "fifo"):
            report = run(test, "--order", order, "--no-shrink", runs=200) or {}
            found = [one["message"] for one in report.get("violations", ())]
            checks.check(found and message in found[0], f"{test.__name__}, {order}: {found}")
            again = found and ask(test, "replay", report["violations"][0]["token"])
            checks.check(again and again.get("result") == "matched",
                         f"{test.__name__}, {order}, replays: {json.dumps(again)[:400]}")
    checks.check(set(os.listdir("/proc/self/fd")) == before, "no descriptor is left open")
    checks.end()


if __name__ == "__main__":
    main()
