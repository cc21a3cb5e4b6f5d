"""Drawn programs over all primitives of a library, as tests of Buzzer.

The programs are those of the scenario `program` (scenarios/README.md), drawn with the same code.
So the draws are on the tape: tokens replay, and what is found shrinks. What plays them is the
player of `buzzer-lab lockstep`, on the loop of Buzzer and with the primitives watched.

The test itself draws which tools of the library a program uses: a deadline is timeout() or
wait_for(), a group is a TaskGroup or gather().
"""
import asyncio
import json
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "lockstep"))

import player  # noqa: E402

KINDS = 7  # of primitives, without the pool of locks
HAS_SCOPES = sys.version_info >= (3, 11)
CATCHING = ("catch", "uncancel", "finally", "fail", "await", "shield", "spawn", "group")


def verbs_of(ops):
    for op in ops:
        yield op["op"]
        yield from verbs_of(op.get("ops", ()))
        for child in op.get("tasks", ()):
            yield from verbs_of(child)


class Program:
    """A drawn program, and what its runners share: what the Player is in lock-step."""

    def __init__(self, sim, runner):
        self.sim = sim
        self.items = {}
        self.roots = {}
        self.tasks = []
        shape = (sim.draw(KINDS, "first"), 1 + sim.draw(3, "objects"), 2 + sim.draw(3, "tasks"),
                 2 + sim.draw(6, "ops"), 1 + sim.draw(4, "times"), sim.draw(2, "version"))
        program = json.loads(sim._loop._draw_program(*shape))
        self.specs = {spec["name"]: spec for spec in program["objects"]}
        # which lock an object goes with: two conditions may share one
        self.locks = {name: spec.get("lock", name) for name, spec in self.specs.items()}
        self.held = dict.fromkeys(self.specs, 0)
        self.uses_wait_for = not HAS_SCOPES or sim.draw(2, "deadlines") == 1
        self.uses_gather = not HAS_SCOPES or sim.draw(2, "groups") == 1
        self.tools = (f"{'wait_for' if self.uses_wait_for else 'timeout'}, "
                      f"{'gather' if self.uses_gather else 'TaskGroup'}")
        index = 0
        self.runners = []
        for task in program["tasks"]:
            index = player.number_ops(task["ops"], index)
            self.runners.append((task["name"], runner(self, len(self.runners)), task["ops"]))

    def happens(self, text):
        pass

    def release_is_refused(self, name):
        self.sim.check(False, f"a release of '{name}' was refused to a task that holds it "
                              f"({self.tools})")

    def unexpected(self, task):
        """What ended a task that no program has ended so."""
        if task.cancelled() or task.exception() is None:
            return None
        left = [task.exception()]
        while left:
            error = left.pop()
            if hasattr(error, "exceptions"):
                left += error.exceptions
            elif not isinstance(error, (player.Failed, asyncio.CancelledError)):
                return error
        return None


# --- asyncio --------------------------------------------------------------------------------------


class NoBarrier:
    """Before 3.11."""

    async def wait(self):
        await asyncio.sleep(0)


class AsyncioProgram(Program):
    def __init__(self, sim):
        super().__init__(sim, AsyncioRunner)
        self.objects = {}
        for name, spec in self.specs.items():
            self.objects[name] = self.make(spec)

    def make(self, spec):
        if spec["kind"] == "barrier" and not hasattr(asyncio, "Barrier"):
            return NoBarrier()
        return self.sim.watch(player.make_object(None, spec, self.objects)[0],
                              name=spec["name"])

    def start(self, runner, ops):
        """A task that is nobody's child."""
        task = asyncio.ensure_future(runner.run(ops))
        self.tasks.append(task)
        return task

    async def play(self):
        for name, runner, ops in self.runners:
            task = self.roots[name] = self.sim.spawn(None, runner.run(ops), name=name)
            task.root = runner.root
            self.tasks.append(task)
        pending = self.tasks
        while pending:
            await asyncio.wait(pending)
            pending = [task for task in self.tasks if not task.done()]
        for task in self.tasks:
            error = self.unexpected(task)
            self.sim.check(error is None, f"a task ended with {type(error).__name__}: {error} "
                                          f"({self.tools})")
        for name, runner, ops in self.runners:
            self.check_cancelled(self.roots[name], ops)

    def check_cancelled(self, task, ops):
        """A cancel that was accepted ends a task that has no way to go on."""
        if not HAS_SCOPES or task.cancelled() or any(verb in CATCHING for verb in verbs_of(ops)):
            return
        self.sim.check(task.cancelling() == 0,
                       f"a cancel was swallowed, the task ran to its end ({self.tools})")


class AsyncioRunner(player.Runner):
    async def run(self, ops):
        self.number = asyncio.current_task().number
        try:
            await self.run_ops(ops)
        finally:
            self.release_inside(0)

    async def run_op(self, op):
        verb = op["op"]
        if verb == "spawn":
            self.player.start(AsyncioRunner(self.player, self.root), op["ops"])
        elif verb in ("await", "shield"):
            task = self.player.roots.get(op["task"])
            if task is not None and task.root < self.root:
                await (task if verb == "await" else asyncio.shield(task))
        elif verb == "cancel":
            if op["task"] in self.player.roots:
                self.player.roots[op["task"]].cancel()
        elif verb == "uncancel":
            if HAS_SCOPES:
                asyncio.current_task().uncancel()
        else:
            await super().run_op(op)

    async def run_in_time(self, delay, ops, single):
        try:
            if self.player.uses_wait_for:
                await asyncio.wait_for(self.run_inside(ops, single), delay)
            else:
                async with self.player.sim.watch(asyncio.timeout(delay)):
                    await self.run_inside(ops, single)
        except (TimeoutError, asyncio.TimeoutError):
            pass

    async def run_group(self, children, body):
        if not self.player.uses_gather:
            try:
                async with asyncio.TaskGroup() as group:
                    for ops in children:
                        group.create_task(AsyncioRunner(self.player, self.root).run(ops))
                    if body is not None:
                        await self.run_inside(body, None)
            except BaseExceptionGroup:
                pass
            return
        tasks = [self.player.start(AsyncioRunner(self.player, self.root), ops)
                 for ops in children]
        if body is not None:
            await self.run_inside(body, None)
        try:
            await asyncio.gather(*tasks)
        except player.Failed:
            pass


async def asyncio_programs(sim):
    await AsyncioProgram(sim).play()
