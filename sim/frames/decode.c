#include "sim/frames/decode.h"

#if defined(__x86_64__) && defined(BZ_HAS_CAPSTONE)

#include <capstone/capstone.h>
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>

#include "sim/frames/internal.h"

#define TEXT_OF(number) #number
#define LIBRARY_OF(major) "libcapstone.so." TEXT_OF(major)

/* The functions of the library. */
struct library {
    __typeof__(cs_open) *open;
    __typeof__(cs_close) *close;
    __typeof__(cs_option) *option;
    __typeof__(cs_malloc) *malloc;
    __typeof__(cs_free) *free;
    __typeof__(cs_disasm_iter) *next;
    __typeof__(cs_regs_access) *access;
};

struct bz_decoder {
    struct library library;
    csh handle;
    cs_insn *insn;
};

/* The library does not look whether it got memory when it decodes. */
static void *check(void *block) {
    return bz_lack_check(block, BZ_FRAMES_PURPOSE);
}

static void *checked_malloc(size_t bytes) {
    return check(malloc(bytes));
}

static void *checked_calloc(size_t count, size_t bytes) {
    return check(calloc(count, bytes));
}

static void *checked_realloc(void *block, size_t bytes) {
    return check(realloc(block, bytes));
}

static bool load(struct library *library) {
    /* Not closed: it may serve several searches. */
    void *handle = dlopen(LIBRARY_OF(CS_API_MAJOR), RTLD_NOW | RTLD_LOCAL);
    if (handle == NULL) {
        return false;
    }
    *(void **)&library->open = dlsym(handle, "cs_open");
    *(void **)&library->close = dlsym(handle, "cs_close");
    *(void **)&library->option = dlsym(handle, "cs_option");
    *(void **)&library->malloc = dlsym(handle, "cs_malloc");
    *(void **)&library->free = dlsym(handle, "cs_free");
    *(void **)&library->next = dlsym(handle, "cs_disasm_iter");
    *(void **)&library->access = dlsym(handle, "cs_regs_access");
    return library->open != NULL && library->close != NULL && library->option != NULL &&
           library->malloc != NULL && library->free != NULL && library->next != NULL &&
           library->access != NULL;
}

bool bz_decoder_is_there(void) {
    struct library library;
    return load(&library);
}

struct bz_decoder *bz_decoder_new(void) {
    static cs_opt_mem memory = {checked_malloc, checked_calloc, checked_realloc, free, vsnprintf};
    struct bz_decoder *decoder = calloc(1, sizeof *decoder);
    if (decoder == NULL || !load(&decoder->library) ||
        decoder->library.option(0, CS_OPT_MEM, (size_t)&memory) != CS_ERR_OK ||
        decoder->library.open(CS_ARCH_X86, CS_MODE_64, &decoder->handle) != CS_ERR_OK) {
        free(decoder);
        return NULL;
    }
    if (decoder->library.option(decoder->handle, CS_OPT_DETAIL, CS_OPT_ON) != CS_ERR_OK ||
        (decoder->insn = decoder->library.malloc(decoder->handle)) == NULL) {
        bz_decoder_destroy(decoder);
        return NULL;
    }
    return decoder;
}

void bz_decoder_destroy(struct bz_decoder *decoder) {
    if (decoder != NULL) {
        if (decoder->insn != NULL) {
            decoder->library.free(decoder->insn, 1);
        }
        (void)decoder->library.close(&decoder->handle);
        free(decoder);
    }
}

/* --- registers -------------------------------------------------------------------------------- */

#define SECOND_BYTE 3u /* in place of a number of bytes */

struct name {
    uint8_t reg; /* BZ_REG_NONE: none of the general ones */
    uint8_t bytes;
};

#define CLASSIC(number, letter)                                                                    \
    case X86_REG_R##letter##X:                                                                     \
        return (struct name){number, 8};                                                           \
    case X86_REG_E##letter##X:                                                                     \
        return (struct name){number, 4};                                                           \
    case X86_REG_##letter##X:                                                                      \
        return (struct name){number, 2};                                                           \
    case X86_REG_##letter##L:                                                                      \
        return (struct name){number, 1};                                                           \
    case X86_REG_##letter##H:                                                                      \
        return (struct name) {                                                                     \
            number, SECOND_BYTE                                                                    \
        }
