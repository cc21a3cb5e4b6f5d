/* Where machine code is, as the unwind tables of the loaded object files say (.eh_frame_hdr, Linux
 * Standard Base 5.0, chapter 10). */
#ifndef BZ_SIM_FRAMES_MODULE_H
#define BZ_SIM_FRAMES_MODULE_H

#include <stdbool.h>
#include <stdint.h>

/* A range of code with one entry in the tables: a function, or the rarely used part of one. */
struct bz_code_range {
    uintptr_t start;
    uintptr_t end;
    uint32_t depth; /* of the frame at its start: 8 where a function begins; 0: not known */
    bool is_plain;  /* no landing pads, and nothing in its object file calls setjmp() */
};

/* False: no range that the tables describe has this address. */
bool bz_code_range_find(uintptr_t address, struct bz_code_range *range);

#endif
