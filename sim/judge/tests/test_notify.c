/* Events, conditions and barriers: lost-notification, notify-count, relock, cancel-delivered,
 * barrier-round and lost-wakeup. Semaphores: work-conserving. */
#include "primitives/runtime/task.h"
#include "primitives/sync/condition.h"
#include "primitives/sync/event.h"
#include "primitives/sync/lock.h"
#include "sim/tests/toys.h"

/* --- toys ------------------------------------------------------------------------------------- */

#define CLAIMS (TOY_CLAIMS_ALL | BZ_CLAIM_WORK_CONSERVING)

/* The zoo has no event. In these a set wakes one waiter; a wait ignores a set flag; and, without a
 * fault, a wait polls. */
static void wakes_one_set(void *instance) {
    struct bz_sync_event *event = instance;
    event->is_set = true;
    bz_waitq_wake_oldest(&event->queue, 0);
}

static enum bz_status blind_wait(void *instance) {
    return bz_waitq_wait(&((struct bz_sync_event *)instance)->queue).status;
}

static enum bz_status polls_wait(void *instance) {
    const struct bz_sync_event *event = instance;
    enum bz_status status = BZ_OK;
    while (status == BZ_OK && !event->is_set) {
        status = bz_yield(event->queue.loop);
    }
    return status;
}

TOY_OF(event, wakes_one, CLAIMS, *bz_variant_buzzer.event, ops->set = wakes_one_set)
TOY_OF(event, blind, CLAIMS, *bz_variant_buzzer.event, ops->wait = blind_wait)
TOY_OF(event, polls, 0, *bz_variant_buzzer.event, ops->wait = polls_wait)

/* Wakes one too few. No entry of the zoo does that. */
static enum bz_status notify_fewer(void *instance, uint32_t count) {
    return bz_variant_buzzer.condition->notify(instance, count - 1);
}

/* Comes back without the lock while nobody holds it. In the zoo another task holds it then. */
static enum bz_status wait_without_lock(void *instance) {
    enum bz_status status = bz_variant_buzzer.condition->wait(instance);
    enum bz_status released = bz_variant_buzzer.condition->release(instance);
    cr_assert_eq(released, BZ_OK);
    return status;
}

/* Without a fault: yields before it releases the lock. */
static enum bz_status yields_wait(void *instance) {
    struct bz_lock *lock = instance;
    enum bz_status status = bz_yield(lock->queue.loop);
    return status == BZ_OK ? bz_variant_buzzer.condition->wait(instance) : status;
}

/* Without a fault: as in anyio, a notification goes to a waiter that is being cancelled, which
 * passes it on. */
static uint32_t owed;

static enum bz_status notify_dead(void *instance, uint32_t count) {
    owed = bz_variant_buzzer.condition->queued(instance) > 1;
    return bz_variant_buzzer.condition->notify(instance, count - owed);
}

static enum bz_status pass_on_wait(void *instance) {
    enum bz_status status = bz_variant_buzzer.condition->wait(instance);
    if (status != BZ_OK) {
        enum bz_status notified = bz_variant_buzzer.condition->notify(instance, owed);
        cr_assert_eq(notified, BZ_OK);
    }
    return status;
}

#define CONDITION(name_, claims_, ...)                                                             \
    TOY_OF(condition, name_, claims_, *bz_variant_buzzer.condition, __VA_ARGS__)

CONDITION(notifies_fewer, CLAIMS, ops->notify = notify_fewer)
CONDITION(never_relocks, CLAIMS, ops->wait = wait_without_lock)
CONDITION(yields, CLAIMS | BZ_CLAIM_EXACT_NOTIFY, ops->wait = yields_wait)
CONDITION(wakes_dead, CLAIMS, ops->notify = notify_dead, ops->wait = pass_on_wait)

static enum bz_status early_init(void *instance, struct bz_loop *loop, uint32_t parties) {
    return bz_variant_buzzer.barrier->init(instance, loop, parties - 1);
}

static enum bz_status late_init(void *instance, struct bz_loop *loop, uint32_t parties) {
    return bz_variant_buzzer.barrier->init(instance, loop, parties + 1);
}

static enum bz_status beyond_wait(void *instance, uint32_t *index) {
    enum bz_status status = bz_variant_buzzer.barrier->wait(instance, index);
    *index += 1;
    return status;
}

