"""Twisted's DeferredLock, DeferredSemaphore and DeferredQueue, as tasks on an asyncio loop use them.

The player of lock-step runs this text inside itself when the reference is `twisted`. The classes
below are what a careful user writes around Twisted's own: they await Deferreds; a cancel of the
task cancels the Deferred; a task that is cancelled after the Deferred has fired gives back what it
was given. scenarios/variants/twisted.c has the same in C.
"""
from twisted.internet import defer


class Answer(asyncio.Future):  # noqa: F821
    """The result of a Deferred. A cancel goes to the Deferred, whose error comes back at once."""

    def __init__(self, deferred, loop):
        super().__init__(loop=loop)
        self.deferred = deferred
        deferred.addCallbacks(self.set_result, self.fail)

    def fail(self, failure):
        failure.trap(defer.CancelledError)
        asyncio.Future.cancel(self)  # noqa: F821

    def cancel(self, msg=None):
        if self.done():
            return False
        self.deferred.cancel()
        return True

    def was_fired(self):
        return self.done() and not self.cancelled()


class Permits:
    """A DeferredLock or a DeferredSemaphore."""

    def __init__(self, loop, real):
        self.loop = loop
        self.real = real

    def is_free(self):
        real = self.real
        return not real.locked if isinstance(real, defer.DeferredLock) else real.tokens > 0

    async def acquire(self):
        deferred = self.real.acquire()
        if deferred.called:
            return
        answer = Answer(deferred, self.loop)
        try:
            await answer
        except asyncio.CancelledError:  # noqa: F821
            if answer.was_fired():
                give_back(self)  # noqa: F821  (refused only if others have released it)
            raise

    def release(self):
        try:
            self.real.release()
        except AssertionError:
            raise ValueError from None

    def locked(self):  # -1: a semaphore does not say
        return self.real.locked if isinstance(self.real, defer.DeferredLock) else -1

    def show(self):
        real = self.real
        tokens = int(not real.locked) if isinstance(real, defer.DeferredLock) else real.tokens
        return "%d[%d]" % (tokens, len(real.waiting))


def semaphore(tokens):
    """One with no tokens can be neither acquired nor released; Twisted demands one."""
    real = defer.DeferredSemaphore(max(tokens, 1))
    real.tokens = real.limit = tokens
    return real


class Queue:
    """A DeferredQueue, with a DeferredSemaphore for its free slots if it has a bound."""
    _unfinished_tasks = 1  # it knows nothing of task_done()

    def __init__(self, loop, maxsize):
        self.loop = loop
        self.real = defer.DeferredQueue()
        self.slots = Permits(loop, semaphore(maxsize)) if maxsize > 0 else None
        self.size = 0

    def store(self, item):
        self.size += 1
        self.real.put(item)

    async def put(self, item):
        if self.slots is not None:
            await self.slots.acquire()
        self.store(item)

    def put_nowait(self, item):
        if self.slots is not None:
            if not self.slots.is_free():
                raise asyncio.QueueFull  # noqa: F821
            self.slots.real.acquire()
        self.store(item)

    def take(self):
        self.size -= 1
        if self.slots is not None:
            self.slots.release()

    def get_nowait(self):
        if not self.real.pending:
            raise asyncio.QueueEmpty  # noqa: F821
        self.real.get()
        self.take()

    async def get(self):
        if self.real.pending:
            self.get_nowait()
            return
        answer = Answer(self.real.get(), self.loop)
        try:
            await answer
        except asyncio.CancelledError:  # noqa: F821
            if answer.was_fired():
                self.give_back(answer.result())
            raise
        self.take()

    def give_back(self, item):
        """To the oldest getter, or to the front of the items."""
        if self.real.waiting:
            self.real.waiting.pop(0).callback(item)
        else:
            self.real.pending.insert(0, item)

    def qsize(self):
        return self.size

    async def join(self):
        pass

    def task_done(self):
        pass

    def show(self):
        return "%d[%s][%d]%s" % (
            self.size, " ".join([str(item.value) for item in self.real.pending]),
            len(self.real.waiting), "-" if self.slots is None else self.slots.show())


def make_deferred(loop, spec):
    kind = spec["kind"]
    if kind == "queue":
        it = Queue(loop, spec["maxsize"])
    elif kind == "lock":
        it = Permits(loop, defer.DeferredLock())
    else:
        it = Permits(loop, semaphore(spec["permits"]))
    return it, it.__class__.show
