"""Thirty correct programs with timers, as people write them. Whatever the order, no run may accuse
one: a timeout far away, a pause that is long enough, a limit of a rate."""
import asyncio
import random

CORRECT = []


def correct(function):
    CORRECT.append(function)
    return function


async def idle(count):
    for _ in range(count):
        await asyncio.sleep(0)


async def use(lock, turns):
    async with lock:
        await idle(turns)


# --- guards: a timeout that no healthy program comes to ------------------------------------------

@correct
async def guard_of_a_lock(sim):
    lock = sim.watch(asyncio.Lock())
    tasks = [sim.spawn(None, use(lock, 3)) for _ in range(3)]
    await asyncio.sleep(0)
    await asyncio.wait_for(use(lock, 1), 30)
    await asyncio.wait(tasks)


@correct
async def guard_of_a_semaphore(sim):
    semaphore = sim.watch(asyncio.BoundedSemaphore(2))
    tasks = [sim.spawn(None, use(semaphore, 2)) for _ in range(5)]
    await asyncio.wait_for(asyncio.wait(tasks), 30)


@correct
async def guard_of_an_event(sim):
    event = sim.watch(asyncio.Event())

    async def opener():
        await idle(4)
        event.set()
    task = asyncio.create_task(opener())
    await asyncio.wait_for(event.wait(), 1)
    await task


@correct
async def guard_of_a_queue(sim):
    queue = sim.watch(asyncio.Queue(1))

    async def produce():
        for item in range(4):
            await asyncio.wait_for(queue.put(item), 5)
    task = asyncio.create_task(produce())
    for item in range(4):
        await idle(1)
        sim.check(await asyncio.wait_for(queue.get(), 5) == item, "items in their order")
    await task


@correct
async def guard_of_a_task(sim):
    """The situation of anyio's issue 398: who waits behind a cancelled owner gets the lock."""
    for make in (asyncio.Lock, lambda: asyncio.Semaphore(1)):
        primitive = make()
        first, second = (asyncio.create_task(use(primitive, 1)) for _ in range(2))
        await asyncio.sleep(0)
        first.cancel()
        await asyncio.wait_for(second, 1)


@correct
async def guard_of_a_wait(sim):
    tasks = [sim.spawn(None, idle(number)) for number in range(4)]
    done, pending = await asyncio.wait(tasks, timeout=10)
    sim.check(not pending and len(done) == 4, "all have ended in time")


@correct
async def guard_of_completions(sim):
    seen = []

    async def child(number):
        await idle(number)
        return number
    for one in asyncio.as_completed([child(number) for number in range(4)], timeout=20):
        seen.append(await one)
    sim.check(sorted(seen) == [0, 1, 2, 3], "each of them once")


@correct
async def guards_within_guards(sim):
    lock = asyncio.Lock()

    async def inner():
        await asyncio.wait_for(use(lock, 2), 10)
    await asyncio.wait_for(asyncio.gather(*(inner() for _ in range(4))), 60)


@correct
async def guard_of_a_condition(sim):
    condition, items = sim.watch(asyncio.Condition()), []

    async def consume():
        async with condition:
            await condition.wait_for(lambda: items)
            items.pop()
    tasks = [asyncio.create_task(consume()) for _ in range(3)]
    for _ in range(3):
        async with condition:
            items.append(1)
            condition.notify()
        await asyncio.sleep(0)
    await asyncio.wait_for(asyncio.gather(*tasks), 15)


# --- settles: after a pause all is quiet ---------------------------------------------------------

@correct
async def settle_of_tasks(sim):
    ended = []

    async def child(number):
        await idle(number)
        ended.append(number)
    tasks = [asyncio.create_task(child(number)) for number in range(4)]
    await asyncio.sleep(1)
    sim.check(len(ended) == 4 and all(task.done() for task in tasks), "quiet after a second")


@correct
async def settle_of_callbacks(sim):
    loop, called = asyncio.get_running_loop(), []

    def again(left):
        called.append(left)
        if left > 0:
            loop.call_soon(again, left - 1)
    again(5)
    await asyncio.sleep(0.5)
    sim.check(len(called) == 6, "every callback has run")


@correct
async def settle_of_a_cancel(sim):
    async def child():
        try:
            await asyncio.sleep(60)
        finally:
            await idle(3)
    task = asyncio.create_task(child())
    await asyncio.sleep(0)
    await asyncio.sleep(0)
    task.cancel()
    await asyncio.sleep(1)
    sim.check(task.done(), "tidy after a second")


