/* The image of a set-up: the loop, the judge's shadow state and the arenas of both before the first
 * step. The digest has the events of the set-up already.
 *
 * No task has run, so all stacks are empty. A restored image has the same addresses, so pointers
 * stay valid. */
#include <stdlib.h>
#include <string.h>

#include "sim/native/image.h"
#include "sim/native/internal.h"

static void forget(struct bz_setup_image *setup) {
    free(setup->arenas_block);
    free(setup->program_copy);
    *setup = (struct bz_setup_image){.program = NULL};
}

void bz_native_forget_setups(struct bz_native *native) {
    for (unsigned index = 0; index < BZ_SETUPS_KEPT; index++) {
        forget(&native->setups[index]);
    }
}

/* The image of the program that has this address. `program` NULL: a free one, or NULL. */
static struct bz_setup_image *find_setup(struct bz_native *native, const void *program) {
    for (unsigned index = 0; index < BZ_SETUPS_KEPT; index++) {
        if (native->setups[index].program == program) {
            return &native->setups[index];
        }
    }
    return NULL;
}

#define PAGE_BYTES 4096u

/* The place of the image in a block that is a page larger: half a page off, because the arena
 * begins at a page. At equal offsets in their pages the processor takes the loads for the stores,
 * and stalls. */
static char *half_a_page_off(char *block) {
    return block + (PAGE_BYTES + PAGE_BYTES / 2 - (uintptr_t)block % PAGE_BYTES) % PAGE_BYTES;
}

void bz_world_keep_setup(struct bz_world *world, const void *program, size_t program_bytes,
                         void *state) {
    struct bz_native *native = bz_native_of(world);
    struct bz_judge *judge = world->judge;
    struct bz_setup_image *setup = find_setup(native, program);
    setup = setup != NULL ? setup : find_setup(native, NULL);
    setup = setup != NULL ? setup : &native->setups[0];
    forget(setup);
    if (BZ_SAN_ADDRESS || BZ_SAN_THREAD || judge->sink != NULL || !judge->is_setup_fixed ||
        judge->is_stopped || world->loop->mem->shift_bytes > 0 || !bz_world_has_resources(world)) {
        return;
    }
    setup->loop_bytes = world->loop->mem->used_bytes;
    setup->shadow_bytes = judge->shadow.mem->used_bytes;
    setup->arenas_block = malloc(setup->loop_bytes + setup->shadow_bytes + PAGE_BYTES);
    setup->program_copy = malloc(program_bytes);
    if (setup->arenas_block == NULL || setup->program_copy == NULL) {
        forget(setup); /* every run repeats the set-up: slower, but correct */
        return;
    }
    setup->arenas = half_a_page_off(setup->arenas_block);
    bz_arena_save(world->loop->mem, setup->arenas);
    bz_arena_save(judge->shadow.mem, setup->arenas + setup->loop_bytes);
    memcpy(setup->program_copy, program, program_bytes);
    setup->loop = *world->loop;
    setup->shadow = judge->shadow;
    setup->digest = judge->digest;
    setup->rest_timer = native->rest_timer;
    setup->refusals = native->refusals;
    setup->stacks = world->loop->stacks->fresh_taken;
    setup->state = state;
    setup->program_bytes = program_bytes;
    setup->program = program;
}

bool bz_world_begin_again(struct bz_world *world, const void *program,
                          const struct bz_run_start *start, void **state) {
    struct bz_native *native = bz_native_of(world);
    struct bz_judge *judge = world->judge;
    const struct bz_setup_image *setup = find_setup(native, program);
    if (setup == NULL || start->sink != NULL ||
        memcmp(setup->program_copy, program, setup->program_bytes) != 0) {
        return false;
    }
    bz_arena_restore(world->loop->mem, setup->arenas, setup->loop_bytes);
    bz_arena_restore(judge->shadow.mem, setup->arenas + setup->loop_bytes, setup->shadow_bytes);
    world->loop->stacks->free_stacks = NULL;
    world->loop->stacks->fresh_taken = setup->stacks;
    world->loop->stacks->is_exhausted = false;
    *world->loop = setup->loop;
    judge->shadow = setup->shadow;
    bz_judge_begin_choices(judge, start);
    judge->digest = setup->digest;
    native->rest_timer = setup->rest_timer;
    bz_native_let_refuse(native, setup->refusals);
    native->outside_is_past = true;
    native->has_many = false;
    *state = setup->state;
    return true;
}
