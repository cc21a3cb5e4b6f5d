/* The search of a program whose code is contained (sim/contain/contain.h): in a child process,
 * which shares the search and its result with this one. If the code ends the process, that is the
 * finding, on the path that was searched at that moment. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sim/explore/checkpoint.h"
#include "sim/explore/search.h"

#define NEWS_MAX 96u /* rounds, and findings of the sweep and of the rounds after it */
#define STOP_LOOKS_MAX 8u
#define VISITS_FIRST 4096u /* its code is foreign, and may well keep state outside of the world */
#define LABEL_BYTES_MAX 4096u
#define USE_NS UINT64_C(60000000000) /* more than a large checkpoint takes */

/* Shared with the child. */
struct shared {
    struct bz_explore_result result;
    struct bz_explore_progress progress;
    volatile sig_atomic_t stop;
    volatile sig_atomic_t pause;
    bool is_ok;
    uint32_t news_count;
    struct news {
        bool is_finding;
        bool is_sweep;  /* the end of a sweep; else of a round */
        uint32_t place; /* of a finding */
        union {
            struct bz_explore_result so_far;
            struct bz_explore_finding finding;
        };
    } news[NEWS_MAX];
};

/* --- in the child ----------------------------------------------------------------------------- */

static bool note_progress(void *context, const struct bz_explore_progress *progress) {
    struct shared *shared = context;
    shared->progress = *progress;
    return shared->stop == 0;
}

static bool is_pause_due(void *context) {
    const struct shared *shared = context;
    return shared->pause != 0;
}

static void tell_parent(struct shared *shared, const struct news *news) {
    if (shared->news_count < NEWS_MAX) {
        shared->news[shared->news_count] = *news;
        __atomic_store_n(&shared->news_count, shared->news_count + 1, __ATOMIC_RELEASE);
        bz_child_tell();
    }
}

static void note_round(void *context, const struct bz_explore_result *so_far, bool is_sweep) {
    tell_parent(context, &(struct news){.is_sweep = is_sweep, .so_far = *so_far});
}

static void note_finding(void *context, uint32_t place, const struct bz_explore_finding *finding) {
    tell_parent(context, &(struct news){.is_finding = true, .place = place, .finding = *finding});
}

static void search_in_child(void *context) {
    struct bz_search *search = context;
    struct shared *shared = search->config->context;
    shared->is_ok = bz_search_explore(search);
}

struct keeping {
    struct bz_search *search;
    const struct bz_death *death;
};

static void keep_in_child(void *context) {
    const struct keeping *keeping = context;
    bz_search_keep_death(keeping->search, keeping->death);
}

/* --- in the parent ---------------------------------------------------------------------------- */
/* The code under test may have written over the search and its result. So this process follows no
 * pointer of the search, and uses a finding or a result only if it makes sense. */

/* Nothing else is left of the search. */
static void find_overwritten(struct bz_explore_result *result) {
    *result = (struct bz_explore_result){.end = BZ_EXPLORE_FOUND, .finding_count = 1};
    struct bz_violation *violation = &result->findings[0].violation;
    violation->oracle = bz_oracle_name(bz_death_overwritten.oracle);
    (void)snprintf(violation->message, sizeof violation->message, "%s", bz_death_overwritten.how);
}

/* The code may take what the user has set, and the table of states as well. Else a search may need
 * all memory, and only a person knows how much of it is the code's. */
static struct bz_contain with_needs_of_search(const struct bz_explore_config *config) {
    struct bz_contain contain = config->program->contain;
    bool is_limited = contain.memory_bytes != 0 && config->memory_max_bytes < UINT64_MAX / 2;
    contain.memory_bytes =
        is_limited ? contain.memory_bytes + config->memory_max_bytes : UINT64_MAX;
    return contain;
}

/* A finding that an ordinary run repeats is one, whatever becomes of the search. `told`: those that
 * were told, as bits. */
static void report(const struct bz_explore_config *config, const struct news *news,
                   uint32_t *told) {
    struct bz_program repeat;
    struct bz_finding found;
    if (!news->is_finding) {
        if (config->on_round != NULL && bz_explore_result_is_sound(&news->so_far)) {
            config->on_round(config->context, &news->so_far, news->is_sweep);
        }
    } else if (news->place < BZ_EXPLORE_FINDINGS_MAX &&
               bz_explore_finding_is_sound(&news->finding)) {
        *told &= (1u << news->place) - 1; /* the rounds after a sweep begin again with the first */
        if (config->on_finding != NULL &&
            bz_explore_repeat(config->program, &news->finding, &repeat, &found)) {
            config->on_finding(config->context, news->place, &news->finding);
            *told |= 1u << news->place;
        }
    }
}

