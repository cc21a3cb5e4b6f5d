/* The check of a run's history against a sequential model (model.h).
 *
 * A history is the calls, returns and cancels of a run in the order in which they happened. An
 * order of the model explains it if each operation takes effect at one moment between its call and
 * its return, with the answer that it returned. That is linearizability (M. Herlihy and J. Wing,
 * 1990). An operation that waits may have taken effect or not; the model says what a cancelled one
 * may have done, and which operations keep a line.
 *
 *     history = bz_history_new(mem, &(struct bz_history_config){.model = &semaphore, ...});
 *     bz_history_call(history, task, ACQUIRE, NULL);    before each call
 *     bz_history_return(history, task, answer);         after it, if it has an answer
 *     bz_history_cancel(history, task);                 its cancel is requested, it still continues
 *     bz_history_cancelled(history, task);              it has ended by its cancel, unanswered
 *     bz_history_pass(history, elapsed_ns);             the clock has moved, if the model has one
 *     bz_history_rest(history);                         nothing is under way to wake who waits
 *
 * Algorithm. The check goes along with the run. It keeps every configuration that explains what has
 * happened so far: which unfinished operations have taken effect, their answers, and the state. An
 * operation takes effect only just before a return that needs it, or before the call of one that it
 * yields to, and equal configurations are kept once: J. Wing and C. Gong, "Testing and Verifying
 * Concurrent Objects" (1993); G. Lowe, "Testing for linearizability" (2017). They are compared in
 * full, never by a hash.
 *
 * Results. The first result that is not BZ_HISTORY_EXPLAINED stands; later calls do nothing and
 * return it. UNEXPLAINED, OUT_OF_LINE and LOST_WAKEUP are findings. LIMIT and MISUSE are not: the
 * history was not judged to its end.
 *
 * At rest. An operation must not wait if the model would let it complete. It is a finding only if
 * every explanation has an operation that waits although it could complete, or has taken effect
 * already. An operation that its line holds back may wait, and one whose cancel was requested is
 * left to other oracles. It need not be the end of the run: bz_history_rest() may be called
 * whenever nothing is under way to wake one of the unfinished operations, as the scenario `model`
 * does after such steps, and the history continues. Between two such moments, an operation that
 * could have completed is not judged: an event that was set and cleared again may have left its
 * waiters behind. In a model with a clock, no timer is set at rest: an operation must not wait
 * either if the model would let it complete later. Where the next timer is still to come,
 * bz_history_idle() says whether it comes too late.
 *
 * Memory comes from `mem` when the history is created; no other call allocates, unless the
 * configurations exceed configurations_first, which doubles then. Time: a call or the
 * request of a cancel is O(1). A return is O(c * u) steps of the model, where u operations are
 * unfinished and c configurations are reached; c is 1 while no task waits, and at most
 * 2^u * states.
 */
#ifndef BZ_SIM_MODEL_HISTORY_H
#define BZ_SIM_MODEL_HISTORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "sim/model/model.h"

BZ_BEGIN_DECLS

#define BZ_HISTORY_CLIENTS_MAX 64u
#define BZ_HISTORY_CONFIGURATIONS_MAX 1000000u
#define BZ_HISTORY_EVENTS_MAX 1000000u
#define BZ_HISTORY_MESSAGE_BYTES 512u

struct bz_mem;
struct bz_history;

/* Zeros stand for the numbers in brackets. */
struct bz_history_config {
    const struct bz_model *model;
    const int64_t *parameters;   /* copied: as many as the model has */
    uint32_t clients_max;        /* clients are 0 to this number - 1 [16] */
    uint32_t configurations_max; /* at one time [1024] */
    /* There is memory for so many from the beginning [all]. Where more are reached, there
     * is more, up to the maximum. */
    uint32_t configurations_first;
    uint32_t events_max;   /* of one run [1024] */
    uint32_t first_number; /* of client 0 in messages [0] */
};

enum bz_history_result {
    BZ_HISTORY_EXPLAINED = 0,
    BZ_HISTORY_UNEXPLAINED = 1, /* oracle `linearizability`: no order of the model explains it */
    BZ_HISTORY_OUT_OF_LINE = 2, /* oracle `fifo`: one would, if operations had not to keep a line */
    BZ_HISTORY_LOST_WAKEUP = 3, /* oracle `lost-wakeup` */
    BZ_HISTORY_LIMIT = 4,       /* a limit of the configuration was hit; the message names it */
    BZ_HISTORY_MISUSE = 5,      /* the caller or the model broke a rule; the message names it */
};

struct bz_history_finding {
    enum bz_history_result result;
    uint32_t events; /* the length of the shortest prefix that is not explained */
    uint32_t client; /* of its last event, or the one that waits */
    char message[BZ_HISTORY_MESSAGE_BYTES];
};

/* NULL without memory, or if the configuration or the model has a fault (bz_model_fault()). The
 * model must live as long as the history. */
struct bz_history *bz_history_new(struct bz_mem *mem, const struct bz_history_config *config);
void bz_history_destroy(struct bz_history *history);

/* Begins another run. */
void bz_history_restart(struct bz_history *history);

/* `arguments` may be NULL if the operation has none. */
enum bz_history_result bz_history_call(struct bz_history *history, uint32_t client, uint32_t op,
                                       const int64_t *arguments);
enum bz_history_result bz_history_return(struct bz_history *history, uint32_t client,
                                         int64_t answer);
enum bz_history_result bz_history_cancel(struct bz_history *history, uint32_t client);
enum bz_history_result bz_history_cancelled(struct bz_history *history, uint32_t client);

/* Its cancel is requested, and bz_history_cancel() follows. Only a call in between knows it. */
void bz_history_request(struct bz_history *history, uint32_t client);

/* For a model with a clock (`pass`), before the first event at a new time. At every nanosecond in
 * between, unfinished operations may take effect; O(u * settles_ns) times as much as a return. */
enum bz_history_result bz_history_pass(struct bz_history *history, uint64_t elapsed_ns);

enum bz_history_result bz_history_rest(struct bz_history *history);
/* After bz_history_rest(), if no timer is armed either: then who waits in an operation that ends by
 * itself does not end (BZ_HISTORY_LOST_WAKEUP). */
enum bz_history_result bz_history_over(struct bz_history *history);

/* True if bz_history_rest() would object to no waiter now. It changes no answer, but memory that
 * the history works in: a caller that is asked at every step keeps the answer. */
bool bz_history_must_wait(struct bz_history *history);

/* For a model with a clock, when nothing can run before the clock has moved by idle_ns: a waiter
 * that could complete before is woken too late (BZ_HISTORY_LOST_WAKEUP). Follows bz_history_pass()
 * to the present time. */
enum bz_history_result bz_history_idle(struct bz_history *history, uint64_t idle_ns);

/* The step of the run in which the next events happen, for messages. 0: not known. */
void bz_history_at_step(struct bz_history *history, uint32_t step);

/* "acquire(2)", cut to fit: the operation with the arguments that the program chooses. */
void bz_model_call_text(const struct bz_model *model, uint32_t op, const int64_t *arguments,
                        char *text, size_t bytes);

const struct bz_history_finding *bz_history_finding(const struct bz_history *history);

BZ_END_DECLS

#endif
