"""The argument of a test: its view of the simulation."""
import asyncio
import math
import operator
import sys

from buzzer import state as _state
from buzzer import watch as _watch


class Sim:
    def __init__(self, loop, permits=None):
        self._loop = loop
        self._permits = permits or {}  # by the name of the object

    def watch(self, primitive, **about):
        """Reports what the program does with a primitive to the judge; returns it.

        See buzzer.watch.watch() for kind=, name=, claims= and the rest."""
        if about.get("permits") is None and about.get("name") in self._permits:
            about["permits"] = self._permits[about["name"]]
        return _watch.watch(self._loop, primitive, **about)

    def spawn(self, group, coro, *, name=None):
        """Creates a task into which cancels may be injected, and into no other.

        group   asyncio.TaskGroup, or another with create_task(); a task group of anyio or another
                with start_soon(); None: the task stands alone"""
        self._loop._spawns = True
        try:
            if group is None:
                return self._loop.create_task(coro, name=name)
            if not hasattr(group, "create_task"):
                name = f"Task-{next(self._loop._numbers)}" if name is None else name
                return group.start_soon(lambda: coro, name=name)
            return group.create_task(coro, **({} if name is None else {"name": name}))
        finally:
            self._loop._spawns = False

    def background(self, coro, *, name=None):
        """Creates a task that may be left behind at the end, such as a server."""
        task = self._loop.create_task(coro, name=name)
        self._loop._set_helper(task.number)
        return task

    async def sleep_until_idle(self):
        """Returns when nothing else can run before time passes, or something comes from outside."""
        loop = asyncio.get_running_loop()
        future = loop.create_future()
        loop._idle.append(future)
        loop._awaits_idle = True
        await future

    async def advance(self, seconds):
        """The clock goes on by so much: timers fire in order, and what can run then does."""
        if not 0 <= seconds < math.inf:
            raise ValueError(f"time goes on by 0 seconds or more, not by {seconds!r}")
        await asyncio.sleep(seconds)
        await self.sleep_until_idle()

    def check(self, condition, message):
        if not condition:
            self._loop._violate("assertion", self._loop._running, str(message))

    def signal(self, number):
        """Sends a signal, such as signal.SIGTERM: the handler is called at a moment that the
        strategy chooses."""
        self._loop._send_signal(number)

    def fail(self, sentence):
        """A run of a suite fails: its first failure counts."""
        self._loop._violate("assertion", self._loop._main or 0, sentence)

    def draw(self, what, label="draw"):
        """A number from 0 to what - 1, which Buzzer's strategy chooses; or, if it is a strategy of
        Hypothesis, one of its values. Both are in the trace, and in a replay they are the same."""
        if hasattr(what, "__index__"):
            value = self._loop._draw(label, operator.index(what))
            if self._loop._is_recorded:
                self._loop._say_draw(f"{label} {value}")
            return value
        strategies = sys.modules.get("buzzer.strategies")  # of a program that uses Hypothesis
        if strategies is not None and strategies.is_strategy(what):
            return strategies.draw(self._loop, what, label)
        raise TypeError(f"sim.draw() takes a number or a strategy of Hypothesis, which is imported "
                        f"before the test runs; this is {what!r}")

    def state(self, value):
        """For `explore`: from here on, the run depends on nothing that the test keeps but `value`.

        A run that comes here again with an equal value, and with no more deviations spent, ends:
        the search has made what follows. The value has all that later steps read and schedules
        change: local variables of all tasks, attributes, contents of queues, primitives that are
        not watched, numbers drawn, context variables. It is made of numbers, texts, tuples, lists,
        dicts and sets. Buzzer adds where each task is in its code, what is ready, timers, the
        clock, and watched objects. `run` ignores it.
        """
        if self._loop._merges:
            text = _state.text_of(self._loop, value)
            if text is not None:
                self._loop._meet(text)

    @property
    def network(self):
        """The network in memory: `connections`, reset(connection), and the settings `capacity` and
        `resets` (see network.World)."""
        return self._loop._world

    @property
    def now_ns(self):
        return self._loop.now_ns
