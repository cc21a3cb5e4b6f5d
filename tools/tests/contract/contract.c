/* The primitives that ship, as a plug-in, and with -DFAULT=NAME its lock breaks the contract in one
 * way. The test `check-plugin` says what each must be called. */
#undef NDEBUG
#include <assert.h>
#include <stdlib.h>

#include "sim/variant/plugin.h"

#define bz_variant_buzzer shipped
#include "scenarios/variants/buzzer.c"

enum fault {
    NOTHING,
    VIEW_LEVEL,   /* the view counts a permit too many */
    VIEW_WAITING, /* the view calls woken waiters waiting */
    VIEW_QUEUED,  /* the view shows one entry at most */
    VIEW_CHANGES, /* the view wakes the first waiter again: it changes something */
    LOCKED,       /* locked() is false while somebody is served */
    STATUS,       /* a release returns what it never may */
    STATUS_WAIT,  /* an acquire that is cancelled says that it timed out */
    STATUS_OK,    /* a release of what nobody holds says that all is well */
    HEAP,         /* acquire keeps memory of malloc() */
    FINI,         /* fini leaves memory of the arena */
    STATIC,       /* acquire counts in a static variable */
    RANDOM,       /* the static variable decides who waits */
    ADDRESS,      /* the address of a local variable does */
    BLOCK,        /* acquire keeps memory of the arena */
    CANCEL_BLOCK, /* one that is cancelled does */
    TASK_BLOCK,   /* no fault: it keeps a block for each task */
    QUEUE,        /* a cancelled waiter's entry stays in what is shown */
    TRAP,         /* a cancelled acquire ends the process */
    LOST,         /* a cancelled acquire keeps the lock */
    REFUSED,      /* init fails */
    ASSERTS,      /* a release of what nobody holds fails an assertion */
    ALSO_SET,     /* is_set is true while the event is not set */
    PLAIN_EVENT,  /* no fault: an event without `queued` beside the lock */
    FIFO_ALONE,   /* no fault: that event alone, whose claims have no effect */
};
#ifndef FAULT
#define FAULT NOTHING
#endif

struct instance {
    struct bz_lock lock; /* first: the shipped functions take it for all there is */
    struct bz_loop *loop;
    uint32_t stale;
    uint32_t known; /* tasks */
    const struct bz_task *tasks[64];
};

static unsigned long calls;

static bool take_block(struct instance *instance) {
    return bz_mem_alloc(bz_loop_mem(instance->loop), 32) != NULL;
}

static bool meets_task(struct instance *instance) {
    const struct bz_task *task = bz_loop_current(instance->loop);
    uint32_t index = 0;
    while (index < instance->known && instance->tasks[index] != task) {
        index++;
    }
    if (index == instance->known && index < 64) {
        instance->tasks[instance->known++] = task;
        return true;
    }
    return false;
}

static enum bz_status faulty_acquire(void *arg) {
    struct instance *instance = arg;
    calls += FAULT == STATIC || FAULT == RANDOM;
    if (FAULT == HEAP) {
        void *block = malloc(32);
        __asm__ volatile("" : : "r"(block) : "memory"); /* else a compiler may leave it out */
    } else if (FAULT == BLOCK && !take_block(instance)) {
        return BZ_NO_MEMORY;
    } else if (FAULT == TASK_BLOCK && meets_task(instance) && !take_block(instance)) {
        return BZ_NO_MEMORY;
    } else if (FAULT == ADDRESS && (uintptr_t)&instance / 4096 % 7 == 0 &&
               bz_yield(instance->loop) != BZ_OK) {
        return BZ_CANCELLED;
    } else if (FAULT == RANDOM && calls % 7 == 0 && bz_yield(instance->loop) != BZ_OK) {
        return BZ_CANCELLED;
    }
    enum bz_status status = lock_acquire(arg);
    if (status == BZ_CANCELLED && FAULT == TRAP) {
        __builtin_trap();
    } else if (status == BZ_CANCELLED && FAULT == LOST && !lock_locked(arg)) {
        (void)!lock_acquire(arg);
    }
    if (FAULT == CANCEL_BLOCK && status == BZ_CANCELLED) {
        (void)take_block(instance);
    }
    status = FAULT == STATUS_WAIT && status == BZ_CANCELLED ? BZ_TIMED_OUT : status;
    instance->stale += status == BZ_CANCELLED && FAULT == QUEUE;
    return status;
}

