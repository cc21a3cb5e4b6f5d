"""How runs of tests in Python end, what is refused, and what is pinned."""
import asyncio
import concurrent.futures
import contextlib
import datetime
import inspect
import json
import os
import queue
import re
import random
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
import uuid
import warnings

from buzzer import hashes
from harness import VARIANT, Checks, be_program, call

warnings.resetwarnings()  # unlike other tests, these want to see what a run leaves behind
sys.unraisablehook = sys.__unraisablehook__
REAL_SOCKET = socket.socket
TESTS = {}
STEP_TIMES_MS = {"spins": "50"}
EXPECTED = {}  # by the name of a test: exit code, and a part of what is printed
PASSES, VIOLATES, REFUSED = 0, 1, 2


def expect(code, *texts):
    def decorate(function):
        TESTS[function.__name__] = function
        EXPECTED[function.__name__] = (code, texts)
        return function
    return decorate


async def tick(delay):
    while True:
        await asyncio.sleep(delay)


# --- how a run ends ---------------------------------------------------------------------------

@expect(PASSES)
async def never_awaits(sim):
    pass


@expect(VIOLATES, "assertion", "ValueError: boom", "in fails_deep")
async def raises(sim):
    async def fails_deep():
        await asyncio.sleep(1)
        raise ValueError("boom")
    await asyncio.gather(fails_deep(), asyncio.sleep(3))


@expect(VIOLATES, "assertion", "worker ended with an exception that nobody retrieved: KeyError")
async def unretrieved(sim):
    async def worker():
        raise KeyError("x")
    task = asyncio.create_task(worker(), name="worker")
    await asyncio.sleep(1)
    del task


@expect(VIOLATES, "assertion", "nobody retrieved: KeyError")
async def unretrieved_alive(sim):
    async def worker():
        raise KeyError("x")
    sim.kept = asyncio.create_task(worker())
    await asyncio.sleep(1)


@expect(PASSES)
async def retrieved(sim):
    async def worker():
        raise KeyError("x")
    task = asyncio.create_task(worker())
    await asyncio.wait([task])
    assert isinstance(task.exception(), KeyError)


@expect(VIOLATES, "leak", "the test has ended, and 2 tasks go on", "ticker (", "in tick")
async def left_behind(sim):
    for _ in range(2):
        asyncio.create_task(tick(1), name="ticker")
    await asyncio.sleep(3)


@expect(VIOLATES, "leak", "the test has ended, and 1 task goes on")
async def spins_behind(sim):
    asyncio.create_task(tick(0))


@expect(PASSES)
async def background(sim):
    sim.background(tick(1))
    sim.background(tick(0))
    await asyncio.sleep(3)


@expect(PASSES)
async def background_waits(sim):
    queue = sim.watch(asyncio.Queue())

    async def serve():
        while True:
            await queue.get()
            queue.task_done()
    sim.background(serve())
    await queue.put(1)
    await queue.join()


@expect(VIOLATES, "deadlock", "worker")
async def deadlock(sim):
    async def worker():
        await asyncio.get_running_loop().create_future()
    await asyncio.create_task(worker(), name="worker")


@expect(PASSES)
async def refused_everywhere(sim):
    """What it is wrong with is an exception where it is called, and no more."""
    condition = sim.watch(asyncio.Condition())
    calls = [lambda: sim.spawn(None, tick), lambda: sim.spawn(None, None), lambda: sim.draw(0),
             lambda: sim.background(tick), lambda: sim.background(3), lambda: sim.draw(-1),
             lambda: sim.draw(2 ** 64 + 1), lambda: sim.draw(None), lambda: sim.draw(3, label=3),
             lambda: sim.watch(None), lambda: sim.watch(asyncio.Lock(), permits=-1),
             lambda: sim.watch(asyncio.Semaphore(), permits=2 ** 70), lambda: condition.notify("x"),
             lambda: sim.watch(object(), kind="barrier", parties=65)]
    for call in calls:
        try:
            call()
        except (TypeError, ValueError, OverflowError, RuntimeError, AttributeError):
            continue
        sim.check(False, call)
    for number in range(3):
        await sim.spawn(None, asyncio.sleep(number), name=number)


@expect(VIOLATES, "assertion", "TypeError: a coroutine was expected, got <function tick> (")
async def forgets_to_call(sim):
    asyncio.create_task(tick)


@expect(VIOLATES, "assertion", "says 3")
async def checks_with_a_number(sim):
    sim.check(False, type("Three", (), {"__str__": lambda self: "says 3"})())


@expect(VIOLATES, "assertion", "Exception in callback", "ZeroDivisionError")
async def callback_fails(sim):
    asyncio.get_running_loop().call_soon(lambda: 1 / 0)
    await asyncio.sleep(1)


