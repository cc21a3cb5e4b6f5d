"""The Python side of `buzzer-lab lockstep`: plays drawn programs on the real asyncio, step by step.

Every task, future, primitive, timeout and group is asyncio's own. Only the loop is not: it runs
the handle that the C side ran, and after every step it compares what happened, and the state of
everything, with what the C side says. It ends at the first difference.

stdin, one program after another:

    program NUMBER ORDER          order any or fifo
    {"format": ...}               the program, scenarios/program/program.schema.json
    STEP TAB EVENTS TAB STATE     the set-up, then each step
    end

A STEP is "setup", "run HANDLE TIME TURN" or "cancel TASK TIME TURN": TIME is the clock, TURN what
is left of the turn after the step. A HANDLE is named by owner, role (s: step of a task, t: timer,
c: callback) and number, as 2s5. stdout, at the end: how many programs were the same, and
the difference, as JSON.
"""
import gc
import json
import os
import signal

if __name__ != "__main__":  # else that file comes before this one, in the same text
    from player_loop import *

# --- the program ----------------------------------------------------------------------------------


class Item:
    """Of a queue; compared by its priority alone."""
    __slots__ = ("value", "priority")

    def __init__(self, value, priority):
        self.value = value
        self.priority = priority

    def __lt__(self, other):
        return self.priority < other.priority


def states(waiters):
    if not waiters:
        return ""
    return "".join(["C" if waiter.cancelled() else "R" if waiter.done() else "P"
                    for waiter in waiters])


def show_lock(lock):
    return f"{lock._locked:d}[{states(lock._waiters)}]"


def show_semaphore(semaphore):
    return f"{semaphore.locked():d},{semaphore._value}[{states(semaphore._waiters)}]"


def show_event(event):
    return f"{event.is_set():d}[{states(event._waiters)}]"


def show_condition(condition):
    lock = condition._lock
    return f"{lock._locked:d}[{states(lock._waiters)}][{states(condition._waiters)}]"


def show_barrier(barrier):
    return f"{barrier._count},{barrier._state.value},{show_condition(barrier._cond)}"


def show_queue(queue):
    items = " ".join([str(item.value) for item in queue._queue])
    return (f"{queue._unfinished_tasks},{getattr(queue, '_is_shutdown', 0):d}[{items}]"
            f"[{states(queue._getters)}][{states(queue._putters)}]"
            f"[{states(queue._finished._waiters)}]")


make_deferred = None  # of deferreds.py, if that is there
ENDS = (Exception, asyncio.CancelledError)  # of operations; a program that stands still is closed


def make_object(loop, spec, others):
    kind = spec["kind"]
    if make_deferred is not None:
        return make_deferred(loop, spec)
    if kind == "lock":
        return asyncio.Lock(), show_lock
    if kind == "semaphore":
        return asyncio.Semaphore(spec["permits"]), show_semaphore
    if kind == "bounded":
        return asyncio.BoundedSemaphore(spec["permits"]), show_semaphore
    if kind == "event":
        return asyncio.Event(), show_event
    if kind == "condition":
        lock = others[spec["lock"]]._lock if "lock" in spec else None
        return asyncio.Condition(lock), show_condition
    if kind == "barrier":
        return asyncio.Barrier(spec["parties"]), show_barrier
    types = {"fifo": asyncio.Queue, "lifo": asyncio.LifoQueue, "priority": asyncio.PriorityQueue}
    return types[spec.get("order", "fifo")](spec["maxsize"]), show_queue


def number_ops(ops, index):
    """Gives each operation its index in the C side's array."""
    for op in ops:
        op["index"] = index
        index += 1
        for child in op.get("tasks", ()):
            index = number_ops(child, index + 1)  # a child has an entry of its own,
        index += op["op"] == "group" and "ops" in op  # and so has a body
        index = number_ops(op.get("ops", ()), index)
    return index


def give_back(it):
    """A release; whether it was accepted."""
    try:
        it.release()
    except (RuntimeError, ValueError):
        return False
    return True


