/* The head of every oracle's file, and how to write one.
 *
 * An oracle is one file, NAME.h, and one line in list.h. The file has the predicate, the verdict
 * with its message, and the oracle's name, summary and demand, which `explain` prints:
 *
 *     bool NAME_suspects(const struct bz_judge *judge, const struct bz_moment *moment);
 *     void NAME_judges(struct bz_judge *judge, const struct bz_moment *moment);
 *     ORACLE(NAME, "name", "violated when ...", "What has to hold, as a sentence.")
 *     ORACLE_AFTER_CANCEL("name", "woken", "The same, if a cancel struck in that window.") optional
 *
 * The functions stand in an include guard, the rows behind it: list.h is included again for them.
 *
 * NAME_suspects() is called at every moment (struct bz_moment of internal.h), and begins with the
 * kinds that concern it. It only reads. It must not miss a violation, but may suspect too often:
 * NAME_judges() then checks precisely, and calls bz_judge_violate() or returns.
 *
 * For a moment of every step NAME_suspects() is written to be fast. It has no branch (& instead of
 * &&), leaves checks that are true of most objects to NAME_judges(), and may return a word in place
 * of a bool, where 0 is no suspicion (sim/performance.md).
 *
 * An oracle reads the shadow state, judges claims alone, and changes nothing. So passing runs have
 * the same digest under any set of oracles.
 *
 * Sources: asyncio's history (gh-90155, gh-97545, bpo-32734 and others named in scenarios/zoo), and
 * G. van Rossum, "Reasoning about asyncio.Semaphore" (2022).
 */
#pragma once

#include <inttypes.h>
#include <stdio.h>

#include "sim/judge/internal.h"
#include "sim/judge/shadow/queue_ledger.h"

#ifndef ORACLE
#define ORACLE(name, text, summary, demand)
#endif
#ifndef ORACLE_AFTER_CANCEL
#define ORACLE_AFTER_CANCEL(text, window, demand)
#endif

#define BZ_NAME_BYTES 64u

/* The functions of an oracle that nothing inside a step calls. */
#define BZ_ORACLE_FROM_OUTSIDE(name)                                                               \
    static inline bool name##_suspects(const struct bz_judge *judge,                               \
                                       const struct bz_moment *moment) {                           \
        (void)judge;                                                                               \
        (void)moment;                                                                              \
        return false;                                                                              \
    }                                                                                              \
    static inline void name##_judges(struct bz_judge *judge, const struct bz_moment *moment) {     \
        (void)judge;                                                                               \
        (void)moment;                                                                              \
    }

/* The suspicion of an oracle that makes a check of each object of a step at its end. */
#define BZ_ORACLE_OF_STEP(name, check)                                                             \
    static inline uint64_t name##_suspects(const struct bz_judge *judge,                           \
                                           const struct bz_moment *moment) {                       \
        return moment->kind == BZ_MOMENT_STEP                                                      \
                   ? check(bz_judge_shadow_object(judge, moment->object))                          \
                   : 0;                                                                            \
    }

/* A task's name in a message. */
struct bz_task_label {
    char text[BZ_NAME_BYTES];
};

static inline struct bz_task_label bz_task_label(const struct bz_judge *judge, uint32_t task) {
    struct bz_task_label label;
    bz_judge_task_name(judge, task, label.text, sizeof label.text);
    return label;
}

/* Some tasks in a message: "a (in acquire of 'lock'), b (in sleep), c (ended)". */
#define BZ_LISTED_MAX 4u
struct bz_task_list {
    char text[BZ_MESSAGE_BYTES / 2];
    uint32_t first; /* 0: none */
    bool has_more;
};

static inline struct bz_task_list bz_list_tasks(const struct bz_judge *judge,
                                                bool (*concerns)(const struct bz_shadow_task *)) {
    struct bz_task_list list = {.text = ""};
    size_t used = 0;
    uint32_t named = 0;
    for (uint32_t id = 1; id <= judge->shadow.task_count && !list.has_more; id++) {
        const struct bz_shadow_task *task = &judge->shadow.tasks[id];
        if (!concerns(task)) {
            continue;
        }
        list.has_more = named++ == BZ_LISTED_MAX || used >= sizeof list.text;
        list.first = list.first == 0 ? id : list.first;
        if (!list.has_more) {
            bool has_object = task->object != 0;
            bool has_ended = task->phase == BZ_PHASE_DONE;
            used += (size_t)snprintf(
                list.text + used, sizeof list.text - used, "%s%s (%s%s%s%s%s)",
                named > 1 ? ", " : "", bz_task_label(judge, id).text, has_ended ? "" : "in ",
                has_ended ? "ended" : bz_op_name(bz_shadow_op(task)), has_object ? " of '" : "",
                bz_judge_label(judge, task->object).text, has_object ? "'" : "");
        }
    }
    return list;
}