/* A round passes with one too few; indices begin with 1; the last task waits, too. No entry of the
 * zoo does that. */
TOY_OF(barrier, early, CLAIMS, *bz_variant_buzzer.barrier, ops->init = early_init)
TOY_OF(barrier, beyond, CLAIMS, *bz_variant_buzzer.barrier, ops->wait = beyond_wait)
TOY_OF(barrier, never_full, CLAIMS, *bz_variant_buzzer.barrier, ops->init = late_init)

static void breaks_nothing(void *instance) {
    (void)instance;
}

static enum bz_status forgives_wait(void *instance, uint32_t *index) {
    enum bz_status status = bz_variant_buzzer.barrier->wait(instance, index);
    *index = status == BZ_BROKEN ? 0 : *index;
    return status == BZ_BROKEN ? BZ_OK : status;
}

/* Also fails those that are held back. */
static void breaks_more(void *instance) {
    bz_variant_buzzer.barrier->abort(instance);
    bz_variant_buzzer.barrier->reset(instance);
}

TOY_OF(barrier, asleep, CLAIMS, *bz_variant_buzzer.barrier, ops->abort = breaks_nothing,
       ops->reset = breaks_nothing)
TOY_OF(barrier, forgives, CLAIMS | BZ_CLAIM_BREAKS_ALL, *bz_variant_buzzer.barrier,
       ops->wait = forgives_wait)
TOY_OF(barrier, breaks_too_much, CLAIMS | BZ_CLAIM_BREAKS_ALL, *bz_variant_buzzer.barrier,
       ops->reset = breaks_more)

/* Without a fault: a task that comes while a round still leaves is not held back, and fills the
 * next one. */
struct overlapping {
    struct bz_deque queue;
    uint32_t parties;
};

static enum bz_status overlapping_init(void *instance, struct bz_loop *loop, uint32_t parties) {
    struct overlapping *barrier = instance;
    bz_deque_init(&barrier->queue, loop);
    barrier->parties = parties;
    return BZ_OK;
}

static enum bz_status overlapping_wait(void *instance, uint32_t *index) {
    struct overlapping *barrier = instance;
    struct bz_waiter *waiter;
    *index = bz_deque_count(&barrier->queue, BZ_FUTURE_PENDING);
    if (*index + 1 < barrier->parties) {
        struct bz_waiter self;
        enum bz_status status = bz_deque_wait(&barrier->queue, &self);
        *index = (uint32_t)self.future.value;
        return status == BZ_OK && *index == UINT32_MAX ? BZ_BROKEN : status;
    }
    for (uint32_t next = 0; (waiter = bz_deque_oldest_asleep(&barrier->queue)) != NULL; next++) {
        bz_future_set_result(&waiter->future, next);
    }
    return BZ_OK;
}

/* Breaks the wait of those that fill, and spares those that leave. */
static void overlapping_reset(void *instance) {
    struct bz_waiter *waiter;
    while ((waiter = bz_deque_oldest_asleep(&((struct overlapping *)instance)->queue)) != NULL) {
        bz_future_set_result(&waiter->future, UINT32_MAX);
    }
}

static const struct bz_barrier_ops overlapping_ops = {.instance_bytes = sizeof(struct overlapping),
                                                      .init = overlapping_init,
                                                      .wait = overlapping_wait,
                                                      .reset = overlapping_reset};
TOY_OFFERS(overlaps, CLAIMS, .barrier = &overlapping_ops);

static void hall_fails(const struct bz_variant *variant, const char *const *scripts,
                       const char *plan, const char *oracle, uint32_t step, const char *fragment) {
    struct stage stage;
    stage_begin_hall(&stage, variant);
    stage_fails(&stage, scripts, plan, oracle, step, fragment);
}

static void hall_passes(const struct bz_variant *variant, const char *const *scripts,
                        const char *plan, const char *log) {
    struct stage stage;
    stage_begin_hall(&stage, variant);
    stage_passes(&stage, scripts, plan, log);
}

/* --- event ------------------------------------------------------------------------------------ */

static const char *const two_pass[] = {"pass", "pass", "set", NULL};
static const char *const up_and_down[] = {"pass", "pass", "set clear", NULL};

/* It also fires if the flag is clear again when the step ends. */
Test(lost_notification, fires_when_a_set_leaves_somebody_asleep) {
    hall_fails(&wakes_one, two_pass, "a b c", "lost-notification", 3,
               "c told 'flag' to wake 2 tasks, but it woke 1; 1 still waits");
    hall_fails(&wakes_one, up_and_down, "a b c", "lost-notification", 3, "but it woke 1");
}

