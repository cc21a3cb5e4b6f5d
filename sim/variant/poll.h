/* Bring your own loop, in poll style: how a primitive with futures that are polled becomes a
 * variant (Rust's Future, C++ senders, a runtime of your own). The code under test stays unchanged.
 * See sim/variant/README.md (installed: share/doc/buzzer/bring-your-own-loop.md), and the example
 * in share/doc/buzzer/poll. `tools/rust` has the same for Rust.
 *
 *     your program                               in the cage
 *     a future is created                        the operation begins
 *     it is polled and not ready                 a task waits in bz_poll_wait()
 *     its waker is called                        the task is woken: bz_waker_wake()
 *     the executor polls it again                the task resumes, and calls `poll`
 *     it is dropped before it was ready          the task was cancelled, and calls `drop`
 *
 * A blocking operation of the adapter is always the same:
 *
 *     struct your_acquire future = your_acquire(sem);
 *     return bz_poll_wait(loop, &future, poll, drop);
 *
 * The call of the waker is the wake-up, so that the order of service is judged where your code
 * decides it. In order `any` woken futures are polled in any order, in order `fifo` in the order of
 * the calls. A second call before the poll changes nothing. A waker that is called inside the poll
 * of its own future is no wake-up: the future is polled again in a later step, and the story of a
 * run shows that the task yields.
 *
 * A wake-up promises nothing, unless the variant claims BZ_CLAIM_WAKE_IS_GRANT: a future that is
 * still not ready waits again, at its place by arrival.
 *
 * A waker never runs its task in place: it only makes the next poll ready. For senders whose
 * set_value() runs on in the step of its caller, see bz_request_complete() in callback.h.
 *
 * Cancel. A future is dropped in the step in which its cancelled task runs again, as an executor
 * does that aborts a task, or whose task has waited with a timeout. Until then the future
 * is in your queue, and your code may call its waker, which changes nothing any more. If your
 * code has given it something by then, `drop` has to pass it on. A future that is ready is not
 * dropped. If the rules of the variant say BZ_WOKEN_KEEPS_RESULT (primitives/runtime/rules.h), a
 * woken future is polled all the same, and the cancel comes with the next wait. */
#ifndef BZ_SIM_VARIANT_POLL_H
#define BZ_SIM_VARIANT_POLL_H

#include <stdbool.h>

#include "primitives/runtime/status.h"

BZ_BEGIN_DECLS

struct bz_loop;

/* Wakes one operation. It belongs to bz_poll_wait(), and is there until `poll` has returned true or
 * `drop` has returned. A holder that keeps it longer clones it. */
struct bz_waker;

/* Polls a future until it is ready: BZ_OK. BZ_CANCELLED: the task was cancelled, and the future is
 * dropped. BZ_NO_MEMORY: the same, because the arena refused memory for the waker.
 *
 * `poll` returns whether the future is ready. If not, it has stored the waker of this call, and
 * calls it when the future should be polled again. `drop` is called once or never. Must be called
 * from a task of this loop, which is what `init` received. */
enum bz_status bz_poll_wait(struct bz_loop *loop, void *future,
                            bool (*poll)(void *future, struct bz_waker *waker),
                            void (*drop)(void *future)) BZ_MUST_USE;

/* The same, with a spurious poll after each one that returned false. It comes at once, with another
 * waker, as if the future had moved to another task: from there on only that waker counts. It finds
 * code that keeps the first waker, or takes each poll for a wake-up. */
enum bz_status bz_poll_wait_spuriously(struct bz_loop *loop, void *future,
                                       bool (*poll)(void *future, struct bz_waker *waker),
                                       void (*drop)(void *future)) BZ_MUST_USE;

/* The wake-up; `waker` is a struct bz_waker, without its type, as code that knows nothing of Buzzer
 * stores it. Nothing happens if the operation was woken, cancelled, or has ended. */
void bz_waker_wake(void *waker);

/* One more reference, of the same waker, and one less. */
struct bz_waker *bz_waker_clone(struct bz_waker *waker);
void bz_waker_drop(struct bz_waker *waker);

/* True if its operation waits, neither woken nor cancelled. For `view`: an entry of your queue
 * whose waker does not wait any more is one that was cancelled, or woken. */
bool bz_waker_is_waiting(const struct bz_waker *waker);

BZ_END_DECLS

#endif
