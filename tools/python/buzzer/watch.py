"""Watched primitives: the real ones, whose calls the judge is told of.

The methods of the one instance are wrapped, so it stays the object that the rest of the program
knows: `async with` works, and so does a condition on a watched lock. A timeout scope gets a
subclass of its class, as `async with` looks there.

Claims are what the judge holds a primitive to, besides what always holds: no more holders than
permits, no lost wake-up, items delivered once. The claims of asyncio's own are what CPython
promises, by version; an open fault that hurts no correct program is not claimed.
"""
import asyncio
import enum
import math
import sys

from buzzer import _native

OK, CANCELLED, FAILED, NOT_HELD, INVALID_STATE = 0, 1, 3, 4, 5
TIMED_OUT, BROKEN, CLOSED, EMPTY, FULL = 2, 8, 9, 10, 11
NEVER_NS = (1 << 53) - 1
SIZE_END = 1 << 31  # the judge counts no further


class Claim(enum.IntFlag):
    """What a primitive promises (sim/variant/claims.h)."""
    FIFO = 0x1              # grants in order of arrival
    LOCKED_EXACT = 0x2      # locked() is true exactly if an acquire would wait
    REFUSES_MISUSE = 0x4    # such as a release of what no task holds
    WAKE_IS_GRANT = 0x8     # a woken waiter gets what it was woken for
    WORK_CONSERVING = 0x10  # no waiter sleeps next to a free permit
    TAKES_AT_RETURN = 0x20  # queue: an item is in it from the return of put to the return of get
    EXACT_NOTIFY = 0x40     # condition: no spurious wake-ups
    NO_PASSING = 0x80       # newcomers queue behind a woken waiter
    UNORDERED_ITEMS = 0x100  # a waiver: items come out in any order
    MAY_FAIL = 0x200         # a waiver: an operation may end with an exception of its own
    OWN_DEADLINES = 0x400    # a waiver: an operation may cancel its own task at a deadline
    UNORDERED_TIES = 0x800   # a waiver: items of equal priority come out in any order
    UNAIDED = 0x1000         # no task, callback or timer of its own wakes a waiter


STOCK = Claim.MAY_FAIL | Claim.UNAIDED
PERMITS = STOCK | Claim.FIFO | Claim.REFUSES_MISUSE | Claim.WAKE_IS_GRANT
SEMAPHORE = STOCK | Claim.REFUSES_MISUSE
if sys.version_info >= (3, 10, 8):
    # gh-97028; before gh-90155, a woken waiter gets a permit only if it is the first to resume
    SEMAPHORE |= PERMITS | Claim.LOCKED_EXACT | Claim.NO_PASSING
if sys.version_info >= (3, 13):
    SEMAPHORE |= Claim.WORK_CONSERVING  # gh-111693
WAITS = PERMITS
QUEUE = STOCK | Claim.REFUSES_MISUSE | Claim.TAKES_AT_RETURN
OWN = Claim.MAY_FAIL | Claim.OWN_DEADLINES  # of primitives that are not asyncio's

# kind: the classes of asyncio, and what they claim. locked() of a lock is not exact (gh-138121), a
# queue is not fair (gh-83055), and neither is a barrier to those that it holds back.
KINDS = {
    "bounded": ((asyncio.BoundedSemaphore,), SEMAPHORE),
    "semaphore": ((asyncio.Semaphore,), SEMAPHORE),
    "lock": ((asyncio.Lock,), PERMITS),
    "event": ((asyncio.Event,), WAITS),
    "condition": ((asyncio.Condition,), WAITS),
    "queue": ((asyncio.Queue,), QUEUE),
    "barrier": ((asyncio.Barrier,) if hasattr(asyncio, "Barrier") else (), STOCK),
    "timeout": ((asyncio.Timeout,) if hasattr(asyncio, "Timeout") else (), Claim(0)),
}
ORDERS = {"fifo": 0, "lifo": 1, "priority": 2}


def status_of(exception):
    return CANCELLED if isinstance(exception, asyncio.CancelledError) else FAILED


def queue_status(exception):
    for name, status in (("QueueEmpty", EMPTY), ("QueueFull", FULL), ("QueueShutDown", CLOSED)):
        if isinstance(exception, getattr(asyncio, name, ())):
            return status
    return status_of(exception)


