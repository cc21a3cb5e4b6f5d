
# --- the player ------------------------------------------------------------------------------------
#
# The tasks are asyncio.Task, the primitives are asyncio's, and the loop is asyncio's own, with one
# difference: when a task's step is ready, call_soon() holds it back until the schedule asks for it.
#
# Exact are: the order of the steps, of the wake-ups and of the cancels, for as long as asyncio
# does what the recorded code did. Where it does otherwise (a fault that asyncio does not have), a
# step that cannot run is left out. At the end of the schedule the program checks that every operation
# ended in the recorded step with the recorded outcome, and says where that is not so.
# Not exact: a sleep, a join or a future of the recorded program is a future that the
# schedule completes, and time does not pass. A schedule of order "any" is one that asyncio's loop,
# which is first in, first out, does not make on its own; a loop of another kind may.

import asyncio
import os
import sys


class ScheduledLoop(asyncio.SelectorEventLoop):
    """Holds the steps of tasks back."""

    def __init__(self):
        super().__init__()
        self.held = {}  # by task

    def call_soon(self, callback, *args, context=None):
        task = getattr(callback, "__self__", None)
        if not isinstance(task, asyncio.Task):
            return super().call_soon(callback, *args, context=context)
        self.held[task] = (callback, args, context)
        return asyncio.Handle(callback, args, self, context)

    def let_go(self, task):
        callback, args, context = self.held.pop(task)
        super().call_soon(callback, *args, context=context)


class Object:
    """A primitive, and its state as an observer sees it."""

    def __init__(self, name, kind, number, order, lock):
        self.name, self.kind, self.number, self.lock = name, kind, number, lock
        self.permits = number  # that no task owns, as an observer counts them
        self.owners = []
        self.items = 0
        self.is_set = False
        self.waiting = []  # (task, operation), in order of arrival
        self.is_closed = False
        if kind == "lock":
            self.it = asyncio.Lock()
        elif kind == "semaphore":
            self.it = asyncio.Semaphore(number)
        elif kind == "bounded":
            self.it = asyncio.BoundedSemaphore(number)
        elif kind == "event":
            self.it = asyncio.Event()
        elif kind == "condition":
            self.it = asyncio.Condition(lock.it if lock else None)
        elif kind == "barrier":
            self.it = asyncio.Barrier(number)
        elif kind == "queue":
            self.it = {"fifo": asyncio.Queue, "lifo": asyncio.LifoQueue,
                       "priority": asyncio.PriorityQueue}[order](number)

    def has_permits(self):
        return self.kind in ("lock", "semaphore", "bounded")


