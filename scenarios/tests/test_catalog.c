/* The lists of scenarios and variants, and what each entry must have. */
#include <string.h>

#include "scenarios/tests/seeds.h"
#include "sim/judge/judge.h"
#include "sim/program/sizes.h"

Test(catalog, scenarios_are_sorted_and_found_by_name) {
    for (const struct bz_scenario *const *next = bz_scenarios; *next != NULL; next++) {
        cr_assert_eq((void *)tst_scenario((*next)->name), (void *)*next);
        if (next[1] != NULL) {
            cr_assert_lt(strcmp(next[0]->name, next[1]->name), 0, "%s", next[1]->name);
        }
    }
    cr_assert_null((void *)tst_scenario("no-such"));
}

Test(catalog, variants_are_sorted_behind_buzzer) {
    cr_assert_eq((void *)bz_variants[0], (void *)&bz_variant_buzzer);
    for (const struct bz_variant *const *next = bz_variants; *next != NULL; next++) {
        cr_assert_eq((void *)bz_catalog_variant(&tst_catalog, (*next)->name), (void *)*next);
        if (next != bz_variants && next[1] != NULL) {
            cr_assert_lt(strcmp(next[0]->name, next[1]->name), 0, "%s", next[1]->name);
        }
    }
    cr_assert_null((void *)bz_catalog_variant(&tst_catalog, "no-such"));
}

Test(catalog, scenarios_say_what_they_take) {
    for (const struct bz_scenario *const *next = bz_scenarios; *next != NULL; next++) {
        const struct bz_scenario *scenario = *next;
        cr_assert_lt(0, strlen(scenario->summary));
        cr_assert_lt(0, scenario->primitive_count);
        cr_assert_leq(scenario->primitive_count, BZ_PRIMITIVE_COUNT);
        uint32_t count = 0;
        for (; scenario->params[count].name != NULL; count++) {
            const struct bz_param *param = &scenario->params[count];
            cr_assert_leq(param->least, param->value, "%s %s", scenario->name, param->name);
            cr_assert_leq(param->value, param->most, "%s %s", scenario->name, param->name);
            cr_assert_lt(0, strlen(param->summary), "%s %s", scenario->name, param->name);
        }
        cr_assert_leq(count, BZ_PARAMS_MAX);
        char error[BZ_ERROR_BYTES];
        cr_assert(bz_sizes_check(scenario, error, sizeof error), "%s %s", scenario->name, error);
    }
}

static void expect_complete(const struct bz_fault *fault, const char *name) {
    cr_assert_lt(0, strlen(fault->project), "%s", name);
    cr_assert_lt(0, strlen(fault->issue), "%s", name);
    cr_assert_lt(0, strlen(fault->versions), "%s", name);
    cr_assert_lt(0, strlen(fault->summary), "%s", name);
    cr_assert_lt(bz_oracle_index(fault->oracle), bz_oracle_count, "%s", name);
    cr_assert_not_null((void *)tst_scenario(fault->scenario), "%s", name);
}

Test(catalog, zoo_entries_say_where_they_come_from) {
    for (const struct bz_variant *const *next = bz_variants; *next != NULL; next++) {
        const struct bz_fault *fault = (*next)->fault;
        bool is_zoo = strncmp((*next)->name, "zoo/", 4) == 0;
        cr_assert_eq(is_zoo, fault != NULL, "%s", (*next)->name);
        cr_assert_eq((*next)->version, BZ_VARIANT_VERSION);
        cr_assert_lt(0, strlen((*next)->summary));
        if (fault == NULL) {
            continue;
        }
        expect_complete(fault, (*next)->name);
    }
}

Test(catalog, references_declare_their_faults) {
    uint32_t references = 0;
    for (const struct bz_variant *const *next = bz_variants; *next != NULL; next++) {
        const struct bz_fault *const *fault = (*next)->declared;
        references += fault != NULL;
        for (; fault != NULL && *fault != NULL; fault++) {
            expect_complete(*fault, (*next)->name);
            cr_assert_neq((*fault)->primitives, 0, "%s", (*next)->name);
        }
    }
    cr_assert_eq(references, 3);
}
