/* run(): acquire, a function, release. For both primitives that have it. */
#include "primitives/sync/tests/stage_deferred.h"

struct job {
    struct bz_deferred_run run;
    struct bz_deferred_pair pair;
    struct bz_deferred inner; /* what the function answers with, if it takes longer */
    struct stage *stage;
    const char *name;
    bool takes_longer;
    bool releases; /* by itself */
    bool cancels;  /* its own deferred, from inside */
    struct bz_deferred_result answer;
};

static struct bz_deferred_result job_fn(void *arg) {
    struct job *job = arg;
    tst_say(&job->stage->log, "%s", job->name);
    cr_assert(stage_free(job->stage) < job->stage->permits, "it runs, and nothing is out");
    if (job->releases) {
        stage_give_back(job->stage);
    }
    if (job->cancels) {
        cr_assert(not(bz_deferred_cancel(&job->run.waiter.deferred)));
    }
    return job->takes_longer ? bz_deferred_wait_for(&job->inner) : job->answer;
}

static struct bz_deferred_result job_ended(struct bz_deferred_pair *pair,
                                           struct bz_deferred_result result) {
    struct job *job = bz_container_of(pair, struct job, pair);
    tst_say(&job->stage->log, "%s:%s:%u", job->name, bz_status_name(result.status),
            (unsigned)result.value);
    return result;
}

static enum bz_status job_run(struct job *job, bz_deferred_run_fn *fn) {
    struct stage *stage = job->stage;
    return stage->kind == KIND_LOCK
               ? bz_deferred_lock_run(&stage->lock, &job->run, fn, job)
               : bz_deferred_semaphore_run(&stage->semaphore, &job->run, fn, job);
}

static void job_start(struct stage *stage, struct job *job, const char *name) {
    job->stage = stage;
    job->name = name;
    bz_deferred_init(&job->inner, &stage->trampoline, NULL);
    tst_status(job_run(job, job_fn), BZ_OK);
    bz_deferred_add_both(&job->run.waiter.deferred, &job->pair, job_ended);
}

#define EACH_KIND(kind) for (enum kind kind = KIND_LOCK; kind < KIND_COUNT; kind++)

/* The stage does not see what is granted inside run: it is told. */
static void expect_free(struct stage *stage, bool is_free) {
    stage->owned = !is_free;
    stage_check(stage);
}

Test(deferred_run, passes_the_result_through_and_releases) {
    EACH_KIND(kind) {
        struct stage stage;
        struct job ok = {.answer = bz_deferred_ok(4)};
        struct job failed = {.answer = bz_deferred_error(BZ_FAILED, 5)};
        stage_begin(&stage, kind, 1);
        job_start(&stage, &ok, "a");
        expect_free(&stage, true);
        job_start(&stage, &failed, "b");
        expect_free(&stage, true);
        stage_end(&stage, "a a:ok:4 b b:failed:5");
    }
}

Test(deferred_run, needs_a_function) {
    EACH_KIND(kind) {
        struct stage stage;
        struct job job = {.stage = &stage};
        stage_begin(&stage, kind, 1);
        tst_status(job_run(&job, NULL), BZ_INVALID_ARGUMENT);
        stage_end(&stage, "");
    }
}

/* It is held until the function's deferred has fired; then the next one runs, at once. */
Test(deferred_run, holds_until_the_function_is_through) {
    EACH_KIND(kind) {
        for (int is_error = 0; is_error < 2; is_error++) {
            struct stage stage;
            struct job first = {.takes_longer = true};
            struct job second = {.answer = bz_deferred_ok(2)};
            stage_begin(&stage, kind, 1);
            job_start(&stage, &first, "a");
            expect_free(&stage, false);
            job_start(&stage, &second, "b");
            tst_expect(&stage.log, "a");
            if (is_error) {
                bz_deferred_errback(&first.inner, BZ_FAILED, 1);
            } else {
                bz_deferred_callback(&first.inner, 1);
            }
            expect_free(&stage, true);
            stage_end(&stage, is_error ? "a b b:ok:2 a:failed:1" : "a b b:ok:2 a:ok:1");
        }
    }
}

