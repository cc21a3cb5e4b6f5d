#include "tools/search_sum.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tools/cli.h"
#include "tools/report.h"
#include "tools/search_file.h"
#include "traces/lack.h"
#include "traces/text.h"

#define REPORT_BYTES_MAX ((size_t)64 << 20u)
#define SUFFIX ".json"
#define LISTED_MAX 20u /* shards that a text names */

/* --- which files ------------------------------------------------------------------------------ */

/* The name that bz_search_file_write_report() gives. */
static bool is_own_name(const char *name) {
    uint32_t number;
    uint32_t count;
    char own[64];
    if (sscanf(name, "search-%" SCNu32 "-of-%" SCNu32, &number, &count) != 2) {
        return false;
    }
    snprintf(own, sizeof own, "search" BZ_SEARCH_SHARD SUFFIX, number, count);
    return strcmp(name, own) == 0;
}

bool bz_search_sum_takes(const char *name, bool is_given) {
    size_t length = strlen(name);
    size_t suffix = sizeof SUFFIX - 1;
    bool has_suffix = length > suffix && strcmp(name + length - suffix, SUFFIX) == 0;
    return is_given ? has_suffix : is_own_name(name);
}

void bz_search_sum_add(struct bz_search_sum *sum, const char *folder, const char *file) {
    size_t bytes = strlen(folder) + strlen(file) + 2;
    size_t size = (sum->part_count + 1) * sizeof *sum->parts;
    char *path = bz_lack_check(malloc(bytes), "the names of files");
    snprintf(path, bytes, "%s%s%s", folder, folder[0] == '\0' ? "" : "/", file);
    sum->parts = bz_lack_check(realloc(sum->parts, size), "the names of files");
    sum->parts[sum->part_count++] = (struct bz_search_part){.path = path};
}

/* --- members of documents --------------------------------------------------------------------- */

static uint64_t number_of(const struct bz_json *object, const char *key) {
    const struct bz_json *member = bz_json_get(object, key);
    uint64_t number = 0;
    (void)(member != NULL && bz_json_number(member, &number));
    return number;
}

static bool is_true(const struct bz_json *object, const char *key) {
    const struct bz_json *member = bz_json_get(object, key);
    return member != NULL && bz_json_is_true(member);
}

static const char *text_of(const struct bz_json *object, const char *key) {
    const struct bz_json *member = bz_json_get(object, key);
    const char *text = member == NULL ? NULL : bz_json_string(member);
    return text == NULL ? "" : text;
}

/* A number that may be null. */
static bool get_number(const struct bz_json *object, const char *key, uint64_t *number) {
    const struct bz_json *member = bz_json_get(object, key);
    return member != NULL && bz_json_number(member, number);
}

static const struct bz_json *first_of(const struct bz_json *object, const char *key) {
    const struct bz_json *member = bz_json_get(object, key);
    return member == NULL ? NULL : bz_json_first(member);
}

/* A list of names of reductions, as bits. */
static uint32_t reductions_of(const struct bz_json *object, const char *key) {
    uint32_t reductions = 0;
    for (const struct bz_json *item = first_of(object, key); item != NULL;
         item = bz_json_next(item)) {
        const char *name = bz_json_string(item);
        for (unsigned index = 0; name != NULL && index < BZ_REDUCE_COUNT; index++) {
            reductions |= strcmp(name, bz_reduction_name(index)) == 0 ? 1u << index : 0;
        }
    }
    return reductions;
}

/* --- reading ---------------------------------------------------------------------------------- */

static int read_part(const struct bz_search_sum *sum, struct bz_search_part *part) {
    char error[BZ_ERROR_BYTES];
    size_t length;
    char *text = bz_file_read(part->path, REPORT_BYTES_MAX, &length, error, sizeof error);
    part->json = text == NULL ? NULL
                              : bz_json_parse(text, length, BZ_JSON_DEPTH_MAX, part->path, error,
                                              sizeof error);
    bool is_whole = text != NULL && bz_search_file_is_whole(text, length);
    free(text);
    if (part->json == NULL) {
        return bz_cli_fail(sum->name, BZ_EXIT_USAGE, "%s", error);
    }
    part->shard = bz_json_is_object(part->json) ? bz_json_get(part->json, "shard") : NULL;
    const struct bz_json *bounds = part->shard == NULL ? NULL : bz_json_get(part->json, "bounds");
    if (bounds == NULL || !bz_json_is_object(bounds) || !bz_json_is_object(part->shard) ||
        bz_json_get(part->shard, "prefixes_digest") == NULL) {
        return bz_cli_fail(
            sum->name, BZ_EXIT_USAGE,
            "%s is not the report of a shard of a search (explore --shard I/N --out DIR)",
            part->path);
    }
    if (!is_whole) {
        return bz_cli_fail(sum->name, BZ_EXIT_USAGE,
                           "%s is damaged: its checksum does not fit its content", part->path);
    }
    part->number = number_of(part->shard, "number");
    uint64_t count = number_of(part->shard, "count");
    if (part->number == 0 || part->number > count || count > BZ_SHARDS_MAX) {
        return bz_cli_fail(sum->name, BZ_EXIT_USAGE, "%s: there is no such shard", part->path);
    }
    return BZ_EXIT_OK;
}

