#include "sim/campaign/determinism.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "sim/judge/internal.h"
#include "sim/judge/record.h"

/* Further pairs of runs, with every event recorded, until the difference shows again. */
#define PAIRS_MAX 256u
#define STEPS_OF_ALL 1000000u /* no further pair begins after so many */
#define STACKS_OF_TWO 10000u  /* of more tasks, the stacks of two runs take too much memory */
#define TEXT_BYTES 160u       /* of an event in the message */

/* --- the first event that differs ------------------------------------------------------------- */

struct difference {
    const struct bz_trace *expected;
    uint64_t steps; /* of both runs */
    size_t next;    /* event of the expected run */
    uint32_t place; /* of the other run: see bz_world_move() */
    bool is_found;
    uint32_t step;
    uint32_t task;
    char task_name[BZ_TRACE_NAME_BYTES_MAX + 1];
    char at[BZ_TRACE_NAME_BYTES_MAX + 32]; /* " (at pool.py:12)"; empty: unknown */
    char first[TEXT_BYTES];
    char second[TEXT_BYTES];
};

/* The line of the program at which the task is suspended then, or was before this step. */
static void find_place(struct difference *difference, const struct bz_trace_event *event) {
    const struct bz_trace *expected = difference->expected;
    const char *where = event->where;
    const char *how = "at";
    for (size_t index = difference->next; where == NULL && index-- > 0;) {
        const struct bz_trace_event *before = &expected->events[index];
        if (before->where != NULL && event->task != NULL &&
            strcmp(before->task, event->task) == 0) {
            where = before->where;
            how = before->step == event->step ? "at" : "suspended before at";
        }
    }
    if (where != NULL) {
        snprintf(difference->at, sizeof difference->at, " (%s %s)", how, where);
    }
}

static void differ(struct difference *difference, const struct bz_trace_event *first,
                   const struct bz_trace_event *second) {
    static const char end[] = "the end of the run";
    const struct bz_trace_event *place = second != NULL ? second : first;
    difference->is_found = true;
    difference->step = (uint32_t)place->step;
    if (place->task != NULL) {
        difference->task = bz_trace_find_task(difference->expected, place->task);
    }
    find_place(difference, place);
    snprintf(difference->task_name, sizeof difference->task_name, "%s",
             place->task == NULL ? "loop" : place->task);
    snprintf(difference->first, TEXT_BYTES, "%s", end);
    snprintf(difference->second, TEXT_BYTES, "%s", end);
    if (first != NULL) {
        bz_trace_event_text(first, difference->first, TEXT_BYTES);
    }
    if (second != NULL) {
        bz_trace_event_text(second, difference->second, TEXT_BYTES);
    }
}

static void compare(struct bz_recorder *recorder, const struct bz_trace_event *event) {
    struct difference *difference = recorder->context;
    const struct bz_trace *expected = difference->expected;
    bool is_past = difference->next == expected->event_count;
    const struct bz_trace_event *first = is_past ? NULL : &expected->events[difference->next++];
    if (!difference->is_found && (is_past || !bz_trace_event_equal(first, event))) {
        differ(difference, first, event);
    }
}

/* Runs the seed in the world: records the expected run, or compares another one with it. False if
 * the run was stopped. */
static bool run_recorded(struct bz_program_place *place, uint64_t seed,
                         const volatile sig_atomic_t *stop, struct bz_trace *trace,
                         struct difference *difference) {
    struct bz_judge *judge = place->world->judge;
    struct bz_source source = bz_program_source(place);
    struct bz_recorder recorder;
    bz_recorder_init(&recorder, judge, trace);
    if (trace != difference->expected) {
        recorder.on_event = compare;
        recorder.context = difference;
    }
    bz_judge_watch_stop(judge, stop);
    enum bz_run_end end = bz_judge_run(
        judge, &source, &(struct bz_run_start){.seed = seed, .sink = bz_judge_log_events(judge)});
    bz_judge_log_replay(judge, &recorder.sink);
    bool has_ended = end != BZ_RUN_GIVEN_UP && end != BZ_RUN_NO_RESOURCE;
    difference->steps += judge->step;
    return (has_ended || difference->is_found) && !recorder.is_full;
}

