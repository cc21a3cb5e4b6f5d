/* A pool of resources under test: an object of permits, and a ledger of what became of each
 * resource. The oracles of permits judge the line of tasks; `bound`, `item-once`, `misuse` and
 * `leak` the resources, from here.
 *
 * There is a permit for each resource that may be lent, so `lost-wakeup` knows whether a waiter
 * could have one. A permit is away while a resource is being made, and from the return of a broken
 * one until it is destroyed. A closed pool has one for everyone, since nobody may wait. A task that
 * makes the resource it is to get has left the line: it was served when it began. */
#include "sim/judge/event_path.h"

#define CAPACITY_FIRST 16u

enum resource_state {
    RESOURCE_MADE = 0, /* by a creation that goes on */
    RESOURCE_KEPT = 1, /* by the pool: idle, or on its way to a task */
    RESOURCE_LENT = 2,
    RESOURCE_BROKEN = 3, /* came back broken, is to be destroyed */
    RESOURCE_GONE = 4,
    RESOURCE_FAILED = 5, /* its creation did */
};

struct bz_judged_resource {
    uint64_t kept_since_ns; /* in a pool with an idle time */
    uint64_t state;         /* enum resource_state */
};

static const char *const states[] = {"is being made",    "is idle",       "is lent to a task",
                                     "came back broken", "was destroyed", "could not be made"};

void bz_judge_add_resource_pool(struct bz_judge *judge, struct bz_judged_resource_pool *pool,
                                const char *name, uint32_t limit, uint64_t idle_ns, uint32_t claims,
                                const struct bz_introspection *look) {
    *pool = (struct bz_judged_resource_pool){
        .judge = judge, .limit = limit, .idle_ns = idle_ns, .capacity = CAPACITY_FIRST};
    pool->object =
        bz_judge_add_permits(judge, name, BZ_PRIMITIVE_RESOURCE_POOL, claims, limit, look);
    pool->ledger = bz_shadow_new(&judge->shadow, CAPACITY_FIRST, sizeof *pool->ledger);
}

static struct bz_shadow_object *shadow_of(const struct bz_judged_resource_pool *pool) {
    return bz_shadow_mark_dirty(&pool->judge->shadow, pool->object);
}

/* NULL: there was never such a resource. */
static struct bz_judged_resource *find(const struct bz_judged_resource_pool *pool,
                                       uint64_t number) {
    return number != 0 && number <= pool->count ? &pool->ledger[number] : NULL;
}

static void keep(const struct bz_judged_resource_pool *pool, struct bz_judged_resource *resource) {
    resource->state = RESOURCE_KEPT;
    resource->kept_since_ns = pool->idle_ns == 0 ? 0 : pool->judge->now_ns;
}

static void violate(const struct bz_judged_resource_pool *pool, const char *oracle, uint64_t number,
                    const char *what, const char *whose, const char *although) {
    struct bz_judge *judge = pool->judge;
    bz_judge_violate(judge, oracle, judge->shadow.running, pool->object,
                     "resource %" PRIu64 " of '%s' %s, although %s%s", number,
                     bz_judge_label(judge, pool->object).text, what, whose, although);
}

/* --- making and destroying -------------------------------------------------------------------- */

/* The task that makes what it is to get was served now, if not before, when it was woken. */
static void leave_line(const struct bz_judged_resource_pool *pool, uint32_t id) {
    struct bz_judge *judge = pool->judge;
    struct bz_shadow_task *task = &judge->shadow.tasks[id];
    if (task->object != pool->object) {
        return; /* a helper, or a task that makes some in advance */
    }
    task->makes = true;
    if (task->is_live) {
        struct bz_overtaking overtaking =
            bz_order_of_grant(&judge->shadow, pool->object, id, BZ_GRANT_WAKE);
        bz_shadow_leave_line(shadow_of(pool), task);
        if (overtaking.count > 0) {
            bz_judge_moment(judge, (struct bz_moment){.kind = BZ_MOMENT_OVERTAKES,
                                                      .task = id,
                                                      .object = pool->object,
                                                      .overtaking = &overtaking});
        }
    }
}

