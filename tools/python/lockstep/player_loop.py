"""The loop of the player: the ready queue, the timers and the turns of asyncio, with the order of the C side.

It is the first part of the text that the interpreter runs; player.py is the second.
"""
import functools
import heapq
import sys

if "--py-task" in sys.argv:
    sys.modules["_asyncio"] = None  # so that tasks and futures are those in Python

import asyncio  # noqa: E402
from asyncio import base_events, events  # noqa: E402

TIMEOUT = getattr(asyncio, "Timeout", None)
GROUP = getattr(asyncio, "TaskGroup", None)
FUTURE = asyncio.Future
FUNCTION = type(lambda: None)
PARTIAL = functools.partial
SHUT = getattr(asyncio, "QueueShutDown", None)


class Differs(Exception):
    """(what, the C side, this side)"""


class Failed(Exception):
    """The operation `fail`."""


# --- handles, tasks, the loop ---------------------------------------------------------------------


class Handle:
    __slots__ = ("loop", "name", "callback", "args", "context", "when", "is_cancelled", "is_armed")

    def __init__(self, loop, name, callback, args, context, when=None):
        self.loop = loop
        self.name = name
        self.callback = callback
        self.args = args
        self.context = context
        self.when = when
        self.is_cancelled = False
        self.is_armed = False

    def __lt__(self, other):  # as asyncio.TimerHandle: by time alone
        return self.when < other.when

    def cancel(self):
        if not self.is_cancelled:
            self.is_cancelled = True
            self.loop.handle_cancelled(self)

    def cancelled(self):
        return self.is_cancelled


def task_class(base):
    """The interpreter's task, with a number, and with an eye on cancels."""

    class Task(base):
        def cancel(self, msg=None):
            if not self.done():
                self.player.happens("c%d" % self.number)
            return super().cancel(msg) if msg is not None else super().cancel()

        def add_done_callback(self, function, *, context=None):
            if function.__class__ is PARTIAL:  # of wait_for()
                loop = self.player.loop
                loop.partials[function] = loop.next_name("c")
            super().add_done_callback(function, context=context)

        def uncancel(self):
            left = super().uncancel()
            mark = "m" if left == 0 and self._must_cancel else ""
            self.player.happens("u%d:%d%s" % (self.number, left, mark))
            return left

    return Task


class Children(set):
    """The tasks of a group. A real set orders them by address; here the C side chooses."""

    def __init__(self, player):
        super().__init__()
        self.player = player

    def __iter__(self):
        wanted = [word[1:] for word in self.player.expected if word[0] == "c"]
        rank = {number: place for place, number in reversed(list(enumerate(wanted)))}
        return iter(sorted(super().__iter__(), key=lambda task: (
            rank.get(str(task.number), len(wanted)), task.number)))


def outcome(future):
    if future.cancelled():
        return "cancelled"
    error = future.exception()
    if error is None:
        return "ok"
    return "cancelled" if isinstance(error, asyncio.CancelledError) else "failed"


