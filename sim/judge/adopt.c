/* A judge that a child process has used, with code that may write anywhere. */
#include <string.h>

#include "sim/choice/strategy_replay.h"
#include "sim/judge/internal.h"
#include "sim/judge/record.h"
#include "traces/lack.h"
#include "traces/words.h"

void bz_judge_keep_before(const struct bz_judge *judge, struct bz_judge_before *before) {
    before->judge = *judge;
    before->config = judge->sums != NULL ? judge->sums->config : judge->config;
    before->mem_bytes = bz_mem_used_bytes(judge->mem);
    before->shadow_mem_bytes = bz_mem_used_bytes(judge->shadow.mem);
}

/* --- what makes sense ------------------------------------------------------------------------- */

/* True if an array lies in the part of an arena that is in use. */
static bool holds(const struct bz_mem *mem, const void *array, uint64_t count, size_t item_bytes) {
    uintptr_t begin = (uintptr_t)mem;
    uintptr_t end = begin + bz_mem_used_bytes(mem);
    uintptr_t at = (uintptr_t)array;
    return count == 0 || (at > begin && at < end && at % _Alignof(uint64_t) == 0 &&
                          count <= (end - at) / item_bytes);
}

static bool is_shadow_sound(const struct bz_shadow *shadow) {
    return holds(shadow->mem, shadow->tasks, shadow->task_capacity, sizeof *shadow->tasks) &&
           holds(shadow->mem, shadow->objects, shadow->object_capacity, sizeof *shadow->objects) &&
           shadow->task_count < shadow->task_capacity && shadow->running <= shadow->task_count &&
           shadow->object_count < shadow->object_capacity;
}

static bool are_arrays_sound(const struct bz_judge *judge) {
    const struct bz_tape *tape = &judge->tape;
    const struct bz_mem *mem = judge->mem;
    return is_shadow_sound(&judge->shadow) && tape->count <= tape->capacity &&
           holds(mem, tape->choices, tape->capacity, sizeof *tape->choices) &&
           holds(mem, judge->strategy_state, judge->strategy_bytes, 1) &&
           holds(mem, judge->draws, judge->draws_capacity, sizeof *judge->draws) &&
           holds(mem, judge->candidates, judge->candidates_capacity, sizeof *judge->candidates) &&
           holds(mem, judge->sums, judge->sums != NULL, sizeof *judge->sums) &&
           bz_judge_is_log_sound(judge, holds);
}

static bool is_text(const char *text, size_t bytes) {
    return text == NULL || memchr(text, '\0', bytes) != NULL;
}

#define NAME_BYTES_MAX ((size_t)1 << 20)

static bool are_names_sound(const struct bz_judge *judge) {
    const struct bz_shadow *shadow = &judge->shadow;
    bool is_sound = true;
    for (uint32_t task = 1; is_sound && task <= shadow->task_count; task++) {
        is_sound = shadow->tasks[task].name_base != NULL &&
                   is_text(shadow->tasks[task].name_base, NAME_BYTES_MAX);
    }
    for (uint32_t object = 1; is_sound && object <= shadow->object_count; object++) {
        is_sound = shadow->objects[object].name != NULL &&
                   is_text(shadow->objects[object].name, NAME_BYTES_MAX);
    }
    return is_sound;
}

static bool are_choices_sound(const struct bz_tape *tape) {
    bool is_sound = true;
    for (size_t index = 0; is_sound && index < tape->count; index++) {
        const struct bz_choice *choice = &tape->choices[index];
        is_sound = choice->kind < BZ_CHOICE_KIND_COUNT && is_text(choice->label, NAME_BYTES_MAX);
    }
    return is_sound;
}

static bool is_event_sound(const struct bz_logged_event *logged) {
    const struct bz_event *event = &logged->event;
    return bz_event_name(event->kind) != NULL && event->op < BZ_OP_COUNT &&
           event->window < BZ_WINDOW_COUNT && is_text(logged->where, NAME_BYTES_MAX) &&
           is_text(logged->said, sizeof logged->said);
}

struct reader {
    struct bz_event_sink sink; /* first: it is found by it */
    bool is_sound;
};

static void read_event(struct bz_event_sink *sink, const struct bz_logged_event *logged) {
    struct reader *reader = (struct reader *)(void *)sink; /* its first member */
    reader->is_sound = reader->is_sound && is_event_sound(logged);
}

/* Sums over the runs of a child: far below this. */
#define SUM_MAX (UINT64_C(1) << 48)

