"""Order `fifo` is the order of the stock loop, handle by handle.

Each program runs on asyncio's BaseEventLoop, with a clock of its own and without a selector, and on
Buzzer's loop, which chooses nothing: order fifo, no cancel, no lag. Both write what they do into a
log; the logs must be equal. A task that is left behind is a violation. Programs with timers at one
instant run on many stock loops, whose clocks differ: Buzzer must give all of their logs, and no
other.
"""
import asyncio
import contextlib
import contextvars
import itertools
import os
import random
import sys
import tempfile

import arguments
import correct_programs
from harness import VARIANT, call
from stock_loop import TIMED, stock_log

PROGRAMS = {}
REAL_LOOPS, BUZZER_RUNS = 3000, 3000
REPEATED = 50  # of a campaign's runs, the first (BZ_DETERMINISM_FIRST)
DRAWN = 60 if os.environ.get("BUZZER_LONG_TESTS") else 20


def program(function):
    PROGRAMS[function.__name__] = function
    return function


def now():
    return round(asyncio.get_running_loop().time() * 1e9)


async def steps(log, name, count):
    for number in range(count):
        log(name, number)
        await asyncio.sleep(0)
    log(name, "ends")
    return name


@program
async def callbacks(log):
    loop = asyncio.get_running_loop()
    handles = [loop.call_soon(log, "soon", n) for n in range(4)]
    handles[1].cancel()
    loop.call_soon(lambda: (handles[3].cancel(), log("late"), loop.call_soon(log, "nested")))
    loop.call_soon_threadsafe(log, "threadsafe", 1, 2, 3)
    sleeper = asyncio.create_task(asyncio.sleep(9))
    loop.call_soon(sleeper.cancel)
    for turn in range(4):
        log("turn", turn)
        await asyncio.sleep(0)
    assert handles[1].cancelled() and not handles[0].cancelled()


@program
async def equal_deadlines(log):
    loop = asyncio.get_running_loop()
    for number, delay in enumerate([3, 1, 1, 2, 1, 3, 3, 2, 1, 1, 0, 0, -1, 1]):
        loop.call_later(delay, log, "timer", number, delay)
    when = loop.time() + 1
    for number in range(6):  # exactly one time: as the heap leaves them
        loop.call_at(when, log, "at", number)
    await asyncio.sleep(1)
    log("awake", now())
    await asyncio.sleep(5)