#define INDEXED(number, name_)                                                                     \
    case X86_REG_R##name_:                                                                         \
        return (struct name){number, 8};                                                           \
    case X86_REG_E##name_:                                                                         \
        return (struct name){number, 4};                                                           \
    case X86_REG_##name_:                                                                          \
        return (struct name){number, 2};                                                           \
    case X86_REG_##name_##L:                                                                       \
        return (struct name) {                                                                     \
            number, 1                                                                              \
        }
#define NUMBERED(number)                                                                           \
    case X86_REG_R##number:                                                                        \
        return (struct name){number, 8};                                                           \
    case X86_REG_R##number##D:                                                                     \
        return (struct name){number, 4};                                                           \
    case X86_REG_R##number##W:                                                                     \
        return (struct name){number, 2};                                                           \
    case X86_REG_R##number##B:                                                                     \
        return (struct name) {                                                                     \
            number, 1                                                                              \
        }

static struct name name_of(unsigned reg) {
    switch (reg) {
        CLASSIC(BZ_REG_A, A);
        CLASSIC(BZ_REG_C, C);
        CLASSIC(BZ_REG_D, D);
        CLASSIC(BZ_REG_B, B);
        INDEXED(BZ_REG_SP, SP);
        INDEXED(BZ_REG_FP, BP);
        INDEXED(BZ_REG_SI, SI);
        INDEXED(BZ_REG_DI, DI);
        NUMBERED(8);
        NUMBERED(9);
        NUMBERED(10);
        NUMBERED(11);
        NUMBERED(12);
        NUMBERED(13);
        NUMBERED(14);
        NUMBERED(15);
    default:
        return (struct name){BZ_REG_NONE, 0};
    }
}

/* The parts that are read. */
static uint64_t parts_of(struct name name) {
    return name.reg == BZ_REG_NONE ? 0
           : name.bytes == 8       ? BZ_REG_WHOLE(name.reg)
           : name.bytes == 1       ? BZ_REG_BYTE(name.reg)
                                   : BZ_REG_LOW(name.reg);
}

static struct name register_of(const cs_x86_op *operand) {
    return operand->type == X86_OP_REG ? name_of(operand->reg) : (struct name){BZ_REG_NONE, 0};
}

/* --- operands --------------------------------------------------------------------------------- */

static void add_read(struct bz_insn *op, struct name name) {
    op->reads |= parts_of(name);
    op->uses_sp |= name.reg == BZ_REG_SP;
    op->uses_fp |= name.reg == BZ_REG_FP;
}

/* Displacements and steps that no frame has are not added up. */
static bool is_near(int64_t distance) {
    return distance > -(1 << 24) && distance < 1 << 24;
}

static void add_memory(struct bz_insn *op, const cs_x86_op *operand, bool forms, bool is_write) {
    uint8_t base = name_of(operand->mem.base).reg;
    struct name index = name_of(operand->mem.index);
    add_read(op, index);
    op->reads |= parts_of(name_of(operand->mem.base));
    if (base != BZ_REG_SP && base != BZ_REG_FP) {
        return;
    }
    bool is_address =
        forms || operand->mem.index != X86_REG_INVALID || operand->mem.segment != X86_REG_INVALID;
    op->memory = (struct bz_insn_memory){.offset = (int32_t)operand->mem.disp,
                                         .bytes = is_address ? 0 : operand->size,
                                         .base = base,
                                         .is_write = is_write,
                                         .may_write = is_write};
    if (!is_near(operand->mem.disp)) {
        op->sp_change = BZ_POINTER_LOST; /* nothing is known of the function */
    }
}

