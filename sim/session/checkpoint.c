#include "sim/session/checkpoint.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sim/program/sizes.h"
#include "sim/program/token.h"
#include "traces/json.h"
#include "traces/lack.h"
#include "traces/text.h"
#include "traces/words.h"

#define ANY_OPERATION "any"
#define HASH_DIGITS 16u
#define SITUATION_DIGITS 4u
#define CHECKSUM_FORMAT ",\"checksum\":\"%016" PRIx64 "\"}\n"
#define CHECKSUM_BYTES (sizeof ",\"checksum\":\"0123456789abcdef\"}\n" - 1)

/* --- the sums --------------------------------------------------------------------------------- */

/* Every number of a result that does not follow from the others. */
static const struct {
    const char *key;
    size_t offset;
} sums[] = {{"runs", offsetof(struct bz_campaign_result, runs)},
            {"violations", offsetof(struct bz_campaign_result, violations)},
            {"out_of_steps", offsetof(struct bz_campaign_result, out_of_steps)},
            {"seed_cut", offsetof(struct bz_campaign_result, seed_cut)},
            {"waited", offsetof(struct bz_campaign_result, waited)},
            {"digest_first", offsetof(struct bz_campaign_result, digest_first)},
            {"begun", offsetof(struct bz_campaign_result, stats.runs)},
            {"steps", offsetof(struct bz_campaign_result, stats.steps)},
            {"injected", offsetof(struct bz_campaign_result, stats.injected)}};
#define SUM_COUNT (sizeof sums / sizeof sums[0])

static uint64_t *sum_of(const struct bz_campaign_result *result, size_t index) {
    return (uint64_t *)(void *)((char *)(uintptr_t)result + sums[index].offset);
}

typedef uint64_t window_table[BZ_OP_COUNT][BZ_WINDOW_COUNT];

static const char *op_key(unsigned op) {
    return op == BZ_OP_NONE ? ANY_OPERATION : bz_op_name(op);
}

static void add_table(struct bz_json *root, const char *key, const window_table table) {
    struct bz_json *rows = bz_json_add_object(root, key);
    for (unsigned op = 0; op < BZ_OP_COUNT; op++) {
        struct bz_json *row = bz_json_add_object(rows, op_key(op));
        for (unsigned window = 1; window < BZ_WINDOW_COUNT; window++) {
            if (table[op][window] != 0) {
                bz_json_add_hex(row, bz_window_name(window), table[op][window]);
            }
        }
    }
}

bool bz_checkpoint_read_hex(const struct bz_json *object, const char *key, uint64_t *value) {
    const struct bz_json *member = bz_json_get(object, key);
    const char *text = member == NULL ? NULL : bz_json_string(member);
    *value = 0;
    return member == NULL || (text != NULL && bz_parse_u64(text, value));
}

static bool read_table(const struct bz_json *root, const char *key, window_table table) {
    const struct bz_json *rows = bz_json_get(root, key);
    bool is_ok = rows != NULL;
    for (unsigned op = 0; is_ok && op < BZ_OP_COUNT; op++) {
        const struct bz_json *row = bz_json_get(rows, op_key(op));
        is_ok = row != NULL;
        for (unsigned window = 1; is_ok && window < BZ_WINDOW_COUNT; window++) {
            is_ok = bz_checkpoint_read_hex(row, bz_window_name(window), &table[op][window]);
        }
    }
    return is_ok;
}

static void add_oracles(struct bz_json *root, const struct bz_campaign_result *result) {
    struct bz_json *counts = bz_json_add_object(root, "by_oracle");
    for (uint32_t index = 0; index < bz_oracle_count; index++) {
        if (result->by_oracle[index] != 0) {
            bz_json_add_hex(counts, bz_oracles[index].name, result->by_oracle[index]);
        }
    }
}

static bool read_oracles(const struct bz_json *root, struct bz_campaign_result *result) {
    const struct bz_json *counts = bz_json_get(root, "by_oracle");
    bool is_ok = counts != NULL;
    uint64_t total = 0;
    for (uint32_t index = 0; is_ok && index < bz_oracle_count; index++) {
        is_ok = bz_checkpoint_read_hex(counts, bz_oracles[index].name, &result->by_oracle[index]);
        total += result->by_oracle[index];
    }
    return is_ok && total == result->violations;
}

/* --- sketches --------------------------------------------------------------------------------- */

