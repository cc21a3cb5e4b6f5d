/* A search that is stopped, written, read and continued ends as one that was never stopped,
 * wherever it was stopped; and what is not whole is refused. */
#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "scenarios/tests/explore/explored.h"
#include "sim/explore/checkpoint.h"
#include "sim/explore/search.h"
#include "sim/judge/event.h"

#define BYTES_MAX ((size_t)16 << 20u)

static struct bz_explore_result whole; /* of a search without a stop */
static struct bz_explore_result parts; /* of one that was stopped */

/* --- what the tests share --------------------------------------------------------------------- */

/* A session: it stops after so many calls of is_due() or poll(), or never. */
struct session {
    struct bz_explore_checkpoint checkpoint;
    FILE *file;
    uint32_t pauses_left;
    uint32_t kept; /* times */
};

/* Says so once: whoever asks must remember it. */
static bool is_due(void *context) {
    struct session *session = context;
    session->pauses_left -= session->pauses_left > 0;
    return session->pauses_left % 2 != 0;
}

static void keep(void *context, const struct bz_search *search) {
    struct session *session = context;
    cr_assert(ftruncate(fileno(session->file), 0) == 0);
    rewind(session->file);
    cr_assert(bz_explore_checkpoint_write(&session->checkpoint, search, session->file));
    session->kept++;
}

/* From here on the search writes what it knows when it pauses or stops. */
static void begin_session(struct session *session, struct bz_explore_config *config) {
    session->file = tmpfile();
    session->checkpoint.program = *config->program;
    config->keep = keep;
    config->context = session;
}

static struct bz_explore_config config_of(const struct bz_program *program, uint32_t reductions) {
    return (struct bz_explore_config){.program = program,
                                      .delays_max = BZ_EXPLORE_UNBOUNDED,
                                      .reductions = reductions,
                                      .rounds_before_sweep = 2};
}

/* Closing a checkpoint closes its file: a copy. */
static bool tries_to_open(struct bz_explore_checkpoint *from, FILE *file, char *error) {
    FILE *copy = fdopen(dup(fileno(file)), "r+b");
    cr_assert(copy != NULL);
    rewind(copy);
    return bz_explore_checkpoint_open(from, copy, &tst_catalog, "file", error, BZ_ERROR_BYTES);
}

static void open_file(struct bz_explore_checkpoint *from, FILE *file) {
    char error[BZ_ERROR_BYTES];
    cr_assert(tries_to_open(from, file, error), "%s", error);
}

static void expect_same(const struct bz_explore_result *one, const struct bz_explore_result *other,
                        const char *what) {
    cr_assert_eq(one->end, other->end, "%s", what);
    cr_assert_eq(one->rounds, other->rounds, "%s", what);
    cr_assert_eq(one->states, other->states, "%s", what);
    cr_assert_eq(one->transitions, other->transitions, "%s", what);
    cr_assert_eq(one->transitions_total, other->transitions_total, "%s", what);
    cr_assert_eq(one->schedules, other->schedules, "%s", what);
    cr_assert_eq(one->depth, other->depth, "%s", what);
    cr_assert_eq(one->outcomes, other->outcomes, "%s", what);
    cr_assert_eq(one->outcomes_digest, other->outcomes_digest, "%s", what);
    cr_assert_eq(one->violations_digest, other->violations_digest, "%s", what);
    cr_assert_eq(one->reductions, other->reductions, "%s", what);
    cr_assert_eq(one->is_minimal, other->is_minimal, "%s", what);
    cr_assert_eq(one->is_whole, other->is_whole, "%s", what);
    cr_assert_eq(one->has_cycles, other->has_cycles, "%s", what);
    cr_assert_eq(one->has_waited, other->has_waited, "%s", what);
    cr_assert_eq(one->is_out_of_steps, other->is_out_of_steps, "%s", what);
    cr_assert_eq(one->liveness, other->liveness, "%s: %s", what, other->liveness_text);
    cr_assert_eq(one->finding_count, other->finding_count, "%s", what);
    for (uint32_t index = 0; index < one->finding_count; index++) {
        const struct bz_explore_finding *a = &one->findings[index];
        const struct bz_explore_finding *b = &other->findings[index];
        cr_assert_str_eq((char *)(uintptr_t)a->violation.message,
                         (char *)(uintptr_t)b->violation.message);
        cr_assert_eq(a->answers.count, b->answers.count, "%s", what);
        cr_assert(memcmp(a->answers.entries, b->answers.entries,
                         a->answers.count * sizeof a->answers.entries[0]) == 0);
    }
}

