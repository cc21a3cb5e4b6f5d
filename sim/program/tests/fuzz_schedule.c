/* The bytes are the choices of a schedule of what ships: which handle is next, where a cancel
 * strikes and whom, when the clock jumps, what is drawn. After the last byte every choice is the
 * default. Nothing may be found; and the tape replays to the same run, strictly and leniently. */
#include "sim/choice/strategy_replay.h"
#include "sim/judge/record.h"
#include "sim/program/program.h"
#include "sim/tests/fuzz.h"

#define STEPS_MAX 20000u

/* --- the strategy ----------------------------------------------------------------------------- */

struct bytes {
    const uint8_t *next;
    size_t left;
};

static uint64_t take(void *state, uint64_t bound) {
    struct bytes *bytes = *(struct bytes **)state;
    uint64_t value = 0;
    for (uint64_t rest = bound - 1; rest > 0 && bytes->left > 0; rest >>= 8u) {
        value = value << 8u | *bytes->next++;
        bytes->left--;
    }
    return value % bound;
}

static void bytes_begin(void *state, const struct bz_strategy_start *start) {
    *(struct bytes **)state = start->context;
}

static uint32_t bytes_next(void *state, const struct bz_ready *ready, uint32_t count,
                           uint32_t step) {
    (void)ready;
    (void)step;
    return (uint32_t)take(state, count);
}

static uint32_t bytes_gap(void *state) {
    const struct bytes *bytes = *(struct bytes **)state;
    return bytes->left > 0 ? (uint32_t)take(state, 16) : BZ_GAP_NEVER;
}

static uint32_t bytes_cancel(void *state, const struct bz_cancel_candidate *candidates,
                             uint32_t count, uint32_t step, uint32_t point) {
    (void)candidates;
    (void)step;
    (void)point;
    return (uint32_t)take(state, (uint64_t)count + 1);
}

static bool bytes_jump(void *state, uint32_t step) {
    (void)step;
    return take(state, 2) != 0;
}

static uint64_t bytes_draw(void *state, enum bz_choice_kind kind, const struct bz_draw *draw,
                           uint32_t step) {
    (void)kind;
    (void)step;
    return take(state, draw->bound);
}

static const struct bz_strategy strategy = {
    .name = "bytes",
    .summary = "the bytes of a fuzzer",
    .state_bytes = sizeof(struct bytes *),
    .begin = bytes_begin,
    .next = bytes_next,
    .cancel_gap = bytes_gap,
    .cancel = bytes_cancel,
    .jump_gap = bytes_gap,
    .jump = bytes_jump,
    .draw = bytes_draw,
};

/* --- the run ---------------------------------------------------------------------------------- */

/* Its worlds are kept: one for the run, another one for the replays. */
struct stage {
    struct bz_program program;
    struct bz_program_place places[2];
};

static struct stage *stage_of(uint8_t scenario, uint8_t how) {
    static struct stage stages[64][2];
    uint32_t count = 0;
    while (bz_scenarios[count] != NULL) {
        count++;
    }
    struct stage *stage = &stages[scenario % count][how & 1u];
    if (stage->places[0].world == NULL) {
        bz_program_init(&stage->program, bz_scenarios[scenario % count], &bz_variant_buzzer,
                        &strategy);
        stage->program.order = (how & 1u) != 0 ? BZ_ORDER_FIFO : BZ_ORDER_ANY;
        stage->program.steps_max = STEPS_MAX;
        stage->program.cancels_max = 4;
        for (unsigned index = 0; index < 2; index++) {
            stage->places[index] =
                (struct bz_program_place){&stage->program, bz_program_new_world(&stage->program)};
            FUZZ_CHECK(stage->places[index].world != NULL, "out of memory");
        }
    }
    return stage;
}

static enum bz_run_end run(struct bz_program_place *place, const struct bz_run_start *start) {
    struct bz_source source = bz_program_source(place);
    return bz_judge_run(place->world->judge, &source, start);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    static const struct bz_strategy *const replays[] = {&bz_strategy_replay_strict,
                                                        &bz_strategy_replay_lenient};
    if (size < 2) {
        return 0;
    }
    struct stage *stage = stage_of(data[0], data[1]);
    struct bytes bytes = {data + 2, size - 2};
    const struct bz_judge *first = stage->places[0].world->judge;
    const struct bz_judge *second = stage->places[1].world->judge;
    struct bz_kept_run kept;
    enum bz_run_end end =
        run(&stage->places[0], &(struct bz_run_start){.strategy = &strategy, .context = &bytes});
    FUZZ_CHECK(end != BZ_RUN_VIOLATED, "%s, order %u: %s: %s", stage->program.scenario->name,
               data[1] & 1u, bz_judge_violation(first)->oracle, bz_judge_violation(first)->message);
    bz_judge_keep(first, &kept);
    for (unsigned index = 0; index < 2; index++) {
        enum bz_run_end again =
            run(&stage->places[1],
                &(struct bz_run_start){.strategy = replays[index], .tape = &kept.tape});
        FUZZ_CHECK(again == end && bz_judge_digest(second) == bz_judge_digest(first),
                   "%s is another run", replays[index]->name);
    }
    bz_kept_run_fini(&kept);
    return 0;
}
