"""Values of Hypothesis' strategies, made from numbers that Buzzer's strategy chooses.

What Hypothesis makes of bytes it offers to fuzzers: `fuzz_one_input`, which is documented, and which
every version since 5.17 has. Buzzer draws the bytes, one by one and no more than Hypothesis takes. So
they are in the trace, a replay makes the same value, and `shrink` makes it simpler: bytes of 0 stand
for simple values.
"""
import random

from hypothesis import HealthCheck, given, settings
from hypothesis.strategies import SearchStrategy, data as interactive, text

from buzzer import where

_DRAWN_MAX = 256  # bytes of one value; what it takes beyond them is 0
_ENOUGH = 16384   # bytes: most values take far less
_DRAWN_BLIND = 8  # where Hypothesis does not say how many it takes
_ATTEMPTS = 100   # with strategies that reject most values


# Values that were made of bytes before, as Hypothesis takes a millisecond for each value: by the id of the
# strategy and the bytes; the entry holds the strategy, so the id stays its own.
_made = {}
_MADE_MAX = 4096
_ATOMS = (int, float, complex, bool, str, bytes, type(None))


class _Drawing:
    """One draw: Hypothesis calls the function below, which has no other way to its strategy."""
    strategy = None
    values = []


@settings(database=None, deadline=None, suppress_health_check=list(HealthCheck))
@given(interactive())
def _take(data):
    _Drawing.values.append(data.draw(_Drawing.strategy))


def is_strategy(value):
    return isinstance(value, SearchStrategy)


def _copy(value):
    """Of plain values, which differ in nothing but what they are equal by. Others: TypeError."""
    kind = type(value)
    if kind in _ATOMS:
        return value
    if kind in (list, tuple):
        return kind(map(_copy, value))
    raise TypeError


def _make(strategy, head):
    """As _make_anew(), of the bytes and zeros after them."""
    key = id(strategy), head
    found = _made.get(key)
    if found is None:
        values, taken = _make_anew(strategy, head.ljust(_ENOUGH, b"\0"))
        try:
            kept = _copy(values)
        except TypeError:
            return values, taken
        if len(_made) >= _MADE_MAX:
            _made.clear()
        _made[key] = found = strategy, kept, taken
    return _copy(found[1]), found[2]


def _make_anew(strategy, content):
    """A list with the value, and how many bytes it takes; an empty one: the strategy rejects it."""
    _Drawing.strategy, _Drawing.values = strategy, []
    try:
        taken = _take.hypothesis.fuzz_one_input(content)
        return _Drawing.values, 0 if taken is None else len(taken)
    finally:
        _Drawing.strategy, _Drawing.values = None, []


def _grow(strategy, draw_bytes):
    """Draws as many bytes as the value takes. The list, and the bytes."""
    head = b""
    while True:
        values, taken = _make(strategy, head)
        missing = min(taken, _DRAWN_MAX) - len(head)
        if not values or missing <= 0:
            return values, head
        head += draw_bytes(missing)


def _search(strategy, head):
    """Values of other bytes, which follow from those that were drawn."""
    source = random.Random(int.from_bytes(head, "little"))
    for _ in range(_ATTEMPTS):
        tail = source.getrandbits(8 * _ENOUGH).to_bytes(_ENOUGH, "little")
        values, _ = _make_anew(strategy, head + tail)
        if values:
            return values
        head = b""
    return []


def warm_up():
    """Before the first run: what Hypothesis does once, such as seeds and tables, is not part of the run.
    """
    state = random.getstate()
    _make_anew(text(), bytes(range(256)))
    random.setstate(state)


def draw(loop, strategy, label):
    if isinstance(strategy, type(interactive())):
        raise TypeError("sim.draw() takes the strategy itself: sim.draw(integers()), not data()")
    # Hypothesis sets the state of the module `random`, and puts it back: that of this run.
    random.getrandbits(1)

    def draw_bytes(count):
        return bytes(loop._draw(label, 256) for _ in range(count))

    values, head = _grow(strategy, draw_bytes)
    if not values:  # a filter
        head += draw_bytes(_DRAWN_BLIND)
        values = _search(strategy, head)
    if not values:
        loop._refuse(f"the strategy {strategy!r} rejects every value that was tried")
    if head and loop._is_recorded:
        loop._say_draw(f"{label} {where.text_of_value(values[0])}")
    return values[0]
