/* The image of a set-up: the arena, the loop and the book as they are before the first step, with
 * the events of the set-up noted already.
 *
 * No task has run, so there is nothing on any stack, and addresses are the same when the image is
 * put back: pointers inside it stay right. */
#include <stdlib.h>
#include <string.h>

#include "sim/world/image.h"
#include "sim/world/world.h"

void bz_world_forget_setup(struct bz_world *world) {
    free(world->setup.arena_block);
    free(world->setup.program_copy);
    world->setup = (struct bz_setup_image){.program = NULL};
}

#define PAGE_BYTES 4096u

/* Where in a block, which is a page larger, the image begins: half a page off the arena, which
 * begins with a page. At the same place in its page as what is written, a processor takes what is
 * read for it, and waits. */
static void *half_a_page_off(char *block) {
    return block + (PAGE_BYTES + PAGE_BYTES / 2 - (uintptr_t)block % PAGE_BYTES) % PAGE_BYTES;
}

void bz_world_keep_setup(struct bz_world *world, const void *program, size_t program_bytes,
                         void *state) {
    struct bz_setup_image *setup = &world->setup;
    bz_world_forget_setup(world);
    if (BZ_SAN_ADDRESS || BZ_SAN_THREAD || world->is_watched || world->has_drawn ||
        world->is_stopped) {
        return;
    }
    setup->arena_bytes = world->loop->mem->used_bytes;
    setup->arena_block = malloc(setup->arena_bytes + PAGE_BYTES);
    setup->program_copy = malloc(program_bytes);
    if (setup->arena_block == NULL || setup->program_copy == NULL) {
        bz_world_forget_setup(world); /* it will be set up again and again: slower, not wrong */
        return;
    }
    setup->arena = half_a_page_off(setup->arena_block);
    bz_image_save_arena(world->loop, setup->arena);
    memcpy(setup->program_copy, program, program_bytes);
    setup->loop = *world->loop;
    setup->book = world->book;
    setup->digest = world->digest;
    setup->stacks = world->loop->stacks->fresh_taken;
    setup->state = state;
    setup->program_bytes = program_bytes;
    setup->program = program;
}

bool bz_world_begin_again(struct bz_world *world, const void *program, uint64_t seed,
                          const struct bz_tape *tape, struct bz_event_sink *sink, void **state) {
    const struct bz_setup_image *setup = &world->setup;
    if (setup->program == NULL || setup->program != program || sink != NULL ||
        memcmp(setup->program_copy, program, setup->program_bytes) != 0) {
        return false;
    }
    bz_image_restore_arena(world->loop, setup->arena, setup->arena_bytes);
    world->loop->stacks->free_stacks = NULL;
    world->loop->stacks->fresh_taken = setup->stacks;
    *world->loop = setup->loop;
    world->book = setup->book;
    bz_world_begin_run(world, seed, tape, sink);
    world->digest = setup->digest;
    *state = setup->state;
    return true;
}
