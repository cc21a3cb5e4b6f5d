/* Correct designs that differ from the primitives that ship as much as they can. No oracle may
 * object to any of them: each claims what it keeps, and nothing else. They are written as a plug-in
 * is, against sim/variant/plugin.h. */
#ifndef BZ_SCENARIOS_TESTS_DESIGNS_H
#define BZ_SCENARIOS_TESTS_DESIGNS_H

#include "primitives/runtime/check.h"
#include "sim/variant/plugin.h"

/* A place in a queue: on the stack of its task, unless a design says otherwise. */
struct place {
    struct bz_future future;
    struct bz_list link; /* in a queue, or unlinked */
};

static inline struct place *place_of(struct bz_list *link) {
    return bz_container_of(link, struct place, link);
}

/* Joins at the end. */
static inline void place_join(struct bz_list *queue, struct place *place, struct bz_loop *loop) {
    bz_future_init(&place->future, loop);
    bz_list_push_back(queue, &place->link);
}

static inline void place_leave(struct place *place) {
    if (bz_list_is_linked(&place->link)) {
        bz_list_remove(&place->link);
    }
}

/* True if somebody has woken it. */
static inline bool place_is_woken(const struct place *place) {
    return place->future.state == BZ_FUTURE_RESULT;
}

/* Takes the places out that were cancelled, and wakes the oldest other one; false: there is none.
 */
static inline bool place_wake_first(struct bz_list *queue) {
    struct bz_list *link;
    while ((link = bz_list_pop_front(queue)) != NULL) {
        if (bz_future_set_result(&place_of(link)->future, 0) == BZ_OK) {
            return true;
        }
    }
    return false;
}

/* How many places of the queue are in this state. */
static inline uint32_t place_count(const struct bz_list *queue, enum bz_future_state state) {
    uint32_t count = 0;
    for (struct bz_list *link = queue->next; link != queue; link = link->next) {
        count += place_of(link)->future.state == state;
    }
    return count;
}

static inline void place_view(const struct bz_list *queue, struct bz_permit_view *view) {
    view->waiting = place_count(queue, BZ_FUTURE_PENDING);
    view->woken = place_count(queue, BZ_FUTURE_RESULT);
    view->cancelled = place_count(queue, BZ_FUTURE_CANCELLED);
    view->queued = view->waiting + view->woken + view->cancelled;
}

/* The operations of a design by their names, NAME_init and so on. */
#define PERMIT_OPS(name, type, ...)                                                                \
    static const struct bz_permit_ops name##_ops = {.instance_bytes = sizeof(struct type),         \
                                                    .init = name##_init,                           \
                                                    .acquire = name##_acquire,                     \
                                                    .release = name##_release,                     \
                                                    __VA_ARGS__};

#define LOCK(ops) .permits = {[BZ_PRIMITIVE_LOCK] = ops}
/* A plain semaphore must take a release by anybody, the others must refuse one too many. */
#define ALL_PERMITS(plain, bounded)                                                                \
    .permits = {[BZ_PRIMITIVE_SEMAPHORE] = plain,                                                  \
                [BZ_PRIMITIVE_BOUNDED] = bounded,                                                  \
                [BZ_PRIMITIVE_LOCK] = bounded}

#define DESIGN(identifier, claims_, summary_, ...)                                                 \
    const struct bz_variant design_##identifier = {.version = BZ_VARIANT_VERSION,                  \
                                                   .claims = claims_,                              \
                                                   .name = #identifier,                            \
                                                   .summary = summary_,                            \
                                                   __VA_ARGS__}

extern const struct bz_variant design_chain, design_linked_chain, design_ticket, design_dispatching,
    design_early_entry, design_helper, design_clerk, design_timer, design_callback, design_porter,
    design_baton, design_two_stage, design_barging, design_rewaking, design_lifo, design_lazy,
    design_hall, design_firm, design_firm_losing, design_firm_doubling, design_firm_keeping,
    design_resting, design_workers, design_workers_faulty, design_bulkhead, design_bulkhead_faulty,
    design_trylock, design_trylock_faulty, design_bell, design_bell_faulty, design_broadcast,
    design_broadcast_faulty, design_select, design_select_faulty, design_meeting,
    design_meeting_kept, design_meeting_dropping, design_meeting_counting, design_meeting_doubling,
    design_meeting_losing, design_morphing, design_morphing_losing, design_morphing_keeping,
    design_inplace, design_inplace_cancelled, design_inplace_late, design_inplace_walking,
    design_inplace_storing, design_inplace_closing, design_rechecks, design_rechecks_faulty;

/* channel.c */
extern const struct bz_variant design_channel, design_channel_blocks, design_channel_says_closed,
    design_channel_serves_last;

/* single.c */
extern const struct bz_variant design_single, design_single_crowded, design_single_losing,
    design_spsc, design_spsc_crowded;

#endif
