"""tasks_test.py FOLDER: swallowed cancels, eager tasks, and tasks of a class of the program's own."""
import sys
import unittest

import support
from support import write

CANCELS = '''
    import asyncio
    import contextlib

    import buzzer

    def two(body):
        """A test of two tasks with this body."""
        @buzzer.test(runs=60, no_shrink=True)
        async def test(sim):
            tasks = [sim.spawn(None, body(), name=f"worker-{n}") for n in range(2)]
            await asyncio.wait(tasks)
        return test


    async def nap():
        for _ in range(2):
            await asyncio.sleep(0.1)


    @two
    async def test_suppresses():
        with contextlib.suppress(asyncio.CancelledError):
            await nap()
        await nap()


    @two
    async def test_waits_first():
        try:
            await nap()
        except asyncio.CancelledError:
            await nap()
        await nap()


    @two
    async def test_caught_again():
        async def cleans_up():
            try:
                await nap()
            except asyncio.CancelledError:
                await nap()
                raise

        with contextlib.suppress(asyncio.CancelledError):
            await cleans_up()
        await nap()


    @two
    async def test_wait_for():
        async def quick():
            await asyncio.sleep(0.1)

        try:
            await asyncio.wait_for(quick(), 9)
        except asyncio.TimeoutError:
            pass
        await nap()


    @two
    async def test_wait_for_suppressed():
        with contextlib.suppress(asyncio.CancelledError, asyncio.TimeoutError):
            await asyncio.wait_for(asyncio.sleep(5), 9)
        await nap()


    @two
    async def test_group_fails():
        async def fails():
            raise KeyError

        async def cleans_up():
            try:
                await nap()
            finally:
                await nap()

        try:
            async with asyncio.TaskGroup() as group:
                group.create_task(cleans_up())
                group.create_task(fails())
        except Exception:  # a group of them
            await nap()


    @two
    async def test_returns():
        try:
            await nap()
        except asyncio.CancelledError:
            return


    @two
    async def test_cleans_up():
        try:
            await nap()
        except asyncio.CancelledError:
            try:
                raise ValueError
            except ValueError:
                await nap()


    @two
    async def test_refuses():
        try:
            await nap()
        except asyncio.CancelledError:
            asyncio.current_task().uncancel()
        await nap()


    @two
    async def test_raises_later():
        caught = None
        for _ in range(2):
            try:
                await nap()
            except asyncio.CancelledError as error:
                caught = error
        if caught:
            raise caught


    @two
    async def test_group():
        async with asyncio.TaskGroup() as group:
            group.create_task(nap())


    @contextlib.asynccontextmanager
    async def managed():
        try:
            yield
        except asyncio.CancelledError:
            await nap()
            raise
        finally:
            await nap()


    @two
    async def test_manager():
        async with managed():
            await nap()
'''

EAGER = '''
    import asyncio

    import buzzer


    @buzzer.test(runs=50, check_determinism=True)
    async def test_eager(sim):
        asyncio.get_running_loop().set_task_factory(asyncio.eager_task_factory)
        log = []

        async def worker(n):
            log.append(n)
            await asyncio.sleep(0.1)
            log.append(n)

        async def at_once():
            return asyncio.current_task()

        async with asyncio.TaskGroup() as group:
            tasks = [sim.spawn(group, worker(n), name=f"worker-{n}") for n in range(3)]
            assert log == [0, 1, 2], log
            done = group.create_task(at_once())
            assert done.done() and done.result() is done
        assert asyncio.current_task().get_name() == "test"
        assert sorted(log) >= [0, 0, 1, 1, 2, 2] or any(task.cancelled() for task in tasks)


    @buzzer.test(runs=200, cancel="none", no_shrink=True)
    async def test_order(sim):
        asyncio.get_running_loop().set_task_factory(asyncio.eager_task_factory)
        log = []

        async def worker(n):
            await asyncio.sleep(0)
            log.append(n)

        await asyncio.gather(*(asyncio.create_task(worker(n)) for n in range(3)))
        sim.check(log == [0, 1, 2], f"order {log}")
'''


