"""Programs that pass wrong arguments to the loop: asyncio's answers are Buzzer's. For order_test.py.

Each logs what it returns or raises, and what the loop's handler gets.
"""
import asyncio
import contextvars  # noqa: F401, of the programs, as the next two
import decimal
import fractions
import logging
import re
import types
import warnings

warnings.simplefilter("ignore")  # of coroutines that nobody awaits
logging.disable()  # of tasks that are left behind

# A row is a program, or one for each of the texts that go to the place of {}; "nothing" is no text.
ROWS = """
loop.create_task({}) :: None | 3 | worker | nothing | coro=None | worker(), coro=None
loop.create_task({}) :: worker(), None
loop.create_task({}) :: worker(), nam='x' | generator() | Awaitable() | loop.create_future()
loop.create_task({}) :: asyncgen() | asyncgen | asyncgen().__anext__() | worker(), context=3
loop.create_task({}) :: worker(), context='' | None, eager_start=True | fails(), eager_start=True
await loop.create_task(worker(), {}) :: name=3 | name='' | name=Loud() | context=None
await loop.create_task(worker(), {}) :: context=contextvars.copy_context() | eager_start=True
await loop.create_task(worker(), {}) :: eager_start=False | eager_start=None | eager_start=[]
c = worker(); {}; await loop.create_task(c) :: c.close() | await c
c = worker(); await asyncio.gather(loop.create_task(c), loop.create_task(c), return_exceptions=True)
asyncio.create_task({}) :: worker | None | nothing | worker(), nam=1 | None, name='x', context=3
asyncio.create_task({}) :: worker(), context=3 | worker(), name=None | worker(), 'x'
asyncio.ensure_future({}) :: generator() | worker(), loop=3 | worker(), loop=foreign
await asyncio.ensure_future({}) :: Awaitable() | Bad()
await asyncio.gather({}) :: nothing | worker(), None | worker(), foreign.create_future()
await asyncio.wait({}) :: [] | None | 3 | [None] | [3] | [worker] | [worker()] | worker()
await asyncio.wait([loop.create_future()], timeout={}) :: 'x' | -1 | float('nan')
await asyncio.wait([{}.create_future()], timeout=1) :: foreign | loop
await asyncio.wait_for(worker(), {}) :: None | 0 | -1 | 'x' | float('nan') | float('inf')
await asyncio.wait_for(done(), {}) :: None | -1 | 'x'
await asyncio.wait_for(loop.create_future(), {}) :: -1 | 0
await asyncio.wait_for(foreign.create_future(), 1)
await asyncio.shield({}) :: None | foreign.create_future()
list(asyncio.as_completed({})) :: None | [None] | [3] | worker()
await asyncio.sleep({}) :: None | 'x' | -1 | -float('inf') | float('nan') | 1e-300 | True | 1j | []
await asyncio.sleep({}) :: nothing | Fraction(1, 3) | Decimal('1.5') | 0, delay=3
await asyncio.wait_for(asyncio.sleep({}), 1) :: 1e300 | 10 ** 400 | float('inf')
async with asyncio.timeout({}): await asyncio.sleep(1) :: -1 | 'x' | float('nan') | None
async with asyncio.timeout_at({}): await asyncio.sleep(1) :: 'x' | -5
async with asyncio.timeout(1) as t: t.reschedule({}); await asyncio.sleep(5) :: 'x' | -1
loop.call_soon({}) :: nothing | None | 3 | 'x', 1 | worker | worker() | print, context=3
loop.call_soon({}) :: log, 'called', context=None
loop.call_soon({}) :: log, 'called', context=contextvars.copy_context()
loop.call_soon({}) :: log, 'called', ctx=None | log, 'called', contex=None | callback=log
loop.call_soon({}) :: log, 'called', context=None, other=3 | fails_at_once | fails_at_once, 1, 2, 3
loop.set_debug(True); loop.call_soon({}) :: None | worker | worker() | Awaitable() | asyncgen | 3
loop.set_debug(True); loop.call_soon({}) :: log, 'called'
loop.set_debug(True); loop.{} :: call_later(1, None) | call_later(1, worker) | call_at(1, worker)
loop.set_debug(True); loop.{} :: call_at(1, 3) | call_soon_threadsafe(None)
loop.set_debug(True); loop.{} :: call_soon_threadsafe(worker)
loop.set_debug()
loop.set_debug(enabled=True); loop.get_debug({}) :: nothing | 1
loop.call_soon_threadsafe({}) :: nothing | None | log, 'called', ctx=3
loop.call_later({}) :: nothing | 1 | 1, None | 1, log, 'called', ctx=3
loop.call_later({}) :: 1, fails_at_once, 'called', context=3 | delay=1, callback=log
loop.call_later({}, log, 'called') :: None | 'x' | -1 | -10 ** 30 | 10 ** 30 | 10 ** 400 | -10 ** 400
loop.call_later({}, log, 'called') :: float('nan') | float('inf') | -float('inf') | True | []
loop.call_later({}, log, 'called') :: Fraction(1, 3) | Decimal(1)
loop.call_at({}) :: nothing | 1 | 1, None | when=1, callback=log | 1, log, 'called', contexts=3
loop.call_at({}, log, 'called') :: -1 | float('nan') | float('inf') | -float('inf')
loop.call_soon(log, 'called').cancel(1)
round(loop.call_later(1, log, 'called').when(), 9)
loop.call_later(1, log, 'called').when(1)
h = loop.call_later(1, log, 'called'); h.cancel(); h.cancel(); h.cancelled()
h = loop.call_soon(log, 'called'); h.cancel(); h.cancel(); h.cancelled()
loop.create_future({}) :: 3 | loop=loop
loop.create_future().{} :: get_loop() is loop | add_done_callback(log, context=3) | result()
f = done(); f.add_done_callback({}) :: None | 3 | log_nothing, context=3 | log_nothing, contex=3
f = loop.create_future(); f.add_done_callback(worker); f.set_result(1)
await {} :: foreign.create_future() | asyncio.Future(loop=foreign)
asyncio.Future(loop=None).get_loop() is loop
await Yields({}) :: 3 | None | 'x' | worker | asyncio.current_task()
await loop.create_task(Yields(3).steps())
t = loop.create_task(worker()); t.{} :: cancel(1, 2) | cancel(text=3) | uncancel(3) | uncancel()
t = loop.create_task(worker()); t.{} :: set_name() | set_name(1, 2) | set_name(value='x')
t = loop.create_task(worker()); t.{} :: set_name(Mute()) | cancelling(1) | set_result(3)
t = loop.create_task(worker()); t.set_name({}); t.get_name() :: 3 | None
t = loop.create_task(worker()); t.cancel(msg=3); await t
t = loop.create_task(worker()); await t; {} :: t.cancel() | await t
t = asyncio.current_task(); {} :: await t | t.__await__().send(3)
loop.set_task_factory({}) :: 3 | 'x' | nothing
loop.set_task_factory(None); loop.get_task_factory()
loop.set_exception_handler({}) :: 3 | 'x' | nothing
loop.set_exception_handler(None); loop.get_exception_handler()
loop.call_exception_handler({}) :: nothing | {} | {'message': 3}
loop.call_exception_handler({'message': 'x', 'exception': ValueError(1)})
loop.run_until_complete({}) :: None | worker | worker() | 3 | loop.create_future() | nothing
loop.{} :: run_forever(1) | close() | is_running(1) | time(1) | no_such_method()
loop.is_running(), loop.is_closed()
loop.slow_callback_duration
asyncio.run({}) :: worker() | None | worker
asyncio.get_event_loop() is loop, asyncio.get_running_loop() is loop
await loop.shutdown_asyncgens({}) :: nothing | 3
await loop.shutdown_default_executor()
async with asyncio.TaskGroup() as g: g.create_task({}) :: None | worker | 3 | nothing | fails()
async with asyncio.TaskGroup() as g: g.create_task({}) :: worker(), nam=3 | worker(), name=3
async with asyncio.TaskGroup() as g: g.create_task(worker()); g.create_task(None)
g = asyncio.TaskGroup(); g.create_task(worker())
async for x in asyncgen(): raise ValueError(x)
"""


