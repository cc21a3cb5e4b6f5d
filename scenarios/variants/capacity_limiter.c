/* Capacity limiter: the tokens that are lent, and the total, which changes. Each task borrows for
 * itself. Extra: a borrower acquires a second token, gives its own to another limiter, or a task
 * gives back that of a borrower that still waits; all are refused. */
#include "primitives/sync/capacity_limiter.h"

#include "primitives/runtime/loop.h"
#include "primitives/runtime/task.h"
#include "scenarios/variants/modelled.h"

enum { ACQUIRE, RELEASE, SET_TOTAL, ACQUIRE_AGAIN, RELEASE_ELSEWHERE, RELEASE_WAITING, OP_COUNT };

#define TOTAL_MAX 2

struct state {
    int64_t total;
    int64_t borrowed;
};

static void start(void *memory, const int64_t *parameters) {
    ((struct state *)memory)->total = parameters[0];
}

static bool step(void *memory, uint32_t op, const int64_t *arguments, int64_t *answer) {
    struct state *state = memory;
    switch (op) {
    case ACQUIRE:
        state->borrowed++;
        return state->borrowed <= state->total;
    case RELEASE:
        state->borrowed--;
        return true;
    case SET_TOTAL:
        state->total = arguments[0];
        return true;
    default:
        *answer = op == ACQUIRE_AGAIN ? -BZ_INVALID_STATE : -BZ_NOT_HELD;
        return true;
    }
}

static const struct bz_model_op ops[] = {
    [ACQUIRE] = {.name = "acquire", .line = 1, .cancel = BZ_MODEL_CANCEL_UNDOES, .undo = RELEASE},
    [RELEASE] = {.name = "release", .gives_back = 1 + ACQUIRE},
    [SET_TOTAL] = {.name = "set_total",
                   .argument_count = 1,
                   .arguments = {{.name = "total", .least = 0, .most = TOTAL_MAX}}},
    [ACQUIRE_AGAIN] = {.name = "acquire_again", .needs = 1 + ACQUIRE, .is_extra = true},
    [RELEASE_ELSEWHERE] = {.name = "release_elsewhere", .needs = 1 + ACQUIRE, .is_extra = true},
    [RELEASE_WAITING] = {.name = "release_waiting", .is_extra = true},
};

const struct bz_model bz_model_capacity_limiter =
    BZ_MODEL("capacity_limiter", struct state, .parameter_count = 1, .start = start);

/* --- what ships ------------------------------------------------------------------------------- */

struct desk {
    struct bz_capacity_limiter limiter;
    struct bz_borrower borrowers[BZ_MODEL_BORROWERS]; /* by number of the task */
    struct bz_capacity_limiter other;
};

static enum bz_status init(void *instance, struct bz_loop *loop, const int64_t *parameters) {
    struct desk *desk = instance;
    bz_capacity_limiter_init(&desk->limiter, loop, (uint32_t)parameters[0]);
    bz_capacity_limiter_init(&desk->other, loop, (uint32_t)parameters[0]);
    return BZ_OK;
}

/* A borrower that waits for a token; NULL: none does. */
static struct bz_borrower *waiting_borrower(struct desk *desk) {
    for (uint32_t number = 0; number < BZ_MODEL_BORROWERS; number++) {
        struct bz_borrower *borrower = &desk->borrowers[number];
        if (borrower->limiter != NULL && !borrower->has_token) {
            return borrower;
        }
    }
    return NULL;
}

static enum bz_status call(void *instance, uint32_t op, const int64_t *arguments, int64_t *answer) {
    struct desk *desk = instance;
    struct bz_task *task = bz_loop_current(desk->limiter.queue.loop);
    struct bz_borrower *borrower = &desk->borrowers[bz_task_id(task) % BZ_MODEL_BORROWERS];
    struct bz_capacity_limiter *limiter = op == RELEASE_ELSEWHERE ? &desk->other : &desk->limiter;
    if (op == SET_TOTAL) {
        bz_capacity_limiter_set_total(&desk->limiter, (uint32_t)arguments[0]);
        return BZ_OK;
    }
    if (op == RELEASE_WAITING) {
        borrower = waiting_borrower(desk);
    }
    if (borrower == NULL) {
        return bz_modelled_ended(BZ_NOT_HELD, answer);
    }
    return bz_modelled_ended(op == ACQUIRE || op == ACQUIRE_AGAIN
                                 ? bz_capacity_limiter_acquire(limiter, borrower)
                                 : bz_capacity_limiter_release(limiter, borrower),
                             answer);
}

BZ_VARIANT_OF_MODEL(capacity_limiter, "buzzer/capacity-limiter", "the capacity limiter that ships",
                    struct desk, bz_model_capacity_limiter, init);