/* Waits, and reports rounds, findings and progress: of the news, those from `seen` on. */
static enum bz_child_state watch(const struct bz_explore_config *config, struct shared *shared,
                                 struct bz_child *child, uint32_t seen, uint32_t *told,
                                 struct bz_death *death) {
    struct bz_child *const children[] = {child};
    uint32_t looks = 0;
    for (;;) {
        enum bz_child_state state = bz_child_look(child, death);
        uint32_t count = __atomic_load_n(&shared->news_count, __ATOMIC_ACQUIRE);
        for (; seen < count && seen < NEWS_MAX; seen++) {
            report(config, &shared->news[seen], told);
        }
        if (state != BZ_CHILD_RUNS) {
            return state;
        }
        bool is_stopped =
            (config->stop != NULL && *config->stop != 0) ||
            (config->poll != NULL && !config->poll(config->context, &shared->progress));
        if (shared->pause == 0 && config->is_due != NULL) {
            shared->pause = config->is_due(config->context); /* until the child has stopped */
        }
        shared->stop = is_stopped;
        looks += is_stopped;
        if (looks == STOP_LOOKS_MAX) {
            bz_child_kill(child);
            shared->result.end = BZ_EXPLORE_INTERRUPTED;
            shared->is_ok = true;
            return BZ_CHILD_DONE;
        }
        bz_child_wait(children, 1);
    }
}

/* A death is a finding. One that may have come from outside is none, unless an ordinary run repeats
 * it: then the search lacks what it was killed for. */
static enum bz_child_state keep_death(const struct bz_explore_config *config,
                                      struct bz_search *search, struct bz_explore_result *result,
                                      struct bz_death *death) {
    uint32_t known = result->finding_count;
    uint64_t known_digest = result->violations_digest;
    struct bz_program repeat;
    struct bz_finding found;
    search->own_config.on_finding = NULL; /* of the child */
    static const struct bz_contain contain = {.is_on = true, .memory_bytes = UINT64_MAX};
    struct keeping keeping = {search, death};
    struct bz_death second;
    if (bz_contain_call(&contain, NULL, keep_in_child, &keeping, &second) != BZ_CHILD_DONE ||
        !bz_explore_result_is_sound(result)) {
        find_overwritten(result);
        return BZ_CHILD_DIED;
    }
    if (!death->is_killed || result->finding_count == known ||
        bz_explore_repeat(config->program, &result->findings[known], &repeat, &found)) {
        return BZ_CHILD_DIED;
    }
    result->finding_count = known;
    result->violations_digest = known_digest;
    memcpy(death->how, BZ_KILLED_TEXT, sizeof BZ_KILLED_TEXT);
    return BZ_CHILD_LACKS;
}

/* The next act of this process in the search: it writes a checkpoint of the record, prints the
 * label of a draw, and gives all memory back. Pointers and sizes may lead anywhere, so a child does
 * it first. */
static void use_in_child(void *context) {
    struct bz_search *search = context;
    const struct bz_record *record = search->record;
    const char *label = search->result->sampled_draw;
    FILE *nowhere = fopen("/dev/null", "wb");
    if ((label != NULL && memchr(label, '\0', LABEL_BYTES_MAX) == NULL) ||
        (record != NULL && record->choice_count > search->point_capacity)) {
        abort();
    }
    if (record != NULL && record->is_on && nowhere != NULL) {
        const struct bz_explore_checkpoint checkpoint = {.program = search->program};
        (void)bz_explore_checkpoint_write(&checkpoint, search, nowhere);
    }
    bz_search_destroy(search);
}

/* BZ_CHILD_DIED: the code has written over it. */
static enum bz_child_state try_use(struct bz_search *search, struct bz_death *death) {
    static const struct bz_contain contain = {
        .is_on = true, .memory_bytes = UINT64_MAX, .step_ns = USE_NS};
    struct bz_search before = *search; /* it is shared, and the child empties it */
    enum bz_child_state state = bz_contain_call(&contain, NULL, use_in_child, search, death);
    *search = before;
    if (state == BZ_CHILD_DIED && death->is_killed) {
        memcpy(death->how, BZ_KILLED_TEXT, sizeof BZ_KILLED_TEXT);
        state = BZ_CHILD_LACKS;
    }
    return state;
}

