#include "sim/explore/record.h"

#include <string.h>

#include "sim/explore/search.h"

#define OTHER_STATE                                                                                \
    "a state on its path is another one here: a library, the system or the limit on the stack "    \
    "(ulimit -s) has changed, or something besides the choices decides"

/* --- life ------------------------------------------------------------------------------------- */

struct bz_record *bz_record_new(void) {
    return bz_shared_alloc(sizeof(struct bz_record));
}

void bz_record_destroy(struct bz_record *record) {
    bz_shared_free(record, sizeof *record);
}

/* --- taking ----------------------------------------------------------------------------------- */

static void leave_path(struct bz_search *search) {
    struct bz_record *record = search->record;
    const struct bz_frame *frame = &search->root;
    for (uint32_t index = 0; index < search->frame_count; index++, frame = frame->child) {
        record->again += frame->tried;
        if (frame != &search->root) {
            bz_search_leave_unfinished(search, frame);
            record->unfinished++;
        }
    }
}

static void take_rest(struct bz_search *search) {
    struct bz_record *record = search->record;
    record->at = search->at;
    record->result = *search->result;
    record->next_pause = record->result.transitions + 1;
    record->result.transitions -= record->again;
    record->swept = search->swept;
}

/* This process may be killed. */
static void end_taking(struct bz_record *record) {
    __atomic_store_n(&record->is_on, true, __ATOMIC_RELEASE);
}

/* The choices of the path, up to a transition that is next. All that was counted on the way is
 * counted again. */
static void take_choices(struct bz_search *search) {
    struct bz_record *record = search->record;
    struct bz_explore_result *result = &record->result;
    if (search->revived_max == 0 && !bz_search_advance(search)) {
        search->result->end = BZ_EXPLORE_DONE; /* nothing is left of it */
        return;
    }
    take_rest(search);
    record->choice_count = search->revived_max == 0 ? search->point_count : search->revived_max;
    result->states -= search->frame_count - 1;
    result->transitions -= search->frame_count - 1;
    for (const struct bz_frame *frame = search->top; frame != NULL; frame = frame->parent) {
        bz_schedules_add(&result->schedules, frame->schedules);
    }
    end_taking(record);
}

void bz_record_take(struct bz_search *search, bool is_ok) {
    struct bz_record *record = search->record;
    enum bz_explore_end end = search->result->end;
    bool is_full = !is_ok && search->visited.is_full;
    bool stops = is_ok && (end == BZ_EXPLORE_INTERRUPTED || end == BZ_EXPLORE_STATES_MAX);
    if (record == NULL || search->cycles != NULL || !(is_full || stops)) {
        return;
    }
    search->result->end = is_full ? BZ_EXPLORE_MEMORY_MAX : end;
    if (!bz_search_has(search, BZ_REDUCE_STATES)) {
        take_choices(search);
        return;
    }
    leave_path(search);
    take_rest(search);
    end_taking(record);
}

void bz_record_begin(struct bz_search *search) {
    struct bz_record *record = search->record;
    record->unfinished = 0;
    record->again = 0;
    record->next_pause = 0;
    record->is_on = false;
    record->is_pause = false;
    record->goes_on = false;
}

/* --- what others may have written over -------------------------------------------------------- */

static bool is_text(const char *text, size_t bytes) {
    return memchr(text, '\0', bytes) != NULL;
}

bool bz_explore_finding_is_sound(const struct bz_explore_finding *finding) {
    const struct bz_violation *violation = &finding->violation;
    uint32_t oracle = 0;
    while (oracle < bz_oracle_count && bz_oracles[oracle].name != violation->oracle) {
        oracle++;
    }
    return oracle < bz_oracle_count && is_text(violation->message, sizeof violation->message) &&
           violation->op < BZ_OP_COUNT && violation->window < BZ_WINDOW_COUNT &&
           finding->answers.count <= BZ_ANSWERS_ENTRIES_MAX;
}

bool bz_explore_result_is_sound(const struct bz_explore_result *result) {
    bool is_sound = result->end <= BZ_EXPLORE_LOST &&
                    result->finding_count <= BZ_EXPLORE_FINDINGS_MAX &&
                    result->liveness <= BZ_LIVENESS_OPEN && is_text(result->lack, BZ_LACK_BYTES) &&
                    is_text(result->liveness_text, sizeof result->liveness_text) &&
                    is_text(result->liveness_token, sizeof result->liveness_token);
    for (uint32_t index = 0; is_sound && index < result->finding_count; index++) {
        is_sound = bz_explore_finding_is_sound(&result->findings[index]);
    }
    return is_sound;
}

/* --- continuing ----------------------------------------------------------------------------- */

void bz_record_go_on(struct bz_search *search) {
    struct bz_record *record = search->record;
    bz_search_prepare(search, &record->at.bounds);
    *search->result = record->result;
    search->result->end = BZ_EXPLORE_DONE;
    search->at.is_cut = record->at.is_cut;
    search->at.is_short = record->at.is_short;
    search->revived_max = record->choice_count;
    record->choice_count = 0;
    record->again = 0;
    record->goes_on = false;
    record->is_on = false;
    bz_search_enter_root(search);
}

void bz_record_check(struct bz_search *search) {
    struct bz_explore_result *result = search->result;
    if (search->record != NULL && search->record->unfinished > 0 &&
        result->end == BZ_EXPLORE_DONE && !search->is_put_off) {
        result->end = BZ_EXPLORE_LOST;
    }
}

void bz_record_put(struct bz_record *record, const struct bz_record *other) {
    *record = *other;
    record->goes_on = true;
}

void bz_record_lose(const struct bz_explore_config *config, struct bz_search *search,
                    const char *why) {
    struct bz_record *record = search->record;
    record->is_lost = true;
    record->goes_on = true;
    if (config->on_begun_again != NULL) {
        config->on_begun_again(config->context, why, record->at.stage.is_sweep);
    }
}

static bool is_stopped(const struct bz_explore_config *config) {
    return config->stop != NULL && *config->stop != 0;
}

bool bz_record_keep(const struct bz_explore_config *config, struct bz_search *search) {
    struct bz_record *record = search->record;
    struct bz_explore_result *result = search->result;
    if (record == NULL) {
        return false;
    }
    bool is_lost = result->end == BZ_EXPLORE_LOST;
    if (is_lost && !is_stopped(config)) {
        bz_record_lose(config, search, OTHER_STATE);
        return true;
    }
    result->end = is_lost ? BZ_EXPLORE_INTERRUPTED : result->end;
    result->can_go_on = record->is_on;
    if (!record->is_on) {
        return false;
    }
    config->keep(config->context, search);
    record->goes_on =
        record->is_pause && record->result.end == BZ_EXPLORE_INTERRUPTED && !is_stopped(config);
    record->is_pause = false;
    record->is_on = false;
    return record->goes_on;
}