/* Searches with a limit on states that grows, from file to file. Returns how often it stopped. */
static uint32_t search_in_sessions(const struct bz_explore_config *given, uint64_t more,
                                   struct bz_explore_result *result) {
    struct session session = {.kept = 0};
    struct bz_explore_config config = *given;
    uint32_t sessions = 0;
    begin_session(&session, &config);
    config.states_max = 0;
    do {
        struct bz_explore_checkpoint from = {.content = NULL};
        config.states_max = config.states_max + config.states_max / 3 + more;
        if (sessions++ > 0) {
            open_file(&from, session.file);
            config.from = &from;
        }
        session.kept = 0;
        cr_assert(bz_explore(&config, result));
        cr_assert(result->end != BZ_EXPLORE_LOST, "%s", result->lack);
        config.from = NULL;
        result->sampled_draw = NULL; /* in the checkpoint */
        bz_explore_checkpoint_close(&from);
    } while (result->can_go_on);
    (void)fclose(session.file);
    return sessions - 1;
}

static void compare(const char *scenario, const struct bz_variant *variant, const char *settings,
                    struct bz_explore_config more) {
    if (!bz_snapshot_is_supported() && strcmp(scenario, "handoff") != 0) {
        return; /* every prefix is run again: too many */
    }
    const char *small = settings != NULL ? settings : tst_small_settings(scenario);
    struct bz_program program = tst_explored_program(tst_scenario(scenario), variant, small);
    program.cancels_max = 1;
    struct bz_explore_config config = config_of(&program, more.reductions);
    config.keep_going = more.keep_going;
    cr_assert(bz_explore(&config, &whole));
    whole.sampled_draw = NULL;
    uint32_t sessions = search_in_sessions(&config, 23, &parts);
    cr_assert(sessions > 1 || whole.states < 23, "%s: %u", scenario, sessions);
    expect_same(&parts, &whole, scenario);
}

static const struct bz_explore_config plain = {.reductions = BZ_REDUCE_ALL};

/* --- wherever it stops ------------------------------------------------------------------------ */

Test(explore_checkpoint, what_passes_is_counted_as_without_a_stop) {
    static const char *const names[] = {"condition", "queue",      "contended", "handoff",
                                        "pool",      "restaurant", "timeout"};
    for (size_t index = TST_LONG(2, 0); index < sizeof names / sizeof names[0]; index++) {
        compare(names[index], &bz_variant_buzzer, NULL, plain);
    }
}

Test(explore_checkpoint, every_reduction_is_continued) {
    static const uint32_t manners[] = {0, BZ_REDUCE_SNAPSHOTS,
                                       BZ_REDUCE_SNAPSHOTS | BZ_REDUCE_STATES,
                                       BZ_REDUCE_SNAPSHOTS | BZ_REDUCE_STATES | BZ_REDUCE_QUEUE};
    for (size_t index = 0; index < sizeof manners / sizeof manners[0]; index++) {
        compare("handoff", &bz_variant_buzzer, NULL,
                (struct bz_explore_config){.reductions = manners[index]});
    }
    compare("pool", &bz_variant_buzzer, NULL,
            (struct bz_explore_config){.reductions = BZ_REDUCE_ALL & ~BZ_REDUCE_SYMMETRY});
}

Test(explore_checkpoint, what_fails_is_found_all_the_same) {
    static const char *const names[] = {"zoo/lock-woken-cancel", "zoo/sem-barge",
                                        "zoo/sem-woken-cancel"};
    for (size_t index = 0; index < sizeof names / sizeof names[0]; index++) {
        const struct bz_variant *variant = bz_catalog_variant(&tst_catalog, names[index]);
        const struct bz_fault *fault = variant->fault;
        for (uint32_t manner = 0; manner < 2; manner++) {
            struct bz_explore_config config = {.reductions = BZ_REDUCE_ALL,
                                               .keep_going = manner == 1};
            compare(fault->scenario, variant, fault->settings, config);
        }
    }
}

/* Pauses end with the search, and each of them writes a file. */
Test(explore_checkpoint, a_search_with_pauses_counts_as_one_without) {
    struct bz_program program =
        tst_explored_program(tst_scenario("contended"), &bz_variant_buzzer, "workers=3");
    program.cancels_max = 2;
    TST_NEEDS_SNAPSHOTS();
    for (uint32_t manner = 0; manner < 2; manner++) {
        struct session session = {.pauses_left = 24};
        struct bz_explore_config config = config_of(&program, BZ_REDUCE_ALL);
        program.contain.is_on = manner == 1;
        cr_assert(bz_explore(&config, &whole));
        begin_session(&session, &config);
        config.is_due = is_due;
        cr_assert(bz_explore(&config, &parts));
        cr_assert(manner > 0 ||
                  session.kept > 0); /* other processes may end before the parent asks */
        expect_same(&parts, &whole, "contended");
        cr_assert_not(parts.can_go_on);
        (void)fclose(session.file);
    }
}