/* Whether an operand in memory may be written: it is the first one, but for what only reads it. */
static bool may_write(unsigned id, uint8_t operand) {
    switch (id) {
    case X86_INS_CMP:
    case X86_INS_TEST:
    case X86_INS_BT:
    case X86_INS_MUL:
    case X86_INS_IMUL:
    case X86_INS_DIV:
    case X86_INS_IDIV:
    case X86_INS_CALL:
    case X86_INS_JMP:
    case X86_INS_FLD:
    case X86_INS_FILD:
        return false;
    case X86_INS_XCHG:
    case X86_INS_XADD:
        return true;
    default:
        return operand == 0;
    }
}

/* Everything that is named is read, and no word is known to be written. */
static void add_anything(const struct bz_decoder *decoder, const cs_insn *insn,
                         struct bz_insn *op) {
    const cs_x86 *detail = &insn->detail->x86;
    cs_regs read;
    cs_regs written;
    uint8_t read_count = 0;
    uint8_t written_count = 0;
    if (detail->prefix[0] != 0) { /* rep: string instructions do not name all of their registers */
        op->reads |= BZ_REG_WHOLE(BZ_REG_A) | BZ_REG_WHOLE(BZ_REG_C) | BZ_REG_WHOLE(BZ_REG_SI) |
                     BZ_REG_WHOLE(BZ_REG_DI);
    }
    if (decoder->library.access(decoder->handle, insn, read, &read_count, written,
                                &written_count) != CS_ERR_OK) {
        op->reads = BZ_REGS_ALL;
    }
    for (uint8_t index = 0; index < detail->op_count; index++) {
        if (detail->operands[index].type == X86_OP_MEM) {
            add_memory(op, &detail->operands[index], false, false);
            op->memory.may_write = may_write(insn->id, index);
        } else {
            add_read(op, register_of(&detail->operands[index]));
        }
    }
    for (uint8_t index = 0; index < read_count; index++) {
        op->reads |= parts_of(name_of(read[index]));
    }
    for (uint8_t index = 0; index < written_count; index++) {
        struct name name = name_of(written[index]);
        op->sp_change = name.reg == BZ_REG_SP ? BZ_POINTER_LOST : op->sp_change;
        op->fp_change = name.reg == BZ_REG_FP ? BZ_POINTER_LOST : op->fp_change;
    }
}

static void write_register(struct bz_insn *op, struct name to) {
    if (to.reg == BZ_REG_NONE) {
        return;
    }
    op->writes |= to.bytes >= 4             ? BZ_REG_WHOLE(to.reg) /* an upper half is cleared */
                  : to.bytes == SECOND_BYTE ? 0
                                            : BZ_REG_BYTE(to.reg);
    op->sp_change = to.reg == BZ_REG_SP ? BZ_POINTER_LOST : op->sp_change;
    op->fp_change = to.reg == BZ_REG_FP ? BZ_POINTER_LOST : op->fp_change;
}

/* --- instructions ----------------------------------------------------------------------------- */

static bool is_saved_by_callee(struct name name) {
    return name.reg != BZ_REG_NONE && (BZ_REGS_CALLEE_SAVED & BZ_REG_LOW(name.reg)) != 0;
}

static bool pushes(struct bz_insn *op, const cs_x86_op *operand) {
    struct name from = register_of(operand);
    op->is_save = is_saved_by_callee(from);
    op->sp_change = BZ_POINTER_ADDED;
    op->amount = -8;
    if (operand->type == X86_OP_MEM) {
        add_memory(op, operand, false, false);
        if (op->memory.base != BZ_REG_NONE) {
            return false; /* two operands on the stack */
        }
    } else if (from.reg == BZ_REG_SP) {
        return false;
    } else if (from.reg != BZ_REG_NONE) {
        op->copy = BZ_COPY_STORE;
        op->copy_from = from.reg;
        op->copy_bytes = 8;
    }
    op->memory = (struct bz_insn_memory){-8, 8, BZ_REG_SP, true, true};
    return from.reg == BZ_REG_NONE ? operand->size == 8 || operand->type == X86_OP_IMM
                                   : from.bytes == 8;
}