@expect(PASSES)
async def closes_generators(sim):
    async def numbers():
        try:
            yield 1
            yield 2
        finally:
            await asyncio.sleep(1)
    async for _ in numbers():
        break
    await asyncio.sleep(random.randrange(3))


CLOSED = []


@expect(VIOLATES, "assertion", "the check", "!was never awaited", "!was destroyed",
        "!ignored GeneratorExit")
async def is_quiet_at_the_end(sim):
    async def stubborn():
        try:
            await asyncio.sleep(9)
        finally:
            CLOSED.append(asyncio.create_task(tick(1)))
            await asyncio.sleep(1)
    asyncio.create_task(stubborn())
    asyncio.create_task(stubborn())
    await asyncio.sleep(0)
    asyncio.create_task(stubborn())
    sim.check(False, "the check")


@expect(PASSES)
async def tasks_are_tasks(sim):
    task = asyncio.create_task(asyncio.sleep(1), name="named")
    assert task in asyncio.all_tasks() and asyncio.current_task() in asyncio.all_tasks()
    assert isinstance(task, asyncio.Task) and task.get_name() == "named"
    await task
    assert task not in asyncio.all_tasks()


# --- bad input --------------------------------------------------------------------------------

@expect(REFUSED, "must be an 'async def'")
def no_coroutine(sim):
    pass


@expect(REFUSED, "cannot be called with the simulation as its only argument")
async def no_argument():
    pass


def calls(name, code, text, call):
    """A test that makes one call, and says where."""
    async def test(sim):
        await asyncio.sleep(0)
        result = call()
        if inspect.isawaitable(result):
            await result
    test.__name__ = name
    expect(code, text, "in <lambda>)")(test)


for row in (
        ("sleeps_in_thread", REFUSED, "time.sleep()",
         lambda: asyncio.to_thread(lambda: time.sleep(1))),
        ("starts_thread", REFUSED, "a thread", lambda: threading.Thread(target=print).start()),
        ("waits_for_thread", REFUSED, "only another thread could end",
         lambda: concurrent.futures.ThreadPoolExecutor().submit(print).result()),
        ("waits_in_thread", REFUSED, "only another thread could end",
         lambda: asyncio.to_thread(lambda: threading.Event().wait())),
        ("waits_for_lock", REFUSED, "only another thread could end",
         lambda: (lock := threading.Lock()).acquire() and lock.acquire()),
        ("waits_for_item", REFUSED, "only another thread could end",
         lambda: queue.Queue().get(timeout=1)),
        ("blocks_in_socket", REFUSED, "a call of a socket that blocks",
         lambda: socket.socket().connect(("localhost", 9))),
        ("opens_real_socket", REFUSED, "a socket", lambda: REAL_SOCKET()),
        ("reads_input", REFUSED, "a descriptor of the system",
         lambda: asyncio.get_running_loop().add_reader(0, print)),
        ("forks", REFUSED, "one process", lambda: os.fork()),
        ("starts_process", REFUSED, "another process", lambda: subprocess.run(["true"])),
        ("makes_slow_task", REFUSED, "use asyncio.create_task()",
         lambda: asyncio.tasks._PyTask(tick(1))),
        ("exits", VIOLATES, "would end the program: SystemExit: 3", lambda: sys.exit(3))):
    calls(*row)


@expect(PASSES)
async def takes_free_locks(sim):
    outer, inner = threading.RLock(), threading.Lock()
    with outer, outer, inner:
        assert not inner.acquire(blocking=False)
    assert inner.acquire(timeout=1)


@expect(REFUSED, "use a ThreadPoolExecutor", "in needs_processes)")
async def needs_processes(sim):
    with contextlib.suppress(RuntimeError):
        pool = concurrent.futures.ProcessPoolExecutor(1)
        await asyncio.get_running_loop().run_in_executor(pool, print)


@expect(REFUSED, "a connection by libpq", "in connects_by_libpq)")
async def connects_by_libpq(sim):
    sys.modules["psycopg2"]._connect("host=db")


sys.modules["psycopg2"] = type("psycopg2", (), {"_connect": print})


@expect(VIOLATES, "assertion", "ConnectionRefusedError", "in opens_connection)")
async def opens_connection(sim):
    await asyncio.open_connection("localhost", 9)


@expect(REFUSED, "the network in memory has none", "in opens_tls)")
async def opens_tls(sim):
    await asyncio.start_server(print, "localhost", 443)
    await asyncio.open_connection("localhost", 443, ssl=True)