/* Whether two documents have the same value, whatever it is. */
static bool same(const struct bz_json *a, const struct bz_json *b, const char *key) {
    const struct bz_json *first = bz_json_get(a, key);
    const struct bz_json *second = bz_json_get(b, key);
    if (first == NULL || second == NULL) {
        return first == second;
    }
    char *text = bz_json_print(first, false);
    char *other = bz_json_print(second, false);
    bool is_same = strcmp(text, other) == 0;
    free(text);
    free(other);
    return is_same;
}

/* Why a part does not belong to the first one; NULL: it does. */
static const char *fault_of(const struct bz_search_part *of, const struct bz_search_part *part) {
    static const struct {
        const char *key;
        const char *fault;
    } checks[] = {{"count", "it is one of another number of shards"},
                  {"search", "it is of another scenario, variant or setting"},
                  {"reduce", "it has other reductions (--reduce)"},
                  {"prefix_steps", "its prefixes have another length, so it ran other code"},
                  {"prefixes", "it has other prefixes, so it ran other code"},
                  {"prefixes_digest", "something else happens in its prefixes, so it ran other "
                                      "code"}};
    if (!same(bz_json_get(of->json, "bounds"), bz_json_get(part->json, "bounds"), "delays")) {
        return "it has another bound on delays (--max-delays)";
    }
    for (size_t index = 0; index < sizeof checks / sizeof checks[0]; index++) {
        if (!same(of->shard, part->shard, checks[index].key)) {
            return checks[index].fault;
        }
    }
    return NULL;
}

static int compare(const void *a, const void *b) {
    const struct bz_search_part *first = a;
    const struct bz_search_part *second = b;
    return (first->number > second->number) - (first->number < second->number);
}

static int check_part(const struct bz_search_sum *sum, const struct bz_search_part *part) {
    const struct bz_search_part *of = &sum->parts[0];
    const char *version = text_of(part->shard, "version");
    if (strcmp(version, bz_engine_version()) != 0) {
        return bz_cli_fail(sum->name, BZ_EXIT_USAGE,
                           "%s was written by version '%s', and this is %s: merge with the "
                           "program that ran the shards",
                           part->path, version, bz_engine_version());
    }
    const char *fault = fault_of(of, part);
    if (fault != NULL) {
        return bz_cli_fail(sum->name, BZ_EXIT_USAGE, "%s does not belong to %s: %s", part->path,
                           of->path, fault);
    }
    if (part > of && part->number == part[-1].number) {
        return bz_cli_fail(
            sum->name, BZ_EXIT_USAGE, "%s and %s overlap: both are shard %" PRIu64 " of %" PRIu64,
            part[-1].path, part->path, part->number, number_of(part->shard, "count"));
    }
    return BZ_EXIT_OK;
}

/* Each prefix belongs to one shard. */
static int check_prefixes(const struct bz_search_sum *sum) {
    uint64_t count = number_of(sum->parts[0].shard, "count");
    uint64_t prefixes = number_of(sum->parts[0].shard, "prefixes");
    uint64_t own = 0;
    for (size_t index = 0; index < sum->part_count; index++) {
        own += number_of(sum->parts[index].shard, "own_prefixes");
    }
    if (own > prefixes || (sum->part_count == count && own != prefixes)) {
        return bz_cli_fail(sum->name, BZ_EXIT_USAGE,
                           "the shards have %" PRIu64 " prefixes, and the search has %" PRIu64, own,
                           prefixes);
    }
    return BZ_EXIT_OK;
}

