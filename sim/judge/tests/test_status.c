/* status: what an operation may return, and when. scenarios/tests/test_status.c has every status of
 * every operation. */
#include "sim/judge/tests/teller.h"
#include "sim/tests/toys.h"

#define EXACT (BZ_CLAIM_FIFO | BZ_CLAIM_TAKES_AT_RETURN)

static enum bz_status no_memory(void *instance) {
    (void)instance;
    return BZ_NO_MEMORY;
}

/* Asks for more memory than the loop has. */
static enum bz_status asks_for_memory(void *instance) {
    struct bz_zoo_semaphore *toy = instance;
    return bz_mem_alloc(bz_loop_mem(toy->queue.loop), SIZE_MAX / 2) == NULL ? BZ_NO_MEMORY : BZ_OK;
}

static enum bz_status unknown(void *instance) {
    (void)instance;
    return (enum bz_status)99;
}

/* Waits as it should, and then says that it did not. */
static enum bz_status lies_after_a_wait(void *instance) {
    struct bz_zoo_semaphore *toy = instance;
    bool is_free = toy->value > 0;
    enum bz_status status = toy_acquire(instance);
    if (status == BZ_OK && !is_free) {
        (void)bz_zoo_semaphore_release(instance);
        status = BZ_TIMED_OUT;
    }
    return status;
}

static enum bz_status refuses(void *instance) {
    (void)instance;
    return BZ_NOT_HELD;
}

TOY(no_memory_toy, 0, .acquire = no_memory);
TOY(hungry_toy, 0, .acquire = asks_for_memory);
TOY(unknown_toy, 0, .acquire = unknown);
TOY(late_liar_toy, 0, .acquire = lies_after_a_wait);
TOY(refusing_toy, 0, .release = refuses);

/* --- the end of a task ------------------------------------------------------------------------ */

static bool yes(void *source) {
    (void)source;
    return true;
}

/* A task ends with a status in a run whose program rules some out. `fragment` NULL: that is fine.
 */
static void ends(enum bz_status status, uint32_t refused, uint32_t claims, bool has_memory,
                 const char *fragment) {
    const struct bz_judge_config config = {.strategy = &bz_strategy_fifo,
                                           .memory_was_refused = has_memory ? NULL : yes};
    struct teller teller;
    begin(&teller, &config, claims, 1, false);
    bz_judge_refuse_ends(teller.judge, refused);
    begin_step(teller.judge, "+a");
    bz_judge_event(teller.judge, BZ_EVENT_EXIT, 1, status, 0);
    bz_judge_end_step(teller.judge);
    const struct bz_violation *violation = bz_judge_violation(teller.judge);
    if (fragment == NULL) {
        cr_assert_null(violation->oracle, "%s", violation->message);
    } else {
        cr_assert_str_eq(violation->oracle, "status");
        cr_assert_str_eq(violation->message, fragment);
        cr_assert_eq(violation->step, 1);
    }
    bz_judge_destroy(teller.judge);
}

Test(status, fires_at_the_end_of_a_task) {
    uint32_t failed = 1u << BZ_FAILED;
    ends(BZ_NO_MEMORY, 0, 0, true, "a ended with no-memory, but no memory was refused");
    ends(BZ_NO_MEMORY, 0, 0, false, NULL);
    ends(BZ_FAILED, 0, 0, true, NULL);
    ends(BZ_FAILED, failed, 0, true, "a ended with failed, but no task of this program returns it");
    ends(BZ_FAILED, failed, BZ_CLAIM_MAY_FAIL, true, NULL);
    ends(BZ_TIMED_OUT, failed, 0, true, NULL);
}

/* --- queues ----------------------------------------------------------------------------------- */

static enum bz_status is_empty(void *instance, uint64_t *value) {
    (void)instance;
    (void)value;
    return BZ_EMPTY;
}

static enum bz_status is_full(void *instance, uint64_t value, int64_t priority) {
    (void)instance;
    (void)value;
    (void)priority;
    return BZ_FULL;
}

TOY_OF(queue, empty_queue, EXACT, *bz_variant_buzzer.queue, ops->try_get = is_empty);
TOY_OF(queue, full_queue, EXACT, *bz_variant_buzzer.queue, ops->try_put = is_full);
TOY_OF(queue, two_stage_queue, BZ_CLAIM_FIFO, *bz_variant_buzzer.queue, ops->try_get = is_empty);
TOY_OF(queue, impatient_queue, 0, *bz_variant_buzzer.queue, ops->get = is_empty);

Test(status, timelines) {
    static const struct stage_row rows[] = {
        {"status/fires_when_no_memory_was_refused", &no_memory_toy, "permits 1; a: ~acquire; a",
         "status 1: acquire of 'table' returned no-memory to a, but no memory was refused, "
         "and its waiters_max allows this waiter; it may return: ok"},
        {"", &hungry_toy, "permits 1; a: ~acquire; a"},
        {"status/fires_at_a_number_that_is_none", &unknown_toy, "permits 1; a: ~acquire; a",
         "status 1: acquire of 'table' returned status 99 to a, but there is no such status; it "
         "may return: ok"},
        {"status/fires_after_a_wait", &late_liar_toy,
         "permits 1; a: acquire yield release; b: ~acquire; a b a b",
         "status 4: acquire of 'table' returned timed-out to b, but no time has passed"},
        {"status/fires_when_a_holder_may_not_release", &refusing_toy,
         "permits 1; a: acquire ~release; a",
         "status 1: release of 'table' returned not-held to a, but the task holds a permit"},
        {"", &refusing_toy, "permits 1; a: ~release; a"},

        /* --- tries --- */
        {"status/of_a_try_is_judged_by_the_items_if_the_queue_is_exact", &empty_queue,
         "queue fifo 1; a: put ~try-get", "status 1: get of 'items' returned empty to a"},
        {"", &empty_queue, "queue fifo 1; a: ~try-get"},
        {"", &full_queue, "queue fifo 1; a: ~try-put",
         "status 1: put of 'slots' returned full to a"},
        {"", &full_queue, "queue fifo 1; a: put ~try-put try-get"},
        {"", &two_stage_queue, "queue fifo 1; a: put ~try-get"},
        {"status/empty_is_for_tries_alone", &impatient_queue, "queue fifo 1; a: ~get",
         "status 1: get of 'items' returned empty to a, but it should wait"},
        {NULL},
    };
    stage_rows(rows);
}
