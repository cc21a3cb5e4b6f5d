"""explore_test.py FOLDER: python3 -m buzzer explore, and sim.state()."""
import json
import unittest

import support
from support import TESTS, write


class Explore(support.Case):
    def setUp(self):
        super().setUp()
        write("tests/test_lock.py", TESTS)

    def test_explores(self):
        """A proof within bounds, which ends and may be continued; a simplest finding."""
        bounds = ("--max-delays", "2", "--max-cancels", "1")
        holds = ("explore", "tests/test_lock.py::test_holds")
        output, _ = self.call(*holds, *bounds)
        self.assertRegex(" ".join(output.split()),
                         "complete: every order with at most 2 delays, every placement of at most 1 "
                         "cancel; [0-9]{3,} schedules; no violation")
        self.assertNotIn("states", output)
        document = json.loads(self.call(*holds, *bounds, "--json")[0])
        self.assertEqual((document["complete"], document["end"]), (True, "done"))
        output, _ = self.call(*holds, "--order", "fifo")
        self.assertIn("complete: the order of a FIFO loop", output)
        output, _ = self.call("explore", "tests/test_lock.py::test_leaks", code=1)
        self.assertIn("violation: deadlock", output)
        self.assertIn("0 delays, 1 injected cancel, 0 drawn values above the least: no schedule "
                      "with fewer fails", " ".join(output.split()))
        self.assertIn("replay matched", self.call("replay", self.line(output, "token "))[0])

    def test_merges_states(self):
        """sim.state() saves runs and hides no fault: neither one behind a state that was met first
        with more deviations spent."""
        write("tests/test_state.py", '''
            import asyncio
            import buzzer

            async def lose(sim, is_said, most):
                total, seen, rounds = [0], [None] * 3, [0] * 3
                async def add(number):
                    for rounds[number] in range(2):
                        seen[number] = total[0]
                        if is_said:
                            sim.state([total, seen, rounds])
                        await asyncio.sleep(0)
                        total[0] = seen[number] + 1
                await asyncio.gather(*map(add, range(3)))
                assert total[0] < most

            @buzzer.test
            async def test_plain(sim):
                await lose(sim, False, 9)

            @buzzer.test
            async def test_said(sim):
                await lose(sim, True, 9)

            @buzzer.test
            async def test_plain_fault(sim):
                await lose(sim, False, 4)

            @buzzer.test
            async def test_said_fault(sim):
                await lose(sim, True, 4)

            @buzzer.test
            async def test_cheaper(sim):
                drawn = [sim.draw(2) for _ in range(3)]
                sim.state(drawn in ([0, 1, 1], [1, 0, 0]))
                assert not (drawn in ([0, 1, 1], [1, 0, 0]) and sim.draw(2))
            ''')

        def explored(name, code):
            output, _ = self.call("explore", f"tests/test_state.py::test_{name}", "--max-delays",
                                  "4", "--max-cancels", "0", "--json", code=code)
            return json.loads(output)
        plain, said = explored("plain", 0), explored("said", 0)
        self.assertTrue(plain["complete"] and said["complete"])
        self.assertLess(said["transitions"], plain["transitions"] * 2 // 3)
        tokens = [explored(name, 1)["violations"][0]["token"].partition(":")[2]
                  for name in ("plain_fault", "said_fault")]
        self.assertEqual(*tokens)
        self.assertEqual(explored("cheaper", 1)["proved_deviations"], 1)

    def test_merges_states_after_a_pause(self):
        """The steps before do not matter then; the clock, a timer and the place of another
        task do, which the value does not say."""
        write("tests/test_pause.py", '''
            import asyncio
            import buzzer

            async def pause(sim, is_said, says_first=False):
                order = []
                async def work(number):
                    await asyncio.sleep(0)
                    order.append(number)
                await asyncio.gather(*map(work, range(3)))
                first = order[0] if says_first else None
                order.clear()
                await asyncio.sleep(1)
                if is_said:
                    sim.state(first)
                await asyncio.gather(*map(work, range(3)))
                assert first is None or first + order[0] < 2

            @buzzer.test
            async def test_plain(sim):
                await pause(sim, False)

            @buzzer.test
            async def test_said(sim):
                await pause(sim, True)

            @buzzer.test
            async def test_fault(sim):
                await pause(sim, True, True)

            @buzzer.test
            async def test_clock(sim):
                await asyncio.sleep(1 + sim.draw(2))
                sim.state(0)
                assert asyncio.get_running_loop().time() < 2

            @buzzer.test
            async def test_timer(sim):
                task = asyncio.create_task(asyncio.sleep(2 + sim.draw(2)))
                await asyncio.sleep(1)
                sim.state(0)
                await task
                assert asyncio.get_running_loop().time() < 3

            @buzzer.test
            async def test_place(sim):
                event = asyncio.Event()
                async def other():
                    if sim.draw(2):
                        await event.wait()
                        assert False
                    await event.wait()
                task = asyncio.create_task(other())
                await asyncio.sleep(1)
                sim.state(0)
                event.set()
                await task
            ''')

        def explored(name, code):
            output, _ = self.call("explore", f"tests/test_pause.py::test_{name}", "--max-delays",
                                  "2", "--max-cancels", "0", "--json", code=code)
            return json.loads(output)
        plain, said = explored("plain", 0), explored("said", 0)
        self.assertTrue(plain["complete"] and said["complete"])
        self.assertLess(said["transitions"], plain["transitions"] * 2 // 3)
        for name in ("fault", "clock", "timer", "place"):
            self.assertEqual(explored(name, 1)["violations"][0]["oracle"], "assertion")

    def test_explores_no_further(self):
        """It keeps state from run to run; it leaves the simulation; it ends the process."""
        write("tests/test_odd.py", '''
            import asyncio, os
            import buzzer
            runs = []

            async def second_goes_first(then):
                async def note(number):
                    await asyncio.sleep(0)
                    order.append(number)
                    if order == [1, 0]:
                        then()
                order = []
                await asyncio.gather(note(0), note(1))

            @buzzer.test
            async def test_keeps(sim):
                runs.append(1)
                for _ in range(len(runs) % 3):
                    await asyncio.sleep(0)

            @buzzer.test
            async def test_leaves(sim):
                loop = asyncio.get_running_loop()
                await second_goes_first(lambda: loop.subprocess_exec(None, "true"))

            @buzzer.test
            async def test_exits(sim):
                await second_goes_first(lambda: os._exit(3))
            ''')
        for name, code, text in (("keeps", 1, "violation: nondeterminism"),
                                 ("leaves", 2, "subprocess_exec()"),
                                 ("exits", 1, "violation: exit")):
            output, error = self.call("explore", f"tests/test_odd.py::test_{name}", code=code)
            self.assertIn(text, output + error)


if __name__ == "__main__":
    unittest.main()
