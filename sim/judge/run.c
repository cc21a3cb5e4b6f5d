#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* memfd_create() */
#endif

/* The life of a judge and of its runs. */
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include "primitives/runtime/mem.h"
#include "primitives/runtime/place.h"
#include "primitives/runtime/room.h"
#include "sim/choice/rng.h"
#include "sim/judge/inspect.h"
#include "sim/judge/internal.h"
#include "sim/judge/record.h"
#include "traces/lack.h"

/* --- life ------------------------------------------------------------------------------------- */

#define RANGE_BYTES (BZ_SHADOW_BYTES + BZ_RECORD_BYTES)

/* A file of that size has no block yet, but `ulimit -f` forbids it all the same, by a signal. */
static bool may_have_file(void) {
    struct rlimit limit;
    return getrlimit(RLIMIT_FSIZE, &limit) == 0 && limit.rlim_cur >= RANGE_BYTES;
}

/* A room with the beginnings of both arenas, which each process that shares them extends by need:
 * they are a file without a name. NULL: there are no rooms, or no such files. */
static char *map_in_room(void) {
    char *range = may_have_file() ? bz_room_take(RANGE_BYTES) : NULL;
    int fd = range != NULL ? memfd_create("buzzer", MFD_CLOEXEC) : -1;
    bool is_mapped = fd >= 0 && ftruncate(fd, (off_t)RANGE_BYTES) == 0 &&
                     bz_room_map(range, BZ_ROOM_FIRST_BYTES, MAP_SHARED, fd, 0);
    if (is_mapped && !bz_room_map(range + BZ_SHADOW_BYTES, BZ_ROOM_FIRST_BYTES, MAP_SHARED, fd,
                                  BZ_SHADOW_BYTES)) {
        bz_mem_unmap(range, BZ_ROOM_FIRST_BYTES);
        is_mapped = false;
    }
    if (fd >= 0) {
        close(fd);
    }
    if (!is_mapped) {
        bz_room_return(range);
    }
    return is_mapped ? range : NULL;
}

/* In a range whose arenas begin with so many mapped bytes. */
static struct bz_judge *new_in(char *range, size_t shadow_mapped_bytes, size_t mapped_bytes) {
    struct bz_mem *shadow_mem = bz_mem_new_in(range, shadow_mapped_bytes, BZ_SHADOW_BYTES);
    struct bz_mem *mem = bz_mem_new_in(range + BZ_SHADOW_BYTES, mapped_bytes, BZ_RECORD_BYTES);
    struct bz_judge *judge = bz_mem_alloc(mem, sizeof *judge);
    BZ_CHECK(judge != NULL && bz_judge_mem(judge) == mem);
    judge->mem = mem;
    judge->shadow.mem = shadow_mem;
    return judge;
}

