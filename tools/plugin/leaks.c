#include "tools/plugin/plugins.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "primitives/runtime/loop.h"
#include "primitives/runtime/mem.h"
#include "sim/choice/strategy.h"
#include "sim/program/program.h"
#include "tools/cli/cli.h"
#include "traces/lack.h"

#define CHILD_NS UINT64_C(20000000000) /* of CPU time, for all of it */
#define KEPT_MAX 50u                   /* blocks that objects and tasks may keep for good */

static bool set_param(struct bz_program *program, const char *name, int64_t value) {
    const struct bz_param *params = program->scenario->params;
    uint32_t index = 0;
    while (params[index].name != NULL && strcmp(params[index].name, name) != 0) {
        index++;
    }
    if (params[index].name != NULL) {
        program->args.values[index] = value;
    }
    return params[index].name != NULL;
}

/* In order fifo, with as many rounds. A task that is cancelled continues where the scenario knows
 * that (`manner` 4); elsewhere there are no cancels. */
static bool has_rounds(struct bz_program *program, int64_t rounds) {
    (void)set_param(program, "cancels", set_param(program, "manner", 4) ? rounds : 0);
    program->order = BZ_ORDER_FIFO;
    program->cancel_windows = 0;
    return set_param(program, "rounds", rounds) || set_param(program, "items", rounds) ||
           set_param(program, "operations", rounds);
}

/* The first scenario of the primitive that has rounds; false: none has. */
static bool find_rounds(const struct bz_leaks *leaks, struct bz_program *program, int64_t rounds) {
    for (const struct bz_scenario *const *next = bz_cli_catalog.scenarios; *next != NULL; next++) {
        if (bz_scenario_uses(*next, leaks->primitive)) {
            bz_program_init(program, *next, leaks->variant, &bz_strategy_random);
            bz_program_use(program, leaks->primitive);
            if (has_rounds(program, rounds)) {
                return true;
            }
        }
    }
    return false;
}

static void count_rounds(struct bz_leaks *leaks) {
    bool is_ok = true;
    for (unsigned which = 0; which < 2; which++) {
        struct bz_program program;
        is_ok = is_ok && find_rounds(leaks, &program, which == 0 ? BZ_LEAKS_FEW : BZ_LEAKS_MANY);
        if (is_ok) {
            struct bz_world *world = bz_lack_check(bz_program_new_world(&program), "a simulation");
            is_ok = bz_program_run(&program, world, 0) == BZ_RUN_PASSED;
            leaks->blocks[which] = bz_mem_live_blocks(bz_loop_mem(world->loop));
        }
    }
    leaks->is_done = is_ok;
}

/* In a child process. */
static void count_blocks(void *context) {
    struct bz_leaks *leaks = context;
    count_rounds(leaks);
    const struct bz_permit_ops *ops =
        leaks->primitive < BZ_PERMIT_PRIMITIVES ? leaks->variant->permits[leaks->primitive] : NULL;
    if (ops != NULL && ops->fini != NULL) {
        struct bz_loop *loop = bz_lack_check(bz_loop_new(NULL), "a loop");
        struct bz_mem *mem = bz_loop_mem(loop);
        void *instance = bz_lack_check(bz_mem_alloc(mem, ops->instance_bytes), "an object");
        for (unsigned time = 0; time < 2; time++) { /* the loop keeps what it takes at first */
            uint64_t before = bz_mem_live_blocks(mem);
            memset(instance, 0, ops->instance_bytes);
            if (ops->init(instance, loop, 1) != BZ_OK) {
                return;
            }
            leaks->is_in_fini = true;
            ops->fini(instance);
            leaks->is_in_fini = false;
            leaks->blocks_after_fini = bz_mem_live_blocks(mem) - before;
        }
    }
}

static void __attribute__((format(printf, 2, 3)))
add_leak(struct bz_leaks *leaks, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(leaks->messages[leaks->message_count++], BZ_MESSAGE_BYTES, format, arguments);
    va_end(arguments);
}

enum bz_child_state bz_leaks_count(struct bz_leaks *leaks, struct bz_death *death) {
    struct bz_contain contain = bz_cli_catalog.contain;
    struct bz_leaks *shared =
        bz_lack_check(bz_shared_alloc(sizeof *shared), "a page for a child process");
    contain.step_ns = CHILD_NS;
    contain.is_quiet = true;
    *shared = *leaks;
    enum bz_child_state state = bz_contain_call(&contain, NULL, count_blocks, shared, death);
    *leaks = *shared;
    bz_shared_free(shared, sizeof *shared);
    if (state == BZ_CHILD_DIED && leaks->is_in_fini) {
        add_leak(leaks, "fini ends the process: %s", death->how);
    } else if (leaks->blocks_after_fini > 0) {
        add_leak(leaks, "after fini, the arena has %" PRIu64 " more %s than before init",
                 leaks->blocks_after_fini, leaks->blocks_after_fini == 1 ? "block" : "blocks");
    }
    if (leaks->is_done && leaks->blocks[1] > leaks->blocks[0] + KEPT_MAX) {
        add_leak(leaks, "%d more rounds of each task leave %" PRIu64 " more blocks in the arena",
                 BZ_LEAKS_MANY - BZ_LEAKS_FEW, leaks->blocks[1] - leaks->blocks[0]);
    }
    return state;
}
