#include "sim/explore/checkpoint.h"

#include <stdlib.h>
#include <string.h>

#include "sim/explore/search.h"
#include "sim/program/token.h"
#include "sim/session/work.h"
#include "traces/lack.h"
#include "traces/text.h"

#define LABEL_BYTES 64u
#define ADDRESS_COUNT 6u
#define STATE_BYTES sizeof(struct bz_visited_state)

/* How many there are of each part, and what the states depend on. */
struct sizes {
    uint64_t states;
    uint64_t outcomes;
    uint64_t addresses[ADDRESS_COUNT];
};

/* The identity of an open file. Its texts outlive the search. */
struct bz_explore_content {
    struct bz_work work;
    struct sizes sizes;
    struct bz_record record;
    char sampled_draw[2][LABEL_BYTES];
};

/* --- the parts, for both directions ----------------------------------------------------------- */

static void pass_settings(struct bz_work *work, struct bz_explore_checkpoint *checkpoint) {
    bz_work_u32(work, &checkpoint->delays_max);
    bz_work_u32(work, &checkpoint->reductions);
    bz_work_u32(work, &checkpoint->rounds_before_sweep);
    bz_work_bool(work, &checkpoint->keep_going);
    bz_work_u64(work, &checkpoint->states_max);
    bz_work_u64(work, &checkpoint->code_digest);
    bz_work_bytes(work, checkpoint->plugin_digests, sizeof checkpoint->plugin_digests);
}

/* The findings come last in a result. An oracle is written as its index, and the label of a draw
 * as text, because their addresses may be others. */
#define RESULT_BYTES offsetof(struct bz_explore_result, findings)

static void pass_result(struct bz_work *work, struct bz_explore_result *result, char *label) {
    if (!work->is_read) {
        snprintf(label, LABEL_BYTES, "%s", bz_or(result->sampled_draw, ""));
    }
    bz_work_bytes(work, result, RESULT_BYTES);
    bz_work_text(work, label, LABEL_BYTES);
    bool is_ok = bz_work_check(work, result->end <= BZ_EXPLORE_MEMORY_MAX &&
                                         result->finding_count <= BZ_EXPLORE_FINDINGS_MAX);
    if (work->is_read) {
        result->sampled_draw = label[0] != '\0' ? label : NULL;
    }
    for (uint32_t place = 0; is_ok && place < result->finding_count; place++) {
        struct bz_explore_finding finding = result->findings[place];
        uint32_t oracle = work->is_read ? 0 : bz_oracle_index(finding.violation.oracle);
        finding.violation.oracle = NULL;
        bz_work_u32(work, &oracle);
        bz_work_bytes(work, &finding, sizeof finding);
        is_ok = bz_work_check(work, oracle < bz_oracle_count);
        if (work->is_read) {
            finding.violation.oracle = is_ok ? bz_oracles[oracle].name : NULL;
            result->findings[place] = finding;
        }
    }
    (void)bz_work_check(work, !is_ok || bz_explore_result_is_sound(result));
}

/* All that comes before the states. */
static void pass_beginning(struct bz_work *work, struct sizes *sizes, struct bz_record *record,
                           char labels[2][LABEL_BYTES]) {
    bz_work_bytes(work, sizes, sizeof *sizes);
    bz_work_u64(work, &record->unfinished);
    bz_work_u32(work, &record->choice_count);
    bz_work_bytes(work, &record->at, sizeof record->at);
    (void)bz_work_check(work,
                        (record->at.bounds.reductions & ~(BZ_REDUCE_ALL | BZ_REDUCE_LAG)) == 0);
    pass_result(work, &record->result, labels[0]);
    if (record->at.stage.simplifies) {
        pass_result(work, &record->swept, labels[1]);
        (void)bz_work_check(work, record->swept.finding_count > 0);
    }
}

static void put_table(struct bz_work *work, const struct bz_visited *table) {
    struct bz_visited_place place = {0};
    const struct bz_visited_state *state;
    while ((state = bz_visited_next(table, &place)) != NULL) {
        bz_work_bytes(work, (void *)(uintptr_t)state, STATE_BYTES);
    }
}

/* --- what states depend on -------------------------------------------------------------------- */

static uint64_t address(const void *place) {
    return (uint64_t)(uintptr_t)place;
}