/* They lie in memory of the judge, unless something else was written there. */
static void keep_points(const struct bz_search *search, struct bz_search *before) {
    const struct bz_mem *mem = before->world->judge->mem;
    uintptr_t at = (uintptr_t)search->points - (uintptr_t)mem;
    size_t used = bz_mem_used_bytes(mem);
    if (at < used && search->point_capacity <= (used - at) / sizeof *search->points) {
        before->points = search->points;
        before->point_capacity = search->point_capacity;
    }
}

/* Searches in one child after another, if the search makes pauses. `search` stays as it was, but
 * for its points, which lie in memory that is shared. */
static enum bz_child_state search_in_children(const struct bz_explore_config *config,
                                              struct bz_search *search, uint32_t *told,
                                              struct bz_death *death) {
    struct shared *shared = search->config->context;
    struct bz_contain contain = with_needs_of_search(config);
    struct bz_search before = *search; /* what the child changes points into its memory */
    struct bz_child child;
    enum bz_child_state state;
    do {
        uint32_t seen = shared->news_count; /* before the child has any */
        shared->stop = 0;
        shared->pause = 0;
        if (!bz_child_start(&child, &contain, search->world, search_in_child, search)) {
            return BZ_CHILD_LACKS;
        }
        child.counter = &shared->result.transitions;
        state = watch(config, shared, &child, seen, told, death);
        if (state == BZ_CHILD_DIED) {
            state = keep_death(config, search, &shared->result, death);
        }
        if (!bz_explore_result_is_sound(&shared->result)) {
            find_overwritten(&shared->result);
            state = BZ_CHILD_DIED;
        }
        keep_points(search, &before);
        *search = before;
        if (state == BZ_CHILD_DONE && (state = try_use(search, death)) == BZ_CHILD_DIED) {
            find_overwritten(&shared->result);
        }
    } while (state == BZ_CHILD_DONE && shared->is_ok && bz_record_keep(config, search));
    return state;
}

bool bz_search_contained(const struct bz_explore_config *config, struct bz_explore_result *result) {
    struct shared *shared = bz_shared_alloc(sizeof *shared);
    struct bz_program program = *config->program;
    struct bz_explore_config own = *config;
    struct bz_search *search = NULL;
    struct bz_death death = {.oracle = NULL};
    uint32_t told = 0;
    enum bz_child_state state = BZ_CHILD_LACKS;
    bz_lack_text(death.how, sizeof death.how, NULL, "a search in a process of its own");
    if (shared != NULL) {
        program.contain.is_on = false; /* in the child */
        own.program = &program;
        own.stop = &shared->stop;
        own.poll = note_progress;
        own.on_round = note_round;
        own.on_finding = note_finding;
        own.is_due = is_pause_due;
        own.context = shared;
        shared->result = *result;
        search = bz_search_new(&own, &shared->result);
    }
    if (search != NULL && !bz_search_load(config, search)) {
        shared->is_ok = true;
        state = BZ_CHILD_DONE;
    } else if (search != NULL) {
        search->visits_first = VISITS_FIRST;
        told = search->record != NULL ? search->record->result.told : 0;
        state = search_in_children(config, search, &told, &death);
    }
    bool is_ok = state != BZ_CHILD_LACKS && (state == BZ_CHILD_DIED || shared->is_ok);
    if (shared != NULL) {
        *result = shared->result;
        result->told = told;
    }
    if (state == BZ_CHILD_LACKS) {
        result->end = BZ_EXPLORE_NO_RESOURCE;
        memcpy(result->lack, death.how, sizeof result->lack);
    }
    if (search != NULL && (state == BZ_CHILD_DONE || try_use(search, &death) == BZ_CHILD_DONE)) {
        bz_search_destroy(search);
    }
    bz_shared_free(shared, sizeof *shared);
    return is_ok;
}

bool bz_search_is_spoilt(const struct bz_explore_config *config,
                         const struct bz_explore_result *result) {
    struct bz_program repeat;
    struct bz_finding found;
    const struct bz_explore_finding *last =
        result->finding_count == 0 ? NULL : &result->findings[result->finding_count - 1];
    return result->end == BZ_EXPLORE_NONDETERMINISM ||
           (last != NULL && bz_oracle_ends_process(last->violation.oracle) && last->has_answers &&
            !bz_explore_repeat(config->program, last, &repeat, &found));
}
