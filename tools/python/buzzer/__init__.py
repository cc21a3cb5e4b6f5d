"""Buzzer for Python: deterministic simulation and replay for asyncio primitives.

    @buzzer.test(runs=10_000)
    async def test_pool(sim): ...

pytest collects it, `python3 -m buzzer run FILE.py::test_pool` runs it; so does buzzer.run().
"""
from buzzer import hashes

if hashes.is_program():
    hashes.pin()  # a process that starts again imports the rest once

from buzzer.case import profile, test  # noqa: E402
from buzzer.campaign import BuzzerWarning, Failure, NoVerdict, Replay, Result, Violation  # noqa: E402
from buzzer.campaign import replay, run  # noqa: E402

__all__ = ["BuzzerWarning", "Failure", "NoVerdict", "Replay", "Result", "Violation", "profile",
           "replay", "run", "test"]
