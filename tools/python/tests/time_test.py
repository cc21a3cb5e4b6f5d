"""time_test.py FOLDER: timers of one instant, tests that wait until nothing else can run, and time
that a test lets pass."""
import sys
import unittest

import support
from support import write

TIMERS = '''
    import asyncio

    import buzzer


    async def fire(sim, *whens, delays=()):
        """The numbers of timers, and after a turn, negative numbers."""
        loop = asyncio.get_running_loop()
        log = []

        def fire(number):
            log.append(number)
            loop.call_soon(log.append, -number)
        for number, when in enumerate(whens, 1):
            loop.call_at(when, fire, number)
        for number, delay in enumerate(delays, 1 + len(whens)):
            loop.call_later(delay, fire, number)
        await asyncio.sleep(2)
        return log


    def timed(order="fifo", **more):
        return buzzer.test(runs=300, order=order, cancel="none", max_lag=0, **more)


    @timed()
    async def test_apart(sim):
        log = await fire(sim, delays=(1, 1))
        sim.check(log == [1, 2, -1, -2], f"{log}")


    @timed()
    async def test_together(sim):
        log = await fire(sim, delays=(1, 1.0009))
        sim.check(log == [1, -1, 2, -2], f"{log}")


    @timed()
    async def test_far(sim):
        log = await fire(sim, delays=(1, 1.001))
        sim.check(log == [1, -1, 2, -2], f"{log}")


    @timed()
    async def test_twins(sim):
        when = 1.0 * (len("x") + asyncio.get_running_loop().time())
        log = await fire(sim, when, when)
        sim.check(log == [1, 2, -1, -2], f"{log}")


    @timed()
    async def test_rounded(sim):
        log = await fire(sim, 1, 1)
        sim.check(log == [1, 2, -1, -2], f"{log}")


    @timed(order="any")
    async def test_any(sim):
        log = await fire(sim, delays=(1, 1.0009))
        sim.check(log.index(1) < log.index(2), f"{log}")


    @buzzer.test(runs=300, order="fifo", cancel="none", no_shrink=True)
    async def test_late(sim):
        log = await fire(sim, delays=(1, 1, 1, 1.05))
        sim.check(log[3] != 4, f"{log}")
'''

# A run of test_late, from before timers of one instant had choices.
OLD = "test_time.py/test_late:python-3.11.2:portfolio:0x2:order=fifo,cancel=none#f364d4479085f9f1@0.1.0"

IDLE = '''
    import asyncio

    import buzzer


    def quiet(**more):
        return buzzer.test(runs=200, cancel="none", check_determinism=True, **more)


    async def run_down(log, name, steps):
        for step in range(steps):
            await asyncio.sleep(0)
        log.append(name)


    @quiet()
    async def test_idle(sim):
        log = []
        tasks = [asyncio.create_task(run_down(log, number, number)) for number in range(4)]
        later = asyncio.create_task(asyncio.sleep(1))
        await sim.sleep_until_idle()
        assert sorted(log) == [0, 1, 2, 3] and all(task.done() for task in tasks), log
        assert not later.done()
        await later
        await sim.sleep_until_idle()


    @quiet()
    async def test_two_wait(sim):
        log = []

        async def settle(name):
            await sim.sleep_until_idle()
            assert 9 in log
            log.append(name)
        tasks = [asyncio.create_task(settle(name)) for name in "ab"]
        await run_down(log, 9, 9)
        await asyncio.wait(tasks)


    @quiet()
    async def test_outside(sim):
        """What comes from outside may come later."""
        server = await asyncio.start_server(lambda reader, writer: writer.close(), "host", 1)
        reader, writer = await asyncio.open_connection("host", 1)
        await sim.sleep_until_idle()
        assert await reader.read() == b""
        writer.close()
        server.close()


    @quiet()
    async def test_advance(sim):
        loop, log = asyncio.get_running_loop(), []

        def again(left):
            log.append(loop.time())
            if left:
                loop.call_later(0.5, again, left - 1)
        loop.call_later(1, again, 9)
        await sim.advance(2)
        assert log == [1, 1.5, 2] and loop.time() == 2, (log, loop.time())
        task = asyncio.create_task(run_down(log, "end", 3))
        await sim.advance(0)
        assert log[-1] == "end" and loop.time() == 2
        for wrong in (-1, float("nan")):
            try:
                await sim.advance(wrong)
            except ValueError:
                continue
            assert False, wrong
        await sim.advance(10)
        await task


    @quiet(no_shrink=True, max_steps=1000)
    async def test_never(sim):
        sim.background(run_down([], 0, 10**9))
        await sim.sleep_until_idle()
'''