static bool pops(struct bz_insn *op, const cs_x86_op *operand) {
    struct name to = register_of(operand);
    if (to.bytes != 8) {
        return false;
    }
    op->is_save = is_saved_by_callee(to);
    op->memory = (struct bz_insn_memory){0, 8, BZ_REG_SP, false, false};
    write_register(op, to);
    op->copy = BZ_COPY_LOAD;
    op->copy_to = to.reg;
    op->copy_bytes = 8;
    if (to.reg != BZ_REG_SP) {
        op->sp_change = BZ_POINTER_ADDED;
        op->amount = 8;
    }
    return true;
}

/* mov and what extends its source. */
static void moves(struct bz_insn *op, const cs_insn *insn) {
    const cs_x86_op *operands = insn->detail->x86.operands;
    struct name to = register_of(&operands[0]);
    struct name from = register_of(&operands[1]);
    op->copy_extends = insn->id == X86_INS_MOVSX || insn->id == X86_INS_MOVSXD;
    op->copy_bytes = operands[1].size;
    if (from.bytes == SECOND_BYTE) { /* no copy of the lowest byte */
        add_read(op, from);
        from.reg = BZ_REG_NONE;
    }
    if (operands[0].type == X86_OP_MEM) {
        add_memory(op, &operands[0], false, true);
        bool is_on_stack = op->memory.base != BZ_REG_NONE && op->memory.bytes != 0;
        if (from.reg == BZ_REG_NONE) {
            return;
        }
        if (is_on_stack && from.reg != BZ_REG_SP) {
            op->copy = BZ_COPY_STORE;
            op->copy_from = from.reg;
        } else {
            add_read(op, from);
        }
        return;
    }
    write_register(op, to);
    bool is_whole = to.reg != BZ_REG_NONE && to.bytes >= 4;
    if (operands[1].type == X86_OP_MEM) {
        add_memory(op, &operands[1], false, false);
        if (is_whole && op->memory.base != BZ_REG_NONE && op->memory.bytes != 0) {
            op->copy = BZ_COPY_LOAD;
            op->copy_to = to.reg;
        }
    } else if (from.reg == BZ_REG_SP && to.reg == BZ_REG_FP && to.bytes == 8) {
        op->fp_change = BZ_POINTER_FROM_SP;
    } else if (from.reg == BZ_REG_FP && to.reg == BZ_REG_SP && to.bytes == 8) {
        op->sp_change = BZ_POINTER_FROM_FP;
        op->reads |= BZ_REG_WHOLE(BZ_REG_FP);
    } else if (from.reg != BZ_REG_NONE && from.reg != BZ_REG_SP && is_whole) {
        op->copy = BZ_COPY_MOVE;
        op->copy_to = to.reg;
        op->copy_from = from.reg;
    } else {
        add_read(op, from);
    }
}

static void loads_address(struct bz_insn *op, const cs_insn *insn) {
    const cs_x86_op *operands = insn->detail->x86.operands;
    const x86_op_mem *memory = &operands[1].mem;
    struct name to = register_of(&operands[0]);
    if (to.reg == BZ_REG_SP && to.bytes == 8 && memory->index == X86_REG_INVALID &&
        is_near(memory->disp)) {
        uint8_t base = name_of(memory->base).reg;
        op->amount = (int32_t)memory->disp;
        op->sp_change = base == BZ_REG_SP   ? BZ_POINTER_FROM_SP
                        : base == BZ_REG_FP ? BZ_POINTER_FROM_FP
                                            : BZ_POINTER_LOST;
        op->reads |= base == BZ_REG_FP ? BZ_REG_WHOLE(BZ_REG_FP) : 0;
        return;
    }
    add_memory(op, &operands[1], true, false);
    write_register(op, to);
    if (memory->base == X86_REG_RIP) {
        op->target = (uintptr_t)(insn->address + insn->size + (uint64_t)memory->disp);
    }
}

static void adds(const struct bz_decoder *decoder, const cs_insn *insn, struct bz_insn *op) {
    const cs_x86_op *operands = insn->detail->x86.operands;
    struct name to = register_of(&operands[0]);
    bool is_known = to.reg == BZ_REG_SP && to.bytes == 8 && operands[1].type == X86_OP_IMM &&
                    is_near(operands[1].imm);
    if (is_known) {
        op->sp_change = BZ_POINTER_ADDED;
        op->amount = insn->id == X86_INS_ADD ? (int32_t)operands[1].imm : -(int32_t)operands[1].imm;
    } else if (insn->id == X86_INS_SUB && to.bytes >= 4 && to.reg != BZ_REG_SP &&
               operands[1].type == X86_OP_REG && operands[0].reg == operands[1].reg) {
        write_register(op, to); /* 0, whatever it was */
    } else {
        add_anything(decoder, insn, op);
    }
}

