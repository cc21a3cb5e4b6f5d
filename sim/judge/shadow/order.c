/* Order of service: the waiters that a grant passes over. */
#include "sim/judge/shadow/shadow.h"

/* True if a wake-up is the grant. If not, it is a hint, and the return is the grant. */
static inline bool wakes_by_grant(const struct bz_shadow_object *object) {
    return (object->claims & BZ_CLAIM_WAKE_IS_GRANT) != 0;
}

/* True if a live task may have been granted something already, which no task can see before it
 * returns: it is suspended on no pending future (it was woken before it came to wait, it yields
 * with a permit in its hand), or its future means little. */
static inline bool may_own(const struct bz_shadow_object *object,
                           const struct bz_shadow_task *task) {
    return task->phase != BZ_PHASE_SUSPENDED || task->inside != BZ_INSIDE_WAITING ||
           !wakes_by_grant(object);
}

/* See bz_order_of_grant(). */
static void overtake(struct bz_shadow_object *object, struct bz_shadow_task *task) {
    bool is_ready = task->inside == BZ_INSIDE_WOKEN || task->wait == BZ_WAIT_YIELD;
    task->overtaken += is_ready ? !task->was_overtaken : !object->was_overtaken;
    task->was_overtaken = is_ready;
}

/* Counts live arrivals that stand before this one, without those that may own something, as many as
 * there is something left for. Only a grant out of order walks the line. A task that others run
 * inside of does not wait, and while there is one, the call that it is in may be about to wake
 * those that wait for something uncounted. */
static __attribute__((noinline, cold)) void pass_waiting(struct bz_shadow *shadow,
                                                         struct bz_shadow_object *object,
                                                         uint32_t id, uint64_t left,
                                                         struct bz_overtaking *overtaking) {
    uint32_t arrival = shadow->inside > 0 && !object->is_counted ? 0 : shadow->tasks[id].arrival;
    for (uint32_t position = object->first_live; position < arrival; position++) {
        uint32_t other = object->line[position];
        if (!bz_shadow_stands_live(shadow, object, position) ||
            shadow->tasks[other].wait == BZ_WAIT_INSIDE) {
            continue;
        }
        if (left > 0 && may_own(object, &shadow->tasks[other])) {
            left--;
            continue;
        }
        overtake(object, &shadow->tasks[other]);
        overtaking->first = overtaking->count++ == 0 ? other : overtaking->first;
    }
}

static void find_first_woken(const struct bz_shadow *shadow, struct bz_shadow_object *object) {
    while (object->first_woken < object->line_end &&
           !bz_shadow_stands_woken(shadow, object, object->first_woken)) {
        object->first_woken++;
    }
}

/* The earlier arrivals that were woken, and the oldest one. Those that were cancelled meanwhile,
 * and those that need nothing any more, do not count. */
static __attribute__((noinline, cold)) uint32_t count_woken(const struct bz_shadow *shadow,
                                                            struct bz_shadow_object *object,
                                                            uint32_t id, uint32_t *oldest) {
    uint32_t promised = 0;
    uint32_t arrival = shadow->tasks[id].arrival;
    find_first_woken(shadow, object);
    for (uint32_t position = object->first_woken, seen = 0;
         position < arrival && seen < object->woken; position++) {
        if (!bz_shadow_stands_woken(shadow, object, position)) {
            continue;
        }
        seen++;
        uint32_t other = object->line[position];
        if (!shadow->tasks[other].cancel_pending && !shadow->tasks[other].was_settled) {
            *oldest = promised++ == 0 ? other : *oldest;
        }
    }
    return promised;
}

/* How many there may be. If a queue hands items over, a getter that was woken has freed its slot,
 * and a putter that was woken has brought its item, though neither has returned. */
static inline uint64_t may_have(const struct bz_shadow *shadow,
                                const struct bz_shadow_object *object) {
    bool is_half = object->kind == BZ_OBJECT_ITEMS || object->kind == BZ_OBJECT_SLOTS;
    if (!is_half) {
        return object->permits;
    }
    const struct bz_shadow_object *other = &shadow->objects[object->partner];
    uint64_t permits = object->permits + object->maybe + other->maybe;
    return (object->claims & BZ_CLAIM_TAKES_AT_RETURN) != 0
               ? permits
               : permits + other->woken + other->cancelled + other->polling;
}

/* A task returns with a permit, and no permit is left for earlier arrivals that were woken: it took
 * theirs. */
static __attribute__((noinline, cold)) void rob_woken(struct bz_shadow *shadow,
                                                      struct bz_shadow_object *object,
                                                      uint32_t promised, uint32_t oldest,
                                                      struct bz_overtaking *overtaking) {
    uint64_t permits = may_have(shadow, object);
    if (object->holders + promised > permits) {
        overtaking->count += (uint32_t)(object->holders + promised - permits);
        overtaking->first = oldest;
        overtaking->how = BZ_OVERTAKES_ROBBED;
        overtake(object, &shadow->tasks[oldest]);
    }
}

/* A newcomer was granted at once while earlier, woken ones have not resumed. */
static __attribute__((noinline, cold)) void pass_woken(const struct bz_shadow *shadow,
                                                       struct bz_shadow_object *object,
                                                       struct bz_overtaking *overtaking) {
    find_first_woken(shadow, object);
    if (object->first_woken < object->line_end && overtaking->count == 0) {
        *overtaking = (struct bz_overtaking){.count = object->woken,
                                             .first = object->line[object->first_woken],
                                             .how = BZ_OVERTAKES_WOKEN};
    }
}

/* Free permits that no waiter was woken for. Uncounted things never run out. */
static inline uint64_t count_left(const struct bz_shadow *shadow,
                                  const struct bz_shadow_object *object, uint32_t promised) {
    uint64_t permits = may_have(shadow, object);
    uint64_t taken = object->holders + promised;
    return !object->is_counted ? UINT64_MAX : permits > taken ? permits - taken : 0;
}

struct bz_overtaking bz_order_of_grant(struct bz_shadow *shadow, uint32_t number, uint32_t id,
                                       enum bz_grant grant) {
    struct bz_shadow_object *object = &shadow->objects[number];
    struct bz_overtaking overtaking = {.count = 0};
    bool is_by_grant = wakes_by_grant(object);
    bool is_wake = grant == BZ_GRANT_WAKE;
    bool has_woken = !is_wake & (object->woken > 0);
    uint32_t promised = 0;
    uint32_t oldest = 0;
    if (is_wake & !is_by_grant) {
        return overtaking; /* nothing was granted yet */
    }
    if (has_woken && object->is_counted &&
        (!is_by_grant || object->holders + object->woken > object->permits)) {
        promised = count_woken(shadow, object, id, &oldest);
    }
    /* A grant by a wake-up was judged then. */
    bool is_judged = grant == BZ_GRANT_RETURN && is_by_grant && !shadow->tasks[id].is_live;
    if (!is_judged && object->live > 0 && !bz_shadow_is_oldest(shadow, object, id)) {
        pass_waiting(shadow, object, id,
                     count_left(shadow, object, is_by_grant ? object->woken : promised),
                     &overtaking);
    }
    if (promised > 0) {
        rob_woken(shadow, object, promised, oldest, &overtaking);
    }
    if (has_woken && grant == BZ_GRANT_AT_ONCE && object->is_strict) {
        pass_woken(shadow, object, &overtaking);
    }
    object->was_overtaken |= (overtaking.count > 0) & (object->woken + object->polling > 0);
    return overtaking;
}
