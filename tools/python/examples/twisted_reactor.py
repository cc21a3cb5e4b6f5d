"""A reactor of Twisted's on the loop of a run: each delayed call is a timer of its own.

It has what IReactorTime has. So Buzzer chooses which of the calls that are due is next, and time is
virtual. There is no callFromThread(), because a run has one thread, and no network.
"""
import asyncio

from twisted.internet.error import AlreadyCalled, AlreadyCancelled
from twisted.internet.interfaces import IDelayedCall, IReactorTime
from zope.interface import implementer


@implementer(IDelayedCall)
class DelayedCall:
    def __init__(self, delay, function, args, kwargs):
        self._call = function, args, kwargs
        self._called = self._cancelled = False
        self._arm(delay)

    def _arm(self, delay):
        self._handle = asyncio.get_running_loop().call_later(delay, self._fire)

    def _fire(self):
        function, args, kwargs = self._call
        self._called = True
        function(*args, **kwargs)

    def _check(self):
        if self._called:
            raise AlreadyCalled
        if self._cancelled:
            raise AlreadyCancelled

    def cancel(self):
        self._check()
        self._cancelled = True
        self._handle.cancel()

    def reset(self, seconds):
        self._check()
        self._handle.cancel()
        self._arm(seconds)

    def delay(self, seconds):
        self.reset(self.getTime() + seconds - asyncio.get_running_loop().time())

    def active(self):
        return not (self._called or self._cancelled)

    def getTime(self):
        return self._handle.when()


@implementer(IReactorTime)
class Reactor:
    def __init__(self):
        self._calls = []

    def seconds(self):
        return asyncio.get_running_loop().time()

    def callLater(self, delay, function, *args, **kwargs):
        call = DelayedCall(delay, function, args, kwargs)
        self._calls.append(call)
        return call

    def getDelayedCalls(self):
        self._calls = [call for call in self._calls if call.active()]
        return list(self._calls)


def future_of(deferred):
    """A future, which a test can await."""
    return deferred.asFuture(asyncio.get_running_loop())
