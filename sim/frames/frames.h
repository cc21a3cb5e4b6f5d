/* Words of a suspended stack that nobody reads any more.
 *
 * Two states with the same future should be the same bytes. Compilers leave words in frames that
 * have no meaning: a variable whose use is over, padding, a register that a callee has saved for a
 * caller which does not need it. Which ones there are depends on the compiler and its options. Here
 * they are found in the machine code, so that a search can clear them.
 *
 * How: the frames of a suspended stack are walked from the return addresses. For each function in
 * them the machine code is decoded, and which registers and words are live at the place where the
 * frame goes on is computed by the textbook's backward analysis (A. Aho, M. Lam, R. Sethi, J.
 * Ullman, Compilers, 2006, section 9.2.5), where a copy reads its source only if its copy is live
 * (R. Giegerich, U. Moencke, R. Wilhelm, Invariance of approximative semantics with respect to
 * program transformations, 1981: faint variables). It begins with the outermost frame, because the
 * caller says which of the saved registers it needs.
 *
 * It is sound: a word is cleared only if no instruction that can follow reads it.
 *   - A function that forms an address of its frame may have pointers to all of it. Then only words
 *     that are accessed by `push` and `pop` alone can be dead: registers that it has saved.
 *   - Words that are written where their function cannot read them are arguments of a callee. They
 *     are live, with the padding among them, where a tail call of the callee may have arguments.
 *   - All is live in a function with landing pads of exceptions, in one with jumps that cannot be
 *     followed, in one that moves its stack pointer in an unknown way, and in every object file
 *     that calls setjmp(). In the frames inside these, saved registers are live.
 * It supposes what compilers keep to: a callee does not write what its caller has saved, and reads
 * no frame but through pointers, arguments and saved registers (System V ABI).
 *
 * x86-64 only. The decoder is Capstone, a library that is loaded when the first object is made. */
#ifndef BZ_SIM_FRAMES_FRAMES_H
#define BZ_SIM_FRAMES_FRAMES_H

#include <stdbool.h>
#include <stdint.h>

struct bz_frames;

/* False: another processor, or Capstone is not installed, or was not when this was built. */
bool bz_frames_is_supported(void);

/* Dead bytes become `dead`: 0, or in tests something that nobody would take for a value. NULL: not
 * supported, or without memory. */
struct bz_frames *bz_frames_new(uint8_t dead);
void bz_frames_destroy(struct bz_frames *frames);

/* A suspended stack: where it goes on, and its words from `sp` to `top`. */
struct bz_frames_stack {
    void *pc;
    void *sp;
    void *top;
};

/* Clears its dead words, and *frame_pointer if that is not read. What is known of a chain of return
 * addresses is kept, so the code is decoded once: O(frames) each later time. Lack of memory stops
 * the process (traces/lack.h). At most BZ_FRAMES_CHAINS_MAX chains are known; the stacks of others
 * stay as they are.
 */
#define BZ_FRAMES_CHAINS_MAX 4096u
void bz_frames_clear(struct bz_frames *frames, const struct bz_frames_stack *stack,
                     void **frame_pointer);

#endif
