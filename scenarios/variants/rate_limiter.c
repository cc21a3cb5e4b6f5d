/* Rate limiter: the bucket, and the time. An acquire pours its tokens in, and leaves later; they
 * may be poured in at any nanosecond in which they fit, in order of the calls. A waiter that could
 * be woken while nothing runs is woken too late. */
#include "primitives/sync/rate_limiter.h"

#include "scenarios/variants/modelled.h"

enum { ACQUIRE, POUR, TAKE_OUT, ACQUIRE_WRONGLY, OP_COUNT };
enum { ACQUIRES_NONE, ACQUIRES_TOO_MANY }; /* the argument of the last one */

#define PERIOD_NS 4
#define TOKENS_MAX 2

struct state {
    int64_t tokens;
    int64_t level; /* in 1 / PERIOD_NS token; `tokens` units drain in 1 ns */
    int64_t now_ns;
};

static int64_t least(int64_t a, int64_t b) {
    return a < b ? a : b;
}

static void start(void *memory, const int64_t *parameters) {
    ((struct state *)memory)->tokens = parameters[0];
}

static void pass(void *memory, uint64_t elapsed_ns) {
    struct state *state = memory;
    int64_t drains_ns = least((int64_t)elapsed_ns, PERIOD_NS);
    state->level -= least(state->level, drains_ns * state->tokens);
    state->now_ns += (int64_t)elapsed_ns;
}

/* The ticket is the time of the pour. */
static bool step(void *memory, uint32_t op, const int64_t *arguments, int64_t *ticket) {
    struct state *state = memory;
    int64_t amount = least(arguments[0], state->tokens) * PERIOD_NS;
    if (op == ACQUIRE_WRONGLY) {
        *ticket = -BZ_INVALID_ARGUMENT;
        return true;
    }
    if (op == POUR) {
        state->level += amount;
        *ticket = state->now_ns;
        return state->level <= state->tokens * PERIOD_NS;
    }
    if (op == TAKE_OUT) { /* what cannot have drained since */
        int64_t drains_ns = least(state->now_ns - *ticket, PERIOD_NS);
        amount -= least(amount, drains_ns * state->tokens);
        state->level -= least(state->level, amount);
    }
    *ticket = 0;
    return true;
}

static const struct bz_model_op ops[] = {
    [ACQUIRE] = {.name = "acquire",
                 .begins_with = 1 + POUR,
                 .begins_in_order = true,
                 .cancel = BZ_MODEL_CANCEL_UNDOES,
                 .undo = TAKE_OUT,
                 .argument_count = 1,
                 .arguments = {{.name = "tokens", .least = 1, .most = TOKENS_MAX}}},
    [POUR] = {.name = "pour", .is_hidden = true},
    [TAKE_OUT] = {.name = "take_out", .is_hidden = true},
    [ACQUIRE_WRONGLY] = {
        .name = "acquire_wrongly",
        .is_extra = true,
        .argument_count = 1,
        .arguments = {{.name = "how", .least = ACQUIRES_NONE, .most = ACQUIRES_TOO_MANY}}}};

const struct bz_model bz_model_rate_limiter =
    BZ_MODEL("rate_limiter", struct state, .parameter_count = 1, .start = start, .pass = pass,
             .settles_ns = PERIOD_NS);

/* --- what ships ------------------------------------------------------------------------------- */

/* True if it takes what it must, and refuses the rest. */
static bool is_strict(struct bz_rate_limiter *limiter, struct bz_loop *loop) {
    return bz_rate_limiter_init(limiter, loop, 0, 1) == BZ_INVALID_ARGUMENT &&
           bz_rate_limiter_init(limiter, loop, 1, 0) == BZ_INVALID_ARGUMENT &&
           bz_rate_limiter_init(limiter, loop, 2, UINT64_MAX / 2 + 1) == BZ_INVALID_ARGUMENT &&
           bz_rate_limiter_init(limiter, loop, 2, UINT64_MAX / 2) == BZ_OK;
}

static enum bz_status init(void *instance, struct bz_loop *loop, const int64_t *parameters) {
    return is_strict(instance, loop)
               ? bz_rate_limiter_init(instance, loop, (uint32_t)parameters[0], PERIOD_NS)
               : BZ_FAILED;
}

static enum bz_status call(void *instance, uint32_t op, const int64_t *arguments, int64_t *answer) {
    struct bz_rate_limiter *limiter = instance;
    int64_t tokens = least(arguments[0], (int64_t)limiter->tokens);
    if (op == ACQUIRE_WRONGLY) {
        tokens = arguments[0] == ACQUIRES_NONE ? 0 : (int64_t)limiter->tokens + 1;
    }
    return bz_modelled_ended(bz_rate_limiter_acquire(limiter, (uint32_t)tokens), answer);
}

BZ_VARIANT_OF_MODEL(rate_limiter, "buzzer/rate-limiter", "the rate limiter that ships",
                    struct bz_rate_limiter, bz_model_rate_limiter, init);