/* "1 waiter", "2 waiters" */
static inline const char *bz_plural(uint64_t count) {
    return count == 1 ? "" : "s";
}

static inline const char *bz_is_or_are(uint64_t count) {
    return count == 1 ? "is" : "are";
}

/* The thing that tasks wait for at the object. */
static inline const char *bz_goods(const struct bz_shadow_object *object) {
    return object->kind == BZ_OBJECT_ITEMS   ? "item"
           : object->kind == BZ_OBJECT_SLOTS ? "slot"
                                             : "permit";
}

static inline const char *bz_a_good(const struct bz_shadow_object *object) {
    return object->kind == BZ_OBJECT_ITEMS   ? "an item"
           : object->kind == BZ_OBJECT_SLOTS ? "a slot"
                                             : "a permit";
}

static inline bool bz_claims(const struct bz_shadow_object *object, uint32_t claims) {
    return (object->claims & claims) == claims;
}

/* Items or slots of a queue that keeps no item. */
static inline bool bz_is_rendezvous(const struct bz_shadow_object *object) {
    return object->size == BZ_QUEUE_RENDEZVOUS &&
           (object->kind == BZ_OBJECT_ITEMS || object->kind == BZ_OBJECT_SLOTS);
}

/* Checks of every step: 0 means no violation. */

/* Its level plus its holders differ from its permits. */
static inline uint64_t bz_is_unbalanced(const struct bz_shadow_object *object) {
    return (object->view.level + object->holders) ^ object->permits;
}

/* W, R, C differ from the queue that it shows, or from the tasks that wait. */
static inline uint64_t bz_is_unpartitioned(const struct bz_shadow_object *object) {
    const struct bz_permit_view *view = &object->view;
    return ((view->waiting + view->woken + view->cancelled) ^ view->queued) |
           (view->waiting ^ object->waiting) | (view->woken > object->woken);
}

/* More waiters were woken than its level. */
static inline uint64_t bz_is_overpromised(const struct bz_shadow_object *object) {
    return object->view.level < object->woken;
}

/* The same, precisely: an entry may be in the queue before its task waits, and get its result then,
 * so tasks that are suspended on no future may have one. */
static inline bool bz_is_misqueued(const struct bz_shadow_object *object) {
    const struct bz_permit_view *view = &object->view;
    uint32_t early = view->waiting - object->waiting;
    uint32_t early_woken = view->woken > object->woken ? view->woken - object->woken : 0;
    return view->waiting + view->woken + view->cancelled != view->queued ||
           view->waiting < object->waiting || early > object->polling ||
           early_woken > object->polling - early;
}

/* A live task waits, and a permit is free that no waiter was woken for. */
static inline uint64_t bz_is_spare(const struct bz_shadow_object *object) {
    return (object->live > 0) & (object->permits > object->holders + object->woken);
}

/* True if the code under test may still wake a waiter by a helper, a callback or a timer. */
static inline bool bz_is_helped(const struct bz_judge *judge,
                                const struct bz_shadow_object *object) {
    const struct bz_shadow *shadow = &judge->shadow;
    if (bz_claims(object, BZ_CLAIM_UNAIDED)) {
        return false;
    }
    for (uint32_t id = 1; shadow->helpers > 0 && id <= shadow->task_count; id++) {
        const struct bz_shadow_task *task = &shadow->tasks[id];
        bool is_idle = task->phase == BZ_PHASE_SUSPENDED && task->await == BZ_AWAIT_PENDING &&
                       (task->wait == BZ_WAIT_FUTURE || task->wait == BZ_WAIT_JOIN);
        if (task->is_helper && task->phase != BZ_PHASE_DONE && !is_idle) {
            return true;
        }
    }
    return judge->config.variant_is_busy != NULL &&
           judge->config.variant_is_busy(judge->config.source);
}
