#include "sim/choice/chance.h"

#define JUMP_GAP_LOG2_MIN 2u
#define JUMP_GAP_LOG2_MAX 10u
#define SOON_LOG2_MAX 4u

void bz_chance_begin(struct bz_chance *chance, const struct bz_strategy_start *start) {
    uint64_t mixed = bz_seed_mix(start->seed);
    for (unsigned stream = 0; stream < BZ_CHANCE_STREAMS; stream++) {
        bz_pcg32_seed(&chance->streams[stream], mixed, stream);
    }
    chance->points = start->profile == NULL ? 0 : start->profile->points;
    chance->has_struck = false;
}

uint32_t bz_chance_victim(struct bz_pcg32 *stream, const struct bz_cancel_candidate *candidates,
                          uint32_t count, uint32_t windows) {
    uint32_t enabled = 0;
    for (uint32_t index = 0; index < count; index++) {
        bool is_first = index == 0 || candidates[index].window != candidates[index - 1].window;
        enabled += is_first && (windows >> candidates[index].window & 1u) != 0;
    }
    if (enabled == 0) {
        return 0;
    }
    uint32_t window = bz_pcg32_below(stream, enabled);
    uint32_t first = 0;
    uint32_t next = 0;
    for (;;) { /* [first, next) becomes the run of candidates of the window drawn */
        while (next < count && candidates[next].window == candidates[first].window) {
            next++;
        }
        if ((windows >> candidates[first].window & 1u) != 0 && window-- == 0) {
            break;
        }
        first = next;
    }
    return 1 + first + bz_pcg32_below(stream, next - first);
}

uint32_t bz_chance_next(void *state, const struct bz_loop *loop, uint32_t count, uint32_t step) {
    struct bz_chance *chance = state;
    (void)loop;
    (void)step;
    return bz_pcg32_below(&chance->streams[BZ_CHOICE_NEXT], count);
}

uint32_t bz_chance_spread_gap(void *state) {
    struct bz_chance *chance = state;
    struct bz_pcg32 *stream = &chance->streams[BZ_CHOICE_CANCEL];
    if (chance->has_struck && (bz_pcg32_next(stream) >> 31u) != 0) {
        return bz_chance_log_gap(stream, 1, SOON_LOG2_MAX);
    }
    chance->has_struck = true;
    return bz_pcg32_below(stream, chance->points + 1);
}

uint32_t bz_chance_cancel(void *state, const struct bz_loop *loop,
                          const struct bz_cancel_candidate *candidates, uint32_t count,
                          uint32_t step, uint32_t point) {
    struct bz_chance *chance = state;
    (void)loop;
    (void)step;
    (void)point;
    return bz_chance_victim(&chance->streams[BZ_CHOICE_CANCEL], candidates, count, BZ_WINDOWS_ALL);
}

uint32_t bz_chance_jump_gap(void *state) {
    struct bz_chance *chance = state;
    return bz_chance_log_gap(&chance->streams[BZ_CHOICE_DELAY], JUMP_GAP_LOG2_MIN,
                             JUMP_GAP_LOG2_MAX);
}

bool bz_chance_jump(void *state, uint32_t step) {
    (void)state;
    (void)step;
    return true;
}

uint64_t bz_chance_draw(void *state, enum bz_choice_kind kind, const struct bz_draw *draw,
                        uint32_t step) {
    struct bz_chance *chance = state;
    (void)step;
    return bz_pcg32_below64(&chance->streams[kind], draw->bound);
}