#define PUT_OFF (UINT64_C(1) << 20u) /* transitions of a sweep after small rounds */

struct late {
    struct session session;
    bool was_due;
    struct bz_explore_progress last;
};

static bool note_progress(void *context, const struct bz_explore_progress *progress) {
    ((struct late *)context)->last = *progress;
    return true;
}

static bool is_due_when_put_off(void *context) {
    struct late *late = context;
    bool is_pause = !late->was_due && late->last.transitions == PUT_OFF - 1024;
    late->was_due |= is_pause;
    return is_pause;
}

/* A pause that is due when the sweep is put off waits for the next round. */
Test(explore_checkpoint, a_pause_does_not_meet_the_end_of_a_sweep) {
    struct late late = {.was_due = false};
    struct bz_program program = tst_explored_program(tst_scenario("contended"), &bz_variant_buzzer,
                                                     "workers=2,rounds=1,patience=10");
    struct bz_explore_config config = config_of(&program, BZ_REDUCE_SNAPSHOTS);
    TST_NEEDS_SNAPSHOTS();
    program.cancels_max = 1;
    config.rounds_before_sweep = 1;
    cr_assert(bz_explore(&config, &whole));
    cr_assert_lt(PUT_OFF, whole.transitions);
    begin_session(&late.session, &config);
    config.is_due = is_due_when_put_off;
    config.poll = note_progress;
    config.context = &late; /* which begins with its session */
    cr_assert(bz_explore(&config, &parts));
    cr_assert_eq(late.session.kept, 1);
    expect_same(&parts, &whole, "contended");
    (void)fclose(late.session.file);
}

/* A search that stopped for lack of memory is continued with more; what it had stays in the file.
 */
Test(explore_checkpoint, a_full_table_is_continued_in_a_larger_one) {
    struct session session = {.kept = 0};
    struct bz_explore_checkpoint from;
    struct bz_program program =
        tst_explored_program(tst_scenario("contended"), &bz_variant_buzzer, "workers=3");
    program.cancels_max = 2;
    struct bz_explore_config config = config_of(&program, BZ_REDUCE_SNAPSHOTS | BZ_REDUCE_STATES);
    TST_NEEDS_SNAPSHOTS();
    cr_assert(bz_explore(&config, &whole));
    begin_session(&session, &config);
    config.memory_max_bytes = 1u << 19u;
    cr_assert(bz_explore(&config, &parts));
    cr_assert_eq(parts.end, BZ_EXPLORE_MEMORY_MAX);
    cr_assert(parts.can_go_on);
    cr_assert_eq(session.kept, 1);
    for (uint32_t memory = 0; memory < 2; memory++) {
        open_file(&from, session.file);
        config.from = &from;
        config.memory_max_bytes = memory == 0 ? 1u << 17u : 0;
        cr_assert(bz_explore(&config, &parts));
        bz_explore_checkpoint_close(&from);
        if (memory == 0) {
            cr_assert_eq(parts.end, BZ_EXPLORE_LOST);
            cr_assert(strstr(parts.lack, "do not fit") != NULL, "%s", parts.lack);
        }
    }
    expect_same(&parts, &whole, "contended");
    (void)fclose(session.file);
}

/* --- what is not whole ------------------------------------------------------------------------ */

static char *bytes;
static size_t length;
static size_t table_bytes; /* of states and outcomes, which come last in the file */

/* The file of a search that has stopped; its content is in `bytes`. */
static FILE *file_of_stopped(struct bz_explore_config config) {
    struct session session = {.kept = 0};
    begin_session(&session, &config);
    cr_assert(bz_explore(&config, &parts));
    cr_assert(parts.can_go_on);
    rewind(session.file);
    bytes = malloc(BYTES_MAX);
    length = fread(bytes, 1, BYTES_MAX, session.file);
    table_bytes = (parts.states + parts.outcomes) * sizeof(struct bz_visited_state);
    return session.file;
}

static FILE *stopped_search(uint64_t states_max) {
    struct bz_program program =
        tst_explored_program(tst_scenario("contended"), &bz_variant_buzzer, "workers=3");
    struct bz_explore_config config = config_of(&program, BZ_REDUCE_ALL);
    config.states_max = states_max;
    return file_of_stopped(config);
}

/* With these bytes in the file. */
static bool opens(FILE *file, const char *content, size_t count) {
    struct bz_explore_checkpoint from;
    char error[BZ_ERROR_BYTES] = "";
    cr_assert(ftruncate(fileno(file), 0) == 0);
    rewind(file);
    cr_assert(fwrite(content, 1, count, file) == count && fflush(file) == 0);
    bool is_open = tries_to_open(&from, file, error);
    if (is_open) {
        bz_explore_checkpoint_close(&from);
    } else {
        cr_assert(strncmp(error, "file:", 5) == 0, "%s", error);
    }
    return is_open;
}