static void clears(const struct bz_decoder *decoder, const cs_insn *insn, struct bz_insn *op) {
    const cs_x86_op *operands = insn->detail->x86.operands;
    struct name to = register_of(&operands[0]);
    if (to.bytes >= 4 && operands[1].type == X86_OP_REG && operands[0].reg == operands[1].reg) {
        write_register(op, to);
    } else {
        add_anything(decoder, insn, op);
    }
}

static void jumps(const struct bz_decoder *decoder, const cs_insn *insn, struct bz_insn *op) {
    const cs_x86_op *operand = &insn->detail->x86.operands[0];
    bool is_direct = operand->type == X86_OP_IMM;
    if (is_direct) {
        op->target = (uintptr_t)operand->imm;
    }
    add_anything(decoder, insn, op);
    if (insn->id == X86_INS_CALL) {
        op->sp_change = BZ_POINTER_KEPT;
        op->kind = BZ_INSN_CALL_OUT;
        op->reads |= BZ_REGS_OF_CALLS;
        op->writes |= BZ_REGS_OF_CALLS;
    } else if (!is_direct) {
        op->kind = BZ_INSN_JUMP_FAR;
    } else {
        op->kind = insn->id == X86_INS_JMP ? BZ_INSN_JUMP : BZ_INSN_BRANCH;
    }
}

static bool leaves(struct bz_insn *op) {
    op->is_save = true;
    op->sp_change = BZ_POINTER_FROM_FP;
    op->amount = 8;
    op->reads |= BZ_REG_WHOLE(BZ_REG_FP);
    op->memory = (struct bz_insn_memory){0, 8, BZ_REG_FP, false, false};
    write_register(op, (struct name){BZ_REG_FP, 8});
    op->copy = BZ_COPY_LOAD;
    op->copy_to = BZ_REG_FP;
    op->copy_bytes = 8;
    return true;
}

/* Whether the library does not tell all of it. Of AVX-512 it takes some general registers in
 * addresses for others. */
static bool is_doubtful(const cs_insn *insn) {
    const unsigned char *code = insn->bytes;
    while (*code == 0x64 || *code == 0x65 || *code == 0x67) { /* segments, short addresses */
        code++;
    }
    return *code == 0x62;
}

static void sets(struct bz_insn *op, const cs_x86_op *operand) {
    if (operand->type == X86_OP_MEM) {
        add_memory(op, operand, false, true);
    } else {
        write_register(op, register_of(operand));
    }
}

static bool is_move(const cs_insn *insn) {
    switch (insn->id) {
    case X86_INS_MOV:
    case X86_INS_MOVABS:
    case X86_INS_MOVZX:
    case X86_INS_MOVSX:
    case X86_INS_MOVSXD:
    case X86_INS_MOVAPS:
    case X86_INS_MOVUPS:
    case X86_INS_MOVDQA:
    case X86_INS_MOVDQU:
        return true;
    default:
        return false;
    }
}

static bool is_conditional_set(const cs_insn *insn) {
    switch (insn->id) {
    case X86_INS_SETA:
    case X86_INS_SETAE:
    case X86_INS_SETB:
    case X86_INS_SETBE:
    case X86_INS_SETE:
    case X86_INS_SETG:
    case X86_INS_SETGE:
    case X86_INS_SETL:
    case X86_INS_SETLE:
    case X86_INS_SETNE:
    case X86_INS_SETNO:
    case X86_INS_SETNP:
    case X86_INS_SETNS:
    case X86_INS_SETO:
    case X86_INS_SETP:
    case X86_INS_SETS:
        return true;
    default:
        return false;
    }
}