SLOW = """
    import asyncio, time

    import buzzer


    def quiet(function):
        return buzzer.test(runs=200, max_lag=0, cancel="none")(function)


    @quiet
    async def test_passes(sim):
        for clock in (time.time, time.monotonic, time.perf_counter):
            for seconds in (0.57, 3, 0):
                start = clock()
                time.sleep(seconds)
                assert abs(clock() - start - seconds) < 1e-6
        for wrong in (-1, "1", None):
            try:
                time.sleep(wrong)
            except (ValueError, TypeError):
                continue
            assert False, wrong


    @quiet
    async def test_timers_are_late(sim):
        loop, log = asyncio.get_running_loop(), []
        for delay in (3, 1, 2, 9):
            loop.call_later(delay, log.append, delay)
        time.sleep(5)
        assert log == []
        await asyncio.sleep(0)
        if sim.draw(2):
            await asyncio.sleep(0)
        await sim.sleep_until_idle()
        assert sorted(log) == [1, 2, 3] and loop.time() == 5, log
        await asyncio.sleep(4)
        await sim.sleep_until_idle()
        assert log[3] == 9


    @quiet
    async def test_timeout(sim):
        # it has passed, and no turn comes in which it could strike
        async with sim.watch(asyncio.timeout(1)) if hasattr(asyncio, "timeout") else asyncio.Lock():
            time.sleep(2)


    @buzzer.test(runs=200, cancel="none", max_lag=0)
    async def test_deadline(sim):
        # a result is there, and a deadline has passed
        event = asyncio.Event()

        async def work():
            await asyncio.sleep(0.5)
            time.sleep(1)
            event.set()
        task = sim.background(work())
        await asyncio.wait_for(event.wait(), 1)
"""


class Time(support.Case):
    def fails(self, test, text):
        output = self.call("run", f"test_time.py::{test}", code=1)[0]
        self.assertIn(text, output)
        return self.line(output, "token ")

    def test_timers(self):
        write("test_time.py", TIMERS)
        for test, text in (("apart", "[1, -1, 2, -2]"), ("together", "[1, 2, -1, -2]"),
                           ("any", "[2, 1,")):
            token = self.fails(f"test_{test}", text)
            self.assertIn("matched", self.call("replay", token)[0])
            if test != "together":
                self.assertIn("another moment", self.call("explain", token)[0])
        self.assertRegex(self.call("corpus", ".buzzer")[0], r"(\d+) traces: \1 matched")
        for test in ("far", "twins", "rounded"):
            self.call("run", f"test_time.py::test_{test}")
        found = self.call("explore", "test_time.py::test_apart", "--order", "fifo",
                          "--max-lag", "0", "--max-delays", "1", "--cancel", "none", code=1)[0]
        self.assertIn("[1, -1, 2, -2]", found)

    @unittest.skipIf(sys.version_info[:3] != (3, 11, 2), "the token is of 3.11.2")
    def test_old_token(self):
        write("test_time.py", TIMERS)
        self.assertIn("matched", self.call("replay", OLD)[0])

    def test_slow_step(self):
        """time.sleep() moves the clock, and timers fire after the step."""
        write("test_slow.py", SLOW)
        for order in ("any", "fifo"):
            for test in ("passes", "timers_are_late", "timeout"):
                self.call("run", f"test_slow.py::test_{test}", "--order", order)
        output = self.call("run", "test_slow.py::test_deadline", code=1)[0]
        self.assertIn("TimeoutError", output)
        self.assertIn("matched", self.call("replay", self.line(output, "token "))[0])

    def test_idle(self):
        write("test_idle.py", IDLE)
        for order in ("any", "fifo"):
            for test in ("idle", "two_wait", "outside", "advance"):
                self.call("run", f"test_idle.py::test_{test}", "--order", order)
        self.call("run", "test_idle.py::test_never", code=5)


if __name__ == "__main__":
    unittest.main()
