"""The loop under which tests run: asyncio's interface, virtual time, and no input or output.

The ready queue and the timers are in the C base class. Here is the rest of
asyncio.AbstractEventLoop, and the life of one run: _begin(), _finish(), _end().
"""
import asyncio
import itertools
import traceback

from buzzer import _native
from buzzer import watch as _watch
from buzzer.sim import Sim

NO_NETWORK = "there is no simulated network: real input and output is refused"


class Refused(RuntimeError):
    """The test has left the simulation: a thread, a socket, real time."""


def place_of(exception):
    """"FILE:LINE in NAME" of the innermost frame of the test, or an empty text."""
    frames = traceback.extract_tb(exception.__traceback__)
    return f" ({frames[-1].filename}:{frames[-1].lineno} in {frames[-1].name})" if frames else ""


def sentence_of(exception):
    text = "".join(traceback.format_exception_only(type(exception), exception)).strip()
    return text + place_of(exception)


class Loop(_native.Loop, asyncio.AbstractEventLoop):
    def __init__(self):
        self._main = None
        self._sim = None
        self._ended = []  # tasks that ended with an exception
        self._generators = []
        self._debug = False
        self._numbers = itertools.count(1)
        self._spawns = False  # the next task may be cancelled from outside
        self._objects = {}  # id of a watched primitive: it, and what tells the judge
        self._object_names = {}
        self._scopes = {}  # task: the watched timeout scope that it is in

    # --- a run -----------------------------------------------------------------------------

    def _begin(self, test):
        asyncio._set_running_loop(self)
        self._sim = Sim(self)
        self._main = self.create_task(test(self._sim), name="test")
        self._main.add_done_callback(self._main_done)

    def _main_done(self, task):
        if task.cancelled():
            self._object_to("assertion", task.number, "the test was cancelled: it awaits a task "
                            "into which a cancel was injected, or it cancels itself")
        elif task.exception() is not None:
            self._object_to("assertion", task.number, sentence_of(task.exception()))

    def _finish(self):
        """Nothing can run any more, and no oracle has objected."""

    def _end(self):
        asyncio._set_running_loop(None)
        self._scopes.clear()
        for primitive, _ in self._objects.values():
            _watch.restore(primitive)
        self._objects.clear()

    def _callback_failed(self, exception, callback):
        self._object_to("assertion", self._running,
                        f"a callback failed: {sentence_of(exception)}")

    # --- watched primitives ------------------------------------------------------------------

    def _watch(self, primitive, judged):
        self._objects[id(primitive)] = (primitive, judged)

    def _watched(self, primitive):
        return self._objects.get(id(primitive), (None, None))[1]

    def _object_name(self, kind):
        """"lock", "lock-2" and so on."""
        number = self._object_names[kind] = self._object_names.get(kind, 0) + 1
        return kind if number == 1 else f"{kind}-{number}"

    # --- asyncio.AbstractEventLoop -----------------------------------------------------------

    def create_future(self):
        return asyncio.Future(loop=self)

    def create_task(self, coro, *, name=None, context=None):
        name = f"task-{next(self._numbers)}" if name is None else str(name)
        if context is None:
            task = _native.Task(coro, loop=self, name=name)
        else:
            task = _native.Task(coro, loop=self, name=name, context=context)
        if not self._spawns:
            self._protect(task.number)
        self._spawns = False
        return task

    def call_later(self, delay, callback, *args, context=None):
        when_ns = self.now_ns + max(0, round(delay * 1e9))
        return self._call_at_ns(when_ns, callback, *args, context=context)

    def call_at(self, when, callback, *args, context=None):
        return self._call_at_ns(max(0, round(when * 1e9)), callback, *args, context=context)

    def call_soon_threadsafe(self, callback, *args, context=None):
        return self.call_soon(callback, *args, context=context)

    def call_exception_handler(self, context):
        exception = context.get("exception")
        text = context.get("message", "an error") + (
            "" if exception is None else ": " + sentence_of(exception))
        self._object_to("assertion", self._running, text)

    def default_exception_handler(self, context):
        self.call_exception_handler(context)

    def get_exception_handler(self):
        return None

    def set_exception_handler(self, handler):
        pass

    def get_task_factory(self):
        return None

    def get_debug(self):
        return self._debug

    def set_debug(self, enabled):
        self._debug = enabled

    def is_running(self):
        return True

    def is_closed(self):
        return False

    def _timer_handle_cancelled(self, handle):
        pass

    def _asyncgen_firstiter_hook(self, generator):
        self._generators.append(generator)

    async def shutdown_asyncgens(self):
        for generator in self._generators:
            await generator.aclose()


def _refuse(name):
    def refused(self, *args, **kwargs):
        raise Refused(f"{name}(): {NO_NETWORK}")
    return refused


for _name in ("run_in_executor", "create_connection", "create_server", "create_datagram_endpoint",
              "create_unix_connection", "create_unix_server", "getaddrinfo", "getnameinfo",
              "add_reader", "add_writer", "remove_reader", "remove_writer", "sock_recv",
              "sock_recv_into", "sock_sendall", "sock_connect", "sock_accept", "sendfile",
              "start_tls", "connect_read_pipe", "connect_write_pipe", "subprocess_shell",
              "subprocess_exec", "add_signal_handler", "remove_signal_handler", "run_forever",
              "run_until_complete"):
    setattr(Loop, _name, _refuse(_name))