Test(explore_checkpoint, a_file_that_is_cut_short_is_refused) {
    FILE *file = stopped_search(100);
    cr_assert(opens(file, bytes, length));
    for (size_t count = 0; count < length; count += count < length - 200 ? 97 : 1) {
        cr_assert_not(opens(file, bytes, count), "%zu of %zu bytes", count, length);
    }
    bytes[length] = 0;
    cr_assert_not(opens(file, bytes, length + 1));
    free(bytes);
    (void)fclose(file);
}

Test(explore_checkpoint, a_file_that_was_edited_is_refused) {
    FILE *file = stopped_search(100);
    for (size_t place = 0; place < length; place += 13) {
        char before = bytes[place];
        bytes[place] = (char)(before ^ (1 << place % 8));
        cr_assert_not(opens(file, bytes, length), "byte %zu", place);
        bytes[place] = before;
    }
    free(bytes);
    (void)fclose(file);
}

/* Makes the checksum of an edited file right: what then differs is noticed by the search. */
static void sign(void) {
    uint64_t digest = BZ_DIGEST_SEED;
    size_t seal = length - sizeof digest;
    for (size_t place = 0; place < seal; place += 8) {
        uint64_t word = 0;
        for (size_t index = 0; index < 8; index++) {
            word |= (uint64_t)(unsigned char)bytes[place + index] << 8 * index;
        }
        digest = bz_digest_word(digest, word);
    }
    for (size_t index = 0; index < 8; index++) {
        bytes[seal + index] = (char)(digest >> 8 * index);
    }
}

struct begun_again {
    uint32_t times;
    bool is_sweep; /* expected */
};

static void on_begun_again(void *context, const char *why, bool is_sweep) {
    struct begun_again *again = context;
    again->times++;
    cr_assert(strstr(why, "a state on its path is another one here") != NULL, "%s", why);
    cr_assert_eq(is_sweep, again->is_sweep);
}

/* It begins again once, and ends as `whole` did. */
static void expect_begun_again(struct bz_explore_checkpoint *from, struct bz_explore_config config,
                               bool is_sweep) {
    struct begun_again again = {.is_sweep = is_sweep};
    config.from = from;
    config.on_begun_again = on_begun_again;
    config.context = &again;
    cr_assert(bz_explore(&config, &parts));
    cr_assert_eq(again.times, 1);
    expect_same(&parts, &whole, from->program.scenario->name);
    bz_explore_checkpoint_close(from);
}

/* The states are others now, as after a change of a library. */
static void continue_on_another_path(bool is_sweep, bool is_contained) {
    struct bz_explore_checkpoint from;
    FILE *file = stopped_search(is_sweep ? 1000 : 100);
    size_t end = length - sizeof(uint64_t);
    for (size_t place = end - table_bytes; place < end; place += sizeof(struct bz_visited_state)) {
        bytes[place] = (char)(bytes[place] ^ 4); /* of a fingerprint */
    }
    sign();
    cr_assert(opens(file, bytes, length));
    open_file(&from, file);
    from.program.contain.is_on = is_contained;
    struct bz_explore_config config = config_of(&from.program, BZ_REDUCE_ALL);
    cr_assert(bz_explore(&config, &whole));
    expect_begun_again(&from, config, is_sweep);
    free(bytes);
    (void)fclose(file);
}

/* Without a table of states, the last choice of the path has more alternatives now. */
Test(explore_checkpoint, a_search_whose_choices_are_others_begins_again) {
    struct bz_explore_checkpoint from;
    struct bz_program program =
        tst_explored_program(tst_scenario("handoff"), &bz_variant_buzzer, "turns=0");
    struct bz_explore_config config = config_of(&program, 0);
    program.cancels_max = 1;
    cr_assert(bz_explore(&config, &whole));
    config.states_max = whole.states / 2;
    FILE *file = file_of_stopped(config);
    cr_assert_eq(parts.rounds, 2);
    size_t place = length - sizeof(uint64_t) - sizeof(struct bz_choice_point);
    bytes[place] = (char)(bytes[place] ^ 4); /* of its bound */
    sign();
    cr_assert(opens(file, bytes, length));
    open_file(&from, file);
    expect_begun_again(&from, config_of(&from.program, 0), true);
    free(bytes);
    (void)fclose(file);
}

/* It ends as one that never stopped. */
Test(explore_checkpoint, a_search_whose_path_leads_to_another_state_begins_again) {
    TST_NEEDS_SNAPSHOTS();
    for (uint32_t manner = 0; manner < 4; manner++) {
        continue_on_another_path(manner % 2 != 0, manner / 2 != 0);
    }
}
