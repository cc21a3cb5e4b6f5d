#include "sim/explore/checkpoint.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "sim/explore/search.h"
#include "sim/judge/event.h"
#include "sim/program/token.h"
#include "sim/session/checkpoint.h"
#include "traces/json.h"
#include "traces/lack.h"
#include "traces/text.h"

#define LINE_BYTES_MAX ((size_t)4 << 20u)
#define LABEL_BYTES 64u
#define ADDRESS_COUNT 6u
#define STATE_BYTES sizeof(struct bz_visited_state)
#define EDGE_BYTES sizeof(struct bz_edge)

/* What an open file says of itself. Its texts outlive the search. */
struct bz_explore_content {
    FILE *file;
    uint64_t states;
    uint64_t outcomes;
    uint64_t edges;    /* of a team */
    uint64_t numbered; /* the numbers of states in edges are below; 0: not all edges are known */
    uint64_t addresses[ADDRESS_COUNT];
    struct bz_record record; /* without paths */
    char sampled_draw[2][LABEL_BYTES];
};

/* --- numbers ---------------------------------------------------------------------------------- */

struct field {
    const char *key;
    size_t offset;
    size_t bytes;
};
#define FIELD(type, name)                                                                          \
    { #name, offsetof(struct type, name), sizeof(((struct type *)NULL)->name) }

static const struct field settings[] = {FIELD(bz_explore_checkpoint, delays_max),
                                        FIELD(bz_explore_checkpoint, reductions),
                                        FIELD(bz_explore_checkpoint, rounds_before_sweep),
                                        FIELD(bz_explore_checkpoint, keep_going),
                                        FIELD(bz_explore_checkpoint, jobs),
                                        FIELD(bz_explore_checkpoint, states_max),
                                        FIELD(bz_explore_checkpoint, spent_ms),
                                        FIELD(bz_explore_checkpoint, code_digest),
                                        FIELD(bz_explore_checkpoint, plugin_digests[0]),
                                        FIELD(bz_explore_checkpoint, plugin_digests[1]),
                                        {NULL, 0, 0}};

static const struct field places[] = {FIELD(bz_record, is_team),
                                      FIELD(bz_record, is_cut),
                                      FIELD(bz_record, is_short),
                                      FIELD(bz_record, may_have_cycles),
                                      FIELD(bz_record, is_asymmetric),
                                      FIELD(bz_record, has_timers),
                                      FIELD(bz_record, path_count),
                                      FIELD(bz_record, stage.is_sweep),
                                      FIELD(bz_record, stage.simplifies),
                                      FIELD(bz_record, stage.had_findings),
                                      FIELD(bz_record, stage.last),
                                      FIELD(bz_record, bounds.deviations),
                                      FIELD(bz_record, bounds.delays),
                                      FIELD(bz_record, bounds.transitions),
                                      FIELD(bz_record, bounds.is_any_order),
                                      FIELD(bz_record, bounds.reductions),
                                      {NULL, 0, 0}};

static const struct field counts[] = {FIELD(bz_explore_result, end),
                                      FIELD(bz_explore_result, reductions),
                                      FIELD(bz_explore_result, is_minimal),
                                      FIELD(bz_explore_result, rounds),
                                      FIELD(bz_explore_result, is_sweep_done),
                                      FIELD(bz_explore_result, is_all),
                                      FIELD(bz_explore_result, is_whole),
                                      FIELD(bz_explore_result, is_out_of_steps),
                                      FIELD(bz_explore_result, has_cycles),
                                      FIELD(bz_explore_result, has_waited),
                                      FIELD(bz_explore_result, has_outside_state),
                                      FIELD(bz_explore_result, states),
                                      FIELD(bz_explore_result, transitions),
                                      FIELD(bz_explore_result, has_schedules),
                                      FIELD(bz_explore_result, schedules),
                                      FIELD(bz_explore_result, outcomes),
                                      FIELD(bz_explore_result, depth),
                                      FIELD(bz_explore_result, transitions_total),
                                      FIELD(bz_explore_result, outcomes_digest),
                                      FIELD(bz_explore_result, violations_digest),
                                      FIELD(bz_explore_result, told),
                                      {NULL, 0, 0}};

static void add_numbers(struct bz_json *object, const struct field *fields, const void *from) {
    for (; fields->key != NULL; fields++) {
        const char *place = (const char *)from + fields->offset;
        uint32_t half = 0;
        uint64_t whole = 0;
        if (fields->bytes == sizeof whole) {
            memcpy(&whole, place, sizeof whole);
        } else if (fields->bytes == sizeof half) {
            memcpy(&half, place, sizeof half);
            whole = half;
        } else {
            whole = *(const bool *)place;
        }
        bz_json_add_hex(object, fields->key, whole);
    }
}

static bool read_numbers(const struct bz_json *object, const struct field *fields, void *to) {
    bool is_ok = object != NULL && bz_json_is_object(object);
    for (; is_ok && fields->key != NULL; fields++) {
        char *place = (char *)to + fields->offset;
        uint64_t whole;
        is_ok = bz_json_get(object, fields->key) != NULL &&
                bz_checkpoint_read_hex(object, fields->key, &whole);
        if (is_ok && fields->bytes == sizeof whole) {
            memcpy(place, &whole, sizeof whole);
        } else if (is_ok && fields->bytes == sizeof(uint32_t)) {
            uint32_t half = (uint32_t)whole;
            memcpy(place, &half, sizeof half);
            is_ok = half == whole;
        } else if (is_ok) {
            *(bool *)place = whole != 0;
            is_ok = whole <= 1;
        }
    }
    return is_ok;
}

/* --- results ---------------------------------------------------------------------------------- */

static const char *text_of(const struct bz_json *object, const char *key) {
    const struct bz_json *member = bz_json_get(object, key);
    const char *text = member == NULL ? NULL : bz_json_string(member);
    return text == NULL ? "" : text;
}

static void add_result(struct bz_json *root, const char *key,
                       const struct bz_explore_result *result) {
    struct bz_json *object = bz_json_add_object(root, key);
    add_numbers(object, counts, result);
    bz_json_add_string(object, "sampled_draw",
                       result->sampled_draw == NULL ? "" : result->sampled_draw);
    struct bz_json *findings = bz_json_add_array(object, "findings");
    for (uint32_t index = 0; index < result->finding_count; index++) {
        const struct bz_explore_finding *finding = &result->findings[index];
        struct bz_json *item = bz_json_append_object(findings);
        char answers[BZ_ANSWERS_TEXT_BYTES];
        bz_checkpoint_add_violation(item, &finding->violation);
        bz_json_add_string(item, "answers",
                           finding->has_answers
                               ? bz_answers_format(&finding->answers, answers, sizeof answers)
                               : "");
        bz_json_add_hex(item, "delays", finding->deviations.delays);
        bz_json_add_hex(item, "cancels", finding->deviations.cancels);
        bz_json_add_hex(item, "draws", finding->deviations.draws);
    }
}

static bool read_finding(const struct bz_json *item, struct bz_explore_finding *finding) {
    const char *answers = text_of(item, "answers");
    uint64_t delays;
    uint64_t cancels;
    uint64_t draws;
    finding->has_answers = answers[0] != '\0';
    bool is_ok = bz_checkpoint_read_violation(item, &finding->violation) &&
                 (!finding->has_answers || bz_answers_parse(&finding->answers, answers)) &&
                 bz_checkpoint_read_hex(item, "delays", &delays) &&
                 bz_checkpoint_read_hex(item, "cancels", &cancels) &&
                 bz_checkpoint_read_hex(item, "draws", &draws);
    if (is_ok) {
        finding->deviations = (struct bz_deviations){
            .delays = (uint32_t)delays, .cancels = (uint32_t)cancels, .draws = (uint32_t)draws};
    }
    return is_ok;
}

static bool read_result(const struct bz_json *root, const char *key,
                        struct bz_explore_result *result, char *sampled_draw) {
    const struct bz_json *object = bz_json_get(root, key);
    const struct bz_json *findings = object == NULL ? NULL : bz_json_get(object, "findings");
    bool is_ok = findings != NULL && bz_json_is_array(findings) &&
                 read_numbers(object, counts, result) && result->end <= BZ_EXPLORE_MEMORY_MAX;
    for (const struct bz_json *item = is_ok ? bz_json_first(findings) : NULL; is_ok && item != NULL;
         item = bz_json_next(item)) {
        is_ok = result->finding_count < BZ_EXPLORE_FINDINGS_MAX &&
                read_finding(item, &result->findings[result->finding_count++]);
    }
    if (is_ok) {
        snprintf(sampled_draw, LABEL_BYTES, "%s", text_of(object, "sampled_draw"));
        result->sampled_draw = sampled_draw[0] == '\0' ? NULL : sampled_draw;
    }
    return is_ok;
}

/* --- bytes ------------------------------------------------------------------------------------ */

/* Digests whole words. */
static uint64_t digest_bytes(uint64_t digest, const void *data, size_t bytes) {
    for (size_t offset = 0; offset < bytes; offset += sizeof(uint64_t)) {
        uint64_t word;
        memcpy(&word, (const char *)data + offset, sizeof word);
        digest = bz_digest_word(digest, word);
    }
    return digest;
}

uint64_t bz_explore_digest_of(FILE *file) {
    uint64_t digest = BZ_DIGEST_SEED;
    uint64_t words[4096] = {0};
    size_t bytes;
    while ((bytes = fread(words, 1, sizeof words, file)) > 0) {
        digest = bz_digest_word(digest_bytes(digest, words, bytes + (8 - bytes % 8) % 8), bytes);
        memset(words, 0, sizeof words);
    }
    return ferror(file) ? 0 : digest | 1;
}

static bool put(FILE *file, uint64_t *digest, const void *data, size_t bytes) {
    *digest = digest_bytes(*digest, data, bytes);
    return fwrite(data, 1, bytes, file) == bytes;
}

static bool get(const struct bz_explore_content *content, void *data, size_t bytes) {
    return fread(data, 1, bytes, content->file) == bytes;
}

/* Whether the checksum at the end of the file is that of the rest, `bytes` bytes. Goes back to
 * where the file was. */
static bool is_whole(FILE *file, uint64_t bytes) {
    uint64_t digest = BZ_DIGEST_SEED;
    uint64_t checksum = 0;
    uint64_t words[4096];
    off_t place = ftello(file);
    bool is_ok = fseeko(file, 0, SEEK_SET) == 0;
    for (uint64_t left = bytes; is_ok && left > 0;) {
        size_t piece = left < sizeof words ? (size_t)left : sizeof words;
        is_ok = fread(words, 1, piece, file) == piece;
        digest = digest_bytes(digest, words, is_ok ? piece : 0);
        left -= piece;
    }
    return is_ok && fread(&checksum, sizeof checksum, 1, file) == 1 && checksum == digest &&
           fseeko(file, place, SEEK_SET) == 0;
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

static char *first_line(const struct bz_explore_checkpoint *checkpoint,
                        const struct bz_search *search, const uint64_t *table_counts,
                        uint64_t edges, uint64_t numbered) {
    const struct bz_record *record = search->record;
    char token[BZ_TOKEN_BYTES];
    char key[16];
    uint64_t addresses[ADDRESS_COUNT];
    struct bz_json *root = bz_json_new_object();
    bz_json_add_string(root, "format", BZ_EXPLORE_CHECKPOINT_FORMAT);
    bz_json_add_string(root, "search",
                       bz_token_format(&checkpoint->program, 0, 0, token, sizeof token));
    add_numbers(bz_json_add_object(root, "settings"), settings, checkpoint);
    add_numbers(bz_json_add_object(root, "place"), places, record);
    add_result(root, "result", &record->result);
    if (record->stage.simplifies) {
        add_result(root, "swept", &record->stage.swept);
    }
    bz_json_add_hex(root, "states", table_counts[0]);
    bz_json_add_hex(root, "outcomes", table_counts[1]);
    bz_json_add_hex(root, "edges", edges);
    bz_json_add_hex(root, "numbered", numbered);
    get_addresses(search, addresses);
    struct bz_json *list = bz_json_add_object(root, "addresses");
    for (uint32_t index = 0; index < ADDRESS_COUNT; index++) {
        snprintf(key, sizeof key, "%" PRIu32, index);
        bz_json_add_hex(list, key, addresses[index]);
    }
    list = bz_json_add_object(root, "path_bytes");
    for (uint32_t number = 0; number < record->path_count; number++) {
        snprintf(key, sizeof key, "%" PRIu32, number);
        bz_json_add_hex(list, key, record->path_bytes[number]);
    }
    char *json = bz_json_print(root, false);
    bz_json_free(root);
    size_t length = strlen(json);
    size_t padded = (length + 1 + 7) / 8 * 8;
    char *line = bz_lack_check(realloc(json, padded + 1), "a checkpoint");
    memset(line + length, ' ', padded - length);
    line[padded - 1] = '\n';
    line[padded] = '\0';
    return line;
}

/* A child that was killed may have left a place half filled in, but then it has left no record. */
static bool put_table(FILE *file, uint64_t *digest, const struct bz_visited *table) {
    struct bz_visited_place place = {0};
    const struct bz_visited_state *state;
    bool is_ok = true;
    while (is_ok && (state = bz_visited_next(table, &place)) != NULL) {
        is_ok = put(file, digest, state, STATE_BYTES);
    }
    return is_ok;
}

static bool put_edges(FILE *file, uint64_t *digest, const struct bz_edge_logs *logs) {
    bool is_ok = true;
    for (uint32_t number = 0; is_ok && number < logs->count; number++) {
        const struct bz_edge_log *log = &logs->logs[number];
        is_ok = put(file, digest, log->edges, log->count * EDGE_BYTES);
    }
    return is_ok;
}

bool bz_explore_checkpoint_write(const struct bz_explore_checkpoint *checkpoint,
                                 const struct bz_search *search, FILE *file) {
    const struct bz_record *record = search->record;
    bool has_states = (record->bounds.reductions & BZ_REDUCE_STATES) != 0;
    uint64_t table_counts[2] = {has_states ? bz_visited_count(&search->visited) : 0,
                                bz_visited_count(&search->outcomes)};
    uint64_t edges = 0;
    bool has_all = record->is_team && bz_edge_logs_count(search->logs, &edges);
    char *line = first_line(checkpoint, search, table_counts, edges,
                            has_all ? search->logs->state_count : 0);
    uint64_t digest = BZ_DIGEST_SEED;
    bool is_ok = put(file, &digest, line, strlen(line)) &&
                 (!has_states || put_table(file, &digest, &search->visited)) &&
                 put_table(file, &digest, &search->outcomes) &&
                 (edges == 0 || put_edges(file, &digest, search->logs));
    for (uint32_t number = 0; is_ok && number < record->path_count; number++) {
        is_ok = put(file, &digest, bz_record_path(record, number), record->path_bytes[number]);
    }
    is_ok = is_ok && fwrite(&digest, sizeof digest, 1, file) == 1 && fflush(file) == 0;
    int problem = errno;
    free(line);
    errno = problem;
    return is_ok;
}

/* --- reading ---------------------------------------------------------------------------------- */

/* Numbers in an object whose keys are 0, 1, 2, ... */
static bool read_list(const struct bz_json *root, const char *name, uint32_t count,
                      uint64_t *numbers) {
    const struct bz_json *list = bz_json_get(root, name);
    bool is_ok = list != NULL && bz_json_is_object(list);
    for (uint32_t index = 0; is_ok && index < count; index++) {
        char key[16];
        snprintf(key, sizeof key, "%" PRIu32, index);
        is_ok =
            bz_json_get(list, key) != NULL && bz_checkpoint_read_hex(list, key, &numbers[index]);
    }
    return is_ok;
}

static bool read_content(const struct bz_json *root, struct bz_explore_content *content) {
    struct bz_record *record = &content->record;
    uint64_t bytes[BZ_JOBS_MAX];
    bool is_ok = read_numbers(bz_json_get(root, "place"), places, record) &&
                 read_result(root, "result", &record->result, content->sampled_draw[0]) &&
                 (!record->stage.simplifies ||
                  read_result(root, "swept", &record->stage.swept, content->sampled_draw[1])) &&
                 record->stage.simplifies == (record->stage.swept.finding_count > 0) &&
                 bz_checkpoint_read_hex(root, "states", &content->states) &&
                 bz_checkpoint_read_hex(root, "outcomes", &content->outcomes) &&
                 bz_checkpoint_read_hex(root, "edges", &content->edges) &&
                 bz_checkpoint_read_hex(root, "numbered", &content->numbered) &&
                 content->numbered <= UINT32_MAX &&
                 read_list(root, "addresses", ADDRESS_COUNT, content->addresses) &&
                 record->path_count >= 1 && record->path_count <= BZ_JOBS_MAX &&
                 (record->is_team || record->path_count == 1) &&
                 read_list(root, "path_bytes", record->path_count, bytes) &&
                 (record->bounds.reductions & ~(BZ_REDUCE_ALL | BZ_REDUCE_LAG)) == 0;
    for (uint32_t number = 0; is_ok && number < record->path_count; number++) {
        is_ok = bytes[number] <= BZ_PATH_BYTES_MAX && bytes[number] % 8 == 0 &&
                (bytes[number] > 0 || record->is_team);
        record->path_bytes[number] = (size_t)bytes[number];
    }
    return is_ok;
}

/* The line with its line break; NULL if there is none. */
static char *read_line(struct bz_explore_content *content, size_t *length) {
    char *line = bz_lack_check(malloc(LINE_BYTES_MAX + 1), "a checkpoint");
    *length = 0;
    int byte = 0;
    while (*length < LINE_BYTES_MAX && byte != '\n' && (byte = getc(content->file)) != EOF) {
        line[(*length)++] = (char)byte;
    }
    line[*length] = '\0';
    if (byte != '\n' || *length % 8 != 0) {
        free(line);
        return NULL;
    }
    return line;
}

/* Whether the file has what its first line says, nothing else, and unchanged. */
static bool is_complete(const struct bz_explore_content *content, size_t line_bytes,
                        const char *origin, char *error, size_t error_bytes) {
    struct stat status;
    uint64_t most = UINT64_MAX / 4 / STATE_BYTES;
    if (content->states > most || content->outcomes > most || content->edges > most ||
        fstat(fileno(content->file), &status) != 0) {
        return bz_fail(error, error_bytes, "%s: is damaged: its sizes make no sense", origin);
    }
    uint64_t bytes = line_bytes + (content->states + content->outcomes) * STATE_BYTES +
                     content->edges * EDGE_BYTES + sizeof(uint64_t);
    for (uint32_t number = 0; number < content->record.path_count; number++) {
        bytes += content->record.path_bytes[number];
    }
    if ((uint64_t)status.st_size != bytes) {
        return bz_fail(error, error_bytes,
                       "%s: is damaged: it has %" PRIu64 " bytes, and its first line says %" PRIu64,
                       origin, (uint64_t)status.st_size, bytes);
    }
    return is_whole(content->file, bytes - sizeof(uint64_t)) ||
           bz_fail(error, error_bytes, "%s: is damaged: its checksum does not fit its content",
                   origin);
}

static bool open_json(struct bz_explore_checkpoint *checkpoint, const struct bz_json *root,
                      const struct bz_catalog *catalog, const char *origin, char *error,
                      size_t error_bytes) {
    char reason[BZ_ERROR_BYTES];
    uint64_t seed;
    uint64_t digest;
    if (strcmp(text_of(root, "format"), BZ_EXPLORE_CHECKPOINT_FORMAT) != 0) {
        return bz_fail(error, error_bytes,
                       "%s: is no checkpoint of a search of this program: its format is '%.40s', "
                       "and not '%s'",
                       origin, text_of(root, "format"), BZ_EXPLORE_CHECKPOINT_FORMAT);
    }
    if (!bz_token_parse(text_of(root, "search"), catalog, &checkpoint->program, &seed, &digest,
                        reason, sizeof reason)) {
        return bz_fail(error, error_bytes, "%s: %s", origin, reason);
    }
    return (read_numbers(bz_json_get(root, "settings"), settings, checkpoint) &&
            read_content(root, checkpoint->content)) ||
           bz_fail(error, error_bytes, "%s: is damaged: a number is missing or makes no sense",
                   origin);
}

bool bz_explore_checkpoint_open(struct bz_explore_checkpoint *checkpoint, FILE *file,
                                const struct bz_catalog *catalog, const char *origin, char *error,
                                size_t error_bytes) {
    struct bz_explore_content *content = bz_lack_check(calloc(1, sizeof *content), "a checkpoint");
    size_t length;
    *checkpoint = (struct bz_explore_checkpoint){.content = content};
    content->file = file;
    char *line = read_line(content, &length);
    struct bz_json *root =
        line == NULL ? NULL : bz_json_parse(line, length, 6, origin, error, error_bytes);
    if (line == NULL) {
        bz_fail(error, error_bytes, "%s: is no checkpoint of a search, or is cut short", origin);
    }
    bool is_ok = root != NULL && open_json(checkpoint, root, catalog, origin, error, error_bytes) &&
                 is_complete(content, length, origin, error, error_bytes);
    bz_json_free(root);
    free(line);
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
    return record->stage.simplifies ? &record->stage.swept : &record->result;
}

bool bz_explore_checkpoint_has_outside_state(const struct bz_explore_checkpoint *checkpoint) {
    return checkpoint->content->record.result.has_outside_state;
}

/* --- into a search ---------------------------------------------------------------------------- */

uint32_t bz_search_paths(const struct bz_explore_config *config) {
    uint32_t paths = config->jobs > 1 ? config->jobs : 1;
    uint32_t kept = config->from != NULL ? config->from->content->record.path_count : 0;
    return paths > kept ? paths : kept;
}

uint64_t bz_search_states(const struct bz_explore_config *config) {
    uint64_t kept = config->from != NULL ? config->from->content->states : 0;
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
        if (!get(content, &state, STATE_BYTES) || state.fingerprint.low == 0) {
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

/* Each worker gets as many: which of them logged an edge does not matter. */
static enum got get_edges(const struct bz_explore_content *content, struct bz_edge_logs *logs) {
    bz_edge_logs_begin(logs);
    logs->is_whole = content->numbered > 0;
    logs->state_count = content->numbered > 0 ? (uint32_t)content->numbered : 1;
    for (uint64_t index = 0; index < content->edges; index++) {
        struct bz_edge edge;
        if (!get(content, &edge, EDGE_BYTES) || edge.from >= content->numbered ||
            edge.to >= content->numbered) {
            return GOT_NOT_ALL;
        }
        bz_edge_log_add(&logs->logs[index % logs->count], edge.from, edge.to);
    }
    return GOT_ALL;
}

/* The reason why the states of a file are of no use here; NULL: they are. */
static const char *find_reason(const struct bz_search *search,
                               const struct bz_explore_content *content) {
    uint64_t own[ADDRESS_COUNT];
    get_addresses(search, own);
    if (memcmp(own, content->addresses, sizeof own) != 0) {
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
    enum got got = get_table(content, &search->visited, content->states);
    got = got == GOT_ALL ? get_table(content, &search->outcomes, content->outcomes) : got;
    got = got == GOT_ALL ? get_edges(content, search->logs) : got;
    for (uint32_t number = 0; got == GOT_ALL && number < content->record.path_count; number++) {
        got = get(content, bz_record_path(record, number), content->record.path_bytes[number])
                  ? GOT_ALL
                  : GOT_NOT_ALL;
    }
    return got == GOT_ALL ||
           lose(search, got == GOT_NO_ROOM
                            ? "its states do not fit into the memory: raise --max-memory"
                            : "is damaged: it has a state twice, or has changed meanwhile");
}
