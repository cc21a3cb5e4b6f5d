#include "sim/frames/internal.h"

#include <stdlib.h>
#include <string.h>

/* --- code ------------------------------------------------------------------------------------- */

static void *larger(void *block, uint32_t capacity, size_t bytes) {
    return bz_lack_check(realloc(block, capacity * bytes), BZ_FRAMES_PURPOSE);
}

static void reserve(struct bz_function *function) {
    if (function->count == function->capacity) {
        uint32_t capacity = function->capacity == 0 ? 64 : 2 * function->capacity;
        function->ops = larger(function->ops, capacity, sizeof *function->ops);
        function->addresses = larger(function->addresses, capacity, sizeof *function->addresses);
        function->sp = larger(function->sp, capacity, sizeof *function->sp);
        function->fp = larger(function->fp, capacity, sizeof *function->fp);
        function->capacity = capacity;
    }
}

static void mark_filler(struct bz_function *function, uint32_t first, uint32_t last) {
    for (uint32_t index = first; index <= last; index++) {
        function->ops[index].is_filler = true;
    }
}

/* The switch of coroutines takes the address of the instruction behind a jump through memory, and
 * loads the stack pointer between. */
static void find_switch(struct bz_function *function, uint32_t first, uint32_t jump) {
    const struct bz_insn *last = &function->ops[jump];
    uintptr_t behind = function->addresses[jump] + last->size;
    uint64_t reads = 0;
    bool loads_sp = false;
    if (last->kind != BZ_INSN_JUMP_FAR) {
        return;
    }
    for (uint32_t index = jump; index > first && jump - index < 8;) {
        reads |= function->ops[index].reads;
        loads_sp |= function->ops[index].sp_change == BZ_POINTER_LOST;
        struct bz_insn *op = &function->ops[--index];
        if (loads_sp && op->kind == BZ_INSN_PLAIN && op->target == behind) {
            mark_filler(function, index + 1, jump);
            *op = (struct bz_insn){.kind = BZ_INSN_SWITCH,
                                   .target = behind,
                                   .reads = reads & ~(op->writes | BZ_REG_WHOLE(BZ_REG_FP)),
                                   .writes = BZ_REGS_ALL & ~BZ_REG_WHOLE(BZ_REG_FP),
                                   .size = op->size,
                                   .copy_to = BZ_REG_NONE,
                                   .copy_from = BZ_REG_NONE,
                                   .memory = {.base = BZ_REG_NONE}};
            return;
        }
    }
}

/* Decodes a range from its start on. Behind what is not known nothing is. */
static bool add_range(struct bz_function *function, const struct bz_code_range *code) {
    size_t bytes = code->end - code->start;
    uint32_t first = function->count;
    if (function->range_count == BZ_FUNCTION_RANGES_MAX || bytes > UINT32_MAX / sizeof(uint32_t)) {
        return false;
    }
    uint32_t *ops = bz_lack_check(malloc(bytes * sizeof *ops), BZ_FRAMES_PURPOSE);
    function->ranges[function->range_count++] = (struct bz_insn_range){code->start, code->end, ops};
    memset(ops, 0xff, bytes * sizeof *ops);
    function->is_plain &= code->is_plain;
    const unsigned char *next = (const unsigned char *)code->start;
    const unsigned char *end = (const unsigned char *)code->end;
    while (next < end && function->count < BZ_FUNCTION_INSNS_MAX) {
        uintptr_t address = (uintptr_t)next;
        reserve(function);
        if (!bz_decode(function->decoder, &next, end, &function->ops[function->count])) {
            function->is_plain = false;
            return true;
        }
        ops[address - code->start] = function->count;
        function->addresses[function->count] = address;
        function->sp[function->count] = BZ_UNSEEN;
        function->fp[function->count] = BZ_UNSEEN;
        find_switch(function, first, function->count++);
    }
    function->is_plain &= next == end;
    return true;
}

static const struct bz_insn_range *range_of(const struct bz_function *function, uintptr_t address) {
    for (uint32_t index = 0; index < function->range_count; index++) {
        const struct bz_insn_range *range = &function->ranges[index];
        if (address - range->start < range->end - range->start) {
            return range;
        }
    }
    return NULL;
}

uint32_t bz_function_insn_at(const struct bz_function *function, uintptr_t address) {
    const struct bz_insn_range *range = range_of(function, address);
    return range == NULL ? BZ_NO_INSN : range->ops[address - range->start];
}

bool bz_function_has(const struct bz_function *function, uintptr_t address) {
    return range_of(function, address) != NULL;
}

/* --- where an instruction goes on ------------------------------------------------------------- */

bool bz_function_is_tail_call(const struct bz_function *function, uint32_t index) {
    const struct bz_insn *op = &function->ops[index];
    return (op->kind == BZ_INSN_JUMP || op->kind == BZ_INSN_BRANCH) &&
           function->sp[index] == BZ_AT_ENTRY && range_of(function, op->target) == NULL;
}

struct bz_insn_next bz_function_next(const struct bz_function *function, uint32_t index) {
    const struct bz_insn *op = &function->ops[index];
    struct bz_insn_next next = {.count = 0};
    bool falls =
        op->kind == BZ_INSN_PLAIN || op->kind == BZ_INSN_BRANCH || op->kind == BZ_INSN_CALL_OUT;
    bool goes =
        op->kind == BZ_INSN_JUMP || op->kind == BZ_INSN_BRANCH || op->kind == BZ_INSN_SWITCH;
    if (falls) {
        next.at[next.count++] = function->addresses[index] + op->size;
    }
    if (goes && !bz_function_is_tail_call(function, index)) {
        next.at[next.count++] = op->target;
    }
    return next;
}