def lines_of(row):
    template, _, texts = row.partition(" :: ")
    return [template.replace("{}", "" if text == "nothing" else text)
            for text in texts.split(" | ")] if texts else [row]


_WORDS = re.compile(r" at 0x[0-9a-f]+|<(?:[^<>]|<[^<>]*>)*Loop[^<>]*>|\b[Tt]ask-\d+|"
                    r"\b(?:Base|Abstract|Stock)?(?:Event)?Loop\b|"
                    r"<(?:Timer)?Handle.*>$|<buzzer._native.Handle.*>$|(?:_asyncio|buzzer._native)\.(?=Task)")


# Functions in C say this in other words, and versions of asyncio do.
_COUNTS = re.compile(r"TypeError: .*(?:takes .*argument|missing .*argument|keyword argument|"
                     r"must not be None|cannot be None|'float' and 'NoneType').*")


def said(value):
    """A text without what is the loop's own: addresses, numbers, its name."""
    return _COUNTS.sub("TypeError: arguments", _WORDS.sub("~", str(value)))


class Loud(str):
    def __str__(self):
        return "loud"


class Mute:
    def __str__(self):
        raise ZeroDivisionError


class Awaitable:
    def __await__(self):
        return worker().__await__()


class Bad:
    def __await__(self):
        return 3