@correct
async def settle_of_a_queue(sim):
    queue, seen = asyncio.Queue(), []

    async def consume():
        while True:
            seen.append(await queue.get())
    task = asyncio.create_task(consume())
    for item in range(5):
        queue.put_nowait(item)
    await asyncio.sleep(2)
    sim.check(seen == [0, 1, 2, 3, 4], "all items are gone")
    task.cancel()
    await asyncio.wait([task])


@correct
async def settle_between_steps(sim):
    state = []

    async def follow(number):
        await idle(2)
        state.append(number)
    tasks = []
    for number in range(4):
        tasks.append(asyncio.create_task(follow(number)))
        await asyncio.sleep(1)
        sim.check(len(state) == number + 1, "one a second")
    await asyncio.wait(tasks)


@correct
async def later_than_work(sim):
    loop, seen = asyncio.get_running_loop(), []
    late = loop.create_future()
    loop.call_later(5, lambda: late.set_result(list(seen)))

    async def work():
        for number in range(4):
            await asyncio.sleep(0)
            seen.append(number)
    task = asyncio.create_task(work())
    sim.check(await late == [0, 1, 2, 3], "the work was done five seconds ago")
    await task


# --- limiters ------------------------------------------------------------------------------------

@correct
async def limiter_by_a_lock(sim):
    loop, lock, times = asyncio.get_running_loop(), asyncio.Lock(), []

    async def call():
        async with lock:
            if times:
                await asyncio.sleep(max(0, times[-1] + 1 - loop.time()))
            times.append(loop.time())
    await asyncio.gather(*(call() for _ in range(4)))
    sim.check(all(later - former >= 1 - 1e-6 for former, later in zip(times, times[1:])),
              "one call a second")


@correct
async def limiter_of_a_window(sim):
    loop, lock, times = asyncio.get_running_loop(), asyncio.Lock(), []

    async def call():
        async with lock:
            while len([one for one in times if one > loop.time() - 10]) >= 2:
                await asyncio.sleep(times[-2] + 10 - loop.time() + 1e-6)
            times.append(loop.time())
    await asyncio.gather(*(call() for _ in range(5)))
    sim.check(all(third - first >= 10 for first, third in zip(times, times[2:])), "two in ten")


@correct
async def bucket(sim):
    """It is full at first, and gets one token a second."""
    tokens, taken = asyncio.Semaphore(2), []

    async def fill():
        while True:
            await asyncio.sleep(1)
            tokens.release()

    async def call():
        await tokens.acquire()
        taken.append(sim.now_ns)
    filler = asyncio.create_task(fill())
    await asyncio.gather(*(call() for _ in range(5)))
    filler.cancel()
    await asyncio.wait([filler])
    sim.check(max(taken) >= 3_000_000_000, "three had to wait for a token")


@correct
async def throttle(sim):
    """The first call goes through, and those within a second after it are dropped."""
    loop, passed = asyncio.get_running_loop(), []

    def call():
        if not passed or loop.time() - passed[-1] >= 1:
            passed.append(loop.time())

    async def caller():
        for _ in range(3):
            call()
            await asyncio.sleep(0)
    await asyncio.gather(*(caller() for _ in range(3)))
    sim.check(len(passed) == 1, "one call within a second")


@correct
async def debounce(sim):
    """The last of several calls counts, once it was quiet for a second."""
    loop, heard, timer = asyncio.get_running_loop(), [], None

    def call(number):
        nonlocal timer
        if timer is not None:
            timer.cancel()
        timer = loop.call_later(1, heard.append, number)
    for number in range(5):
        call(number)
        await asyncio.sleep(0)
    await asyncio.sleep(3)
    sim.check(heard == [4], "the last one alone")


# --- pools ---------------------------------------------------------------------------------------

@correct
async def pool_of_connections(sim):
    free, inside = sim.watch(asyncio.Semaphore(2), name="pool"), 0

    async def client():
        nonlocal inside
        async with free:
            inside += 1
            sim.check(inside <= 2, "two connections")
            try:
                await asyncio.sleep(0.01)
            finally:
                inside -= 1
    tasks = [sim.spawn(None, client()) for _ in range(5)]
    await asyncio.wait(tasks, timeout=60)
    sim.check(all(task.done() for task in tasks), "each was served within a minute")


