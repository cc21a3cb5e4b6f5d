/* Joining: T10 of asyncio's rules (an await of a task), and who may free what when. */
#include "primitives/tests/actor.h"

struct pair {
    struct bz_loop *loop;
    struct tst_log log;
    struct bz_future future;
    struct tst_actor child_actor;
    struct tst_actor parent_actor;
    struct bz_task *child;
    struct bz_task *parent;
};

/* The parent "p" joins the child "c". */
static void pair_begin(struct pair *pair, const char *parent_script, const char *child_script) {
    pair->loop = tst_begin();
    pair->log = (struct tst_log){0};
    bz_future_init(&pair->future, pair->loop);
    pair->child_actor = (struct tst_actor){.name = "c",
                                           .script = child_script,
                                           .loop = pair->loop,
                                           .log = &pair->log,
                                           .future = &pair->future};
    pair->child = tst_actor_spawn(&pair->child_actor);
    pair->parent_actor = pair->child_actor;
    pair->parent_actor.name = "p";
    pair->parent_actor.script = parent_script;
    pair->parent_actor.other = pair->child;
    pair->parent = tst_actor_spawn(&pair->parent_actor);
}

static void pair_end(struct pair *pair, const char *story, enum bz_status parent,
                     enum bz_status child) {
    tst_run(pair->loop);
    tst_expect(&pair->log, story);
    tst_status(tst_outcome(pair->parent), parent);
    tst_status(tst_outcome(pair->child), child);
    tst_end(pair->loop);
}

Test(join, returns_the_outcome) {
    struct pair pair;
    pair_begin(&pair, "join", "yield break");
    pair_end(&pair, "c.yield:ok p.join:broken", BZ_BROKEN, BZ_BROKEN);
}

Test(join, of_a_cancelled_task_is_cancelled) {
    struct pair pair;
    pair_begin(&pair, "join", "await");
    tst_turn(pair.loop);
    cr_assert(bz_task_cancel(pair.child));
    cr_assert(eq(u32, bz_task_cancelling(pair.parent), 0));
    pair_end(&pair, "c.await:cancelled p.join:cancelled", BZ_CANCELLED, BZ_CANCELLED);
}

Test(join, of_a_done_task_does_not_suspend) {
    struct pair pair;
    pair_begin(&pair, "join yield", "fail");
    pair.parent_actor.script = "~join join";
    tst_turn(pair.loop);
    tst_expect(&pair.log, "p.join:failed p.join:failed");
    pair_end(&pair, "p.join:failed p.join:failed", BZ_FAILED, BZ_FAILED);
}

/* The end of a task is queued like any other wake-up: the parent resumes a turn later. */
Test(join, resumes_a_turn_after_the_end) {
    struct pair pair;
    pair_begin(&pair, "join", "yield");
    tst_turns(pair.loop, 2);
    cr_assert(bz_task_is_done(pair.child));
    cr_assert(not(bz_task_is_done(pair.parent)));
    pair_end(&pair, "c.yield:ok p.join:ok", BZ_OK, BZ_OK);
}

/* T10: the request goes on to the task that is waited for; the parent ends with its outcome. */
Test(join, cancelled_cancels_the_other_task) {
    struct pair pair;
    pair_begin(&pair, "join", "await");
    tst_turn(pair.loop);
    cr_assert(bz_task_cancel(pair.parent));
    cr_assert(eq(u32, bz_task_cancelling(pair.parent), 1));
    cr_assert(eq(u32, bz_task_cancelling(pair.child), 1));
    pair_end(&pair, "c.await:cancelled p.join:cancelled", BZ_CANCELLED, BZ_CANCELLED);
}

/* T10: true means only that the request was delivered. Who swallows it spares the parent. */
Test(join, cancelled_ends_well_if_the_other_task_swallows_it) {
    struct pair pair;
    pair_begin(&pair, "join yield", "~await yield");
    tst_turn(pair.loop);
    cr_assert(bz_task_cancel(pair.parent));
    pair_end(&pair, "c.await:cancelled c.yield:ok p.join:ok p.yield:ok", BZ_OK, BZ_OK);
}

/* The child has ended and the parent has not resumed: the window of a join. */
Test(join, cancelled_in_the_window) {
    struct pair pair;
    pair_begin(&pair, "join", "yield");
    tst_turns(pair.loop, 2);
    cr_assert(bz_task_is_done(pair.child));
    cr_assert(bz_task_cancel(pair.parent));
    pair_end(&pair, "c.yield:ok p.join:cancelled", BZ_CANCELLED, BZ_OK);
}

/* T3 with T10: a marked parent hands its mark to the child when it begins to wait. */
Test(join, by_a_marked_task_marks_the_other) {
    struct pair pair;
    pair_begin(&pair, "cancel-self join", "~await yield");
    tst_turn(pair.loop);
    cr_assert(eq(u32, bz_task_cancelling(pair.child), 1));
    cr_assert(not(pair.parent->must_cancel));
    pair_end(&pair, "c.await:cancelled c.yield:ok p.join:ok", BZ_OK, BZ_OK);
}

/* A child that cancels the parent who waits for it has cancelled itself. */
static enum bz_status cancel_other(struct tst_actor *actor, const char *word, bool *is_quiet) {
    if (strcmp(word, "cancel-other") != 0) {
        return BZ_INVALID_ARGUMENT;
    }
    *is_quiet = true;
    cr_assert(bz_task_cancel(actor->other));
    return BZ_OK;
}