uint32_t bz_judge_resource_create_begin(struct bz_judged_resource_pool *pool) {
    struct bz_judge *judge = pool->judge;
    uint32_t number = ++pool->count;
    if (number == pool->capacity) {
        pool->ledger =
            bz_shadow_double(&judge->shadow, pool->ledger, &pool->capacity, sizeof *pool->ledger);
    }
    bz_judge_does(judge, pool->object, BZ_OP_CREATE, number);
    if (pool->is_closed) {
        violate(pool, "misuse", number, "is to be made", "the pool ", "was closed before");
    }
    shadow_of(pool)->permits--;
    leave_line(pool, judge->shadow.running);
    if (++pool->existing > pool->limit) {
        bz_judge_violate(judge, "bound", judge->shadow.running, pool->object,
                         "'%s' has %u resources, with those that are being made, but its limit is "
                         "%u",
                         bz_judge_label(judge, pool->object).text, pool->existing, pool->limit);
    }
    return number;
}

void bz_judge_resource_create_end(struct bz_judged_resource_pool *pool, uint32_t number,
                                  enum bz_status status) {
    struct bz_judge *judge = pool->judge;
    struct bz_judged_resource *resource = find(pool, number);
    if (resource == NULL || resource->state != RESOURCE_MADE) {
        bz_judge_refuse(judge, "bz_judge_resource_create_end() of resource %u of %u", number,
                        pool->count);
        return;
    }
    bz_judge_settle(judge);
    shadow_of(pool)->permits++;
    judge->shadow.tasks[judge->shadow.running].makes = false;
    keep(pool, resource);
    if (status != BZ_OK) {
        resource->state = RESOURCE_FAILED;
        pool->existing--;
        pool->has_failed |= status == BZ_FAILED;
    }
}

void bz_judge_resource_destroy(struct bz_judged_resource_pool *pool, uint64_t number) {
    struct bz_judged_resource *resource = find(pool, number);
    bz_judge_does(pool->judge, pool->object, BZ_OP_DESTROY, (uint32_t)number);
    if (resource == NULL) {
        violate(pool, "item-once", number, "is to be destroyed", "it ", "was never made");
    } else if (resource->state != RESOURCE_KEPT && resource->state != RESOURCE_BROKEN) {
        violate(pool, "item-once", number, "is to be destroyed", "it ", states[resource->state]);
    } else {
        shadow_of(pool)->permits += resource->state == RESOURCE_BROKEN;
        resource->state = RESOURCE_GONE;
        pool->existing--;
    }
}

/* --- acquire and release ---------------------------------------------------------------------- */

bool bz_judge_borrow_begin(struct bz_judged_resource_pool *pool) {
    bz_judge_acquire_begin(pool->judge, pool->object);
    return pool->is_closed;
}

/* True if the running task has not been suspended in its operation, so that the pool has chosen the
 * resource just now. */
static bool is_at_once(const struct bz_judge *judge) {
    const struct bz_shadow_task *task = &judge->shadow.tasks[judge->shadow.running];
    return judge->call.kind != 0 || task->called_step == task->next_step;
}

static void judge_lent(const struct bz_judged_resource_pool *pool, bool was_closed,
                       uint64_t number) {
    const struct bz_judged_resource *resource = find(pool, number);
    uint64_t now_ns = pool->judge->now_ns;
    if (resource == NULL) {
        violate(pool, "item-once", number, "was handed out", "it ", "was never made");
    } else if (resource->state != RESOURCE_KEPT) {
        violate(pool, "item-once", number, "was handed out", "it ", states[resource->state]);
    } else if (was_closed) {
        violate(pool, "misuse", number, "was handed out", "the pool ",
                "was closed before the acquire");
    } else if (pool->idle_ns > 0 && now_ns - resource->kept_since_ns > pool->idle_ns &&
               is_at_once(pool->judge)) {
        violate(pool, "item-once", number, "was handed out", "its ", "idle time was over");
    }
}

/* The task may have had one on its way, which is idle from now on. */
static void restart_idle_times(const struct bz_judged_resource_pool *pool) {
    for (uint32_t number = 1; pool->idle_ns > 0 && number <= pool->count; number++) {
        struct bz_judged_resource *resource = &pool->ledger[number];
        if (resource->state == RESOURCE_KEPT) {
            keep(pool, resource);
        }
    }
}

