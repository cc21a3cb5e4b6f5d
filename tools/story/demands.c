/* What was due, by oracle, and for some by the window in which a cancel struck. */
#include <string.h>

#include "tools/story/explanation.h"

static const struct {
    const char *oracle;
    const char *window; /* NULL: any, or no cancel */
    const char *due;
} dues[] = {
    {"lost-wakeup", "woken",
     "A waiter that was woken and is cancelled before it resumes has to pass on what it was woken "
     "for: to the next live waiter, or back."},
    {"lost-wakeup", "waiting",
     "A waiter that is cancelled while it waits has to leave the queue at once, and must not be "
     "woken or counted any more."},
    {"lost-wakeup", "holding",
     "A holder that is cancelled has to release what it holds, and the release has to wake the "
     "next live waiter."},
    {"lost-wakeup", NULL,
     "While the object can serve a waiter, a wake-up of the first live waiter has to be under way: "
     "at this step, not at the next release."},
    {"lost-notification", "woken",
     "A waiter that was notified and is cancelled before it resumes has to pass the notification "
     "on."},
    {"lost-notification", NULL,
     "A notification has to wake as many live waiters as it names, and none of them may be lost."},
    {"notify-count", NULL,
     "A notification has to wake as many live waiters as it names, and no others."},
    {"mutual-exclusion", NULL,
     "There may never be more holders than permits. A permit that was handed over, or promised to "
     "a woken waiter, is not free."},
    {"permit-conservation", NULL,
     "After every step the level and the holders together are the permits: none may appear, and "
     "none may get lost."},
    {"ownership", "woken",
     "An acquire that is cancelled after the grant has two correct outcomes: it gives the permit "
     "back and reports the cancellation, or it keeps the permit and returns ok."},
    {"ownership", NULL,
     "Acquire has to return ok if and only if the caller owns a permit from then on."},
    {"fifo", NULL,
     "Waiters have to be served in the order of their arrival; a newcomer must not pass them."},
    {"work-conserving", NULL, "A task that waits beside a free permit has to be given it."},
    {"starvation", NULL,
     "A waiter may be overtaken a few times at most: each release has to bring it nearer."},
    {"cancel-delivered", NULL,
     "A cancel request has to arrive exactly once: at the next await of its task, as a result of "
     "cancelled that is not swallowed on the way."},
    {"cancel-count", NULL,
     "A scope has to take back exactly the requests that it made itself, and to pass on those of "
     "others."},
    {"misuse", NULL,
     "A call that is not allowed has to be refused, and one that is allowed has to be accepted."},
    {"status", NULL, "An operation may return only the statuses that its contract names."},
    {"level-bound", NULL,
     "The level has to cover every waiter that holds a result: a permit that is promised must "
     "not be promised again."},
    {"queue-partition", NULL,
     "Every waiter in the queue is either waiting, or holds a result, or is cancelled; one that "
     "is done or gone must not stay there."},
    {"locked-definition", NULL,
     "locked() has to return true exactly when an acquire would have to wait: if a task waits, if "
     "a woken waiter has not resumed, or if no permit is left."},
    {"relock", NULL,
     "The wait of a condition has to own its lock when it returns, however it ends."},
    {"item-once", "woken",
     "An item that was handed to a getter which is cancelled before it resumes has to go back to "
     "its place, or to the next getter."},
    {"item-once", NULL, "Every item that was put has to be got exactly once."},
    {"item-order", NULL, "Items have to come out in the order in which the queue keeps them."},
    {"bound", NULL, "A queue may never hold more items than its maxsize."},
    {"queue-size", NULL, "The size of a queue has to be its puts less its gets."},
    {"barrier-round", NULL,
     "A barrier has to open when all parties have come, and to give each of them another index."},
    {"pool-entry", NULL,
     "The entry of a key has to live exactly as long as a task holds its lock or waits for it."},
    {"leak", NULL, "When every task has ended, no waiter may be left in a queue."},
    {"linearizability", NULL,
     "Each operation has to take effect between its call and its return, at one moment or at the "
     "two that its model names, and to answer as the model does. A cancelled one may leave no "
     "effect, or the one that the model allows."},
    {"deadlock", NULL, "At least one task has to be able to run as long as a live task waits."},
    {"livelock", NULL,
     "Tasks that run have to make progress: the run must not repeat a cycle of states."},
    {"spec", NULL, "Each step has to be one that the executable specification allows."},
    {"assertion", NULL, "The assertions of the scenario have to hold."},
    {"crash", NULL, "The code must not end its process."},
    {"exit", NULL, "The code must not end its process."},
    {"stack-overflow", NULL, "A task has to stay within its stack."},
    {"hang", NULL, "A step has to end."},
    {"memory", NULL, "The code must not take memory without bound."},
};

const char *bz_due(const char *oracle, const char *window) {
    for (size_t index = 0; index < sizeof dues / sizeof dues[0]; index++) {
        bool is_window = dues[index].window == NULL ||
                         (window != NULL && strcmp(dues[index].window, window) == 0);
        if (is_window && strcmp(dues[index].oracle, oracle) == 0) {
            return dues[index].due;
        }
    }
    return "The property of this oracle has to hold.";
}