/* Compares two runs of the seed, event by event, in worlds side by side. */
static bool find_difference(const struct bz_program *program, uint64_t seed,
                            const volatile sig_atomic_t *stop, struct difference *difference,
                            struct bz_trace *first) {
    struct bz_program_place places[2] = {{program, bz_program_new_world(program)},
                                         {program, bz_program_new_world(program)}};
    struct bz_trace second; /* its task names alone */
    bz_trace_init(&second);
    bool is_run = places[0].world != NULL && places[1].world != NULL;
    if (is_run) {
        bz_world_move(places[1].world, difference->place);
        is_run = run_recorded(&places[0], seed, stop, first, difference) &&
                 run_recorded(&places[1], seed, stop, &second, difference);
    }
    if (is_run && !difference->is_found && difference->next < first->event_count) {
        differ(difference, &first->events[difference->next], NULL);
    }
    bz_world_destroy(places[0].world);
    bz_world_destroy(places[1].world);
    bz_trace_fini(&second);
    return is_run && difference->is_found;
}

/* --- the verdict ------------------------------------------------------------------------------ */

static const char *outside_of(const struct bz_program *program) {
    const struct bz_runtime *runtime = program->scenario->runtime;
    return runtime == NULL ? "a static variable, memory of malloc(), or an "
                             "address"
                           : runtime->outside;
}

static void overrule(const struct bz_program *program, struct bz_world *world,
                     const volatile sig_atomic_t *stop, uint64_t digest) {
    struct bz_judge *judge = world->judge;
    uint32_t pairs = 0;
    for (uint64_t steps = 0; pairs < PAIRS_MAX && steps <= STEPS_OF_ALL; pairs++) {
        struct bz_trace trace;
        struct difference difference = {.expected = &trace, .place = pairs + 1};
        bz_trace_init(&trace);
        bool is_found = find_difference(program, judge->seed, stop, &difference, &trace);
        bz_trace_fini(&trace);
        steps += difference.steps;
        if (is_found) {
            bz_judge_overrule(judge, "nondeterminism",
                              "two runs of this seed differ at step %" PRIu32
                              ", task %.64s%s: '%s' in one, '%s' "
                              "in the other; something besides the choices decides, such as %s",
                              difference.step, difference.task_name, difference.at,
                              difference.first, difference.second, outside_of(program));
            judge->violation.step = difference.step;
            judge->violation.task = difference.task;
            return;
        }
    }
    bz_judge_overrule(judge, "nondeterminism",
                      "two runs of this seed had the digests %016" PRIx64 " and %016" PRIx64
                      "; %u further pairs were equal, so there is no step to show. Something "
                      "besides the choices decides, such as %s",
                      judge->digest, digest, pairs, outside_of(program));
}

static void ignore(struct bz_event_sink *sink, const struct bz_logged_event *event) {
    (void)sink, (void)event;
}

/* Later repetitions are in the world of those before: the set-up is made again, over what they
 * left, at other addresses than those of `world`. */
void bz_determinism_judge(const struct bz_program *program, struct bz_world *world,
                          struct bz_world **other, uint64_t index,
                          const volatile sig_atomic_t *stop) {
    const struct bz_judge *judge = world->judge;
    *other = *other != NULL ? *other : bz_program_new_world(program);
    if (*other == NULL) {
        bz_judge_lacks(world->judge, NULL, "a second run");
        return;
    }
    if (index < BZ_DETERMINISM_PLACES) {
        bz_world_move(*other, (uint32_t)index + 1);
    }
    struct bz_program_place place = {program, *other};
    struct bz_source source = bz_program_source(&place);
    if (judge->shadow.task_count > STACKS_OF_TWO) {
        bz_world_drop_stacks(world);
    }
    bz_program_enter(program, *other);
    bz_judge_watch_stop((*other)->judge, stop);
    struct bz_event_sink checks = {ignore}; /* with a sink, the runtime's events are checked */
    struct bz_run_start start = {
        .seed = judge->seed, .strategy = program->strategy, .sink = &checks};
    enum bz_run_end end = bz_judge_run((*other)->judge, &source, &start);
    uint64_t digest = bz_judge_digest((*other)->judge);
    if (end == BZ_RUN_NO_RESOURCE) {
        bz_judge_lacks(world->judge, NULL, "a second run");
    } else if (end != BZ_RUN_GIVEN_UP && (digest != judge->digest || end != judge->end)) {
        overrule(program, world, stop, digest);
    }
}