Test(deferred_run, cancelled_while_it_waits_never_calls_the_function) {
    EACH_KIND(kind) {
        struct stage stage;
        struct job job = {.answer = bz_deferred_ok(1)};
        stage_begin(&stage, kind, 1);
        stage_acquire(&stage, 'a', NULL);
        job_start(&stage, &job, "job");
        cr_assert(bz_deferred_cancel(&job.run.waiter.deferred));
        stage_check(&stage);
        stage_give_back(&stage);
        stage_end(&stage, "a:ok job:cancelled:0");
    }
}

/* Its deferred is given an error by hand while it waits: the same, it owns nothing to release. */
Test(deferred_run, given_an_error_while_it_waits_never_calls_the_function) {
    EACH_KIND(kind) {
        struct stage stage;
        struct job job = {.answer = bz_deferred_ok(1)};
        stage_begin(&stage, kind, 1);
        stage_acquire(&stage, 'a', NULL);
        job_start(&stage, &job, "job");
        tst_status(bz_deferred_errback(&job.run.waiter.deferred, BZ_BROKEN, 3), BZ_OK);
        stage_check(&stage);
        stage_give_back(&stage);
        stage_end(&stage, "a:ok job:broken:3");
    }
}

Test(deferred_run, cancelled_while_the_function_is_pending_cancels_that_and_releases) {
    EACH_KIND(kind) {
        struct stage stage;
        struct job first = {.takes_longer = true};
        struct job second = {.answer = bz_deferred_ok(2)};
        stage_begin(&stage, kind, 1);
        job_start(&stage, &first, "a");
        job_start(&stage, &second, "b");
        cr_assert(bz_deferred_cancel(&first.run.waiter.deferred));
        cr_assert(bz_deferred_is_fired(&first.inner));
        expect_free(&stage, true);
        stage_end(&stage, "a b b:ok:2 a:cancelled:0");
    }
}

/* From inside the function, or when it is over, a cancel comes too late. */
Test(deferred_run, cancelled_in_the_function_is_not_cancelled) {
    EACH_KIND(kind) {
        struct stage stage;
        struct job job = {.cancels = true, .answer = bz_deferred_ok(6)};
        stage_begin(&stage, kind, 1);
        job_start(&stage, &job, "a");
        cr_assert(not(bz_deferred_cancel(&job.run.waiter.deferred)));
        expect_free(&stage, true);
        stage_end(&stage, "a a:ok:6");
    }
}

/* A function that releases by itself is told so; an error of its own counts more. */
Test(deferred_run, release_that_is_refused_shows) {
    EACH_KIND(kind) {
        struct stage stage;
        struct job ok = {.releases = true, .answer = bz_deferred_ok(4)};
        struct job failed = {.releases = true, .answer = bz_deferred_error(BZ_FAILED, 5)};
        stage_begin(&stage, kind, 1);
        stage.owned = 1;
        job_start(&stage, &ok, "a");
        stage.owned = 1;
        job_start(&stage, &failed, "b");
        stage_end(&stage, "a a:not-held:0 b b:failed:5");
    }
}

/* Three at a semaphore of two. */
Test(deferred_run, as_many_as_there_are_tokens) {
    struct stage stage;
    struct job jobs[3] = {{.takes_longer = true}, {.takes_longer = true}, {.takes_longer = true}};
    stage_begin(&stage, KIND_SEMAPHORE, 2);
    job_start(&stage, &jobs[0], "a");
    job_start(&stage, &jobs[1], "b");
    job_start(&stage, &jobs[2], "c");
    tst_expect(&stage.log, "a b");
    bz_deferred_callback(&jobs[1].inner, 1);
    bz_deferred_callback(&jobs[2].inner, 2);
    bz_deferred_callback(&jobs[0].inner, 3);
    stage_end(&stage, "a b c b:ok:1 c:ok:2 a:ok:3");
}
