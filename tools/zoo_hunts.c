/* buzzer zoo: every variant that declares a fault, whether it is found, and `buzzer` beside it. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sim/run/settings.h"
#include "sim/run/token.h"
#include "tools/cli.h"
#include "tools/hunt.h"
#include "tools/interrupt.h"
#include "tools/report_json.h"
#include "tools/zoo.h"

#define PROJECT_WIDTH_MAX 28 /* some say more, and 'list variants' prints it whole */

struct zoo_hunts {
    struct bz_zoo *zoo;
    struct bz_hunt_config config;
    struct bz_hunt *hunts;
    size_t count;
    uint64_t ranges_done;
    uint64_t ranges_found;
};

static int collect_hunts(struct zoo_hunts *all) {
    char error[BZ_ERROR_BYTES];
    const struct bz_zoo *zoo = all->zoo;
    size_t variants = 0;
    while (bz_cli_catalog.variants[variants] != NULL) {
        variants++;
    }
    all->hunts = calloc(variants * BZ_ZOO_ORDERS + 1, sizeof *all->hunts);
    if (all->hunts == NULL) {
        return bz_cli_fail(zoo->name, BZ_EXIT_INTERNAL, "out of memory");
    }
    for (size_t index = 0; index < variants; index++) {
        const struct bz_variant *entry = bz_cli_catalog.variants[index];
        for (unsigned order = 0; order < BZ_ZOO_ORDERS; order++) {
            if (bz_zoo_is_wanted(zoo, entry, order) &&
                !bz_hunt_init(&all->hunts[all->count++], entry, zoo->strategy, (enum bz_order)order,
                              error, sizeof error)) {
                return bz_cli_fail(zoo->name, BZ_EXIT_USAGE, "%s: %s", entry->name, error);
            }
        }
    }
    return all->count > 0 ? BZ_EXIT_OK
                          : bz_cli_fail(zoo->name, BZ_EXIT_UNPROVED,
                                        "nothing proved: no entry can be found under this order");
}

static void show_progress(void *context) {
    struct zoo_hunts *all = context;
    bz_progress_show(&all->zoo->progress, all->ranges_done, all->ranges_found);
}

static bool hunt_all(struct zoo_hunts *all) {
    bool is_ok = true;
    bz_interrupt_catch();
    bz_progress_begin(&all->zoo->progress, false, all->count * all->config.ranges, 0);
    all->zoo->progress.unit = "ranges";
    for (size_t index = 0; is_ok && index < all->count; index++) {
        struct bz_hunt *hunt = &all->hunts[index];
        uint32_t found_before = 0;
        while (is_ok && hunt->ranges_done < all->config.ranges && bz_interrupt_requested == 0) {
            is_ok = bz_hunt_range(hunt, &all->config);
            all->ranges_done++;
            all->ranges_found += hunt->ranges_found - found_before;
            found_before = hunt->ranges_found;
            show_progress(all);
        }
        hunt->is_interrupted |= hunt->ranges_done < all->config.ranges;
    }
    bz_progress_end(&all->zoo->progress);
    return is_ok;
}

/* --- what came of it ----------------------------------------------------------------------------
 */

struct tally {
    size_t entries; /* of which something was tried */
    size_t found;   /* under every order that was tried */
    uint64_t twin_runs;
    size_t hunts_without_twin;
    bool is_twin_silent;
    bool is_interrupted;
    int exit_code;
};

static struct tally count(const struct zoo_hunts *all) {
    struct tally tally = {.is_twin_silent = true};
    bool is_found = true;
    for (size_t index = 0; index < all->count; index++) {
        const struct bz_hunt *hunt = &all->hunts[index];
        bool is_last = index + 1 == all->count || hunt[1].program.variant != hunt->program.variant;
        is_found &= bz_hunt_is_found(hunt, &all->config);
        tally.entries += is_last;
        tally.found += is_last && is_found;
        is_found |= is_last;
        tally.twin_runs += hunt->twin_runs;
        tally.hunts_without_twin += !hunt->has_twin;
        tally.is_twin_silent &= hunt->twin_other.violation.oracle == NULL;
        tally.is_interrupted |= hunt->is_interrupted;
    }
    tally.exit_code = tally.is_interrupted           ? BZ_EXIT_INTERRUPTED
                      : !tally.is_twin_silent        ? BZ_EXIT_VIOLATION
                      : tally.found != tally.entries ? BZ_EXIT_UNPROVED
                                                     : BZ_EXIT_OK;
    return tally;
}

