"""The loop under which tests run: asyncio's interface, virtual time, and no input or output.

The ready queue and the timers are in the C base class. Here is the rest of
asyncio.AbstractEventLoop, and the life of one run: _begin(), _finish(), _end().
"""
import asyncio
import gc
import inspect
import itertools
import re
import sys
import tempfile
import warnings
import weakref

from buzzer import _native, network, outside, sockets, suite, where
from buzzer import watch as _watch
from buzzer.sim import Sim

NO_PROCESSES = ("a simulation is one process: put a coroutine of the test in its place, which talks "
                "over socket.socketpair(), or test this without Buzzer")
_EAGER = getattr(asyncio, "eager_task_factory", None)  # since 3.12
UNRETRIEVED = "Task exception was never retrieved"
NAMED_MAX = 4
RUNS_PER_COLLECTION = 64
NEVER_NS = 1 << 62
tempfile.gettempdir()  # it is kept, and found by random names, which are drawn in a run
NAN_NS = -1 << 63
_CREATE_TASK = inspect.signature(asyncio.BaseEventLoop.create_task).parameters
_MORE_NAMES = frozenset(_CREATE_TASK) | ({"eager_start"} if "kwargs" in _CREATE_TASK else set())


class Refused(RuntimeError):
    """The test has left the simulation: a thread, a socket, real time."""


class RunIsOver(BaseException):
    """Ends a test that runs loops of its own: the run has a verdict, or none any more."""


class _InOrder(set):
    """A set that is walked in the order in which it was filled, not by address. It is the `set` of
    modules that keep tasks and coroutines."""
    _items = ()  # of one that is the result of an operation, as a copy is

    def __init__(self, items=()):
        self._items = dict.fromkeys(items)
        super().__init__(self._items)

    def __iter__(self):
        return iter(self._items) if len(self._items) == len(self) else super().__iter__()

    def add(self, item):
        super().add(item)
        if self._items is not _InOrder._items:
            self._items.setdefault(item)

    def discard(self, item):
        super().discard(item)
        if self._items is not _InOrder._items:
            self._items.pop(item, None)

    def remove(self, item):
        super().remove(item)
        self.discard(item)

    def __repr__(self):
        return repr(set(self))


class _Children(_InOrder):
    """The tasks of a group, which cancels them in the order of a set, by address: in any."""

    def __iter__(self):
        loop, items = asyncio._get_running_loop(), list(super().__iter__())
        children = [item for item in items if not item.done()]
        for place in range(len(children) - 1 if isinstance(loop, Loop) else 0):
            chosen = loop._choose_child(len(children) - place)
            if chosen > 0:
                loop._say_draw(f"{children[place + chosen].get_name()} as the next to be cancelled")
            children.insert(place, children.pop(place + chosen))
        return iter(children + [item for item in items if item.done()])


_WITH_SETS = ("asyncio.tasks", "asyncio.taskgroups", "anyio._backends._asyncio",
              "websockets.legacy.server", "uvicorn.server", "redis.asyncio.connection",
              "aiojobs._scheduler")


def _line(text, most):
    """In UTF-8, in one line, cut to fit so many bytes and a 0, and without addresses, which differ
    between two runs."""
    text = re.sub("[\0-\x1f]", " ", re.sub(" at 0x[0-9a-fA-F]*", "", text))
    line = text.encode("utf-8", "backslashreplace")
    if len(line) >= most:
        line = line[:most - 1].decode("utf-8", "ignore").encode()
    return line


def _nanoseconds(seconds):
    if isinstance(seconds, int):
        whole = seconds * 1_000_000_000
        if abs(whole) > NEVER_NS:
            float(seconds)  # raises what asyncio does, whose clock is a float
    else:
        seconds = 0.0 + seconds  # likewise
        if seconds != seconds:
            return NAN_NS
        try:
            whole = round(seconds * 1e9)
        except OverflowError:
            whole = NEVER_NS if seconds > 0 else -NEVER_NS
    return max(-NEVER_NS, min(NEVER_NS, whole))


class _Followed(_native.Task):
    """A task that the program makes itself, of asyncio.Task or of a class of its own."""

    def __init__(self, coro, *, loop=None, name=None, **more):
        loop = asyncio.get_running_loop() if loop is None else loop
        if isinstance(loop, Loop):
            given, loop._given_name = loop._given_name, None
            name = loop._name_of_task(given if name is None else name)
        super().__init__(coro, loop=loop, name=name, **more)
        loop._admit(self, coro)