/* Of the memory of these the library tells 8 bytes, or 4, of up to several thousand. */
static bool saves_state(unsigned id) {
    switch (id) {
    case X86_INS_FXSAVE:
    case X86_INS_FXSAVE64:
    case X86_INS_FXRSTOR:
    case X86_INS_FXRSTOR64:
    case X86_INS_XSAVE:
    case X86_INS_XSAVE64:
    case X86_INS_XSAVEC:
    case X86_INS_XSAVEC64:
    case X86_INS_XSAVEOPT:
    case X86_INS_XSAVEOPT64:
    case X86_INS_XSAVES:
    case X86_INS_XSAVES64:
    case X86_INS_XRSTOR:
    case X86_INS_XRSTOR64:
    case X86_INS_XRSTORS:
    case X86_INS_XRSTORS64:
    case X86_INS_FNSAVE:
    case X86_INS_FRSTOR:
    case X86_INS_FNSTENV:
    case X86_INS_FLDENV:
        return true;
    default:
        return false;
    }
}

static bool translate(const struct bz_decoder *decoder, const cs_insn *insn, struct bz_insn *op) {
    const cs_x86 *detail = &insn->detail->x86;
    if (is_doubtful(insn) || saves_state(insn->id)) {
        return false;
    }
    if (is_conditional_set(insn)) {
        sets(op, &detail->operands[0]);
        return true;
    }
    if (is_move(insn)) {
        moves(op, insn);
        return true;
    }
    switch (insn->id) {
    case X86_INS_NOP:
        op->is_filler = true;
        return true;
    case X86_INS_ENDBR64:
        return true;
    case X86_INS_PUSH:
        return pushes(op, &detail->operands[0]);
    case X86_INS_POP:
        return pops(op, &detail->operands[0]);
    case X86_INS_LEAVE:
        return leaves(op);
    case X86_INS_RET:
        op->kind = BZ_INSN_RET;
        return detail->op_count == 0;
    case X86_INS_UD2:
    case X86_INS_HLT:
        op->kind = BZ_INSN_STOP;
        op->is_filler = true;
        return true;
    case X86_INS_LEA:
        loads_address(op, insn);
        return true;
    case X86_INS_ADD:
    case X86_INS_SUB:
        adds(decoder, insn, op);
        return true;
    case X86_INS_XOR:
        clears(decoder, insn, op);
        return true;
    case X86_INS_SYSCALL:
    case X86_INS_INT:
    case X86_INS_ENTER:
    case X86_INS_XBEGIN:
    case X86_INS_XLATB: /* it does not tell the registers */
    case X86_INS_LOOP:  /* nor that these are jumps */
    case X86_INS_LOOPE:
    case X86_INS_LOOPNE:
        return false;
    default:
        break;
    }
    for (uint8_t index = 0; index < insn->detail->groups_count; index++) {
        uint8_t group = insn->detail->groups[index];
        if (group == CS_GRP_JUMP || group == CS_GRP_CALL) {
            jumps(decoder, insn, op);
            return true;
        }
    }
    add_anything(decoder, insn, op);
    return true;
}

bool bz_decode(struct bz_decoder *decoder, const unsigned char **code, const unsigned char *end,
               struct bz_insn *op) {
    size_t left = (size_t)(end - *code);
    uint64_t address = (uintptr_t)*code;
    *op = (struct bz_insn){
        .copy_to = BZ_REG_NONE, .copy_from = BZ_REG_NONE, .memory = {.base = BZ_REG_NONE}};
    if (!decoder->library.next(decoder->handle, code, &left, &address, decoder->insn)) {
        return false;
    }
    op->size = (uint8_t)decoder->insn->size;
    return translate(decoder, decoder->insn, op);
}

#else

bool bz_decoder_is_there(void) {
    return false;
}

struct bz_decoder *bz_decoder_new(void) {
    return NULL;
}

void bz_decoder_destroy(struct bz_decoder *decoder) {
    (void)decoder;
}

bool bz_decode(struct bz_decoder *decoder, const unsigned char **code, const unsigned char *end,
               struct bz_insn *op) {
    (void)decoder;
    (void)code;
    (void)end;
    (void)op;
    return false;
}

#endif
