"""Buzzer for Python: deterministic simulation and replay for asyncio primitives.

    @buzzer.test(runs=10_000)
    async def test_pool(sim): ...

pytest collects it, `python3 -m buzzer run FILE.py::test_pool` runs it; so does buzzer.run().
"""
from buzzer.case import test
from buzzer.campaign import BuzzerWarning, Failure, Replay, Result, Violation, run, replay

__all__ = ["BuzzerWarning", "Failure", "Replay", "Result", "Violation", "replay", "run", "test"]