/* One that is complete because of a reduction that another shard has found unsound is not. */
static int check_reliance(const struct bz_search_sum *sum) {
    const struct bz_search_part *outside = NULL;
    const struct bz_search_part *refutes[BZ_REDUCE_COUNT] = {NULL};
    for (size_t index = 0; index < sum->part_count; index++) {
        const struct bz_search_part *part = &sum->parts[index];
        uint32_t unsound = reductions_of(part->shard, "unsound");
        outside = is_true(part->json, "outside_state") ? part : outside;
        for (unsigned bit = 0; bit < BZ_REDUCE_COUNT; bit++) {
            refutes[bit] = (unsound >> bit & 1u) != 0 ? part : refutes[bit];
        }
    }
    for (size_t index = 0; index < sum->part_count; index++) {
        const struct bz_search_part *part = &sum->parts[index];
        uint32_t used = reductions_of(part->json, "reductions");
        if (outside != NULL && used != 0) {
            return bz_cli_fail(sum->name, BZ_EXIT_USAGE,
                               "%s used snapshots, but %s shows that the variant keeps state "
                               "outside of them: run all shards again with --reduce none",
                               part->path, outside->path);
        }
        for (unsigned bit = 0; bit < BZ_REDUCE_COUNT; bit++) {
            if ((used >> bit & 1u) != 0 && refutes[bit] != NULL) {
                return bz_cli_fail(sum->name, BZ_EXIT_USAGE,
                                   "%s used the reduction '%s', but %s shows that it is not "
                                   "sound here: run all shards again with a --reduce without it",
                                   part->path, bz_reduction_name(bit), refutes[bit]->path);
            }
        }
    }
    return BZ_EXIT_OK;
}

/* --- sums ------------------------------------------------------------------------------------- */

static bool is_complete(const struct bz_search_part *part) {
    return is_true(part->shard, "complete");
}

/* The worst of all. */
static void join_liveness(struct bz_explore_result *result, const struct bz_search_part *part) {
    static const enum bz_liveness order[] = {BZ_LIVENESS_ENDS, BZ_LIVENESS_FAIR,
                                             BZ_LIVENESS_UNJUDGED, BZ_LIVENESS_OPEN};
    const char *name = text_of(part->shard, "liveness");
    unsigned rank = 2;
    unsigned worst = 0;
    for (unsigned index = 0; index < sizeof order / sizeof order[0]; index++) {
        rank = strcmp(name, bz_liveness_name(order[index])) == 0 ? index : rank;
        worst = result->liveness == order[index] ? index : worst;
    }
    if (rank > worst) {
        result->liveness = order[rank];
        snprintf(result->liveness_text, sizeof result->liveness_text, "%s",
                 text_of(part->json, "liveness_text"));
        snprintf(result->liveness_token, sizeof result->liveness_token, "%s",
                 text_of(part->json, "liveness_token"));
    }
}

static int compare_words(const void *a, const void *b) {
    uint64_t first = *(const uint64_t *)a;
    uint64_t second = *(const uint64_t *)b;
    return (first > second) - (first < second);
}

/* The union of the outcomes of all parts. If one does not list them, nothing is known. */
static void join_outcomes(struct bz_search_sum *sum) {
    struct bz_outcomes *outcomes = &sum->outcomes;
    struct bz_explore_result *result = &sum->result;
    size_t capacity = 0;
    for (size_t index = 0; index < sum->part_count; index++) {
        const struct bz_json *list = bz_json_get(sum->parts[index].shard, "outcomes");
        sum->report.lacks_outcomes |= list == NULL || !bz_json_is_array(list);
        for (const struct bz_json *item = first_of(sum->parts[index].shard, "outcomes");
             item != NULL; item = bz_json_next(item)) {
            if (outcomes->count == capacity) {
                capacity = capacity == 0 ? 1024 : 2 * capacity;
                outcomes->digests = bz_lack_check(
                    realloc(outcomes->digests, capacity * sizeof *outcomes->digests), "outcomes");
            }
            const char *text = bz_json_string(item);
            outcomes->digests[outcomes->count++] = text == NULL ? 0 : strtoull(text, NULL, 16);
        }
    }
    if (outcomes->count > 0) {
        qsort(outcomes->digests, outcomes->count, sizeof *outcomes->digests, compare_words);
    }
    for (uint64_t index = 0; index < outcomes->count; index++) {
        if (index == 0 || outcomes->digests[index] != outcomes->digests[index - 1]) {
            result->outcomes++;
            result->outcomes_digest += outcomes->digests[index];
        }
    }
}

