/* Strict replay: an entry fits at its place, or the run has diverged there. */
#include "sim/choice/strategy_replay.h"

#include <criterion/criterion.h>

/* At each of the steps 4 to 6 there are these handles, and three cancel points with these tasks. */
static const struct bz_ready ready[] = {{.owner = 1, .nth = 3, .role = BZ_ROLE_STEP},
                                        {.owner = 2, .nth = 4, .role = BZ_ROLE_TIMER},
                                        {.owner = 2, .nth = 4, .role = BZ_ROLE_STEP}};
static const struct bz_cancel_candidate candidates[] = {{1, 3, BZ_WINDOW_WAITING},
                                                        {2, 5, BZ_WINDOW_WOKEN}};

#define NEXT(step_, owner_, role_)                                                                 \
    { .kind = BZ_CHOICE_NEXT, .step = (step_), .owner = (owner_), .nth = 4, .role = (role_) }
#define CANCEL(owner_, nth_, window_, point_)                                                      \
    {                                                                                              \
        .kind = BZ_CHOICE_CANCEL, .step = 5, .owner = (owner_), .nth = (nth_),                     \
        .window = (window_), .value = (point_)                                                     \
    }

struct row {
    const char *name;
    struct bz_choice entries[2]; /* the second may be none */
    uint32_t next;               /* the index that is chosen at step 5 */
    uint32_t victims[3];         /* at the points of step 5: index plus 1 */
    size_t entry;                /* that diverges */
    uint32_t step;               /* where it does; 0: none */
};

static void play(const struct row *row) {
    struct bz_tape tape;
    struct bz_replay_state state;
    bz_tape_init(&tape, NULL);
    for (size_t index = 0; index < 2 && row->entries[index].step > 0; index++) {
        bz_tape_append(&tape, row->entries[index]);
    }
    bz_strategy_replay_strict.begin(&state, &(struct bz_strategy_start){.tape = &tape});
    for (uint32_t step = 4; step <= 6; step++) {
        for (uint32_t point = 0; point < 3; point++) {
            uint32_t victim = bz_strategy_replay_strict.cancel(&state, candidates, 2, step, point);
            cr_assert_eq(victim, step == 5 ? row->victims[point] : 0, "%s", row->name);
        }
        uint32_t next = bz_strategy_replay_strict.next(&state, ready, 3, step);
        cr_assert_eq(next, step == 5 ? row->next : 0, "%s", row->name);
    }
    cr_assert_eq(bz_replay_state_finish(&state, 6), row->step == 0, "%s", row->name);
    cr_assert_eq(state.diverged_step, row->step, "%s", row->name);
    cr_assert_eq(state.diverged_entry, row->entry, "%s", row->name);
    bz_tape_fini(&tape);
}

Test(replay_strict, takes_what_fits_and_says_what_does_not) {
    static const struct row rows[] = {
        {"handle", {NEXT(5, 2, BZ_ROLE_STEP)}, .next = 2},
        {"no such handle", {NEXT(5, 9, BZ_ROLE_STEP)}, .step = 5},
        {"the first of two", {NEXT(5, 9, BZ_ROLE_STEP), NEXT(6, 9, BZ_ROLE_STEP)}, .step = 5},
        {"its step has passed", {NEXT(3, 2, BZ_ROLE_STEP)}, .step = 4},
        {"its step does not come", {NEXT(9, 2, BZ_ROLE_STEP)}, .step = 6},
        {"cancel at its point", {CANCEL(2, 5, BZ_WINDOW_WOKEN, 1)}, .victims = {0, 2, 0}},
        {"another step of the victim", {CANCEL(2, 6, BZ_WINDOW_WOKEN, 1)}, .step = 5},
        {"another window", {CANCEL(2, 5, BZ_WINDOW_WAITING, 1)}, .step = 5},
        {"its point has passed",
         {CANCEL(2, 5, BZ_WINDOW_WOKEN, 1), CANCEL(1, 3, BZ_WINDOW_WAITING, 0)},
         .victims = {0, 2, 1},
         .entry = 1,
         .step = 5},
    };
    for (size_t index = 0; index < sizeof rows / sizeof rows[0]; index++) {
        play(&rows[index]);
    }
}
