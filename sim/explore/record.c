#include "sim/explore/record.h"

#include <string.h>

#include "sim/explore/search.h"

/* A path is a list of these, one for each frame. The points of its transition follow. */
struct kept_frame {
    struct bz_fingerprint fingerprint;
    uint64_t schedules;
    uint32_t points;
    bool has_begun;
    bool is_guest;
    bool looks_deeper;
};

#define TOO_LONG SIZE_MAX
#define OTHER_STATE                                                                                \
    "a state on its path is another one here: a library, the system or the limit on the stack "    \
    "(ulimit -s) has changed, or something besides the choices decides"

/* --- life ------------------------------------------------------------------------------------- */

struct bz_record *bz_record_new(uint32_t paths) {
    struct bz_record *record = bz_shared_alloc(sizeof *record);
    char *bytes = record == NULL ? NULL : bz_shared_alloc(paths * BZ_PATH_BYTES_MAX);
    if (bytes == NULL) {
        bz_shared_free(record, sizeof *record);
        return NULL;
    }
    record->path_capacity = paths;
    record->paths = bytes;
    return record;
}

void bz_record_destroy(struct bz_record *record) {
    if (record != NULL) {
        bz_shared_free(record->paths, record->path_capacity * BZ_PATH_BYTES_MAX);
        bz_shared_free(record, sizeof *record);
    }
}

/* --- a path as bytes -------------------------------------------------------------------------- */

struct tape {
    char *bytes;
    size_t used;
    size_t limit;
    bool is_short; /* there was no room, or nothing more */
};

static void put(struct tape *tape, const void *data, size_t bytes) {
    tape->is_short |= tape->limit - tape->used < bytes;
    if (!tape->is_short) {
        memcpy(tape->bytes + tape->used, data, bytes);
        tape->used += bytes;
    }
}

static bool get(struct tape *tape, void *data, size_t bytes) {
    tape->is_short |= tape->limit - tape->used < bytes;
    if (!tape->is_short) {
        memcpy(data, tape->bytes + tape->used, bytes);
        tape->used += bytes;
    }
    return !tape->is_short;
}

static void put_frame(struct tape *tape, const struct bz_search *search,
                      const struct bz_frame *frame, bool begins_again) {
    struct kept_frame kept = {.schedules = frame->schedules,
                              .points = frame->point_count,
                              .has_begun = frame->has_begun && !begins_again,
                              .is_guest = frame->is_guest,
                              .looks_deeper = frame->looks_deeper};
    if (frame != &search->root) {
        kept.fingerprint = frame->fingerprint;
    }
    put(tape, &kept, sizeof kept);
    put(tape, &search->points[frame->first_point], kept.points * sizeof *search->points);
}

/* What a frame has beyond its state. The state is that of the topmost frame. */
static bool get_frame(struct tape *tape, struct bz_search *search) {
    struct bz_frame *frame = search->top;
    struct kept_frame kept;
    bool is_same = get(tape, &kept, sizeof kept) &&
                   (frame == &search->root || !bz_search_has(search, BZ_REDUCE_STATES) ||
                    bz_fingerprint_equal(frame->fingerprint, kept.fingerprint));
    for (uint32_t index = 0; is_same && index < kept.points; index++) {
        struct bz_choice_point point;
        is_same = get(tape, &point, sizeof point) &&
                  (point.kind != BZ_CHOICE_DATA || point.chosen < point.bound) &&
                  bz_search_add_point(search, &point) != NULL;
    }
    if (!is_same) {
        return false;
    }
    frame->point_count = kept.points;
    frame->schedules = kept.schedules;
    frame->has_begun = kept.has_begun;
    frame->is_guest = kept.is_guest;
    frame->looks_deeper = kept.looks_deeper;
    return true;
}

/* --- taking ----------------------------------------------------------------------------------- */

