/* ah-4562: a waiter is parked in a deque that another task deletes from the dict.
 *
 * A connector keeps a deque of waiters for each key, and who leaves its deque empty deletes the
 * key. (1) W1 and W2 of a key have both been taken out of deque D1 and woken. (2) W1 resumes,
 * finds D1 empty and deletes the key. (3) W4 comes, waits, in a new deque D2 under that key. (4) W2
 * resumes, finds its own D1 empty and deletes the key again: with it D2, and W4 inside. (5) The
 * next release finds no deque, and nobody ever wakes W4.
 *
 * The cure: the key is deleted only if it leads to the deque that is empty. */
#include "primitives/runtime/mem.h"
#include "scenarios/scenarios.h"
#include "scenarios/zoo/waiters.h"

struct deque {
    struct bz_list link; /* linked while it is in the dict */
    uint64_t key;
    uint32_t users;
    struct bz_zoo_queue waiters;
};

struct holding {
    struct bz_list link;
    uint64_t key;
};

struct connector {
    struct bz_loop *loop;
    struct bz_list dict;
    struct bz_list holdings;
};

static enum bz_status init(void *instance, struct bz_loop *loop) {
    struct connector *connector = instance;
    connector->loop = loop;
    bz_list_init(&connector->dict);
    bz_list_init(&connector->holdings);
    return BZ_OK;
}

static uint64_t entries(void *instance) {
    const struct connector *connector = instance;
    uint64_t count = 0;
    for (const struct bz_list *link = connector->dict.next; link != &connector->dict;
         link = link->next) {
        count++;
    }
    return count;
}

static struct deque *find(struct connector *connector, uint64_t key) {
    struct bz_list *dict = &connector->dict;
    for (struct bz_list *link = dict->next; link != dict; link = link->next) {
        struct deque *deque = bz_container_of(link, struct deque, link);
        if (deque->key == key) {
            return deque;
        }
    }
    return NULL;
}

static struct holding *find_holding(struct connector *connector, uint64_t key) {
    struct bz_list *holdings = &connector->holdings;
    for (struct bz_list *link = holdings->next; link != holdings; link = link->next) {
        struct holding *holding = bz_container_of(link, struct holding, link);
        if (holding->key == key) {
            return holding;
        }
    }
    return NULL;
}

static struct deque *use(struct connector *connector, uint64_t key) {
    struct deque *deque = find(connector, key);
    if (deque == NULL) {
        deque = bz_mem_alloc(bz_loop_mem(connector->loop), sizeof *deque);
        if (deque == NULL) {
            return NULL;
        }
        deque->key = key;
        bz_zoo_queue_init(&deque->waiters, connector->loop);
        bz_list_push_back(&connector->dict, &deque->link);
    }
    deque->users++;
    return deque;
}

static void wake_next(struct connector *connector, uint64_t key) {
    struct deque *deque = find(connector, key);
    struct bz_zoo_waiter *waiter = deque != NULL ? bz_zoo_pop(&deque->waiters) : NULL;
    while (waiter != NULL && bz_future_set_result(&waiter->future, 0) != BZ_OK) {
        waiter = bz_zoo_pop(&deque->waiters);
    }
}

static void leave(struct connector *connector, struct deque *deque, struct bz_zoo_waiter *waiter) {
    if (bz_list_is_linked(&waiter->link)) {
        bz_zoo_leave(waiter);
    }
    struct deque *listed = find(connector, deque->key);
    if (bz_list_is_empty(&deque->waiters.entries) && listed != NULL) {
        bz_list_remove(&listed->link); /* the fault: it may be another one */
        if (listed->users == 0) {
            bz_mem_free(bz_loop_mem(connector->loop), listed, sizeof *listed);
        }
    }
    if (--deque->users == 0 && !bz_list_is_linked(&deque->link)) {
        bz_mem_free(bz_loop_mem(connector->loop), deque, sizeof *deque);
    }
}

static enum bz_status wait_for_key(struct connector *connector, uint64_t key) {
    struct deque *deque = use(connector, key);
    if (deque == NULL) {
        return BZ_NO_MEMORY;
    }
    struct bz_zoo_waiter waiter;
    enum bz_status status = bz_zoo_wait(&deque->waiters, &waiter);
    leave(connector, deque, &waiter);
    if (status != BZ_OK && bz_zoo_was_woken(&waiter) && find_holding(connector, key) == NULL) {
        wake_next(connector, key);
    }
    return status;
}

static enum bz_status acquire(void *instance, uint64_t key) {
    struct connector *connector = instance;
    while (find_holding(connector, key) != NULL) {
        enum bz_status status = wait_for_key(connector, key);
        if (status != BZ_OK) {
            return status;
        }
    }
    struct holding *holding = bz_mem_alloc(bz_loop_mem(connector->loop), sizeof *holding);
    if (holding == NULL) {
        return BZ_NO_MEMORY;
    }
    holding->key = key;
    bz_list_push_back(&connector->holdings, &holding->link);
    return BZ_OK;
}

static enum bz_status release(void *instance, uint64_t key) {
    struct connector *connector = instance;
    struct holding *holding = find_holding(connector, key);
    if (holding == NULL) {
        return BZ_NOT_HELD;
    }
    bz_list_remove(&holding->link);
    bz_mem_free(bz_loop_mem(connector->loop), holding, sizeof *holding);
    wake_next(connector, key);
    return BZ_OK;
}

static const struct bz_pool_ops pool_ops = {
    .instance_bytes = sizeof(struct connector),
    .init = init,
    .acquire = acquire,
    .release = release,
    .entries = entries,
};

static const struct bz_fault fault = {
    .family = "keyed table",
    .project = "aiohttp",
    .issue = "aiohttp PR 4562",
    .versions = "before October 2020",
    .summary =
        "a waiter that leaves its deque empty deletes the key, under which another deque is by now",
    .property = "no lost wake-up",
    .oracle = "lost-wakeup",
    .scenario = "pool",
    .settings = "keys=1,rounds=3",
    .fifo_reachable = true,
};

const struct bz_variant bz_variant_zoo_ah_4562 = {
    .version = BZ_VARIANT_VERSION,
    .claims = BZ_CLAIM_REFUSES_MISUSE,
    .name = "zoo/ah-4562",
    .summary = "connector that deletes the deque of another waiter",
    .pool = &pool_ops,
    .fault = &fault,
};