@program
async def many_timers(log):
    """More than 100, most of them cancelled: the stock loop builds its heap anew."""
    loop = asyncio.get_running_loop()
    draw = random.Random(7)
    handles = []
    for number in range(400):
        handles.append(loop.call_later(draw.randrange(1, 6), log, number))
        if number % 50 == 49:
            for handle in draw.sample(handles, len(handles) * 2 // 3):
                handle.cancel()
            log("round", number)
            await asyncio.sleep(draw.randrange(2))
    await asyncio.sleep(10)


@program
async def futures(log):
    loop = asyncio.get_running_loop()
    first, second, third = (loop.create_future() for _ in range(3))

    async def wait(name, future):
        try:
            log(name, await future)
        except BaseException as exception:
            log(name, type(exception).__name__)

    tasks = [asyncio.create_task(wait(f"{n}-{m}", future))
             for n, future in enumerate((first, second, third)) for m in range(2)]
    await asyncio.sleep(0)
    first.add_done_callback(lambda future: log("done", future.result()))
    first.set_result(1)
    second.set_exception(KeyError("x"))
    third.cancel()
    log("resolved")
    await asyncio.gather(*tasks)
    log(await first)


@program
async def gathers(log):
    async def fail(after):
        await steps(log, "fail", after)
        raise ValueError(after)

    with contextlib.suppress(ValueError):
        await asyncio.gather(steps(log, "a", 3), fail(1), steps(log, "b", 2), fail(2))
        log("never")
    log(await asyncio.gather(steps(log, "c", 1), steps(log, "d", 3), return_exceptions=True))
    both = asyncio.gather(steps(log, "e", 5), steps(log, "f", 5))
    await asyncio.sleep(0)
    both.cancel()
    with contextlib.suppress(asyncio.CancelledError):
        await both
    log("cancelled")


@program
async def waits(log):
    tasks = [asyncio.create_task(steps(log, f"w{n}", 4 - n)) for n in range(4)]
    done, pending = await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
    log(len(done), len(pending))
    done, pending = await asyncio.wait(tasks, timeout=0)
    log(len(done), len(pending), now())
    await asyncio.wait(tasks)
    for number, each in enumerate(asyncio.as_completed([steps(log, "x", 2)])):
        log(number, await each)


@program
async def cancels(log):
    async def victim(name, swallows):
        try:
            log(name, "begins")
            await asyncio.sleep(3)
        except asyncio.CancelledError:
            log(name, "cancelled")
            if not swallows:
                raise
        await asyncio.sleep(0)
        log(name, "goes on")

    async def outer(inner):
        try:
            await inner
        except asyncio.CancelledError:
            log("outer cancelled")
            raise

    unstarted = asyncio.create_task(victim("unstarted", False))
    unstarted.cancel()
    swallows = asyncio.create_task(victim("swallows", True))
    nested = asyncio.create_task(outer(asyncio.create_task(victim("inner", False))))
    stubborn = asyncio.create_task(outer(asyncio.create_task(victim("stubborn", True))))
    await asyncio.sleep(0)
    await asyncio.sleep(0)
    for task in (swallows, nested, stubborn):
        log(task.cancel(), task.cancel())
    log(await asyncio.gather(swallows, nested, stubborn, unstarted, return_exceptions=True))


@program
async def groups(log):
    if not hasattr(asyncio, "TaskGroup"):
        return

    async def fail():
        await asyncio.sleep(1)
        raise ValueError

    async def child():
        try:
            await asyncio.sleep(2)
        finally:
            log("leaves")  # a group of the stock loop cancels in the order of addresses

    try:
        async with asyncio.TaskGroup() as group:
            for _ in range(5):
                group.create_task(child())
            group.create_task(fail())
    except BaseException as exception:
        log(type(exception).__name__)
    try:
        async with asyncio.timeout(1):
            async with asyncio.timeout(1):
                await child()
    except BaseException as exception:
        log(type(exception).__name__, now())


@program
async def contexts(log):
    variable = contextvars.ContextVar("variable", default=0)
    loop = asyncio.get_running_loop()

    async def child():
        log(variable.get())
        variable.set(variable.get() + 10)
        await asyncio.sleep(0)
        log(variable.get())

    for number in range(3):
        variable.set(number)
        loop.call_soon(lambda: log("callback", variable.get()))
        loop.call_later(1, lambda: log("timer", variable.get()))
        asyncio.create_task(child())
    other = contextvars.copy_context()
    other.run(variable.set, 99)
    loop.call_soon(lambda: log("other", variable.get()), context=other)
    await asyncio.sleep(2)
    log(variable.get(), asyncio.current_task() in asyncio.all_tasks(), len(asyncio.all_tasks()))


@program
async def generators(log):
    async def numbers():
        try:
            for number in range(3):
                yield number
                await asyncio.sleep(0)
        finally:
            log("closes")
            await asyncio.sleep(0)
            log("closed")

    async for number in numbers():
        log(number)
        break
    await steps(log, "after", 5)


@program
async def errors(log):
    loop = asyncio.get_running_loop()
    loop.set_exception_handler(
        lambda its, context: log("handler", type(context.get("exception")).__name__))

    async def fail():
        raise ValueError

    loop.call_soon(lambda: 1 / 0)
    task = asyncio.create_task(fail())
    await asyncio.sleep(0)
    await asyncio.sleep(0)
    del task
    await asyncio.sleep(0)
    class Bad:
        def __await__(self):
            yield 5

    async def bad():
        await Bad()
    with contextlib.suppress(RuntimeError):
        await asyncio.create_task(bad())
    log("after", type(loop.get_exception_handler()).__name__)


class Sim:
    """What a correct program asks of the simulation, on any loop."""
    now_ns = property(lambda self: now())

    def watch(self, primitive, **about):
        return primitive

    def spawn(self, group, coro, name=None):
        return asyncio.create_task(coro)

    def check(self, condition, message):
        assert condition, message


class Noted:
    """The module asyncio for a correct program: each sleep is in the log."""

    def __init__(self, log):
        self.log, self.numbers = log, {}

    def __getattr__(self, name):
        return getattr(asyncio, name)

    async def sleep(self, delay):
        number = self.numbers.setdefault(asyncio.current_task(), len(self.numbers))
        self.log("sleeps", number, round(delay, 6), now())
        await asyncio.sleep(delay)
        self.log("awake", number, now())


def noted(function):
    async def run(log):
        random.seed(7)
        correct_programs.asyncio = Noted(log)
        await function(Sim())
        log("ends", now())
    return run


def drawn(seed):
    """A program of tasks that do one thing after another."""
    async def run(log):
        draw = random.Random(seed)
        loop = asyncio.get_running_loop()
        loop.set_exception_handler(lambda *context: None)  # of faults of wait_for() before 3.12
        lock, semaphore, event = asyncio.Lock(), asyncio.Semaphore(2), asyncio.Event()
        condition, queue, tasks = asyncio.Condition(), asyncio.Queue(2), []

        async def slow(name):
            try:
                await asyncio.sleep(draw.randrange(3))
                log(name, "slept")
            except asyncio.CancelledError:
                log(name, "slow cancelled")
                await asyncio.sleep(0)
                raise

        async def notify(name):
            async with condition:
                log(name, "notifies")
                condition.notify(draw.randrange(1, 3))

        async def wait(name):
            async with condition:
                await condition.wait()
                log(name, "notified")

        async def hold(name, permits):
            async with permits:
                log(name, "holds")
                await asyncio.sleep(draw.randrange(2))

        async def sleep_in_parts(name):
            """The sum is a time at which others wake, too."""
            for _ in range(3):
                await asyncio.sleep(0.01)
            log(name, "awake", now())

        async def wait_for_some(name):
            children = [asyncio.create_task(steps(log, f"{name}{n}", n)) for n in range(3)]
            await asyncio.wait(children, return_when=asyncio.FIRST_COMPLETED)
            log(name, [child.done() for child in children])

        def toggle(name):
            event.clear() if event.is_set() else event.set()

        async def cancel(name):
            log(name, tasks[draw.randrange(len(tasks))].cancel())

        async def shield(name):
            await asyncio.shield(asyncio.create_task(steps(log, name + "s", 4)))

        kinds = [slow, notify, wait, sleep_in_parts, wait_for_some, cancel, shield,
                 lambda name: hold(name, lock), lambda name: hold(name, semaphore),
                 lambda name: queue.put(name), lambda name: queue.get(),
                 lambda name: asyncio.sleep(0.03), lambda name: event.wait(),
                 lambda name: asyncio.sleep(0, toggle(name)),
                 lambda name: asyncio.sleep(0, loop.call_later(draw.randrange(3), log, name)),
                 lambda name: asyncio.gather(steps(log, name + "g", 1), slow(name))]

        async def worker(name):
            for turn in range(8):
                kind = draw.randrange(len(kinds))
                log(name, turn, kind, now())
                try:
                    await asyncio.wait_for(kinds[kind](name), draw.choice((1, 2, 0.01, 9)))
                except asyncio.TimeoutError:
                    log(name, "timed out")
                except RuntimeError as error:
                    log(name, str(error))
                except asyncio.CancelledError:
                    log(name, "cancelled")
                    if draw.randrange(2):
                        raise
        tasks += [asyncio.create_task(worker(f"t{n}")) for n in range(5)]
        await asyncio.wait(tasks)
        await asyncio.sleep(3)
        log("end", now())
    return run


# as_completed() makes a set, which a stock loop walks in the order of addresses.
PROGRAMS.update((function.__name__, noted(function)) for function in correct_programs.CORRECT
                if function is not correct_programs.guard_of_completions)
PROGRAMS.update((f"drawn{seed}", drawn(seed)) for seed in range(DRAWN))
PROGRAMS.update(arguments.PROGRAMS)


def buzzer_logs(name, programs, runs, strategy):
    """The status, and the logs of each program, by its number: they come from a child process, by a
    file. The programs take turns, one run each, once the campaign repeats no runs any more."""
    calls = itertools.count()
    repeated = 0 if len(programs) == 1 else REPEATED
    with tempfile.NamedTemporaryFile("w+") as file:
        async def test(sim):
            log, number = [], max(0, next(calls) - 2 * repeated) % len(programs)
            await programs[number](lambda *what: log.append(repr(what)))
            file.write(f"{number}\n" + "\n".join(log) + "\f")
            file.flush()
        test.__name__ = name
        status, _ = call(test, "run", name, "--variant", VARIANT, "--runs", str(runs + repeated),
                         "--order", "fifo", "--strategy", strategy, "--cancel", "none",
                         "--max-lag", "0", "--no-shrink")
        file.seek(0)
        logs = [[] for _ in programs]
        for text in file.read().split("\f")[:-1]:
            number, _, log = text.partition("\n")
            logs[int(number)].append(log)
        return status, logs


def differing(programs):
    """How many have another log than on the stock loop."""
    expected = {name: stock_log(function) for name, function in programs.items()}
    alone = [name for name, log in expected.items()
             if any(line.startswith("('left', ") for line in log)]  # that may be a violation
    together = [name for name in programs if name not in alone]
    status, logs = buzzer_logs("all", [programs[name] for name in together], len(together), "fifo")
    logs = dict(zip(together, logs))
    logs.update((name, buzzer_logs(f"{name}_program", [programs[name]], 1, "fifo")[1][0])
                for name in alone)
    failed = status != 0
    if failed:
        print(f"all: status {status}")
    for name, log in expected.items():
        for got in set(logs[name]) - {"\n".join(log)} or [None] * (not logs[name]):
            lines = got.split("\n") if got else []
            places = [n for n, pair in enumerate(zip(log, lines)) if pair[0] != pair[1]]
            place = places[0] if places else min(len(log), len(lines))
            print(f"{name}: {len(logs[name])} logs, entry {place}: stock {log[place:place + 3]}, "
                  f"Buzzer {lines[place:place + 3]}")
            failed += 1
    return failed


def differs_in_time(name, function):
    """Buzzer gives the orders that real loops give, no more and no fewer."""
    real = {"\n".join(stock_log(function, seed)) for seed in range(REAL_LOOPS)}
    given = set(buzzer_logs(name, [function], BUZZER_RUNS, "portfolio")[1][0])
    for kind, logs in (("only Buzzer", given - real), ("only a real loop", real - given)):
        for log in logs:
            print(f"{name}: {kind}: {log.split(chr(10))}")
    return given != real or len(given) < 2


def main():
    failed = differing(PROGRAMS)
    for name, function in TIMED.items():
        failed += differs_in_time(name + "_program", function)
    print(f"{len(PROGRAMS) + len(TIMED)} programs, {failed} differ")
    return 1 if failed else 0


sys.exit(main())