Test(lost_notification, is_silent_when_a_set_wakes_all_that_wait) {
    hall_passes(&bz_variant_buzzer, two_pass, "a b c", "a.pass:ok b.pass:ok");
    hall_passes(&bz_variant_buzzer, up_and_down, "a b c b a", "b.pass:ok a.pass:ok");
    /* One waiter was cancelled before: the set need not wake it. */
    hall_passes(&wakes_one, two_pass, "a b !a c", "a.pass:cancelled b.pass:ok");
}

Test(lost_notification, is_silent_about_waiters_that_poll) {
    hall_passes(&polls, two_pass, "a b a b c b a", "b.pass:ok a.pass:ok");
}

Test(lost_wakeup, fires_when_a_task_waits_beside_a_set_flag) {
    hall_fails(
        &blind, STAGE_SCRIPTS("set", "pass"), "a b", "lost-wakeup", 2,
        "'flag' is set, but b waits (first of 1 waiter), and nothing is under way to wake it");
}

Test(lost_wakeup, is_silent_beside_a_flag_that_was_cleared) {
    hall_passes(&bz_variant_buzzer, STAGE_SCRIPTS("set clear yield set", "pass"), "a b a",
                "a.yield:ok b.pass:ok");
    hall_passes(&bz_variant_buzzer, STAGE_SCRIPTS("set", "pass"), "a b", "b.pass:ok");
}

/* --- condition -------------------------------------------------------------------------------- */

#define WAITS "acquire wait release"
#define WAITS_SWALLOWS "acquire ~wait release"

static const char *const three_at_news[] = {WAITS, WAITS, "acquire notify-2 release", NULL};
static const char *const one_told[] = {WAITS_SWALLOWS, WAITS_SWALLOWS,
                                       "acquire notify-1 yield release", NULL};

Test(lost_notification, fires_when_a_notification_wakes_too_few) {
    hall_fails(&notifies_fewer, three_at_news, "a b c", "lost-notification", 3,
               "c told 'news' to wake 2 tasks, but it woke 1; 1 still waits");
}

Test(lost_notification, is_silent_when_there_are_fewer_than_it_is_for) {
    hall_passes(&bz_variant_buzzer, STAGE_SCRIPTS(WAITS, "acquire notify-9 notify-1 release"),
                "a b",
                "a.acquire:ok b.acquire:ok b.notify-9:ok b.notify-1:ok b.release:ok a.wait:ok "
                "a.release:ok");
}

/* gh-112202: in the window, and while it waits for the lock. */
Test(lost_notification, fires_when_a_cancelled_waiter_takes_it_along) {
    static const char text[] = "a was notified by 'news', then cancelled, and left without passing "
                               "it on; 1 task still waits";
    hall_fails(&bz_variant_zoo_cond_notify_lost, one_told, "a b c !a a c a", "lost-notification", 7,
               text);
    hall_fails(&bz_variant_zoo_cond_notify_lost, one_told, "a b c a !a a c a", "lost-notification",
               8, text);
}

Test(lost_notification, is_silent_when_a_cancelled_waiter_passes_it_on) {
    hall_passes(&bz_variant_buzzer, one_told, "a b c !a a c",
                "a.acquire:ok b.acquire:ok c.acquire:ok c.notify-1:ok c.yield:ok c.release:ok "
                "a.wait:cancelled a.release:ok b.wait:ok b.release:ok");
    hall_passes(&bz_variant_buzzer, one_told, "a b c a !a a b c",
                "a.acquire:ok b.acquire:ok c.acquire:ok c.notify-1:ok c.yield:ok c.release:ok "
                "a.wait:cancelled a.release:ok b.wait:ok b.release:ok");
}