def rewrap(primitive, **methods):
    """Replaces methods of the instance; those that it does not have are left out."""
    for name, method in methods.items():
        if hasattr(primitive, name):
            try:
                before = vars(primitive).get(name)
                setattr(primitive, name, method)
            except (AttributeError, TypeError):
                raise TypeError(f"{type(primitive).__name__}.{name} cannot be replaced in an "
                                "instance (has the class __slots__?)") from None
            vars(primitive).setdefault("_buzzer_before", []).append((name, before))


def restore(primitive):
    """Takes the wrapped methods away: a primitive may outlive a run."""
    for name, before in reversed(vars(primitive).pop("_buzzer_before", [])):
        if before is None:
            delattr(primitive, name)
        else:
            setattr(primitive, name, before)


def refuse(condition, text):
    if condition:
        raise ValueError(f"watch it before it is used: {text}")


# --- permits -----------------------------------------------------------------------------------


# Methods without arguments.
_PLAIN = {getattr(kind, name) for name in ("acquire", "release")
          for kind in (asyncio.Lock, asyncio.Semaphore, asyncio.BoundedSemaphore)}


def watch_acquire(judged, primitive):
    """acquire() and release(), of permits or of the lock of a condition."""
    acquire, release = primitive.acquire, primitive.release
    at_once = getattr(primitive, "acquire_nowait", None)
    if asyncio.iscoroutinefunction(release):
        raise TypeError("release() is a coroutine function: when it takes effect is unknown")
    cls = type(primitive)
    if {getattr(cls, "acquire", None), getattr(cls, "release", None)} <= _PLAIN:
        rewrap(primitive, acquire=judged.wrap_acquire(acquire),
               release=judged.wrap_release(release))
        return

    async def watched_acquire(*args, **kwargs):
        if not judged.acquires():
            return await acquire(*args, **kwargs)
        try:
            result = await acquire(*args, **kwargs)
        except BaseException as exception:
            judged.acquired(status_of(exception))
            raise
        judged.acquired(FAILED if result is False else OK)
        return result

    def watched_acquire_nowait(*args, **kwargs):
        if not judged.acquires():
            return at_once(*args, **kwargs)
        try:
            result = at_once(*args, **kwargs)
        except BaseException:
            judged.acquired(FAILED)
            raise
        judged.acquired(FAILED if result is False else OK)
        return result

    def watched_release(*args, **kwargs):
        if not judged.releases():
            return release(*args, **kwargs)
        try:
            result = release(*args, **kwargs)
        except (RuntimeError, ValueError):
            judged.released(NOT_HELD)
            raise
        except BaseException:
            judged.released(FAILED)
            raise
        judged.released(OK)
        return result

    rewrap(primitive, acquire=watched_acquire, acquire_nowait=watched_acquire_nowait,
           release=watched_release)


def watch_permits(make, primitive, kind, *, permits=None):
    if isinstance(primitive, (asyncio.Lock, asyncio.Semaphore)):
        refuse(primitive._waiters, "tasks wait for it")
        refuse(kind == "lock" and primitive.locked(), "it is locked")
    if permits is None:
        permits = 1 if kind == "lock" else getattr(primitive, "_value", None)
    if not isinstance(permits, int) or permits < 0:
        raise TypeError("how many permits has it? Tell watch(), permits=")
    judged = make(size=permits, is_checked=type(primitive) in (
        asyncio.Lock, asyncio.Semaphore, asyncio.BoundedSemaphore))
    watch_acquire(judged, primitive)
    return judged


# --- event, condition --------------------------------------------------------------------------


def watch_event(make, primitive, kind):
    judged = make()
    wait, set_it, clear = primitive.wait, primitive.set, getattr(primitive, "clear", None)

    async def watched_wait(*args, **kwargs):
        if not judged.waits():
            return await wait(*args, **kwargs)
        try:
            result = await wait(*args, **kwargs)
        except BaseException as exception:
            judged.waited(status_of(exception))
            raise
        judged.waited(OK)
        return result

    def watched_set(*args, **kwargs):
        if not judged.sets():
            return set_it(*args, **kwargs)
        try:
            return set_it(*args, **kwargs)
        finally:
            judged.set(OK)

    def watched_clear(*args, **kwargs):
        judged.clears()
        return clear(*args, **kwargs)

    if primitive.is_set():
        judged.sets()
        judged.set(OK)
    rewrap(primitive, wait=watched_wait, set=watched_set, clear=watched_clear)
    return judged