static void add_sketch(struct bz_json *root, const char *key, const struct bz_distinct *distinct) {
    struct bz_json *sketch = bz_json_add_object(root, key);
    size_t bytes = (size_t)distinct->count * (HASH_DIGITS + 1) + 1;
    char *text = bz_lack_check(malloc(bytes), "a checkpoint");
    text[0] = '\0';
    for (uint32_t index = 0; index < distinct->count; index++) {
        size_t used = index * (HASH_DIGITS + 1);
        snprintf(text + used, bytes - used, "%c%016" PRIx64, distinct->again[index] ? '+' : '-',
                 distinct->kept[index]);
    }
    bz_json_add_hex(sketch, "skip_mask", distinct->skip_mask);
    bz_json_add_string(sketch, "kept", text);
    free(text);
}

/* One of many thousands: bz_parse_u64() would need a text that ends. */
static bool read_hash(const char *digits, uint64_t *hash) {
    *hash = 0;
    for (unsigned index = 0; index < HASH_DIGITS; index++) {
        unsigned digit = (unsigned)digits[index] - '0';
        unsigned letter = (unsigned)digits[index] - 'a';
        if (digit > 9 && letter > 5) {
            return false;
        }
        *hash = *hash << 4u | (digit > 9 ? letter + 10 : digit);
    }
    return true;
}

static bool read_sketch(const struct bz_json *root, const char *key, uint64_t total,
                        struct bz_distinct *distinct) {
    const struct bz_json *sketch = bz_json_get(root, key);
    const struct bz_json *kept = sketch == NULL ? NULL : bz_json_get(sketch, "kept");
    const char *text = kept == NULL ? NULL : bz_json_string(kept);
    bool is_ok = text != NULL &&
                 bz_checkpoint_read_hex(sketch, "skip_mask", &distinct->skip_mask) &&
                 (distinct->skip_mask & (distinct->skip_mask + 1)) == 0 &&
                 strlen(text) % (HASH_DIGITS + 1) == 0;
    distinct->total = total;
    for (; is_ok && *text != '\0'; text += HASH_DIGITS + 1) {
        uint64_t hash;
        is_ok = (text[0] == '+' || text[0] == '-') && read_hash(text + 1, &hash) &&
                bz_distinct_put_back(distinct, hash, text[0] == '+');
    }
    return is_ok;
}

/* Their numbers as one text, of SITUATION_DIGITS each. */
static void add_situations(struct bz_json *root, const uint64_t *situations) {
    char *text = bz_lack_check(calloc(BZ_SITUATIONS + 1, SITUATION_DIGITS), "a checkpoint");
    size_t used = 0;
    for (uint32_t number = 0; number < BZ_SITUATIONS; number++) {
        if ((situations[number / 64] >> number % 64 & 1u) != 0) {
            snprintf(text + used, SITUATION_DIGITS + 1, "%04" PRIx32, number);
            used += SITUATION_DIGITS;
        }
    }
    bz_json_add_string(root, "situations", text);
    free(text);
}

/* Older checkpoints have none. */
static bool read_situations(const struct bz_json *root, uint64_t *situations) {
    const struct bz_json *member = bz_json_get(root, "situations");
    const char *text = member == NULL ? "" : bz_json_string(member);
    bool is_ok = text != NULL && strlen(text) % SITUATION_DIGITS == 0;
    for (; is_ok && *text != '\0'; text += SITUATION_DIGITS) {
        char digits[SITUATION_DIGITS + 3];
        uint64_t number = 0;
        snprintf(digits, sizeof digits, "0x%.*s", (int)SITUATION_DIGITS, text);
        is_ok = bz_parse_u64(digits, &number) && number < BZ_SITUATIONS;
        situations[number % BZ_SITUATIONS / 64] |= UINT64_C(1) << number % 64;
    }
    return is_ok;
}

/* --- findings --------------------------------------------------------------------------------- */

void bz_checkpoint_add_violation(struct bz_json *item, const struct bz_violation *violation) {
    bz_json_add_string(item, "oracle", violation->oracle);
    bz_json_add_hex(item, "also", violation->also);
    bz_json_add_number(item, "step", violation->step);
    bz_json_add_number(item, "task", violation->task);
    bz_json_add_number(item, "object", violation->object);
    bz_json_add_string(item, "op", bz_op_name(violation->op));
    bz_json_add_string(item, "window", bz_window_name(violation->window));
    bz_json_add_hex(item, "time_ns", violation->time_ns);
    bz_json_add_string(item, "message", violation->message);
}