@correct
async def pool_with_timeouts(sim):
    free, served = asyncio.Queue(), []
    for connection in range(2):
        free.put_nowait(connection)

    async def client(number):
        connection = await asyncio.wait_for(free.get(), 20)
        await idle(2)
        served.append(number)
        free.put_nowait(connection)
    await asyncio.gather(*(client(number) for number in range(6)))
    sim.check(len(served) == 6, "nobody waited for twenty seconds")


@correct
async def pool_of_workers(sim):
    jobs, results = sim.watch(asyncio.Queue()), []

    async def worker():
        while True:
            job = await jobs.get()
            await asyncio.sleep(0.001)
            results.append(job)
            jobs.task_done()
    workers = [asyncio.create_task(worker()) for _ in range(3)]
    for job in range(7):
        jobs.put_nowait(job)
    await asyncio.wait_for(jobs.join(), 30)
    for task in workers:
        task.cancel()
    await asyncio.wait(workers)
    sim.check(sorted(results) == list(range(7)), "each job once")


@correct
async def cache_with_an_age(sim):
    """Within ten seconds one value is fetched once."""
    loop, lock, fetched = asyncio.get_running_loop(), asyncio.Lock(), []

    async def get():
        async with lock:
            if not fetched or loop.time() - fetched[-1] > 10:
                await asyncio.sleep(0.002)
                fetched.append(loop.time())
    await asyncio.gather(*(get() for _ in range(5)))
    sim.check(len(fetched) == 1, "one fetch")


# --- graceful shutdown ---------------------------------------------------------------------------

@correct
async def shutdown_with_a_deadline(sim):
    async def serve():
        try:
            await asyncio.sleep(600)
        except asyncio.CancelledError:
            await idle(3)
            raise
    tasks = [asyncio.create_task(serve()) for _ in range(3)]
    await asyncio.sleep(0.01)
    for task in tasks:
        task.cancel()
    done, pending = await asyncio.wait(tasks, timeout=5)
    sim.check(not pending and all(task.cancelled() for task in done), "all left in time")


@correct
async def shutdown_by_an_event(sim):
    stop = sim.watch(asyncio.Event())

    async def serve():
        while not stop.is_set():
            await asyncio.wait([asyncio.ensure_future(asyncio.sleep(0.05))])
    tasks = [asyncio.create_task(serve()) for _ in range(3)]
    await asyncio.sleep(0.12)
    stop.set()
    await asyncio.wait_for(asyncio.gather(*tasks), 10)


@correct
async def drain(sim):
    """What is under way ends; then the server goes."""
    active, quiet = set(), asyncio.Event()

    async def request(number):
        await idle(number)
        active.discard(number)
        if not active:
            quiet.set()
    active.update(range(1, 5))
    tasks = [asyncio.create_task(request(number)) for number in range(1, 5)]
    await asyncio.wait_for(quiet.wait(), 30)
    sim.check(not active, "nothing is under way")
    await asyncio.wait(tasks)


# --- retries -------------------------------------------------------------------------------------

@correct
async def retries_with_backoff(sim):
    failures, delay = 0, 1

    async def attempt():
        nonlocal failures
        await idle(2)
        failures += 1
        if failures < 4:
            raise OSError("not yet")
        return "ok"
    while True:
        try:
            result = await asyncio.wait_for(attempt(), 10)
            break
        except OSError:
            await asyncio.sleep(delay)
            delay *= 2
    sim.check(result == "ok" and failures == 4, "the fourth attempt")


@correct
async def retries_with_jitter(sim):
    async def attempt(number):
        for delay in (0.5, 1, 2):
            await idle(1)
            if delay == 2:
                return number
            await asyncio.sleep(delay * random.uniform(1, 1.5))
    results = await asyncio.wait_for(asyncio.gather(*(attempt(n) for n in range(3))), 30)
    sim.check(results == [0, 1, 2], "all came through")


@correct
async def breaker(sim):
    """After two failures nothing is tried for thirty seconds."""
    loop, failed, tried = asyncio.get_running_loop(), [], 0

    async def call():
        nonlocal tried
        if len(failed) >= 2 and loop.time() - failed[-1] < 30:
            return "open"
        tried += 1
        failed.append(loop.time())
        return "failed"
    answers = []
    for _ in range(6):
        answers.append(await call())
        await asyncio.sleep(0)
    sim.check(answers == ["failed"] * 2 + ["open"] * 4 and tried == 2, "it stays open")
    await asyncio.sleep(31)
    sim.check(await call() == "failed", "and is closed again")
