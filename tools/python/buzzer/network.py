"""A network in memory: hosts and connections of a run, and the loop's methods for them.

asyncio's own loop methods, transports, protocols and streams run above, unchanged. Any name is that
of a host, and who connects to a port at which nobody listens is refused.
"""
import asyncio
import collections
import contextvars
import errno
import fcntl
import functools
import ipaddress
import os
import selectors
import socket
import weakref
from asyncio import selector_events

from buzzer.sockets import SimSocket, error

CAPACITY = 65536  # bytes of one direction: in flight, and not yet read
FIRST_PORT = 32768  # of those that a socket gets by itself
FIRST_FD = 512  # descriptors have the same numbers in each process, whatever else is open there
SERVICES = {"http": 80, "https": 443, "domain": 53, "redis": 6379, "postgresql": 5432}
NO_TLS = ("TLS: the network in memory has none. Connect without ssl=, or test against a server in a "
          "process of its own, without Buzzer")


# --- the world ----------------------------------------------------------------------------------


class World:
    """sim.network: the hosts and connections of a run."""

    def __init__(self, loop):
        self._loop = loop
        self.capacity = CAPACITY  # may be set: a small one makes writers wait
        self.resets = 0  # may be set: so many connections are reset, at moments that are drawn
        self.sockets = []
        self._hosts = {}  # name: number
        self._bound = {}  # (type, family, host, port) or path: a socket
        self._by_fd = {}
        self._other_ends = {}  # of the pipes whose reading end is the descriptor
        self._next_port = FIRST_PORT

    # --- for tests -------------------------------------------------------------------------

    @property
    def connections(self):
        """The open ones: the end of each that has connected, in order."""
        return [each for each in self.sockets if each._has_connected and not each._is_closed
                and not each._is_reset]

    def reset(self, connection):
        """The peer resets a connection, as a host that crashes does: an end of `connections`, a
        transport or a StreamWriter. Its reads and writes raise ConnectionResetError from a moment
        that the strategy chooses."""
        end = connection
        if hasattr(end, "get_extra_info"):
            end = end.get_extra_info("socket")
        end = getattr(end, "_sock", end)
        if not isinstance(end, SimSocket):
            raise TypeError(f"no connection of the network in memory: {connection!r}")
        for each in (end, end._peer):
            if each is not None:
                self._loop._call_outside(each._get_reset)

    # --- choices ---------------------------------------------------------------------------

    def draws_reset(self):
        if self.resets > 0 and self._loop._draw("reset", 16) == 1:
            self.resets -= 1
            return True
        return False

    def draw_piece(self, end):
        """How many of the bytes in flight arrive."""
        count = total = len(end._flight)
        if total > 1:
            draw = self._loop._draw("bytes that arrive", 8)
            if draw == 7:
                count = 1 + self._loop._draw("cut", total - 1)
            else:
                count = {5: 1, 6: total // 2}.get(draw, total)
            if self._loop._is_recorded:
                self._loop._say_draw(f"{count} of {total} bytes arrive")
        return count

    # --- addresses -------------------------------------------------------------------------

    def _host(self, name, family):
        """The address of a host, which has one if somebody asks."""
        if isinstance(name, (bytes, bytearray)):
            name = name.decode()
        try:
            literal = ipaddress.ip_address(name.partition("%")[0])
            return str(literal) if (literal.version == 6) == (family == socket.AF_INET6) else None
        except ValueError:
            pass
        name = name.lower().rstrip(".")
        is_six = family == socket.AF_INET6
        if name.endswith(".invalid"):  # by RFC 2606, none has such a name
            return None
        if name == "localhost" or name.endswith(".localhost"):
            return "::1" if is_six else "127.0.0.1"
        number = self._hosts.setdefault(name, len(self._hosts) + 1)
        return f"fd00::{number:x}" if is_six else f"10.0.{number >> 8}.{number & 255}"

    def no_name(self, family):
        return {socket.AF_INET: ("0.0.0.0", 0), socket.AF_INET6: ("::", 0, 0, 0)}.get(family, "")

    def address_of(self, end, address):
        """With names as numbers."""
        if end.family == socket.AF_UNIX:
            return os.fspath(address)
        host = self._host(address[0] or self.no_name(end.family)[0], end.family)
        if host is None:
            raise socket.gaierror(socket.EAI_NONAME, "Name or service not known")
        return (host, *address[1:2], *((0, 0) if end.family == socket.AF_INET6 else ()))

    def getaddrinfo(self, host, port, family=0, type=0, proto=0, flags=0):
        if isinstance(port, (str, bytes)):
            text = port if isinstance(port, str) else port.decode()
            port = int(text) if text.isdigit() else SERVICES.get(text)
            if port is None:
                raise socket.gaierror(socket.EAI_SERVICE, "Servname not supported for ai_socktype")
        kinds = [(socket.SOCK_STREAM, socket.IPPROTO_TCP), (socket.SOCK_DGRAM, socket.IPPROTO_UDP)]
        found = []
        for family in [family] if family else [socket.AF_INET, socket.AF_INET6]:
            is_literal = host and ":" in (host.decode() if isinstance(host, bytes) else host)
            if host is None or host == "" or host == b"":
                name = self.no_name(family)[0]
                name = name if flags & socket.AI_PASSIVE else self._host("localhost", family)
            else:
                name = self._host(host, family)
            if name is None or found and not is_literal:
                continue  # a name has one address, unless the family says which
            rest = (0, 0) if family == socket.AF_INET6 else ()
            found += [(socket.AddressFamily(family), kind, number, "", (name, port or 0, *rest))
                      for kind, number in kinds
                      if type in (0, kind) and proto in (0, number)]
        if not found:
            raise socket.gaierror(socket.EAI_NONAME, "Name or service not known")
        return found

    def getnameinfo(self, address, flags=0):
        host, port = address[:2]
        if not flags & socket.NI_NUMERICHOST:
            names = {self._host(name, socket.AF_INET): name for name in self._hosts}
            host = names.get(host, "localhost" if host in ("127.0.0.1", "::1") else host)
        return host, str(port)

    def gethostbyname(self, name):
        return self.getaddrinfo(name, 0, socket.AF_INET)[0][4][0]

    # --- bound sockets ---------------------------------------------------------------------

    def _key(self, end, address):
        if end.family == socket.AF_UNIX:
            return address
        return end.type, end.family, *address[:2]

    def bind(self, end, address):
        address = self.address_of(end, address)
        if end._name is not None:
            raise error(errno.EINVAL)
        if end.family != socket.AF_UNIX and address[1] == 0:
            address = (address[0], self._new_port(), *address[2:])
        key = self._key(end, address)
        if key in self._bound:
            raise error(errno.EADDRINUSE)
        self._bound[key] = end
        end._name = address

    def _new_port(self):
        self._next_port += 1
        return self._next_port - 1

    def give_name(self, end):
        """The address of a socket that was not bound."""
        if end._name is not None:
            return
        if end.family == socket.AF_UNIX:
            end._name = ""
        elif end.type == socket.SOCK_DGRAM:
            self.bind(end, self.no_name(end.family))
        else:
            host = self._host("localhost", end.family)
            end._name = (host, self._new_port(), *end._peer_name[2:])

    def _find(self, end, address):
        """The socket that is bound to the address, or to every address."""
        found = self._bound.get(self._key(end, address))
        if found is None and end.family != socket.AF_UNIX:
            found = self._bound.get(
                self._key(end, (self.no_name(end.family)[0], *address[1:])))
        return found

    def listener(self, end, address):
        found = self._find(end, address)
        return found if found is not None and found._backlog is not None else None

    def deliver(self, end, data, address):
        """A datagram arrives; the network drops it if nobody has the address."""
        found = self._find(end, address)
        if found is not None and found._peer_name in (None, end._name):
            found._packets.append((data, end._name))
            found._wake_reader()

    def forget(self, end):
        for key in [key for key, bound in self._bound.items() if bound is end]:
            del self._bound[key]
        if end._fd is not None:
            del self._by_fd[end._fd]
            self._close_fd(end._fd)
            end._fd = None

    # --- descriptors -----------------------------------------------------------------------

    def open_fd(self, end):
        """One of the system, that those understand who poll it."""
        low, other = os.pipe2(os.O_NONBLOCK | os.O_CLOEXEC)
        fd = fcntl.fcntl(low, fcntl.F_DUPFD_CLOEXEC, FIRST_FD)
        os.close(low)
        self._by_fd[fd] = end
        self._other_ends[fd] = other
        return fd

    def mark(self, fd, is_readable):
        if is_readable:
            os.write(self._other_ends[fd], b"x")
        else:
            os.read(fd, 1)

    def _close_fd(self, fd):
        os.close(fd)
        os.close(self._other_ends.pop(fd))

    def get_key(self, fd):
        """As of a selector."""
        end = self._by_fd[fd]
        return selectors.SelectorKey(fd, fd, sum(
            event for handle, event in ((end._reader, selectors.EVENT_READ),
                                        (end._writer, selectors.EVENT_WRITE))
            if handle is not None), (end._reader, end._writer))

    @property
    def select(self):
        self._loop._refuse("a select() of the loop's selector, which never blocks: the clock is "
                           "virtual, and Buzzer's, in each run")

    def socket_of(self, fd):
        return self._by_fd.get(fd if isinstance(fd, int) else fd.fileno())

    def end(self):
        for fd in self._by_fd:
            self._close_fd(fd)
        for end in self.sockets:
            end._is_closed, end._fd = True, None


# --- the part of the loop -----------------------------------------------------------------------


class _Strand:
    """The loop, as a transport of asyncio sees it: its callbacks run in order, whichever order the
    loop has, because the transport relies on that."""

    def __init__(self, loop, is_server):
        self._strand_loop, self._is_server = loop, is_server
        self._queue = collections.deque()

    def __getattr__(self, name):
        return getattr(self._strand_loop, name)

    def call_soon(self, callback, *args, context=None):
        self._queue.append((context or contextvars.copy_context(), callback, args))
        if self._strand_loop._is_fifo or len(self._queue) == 1:
            self._strand_loop.call_soon(self._next)

    def _next(self):
        loop = self._strand_loop
        context, callback, args = self._queue.popleft() if loop._is_fifo else self._queue[0]
        helps, loop._helps = loop._helps, self._is_server and (
            getattr(callback, "__name__", "") == "connection_made")
        try:
            context.run(callback, *args)
        finally:
            loop._helps = helps
            if not loop._is_fifo:
                self._queue.popleft()
                if self._queue:
                    loop.call_soon(self._next)


class Network:
    """Sockets and connections, of the loop."""
    _helps = False  # a task that is created may be left behind
    _sim_world = None

    @property
    def _world(self):
        if self._root._sim_world is None:
            self._root._sim_world = World(self)
        return self._root._sim_world

    def _take_network(self):
        """The loop runs from now on, in the place of another of the test's."""
        if self._root._sim_world is not None:
            for each in (self._world, *self._world.sockets):
                each._loop = self

    # asyncio's loop makes this in its __init__().
    _transports = functools.cached_property(lambda self: weakref.WeakValueDictionary())
    _unix_server_sockets = functools.cached_property(lambda self: {})  # since 3.13

    @property
    def _selector(self):
        return self._world  # for transports that say how they are

    def _socket_of(self, fd):
        end = self._world.socket_of(fd)
        if end is None:
            self._refuse("a descriptor of the system, at which real input arrives: use sockets of "
                         "the network in memory; for a library in C, such as libpq, a connection "
                         "of the test's own")
        return end

    def _add(self, name, fd, callback, *args):
        end = self._socket_of(fd)
        handle, before = asyncio.Handle(callback, args, self, None), getattr(end, name)
        setattr(end, name, handle)
        if before is not None:
            before.cancel()
        end._poll()
        return handle

    def _remove(self, name, fd):
        end = self._world.socket_of(fd)
        before = None if end is None else getattr(end, name)
        if before is None:
            return False
        setattr(end, name, None)
        before.cancel()
        return True

    def _done(self, name, fd, fut, handle=None):
        """In order any, a transport may have the socket by now."""
        if handle is None or not handle.cancelled():
            self._remove(name, fd)

    _add_reader = functools.partialmethod(_add, "_reader")
    _add_writer = functools.partialmethod(_add, "_writer")
    _remove_reader = functools.partialmethod(_remove, "_reader")
    _remove_writer = functools.partialmethod(_remove, "_writer")
    _sock_read_done = functools.partialmethod(_done, "_reader")
    _sock_write_done = functools.partialmethod(_done, "_writer")

    def _make_socket_transport(self, sock, protocol, waiter=None, *, extra=None, server=None):
        return selector_events._SelectorSocketTransport(
            _Strand(self, server is not None), sock, protocol, waiter, extra, server)

    def _make_datagram_transport(self, sock, protocol, address=None, waiter=None, extra=None):
        return selector_events._SelectorDatagramTransport(
            _Strand(self, False), sock, protocol, address, waiter, extra)

    def _make_ssl_transport(self, *args, **kwargs):
        self._refuse(NO_TLS)

    def _accept_connection(self, *args, **kwargs):
        """The task that asyncio creates for each connection may be left behind."""
        self._helps = True
        try:
            super()._accept_connection(*args, **kwargs)
        finally:
            self._helps = False

    async def _sock_sendfile_native(self, sock, file, offset, count):
        raise asyncio.SendfileNotAvailableError("the network in memory has no sendfile()")

    async def start_tls(self, *args, **kwargs):
        self._refuse(NO_TLS)
