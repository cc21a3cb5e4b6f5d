/* Fair sets in graphs that are written by hand. */
#include "sim/explore/cycles.h"

#include <criterion/criterion.h>

static struct bz_cycles cycles;
static struct bz_fair_set sets[8];

/* A graph of so many states after the start, in which these handles are ready; the first state is
 * where the set-up leads. */
static void begin(uint32_t count, const uint64_t *ready) {
    bz_cycles_begin(&cycles, UINT64_MAX);
    for (uint32_t index = 0; index < count; index++) {
        cr_assert_eq(bz_cycles_add_state(&cycles, ready[index]), index + 1);
    }
    bz_cycles_add_edge(
        &cycles, &(struct bz_cycle_edge){.to = 1, .ran = BZ_CYCLE_NOBODY, .is_progress = true},
        NULL, 0);
}

/* Adds a step of the handle, which is the choice; `draw`: one more choice, a draw; 0: none. */
static void step(uint32_t from, uint32_t to, uint8_t ran, uint64_t draw,
                 struct bz_cycle_edge more) {
    uint64_t choices[2] = {ran, draw == 0 ? 0 : draw - 1};
    more.from = from;
    more.to = to;
    more.ran = ran;
    more.delays = ran;
    more.draws = choices[1] != 0;
    more.choice_count = draw == 0 ? 1 : 2;
    bz_cycles_add_edge(&cycles, &more, choices, draw == 0 ? 0 : 2);
}

#define PLAIN ((struct bz_cycle_edge){.waits = 0})
#define PROGRESS ((struct bz_cycle_edge){.is_progress = true})
#define TASK(number) (UINT64_C(1) << (number))

static uint32_t find(void) {
    uint32_t count = bz_cycles_find(&cycles, sets, 8);
    bz_cycles_fini(&cycles);
    return count;
}

Test(cycles, one_handle_that_goes_round_makes_no_progress) {
    begin(2, (const uint64_t[]){1, 1});
    step(1, 2, 0, 0, PLAIN);
    step(2, 1, 0, 0, PLAIN);
    cr_assert_eq(find(), 1);
    cr_assert_eq(sets[0].task, 0);
    cr_assert_eq(sets[0].state_count, 2);
    cr_assert(sets[0].is_closed);
    cr_assert_neq(sets[0].default_state, BZ_CYCLE_OUT);
}

Test(cycles, progress_breaks_it) {
    begin(2, (const uint64_t[]){1, 1});
    step(1, 2, 0, 0, PLAIN);
    step(2, 1, 0, 0, PROGRESS);
    cr_assert_eq(find(), 0);
}

/* Handle 1 is ready throughout, and its step leads out. */
Test(cycles, it_is_unfair_to_pass_over_a_handle_for_ever) {
    begin(1, (const uint64_t[]){3});
    step(1, 1, 0, 0, PLAIN);
    step(1, BZ_CYCLE_OUT, 1, 0, PROGRESS);
    cr_assert_eq(find(), 0);
}

/* The same handle is ready in one of two states only: a schedule that runs the other one there is
 * fair. Another order leads out. */
Test(cycles, it_is_fair_to_pass_over_a_handle_that_is_not_always_ready) {
    begin(2, (const uint64_t[]){3, 1});
    step(1, 2, 0, 0, PLAIN);
    step(1, BZ_CYCLE_OUT, 1, 0, PROGRESS);
    step(2, 1, 0, 0, PLAIN);
    cr_assert_eq(find(), 1);
    cr_assert_not(sets[0].is_closed);
}

Test(cycles, time_passes_while_a_timer_is_pending) {
    begin(1, (const uint64_t[]){1 | BZ_CYCLE_CLOCK});
    step(1, 1, 0, 0, PLAIN);
    cr_assert_eq(find(), 0);
}

/* One value of the draw leads out, or none does. */
Test(cycles, nobody_chooses_what_is_drawn) {
    begin(1, (const uint64_t[]){1});
    step(1, 1, 0, 1, PLAIN);
    step(1, BZ_CYCLE_OUT, 0, 2, PROGRESS);
    cr_assert_eq(find(), 0);
    begin(2, (const uint64_t[]){1, 1});
    step(1, 1, 0, 1, PLAIN);
    step(1, 2, 0, 2, PLAIN);
    step(2, 1, 0, 0, PLAIN);
    cr_assert_eq(find(), 1);
    cr_assert(sets[0].is_closed);
}

