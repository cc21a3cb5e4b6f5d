/* Two hundred thousand that release, put, fire or cancel in their callbacks, on the smallest stack
 * that a task can have: nothing is deep in proportion to the queue, and nothing quadratic. */
#include <stdlib.h>

#include "primitives/sync/deferred_lock.h"
#include "primitives/sync/deferred_queue.h"
#include "primitives/sync/deferred_semaphore.h"
#include "primitives/tests/support.h"

#define CROWD 200000u
#define TOKENS 3u
#define SPREAD_BYTES 4096u /* between the frames of any two callbacks */

struct crowd;

struct guest {
    struct bz_deferred_waiter waiter;
    struct bz_deferred_pair first;
    struct bz_deferred_pair second;
    struct crowd *crowd;
};

/* A row of the table below. */
struct play {
    const char *name;
    void (*come)(struct guest *guest); /* all come in the same way */
    bz_deferred_fn *first;             /* of each guest; the second one counts the ends */
    void (*act)(struct crowd *crowd);  /* in a task of its own */
    uint32_t served;                   /* the others are told of an error, or cancelled */
    bool is_locked;                    /* the lock, in the end */
    uint32_t tokens;                   /* free ones, in the end */
    uint32_t items;                    /* in the queue, in the end */
};

struct crowd {
    struct bz_loop *loop;
    struct bz_trampoline trampoline;
    struct bz_deferred_lock lock;
    struct bz_deferred_semaphore semaphore;
    struct bz_deferred_queue queue;
    struct bz_deferred_waiter holders[1 + TOKENS]; /* of the lock; of the tokens */
    uint64_t items[1];
    struct guest *guests;
    const struct play *play;
    uint32_t served;
    uint32_t failed;
    uint32_t ended; /* second callbacks */
    uint32_t out_of_order;
    uint32_t refused;
    char *lowest_frame;
    char *highest_frame;
};

static uint32_t number_of(struct guest *guest) {
    return (uint32_t)(guest - guest->crowd->guests);
}

static struct bz_deferred *deferred_of(struct crowd *crowd, uint32_t index) {
    return &crowd->guests[index].waiter.deferred;
}

static void note_frame(struct crowd *crowd, char *frame) {
    if (crowd->lowest_frame == NULL || frame < crowd->lowest_frame) {
        crowd->lowest_frame = frame;
    }
    if (frame > crowd->highest_frame) {
        crowd->highest_frame = frame;
    }
}

/* The guest whose first callback runs, which comes in order. */
static struct guest *served_guest(struct bz_deferred_pair *pair, struct bz_deferred_result result) {
    struct guest *guest = bz_container_of(pair, struct guest, first);
    struct crowd *crowd = guest->crowd;
    note_frame(crowd, __builtin_frame_address(0));
    crowd->out_of_order += number_of(guest) != crowd->served + crowd->failed;
    crowd->served += result.status == BZ_OK;
    crowd->failed += result.status != BZ_OK;
    return guest;
}

/* The one behind it; NULL: it is the last. */
static struct bz_deferred *next_of(struct guest *guest) {
    uint32_t next = number_of(guest) + 1;
    return next < CROWD ? deferred_of(guest->crowd, next) : NULL;
}

static struct bz_deferred_result second_run(struct bz_deferred_pair *pair,
                                            struct bz_deferred_result result) {
    struct guest *guest = bz_container_of(pair, struct guest, second);
    note_frame(guest->crowd, __builtin_frame_address(0));
    guest->crowd->ended++;
    return result;
}

static void add_callbacks(struct crowd *crowd, uint32_t index) {
    struct bz_deferred *deferred = deferred_of(crowd, index);
    bz_deferred_add_both(deferred, &crowd->guests[index].first, crowd->play->first);
    bz_deferred_add_both(deferred, &crowd->guests[index].second, second_run);
}

/* --- the lock --------------------------------------------------------------------------------- */

static void acquire_lock(struct guest *guest) {
    bz_deferred_lock_acquire(&guest->crowd->lock, &guest->waiter);
}

static void act_release_lock(struct crowd *crowd) {
    crowd->refused += bz_deferred_lock_release(&crowd->lock) != BZ_OK;
}

