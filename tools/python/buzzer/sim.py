"""What a test is given: its view of the simulation."""
from buzzer import watch as _watch


class Sim:
    def __init__(self, loop, permits=None):
        self._loop = loop
        self._permits = permits or {}  # by the name of the object

    def watch(self, primitive, **about):
        """Tells the judge of what the program does with a primitive; returns it."""
        if about.get("permits") is None and about.get("name") in self._permits:
            about["permits"] = self._permits[about["name"]]
        return _watch.watch(self._loop, primitive, **about)

    def spawn(self, group, coro, *, name=None):
        """Creates a task that may be cancelled from outside, in a group or (None) alone."""
        if group is None:
            task = self._loop.create_task(coro, name=name)
        elif name is None:
            task = group.create_task(coro)
        else:
            task = group.create_task(coro, name=name)
        return task

    def background(self, coro, *, name=None):
        """Creates a task that may be left behind at the end, such as a server."""
        task = self._loop.create_task(coro, name=name)
        self._loop._become_helper(task)
        return task

    def check(self, condition, message):
        if not condition:
            self._loop._object_to("assertion", self._loop._running, message)

    def draw(self, bound, label="draw"):
        """A number from 0 to bound - 1, which the strategy chooses."""
        return self._loop._draw(label, bound)

    @property
    def now_ns(self):
        return self._loop.now_ns
