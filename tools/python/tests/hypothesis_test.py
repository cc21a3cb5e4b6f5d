"""hypothesis_test.py FOLDER: values of Hypothesis' strategies, drawn from Buzzer's tape."""
import importlib.util
import sys
import unittest

import support
from support import write

if importlib.util.find_spec("hypothesis") is None:
    print("SKIPPED: Hypothesis is not installed (Debian's python3-hypothesis)")
    sys.exit(77)

TESTS = '''
    import asyncio
    import dataclasses
    import enum
    import random

    import buzzer
    from hypothesis import given, settings, strategies as st


    class Colour(enum.Enum):
        RED = 1


    @dataclasses.dataclass(repr=False)
    class Item:
        size: int
        colour: Colour
        others: object


    @buzzer.test(runs=200, cancel="none")
    async def test_limit(sim):
        limit = sim.draw(st.integers(0, 9), "limit")
        await asyncio.sleep(0)
        sim.check(limit < 5, f"limit {limit}")


    @buzzer.test(runs=30, cancel="none", check_determinism=True)
    async def test_holds(sim):
        even = sim.draw(st.integers(0, 100).filter(lambda n: n % 8 == 6))
        sim.check(even % 8 == 6, "the filter")
        names = sim.draw(st.lists(st.sampled_from("abc"), min_size=3))
        await asyncio.sleep(random.random())
        sim.check(len(names) >= 3 and set(names) <= set("abc"), "the list")
        sim.check(sim.draw(st.none()) is None, "None is a value")
        sim.check(sim.draw(4) in range(4), "a number")


    @buzzer.test(runs=2, cancel="none", no_shrink=True)
    async def test_values(sim):
        random.random()
        size = 3 + sim.draw(1, "size")
        sim.draw(st.lists(st.booleans(), min_size=size, max_size=size), "flags")
        sim.draw(st.builds(Item, st.integers(7, 8), st.just(Colour.RED), st.just(sim)), "item")
        sim.draw(st.tuples(st.booleans(), st.just("x" * 99)), "long")
        sim.check(False, "says no")


    @buzzer.test(runs=2)
    async def test_rejects(sim):
        sim.draw(st.integers(0, 9).filter(lambda n: n > 9))


    @buzzer.test(runs=2, cancel="none", no_shrink=True)
    async def test_data(sim):
        sim.draw(st.data())


    @buzzer.test(runs=2, cancel="none", no_shrink=True)
    async def test_list(sim):
        sim.draw([1, 2])


    @settings(max_examples=5, deadline=None, database=None)
    @given(st.integers(0, 3))
    @buzzer.test(runs=2, cancel="none", no_shrink=True)
    async def test_given(sim, n):
        await asyncio.sleep(0)
        sim.check(n in range(4), f"{n}")
'''


class Hypothesis(support.Case):
    def setUp(self):
        super().setUp()
        write("test_draw.py", TESTS)

    def test_value_is_in_the_trace(self):
        """So it is the same in a replay."""
        output, _ = self.call("run", "test_draw.py::test_limit", "--no-shrink", code=1)
        self.assertIn("limit", self.line(output, "     1     0  test"))
        token = self.line(output, "token ")
        again, _ = self.call("replay", token)
        self.assertIn("matched", again)
        headline = "violation: assertion: limit "
        self.assertEqual(self.line(output, headline), self.line(again, headline))

    def test_values_are_shown(self):
        """As repr() says, but cut, and without code of the user's."""
        output, _ = self.call("run", "test_draw.py::test_values", code=1)
        output = " ".join(output.split())
        self.assertRegex(output, r"draws size 0, flags \[(True|False), (True|False), "
                                 r"(True|False)\], item Item\(size=[78], colour=Colour.RED, "
                                 r"others=<Sim>\), long \((True|False), 'x+\.\.\.x+' ?\)")

    def test_runs_are_the_same_again(self):
        output, _ = self.call("run", "test_draw.py::test_holds")
        self.assertIn("no violation found", output)

    def test_strategy_that_rejects_all(self):
        _, errors = self.call("run", "test_draw.py::test_rejects", code=2)
        self.assertRegex(errors, r"the strategy integers.* rejects every value that was tried "
                                 r"\(.*test_draw.py:\d+ in test_rejects\)")

    def test_what_is_no_strategy(self):
        for test, text in (("test_data", "takes the strategy itself"),
                           ("test_list", "takes a number or a strategy of Hypothesis")):
            output, _ = self.call("run", f"test_draw.py::{test}", code=1)
            self.assertIn(text, " ".join(output.split()))

    def test_given_around_a_test(self):
        """Hypothesis chooses the argument, and each choice is a campaign."""
        write("call.py", "import test_draw\ntest_draw.test_given()\n")
        self.call(module="call")


if __name__ == "__main__":
    unittest.main()
