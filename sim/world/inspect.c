/* What an onlooker finds wrong with an object after a step that concerned it. */
#include "sim/world/note.h"

static inline bool is_stuck(const struct bz_object *object) {
    bool is_available = (object->holders < object->permits) |
                        ((object->quorum > 0) & (object->live >= object->quorum));
    return (object->waiting > 0) & (object->live > 0) & is_available & !object->never_stuck &
           ((object->woken | object->cancelled | object->polling) == 0);
}

/* gh-111693: who resumed with a permit woke one waiter where several would fit. Newcomers may queue
 * behind a woken waiter beside a free permit: they came later. */
static inline bool may_be_idle(const struct bz_object *object) {
    return (object->handed_on > 0) & (object->live > 0) &
           ((object->claims & BZ_CLAIM_WORK_CONSERVING) != 0) &
           (object->permits > object->holders + object->woken);
}

static inline bool is_miscounted(const struct bz_object *object) {
    return object->counts_wakes & (object->wakes != object->wakes_due);
}

static bool is_idle(struct bz_book *book, struct bz_object *object) {
    return may_be_idle(object) &&
           book->tasks[bz_book_oldest_live(book, object)].arrival < object->handed_on;
}

static inline bool should_be_locked(const struct bz_object *object) {
    return (object->waiting > 0) | (object->woken > 0) | (object->view.level == 0);
}

/* What can be seen of an object between two steps. */
static __attribute__((noinline, cold)) uint32_t facts_of(struct bz_book *book,
                                                         struct bz_object *object) {
    const struct bz_permit_view *view = &object->view;
    uint32_t facts = object->over_released_by != BZ_NO_TASK ? BZ_FACT_OVER_RELEASED : 0;
    facts |= is_stuck(object) ? BZ_FACT_STUCK : 0;
    facts |= is_idle(book, object) ? BZ_FACT_IDLE : 0;
    facts |= is_miscounted(object) ? BZ_FACT_MISCOUNTED : 0;
    if (object->has_view) {
        facts |= view->level < object->woken ? BZ_FACT_OVERPROMISED : 0;
        facts |= view->level + object->holders != object->permits ? BZ_FACT_UNBALANCED : 0;
        bool is_partition = view->waiting + view->woken + view->cancelled == view->queued &&
                            view->waiting == object->waiting && view->woken <= object->woken;
        facts |= is_partition ? 0 : BZ_FACT_UNPARTITIONED;
        bool is_locked_wrong = object->checks_locked &&
                               object->ops->locked(object->instance) != should_be_locked(object);
        facts |= is_locked_wrong ? BZ_FACT_LOCKED_WRONG : 0;
    }
    return facts;
}

/* Whether there are any: the same comparisons, in a few instructions. */
static inline bool has_facts(const struct bz_object *object, bool is_locked) {
    bool has = (object->over_released_by != BZ_NO_TASK) | is_stuck(object) | may_be_idle(object) |
               is_miscounted(object);
    if (object->has_view) {
        const struct bz_permit_view *view = &object->view;
        uint64_t odd = (view->level + object->holders) ^ object->permits;
        odd |= (view->waiting + view->woken + view->cancelled) ^ view->queued;
        odd |= view->waiting ^ object->waiting;
        has |= (odd != 0) | (view->woken > object->woken) | (view->level < object->woken);
        has |= object->checks_locked & (is_locked != should_be_locked(object));
    }
    return has;
}

/* Comes behind all the other facts of the step: they say what hurts a user. */
static __attribute__((noinline, cold)) void tell_refused(struct bz_world *world) {
    struct bz_book *book = &world->book;
    if (bz_book_is_refused(book)) {
        bz_note_tell_facts(world, BZ_FACT_NO_TRANSITION, book->refused.task, book->refused.object);
    }
    book->refused.guards = 0;
}

/* Looks at the objects that the step concerned, and forgets that it touched them. */
__attribute__((hot)) void bz_world_inspect_touched(struct bz_world *world) {
    struct bz_book *book = &world->book;
    for (uint32_t index = 0; index < book->touched_count; index++) {
        struct bz_object *object = &book->objects[book->touched[index]];
        bool is_locked = false;
        object->is_touched = false;
        if (object->has_view) {
            object->ops->view(object->instance, &object->view);
        }
        if (object->checks_locked) {
            is_locked = object->ops->locked(object->instance);
        }
        if (__builtin_expect(has_facts(object, is_locked), 0)) {
            bz_note_tell_facts(world, facts_of(book, object), 0, book->touched[index]);
            object->over_released_by = BZ_NO_TASK;
        }
        object->handed_on = 0;
    }
    book->touched_count = 0;
    if (__builtin_expect(book->refused.guards != 0, 0)) {
        tell_refused(world);
    }
}