static void add_finding(struct bz_json *findings, const struct bz_finding *finding) {
    struct bz_json *item = bz_json_append_object(findings);
    bz_json_add_hex(item, "seed", finding->seed);
    bz_json_add_hex(item, "digest", finding->digest);
    bz_json_add_hex(item, "count", finding->count);
    bz_checkpoint_add_violation(item, &finding->violation);
}

static bool read_u32(const struct bz_json *object, const char *key, uint32_t *value) {
    const struct bz_json *member = bz_json_get(object, key);
    uint64_t number = 0;
    bool is_ok = member != NULL && bz_json_number(member, &number) && number <= UINT32_MAX;
    *value = (uint32_t)number;
    return is_ok;
}

/* The number of the word that a member holds; 0 for null. False if it is none of `count` words. */
static bool read_word(const struct bz_json *object, const char *key,
                      const char *(*word_of)(unsigned), unsigned count, unsigned *number) {
    const struct bz_json *member = bz_json_get(object, key);
    const char *word = member == NULL ? NULL : bz_json_string(member);
    *number = 0;
    while (word != NULL && *number < count &&
           (word_of(*number) == NULL || strcmp(word_of(*number), word) != 0)) {
        (*number)++;
    }
    return member != NULL && *number < count;
}

bool bz_checkpoint_read_violation(const struct bz_json *item, struct bz_violation *violation) {
    const struct bz_json *oracle = bz_json_get(item, "oracle");
    const struct bz_json *message = bz_json_get(item, "message");
    const char *oracle_text = oracle == NULL ? NULL : bz_json_string(oracle);
    const char *message_text = message == NULL ? NULL : bz_json_string(message);
    unsigned op;
    unsigned window;
    bool is_ok = oracle_text != NULL && bz_oracle_index(oracle_text) < bz_oracle_count &&
                 message_text != NULL && bz_checkpoint_read_hex(item, "also", &violation->also) &&
                 read_u32(item, "step", &violation->step) &&
                 read_u32(item, "task", &violation->task) &&
                 read_u32(item, "object", &violation->object) &&
                 read_word(item, "op", bz_op_name, BZ_OP_COUNT, &op) &&
                 read_word(item, "window", bz_window_name, BZ_WINDOW_COUNT, &window) &&
                 bz_checkpoint_read_hex(item, "time_ns", &violation->time_ns);
    if (is_ok) {
        violation->oracle = bz_oracle_name(oracle_text);
        violation->op = (enum bz_op)op;
        violation->window = (enum bz_window)window;
        snprintf(violation->message, sizeof violation->message, "%s", message_text);
    }
    return is_ok;
}

static bool read_finding(const struct bz_json *item, struct bz_finding *finding) {
    return bz_checkpoint_read_hex(item, "seed", &finding->seed) &&
           bz_checkpoint_read_hex(item, "digest", &finding->digest) &&
           bz_checkpoint_read_hex(item, "count", &finding->count) &&
           bz_checkpoint_read_violation(item, &finding->violation);
}

static bool read_findings(const struct bz_json *root, struct bz_campaign_result *result) {
    const struct bz_json *findings = bz_json_get(root, "findings");
    bool is_ok = findings != NULL && bz_json_is_array(findings);
    for (const struct bz_json *item = is_ok ? bz_json_first(findings) : NULL; is_ok && item != NULL;
         item = bz_json_next(item)) {
        is_ok = result->finding_count < BZ_FINDINGS_MAX &&
                read_finding(item, &result->findings[result->finding_count++]);
    }
    return is_ok && (result->finding_count > 0) == (result->violations > 0);
}

/* --- all of it -------------------------------------------------------------------------------- */

/* Bits as a table of 0 and 1, and back. */
static void spread(const uint32_t *required, window_table table) {
    for (unsigned op = 0; op < BZ_OP_COUNT; op++) {
        for (unsigned window = 0; window < BZ_WINDOW_COUNT; window++) {
            table[op][window] = required[op] >> window & 1u;
        }
    }
}

static void collect(const window_table table, uint32_t *required) {
    for (unsigned op = 0; op < BZ_OP_COUNT; op++) {
        required[op] = 0;
        for (unsigned window = 1; window < BZ_WINDOW_COUNT; window++) {
            required[op] |= (uint32_t)(table[op][window] != 0) << window;
        }
    }
}