/* As programs do on CPython before 3.13: in the step in which the wait returns. */
Test(lost_notification, is_silent_when_the_program_passes_it_on) {
    static const char *const repairs[] = {"acquire ~wait notify-1 release", WAITS,
                                          "acquire notify-1 yield release", NULL};
    hall_passes(&bz_variant_zoo_cond_notify_lost, repairs, "a b c !a a c a b",
                "a.acquire:ok b.acquire:ok c.acquire:ok c.notify-1:ok c.yield:ok c.release:ok "
                "a.wait:cancelled a.notify-1:ok a.release:ok b.wait:ok b.release:ok");
    static const char *const too_late[] = {"acquire ~wait yield notify-1 release", WAITS,
                                           "acquire notify-1 yield release", NULL};
    hall_fails(&bz_variant_zoo_cond_notify_lost, too_late, "a b c !a a c a", "lost-notification", 7,
               "a was notified by 'news', then cancelled, and left without passing it on");
}

/* asyncio from 3.13 on: a cancelled waiter wakes another one, even if nobody had notified it. */
Test(lost_notification, is_silent_about_wake_ups_for_no_reason) {
    hall_passes(&bz_variant_asyncio_313, STAGE_SCRIPTS(WAITS_SWALLOWS, WAITS), "a b !a a b",
                "a.acquire:ok b.acquire:ok a.wait:cancelled a.release:ok b.wait:ok b.release:ok");
}

Test(notify_count, fires_on_a_wake_up_for_no_reason_where_none_is_claimed) {
    struct bz_variant claims_none = bz_variant_asyncio_313;
    claims_none.claims |= BZ_CLAIM_EXACT_NOTIFY;
    hall_fails(&claims_none, STAGE_SCRIPTS(WAITS_SWALLOWS, WAITS), "a b !a a", "notify-count", 4,
               "'news' has woken 1 waiter so far, but 0 were due: 1 too many");
}

/* A notification that is passed on in the window wakes one waiter, not two. */
Test(notify_count, is_silent_when_each_wake_up_was_due) {
    hall_passes(&bz_variant_buzzer, one_told, "a b c !a a c",
                "a.acquire:ok b.acquire:ok c.acquire:ok c.notify-1:ok c.yield:ok c.release:ok "
                "a.wait:cancelled a.release:ok b.wait:ok b.release:ok");
    hall_passes(&bz_variant_buzzer, STAGE_SCRIPTS(WAITS, "acquire notify-9 notify-1 release"),
                "a b",
                "a.acquire:ok b.acquire:ok b.notify-9:ok b.notify-1:ok b.release:ok a.wait:ok "
                "a.release:ok");
}

/* It had not begun to wait, so that it has no notification to pass on. */
Test(lost_notification, is_silent_about_a_task_that_is_cancelled_before_it_waits) {
    hall_passes(&yields, STAGE_SCRIPTS(WAITS, WAITS_SWALLOWS, "acquire notify-1 release"),
                "a a b !b b c a",
                "a.acquire:ok b.acquire:ok b.wait:cancelled b.release:ok c.acquire:ok "
                "c.notify-1:ok c.release:ok a.wait:ok a.release:ok");
}

Test(lost_notification, is_silent_when_it_goes_through_a_cancelled_waiter) {
    hall_passes(&wakes_dead, one_told, "a b !a c a",
                "a.acquire:ok b.acquire:ok c.acquire:ok c.notify-1:ok c.yield:ok c.release:ok "
                "a.wait:cancelled a.release:ok b.wait:ok b.release:ok");
}

/* gh-67159; and a toy for the case in which nobody holds the lock. */
Test(relock, fires_when_a_wait_comes_back_without_the_lock) {
    hall_fails(&bz_variant_zoo_cond_cancel_relock, one_told, "a b c a !a a", "relock", 6,
               "the wait of a for 'news' returned 'cancelled' while another task holds the "
               "lock");
    hall_fails(&never_relocks, STAGE_SCRIPTS(WAITS, "acquire notify-1 release"), "a b a", "relock",
               3, "the wait of a for 'news' returned 'ok' without the lock");
}

/* Cancelled twice while it acquires the lock, the waiter comes back with it. */
Test(relock, is_silent_when_it_comes_back_with_the_lock) {
    static const char *const two_told[] = {WAITS_SWALLOWS, "acquire notify-1 yield yield release",
                                           NULL};
    hall_passes(&bz_variant_buzzer, two_told, "a b a !a a !a a b b a",
                "a.acquire:ok b.acquire:ok b.notify-1:ok b.yield:ok b.yield:ok b.release:ok "
                "a.wait:cancelled a.release:ok");
}

/* gh-77022. The task that swallowed the cancellation uses the notification, so that none is lost.
 */
