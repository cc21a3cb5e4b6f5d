"""The faults that are looked for in the real libraries: one entry for each."""
import sys

FAULTS = []


def fault(name, issue, versions, oracles, program, *, since=(0,), until=(99,), of="asyncio",
          message="", runs=100, max_lag="99ms"):
    """Registers a test; `program` is the stand-alone program that shows the same.

    since, until: the interpreters that have it (asyncio's own); of: whose fault it is
    message: words that the message of the violation has, beside its oracle; runs: until then
    max_lag: that it may need, if its own pauses are longer than the default"""
    def register(test):
        test.name, test.issue, test.versions, test.oracles = name, issue, versions, oracles
        test.program, test.of, test.message, test.runs = program, of, message, runs
        test.max_lag = max_lag
        test.is_here = since <= sys.version_info[:3] < until
        FAULTS.append(test)
        return test
    return register