static struct bz_deferred_result release_lock(struct bz_deferred_pair *pair,
                                              struct bz_deferred_result result) {
    struct guest *guest = served_guest(pair, result);
    if (result.status == BZ_OK) {
        act_release_lock(guest->crowd);
    }
    return result;
}

/* Each that is cancelled cancels the next one. */
static struct bz_deferred_result cancel_next(struct bz_deferred_pair *pair,
                                             struct bz_deferred_result result) {
    struct bz_deferred *next = next_of(served_guest(pair, result));
    if (next != NULL) {
        bz_deferred_cancel(next);
    }
    return result;
}

static void act_cancel_first(struct crowd *crowd) {
    bz_deferred_cancel(deferred_of(crowd, 0));
}

/* All but the last are cancelled, newest first, and the last one is served at once. */
static void act_cancel_newest_first(struct crowd *crowd) {
    for (uint32_t index = CROWD - 1; index-- > 0;) {
        bz_deferred_cancel(deferred_of(crowd, index));
    }
    crowd->out_of_order = 0; /* it was out of order, as intended */
    act_release_lock(crowd);
}

/* --- the semaphore and the queue -------------------------------------------------------------- */

static void acquire_token(struct guest *guest) {
    bz_deferred_semaphore_acquire(&guest->crowd->semaphore, &guest->waiter);
}

static struct bz_deferred_result release_token(struct bz_deferred_pair *pair,
                                               struct bz_deferred_result result) {
    struct crowd *crowd = served_guest(pair, result)->crowd;
    crowd->refused += bz_deferred_semaphore_release(&crowd->semaphore) != BZ_OK;
    return result;
}

static void act_release_tokens(struct crowd *crowd) {
    for (uint32_t count = 0; count < TOKENS; count++) {
        crowd->refused += bz_deferred_semaphore_release(&crowd->semaphore) != BZ_OK;
    }
}

static void get(struct guest *guest) {
    tst_status(bz_deferred_queue_get(&guest->crowd->queue, &guest->waiter), BZ_OK);
}

static void put(struct crowd *crowd, uint64_t item) {
    crowd->refused += bz_deferred_queue_put(&crowd->queue, item) != BZ_OK;
}

static struct bz_deferred_result put_next(struct bz_deferred_pair *pair,
                                          struct bz_deferred_result result) {
    struct guest *guest = served_guest(pair, result);
    guest->crowd->out_of_order += result.value != number_of(guest);
    put(guest->crowd, result.value + 1);
    return result;
}

static void act_put_first(struct crowd *crowd) {
    put(crowd, 0);
}

/* --- deferreds alone -------------------------------------------------------------------------- */

static void init(struct guest *guest) {
    bz_deferred_init(&guest->waiter.deferred, &guest->crowd->trampoline, NULL);
}

/* Fires all before `end`, oldest first. */
static void fire_before(struct crowd *crowd, uint32_t end) {
    for (uint32_t index = 0; index < end; index++) {
        bz_deferred_callback(deferred_of(crowd, index), 0);
    }
}

static struct bz_deferred_result fire_next(struct bz_deferred_pair *pair,
                                           struct bz_deferred_result result) {
    struct bz_deferred *next = next_of(served_guest(pair, result));
    if (next != NULL) {
        bz_deferred_callback(next, 0);
    }
    return result;
}

static void act_fire_first(struct crowd *crowd) {
    fire_before(crowd, 1);
}

/* Each waits for the next one; the last one's result comes all the way back. */
static struct bz_deferred_result wait_for_next(struct bz_deferred_pair *pair,
                                               struct bz_deferred_result result) {
    struct bz_deferred *next = next_of(served_guest(pair, result));
    return next != NULL ? bz_deferred_wait_for(next) : bz_deferred_ok(77);
}

static void act_fire_all(struct crowd *crowd) {
    fire_before(crowd, CROWD);
}

static void act_cancel_through_the_chain(struct crowd *crowd) {
    fire_before(crowd, CROWD - 1);
    crowd->refused += !bz_deferred_cancel(deferred_of(crowd, 0));
    crowd->refused += !bz_deferred_is_settled(deferred_of(crowd, 0));
}

/* --- the table -------------------------------------------------------------------------------- */