Test(cancel_delivered, fires_when_the_way_back_to_the_lock_swallows_a_request) {
    hall_fails(&bz_variant_zoo_cond_swallow, one_told, "a b c a !a a c a", "cancel-delivered", 8,
               "a was cancelled in wait of 'news', which returned 'ok' and swallowed the cancel");
}

/* A task that comes back from a wait acquires the lock inside that wait, where the judge does not
 * see it. It neither overtakes tasks that wait for the lock, nor leaves them beside a free one. */
Test(work_conserving, is_silent_about_the_lock_of_a_condition) {
    hall_passes(&bz_variant_buzzer,
                STAGE_SCRIPTS(WAITS, "acquire notify-1 yield release", "acquire release",
                              "acquire release"),
                "a b c a d b c a d",
                "a.acquire:ok b.acquire:ok b.notify-1:ok b.yield:ok b.release:ok c.acquire:ok "
                "c.release:ok a.wait:ok a.release:ok d.acquire:ok d.release:ok");
}

/* --- barrier ---------------------------------------------------------------------------------- */

static const char *const three[] = {"arrive", "arrive", "arrive", NULL};
static const char *const four[] = {"~arrive", "arrive", "arrive", "arrive", NULL};

Test(barrier_round, fires_when_too_few_pass) {
    hall_fails(&early, three, "a b", "barrier-round", 2, "b passed 'gate' with only 2 of 3");
    /* A task that was cancelled while the barrier filled does not count. */
    hall_fails(&early, three, "a !a a b c", "barrier-round", 5, "c passed 'gate' with only 2 of 3");
}

/* gh-155233; and a toy for indices out of range. */
Test(barrier_round, fires_when_an_index_comes_twice) {
    hall_fails(&bz_variant_zoo_bar_dup_index, four, "a b !a a c d b c", "barrier-round", 8,
               "c got index 1 of 'gate', which another task of its round has");
    hall_fails(&beyond, three, "a b c", "barrier-round", 3,
               "c got index 3 of 'gate', which is not in 0 to parties - 1");
}

Test(barrier_round, is_silent_when_each_round_is_complete) {
    hall_passes(&bz_variant_buzzer, three, "a b c b a", "c.arrive:ok b.arrive:ok a.arrive:ok");
    hall_passes(&bz_variant_zoo_bar_dup_index, three, "a b c",
                "c.arrive:ok a.arrive:ok b.arrive:ok");
    hall_passes(&bz_variant_buzzer, four, "a b !a a c d b c",
                "a.arrive:cancelled d.arrive:ok b.arrive:ok c.arrive:ok");
}

/* It belongs to the round: three came, and two of them pass. */
Test(barrier_round, is_silent_when_one_is_cancelled_after_the_round_is_complete) {
    hall_passes(&bz_variant_buzzer, three, "a b c !a a b",
                "c.arrive:ok a.arrive:cancelled b.arrive:ok");
}

/* Two rounds overlap. */
Test(barrier_round, is_silent_when_a_fast_task_fills_the_next_round) {
    hall_passes(&overlaps, STAGE_SCRIPTS("arrive", "arrive", "arrive arrive", "arrive", "arrive"),
                "a b c d e a b c d",
                "c.arrive:ok e.arrive:ok a.arrive:ok b.arrive:ok c.arrive:ok d.arrive:ok");
}

/* After a reset the next round is judged like the first. */
Test(barrier_round, starts_anew_after_a_reset) {
    hall_passes(&overlaps, STAGE_SCRIPTS("~arrive arrive", "arrive", "arrive", "reset"),
                "a d a b c b a", "a.arrive:broken c.arrive:ok b.arrive:ok a.arrive:ok");
    hall_passes(&overlaps, STAGE_SCRIPTS("arrive", "arrive", "arrive", "reset"), "a b c d a b",
                "c.arrive:ok a.arrive:ok b.arrive:ok");
    hall_fails(&early, STAGE_SCRIPTS("~arrive", "reset", "arrive", "arrive"), "a b a c d",
               "barrier-round", 5, "d passed 'gate' with only 2 of 3");
}

static const char *const reset[] = {"arrive", "arrive", "arrive", "arrive",
                                    "reset",  "arrive", "arrive", NULL};
static const char *const abort_and_reset[] = {
    "arrive", "arrive", "arrive", "arrive", "abort yield reset", NULL};