class Loop(asyncio.AbstractEventLoop):
    """The turns of BaseEventLoop, with the order of the C side."""

    def __init__(self, player, order, task_type):
        self.player = player
        self.is_fifo = order == "fifo"
        self.task_type = task_type
        self.now = 0
        self.turn = 0  # handles left of this turn
        self.ready = []
        self.timers = []
        self.timers_cancelled = 0
        self.running = 0
        self.counts = {}  # by (owner, role)
        self.callbacks = {}  # by child: the name of the callback of its group, or gather
        self.timeouts = {}  # by timeout: the name of its timer
        self.partials = {}  # by callback of wait_for(): its name
        self.shields = {}  # by outer future: the names of the two callbacks of a shield
        self.tasks = {}
        self.task_count = 0
        self.is_over = False

    # what asyncio asks for
    def get_debug(self):
        return False

    def time(self):
        return self.now

    def call_exception_handler(self, context):
        pass

    def create_future(self):
        return FUTURE(loop=self)

    def is_running(self):
        return True

    def is_closed(self):
        return False

    def create_task(self, coro, *, name=None, context=None, **kwargs):
        number = self.task_count = self.task_count + 1
        task_type = self.task_type
        task = task_type.__new__(task_type)
        task.player = self.player
        task.number = number
        task.steps = 0
        task.ended = None  # how its state is shown once it is done, and changes no more
        self.tasks[number] = task
        self.player.happens("s%d" % number)
        if context is not None:
            kwargs["context"] = context
        task.__init__(coro, loop=self, name=name or "task", **kwargs)
        return task

    def next_name(self, role):
        key = (self.running, role)
        count = self.counts[key] = self.counts.get(key, 0) + 1
        return "%d%s%d" % (self.running, role, count)

    def timer_name(self, timeout):
        """The same after a reschedule."""
        if timeout not in self.timeouts:
            self.timeouts[timeout] = self.next_name("t")
        return self.timeouts[timeout]

    def call_soon(self, callback, *args, context=None):
        owner = getattr(callback, "__self__", None)
        kind = owner.__class__
        if kind is self.task_type:
            name = "%ds%d" % (owner.number, owner.steps + 1)
            if args and asyncio.isfuture(args[0]):
                self.player.happens("w%d:%s" % (owner.number, outcome(args[0])))
        elif kind is TIMEOUT:
            name = self.timer_name(owner)
        elif args and args[0] in self.shields:
            name = self.shields[args[0]][1]
        elif callback.__class__ is PARTIAL and callback in self.partials:
            name = self.partials[callback]
        elif args and args[0] in self.callbacks:
            name = self.callbacks[args[0]]
        elif callback.__class__ is FUNCTION and callback.__closure__:
            name = [self.shields[cell.cell_contents][0] for cell in callback.__closure__
                    if cell.cell_contents in self.shields][0]
        else:
            name = self.next_name("c")
        handle = Handle(self, name, callback, args, context)
        if not self.is_over:
            self.ready.append(handle)
        return handle

    def call_later(self, delay, callback, *args, context=None):
        return self.call_at(self.now + delay, callback, *args, context=context)

    def call_at(self, when, callback, *args, context=None):
        owner = getattr(callback, "__self__", None)
        name = self.timer_name(owner) if owner.__class__ is TIMEOUT else self.next_name("t")
        handle = Handle(self, name, callback, args, context, when)
        handle.is_armed = True
        heapq.heappush(self.timers, handle)
        return handle

    def handle_cancelled(self, handle):
        if handle.is_armed:
            self.timers_cancelled += 1
        elif handle in self.ready:
            place = self.ready.index(handle)
            del self.ready[place]
            self.turn -= place < self.turn

    # a turn, see BaseEventLoop._run_once()
    def queue_due_timers(self):
        count = len(self.timers)
        if (count > base_events._MIN_SCHEDULED_TIMER_HANDLES and self.timers_cancelled / count
                > base_events._MIN_CANCELLED_TIMER_HANDLES_FRACTION):
            self.timers = [timer for timer in self.timers if not timer.is_cancelled]
            heapq.heapify(self.timers)
            self.timers_cancelled = 0
        while self.timers and self.timers[0].is_cancelled:
            heapq.heappop(self.timers).is_armed = False
            self.timers_cancelled -= 1
        while self.timers and self.timers[0].when <= self.now:
            timer = heapq.heappop(self.timers)
            timer.is_armed = False
            if timer.is_cancelled:
                self.timers_cancelled -= 1
            else:
                self.ready.append(timer)

    def begin_turn(self):
        self.queue_due_timers()
        self.turn = len(self.ready)

    def run(self, name):
        """Runs the ready handle of that name."""
        place = 0
        while place < len(self.ready) and self.ready[place].name != name:
            place += 1
        if place == len(self.ready) or (self.is_fifo and place > 0):
            raise Differs("the handle that runs next", name, self.names() or "none is ready")
        handle = self.ready.pop(place)
        self.turn -= place < self.turn
        task = getattr(handle.callback, "__self__", None)
        child = handle.args[0] if task.__class__ is GROUP else None
        if task.__class__ is self.task_type:
            status = ("cancelled" if task._must_cancel else
                      outcome(handle.args[0]) if handle.args else "ok")
            task.steps += 1
            self.running = task.number
            self.player.happens("r%d:%s" % (task.number, status))
        if handle.context is not None:
            handle.context.run(handle.callback, *handle.args)
        else:
            handle.callback(*handle.args)
        self.running = 0
        if child is not None:  # the group forgets it
            del self.tasks[child.number], self.callbacks[child]

    def names(self):
        return " ".join([handle.name for handle in self.ready])