static struct bz_judge *new_in_range(void) {
    void *place = bz_place_next(RANGE_BYTES);
    char *range = place == NULL ? map_in_room() : NULL;
    bool is_in_room = range != NULL;
    if (!is_in_room) {
        range = mmap(place, RANGE_BYTES, PROT_READ | PROT_WRITE,
                     MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    }
    if (range == MAP_FAILED) {
        return NULL;
    }
    return new_in(range, is_in_room ? BZ_ROOM_FIRST_BYTES : BZ_SHADOW_BYTES,
                  is_in_room ? BZ_ROOM_FIRST_BYTES : BZ_RECORD_BYTES);
}

static struct bz_judge *configure(struct bz_judge *judge, const struct bz_judge_config *config) {
    judge->config = *config;
    judge->jump_gap = BZ_GAP_NEVER;
    if (judge->config.strategy == NULL) {
        judge->config.strategy = &bz_strategy_portfolio;
    }
    if (judge->config.steps_max == 0) {
        judge->config.steps_max = BZ_STEPS_MAX_DEFAULT;
    }
    if (judge->config.lag_max_ns == 0) {
        judge->config.lag_max_ns = BZ_LAG_MAX_DEFAULT_NS;
    }
    bz_judge_adapt(judge, config->profile, config->starvation_bound);
    bz_tape_init(&judge->tape, judge->mem);
    if (!bz_tape_grow(&judge->tape)) {
        bz_judge_destroy(judge);
        return NULL;
    }
    bz_mem_mark_freed(judge->shadow.mem);
    bz_shadow_begin(&judge->shadow, judge->shadow.mem);
    return judge;
}

struct bz_judge *bz_judge_new(const struct bz_judge_config *config) {
    struct bz_judge *judge = new_in_range();
    return judge == NULL ? NULL : configure(judge, config);
}

static const struct bz_judge *last_begun;

const struct bz_judge *bz_judge_last_begun(void) {
    return __atomic_load_n(&last_begun, __ATOMIC_RELAXED);
}

/* The range is all that is left of it. */
static char *leave(struct bz_judge *judge) {
    if (bz_judge_last_begun() == judge) {
        __atomic_store_n(&last_begun, NULL, __ATOMIC_RELAXED);
    }
    bz_mem_leave(bz_judge_shadow_mem(judge), BZ_SHADOW_BYTES);
    bz_mem_leave(bz_judge_mem(judge), BZ_RECORD_BYTES);
    return bz_judge_range(judge);
}

void bz_judge_destroy(struct bz_judge *judge) {
    if (judge != NULL) {
        char *range = leave(judge);
        bz_mem_unmap(range, RANGE_BYTES);
        bz_room_return(range);
    }
}

struct bz_judge *bz_judge_renew(struct bz_judge *judge, const struct bz_judge_config *config) {
    return configure(new_in(leave(judge), BZ_ROOM_FIRST_BYTES, BZ_ROOM_FIRST_BYTES), config);
}

void bz_judge_inherit(struct bz_judge *judge, bool is_inherited) {
    (void)madvise(bz_judge_range(judge), RANGE_BYTES, is_inherited ? MADV_DOFORK : MADV_DONTFORK);
}

bool bz_judge_make_private(const struct bz_judge *judge) {
    return bz_mem_make_private(judge->shadow.mem) && bz_mem_make_private(judge->mem);
}

/* --- a run ------------------------------------------------------------------------------------ */

static bool has_yielded(const void *opaque, uint32_t id) {
    const struct bz_judge *judge = opaque;
    const struct bz_shadow_task *task = &judge->shadow.tasks[id];
    return task->phase == BZ_PHASE_SUSPENDED && task->wait == BZ_WAIT_YIELD;
}

static bool is_woken(const void *opaque, uint32_t id) {
    const struct bz_judge *judge = opaque;
    return bz_shadow_window(&judge->shadow.tasks[id]) == BZ_WINDOW_WOKEN;
}

/* False without memory: the run has no strategy. */
static bool choose_strategy(struct bz_judge *judge, const struct bz_run_start *start) {
    const struct bz_strategy *strategy =
        start->strategy == NULL ? judge->config.strategy : start->strategy;
    BZ_CHECK(!strategy->needs_profile || judge->config.profile != NULL);
    if (strategy->state_bytes > judge->strategy_bytes) {
        void *larger = bz_mem_grow(judge->mem, judge->strategy_state, judge->strategy_bytes,
                                   strategy->state_bytes);
        if (larger == NULL) {
            judge->strategy = NULL;
            return false;
        }
        judge->strategy_state = larger;
        judge->strategy_bytes = strategy->state_bytes;
    }
    strategy = strategy->select == NULL ? strategy : strategy->select(start->seed);
    BZ_CHECK(strategy->state_bytes <= judge->strategy_bytes);
    if (strategy != judge->strategy) {
        memset(judge->strategy_state, 0, judge->strategy_bytes);
        judge->strategy = strategy;
    }
    return true;
}

void bz_judge_begin(struct bz_judge *judge, const struct bz_run_start *start) {
    bz_mem_reset(judge->shadow.mem);
    bz_shadow_begin(&judge->shadow, judge->shadow.mem);
    bz_judge_begin_choices(judge, start);
}

void bz_judge_note_begun(struct bz_judge *judge) {
    judge->stats.runs++;
    __atomic_store_n(&last_begun, judge, __ATOMIC_RELAXED);
}

void bz_judge_begin_choices(struct bz_judge *judge, const struct bz_run_start *start) {
    const size_t first = offsetof(struct bz_judge, call);
    memset((char *)judge + first, 0, offsetof(struct bz_judge, config) - first);
    judge->violation.oracle = NULL;
    judge->overtime.is_on = false;
    judge->overtime.has_been = false;
    judge->overtime.is_livelock = false;
    judge->digest = BZ_DIGEST_SEED;
    judge->seed = start->seed;
    judge->sink = start->sink;
    judge->is_setup_fixed = true;
    bz_judge_note_begun(judge);
    bz_tape_clear(&judge->tape);
    if (judge->draws_capacity > 0) {
        memset(judge->draws, 0, judge->draws_capacity * sizeof *judge->draws);
    }
    judge->cancel_gap = BZ_GAP_NEVER;
    judge->jump_gap = BZ_GAP_NEVER;
    if (!choose_strategy(judge, start)) {
        bz_judge_lacks(judge, NULL, "the state of a strategy");
        return;
    }
    const struct bz_strategy *strategy = judge->strategy;
    strategy->begin(judge->strategy_state,
                    &(struct bz_strategy_start){.seed = start->seed,
                                                .tape = start->tape,
                                                .profile = judge->config.profile,
                                                .answers = judge->config.answers,
                                                .context = start->context,
                                                .has_yielded = has_yielded,
                                                .is_woken = is_woken,
                                                .last_woken = &judge->last_woken,
                                                .judge = judge});
    judge->strategy_reads = bz_strategy_reads(strategy, judge->strategy_state);
    judge->cancels_left = judge->config.cancel_windows == 0 ? 0 : judge->config.cancels_max;
    judge->has_choice = judge->cancels_left > 0 || bz_judge_lag_left_ns(judge) > 0;
    if (judge->cancels_left > 0) {
        judge->cancel_gap = strategy->cancel_gap(judge->strategy_state);
    }
    judge->jump_gap = strategy->jump_gap(judge->strategy_state);
}

void bz_judge_search(struct bz_judge *judge, uint32_t cancels_left, bool ignores_starvation) {
    judge->cancels_left = cancels_left;
    judge->config.ignores_starvation = ignores_starvation;
}

void bz_judge_exhaust(struct bz_judge *judge) {
    judge->step = judge->config.steps_max;
    judge->end = BZ_RUN_OUT_OF_STEPS;
    judge->overtime.is_livelock = true;
}

bool bz_judge_goes_on(struct bz_judge *judge) {
    uint32_t steps_max = judge->config.steps_max;
    if (judge->overtime.is_on) {
        return bz_overtime_goes_on(judge);
    }
    if (judge->is_stopped) {
        return false;
    }
    if (judge->step >= steps_max) {
        judge->end = BZ_RUN_OUT_OF_STEPS;
        judge->is_stopped = !bz_overtime_begin(judge);
        return !judge->is_stopped;
    }
    if (judge->step >= judge->pause_at) {
        if (judge->stop != NULL && __atomic_load_n(judge->stop, __ATOMIC_RELAXED) != 0) {
            bz_judge_give_up(judge);
            return false;
        }
        uint32_t left = steps_max - judge->step;
        judge->pause_at =
            judge->step + (left < BZ_STEPS_BETWEEN_LOOKS ? left : BZ_STEPS_BETWEEN_LOOKS);
    }
    return true;
}

void bz_judge_give_up(struct bz_judge *judge) {
    if (!judge->is_stopped) {
        bz_judge_stop(judge, BZ_RUN_GIVEN_UP);
    }
}

void bz_judge_cut(struct bz_judge *judge, const char *why) {
    if (!judge->is_stopped) {
        judge->is_cut = true;
        bz_judge_stop(judge, BZ_RUN_OUT_OF_STEPS);
        snprintf(judge->violation.message, sizeof judge->violation.message, "%s", why);
    }
}

bool (*bz_judge_on_state)(struct bz_judge *judge, const void *text, size_t bytes);

void bz_judge_meet(struct bz_judge *judge, const void *text, size_t bytes) {
    if (bz_judge_on_state != NULL && !judge->is_stopped && bz_judge_on_state(judge, text, bytes)) {
        bz_judge_cut(judge, "what follows was searched before");
    }
}

const char *bz_judge_cut_reason(const struct bz_judge *judge) {
    return judge->is_cut ? judge->violation.message : NULL;
}

void bz_judge_watch_stop(struct bz_judge *judge, const volatile sig_atomic_t *stop) {
    judge->stop = stop;
}

bool bz_judge_void(struct bz_judge *judge) {
    bool is_first = !judge->is_void;
    judge->is_void = true;
    return is_first;
}

/* False: the run is void. */
static bool make_run(struct bz_judge *judge, const struct bz_source *source,
                     const struct bz_run_start *start) {
    bool was_void = judge->is_void;
    bz_judge_begin(judge, start);
    if (judge->end == BZ_RUN_NO_RESOURCE) {
        return true;
    }
    source->run(source->context, judge);
    if (judge->is_void != was_void) {
        return false;
    }
    if (!judge->is_ended) {
        bz_judge_refuse(judge, "it returned without bz_judge_end()");
    }
    return true;
}

enum bz_run_end bz_judge_run(struct bz_judge *judge, const struct bz_source *source,
                             const struct bz_run_start *start) {
    const struct bz_strategy *strategy =
        start->strategy == NULL ? judge->config.strategy : start->strategy;
    if (strategy->needs_profile && judge->config.profile == NULL) {
        struct bz_profile profile;
        bz_judge_measure(judge, source, &profile);
        if (profile.steps == 0) {
            return judge->end;
        }
    }
    struct bz_run_stats before = judge->stats;
    const bool is_measured = judge->sums != NULL;
    struct bz_sums sums;
    if (is_measured) {
        sums = *judge->sums;
    }
    judge->is_void = false;
    if (!make_run(judge, source, start)) {
        judge->stats = before;
        if (is_measured) {
            *judge->sums = sums;
        }
        if (bz_judge_is_recorded(judge)) {
            (void)bz_judge_log_events(judge); /* empties it */
        }
        (void)make_run(judge, source, start);
    }
    return judge->end;
}

/* --- the profile ------------------------------------------------------------------------------ */

#define PROFILE_RUNS 8u
#define PROFILE_SEED UINT64_C(0x70726f66696c65) /* the first; no campaign starts there */
#define STEPS_OF_ALL 20000u                     /* no further run begins after so many */

/* Steps, and tasks that cancel others. */
static void count_event(struct bz_event_sink *sink, const struct bz_logged_event *event) {
    struct bz_sums *sums = (struct bz_sums *)(void *)sink;
    uint32_t task = event->event.task;
    uint32_t running = sums->judge->shadow.running;
    if (event->event.kind == BZ_EVENT_CANCEL && running != 0 && running != task &&
        running < BZ_PROFILE_TASKS_MAX) {
        sums->cancellers |= UINT64_C(1) << running;
        sums->shown->cancellers = sums->cancellers;
    }
    if (event->event.kind == BZ_EVENT_RESUME && task < BZ_PROFILE_TASKS_MAX) {
        sums->shown->task_steps[task] = ++sums->task_steps[task];
    }
}

static void count_run(struct bz_sums *sums, const struct bz_judge *judge) {
    const struct bz_measure_state *state = judge->strategy_state;
    sums->runs++;
    sums->steps += judge->step;
    sums->tasks += judge->shadow.task_count;
    sums->points += state->points;
}

static uint32_t mean(uint64_t sum, uint64_t runs) {
    return (uint32_t)((sum + runs / 2) / runs);
}

/* In memory that is shared, for a source that runs in child processes. */
static struct bz_sums *begin_sums(struct bz_judge *judge) {
    struct bz_sums *sums = bz_lack_check(bz_mem_alloc(judge->mem, sizeof *sums), "a profile");
    sums->sink.event = count_event;
    sums->judge = judge;
    sums->shown = sums;
    judge->config.profile = NULL;
    sums->config = judge->config;
    sums->stats = judge->stats;
    judge->config.cancels_max = UINT32_MAX; /* so that every cancel point is counted */
    if (judge->config.steps_max > STEPS_OF_ALL) {
        judge->config.steps_max = STEPS_OF_ALL;
    }
    judge->sums = sums;
    return sums;
}

/* The profile, unless a resource has run out. */
static void end_sums(struct bz_judge *judge) {
    struct bz_sums *sums = judge->sums;
    judge->config = sums->config;
    judge->stats = sums->stats;
    judge->sums = NULL;
    if (judge->end != BZ_RUN_NO_RESOURCE) {
        struct bz_profile *profile = &judge->profile;
        *profile = (struct bz_profile){.steps = mean(sums->steps, sums->runs),
                                       .tasks = mean(sums->tasks, sums->runs),
                                       .points = mean(sums->points, sums->runs),
                                       .cancellers = sums->cancellers,
                                       .steps_max = judge->config.steps_max};
        profile->steps += profile->steps == 0;
        for (uint32_t task = 0; task < BZ_PROFILE_TASKS_MAX; task++) {
            profile->task_steps[task] = mean(sums->task_steps[task], sums->runs);
        }
        judge->config.profile = profile;
    }
    bz_mem_free(judge->mem, sums, sizeof *sums);
}

#define COUNTS_BYTES (offsetof(struct bz_sums, judge) - offsetof(struct bz_sums, runs))

/* Verdicts do not matter here: a run that ends early counts with its length. A run that is made
 * twice counts if both are equal, and else a third one does: one write to a wrong place changes no
 * schedule of the runs that follow. False without memory. */
static bool measure_run(struct bz_judge *judge, const struct bz_source *source,
                        const struct bz_judge_config *config, struct bz_sums *sums) {
    struct bz_run_start start = {
        .seed = PROFILE_SEED + sums->runs, .strategy = &bz_strategy_measure, .sink = &sums->sink};
    struct bz_sums before = *sums;
    struct bz_sums last = before;
    bool is_equal = !judge->measures_twice;
    for (uint32_t turn = 0; turn == 0 || (turn < 3 && !is_equal); turn++) {
        last = *sums;
        *sums = before;
        judge->config = *config;
        if (bz_judge_run(judge, source, &start) == BZ_RUN_NO_RESOURCE) {
            return false;
        }
        count_run(sums, judge);
        is_equal = is_equal || memcmp(&last.runs, &sums->runs, COUNTS_BYTES) == 0;
        *sums->shown = *sums;
    }
    return true;
}

void bz_judge_measure(struct bz_judge *judge, const struct bz_source *source,
                      struct bz_profile *profile) {
    struct bz_sums *shown = begin_sums(judge);
    struct bz_sums own = *shown;
    struct bz_sums *sums = judge->measures_twice ? &own : shown;
    const struct bz_judge_config config = judge->config;
    bool goes_on = true;
    while (goes_on && sums->runs < PROFILE_RUNS && sums->steps < STEPS_OF_ALL) {
        goes_on = measure_run(judge, source, &config, sums);
        if (judge->end == BZ_RUN_VIOLATED && bz_oracle_ends_process(judge->violation.oracle)) {
            goes_on = false; /* the next run would as well, and a hang takes its time */
        }
        goes_on = goes_on && judge->has_choice; /* else the next run is this one */
    }
    judge->sums = shown;
    *shown = *sums;
    end_sums(judge);
    bz_judge_measured(judge, profile);
}

void bz_judge_measured(struct bz_judge *judge, struct bz_profile *profile) {
    if (judge->sums != NULL) {
        if (judge->end != BZ_RUN_NO_RESOURCE) {
            count_run(judge->sums, judge);
        }
        end_sums(judge);
    }
    *profile =
        judge->config.profile == NULL ? (struct bz_profile){.steps = 0} : *judge->config.profile;
}

void bz_judge_adapt(struct bz_judge *judge, const struct bz_profile *profile,
                    uint32_t starvation_bound) {
    judge->config.profile = NULL;
    if (profile != NULL) {
        judge->profile = *profile;
        judge->config.profile = &judge->profile;
    }
    judge->config.starvation_bound =
        starvation_bound == 0 ? BZ_STARVATION_BOUND_DEFAULT : starvation_bound;
}

/* --- the result ------------------------------------------------------------------------------- */

#define GETTER(type, name, member)                                                                 \
    type bz_judge_##name(const struct bz_judge *judge) {                                           \
        return judge->member;                                                                      \
    }