class Runner:
    """A task of the program, or a child of a group: scenarios/program/program.c."""

    def __init__(self, player, root, group=None):
        self.player = player
        self.timeout = None  # the innermost `timeout` that it is in
        self.group = group  # the innermost whose body it runs, or whose child it is
        self.root = root  # the index of its task, or of that of its parents
        self.value = ""  # the result of an operation besides its status
        self.holdings = []  # [object, depth]
        self.got = {}
        self.depth = 0
        self.number = 0

    async def run(self, ops):
        self.number = asyncio.current_task().number
        try:
            await self.run_ops(ops)
        except ENDS:
            self.release_inside(0)
            raise
        self.release_inside(0)

    async def run_ops(self, ops):
        for place, op in enumerate(ops):
            status, error = "ok", None
            self.value = ""
            is_last = op["op"] == "finally"
            try:
                if is_last:
                    await self.run_finally(op, ops[place + 1:])
                elif "within" in op:
                    await self.run_in_time(op["within"], None, op)
                else:
                    await self.run_op(op)
            except asyncio.CancelledError as caught:
                status, error = "cancelled", caught
            except Failed as caught:
                status, error = "failed", caught
            except asyncio.QueueEmpty:
                status = "empty"
            except asyncio.QueueFull:
                status = "full"
            except asyncio.BrokenBarrierError:
                status = "broken"
            except RuntimeError:  # what was stolen is not held
                status = "not-held"
            except Exception as caught:
                if SHUT is not None and isinstance(caught, SHUT):
                    status = "closed"
                else:
                    status, error = repr(caught), caught
            self.player.happens("o%d:%d:%s%s" % (self.number, op["index"], status,
                                                 "" if is_last else self.value))
            if error is not None:
                try:
                    raise error
                finally:
                    error = None
            if is_last:
                return

    async def run_finally(self, op, others):
        try:
            await self.run_inside(others, None)
        except ENDS:
            await self.run_ops(op["ops"])
            raise
        await self.run_ops(op["ops"])

    async def run_op(self, op):
        verb = op["op"]
        if verb == "yield":
            await asyncio.sleep(0)
        elif verb == "sleep":
            await asyncio.sleep(op["ns"])
        elif verb == "fail":
            raise Failed
        elif verb == "cancel":
            self.player.roots[op["task"]].cancel()
        elif verb == "timeout":
            await self.run_in_time(op["ns"], op["ops"], None)
        elif verb == "group":
            await self.run_group(op["tasks"], op.get("ops"))
        elif verb == "catch":
            try:
                await self.run_inside(op["ops"], None)
            except (asyncio.CancelledError, Failed):
                pass
        elif verb == "uncancel":
            self.value = "=%d" % asyncio.current_task().uncancel()
        elif verb == "reschedule":
            self.reschedule(op["ns"], op["count"])
        elif verb == "create-task":
            if self.group is not None:
                self.value = "=%d" % self.add_child(self.group, op["ops"])
        elif verb == "spawn":
            runner = Runner(self.player, self.root)
            self.player.loop.create_task(runner.run(op["ops"]))
        elif verb == "gather" or verb == "gather-all":
            await self.run_gather(op["tasks"], verb == "gather-all")
        elif verb == "wait-for":
            try:
                await asyncio.wait_for(Runner(self.player, self.root).run(op["ops"]), op["ns"])
            except TimeoutError:
                self.value = "=1"
        elif verb == "await":
            task = self.player.roots[op["task"]]
            if task.number - 1 < self.root:
                await task
        elif verb == "shield":
            task = self.player.roots[op["task"]]
            if task.number - 1 < self.root:
                await self.shield(task)
        else:
            await self.use(op)

    def shield(self, task):
        outer = asyncio.shield(task)
        if outer is not task:  # it was done
            loop = self.player.loop
            loop.shields[outer] = loop.next_name("c"), loop.next_name("c")
        return outer

    async def run_in_time(self, delay, ops, single):
        try:
            async with asyncio.timeout(delay) as timeout:
                outer, self.timeout = self.timeout, timeout
                try:
                    await self.run_inside(ops, single)
                finally:
                    self.timeout = outer
        except TimeoutError:
            self.value = "=1"

    def reschedule(self, delay, count):
        for _ in range(count if self.timeout is not None else 0):
            try:
                self.timeout.reschedule(self.player.loop.now + delay)
                self.value = "=1"
            except RuntimeError:  # it has expired
                self.value = "=0"

    def add_child(self, group, ops):
        """False: the group aborts."""
        child = Runner(self.player, self.root, group).run(ops)
        try:
            task = group.create_task(child)
        except RuntimeError:
            child.close()
            return False
        self.player.loop.callbacks[task] = self.player.loop.next_name("c")
        return True

    async def run_inside(self, ops, single):
        self.depth += 1
        try:
            await (self.run_op(single) if single is not None else self.run_ops(ops))
        except ENDS:
            self.release_inside(self.depth)
            raise
        finally:
            self.depth -= 1
            for holding in self.holdings:
                holding[1] = min(holding[1], self.depth)

    async def run_group(self, children, body):
        outer = self.group
        try:
            async with GROUP() as group:
                group._tasks = Children(self.player)
                for ops in children:
                    self.add_child(group, ops)
                if body is not None:
                    self.group = group
                    try:
                        await self.run_inside(body, None)
                    finally:
                        self.group = outer
        except BaseExceptionGroup:
            self.value = "=1"

    async def run_gather(self, children, returns_errors):
        loop = self.player.loop
        outer = asyncio.gather(*[Runner(self.player, self.root).run(ops) for ops in children],
                               return_exceptions=returns_errors)
        for child in getattr(outer, "_children", ()):  # an empty one has none
            loop.callbacks[child] = loop.next_name("c")
        if children:
            try:
                await outer
            except Failed:
                self.value = "=1"

    def release_inside(self, depth):
        for place in range(len(self.holdings) - 1, -1, -1):
            name, held_depth = self.holdings[place]
            if held_depth >= depth:
                self.release(name)

    def find(self, name):
        name = self.player.locks[name]
        for place in range(len(self.holdings) - 1, -1, -1):
            if self.holdings[place][0] == name:
                return place
        return None

    def release(self, name):
        place = self.find(name)
        if place is not None:
            name = self.player.locks[name]
            del self.holdings[place]
            self.player.held[name] -= 1
            if not give_back(self.player.objects[name]):
                self.player.release_is_refused(name)

    def hold(self, name):
        name = self.player.locks[name]
        self.player.held[name] += 1
        self.holdings.append([name, self.depth])

    async def use(self, op):
        verb, name = op["op"], op["object"]
        it = self.player.objects[name]
        if verb == "acquire":
            await it.acquire()
            self.hold(name)
        elif verb == "try-acquire":
            if it.locked() != 1:
                await it.acquire()
                self.hold(name)
        elif verb == "misuse":
            self.value = "=%d" % await self.misuse(name, it)
        elif verb == "steal":
            lock = self.player.locks[name]
            is_others = self.player.held[lock] > 0 and self.find(name) is None
            self.value = "=%d" % (is_others and give_back(it))
        elif verb == "locked":
            self.value = "=%d" % it.locked() if it.locked() >= 0 else ""
        elif verb == "size":
            self.value = "=%d" % it.qsize()
        elif verb == "release":
            self.release(name)
        elif verb == "post":
            it.release()
        elif verb == "wait":
            if not isinstance(it, asyncio.Condition) or self.find(name) is not None:
                await it.wait()
        elif verb == "notify" or verb == "notify-all":
            if self.find(name) is not None:
                it.notify(op["count"]) if verb == "notify" else it.notify_all()
        elif verb == "set" or verb == "clear":
            getattr(it, verb)()
        elif verb == "abort" or verb == "reset":
            await getattr(it, verb)()
        else:
            await self.use_queue(op, verb, name, it)

    async def misuse(self, name, it):
        """Releases that no task is entitled to; how many were accepted."""
        if self.player.held[self.player.locks[name]] > 0:
            return 0
        accepted = 0
        if isinstance(it, asyncio.Condition):
            try:
                it.notify(1)
                accepted = 1
            except RuntimeError:
                pass
            try:
                await it.wait()
                accepted += 1
            except RuntimeError:
                pass
        elif not hasattr(it, "task_done"):
            accepted = give_back(it)
        elif it._unfinished_tasks == 0:
            try:
                it.task_done()
                accepted = 1
            except ValueError:
                pass
        return accepted

    async def use_queue(self, op, verb, name, it):
        if verb == "put" or verb == "try-put":
            self.player.items[name] = value = self.player.items.get(name, 0) + 1
            item = Item(value, op.get("priority", 0))
            if verb == "put":
                await it.put(item)
            else:
                it.put_nowait(item)
        elif verb == "get" or verb == "try-get":
            if verb == "get":
                await it.get()
            else:
                it.get_nowait()
            self.got[name] = self.got.get(name, 0) + 1
        elif verb == "join":
            await it.join()
        elif verb == "done":
            if self.got.get(name, 0) > 0:
                self.got[name] -= 1
                it.task_done()
        elif hasattr(it, "shutdown"):
            it.shutdown(immediate=verb == "shutdown-now")


