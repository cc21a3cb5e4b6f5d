/* Machine code as an analysis of registers and frames sees it. */
#ifndef BZ_SIM_FRAMES_DECODE_H
#define BZ_SIM_FRAMES_DECODE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The general registers by their numbers in machine code. A set of registers has two bits for each:
 * for its lower and its upper half, because an int leaves the upper one undefined. */
enum { BZ_REG_A, BZ_REG_C, BZ_REG_D, BZ_REG_B, BZ_REG_SP, BZ_REG_FP, BZ_REG_SI, BZ_REG_DI };
#define BZ_REGS 16
#define BZ_REG_NONE 0xffu
#define BZ_REGS_ALL UINT32_MAX
#define BZ_REG_LOW(reg) (1u << (reg))
#define BZ_REG_HIGH(reg) (0x10000u << (reg))
#define BZ_REG_BOTH(reg) (0x10001u << (reg))
#define BZ_REGS_CALLEE_SAVED 0xf028f028u   /* rbx, rbp, r12 to r15 */
#define BZ_REGS_OF_CALLS 0x0fc70fc7u       /* the others but the stack pointer: a call may read and
                                              writes them */

enum bz_op_kind {
    BZ_OP_PLAIN,
    BZ_OP_BRANCH,    /* to `target`, or to the next */
    BZ_OP_JUMP,      /* to `target` */
    BZ_OP_JUMP_FAR,  /* it is computed */
    BZ_OP_CALL_OUT,  /* a call */
    BZ_OP_RET,
    BZ_OP_STOP,      /* nothing follows */
    BZ_OP_SWITCH,    /* the switch of coroutines (coro/switch_*.h), as one: goes on at `target` with
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
struct bz_op_memory {
    int32_t offset;
    uint16_t bytes; /* 0: an address is formed, or there is an index */
    uint8_t base;   /* BZ_REG_SP, BZ_REG_FP; BZ_REG_NONE: there is no such operand */
    bool is_write;  /* of all of its bytes, and no read */
    bool may_write; /* or it is read, or both */
};

/* A copy reads its source only if what it writes is live. */
enum bz_copy { BZ_COPY_NONE, BZ_COPY_LOAD, BZ_COPY_STORE, BZ_COPY_MOVE };

struct bz_op {
    uintptr_t target;
    int32_t amount;
    uint32_t reads;  /* registers, but for the source of a copy, and for the stack pointer */
    uint32_t writes; /* all of a register's bits */
    bool uses_sp;    /* as a value, so an address is formed */
    bool uses_fp;
    uint8_t size;
    uint8_t kind;
    uint8_t sp_change;
    uint8_t fp_change;
    uint8_t copy;
    uint8_t copy_to;   /* register of a load or of a move */
    uint8_t copy_from; /* register of a store or of a move */
    uint8_t copy_bytes; /* 8: each half of the source becomes that half; else the lower half alone is
                           read, and if `copy_extends`, both halves depend on it */
    bool copy_extends;
    bool is_save; /* push and pop of a register that a callee saves, as `copy` says */
    struct bz_op_memory memory;
};

struct bz_decoder;

bool bz_decoder_is_there(void);
struct bz_decoder *bz_decoder_new(void); /* NULL: see frames.h */
void bz_decoder_destroy(struct bz_decoder *decoder);

/* The instruction at *code, which it moves behind that. False: it is not known. */
bool bz_decode(struct bz_decoder *decoder, const unsigned char **code, const unsigned char *end,
               struct bz_op *op);

#endif
