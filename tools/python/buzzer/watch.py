"""Watched primitives: the real ones, whose calls are reported to the judge.

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
    """Promises of a primitive (sim/variant/claims.h)."""
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
    BREAKS_ALL = 0x2000      # barrier: an abort or a reset also fails a round that drains
    SURVIVES_NO_MEMORY = 0x4000  # of the runtime in C alone
    UNFAIR = 0x8000          # a waiver: a waiter may be overtaken again and again
    SINGLE_CONSUMER = 0x10000  # event, queue: one task at a time waits, or gets
    SINGLE_PRODUCER = 0x20000  # queue: one task at a time puts
    WAIT_MORPHING = 0x40000    # a waiver: a notified waiter sleeps on in the line of the lock
    MAY_DELIVER = 0x80000      # a waiver: a cancelled put may have delivered its item


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


_NEEDED = {"acquire", "release", "wait", "set", "notify", "put", "get"}


class Reported:
    """Methods in whose place others report to the judge, and call them."""

    def __init__(self, judged, primitive):
        self.judged = judged
        self.primitive = primitive

    def of(self, operation, *, argument=None, value=None):
        """The begin and the end of a call, for methods(). argument: of the call's arguments, what
        the judge is given before it, or None if the call is not to be reported; value: of the status
        and the result, what it is given after it."""
        number, judged = getattr(_native, operation), self.judged

        def begin(*args, **kwargs):
            given = argument(*args, **kwargs) if argument else 0
            return 0 if given is None else judged.begin(number, given)

        def end(begun, status, result, *args, **kwargs):
            judged.end(number, begun, status, value(status, result) if value else 0)
        return begin, end

    def methods(self, is_async, statuses=(), **pairs):
        """Replaces the methods that the primitive has. statuses: of exceptions, by class; else
        CANCELLED or FAILED. pairs: by the name of the method, begin and end. The begin returns what
        the end is given first, or 0 if the call is not reported."""
        make = report_async if is_async else report
        rewrap(self.primitive, **{
            name: make(getattr(self.primitive, name), begin, end, statuses)
            for name, (begin, end) in pairs.items()
            if name in _NEEDED or hasattr(self.primitive, name)})


def status_in(exception, statuses):
    return next((status for classes, status in statuses if isinstance(exception, classes)),
                status_of(exception))


def report(call, begin, end, statuses):
    def reported(*args, **kwargs):
        begun = begin(*args, **kwargs)
        if not begun:
            return call(*args, **kwargs)
        try:
            result = call(*args, **kwargs)
        except BaseException as exception:
            end(begun, status_in(exception, statuses), None, *args, **kwargs)
            raise
        end(begun, OK, result, *args, **kwargs)
        return result
    return reported


def report_async(call, begin, end, statuses):
    async def reported(*args, **kwargs):
        begun = begin(*args, **kwargs)
        if not begun:
            return await call(*args, **kwargs)
        try:
            result = await call(*args, **kwargs)
        except BaseException as exception:
            end(begun, status_in(exception, statuses), None, *args, **kwargs)
            raise
        end(begun, OK, result, *args, **kwargs)
        return result
    return reported


# --- permits -----------------------------------------------------------------------------------


# Methods without arguments.
_PLAIN = {getattr(kind, name) for name in ("acquire", "release")
          for kind in (asyncio.Lock, asyncio.Semaphore, asyncio.BoundedSemaphore)}


def watch_acquire(judged, primitive):
    """acquire() and release(), of permits or of the lock of a condition."""
    if asyncio.iscoroutinefunction(primitive.release):
        raise TypeError("release() is a coroutine function: when it takes effect is unknown")
    cls = type(primitive)
    if {getattr(cls, "acquire", None), getattr(cls, "release", None)} <= _PLAIN:
        rewrap(primitive, acquire=judged.wrap_acquire(primitive.acquire),
               release=judged.wrap_release(primitive.release))
        return
    reported = Reported(judged, primitive)
    begin, end = reported.of("ACQUIRE")

    def end_acquire(begun, status, result, *args, **kwargs):
        end(begun, FAILED if result is False else status, result)
    reported.methods(True, acquire=(begin, end_acquire))
    reported.methods(False, acquire_nowait=(begin, end_acquire))
    reported.methods(False, [((RuntimeError, ValueError), NOT_HELD)],
                     release=reported.of("RELEASE"))


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
    reported = Reported(judged, primitive)
    if primitive.is_set():
        judged.end(_native.SET, judged.begin(_native.SET), OK)
    reported.methods(True, wait=reported.of("WAIT"))
    reported.methods(False, set=reported.of("SET"), clear=reported.of("CLEAR"))
    return judged


def notified(n=1):
    """The number of waiters that a notify() is for; None: asyncio refuses the call."""
    try:
        return math.ceil(max(0, min(n, SIZE_END)))
    except (TypeError, ValueError):
        return None


def watch_condition(make, primitive, kind, *, loop, name):
    lock = getattr(primitive, "_lock", None)
    known = loop._watched(lock)
    refuse(known is None and primitive.locked(), "its lock is held")
    refuse(getattr(primitive, "_waiters", None), "tasks wait for it")
    judged = make(other_name=f"lock of {name}", lock=known)
    reported, locked = Reported(judged, primitive), primitive.locked
    misuse = [(RuntimeError, NOT_HELD)]
    reported.methods(True, misuse, wait=reported.of(
        "CONDITION_WAIT", value=lambda status, result: bool(locked())))
    reported.methods(False, misuse, notify=reported.of("NOTIFY", argument=notified),
                     notify_all=reported.of("NOTIFY", argument=lambda: -1))
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
    reported = Reported(judged, primitive)
    reported.methods(True, [(getattr(asyncio, "BrokenBarrierError", ()), BROKEN)],
                     wait=reported.of("BARRIER_WAIT", value=lambda status, index: index or 0),
                     abort=reported.of("ABORT"), reset=reported.of("RESET"))
    return judged


# --- queue -------------------------------------------------------------------------------------


class Ledger:
    """Maps objects to items of the judge, which numbers the puts."""

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

    reported = Reported(judged, primitive)

    def number_of(status, item):
        if status != OK:
            return 0
        if is_heap and primitive._queue and primitive._queue[0] < item:
            loop._violate("item-order", loop._running,
                          f"a get of '{name}' returned {item!r}, although "
                          f"{primitive._queue[0]!r} is less")
        return ledger.take(item)

    def put(is_try):
        begin, end = reported.of("PUT", argument=lambda item: is_try)

        def begin_put(item):
            value = begin(item)
            if value:
                ledger.begins(item, value)
            return value

        def end_put(value, status, result, item):
            ledger.ends(item, value, status == OK)
            end(value, status, result)
        return begin_put, end_put

    def get(is_try):
        return reported.of("GET", argument=lambda: is_try, value=number_of)

    statuses = [(getattr(asyncio, name, ()), status) for name, status in (
        ("QueueEmpty", EMPTY), ("QueueFull", FULL), ("QueueShutDown", CLOSED))]
    reported.methods(True, statuses, put=put(False), get=get(False), join=reported.of("JOIN"))
    reported.methods(False, statuses, put_nowait=put(True), get_nowait=get(True))
    reported.methods(False, [(ValueError, INVALID_STATE)], task_done=reported.of("TASK_DONE"),
                     shutdown=reported.of(
                         "SHUTDOWN", argument=lambda immediate=False: bool(immediate)))
    return judged


# --- timeout scopes ----------------------------------------------------------------------------

scope_classes = {}


def scope_class(base):
    """The class of a watched scope."""
    class Watched(base):
        async def __aenter__(self):
            loop = self._buzzer_loop
            task = asyncio.current_task()
            self._buzzer_outer = loop._scopes.get(task)
            self._buzzer_scope = loop._scopes[task] = loop._enter_scope(
                self._buzzer_outer, due_ns(loop, self), task.cancelling())
            return await super().__aenter__()

        async def __aexit__(self, kind, exception, traceback):
            loop = self._buzzer_loop
            task = asyncio.current_task()
            body = OK if kind is None else status_of(exception)
            scope = self._buzzer_scope
            loop._leave_scope(scope, due_ns(loop, self), task.cancelling())
            loop._scopes[task] = self._buzzer_outer
            try:
                result = await super().__aexit__(kind, exception, traceback)
            except TimeoutError:
                loop._left_scope(scope, body, TIMED_OUT if body == CANCELLED else body,
                                 task.cancelling())
                raise
            loop._left_scope(scope, body, body, task.cancelling())
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
    """True if its class has methods of its own instead of asyncio's."""
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


def watch(loop, primitive, *, kind=None, name=None, claims=None, is_looked_into=True, **about):
    """Reports what the program does with the primitive to the judge; returns it.

    kind    "lock", "semaphore", "bounded", "event", "condition", "barrier" or "queue", for a
            primitive of the program's own that has the methods of asyncio's; also for a subclass
            that replaces some, and is not to be held to all that asyncio's class promises
    name    in messages and traces; else the kind, and a number from the second on
    claims  what it promises, from Claim
    is_looked_into  False: only the calls are judged, not what it shows of itself, which its own
            tests may change
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
                                primitive if is_stock and is_looked_into else None, lock,
                                is_checked)
        loop._watch(primitive, judged)
        return judged

    if kind in ("condition", "queue"):
        about.update(loop=loop, name=name)
    WATCHERS[kind](make, primitive, kind, **about)
    return primitive