class Yields:
    def __init__(self, value):
        self.value = value

    def __await__(self):
        yield self.value

    async def steps(self):
        await self


async def worker():
    await asyncio.sleep(0)
    return "worked"


async def fails():
    raise KeyError("fails")


async def asyncgen():
    yield 1


@types.coroutine
def generator():
    yield


def fails_at_once():
    raise KeyError("at once")


def outcome(task):
    if not task.done():
        return "pending"
    if task.cancelled():
        return "cancelled"
    error = task.exception()
    return f"{type(error).__name__}: {error}" if error else f"returned {task.result()!r}"


def program(source):
    """Of a line, the last statement is what it returns."""
    body, _, last = source.rpartition("; ")
    if not re.match(r"async |\w+ = ", last) and not body.startswith("async "):
        last = f"return {last}"
    text = f"async def line():\n {body + '; ' if body else ''}{last}"

    async def run(log):
        loop = asyncio.get_running_loop()

        def done():
            future = loop.create_future()
            future.set_result("done")
            return future

        foreign = asyncio.BaseEventLoop() if "foreign" in text else None
        names = dict(globals(), loop=loop, log=log, done=done, foreign=foreign,
                     Fraction=fractions.Fraction, Decimal=decimal.Decimal,
                     log_nothing=lambda *args: None)
        exec(text, names)

        def handle(loop, context):
            log("handler", said(context.get("message")), said(repr(context.get("exception"))))

        loop.set_exception_handler(handle)
        task = loop.create_task(names["line"]())
        await asyncio.wait([task], timeout=99)
        log(said(outcome(task)))
        await asyncio.sleep(99)
        loop.set_exception_handler(None)
        left = asyncio.all_tasks() - {asyncio.current_task()}
        for other in sorted(left, key=lambda task: task.get_coro().__name__):
            log("left", said(other.get_coro().__name__))
            other.cancel()
        await asyncio.sleep(1)
        if foreign:
            foreign.close()
    return run


PROGRAMS = {line: program(line) for row in ROWS.strip().splitlines() for line in lines_of(row)}
