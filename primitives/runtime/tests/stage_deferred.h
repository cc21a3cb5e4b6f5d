/* A link: a pair of callbacks that says what it was given, as "name:status:value", does one more
 * thing, and answers what the test wants. After that one more thing it says "name." so that a story
 * shows what runs inside a callback and what behind it. */
#ifndef BZ_RUNTIME_TESTS_STAGE_DEFERRED_H
#define BZ_RUNTIME_TESTS_STAGE_DEFERRED_H

#include "primitives/runtime/deferred.h"
#include "primitives/tests/support.h"

struct link {
    struct bz_deferred_pair pair;
    struct tst_log *log;
    const char *name;
    void (*does)(struct link *link); /* NULL: nothing */
    struct bz_deferred *object;      /* for what it does */
    struct link *other;              /* for what it does */
    bool answers;                    /* false: passes on what it was given */
    struct bz_deferred_result answer;
};

static inline struct bz_deferred_result link_run(struct bz_deferred_pair *pair,
                                                 struct bz_deferred_result result) {
    struct link *link = bz_container_of(pair, struct link, pair);
    cr_assert(eq(ptr, result.wait_for, NULL));
    tst_say(link->log, "%s:%s:%u", link->name, bz_status_name(result.status),
            (unsigned)result.value);
    if (link->does != NULL) {
        link->does(link);
        tst_say(link->log, "%s.", link->name);
    }
    return link->answers ? link->answer : result;
}

/* Adds a link that passes on what it is given. */
static inline void link_add(struct bz_deferred *deferred, struct link *link, struct tst_log *log,
                            const char *name) {
    link->log = log;
    link->name = name;
    bz_deferred_add_both(deferred, &link->pair, link_run);
}

/* Things to do. */
static inline void link_fires(struct link *link) {
    tst_status(bz_deferred_callback(link->object, 1), BZ_OK);
}

static inline void link_cancels(struct link *link) {
    bz_deferred_cancel(link->object);
}

static inline void link_adds_other(struct link *link) {
    link_add(link->object, link->other, link->log, link->other->name);
}

struct stage {
    struct bz_loop *loop;
    struct bz_trampoline trampoline;
    struct tst_log log;
};

static inline void stage_begin(struct stage *stage) {
    *stage = (struct stage){.loop = tst_begin()};
    bz_trampoline_init(&stage->trampoline, stage->loop);
}

static inline void stage_end(struct stage *stage, const char *story) {
    tst_expect(&stage->log, story);
    cr_assert(bz_list_is_empty(&stage->trampoline.due));
    cr_assert(bz_list_is_empty(&stage->trampoline.fresh));
    cr_assert(not(stage->trampoline.is_bouncing));
    tst_end(stage->loop);
}

#endif