static void join_counts(struct bz_search_sum *sum, const struct bz_search_part *part) {
    struct bz_explore_result *result = &sum->result;
    const struct bz_json *json = part->json;
    uint64_t schedules = 0;
    uint64_t depth = number_of(json, "depth");
    uint64_t rounds = 0;
    result->has_schedules &= get_number(json, "schedules", &schedules);
    result->schedules += schedules;
    result->states += number_of(json, "states");
    sum->report.seconds += (double)number_of(part->shard, "spent_ms") / 1000;
    result->transitions += number_of(json, "transitions");
    result->transitions_total += number_of(json, "transitions_total");
    result->depth = depth > result->depth ? (uint32_t)depth : result->depth;
    result->reductions |= reductions_of(json, "reductions");
    result->is_out_of_steps |= is_true(json, "out_of_steps");
    result->has_cycles |= is_true(json, "loops");
    result->has_waited |= is_true(json, "waited");
    result->has_outside_state |= is_true(json, "outside_state");
    rounds = get_number(part->shard, "proved_deviations", &rounds) ? rounds + 1 : 0;
    result->rounds = rounds < result->rounds ? (uint32_t)rounds : result->rounds;
    result->is_whole &= is_true(part->shard, "every_order");
    result->sampled_draw = text_of(json, "sampled_draw")[0] != '\0' ? text_of(json, "sampled_draw")
                                                                    : result->sampled_draw;
    sum->missing -= is_complete(part);
    join_liveness(result, part);
}

static void join_parts(struct bz_search_sum *sum) {
    struct bz_explore_result *result = &sum->result;
    const struct bz_json *shard = sum->parts[0].shard;
    bool has_all = sum->part_count == sum->missing;
    *result = (struct bz_explore_result){.has_schedules = true,
                                         .is_whole = true,
                                         .liveness = BZ_LIVENESS_ENDS,
                                         .rounds = has_all ? UINT32_MAX : 0};
    for (size_t index = 0; index < sum->part_count; index++) {
        join_counts(sum, &sum->parts[index]);
    }
    join_outcomes(sum);
    result->is_all = sum->missing == 0;
    result->end = sum->missing == 0 ? BZ_EXPLORE_DONE : BZ_EXPLORE_INTERRUPTED;
    result->is_whole &= result->is_all;
    /* A shard counts the loops in its schedules, and which orders sleep, in its own way. */
    result->has_schedules &=
        result->is_all && !result->has_cycles && (result->reductions & BZ_REDUCE_SLEEP) == 0;
    result->liveness = result->is_all ? result->liveness : BZ_LIVENESS_UNJUDGED;
    /* If states are recognized, shards have met the same ones. */
    sum->report.has_same_states =
        (result->reductions & BZ_REDUCE_STATES) != 0 && sum->part_count > 1;
    result->frontier.depth = (uint32_t)number_of(shard, "prefix_steps");
    result->frontier.prefixes = number_of(shard, "prefixes");
}

static int read_program(struct bz_search_sum *sum) {
    const struct bz_search_part *first = &sum->parts[0];
    struct bz_explore_config *config = &sum->config;
    char error[BZ_ERROR_BYTES];
    uint64_t seed;
    uint64_t digest;
    uint64_t delays = BZ_EXPLORE_UNBOUNDED;
    if (!bz_token_parse(text_of(first->shard, "search"), &bz_cli_catalog, &sum->program, &seed,
                        &digest, error, sizeof error)) {
        return bz_cli_fail(sum->name, BZ_EXIT_USAGE, "%s: %s", first->path, error);
    }
    (void)get_number(bz_json_get(first->json, "bounds"), "delays", &delays);
    config->program = &sum->program;
    config->delays_max = (uint32_t)delays;
    config->reductions = reductions_of(first->shard, "reduce");
    config->states_max = number_of(bz_json_get(first->json, "bounds"), "states");
    return BZ_EXIT_OK;
}

int bz_search_sum_join(struct bz_search_sum *sum) {
    int code = BZ_EXIT_OK;
    for (size_t index = 0; code == BZ_EXIT_OK && index < sum->part_count; index++) {
        code = read_part(sum, &sum->parts[index]);
    }
    if (code == BZ_EXIT_OK) {
        qsort(sum->parts, sum->part_count, sizeof *sum->parts, compare);
    }
    for (size_t index = 0; code == BZ_EXIT_OK && index < sum->part_count; index++) {
        code = check_part(sum, &sum->parts[index]);
    }
    code = code == BZ_EXIT_OK ? check_prefixes(sum) : code;
    code = code == BZ_EXIT_OK ? check_reliance(sum) : code;
    code = code == BZ_EXIT_OK ? read_program(sum) : code;
    if (code == BZ_EXIT_OK) {
        sum->missing = (uint32_t)number_of(sum->parts[0].shard, "count");
        join_parts(sum);
    }
    return code;
}

