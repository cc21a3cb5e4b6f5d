"""Small programs as people write them, with timers: for order_test.py. Each says what it does by
`log`, and says the same on a real loop."""
import asyncio


async def sleepers(log):
    async def worker(number):
        for turn in range(3):
            await asyncio.sleep(0.01)
            log(number, turn)
    await asyncio.gather(*(worker(n) for n in range(5)))


async def staggered(log):
    async def worker(number):
        await asyncio.sleep(0.005 * (number % 3))
        log("first", number)
        await asyncio.sleep(0.01 * (number % 2))
        log("second", number)
    await asyncio.gather(*(worker(n) for n in range(6)))


async def guard(log):
    lock = asyncio.Lock()

    async def worker(number):
        async with lock:
            for _ in range(3):
                await asyncio.sleep(0)
            log("holds", number)
    tasks = [asyncio.create_task(worker(n)) for n in range(4)]
    try:
        await asyncio.wait_for(lock.acquire(), 0.5)
        log("mine")
        lock.release()
    except asyncio.TimeoutError:
        log("timed out")
    await asyncio.gather(*tasks)


async def settle(log):
    done = []

    async def worker():
        for _ in range(5):
            await asyncio.sleep(0)
        done.append(1)
    task = asyncio.create_task(worker())
    await asyncio.sleep(0.05)
    log(done)
    await task


async def limiter(log):
    following = 0

    async def worker(number):
        nonlocal following
        now = asyncio.get_running_loop().time()
        at, following = max(now, following), max(now, following) + 0.01
        await asyncio.sleep(at - now)
        log(number)
    await asyncio.gather(*(worker(n) for n in range(6)))


async def pool(log):
    semaphore = asyncio.Semaphore(2)

    async def worker(number):
        async with semaphore:
            log("in", number)
            await asyncio.sleep(0.01)
            log("out", number)
    await asyncio.gather(*(worker(n) for n in range(6)))


async def producer_and_consumers(log):
    queue = asyncio.Queue(2)

    async def produce():
        for item in range(6):
            await queue.put(item)
            log("puts", item)
            if item % 2:
                await asyncio.sleep(0.02)
        for _ in range(2):
            await queue.put(None)

    async def consume(number):
        while True:
            item = await queue.get()
            if item is None:
                return
            log(number, "gets", item)
            await asyncio.sleep(0.004)
    await asyncio.gather(produce(), consume(1), consume(2))


async def shutdown(log):
    stop = asyncio.Event()

    async def worker(number):
        while not stop.is_set():
            await asyncio.sleep(0.05)
            log("ticks", number)
        log("ends", number)
    tasks = [asyncio.create_task(worker(n)) for n in range(4)]
    await asyncio.sleep(0.075)
    stop.set()
    log("stop")
    await asyncio.gather(*tasks)


async def shutdown_by_cancel(log):
    async def worker(number):
        try:
            await asyncio.sleep(9)
        except asyncio.CancelledError:
            log("tidies up", number)
            await asyncio.sleep(0.01)
            log("is tidy", number)
            raise
    tasks = [asyncio.create_task(worker(n)) for n in range(5)]
    await asyncio.sleep(0.01)
    for task in tasks:
        task.cancel()
    log(len(await asyncio.gather(*tasks, return_exceptions=True)))


async def retries(log):
    failures = 0

    async def try_once():
        nonlocal failures
        await asyncio.sleep(0.001)
        failures += 1
        if failures < 4:
            raise OSError
        return failures
    delay = 0.002
    while True:
        try:
            log(await asyncio.wait_for(try_once(), 1))
            return
        except OSError:
            log("failed", failures)
            await asyncio.sleep(delay)
            delay *= 2


async def deadlines(log):
    async def sleep(delay):
        await asyncio.sleep(delay)
        return delay
    for delay in (0.001, 0.5):
        try:
            log(await asyncio.wait_for(sleep(delay), 0.2))
        except asyncio.TimeoutError:
            log("timed out", delay)


async def one_deadline(log):
    async def worker(number):
        try:
            await asyncio.wait_for(asyncio.sleep(9), 0.01)
        except asyncio.TimeoutError:
            log("timed out", number)
    await asyncio.gather(*(worker(n) for n in range(6)))


async def condition(log):
    ready, items = asyncio.Condition(), []

    async def worker(number):
        async with ready:
            await ready.wait_for(lambda: len(items) > number)
            log("woken", number)
    tasks = [asyncio.create_task(worker(n)) for n in range(4)]
    for item in range(4):
        await asyncio.sleep(0.003)
        async with ready:
            items.append(item)
            ready.notify_all()
    await asyncio.gather(*tasks)


async def first_completed(log):
    async def worker(number):
        await asyncio.sleep(0.01)
        return number
    tasks = {asyncio.create_task(worker(n)) for n in range(5)}
    while tasks:
        done, tasks = await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
        log(sorted(task.result() for task in done), len(tasks))


async def sums(log):
    async def thrice():
        for _ in range(3):
            await asyncio.sleep(0.01)
        log("thrice")

    async def once():
        await asyncio.sleep(0.03)
        log("once")
    await asyncio.gather(thrice(), once(), thrice(), once())


async def polls(log):
    seen = []

    async def setter():
        await asyncio.sleep(0.005)
        seen.append(1)
        log("set")
    task = asyncio.create_task(setter())
    while not seen:
        await asyncio.sleep(0.001)
    log("seen")
    await task


async def heartbeats(log):
    async def beat(name):
        for number in range(4):
            log(name, number)
            await asyncio.sleep(0.01)
    await asyncio.gather(*map(beat, ("beat", "work", "third", "fourth")))


async def timers(log):
    loop = asyncio.get_running_loop()
    for number in range(6):
        loop.call_later(0.01, log, "later", number)
    when = loop.time() + 0.01
    for number in range(6):
        loop.call_at(when, log, "at", number)
    loop.call_soon(log, "soon")
    await asyncio.sleep(0.02)


PROGRAMS = {function.__name__: function for function in (
    sleepers, staggered, guard, settle, limiter, pool, producer_and_consumers, shutdown,
    shutdown_by_cancel, retries, deadlines, one_deadline, condition, first_completed, sums, polls,
    heartbeats, timers)}
