"""suite_test.py FOLDER: `pytest --buzzer`, with suites that know nothing of Buzzer."""
import importlib.util
import os
import sys
import unittest

import support
from support import write

NEEDED = ("pytest", "pytest_asyncio", "anyio", "aiohttp")
LACKING = [name for name in NEEDED if importlib.util.find_spec(name) is None]
if LACKING:
    print(f"not installed: {', '.join(LACKING)}")
    sys.exit(77)


class Suites(support.Case):
    def setUp(self):
        super().setUp()
        write("conftest.py", """
            import buzzer

            buzzer.profile("short", no_shrink=True, step_time=200)
        """)

    def pytest(self, *words, code=0, buzzer="--buzzer=10", profile="short"):
        return self.call("-q", "-p", "buzzer.pytest_plugin", "-p", "no:cacheprovider", *words,
                         *([buzzer] if buzzer else []), module="pytest", code=code,
                         BUZZER_PROFILE=profile)[0]

    def test_each_runner(self):
        """Each runs under Buzzer's loop, and passes with and without."""
        write("test_pytest_asyncio.py", """
            import asyncio, pytest, pytest_asyncio

            pytestmark = pytest.mark.asyncio

            @pytest_asyncio.fixture
            async def queue():
                queue = asyncio.Queue()
                await queue.put(1)
                yield queue
                await queue.join()

            @pytest.mark.parametrize("n", [1, 2])
            async def test_fixture(queue, n, event_loop):
                assert asyncio.get_running_loop() is event_loop
                assert await queue.get() == 1
                await asyncio.sleep(3600)
                queue.task_done()

            class TestGroup:
                count = 0

                async def test_method(self, tmp_path):
                    self.count += 1
                    assert self.count == 1
        """)
        write("test_anyio.py", """
            import anyio, asyncio, pytest

            pytestmark = pytest.mark.anyio
            MADE = []

            @pytest.fixture(scope="module")
            def anyio_backend():
                return "asyncio"

            @pytest.fixture(scope="module")
            async def lock(anyio_backend):
                MADE.append(1)
                yield anyio.Lock()
                MADE.pop()

            async def test_lock(lock):
                assert MADE == [1]
                async with anyio.create_task_group() as group:
                    for _ in range(3):
                        group.start_soon(hold, lock)

            async def hold(lock):
                async with lock:
                    await anyio.sleep(60)
        """)
        write("aiohttp_test.py", """
            import asyncio

            async def test_loop(loop):
                await asyncio.sleep(3600)
                assert asyncio.get_running_loop() is loop
        """)
        write("test_unittest.py", """
            import asyncio, unittest

            class Tests(unittest.IsolatedAsyncioTestCase):
                made = 0

                @classmethod
                def setUpClass(cls):
                    cls.made += 1

                def setUp(self):
                    self.lock = asyncio.Lock()

                async def asyncSetUp(self):
                    await self.lock.acquire()

                async def asyncTearDown(self):
                    self.lock.release()

                async def test_sleeps(self):
                    await asyncio.sleep(3600)
                    self.assertTrue(self.lock.locked())
                    self.assertEqual(self.made, 1)

                def test_plain(self):
                    self.assertTrue(self.lock.locked())
        """)
        write("test_sync.py", """
            import asyncio

            def test_run():
                async def main():
                    await asyncio.sleep(3600)
                    return 3
                for _ in range(2):
                    assert asyncio.run(main()) == 3
        """)
        self.assertIn("7 passed", self.pytest("--buzzer-sync", "--ignore=aiohttp_test.py"))
        self.assertIn("7 passed", self.pytest("--buzzer-sync", "--buzzer-order", "any",
                                              "--ignore=aiohttp_test.py"))
        self.assertIn("1 passed", self.pytest("-p", "aiohttp.pytest_plugin", "--buzzer",
                                              "aiohttp_test.py", buzzer=None))

    BAD = """
        import asyncio, logging, pytest

        pytestmark = pytest.mark.asyncio

        async def test_assert(caplog, capsys):
            logging.warning("a line of the log")
            print("printed")
            x = 2
            await asyncio.sleep(0)
            assert x == 3

        async def test_deadlock():
            lock = asyncio.Lock()
            async with lock:
                await lock.acquire()

        async def test_lost():
            queue = asyncio.Queue()
            async def get():
                await queue.get()
            task = asyncio.create_task(get())
            await asyncio.sleep(0)
            queue._getters.clear()
            queue.put_nowait(1)
            await task
    """

    def test_failures(self):
        write("test_bad.py", self.BAD)
        output = self.pytest("--junitxml=all.xml", code=1)
        self.assertIn("3 failed", output)
        with open("all.xml", encoding="utf-8") as file:
            document = file.read()
        for part in ("assert x == 3", "assert 2 == 3", "a line of the log",
                     "Captured stdout call", "violation: deadlock", "'lock' is held by Task-1",
                     "violation: lost-wakeup"):
            self.assertIn(part, output)
            self.assertIn(part.split("'")[0], document)
        for part in ("pytest_suite.py", "RunIsOver", "Traceback"):
            self.assertNotIn(part, output)
        command = next(line for line in output.splitlines() if "--buzzer-replay 'test_bad.py/test_a"
                       in line).split(" ", 2)[2].strip()
        self.assertTrue(command.startswith("python3 -m pytest test_bad.py::test_assert --buzzer "))
        token = command.rpartition(" ")[2].strip("'")
        output = self.pytest("test_bad.py::test_assert", "--buzzer-replay", token, code=1)
        for part in ("replay matched", "assert 2 == 3", "a line of the log"):
            self.assertIn(part, output)
        self.assertIn("replay matched", self.call("replay", token)[0])
        self.assertIn("To run it: python3 -m pytest test_bad.py::test_assert --buzzer",
                      self.call("run", "test_bad.py::test_assert", code=2)[1])

    def test_fails_before_fixtures_end(self):
        """They end all the same: what fails is no different when it is made again."""
        write("test_ends.py", """
            import asyncio, pytest, pytest_asyncio

            @pytest_asyncio.fixture
            async def first():
                yield
                await asyncio.sleep(1)

            @pytest_asyncio.fixture
            async def second(first):
                yield
                await asyncio.sleep(1)

            @pytest.mark.asyncio
            async def test_it(second):
                await asyncio.sleep(1)
                assert False
        """)
        output = self.pytest(code=1, profile="default")
        self.assertIn("violation: assertion", output)
        self.assertIn("minimal", output)

    def test_outcomes(self):
        """A test that skips itself, fails as expected, or is refused."""
        write("test_outcomes.py", """
            import asyncio, pytest, threading

            pytestmark = pytest.mark.asyncio

            async def test_skips():
                pytest.skip("not today")

            @pytest.mark.xfail
            async def test_expected():
                assert False

            @pytest.mark.xfail(raises=KeyError, reason="no key")
            async def test_raises():
                await asyncio.sleep(0)
                {}["key"]

            @pytest.mark.xfail(raises=KeyError)
            async def test_raises_another():
                assert False, "no KeyError"

            async def test_xfails():
                pytest.xfail("known")

            @pytest.mark.xfail(strict=True)
            async def test_passes():
                pass

            async def test_thread():
                threading.Thread(target=print).start()

            async def test_selector():
                asyncio.get_running_loop()._selector.select(0)
        """)
        output = self.pytest("-rsx", code=1)
        self.assertIn("2 failed, 3 skipped, 3 xfailed", output)
        for part in ("not today", "known", "XPASS(strict)", "Buzzer refuses it: a thread", "Buzzer refuses it: a select()",
                     "AssertionError: no KeyError", "SKIPPED [1] test_outcomes.py:"):
            self.assertIn(part, output)

    def test_command(self):
        """python3 -m buzzer run --suite: the exit status is the program's."""
        write("test_bad.py", self.BAD)
        for words, code, text in ((("-k", "assert", "--junit", "all.xml"), 1, "assert 2 == 3"),
                                  (("-k", "nothing"), 2, "3 deselected"),
                                  (("-k", "lost", "--profile", "nix"), 2, "no profile 'nix'")):
            output, errors = self.call("run", "--suite", "test_bad.py", "--runs", "10", "--order=any",
                                       *words, code=code, BUZZER_PROFILE="short")
            self.assertIn(text, output + errors)
        self.assertTrue(os.path.exists("all.xml"))

    def test_cancels(self):
        """They strike the tasks that the test creates, or some of them."""
        write("test_cancel.py", """
            import asyncio, pytest

            async def fragile(lock):
                await lock.acquire()
                await asyncio.sleep(0)
                lock.release()

            async def sturdy(lock):
                async with lock:
                    await asyncio.sleep(0)

            @pytest.mark.asyncio
            async def test_lock():
                lock = asyncio.Lock()
                tasks = [asyncio.create_task(work(lock)) for work in (fragile, sturdy, sturdy)]
                await asyncio.wait(tasks)
        """)
        self.assertIn("1 passed", self.pytest(buzzer="--buzzer=100"))
        words = ("--buzzer-cancels", "1")
        self.assertIn("is cancelled while holding", self.pytest(*words, buzzer="--buzzer=100",
                                                                code=1))
        self.assertIn("1 passed", self.pytest(*words, "--buzzer-targets", "sturdy",
                                              "-p", "no:randomly", buzzer="--buzzer=100"))

    def test_as_on_a_real_loop(self):
        """What a clock shows, that time goes on while a program polls, what is only logged; a slow
        step is a choice."""
        write("test_real.py", """
            import asyncio, pytest, time

            pytestmark = pytest.mark.asyncio

            async def test_clock():
                for delay in (0.1, 0.2, 0.4):
                    for clock in (time.time, time.monotonic, time.perf_counter):
                        start = clock()
                        await asyncio.sleep(delay)
                        assert delay <= clock() - start < delay + 0.01

            async def test_polls():
                task = asyncio.create_task(asyncio.sleep(30))
                while not task.done():
                    await asyncio.sleep(0)

            async def test_logs():
                async def fail():
                    raise ValueError
                pytest.task = asyncio.create_task(fail())
                await asyncio.sleep(0)

            async def test_short_delays():
                await asyncio.wait_for(asyncio.sleep(0.01), 0.03)
        """)
        self.assertIn("4 passed", self.pytest())
        self.assertIn("4 passed", self.pytest("--buzzer-order", "any"))
        self.assertIn("1 failed, 3 passed", self.pytest("--buzzer-lag", "99ms", buzzer="--buzzer=100",
                                                        code=1))

    def test_one_schedule(self):
        """A test that offers no choice is made a few times; one that draws, or has two timers or a
        cancel, as often as was said; and what fails late is found."""
        write("test_choice.py", """
            import asyncio, pytest, random

            pytestmark = pytest.mark.asyncio

            @pytest.fixture(autouse=True)
            def count(request):
                with open(request.node.name, "a") as file:
                    file.write("x")

            async def test_alone():
                lock = asyncio.Lock()
                async def work():
                    async with lock:
                        await asyncio.sleep(0)
                await asyncio.gather(work(), work())
                await asyncio.sleep(1)

            async def test_draws():
                random.random()

            async def test_timers():
                await asyncio.gather(asyncio.sleep(1), asyncio.sleep(1))

            async def test_late():
                assert random.randrange(30)
        """)
        write("test_other.py", """
            import asyncio

            async def main():
                await asyncio.sleep(0)

            def test_own_loop():
                class Loop(asyncio.BaseEventLoop):
                    def _process_events(self, events):
                        pass

                    def _write_to_self(self):
                        pass
                loop = Loop()
                loop._selector = type("Selector", (), {"select": lambda self, timeout: ()})()
                loop.run_until_complete(main())
        """)
        output = self.pytest("--junitxml=all.xml", "--buzzer-sync", buzzer="--buzzer=100", code=1)
        self.assertIn("1 failed, 4 passed", output)
        self.assertIn("one schedule, and no other: no run offers a choice: 1", output)
        self.assertIn("no step on Buzzer's loop: they use none, or one of their own: 1", output)
        with open("all.xml", encoding="utf-8") as file:
            self.assertEqual(file.read().count("1, complete"), 1)
        made = {name: os.path.getsize(f"test_{name}") for name in ("alone", "draws", "timers")}
        self.assertLess(made["alone"], 20)
        self.assertGreaterEqual(min(made["draws"], made["timers"]), 100)
        os.remove("test_alone")
        self.pytest("-k", "alone", "--buzzer-order", "any", buzzer="--buzzer=100")
        self.assertGreaterEqual(os.path.getsize("test_alone"), 100)

    def test_dies(self):
        """In each run, or in one; a worker that measures the test is no exception."""
        write("test_dies.py", """
            import asyncio, os, pytest, random

            pytestmark = pytest.mark.asyncio

            async def test_always():
                os._exit(3)

            async def test_once():
                if random.randrange(20) == 7:
                    os._exit(3)

            async def test_hangs():
                with open("hung", "a") as file:
                    file.write("x")
                while True:
                    pass
        """)
        output = self.pytest("--buzzer-profile", "short", buzzer="--buzzer=100", profile="ci",
                             code=1)
        self.assertIn("3 failed", output)
        self.assertEqual(output.count("violation: exit"), 2)
        self.assertIn("violation: hang", output)
        self.assertLessEqual(os.path.getsize("hung"), 6)  # and not once more for a report

    def test_step_limit(self):
        """It is no verdict: an error, and no failure; not one that is expected, either."""
        write("test_limit.py", """
            import asyncio, pytest
            import buzzer

            async def poll():
                while True:
                    await asyncio.sleep(0)

            @pytest.mark.asyncio
            async def test_polls():
                await poll()

            @pytest.mark.asyncio
            @pytest.mark.xfail
            async def test_expected():
                await poll()

            @buzzer.test(max_steps=100, runs=19)
            async def test_own(sim):
                await poll()

            @pytest.mark.asyncio
            async def test_ends():
                for _ in range(50):
                    await asyncio.sleep(0)
        """)
        output = self.pytest("--buzzer-max-steps=100", "--junitxml=all.xml", buzzer="--buzzer=30",
                             code=1)
        self.assertIn("1 passed, 3 errors", output)
        self.assertIn("no verdict: cut by the limit of 100 steps", output)
        self.assertIn("(--buzzer-max-steps)", output)
        with open("all.xml", encoding="utf-8") as file:
            self.assertIn('errors="3" failures="0"', file.read())

    def test_watch_is_a_choice(self):
        write("test_watch.py", self.BAD)
        self.assertIn("violation: deadlock", self.pytest("-k", "lost", "--buzzer-no-watch", code=1))


if __name__ == "__main__":
    unittest.main()