/* A draw that leads out makes a longer cycle fall apart, too. */
Test(cycles, what_depends_on_a_dropped_action_is_dropped) {
    begin(3, (const uint64_t[]){1, 1, 1});
    step(1, 2, 0, 0, PLAIN);
    step(2, 3, 0, 0, PLAIN);
    step(3, 1, 0, 1, PLAIN);
    step(3, BZ_CYCLE_OUT, 0, 2, PLAIN);
    cr_assert_eq(find(), 0);
}

/* Task 2 waits in both states and is overtaken on the way round; or it is served on the way; or
 * nobody overtakes it. */
Test(cycles, a_waiter_that_is_overtaken_on_each_lap_starves) {
    struct bz_cycle_edge waits = {.waits = TASK(2), .is_progress = true};
    struct bz_cycle_edge overtaken = {
        .waits = TASK(2), .overtaken = TASK(2), .object = 7, .is_progress = true};
    begin(2, (const uint64_t[]){1, 1});
    step(1, 2, 0, 0, waits);
    step(2, 1, 0, 0, overtaken);
    cr_assert_eq(find(), 1);
    cr_assert_eq(sets[0].task, 2);
    cr_assert_eq(sets[0].object, 7);
    begin(2, (const uint64_t[]){1, 1});
    step(1, 2, 0, 0, PROGRESS);
    step(2, 1, 0, 0, overtaken);
    cr_assert_eq(find(), 0);
    begin(2, (const uint64_t[]){1, 1});
    step(1, 2, 0, 0, waits);
    step(2, 1, 0, 0, waits);
    cr_assert_eq(find(), 0);
}

/* Two disjoint cycles; a state that is on none leads to both. */
Test(cycles, finds_each_of_several) {
    begin(3, (const uint64_t[]){3, 1, 1});
    step(1, 2, 0, 0, PLAIN);
    step(1, 3, 1, 0, PLAIN);
    step(2, 2, 0, 0, PLAIN);
    step(3, 3, 0, 0, PLAIN);
    cr_assert_eq(find(), 2);
    cr_assert_neq(sets[0].state, sets[1].state);
}

/* The cycle of default choices is another one than that of the delay. */
Test(cycles, says_whether_default_choices_do_it) {
    begin(2, (const uint64_t[]){3, 3});
    step(1, BZ_CYCLE_OUT, 0, 0, PROGRESS);
    step(1, 2, 1, 0, PLAIN);
    step(2, 1, 0, 0, PLAIN);
    cr_assert_eq(find(), 1);
    cr_assert_eq(sets[0].default_state, BZ_CYCLE_OUT);
}

Test(cycles, a_path_has_as_few_deviations_as_possible) {
    struct bz_cycle_path path;
    begin(4, (const uint64_t[]){3, 3, 3, 3});
    step(1, 4, 2, 0, PLAIN); /* two delays */
    step(1, 2, 0, 0, PLAIN);
    step(2, 3, 0, 0, PLAIN);
    step(3, 4, 1, 0, PLAIN);
    cr_assert(bz_cycles_path(&cycles, 4, &path));
    bz_cycles_fini(&cycles);
    cr_assert(path.has_answers);
    cr_assert_eq(path.steps, 3);
    cr_assert_eq(path.delays, 1);
    cr_assert_eq(path.answers.count, 1);
    cr_assert_eq(path.answers.entries[0].question, 3);
    cr_assert_eq(path.answers.entries[0].answer, 1);
}

Test(cycles, stays_within_its_memory) {
    bz_cycles_begin(&cycles, 100000);
    for (uint32_t index = 0; index < 100000 && !cycles.is_full; index++) {
        (void)bz_cycles_add_state(&cycles, 1);
    }
    cr_assert(cycles.is_full);
    cr_assert_lt(cycles.state_capacity * (uint32_t)sizeof *cycles.states, 100000);
    bz_cycles_fini(&cycles);
}