static const char *token_of(const struct bz_hunt *hunt, const struct bz_variant *variant,
                            const struct bz_finding *finding, char *token, size_t token_bytes) {
    struct bz_program program = hunt->program;
    program.variant = variant;
    return bz_token_format(&program, finding->seed, finding->digest, token, token_bytes);
}

static const char *twin_word(const struct bz_hunt *hunt) {
    if (!hunt->has_twin) {
        return "offers none";
    }
    return hunt->twin_other.violation.oracle != NULL ? "NOT SILENT"
           : hunt->twin_runs == 0                    ? "not run"
                                                     : "silent";
}

/* What a row has no room for: who objected first, and to what of `buzzer`. */
static void print_remarks(const struct bz_hunt *hunt) {
    char token[BZ_TOKEN_BYTES];
    const struct bz_variant *twin = bz_catalog_variant(&bz_cli_catalog, "buzzer");
    if (hunt->other.violation.oracle != NULL) {
        printf("    %s objected first, and not %s: %s\n", hunt->other.violation.oracle,
               hunt->program.variant->fault->oracle,
               token_of(hunt, hunt->program.variant, &hunt->other, token, sizeof token));
    }
    if (hunt->twin_other.violation.oracle != NULL) {
        printf("    %s objects to buzzer: %s\n", hunt->twin_other.violation.oracle,
               token_of(hunt, twin, &hunt->twin_other, token, sizeof token));
    }
}

static void print_table(const struct zoo_hunts *all) {
    int name_width = 5;
    int project_width = 7;
    for (size_t index = 0; index < all->count; index++) {
        const struct bz_variant *entry = all->hunts[index].program.variant;
        int name = (int)strlen(entry->name);
        int project = (int)strlen(entry->fault->project);
        name_width = name > name_width ? name : name_width;
        project_width = project > project_width ? project : project_width;
    }
    project_width = project_width < PROJECT_WIDTH_MAX ? project_width : PROJECT_WIDTH_MAX;
    printf("%-*s  %-*s  %-5s  %-19s %10s  %s\n", name_width, "entry", project_width, "project",
           "order", "found by", "schedules", "buzzer");
    for (size_t index = 0; index < all->count; index++) {
        const struct bz_hunt *hunt = &all->hunts[index];
        const struct bz_fault *fault = hunt->program.variant->fault;
        uint64_t mean = bz_hunt_mean_tenths(hunt);
        char found[48];
        char schedules[32] = "-";
        snprintf(found, sizeof found, "%s", fault->oracle);
        if (hunt->ranges_found < all->config.ranges) {
            snprintf(found, sizeof found, "%s %u of %u", hunt->is_interrupted ? "stopped" : "NOT",
                     hunt->ranges_found, all->config.ranges);
        }
        if (hunt->ranges_found > 0) {
            snprintf(schedules, sizeof schedules, "%" PRIu64 ".%" PRIu64, mean / 10, mean % 10);
        }
        printf("%-*s  %-*.*s  %-5s  %-19s %10s  %s\n", name_width, hunt->program.variant->name,
               project_width, project_width, fault->project, bz_order_name(hunt->program.order),
               found, schedules, twin_word(hunt));
        print_remarks(hunt);
    }
}

static void print_text(const struct zoo_hunts *all, const struct tally *tally) {
    print_table(all);
    printf("\n%zu entries, %zu found: each by the oracle that it declares, before any other, in %u "
           "of %u ranges\n",
           tally->entries, tally->found, all->config.ranges, all->config.ranges);
    printf("buzzer, on the same %" PRIu64 " seeds, scenarios and settings: %s\n", tally->twin_runs,
           tally->is_twin_silent ? "silent" : "NOT SILENT");
    if (tally->hunts_without_twin > 0) {
        printf("(in %zu rows it was not asked: it does not offer the primitive)\n",
               tally->hunts_without_twin);
    }
    if (tally->is_interrupted) {
        printf("interrupted; the ranges above are complete\n");
    }
}

