/* Order of service: whom a grant passes over. */
#include "sim/judge/shadow.h"

/* Counts live arrivals that stand before this one. Only a grant out of order walks the line. */
static __attribute__((noinline, cold)) void pass_waiting(struct bz_shadow *shadow,
                                                         const struct bz_shadow_object *object,
                                                         uint32_t id,
                                                         struct bz_overtaking *overtaking) {
    uint32_t arrival = shadow->tasks[id].arrival;
    for (uint32_t position = object->first_live; position < arrival; position++) {
        if (bz_shadow_stands_live(shadow, object, position)) {
            uint32_t other = object->line[position];
            shadow->tasks[other].overtaken++;
            overtaking->first = overtaking->count++ == 0 ? other : overtaking->first;
        }
    }
}

static void find_first_woken(const struct bz_shadow *shadow, struct bz_shadow_object *object) {
    while (object->first_woken < object->line_end &&
           !bz_shadow_stands_woken(shadow, object, object->first_woken)) {
        object->first_woken++;
    }
}

/* A task returns with a permit, and no permit is left for earlier arrivals that were woken: it took
 * theirs. Those that were cancelled meanwhile do not count.
 */
static __attribute__((noinline, cold)) void rob_woken(struct bz_shadow *shadow,
                                                      struct bz_shadow_object *object, uint32_t id,
                                                      struct bz_overtaking *overtaking) {
    uint64_t promised = 0;
    uint32_t robbed = 0;
    uint32_t arrival = shadow->tasks[id].arrival;
    find_first_woken(shadow, object);
    for (uint32_t position = object->first_woken, seen = 0;
         position < arrival && seen < object->woken; position++) {
        if (!bz_shadow_stands_woken(shadow, object, position)) {
            continue;
        }
        seen++;
        uint32_t other = object->line[position];
        if (!shadow->tasks[other].cancel_pending) {
            promised++;
            robbed = robbed == 0 ? other : robbed;
        }
    }
    if (promised == 0 || object->holders + promised <= object->permits) {
        return;
    }
    overtaking->count += (uint32_t)(object->holders + promised - object->permits);
    overtaking->first = robbed;
    overtaking->how = BZ_OVERTAKES_ROBBED;
    shadow->tasks[robbed].overtaken++;
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

struct bz_overtaking bz_order_of_grant(struct bz_shadow *shadow, uint32_t number, uint32_t id,
                                       enum bz_grant grant) {
    struct bz_shadow_object *object = &shadow->objects[number];
    struct bz_overtaking overtaking = {.count = 0};
    bool is_at_once = grant == BZ_GRANT_AT_ONCE;
    bool passes = is_at_once
                      ? object->live > 0
                      : shadow->tasks[id].is_live && !bz_shadow_is_oldest(shadow, object, id);
    if (__builtin_expect(passes, 0)) {
        pass_waiting(shadow, object, id, &overtaking);
    }
    if (__builtin_expect(object->woken > 0, 0) && grant != BZ_GRANT_WAKE) {
        if (object->is_counted && object->holders + object->woken > object->permits) {
            rob_woken(shadow, object, id, &overtaking);
        }
        if (is_at_once && object->is_strict) {
            pass_woken(shadow, object, &overtaking);
        }
    }
    return overtaking;
}
