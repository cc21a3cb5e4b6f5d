/* One function: how deep its frame is at each place, and which of its bytes are dead there. */
#ifndef BZ_SIM_FRAMES_FUNCTION_H
#define BZ_SIM_FRAMES_FUNCTION_H

#include <stdbool.h>
#include <stdint.h>

#include "sim/frames/decode.h"
#include "sim/frames/module.h"

/* The bytes of a frame are counted from its end downward: 0 to 7 are the return address. */
#define BZ_FRAME_BYTES_MAX 4096u

#define BZ_FUNCTION_INSNS_MAX 65536u
#define BZ_FUNCTION_RANGES_MAX 4u

struct bz_function;

/* The function of which this range is a part: compilers put what runs rarely apart. What cannot
 * be analysed has no depth at any place. */
struct bz_function *bz_function_new(struct bz_decoder *decoder, const struct bz_code_range *range);
void bz_function_destroy(struct bz_function *function);
bool bz_function_has(const struct bz_function *function, uintptr_t address);

/* Bytes from the stack pointer to the end of the frame, when `address` is the next instruction. 0:
 * not known. */
uint32_t bz_function_depth(const struct bz_function *function, uintptr_t address);

/* What is live outside of a function when it returns. */
struct bz_exit {
    uint64_t registers; /* of those that a callee saves */
    bool may_unwind;    /* into a frame of which nothing is known, from any call */
};

/* At one place. */
struct bz_live {
    uint64_t registers;
    uint64_t dead[BZ_FRAME_BYTES_MAX / 64u]; /* bytes of the frame, as bits */
};

/* O(instructions x frame), a few times. */
void bz_function_find_live(const struct bz_function *function, uintptr_t address,
                           const struct bz_exit *out, struct bz_live *live);

#endif
