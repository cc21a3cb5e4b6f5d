#include "sim/fuzz/coverage.h"

#include <string.h>

/* NULL: there is no place left. */
static struct bz_fuzz_situation *find_situation(struct bz_fuzz_target *target, uint16_t number,
                                                struct bz_fuzz_slice *slice) {
    uint16_t *place = &target->places[number];
    if (*place == 0 && target->situation_count < BZ_FUZZ_SITUATIONS_MAX) {
        target->situations[target->situation_count++] =
            (struct bz_fuzz_situation){.number = number};
        *place = (uint16_t)target->situation_count;
        slice->new_situations++;
    }
    return *place == 0 ? NULL : &target->situations[*place - 1];
}

/* The shortest run stands; the first one of several. */
static void keep_example(struct bz_fuzz_situation *situation, uint32_t arm,
                         const struct bz_run_mark *mark) {
    struct bz_fuzz_example *example = &situation->shortest;
    if (!mark->has_passed || (example->strike_count != 0 && example->steps <= mark->steps)) {
        return;
    }
    *example = (struct bz_fuzz_example){.seed = mark->seed,
                                        .digest = mark->digest,
                                        .arm = arm,
                                        .steps = mark->steps,
                                        .strike_count = mark->strike_count};
    memcpy(example->strikes, mark->strikes, sizeof example->strikes);
}

void bz_coverage_add(struct bz_fuzz_target *target, uint32_t arm, const struct bz_run_mark *mark,
                     struct bz_fuzz_slice *slice) {
    struct bz_distinct *handoffs = &target->handoffs;
    bool was_there = bz_distinct_has(handoffs, mark->handoffs);
    bz_distinct_add(handoffs, mark->handoffs);
    if (!was_there && bz_distinct_keeps(handoffs, mark->handoffs)) {
        slice->new_handoffs += handoffs->skip_mask + 1; /* it stands for as many */
    }
    for (uint32_t index = 0; index < mark->strike_count; index++) {
        struct bz_fuzz_situation *situation = find_situation(target, mark->strikes[index], slice);
        target->strikes++;
        if (situation != NULL) {
            situation->count++;
            keep_example(situation, arm, mark);
        }
    }
}

uint64_t bz_fuzz_situations_once(const struct bz_fuzz_target *target) {
    uint64_t once = 0;
    for (uint32_t index = 0; index < target->situation_count; index++) {
        once += target->situations[index].count == 1;
    }
    return once;
}

uint32_t bz_fuzz_new_situation_ppm(const struct bz_fuzz_target *target) {
    uint64_t once = bz_fuzz_situations_once(target);
    return target->strikes == 0
               ? 1000000
               : (uint32_t)((once * 1000000 + target->strikes / 2) / target->strikes);
}

/* --- few examples that have all situations ---------------------------------------------------- */

/* How many situations the run adds to those that are covered, which are marked by number. */
static uint32_t count_added(const struct bz_fuzz_target *target, const bool *is_covered,
                            const struct bz_fuzz_example *example) {
    uint32_t added = 0;
    for (uint32_t index = 0; index < example->strike_count; index++) {
        uint16_t number = example->strikes[index];
        bool is_counted = target->places[number] == 0 || is_covered[target->places[number] - 1];
        for (uint32_t earlier = 0; earlier < index; earlier++) {
            is_counted |= example->strikes[earlier] == number;
        }
        added += !is_counted;
    }
    return added;
}

uint32_t bz_fuzz_cover(const struct bz_fuzz_target *target, uint32_t *chosen) {
    bool is_covered[BZ_FUZZ_SITUATIONS_MAX] = {false};
    uint32_t count = 0;
    for (;;) {
        uint32_t best = 0;
        uint32_t best_added = 0;
        for (uint32_t index = 0; index < target->situation_count; index++) {
            const struct bz_fuzz_example *example = &target->situations[index].shortest;
            uint32_t added = count_added(target, is_covered, example);
            bool is_shorter = example->steps < target->situations[best].shortest.steps;
            if (added > best_added || (added == best_added && added > 0 && is_shorter)) {
                best = index;
                best_added = added;
            }
        }
        if (best_added == 0) {
            return count;
        }
        const struct bz_fuzz_example *example = &target->situations[best].shortest;
        for (uint32_t index = 0; index < example->strike_count; index++) {
            uint16_t place = target->places[example->strikes[index]];
            if (place != 0) {
                is_covered[place - 1] = true;
            }
        }
        chosen[count++] = best;
    }
}