/* --- depths ----------------------------------------------------------------------------------- */

static int32_t changed(uint8_t change, int32_t amount, int32_t was, int32_t sp, int32_t fp) {
    switch ((enum bz_pointer_change)change) {
    case BZ_POINTER_KEPT:
        return was;
    case BZ_POINTER_ADDED:
        return was == BZ_LOST ? BZ_LOST : was + amount;
    case BZ_POINTER_FROM_SP:
        return sp == BZ_LOST ? BZ_LOST : sp + amount;
    case BZ_POINTER_FROM_FP:
        return fp == BZ_LOST ? BZ_LOST : fp + amount;
    case BZ_POINTER_LOST:
        break;
    }
    return BZ_LOST;
}

/* Notes the depth at an instruction. 1: it is new; 0: it was known; -1: it contradicts. */
static int arrive(struct bz_function *function, uint32_t index, int32_t sp, int32_t fp) {
    if (sp == BZ_LOST || sp > BZ_AT_ENTRY + 8 || sp < -(int32_t)BZ_FRAME_BYTES_MAX || sp % 4 != 0) {
        return -1;
    }
    if (function->sp[index] == BZ_UNSEEN) {
        function->sp[index] = sp;
        function->fp[index] = fp;
        return 1;
    }
    if (function->sp[index] != sp) {
        return -1;
    }
    bool is_news = function->fp[index] != fp && function->fp[index] != BZ_LOST;
    /* What was an address of the frame on one path is not seen as one from here on. */
    function->forms_addresses |= function->fp[index] != fp;
    function->fp[index] = is_news ? BZ_LOST : function->fp[index];
    return is_news;
}

/* Notes the depth at an address, from which the search of depths goes on. */
static bool reach(struct bz_function *function, uintptr_t address, int32_t sp, int32_t fp) {
    uint32_t index = bz_function_insn_at(function, address);
    int news = index == BZ_NO_INSN ? -1 : arrive(function, index, sp, fp);
    if (news > 0) {
        function->work[function->work_count++] = index;
    }
    return news >= 0;
}

/* Adds a range, from whose start the search goes on, too, if its depth is known. */
static bool include(struct bz_function *function, const struct bz_code_range *code) {
    function->has_entry |= code->depth == 8;
    return add_range(function, code) &&
           (code->depth == 0 || reach(function, code->start, -(int32_t)code->depth, BZ_LOST));
}

/* The rest of the function, if a jump leads out of what is known of it. */
static bool follow(struct bz_function *function, uintptr_t address) {
    struct bz_code_range code;
    return range_of(function, address) != NULL ||
           (bz_code_range_find(address, &code) && include(function, &code));
}

static bool visit(struct bz_function *function, uint32_t index) {
    const struct bz_insn op = function->ops[index];
    int32_t sp = function->sp[index];
    int32_t fp = function->fp[index];
    int32_t sp_after = changed(op.sp_change, op.amount, sp, sp, fp);
    int32_t fp_after = changed(op.fp_change, 0, fp, sp, fp);
    struct bz_insn_next next = bz_function_next(function, index);
    function->has_frame_pointer |= fp_after != BZ_LOST;
    for (uint32_t number = 0; number < next.count; number++) {
        bool is_behind =
            op.kind == BZ_INSN_SWITCH || next.at[number] == function->addresses[index] + op.size;
        if (is_behind && range_of(function, next.at[number]) == NULL) {
            continue; /* behind what does not return: a call, or the last switch of a task */
        }
        if (!follow(function, next.at[number]) ||
            !reach(function, next.at[number], sp_after, fp_after)) {
            return false;
        }
    }
    return true;
}

/* False: somewhere the depth is not known. */
static bool find_depths(struct bz_function *function, const struct bz_code_range *range) {
    /* Each is visited at most twice: new, and when its frame pointer is lost. */
    size_t bytes = 2 * (BZ_FUNCTION_INSNS_MAX + 1) * sizeof *function->work;
    function->work = bz_lack_check(malloc(bytes), BZ_FRAMES_PURPOSE);
    bool is_known = include(function, range);
    while (is_known && function->work_count > 0) {
        is_known = visit(function, function->work[--function->work_count]);
    }
    free(function->work);
    function->work = NULL;
    return is_known && function->has_entry;
}

uint32_t bz_function_depth(const struct bz_function *function, uintptr_t address) {
    uint32_t index = function->is_known ? bz_function_insn_at(function, address) : BZ_NO_INSN;
    return index == BZ_NO_INSN || function->sp[index] == BZ_UNSEEN ? 0
                                                                   : (uint32_t)-function->sp[index];
}

/* --- life ------------------------------------------------------------------------------------- */

struct bz_function *bz_function_new(struct bz_decoder *decoder, const struct bz_code_range *range) {
    struct bz_function *function = bz_lack_check(calloc(1, sizeof *function), BZ_FRAMES_PURPOSE);
    function->decoder = decoder;
    function->is_plain = true;
    function->is_known = find_depths(function, range);
    function->is_plain =
        function->is_plain && function->is_known && bz_function_find_accesses(function);
    return function;
}

void bz_function_destroy(struct bz_function *function) {
    if (function != NULL) {
        for (uint32_t index = 0; index < function->range_count; index++) {
            free(function->ranges[index].ops);
        }
        free(function->ops);
        free(function->addresses);
        free(function->sp);
        free(function->fp);
        free(function);
    }
}