static uint64_t checksum_of(const char *text, size_t length) {
    uint64_t digest = bz_digest_word(BZ_DIGEST_SEED, length);
    for (size_t index = 0; index < length; index++) {
        digest = bz_digest_word(digest, (unsigned char)text[index]);
    }
    return digest;
}

/* The document as one line that ends with a checksum of all before it. Frees `root`. */
static char *seal(struct bz_json *root) {
    char *json = bz_json_print(root, false);
    bz_json_free(root);
    size_t length = strlen(json) - 1; /* without its last brace */
    char *text = bz_lack_check(realloc(json, length + CHECKSUM_BYTES + 1), "a checkpoint");
    memset(text + length, ' ', CHECKSUM_BYTES);
    text[length + CHECKSUM_BYTES] = '\0';
    bz_checkpoint_sign(text);
    return text;
}

char *bz_checkpoint_print(const struct bz_job *job, const struct bz_campaign_state *state) {
    const struct bz_campaign_result *result = &state->result;
    char token[BZ_TOKEN_BYTES];
    window_table required;
    struct bz_json *root = bz_json_new_object();
    spread(job->required, required);
    bz_json_add_string(root, "format", BZ_CHECKPOINT_FORMAT);
    bz_json_add_string(
        root, "campaign",
        bz_token_format(&job->program, job->seed_first, result->digest, token, sizeof token));
    if (job->shard.count > 1) {
        bz_json_add_number(root, "shard", job->shard.number);
        bz_json_add_number(root, "shards", job->shard.count);
        bz_json_add_hex(root, "campaign_runs", job->campaign_runs);
    }
    bz_json_add_hex(root, "runs_wanted", job->runs);
    bz_json_add_hex(root, "limit_ms", job->limit_ms);
    bz_json_add_hex(root, "spent_ms", job->spent_ms);
    bz_json_add_hex(root, "keep_going", job->keep_going);
    if (job->keeps_size) {
        bz_json_add_hex(root, "keeps_size", 1);
    }
    bz_json_add_hex(root, "draws_sizes", job->draws_sizes);
    bz_json_add_hex(root, "pinned", job->program.pinned);
    if (job->slices > 0) {
        bz_json_add_hex(root, "slices", job->slices);
    }
    add_table(root, "required", (const uint64_t(*)[BZ_WINDOW_COUNT])required);
    for (size_t index = 0; index < SUM_COUNT; index++) {
        bz_json_add_hex(root, sums[index].key, *sum_of(result, index));
    }
    add_table(root, "windows", result->stats.windows);
    add_oracles(root, result);
    struct bz_json *findings = bz_json_add_array(root, "findings");
    for (uint32_t index = 0; index < result->finding_count; index++) {
        add_finding(findings, &result->findings[index]);
    }
    add_sketch(root, "distinct", &state->distinct);
    add_sketch(root, "handoffs", &state->handoffs);
    add_situations(root, state->situations);
    return seal(root);
}

void bz_checkpoint_sign(char *text) {
    size_t length = strlen(text) - CHECKSUM_BYTES;
    uint64_t checksum = checksum_of(text, length);
    snprintf(text + length, CHECKSUM_BYTES + 1, CHECKSUM_FORMAT, checksum);
}

static bool is_whole(const char *text, size_t length) {
    char expected[CHECKSUM_BYTES + 1];
    if (length < CHECKSUM_BYTES) {
        return false;
    }
    snprintf(expected, sizeof expected, CHECKSUM_FORMAT,
             checksum_of(text, length - CHECKSUM_BYTES));
    return memcmp(text + length - CHECKSUM_BYTES, expected, CHECKSUM_BYTES) == 0;
}

/* Which part it is. Whole campaigns have no such members. */
static bool read_shard(const struct bz_json *root, struct bz_job *job) {
    struct bz_shard *shard = &job->shard;
    if (bz_json_get(root, "shards") == NULL) {
        *shard = (struct bz_shard){1, 1};
        job->campaign_runs = job->runs;
        return true;
    }
    return read_u32(root, "shard", &shard->number) && read_u32(root, "shards", &shard->count) &&
           bz_checkpoint_read_hex(root, "campaign_runs", &job->campaign_runs) &&
           shard->number > 0 && shard->number <= shard->count && shard->count <= BZ_SHARDS_MAX &&
           bz_shard_runs(shard, job->campaign_runs) == job->runs;
}

