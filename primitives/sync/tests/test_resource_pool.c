/* Resource pool: who gets which resource, room that is given on, idle time, closing, cancels. */
#include "primitives/sync/resource_pool.h"
#include "primitives/sync/tests/stage_waiters.h"

#define MADE_MAX 16u
#define IDLE_NS 10u

enum making { QUICK, SLOW, FAILING }; /* at once; after a yield; not, after a yield */

struct made {
    struct bz_resource resource;
    bool exists;
};

/* Words: "acquire" reports the number of the resource; "release", "break" of that of the guest,
 * "release-2" of number 2; "close" "expire"; "quick" "slow" "failing": how resources are made from
 * here on. "pool" reports in use/idle/exist, "waiters" and "closers" who waits. */
struct pool {
    struct tst_stage stage;
    struct bz_resource_pool pool;
    enum making making;
    struct made made[MADE_MAX + 1]; /* by number, from 1 */
    unsigned made_count;
    unsigned held[TST_GUESTS + 1]; /* the last is that of the test */
};

static struct pool *pool_of(struct tst_call *call) {
    return bz_container_of(call->stage, struct pool, stage);
}

static enum bz_status create(void *context, struct bz_resource **resource) {
    struct pool *pool = context;
    enum making making = pool->making;
    enum bz_status status = making == QUICK ? BZ_OK : bz_yield(pool->stage.loop);
    if (status != BZ_OK || making == FAILING) {
        return status == BZ_OK ? BZ_FAILED : status;
    }
    cr_assert_lt(pool->made_count, MADE_MAX);
    struct made *made = &pool->made[++pool->made_count];
    memset(made, 1, sizeof *made); /* the pool sets what it reads */
    made->exists = true;
    *resource = &made->resource;
    return BZ_OK;
}

static void destroy(void *context, struct bz_resource *resource) {
    struct made *made = bz_container_of(resource, struct made, resource);
    (void)context;
    cr_assert(made->exists);
    made->exists = false;
}

static unsigned *held_by(struct tst_call *call) {
    unsigned guest =
        call->actor == NULL ? TST_GUESTS : (unsigned)(call->actor - call->stage->actors);
    return &pool_of(call)->held[guest];
}

static enum bz_status word_acquire(struct tst_call *call) {
    struct pool *pool = pool_of(call);
    struct bz_resource *resource = NULL;
    enum bz_status status = bz_resource_pool_acquire(&pool->pool, &resource);
    if (status == BZ_OK) {
        struct made *made = bz_container_of(resource, struct made, resource);
        cr_assert(made->exists);
        *held_by(call) = (unsigned)(made - pool->made);
        tst_report(call, "%u", *held_by(call));
    }
    return status;
}

static enum bz_status give_back(struct tst_call *call, bool is_broken) {
    struct pool *pool = pool_of(call);
    unsigned number = call->rest[0] == '\0' ? *held_by(call) : (unsigned)tst_number(call->rest);
    return bz_resource_pool_release(&pool->pool, &pool->made[number].resource, is_broken);
}

TST_WORD(word_release, give_back(call, false))
TST_WORD(word_break, give_back(call, true))
TST_WORD(word_close, bz_resource_pool_close(&pool_of(call)->pool))
TST_DEED(word_expire, bz_resource_pool_expire(&pool_of(call)->pool))
TST_DEED(word_quick, pool_of(call)->making = QUICK)
TST_DEED(word_slow, pool_of(call)->making = SLOW)
TST_DEED(word_failing, pool_of(call)->making = FAILING)

static const struct tst_word pool_words[] = {
    {"acquire", word_acquire},
    {"release", word_release, .is_quiet = true},
    {"release-", word_release, .is_quiet = true},
    {"break", word_break, .is_quiet = true},
    {"close", word_close},
    {"expire", word_expire, .is_quiet = true},
    {"quick", word_quick, .is_quiet = true},
    {"slow", word_slow, .is_quiet = true},
    {"failing", word_failing, .is_quiet = true},
    {NULL, NULL},
};