GETTER(enum bz_run_end, verdict, end)
GETTER(uint64_t, digest, digest)
GETTER(uint64_t, seed, seed)
GETTER(uint32_t, steps, step)
GETTER(uint64_t, lag_ns, lag_ns)
GETTER(uint32_t, running, shadow.running)
GETTER(uint32_t, unfinished, shadow.unfinished)
GETTER(enum bz_order, order, config.order)
GETTER(bool, has_choice, has_choice)

const struct bz_violation *bz_judge_violation(const struct bz_judge *judge) {
    return &judge->violation;
}

uint32_t bz_judge_strikes(const struct bz_judge *judge, const uint16_t **situations) {
    *situations = judge->strikes;
    return judge->strike_count;
}

struct bz_run_stats *bz_judge_stats(struct bz_judge *judge) {
    return &judge->stats;
}

uint64_t bz_judge_handoffs(const struct bz_judge *judge) {
    return judge->overtime.has_been ? judge->overtime.handoffs : bz_shadow_handoffs(&judge->shadow);
}

bool bz_judge_has_waited(const struct bz_judge *judge) {
    bool has_waited = judge->shadow.object_count == 0;
    for (uint32_t number = 1; number <= judge->shadow.object_count; number++) {
        has_waited |= judge->shadow.objects[number].line_end > 0; /* a task stood in the line */
    }
    return has_waited;
}

