/* cancel-count: whose cancellation it was, told by timeout scopes. The toy is right, but for what
 * its exits make of the count. Words: nest-K opens a scope of K * 10 ns around a sleep of 30 ns. */
#include "primitives/runtime/list.h"
#include "primitives/runtime/timer.h"
#include "sim/tests/stage.h"

struct toy_scope {
    struct bz_timer timer;
    struct bz_task *task;
    uint32_t at_entry;
    bool has_expired;
};

static void on_deadline(struct bz_timer *timer) {
    struct toy_scope *scope = bz_container_of(timer, struct toy_scope, timer);
    scope->has_expired = true;
    bz_task_cancel(scope->task);
}

static enum bz_status enter(void *memory, struct bz_loop *loop, uint64_t delay_ns) {
    struct toy_scope *scope = memory;
    scope->task = bz_loop_current(loop);
    scope->at_entry = bz_task_cancelling(scope->task);
    bz_timer_init(&scope->timer, loop, on_deadline);
    return bz_timer_arm(&scope->timer, bz_loop_now_ns(loop) + delay_ns) ? BZ_OK : BZ_NO_MEMORY;
}

static enum bz_status leave_well(void *memory, enum bz_status status) {
    struct toy_scope *scope = memory;
    bz_timer_disarm(&scope->timer);
    bool is_mine = scope->has_expired && bz_task_uncancel(scope->task) <= scope->at_entry;
    return is_mine && status == BZ_CANCELLED ? BZ_TIMED_OUT : status;
}

/* Takes nothing back. */
static enum bz_status leave_counted(void *memory, enum bz_status status) {
    struct toy_scope *scope = memory;
    bz_timer_disarm(&scope->timer);
    return scope->has_expired ? BZ_TIMED_OUT : status;
}

/* Takes for its own whatever there was. */
static enum bz_status leave_greedily(void *memory, enum bz_status status) {
    enum bz_status result = leave_well(memory, status);
    const struct toy_scope *scope = memory;
    return scope->has_expired && result == BZ_CANCELLED ? BZ_TIMED_OUT : result;
}

/* Never says what it was. */
static enum bz_status leave_mutely(void *memory, enum bz_status status) {
    enum bz_status result = leave_well(memory, status);
    return result == BZ_TIMED_OUT ? BZ_CANCELLED : result;
}

/* Takes back a request although no deadline came. */
static enum bz_status leave_early(void *memory, enum bz_status status) {
    struct toy_scope *scope = memory;
    if (!scope->has_expired && status == BZ_CANCELLED) {
        bz_task_uncancel(scope->task);
    }
    return leave_well(memory, status);
}

/* Makes a failure of a body that ended well. */
static enum bz_status leave_changed(void *memory, enum bz_status status) {
    enum bz_status result = leave_well(memory, status);
    return result == BZ_OK ? BZ_TIMED_OUT : result;
}

static enum bz_status word(struct tst_actor *actor, const char *text, bool *is_quiet) {
    struct stage *stage = actor->object;
    struct bz_sut_scope scope;
    if (strncmp(text, "nest-", 5) != 0) {
        *is_quiet = true;
        return BZ_INVALID_ARGUMENT;
    }
    uint64_t delay_ns = (uint64_t)(text[5] - '0') * 10;
    enum bz_status status = bz_sut_scope_enter(&scope, stage->world, NULL, delay_ns);
    return status == BZ_OK ? bz_sut_scope_exit(&scope, bz_sleep(actor->loop, 30)) : status;
}

/* One guest, with a toy that leaves its scopes so. `fragment` NULL: nothing to object to. */
static void play(enum bz_status (*leave)(void *, enum bz_status), const char *script,
                 const char *plan, const char *fragment) {
    const struct bz_scope_ops ops = {
        .scope_bytes = sizeof(struct toy_scope), .enter = enter, .exit = leave};
    const struct bz_variant variant = {
        .version = BZ_VARIANT_VERSION, .name = "toy", .summary = "toy", .scope = &ops};
    struct bz_judge_config config = stage_config(BZ_ORDER_ANY);
    struct stage stage;
    memset(&stage, 0, sizeof stage);
    stage.world = bz_world_new(&config, &variant);
    cr_assert(ne(ptr, stage.world, NULL));
    stage_begin_run(stage.world);
    stage_guest(&stage, script);
    stage.actors[0].extra = word;
    stage.actors[0].object = &stage;
    stage_play(&stage, plan);
    if (fragment == NULL) {
        stage_expect_pass(&stage);
    } else {
        stage_expect_violation(&stage, "cancel-count", stage.world->judge->step, fragment);
    }
    stage_end(&stage);
}

Test(cancel_count, fires_when_the_request_of_a_deadline_stays) {
    play(leave_counted, "~nest-1", "", "wrong number of requests (cancelling: 1, due: 0)");
}

Test(cancel_count, fires_when_a_request_is_taken_back_before_the_deadline) {
    play(leave_early, "~nest-9", "a !a", "before its deadline");
}

Test(cancel_count, fires_when_an_expired_scope_does_not_say_so) {
    play(leave_mutely, "~nest-1", "", "did not say timed-out");
}

Test(cancel_count, fires_when_a_request_of_somebody_else_is_taken_for_the_deadline) {
    play(leave_greedily, "~nest-1", "a +A !a", "somebody else's request to cancel ended in it");
    play(leave_well, "cancel-self ~nest-0", "a A", "somebody else's request to cancel ended in it");
}

Test(cancel_count, fires_when_a_status_is_changed) {
    play(leave_changed, "~nest-9", "", "changed a status that is not its own");
}

Test(cancel_count, is_silent_about_scopes_that_keep_count) {
    play(leave_well, "~nest-1 nest-9 ~nest-2", "", NULL);
    play(leave_well, "~nest-9", "a !a", NULL);
    play(leave_well, "~nest-1", "a +A !a", NULL);
    play(leave_well, "~nest-1 ~nest-1", "a !a", NULL); /* the second one: one request at entry */
}
