"""tasks_test.py FOLDER: swallowed cancels, eager tasks, and what would wait for another thread."""
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

BLOCKS = '''
    import asyncio
    import queue
    import threading

    import buzzer


    @buzzer.test(runs=2, cancel="none")
    async def test_lock(sim):
        lock = threading.Lock()
        with lock:
            assert not lock.acquire(blocking=False)
            lock.acquire()


    @buzzer.test(runs=2, cancel="none")
    async def test_queue(sim):
        queue.Queue().get(timeout=1)


    @buzzer.test(runs=2, cancel="none")
    async def test_asks(sim):
        input("who? ")


    @buzzer.test(runs=2, cancel="none")
    async def test_free(sim):
        outer, inner = threading.RLock(), threading.Lock()
        with outer, outer, inner:
            pass
        assert inner.acquire(timeout=1)
        await asyncio.sleep(0)
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
        self.assertIn("it, or what it calls", " ".join(output.split()))

    def test_waits_for_another_thread(self):
        write("test_blocks.py", BLOCKS)
        for test, text in (("lock", "another thread could end"),
                           ("queue", "another thread could end"),
                           ("asks", "nobody to ask")):
            errors = self.call("run", f"test_blocks.py::test_{test}", code=2)[1]
            self.assertIn(text, errors)
            self.assertRegex(errors, rf"test_blocks.py:\d+ in test_{test}\)")
        self.call("run", "test_blocks.py::test_free")

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