static bool are_sums_sound(const struct bz_run_stats *stats) {
    bool is_sound = stats->runs < SUM_MAX && stats->steps < SUM_MAX && stats->injected < SUM_MAX;
    for (unsigned op = 0; op < BZ_OP_COUNT; op++) {
        for (unsigned window = 0; window < BZ_WINDOW_COUNT; window++) {
            is_sound = is_sound && stats->windows[op][window] < SUM_MAX;
        }
    }
    return is_sound;
}

static bool is_outcome_sound(const struct bz_judge *judge) {
    const struct bz_violation *violation = &judge->violation;
    return judge->end <= BZ_RUN_NO_RESOURCE && judge->strike_count <= BZ_STRIKES_MAX &&
           is_text(violation->message, sizeof violation->message) &&
           (judge->end != BZ_RUN_VIOLATED || violation->oracle != NULL) &&
           is_text(violation->oracle, NAME_BYTES_MAX) && violation->op < BZ_OP_COUNT &&
           violation->window < BZ_WINDOW_COUNT;
}

static bool is_replay_sound(const struct bz_judge *judge) {
    bool is_replay = judge->strategy == &bz_strategy_replay_strict ||
                     judge->strategy == &bz_strategy_replay_lenient;
    if (is_replay) {
        struct bz_replay_state state = *(const struct bz_replay_state *)judge->strategy_state;
        (void)bz_replay_state_finish(&state, judge->step); /* reads its tape */
    }
    return true;
}

bool bz_judge_can_be_read(const struct bz_judge *judge) {
    struct reader reader = {.sink = {read_event}, .is_sound = true};
    bool is_sound =
        judge->mem == bz_judge_mem(judge) && judge->shadow.mem == bz_judge_shadow_mem(judge) &&
        are_arrays_sound(judge) && are_names_sound(judge) && are_sums_sound(&judge->stats) &&
        are_choices_sound(&judge->tape) && is_outcome_sound(judge) && is_replay_sound(judge);
    if (is_sound && bz_judge_is_recorded(judge)) {
        bz_judge_log_replay(judge, &reader.sink);
    }
    return is_sound && reader.is_sound;
}

bool bz_judge_is_unharmed(const struct bz_judge *judge, const struct bz_judge_before *before,
                          bool is_adapted) {
    struct bz_judge_config config = before->judge.config;
    bool is_same =
        is_adapted || (judge->config.profile == config.profile &&
                       judge->config.starvation_bound == config.starvation_bound &&
                       memcmp(&judge->profile, &before->judge.profile, sizeof judge->profile) == 0);
    config.profile = judge->config.profile;
    config.starvation_bound = judge->config.starvation_bound;
    return is_same && memcmp(&judge->config, &config, sizeof config) == 0 &&
           are_sums_sound(&judge->stats);
}

/* --- in the parent ---------------------------------------------------------------------------- */

/* Memory that no child has to write. */
static void restore_settings(struct bz_judge *judge, const struct bz_judge_before *before) {
    const struct bz_profile *own = &judge->profile;
    bool is_measured = judge->config.profile == own;
    judge->mem = bz_judge_mem(judge);
    judge->tape.mem = judge->mem;
    judge->shadow.mem = bz_judge_shadow_mem(judge);
    judge->config = before->judge.config;
    judge->config.profile = is_measured ? own : before->judge.config.profile;
    judge->stop = before->judge.stop;
}

bool bz_judge_adopt(struct bz_judge *judge, const struct bz_judge_before *before) {
    restore_settings(judge, before);
    if (!bz_mem_adopt(judge->mem, BZ_RECORD_BYTES) ||
        !bz_mem_adopt(judge->shadow.mem, BZ_SHADOW_BYTES)) {
        bz_lack_stop(NULL, "what a child process has recorded");
    }
    bz_mem_mark_freed(judge->shadow.mem);
    if (!are_arrays_sound(judge)) {
        return false;
    }
    if (judge->sums != NULL) {
        judge->sums->config = before->config;
        judge->sums->config.profile = NULL;
    }
    return true;
}

void bz_judge_give_back(struct bz_judge *judge, const struct bz_judge_before *before) {
    *judge = before->judge;
    (void)bz_mem_adopt_empty(judge->mem, BZ_RECORD_BYTES, before->mem_bytes);
    (void)bz_mem_adopt_empty(judge->shadow.mem, BZ_SHADOW_BYTES, before->shadow_mem_bytes);
    bz_mem_mark_freed(judge->shadow.mem);
    bz_mem_reset(judge->shadow.mem);
    bz_shadow_begin(&judge->shadow, judge->shadow.mem);
    bz_tape_clear(&judge->tape);
    judge->call.kind = 0;
    judge->loop_calls = 0;
    if (judge->log != NULL) {
        (void)bz_judge_log_events(judge); /* none */
    }
}
