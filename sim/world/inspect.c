/* What an onlooker finds wrong with an object after a step that concerned it. */
#include "sim/world/note.h"

static bool is_stuck(const struct bz_object *object) {
    bool is_available = (object->holders < object->permits) |
                        ((object->quorum > 0) & (object->live >= object->quorum));
    return (object->waiting > 0) & (object->live > 0) & is_available & !object->never_stuck &
           ((object->woken | object->cancelled | object->polling) == 0);
}

/* gh-111693: who resumed with a permit woke one waiter where several would fit. Newcomers may queue
 * behind a woken waiter beside a free permit: they came later. */
static bool is_idle(struct bz_book *book, struct bz_object *object) {
    return object->handed_on > 0 && object->live > 0 &&
           (object->claims & BZ_CLAIM_WORK_CONSERVING) != 0 &&
           object->permits > object->holders + object->woken &&
           book->tasks[bz_book_oldest_live(book, object)].arrival < object->handed_on;
}

static bool is_miscounted(const struct bz_object *object) {
    return object->counts_wakes && object->wakes != object->wakes_due;
}

static inline bool should_be_locked(const struct bz_object *object) {
    return (object->waiting > 0) | (object->woken > 0) | (object->view.level == 0);
}

/* What can be seen of an object between two steps. */
static uint32_t facts_of(struct bz_book *book, struct bz_object *object) {
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

/* Whether an object that shows its permits may have any: the same comparisons without a branch, as
 * words that must be 0 and differences that must not be negative. It errs on one side only: a live
 * task in the line beside a permit that was promised to nobody may be stuck, or idle, or neither.
 */
static inline __attribute__((always_inline)) bool may_have_facts(const struct bz_object *object,
                                                                 bool is_locked) {
    const struct bz_permit_view *view = &object->view;
    int64_t open = (int64_t)(object->permits - object->holders);
    int64_t spare = open - object->woken;
    uint64_t odd = view->level ^ (uint64_t)open;
    odd |= (view->waiting + view->woken + view->cancelled) ^ view->queued;
    odd |= view->waiting ^ object->waiting;
    odd |= is_locked ^ should_be_locked(object);
    odd |= object->over_released_by ^ BZ_NO_TASK;
    int64_t least = spare | (-(int64_t)object->live & -spare);
    least |= (int64_t)object->woken - view->woken;
    return (odd | ((uint64_t)least >> 63u)) != 0;
}

static __attribute__((noinline, cold)) void tell_facts_of(struct bz_world *world,
                                                          struct bz_object *object) {
    uint32_t facts = facts_of(&world->book, object);
    if (facts != 0) {
        bz_note_tell_facts(world, facts, 0, (uint32_t)(object - world->book.objects));
    }
    object->over_released_by = BZ_NO_TASK;
}

/* Comes behind all the other facts of the step: they say what hurts a user. */
static __attribute__((noinline, cold)) void tell_refused(struct bz_world *world) {
    struct bz_book *book = &world->book;
    if (bz_book_is_refused(book)) {
        bz_note_tell_facts(world, BZ_FACT_NO_TRANSITION, book->refused.task, book->refused.object);
    }
    book->refused.guards = 0;
}

/* An object that shows less of itself than permits do, or has more to it. */
static __attribute__((noinline)) void look_closely(struct bz_world *world,
                                                   struct bz_object *object) {
    if (object->has_view) {
        object->ops->view(object->instance, &object->view);
    }
    tell_facts_of(world, object);
    object->handed_on = 0;
}

static inline __attribute__((always_inline)) void look(struct bz_world *world,
                                                       struct bz_object *object) {
    if (__builtin_expect(!object->shows_permits, 0)) {
        look_closely(world, object);
        return;
    }
    object->ops->view(object->instance, &object->view);
    bool is_locked = object->ops->locked(object->instance);
    if (__builtin_expect(may_have_facts(object, is_locked), 0)) {
        tell_facts_of(world, object);
    }
    object->handed_on = 0;
}

static __attribute__((noinline)) void look_at_all(struct bz_world *world, uint64_t touched) {
    struct bz_book *book = &world->book;
    for (uint64_t near = touched & ~BZ_TOUCHED_FAR; near != 0; near &= near - 1) {
        look(world, &book->objects[__builtin_ctzll(near)]);
    }
    for (uint32_t index = 0; index < book->far_count; index++) {
        struct bz_object *object = &book->objects[book->far[index]];
        object->is_far = false;
        look(world, object);
    }
    book->far_count = 0;
}

/* Looks at the objects that the step concerned, and forgets that it touched them: those with bits
 * by number, then the others as they came. Nearly always it is one. */
__attribute__((hot)) void bz_world_inspect_touched(struct bz_world *world) {
    uint64_t touched = world->book.touched & ~UINT64_C(1);
    world->book.touched = 0;
    if (__builtin_expect((touched & (touched - 1)) == 0 && touched < BZ_TOUCHED_FAR, 1)) {
        look(world, &world->book.objects[__builtin_ctzll(touched)]);
    } else {
        look_at_all(world, touched);
    }
    if (__builtin_expect(world->book.refused.guards != 0, 0)) {
        tell_refused(world);
    }
}