@expect(VIOLATES, "asyncio.run() cannot be called from a running event loop", "in runs_again)")
async def runs_again(sim):
    coro = tick(1)
    try:
        asyncio.run(coro)
    finally:
        coro.close()


@expect(VIOLATES, "assertion", "would end the program: KeyboardInterrupt")
async def interrupts(sim):
    await asyncio.create_task(asyncio.sleep(0))
    raise KeyboardInterrupt


@expect(VIOLATES, "exit", "the process ended with status 3, at ", "in ends_process")
async def ends_process(sim):
    os._exit(3)


@expect(VIOLATES, "assertion", "RecursionError", "in recurses)")
async def recurses(sim):
    def recurses(depth):
        recurses(depth + 1)
    recurses(0)


@expect(VIOLATES, "hang", "of CPU time, at ", "in spins")
async def spins(sim):
    await asyncio.sleep(0)
    while True:
        pass


# --- what is pinned ---------------------------------------------------------------------------

@expect(PASSES)
async def numbers_of_processes(sim):
    """They are the same in every process, and signals still find the way."""
    got = []
    before = signal.signal(signal.SIGUSR1, lambda number, frame: got.append(number))
    os.kill(os.getpid(), signal.SIGUSR1)
    signal.signal(signal.SIGUSR1, before)
    sim.check(got == [signal.SIGUSR1], "the process gets its own signal")
    sim.check((os.getpid(), os.getppid(), threading.get_native_id()) ==
              (4194304, 4194305, 4194304), "they are pinned")
    try:
        os.kill(4194306, 0)
    except ProcessLookupError:
        pass


def check_clock(now_s):
    assert time.time() == 1_000_000_000 + now_s and time.monotonic() == now_s
    assert time.time_ns() == (1_000_000_000 + now_s) * 10**9
    assert time.perf_counter_ns() == time.monotonic_ns() == now_s * 10**9
    assert time.process_time_ns() == round(time.thread_time() * 1e9) < 10**8  # sleeps take none
    assert datetime.datetime.now(datetime.timezone.utc).timestamp() == 1_000_000_000 + now_s
    assert datetime.datetime.now(tz=datetime.timezone.utc).second == 40 + now_s
    assert datetime.date.today().year == 2001 and time.gmtime().tm_year == 2001
    assert time.clock_gettime(time.CLOCK_REALTIME) == 1_000_000_000 + now_s
    assert time.clock_gettime_ns(time.CLOCK_MONOTONIC) == now_s * 10**9
    assert time.clock_gettime_ns(time.CLOCK_PROCESS_CPUTIME_ID) < 10**8
    assert time.localtime(None) == time.localtime() == time.localtime(1_000_000_000 + now_s)
    assert time.strftime("%Y %S") == f"2001 {40 + now_s}"
    assert time.strftime("%Y", time.gmtime(0)) == "1970" and time.gmtime(0).tm_year == 1970
    assert time.ctime() == time.asctime() == time.ctime(None) == time.ctime(time.time())


@expect(PASSES)
async def clocks(sim):
    check_clock(0)
    await asyncio.sleep(5)
    check_clock(5)


async def numbers_of(sim):
    drawn = [random.random(), random.randrange(1000), random.Random().random(), uuid.uuid4().int,
             os.urandom(11), random.SystemRandom().random(), random.choice("abc")]
    for _ in range(random.randrange(5)):
        await asyncio.sleep(0)
    for _ in range(uuid.uuid4().int % 7):
        await asyncio.sleep(0)
    return drawn


@expect(PASSES)
async def draws(sim):
    await numbers_of(sim)


async def group_of_tasks():
    """It cancels in the order of creation."""
    order = []

    class Noted(asyncio.Future):
        def cancel(self, msg=None):
            order.append(self.number)
            return super().cancel(msg)

    async def child(number):
        future = Noted()
        future.number = number
        await future
    try:
        async with asyncio.TaskGroup() as group:
            for number in range(12):
                group.create_task(child(number))
            await asyncio.sleep(1)
            raise ZeroDivisionError
    except BaseException as error:
        assert [type(each) for each in error.exceptions] == [ZeroDivisionError]
    assert sorted(order) == list(range(12)), order


@expect(PASSES)
async def sets_of_tasks(sim):
    """Of tasks and coroutines, which asyncio makes. The order in which a group cancels is drawn."""
    tasks = {asyncio.create_task(asyncio.sleep(number)) for number in range(9)}
    assert [task.number for task in tasks] == sorted(task.number for task in tasks)
    order = []

    async def note(number):
        order.append(number)
    for each in asyncio.as_completed([note(number) for number in range(9)]):
        await each
    done, _ = await asyncio.wait(tasks)
    assert [task.number for task in done] == sorted(task.number for task in done)
    sim.check(len(order) == 9, "all ran")
    if hasattr(asyncio, "TaskGroup"):
        await group_of_tasks()
    for _ in range(order[0]):
        await asyncio.sleep(0)


