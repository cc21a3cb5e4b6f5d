/* Tokens in stock, of which a task takes one as soon as there is one: bz_condition_wait_for(). A
 * notified task may find that another one was faster. */
#include "primitives/sync/condition.h"

#include "primitives/runtime/task.h"
#include "scenarios/variants/modelled.h"

enum { TAKE, ADD, ADD_FOR_ALL, OP_COUNT };

static bool step(void *state, uint32_t op, const int64_t *arguments, int64_t *answer) {
    int64_t *tokens = state;
    (void)answer;
    *tokens += op == TAKE ? -1 : arguments[0];
    return *tokens >= 0;
}

#define ADDS .argument_count = 1, .arguments = {{.name = "tokens", .least = 1, .most = 2}}

static const struct bz_model_op ops[] = {
    [TAKE] = {.name = "take"},
    [ADD] = {.name = "add", ADDS},
    [ADD_FOR_ALL] = {.name = "add_for_all", ADDS},
};

static const struct bz_model model = BZ_MODEL("stock", int64_t, .parameter_count = 0);

/* --- what ships ------------------------------------------------------------------------------- */

struct stock {
    struct bz_lock lock;
    struct bz_condition condition;
    int64_t tokens;
};

static enum bz_status init(void *instance, struct bz_loop *loop, const int64_t *parameters) {
    struct stock *stock = instance;
    (void)parameters;
    bz_lock_init(&stock->lock, loop);
    bz_condition_init(&stock->condition, &stock->lock);
    return BZ_OK;
}

static bool has_tokens(void *arg) {
    return ((struct stock *)arg)->tokens > 0;
}

static enum bz_status take(struct stock *stock) {
    enum bz_status status = bz_condition_wait_for(&stock->condition, has_tokens, stock);
    stock->tokens -= status == BZ_OK;
    return status;
}

/* With the lock held for a step, so that others find it taken. */
static enum bz_status add(struct stock *stock, int64_t tokens, bool is_for_all) {
    enum bz_status status = bz_yield(stock->lock.queue.loop);
    if (status != BZ_OK) {
        return status;
    }
    stock->tokens += tokens;
    return is_for_all ? bz_condition_notify_all(&stock->condition)
                      : bz_condition_notify(&stock->condition, (uint32_t)tokens);
}

static enum bz_status call(void *instance, uint32_t op, const int64_t *arguments, int64_t *answer) {
    struct stock *stock = instance;
    enum bz_status status = bz_lock_acquire(&stock->lock);
    if (status != BZ_OK) {
        return bz_modelled_ended(status, answer);
    }
    status = op == TAKE ? take(stock) : add(stock, arguments[0], op == ADD_FOR_ALL);
    enum bz_status released = bz_lock_release(&stock->lock);
    return bz_modelled_ended(released == BZ_OK ? status : released, answer);
}

BZ_VARIANT_OF_MODEL(wait_for, "buzzer/wait-for", "the wait_for of the condition that ships",
                    struct stock, model, init);
