/* cancel-count: timeout scopes say whose cancellation it was. Words: nest-K opens a scope of K * 10
 * ns around a sleep of 30 ns. */
#include "primitives/runtime/timeout.h"
#include "sim/tests/toys.h"

/* --- toys: faults of an exit that no entry of the zoo has ------------------------------------- */

/* Takes back no request. */
static enum bz_status exit_counted(void *memory, enum bz_status status) {
    struct bz_timeout *scope = memory;
    bz_timer_disarm(&scope->timer);
    return scope->state == BZ_TIMEOUT_EXPIRING ? BZ_TIMED_OUT : status;
}

/* Takes back a request although no deadline came. */
static enum bz_status exit_early(void *memory, enum bz_status status) {
    struct bz_timeout *scope = memory;
    if (scope->state != BZ_TIMEOUT_EXPIRING && status == BZ_CANCELLED) {
        bz_task_uncancel(scope->task);
    }
    return bz_variant_buzzer.scope->exit(memory, status);
}

/* Makes a failure of a body that ended well. */
static enum bz_status exit_changed(void *memory, enum bz_status status) {
    enum bz_status result = bz_variant_buzzer.scope->exit(memory, status);
    return result == BZ_OK ? BZ_TIMED_OUT : result;
}

/* Has no timer. */
static enum bz_status enter_untimed(void *memory, struct bz_loop *loop, uint64_t delay_ns) {
    enum bz_status status = bz_variant_buzzer.scope->enter(memory, loop, delay_ns);
    bz_timer_disarm(&((struct bz_timeout *)memory)->timer);
    return status;
}

TOY_OF(scope, untimed, 0, *bz_variant_buzzer.scope, ops->enter = enter_untimed)
TOY_OF(scope, counted, 0, *bz_variant_buzzer.scope, ops->exit = exit_counted)
TOY_OF(scope, early, 0, *bz_variant_buzzer.scope, ops->exit = exit_early)
TOY_OF(scope, changed, 0, *bz_variant_buzzer.scope, ops->exit = exit_changed)

static enum bz_status word(struct tst_actor *actor, const char *text, bool *is_quiet) {
    struct stage *stage = actor->object;
    struct bz_sut_scope scope;
    if (strncmp(text, "nest-", 5) != 0) {
        return stage_word(actor, text, is_quiet);
    }
    uint64_t delay_ns = (uint64_t)(text[5] - '0') * 10;
    enum bz_status status = bz_sut_scope_enter(&scope, stage->world, NULL, delay_ns);
    return status == BZ_OK ? bz_sut_scope_exit(&scope, bz_sleep(actor->loop, 30)) : status;
}

Test(scope, timelines) {
    static const struct stage_row rows[] = {
        {"cancel-count/fires_when_the_request_of_a_deadline_stays", &counted, "nothing; a: ~nest-1",
         "cancel-count: wrong number of requests (cancelling: 1, due: 0)"},
        {"cancel-count/fires_when_a_request_is_taken_back_before_the_deadline", &early,
         "nothing; a: ~nest-9; a !a", "cancel-count: before its deadline"},
        /* The scope is opened by the cleanup of a task that was cancelled. */
        {"cancel-count/fires_when_an_expired_scope_does_not_say_so", &bz_variant_zoo_to_baseline,
         "nothing; a: ~nest-9 ~nest-1; a !a", "cancel-count: and should have returned 'timed-out'"},
        {"cancel-count/fires_when_a_request_of_somebody_else_is_taken_for_the_deadline",
         &bz_variant_zoo_to_any_cancel, "nothing; a: ~nest-1; a +A !a",
         "cancel-count: swallowed somebody else's cancel request"},
        {"", &bz_variant_zoo_to_zero_swallow, "nothing; a: cancel-self ~nest-0; a A",
         "cancel-count: swallowed somebody else's cancel request"},
        {"cancel-count/fires_when_a_scope_does_not_expire", &untimed, "nothing; a: ~nest-1",
         "cancel-count: did not expire at its deadline"},
        {"", &untimed, "nothing; a: ~nest-9"},
        {"cancel-count/fires_when_a_status_is_changed", &changed, "nothing; a: ~nest-9",
         "cancel-count: changed a status that is not its own"},
        {"cancel-count/is_silent_about_scopes_that_keep_count", &bz_variant_buzzer,
         "nothing; a: ~nest-1 nest-9 ~nest-2"},
        {"", &bz_variant_buzzer, "nothing; a: ~nest-9; a !a"},
        {"", &bz_variant_buzzer, "nothing; a: ~nest-1; a +A !a"},
        /* One request at the second entry. */
        {"", &bz_variant_buzzer, "nothing; a: ~nest-1 ~nest-1; a !a"},
        {"", &bz_variant_buzzer, "nothing; a: cancel-self ~nest-0; a A"},
        {NULL},
    };
    stage_rows_with(rows, word);
}