def watch_condition(make, primitive, kind, *, loop, name):
    lock = getattr(primitive, "_lock", None)
    known = loop._watched(lock)
    refuse(known is None and primitive.locked(), "its lock is held")
    refuse(getattr(primitive, "_waiters", None), "tasks wait for it")
    judged = make(other_name=f"lock of {name}", lock=known)
    wait, notify, locked = primitive.wait, primitive.notify, primitive.locked

    async def watched_wait(*args, **kwargs):
        if judged.holders() == 0:
            return await misused_wait(*args, **kwargs)
        if not judged.condition_waits():
            return await wait(*args, **kwargs)
        try:
            result = await wait(*args, **kwargs)
        except BaseException as exception:
            judged.condition_waited(locked(), status_of(exception))
            raise
        judged.condition_waited(locked(), OK)
        return result

    async def misused_wait(*args, **kwargs):
        if not judged.condition_misuses():
            return await wait(*args, **kwargs)
        try:
            result = await wait(*args, **kwargs)
        except RuntimeError:
            judged.condition_misused(NOT_HELD)
            raise
        except BaseException as exception:
            judged.condition_misused(status_of(exception))
            raise
        judged.condition_misused(OK)
        return result

    def watched(call, count):
        if not judged.notifies(count):
            return call()
        try:
            result = call()
        except BaseException as exception:
            judged.notified(NOT_HELD if isinstance(exception, RuntimeError) else FAILED)
            raise
        judged.notified(OK)
        return result

    def watched_notify(n=1):
        try:
            count = math.ceil(max(0, min(n, SIZE_END)))
        except (TypeError, ValueError):  # asyncio says so itself
            return notify(n)
        return watched(lambda: notify(n), count)

    if hasattr(primitive, "notify_all"):
        notify_all = primitive.notify_all
        rewrap(primitive, notify_all=lambda: watched(notify_all, -1))
    rewrap(primitive, wait=watched_wait, notify=watched_notify)
    if known is None:
        watch_acquire(judged, primitive if lock is None else lock)
        if lock is not None:
            loop._watch(lock, judged)
    if lock is not None and "acquire" in vars(primitive):  # asyncio's: a copy of the lock's
        rewrap(primitive, acquire=lock.acquire, release=lock.release)
    return judged


# --- barrier -----------------------------------------------------------------------------------


def watch_barrier(make, primitive, kind, *, parties=None):
    if parties is None:
        parties = primitive.parties
    refuse(getattr(primitive, "n_waiting", 0), "tasks wait at it")
    judged = make(size=parties)
    wait = primitive.wait
    broken = getattr(asyncio, "BrokenBarrierError", ())

    async def watched_wait(*args, **kwargs):
        told = judged.barrier_waits()
        if told is None:
            return await wait(*args, **kwargs)
        try:
            index = await wait(*args, **kwargs)
        except BaseException as exception:
            status = BROKEN if isinstance(exception, broken) else status_of(exception)
            judged.barrier_waited(told, 0, status)
            raise
        judged.barrier_waited(told, index, OK)
        return index

    rewrap(primitive, wait=watched_wait)
    for name, tell in (("abort", judged.aborts), ("reset", judged.resets)):
        if hasattr(primitive, name):
            # They take effect in the step in which they return.
            rewrap(primitive, **{name: watched_break(getattr(primitive, name), tell)})
    return judged


def watched_break(call, tell):
    async def watched():
        result = await call()
        tell()
        return result
    return watched


# --- queue -------------------------------------------------------------------------------------


class Ledger:
    """Which item of the judge's an object is: the judge numbers the puts."""

    def __init__(self, order):
        self.order = order
        self.items = {}   # id: the object, which lives as long as its number
        self.inside = {}  # id: numbers, in the order in which their puts returned
        self.coming = {}  # id: numbers whose put has not returned

    def begins(self, item, value):
        self.items[id(item)] = item
        self.coming.setdefault(id(item), []).append(value)

    def ends(self, item, value, is_in):
        coming = self.coming.get(id(item), [])
        if value in coming:  # else a getter has it already
            coming.remove(value)
            if is_in:
                self.inside.setdefault(id(item), []).append(value)

    def take(self, item):
        """The number of an item that has come out; 0: no task has put it."""
        inside = self.inside.get(id(item))
        if inside:
            return inside.pop(-1 if self.order == "lifo" else 0)
        coming = self.coming.get(id(item))
        return coming.pop(0) if coming else 0