OWN_TASKS = '''
    import asyncio

    import buzzer


    async def tick(delay):
        while True:
            await asyncio.sleep(delay)


    class OwnTask(asyncio.Task):
        """Of a program: made before a run begins."""
        cancels = 0

        def __init__(self, coro, *, loop=None, **more):
            super().__init__(coro, loop=loop, **more)
            self.mark = "own"

        def cancel(self, *args, **kwargs):
            self.cancels += 1
            return super().cancel(*args, **kwargs)


    @buzzer.test(runs=5, cancel="none")
    async def makes_tasks(sim):
        loop = asyncio.get_running_loop()
        first, second = asyncio.Task(asyncio.sleep(1)), asyncio.Task(tick(1), loop=loop, name="second")
        own = OwnTask(tick(1), loop=loop, name="own")
        assert isinstance(own, OwnTask) and own.mark == "own" and type(own).__name__ == "OwnTask"
        assert first.get_name().startswith("Task-")
        assert second.get_name() == "second" and own in asyncio.all_tasks()
        numbers = [task.number for task in (first, second, own)]
        assert list({own, first, second}) == [first, second, own] and numbers == sorted(numbers)
        await first
        for task in (second, own):
            task.cancel()
        await asyncio.wait([second, own])
        assert own.cancelled() and own.cancels == 1


    @buzzer.test(runs=5, cancel="none")
    async def sets_factory(sim):
        loop = asyncio.get_running_loop()

        async def wrapped(coro):
            return await coro

        def factory(loop, coro, **more):
            return OwnTask(wrapped(coro), loop=loop, **more)
        loop.set_task_factory(factory)
        assert loop.get_task_factory() is factory
        task = asyncio.create_task(asyncio.sleep(1, "slept"), name="named")
        spawned = sim.spawn(None, asyncio.sleep(1), name="spawned")
        assert type(task).__name__ == "OwnTask" and task.get_name() == "named"
        assert await task == "slept"
        await asyncio.wait([spawned])
        loop.set_task_factory(None)
        assert type(asyncio.create_task(asyncio.sleep(0))).__name__ == "Task"


    @buzzer.test(runs=5, cancel="none")
    async def needs_tasks(sim):
        asyncio.get_running_loop().set_task_factory(lambda loop, coro: coro.close())
        asyncio.create_task(asyncio.sleep(0))


    class NoInit(asyncio.Task):
        def __init__(self, coro, loop):
            asyncio.Task.__init__(self, coro, loop=loop)


    @buzzer.test(runs=5, cancel="none")
    async def passes_over(sim):
        NoInit(asyncio.sleep(0), asyncio.get_running_loop())


    @buzzer.test(runs=5, cancel="none")
    async def makes_eager_tasks(sim):
        asyncio.get_running_loop().set_task_factory(asyncio.create_eager_task_factory(OwnTask))
        log = []

        async def run(name):
            log.append(name)
            await asyncio.sleep(1)
            log.append(name)
        task = asyncio.create_task(run("a"), name="a")
        assert log == ["a"] and task.mark == "own"
        await task


    @buzzer.test(runs=200, no_shrink=True)
    async def test_factory(sim):
        lock = sim.watch(asyncio.Lock())

        async def forgets():
            await lock.acquire()
            await asyncio.sleep(0)
            lock.release()
        loop = asyncio.get_running_loop()
        loop.set_task_factory(lambda loop, coro, **more: OwnTask(coro, loop=loop, **more))
        await asyncio.wait([sim.spawn(None, forgets(), name=name) for name in ("own-1", "own-2")])
'''


class Tasks(support.Case):
    @unittest.skipIf(sys.version_info < (3, 11), "no Task.uncancel(): nothing says what is meant")
    def test_swallowed_cancels(self):
        write("test_cancels.py", CANCELS)
        for test, catcher in (("suppresses", r"\S+test_cancels.py:\d+ in test_suppresses"),
                              ("waits_first", r"\S+test_cancels.py:\d+ in test_waits_first"),
                              ("caught_again", "it, or what it calls,")):
            output = self.call("run", f"test_cancels.py::test_{test}", code=1)[0]
            self.assertIn("violation: cancel-delivered", output)
            self.assertRegex(" ".join(output.split()), rf"worker-\d was cancelled; {catcher} caught "
                             r".* then it waited at .*test_cancels.py:\d+ in nap, and returned")
            self.assertNotIn("asyncio's", output)
        for test in ("returns", "cleans_up", "refuses", "raises_later", "group", "manager"):
            self.call("run", f"test_cancels.py::test_{test}")

    @unittest.skipIf(sys.version_info < (3, 11) or sys.version_info >= (3, 13), "repaired")
    def test_cancels_that_asyncio_swallows(self):
        write("test_cancels.py", CANCELS)
        known = [("group_fails", r"TaskGroup.__aexit__\(\) \(gh-116720, repaired in Python 3.13\)")]
        if sys.version_info < (3, 12):
            known.append(("wait_for", r"wait_for\(\) \(gh-86296, repaired in Python 3.12\)"))
        for test, text in known:
            output = self.call("run", f"test_cancels.py::test_{test}", code=1)[0]
            self.assertRegex(" ".join(output.split()), rf"worker-\d was cancelled, and asyncio's "
                             rf"{text} caught the CancelledError; then it waited at .*test_cancels.py:\d+")
        output = self.call("run", "test_cancels.py::test_wait_for_suppressed", "--keep-going",
                           "--order", "fifo", code=1)[0]
        catcher = "it, or what it calls," if sys.version_info < (3, 12) else \
            r"test_cancels.py:\d+ in test_wait_for_suppressed"
        self.assertRegex(" ".join(output.split()), catcher + " caught the CancelledError")

    def test_own_tasks(self):
        write("test_own.py", OWN_TASKS)
        for test in ("makes_tasks", "sets_factory"):
            self.call("run", f"test_own.py::{test}")
        if sys.version_info >= (3, 12):
            self.call("run", "test_own.py::makes_eager_tasks")
        for test, text in (("needs_tasks", "a task factory that returns NoneType"),
                           ("passes_over", "a task that Buzzer cannot follow")):
            self.assertIn(text, self.call("run", f"test_own.py::{test}", code=2)[1])
        output = self.call("run", "test_own.py::test_factory", "--order", "fifo", code=1)[0]
        self.assertIn("violation: deadlock", output)
        self.assertRegex(output, r"own-\d +is cancelled while holding \(injected\)")
        self.assertIn("matched", self.call("replay", self.line(output, "token "))[0])

    @unittest.skipIf(sys.version_info < (3, 12), "no eager tasks")
    def test_eager(self):
        write("test_eager.py", EAGER)
        self.call("run", "test_eager.py::test_eager", "--cancel", "none")
        self.call("run", "test_eager.py::test_eager", "--keep-going", "--no-shrink", "--cancel",
                  "waiting")
        output = self.call("run", "test_eager.py::test_order", code=1)[0]
        self.assertIn("order [", output)
        self.assertIn("matched", self.call("replay", self.line(output, "token "))[0])


if __name__ == "__main__":
    unittest.main()
