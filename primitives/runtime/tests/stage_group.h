/* The stage on which the tests of task groups play: a parent "p", children "a" to "d", two groups
 * "outer" and "inner", and a timeout scope. Words beside those of an actor:
 *
 *     outer(  outer)     enters and leaves the outer group; the same for inner
 *     outer+a            spawns child a into the outer group; a later "join" waits for it
 *     time(5  time)      a timeout scope of 5 ns
 *     count              logs the requests that are counted, as "p.count=1"
 *
 * "await" waits on a future of the actor's own, so that cancelling one wakes no other.
 */
#ifndef BZ_TESTS_STAGE_GROUP_H
#define BZ_TESTS_STAGE_GROUP_H

#include "primitives/runtime/group.h"
#include "primitives/runtime/timeout.h"
#include "primitives/tests/actor.h"

#define STAGE_CHILDREN 4u

struct stage {
    struct bz_loop *loop;
    struct tst_log log;
    struct bz_group outer;
    struct bz_group inner;
    struct bz_timeout scope;
    struct tst_actor actors[1 + STAGE_CHILDREN]; /* the parent first */
    struct bz_future futures[1 + STAGE_CHILDREN];
    struct bz_task *tasks[1 + STAGE_CHILDREN]; /* a child's pointer is dead once it is done */
};

static inline struct bz_task *stage_child(struct stage *stage, char name) {
    return stage->tasks[1 + name - 'a'];
}

static inline enum bz_status stage_word(struct tst_actor *actor, const char *word, bool *is_quiet) {
    struct stage *stage = actor->object;
    struct bz_group *group = word[0] == 'o' ? &stage->outer : &stage->inner;
    bool is_time = word[0] == 't';
    const char *mark = strpbrk(word, "(+)");
    if (strcmp(word, "count") == 0) {
        *is_quiet = true;
        tst_say(&stage->log, "%s.count=%u", actor->name,
                bz_task_cancelling(bz_loop_current(stage->loop)));
        return BZ_OK;
    }
    if (mark == NULL) {
        return BZ_INVALID_ARGUMENT;
    }
    if (*mark == '(') {
        *is_quiet = true;
        return is_time ? bz_timeout_enter(stage->loop, &stage->scope, strtoull(mark + 1, NULL, 10))
                       : bz_group_enter(stage->loop, group);
    }
    if (*mark == ')') {
        return is_time ? bz_timeout_exit(&stage->scope, actor->leaving)
                       : bz_group_exit(group, actor->leaving);
    }
    unsigned index = 1u + (unsigned)(mark[1] - 'a');
    enum bz_status status = bz_group_spawn(group, "child", index, tst_actor_run,
                                           &stage->actors[index], &stage->tasks[index]);
    *is_quiet = status == BZ_OK;
    actor->other = stage->tasks[index];
    return status;
}

static inline void stage_begin(struct stage *stage, const char *parent, const char *a,
                               const char *b) {
    static const char *const names[] = {"p", "a", "b", "c", "d"};
    *stage = (struct stage){.loop = tst_begin()};
    for (unsigned index = 0; index <= STAGE_CHILDREN; index++) {
        bz_future_init(&stage->futures[index], stage->loop);
        stage->actors[index] = (struct tst_actor){.name = names[index],
                                                  .script = "",
                                                  .loop = stage->loop,
                                                  .log = &stage->log,
                                                  .future = &stage->futures[index],
                                                  .extra = stage_word,
                                                  .object = stage};
    }
    stage->actors[0].script = parent;
    stage->actors[1].script = a;
    stage->actors[2].script = b;
    stage->tasks[0] = tst_actor_spawn(&stage->actors[0]);
}

/* Runs to the end. `cancelling` is what the parent's count must be then. */
static inline void stage_end(struct stage *stage, const char *story, enum bz_status outcome,
                             uint32_t cancelling) {
    tst_run(stage->loop);
    tst_expect(&stage->log, story);
    cr_assert(eq(u32, bz_task_cancelling(stage->tasks[0]), cancelling));
    tst_status(tst_outcome(stage->tasks[0]), outcome);
    tst_end(stage->loop);
}

#endif
