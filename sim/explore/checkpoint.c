#include "sim/explore/checkpoint.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "sim/explore/search.h"
#include "sim/judge/event.h"
#include "sim/program/token.h"
#include "traces/lack.h"
#include "traces/text.h"

#define FORMAT_FAMILY "buzzer-search/"
#define LABEL_BYTES 64u
#define ADDRESS_COUNT 6u
#define STATE_BYTES sizeof(struct bz_visited_state)
#define EDGE_BYTES sizeof(struct bz_edge)

/* How a file begins. */
struct head {
    char format[24];
    uint64_t states;
    uint64_t outcomes;
    uint64_t edges;    /* of a team */
    uint64_t numbered; /* the numbers of states in edges are below; 0: not all edges are known */
    uint64_t addresses[ADDRESS_COUNT];
    uint64_t unfinished;
    uint64_t choices;
    char token[BZ_TOKEN_BYTES]; /* of what is searched */
};

/* What an open file says of itself. Its texts outlive the search. */
struct bz_explore_content {
    FILE *file;
    struct head head;
    struct bz_record record;
    char sampled_draw[2][LABEL_BYTES];
};

/* --- bytes ------------------------------------------------------------------------------------ */

/* By words; the last one is filled with zeros. */
static uint64_t digest_bytes(uint64_t digest, const void *data, size_t bytes) {
    for (size_t offset = 0; offset < bytes; offset += sizeof(uint64_t)) {
        uint64_t word = 0;
        memcpy(&word, (const char *)data + offset, bytes - offset < 8 ? bytes - offset : 8);
        digest = bz_digest_word(digest, word);
    }
    return digest;
}

/* Of the next `bytes` bytes, or of all that there are. 0 if they cannot be read. */
static uint64_t digest_next(FILE *file, uint64_t bytes) {
    uint64_t digest = BZ_DIGEST_SEED;
    uint64_t words[4096] = {0};
    size_t got = 1;
    for (; bytes > 0 && got > 0; bytes -= got) {
        got = fread(words, 1, bytes < sizeof words ? (size_t)bytes : sizeof words, file);
        digest = digest_bytes(digest, words, got);
    }
    return ferror(file) ? 0 : digest;
}

uint64_t bz_explore_digest_of(FILE *file) {
    uint64_t digest = digest_next(file, UINT64_MAX);
    return digest == 0 ? 0 : digest | 1;
}

/* Everything in a file is padded to words. */
static size_t padding(size_t bytes) {
    return (8 - bytes % 8) % 8;
}

struct writer {
    FILE *file;
    uint64_t digest;
    bool is_ok;
};

static void put(struct writer *writer, const void *data, size_t bytes) {
    static const char zeros[8];
    writer->digest = digest_bytes(writer->digest, data, bytes);
    writer->is_ok = writer->is_ok && fwrite(data, 1, bytes, writer->file) == bytes &&
                    fwrite(zeros, 1, padding(bytes), writer->file) == padding(bytes);
}

static bool get(FILE *file, void *data, size_t bytes) {
    uint64_t rest;
    return fread(data, 1, bytes, file) == bytes &&
           fread(&rest, 1, padding(bytes), file) == padding(bytes);
}

/* Whether the file ends with the checksum of the rest. Goes back to where it was. */
static bool is_whole(FILE *file) {
    uint64_t checksum = 0;
    off_t place = ftello(file);
    off_t end = fseeko(file, 0, SEEK_END) == 0 ? ftello(file) - (off_t)sizeof checksum : 0;
    bool is_ok = end > 0 && end % 8 == 0 && fseeko(file, 0, SEEK_SET) == 0;
    uint64_t digest = is_ok ? digest_next(file, (uint64_t)end) : 0;
    return is_ok && fread(&checksum, sizeof checksum, 1, file) == 1 && checksum == digest &&
           fseeko(file, place, SEEK_SET) == 0;
}

/* --- parts ------------------------------------------------------------------------------------ */

/* The settings of a checkpoint: its numbers, which stand between its pointers. */
static char *settings_of(struct bz_explore_checkpoint *checkpoint) {
    return (char *)&checkpoint->delays_max;
}

#define SETTINGS_BYTES                                                                             \
    (offsetof(struct bz_explore_checkpoint, content) -                                             \
     offsetof(struct bz_explore_checkpoint, delays_max))

/* The findings come last in a result. An oracle is written as its index, and the label of a draw
 * as text, because their addresses may be others. */
#define RESULT_BYTES offsetof(struct bz_explore_result, findings)

static void put_result(struct writer *writer, const struct bz_explore_result *result) {
    char label[LABEL_BYTES] = "";
    snprintf(label, sizeof label, "%s", result->sampled_draw == NULL ? "" : result->sampled_draw);
    put(writer, result, RESULT_BYTES);
    put(writer, label, sizeof label);
    for (uint32_t place = 0; place < result->finding_count; place++) {
        struct bz_explore_finding finding = result->findings[place];
        uint64_t oracle = bz_oracle_index(finding.violation.oracle);
        finding.violation.oracle = NULL;
        put(writer, &oracle, sizeof oracle);
        put(writer, &finding, sizeof finding);
    }
}

