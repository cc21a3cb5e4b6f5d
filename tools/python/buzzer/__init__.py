"""Buzzer for Python: deterministic simulation and replay for asyncio primitives."""