static void pool_report(struct tst_call *call) {
    const struct pool *pool = pool_of(call);
    if (strcmp(call->word, "pool") == 0) {
        unsigned exist = 0;
        for (unsigned number = 1; number <= pool->made_count; number++) {
            exist += pool->made[number].exists;
        }
        tst_report(call, "%u/%u/%u", pool->pool.in_use, pool->pool.idle_count, exist);
    }
    report_waiters(call, "waiters", &pool->pool.queue);
    report_waiters(call, "closers", &pool->pool.closers);
}

static void pool_check(struct tst_stage *stage) {
    struct pool *there = bz_container_of(stage, struct pool, stage);
    const struct bz_resource_pool *pool = &there->pool;
    check_waiters(&pool->queue);
    check_waiters(&pool->closers);
    cr_assert_leq(bz_resource_pool_size(pool), pool->config.limit);
    if (pool->queue.waiting_count > 0) {
        cr_assert(!pool->is_closed && pool->idle_count == 0);
        cr_assert_eq(pool->in_use, pool->config.limit);
    }
}

static void play(uint32_t limit, const char *timeline) {
    static struct pool pool;
    memset(&pool, 1, sizeof pool);
    pool.making = QUICK;
    pool.made_count = 0;
    tst_stage_begin(
        &pool.stage,
        (struct tst_cast){.words = pool_words, .report = pool_report, .check = pool_check});
    struct bz_resource_pool_config config = {
        .limit = limit, .idle_ns = IDLE_NS, .create = create, .destroy = destroy, .context = &pool};
    bz_resource_pool_init(&pool.pool, pool.stage.loop, &config);
    tst_play(&pool.stage, timeline);
    tst_play(&pool.stage, "run");
    tst_stage_end(&pool.stage);
}

