"""Drawn programs over the primitives of anyio, on its asyncio backend.

A bounded semaphore of the program is a CapacityLimiter, a queue a memory object stream. A cancel is
that of the task's own cancel scope. What anyio does not have is left out.
"""
import asyncio
import math

import anyio

import player
from buzzer.watch import Claim
from drawn import Program

# An acquire that need not wait yields all the same before it returns, and an item in the hands of a
# receiver that has not resumed is not in the buffer. So orders and bounds are not claimed.
CLAIMS = Claim.OWN_DEADLINES


class Limiter:
    """Each task borrows for itself, and at most one token."""

    def __init__(self, total):
        self.limiter = anyio.CapacityLimiter(max(1, total))

    async def acquire(self):
        await self.limiter.acquire()

    def release(self):
        self.limiter.release()

    def locked(self):
        return self.limiter.available_tokens <= 0


class Semaphore:
    def __init__(self, permits):
        self.semaphore = anyio.Semaphore(permits)

    async def acquire(self):
        await self.semaphore.acquire()

    def release(self):
        self.semaphore.release()

    def locked(self):
        return self.semaphore.value == 0


class Stream:
    """A memory object stream as a queue."""

    def __init__(self, size):
        self.sends, self.receives = anyio.create_memory_object_stream(size)

    async def put(self, item):
        await self.sends.send(item)

    async def get(self):
        return await self.receives.receive()

    def put_nowait(self, item):
        try:
            self.sends.send_nowait(item)
        except anyio.WouldBlock:
            raise asyncio.QueueFull from None

    def get_nowait(self):
        try:
            return self.receives.receive_nowait()
        except anyio.WouldBlock:
            raise asyncio.QueueEmpty from None

    def qsize(self):
        return self.receives.statistics().current_buffer_used


class Checked(Stream):
    """A stream with a bound. An item in the hands of a receiver that has not resumed is not in the
    buffer, so the judge's bound does not fit, and this keeps its own account."""

    def __init__(self, sim, name, size):
        super().__init__(size)
        self.sim = sim
        self.name = name
        self.failed = []  # puts that were cancelled
        self.taken = []

    async def put(self, item):
        try:
            await super().put(item)
        except asyncio.CancelledError:
            self.failed.append(item)
            self.sim.check(item not in self.taken, self.ghost(item))
            raise

    async def get(self):
        return self.take(await super().get())

    def get_nowait(self):
        return self.take(super().get_nowait())

    def take(self, item):
        self.sim.check(item not in self.taken, f"item {item.value} of '{self.name}' came twice")
        self.sim.check(item not in self.failed, self.ghost(item))
        self.taken.append(item)
        return item

    def ghost(self, item):
        return f"item {item.value} of '{self.name}' was delivered, but its send was cancelled"


class Absent:
    """anyio has no barrier."""

    async def wait(self):
        await anyio.sleep(0)


class AnyioProgram(Program):
    def __init__(self, sim):
        super().__init__(sim, AnyioRunner)
        self.is_rendezvous = sim.draw(2, "rendezvous") == 1
        self.objects = {name: self.make(name, spec) for name, spec in self.specs.items()}

    def make(self, name, spec):
        kind, watch = spec["kind"], self.sim.watch
        if kind == "semaphore":
            return watch(Semaphore(spec["permits"]), kind=kind, name=name,
                         permits=spec["permits"], claims=CLAIMS)
        if kind == "bounded":
            return watch(Limiter(spec["permits"]), kind="semaphore", name=name,
                         permits=max(1, spec["permits"]), claims=CLAIMS)
        if kind == "lock":
            return watch(anyio.Lock(), kind=kind, name=name, claims=CLAIMS)
        if kind == "condition":
            return anyio.Condition(watch(anyio.Lock(), kind="lock", name=name,
                                         claims=CLAIMS))
        if kind == "event":
            return watch(anyio.Event(), kind=kind, name=name, claims=CLAIMS)
        if kind == "barrier":
            return Absent()
        if spec["maxsize"] > 0 or self.is_rendezvous:
            return Checked(self.sim, name, spec["maxsize"])
        return watch(Stream(math.inf), kind="queue", name=name, maxsize=0,
                     claims=CLAIMS | Claim.UNORDERED_ITEMS)

    async def play(self):
        async with anyio.create_task_group() as group:
            self.group = group
            for name, runner, ops in self.runners:
                self.roots[name] = runner
                self.sim.spawn(group, runner.run(ops), name=name)

    def start(self, runner, ops):
        self.group.start_soon(runner.run, ops)


class AnyioRunner(player.Runner):
    def __init__(self, program, root):
        super().__init__(program, root)
        self.scope = anyio.CancelScope()

    async def run(self, ops):
        """A task ends well, so that the group of all does not end for its sake."""
        try:
            with self.scope:
                try:
                    await self.run_ops(ops)
                finally:
                    self.release_inside(0)
        except player.Failed:
            pass

    async def run_child(self, ops):
        try:
            await self.run_ops(ops)
        finally:
            self.release_inside(0)

    async def run_op(self, op):
        verb = op["op"]
        if verb == "yield":
            await anyio.sleep(0)
        elif verb == "sleep":
            await anyio.sleep(op["ns"])
        elif verb == "cancel":
            if op["task"] in self.player.roots:
                self.player.roots[op["task"]].scope.cancel()
        elif verb == "spawn":
            self.player.start(AnyioRunner(self.player, self.root), op["ops"])
        elif verb == "shield":
            with anyio.CancelScope(shield=True):
                await anyio.sleep(op.get("within", 0))
        elif verb == "catch":
            try:
                await self.run_inside(op["ops"], None)
            except player.Failed:
                pass
        elif verb == "wait" and isinstance(self.player.objects[op["object"]], anyio.Condition):
            if self.find(op["object"]) is not None:
                await self.player.objects[op["object"]].wait()
        elif verb not in ("uncancel", "await", "done", "join", "shutdown", "shutdown-now",
                          "clear"):
            await super().run_op(op)

    async def run_in_time(self, delay, ops, single):
        with anyio.move_on_after(delay):
            await self.run_inside(ops, single)

    async def run_group(self, children, body):
        try:
            async with anyio.create_task_group() as group:
                for ops in children:
                    group.start_soon(AnyioRunner(self.player, self.root).run_child, ops)
                if body is not None:
                    await self.run_inside(body, None)
        except player.Failed:
            pass
        except anyio.ExceptionGroup as group:
            left = [each for each in group.exceptions
                    if not isinstance(each, (player.Failed, anyio.ExceptionGroup,
                                             asyncio.CancelledError))]
            if left:
                raise


async def anyio_programs(sim):
    await AnyioProgram(sim).play()
