"""Sockets in memory, which socket.socket() makes in a run: the part of the kernel.

Bytes that a socket sends are in flight until they arrive at its peer. When they arrive and in how
many pieces, and when a connect succeeds, the strategy chooses; the bytes of one direction keep their
order.
"""
import collections
import errno
import os
import socket
import struct

from buzzer import outside

BLOCKS = ("a call of a socket that blocks the loop: setblocking(False), and the methods of the loop "
          "or streams")
_Socket = socket.socket


def error(number):
    return OSError(number, os.strerror(number))


class SimSocket:
    """What socket.socket() makes in a run."""

    def __init__(self, family=-1, type=-1, proto=-1, fileno=None):
        loop = outside.running()
        if fileno is not None:
            loop._refuse("socket(fileno=): a descriptor of the system")
        self.family = socket.AF_INET if family == -1 else socket.AddressFamily(family)
        kind = socket.SOCK_STREAM if type == -1 else type
        self.type = socket.SocketKind(kind & ~(socket.SOCK_NONBLOCK | socket.SOCK_CLOEXEC))
        self.proto = max(proto, 0)
        self._loop, self._world = loop, loop._world
        self._timeout = 0.0 if kind & socket.SOCK_NONBLOCK else None
        self._options = {}
        self._name = self._peer_name = None  # addresses
        self._fd = None  # of a pipe, which is readable when this is; None: nobody has asked
        self._is_marked = self._is_closed = False
        self._backlog = None  # of a listener: sockets that were not accepted yet
        self._reader = self._writer = None  # asyncio's handles
        self._read_is_due = self._write_is_due = False
        self._peer = None
        self._is_connecting = self._has_connected = self._is_reset = False
        self._error = 0
        self._in = bytearray()  # it can be read; of datagrams, a queue
        self._packets = collections.deque()
        self._has_end = False  # of what can be read
        self._flight = bytearray()  # it has been sent
        self._end_is_sent = self._end_is_in_flight = self._arrival_is_due = False
        self._world.sockets.append(self)

    def __repr__(self):
        return (f"<{self.type.name} socket in memory, laddr={self._name}, "
                f"raddr={self._peer_name}{', closed' if self._is_closed else ''}>")

    def __enter__(self):
        return self

    def __exit__(self, *args):
        self.close()

    # --- what a program asks and sets ------------------------------------------------------

    def fileno(self):
        if self._is_closed:
            return -1
        if self._fd is None:
            self._fd = self._world.open_fd(self)
            self._mark()
        return self._fd

    def setblocking(self, flag):
        self._timeout = None if flag else 0.0

    def settimeout(self, timeout):
        self._timeout = timeout

    def gettimeout(self):
        return self._timeout

    timeout = property(gettimeout)

    def getblocking(self):
        return self._timeout != 0

    def setsockopt(self, level, option, value, *length):
        self._options[level, option] = value

    def getsockopt(self, level, option, length=0):
        if (level, option) == (socket.SOL_SOCKET, socket.SO_ERROR):
            return self._take_error()
        if (level, option) == (socket.SOL_SOCKET, socket.SO_TYPE):
            return int(self.type)
        return self._options.get((level, option), bytes(length) if length else 0)

    def _take_error(self):
        number, self._error = self._error, 0
        return number

    def set_inheritable(self, flag):
        pass

    def get_inheritable(self):
        return False

    def getsockname(self):
        return self._name or self._world.no_name(self.family)

    def getpeername(self):
        if self._peer_name is None or self._is_connecting:
            raise error(errno.ENOTCONN)
        return self._peer_name

    # --- connections -----------------------------------------------------------------------

    def bind(self, address):
        self._world.bind(self, address)

    def listen(self, backlog=128):
        if self._name is None:
            self.bind(("", 0))
        self._backlog = collections.deque() if self._backlog is None else self._backlog

    def accept(self):
        if self._backlog is None:
            raise error(errno.EINVAL)
        if not self._backlog:
            self._would_block()
        peer = self._backlog.popleft()
        self._mark()
        return peer, peer._peer_name or ""

    def connect(self, address):
        number = self.connect_ex(address)
        if number:
            raise error(number)

    def connect_ex(self, address):
        self._check_open()
        address = self._world.address_of(self, address)
        if self.type == socket.SOCK_DGRAM:
            self._peer_name = address
            self._world.give_name(self)
            return 0
        if self._peer is not None:
            return errno.EISCONN
        if self._is_connecting:
            return errno.EALREADY
        if self.family == socket.AF_UNIX:
            if self._world.listener(self, address) is None:
                return errno.ENOENT
        if self._timeout != 0:
            self._loop._refuse(BLOCKS)
        self._is_connecting, self._peer_name = True, address
        self._loop._call_outside(self._connected)
        return errno.EINPROGRESS

    def _connected(self):
        if self._is_closed:
            return
        self._is_connecting = False
        listener = self._world.listener(self, self._peer_name)
        if listener is None:
            self._error = errno.ECONNREFUSED
            self._is_reset = True
        else:
            self._has_connected = True
            self._world.give_name(self)
            peer = SimSocket(self.family, self.type, self.proto)
            peer._name, peer._peer_name = self._peer_name, self._name
            self.pair(peer)
            listener._backlog.append(peer)
            listener._poll()
            listener._mark()
        self._wake()

    def pair(self, peer):
        self._peer, peer._peer = peer, self

    def _get_reset(self):
        """The peer has reset the connection, or has it no more."""
        if self._is_closed or self._is_reset:
            return
        self._is_reset, self._error = True, errno.ECONNRESET
        self._flight.clear()
        self._wake()

    def shutdown(self, how):
        self._check_open()
        if self._peer is None:
            raise error(errno.ENOTCONN)
        if how in (socket.SHUT_RD, socket.SHUT_RDWR):
            self._has_end = True
            self._in.clear()
            self._wake()
        if how in (socket.SHUT_WR, socket.SHUT_RDWR):
            self._send_end()

    def _send_end(self):
        if not self._end_is_sent:
            self._end_is_sent = self._end_is_in_flight = True
            self._send_on()

    def close(self):
        if self._is_closed:
            return
        self._world.forget(self)
        self._is_closed = True
        for handle in (self._reader, self._writer):
            if handle is not None:
                handle.cancel()
        self._reader = self._writer = None
        if self._backlog is not None:
            for peer in self._backlog:
                self._world.reset(peer)
        if self._peer is not None:
            linger = self._options.get((socket.SOL_SOCKET, socket.SO_LINGER))
            if linger == struct.pack("ii", 1, 0):
                self._world.reset(self._peer)
            elif not self._is_reset:
                self._send_end()
        self._in.clear()

    def detach(self):
        self._loop._refuse("socket.detach(): there is no descriptor of the system behind it")

    dup = makefile = recvmsg = detach

    # --- bytes -----------------------------------------------------------------------------

    def send(self, data, flags=0):
        if self.type == socket.SOCK_DGRAM:
            return self.sendto(data)
        self._check_can_send()
        data = memoryview(data).cast("B")
        count = min(len(data), self._space())
        if not count and len(data):
            self._would_block()
        self._flight += data[:count]
        self._send_on()
        return count

    def sendmsg(self, buffers, *args):
        return self.send(b"".join(buffers))

    def sendall(self, data, flags=0):
        if self.send(data) < len(data):
            self._loop._refuse(BLOCKS)

    def recv(self, size, flags=0):
        self._check_open()
        if self.type == socket.SOCK_DGRAM:
            return self.recvfrom(size)[0]
        if self._in:
            data = bytes(self._in[:size])
            if not flags & socket.MSG_PEEK:
                del self._in[:size]
                self._mark()
                self._peer._poll()
            return data
        if self._error:
            raise error(self._take_error())
        if self._has_end or self._is_reset:
            return b""
        if self._peer is None:
            raise error(errno.ENOTCONN)
        return self._would_block()

    def recv_into(self, buffer, size=0, flags=0):
        return self.recvfrom_into(buffer, size, flags)[0]

    def _space(self):
        peer = self._peer
        return max(self._world.capacity - len(self._flight) - len(peer._in), 0)

    def _check_can_send(self):
        self._check_open()
        if self._error:
            raise error(self._take_error())
        if self._is_reset or self._end_is_sent:
            raise error(errno.EPIPE)
        if self._peer is None:
            raise error(errno.ENOTCONN)

    def _send_on(self):
        if not self._arrival_is_due and (self._flight or self._end_is_in_flight):
            self._arrival_is_due = True
            self._loop._call_outside(self._arrive)

    def _arrive(self):
        """Some of the bytes in flight, or the end behind them."""
        self._arrival_is_due = False
        peer = self._peer
        if self._world.draws_reset():
            self._world.reset(self)
            self._world.reset(peer)
        elif self._flight:
            count = self._world.draw_piece(self)
            data = self._flight[:count]
            del self._flight[:count]
            if peer._is_closed:
                self._get_reset()
            elif not peer._is_reset and not peer._has_end:
                peer._in += data
                peer._wake_reader()
            self._poll()
        elif self._end_is_in_flight:
            self._end_is_in_flight = False
            if not peer._is_reset:
                peer._has_end = True
                peer._wake_reader()
        self._send_on()

    # --- datagrams -------------------------------------------------------------------------

    def sendto(self, data, *args):
        address = args[-1] if args and not isinstance(args[-1], int) else self._peer_name
        self._check_open()
        if address is None:
            raise error(errno.EDESTADDRREQ)
        self._world.give_name(self)
        self._loop._call_outside(self._world.deliver, self, bytes(data),
                                 self._world.address_of(self, address))
        return len(data)

    def recvfrom(self, size, flags=0):
        self._check_open()
        if self.type != socket.SOCK_DGRAM:
            return self.recv(size, flags), None
        if not self._packets:
            self._would_block()
        data, address = self._packets.popleft()
        self._mark()
        return data[:size], address

    def recvfrom_into(self, buffer, size=0, flags=0):
        view = memoryview(buffer).cast("B")
        data, address = self.recvfrom(size or len(view), flags)
        view[:len(data)] = data
        return len(data), address

    # --- readiness -------------------------------------------------------------------------

    def _check_open(self):
        if self._is_closed:
            raise error(errno.EBADF)

    def _would_block(self):
        if self._timeout != 0:
            self._loop._refuse(BLOCKS)
        raise BlockingIOError(errno.EAGAIN, os.strerror(errno.EAGAIN))

    def _is_readable(self):
        return bool(self._in or self._packets or self._has_end or self._is_reset or self._backlog)

    def _is_writable(self):
        if self._is_connecting:
            return False
        return self._is_reset or self._peer is None or self._space() > 0

    def _mark(self):
        """For those that poll its descriptor."""
        if self._fd is not None and self._is_marked != self._is_readable():
            self._is_marked = not self._is_marked
            self._world.mark(self._fd, self._is_marked)

    def _wake_reader(self):
        self._mark()
        if self._reader is not None and self._is_readable():
            self._reader._run()
            self._poll()

    def _wake_writer(self):
        if self._writer is not None and self._is_writable():
            self._writer._run()
            self._poll()

    def _wake(self):
        self._wake_reader()
        self._wake_writer()

    def _poll(self):
        """A selector would find it ready in one of the next turns."""
        if self._reader is not None and not self._read_is_due and self._is_readable():
            self._read_is_due = True
            self._loop._call_outside(self._is_found_readable)
        if self._writer is not None and not self._write_is_due and self._is_writable():
            self._write_is_due = True
            self._loop._call_outside(self._is_found_writable)

    def _is_found_readable(self):
        self._read_is_due = False
        self._wake_reader()

    def _is_found_writable(self):
        self._write_is_due = False
        self._wake_writer()


class _Class(type(_Socket)):
    """isinstance(x, socket.socket) is true for both."""

    def __instancecheck__(cls, value):
        return isinstance(value, (_Socket, SimSocket))

    def __subclasscheck__(cls, other):
        return issubclass(other, _Socket)


class _Either(_Socket, metaclass=_Class):
    """socket.socket in a process that makes runs."""

    def __new__(cls, *args, **kwargs):
        if outside.running() is None:
            return _Socket(*args, **kwargs)
        return SimSocket(*args, **kwargs)


def _socketpair(family=None, type=socket.SOCK_STREAM, proto=0):
    ends = [SimSocket(socket.AF_UNIX, type, proto) for _ in range(2)]
    ends[0].pair(ends[1])
    for end in ends:
        end._peer_name = ""
    return tuple(ends)


def install():
    """Once in a process that makes runs."""
    socket.socket = _Either
    outside.replace(socket, "socketpair", _socketpair)
    outside.replace(socket, "gethostname", lambda: "localhost")
    for name in ("getaddrinfo", "getnameinfo", "gethostbyname"):
        outside.replace(socket, name, lambda *args, _name=name, **kwargs: getattr(
            outside.running()._world, _name)(*args, **kwargs))
