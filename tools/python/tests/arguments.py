"""Programs that pass wrong arguments to the loop: asyncio's answers are Buzzer's. For order_test.py.

Each line is a program. It logs what it returns or raises, and what the loop's handler is told.
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

CASES = """
loop.create_task(None)
loop.create_task(3)
loop.create_task(worker)
loop.create_task()
loop.create_task(coro=None)
loop.create_task(worker(), coro=None)
loop.create_task(worker(), None)
loop.create_task(worker(), nam='x')
loop.create_task(generator())
loop.create_task(Awaitable())
loop.create_task(loop.create_future())
loop.create_task(asyncgen())
loop.create_task(asyncgen)
loop.create_task(asyncgen().__anext__())
await loop.create_task(worker(), name=3)
await loop.create_task(worker(), name='')
await loop.create_task(worker(), name=Loud())
c = worker(); c.close(); await loop.create_task(c)
c = worker(); await c; await loop.create_task(c)
c = worker(); await asyncio.gather(loop.create_task(c), loop.create_task(c), return_exceptions=True)
loop.create_task(worker(), context=3)
loop.create_task(worker(), context='')
await loop.create_task(worker(), context=None)
await loop.create_task(worker(), context=contextvars.copy_context())
await loop.create_task(worker(), eager_start=True)
await loop.create_task(worker(), eager_start=False)
await loop.create_task(worker(), eager_start=None)
await loop.create_task(worker(), eager_start=[])
loop.create_task(None, eager_start=True)
loop.create_task(fails(), eager_start=True)
asyncio.create_task(worker)
asyncio.create_task(None)
asyncio.create_task()
asyncio.create_task(worker(), nam=1)
asyncio.create_task(None, name='x', context=3)
asyncio.create_task(worker(), context=3)
asyncio.create_task(worker(), name=None)
asyncio.create_task(worker(), 'x')
asyncio.ensure_future(3)
asyncio.ensure_future(None)
asyncio.ensure_future(worker)
asyncio.ensure_future(generator())
await asyncio.ensure_future(Awaitable())
await asyncio.ensure_future(Bad())
asyncio.ensure_future(worker(), loop=3)
asyncio.ensure_future(foreign.create_future())
asyncio.ensure_future(foreign.create_future(), loop=loop)
asyncio.ensure_future(worker(), loop=foreign)
await asyncio.gather(1, 2)
await asyncio.gather(None)
await asyncio.gather(worker)
await asyncio.gather(worker(), None)
await asyncio.gather()
await asyncio.gather(worker(), return_exceptions=3)
await asyncio.gather(worker(), foreign.create_future())
await asyncio.wait([])
await asyncio.wait(None)
await asyncio.wait(3)
await asyncio.wait([None])
await asyncio.wait([3])
await asyncio.wait([worker])
await asyncio.wait([worker()])
await asyncio.wait(worker())
await asyncio.wait(loop.create_future())
await asyncio.wait([done()], timeout='x')
await asyncio.wait([loop.create_future()], timeout='x')
await asyncio.wait([loop.create_future()], timeout=-1)
await asyncio.wait([loop.create_future()], timeout=float('nan'))
await asyncio.wait([done()], return_when='WHEN')
await asyncio.wait([done()], return_when=None)
await asyncio.wait([foreign.create_future()], timeout=1)
await asyncio.wait_for(None, 1)
await asyncio.wait_for(3, 1)
await asyncio.wait_for(worker, 1)
await asyncio.wait_for(worker(), None)
await asyncio.wait_for(worker(), 0)
await asyncio.wait_for(worker(), -1)
await asyncio.wait_for(worker(), 'x')
await asyncio.wait_for(worker(), float('nan'))
await asyncio.wait_for(worker(), float('inf'))
await asyncio.wait_for(done(), None)
await asyncio.wait_for(done(), -1)
await asyncio.wait_for(done(), 'x')
await asyncio.wait_for(loop.create_future(), -1)
await asyncio.wait_for(loop.create_future(), 0)
await asyncio.wait_for(worker())
await asyncio.wait_for(foreign.create_future(), 1)
await asyncio.shield(None)
await asyncio.shield(3)
await asyncio.shield(worker)
await asyncio.shield(foreign.create_future())
list(asyncio.as_completed(None))
list(asyncio.as_completed([None]))
list(asyncio.as_completed([3]))
list(asyncio.as_completed(worker()))
await asyncio.sleep(None)
await asyncio.sleep('x')
await asyncio.sleep(-1)
await asyncio.sleep(-float('inf'))
await asyncio.sleep(float('nan'))
await asyncio.sleep(1e-300)
await asyncio.sleep(True)
await asyncio.sleep(1j)
await asyncio.sleep([])
await asyncio.sleep()
await asyncio.sleep(Fraction(1, 3))
await asyncio.sleep(Decimal('1.5'))
await asyncio.sleep(0, delay=3)
await asyncio.wait_for(asyncio.sleep(1e300), 1)
await asyncio.wait_for(asyncio.sleep(10 ** 400), 1)
await asyncio.wait_for(asyncio.sleep(float('inf')), 1)
async with asyncio.timeout(-1): await asyncio.sleep(1)
async with asyncio.timeout('x'): await asyncio.sleep(1)
async with asyncio.timeout(float('nan')): await asyncio.sleep(1)
async with asyncio.timeout(None): await asyncio.sleep(1)
async with asyncio.timeout_at('x'): await asyncio.sleep(1)
async with asyncio.timeout_at(-5): await asyncio.sleep(1)
async with asyncio.timeout(1) as t: t.reschedule('x')
async with asyncio.timeout(1) as t: t.reschedule(-1); await asyncio.sleep(5)
asyncio.timeout()
loop.call_soon()
loop.call_soon(None)
loop.call_soon(3)
loop.call_soon('x', 1)
loop.call_soon(worker)
loop.call_soon(worker())
loop.call_soon(print, context=3)
loop.call_soon(log, 'called', context=None)
loop.call_soon(log, 'called', context=contextvars.copy_context())
loop.call_soon(log, 'called', ctx=None)
loop.call_soon(log, 'called', contex=None)
loop.call_soon(callback=log)
loop.call_soon(log, 'called', context=None, other=3)
loop.call_soon(fails_at_once)
loop.call_soon(fails_at_once, 1, 2, 3)
loop.set_debug(True); loop.call_soon(None)
loop.set_debug(True); loop.call_soon(worker)
loop.set_debug(True); loop.call_soon(worker())
loop.set_debug(True); loop.call_soon(Awaitable())
loop.set_debug(True); loop.call_soon(log, 'called')
loop.set_debug(True); loop.call_soon(asyncgen)
loop.set_debug(True); loop.call_soon(3)
loop.set_debug(True); loop.call_later(1, None)
loop.set_debug(True); loop.call_later(1, worker)
loop.set_debug(True); loop.call_at(1, worker)
loop.set_debug(True); loop.call_at(1, 3)
loop.set_debug(True); loop.call_soon_threadsafe(None)
loop.set_debug(True); loop.call_soon_threadsafe(worker)
loop.set_debug()
loop.set_debug(enabled=True); loop.get_debug()
loop.get_debug(1)
loop.call_soon_threadsafe()
loop.call_soon_threadsafe(None)
loop.call_soon_threadsafe(log, 'called', ctx=3)
loop.call_later()
loop.call_later(1)
loop.call_later(None, log)
loop.call_later('x', log)
loop.call_later(-1, log, 'called')
loop.call_later(-10 ** 30, log, 'called')
loop.call_later(10 ** 30, log, 'called')
loop.call_later(10 ** 400, log, 'called')
loop.call_later(-10 ** 400, log, 'called')
loop.call_later(1, None)
loop.call_later(1, log, 'called', ctx=3)
loop.call_later(1, fails_at_once, 'called', context=3)
loop.call_later(float('nan'), log, 'called')
loop.call_later(float('inf'), log, 'called')
loop.call_later(-float('inf'), log, 'called')
loop.call_later(True, log, 'called')
loop.call_later([], log, 'called')
loop.call_later(Fraction(1, 3), log, 'called')
loop.call_later(Decimal(1), log, 'called')
loop.call_later(delay=1, callback=log)
loop.call_at()
loop.call_at(1)
loop.call_at(1, None)
loop.call_at(-1, log, 'called')
loop.call_at(float('nan'), log, 'called')
loop.call_at(float('inf'), log, 'called')
loop.call_at(-float('inf'), log, 'called')
loop.call_at(when=1, callback=log)
loop.call_at(1, log, 'called', contexts=3)
loop.call_soon(log, 'called').cancel(1)
round(loop.call_later(1, log, 'called').when(), 9)
loop.call_later(1, log, 'called').when(1)
h = loop.call_soon(log, 'called'); h.cancel(); h.cancel(); h.cancelled()
h = loop.call_later(1, log, 'called'); h.cancel(); h.cancel(); h.cancelled()
loop.create_future(3)
loop.create_future(loop=loop)
loop.create_future().set_result()
loop.create_future().set_exception(3)
loop.create_future().set_exception(StopIteration())
loop.create_future().set_exception(StopIteration)
loop.create_future().result()
loop.create_future().exception()
loop.create_future().add_done_callback()
loop.create_future().add_done_callback(log, context=3)
loop.create_future().get_loop() is loop
f = done(); f.add_done_callback(None)
f = done(); f.add_done_callback(3)
f = done(); f.add_done_callback(log_nothing, context=3)
f = done(); f.add_done_callback(log_nothing, contex=3)
f = done(); f.set_result(1)
f = loop.create_future(); f.add_done_callback(worker); f.set_result(1)
await foreign.create_future()
await asyncio.Future(loop=foreign)
asyncio.Future(loop=3)
asyncio.Future(3)
asyncio.Future(loop=None).get_loop() is loop
await Yields(3)
await Yields(None)
await Yields('x')
await Yields(worker)
await Yields(asyncio.current_task())
await loop.create_task(Yields(3).steps())
t = loop.create_task(worker()); t.cancel(1, 2)
t = loop.create_task(worker()); t.cancel(msg=3); await t
t = loop.create_task(worker()); t.cancel(text=3)
t = loop.create_task(worker()); t.uncancel(3)
t = loop.create_task(worker()); t.uncancel()
t = loop.create_task(worker()); t.cancelling(1)
t = loop.create_task(worker()); t.set_name()
t = loop.create_task(worker()); t.set_name(1, 2)
t = loop.create_task(worker()); t.set_name(3); t.get_name()
t = loop.create_task(worker()); t.set_name(None); t.get_name()
t = loop.create_task(worker()); t.set_name(value='x')
t = loop.create_task(worker()); t.set_name(Mute())
t = loop.create_task(worker()); t.set_result(3)
t = loop.create_task(worker()); t.set_exception(ValueError())
t = loop.create_task(worker()); t.result()
t = loop.create_task(worker()); t.exception()
t = loop.create_task(worker()); t.get_stack(limit='x')
t = loop.create_task(worker()); t.add_done_callback(None)
t = loop.create_task(worker()); await t; t.cancel()
t = loop.create_task(worker()); await t; await t
t = asyncio.current_task(); await t
t = asyncio.current_task(); t.__await__().send(3)
asyncio.current_task(loop=3)
asyncio.all_tasks(loop=3)
asyncio.current_task(3)
loop.set_task_factory(3)
loop.set_task_factory('x')
loop.set_task_factory(None); loop.get_task_factory()
loop.set_task_factory()
loop.set_exception_handler(3)
loop.set_exception_handler('x')
loop.set_exception_handler()
loop.set_exception_handler(None); loop.get_exception_handler()
loop.call_exception_handler()
loop.call_exception_handler({})
loop.call_exception_handler({'message': 3})
loop.call_exception_handler({'message': 'x', 'exception': ValueError(1)})
loop.run_until_complete(None)
loop.run_until_complete(worker)
loop.run_until_complete(worker())
loop.run_until_complete(3)
loop.run_until_complete(loop.create_future())
loop.run_until_complete()
loop.run_forever(1)
loop.close()
loop.is_running(), loop.is_closed()
loop.is_running(1)
loop.time(1)
asyncio.run(worker())
asyncio.run(None)
asyncio.run(worker)
asyncio.get_event_loop() is loop, asyncio.get_running_loop() is loop
asyncio.set_event_loop(3)
asyncio.get_running_loop(1)
await loop.shutdown_asyncgens()
await loop.shutdown_asyncgens(3)
await loop.shutdown_default_executor()
loop.slow_callback_duration
loop.no_such_method()
async with asyncio.TaskGroup() as g: g.create_task(None)
async with asyncio.TaskGroup() as g: g.create_task(worker)
async with asyncio.TaskGroup() as g: g.create_task(3)
async with asyncio.TaskGroup() as g: g.create_task()
async with asyncio.TaskGroup() as g: g.create_task(worker(), nam=3)
async with asyncio.TaskGroup() as g: g.create_task(worker(), name=3)
async with asyncio.TaskGroup() as g: g.create_task(fails())
async with asyncio.TaskGroup() as g: g.create_task(worker()); g.create_task(None)
g = asyncio.TaskGroup(); g.create_task(worker())
asyncio.Lock(3)
asyncio.Lock(loop=loop)
asyncio.Lock().release()
asyncio.Semaphore(-1)
asyncio.Semaphore('x')
asyncio.Semaphore(None)
asyncio.Semaphore(value=1, loop=3)
asyncio.BoundedSemaphore(1).release()
asyncio.Event().set(3)
asyncio.Condition(3)
asyncio.Condition(lock=None).notify()
await asyncio.Condition().wait()
asyncio.Queue('x').full()
asyncio.Queue(None).full()
asyncio.Queue(-1).full()
asyncio.Queue().get_nowait()
asyncio.Queue().task_done()
asyncio.Barrier(0)
asyncio.Barrier('x')
await asyncio.wait_for(asyncio.Barrier(2).wait(), 1)
await worker
await None
await 3
c = worker(); await c; await c
async with asyncio.Lock: pass
async for x in asyncgen(): raise ValueError(x)
await asyncio.to_thread
await asyncio.iscoroutine
asyncio.wrap_future(3)
asyncio.wrap_future(None)
asyncio.run_coroutine_threadsafe(None, loop)
asyncio.run_coroutine_threadsafe(worker, loop)
asyncio.isfuture(3), asyncio.iscoroutine(3)
await asyncio.staggered.staggered_race
"""

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


PROGRAMS = {line: program(line) for line in CASES.strip().splitlines()}