class Player:
    def __init__(self, loop):
        self.loop = loop
        self.objects = {}
        self.tasks = {}
        self.names = {}
        self.pauses = {}
        self.steps = dict.fromkeys(TASKS, 0)
        self.cancels = dict.fromkeys(TASKS, False)  # requested, and not delivered
        self.is_closing = False
        self.faults = []
        self.step = 0
        self.differs_at = None
        self.ended = dict.fromkeys(TASKS, 0)  # operations
        self.moves = iter(SCHEDULE)

    # --- what is printed

    def say(self, task, text):
        print("%6s  %-*s  %s" % (self.step, WIDTH, task, text))

    def fault(self, text):
        if text not in self.faults:
            self.faults.append(text)
            print("%6s  FAULT: %s" % ("", text))

    # --- the recorded run

    def differ(self):
        if self.differs_at is None:
            self.differs_at = self.step

    def compare(self, task, outcome, expected, end):
        """Of an operation that has ended. After the schedule nothing is recorded."""
        self.ended[task] += 1
        is_same = expected in (outcome, "unknown") and self.step == end
        if self.step != "after" and not is_same:
            self.differ()

    def compare_end(self):
        """Operations that had ended in the recorded run, and no others, have ended."""
        for task, acts in PROGRAMS.items():
            if self.ended[task] != sum(expected is not None for *_, expected, _ in acts):
                self.differ()

    # --- the tasks

    async def play(self, task):
        for verb, name, number, expected, end in PROGRAMS[task]:
            if self.is_closing:
                break
            outcome = await self.perform(task, verb, name, number, expected)
            self.compare(task, outcome, expected, end)
        if task in KEPT and not self.is_closing:
            return
        while not self.is_closing:
            try:
                await self.pause(task)
            except asyncio.CancelledError:
                self.cancels[task] = False
        for item in self.objects.values():
            while item.has_permits() and task in item.owners:
                await self.perform(task, "release", item.name, 1, None)

    async def pause(self, task):
        self.pauses[task] = self.loop.create_future()
        await self.pauses[task]

    async def perform(self, task, verb, name, number, expected):
        """One act, and its result."""
        item = self.objects.get(name) if verb != "cancel" else None
        steps = self.steps[task]
        level = item.permits if item is not None else 0
        earlier = 0
        if item is not None and verb in ("acquire", "wait", "get", "put"):
            earlier = sum(not self.cancels[other] for other, _ in item.waiting)
            item.waiting.append((task, verb))
        lock = item.lock if item is not None and verb == "wait" else None
        is_given_up = lock is not None and task in lock.owners
        if is_given_up:  # a waiter of a condition does not own the lock
            lock.owners.remove(task)
            lock.permits += 1
        try:
            outcome = await self.operate(task, verb, item, name, number)
        except asyncio.CancelledError:
            outcome = "cancelled"
            self.cancels[task] = False
        except asyncio.QueueEmpty:
            outcome = "empty"
        except asyncio.QueueFull:
            outcome = "full"
        except (RuntimeError, ValueError, AttributeError) as error:
            broken = getattr(asyncio, "BrokenBarrierError", None)
            outcome = "broken" if broken and isinstance(error, broken) else "not-held"
        except Exception as error:  # QueueShutDown of Python 3.13
            outcome = "closed" if type(error).__name__ == "QueueShutDown" else type(error).__name__
        if item is not None and (task, verb) in item.waiting:
            item.waiting.remove((task, verb))
        if is_given_up:
            lock.permits -= 1
            lock.owners.append(task)
        has_waited = self.steps[task] != steps
        self.account(task, verb, item, outcome, has_waited, level, earlier)
        if verb not in ("yield", "pause") or outcome != "ok":
            about = " " + name if name else ""
            odd = ""
            if expected not in (None, "unknown", outcome):
                odd = "   (recorded: %s)" % expected
            self.say(task, "%s%s: %s%s" % (verb, about, outcome, odd))
        return outcome

    async def operate(self, task, verb, item, name, number):
        if verb == "yield":
            await asyncio.sleep(0)
        elif verb == "pause":
            await self.pause(task)
        elif verb == "cancel":
            self.cancel(name)
        elif verb == "acquire":
            await item.it.acquire()
        elif verb in ("release", "release-unheld"):
            if verb == "release" and task not in item.owners:
                return "left out"  # it did not get it, other than in the recorded run
            self.release(task, item)
        elif verb == "wait":
            await item.it.wait()
        elif verb == "put":
            await item.it.put(self.step)
        elif verb == "get":
            await item.it.get()
        elif verb == "try-put":
            item.it.put_nowait(self.step)
        elif verb == "try-get":
            item.it.get_nowait()
        elif verb == "notify":
            item.it.notify(number)
        elif verb == "done":
            item.it.task_done()
        elif verb == "shutdown":
            item.it.shutdown()
            item.is_closed = True
        elif verb in ("set", "clear"):
            getattr(item.it, verb)()
            item.is_set = verb == "set"
        else:  # abort, reset of a barrier
            await getattr(item.it, verb)()
        return "ok"

    def release(self, task, item):
        owner = task if task in item.owners else item.owners[0] if item.owners else None
        if owner is not None:
            item.owners.remove(owner)
        item.it.release()
        item.permits += 1

    def cancel(self, victim):
        if self.tasks[victim].cancel():
            self.cancels[victim] = True

    # --- what must hold

    def account(self, task, verb, item, outcome, has_waited, level, earlier):
        if verb == "acquire" and outcome == "ok":
            item.permits -= 1
            item.owners.append(task)
            if item.permits < 0:
                self.fault("mutual-exclusion: %s got a permit of %s, and none was free"
                           % (task, item.name))
            if not has_waited and 0 < level <= earlier:
                self.fault("fifo: %s took a permit of %s at once, before others (waiting: %d, "
                           "free: %d)" % (task, item.name, earlier, level))
        elif verb in ("put", "try-put") and outcome == "ok":
            item.items += 1
        elif verb in ("get", "try-get") and outcome == "ok":
            item.items -= 1
        if has_waited and outcome == "ok" and self.cancels[task] and verb != "cancel":
            self.fault("cancel-delivered: %s was cancelled, and its %s returned as if not"
                       % (task, verb))
            self.cancels[task] = False

    def check_idle(self):
        """Nothing is ready: a task that waits now will wait forever."""
        for item in self.objects.values():
            waiting = [task for task, verb in item.waiting]
            getters = [task for task, verb in item.waiting if verb == "get"]
            putters = [task for task, verb in item.waiting if verb == "put"]
            if item.has_permits() and waiting and item.permits > 0:
                self.fault("lost-wakeup: %s has free permits (%d), %s waits, and nothing will "
                           "wake it" % (item.name, item.permits, waiting[0]))
            elif item.kind == "event" and waiting and item.is_set:
                self.fault("lost-wakeup: %s is set, and %s waits for it" % (item.name, waiting[0]))
            elif item.kind == "queue" and getters and item.items > 0:
                self.fault("lost-wakeup: %s has an item, and %s waits for one"
                           % (item.name, getters[0]))
            elif item.kind == "queue" and putters and 0 <= item.items < item.number:
                self.fault("lost-wakeup: %s has room, and %s waits for some"
                           % (item.name, putters[0]))
            elif item.kind == "barrier" and len(waiting) >= item.number:
                self.fault("lost-wakeup: all wait at %s (tasks: %d, a round takes: %d)"
                           % (item.name, len(waiting), item.number))

    def check_kept(self):
        """A permit that an ended task has kept is lost: a task that waits for it will wait forever."""
        for item in self.objects.values():
            keepers = [task for task in item.owners if self.tasks[task].done()]
            if item.has_permits() and keepers and item.waiting:
                self.fault("deadlock: %s waits for %s, which %s owned when it ended"
                           % (item.waiting[0][0], item.name, keepers[0]))

    def check_permits(self):
        """No task owns any, no task waits: as many as were counted can be had, and no more."""
        for item in self.objects.values():
            if not item.has_permits() or item.waiting or item.owners:
                continue
            found = 0
            while found <= item.permits and not item.it.locked():
                acquire = item.it.acquire()
                try:
                    acquire.send(None)
                    acquire.close()
                    break  # it waits
                except StopIteration:
                    found += 1
            if found != item.permits:
                self.fault("permit-conservation: of %s, %d should be free; found: %s"
                           % (item.name, item.permits,
                              "more" if found > item.permits else found))

    # --- the schedule

    def begin(self):
        for name, kind, number, order, lock in OBJECTS:
            self.objects[name] = Object(name, kind, number, order, self.objects.get(lock))
        for task in TASKS:
            self.tasks[task] = self.loop.create_task(self.play(task))
            self.names[self.tasks[task]] = task
        self.loop.call_soon(self.conduct)

    def run_step(self, task):
        self.steps[task] += 1
        self.loop.let_go(self.tasks[task])

    def conduct(self):
        """The next step of the schedule; in the loop's queue, this stands behind it."""
        for step, move, task in self.moves:
            self.step = step
            pause = self.pauses.get(task)
            if move == "cancel":
                self.say(task, "is cancelled from outside")
                self.cancel(task)
            elif move == "wake" and pause is not None and not pause.done():
                pause.set_result(None)
            elif move == "step" and self.tasks[task] in self.loop.held:
                self.run_step(task)
                self.loop.call_soon(self.conduct)
                return
            else:
                self.differ()
        self.compare_end()
        self.drain()

    def drain(self):
        """After the schedule: whatever is ready, first in, first out; then the end of every task."""
        self.step = "after"
        if self.loop.held:
            self.run_step(self.names[next(iter(self.loop.held))])
            self.loop.call_soon(self.drain)
            return
        self.check_idle()
        if not self.is_closing:
            print("%6s  the schedule is over: every task gives back what it owns, and ends" % "")
            self.is_closing = True
            for pause in self.pauses.values():
                if not pause.done():
                    pause.set_result(None)
            self.loop.call_soon(self.drain)
            return
        self.check_kept()
        self.check_permits()
        self.loop.stop()


def main():
    if not hasattr(asyncio, "Barrier") and "barrier" in [kind for _, kind, *_ in OBJECTS]:
        print("this program needs Python 3.11, which has asyncio.Barrier", file=sys.stderr)
        return 2
    loop = ScheduledLoop()
    asyncio.set_event_loop(loop)
    player = Player(loop)
    loop.call_soon(player.begin)
    loop.run_forever()
    if player.differs_at is None:
        print("the steps are those of the recorded run")
    else:
        print("from step %d on, asyncio goes another way than the recorded run"
              % player.differs_at)
    for fault in player.faults:
        print("FAULT: %s" % fault)
    if not player.faults and IS_OF_PYTHON:
        print("the schedule alone shows no fault: the test's own code, which is not in here, has a "
              "part in it")
    elif not player.faults:
        print("asyncio of Python %d.%d does not show a fault in this schedule"
              % sys.version_info[:2])
    return 1 if player.faults else 0 if player.differs_at is None else 3


if __name__ == "__main__":
    status = main()
    sys.stdout.flush()
    os._exit(status)  # tasks may still wait: without a word of Python about them
