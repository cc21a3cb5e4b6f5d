/* Names of choices and windows, and the tape. */
#include "sim/choice/choice.h"

#include <criterion/criterion.h>
#include <string.h>

#include "sim/choice/tape.h"
#include "sim/variant/variant.h"

static void expect_name(const char *actual, const char *expected) {
    if (expected == NULL) {
        cr_assert_null((void *)actual);
    } else {
        cr_assert_not_null((void *)actual);
        cr_assert_str_eq((char *)actual, (char *)expected);
    }
}

/* Traces contain these words, so they must not change. */
Test(choice, names_are_those_of_the_trace_format) {
    static const char *const kinds[] = {"next", "cancel", "delay", "data", NULL};
    for (unsigned kind = 0; kind <= BZ_CHOICE_KIND_COUNT; kind++) {
        expect_name(bz_choice_kind_name((enum bz_choice_kind)kind), kinds[kind]);
    }
    static const char *const windows[] = {NULL,      "unstarted",  "waiting", "woken",   "sleeping",
                                          "holding", "cancelling", "done",    "running", NULL};
    for (unsigned window = 0; window <= BZ_WINDOW_COUNT; window++) {
        expect_name(bz_window_name((enum bz_window)window), windows[window]);
    }
    static const char *const primitives[] = {
        "semaphore", "bounded",  "lock",  "event",    "condition",     "barrier", "queue",
        "pool",      "deferred", "scope", "modelled", "resource-pool", NULL};
    for (unsigned primitive = 0; primitive <= BZ_PRIMITIVE_COUNT; primitive++) {
        expect_name(bz_primitive_name((enum bz_primitive)primitive), primitives[primitive]);
    }
}

/* The mask has every window for injected cancels; a running task is not injected into. */
Test(choice, mask_of_all_windows_leaves_out_only_what_cannot_be_injected_into) {
    for (unsigned window = 0; window < BZ_WINDOW_COUNT; window++) {
        bool is_in = (BZ_WINDOWS_ALL >> window & 1u) != 0;
        bool should_be = window != BZ_WINDOW_NONE && window != BZ_WINDOW_RUNNING;
        cr_assert_eq(is_in, should_be, "window %u", window);
    }
    cr_assert_eq(BZ_WINDOWS_ALL >> BZ_WINDOW_COUNT, 0);
}

static struct bz_choice numbered(uint32_t number) {
    return (struct bz_choice){.kind = BZ_CHOICE_DATA,
                              .step = number,
                              .owner = number * 3,
                              .nth = number * 7,
                              .label = "number",
                              .bound = UINT64_MAX,
                              .value = UINT64_MAX - number};
}

static void expect_numbered(const struct bz_tape *tape, uint32_t count) {
    cr_assert_eq(tape->count, count);
    for (uint32_t index = 0; index < count; index++) {
        struct bz_choice expected = numbered(index);
        const struct bz_choice *actual = &tape->choices[index];
        cr_assert_eq(actual->step, expected.step);
        cr_assert_eq(actual->owner, expected.owner);
        cr_assert_eq(actual->nth, expected.nth);
        cr_assert_eq(actual->bound, expected.bound);
        cr_assert_eq(actual->value, expected.value);
        cr_assert_eq(actual->kind, expected.kind);
    }
}

/* However long it gets. The next run records into the same memory. */
Test(tape, keeps_entries_in_order) {
    struct bz_tape tape;
    struct bz_choice *choices = NULL;
    bz_tape_init(&tape, NULL);
    for (int run = 0; run < 2; run++) {
        bz_tape_clear(&tape);
        for (uint32_t number = 0; number < 5000; number++) {
            bz_tape_append(&tape, numbered(number));
        }
        expect_numbered(&tape, 5000);
        cr_assert(run == 0 || tape.choices == choices);
        choices = tape.choices;
    }
    bz_tape_fini(&tape);
    cr_assert_eq(tape.count, 0);
    cr_assert_null(tape.choices);
}

Test(tape, copy_is_equal_and_independent) {
    struct bz_tape tape;
    struct bz_tape copy;
    bz_tape_init(&tape, NULL);
    bz_tape_init(&copy, NULL);
    for (uint32_t number = 0; number < 600; number++) {
        bz_tape_append(&tape, numbered(number));
        bz_tape_append(&copy, numbered(99));
        bz_tape_append(&copy, numbered(98));
    }
    bz_tape_copy(&copy, &tape);
    bz_tape_fini(&tape);
    expect_numbered(&copy, 600);
    bz_tape_fini(&copy);
}