_classes = {asyncio.Task: _Followed}  # of tasks in a run, by the class of the program


class Loop(_native.Loop, outside.Outside, network.Network, asyncio.SelectorEventLoop):
    slow_callback_duration = 0.1  # for those who set it: no step takes any time
    _process = 0  # which has prepared itself for runs
    _runs = 0
    _current_handle = None  # of asyncio's message about an error

    def __init__(self):
        self._main = None
        self._sim = None
        self._asyncgens = weakref.WeakSet()
        self._exception_handler = None
        self._numbers = itertools.count(1)
        self._workers = itertools.count(1)  # in executors
        self._task_factory = self._given_name = None
        self._gone_on = {}  # number of a task: where it waited after it was cancelled
        self._swallowers = {}  # number of a task: what swallows each of its CancelledErrors
        self._catchers = {}  # number of a task: the frame that caught it
        self._spawns = False  # the next task may be cancelled from outside
        self._objects = {}  # id of a watched primitive: it, and what reports to the judge
        self._object_names = {}
        self._failed = []  # weak references to tasks that ended with an exception
        self._scopes = {}  # task: the watched timeout scope that it is in
        self._old_hooks = None
        self._modules = []  # whose `set` is another one in a run
        self._signal_handlers = {}
        self._idle = []  # futures of those who wait until nothing else can run
        self._test = None  # of a suite
        self._targets = None  # of a suite: matches coroutines into whose tasks cancels are injected
        if self._root is not self:
            for name in _OF_A_RUN:
                setattr(self, name, getattr(self._root, name))

    # --- a run -----------------------------------------------------------------------------

    def _begin(self, test):
        self._prepare_process()
        tempfile._name_sequence = None  # each run has one of its own, of drawn numbers
        self._old_hooks = sys.get_asyncgen_hooks()
        self._modules = [sys.modules[name] for name in _WITH_SETS if name in sys.modules]
        for module in self._modules:
            module.set = _Children if module.__name__ == "asyncio.taskgroups" else _InOrder
        outside.set_loop(self)
        self._sim = Sim(self, getattr(test, "permits", None))
        if getattr(test, "is_suite", False):
            self._run_suite(test)
            return
        sys.set_asyncgen_hooks(firstiter=self._asyncgens.add, finalizer=self._drop_generator)
        asyncio._set_running_loop(self)
        try:
            coro = test(self._sim)
        except Exception as exception:
            self._end_without_verdict(f"the test cannot be called with the simulation as its only "
                                      f"argument: {where.sentence_of(exception)}")
            return
        if not inspect.iscoroutine(coro):
            self._end_without_verdict(f"the test must be an 'async def': {test!r} returned "
                                      f"{type(coro).__name__}")
            return
        self._main = self.create_task(coro, name="test")

    @staticmethod
    def _install():
        """Once in the process of the program, whose copies make the runs."""
        outside.install()
        sockets.install()
        gc.freeze()  # or each process that a run needs copies what is here
        gc.collect()  # that is not all: lists of what is free

    def _prepare_process(self):
        """The garbage collector would come at any time: here, it comes at fixed times."""
        if Loop._process != _native.process():
            Loop._process = _native.process()
            gc.collect()
            gc.freeze()
        gc.disable()

    def _collect(self):
        gc.collect()

    def _main_done(self, task):
        if task.cancelled():
            self._violate("assertion", task.number, "the test was cancelled: it awaits a task "
                            "into which a cancel was injected, or it cancels itself")
        elif task.exception() is not None:
            self._violate("assertion", task.number, where.sentence_of(task.exception()))

    def _has_failed(self, task):
        self._failed.append(weakref.ref(task))

    def _goes_on(self, task, error):
        """It waits, and no frame handles a CancelledError any more."""
        self._gone_on[task.number] = where.of_task(task)
        if error is not None:
            self._handles(task, error)
        elif not where.is_in_frame(task, self._catchers.get(task.number)):
            self._catchers.pop(task.number, None)  # or one that called it has caught it again

    def _handles(self, task, error):
        self._catchers[task.number] = where.catcher_of(error)

    def _is_notified(self, task):
        """It is about to get a CancelledError."""
        self._swallowers.setdefault(task.number, []).append(where.swallower_in(task))

    def _has_swallowed(self, task):
        if task.cancelling() >= task._strikes:  # else it has taken one back
            place = self._gone_on[task.number]
            waited = f"then it waited{' at ' * bool(place)}{place}, and returned"
            swallowers = set(self._swallowers.get(task.number, [None]))
            if len(swallowers) == 1 and None not in swallowers:
                text, remedy = f", and {swallowers.pop()} caught the CancelledError", ""
            else:
                catcher = where.text_of(self._catchers.get(task.number))
                text = (f"; {catcher or 'it, or what it calls,'} caught the CancelledError and left "
                        "the handler")
                remedy = " (raise it again, or refuse it by Task.uncancel())"
            self._violate("cancel-delivered", task.number,
                            f"{task.get_name()} was cancelled{text}; {waited}: the cancel was "
                            f"swallowed{remedy}")

    def _run_suite(self, test):
        """A function that makes its loops itself, as a test runner does, and calls them."""
        self._test, self._targets = test, test.targets
        self._is_suite = True
        try:
            with suite.replaced(self, test.is_watched):
                test(self._sim)
        except RunIsOver:
            return
        for task in self._left():  # asyncio lets them be
            self._set_helper(task.number)

    def _finish(self):
        """Nothing can run any more, or the test has ended, and no oracle has objected."""
        for task in [reference() for reference in self._failed]:
            # nothing has asked for its exception, which a real loop logs
            if task is not None and task._log_traceback and self._test is None:
                self.call_exception_handler({"message": UNRETRIEVED, "future": task,
                                             "exception": task.exception()})
        left = self._left()
        if left and self._main.done() and self._can_go_on:
            named = ", ".join(f"{task.get_name()} ({where.of_task(task) or 'not started'})"
                              for task in left[:NAMED_MAX])
            more = ", ..." if len(left) > NAMED_MAX else ""
            self._violate("leak", left[0].number,
                            f"the test has ended, and {len(left)} "
                            f"task{'s go' if len(left) > 1 else ' goes'} on, which asyncio.run() "
                            f"would cancel: {named}{more}")

    def _end(self, left):
        """Closes what is left. Its code may still run, but has no effect."""
        if left:
            self._close(left)
        asyncio._set_running_loop(None)
        self._scopes.clear()
        self._failed.clear()
        for primitive, _ in self._objects.values():
            _watch.restore(primitive)
        self._objects.clear()
        for module in self._modules:
            vars(module).pop("set", None)
        outside.set_loop(None)
        if self._sim_world is not None:
            self._sim_world.end()
        sys.set_asyncgen_hooks(*self._old_hooks)
        Loop._runs += 1
        if Loop._runs % RUNS_PER_COLLECTION == 0:
            gc.collect()

    def _close(self, left):
        unraisable, sys.unraisablehook = sys.unraisablehook, lambda args: None
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                while left:
                    task = left.pop()
                    task._log_destroy_pending = False
                    try:
                        task.get_coro().close()
                    except BaseException:
                        pass  # a `finally` that awaits, say
                    task = None
        finally:
            sys.unraisablehook = unraisable

    def _violate(self, oracle, task, message):
        self._report(oracle, task, _line(message, _native.MESSAGE_BYTES))

    def _end_without_verdict(self, sentence):
        self._end_run(_line(sentence, _native.REFUSAL_BYTES))

    def _refuse(self, sentence):
        """The run has no verdict: the test is at fault, or what it calls."""
        text = f"{sentence} ({where.of_caller()})"
        self._end_without_verdict(text)
        if self._test is not None:
            self._test.note_refusal(text)
        raise Refused(text)

    def _place_of(self, task):
        """Where a task is suspended. Called only in runs that are recorded."""
        return where.line_of_task(task)

    def _callback_failed(self, exception, callback, args, handle):
        if isinstance(exception, (SystemExit, KeyboardInterrupt)):
            self._violate("assertion", self._running,
                            f"it would end the program: {where.sentence_of(exception)}")
        else:
            text = asyncio.format_helpers._format_callback_source(callback, args)
            self.call_exception_handler({"message": f"Exception in callback {text}",
                                         "exception": exception, "handle": handle})

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

    def create_task(self, coro, *, name=None, **others):
        for other in sorted(others.keys() - _MORE_NAMES):
            raise TypeError(f"Loop.create_task() got an unexpected keyword argument '{other}'")
        self._check_closed()
        if self._task_factory not in (None, _EAGER):
            return self._create_by_factory(coro, name, others)
        context = others.get("context")
        more = {} if context is None else {"context": context}
        is_eager = others.get("eager_start")
        if self._task_factory is not None if is_eager is None else is_eager:
            more["eager_start"] = True
        task = _native.Task(coro, loop=self, name=self._name_of_task(name), **more)
        self._admit(task, coro)
        return task

    def _name_of_task(self, name):
        return f"Task-{next(self._numbers)}" if name is None else str(name)

    def _admit(self, task, coro):
        """A task has been created."""
        spawns, self._spawns = self._spawns, False
        if self._root is not self and self.is_running():
            name_of = getattr(coro, "__qualname__", "")
            spawns = self._targets is None or self._targets(name_of) is not None
        if not spawns:
            self._protect(task.number)
        if self._helps:
            self._set_helper(task.number)
        if self._root is not self and not self.is_running():
            self._root._main = task.number

    def _create_by_factory(self, coro, name, others):
        self._given_name = name
        task = super().create_task(coro, name=name, **others)
        if not isinstance(task, _native.Task) or task.number == 0:
            self._refuse(f"a task factory that returns {type(task).__name__}: Buzzer can follow "
                         "asyncio.Task and its subclasses, which call its __init__()")
        return task

    def _class_for(self, kind):
        """The class of the tasks that the program makes of its own class."""
        if kind not in _classes:
            try:
                _classes[kind] = type(kind)(kind.__name__, (kind, _Followed),
                                            {"__module__": kind.__module__})
            except TypeError as error:
                self._refuse(f"the class of tasks {kind.__name__}, which Buzzer cannot follow: "
                             f"{error}")
        return _classes[kind]

    def call_later(self, delay, callback, *args, context=None):
        return self._call_at_ns(self.now_ns + _nanoseconds(delay), self.now_ns / 1e9 + delay,
                                callback, *args, context=context)

    def call_at(self, when, callback, *args, context=None):
        return self._call_at_ns(_nanoseconds(when), when, callback, *args, context=context)

    def call_soon_threadsafe(self, callback, *args, context=None):
        if self.get_debug():
            self._check_callback(callback, "call_soon_threadsafe")
        return self.call_soon(callback, *args, context=context)

    def default_exception_handler(self, context):
        if self._root is not self:  # a log is what there is on a loop of asyncio's
            asyncio.BaseEventLoop.default_exception_handler(self, context)
            return
        exception, task = context.get("exception"), context.get("future")
        text = str(context.get("message", "an error"))
        if text == UNRETRIEVED and isinstance(task, _native.Task):
            text = f"{task.get_name()} ended with an exception that nobody retrieved"
        if exception is not None:
            text += ": " + where.sentence_of(exception)
        self._violate("assertion", getattr(task, "number", self._running), text)

    def set_debug(self, enabled):
        self._debug = bool(enabled)

    def is_running(self):
        return asyncio._get_running_loop() is self

    def run_forever(self):
        self._check_closed()
        self._check_running()
        hooks = sys.get_asyncgen_hooks()
        sys.set_asyncgen_hooks(firstiter=self._asyncgens.add, finalizer=self._drop_generator)
        asyncio._set_running_loop(self)
        outside.set_loop(self)
        self._take_network()
        try:
            goes_on = self._drive()
        finally:
            asyncio._set_running_loop(None)
            sys.set_asyncgen_hooks(*hooks)
        if not goes_on:
            raise RunIsOver

    def close(self):
        if self.is_running():
            raise RuntimeError("Cannot close a running event loop")
        for task in self._left():
            if task.get_loop() is self:
                self._set_helper(task.number)
        self._shut()

    def stop(self):
        if self._root is self:
            self._refuse("stop(): the loop is Buzzer's")
        self._stopping = True

    def _wake_idle(self):
        idle, self._idle = self._idle, []
        for future in idle:
            if not future.done():
                future.set_result(None)

    def _timer_handle_cancelled(self, handle):
        pass

    def _drop_generator(self, generator):
        self._asyncgens.discard(generator)
        if self._closed:
            return
        self.call_soon(self._close_generator, generator)

    def _close_generator(self, generator):
        self._set_helper(self.create_task(generator.aclose()).number)


_OF_A_RUN = ("_sim", "_gone_on", "_swallowers", "_catchers", "_objects", "_object_names", "_failed",
             "_scopes", "_numbers", "_workers", "_test", "_targets")


def _refusing(name, why):
    def refused(self, *args, **kwargs):
        self._refuse(f"{name}(): {why}")
    return refused


for _name in ("connect_read_pipe", "connect_write_pipe", "subprocess_shell", "subprocess_exec"):
    setattr(Loop, _name, _refusing(_name, NO_PROCESSES))
