"""cli_test.py FOLDER: python3 -m buzzer, with tests in files."""
import json
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import time
import unittest
import xml.etree.ElementTree

import support
from support import RUNTIME, TESTS, write


class Cli(support.Case):
    def setUp(self):
        super().setUp()
        write("tests/test_lock.py", TESTS)

    def find(self, *more):
        output, _ = self.call("run", "tests/test_lock.py::test_leaks", *more, code=1, is_new=True)
        return output

    def test_finds_and_replays(self):
        output = self.find()
        self.assertIn("violation: deadlock", output)
        self.assertIn("waits for 'lock' at tests/test_lock.py:7", output)
        self.assertIn("also reachable on a plain FIFO loop", output)
        token = self.line(output, "token ")
        self.assertTrue(token.startswith(f"tests/test_lock.py/test_leaks:{RUNTIME}:"), token)
        self.assertEqual(self.line(output, "replay "), f"python3 -m buzzer replay '{token}'")
        self.assertNotIn("primitive=", output)
        for what in (token, self.line(output, "shrunk "), self.line(output, "trace ")):
            output, _ = self.call("replay", what)
            self.assertIn("replay matched", output)
            self.assertIn("python3 -m buzzer replay", output)
        self.assertIn("deadlock", self.call("show", token)[0])
        self.check_explanation(token)
        self.check_program(token)
        self.assertIn("shrunk", self.call("shrink", token)[0])

    def check_explanation(self, token):
        output, _ = self.call("explain", token)
        self.assertRegex(output, "Step [0-9]+: worker-[0-9] is cancelled in the window 'holding'")
        self.assertRegex(output, "worker-[0-9]  is cancelled while holding .injected.")

    def check_program(self, token):
        """A program of the schedule, which needs nothing of Buzzer's and fails as the test does."""
        self.call("show", "--format", "asyncio", token, "-o", "alone.py")
        with open("alone.py", encoding="utf-8") as file:
            self.assertIn("asyncio itself, under Buzzer's loop", file.read())
        done = subprocess.run([sys.executable, "alone.py"], capture_output=True, text=True,
                              timeout=60, check=False, env={**os.environ, "PYTHONPATH": ""})
        self.assertIn("the steps are those of the recorded run", done.stdout)
        self.assertRegex(done.stdout, "FAULT: deadlock: worker-[0-9] waits for lock, which "
                                      "worker-[0-9] owned when it ended")
        self.assertEqual(done.returncode, 1, done.stdout + done.stderr)

    def test_words(self):
        """Of a slow step, and of the parts of an object."""
        write("test_words.py", '''
            import asyncio
            import buzzer


            @buzzer.test(order="fifo", cancel="none", runs=20)
            async def test_slow_step(sim):
                done = []

                async def slow():
                    for _ in range(3):
                        await asyncio.sleep(0)
                    done.append("slow")
                task = sim.spawn(None, slow(), name="slow")
                await asyncio.sleep(0.04)
                sim.check(done, "the timer was first")


            @buzzer.test(order="fifo", cancel="none", runs=200, no_shrink=True)
            async def test_guard(sim):
                lock = asyncio.Lock()

                async def use():
                    async with lock:
                        for _ in range(3):
                            await asyncio.sleep(0)
                tasks = [sim.spawn(None, use()) for _ in range(3)]
                await asyncio.sleep(0)
                await asyncio.wait_for(use(), 30)
                await asyncio.wait(tasks)


            @buzzer.test(cancel="none", runs=1, no_shrink=True)
            async def test_parts(sim):
                queue = sim.watch(asyncio.Queue(1), name="jobs")
                condition = sim.watch(asyncio.Condition(), name="ready")
                async with condition:
                    await queue.put(1)
                    await queue.put(2)
        ''')
        output, _ = self.call("run", "test_words.py::test_slow_step", code=1)
        self.assertIn("1 deviation from a FIFO loop (1 slow step of 40 ms); no cancel", output)
        self.assertRegex(output, r"\n +2 +40 ms +slow +step 1 of test takes 40 ms; starts\n")
        token = re.search(r"^shrunk +(\S+max-lag=40ms\S+)$", output, re.MULTILINE).group(1)
        self.assertIn("replay matched", self.call("replay", token)[0])
        for bound, code in (("40ms", 1), ("39ms", 0), ("any", 1), ("0", 0)):
            output, _ = self.call("run", "test_words.py::test_slow_step", "--max-lag", bound,
                                  code=code)
            self.assertEqual("stored traces: 0 tried" in output, code == 0)
        self.call("run", "test_words.py::test_guard")
        output, _ = self.call("run", "test_words.py::test_guard", "--max-lag", "any", code=1)
        token = re.search(r"^token +(\S+),max-lag=any(\S+)$", output, re.MULTILINE)
        self.assertIn("replay matched", self.call("replay", "".join(token.groups()))[0])
        output = " ".join(self.call("run", "test_words.py::test_parts", code=1)[0].split())
        self.assertIn("acquires 'lock of ready'; puts an item ('slots of jobs'); waits for 'slots "
                      "of jobs'", output)

    def test_never_ends(self):
        """Where it polls, and no hour of runs that prove nothing."""
        write("test_poll.py", '''
            import asyncio
            import buzzer


            @buzzer.test(max_steps=50_000)
            async def test_poll(sim):
                async def poll():
                    while True:
                        await asyncio.sleep(0)
                await sim.spawn(None, poll(), name="poller")


            @buzzer.test(max_steps=50_000, runs=30)
            async def test_may_end(sim):
                for _ in range(sim.draw(30)):
                    await asyncio.sleep(0)
        ''')
        options = ("run", "test_poll.py::test_poll", "--cancel", "none")
        output, errors = self.call(*options, "--quiet", code=5)
        self.assertIn("cut by the limit of 50000 steps: the run with seed 0x0 had not", output)
        self.assertIn("(49998 steps in which nothing happens: poller)", output)
        self.assertIn("  poller yields at test_poll.py:9\n", output)
        self.assertIn("nothing proved: none of the first 20 runs ended", errors)
        token = self.line(output, "token ")
        self.assertIn("poller yields at", self.call("replay", token)[0])
        self.assertIn("cut by the limit of 50000 steps\n", self.call("show", token)[0])
        self.assertIn("runs 22, ", self.call(*options, "--runs", "22", "--keep-going", code=5)[0])
        self.assertIn("runs 30, ", self.call("run", "test_poll.py::test_may_end")[0])

    def test_tries_first_what_failed(self):
        self.find("--quiet", "--no-shrink")
        kept = sorted(os.listdir(".buzzer"))
        self.assertTrue(any(name.endswith(".json") for name in kept), kept)
        output, errors = self.call("run", "tests/test_lock.py::test_leaks", code=1)
        self.assertIn("stored trace .buzzer/", output)
        self.assertIn("*** deadlock ***", output)
        self.assertIn("campaign was not begun", errors)
        command = self.line(output, "  replay  python3 -m buzzer ")
        self.assertIn("matched", self.call(*command.split())[0])
        self.assertIn("2 traces: 2 matched", self.call("corpus", ".buzzer")[0])
        write("tests/test_lock.py", TESTS.replace("False)", "True)"))
        output, _ = self.call("run", "tests/test_lock.py::test_leaks")
        self.assertIn("stored traces: 2 tried, 0 failed", output)
        self.assertIn("no violation found", output)

    def test_a_file(self):
        output, _ = self.call("run", "tests/test_lock.py", "--quiet", "--no-shrink", code=1)
        self.assertIn("deadlock", output)
        self.assertIn("says no", output)
        output, _ = self.call("list", "tests/test_lock.py")
        self.assertEqual([line.split()[0] for line in output.splitlines()],
                         [f"tests/test_lock.py/{name}"
                          for name in ("test_leaks", "test_holds", "test_check")])
        self.assertIn("A lock that leaks.", output)

    def test_one_document(self):
        for words in ("--json",), ("--junit", "x.xml"), ("--jun=x.xml",):
            _, errors = self.call("run", "tests/test_lock.py", *words, code=2)
            self.assertIn("takes one test, as FILE.py::TEST, and these are 3", errors)
        self.assertFalse(os.path.exists("x.xml"))
        self.call("run", "tests/test_lock.py::test_leaks", "--junit", "x.xml", "--quiet",
                  "--no-shrink", code=1)
        cases = xml.etree.ElementTree.parse("x.xml").findall(".//testcase")
        self.assertEqual([case.get("file") for case in cases], [None, "tests/test_lock.py"])
        self.assertIn("python3 -m buzzer replay", cases[1].findtext("failure"))

    def test_options(self):
        """Those of the command line go before those of the decorator."""
        for words, runs in (((), 50), (("--runs", "7"), 7), (("--seeds=3..4",), 2),
                            (("--seed", "5"), 1), (("--run=9", "--jobs=2"), 9)):
            output, _ = self.call("run", "tests/test_lock.py::test_holds", "--json", *words)
            self.assertEqual(json.loads(output)["runs"], runs, words)
        output, _ = self.call("run", "tests/test_lock.py::test_check", "--json", "--cancel=any",
                              code=1)
        self.assertEqual(json.loads(output)["settings"]["cancel"], "any")
        one, two = (self.call("run", "tests/test_lock.py::test_holds", "--jobs", jobs)[0]
                    for jobs in "12")
        self.assertEqual(one, two)

    def test_out(self):
        self.find("--out", "mine", "--quiet", "--no-shrink")
        self.assertFalse(os.path.exists(".buzzer"))
        self.assertEqual(len(os.listdir("mine")), 3)

    def test_folder(self):
        """Git ignores it, and it has no checkpoint of what has ended, began not or was refused."""
        write("test_refused.py", """
            import buzzer, os

            @buzzer.test
            async def test_refused(sim):
                os.fork()
        """)
        _, errors = self.call("run", "test_refused.py", code=2)
        self.assertNotIn("to continue", errors)
        self.call("run", "tests/test_lock.py::test_holds")
        self.find()
        self.find()  # a stored trace fails
        self.assertEqual({os.path.splitext(name)[1] for name in os.listdir(".buzzer")},
                         {"", ".json"})
        self.assertEqual(pathlib.Path(".buzzer/.gitignore").read_text(encoding="utf-8"), "*\n")

    def test_profiles(self):
        """A profile has what neither the decorator nor the command line says."""
        write("test_own.py", """
            import buzzer

            buzzer.profile("own", runs=3, order="fifo")

            @buzzer.test
            async def test_plain(sim):
                pass

            @buzzer.test(runs=5, order="any")
            async def test_says(sim):
                pass
        """)
        for words, runs, order in (((), "10000", "any"), (("--profile", "dev"), "1000", "any"),
                                   (("--profile=own",), "3", "fifo"),
                                   (("--profile=own", "--runs=4"), "4", "fifo")):
            output, _ = self.call("run", "test_own.py::test_plain", *words)
            self.assertIn(f"runs {runs},", output)
            self.assertIn(f"order={order} ", output)
        output, _ = self.call("run", "test_own.py::test_says", BUZZER_PROFILE="own")
        self.assertIn("runs 5,", output)
        self.assertIn("order=any ", output)
        self.assertIn("no profile 'nix': there are ci, default, dev, own;",
                      self.call("run", "test_own.py", "--profile", "nix", code=2)[1])

    def test_starts_once(self):
        """The process that starts again for its hashes has imported nothing before."""
        if sys.version_info < (3, 10):
            self.skipTest("it has no sys.orig_argv")
        environment = {name: value for name, value in os.environ.items()
                       if name != "PYTHONHASHSEED"}
        done = subprocess.run([sys.executable, "-X", "importtime", "-m", "buzzer", "list",
                               "tests/test_lock.py"], capture_output=True, text=True, check=True,
                              env=environment)
        names = [line.split()[-1] for line in done.stderr.splitlines()]
        self.assertEqual((names.count("buzzer.hashes"), names.count("asyncio")), (2, 1))

    def test_virtual_environment(self):
        """A program of another interpreter says how to call that of the environment."""
        script = ("import sys; from buzzer import program; program.importlib.util.find_spec = "
                  "lambda name: None; program.check_is_built()")
        done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True,
                              check=False, env={**os.environ, "VIRTUAL_ENV": self.folder})
        self.assertIn(f"is not that of the virtual environment {self.folder}: say 'python3 -m "
                      "buzzer'", done.stderr)

    def test_resume(self):
        self.call("run", "tests/test_lock.py::test_holds", "--out", "mine")
        _, errors = self.call("run", "--resume", "mine")
        self.assertIn("is finished", errors)

    def test_of_another_python(self):
        token = self.line(self.find("--quiet", "--no-shrink"), "token ")
        _, errors = self.call("replay", token.replace(RUNTIME, "python-3.9.0"), code=2)
        self.assertIn("is of variant 'python-3.9.0', and this is '" + RUNTIME, errors)
        path = ".buzzer/" + sorted(os.listdir(".buzzer"))[-1]
        with open(path, encoding="utf-8") as file:
            text = file.read()
        write("old.json", text.replace(f'"{RUNTIME}"', '"python-3.9.0"'))
        self.assertIn("python-3.9.0", self.call("replay", "old.json", code=2)[1])
        self.call("replay", "old.json", "--variant", RUNTIME, code=1)

    def test_trace_of_a_token(self):
        token = self.line(self.find("--quiet", "--no-shrink"), "token ")
        self.call("replay", token, "-o", "one.json")
        self.assertIn("replay matched", self.call("replay", "one.json")[0])

    def test_breakpoint(self):
        write("test_stop.py", """
            import buzzer, sys

            @buzzer.test(runs=20, no_shrink=True)
            async def test_stop(sim):
                number = 41
                print("printed")
                sys.stdout.buffer.write(b"in bytes")
                sys.stdout.writelines(["in lines"])
                breakpoint()
                assert number == 42
        """)
        output, errors = self.call("run", "test_stop.py", code=1)
        self.assertIn("AssertionError", output)
        self.assertNotIn("printed", output + errors)
        output, _ = self.call("replay", self.line(output, "token "), stdin="p number + 1000\nc\n")
        self.assertIn("replay matched", output)
        self.assertEqual(output.count("printed"), 1)
        self.assertEqual(output.count("1041"), 1)

    def test_asks(self):
        write("test_asks.py", "import buzzer\n@buzzer.test\nasync def test_asks(sim):\n"
                              "    input('who? ')\n")
        _, errors = self.call("run", "test_asks.py", code=2)
        self.assertRegex(errors, r"nobody to ask \(\S*test_asks.py:4 in test_asks\)")

    def test_names(self):
        """A name is fit for tokens, whatever the file's is; what a terminal obeys is escaped."""
        path = write("a b/tëst:#<b>\033[31m,.py", """
            import asyncio
            import buzzer

            class TestGroup:
                @buzzer.test(no_shrink=True)
                async def test_no(self, sim):
                    await asyncio.sleep(1)
                    sim.check(False, "no: " + type(self).__name__)
        """)
        output, _ = self.call("run", path + "::TestGroup.test_no", code=1)
        self.assertIn("no: TestGroup", output)
        token = self.line(output, "token ")
        self.assertNotRegex(token.split(":")[0], "[ #,<]")
        self.assertIn("sleeps at a b/tëst:#<b>?[31m,.py:7", output)
        self.assertNotIn("\033", output)
        self.assertNotIn("#<b>", self.call("show", "--format", "html", token)[0])
        self.call("replay", token)
        self.call("replay", self.line(output, "trace "))

    def test_package(self):
        """Relative imports work: the file is a module of its package."""
        write("pack/__init__.py", "")
        write("pack/lock.py", "VALUE = 7\n")
        write("pack/test_rel.py", """
            import buzzer
            from .lock import VALUE

            @buzzer.test(runs=3)
            async def test_rel(sim):
                sim.check(VALUE == 7, "seven")
        """)
        self.call("run", "pack/test_rel.py")

    def test_undecorated(self):
        write("test_plain.py", "async def test_plain(sim):\n    assert sim.now_ns == 0\n")
        self.call("run", "test_plain.py::test_plain", "--runs", "3")
        _, errors = self.call("run", "test_plain.py", code=2)
        self.assertIn("it has no function with @buzzer.test", errors)

    def test_bad_input(self):
        write("test_odd.py", """
            import buzzer

            def test_sync(sim):
                pass

            async def test_without():
                pass

            async def test_more(sim, tmp_path):
                pass
        """)
        for words, message in (
                (("run", "no.py"), "there is no file 'no.py' here"),
                (("run", "test_odd.py::test_no"), "there is no 'test_no'"),
                (("run", "test_odd.py::test_sync"), "is no 'async def' function"),
                (("run", "test_odd.py::test_without"), "does not take the argument 'sim'"),
                (("run", "test_odd.py::test_more"), "it takes 'tmp_path'"),
                (("run", "tests/test_lock.py", "--rnus", "3"), "did you mean 'runs'?"),
                (("run", "tests/test_lock.py", "--order", "fofo"), "did you mean 'fifo'?"),
                (("replay", "gone.py/test_x:python-3.11.2:portfolio:0x0#0123456789abcdef"),
                 "there is no file 'gone.py' here (the run is of 'gone.py/test_x')"),
                (("shrink", "tests/test_lock.py"), "takes one test, as FILE.py::TEST")):
            _, errors = self.call(*words, code=2)
            self.assertIn(message, errors)
            self.assertIn("python3 -m buzzer", errors)
            self.assertNotIn("Traceback", errors)

    def test_cannot_be_imported(self):
        """No verdict on tests that were never there."""
        write("test_syntax.py", "def test_x(:\n")
        write("test_import.py", "import a_module_that_there_is_not\n")
        write("test_exit.py", "raise SystemExit(0)\n")
        for path, message in (("test_syntax.py", "SyntaxError"), ("test_exit.py", "SystemExit: 0"),
                              ("test_import.py", "line 1, in <module>")):
            for words in (("run", path), ("run", path + "::test_x"), ("list", path)):
                _, errors = self.call(*words, code=2)
                self.assertIn(f"'{path}' cannot be imported:", errors)
                self.assertIn(message, errors)
                self.assertNotIn("importlib", errors)

    def test_is_interrupted(self):
        """A signal for the first process alone, as of kill(1), ends the campaign in good order."""
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            folder = f"by-{number}"
            errors = self.interrupt(
                number, lambda: os.path.exists(f"{folder}/campaign.checkpoint"),
                "tests/test_lock.py::test_holds", "--out", folder)
            self.assertIn(f"to continue: python3 -m buzzer run --resume {folder}", errors)
            self.assertNotIn("Traceback", errors)

    def interrupt(self, number, is_time, *words):
        """Sends the signal once it is time; returns what the command wrote on standard error."""
        with subprocess.Popen(
                [sys.executable, "-m", "buzzer", "run", *words, "--runs", "100000000"],
                stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                preexec_fn=_has_usual_signals) as run:
            while not is_time():
                time.sleep(0.05)
            run.send_signal(number)
            output, errors = run.communicate(timeout=120)
        self.assertEqual(run.returncode, 5, output + errors)
        return errors

    def test_is_interrupted_between_tests(self):
        """Of several tests, those that come later do not begin; an earlier violation hides nothing."""
        write("test_three.py", "import asyncio, buzzer\n" + "".join(
            f"@buzzer.test\nasync def test_{name}(sim):\n    await asyncio.sleep(0)\n    {end}\n"
            for name, end in (("a", "assert not sim"), ("b", "pass"), ("c", "pass"))))
        for number in (signal.SIGINT, signal.SIGTERM):
            shutil.rmtree(".buzzer", ignore_errors=True)
            errors = self.interrupt(
                number, lambda: any(b"test_b" in path.read_bytes() for path in
                                    pathlib.Path(".buzzer").glob("*.checkpoint")),
                "test_three.py", "--no-shrink")
            self.assertIn("interrupted; 1 of 3 tests did not begin", errors)

    def test_full_disk(self):
        if os.path.exists("/dev/full"):
            code = os.system(f"{sys.executable} -m buzzer list scenarios >/dev/full 2>errors")
            self.assertEqual(os.WEXITSTATUS(code), 2)


def _has_usual_signals():
    signal.signal(signal.SIGINT, signal.default_int_handler)
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    signal.signal(signal.SIGHUP, signal.SIG_DFL)


class Messages(support.Case):
    def test_name_what_the_user_can_type(self):
        for words, text in ((["run", "nix"], "'python3 -m buzzer list scenarios' shows them all"),
                            (["run", "test_it.py", "--strategy", "nix"],
                             "'python3 -m buzzer list strategies' shows them all"),
                            (["run", "test_it.py", "--cancel", "nix"],
                             "a list from 'python3 -m buzzer list windows'")):
            write("test_it.py", TESTS)
            self.assertIn(text, self.call(*words, code=2)[1])


if __name__ == "__main__":
    unittest.main()