/* --- findings --------------------------------------------------------------------------------- */

/* A violation of a document. */
struct candidate {
    const struct bz_search_part *part;
    const struct bz_json *item;
    struct bz_deviations deviations;
    size_t index;
};

/* The simplest first, then in order of shards. */
static int compare_candidates(const void *a, const void *b) {
    const struct candidate *first = a;
    const struct candidate *second = b;
    uint32_t cost = bz_deviations_sum(&first->deviations);
    uint32_t other = bz_deviations_sum(&second->deviations);
    return cost != other ? (cost > other) - (cost < other)
                         : (first->index > second->index) - (first->index < second->index);
}

static struct candidate *candidates(const struct bz_search_sum *sum, size_t *count) {
    struct candidate *list = NULL;
    *count = 0;
    for (size_t index = 0; index < sum->part_count; index++) {
        const struct bz_search_part *part = &sum->parts[index];
        for (const struct bz_json *item = first_of(part->json, "violations"); item != NULL;
             item = bz_json_next(item)) {
            list = bz_lack_check(realloc(list, (*count + 1) * sizeof *list), "findings");
            list[*count] =
                (struct candidate){.part = part,
                                   .item = item,
                                   .deviations = {.delays = (uint32_t)number_of(item, "delays"),
                                                  .cancels = (uint32_t)number_of(item, "cancels"),
                                                  .draws = (uint32_t)number_of(item, "draws")},
                                   .index = *count};
            ++*count;
        }
    }
    if (*count > 0) {
        qsort(list, *count, sizeof *list, compare_candidates);
    }
    return list;
}

static void note_code(struct bz_search_sum *sum, int code) {
    sum->findings_code = code > sum->findings_code ? code : sum->findings_code;
}

static bool is_known(const struct bz_explore_result *result, const struct bz_violation *violation) {
    for (uint32_t index = 0; index < result->finding_count; index++) {
        const struct bz_violation *known = &result->findings[index].violation;
        if (strcmp(known->oracle, violation->oracle) == 0 && known->object == violation->object) {
            return true;
        }
    }
    return false;
}

/* Runs it again: what is kept is what happens here. */
static void take(struct bz_search_sum *sum, const struct candidate *candidate, const char *folder) {
    static struct bz_program program;
    static struct bz_program repeat;
    static struct bz_explore_finding finding;
    struct bz_explore_result *result = &sum->result;
    struct bz_finding found;
    char error[BZ_ERROR_BYTES];
    uint64_t seed;
    uint64_t digest;
    if (result->finding_count == BZ_EXPLORE_FINDINGS_MAX) {
        return;
    }
    finding =
        (struct bz_explore_finding){.violation = {.oracle = text_of(candidate->item, "oracle")},
                                    .has_answers = true,
                                    .deviations = candidate->deviations};
    if (!bz_token_parse(text_of(candidate->item, "token"), &bz_cli_catalog, &program, &seed,
                        &digest, error, sizeof error)) {
        note_code(sum,
                  bz_cli_fail(sum->name, BZ_EXIT_USAGE, "%s: %s", candidate->part->path, error));
        return;
    }
    finding.answers = program.answers;
    if (!bz_explore_repeat(&program, &finding, &repeat, &found)) {
        note_code(sum,
                  bz_cli_fail(sum->name, BZ_EXIT_USAGE,
                              "%s: its finding '%s' does not repeat here, so the shard ran other "
                              "code",
                              candidate->part->path, finding.violation.oracle));
        return;
    }
    if (is_known(result, &found.violation)) {
        return;
    }
    finding.violation = found.violation;
    result->findings[result->finding_count] = finding;
    note_code(sum, bz_findings_keep(&sum->findings, result->finding_count++, sum->name, &repeat,
                                    &found, folder));
}

