"""show.py LIBRARY PROGRAM: shows a fault of an installed library, without Buzzer. Exit status 0: it does."""
import asyncio
import importlib
import inspect
import sys

shown = getattr(importlib.import_module(f"faults_{sys.argv[1]}"), sys.argv[2])()
sys.exit(0 if (asyncio.run(shown) if inspect.iscoroutine(shown) else shown) else 1)