Test(join, cancelled_by_the_other_task_comes_back_to_it) {
    struct pair pair;
    pair_begin(&pair, "join", "yield cancel-other ~yield yield");
    pair.child_actor.other = pair.parent;
    pair.child_actor.extra = cancel_other;
    pair_end(&pair, "c.yield:ok c.yield:cancelled c.yield:ok p.join:ok", BZ_OK, BZ_OK);
}

Test(join, of_oneself_is_refused) {
    struct pair pair;
    pair_begin(&pair, "join", "");
    pair.parent_actor.other = pair.parent;
    pair_end(&pair, "p.join:invalid-state", BZ_INVALID_STATE, BZ_OK);
}

Test(join, by_several_wakes_all_in_order) {
    struct pair pair;
    pair_begin(&pair, "join", "yield fail");
    struct tst_actor second = pair.parent_actor;
    second.name = "q";
    struct bz_task *other_parent = tst_actor_spawn(&second);
    tst_run(pair.loop);
    tst_status(tst_outcome(other_parent), BZ_FAILED);
    pair_end(&pair, "c.yield:ok p.join:failed q.join:failed", BZ_FAILED, BZ_FAILED);
}

/* --- lifetime --------------------------------------------------------------------------------- */

/* The owner frees a task that is done while somebody else, woken by its end, has not resumed. */
Test(join, outlives_the_memory_of_the_task) {
    struct pair pair;
    pair_begin(&pair, "join", "yield break");
    tst_turns(pair.loop, 2);
    tst_status(tst_outcome(pair.child), BZ_BROKEN);
    tst_turn(pair.loop);
    tst_expect(&pair.log, "c.yield:ok p.join:broken");
    tst_status(tst_outcome(pair.parent), BZ_BROKEN);
    tst_end(pair.loop);
}

/* The same, and the memory is in use again, by a task that has not ended. */
Test(join, outlives_the_reuse_of_the_task) {
    struct pair pair;
    pair_begin(&pair, "join", "yield break");
    tst_turns(pair.loop, 2);
    tst_status(tst_outcome(pair.child), BZ_BROKEN);
    pair.child_actor.script = "sleep";
    struct bz_task *other = tst_actor_spawn(&pair.child_actor);
    cr_assert(eq(ptr, other, pair.child), "the test wants the block to be used again");
    cr_assert(bz_task_cancel(pair.parent));
    tst_turn(pair.loop);
    tst_expect(&pair.log, "c.yield:ok p.join:cancelled");
    cr_assert(eq(u32, bz_task_cancelling(other), 0), "the request went to a stranger");
    tst_run(pair.loop);
    tst_status(tst_outcome(pair.parent), BZ_CANCELLED);
    tst_status(tst_outcome(other), BZ_OK);
    tst_end(pair.loop);
}

/* A detached task is freed in its last step, before the one who joined it resumes. */
Test(join, of_a_detached_task) {
    struct pair pair;
    pair_begin(&pair, "join", "yield fail");
    bz_task_detach(pair.child);
    tst_run(pair.loop);
    tst_expect(&pair.log, "c.yield:ok p.join:failed");
    tst_status(tst_outcome(pair.parent), BZ_FAILED);
    tst_end(pair.loop);
}

/* --- chains ----------------------------------------------------------------------------------- */

#define CHAIN_TASKS 20000u

struct chain {
    struct bz_loop *loop;
    struct bz_task *tasks[CHAIN_TASKS];
    struct bz_future end;
    unsigned cancelled;
};

struct chain_link {
    struct chain *chain;
    uint32_t index;
};

static enum bz_status chain_run(void *arg) {
    struct chain_link *link = arg;
    enum bz_status status = link->index == 0 ? bz_future_await(&link->chain->end)
                                             : bz_task_join(link->chain->tasks[link->index - 1]);
    link->chain->cancelled += status == BZ_CANCELLED;
    return status;
}

static enum bz_status cancel_chain(void *arg) {
    struct chain *chain = arg;
    cr_assert(bz_task_cancel(chain->tasks[CHAIN_TASKS - 1]));
    return BZ_OK;
}

/* A request runs down a long chain of joins in a loop, on the small stack of a task. */
Test(join, chain_is_cancelled_without_recursion) {
    struct bz_loop_config config = {.stack_bytes = BZ_STACK_BYTES_MIN};
    struct bz_loop *loop = tst_begin_with(&config);
    struct chain *chain = calloc(1, sizeof *chain);
    struct chain_link *links = calloc(CHAIN_TASKS, sizeof *links);
    cr_assert(chain != NULL && links != NULL);
    chain->loop = loop;
    bz_future_init(&chain->end, loop);
    for (uint32_t index = 0; index < CHAIN_TASKS; index++) {
        links[index] = (struct chain_link){chain, index};
        chain->tasks[index] = tst_spawn(loop, chain_run, &links[index]);
    }
    tst_turn(loop);
    tst_start(loop, cancel_chain, chain);
    tst_turn(loop);
    cr_assert(eq(int, chain->end.state, BZ_FUTURE_CANCELLED));
    tst_run(loop);
    cr_assert(eq(u32, chain->cancelled, CHAIN_TASKS));
    for (uint32_t index = 0; index < CHAIN_TASKS; index++) {
        cr_assert(eq(u32, bz_task_cancelling(chain->tasks[index]), 1));
        bz_task_free(chain->tasks[index]);
    }
    free(links);
    free(chain);
    tst_end(loop);
}

/* Tasks that join each other in a circle never end; cancelling one does not hang the caller. */
Test(join, circle_is_told_when_cancelled, .signal = SIGABRT) {
    struct pair pair;
    pair_begin(&pair, "join", "join");
    pair.child_actor.other = pair.parent;
    tst_turn(pair.loop);
    bz_task_cancel(pair.parent);
}