static void get_addresses(const struct bz_search *search, uint64_t *addresses) {
    const struct bz_program *program = search->config->program;
    addresses[0] = address(search->world->loop->mem->base);
    addresses[1] = address(search->world->judge->shadow.mem->base);
    addresses[2] = address(search->world->judge->mem->base);
    addresses[3] = address(program->scenario);
    addresses[4] = address(program->variant);
    addresses[5] = (uint64_t)(uintptr_t)&memcpy; /* of the C library */
}

/* --- files ------------------------------------------------------------------------------------ */

bool bz_explore_checkpoint_write(const struct bz_explore_checkpoint *checkpoint,
                                 const struct bz_search *search, FILE *file) {
    struct bz_record *record = search->record;
    struct bz_explore_checkpoint own = *checkpoint;
    struct bz_work_head head = {.kind = BZ_EXPLORE_CHECKPOINT_KIND,
                                .done =
                                    record->result.transitions_total + record->result.transitions,
                                .spent_ms = checkpoint->spent_ms};
    char labels[2][LABEL_BYTES];
    bool has_states = (record->at.bounds.reductions & BZ_REDUCE_STATES) != 0;
    struct sizes sizes = {.states = has_states ? bz_visited_count(&search->visited) : 0,
                          .outcomes = bz_visited_count(&search->outcomes)};
    get_addresses(search, sizes.addresses);
    (void)bz_token_format(&checkpoint->program, 0, 0, head.token, sizeof head.token);
    struct bz_work work = bz_work_begin(file, &head);
    pass_settings(&work, &own);
    pass_beginning(&work, &sizes, record, labels);
    if (has_states) {
        put_table(&work, &search->visited);
    }
    put_table(&work, &search->outcomes);
    bz_work_bytes(&work, search->points, record->choice_count * sizeof *search->points);
    return bz_work_end(&work);
}

static bool get_content(struct bz_explore_checkpoint *checkpoint, FILE *file,
                        const struct bz_catalog *catalog, const char *origin, char *error,
                        size_t error_bytes) {
    struct bz_explore_content *content = checkpoint->content;
    struct bz_work_head head;
    char reason[BZ_ERROR_BYTES];
    uint64_t seed;
    uint64_t digest;
    if (!bz_work_open(&content->work, file, BZ_EXPLORE_CHECKPOINT_KIND, &head, origin, error,
                      error_bytes)) {
        return false;
    }
    if (!bz_token_parse(head.token, catalog, &checkpoint->program, &seed, &digest, reason,
                        sizeof reason)) {
        return bz_fail(error, error_bytes, "%s: %s", origin, reason);
    }
    checkpoint->spent_ms = head.spent_ms;
    pass_settings(&content->work, checkpoint);
    pass_beginning(&content->work, &content->sizes, &content->record, content->sampled_draw);
    return content->work.is_ok || bz_work_refuse(origin, error, error_bytes);
}

bool bz_explore_checkpoint_open(struct bz_explore_checkpoint *checkpoint, FILE *file,
                                const struct bz_catalog *catalog, const char *origin, char *error,
                                size_t error_bytes) {
    struct bz_explore_content *content = bz_lack_check(calloc(1, sizeof *content), "a checkpoint");
    *checkpoint = (struct bz_explore_checkpoint){.content = content};
    content->work.file = file;
    bool is_ok = get_content(checkpoint, file, catalog, origin, error, error_bytes);
    if (!is_ok) {
        bz_explore_checkpoint_close(checkpoint);
    }
    return is_ok;
}

void bz_explore_checkpoint_close(struct bz_explore_checkpoint *checkpoint) {
    if (checkpoint->content != NULL) {
        (void)fclose(checkpoint->content->work.file);
        free(checkpoint->content);
        checkpoint->content = NULL;
    }
}

/* --- the code that is searched -----------------------------------------------------------------
 */

static uint64_t digest_of(const char *path) {
    FILE *file = fopen(path, "rb");
    uint64_t digest = file == NULL ? 0 : bz_work_digest_of(file);
    if (file != NULL) {
        (void)fclose(file);
    }
    return digest;
}

void bz_explore_checkpoint_set_code(struct bz_explore_checkpoint *checkpoint,
                                    const char *const *plugins, uint32_t count) {
    checkpoint->code_digest = digest_of("/proc/self/exe");
    for (uint32_t index = 0; index < BZ_EXPLORE_PLUGINS_MAX; index++) {
        checkpoint->plugin_digests[index] = index < count ? digest_of(plugins[index]) : 0;
    }
}

