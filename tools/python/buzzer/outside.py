"""What reaches a loop from outside: functions that end in threads of an executor, and signals.

Each is a step of its own in the thread of the loop, at a moment that the strategy chooses. The
classes of concurrent.futures and of anyio are the real ones, but for their threads.
"""
import asyncio
import concurrent.futures
import contextvars
import functools
import os
import queue
import signal
import sys
import threading

DRIVERS = (("psycopg.generators", "connect"), ("psycopg2", "_connect"))  # above libpq
NO_DRIVER = ("a connection by libpq, on sockets of the system: use a driver in Python, such as "
             "asyncpg, or a connection of the test's own")
CPUS = 4  # that os.cpu_count() has in a run: the default executor has 4 workers more


def call_in_thread(loop, thread, context, function, *args):
    """A function in a thread sees no running loop, and a thread of its own."""
    number, real = threading.get_ident(), threading.current_thread()
    asyncio._set_running_loop(None)
    threading._active[number] = thread
    try:
        return context.run(function, *args)
    finally:
        threading._active[number] = real
        asyncio._set_running_loop(loop)


class _Worker:
    """In the place of a thread of a ThreadPoolExecutor."""

    def __init__(self, loop, executor):
        self.loop = loop
        self.is_busy = True
        self._executor = executor
        self._number = next(loop._workers)
        self._context = contextvars.Context()  # of a thread: it stays from call to call
        self._thread = threading.Thread(
            name=f"{executor._thread_name_prefix or 'worker'}_{len(executor._threads)}")
        self._is_new = executor._initializer is not None
        self._taken = None  # a function that has begun
        loop._call_outside(self._step)

    def __hash__(self):  # sets of workers have an order, the same in each run
        return self._number

    def wake(self):
        self.is_busy = True
        self.loop._call_outside(self._step)

    def _step(self):
        """Takes a function, which no cancel stops from now on, and calls it now or later."""
        self._taken = self._take()
        if self._taken is None:
            self.is_busy = False
        elif self.loop._draw("steps that the function takes", 2) == 0:
            self._call()
        else:
            self.loop._call_outside(self._call)

    def _call(self):
        item, self._taken = self._taken, None
        if item is not None:  # else join() has called it
            call_in_thread(self.loop, self._thread, self._context, item.run)
        if self._executor._work_queue.empty():
            self.is_busy = False
        else:
            self.loop._call_outside(self._step)

    def _take(self):
        if self._is_new:
            self._is_new = False
            try:
                call_in_thread(self.loop, self._thread, self._context, self._executor._initializer,
                               *self._executor._initargs)
            except BaseException:
                self._executor._initializer_failed()
        while True:
            try:
                item = self._executor._work_queue.get_nowait()
            except queue.Empty:
                return None
            if item is not None and item.future.set_running_or_notify_cancel():  # None: shutdown()
                item.future.set_running_or_notify_cancel = lambda: True  # item.run() asks again
                return item

    def join(self, timeout=None):
        """shutdown(wait=True): what is left runs now."""
        item, self._taken = self._taken or self._take(), None
        while item is not None:
            call_in_thread(self.loop, self._thread, self._context, item.run)
            item = self._take()


def _adjust_thread_count(executor):
    """ThreadPoolExecutor._adjust_thread_count() of a run: a function has been queued."""
    loop = _current[0]
    workers = executor._threads
    if any(getattr(worker, "loop", None) is not loop for worker in workers):  # of an earlier run
        workers.clear()
        while executor._work_queue.qsize() > 1:
            executor._work_queue.get_nowait()
    idle = next((worker for worker in workers if not worker.is_busy), None)
    if idle is not None:
        idle.wake()
    elif len(workers) < executor._max_workers:
        workers.add(_Worker(loop, executor))


class _NothingToDo(BaseException):
    """The queue of a thread of anyio is empty: the thread would sleep now."""