void bz_search_sum_finish(struct bz_search_sum *sum, const char *folder, bool shrinks) {
    struct bz_explore_result *result = &sum->result;
    size_t count;
    struct candidate *list = candidates(sum, &count);
    for (size_t index = 0; index < count; index++) {
        take(sum, &list[index], folder);
    }
    free(list);
    for (uint32_t index = 0; index < sum->findings.count; index++) {
        note_code(sum,
                  bz_findings_search_witness(&sum->findings, index, sum->name, shrinks, folder));
    }
    /* No shard has left out a schedule with fewer deviations. */
    result->is_minimal = result->finding_count > 0 &&
                         result->rounds >= bz_deviations_sum(&result->findings[0].deviations);
    snprintf(sum->why, sizeof sum->why, "%" PRIu32 " of %" PRIu64 " shards %s not complete",
             sum->missing, number_of(sum->parts[0].shard, "count"),
             sum->missing == 1 ? "is" : "are");
    if (result->finding_count > 0 && sum->missing > 0) {
        result->end = BZ_EXPLORE_FOUND;
    }
    int code =
        sum->missing > 0 || !bz_explore_is_complete(result) ? BZ_EXIT_INTERRUPTED : BZ_EXIT_OK;
    code = result->finding_count > 0 ? BZ_EXIT_VIOLATION : code;
    sum->report.program = &sum->program;
    sum->report.config = &sum->config;
    sum->report.result = result;
    sum->report.findings = &sum->findings;
    sum->report.why = sum->why;
    sum->report.estimate_log2 = (uint32_t)number_of(sum->parts[0].json, "estimate_log2");
    sum->report.exit_code = sum->findings_code != BZ_EXIT_OK ? sum->findings_code : code;
}

/* --- what they cover -------------------------------------------------------------------------- */

/* Calls `add` for each shard that is not complete: `part` is NULL if it is not there. */
static void each_missing(const struct bz_search_sum *sum,
                         void (*add)(void *context, uint64_t number,
                                     const struct bz_search_part *part),
                         void *context) {
    uint64_t count = number_of(sum->parts[0].shard, "count");
    size_t next = 0;
    for (uint64_t number = 1; number <= count; number++) {
        bool is_there = next < sum->part_count && sum->parts[next].number == number;
        const struct bz_search_part *part = is_there ? &sum->parts[next++] : NULL;
        if (part == NULL || !is_complete(part)) {
            add(context, number, part);
        }
    }
}

struct listing {
    struct bz_text *text;
    uint64_t count;
    uint32_t listed;
};

static void add_line(void *context, uint64_t number, const struct bz_search_part *part) {
    struct listing *listing = context;
    if (listing->listed++ < LISTED_MAX) {
        bz_text_add(listing->text, "%s shard %" PRIu64 "/%" PRIu64 "%s%s%s\n",
                    part == NULL ? "missing " : "not done", number, listing->count,
                    part == NULL ? "" : ": its end was '",
                    part == NULL ? "" : text_of(part->json, "end"), part == NULL ? "" : "'");
    }
}

void bz_search_sum_text(const struct bz_search_sum *sum, struct bz_text *text) {
    struct listing listing = {.text = text, .count = number_of(sum->parts[0].shard, "count")};
    bz_text_add(text, "shards   %" PRIu64 " of %" PRIu64 " complete\n",
                listing.count - sum->missing, listing.count);
    each_missing(sum, add_line, &listing);
    if (listing.listed > LISTED_MAX) {
        bz_text_add(text, "         and %" PRIu32 " further shards\n", listing.listed - LISTED_MAX);
    }
}

static void add_item(void *context, uint64_t number, const struct bz_search_part *part) {
    struct bz_json *item = bz_json_append_object(context);
    bz_json_add_number(item, "shard", number);
    bz_json_add_string(item, "end", part == NULL ? NULL : text_of(part->json, "end"));
}

void bz_search_sum_add_json(const struct bz_search_sum *sum, struct bz_json *root) {
    struct bz_json *object = bz_json_add_object(root, "shards");
    uint64_t count = number_of(sum->parts[0].shard, "count");
    bz_json_add_number(object, "count", count);
    bz_json_add_number(object, "complete", count - sum->missing);
    bz_json_add_number(object, "prefix_steps", sum->result.frontier.depth);
    bz_json_add_number(object, "prefixes", sum->result.frontier.prefixes);
    bz_json_add_number(object, "states_most", sum->result.states);
    each_missing(sum, add_item, bz_json_add_array(object, "missing"));
}

void bz_search_sum_fini(struct bz_search_sum *sum) {
    for (size_t index = 0; index < sum->part_count; index++) {
        free(sum->parts[index].path);
        bz_json_free(sum->parts[index].json);
    }
    free(sum->parts);
    bz_outcomes_fini(&sum->outcomes);
    bz_findings_fini(&sum->findings);
}
