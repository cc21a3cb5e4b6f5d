/* The image of a loop between two steps: everything that it and its tasks are made of, so that a
 * run can go back to where it was, and so that two runs can be found to be at the same place.
 *
 *     bz_image_normalize(loop)      forget what no future step can see
 *     bz_image_save(loop, memory, &layout)
 *       ... any number of steps ...
 *     bz_image_restore(loop, memory)   as if they had never been
 *
 * A task is its stack: what is live of each is copied, from the stack pointer up. (The simulator's
 * copy of the runtime is compiled without a red zone, the 128 bytes below the stack pointer that
 * x86-64 lets a function use.) Addresses are the same when the image is put back, so pointers stay
 * right, wherever they point. What lies outside the loop's arena and its tasks' stacks is not part
 * of the image.
 *
 * Works with the native switches, where a suspended task's stack pointer is known, and without
 * sanitizers, whose records of a stack could not be put back: see bz_image_is_supported().
 */
#ifndef BZ_SIM_NATIVE_IMAGE_H
#define BZ_SIM_NATIVE_IMAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct bz_loop;
struct bz_mem;

bool bz_image_is_supported(void);

/* Where things are in an image. Two images whose first `state_bytes` are equal, byte by byte, are
 * of the same state: all that follows is the same, but for addresses of memory that is yet to be
 * handed out. The ready queue is apart, as an array of pointers, for who does not care about its
 * order. */
struct bz_image_layout {
    size_t state_bytes;
    size_t queue_offset;
    uint32_t queue_count;
};

/* What an image would take now. O(tasks). */
size_t bz_image_bytes(const struct bz_loop *loop);

/* Writes it; returns its size. O(bytes). */
size_t bz_image_save(const struct bz_loop *loop, void *image, struct bz_image_layout *layout);
size_t bz_image_restore(struct bz_loop *loop, const void *image); /* returns its size */

/* Forgets history: numbers of handles (which name them in a recording), stale slots, memory that
 * was given back, the stack pointers of tasks that have ended. What any task, primitive or driver
 * does from here on is the same. O(tasks + timers + ready handles + freed blocks). */
void bz_image_normalize(struct bz_loop *loop);

/* --- one arena (primitives/runtime/mem.h) ----------------------------------------------------- */

/* Its blocks and, apart, its records: how much is in use, which blocks were given back. Saving
 * returns the end of what was written, restoring the end of what was read. */
size_t bz_arena_blocks_bytes(const struct bz_mem *mem);
size_t bz_arena_record_bytes(const struct bz_mem *mem);
char *bz_arena_save_blocks(const struct bz_mem *mem, char *to);
char *bz_arena_save_record(const struct bz_mem *mem, char *to);
const char *bz_arena_restore_blocks(struct bz_mem *mem, const char *from, size_t bytes);
const char *bz_arena_restore_record(struct bz_mem *mem, const char *from);

/* All of it at once, in time proportional to what is in use; a copy takes mem->used_bytes. Not with
 * AddressSanitizer, which would not know what is in use. */
void bz_arena_save(const struct bz_mem *mem, void *copy);
void bz_arena_restore(struct bz_mem *mem, const void *copy, size_t copy_bytes);

/* Clears what blocks that were given back still contain; what was in use once and is not now, so
 * that a run finds there what the first one did. */
void bz_arena_scrub(struct bz_mem *mem);
void bz_arena_wipe(struct bz_mem *mem);

#endif