void bz_judge_borrow_end(struct bz_judged_resource_pool *pool, bool was_closed, uint64_t number,
                         enum bz_status status) {
    uint32_t excused =
        (pool->is_closed ? 1u << BZ_CLOSED : 0) | (pool->has_failed ? 1u << BZ_FAILED : 0);
    if (status == BZ_OK) {
        judge_lent(pool, was_closed, number);
        if (find(pool, number) != NULL) {
            find(pool, number)->state = RESOURCE_LENT;
        }
    } else {
        restart_idle_times(pool);
    }
    bz_judge_call_end_or(pool->judge, pool->object, BZ_OP_ACQUIRE, status, excused);
}

bool bz_judge_give_back_begin(struct bz_judged_resource_pool *pool, uint64_t number,
                              bool is_broken) {
    struct bz_judged_resource *resource = find(pool, number);
    bool is_lent = resource != NULL && resource->state == RESOURCE_LENT;
    if (is_lent) {
        bz_judge_release_begin(pool->judge, pool->object);
        keep(pool, resource);
        resource->state = is_broken ? RESOURCE_BROKEN : RESOURCE_KEPT;
        shadow_of(pool)->permits -= is_broken;
        shadow_of(pool)->polling++; /* it may wait, and wake a waiter then */
    } else {
        bz_judge_does(pool->judge, pool->object, BZ_OP_RELEASE, 0);
    }
    return is_lent;
}

void bz_judge_give_back_end(struct bz_judged_resource_pool *pool, bool was_lent, uint64_t number,
                            enum bz_status status) {
    struct bz_judge *judge = pool->judge;
    struct bz_judged_resource *resource = find(pool, number);
    shadow_of(pool)->polling -= was_lent;
    if (was_lent && resource->state == RESOURCE_KEPT) {
        keep(pool, resource); /* idle from now on, if the release has waited */
    }
    if (!was_lent) {
        if (status == BZ_OK) {
            violate(pool, "misuse", number, "was released", "it ", "was not lent");
        }
        bz_judge_answers(judge, pool->object, BZ_OP_RELEASE, status,
                         1u << BZ_OK | 1u << BZ_NOT_HELD);
    } else if (status == BZ_CANCELLED) { /* in a wait after it: it was given back all the same */
        bz_judge_answers(judge, pool->object, BZ_OP_RELEASE, status,
                         1u << BZ_OK | bz_judge_excuse_cancel(judge, (struct bz_judged_join){0}));
    } else if (status != BZ_OK) {
        shadow_of(pool)->permits += resource->state == RESOURCE_BROKEN;
        resource->state = RESOURCE_LENT;
        bz_judge_release_end(judge, pool->object, status);
    }
}

uint32_t bz_judge_unlent(const struct bz_judged_resource_pool *pool, uint32_t nth) {
    for (uint32_t number = pool->count; number > 0; number--) {
        if (pool->ledger[number].state == RESOURCE_KEPT && nth-- == 0) {
            return number;
        }
    }
    return 0;
}

/* --- the end ---------------------------------------------------------------------------------- */

struct bz_judged_join bz_judge_close_begin(struct bz_judged_resource_pool *pool) {
    bz_judge_does(pool->judge, pool->object, BZ_OP_SHUTDOWN, 0);
    shadow_of(pool)->permits += pool->is_closed ? 0 : BZ_PERMITS_CLOSED;
    pool->is_closed = true;
    return bz_judge_requests(pool->judge);
}

/* After a close every resource must be gone. */
static void judge_left(const struct bz_judged_resource_pool *pool, const char *since) {
    for (uint32_t number = 1; number <= pool->count; number++) {
        uint64_t state = pool->ledger[number].state;
        if (pool->is_closed && state <= RESOURCE_BROKEN) {
            violate(pool, "leak", number, states[state], "the ", since);
            return;
        }
    }
}

void bz_judge_close_end(struct bz_judged_resource_pool *pool, struct bz_judged_join join,
                        enum bz_status status) {
    if (status == BZ_OK) {
        judge_left(pool, "close has returned");
    }
    bz_judge_answers(pool->judge, pool->object, BZ_OP_SHUTDOWN, status,
                     1u << BZ_OK | bz_judge_excuse_cancel(pool->judge, join));
}

void bz_judge_resource_pool_end(struct bz_judged_resource_pool *pool) {
    judge_left(pool, "pool is closed, and every task has ended");
}
