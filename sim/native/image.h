/* The image of a loop between two steps: the loop and its tasks, as bytes. A run can go back to an
 * image, and two runs in the same state have equal images.
 *
 *     bz_image_normalize(loop)         clear what no future step can see
 *     bz_image_save(loop, memory, &layout)
 *       ... any number of steps ...
 *     bz_image_restore(loop, memory, &layout)   undoes these steps
 *
 * A task is its stack, which is copied from the stack pointer up. (The simulator's copy of the
 * runtime is compiled without a red zone, the 128 bytes below the stack pointer that a function may
 * use on x86-64.) A restored image has the same addresses, so all pointers stay valid. Memory
 * outside the loop's arena and its tasks' stacks is not part of the image.
 *
 * It needs a native switch, which knows a suspended task's stack pointer, and no sanitizers, whose
 * records of a stack cannot be restored: see bz_image_is_supported().
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "primitives/runtime/coro/stack.h"

struct bz_handle;
struct bz_loop;
struct bz_mem;
struct bz_task;

bool bz_image_is_supported(void);

/* The part of a task's stack in an image: the bytes from the stack pointer up. */
struct bz_image_stack {
    const struct bz_stack *stack;
    const char *low;
    uint32_t bytes;
    uint32_t task; /* its number */
};

/* The layout of an image. Two images are of the same state if their first `state_bytes` are equal.
 * These end with the stacks of tasks, in the order of bz_driver_next_task(). One struct
 * bz_image_stack for each of them follows. */
struct bz_image_layout {
    size_t state_bytes;
    size_t stacks_offset;
    size_t record_offset;
    uint32_t stack_count;
};

/* The next task that has a stack, oldest first; NULL after the last. And that stack. */
struct bz_task *bz_image_next_stack(const struct bz_loop *loop, const struct bz_task *task);
struct bz_image_stack bz_image_stack_of(const struct bz_task *task);

/* The size of an image of the loop as it is. O(tasks). */
size_t bz_image_bytes(const struct bz_loop *loop);

/* Writes an image, and returns its size; or restores it. O(bytes). */
size_t bz_image_save(const struct bz_loop *loop, void *image, struct bz_image_layout *layout);
void bz_image_restore(struct bz_loop *loop, const void *image,
                      const struct bz_image_layout *layout);

/* Clears history: numbers of handles (which name them in a recording), stale slots, the stack
 * pointers of ended tasks, and what is below the frames of suspended ones. Tasks, primitives and
 * drivers behave the same afterwards. O(tasks + timers + ready handles). */
void bz_image_normalize(struct bz_loop *loop);

/* The stacks may have been written to since bz_image_normalize() or bz_image_restore(). */
void bz_image_forget_stacks(const struct bz_loop *loop);

/* A number for the loop's state, after bz_image_normalize(): two equal numbers mean that from both
 * states the loop and its tasks do the same. Works in every build; false only if AddressSanitizer
 * keeps locals outside of the stacks. O(bytes). */
bool bz_image_fingerprint(const struct bz_loop *loop, uint64_t *fingerprint);

/* bz_driver_step() for a search: what a task leaves on its stack depends on its own past alone. */
void bz_image_step(struct bz_loop *loop, struct bz_handle *handle);

/* --- one arena (primitives/runtime/mem.h) ----------------------------------------------------- */

/* Its blocks and, separately, its records: how much is in use, and which blocks were freed. Saving
 * returns the end of what was written, restoring the end of what was read. */
char *bz_arena_blocks(const struct bz_mem *mem);
size_t bz_arena_blocks_bytes(const struct bz_mem *mem);
size_t bz_arena_record_bytes(const struct bz_mem *mem);
char *bz_arena_save_blocks(const struct bz_mem *mem, char *to);
char *bz_arena_save_record(const struct bz_mem *mem, char *to);
const char *bz_arena_restore_blocks(struct bz_mem *mem, const char *from, size_t bytes);
const char *bz_arena_restore_record(struct bz_mem *mem, const char *from);

/* The whole arena, in time proportional to what is in use; a copy takes mem->used_bytes. Not with
 * AddressSanitizer, which tracks what is in use. */
void bz_arena_save(const struct bz_mem *mem, void *copy);
void bz_arena_restore(struct bz_mem *mem, const void *copy, size_t copy_bytes);

/* Clears what was in use before and is not now. Then a run finds the same memory as the first one.
 */
void bz_arena_wipe(struct bz_mem *mem);