def watch_queue(make, primitive, kind, *, loop, name, maxsize=None, order=None):
    is_heap = isinstance(primitive, asyncio.PriorityQueue)
    if order is None:
        order = ("priority" if is_heap else
                 "lifo" if isinstance(primitive, asyncio.LifoQueue) else "fifo")
    if order not in ORDERS:
        raise ValueError(f"order={order!r}: {', '.join(ORDERS)}")
    if isinstance(primitive, asyncio.Queue):
        refuse(not primitive.empty() or primitive._unfinished_tasks, "it has items")
        refuse(primitive._getters or primitive._putters, "tasks wait for it")
    if maxsize is None:
        maxsize = getattr(primitive, "maxsize", 0)
    maxsize = math.ceil(maxsize) if 0 < maxsize < SIZE_END else 0  # 0: no bound
    # Priorities are the program's own, and the heap leaves open which of two equal ones comes
    # first: what comes out is compared here.
    judged = make(other_name=f"slots of {name}", size=maxsize, order=ORDERS[order],
                  waived=Claim.UNORDERED_ITEMS if order == "priority" else 0)
    ledger = Ledger(order)

    def took(item):
        if is_heap and primitive._queue and primitive._queue[0] < item:
            loop._object_to("item-order", loop._running,
                            f"a get of '{name}' returned {item!r}, although "
                            f"{primitive._queue[0]!r} is less")
        judged.got(ledger.take(item), OK)
        return item

    def begins(item, is_try):
        value = judged.puts(is_try)
        if value:
            ledger.begins(item, value)
        return value

    def ends(item, value, status):
        ledger.ends(item, value, status == OK)
        judged.put(value, status)

    put, get = primitive.put, primitive.get
    put_nowait = getattr(primitive, "put_nowait", None)
    get_nowait = getattr(primitive, "get_nowait", None)

    async def watched_put(item):
        value = begins(item, False)
        if not value:
            return await put(item)
        try:
            result = await put(item)
        except BaseException as exception:
            ends(item, value, queue_status(exception))
            raise
        ends(item, value, OK)
        return result

    def watched_put_nowait(item):
        value = begins(item, True)
        if not value:
            return put_nowait(item)
        try:
            result = put_nowait(item)
        except BaseException as exception:
            ends(item, value, queue_status(exception))
            raise
        ends(item, value, OK)
        return result

    async def watched_get():
        if not judged.gets(False):
            return await get()
        try:
            item = await get()
        except BaseException as exception:
            judged.got(0, queue_status(exception))
            raise
        return took(item)

    def watched_get_nowait():
        if not judged.gets(True):
            return get_nowait()
        try:
            item = get_nowait()
        except BaseException as exception:
            judged.got(0, queue_status(exception))
            raise
        return took(item)

    rewrap(primitive, put=watched_put, put_nowait=watched_put_nowait, get=watched_get,
           get_nowait=watched_get_nowait)
    watch_end_of_queue(judged, primitive)
    return judged


def watch_end_of_queue(judged, primitive):
    """task_done(), join() and shutdown()."""
    task_done = getattr(primitive, "task_done", None)
    join = getattr(primitive, "join", None)
    shutdown = getattr(primitive, "shutdown", None)

    def watched_task_done():
        if not judged.says_done():
            return task_done()
        try:
            result = task_done()
        except ValueError:
            judged.said_done(INVALID_STATE)
            raise
        judged.said_done(OK)
        return result

    async def watched_join():
        told = judged.joins()
        try:
            result = await join()
        except BaseException as exception:
            judged.joined(told, queue_status(exception))
            raise
        judged.joined(told, OK)
        return result

    def watched_shutdown(immediate=False):
        if not judged.shuts_down(immediate):
            return shutdown(immediate)
        try:
            return shutdown(immediate)
        finally:
            judged.shut_down(immediate)

    rewrap(primitive, task_done=watched_task_done, join=watched_join, shutdown=watched_shutdown)


