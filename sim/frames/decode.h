/* Machine code as an analysis of registers and frames sees it. */
#ifndef BZ_SIM_FRAMES_DECODE_H
#define BZ_SIM_FRAMES_DECODE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The general registers by their numbers in machine code. A set of registers has three bits for
 * each: for its lowest byte, for the rest of its lower half, and for its upper half. A bool leaves
 * the last two undefined, an int the last one. */
enum { BZ_REG_A, BZ_REG_C, BZ_REG_D, BZ_REG_B, BZ_REG_SP, BZ_REG_FP, BZ_REG_SI, BZ_REG_DI };
#define BZ_REG_NONE 0xffu
#define BZ_REG_BYTE(reg) (UINT64_C(0x000000000001) << (reg))
#define BZ_REG_LOW(reg) (UINT64_C(0x000000010001) << (reg))
#define BZ_REG_HIGH(reg) (UINT64_C(0x000100000000) << (reg))
#define BZ_REG_WHOLE(reg) (UINT64_C(0x000100010001) << (reg))
#define BZ_REGS_ALL UINT64_C(0xffffffffffff)
#define BZ_REGS_CALLEE_SAVED UINT64_C(0xf028f028f028) /* rbx, rbp, r12 to r15 */
#define BZ_REGS_OF_CALLS                                                                           \
    UINT64_C(0x0fc70fc70fc7) /* the others but the stack pointer: a call may read and writes them  \
                              */

enum bz_insn_kind {
    BZ_INSN_PLAIN,
    BZ_INSN_BRANCH,   /* to `target`, or to the next */
    BZ_INSN_JUMP,     /* to `target` */
    BZ_INSN_JUMP_FAR, /* it is computed */
    BZ_INSN_CALL_OUT, /* a call */
    BZ_INSN_RET,
    BZ_INSN_STOP,   /* nothing follows */
    BZ_INSN_SWITCH, /* the switch of coroutines (coro/switch_*.h), as one: goes on at `target` with
                     the stack pointer and the frame pointer that it had */
};

/* What becomes of the stack pointer, or of the frame pointer. */
enum bz_pointer_change {
    BZ_POINTER_KEPT,
    BZ_POINTER_ADDED,   /* moved by `amount` */
    BZ_POINTER_FROM_SP, /* the stack pointer and `amount` */
    BZ_POINTER_FROM_FP,
    BZ_POINTER_LOST,
};

/* An operand in memory whose base is the stack pointer or the frame pointer. */
struct bz_insn_memory {
    int32_t offset;
    uint16_t bytes; /* 0: an address is formed, or there is an index */
    uint8_t base;   /* BZ_REG_SP, BZ_REG_FP; BZ_REG_NONE: there is no such operand */
    bool is_write;  /* of all of its bytes, and no read */
    bool may_write; /* of some of them */
};

/* A copy reads its source only if what it writes is live. */
enum bz_copy { BZ_COPY_NONE, BZ_COPY_LOAD, BZ_COPY_STORE, BZ_COPY_MOVE };

struct bz_insn {
    uintptr_t target;
    int32_t amount;
    uint64_t reads;  /* registers, but for the source of a copy, and for the stack pointer */
    uint64_t writes; /* all of the bits of a part */
    bool uses_sp;    /* as a value, so an address is formed */
    bool uses_fp;
    uint8_t size;
    uint8_t kind;
    uint8_t sp_change;
    uint8_t fp_change;
    uint8_t copy;
    uint8_t copy_to;    /* register of a load or of a move */
    uint8_t copy_from;  /* register of a store or of a move */
    uint8_t copy_bytes; /* that are copied; the rest of the register is cleared, or, if
                           `copy_extends`, depends on them */
    bool copy_extends;
    bool is_filler; /* no path need lead to it: it does nothing, or is a part of the switch */
    bool is_save;   /* push and pop of a register that a callee saves, as `copy` says */
    struct bz_insn_memory memory;
};

struct bz_decoder;

bool bz_decoder_is_there(void);
struct bz_decoder *bz_decoder_new(void); /* NULL: see frames.h */
void bz_decoder_destroy(struct bz_decoder *decoder);

/* The instruction at *code, which it moves behind that. False: it is not known. */
bool bz_decode(struct bz_decoder *decoder, const unsigned char **code, const unsigned char *end,
               struct bz_insn *op);

#endif