static enum bz_status faulty_init(void *arg, struct bz_loop *loop, uint32_t permits) {
    struct instance *instance = arg;
    enum bz_status status = lock_init(&instance->lock, loop, permits);
    instance->loop = loop;
    if (FAULT == FINI && !take_block(instance)) {
        return BZ_NO_MEMORY;
    }
    return FAULT == REFUSED ? BZ_FAILED : status;
}

/* Does not free the block of init. */
static void faulty_fini(void *arg) {
    (void)arg;
}

static enum bz_status faulty_release(void *arg) {
    enum bz_status status = lock_release(arg);
    assert(FAULT != ASSERTS || status != BZ_NOT_HELD);
    return status != BZ_NOT_HELD ? status
           : FAULT == STATUS     ? BZ_TIMED_OUT
           : FAULT == STATUS_OK  ? BZ_OK
                                 : status;
}

static bool faulty_locked(void *arg) {
    return FAULT == LOCKED ? ((struct instance *)arg)->lock.is_held : lock_locked(arg);
}

static void faulty_view(void *arg, struct bz_permit_view *view) {
    lock_view(arg, view);
    view->level += FAULT == VIEW_LEVEL;
    if (FAULT == VIEW_WAITING) {
        view->waiting += view->woken;
        view->woken = 0;
    }
    if (FAULT == VIEW_QUEUED && view->queued > 1) {
        view->queued = view->waiting = 1;
        view->woken = view->cancelled = 0;
    }
    if (FAULT == VIEW_CHANGES && view->queued > 2) {
        ((struct instance *)arg)->lock.is_held = !((struct instance *)arg)->lock.is_held;
    }
    view->queued += ((struct instance *)arg)->stale;
    view->cancelled += ((struct instance *)arg)->stale;
}

static const struct bz_permit_ops faulty_lock = {
    .instance_bytes = sizeof(struct instance),
    .init = faulty_init,
    .fini = FAULT == FINI ? faulty_fini : NULL,
    .acquire = faulty_acquire,
    .release = faulty_release,
    .locked = faulty_locked,
    .view = faulty_view,
};

static bool faulty_is_set(void *arg) {
    return FAULT == ALSO_SET || sync_event_is_set(arg);
}

static const struct bz_event_ops faulty_event = {
    .instance_bytes = sizeof(struct bz_sync_event),
    .init = event_init,
    .set = sync_event_set,
    .clear = sync_event_clear,
    .is_set = faulty_is_set,
    .wait = sync_event_wait,
};

static const struct bz_variant contract = {
    .version = BZ_VARIANT_VERSION,
    .claims = FAULT == FIFO_ALONE
                  ? BZ_CLAIM_FIFO | BZ_CLAIM_NO_PASSING | BZ_CLAIM_BREAKS_ALL
                  : BZ_CLAIM_FIFO | BZ_CLAIM_LOCKED_EXACT | BZ_CLAIM_REFUSES_MISUSE |
                        BZ_CLAIM_WAKE_IS_GRANT | BZ_CLAIM_WORK_CONSERVING |
                        BZ_CLAIM_TAKES_AT_RETURN | BZ_CLAIM_EXACT_NOTIFY | BZ_CLAIM_NO_PASSING,
    .name = "contract",
    .summary = "what ships, with one fault",
    .permits = {[BZ_PRIMITIVE_LOCK] = FAULT == FIFO_ALONE ? NULL : &faulty_lock,
#if !defined(LOCK_ONLY)
                [BZ_PRIMITIVE_SEMAPHORE] = SEMAPHORE_OPS(semaphore_init, semaphore_acquire),
                [BZ_PRIMITIVE_BOUNDED] = SEMAPHORE_OPS(bounded_init, bounded_acquire)},
    .event = &event_ops,
    .condition = &condition_ops,
    .barrier = &barrier_ops,
    .queue = &queue_ops,
    .pool = &pool_ops,
    .deferred = &deferred_ops,
    .scope = &bz_timeout_scope_ops,
    .resource_pool = &resource_pool_ops,
    .waives = {[BZ_PRIMITIVE_RESOURCE_POOL] = BZ_CLAIM_NO_PASSING},
#else
    },
    .event = FAULT >= ALSO_SET ? &faulty_event : NULL,
#endif
};

BZ_PLUGIN(&contract);
