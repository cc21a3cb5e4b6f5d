
# --- the loop --------------------------------------------------------------------------------------
#
# The tasks are asyncio.Task, and the loop is asyncio's own, with two differences: call_soon() and
# call_at() hold steps of tasks and timers back until the schedule asks for them, and the clock is
# that of the schedule. One unit of its time is one nanosecond of the recorded run.
#
# Exact are: the order of the steps, the timers and the cancels, for as long as the code under
# test does what the recorded code did. Where it does otherwise, what cannot run is left out, and the
# program says where that began. At the end of the schedule it checks which tasks have ended. A schedule of order "any" is one that asyncio's loop, which is first
# in, first out, does not make on its own; a loop of another kind may.

import asyncio
import os
import sys


class ScheduledLoop(asyncio.SelectorEventLoop):
    now = 0

    def __init__(self):
        super().__init__()
        self.held = {}  # by task
        self.timers = []  # (time, number of all, task, number among those of the task, handle)
        self.armed = {}  # by task

    def time(self):
        return self.now

    def call_soon(self, callback, *args, context=None):
        owner = getattr(callback, "__self__", None)
        if isinstance(owner, asyncio.Task):
            self.held[owner] = (callback, args, context)
            return asyncio.Handle(callback, args, self, context)
        if hasattr(asyncio, "Timeout") and isinstance(owner, asyncio.Timeout):
            return self.call_at(self.now, callback, *args, context=context)
        return super().call_soon(callback, *args, context=context)

    def call_at(self, when, callback, *args, context=None):
        task = asyncio.current_task(self)
        number = self.armed[task] = self.armed.get(task, 0) + 1
        handle = asyncio.TimerHandle(when, callback, args, self, context)
        self.timers.append((when, sum(self.armed.values()), task, number, handle))
        return handle

    def let_go(self, task):
        callback, args, context = self.held.pop(task)
        super().call_soon(callback, *args, context=context)

    def fire(self, task=None, number=0, until=float("inf")):
        """The first timer that is armed, of this task, with this number. False: there is none."""
        self.timers = sorted(timer for timer in self.timers if not timer[4].cancelled())
        for timer in self.timers:
            if (task in (None, timer[2]) and number in (0, timer[3]) and timer[0] <= until):
                self.timers.remove(timer)
                self.now = max(self.now, timer[0])
                timer[4]._run()
                return True
        return False


class Scene:
    """A program whose tasks and draws are those of the recorded run."""

    def __init__(self, loop):
        self.loop = loop
        self.tasks = {}
        self.names = {}
        self.drawn = {}  # by task: how many draws
        self.faults = []
        self.step = 0
        self.differs_at = None
        self.moves = iter(SCHEDULE)

    def say(self, task, text):
        print("%6s  %-*s  %s" % (self.step, WIDTH, task, text))

    def fault(self, text):
        if text not in self.faults:
            self.faults.append(text)
            print("%6s  FAULT: %s" % ("", text))

    def differ(self):
        if self.differs_at is None and self.step != "after":
            self.differs_at = self.step

    def me(self):
        return self.names.get(asyncio.current_task())

    def draw(self, label, bound):
        """As in the recorded run; 0 where it drew nothing of the kind."""
        number = self.drawn[self.me()] = self.drawn.get(self.me(), 0) + 1
        recorded, value = DRAWS.get((self.me(), number), (label, 0))
        if recorded != label:
            self.differ()
        return min(value, bound - 1) if recorded == label else 0

    def spawn(self, name, body):
        self.tasks[name] = self.loop.create_task(body)
        self.names[self.tasks[name]] = name

    def move(self, now, move, task, number):
        """False: that cannot happen here. A step runs when the loop does."""
        self.loop.now = max(self.loop.now, now)
        entry = self.tasks.get(task)
        if entry is None:
            return False
        if move == "cancel":
            self.say(task, "is cancelled from outside")
            entry.cancel()
        elif move == "timer":
            return self.loop.fire(entry, number, self.loop.now)
        elif move == "step" and entry in self.loop.held:
            self.loop.let_go(entry)
        else:
            return False
        return True

    def conduct(self):
        """The next step of the schedule; in the loop's queue, this stands behind it."""
        for self.step, now, move, task, number in self.moves:
            if not self.move(now, move, task, number):
                self.differ()
            elif move == "step":
                self.loop.call_soon(self.conduct)
                return
        if {task for task in self.tasks if self.tasks[task].done()} != set(ENDED):
            self.differ()
        self.step = "after"
        self.drain()

    def drain(self):
        """After the schedule: whatever is ready, first in, first out, and then the first timer."""
        if self.loop.held:
            self.loop.let_go(next(iter(self.loop.held)))
        elif not self.loop.fire():
            self.finish()
            self.loop.stop()
            return
        self.loop.call_soon(self.drain)

    def begin(self):
        self.spawn_all()
        self.loop.call_soon(self.conduct)


def play(scene_type):
    loop = ScheduledLoop()
    asyncio.set_event_loop(loop)
    scene = scene_type(loop)
    loop.call_soon(scene.begin)
    loop.run_forever()
    if scene.differs_at is None:
        print("the steps are those of the recorded run")
    else:
        print("from step %d on, %s goes another way than the recorded run"
              % (scene.differs_at, scene.under_test))
    for fault in scene.faults:
        print("FAULT: %s" % fault)
    if not scene.faults:
        print("%s does not show a fault in this schedule" % scene.under_test)
    sys.stdout.flush()
    # Tasks may still wait: without a word of Python about them.
    os._exit(1 if scene.faults else 0 if scene.differs_at is None else 3)