static bool get_result(FILE *file, struct bz_explore_result *result, char *label) {
    bool is_ok = get(file, result, RESULT_BYTES) && get(file, label, LABEL_BYTES) &&
                 memchr(label, '\0', LABEL_BYTES) != NULL && result->end <= BZ_EXPLORE_MEMORY_MAX &&
                 result->finding_count <= BZ_EXPLORE_FINDINGS_MAX;
    result->sampled_draw = is_ok && label[0] != '\0' ? label : NULL;
    for (uint32_t place = 0; is_ok && place < result->finding_count; place++) {
        struct bz_explore_finding *finding = &result->findings[place];
        uint64_t oracle;
        is_ok = get(file, &oracle, sizeof oracle) && get(file, finding, sizeof *finding) &&
                oracle < bz_oracle_count;
        finding->violation.oracle = is_ok ? bz_oracles[oracle].name : NULL;
    }
    return is_ok && bz_explore_result_is_sound(result);
}

static void put_table(struct writer *writer, const struct bz_visited *table) {
    struct bz_visited_place place = {0};
    const struct bz_visited_state *state;
    while ((state = bz_visited_next(table, &place)) != NULL) {
        put(writer, state, STATE_BYTES);
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

/* --- writing ---------------------------------------------------------------------------------- */

static void put_head(struct writer *writer, const struct bz_explore_checkpoint *checkpoint,
                     const struct bz_search *search, bool has_states) {
    const struct bz_record *record = search->record;
    bool has_edges = record->at.is_team && bz_edge_log_has_all(search->log);
    struct head head = {.format = BZ_EXPLORE_CHECKPOINT_FORMAT,
                        .states = has_states ? bz_visited_count(&search->visited) : 0,
                        .outcomes = bz_visited_count(&search->outcomes),
                        .edges = has_edges ? search->log->count : 0,
                        .numbered = has_edges ? search->log->state_count : 0,
                        .unfinished = record->unfinished,
                        .choices = record->choice_count};
    get_addresses(search, head.addresses);
    (void)bz_token_format(&checkpoint->program, 0, 0, head.token, sizeof head.token);
    put(writer, &head, sizeof head);
}

bool bz_explore_checkpoint_write(const struct bz_explore_checkpoint *checkpoint,
                                 const struct bz_search *search, FILE *file) {
    const struct bz_record *record = search->record;
    bool has_states = (record->at.bounds.reductions & BZ_REDUCE_STATES) != 0;
    struct bz_explore_checkpoint own = *checkpoint;
    struct writer writer = {file, BZ_DIGEST_SEED, true};
    put_head(&writer, checkpoint, search, has_states);
    put(&writer, settings_of(&own), SETTINGS_BYTES);
    put(&writer, &record->at, sizeof record->at);
    put_result(&writer, &record->result);
    if (record->at.stage.simplifies) {
        put_result(&writer, &record->swept);
    }
    if (has_states) {
        put_table(&writer, &search->visited);
    }
    put_table(&writer, &search->outcomes);
    if (record->at.is_team && bz_edge_log_has_all(search->log)) {
        put(&writer, search->log->edges, search->log->count * EDGE_BYTES);
    }
    put(&writer, search->points, record->choice_count * sizeof *search->points);
    return writer.is_ok && fwrite(&writer.digest, sizeof writer.digest, 1, file) == 1 &&
           fflush(file) == 0;
}

/* --- reading ---------------------------------------------------------------------------------- */

static bool get_record(struct bz_explore_content *content) {
    struct bz_record *record = &content->record;
    FILE *file = content->file;
    bool is_ok = content->head.numbered <= UINT32_MAX && content->head.choices <= UINT32_MAX &&
                 get(file, &record->at, sizeof record->at) &&
                 (record->at.bounds.reductions & ~(BZ_REDUCE_ALL | BZ_REDUCE_LAG)) == 0;
    record->unfinished = content->head.unfinished;
    record->choice_count = (uint32_t)content->head.choices;
    return is_ok && get_result(file, &record->result, content->sampled_draw[0]) &&
           (!record->at.stage.simplifies ||
            (get_result(file, &record->swept, content->sampled_draw[1]) &&
             record->swept.finding_count > 0));
}

static bool get_content(struct bz_explore_checkpoint *checkpoint, const struct bz_catalog *catalog,
                        const char *origin, char *error, size_t error_bytes) {
    struct bz_explore_content *content = checkpoint->content;
    struct head *head = &content->head;
    char reason[BZ_ERROR_BYTES];
    uint64_t seed;
    uint64_t digest;
    if (!get(content->file, head, sizeof *head) ||
        strncmp(head->format, FORMAT_FAMILY, strlen(FORMAT_FAMILY)) != 0) {
        return bz_fail(error, error_bytes, "%s: is no checkpoint of a search, or is cut short",
                       origin);
    }
    if (strncmp(head->format, BZ_EXPLORE_CHECKPOINT_FORMAT, sizeof head->format) != 0) {
        return bz_fail(error, error_bytes,
                       "%s: is no checkpoint of a search of this program: its format is '%.24s', "
                       "and not '%s'",
                       origin, head->format, BZ_EXPLORE_CHECKPOINT_FORMAT);
    }
    if (!is_whole(content->file)) {
        return bz_fail(error, error_bytes,
                       "%s: is damaged or cut short: its checksum does not fit its content",
                       origin);
    }
    head->token[sizeof head->token - 1] = '\0';
    if (!bz_token_parse(head->token, catalog, &checkpoint->program, &seed, &digest, reason,
                        sizeof reason)) {
        return bz_fail(error, error_bytes, "%s: %s", origin, reason);
    }
    return (get(content->file, settings_of(checkpoint), SETTINGS_BYTES) && get_record(content)) ||
           bz_fail(error, error_bytes, "%s: is damaged: a number makes no sense", origin);
}

bool bz_explore_checkpoint_open(struct bz_explore_checkpoint *checkpoint, FILE *file,
                                const struct bz_catalog *catalog, const char *origin, char *error,
                                size_t error_bytes) {
    struct bz_explore_content *content = bz_lack_check(calloc(1, sizeof *content), "a checkpoint");
    *checkpoint = (struct bz_explore_checkpoint){.content = content};
    content->file = file;
    bool is_ok = get_content(checkpoint, catalog, origin, error, error_bytes);
    if (!is_ok) {
        bz_explore_checkpoint_close(checkpoint);
    }
    return is_ok;
}

void bz_explore_checkpoint_close(struct bz_explore_checkpoint *checkpoint) {
    if (checkpoint->content != NULL) {
        (void)fclose(checkpoint->content->file);
        free(checkpoint->content);
        checkpoint->content = NULL;
    }
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
    uint64_t kept = config->from != NULL ? config->from->content->head.states : 0;
    return config->states_max > kept ? config->states_max : kept;
}

static bool lose(struct bz_search *search, const char *why) {
    search->result->end = BZ_EXPLORE_LOST;
    snprintf(search->result->lack, sizeof search->result->lack, "%s", why);
    return false;
}

enum got { GOT_ALL, GOT_NOT_ALL, GOT_NO_ROOM };

static enum got get_table(const struct bz_explore_content *content, struct bz_visited *table,
                          uint64_t count) {
    for (; count > 0; count--) {
        struct bz_visited_state state;
        bool is_new;
        if (!get(content->file, &state, STATE_BYTES) || state.fingerprint.low == 0) {
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

static enum got get_edges(const struct bz_explore_content *content, struct bz_edge_log *log) {
    const struct head *head = &content->head;
    struct bz_edge_places places = {0, 0};
    bz_edge_log_begin(log);
    log->is_whole = head->numbered > 0;
    log->state_count = head->numbered > 0 ? (uint32_t)head->numbered : 1;
    for (uint64_t index = 0; index < head->edges; index++) {
        struct bz_edge edge;
        if (!get(content->file, &edge, EDGE_BYTES) || edge.from >= head->numbered ||
            edge.to >= head->numbered) {
            return GOT_NOT_ALL;
        }
        bz_edge_log_add(log, &places, edge.from, edge.to);
    }
    return GOT_ALL;
}

/* Behind the path of the search, where it comes to them. */
static enum got get_choices(const struct bz_explore_content *content, struct bz_search *search) {
    for (uint64_t index = 0; index < content->head.choices; index++) {
        struct bz_choice_point point;
        if (!get(content->file, &point, sizeof point) || point.chosen >= point.bound) {
            return GOT_NOT_ALL;
        }
        if (bz_search_add_point(search, &point) == NULL) {
            return GOT_NO_ROOM;
        }
    }
    search->point_count = 0;
    return GOT_ALL;
}

/* The reason why the states of a file are of no use here; NULL: they are. */
static const char *find_reason(const struct bz_search *search,
                               const struct bz_explore_content *content) {
    uint64_t own[ADDRESS_COUNT];
    get_addresses(search, own);
    if (memcmp(own, content->head.addresses, sizeof own) != 0) {
        return "its states have other addresses here: a library, the system or the limit on the "
               "stack (ulimit -s) has changed";
    }
    return NULL;
}

bool bz_search_load(const struct bz_explore_config *config, struct bz_search *search) {
    if (config->from == NULL) {
        return true;
    }
    const struct bz_explore_content *content = config->from->content;
    struct bz_record *record = search->record;
    const char *why = find_reason(search, content);
    bz_record_put(record, &content->record);
    if (why != NULL) {
        bz_record_lose(config, search, why);
        return true;
    }
    enum got got = get_table(content, &search->visited, content->head.states);
    got = got == GOT_ALL ? get_table(content, &search->outcomes, content->head.outcomes) : got;
    got = got == GOT_ALL ? get_edges(content, search->log) : got;
    got = got == GOT_ALL ? get_choices(content, search) : got;
    return got == GOT_ALL ||
           lose(search, got == GOT_NO_ROOM
                            ? "its states do not fit into the memory: raise --max-memory"
                            : "is damaged: it has a state twice, or has changed meanwhile");
}