static void take_path(struct bz_search *search, uint32_t number, bool begins_again) {
    struct bz_record *record = search->record;
    struct tape tape = {.bytes = bz_record_path(record, number), .limit = BZ_PATH_BYTES_MAX};
    const struct bz_frame *frame = &search->root;
    for (uint32_t index = 0; index < search->frame_count; index++, frame = frame->child) {
        put_frame(&tape, search, frame, begins_again && frame == search->top);
    }
    record->path_bytes[number] = tape.is_short ? TOO_LONG : tape.used;
}

void bz_record_take_path(struct bz_search *search, uint32_t number) {
    take_path(search, number, false);
}

static void take_rest(struct bz_search *search, bool is_team) {
    struct bz_record *record = search->record;
    bool is_whole = true;
    for (uint32_t number = 0; number < record->path_count; number++) {
        is_whole &= record->path_bytes[number] != TOO_LONG;
    }
    record->at = search->at;
    record->at.is_team = is_team;
    record->result = *search->result;
    record->swept = search->swept;
    __atomic_store_n(&record->is_on, is_whole, __ATOMIC_RELEASE); /* this process may be killed */
}

void bz_record_take_team(struct bz_search *search) {
    take_rest(search, true);
}

void bz_record_take(struct bz_search *search, bool is_ok) {
    struct bz_record *record = search->record;
    enum bz_explore_end end = search->result->end;
    bool is_full = !is_ok && search->visited.is_full;
    bool stops = is_ok && (end == BZ_EXPLORE_INTERRUPTED || end == BZ_EXPLORE_STATES_MAX);
    if (record == NULL || search->cycles != NULL || !(is_full || stops)) {
        return;
    }
    record->path_count = 1;
    take_path(search, 0, is_full);
    if (is_full) { /* the last transition has led to a state without a place: it is run again */
        search->result->end = BZ_EXPLORE_MEMORY_MAX;
        search->result->transitions--;
    }
    take_rest(search, false);
}

void bz_record_begin(struct bz_search *search) {
    struct bz_record *record = search->record;
    memset(record->path_bytes, 0, sizeof record->path_bytes);
    record->path_count = 1;
    record->is_on = false;
    record->is_pause = false;
    record->goes_on = false;
    take_path(search, 0, false);
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

/* --- going on --------------------------------------------------------------------------------- */

bool bz_record_follow_path(struct bz_search *search, uint32_t number) {
    struct bz_record *record = search->record;
    struct tape tape = {.bytes = bz_record_path(record, number),
                        .limit = record->path_bytes[number]};
    bz_search_enter_root(search);
    search->is_replaying = true;
    bool is_same = get_frame(&tape, search);
    while (is_same && tape.used < tape.limit) {
        uint32_t points = search->top->point_count;
        struct bz_frame *frame = search->top;
        is_same = bz_search_follow(search) && frame->point_count == points &&
                  !search->is_unrepeatable && get_frame(&tape, search);
    }
    search->is_replaying = false;
    return is_same;
}

void bz_record_give_rest(struct bz_search *search) {
    struct bz_record *record = search->record;
    *search->result = record->result;
    search->result->end = BZ_EXPLORE_DONE;
    search->at.is_cut = record->at.is_cut;
    search->at.is_short = record->at.is_short;
    search->at.may_have_cycles = record->at.may_have_cycles;
    record->goes_on = false;
    record->is_on = false;
}

bool bz_record_go_on(struct bz_search *search) {
    bz_search_prepare(search, &search->record->at.bounds);
    bool is_same = bz_record_follow_path(search, 0);
    bz_record_give_rest(search);
    if (!is_same) {
        search->result->end = BZ_EXPLORE_LOST;
        search->frame_count = 0;
    }
    return is_same || bz_world_has_resources(search->world);
}

void bz_record_put(struct bz_record *record, const struct bz_record *other) {
    char *paths = record->paths;
    uint32_t capacity = record->path_capacity;
    *record = *other;
    record->paths = paths;
    record->path_capacity = capacity;
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
    bool is_too_long = record->is_pause && !record->is_on;
    if ((is_lost || is_too_long) && !is_stopped(config)) {
        bz_record_lose(config, search, is_lost ? OTHER_STATE : "its path is too long to be kept");
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