# --- timeout scopes ----------------------------------------------------------------------------

scope_classes = {}


def scope_class(base):
    """The class of a watched scope."""
    class Watched(base):
        async def __aenter__(self):
            loop = self._buzzer_loop
            task = asyncio.current_task()
            self._buzzer_outer = loop._scopes.get(task)
            self._buzzer_scope = _native.Scope(loop, self._buzzer_outer, due_ns(loop, self),
                                               task.cancelling())
            loop._scopes[task] = self._buzzer_scope
            return await super().__aenter__()

        async def __aexit__(self, kind, exception, traceback):
            loop = self._buzzer_loop
            task = asyncio.current_task()
            body = OK if kind is None else status_of(exception)
            scope = self._buzzer_scope
            scope.leaves(due_ns(loop, self), task.cancelling())
            loop._scopes[task] = self._buzzer_outer
            try:
                result = await super().__aexit__(kind, exception, traceback)
            except TimeoutError:
                scope.left(body, TIMED_OUT if body == CANCELLED else body, task.cancelling())
                raise
            scope.left(body, body, task.cancelling())
            return result

    Watched.__name__, Watched.__qualname__ = base.__name__, base.__qualname__
    return Watched


def due_ns(loop, timeout):
    when = timeout.when()
    return NEVER_NS if when is None else min(NEVER_NS, max(loop.now_ns, round(when * 1e9)))


def watch_timeout(loop, timeout):
    base = type(timeout)
    if base not in scope_classes:
        scope_classes[base] = scope_class(base)
    timeout.__class__ = scope_classes[base]
    timeout._buzzer_loop = loop
    return timeout


# --- the call ----------------------------------------------------------------------------------

WATCHERS = {"bounded": watch_permits, "semaphore": watch_permits, "lock": watch_permits,
            "event": watch_event, "condition": watch_condition, "barrier": watch_barrier,
            "queue": watch_queue}


def replaces(primitive, base):
    """Whether its class has methods of its own in the place of asyncio's."""
    for cls in type(primitive).__mro__:
        if cls.__module__.partition(".")[0] == "asyncio":
            return False
        if any(name[:2] != "__" and hasattr(base, name) for name in vars(cls)):
            return True
    return False


def find_kind(primitive, kind):
    """The kind; what it claims; whether it is one of asyncio's, into which the judge looks."""
    for name, (classes, claims) in KINDS.items():
        if isinstance(primitive, classes):
            is_own = replaces(primitive, classes[0])
            if kind is None or kind == name and not is_own:
                return name, claims & ~Claim.UNAIDED if is_own else claims, True
            return kind, OWN, False
    if kind is None:
        raise TypeError(f"{type(primitive).__name__} is nothing of asyncio's: tell watch() what "
                        f"kind= it is of ({', '.join(WATCHERS)})")
    return kind, OWN, False


def watch(loop, primitive, *, kind=None, name=None, claims=None, **about):
    """Tells the judge of what the program does with the primitive; returns it.

    kind    "lock", "semaphore", "bounded", "event", "condition", "barrier" or "queue", for a
            primitive of the program's own that has the methods of asyncio's; also for a subclass
            that replaces some, and is not to be held to all that asyncio's class promises
    name    in messages and traces; else the kind, and a number from the second on
    claims  what it promises, from Claim
    permits (semaphore), parties (barrier), maxsize and order (queue: "fifo", "lifo", "priority")
            where the primitive does not say so itself
    """
    kind, usual, is_stock = find_kind(primitive, kind)
    if kind == "timeout":
        return watch_timeout(loop, primitive)
    if kind not in WATCHERS:
        raise ValueError(f"kind={kind!r}: {', '.join(WATCHERS)}")
    if loop._watched(primitive) is not None:
        return primitive
    name = loop._object_name(kind) if name is None else str(name)
    claims = usual if claims is None else claims | Claim.MAY_FAIL

    def make(*, size=0, order=0, waived=0, other_name="", lock=None, is_checked=False):
        judged = _native.Object(loop, kind, name, other_name, int(claims | waived), size, order,
                                primitive if is_stock else None, lock, is_checked)
        loop._watch(primitive, judged)
        return judged

    if kind in ("condition", "queue"):
        about.update(loop=loop, name=name)
    WATCHERS[kind](make, primitive, kind, **about)
    return primitive
