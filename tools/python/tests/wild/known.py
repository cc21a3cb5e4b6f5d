"""The faults that drawn programs meet again and again: by what Buzzer says of them."""
import re
import sys

LAST = (99,)

# name, of which library, since, until (asyncio's: versions of the interpreter), oracle, message
KNOWN = (
    ("SEM-FLAG-STUCK", "asyncio", (3, 9), (3, 10), "lost-wakeup", r"'(semaphore|bounded)-\d"),
    ("COND-NOTIFY-LOST", "asyncio", (3,), (3, 13), "lost-notification",
     r"was notified by 'condition-\d', then cancelled, and left without passing it on"),
    ("BAR-DUP-INDEX", "asyncio", (3, 11), LAST, "barrier-round",
     r"got index \d of 'barrier-\d', which another task of its round has"),
    ("BAR-CANCELLED-PARTY", "asyncio", (3, 11), LAST, "barrier-round",
     r"passed 'barrier-\d' with only \d of \d parties there"),
    ("TO-BASELINE", "asyncio", (3, 11), (3, 11, 3), "cancel-count",
     r"nobody else had requested a cancel: it returned 'cancelled'"),
    ("TO-ZERO-SWALLOW", "asyncio", (3, 11, 3), LAST, "cancel-count",
     r"it returned 'timed-out' and should have returned 'cancelled'"),
    # wait_for() is a timeout() since 3.12; the request came before it, and was not delivered
    ("TO-ZERO-SWALLOW", "asyncio", (3, 12), LAST, "assertion",
     r"a cancel was swallowed, the task ran to its end \(wait_for"),
    ("WF-SWALLOW", "asyncio", (3, 8), (3, 12), "assertion",
     r"a cancel was swallowed, the task ran to its end \(wait_for"),
    ("WF-SWALLOW", "asyncio", (3, 8), (3, 12), "cancel-delivered",
     r"asyncio's wait_for\(\) \(gh-"),
    ("WF-SECOND-CANCEL", "asyncio", (3, 9), (3, 12), "assertion",
     r"a release of '.*' was refused to a task that holds it \(wait_for"),
    ("WF-LOST-EXCEPTION", "asyncio", (3, 9), (3, 12), "assertion",
     r"ended with an exception that nobody retrieved: Failed"),
    ("LIMITER-OVER-GRANT", "anyio", (3,), LAST, "mutual-exclusion",
     r"acquired 'bounded-\d' as holder number"),
    ("AN-947", "anyio", (3,), LAST, "lost-wakeup", r"permits? of 'bounded-\d' (is|are) free"),
    ("STREAM-SWALLOW", "anyio", (3,), LAST, "cancel-delivered",
     r"in get of 'queue-\d', which returned 'ok' and swallowed the cancel"),
    # anyio cancels by Task.cancel(), too: a scope that was cancelled takes a native cancel of the
    # same moment for its own, and ends it
    ("SCOPE-NATIVE-SWALLOW", "anyio", (3,), LAST, "cancel-delivered",
     r"drawn_anyio\.py:\d+ in \w+, and returned: the cancel was swallowed"),
    ("CONDITION-NATIVE-RELOCK", "anyio", (3,), LAST, "assertion",
     r"a release of 'condition-\d' was refused to a task that holds it"),
    ("STREAM-GHOST-SEND", "anyio", (3,), LAST, "assertion",
     r"of 'queue-\d' was delivered, but its send was cancelled"),
)


def name_of(library, violation, version=None):
    """The known fault; None."""
    version = version or sys.version_info[:3]
    for name, of, since, until, oracle, message in KNOWN:
        if (of == library and oracle == violation["oracle"] and since <= version < until
                and re.search(message, violation["message"])):
            return name
    return None
