/* A contained program is shrunk in one child process, which is much faster than one for each run.
 * If a run ends it, nothing is lost but time. */
#include "sim/judge/internal.h"
#include "sim/shrink/internal.h"

#define STOP_LOOKS_MAX 8u
#define STEPS_OF_A_RUN 30u /* that take their time */

/* Shared with the child. */
struct shared {
    struct bz_shrink_config config; /* of the child */
    struct bz_program program;
    struct bz_shrink_result result; /* its tape is in the memory of the child */
    struct bz_shrink_size best;
    volatile sig_atomic_t stop;
};

static void note_progress(void *context, uint64_t runs, const struct bz_shrink_size *best) {
    struct shared *shared = context;
    (void)runs;
    shared->best = *best;
    bz_child_tell();
}

static void shrink_in_child(void *context) {
    struct shared *shared = context;
    (void)bz_shrink_here(&shared->config, &shared->result);
}

static enum bz_child_state wait_for(const struct bz_shrink_config *config, struct shared *shared,
                                    struct bz_child *child) {
    struct bz_child *const children[] = {child};
    struct bz_death death;
    uint32_t looks = 0;
    for (;;) {
        enum bz_child_state state = bz_child_look(child, &death);
        if (state != BZ_CHILD_RUNS) {
            return state;
        }
        if (config->on_progress != NULL) {
            config->on_progress(config->context, shared->result.runs, &shared->best);
        }
        shared->stop = config->budget.stop != NULL ? *config->budget.stop : BZ_STOP_NONE;
        looks += shared->stop != BZ_STOP_NONE;
        if (looks == STOP_LOOKS_MAX) {
            bz_child_kill(child);
            return BZ_CHILD_DIED;
        }
        bz_child_wait(children, 1);
    }
}

/* The tape of the smallest run, from a run in a process of its own: it must be the same run. */
static bool confirm(const struct bz_shrink_config *config, struct bz_shrink_result *result) {
    result->program.contain = config->program->contain;
    struct bz_world *world = bz_program_new_world(&result->program);
    bool is_same = world != NULL && bz_program_run(&result->program, world, 0) == BZ_RUN_VIOLATED &&
                   bz_judge_digest(world->judge) == result->digest &&
                   bz_tape_copy(&result->tape, &world->judge->tape);
    bz_world_destroy(world);
    return is_same;
}

bool bz_shrink_in_child(const struct bz_shrink_config *config, struct bz_shrink_result *result) {
    struct shared *shared = bz_shared_alloc(sizeof *shared);
    struct bz_child child;
    if (shared == NULL) {
        return false;
    }
    shared->config = *config;
    shared->program = *config->program;
    shared->program.contain.is_on = false; /* in the child */
    shared->config.program = &shared->program;
    shared->config.budget.stop = &shared->stop;
    shared->config.on_progress = note_progress;
    shared->config.context = shared;
    bool is_ok = false;
    if (bz_child_start(&child, &config->program->contain, NULL, shrink_in_child, shared)) {
        child.counter = &shared->result.runs;
        child.contain.step_ns *= STEPS_OF_A_RUN; /* it sees runs, and no steps */
        is_ok = wait_for(config, shared, &child) == BZ_CHILD_DONE &&
                shared->result.end <= BZ_SHRINK_INTERRUPTED && shared->result.has_answers;
    }
    if (is_ok) {
        *result = shared->result;
        bz_tape_init(&result->tape, NULL);
        is_ok = confirm(config, result);
        if (!is_ok) {
            bz_tape_fini(&result->tape);
        }
    }
    bz_shared_free(shared, sizeof *shared);
    return is_ok;
}
