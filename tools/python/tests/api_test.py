"""api_test.py FOLDER: @buzzer.test, buzzer.run() and buzzer.replay()."""
import asyncio
import importlib
import json
import os
import re
import resource
import signal
import sys
import unittest

import support
from support import RUNTIME, TESTS, write

import buzzer  # of the folder
from buzzer import where

write("test_lock.py", TESTS)
sys.path.insert(0, support.FOLDER)
import test_lock  # noqa: E402


class Alone(support.Case):
    def test_nothing_stays(self):
        """Neither the state of the program nor that of the test."""
        runs = []

        async def test_it(sim):
            runs.append(sim)
            assert len(runs) < 100

        buzzer.run(test_it, runs=5)
        self.assertEqual(runs, [])
        self.assertNotIn("buzzer._native", sys.modules)
        self.assertEqual(os.waitstatus_to_exitcode(os.system("true")), 0)


class Api(support.Case):
    @classmethod
    def setUpClass(cls):
        importlib.import_module("buzzer.loop")  # once, and not in the process of each campaign

    def test_run(self):
        result = buzzer.run(test_lock.test_leaks, runs=300, max_cancels=1, out=None)
        self.assertEqual(result.exit_code, 1)
        self.assertGreater(result.steps, result.runs)
        self.assertRegex(result.digest, "^[0-9a-f]{16}$")
        violation, = result.violations
        self.assertEqual(violation.oracle, "deadlock")
        self.assertIn("in acquire of 'lock'", violation.message)
        self.assertIsInstance(violation.seed, int)
        self.assertIn(":max-cancels=1#", violation.token)
        self.assertIn(f":{RUNTIME}:answers:", violation.shrunk)
        self.assertIn("order=fifo", violation.fifo)
        with open(violation.trace, encoding="utf-8") as file:
            trace = json.load(file)
        self.assertEqual(trace["verdict"]["step"], violation.step)
        self.assertEqual(int(trace["seed"], 0), violation.seed)

    def test_passes(self):
        result = buzzer.run(test_lock.test_holds)
        self.assertEqual((result.runs, result.violations, result.exit_code), (50, (), 0))
        self.assertEqual(result.digest, buzzer.run(test_lock.test_holds, jobs=2).digest)
        self.assertNotEqual(result.digest, buzzer.run(test_lock.test_holds, seed=9).digest)

    def test_replay(self):
        violation = buzzer.run(test_lock.test_leaks).violations[0]
        for what in (violation.token, violation.trace, violation.shrunk, violation.fifo):
            again = buzzer.replay(test_lock.test_leaks, what)
            self.assertTrue(again.matched, what)
            self.assertEqual(again.violation.oracle, "deadlock")
            self.assertIsNone(again.expected)
        other = buzzer.replay(test_lock.test_leaks,
                              re.sub("#[0-9a-f]*", "#0123456789abcdef", violation.token))
        self.assertFalse(other.matched)
        self.assertIn("0123456789abcdef", other.expected)
        self.assertIn("the code has changed", other.cause)

    def test_replay_of_changed_code(self):
        async def test_two(sim):
            await asyncio.sleep(0)
            await asyncio.sleep(later)
            assert False

        later = 0
        violation = buzzer.run(test_two, no_shrink=True).violations[0]
        self.assertTrue(buzzer.replay(test_two, violation.trace).matched)
        later = 1
        changed = buzzer.replay(test_two, violation.trace)
        self.assertFalse(changed.matched)
        self.assertIn("yield", changed.expected)
        self.assertIn("sleep", changed.got)
        self.assertGreater(changed.step, 1)

    def test_budget_of_shrinking(self):
        first = buzzer.run(test_lock.test_leaks, shrink_steps=10).document["violations"][0]
        self.assertIn("not minimal: the budget of 10 steps was spent", first["shrunk"]["reason"])
        with self.assertRaisesRegex(ValueError, "shrink-time"):
            buzzer.run(test_lock.test_leaks, shrink_time="soon")

    def test_little_address_space(self):
        usual = resource.getrlimit(resource.RLIMIT_AS)
        resource.setrlimit(resource.RLIMIT_AS, (2_000_000_000, usual[1]))
        try:
            self.assertTrue(buzzer.run(test_lock.test_leaks).violations)
        finally:
            resource.setrlimit(resource.RLIMIT_AS, usual)

    def test_replay_of_another_test(self):
        violation = buzzer.run(test_lock.test_check).violations[0]
        with self.assertRaisesRegex(ValueError, "is of the test 'test_check', and this is 'test_h"):
            buzzer.replay(test_lock.test_holds, violation.token)
        with self.assertRaisesRegex(ValueError, "is of variant 'python-2.7.0', and this is"):
            buzzer.replay(test_lock.test_check, violation.token.replace(RUNTIME, "python-2.7.0"))
        with self.assertRaisesRegex(ValueError, "gone.json"):
            buzzer.replay(test_lock.test_check, "gone.json")

    def test_name_of_a_made_test(self):
        """It is what the module calls it, also for a call from outside, and for a TestCase."""
        write("test_made.py", """
            import unittest
            import buzzer

            def make(n):
                @buzzer.test(runs=1, no_shrink=True)
                async def check(sim):
                    sim.check(n < 4, f"{n} is too much")
                return check

            async def method(self, sim):
                sim.check(False, "5 is too much")

            class Group:
                test_five = buzzer.test(method, runs=1, no_shrink=True)

            test_four = make(4)
        """)
        sys.path.insert(0, self.folder)
        import test_made
        with self.assertRaisesRegex(buzzer.Failure, "test_made.py/test_four:"):
            test_made.test_four()
        token = buzzer.run(test_made.test_four).violations[0].token
        for same in (token, token.replace("/test_four:", "/make.%3Clocals%3E.check:")):
            self.assertTrue(buzzer.replay(test_made.test_four, same).matched)  # as it once was
        test = type("Test", (test_made.Group, unittest.TestCase), {"__module__": "test_made"})
        result = test("test_five").run()
        self.assertIn("test_made.py/Test.test_five:", result.failures[0][1])

    def test_tries_first_what_failed(self):
        first = buzzer.run(test_lock.test_leaks, no_shrink=True).violations[0]
        again = buzzer.run(test_lock.test_leaks, seed=0)
        self.assertEqual(again.runs, 0)
        self.assertIn(first.token, [violation.token for violation in again.violations])
        self.assertIn(first.trace, [violation.trace for violation in again.violations])

    def test_tries_what_failed_in_another_python(self):
        first = buzzer.run(test_lock.test_check).violations[0]
        with open(first.trace, encoding="utf-8") as file:
            text = file.read().replace(RUNTIME, "python-2.7.0")
        for name in os.listdir(".buzzer"):
            os.unlink(os.path.join(".buzzer", name))
        write(".buzzer/old.json", text)
        again = buzzer.run(test_lock.test_check)
        self.assertEqual(again.runs, 0)
        old, = again.violations
        self.assertEqual((old.oracle, old.token, old.trace),
                         ("assertion", None, ".buzzer/old.json"))

    def test_call(self):
        """A decorated function is a plain one, which any test runner can call."""
        test_lock.test_holds()
        with self.assertRaises(buzzer.Failure) as caught:
            buzzer.test(no_shrink=True)(test_lock.test_leaks.__wrapped__)()
        self.assertIsInstance(caught.exception, AssertionError)
        for part in ("violation: deadlock", "waits for 'lock' at ", "replay  python3 -m buzzer",
                     "'lock' is held by worker-0 (ended)"):
            self.assertIn(part, str(caught.exception))
        self.assertFalse(asyncio.iscoroutinefunction(test_lock.test_leaks))
        self.assertEqual(test_lock.test_leaks.__doc__, "A lock that leaks.")

    def test_options(self):
        async def test_it(sim):
            pass

        with self.assertRaisesRegex(TypeError, r"^test\(\) got an unexpected keyword argument "
                                               "'rnus'; did you mean 'runs'"):
            buzzer.test(rnus=3)
        with self.assertRaisesRegex(TypeError, r"^run\(\) got .* 'max_cancel'.*'max_cancels'"):
            buzzer.run(test_it, max_cancel=3)
        with self.assertRaisesRegex(ValueError, "unknown order 'fofo'; did you mean 'fifo'"):
            buzzer.run(test_it, order="fofo")
        with self.assertRaisesRegex(ValueError, "--runs takes 1 to .*, and not '0'"):
            buzzer.run(test_it, runs=0)
        with self.assertRaisesRegex(ValueError, "no window 'wokn'"):
            buzzer.run(test_it, require_window=["woken", "wokn"])
        result = buzzer.run(test_it, order="fifo", strategy="random", cancel=["woken", "waiting"],
                            max_cancels=3, max_steps=50, runs=4, seed=6, starvation_bound=9,
                            max_lag=0.5)
        settings = result.document["settings"]
        self.assertEqual([settings[name] for name in ("order", "cancel", "max-cancels",
                                                      "max-steps", "starvation-bound", "max-lag")],
                         ["fifo", "waiting+woken", "3", "50", "9", "500ms"])
        for given, said in ((0, "0"), (2, "2s"), ("40us", "40us"), ("any", "any"), (1e-9, "1ns")):
            settings = buzzer.run(test_it, runs=1, max_lag=given).document["settings"]
            self.assertEqual(settings["max-lag"], said)
        with self.assertRaisesRegex(ValueError, "max-lag 'soon' is not a time such as"):
            buzzer.run(test_it, max_lag="soon")
        self.assertEqual((result.document["strategy"], result.document["seed_first"],
                          result.runs), ("random", "0x6", 4))
        self.assertEqual(buzzer.run(test_it, seed=6).runs, 1)
        self.assertEqual(buzzer.run(test_it, runs=3, require_window="woken").exit_code, 4)
        self.assertIn("cancels are on", " ".join(buzzer.run(test_it, runs=200).warnings))
        with self.assertRaisesRegex(ValueError, "'none' injects no others"):
            buzzer.run(test_it, cancel="off")

    def test_one_schedule(self):
        """Ten thousand runs of one schedule prove as much as one."""
        async def test_it(sim):
            lock = sim.watch(asyncio.Lock())

            async def worker():
                async with lock:
                    await asyncio.sleep(0)
            await asyncio.gather(worker(), worker())
        for options, is_one in (({"order": "fifo"}, True), ({"order": "any"}, False),
                                ({"order": "fifo", "runs": 1}, False)):
            options = {"runs": 50, "cancel": "none", "strict": True, **options}
            result = buzzer.run(test_it, **options)
            self.assertEqual(["every run made the same steps" in text for text in result.warnings],
                             [True] * is_one)
            self.assertEqual(result.exit_code, 4 if is_one else 0)

    def test_windows_of_fifo(self):
        """What asyncio's loop reaches: it wakes so late that two timers are due in one turn, and a
        thread or a signal handler cancels between two handles."""
        async def cancelled_with_a_result(sim, set_result):
            future = asyncio.get_running_loop().create_future()
            seen = []

            async def waiter():
                try:
                    await future
                except asyncio.CancelledError:
                    seen.append(future.done() and not future.cancelled())
                    raise
            task = sim.spawn(None, waiter())
            await asyncio.sleep(0)
            set_result(future, task)
            await asyncio.wait([task])
            sim.check(seen != [True], "the cancel came after the result")

        async def test_timers(sim):
            loop = asyncio.get_running_loop()
            await cancelled_with_a_result(sim, lambda future, task: (
                loop.call_later(1, future.set_result, 1), loop.call_later(1.001, task.cancel)))

        async def test_signal(sim):
            await cancelled_with_a_result(sim, lambda future, task: future.set_result(1))

        for test, options in ((test_timers, {"cancel": "none"}), (test_signal, {})):
            result = buzzer.run(test, order="fifo", runs=200, **options)
            self.assertEqual(result.violations[0].message, "the cancel came after the result")
        self.assertEqual(
            buzzer.run(test_timers, order="fifo", runs=200, cancel="none", max_lag=0).exit_code, 0)

    def test_handles(self):
        """They are those of asyncio, for those who ask; and times are not rounded."""
        async def test_them(sim):
            loop, called, contexts = asyncio.get_running_loop(), [], []
            loop.set_exception_handler(lambda loop, context: contexts.append(context))
            later, soon = loop.call_later(1, print), loop.call_soon(int, "x")
            assert isinstance(later, asyncio.TimerHandle) and isinstance(later, asyncio.Handle)
            assert isinstance(soon, asyncio.Handle) and not isinstance(soon, asyncio.TimerHandle)
            at, same = loop.call_at(0.1 + 0.2, print), loop.call_at(0.1 + 0.2, print)
            assert at.when() == 0.1 + 0.2 and not hasattr(soon, "when")
            assert at < later and later > at and at <= same and at == same and not at < same
            assert soon == soon and soon != later and len({soon, later, at, same}) == 3
            with self.assertRaises(TypeError):
                soon < later
            for handle in later, at, same:
                handle.cancel()
            assert at.cancelled() and at == same and loop.slow_callback_duration == 0.1
            loop.call_at(0.1 + 0.2, called.append, "second")
            loop.call_at(0.3, called.append, "first")
            await asyncio.sleep(1)
            assert called == ["first", "second"]
            assert [context["handle"] for context in contexts] == [soon]
            assert contexts[0]["message"].startswith("Exception in callback int('x')")
        self.assertEqual(buzzer.run(test_them, order="fifo", runs=20).violations, ())

    @unittest.skipIf(not hasattr(asyncio, "TaskGroup"), "there are no groups")
    def test_groups_cancel_in_any_order(self):
        """By address in asyncio: what a child needs may have been closed before it was cancelled."""
        async def cancelled_in(order):
            async def child(name):
                try:
                    await asyncio.sleep(9)
                finally:
                    order.append(name)
            try:
                async with asyncio.TaskGroup() as group:
                    for name in "abc":
                        group.create_task(child(name))
                    await asyncio.sleep(0)
                    raise ZeroDivisionError
            except BaseException as error:
                assert [type(each) for each in error.exceptions] == [ZeroDivisionError]
            return order

        async def test_group(sim):
            order = "".join(await cancelled_in([]))
            with open("orders", "a", encoding="utf-8") as file:
                file.write(f"{order} ")
            sim.check(order != unwanted, "in this order")

        unwanted, options = None, {"order": "fifo", "cancel": "none", "no_shrink": True}
        buzzer.run(test_group, runs=100, **options)
        with open("orders", encoding="utf-8") as file:
            self.assertEqual(len(set(file.read().split())), 6)
        unwanted = "abc"
        self.assertTrue(buzzer.run(test_group, strategy="fifo", runs=1, **options).violations)
        unwanted = "cba"
        found, = buzzer.run(test_group, runs=100, **options).violations
        self.assertTrue(buzzer.replay(test_group, found.token).matched)

    def test_no_test(self):
        def test_sync(sim):
            pass

        async def test_without():
            pass

        async def generator(sim):
            yield

        for function, message in ((test_sync, "'.*test_sync' is no 'async def' function"),
                                  (generator, "is no 'async def' function"),
                                  (test_without, "does not take the argument 'sim'"),
                                  (7, "'7' is no 'async def' function")):
            for use in (buzzer.test, buzzer.run):
                with self.assertRaisesRegex(TypeError, message):
                    use(function)

    def test_text_of_an_assert(self):
        """pytest rewrites asserts, so what it adds is no part of a run."""
        for said, text in (("assert [1] == [2]\n  At index 0", "AssertionError"),
                           ("they differ\nassert 1 == 2", "AssertionError: they differ")):
            self.assertEqual(where.sentence_of(AssertionError(said)), text)
        x = 2
        try:
            assert x == 3
        except AssertionError as error:
            self.assertIn("AssertionError: assert x == 3 (x = 2) (", where.sentence_of(error))

    def test_condition_that_knows_its_owner(self):
        """Its own acquire() is called, as anyio's is, and not that of its lock."""
        class Owned:
            def __init__(self):
                self._lock, self.owner = asyncio.Lock(), None

            async def acquire(self):
                await self._lock.acquire()
                self.owner = asyncio.current_task()

            def release(self):
                self.owner = None
                self._lock.release()

            def locked(self):
                return self._lock.locked()

            def notify(self, n=1):
                if self.owner is not asyncio.current_task():
                    raise RuntimeError("not its owner")

            async def wait(self):
                raise NotImplementedError

        async def use(sim):
            condition = sim.watch(Owned(), kind="condition")
            await condition.acquire()
            condition.notify()
            condition.release()

        self.assertFalse(buzzer.run(use, runs=2, no_shrink=True).violations)

    def test_permits(self):
        async def test_pool(sim):
            pool = sim.watch(asyncio.Semaphore(2), name="pool")
            await pool.acquire()
            await pool.acquire()
            pool.release()
            pool.release()

        self.assertEqual(buzzer.run(test_pool, runs=3).exit_code, 0)
        found = buzzer.run(test_pool, runs=3, permits={"pool": 1},
                           no_shrink=True).violations[0]
        self.assertIn("'pool'", found.message)

    def test_refusal_does_not_stay(self):
        """A later campaign that lacks something is no wrong call."""
        async def test_forks(sim):
            os.fork()

        async def test_killed(sim):
            from buzzer import _native
            with open("runs", "a", encoding="utf-8") as file:
                file.write("x")
            if os.path.getsize("runs") % 11 == 0:  # never twice in a run: from outside
                os.kill(_native.process(), signal.SIGKILL)

        self.assertEqual(buzzer.run(test_forks).exit_code, 2)
        self.assertEqual(buzzer.run(test_killed).exit_code, 5)

    def test_where(self):
        """The innermost line of the program, also through a context manager of its own."""
        import contextlib

        @contextlib.asynccontextmanager
        async def held(lock):
            async with lock:
                yield

        async def test_it(sim):
            lock = asyncio.Lock()
            async with held(lock):
                async with held(lock):
                    pass

        found = buzzer.run(test_it, runs=1, no_shrink=True).violations[0]
        with open(found.trace, encoding="utf-8") as file:
            events = json.load(file)["events"]
        places = [event["where"] for event in events if event["event"] == "suspend"]
        self.assertTrue(places)
        first = test_it.__code__.co_firstlineno
        for place in places:
            name, _, line = place.partition(":")
            self.assertEqual(name, "api_test.py")
            self.assertIn(int(line), range(first - 6, first + 4))


if __name__ == "__main__":
    unittest.main()