class _AnyioQueue(queue.Queue):
    """The queue of a thread of anyio: the thread makes a step for what is put into it."""

    def __init__(self, loop, thread):
        super().__init__()
        self._loop, self._thread, self._context = loop, thread, contextvars.Context()

    def put_nowait(self, item):
        super().put_nowait(item)
        self._loop._call_outside(self._step)

    def get(self, block=True, timeout=None):
        try:
            return super().get(False)
        except queue.Empty:
            raise _NothingToDo from None

    def _step(self):
        try:
            call_in_thread(self._loop, self._thread, self._context, self._thread.run)
        except _NothingToDo:
            pass


# --- in force in a process that makes runs, while it makes one ----------------------------------

_current = [None]  # the loop


def replace(holder, name, pinned):
    """In a run, the other function is called."""
    real = getattr(holder, name)

    @functools.wraps(real)
    def either(*args, **kwargs):
        return (real if _current[0] is None else pinned)(*args, **kwargs)
    setattr(holder, name, either)


def _send_or(real, sends):
    """A signal that the program sends to itself, and for which its loop has a handler."""
    def send(*args):
        if sends(*args) and args[-1] in running()._signal_handlers:
            running()._send_signal(args[-1])
        else:
            real(*args)
    return send


def install():
    """Once in a process."""
    replace(os, "kill", _send_or(os.kill, lambda pid, number: pid == os.getpid()))
    replace(signal, "raise_signal", _send_or(signal.raise_signal, lambda number: True))
    replace(concurrent.futures.ThreadPoolExecutor, "_adjust_thread_count", _adjust_thread_count)
    for name in ("cpu_count", "process_cpu_count"):
        if hasattr(os, name):
            replace(os, name, lambda: CPUS)
    start = threading.Thread.start

    def start_thread(thread):
        if type(thread).__module__ == "anyio._backends._asyncio":
            thread.queue = _AnyioQueue(_current[0], thread)
        else:
            start(thread)
    replace(threading.Thread, "start", start_thread)


def set_loop(loop):
    _current[0] = loop
    for module, name in DRIVERS:
        holder = sys.modules.get(module)
        if holder is not None and not hasattr(getattr(holder, name), "__wrapped__"):
            replace(holder, name, lambda *args, **kwargs: running()._refuse(NO_DRIVER))


def running():
    """The loop of the run that is made; None."""
    return _current[0]


# --- the part of the loop -----------------------------------------------------------------------


class Outside:
    """Executors and signals, of the loop."""
    _default_executor = None
    _executor_shutdown_called = False

    def run_in_executor(self, executor, func, *args):
        if type(executor).__name__ in ("ProcessPoolExecutor", "InterpreterPoolExecutor"):
            self._refuse(f"a {type(executor).__name__}: a simulation is one process; use a "
                         "ThreadPoolExecutor, whose functions are steps of the run")
        return super().run_in_executor(executor, func, *args)

    async def shutdown_default_executor(self, timeout=None):
        self._executor_shutdown_called = True
        if self._default_executor is not None:
            self._default_executor.shutdown(wait=True)

    def add_signal_handler(self, sig, callback, *args):
        if asyncio.iscoroutine(callback) or asyncio.iscoroutinefunction(callback):
            raise TypeError("coroutines cannot be used with add_signal_handler()")
        self._check_signal(sig)
        if sig in (signal.SIGKILL, signal.SIGSTOP):
            raise RuntimeError(f"sig {sig} cannot be caught")
        self._signal_handlers[sig] = callback, args, contextvars.copy_context()

    def remove_signal_handler(self, sig):
        self._check_signal(sig)
        return self._signal_handlers.pop(sig, None) is not None

    def _is_in_thread(self):
        return threading.current_thread() is not threading.main_thread()

    def _send_signal(self, sig):
        """It arrives at a moment that the strategy chooses."""
        self._check_signal(sig)
        self._call_outside(self._get_signal, signal.Signals(sig))

    def _get_signal(self, sig):
        of_program = signal.getsignal(sig)
        if sig in self._signal_handlers:
            callback, args, context = self._signal_handlers[sig]
            self.call_soon(callback, *args, context=context)
        elif callable(of_program) and of_program is not signal.default_int_handler:
            of_program(sig, None)
        elif of_program is not signal.SIG_IGN:
            self._violate("assertion", self._running, f"{sig.name} would end the program: it has "
                          "no handler (loop.add_signal_handler() or signal.signal())")