# --- the comparison -------------------------------------------------------------------------------


class Player:
    def __init__(self, order, program, task_type):
        self.events = []
        self.expected = ()
        self.items = {}
        self.loop = Loop(self, order, task_type)
        events._set_running_loop(self.loop)
        self.objects = {}
        self.shown = []
        for spec in program["objects"]:
            it, show = make_object(self.loop, spec, self.objects)
            self.objects[spec["name"]] = it
            self.shown.append((it, show))
        # the object whose lock a condition has; any other is its own
        self.locks = {spec["name"]: spec.get("lock", spec["name"]) for spec in program["objects"]}
        self.held = dict.fromkeys(self.objects, 0)  # how many runners hold it
        self.roots = {}
        index = 0
        for task in program["tasks"]:
            index = number_ops(task["ops"], index)
            runner = Runner(self, len(self.roots))
            self.roots[task["name"]] = self.loop.create_task(runner.run(task["ops"]))

    def happens(self, text):
        self.events.append(text)

    def release_is_refused(self, name):
        """Then the next events or states differ, if the C side has accepted it."""

    def step(self, words):
        loop = self.loop
        kind, name, now, turn = words
        loop.now = int(now)
        if loop.is_fifo:
            if loop.turn == 0 and (kind == "run" or turn != "0"):
                loop.begin_turn()
        elif kind == "run" and loop.timers:
            loop.queue_due_timers()
        if kind == "run":
            loop.run(name)
        elif int(name) in loop.tasks:
            loop.tasks[int(name)].cancel()
        if loop.is_fifo and str(loop.turn) != turn:
            raise Differs("what is left of the turn", turn, str(loop.turn))

    def state(self):
        """The ready queue, the timers, the tasks, the objects; parts between bars."""
        loop = self.loop
        timers = " ".join([f"{timer.when}:{'-' if timer.is_cancelled else timer.name}"
                           for timer in loop.timers]) if loop.timers else ""
        tasks = []
        for task in loop.tasks.values():
            text = task.ended
            if text is None:
                requests = task.cancelling()
                if task.done():
                    letter = {"ok": "D", "cancelled": "X"}.get(outcome(task), "F")
                    text = task.ended = f"{task.number}{letter}{requests}"
                else:
                    text = f"{task.number}P{requests}{'m' if task._must_cancel else ''}"
            tasks.append(text)
        objects = " ".join([show(it) for it, show in self.shown])
        return f"{loop.names()}|{timers}|{' '.join(tasks)}|{objects}"

    def check(self, events, state):
        happened = " ".join(self.events)
        if happened != events:
            raise Differs("what happens in the step", events, happened)
        mine = self.state()
        if mine != state:
            parts = ("the ready queue", "the timers", "the tasks", "the objects")
            for part, theirs, ours in zip(parts, state.split("|"), mine.split("|")):
                if theirs != ours:
                    raise Differs(part + " after the step", theirs, ours)
        self.events.clear()

    def play(self, lines):
        """None, or (what, C, Python), with the number of the step."""
        for number, line in enumerate(lines):
            step, happened, state = line.split("\t")
            self.expected = happened.split(" ") if happened else ()
            try:
                if step != "setup":
                    self.step(step.split(" "))
                self.check(happened, state)
            except Differs as difference:
                return number, difference.args
        return None

    def close(self):
        """Ends what is left without a word."""
        self.loop.is_over = True
        for task in self.loop.tasks.values():
            task._log_destroy_pending = False
            if task.done() and not task.cancelled():
                task.exception()
        self.loop.tasks.clear()
        self.loop.callbacks.clear()
        self.loop.partials.clear()
        self.loop.timeouts.clear()
        self.loop.shields.clear()
        self.loop.ready.clear()
        self.loop.timers.clear()