bool bz_explore_checkpoint_check_code(const struct bz_explore_checkpoint *checkpoint,
                                      const char *const *plugins, uint32_t count,
                                      const char *origin, char *error, size_t error_bytes) {
    struct bz_explore_checkpoint now = *checkpoint;
    bz_explore_checkpoint_set_code(&now, plugins, count);
    if (now.code_digest != checkpoint->code_digest) {
        return bz_fail(error, error_bytes,
                       "%s: another build of Buzzer wrote it, and this one may have other states: "
                       "continue with that build, or start a new search",
                       origin);
    }
    for (uint32_t index = 0; index < BZ_EXPLORE_PLUGINS_MAX; index++) {
        if (now.plugin_digests[index] != checkpoint->plugin_digests[index]) {
            return bz_fail(error, error_bytes,
                           "%s: the plug-in '%s' is not the one that was searched: continue with "
                           "that one, or start a new search",
                           origin, index < count ? plugins[index] : "(none)");
        }
    }
    return true;
}

const struct bz_explore_result *
bz_explore_checkpoint_result(const struct bz_explore_checkpoint *checkpoint) {
    return &checkpoint->content->record.result;
}

const struct bz_explore_result *
bz_explore_checkpoint_found(const struct bz_explore_checkpoint *checkpoint) {
    const struct bz_record *record = &checkpoint->content->record;
    return record->at.stage.simplifies ? &record->swept : &record->result;
}

bool bz_explore_checkpoint_has_outside_state(const struct bz_explore_checkpoint *checkpoint) {
    return checkpoint->content->record.result.has_outside_state;
}

/* --- into a search ---------------------------------------------------------------------------- */

uint64_t bz_search_states(const struct bz_explore_config *config) {
    uint64_t kept = config->from != NULL ? config->from->content->sizes.states : 0;
    return config->states_max > kept ? config->states_max : kept;
}

static bool lose(struct bz_search *search, const char *why) {
    search->result->end = BZ_EXPLORE_LOST;
    snprintf(search->result->lack, sizeof search->result->lack, "%s", why);
    return false;
}

enum got { GOT_ALL, GOT_NOT_ALL, GOT_NO_ROOM };

static enum got get_table(struct bz_explore_content *content, struct bz_visited *table,
                          uint64_t count) {
    for (; count > 0; count--) {
        struct bz_visited_state state;
        bool is_new;
        bz_work_bytes(&content->work, &state, STATE_BYTES);
        if (!content->work.is_ok || state.fingerprint.low == 0) {
            return GOT_NOT_ALL;
        }
        struct bz_visited_state *place = bz_visited_add(table, state.fingerprint, &is_new);
        if (place == NULL || !is_new) {
            return place == NULL ? GOT_NO_ROOM : GOT_NOT_ALL;
        }
        *place = state;
    }
    return GOT_ALL;
}

/* Behind the path of the search, where it comes to them. */
static enum got get_choices(struct bz_explore_content *content, struct bz_search *search) {
    for (uint32_t index = 0; index < content->record.choice_count; index++) {
        struct bz_choice_point point;
        bz_work_bytes(&content->work, &point, sizeof point);
        if (!content->work.is_ok || point.chosen >= point.bound) {
            return GOT_NOT_ALL;
        }
        if (bz_search_add_point(search, &point) == NULL) {
            return GOT_NO_ROOM;
        }
    }
    search->point_count = 0;
    return GOT_ALL;
}

bool bz_search_load(const struct bz_explore_config *config, struct bz_search *search) {
    if (config->from == NULL) {
        return true;
    }
    struct bz_explore_content *content = config->from->content;
    struct bz_record *record = search->record;
    uint64_t addresses[ADDRESS_COUNT];
    get_addresses(search, addresses);
    bz_record_put(record, &content->record);
    if (memcmp(addresses, content->sizes.addresses, sizeof addresses) != 0) {
        bz_record_lose(config, search,
                       "its states have other addresses here: a library, the system or the limit "
                       "on the stack (ulimit -s) has changed");
        return true;
    }
    enum got got = get_table(content, &search->visited, content->sizes.states);
    got = got == GOT_ALL ? get_table(content, &search->outcomes, content->sizes.outcomes) : got;
    got = got == GOT_ALL ? get_choices(content, search) : got;
    return got == GOT_ALL ||
           lose(search, got == GOT_NO_ROOM
                            ? "its states do not fit into the memory: raise --max-memory"
                            : "is damaged: it has a state twice, or has changed meanwhile");
}
