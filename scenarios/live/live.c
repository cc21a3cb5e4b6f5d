#include "scenarios/live/internal.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "primitives/runtime/check.h"
#include "primitives/runtime/driver.h"
#include "primitives/runtime/timer.h"
#include "sim/judge/judge.h"

_Thread_local struct bz_live *bz_live_current;

/* --- the recording ---------------------------------------------------------------------------- */

/* The words of the file: a pointer to a copy of the text, which lives as long as the process. */
static bool read_recording(uint64_t *file, const struct bz_variant *variant, const char *text,
                           size_t length, const char *origin, char *error, size_t error_bytes) {
    if (strcmp(variant->name, "buzzer") != 0) {
        snprintf(error, error_bytes, "%s: a recording repeats what ships: use --variant buzzer",
                 origin);
        return false;
    }
    if (strncmp(text, "buzzer-live 1\n", strlen("buzzer-live 1\n")) != 0) {
        snprintf(error, error_bytes,
                 "%s: it does not begin with 'buzzer-live 1': BZ_RECORD=FILE writes a recording",
                 origin);
        return false;
    }
    char *copy = malloc(length + 1);
    if (copy == NULL) {
        snprintf(error, error_bytes, "%s: no memory for its %zu bytes", origin, length);
        return false;
    }
    memcpy(copy, text, length);
    copy[length] = '\0';
    file[0] = (uintptr_t)copy;
    return true;
}

const struct bz_scenario_file bz_live_file = {
    .summary = "The recording to repeat, written with BZ_RECORD=FILE",
    .read = read_recording,
    .bytes_max = UINT32_MAX,
    .is_recording = true,
};

/* --- the outside ------------------------------------------------------------------------------ */

/* At the recorded end tasks are deadlocked, unless something could still happen. */
static bool is_over(const struct bz_live *live) {
    const struct bz_loop *loop = live->world->loop;
    return bz_uv_replay_is_over(live->driver) &&
           (bz_loop_live_tasks(loop) == 0 ||
            (bz_uv_open_ops(live->driver) == 0 && bz_driver_ready_count(loop) == 0 &&
             bz_driver_next_deadline_ns(loop) == BZ_TIME_NEVER));
}

static bool next_turn(void *context, uint64_t *now_ns) {
    struct bz_live *live = context;
    struct bz_judge *judge = live->world->judge;
    char why[BZ_MESSAGE_BYTES];
    bz_live_current = live;
    bool has_turn = bz_uv_replay_turn(live->driver, now_ns);
    if (has_turn && *now_ns <= BZ_TIME_MAX_NS) {
        return true;
    }
    const char *error = bz_uv_error(live->driver);
    if (error != NULL) {
        snprintf(why, sizeof why, "the recording does not go on: %s", error);
        bz_judge_cut(judge, why);
    } else if (has_turn) {
        bz_judge_cut(judge, "the recording does not go on: a turn is later than 2^53 - 1 ns");
    } else if (!is_over(live)) {
        bz_judge_cut(judge,
                     "the recorded program goes on from here: it was stopped with tasks under "
                     "way, or main() called bz_uv_run() again");
    }
    return false;
}

static uv_loop_t uv;
static bool has_uv;

struct bz_uv *bz_live_begin(struct bz_world *world, const struct bz_scenario_args *args) {
    struct bz_live *live = bz_world_alloc(world, sizeof *live);
    bz_live_current = NULL;
    if (args->file_digest == 0) {
        bz_judge_cut(world->judge, "there is no recording: --set file=RECORDING names one");
        return NULL;
    }
    if (bz_judge_order(world->judge) != BZ_ORDER_FIFO) {
        bz_judge_cut(world->judge, "a recording is repeated in order fifo alone");
        return NULL;
    }
    live->world = world;
    live->outside = (struct bz_world_outside){.next_turn = next_turn, .context = live};
    if (!has_uv) {
        BZ_CHECK(uv_loop_init(&uv) == 0); /* nothing runs it */
        has_uv = true;
    }
    live->driver = bz_uv_new_replay(world->loop, &uv, (const char *)(uintptr_t)args->file[0]);
    if (live->driver == NULL) {
        return NULL; /* no memory, which ends the run */
    }
    bz_world_set_outside(world, &live->outside);
    bz_world_adopt_all(world);
    bz_live_current = live;
    return live->driver;
}

void bz_live_look_inside(struct bz_uv *driver) {
    BZ_CHECK(driver == bz_live_current->driver);
    bz_live_current->looks_inside = true;
}