/* A wait that fills, one whose round drains, one that begins while the barrier is broken. */
Test(barrier_round, fires_when_a_broken_wait_passes) {
    hall_fails(&forgives, reset, "a e a", "barrier-round", 3,
               "a passed 'gate', although it was reset while it waited");
    hall_fails(&forgives, reset, "a b c e a", "barrier-round", 5, "a passed 'gate', although");
    hall_fails(&forgives, abort_and_reset, "a b c e a", "barrier-round", 5,
               "a passed 'gate', although it was aborted");
    hall_fails(&forgives, abort_and_reset, "e a", "barrier-round", 2, "although it was aborted");
}

/* d is held back: an abort fails its wait, a reset does not. */
Test(barrier_round, is_silent_when_those_who_wait_fail) {
    hall_passes(&bz_variant_buzzer, STAGE_SCRIPTS("arrive", "arrive", "arrive", "arrive", "reset"),
                "a e a b c d b c", "a.arrive:broken d.arrive:ok b.arrive:ok c.arrive:ok");
    hall_passes(&bz_variant_buzzer, reset, "a b c d e f a b g d f",
                "c.arrive:ok a.arrive:broken b.arrive:broken g.arrive:ok d.arrive:ok f.arrive:ok");
    hall_passes(&bz_variant_buzzer, abort_and_reset, "a b c d e d a b",
                "c.arrive:ok d.arrive:broken a.arrive:broken b.arrive:broken e.yield:ok");
    hall_passes(&bz_variant_buzzer, abort_and_reset, "a b c d e e d a b",
                "c.arrive:ok e.yield:ok d.arrive:broken a.arrive:broken b.arrive:broken");
    hall_fails(&breaks_too_much, reset, "a b c d e a b d", "status", 8,
               "wait of 'gate' returned broken to d, but the barrier is not broken");
    hall_fails(&early, reset, "a e a f g", "barrier-round", 5, "with only 2 of 3");
}

Test(lost_notification, fires_when_a_broken_barrier_leaves_somebody_asleep) {
    hall_fails(&asleep, reset, "a e", "lost-notification", 2,
               "e told 'gate' to wake 1 task, but it woke 0; 1 still waits");
    hall_fails(&asleep, abort_and_reset, "a b e", "lost-notification", 3,
               "to wake 2 tasks, but it woke 0");
    hall_passes(&asleep, reset, "a b c d e a b f g d f",
                "c.arrive:ok a.arrive:ok b.arrive:ok g.arrive:ok d.arrive:ok f.arrive:ok");
}

Test(barrier, says_what_is_not_offered) {
    struct stage stage;
    stage_begin_hall(&stage, &bz_variant_zoo_bar_dup_index);
    cr_assert_not(bz_sut_barrier_abort(&stage.barrier));
    cr_assert_not(bz_sut_barrier_reset(&stage.barrier));
    stage_end(&stage);
}

Test(lost_wakeup, fires_when_enough_wait_at_a_barrier) {
    hall_fails(&never_full, three, "a b c", "lost-wakeup", 3,
               "3 tasks wait at 'gate', which opens for 3, and nothing is under way to wake them");
}

Test(lost_wakeup, is_silent_at_a_barrier_where_too_few_wait) {
    hall_fails(&never_full, STAGE_SCRIPTS("arrive", "arrive"), "a b", "deadlock", 2,
               "a (in wait of 'gate'), b (in wait of 'gate')");
}

/* --- semaphore -------------------------------------------------------------------------------- */

/* gh-111693: three permits come back in one step while b alone waits; c and d queue behind it. */
static const char *const four_guests[] = {"acquire acquire acquire yield release release release",
                                          "acquire yield release", "acquire release",
                                          "acquire release", NULL};

Test(work_conserving, fires_when_a_waiter_that_resumes_wakes_one_where_two_fit) {
    toy_fails(&bz_variant_zoo_sem_one_wake, 3, four_guests, "a b a c d b", "work-conserving", 6,
              ", but d waits (first of 1 waiter)");
}

Test(work_conserving, is_silent_when_all_that_fit_are_woken) {
    toy_passes(&bz_variant_buzzer, 3, four_guests, "a b a c d b");
}

Test(work_conserving, is_silent_without_the_claim) {
    struct bz_variant claims_nothing = bz_variant_zoo_sem_one_wake;
    claims_nothing.claims = 0;
    toy_passes(&claims_nothing, 3, four_guests, "a b a c d b");
}