static void add_finding(struct bz_json *object, const char *key, const struct bz_hunt *hunt,
                        const struct bz_variant *variant, const struct bz_finding *finding) {
    char token[BZ_TOKEN_BYTES];
    if (finding->violation.oracle == NULL) {
        bz_json_add_string(object, key, NULL);
        return;
    }
    struct bz_json *item = bz_json_add_object(object, key);
    bz_json_add_string(item, "oracle", finding->violation.oracle);
    bz_json_add_hex(item, "seed", finding->seed);
    bz_json_add_string(item, "message", finding->violation.message);
    bz_json_add_string(item, "token", token_of(hunt, variant, finding, token, sizeof token));
}

static void add_hunt(struct bz_json *results, const struct zoo_hunts *all,
                     const struct bz_hunt *hunt) {
    const struct bz_variant *entry = hunt->program.variant;
    const struct bz_variant *twin = bz_catalog_variant(&bz_cli_catalog, "buzzer");
    struct bz_json *item = bz_json_append_object(results);
    bz_json_add_string(item, "entry", entry->name);
    bz_json_add_string(item, "project", entry->fault->project);
    bz_json_add_string(item, "issue", entry->fault->issue);
    bz_json_add_string(item, "oracle", entry->fault->oracle);
    bz_json_add_program(item, &hunt->program);
    bz_json_add_bool(item, "found", bz_hunt_is_found(hunt, &all->config));
    bz_json_add_number(item, "ranges_found", hunt->ranges_found);
    bz_json_add_number(item, "ranges_done", hunt->ranges_done);
    if (hunt->ranges_found > 0) {
        bz_json_add_decimal(item, "mean_schedules", (double)bz_hunt_mean_tenths(hunt) / 10);
    } else {
        bz_json_add_string(item, "mean_schedules", NULL);
    }
    struct bz_json *schedules = bz_json_add_array(item, "schedules");
    for (uint32_t range = 0; range < hunt->ranges_done; range++) {
        bz_json_append_number(schedules, hunt->schedules[range]);
    }
    add_finding(item, "first", hunt, entry, &hunt->finding);
    add_finding(item, "other", hunt, entry, &hunt->other);
    bz_json_add_bool(item, "twin_offers_it", hunt->has_twin);
    bz_json_add_number(item, "twin_runs", hunt->twin_runs);
    add_finding(item, "twin_violation", hunt, twin, &hunt->twin_other);
}

static void print_json(const struct zoo_hunts *all, const struct tally *tally) {
    struct bz_json *root = bz_json_new_object();
    bz_json_add_string(root, "strategy", all->hunts[0].program.strategy->name);
    bz_json_add_number(root, "runs", all->config.runs);
    bz_json_add_hex(root, "seed_first", all->config.seed_first);
    bz_json_add_number(root, "repetitions", all->config.ranges);
    struct bz_json *results = bz_json_add_array(root, "results");
    for (size_t index = 0; index < all->count; index++) {
        add_hunt(results, all, &all->hunts[index]);
    }
    bz_json_add_number(root, "entries", tally->entries);
    bz_json_add_number(root, "found", tally->found);
    bz_json_add_number(root, "twin_runs", tally->twin_runs);
    bz_json_add_bool(root, "twin_silent", tally->is_twin_silent);
    bz_json_add_bool(root, "interrupted", tally->is_interrupted);
    bz_json_add_number(root, "exit_code", (uint64_t)tally->exit_code);
    bz_json_put(root);
}

int bz_zoo_hunt(struct bz_zoo *zoo) {
    struct zoo_hunts all = {.zoo = zoo,
                            .config = {.seed_first = zoo->seed_first,
                                       .runs = zoo->runs,
                                       .ranges = zoo->ranges,
                                       .jobs = zoo->jobs,
                                       .stop = &bz_interrupt_requested,
                                       .poll = show_progress,
                                       .context = &all}};
    int code = collect_hunts(&all);
    if (code == BZ_EXIT_OK && !hunt_all(&all)) {
        code = bz_cli_fail(zoo->name, BZ_EXIT_INTERNAL, "out of memory or threads");
    }
    if (code == BZ_EXIT_OK) {
        struct tally tally = count(&all);
        code = tally.exit_code;
        (zoo->is_json ? print_json : print_text)(&all, &tally);
    }
    free(all.hunts);
    return code;
}