Test(resource_pool, timelines) {
    static const struct tst_sized_row rows[] = {
        {"lends_the_one_given_back_last", 3,
         "a: acquire yield release; b: acquire yield release; run pool=0/2/2"
         " -> a.acquire=1 b.acquire=2 a.yield:ok b.yield:ok; acquire=2"},
        {"makes_no_more_than_the_limit", 2,
         "a-c: acquire yield release; turn pool=2/0/2 waiters=1/0/0"
         " => a.acquire=1 b.acquire=2 a.yield:ok b.yield:ok c.acquire=1 c.yield:ok"},
        {"counts_those_that_are_being_made", 1,
         "slow; a-b: acquire release; turn pool=1/0/0 waiters=1/0/0"
         " => a.acquire=1 b.acquire=1"},
        {"serves_in_order_of_arrival", 1,
         "acquire=1; a-c: acquire yield release; turn release"
         " => a.acquire=1 a.yield:ok b.acquire=1 b.yield:ok c.acquire=1 c.yield:ok"},
        {"owner_is_whoever_was_woken", 1,
         "acquire=1; a: acquire release; turn; b: acquire release; release pool=1/0/1;"
         "step pool=1/0/1 waiters=1/1/0 => a.acquire=1 b.acquire=1; pool=0/1/1"},
        {"broken_one_makes_room", 1,
         "acquire=1; a: acquire release; turn break pool=1/0/0 waiters=0/1/0"
         " => a.acquire=2; pool=0/1/1"},
        {"release_of_what_is_not_lent_is_refused", 1,
         "acquire=1 release release:not-held acquire=1; a: acquire release; turn release;"
         "release-1:not-held => a.acquire=1; release-1:not-held pool=0/1/1"},

        /* --- making --- */
        {"failed_creation_makes_room_for_the_next", 1,
         "failing; a: acquire; b: acquire release; turn quick waiters=1/0/0"
         " => a.acquire:failed b.acquire=1"},
        {"all_fail_if_every_creation_does", 1,
         "failing; a-c: acquire => a.acquire:failed b.acquire:failed c.acquire:failed;"
         "pool=0/0/0 waiters=0/0/0"},
        {"cancelled_creation_makes_room_for_the_next", 1,
         "slow; a: acquire; b: acquire release; turn cancel-a quick"
         " => a.acquire:cancelled b.acquire=1; pool=0/1/1"},

        /* --- cancels --- */
        {"cancelled_waiter_leaves_no_trace", 1,
         "acquire=1; a: acquire; b: acquire release; turn cancel-a release"
         " => a.acquire:cancelled b.acquire=1; pool=0/1/1"},
        {"woken_and_cancelled_passes_the_resource_on", 1,
         "acquire=1; a: acquire; b: acquire release; turn release cancel-a"
         " => a.acquire:cancelled b.acquire=1; pool=0/1/1"},
        {"woken_and_cancelled_gives_the_resource_back", 1,
         "acquire=1; a: acquire; turn release cancel-a => a.acquire:cancelled; pool=0/1/1"},
        {"woken_and_cancelled_passes_the_room_on", 1,
         "acquire=1; a: acquire; b: acquire release; turn break cancel-a"
         " => a.acquire:cancelled b.acquire=2; pool=0/1/1"},
        {"woken_and_cancelled_gives_the_room_back", 1,
         "acquire=1; a: acquire; turn break cancel-a => a.acquire:cancelled; pool=0/0/0"},

        /* --- idle time --- */
        {"idle_time_is_over_after_its_end", 1,
         "time-3 acquire=1 release time-10 acquire=1 release time-11 acquire=2 pool=1/0/1"},
        {"idle_time_is_looked_at_in_the_next_acquire", 2,
         "a: acquire release; acquire=1; turn -> a.acquire=2; time-11 pool=1/1/2;"
         "release pool=0/2/2 acquire=1 pool=1/0/1"},
        {"old_ones_expire_first", 3,
         "a: acquire sleep release; b: acquire release; turn pool=1/1/2;"
         "-> a.acquire=1 b.acquire=2; run now=10 pool=0/2/2 -> a.sleep:ok; time-10 expire "
         "pool=0/1/1;"
         "acquire=1"},
        {"lent_ones_do_not_expire", 1, "acquire=1 time-100 expire pool=1/0/1 release pool=0/1/1"},

        /* --- closing --- */
        {"close_of_an_unused_pool", 1, "close acquire:closed close pool=0/0/0"},
        {"close_destroys_the_idle", 2, "acquire=1 release close pool=0/0/0"},
        {"close_waits_for_the_lent", 2,
         "acquire=1; a: acquire release; turn -> a.acquire=2; z: close; y: close; turn;"
         "pool=1/0/1 closers=2/0/0 release pool=0/0/0 => z.close:ok y.close:ok"},
        {"close_ends_waits", 1,
         "acquire=1; a-b: acquire; turn; z: close; turn -> ; waiters=0/2/0;"
         "turn -> a.acquire:closed b.acquire:closed; release => z.close:ok"},
        {"closed_and_cancelled_waiter_owns_nothing", 1,
         "acquire=1; a: acquire; turn; z: close; turn cancel-a => a.acquire:cancelled;"
         "pool=1/0/1 release => z.close:ok"},
        {"task_that_was_given_one_keeps_it", 1,
         "acquire=1; a: acquire yield release; turn; z: close; release step closers=1/0/0"
         " => a.acquire=1 a.yield:ok z.close:ok; pool=0/0/0"},
        {"task_that_was_given_one_and_is_cancelled_destroys_it", 1,
         "acquire=1; a: acquire; turn; z: close; release step cancel-a"
         " => a.acquire:cancelled z.close:ok; pool=0/0/0"},
        {"room_is_not_used_after_the_close", 1,
         "acquire=1; a: acquire; turn; z: close; break step closers=1/0/0"
         " => a.acquire:closed z.close:ok"},
        {"one_that_was_being_made_is_used_once", 1,
         "slow; a: acquire release; turn; z: close; step-1 closers=1/0/0"
         " => a.acquire=1 z.close:ok; pool=0/0/0"},
        {"failed_creation_ends_the_close", 1,
         "failing; a: acquire; turn; z: close; step-1 closers=1/0/0"
         " => a.acquire:failed z.close:ok"},
        {"cancelled_close_stays_closed", 1,
         "acquire=1; z: close; turn cancel-z => z.close:cancelled; acquire:closed release;"
         "pool=0/0/0 close"},
        {NULL, 0, NULL},
    };
    tst_play_sized_rows(rows, play);
}

Test(resource_pool, of_none_stops_the_process, .signal = SIGABRT) {
    play(0, "pool=0/0/0");
}