static bool read_numbers(const struct bz_json *root, struct bz_job *job,
                         struct bz_campaign_state *state) {
    struct bz_campaign_result *result = &state->result;
    window_table required;
    uint64_t keep_going;
    uint64_t draws_sizes; /* of older programs: none */
    uint64_t pinned;
    bool is_ok = bz_checkpoint_read_hex(root, "runs_wanted", &job->runs) && read_shard(root, job) &&
                 bz_checkpoint_read_hex(root, "limit_ms", &job->limit_ms) &&
                 bz_checkpoint_read_hex(root, "spent_ms", &job->spent_ms) &&
                 bz_checkpoint_read_hex(root, "keep_going", &keep_going) &&
                 bz_checkpoint_read_hex(root, "draws_sizes", &draws_sizes) &&
                 bz_checkpoint_read_hex(root, "pinned", &pinned) &&
                 bz_checkpoint_read_hex(root, "slices", &job->slices) &&
                 read_table(root, "required", required);
    for (size_t index = 0; is_ok && index < SUM_COUNT; index++) {
        is_ok = bz_checkpoint_read_hex(root, sums[index].key, sum_of(result, index));
    }
    is_ok = is_ok && result->runs <= job->runs && result->violations <= result->runs &&
            read_table(root, "windows", result->stats.windows) && read_oracles(root, result) &&
            read_findings(root, result) &&
            read_sketch(root, "distinct", result->runs, &state->distinct) &&
            read_sketch(root, "handoffs", result->runs, &state->handoffs) &&
            read_situations(root, state->situations);
    if (is_ok) {
        job->keep_going = keep_going != 0;
        job->keeps_size = bz_json_get(root, "keeps_size") != NULL;
        job->draws_sizes = draws_sizes != 0;
        job->program.pinned = (uint32_t)pinned;
        collect((const uint64_t(*)[BZ_WINDOW_COUNT])required, job->required);
    }
    return is_ok;
}

static const char *text_of(const struct bz_json *root, const char *key) {
    const struct bz_json *member = bz_json_get(root, key);
    const char *text = member == NULL ? NULL : bz_json_string(member);
    return text == NULL ? "" : text;
}

/* False with a message. */
static bool read_campaign(const char *text, const struct bz_catalog *catalog, struct bz_job *job,
                          struct bz_campaign_state *state, char *reason, size_t reason_bytes) {
    struct bz_token token;
    job->version[0] = '\0';
    if (bz_token_split(&token, text, reason, reason_bytes) && token.version != NULL) {
        snprintf(job->version, sizeof job->version, "%s", token.version);
    }
    return bz_token_parse(text, catalog, &job->program, &job->seed_first, &state->result.digest,
                          reason, reason_bytes);
}

bool bz_checkpoint_parse(struct bz_job *job, struct bz_campaign_state *state,
                         const struct bz_catalog *catalog, const char *text, size_t length,
                         const char *origin, char *error, size_t error_bytes) {
    char reason[BZ_ERROR_BYTES];
    struct bz_json *root = bz_json_parse(text, length, 4, origin, error, error_bytes);
    if (root == NULL) {
        return false;
    }
    bz_campaign_begin(state);
    bool is_ok = false;
    if (strcmp(text_of(root, "format"), BZ_CHECKPOINT_FORMAT) != 0 &&
        strcmp(text_of(root, "format"), BZ_CHECKPOINT_FORMAT_1) != 0) {
        bz_fail(error, error_bytes,
                "%s: is not a checkpoint of this program: its format is '%.40s', "
                "and not '%s'",
                origin, text_of(root, "format"), BZ_CHECKPOINT_FORMAT);
    } else if (!is_whole(text, length)) {
        bz_fail(error, error_bytes, "%s: is damaged: its checksum does not fit its content",
                origin);
    } else if (!read_campaign(text_of(root, "campaign"), catalog, job, state, reason,
                              sizeof reason)) {
        bz_fail(error, error_bytes, "%s: %s", origin, reason);
    } else if (!read_numbers(root, job, state)) {
        bz_fail(error, error_bytes, "%s: is damaged: a number is missing or makes no sense",
                origin);
    } else {
        is_ok = true;
    }
    bz_json_free(root);
    return is_ok;
}
