/* What is known of a function, for the files of this folder. */
#ifndef BZ_SIM_FRAMES_INTERNAL_H
#define BZ_SIM_FRAMES_INTERNAL_H

#include "sim/frames/function.h"
#include "traces/lack.h"

/* What to say if memory runs out (traces/lack.h): without it there would be more states. */
#define BZ_FRAMES_PURPOSE "the analysis of stacks"

/* Offsets are from the end of the frame: the return address is at -8. */
#define BZ_AT_ENTRY (-8)
#define BZ_UNSEEN INT32_MIN
#define BZ_LOST (INT32_MIN + 1)

#define BZ_NO_INSN UINT32_MAX

struct bz_insn_range {
    uintptr_t start;
    uintptr_t end;
    uint32_t *ops; /* by the offset of their first byte; BZ_NO_INSN */
};

struct bz_function {
    struct bz_decoder *decoder;
    struct bz_insn_range ranges[BZ_FUNCTION_RANGES_MAX];
    uint32_t range_count;
    uint32_t count;
    uint32_t capacity;
    struct bz_insn *ops;
    uintptr_t *addresses;
    int32_t *sp;                        /* before each */
    int32_t *fp;                        /* if it points into the frame; BZ_LOST: it does not */
    uint8_t access[BZ_FRAME_BYTES_MAX]; /* of each byte; see liveness.c */
    uint8_t saved[BZ_FRAME_BYTES_MAX];  /* the register */
    uint32_t bytes;                     /* of the deepest frame */
    uint32_t *work;                     /* instructions that are to be visited */
    uint32_t work_count;
    bool has_entry;         /* where it begins is known */
    bool has_frame_pointer; /* somewhere it points into the frame */
    bool is_known;          /* the depth at each place */
    bool is_plain;          /* everything that it accesses is known */
    bool forms_addresses;   /* of its frame */
};

/* The instruction at an address; BZ_NO_INSN: there is none that is known. */
uint32_t bz_function_insn_at(const struct bz_function *function, uintptr_t address);

/* Where an instruction can go on. */
struct bz_insn_next {
    uintptr_t at[2];
    uint32_t count;
};

struct bz_insn_next bz_function_next(const struct bz_function *function, uint32_t index);
bool bz_function_is_tail_call(const struct bz_function *function, uint32_t index);

/* Once the depths are known. False: not all accesses to the frame are known. */
bool bz_function_find_accesses(struct bz_function *function);

#endif