/* A source cannot leave out a name, but code that writes anywhere may have taken it away. */
#define NAMELESS "?"

const char *bz_judge_task_name(const struct bz_judge *judge, uint32_t task, char *buffer,
                               size_t size_bytes) {
    const struct bz_shadow_task *entry = &judge->shadow.tasks[task];
    bool is_one = task != 0 && task <= judge->shadow.task_count;
    const char *base = !is_one ? "loop" : entry->name_base == NULL ? NAMELESS : entry->name_base;
    if (!is_one || entry->name_index == 0) {
        snprintf(buffer, size_bytes, "%s", base);
    } else {
        snprintf(buffer, size_bytes, "%s-%u", base, entry->name_index);
    }
    return buffer;
}

struct bz_label bz_judge_label(const struct bz_judge *judge, uint32_t object) {
    struct bz_label label;
    const char *name = bz_judge_object_name(judge, object);
    uint32_t other = 1;
    while (other < object && name != NULL &&
           strcmp(bz_judge_object_name(judge, other), name) != 0) {
        other++;
    }
    if (name == NULL || other == object) {
        snprintf(label.text, sizeof label.text, "%s", name == NULL ? "" : name);
    } else {
        snprintf(label.text, sizeof label.text, "%.*s#%u", (int)BZ_LABEL_NAME_MAX, name, object);
    }
    return label;
}

const char *bz_judge_object_name(const struct bz_judge *judge, uint32_t object) {
    bool is_one = object != 0 && object <= judge->shadow.object_count;
    const char *name = is_one ? judge->shadow.objects[object].name : NULL;
    return is_one && name == NULL ? NAMELESS : name;
}
