"""asyncio's BaseEventLoop on a clock of its own and without a selector: the loops of many machines.
And programs with timers at one instant, which such loops run in several orders."""
import asyncio
import random

TIMED = {}


def timed(function):
    TIMED[function.__name__] = function
    return function


class VirtualSelector:
    """Lets the time go on in the place of waiting. A real clock goes on between two readings, too,
    and a real selector wakes late: more so each time, and by so little that nothing but the order
    of timers depends on it."""
    now = 0.0
    late = 0.0
    reading = 4e-15

    def select(self, timeout):
        if timeout is None:
            raise AssertionError("the program waits for ever")
        if timeout > 0:
            self.late += 5e-12
            self.now = round(self.now + timeout, 9) + self.late
        return ()

    def read(self):
        self.now += self.reading
        return self.now

    def close(self):
        pass


class StockLoop(asyncio.base_events.BaseEventLoop):
    def __init__(self, seed):
        super().__init__()
        self._selector = VirtualSelector() if seed is None else RealSelector(self, seed)

    def time(self):
        return self._selector.read()

    def _process_events(self, events):
        pass

    def _write_to_self(self):
        pass


class Instant(float):
    """A time of a clock that counts attoseconds: float shows what a program may see of it, and the
    rest decides the order of timers alone."""

    def __new__(cls, exact):
        self = super().__new__(cls, exact / 1e18)
        self.exact = exact
        return self

    def __add__(self, delay):
        return Instant(self.exact + round(delay * 1e9) * 10**9)

    def __sub__(self, other):
        return (self.exact - exact(other)) / 1e18

    def __lt__(self, other):
        return self.exact < exact(other)

    def __ge__(self, other):
        return not self < other

    def __gt__(self, other):
        return exact(other) < self.exact

    def __le__(self, other):
        return not self > other

    def __eq__(self, other):
        return self.exact == exact(other)

    __radd__, __hash__ = __add__, float.__hash__


def exact(time):
    return time.exact if isinstance(time, Instant) else round(time * 1e9) * 10**9


class RealSelector:
    """Of a loop on some machine: the clock goes on between two readings, by little or much, or stands
    still, and a wait ends by up to a millisecond late."""

    def __init__(self, loop, seed):
        self.draw = random.Random(seed)
        self.loop, self.now = loop, 0
        self.is_coarse = self.draw.randrange(3) == 0
        loop._clock_resolution = 1e-9 if self.is_coarse else 0

    def read(self):
        if not self.is_coarse:
            self.now += int(10 ** self.draw.uniform(0, 7))
        return Instant(self.now)

    def select(self, timeout):
        if timeout is None:
            raise AssertionError("the program waits for ever")
        times = sorted({exact(timer._when) for timer in self.loop._scheduled})
        if timeout > 0:
            first = times[0] // 10**9
            near = [time for time in times if time // 10**9 - first < 10**6]
            same = [time for time in near if time // 10**9 == first]
            self.now = max(self.now, self.draw.choice((same[-1], self.draw.choice(near))))
        return ()

    close = VirtualSelector.close


def stock_log(function, seed=None):
    log = []
    loop = StockLoop(seed)
    loop.run_until_complete(function(lambda *what: log.append(repr(what))))
    loop.close()
    return log


# --- programs ------------------------------------------------------------------------------------

def fire(log, number):
    log("timer", number, round(asyncio.get_running_loop().time() * 1e9))
    asyncio.get_running_loop().call_soon(log, "soon", number)


@timed
async def one_instant(log):
    for number in range(3):
        asyncio.get_running_loop().call_later(1, fire, log, number)
    await asyncio.sleep(2)


@timed
async def one_instant_of_a_heap(log):
    """A clock that stands still lets the heap swap the second and the third."""
    for number in range(4):
        asyncio.get_running_loop().call_later(1, log, number)
    await asyncio.sleep(2)


@timed
async def one_time(log):
    when = asyncio.get_running_loop().time() + 1
    for number in range(2):  # they are never apart
        asyncio.get_running_loop().call_at(when, fire, log, number)
        asyncio.get_running_loop().call_later(1, fire, log, -1)
    await asyncio.sleep(2)


@timed
async def one_millisecond(log):
    for number in range(3):
        asyncio.get_running_loop().call_later(1 + number * 0.0004, fire, log, number)
    asyncio.get_running_loop().call_later(1.0011, fire, log, 3)
    await asyncio.sleep(2)


@timed
async def chain(log):
    async def sleep(name, delay, count):
        for _ in range(count):
            await asyncio.sleep(delay)
        log(name)
    await asyncio.gather(sleep("thrice", 1, 3), sleep("once", 3, 1))
