#include "sim/fuzz/state.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sim/program/token.h"
#include "sim/session/checkpoint_parts.h"
#include "traces/text.h"

#define DEPTH_MAX 6u

/* --- numbers by their names ------------------------------------------------------------------- */

struct number {
    const char *key;
    size_t offset;
};
#define NUMBER(type, member)                                                                       \
    { #member, offsetof(struct type, member) }
#define COUNT(table) (sizeof(table) / sizeof(table)[0])

static const struct number of_fuzz[] = {
    NUMBER(bz_fuzz, slice_steps),    NUMBER(bz_fuzz, slices),     NUMBER(bz_fuzz, runs),
    NUMBER(bz_fuzz, steps),          NUMBER(bz_fuzz, violations), NUMBER(bz_fuzz, out_of_steps),
    NUMBER(bz_fuzz, sample_every_ms)};
static const struct number of_order[] = {NUMBER(bz_fuzz_order, runs_max),
                                         NUMBER(bz_fuzz_order, limit_ms),
                                         NUMBER(bz_fuzz_order, spent_ms)};
static const struct number of_slice[] = {
    NUMBER(bz_fuzz_slice, runs_wanted), NUMBER(bz_fuzz_slice, runs_done),
    NUMBER(bz_fuzz_slice, new_situations), NUMBER(bz_fuzz_slice, new_handoffs),
    NUMBER(bz_fuzz_slice, new_findings)};
static const struct number of_target[] = {
    NUMBER(bz_fuzz_target, runs),       NUMBER(bz_fuzz_target, steps),
    NUMBER(bz_fuzz_target, violations), NUMBER(bz_fuzz_target, out_of_steps),
    NUMBER(bz_fuzz_target, strikes),    NUMBER(bz_fuzz_target, findings_dropped)};
static const struct number of_arm[] = {
    NUMBER(bz_fuzz_arm, runs),         NUMBER(bz_fuzz_arm, steps),
    NUMBER(bz_fuzz_arm, violations),   NUMBER(bz_fuzz_arm, out_of_steps),
    NUMBER(bz_fuzz_arm, slices),       NUMBER(bz_fuzz_arm, new_situations),
    NUMBER(bz_fuzz_arm, new_handoffs), NUMBER(bz_fuzz_arm, findings)};
static const struct number of_finding[] = {NUMBER(bz_fuzz_finding, slice),
                                           NUMBER(bz_fuzz_finding, runs),
                                           NUMBER(bz_fuzz_finding, spent_ms)};
static const struct number of_sample[] = {
    NUMBER(bz_fuzz_sample, spent_ms), NUMBER(bz_fuzz_sample, runs), NUMBER(bz_fuzz_sample, steps),
    NUMBER(bz_fuzz_sample, situations), NUMBER(bz_fuzz_sample, findings)};

static void add_numbers(struct bz_json *object, const struct number *numbers, size_t count,
                        const void *base) {
    for (size_t index = 0; index < count; index++) {
        uint64_t value;
        memcpy(&value, (const char *)base + numbers[index].offset, sizeof value);
        bz_json_add_hex(object, numbers[index].key, value);
    }
}

static bool read_numbers(const struct bz_json *object, const struct number *numbers, size_t count,
                         void *base) {
    bool is_ok = object != NULL && bz_json_is_object(object);
    for (size_t index = 0; is_ok && index < count; index++) {
        uint64_t value;
        is_ok = bz_json_get(object, numbers[index].key) != NULL &&
                bz_checkpoint_read_hex(object, numbers[index].key, &value);
        memcpy((char *)base + numbers[index].offset, &value, is_ok ? sizeof value : 0);
    }
    return is_ok;
}

#define ADD(object, table, base) add_numbers(object, table, COUNT(table), base)
#define READ(object, table, base) read_numbers(object, table, COUNT(table), base)

static const char *text_of(const struct bz_json *object, const char *key) {
    const struct bz_json *member = bz_json_get(object, key);
    const char *text = member == NULL ? NULL : bz_json_string(member);
    return text == NULL ? "" : text;
}

/* The array of that name, of at most `most` items; NULL: there is none, or it has more. */
static const struct bz_json *array_of(const struct bz_json *object, const char *key, size_t most) {
    const struct bz_json *array = bz_json_get(object, key);
    size_t count = 0;
    if (array == NULL || !bz_json_is_array(array)) {
        return NULL;
    }
    for (const struct bz_json *item = bz_json_first(array); item != NULL;
         item = bz_json_next(item)) {
        count++;
    }
    return count <= most ? array : NULL;
}

/* --- situations ------------------------------------------------------------------------------- */

static void add_situations(struct bz_json *root, const struct bz_fuzz_target *target) {
    struct bz_json *list = bz_json_add_array(root, "situations");
    for (uint32_t index = 0; index < target->situation_count; index++) {
        const struct bz_fuzz_situation *situation = &target->situations[index];
        const struct bz_fuzz_example *example = &situation->shortest;
        struct bz_json *item = bz_json_append_object(list);
        bz_json_add_number(item, "number", situation->number);
        bz_json_add_hex(item, "count", situation->count);
        if (example->strike_count == 0) {
            continue;
        }
        bz_json_add_hex(item, "seed", example->seed);
        bz_json_add_hex(item, "digest", example->digest);
        bz_json_add_number(item, "arm", example->arm);
        bz_json_add_number(item, "steps", example->steps);
        struct bz_json *strikes = bz_json_add_array(item, "strikes");
        for (uint32_t strike = 0; strike < example->strike_count; strike++) {
            bz_json_append_number(strikes, example->strikes[strike]);
        }
    }
}

static bool read_example(const struct bz_json *item, struct bz_fuzz_example *example) {
    const struct bz_json *strikes = array_of(item, "strikes", BZ_STRIKES_MAX);
    bool is_ok = strikes != NULL && bz_checkpoint_read_hex(item, "seed", &example->seed) &&
                 bz_checkpoint_read_hex(item, "digest", &example->digest) &&
                 bz_checkpoint_read_u32(item, "arm", &example->arm) &&
                 bz_checkpoint_read_u32(item, "steps", &example->steps);
    for (const struct bz_json *strike = is_ok ? bz_json_first(strikes) : NULL;
         is_ok && strike != NULL; strike = bz_json_next(strike)) {
        uint64_t number = 0;
        is_ok = bz_json_number(strike, &number) && number < BZ_SITUATIONS;
        example->strikes[example->strike_count++] = (uint16_t)number;
    }
    return is_ok && example->strike_count > 0;
}

static bool read_situations(const struct bz_json *root, struct bz_fuzz_target *target) {
    const struct bz_json *list = array_of(root, "situations", BZ_FUZZ_SITUATIONS_MAX);
    bool is_ok = list != NULL;
    for (const struct bz_json *item = is_ok ? bz_json_first(list) : NULL; is_ok && item != NULL;
         item = bz_json_next(item)) {
        struct bz_fuzz_situation *situation = &target->situations[target->situation_count++];
        uint32_t number = 0;
        is_ok = bz_checkpoint_read_u32(item, "number", &number) && number < BZ_SITUATIONS &&
                target->places[number] == 0 &&
                bz_checkpoint_read_hex(item, "count", &situation->count) &&
                (bz_json_get(item, "strikes") == NULL || read_example(item, &situation->shortest));
        if (is_ok) {
            situation->number = (uint16_t)number;
            target->places[number] = (uint16_t)target->situation_count;
        }
    }
    return is_ok;
}

/* --- targets, arms, findings ------------------------------------------------------------------ */

static void add_target(struct bz_json *targets, const struct bz_fuzz_target *target) {
    char token[BZ_TOKEN_BYTES];
    struct bz_json *item = bz_json_append_object(targets);
    bz_json_add_string(item, "program",
                       bz_token_format(&target->program, 0, 0, token, sizeof token));
    bz_json_add_hex(item, "pinned", target->program.pinned);
    ADD(item, of_target, target);
    bz_checkpoint_add_table(item, "windows", target->windows);
    bz_checkpoint_add_sketch(item, "handoffs", &target->handoffs);
    add_situations(item, target);
}

/* The message, if any, is about the program. */
static bool read_target(const struct bz_json *item, const struct bz_catalog *catalog,
                        struct bz_fuzz *fuzz, char *error, size_t error_bytes) {
    static struct bz_program program;
    uint64_t seed;
    uint64_t digest;
    uint64_t pinned;
    if (!bz_token_parse(text_of(item, "program"), catalog, &program, &seed, &digest, error,
                        error_bytes)) {
        return false;
    }
    error[0] = '\0';
    if (!bz_checkpoint_read_hex(item, "pinned", &pinned) || !bz_fuzz_add_target(fuzz, &program)) {
        return false;
    }
    struct bz_fuzz_target *target = fuzz->targets[fuzz->target_count - 1];
    target->program.pinned = (uint32_t)pinned;
    return READ(item, of_target, target) &&
           bz_checkpoint_read_table(item, "windows", target->windows) &&
           bz_checkpoint_read_sketch(item, "handoffs", target->runs, &target->handoffs) &&
           read_situations(item, target);
}

static bool read_arms(const struct bz_json *root, struct bz_fuzz *fuzz) {
    const struct bz_json *arms = array_of(root, "arms", fuzz->arm_count);
    uint32_t arm = 0;
    bool is_ok = arms != NULL;
    for (const struct bz_json *item = is_ok ? bz_json_first(arms) : NULL; is_ok && item != NULL;
         item = bz_json_next(item), arm++) {
        is_ok = strcmp(text_of(item, "name"), fuzz->arms[arm].name) == 0 &&
                READ(item, of_arm, &fuzz->arms[arm]) &&
                (fuzz->arms[arm].runs > 0 || fuzz->arms[arm].steps == 0);
    }
    return is_ok && arm == fuzz->arm_count;
}

/* Examples and findings name arms of their own target. */
static bool are_arms_right(const struct bz_fuzz *fuzz) {
    bool is_ok = true;
    for (uint32_t number = 0; number < fuzz->target_count; number++) {
        const struct bz_fuzz_target *target = fuzz->targets[number];
        for (uint32_t index = 0; is_ok && index < target->situation_count; index++) {
            const struct bz_fuzz_example *example = &target->situations[index].shortest;
            is_ok = example->strike_count == 0 ||
                    (example->arm < fuzz->arm_count && fuzz->arms[example->arm].target == number);
        }
    }
    for (uint32_t index = 0; is_ok && index < fuzz->finding_count; index++) {
        const struct bz_fuzz_finding *finding = &fuzz->findings[index];
        is_ok =
            finding->arm < fuzz->arm_count && fuzz->arms[finding->arm].target == finding->target;
    }
    return is_ok && (!fuzz->slice.is_open || (fuzz->slice.arm < fuzz->arm_count &&
                                              fuzz->slice.runs_done < fuzz->slice.runs_wanted));
}

static void add_finding(struct bz_json *findings, const struct bz_fuzz_finding *finding) {
    struct bz_json *item = bz_json_append_object(findings);
    struct bz_json *first = bz_json_add_array(item, "first");
    bz_checkpoint_add_finding(first, &finding->finding);
    bz_json_add_number(item, "target", finding->target);
    bz_json_add_number(item, "arm", finding->arm);
    ADD(item, of_finding, finding);
    bz_json_add_string(item, "token", finding->token);
    bz_json_add_string(item, "small_token", finding->small_token);
    bz_json_add_string(item, "file", finding->file);
    bz_json_add_string(item, "small_file", finding->small_file);
}

static bool read_finding(const struct bz_json *item, struct bz_fuzz *fuzz) {
    struct bz_fuzz_finding *finding = &fuzz->findings[fuzz->finding_count++];
    const struct bz_json *first = array_of(item, "first", 1);
    const struct bz_json *run = first == NULL ? NULL : bz_json_first(first);
    bool is_ok = run != NULL && bz_checkpoint_read_finding(run, &finding->finding) &&
                 bz_checkpoint_read_u32(item, "target", &finding->target) &&
                 bz_checkpoint_read_u32(item, "arm", &finding->arm) &&
                 READ(item, of_finding, finding) && finding->target < fuzz->target_count;
    if (is_ok) {
        snprintf(finding->token, sizeof finding->token, "%s", text_of(item, "token"));
        snprintf(finding->small_token, sizeof finding->small_token, "%s",
                 text_of(item, "small_token"));
        snprintf(finding->file, sizeof finding->file, "%s", text_of(item, "file"));
        snprintf(finding->small_file, sizeof finding->small_file, "%s",
                 text_of(item, "small_file"));
        fuzz->targets[finding->target]->finding_count++;
    }
    return is_ok;
}

/* --- the file ------------------------------------------------------------------------------------
 */

static const struct {
    const char *key;
    size_t offset;
} flags[] = {{"strategy", offsetof(struct bz_fuzz_fixed, strategy)},
             {"order", offsetof(struct bz_fuzz_fixed, order)},
             {"cancels", offsetof(struct bz_fuzz_fixed, cancels)},
             {"sizes", offsetof(struct bz_fuzz_fixed, sizes)},
             {"default_sizes", offsetof(struct bz_fuzz_fixed, has_default_sizes)}};

static void add_slice(struct bz_json *root, const struct bz_fuzz_slice *slice) {
    if (slice->is_open) {
        struct bz_json *object = bz_json_add_object(root, "slice");
        bz_json_add_number(object, "arm", slice->arm);
        ADD(object, of_slice, slice);
    }
}

static bool read_slice(const struct bz_json *root, struct bz_fuzz_slice *slice) {
    const struct bz_json *object = bz_json_get(root, "slice");
    slice->is_open = object != NULL;
    return object == NULL ||
           (bz_checkpoint_read_u32(object, "arm", &slice->arm) && READ(object, of_slice, slice));
}

char *bz_fuzz_print(const struct bz_fuzz *fuzz, const struct bz_fuzz_order *order) {
    struct bz_json *root = bz_json_new_object();
    bz_json_add_string(root, "format", BZ_FUZZ_FORMAT);
    ADD(root, of_fuzz, fuzz);
    ADD(root, of_order, order);
    struct bz_json *fixed = bz_json_add_object(root, "fixed");
    for (size_t index = 0; index < COUNT(flags); index++) {
        bz_json_add_hex(fixed, flags[index].key,
                        *(const bool *)((const char *)&order->fixed + flags[index].offset));
    }
    add_slice(root, &fuzz->slice);
    struct bz_json *targets = bz_json_add_array(root, "targets");
    for (uint32_t index = 0; index < fuzz->target_count; index++) {
        add_target(targets, fuzz->targets[index]);
    }
    struct bz_json *arms = bz_json_add_array(root, "arms");
    for (uint32_t index = 0; index < fuzz->arm_count; index++) {
        struct bz_json *item = bz_json_append_object(arms);
        bz_json_add_string(item, "name", fuzz->arms[index].name);
        ADD(item, of_arm, &fuzz->arms[index]);
    }
    struct bz_json *findings = bz_json_add_array(root, "findings");
    for (uint32_t index = 0; index < fuzz->finding_count; index++) {
        add_finding(findings, &fuzz->findings[index]);
    }
    struct bz_json *samples = bz_json_add_array(root, "samples");
    for (uint32_t index = 0; index < fuzz->sample_count; index++) {
        ADD(bz_json_append_object(samples), of_sample, &fuzz->samples[index]);
    }
    return bz_checkpoint_seal(root);
}

static bool read_lists(const struct bz_json *root, struct bz_fuzz *fuzz) {
    const struct bz_json *findings = array_of(root, "findings", BZ_FUZZ_FINDINGS_MAX);
    const struct bz_json *samples = array_of(root, "samples", BZ_FUZZ_SAMPLES_MAX);
    bool is_ok = findings != NULL && samples != NULL && read_arms(root, fuzz);
    for (const struct bz_json *item = is_ok ? bz_json_first(findings) : NULL; is_ok && item != NULL;
         item = bz_json_next(item)) {
        is_ok = read_finding(item, fuzz);
    }
    for (const struct bz_json *item = is_ok ? bz_json_first(samples) : NULL; is_ok && item != NULL;
         item = bz_json_next(item)) {
        is_ok = READ(item, of_sample, &fuzz->samples[fuzz->sample_count++]);
    }
    return is_ok && are_arms_right(fuzz);
}

/* The message is about a target, or empty. */
static bool read_all(const struct bz_json *root, struct bz_fuzz *fuzz, struct bz_fuzz_order *order,
                     const struct bz_catalog *catalog, char *error, size_t error_bytes) {
    const struct bz_json *targets = array_of(root, "targets", BZ_FUZZ_TARGETS_MAX);
    const struct bz_json *fixed = bz_json_get(root, "fixed");
    bool is_ok = targets != NULL && fixed != NULL && bz_fuzz_init(fuzz) &&
                 READ(root, of_fuzz, fuzz) && READ(root, of_order, order) &&
                 read_slice(root, &fuzz->slice);
    error[0] = '\0';
    for (size_t index = 0; is_ok && index < COUNT(flags); index++) {
        uint64_t flag = 0;
        is_ok = bz_checkpoint_read_hex(fixed, flags[index].key, &flag);
        *(bool *)((char *)&order->fixed + flags[index].offset) = flag != 0;
    }
    for (const struct bz_json *item = is_ok ? bz_json_first(targets) : NULL; is_ok && item != NULL;
         item = bz_json_next(item)) {
        is_ok = read_target(item, catalog, fuzz, error, error_bytes);
    }
    if (!is_ok || fuzz->target_count == 0) {
        return false;
    }
    bz_fuzz_make_arms(fuzz, &order->fixed);
    return read_lists(root, fuzz);
}

bool bz_fuzz_parse(struct bz_fuzz *fuzz, struct bz_fuzz_order *order,
                   const struct bz_catalog *catalog, const char *text, size_t length,
                   const char *origin, char *error, size_t error_bytes) {
    char reason[BZ_ERROR_BYTES];
    struct bz_json *root = bz_json_parse(text, length, DEPTH_MAX, origin, error, error_bytes);
    *fuzz = (struct bz_fuzz){.runs = 0};
    if (root == NULL) {
        return false;
    }
    bool is_ok = false;
    if (strcmp(text_of(root, "format"), BZ_FUZZ_FORMAT) != 0) {
        bz_fail(error, error_bytes,
                "%s: its format is '%.40s', and this program continues '%s'; begin a new campaign "
                "in another folder ('corpus' replays the findings of this one)",
                origin, text_of(root, "format"), BZ_FUZZ_FORMAT);
    } else if (!bz_checkpoint_is_whole(text, length)) {
        bz_fail(error, error_bytes, "%s: is damaged: its checksum does not fit its content",
                origin);
    } else if (!read_all(root, fuzz, order, catalog, reason, sizeof reason)) {
        bz_fail(error, error_bytes, "%s: %s", origin,
                reason[0] != '\0' ? reason : "is damaged: something is missing or makes no sense");
    } else {
        is_ok = true;
    }
    bz_json_free(root);
    return is_ok;
}