@expect(PASSES)
async def temporary(sim):
    """The names of folders come from a generator that the first use makes."""
    with tempfile.TemporaryDirectory() as folder:
        await asyncio.sleep(0)
        sim.check(os.path.isdir(folder), "the folder is there")


# --- tests for more than one campaign ---------------------------------------------------------

async def texts(sim):
    for text in {"alpha", "beta", "gamma", "delta", "epsilon"}:
        for _ in range(len(text) * (text > "b")):
            await asyncio.sleep(0)
        if text == "gamma":
            return


async def addresses(sim):
    for _ in range(id(bytearray(40)) // 16 % 9):
        await asyncio.sleep(0)


async def endless(sim):
    for _ in range(50):
        await asyncio.sleep(0)


COUNT = [0]


async def counts(sim):
    COUNT[0] += 1
    if COUNT[0] % 100 == 0:
        await asyncio.sleep(0)


# --- the checks -------------------------------------------------------------------------------

def words(test, *options):
    return (test, "run", test.__name__, "--variant", VARIANT, "--cancel", "none", *options)


def run(test, *options):
    """The exit status of a campaign, and its output in one line."""
    status, output = call(*words(test, *options), with_errors=True)
    return status, " ".join(output.split())


def check_passing():
    """All that pass, without a traceback."""
    checks = Checks()
    with tempfile.TemporaryFile("w+") as errors:
        kept = os.dup(2)
        os.dup2(errors.fileno(), 2)
        checks.all_silent([TESTS[name] for name, (code, _) in EXPECTED.items() if code == PASSES],
                          "--order", "fifo", "--cancel", "none", runs=5)
        os.dup2(kept, 2)
        errors.seek(0)
        text = errors.read()
    assert not checks.failed and "Traceback" not in text, text


def check_expected():
    for name, (code, texts) in EXPECTED.items():
        if code == PASSES:
            assert not texts
            continue
        got, output = run(TESTS[name], "--runs", "5", "--no-shrink", "--json", "--order", "fifo",
                          "--step-time", STEP_TIMES_MS.get(name, "1000"))
        assert got == code, f"{name} exits {got}, not {code}: {output}"
        for text in (*texts, "!Traceback"):
            is_there = text.lstrip("!") in output
            assert is_there != text.startswith("!"), f"{name}: {text!r}? {output}"


def command(test, *options):
    """A process of its own for the campaign."""
    return [sys.executable, __file__, test.__name__, *options]


def check_processes():
    """Three processes make the same runs, whatever they have as addresses and as hashes."""
    free = {name: value for name, value in os.environ.items() if name != "PYTHONHASHSEED"}
    said = {subprocess.run([sys.executable, __file__, "digests"], stdout=subprocess.PIPE, env=free,
                           stderr=subprocess.DEVNULL, timeout=100, check=True).stdout
            for _ in range(3)}
    assert len(said) == 1 and len(said.pop().split()) == 3, said


def print_digests():
    for test in (draws, sets_of_tasks, texts):
        print(json.loads(call(*words(test, "--runs", "60", "--json"))[1])["digest"])


def check_nondeterminism():
    code, output = run(addresses, "--runs", "60", "--no-shrink", "--json")
    assert code == 1 and "two runs of this seed differ at step" in output, output
    assert "the order of a set of objects" in output, output
    code, output = run(counts, "--runs", "90", "--check-determinism", "--no-shrink")
    assert code == 1 and "nondeterminism" in output, output
    assert re.search(r"differ at step \d+, task \w+ \((suspended before )?at \S+\.py:\d+\): '",
                     output), output


def check_interrupt():
    with tempfile.TemporaryDirectory() as folder:
        child = subprocess.Popen(command(endless, "--runs", "100000000", "--out", folder),
                                 stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        while not os.path.exists(f"{folder}/campaign.checkpoint") and child.poll() is None:
            time.sleep(0.05)
        child.send_signal(signal.SIGINT)
        output, errors = child.communicate(timeout=60)
    assert child.returncode == 5, f"{child.returncode}: {output} {errors}"
    assert "Traceback" not in errors, errors


def main():
    if len(sys.argv) > 1:
        hashes.pin()
        if sys.argv[1] == "digests":
            return print_digests()
        return be_program(*words(globals()[sys.argv[1]], *sys.argv[2:]))
    check_passing()
    check_expected()
    check_processes()
    check_nondeterminism()
    check_interrupt()
    return 0


if __name__ == "__main__":
    sys.exit(main())