static const struct play plays[] = {
    {"at_a_lock_releases_in_its_callbacks", acquire_lock, release_lock, act_release_lock, CROWD},
    {"at_a_lock_cancels_one_another", acquire_lock, cancel_next, act_cancel_first, 0,
     .is_locked = true},
    {"at_a_lock_is_cancelled_newest_first", acquire_lock, release_lock, act_cancel_newest_first, 1},
    {"at_a_semaphore_releases_in_its_callbacks", acquire_token, release_token, act_release_tokens,
     CROWD, .is_locked = true, .tokens = TOKENS},
    {"at_a_queue_puts_in_its_callbacks", get, put_next, act_put_first, CROWD, .is_locked = true,
     .items = 1},
    {"fires_one_another", init, fire_next, act_fire_first, CROWD, .is_locked = true},
    /* The pair that ends a chain stands before the place in which the one before waits. */
    {"waits_for_one_another", init, wait_for_next, act_fire_all, CROWD, .is_locked = true},
    {"is_cancelled_through_the_chain", init, wait_for_next, act_cancel_through_the_chain, CROWD - 1,
     .is_locked = true},
};

/* The lock and all tokens are taken, the queue is empty. */
static void crowd_begin(struct crowd *crowd, const struct play *play) {
    struct bz_loop_config config = {.stack_bytes = BZ_STACK_BYTES_MIN};
    *crowd = (struct crowd){.loop = tst_begin_with(&config), .play = play};
    bz_trampoline_init(&crowd->trampoline, crowd->loop);
    bz_deferred_lock_init(&crowd->lock, &crowd->trampoline);
    bz_deferred_queue_init(&crowd->queue, &crowd->trampoline, crowd->items, 1,
                           BZ_DEFERRED_QUEUE_BACKLOG_MAX);
    tst_status(bz_deferred_semaphore_init(&crowd->semaphore, &crowd->trampoline, TOKENS), BZ_OK);
    bz_deferred_lock_acquire(&crowd->lock, &crowd->holders[0]);
    for (uint32_t count = 1; count <= TOKENS; count++) {
        bz_deferred_semaphore_acquire(&crowd->semaphore, &crowd->holders[count]);
    }
    crowd->guests = calloc(CROWD, sizeof crowd->guests[0]);
    for (uint32_t index = 0; index < CROWD; index++) {
        crowd->guests[index].crowd = crowd;
        play->come(&crowd->guests[index]);
        add_callbacks(crowd, index);
    }
}

static enum bz_status act_in_task(void *arg) {
    struct crowd *crowd = arg;
    crowd->play->act(crowd);
    return BZ_OK;
}

static void crowd_play(const struct play *play) {
    struct crowd crowd;
    crowd_begin(&crowd, play);
    uint32_t at_the_lock = play->come == acquire_lock ? CROWD : 0;
    cr_assert_eq(crowd.lock.semaphore.queue.waiting_count, at_the_lock, "%s", play->name);
    tst_start(crowd.loop, act_in_task, &crowd);
    tst_run(crowd.loop);
    cr_assert_eq(crowd.served, play->served, "%s: %u served", play->name, crowd.served);
    cr_assert_eq(crowd.failed, CROWD - play->served, "%s: %u failed", play->name, crowd.failed);
    cr_assert_eq(crowd.ended, CROWD, "%s: %u ended", play->name, crowd.ended);
    cr_assert_eq(crowd.out_of_order + crowd.refused, 0, "%s", play->name);
    cr_assert_lt((uint64_t)(crowd.highest_frame - crowd.lowest_frame), SPREAD_BYTES, "%s",
                 play->name);
    cr_assert_eq(bz_deferred_lock_locked(&crowd.lock), play->is_locked, "%s", play->name);
    cr_assert_eq(crowd.lock.semaphore.queue.waiting_count, 0, "%s", play->name);
    cr_assert_eq(crowd.semaphore.tokens, play->tokens, "%s", play->name);
    cr_assert_eq(crowd.queue.count, play->items, "%s", play->name);
    free(crowd.guests);
    tst_end(crowd.loop);
}

Test(deferred_crowd, plays) {
    for (size_t index = 0; index < sizeof plays / sizeof plays[0]; index++) {
        crowd_play(&plays[index]);
    }
}
