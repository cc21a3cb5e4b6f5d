"""Functions in executors, and signals: what a test may do with them, and what is found."""
import asyncio
import concurrent.futures
import contextvars
import importlib.util
import os
import signal
import threading

from harness import Checks, run

NAME = contextvars.ContextVar("name", default="nobody")


def in_loop():
    return asyncio.get_running_loop()


# --- silent --------------------------------------------------------------------------------------

async def to_threads(sim):
    """Contexts, results, exceptions, and no running loop in the function."""
    NAME.set("test")

    def work(number):
        try:
            asyncio.get_running_loop()
        except RuntimeError:
            return number, NAME.get()
        raise AssertionError("a function in a thread has no running loop")

    got = await asyncio.gather(*[asyncio.to_thread(work, number) for number in range(4)])
    assert got == [(number, "test") for number in range(4)], got
    assert await in_loop().run_in_executor(None, work, 9) == (9, "nobody")
    try:
        await asyncio.to_thread(int, "x")
    except ValueError:
        return
    raise AssertionError("the exception is lost")


async def of_two_workers(sim):
    """No function begins before one of the workers is free; one worker has them in order. Each
    worker is a thread."""
    begun = []
    with concurrent.futures.ThreadPoolExecutor(2, "mine") as pool:
        threads = {await in_loop().run_in_executor(pool, threading.current_thread)
                   for _ in range(3)}
        assert threading.main_thread() is threading.current_thread()
        assert {thread.name for thread in threads} <= {"mine_0", "mine_1"}, threads
        assert len(threads) < 3
        futures = [in_loop().run_in_executor(pool, begun.append, number) for number in range(5)]
        await asyncio.gather(*futures)
    assert all(number <= index + 1 for index, number in enumerate(begun)), begun
    begun.clear()
    in_loop().set_default_executor(concurrent.futures.ThreadPoolExecutor(1))
    await asyncio.gather(*[in_loop().run_in_executor(None, begun.append, n) for n in range(5)])
    assert begun == list(range(5)), begun
    assert os.cpu_count() == 4
    await in_loop().shutdown_default_executor()


async def joins_workers(sim):
    """An executor keeps its workers in a set, which is walked in one order in each run."""
    done = []
    with concurrent.futures.ThreadPoolExecutor(5) as pool:
        for number in range(9):
            pool.submit(done.append, number)
        await asyncio.sleep(0)
    for _ in range(done.index(3) + 10 * done.index(7)):
        await asyncio.sleep(0)


POOL = concurrent.futures.ThreadPoolExecutor(1)  # lives longer than a run


async def of_the_module(sim):
    done = []
    await asyncio.gather(*[in_loop().run_in_executor(POOL, done.append, n) for n in range(2)])
    in_loop().run_in_executor(POOL, done.append, 2)
    assert done == [0, 1]


async def takes_back(sim):
    """A cancel takes a function back that has not begun, and lets one end that has."""
    in_loop().set_default_executor(concurrent.futures.ThreadPoolExecutor(1))
    begun, calls = [], []
    for number in range(3):
        calls.append(asyncio.ensure_future(asyncio.to_thread(begun.append, number)))
    await asyncio.sleep(0)
    is_cancelled = calls[1].cancel()  # False: it has ended
    done, _ = await asyncio.wait(calls)
    assert calls[1].cancelled() == is_cancelled and len(done) == 3
    await asyncio.sleep(1)
    assert sorted(begun) in ([0, 2], [0, 1, 2]), begun


async def in_anyio(sim):
    import anyio
    import anyio.to_thread
    limiter = anyio.CapacityLimiter(2)
    begun = []
    async with anyio.create_task_group() as group:
        for number in range(4):
            group.start_soon(lambda number=number: anyio.to_thread.run_sync(
                begun.append, number, limiter=limiter))
    assert sorted(begun) == list(range(4)), begun
    assert await anyio.to_thread.run_sync(lambda: 3) == 3


async def stops(sim):
    """Graceful shutdown."""
    stop, got = asyncio.Event(), []
    in_loop().add_signal_handler(signal.SIGTERM, stop.set)
    before = signal.signal(signal.SIGUSR1, lambda number, frame: got.append(number))
    try:
        sim.signal(signal.SIGUSR1)
        sim.signal(signal.SIGTERM)
        await stop.wait()
        for send in (lambda: os.kill(os.getpid(), signal.SIGTERM),
                     lambda: signal.raise_signal(signal.SIGTERM)):
            stop.clear()
            send()
            await stop.wait()
        await asyncio.sleep(1)
    finally:
        signal.signal(signal.SIGUSR1, before)
    assert got == [signal.SIGUSR1], got
    assert in_loop().remove_signal_handler(signal.SIGTERM)
    assert not in_loop().remove_signal_handler(signal.SIGTERM)
    for wrong in (signal.SIGKILL, 4711, "x"):
        try:
            in_loop().add_signal_handler(wrong, print)
        except (RuntimeError, ValueError, TypeError):
            continue
        raise AssertionError(f"{wrong} is no signal to handle")


# --- found ---------------------------------------------------------------------------------------

def reads(number):
    """The function may run before and after each of the other task's steps."""
    async def reads_at(sim):
        seen, value = [], [0]
        call = in_loop().run_in_executor(None, lambda: seen.append(value[0]))
        for _ in range(3):
            await asyncio.sleep(0)
            value[0] += 1
        await call
        assert seen[0] != number, f"saw {number}"
    return reads_at


async def forgets_the_thread(sim):
    """It releases what the function still uses: a cancel does not stop a thread."""
    log = []

    async def worker():
        log.append("open")
        try:
            await asyncio.to_thread(log.append, "use")
        finally:
            log.append("close")
    await asyncio.wait([sim.spawn(None, worker())])
    await asyncio.sleep(1)
    assert log[-1:] != ["use"], f"the log is {log}"


async def ends_by_signal(sim):
    sim.signal(signal.SIGTERM)
    await asyncio.sleep(1)


def main():
    checks = Checks()
    silent = [to_threads, of_two_workers, joins_workers, of_the_module, takes_back, stops]
    if importlib.util.find_spec("anyio") is not None:
        silent.append(in_anyio)
    for order in ("any", "fifo"):
        checks.all_silent(silent, "--order", order, runs=300)
    for test, oracle, message in (
            *[(reads(number), "assertion", f"saw {number}") for number in range(1, 4)],
            (forgets_the_thread, "assertion", "['open', 'close', 'use']"),
            (ends_by_signal, "assertion", "SIGTERM would end the program")):
        for order in ("any", "fifo"):
            report = run(test, "--order", order, "--keep-going", "--no-shrink", runs=300) or {}
            found = [one["message"] for one in report.get("violations", ())
                     if one["oracle"] == oracle]
            checks.check(any(message in text for text in found),
                         f"{test.__name__}, order {order}: {message}? {found}")
    checks.end()


if __name__ == "__main__":
    main()
