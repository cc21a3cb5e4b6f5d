"""pytest_test.py FOLDER: the plug-in, beside others."""
import importlib.util
import os
import sys
import unittest

import support
from support import TESTS, write

if importlib.util.find_spec("pytest") is None:
    print("pytest is not installed")
    sys.exit(77)

PLUGINS = {"pytest_asyncio": "pytest_asyncio", "anyio": "anyio", "xdist": "xdist"}


def has(module):
    return importlib.util.find_spec(module) is not None


class Pytest(support.Case):
    def pytest(self, *words, code=0):
        return self.call("-q", "-p", "buzzer.pytest_plugin", "-p", "no:cacheprovider", *words,
                         module="pytest", code=code)[0]

    def test_a_failure(self):
        write("test_lock.py", TESTS)
        output = self.pytest(code=1)
        self.assertIn("2 failed, 1 passed", output)
        for part in ("violation: deadlock", "worker-1  starts; waits for 'lock' at test_lock.py:7",
                     "*** deadlock ***", "also reachable on a plain FIFO loop",
                     "FAILED test_lock.py::test_leaks", "says no"):
            self.assertIn(part, output)
        for part in ("Traceback", "pytest_plugin.py", "campaign.py", "case.py"):
            self.assertNotIn(part, output)
        token = self.line(output, "token ")
        self.assertEqual(self.line(output, "replay "), f"python3 -m buzzer replay '{token}'")
        self.call("replay", token)
        output = self.pytest("test_lock.py::test_leaks", "--buzzer-replay", token, code=1)
        self.assertIn("replay matched", output)
        output = self.pytest("test_lock.py::test_leaks", code=1)
        self.assertIn("stored trace .buzzer/", output)
        command = self.line(output, "  replay  ")
        self.assertNotIn("--variant", command)
        self.call("replay", command.split()[-1])
        self.assertIn("*** deadlock ***", output)

    def test_without_the_plugin(self):
        """Only one frame of Buzzer's is shown."""
        write("test_lock.py", TESTS)
        output, _ = self.call("-q", "-p", "no:cacheprovider", "-p", "no:buzzer",
                              "test_lock.py::test_check", module="pytest", code=1)
        self.assertIn("says no", output)
        self.assertNotIn("def check(", output)

    def test_arguments(self):
        """Parameters, fixtures and methods; such a test is replayed by pytest."""
        write("test_args.py", """
            import buzzer
            import pytest

            @pytest.fixture
            def limit():
                return 2

            class TestGroup:
                def setup_method(self):
                    self.text = "so"

                @pytest.mark.parametrize("n", [1, 2, 3])
                @buzzer.test(runs=4, no_shrink=True)
                async def test_n(self, sim, n, limit):
                    sim.check(n <= limit, f"{self.text}: {n}")

            @buzzer.test
            async def test_runs(sim):
                pass
        """)
        output = self.pytest("--buzzer-runs", "3", "-W", "ignore", code=1)
        self.assertIn("1 failed, 3 passed", output)
        self.assertIn("so: 3", output)
        command = self.line(output, "replay ")
        self.assertTrue(command.startswith("python3 -m pytest 'test_args.py::TestGroup::test_n[3]' "
                                           "--buzzer-replay '"), command)
        token = command.rpartition(" ")[2].strip("'")
        again = self.pytest("test_args.py::TestGroup::test_n[3]", "--buzzer-replay", token, code=1)
        self.assertIn("replay matched", again)
        self.assertEqual(self.line(again, "replay  "), command)
        output, errors = self.call("corpus", ".buzzer", code=2)
        self.assertIn("it takes 'n', which pytest gives it. To run it: "
                      "python3 -m pytest 'test_args.py::TestGroup::test_n[3]'; to replay a run, add "
                      "--buzzer-replay", errors)
        trace = next(name for name in os.listdir(".buzzer") if name.endswith(".json"))
        self.assertIn("so: 3", self.call("show", os.path.join(".buzzer", trace))[0])
        # the program's commands get the arguments by pytest
        self.assertIn("replay matched", self.call("replay", token)[0])
        explained, _ = self.call("explain", os.path.join(".buzzer", trace))
        self.assertIn("so: 3", explained)
        self.assertNotIn("passed", explained)
        self.assertIn("there is no 'test_gone'",
                      self.call("replay", token.replace("TestGroup.test_n", "test_gone"),
                                code=2)[1])
        other = self.pytest("test_args.py::test_runs", "--buzzer-replay", token, code=1)
        self.assertIn("the run is of the test 'TestGroup.test_n[3]', and this is 'test_runs'",
                      other)

    def test_names(self):
        """What pytest calls a test, it is called in tokens, whatever its function is called."""
        write("makers.py", """
            import functools
            import buzzer

            def make(n):
                @buzzer.test(runs=2, order='fifo', no_shrink=True)
                async def check(sim):
                    sim.check(n < 4, f"{n} is too much")
                return check

            def wrapped(function):
                @functools.wraps(function)
                async def wrapper(sim):
                    await function(sim)
                return wrapper

            def make_method(n):
                @buzzer.test(runs=2, order='fifo', no_shrink=True)
                async def check(self, sim):
                    sim.check(n < 4, f"{n} is too much")
                return check

            class Shared:
                test_here = make_method(9)
        """)
        write("test_made.py", """
            import functools
            import buzzer
            from makers import Shared, make, wrapped

            async def check(sim, n):
                sim.check(n < 4, f"{n} is too much")

            async def method(self, sim):
                sim.check(False, "8 is too much")

            test_three = make(3)
            test_four = make(4)
            test_five = test_fifth = make(5)
            test_six = buzzer.test(functools.partial(check, n=6), runs=2, order='fifo', no_shrink=True)

            @buzzer.test(runs=2, order='fifo', no_shrink=True)
            @wrapped
            async def test_seven(sim):
                sim.check(False, "7 is too much")

            class TestGroup:
                test_eight = buzzer.test(method, runs=2, order='fifo', no_shrink=True)

            class TestShared(Shared):
                pass
        """)
        failed = ["test_four", "test_five", "test_fifth", "test_six", "test_seven",
                  "TestGroup.test_eight", "TestShared.test_here"]
        for _ in range(2):  # what is stored of one is no other's
            output = self.pytest("-W", "ignore", "--buzzer-runs", "1", code=1)
            self.assertIn(f"{len(failed)} failed, 1 passed", output)
        self.assertRegex(self.call("corpus", ".buzzer")[0], r"(\d+) traces: \1 matched")
        tokens = {}
        for name in failed:
            self.assertIn(f"FAILED test_made.py::{name.replace('.', '::')}", output)
            trace, = [file for file in os.listdir(".buzzer") if file.endswith("_0x0.json")
                      and file.startswith(f"test_made.py_{name}_")]
            if name in ("test_fifth", "TestShared.test_here"):
                replayed, _ = self.call("replay", os.path.join(".buzzer", trace))
                tokens[name] = self.line(replayed, "token ")
        for name, token in tokens.items():
            self.assertTrue(token.startswith(f"test_made.py/{name}:"), token)
            node = f"test_made.py::{name.replace('.', '::')}"
            self.assertIn("is too much", self.call("replay", token)[0])
            self.assertIn("replay matched", self.pytest(node, "--buzzer-replay", token, code=1))
        old = tokens["test_fifth"].replace("/test_fifth:", "/make.%3Clocals%3E.check:")
        self.assertIn("replay matched", self.pytest("test_made.py::test_fifth", "--buzzer-replay",
                                                    old, code=1))  # as tokens once had it
        self.assertIn("test_three, test_four, test_five, test_fifth is left",
                      self.call("replay", old, code=2)[1])

    def test_warns(self):
        write("test_idle.py", """
            import buzzer

            @buzzer.test(runs=200)
            async def test_idle(sim):
                pass
        """)
        self.assertIn("BuzzerWarning", self.pytest())
        self.assertIn("1 passed", self.pytest("-W", "ignore"))
        output = self.pytest("-W", "error", code=1)
        self.assertIn("cancels are on, and none was injected", output)
        self.assertNotIn("Traceback", output)

    def test_imported_by_name(self):
        write("test_name.py", """
            from buzzer import run, replay, test

            @test(runs=2)
            async def test_it(sim):
                pass
        """)
        self.assertIn("1 passed", self.pytest("-W", "ignore"))

    def test_bad_options(self):
        write("test_bad.py", """
            import buzzer

            @buzzer.test(order="fofo")
            async def test_bad(sim):
                pass
        """)
        output = self.pytest(code=1)
        self.assertIn("unknown order 'fofo'; did you mean 'fifo'?", output)
        self.assertNotIn("Traceback", output)

    def test_beside_others(self):
        """Their tests stay theirs, in each of their modes."""
        write("test_mine.py", TESTS.replace("False)", "True)").replace("sim.check", "# sim.check"))
        count = 3
        if has("pytest_asyncio"):
            write("test_asyncio.py", """
                import asyncio, pytest

                @pytest.mark.asyncio
                async def test_loop():
                    assert type(asyncio.get_running_loop()).__module__.startswith("asyncio")
            """)
            count += 1
        if has("anyio"):
            write("test_anyio.py", """
                import anyio, pytest

                @pytest.fixture
                def anyio_backend():
                    return "asyncio"

                @pytest.mark.anyio
                async def test_sleeps():
                    await anyio.sleep(0)
            """)
            count += 1
        modes = [[], ["-n", "2"]] if has("xdist") else [[]]
        if has("pytest_asyncio"):
            modes.append(["-o", "asyncio_mode=auto"])
        for mode in modes:
            self.assertIn(f"{count} passed", self.pytest("-W", "ignore", *mode), mode)

    def test_expected(self):
        """xfail(raises=) of what a test that fails raises; a profile; a hint."""
        write("test_lock.py", TESTS.replace("@buzzer.test(runs=5", """@pytest.mark.xfail(
        raises=AssertionError)
    @buzzer.test(runs=5""").replace("import buzzer", "import buzzer\n    import pytest", 1))
        self.assertIn("1 xfailed", self.pytest("-k", "test_check"))
        write("test_many.py", "import buzzer\n@buzzer.test\nasync def test_it(sim):\n"
                              "    sim.check(False, 'no')\n")
        self.assertIn("1 failed", self.pytest("test_many.py", "--buzzer-profile", "dev", code=1))
        output, _ = self.call("-p", "buzzer.pytest_plugin", "--co", "test_many.py", module="pytest",
                              VIRTUAL_ENV=self.folder)
        self.assertIn(f"is not that of the virtual environment {self.folder}: say 'python3 -m "
                      "pytest'", output)

    def test_runs_without_a_place_to_write(self):
        write("read/test_pool.py", "import buzzer\n@buzzer.test(runs=2)\n"
                                   "async def test_pool(sim):\n    pass\n")
        if os.geteuid() != 0:
            os.chmod("read", 0o555)
        self.assertIn("1 passed", self.pytest("-W", "ignore", "read"))


if __name__ == "__main__":
    unittest.main()
