/* The shadow state of a task, in every state that a task can have. */
#include "sim/tests/toys.h"

/* The windows as choice.h defines them, in that order. */
static enum bz_window window_of(const struct bz_shadow_task *task) {
    bool waits_for_somebody = task->wait == BZ_WAIT_FUTURE || task->wait == BZ_WAIT_JOIN;
    if (task->phase == BZ_PHASE_DONE) {
        return BZ_WINDOW_DONE;
    }
    if (task->phase == BZ_PHASE_RUNNING) {
        return BZ_WINDOW_RUNNING;
    }
    if (task->cancel_pending) {
        return BZ_WINDOW_CANCELLING;
    }
    if (task->phase == BZ_PHASE_UNSTARTED) {
        return BZ_WINDOW_UNSTARTED;
    }
    if (task->holdings > 0 && !(task->op != BZ_OP_NONE && waits_for_somebody)) {
        return BZ_WINDOW_HOLDING;
    }
    if (waits_for_somebody) {
        return task->await == BZ_AWAIT_PENDING ? BZ_WINDOW_WAITING : BZ_WINDOW_WOKEN;
    }
    return BZ_WINDOW_SLEEPING;
}

#define STATES (4u * 5u * 3u * 2u * 2u * BZ_OP_COUNT)

static struct bz_shadow_task state(uint32_t number) {
    struct bz_shadow_task task = {.object = 1};
    task.phase = (uint8_t)(number % 4);
    task.wait = (uint8_t)(number / 4 % 5);
    task.await = (uint8_t)(number / 20 % 3);
    task.cancel_pending = number / 60 % 2 != 0;
    task.holdings = number / 120 % 2 * 3;
    task.op = (uint8_t)(number / 240);
    return task;
}

Test(shadow, a_window_is_what_its_name_says) {
    uint32_t seen[BZ_WINDOW_COUNT] = {0};
    for (uint32_t number = 0; number < STATES; number++) {
        struct bz_shadow_task task = state(number);
        cr_assert_eq(bz_shadow_window(&task), window_of(&task), "state %u", number);
        seen[bz_shadow_window(&task)]++;
    }
    for (uint32_t window = BZ_WINDOW_UNSTARTED; window < BZ_WINDOW_COUNT; window++) {
        cr_assert_lt(0, seen[window]);
    }
}

Test(shadow, a_task_is_suspended_in_one_operation) {
    for (uint32_t number = 0; number < STATES; number++) {
        struct bz_shadow_task task = state(number);
        for (uint32_t op = BZ_OP_START; op < BZ_OP_COUNT; op++) {
            bool is_inside =
                task.phase == BZ_PHASE_SUSPENDED && (uint32_t)bz_shadow_op(&task) == op;
            cr_assert_eq(bz_shadow_is_suspended_in(&task, (enum bz_op)op), is_inside,
                         "state %u, operation %u", number, op);
        }
    }
}