def read_program():
    """Its head, the program and its lines; None at the end."""
    read = sys.stdin.readline
    head, program, lines = read(), read(), []
    for line in iter(read, ""):
        if line == "end\n":
            return head, program, lines
        lines.append(line[:-1])
    return None


def serve(task_type):
    """Plays programs up to the first difference, and prints one answer."""
    answer = {"same": 0}
    while (read := read_program()) is not None:
        head, program, lines = read
        player = Player(head.split()[2], json.loads(program), task_type)
        difference = player.play(lines)
        player.close()
        events._set_running_loop(None)
        if difference is not None:
            step, (what, theirs, ours) = difference
            answer.update(step=step, what=what, c=theirs, python=ours)
            break
        answer["same"] += 1
        if answer["same"] % 256 == 0:
            gc.collect()
    print(json.dumps(answer), flush=True)


def main(argv):
    """--c-task or --py-task; behind that, for Twisted, the text of deferreds.py."""
    gc.disable()
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the C side ends the programs
    sys.unraisablehook = lambda args: None  # a program that stands still is thrown away
    if len(argv) > 2:
        exec(compile(argv[2], "deferreds.py", "exec"), globals())
    serve(task_class(asyncio.Task))
    os._exit(0)  # without a word about what still waits


if __name__ == "__main__":
    main(sys.argv)
