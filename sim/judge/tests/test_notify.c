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

/* Wakes the oldest waiter last. */
static void wakes_turned_set(void *instance) {
    struct bz_sync_event *event = instance;
    struct bz_list *oldest = event->queue.waiting.next;
    bz_list_remove(oldest);
    bz_list_push_back(&event->queue.waiting, oldest);
    bz_variant_buzzer.event->set(instance);
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
TOY_OF(event, wakes_turned, CLAIMS, *bz_variant_buzzer.event, ops->set = wakes_turned_set)
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
CONDITION(loses_to_dead, CLAIMS, ops->notify = notify_dead)
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

Test(notify, timelines) {
    static const struct stage_row rows[] = {
        /* It also fires if the flag is clear again when the step ends. */
        {"lost-notification/fires_when_a_set_leaves_somebody_asleep", &wakes_one,
         "hall; a-b: pass; c: set; a b c",
         "lost-notification 3: c told 'flag' to wake 2 tasks, but it woke 1; 1 still waits"},
        {"", &wakes_one, "hall; a-b: pass; c: set clear; a b c",
         "lost-notification 3: but it woke 1"},
        {"fifo/of_an_event_tells_of_no_permit", &wakes_turned, "hall; a-b: pass; c: set; a b c",
         "fifo 3: b was woken by 'flag' before a, which still waits; waiters overtaken: 1"},
        {"lost-notification/is_silent_when_a_set_wakes_all_that_wait", &bz_variant_buzzer,
         "hall; a-b: pass; c: set; a b c => a.pass:ok b.pass:ok"},
        {"", &bz_variant_buzzer, "hall; a-b: pass; c: set clear; a b c b a => b.pass:ok a.pass:ok"},
        /* One waiter was cancelled before: the set need not wake it. */
        {"", &wakes_one, "hall; a-b: pass; c: set; a b !a c => a.pass:cancelled b.pass:ok"},
        {"lost-notification/is_silent_about_waiters_that_poll", &polls,
         "hall; a-b: pass; c: set; a b a b c b a => b.pass:ok a.pass:ok"},
        {"lost-wakeup/fires_when_a_task_waits_beside_a_set_flag", &blind,
         "hall; a: set; b: pass; a b",
         "lost-wakeup 2: 'flag' is set, but b waits (first of 1 waiter), and nothing is under way "
         "to wake it"},
        {"lost-wakeup/is_silent_beside_a_flag_that_was_cleared", &bz_variant_buzzer,
         "hall; a: set clear yield set; b: pass; a b a => a.yield:ok b.pass:ok"},
        {"", &bz_variant_buzzer, "hall; a: set; b: pass; a b => b.pass:ok"},
        {"lost-notification/fires_when_a_notification_wakes_too_few", &notifies_fewer,
         "hall; a-b: acquire wait release; c: acquire notify-2 release; a b c",
         "lost-notification 3: c told 'news' to wake 2 tasks, but it woke 1; 1 still waits"},
        /* notify-count is silent as well, here and below: each wake-up was due. */
        {"lost-notification/is_silent_when_there_are_fewer_than_it_is_for", &bz_variant_buzzer,
         "hall; a: acquire wait release; b: acquire notify-9 notify-1 release; a b => a.acquire:ok "
         "b.acquire:ok b.notify-9:ok b.notify-1:ok b.release:ok a.wait:ok a.release:ok"},
        /* gh-112202: in the window, and while it waits for the lock. */
        {"lost-notification/fires_when_a_cancelled_waiter_takes_it_along",
         &bz_variant_zoo_cond_notify_lost,
         "hall; a-b: acquire ~wait release; c: acquire notify-1 yield release; a b c !a a c a",
         "lost-notification 7: a was notified by 'news', then cancelled, and left without passing "
         "it on; 1 task still waits"},
        {"", &bz_variant_zoo_cond_notify_lost,
         "hall; a-b: acquire ~wait release; c: acquire notify-1 yield release; a b c a !a a c a",
         "lost-notification 8: a was notified by 'news', then cancelled, and left without passing "
         "it on; 1 task still waits"},
        {"lost-notification/is_silent_when_a_cancelled_waiter_passes_it_on", &bz_variant_buzzer,
         "hall; a-b: acquire ~wait release; c: acquire notify-1 yield release; a b c !a a c => "
         "a.acquire:ok b.acquire:ok c.acquire:ok c.notify-1:ok c.yield:ok c.release:ok "
         "a.wait:cancelled a.release:ok b.wait:ok b.release:ok"},
        {"", &bz_variant_buzzer,
         "hall; a-b: acquire ~wait release; c: acquire notify-1 yield release; a b c a !a a b c => "
         "a.acquire:ok b.acquire:ok c.acquire:ok c.notify-1:ok c.yield:ok c.release:ok "
         "a.wait:cancelled a.release:ok b.wait:ok b.release:ok"},
        /* As programs do on CPython before 3.13: in the step in which the wait returns. */
        {"lost-notification/is_silent_when_the_program_passes_it_on",
         &bz_variant_zoo_cond_notify_lost,
         "hall; a: acquire ~wait notify-1 release; b: acquire wait release; c: acquire notify-1 "
         "yield release; a b c !a a c a b => a.acquire:ok b.acquire:ok c.acquire:ok c.notify-1:ok "
         "c.yield:ok c.release:ok a.wait:cancelled a.notify-1:ok a.release:ok b.wait:ok "
         "b.release:ok"},
        {"", &bz_variant_zoo_cond_notify_lost,
         "hall; a: acquire ~wait yield notify-1 release; b: acquire wait release; c: acquire "
         "notify-1 yield release; a b c !a a c a",
         "lost-notification 7: a was notified by 'news', then cancelled, and left without passing "
         "it on"},
        /* asyncio from 3.13 on: a cancelled waiter wakes another one, even if nobody had notified
         * it. */
        {"lost-notification/is_silent_about_wake_ups_for_no_reason", &bz_variant_asyncio_313,
         "hall; a: acquire ~wait release; b: acquire wait release; a b !a a b => a.acquire:ok "
         "b.acquire:ok a.wait:cancelled a.release:ok b.wait:ok b.release:ok"},
        /* It had not begun to wait, so that it has no notification to pass on. */
        {"lost-notification/is_silent_about_a_task_that_is_cancelled_before_it_waits", &yields,
         "hall; a: acquire wait release; b: acquire ~wait release; c: acquire notify-1 release; a "
         "a b !b b c a => a.acquire:ok b.acquire:ok b.wait:cancelled b.release:ok c.acquire:ok "
         "c.notify-1:ok c.release:ok a.wait:ok a.release:ok"},
        {"lost-notification/is_silent_when_it_goes_through_a_cancelled_waiter", &wakes_dead,
         "hall; a-b: acquire ~wait release; c: acquire notify-1 yield release; a b !a c a => "
         "a.acquire:ok b.acquire:ok c.acquire:ok c.notify-1:ok c.yield:ok c.release:ok "
         "a.wait:cancelled a.release:ok b.wait:ok b.release:ok"},
        {"lost-notification/fires_when_it_ends_at_a_cancelled_waiter", &loses_to_dead,
         "hall; a-b: acquire ~wait release; c: acquire notify-1 yield release; a b !a c a",
         "lost-notification 7: a was cancelled, then notified by 'news', and left without passing "
         "it on"},
        /* gh-67159; and a toy for the case in which nobody holds the lock. */
        {"relock/fires_when_a_wait_comes_back_without_the_lock", &bz_variant_zoo_cond_cancel_relock,
         "hall; a-b: acquire ~wait release; c: acquire notify-1 yield release; a b c a !a a",
         "relock 6: the wait of a for 'news' returned 'cancelled' while another task holds the "
         "lock"},
        {"", &never_relocks, "hall; a: acquire wait release; b: acquire notify-1 release; a b a",
         "relock 3: the wait of a for 'news' returned 'ok' without the lock"},
        /* Cancelled twice while it acquires the lock, the waiter comes back with it. */
        {"relock/is_silent_when_it_comes_back_with_the_lock", &bz_variant_buzzer,
         "hall; a: acquire ~wait release; b: acquire notify-1 yield yield release; a b a !a a !a a "
         "b b a => a.acquire:ok b.acquire:ok b.notify-1:ok b.yield:ok b.yield:ok b.release:ok "
         "a.wait:cancelled a.release:ok"},
        /* gh-77022. The task that swallowed the cancellation uses the notification, so that none is
         * lost. */
        {"cancel-delivered/fires_when_the_way_back_to_the_lock_swallows_a_request",
         &bz_variant_zoo_cond_swallow,
         "hall; a-b: acquire ~wait release; c: acquire notify-1 yield release; a b c a !a a c a",
         "cancel-delivered 8: a was cancelled in wait of 'news', which returned 'ok' and swallowed "
         "the cancel"},
        /* A task that comes back from a wait acquires the lock inside that wait, where the judge
         * does not see it. It neither overtakes tasks that wait for the lock, nor leaves them
         * beside a free one. */
        {"work-conserving/is_silent_about_the_lock_of_a_condition", &bz_variant_buzzer,
         "hall; a: acquire wait release; b: acquire notify-1 yield release; c-d: acquire release; "
         "a b c a d b c a d => a.acquire:ok b.acquire:ok b.notify-1:ok b.yield:ok b.release:ok "
         "c.acquire:ok c.release:ok a.wait:ok a.release:ok d.acquire:ok d.release:ok"},
        {"barrier-round/fires_when_too_few_pass", &early, "hall; a-c: arrive; a b",
         "barrier-round 2: b passed 'gate' with only 2 of 3"},
        /* A task that was cancelled while the barrier filled does not count. */
        {"", &early, "hall; a-c: arrive; a !a a b c",
         "barrier-round 5: c passed 'gate' with only 2 of 3"},
        /* gh-155233; and a toy for indices out of range. */
        {"barrier-round/fires_when_an_index_comes_twice", &bz_variant_zoo_bar_dup_index,
         "hall; a: ~arrive; b-d: arrive; a b !a a c d b c",
         "barrier-round 8: c got index 1 of 'gate', which another task of its round has"},
        {"", &beyond, "hall; a-c: arrive; a b c",
         "barrier-round 3: c got index 3 of 'gate', which is not in 0 to parties - 1"},
        {"barrier-round/is_silent_when_each_round_is_complete", &bz_variant_buzzer,
         "hall; a-c: arrive; a b c b a => c.arrive:ok b.arrive:ok a.arrive:ok"},
        {"", &bz_variant_zoo_bar_dup_index,
         "hall; a-c: arrive; a b c => c.arrive:ok a.arrive:ok b.arrive:ok"},
        {"", &bz_variant_buzzer,
         "hall; a: ~arrive; b-d: arrive; a b !a a c d b c => a.arrive:cancelled d.arrive:ok "
         "b.arrive:ok c.arrive:ok"},
        /* It belongs to the round: three came, and two of them pass. */
        {"barrier-round/is_silent_when_one_is_cancelled_after_the_round_is_complete",
         &bz_variant_buzzer,
         "hall; a-c: arrive; a b c !a a b => c.arrive:ok a.arrive:cancelled b.arrive:ok"},
        /* Two rounds overlap. */
        {"barrier-round/is_silent_when_a_fast_task_fills_the_next_round", &overlaps,
         "hall; a-b: arrive; c: arrive arrive; d-e: arrive; a b c d e a b c d => c.arrive:ok "
         "e.arrive:ok a.arrive:ok b.arrive:ok c.arrive:ok d.arrive:ok"},
        /* After a reset the next round is judged like the first. */
        {"barrier-round/starts_anew_after_a_reset", &overlaps,
         "hall; a: ~arrive arrive; b-c: arrive; d: reset; a d a b c b a => a.arrive:broken "
         "c.arrive:ok b.arrive:ok a.arrive:ok"},
        {"", &overlaps,
         "hall; a-c: arrive; d: reset; a b c d a b => c.arrive:ok a.arrive:ok b.arrive:ok"},
        {"", &early, "hall; a: ~arrive; b: reset; c-d: arrive; a b a c d",
         "barrier-round 5: d passed 'gate' with only 2 of 3"},
        /* A wait that fills, one whose round drains, one that begins while the barrier is
         * broken. */
        {"barrier-round/fires_when_a_broken_wait_passes", &forgives,
         "hall; a-d: arrive; e: reset; f-g: arrive; a e a",
         "barrier-round 3: a passed 'gate', although it was reset while it waited"},
        {"", &forgives, "hall; a-d: arrive; e: reset; f-g: arrive; a b c e a",
         "barrier-round 5: a passed 'gate', although"},
        {"", &forgives, "hall; a-d: arrive; e: abort yield reset; a b c e a",
         "barrier-round 5: a passed 'gate', although it was aborted"},
        {"", &forgives, "hall; a-d: arrive; e: abort yield reset; e a",
         "barrier-round 2: although it was aborted"},
        /* d is held back: an abort fails its wait, a reset does not. */
        {"barrier-round/is_silent_when_those_who_wait_fail", &bz_variant_buzzer,
         "hall; a-d: arrive; e: reset; a e a b c d b c => a.arrive:broken d.arrive:ok b.arrive:ok "
         "c.arrive:ok"},
        {"", &bz_variant_buzzer,
         "hall; a-d: arrive; e: reset; f-g: arrive; a b c d e f a b g d f => c.arrive:ok "
         "a.arrive:broken b.arrive:broken g.arrive:ok d.arrive:ok f.arrive:ok"},
        {"", &bz_variant_buzzer,
         "hall; a-d: arrive; e: abort yield reset; a b c d e d a b => c.arrive:ok d.arrive:broken "
         "a.arrive:broken b.arrive:broken e.yield:ok"},
        {"", &bz_variant_buzzer,
         "hall; a-d: arrive; e: abort yield reset; a b c d e e d a b => c.arrive:ok e.yield:ok "
         "d.arrive:broken a.arrive:broken b.arrive:broken"},
        {"", &breaks_too_much, "hall; a-d: arrive; e: reset; f-g: arrive; a b c d e a b d",
         "status 8: wait of 'gate' returned broken to d, but the barrier is not broken"},
        {"", &early, "hall; a-d: arrive; e: reset; f-g: arrive; a e a f g",
         "barrier-round 5: with only 2 of 3"},
        {"lost-notification/fires_when_a_broken_barrier_leaves_somebody_asleep", &asleep,
         "hall; a-d: arrive; e: reset; f-g: arrive; a e",
         "lost-notification 2: e told 'gate' to wake 1 task, but it woke 0; 1 still waits"},
        {"", &asleep, "hall; a-d: arrive; e: abort yield reset; a b e",
         "lost-notification 3: to wake 2 tasks, but it woke 0"},
        {"", &asleep,
         "hall; a-d: arrive; e: reset; f-g: arrive; a b c d e a b f g d f => c.arrive:ok "
         "a.arrive:ok b.arrive:ok g.arrive:ok d.arrive:ok f.arrive:ok"},
        {"lost-wakeup/fires_when_enough_wait_at_a_barrier", &never_full, "hall; a-c: arrive; a b c",
         "lost-wakeup 3: 3 tasks wait at 'gate', which opens for 3, and nothing is under way to "
         "wake them"},
        {"lost-wakeup/is_silent_at_a_barrier_where_too_few_wait", &never_full,
         "hall; a-b: arrive; a b", "deadlock 2: a (in wait of 'gate'), b (in wait of 'gate')"},
        {"work-conserving/fires_when_a_waiter_that_resumes_wakes_one_where_two_fit",
         &bz_variant_zoo_sem_one_wake,
         "permits 3; a: acquire acquire acquire yield release release release; b: acquire yield "
         "release; c-d: acquire release; a b a c d b",
         "work-conserving 6: , but d waits (first of 1 waiter)"},
        {"work-conserving/is_silent_when_all_that_fit_are_woken", &bz_variant_buzzer,
         "permits 3; a: acquire acquire acquire yield release release release; b: acquire yield "
         "release; c-d: acquire release; a b a c d b"},
        {NULL},
    };
    stage_rows(rows);
}

Test(barrier, says_what_is_not_offered) {
    struct stage stage;
    stage_begin_as(&stage, &bz_variant_zoo_bar_dup_index, "hall");
    cr_assert_not(bz_sut_barrier_abort(&stage.barrier));
    cr_assert_not(bz_sut_barrier_reset(&stage.barrier));
    stage_end(&stage);
}

/* The tables of other variants, with other claims. */
Test(notify, claims) {
    struct bz_variant exact = bz_variant_asyncio_313;
    struct bz_variant claims_nothing = bz_variant_zoo_sem_one_wake;
    exact.claims |= BZ_CLAIM_EXACT_NOTIFY;
    claims_nothing.claims = 0;
    const struct stage_row rows[] = {
        {"notify-count/fires_on_a_wake_up_for_no_reason_where_none_is_claimed", &exact,
         "hall; a: acquire ~wait release; b: acquire wait release; a b !a a",
         "notify-count 4: 'news' has woken 1 waiter so far, but 0 were due: 1 too many"},
        {"work-conserving/is_silent_without_the_claim", &claims_nothing,
         "permits 3; a: acquire acquire acquire yield release release release;"
         "b: acquire yield release; c-d: acquire release; a b a c d b"},
        {NULL},
    };
    stage_rows(rows);
}
