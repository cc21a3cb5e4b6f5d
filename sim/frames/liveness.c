#include "sim/frames/internal.h"

#include <stdlib.h>
#include <string.h>

/* How the function accesses half a word of its frame. */
#define IS_READ 1u
#define IS_WRITTEN 2u
#define IS_NO_SAVE 4u  /* by anything but push and pop of one register that callees save */
#define IS_ARGUMENT 8u /* it is written where nothing here can read it: for a callee */

/* --- accesses --------------------------------------------------------------------------------- */

/* Where an instruction accesses the frame. False: it does not, as far as is known. */
static bool place_of(const struct bz_function *function, uint32_t index, int32_t *place) {
    const struct bz_insn_memory *memory = &function->ops[index].memory;
    int32_t base = memory->base == BZ_REG_SP ? function->sp[index] : function->fp[index];
    if (memory->base == BZ_REG_NONE || base == BZ_LOST) {
        return false;
    }
    *place = base + memory->offset;
    return true;
}

/* The halves of words that it touches, or that it covers, as [*first, *end). */
static void halves_of(int32_t place, uint32_t bytes, bool covers, int32_t *first, int32_t *end) {
    int32_t low = -place; /* counted downward */
    int32_t high = -(place + (int32_t)bytes);
    int32_t round = (int32_t)BZ_HALF_BYTES - 1;
    low = low < 0 ? 0 : low;
    high = high < 0 ? 0 : high;
    *first = (covers ? high + round : high) / (int32_t)BZ_HALF_BYTES;
    *end = (covers ? low : low + round) / (int32_t)BZ_HALF_BYTES;
}

static bool forms_address(const struct bz_function *function, uint32_t index) {
    const struct bz_insn *op = &function->ops[index];
    bool is_frame_pointer = function->fp[index] != BZ_LOST;
    int32_t place;
    bool is_copied = op->copy == BZ_COPY_STORE || op->copy == BZ_COPY_MOVE;
    return op->uses_sp || (op->uses_fp && is_frame_pointer) ||
           (is_copied && op->copy_from == BZ_REG_FP && is_frame_pointer) ||
           (op->memory.bytes == 0 && place_of(function, index, &place));
}

/* Whether it may access the frame by a frame pointer that was lost: where paths meet, and at the
 * start of a range. */
static bool uses_lost_pointer(const struct bz_function *function, uint32_t index) {
    const struct bz_insn *op = &function->ops[index];
    bool is_copied = (op->copy == BZ_COPY_STORE || op->copy == BZ_COPY_MOVE) && !op->is_save;
    bool uses =
        op->uses_fp || op->memory.base == BZ_REG_FP || (is_copied && op->copy_from == BZ_REG_FP);
    return uses && function->has_frame_pointer && function->fp[index] == BZ_LOST;
}

/* False: it reaches below what is known of a frame. */
static bool note_access(struct bz_function *function, uint32_t index) {
    const struct bz_insn *op = &function->ops[index];
    int32_t place;
    int32_t first;
    int32_t end;
    function->forms_addresses |=
        forms_address(function, index) || uses_lost_pointer(function, index);
    if (!place_of(function, index, &place)) {
        return true;
    }
    if (place < -(int32_t)BZ_FRAME_BYTES_MAX) {
        return false;
    }
    halves_of(place, op->memory.bytes, false, &first, &end);
    uint8_t saved = op->copy == BZ_COPY_STORE ? op->copy_from : op->copy_to;
    for (int32_t half = first; half < end; half++) {
        bool is_save =
            op->is_save && (function->access[half] == 0 || function->saved[half] == saved);
        function->saved[half] = saved;
        function->access[half] |= op->memory.is_write ? IS_WRITTEN : IS_READ;
        function->access[half] |= is_save ? 0 : IS_NO_SAVE;
    }
    function->halves = (uint32_t)end > function->halves ? (uint32_t)end : function->halves;
    return true;
}

/* Whether every instruction that can follow was visited. */
static bool is_followed(const struct bz_function *function, uint32_t index) {
    struct bz_insn_next next = bz_function_next(function, index);
    bool is_followed = true;
    for (uint32_t number = 0; number < next.count; number++) {
        uint32_t to = bz_function_insn_at(function, next.at[number]);
        is_followed &= !bz_function_has(function, next.at[number]) ||
                       (to != BZ_NO_INSN && function->sp[to] != BZ_UNSEEN);
    }
    return is_followed;
}

/* Whether it leaves the function, or may: then with the frame gone. */
static bool is_exit(const struct bz_insn *op) {
    return op->kind == BZ_INSN_RET || op->kind == BZ_INSN_JUMP_FAR;
}

/* False: not all are known. What no path leads to is behind a jump that cannot be followed. */
static bool note_accesses(struct bz_function *function) {
    for (uint32_t index = 0; index < function->count; index++) {
        const struct bz_insn *op = &function->ops[index];
        if (function->sp[index] == BZ_UNSEEN && op->is_filler) {
            continue;
        }
        if (function->sp[index] == BZ_UNSEEN ||
            (is_exit(op) && function->sp[index] != BZ_AT_ENTRY)) {
            return false;
        }
        uint32_t halves = (uint32_t)-function->sp[index] / BZ_HALF_BYTES;
        function->halves = halves > function->halves ? halves : function->halves;
        if (!note_access(function, index) || !is_followed(function, index)) {
            return false;
        }
    }
    return true;
}

/* --- liveness --------------------------------------------------------------------------------- */

enum word_class { ALWAYS_LIVE, ALWAYS_DEAD, BY_FLOW };

struct analysis {
    const struct bz_function *function;
    const struct bz_exit *out;
    bool
        is_for_arguments; /* whole copies are read, and a move even if nobody reads the copy. A load
                             counts if somebody does: `pop` removes arguments from the stack, too */
    uint32_t words;       /* of a set of halves */
    uint64_t *by_flow;    /* which halves are BY_FLOW, as a set */
    uint64_t *sets;       /* those that are live before each instruction */
    uint64_t *registers;
};

static enum word_class class_of(const struct bz_function *function, const struct bz_exit *out,
                                uint32_t half) {
    uint8_t access = function->access[half];
    bool is_save = access != 0 && (access & IS_NO_SAVE) == 0;
    if (half < 2 || (access & IS_ARGUMENT) != 0 || (function->forms_addresses && !is_save)) {
        return ALWAYS_LIVE;
    }
    if (access == 0) {
        return ALWAYS_DEAD;
    }
    return (access & IS_READ) == 0 || out->may_unwind ? ALWAYS_LIVE : BY_FLOW;
}

static bool has(const uint64_t *set, int32_t half) {
    return (set[half / 64] >> (uint32_t)half % 64 & 1u) != 0;
}

static void add_to(uint64_t *set, int32_t half) {
    set[half / 64] |= UINT64_C(1) << (uint32_t)half % 64;
}

/* What is live behind an instruction. */
static uint64_t live_behind(const struct analysis *analysis, uint32_t index, uint64_t *set) {
    const struct bz_function *function = analysis->function;
    const struct bz_insn *op = &function->ops[index];
    struct bz_insn_next next = bz_function_next(function, index);
    uint64_t registers = 0;
    memset(set, 0, analysis->words * sizeof *set);
    for (uint32_t number = 0; number < next.count; number++) {
        uint32_t to = bz_function_insn_at(function, next.at[number]);
        if (to == BZ_NO_INSN) {
            continue;
        }
        registers |= analysis->registers[to];
        for (uint32_t word = 0; word < analysis->words; word++) {
            set[word] |= analysis->sets[(size_t)to * analysis->words + word];
        }
    }
    if (op->kind == BZ_INSN_RET) {
        /* Not A and D alone: conventions of single functions, and `pop` of arguments. */
        registers |= BZ_REGS_OF_CALLS | analysis->out->registers;
    } else if (op->kind == BZ_INSN_JUMP_FAR) {
        registers |= BZ_REGS_ALL;
        memcpy(set, analysis->by_flow, analysis->words * sizeof *set);
    } else if (bz_function_is_tail_call(function, index)) {
        registers |= BZ_REGS_OF_CALLS | analysis->out->registers;
    }
    return registers;
}

/* Whether somebody reads this half of a word. */
static bool is_wanted(const struct analysis *analysis, const uint64_t *behind, int32_t half) {
    return !has(analysis->by_flow, half) || has(behind, half);
}

/* What a store reads of its register. Its bytes may reach into the caller's frame, where all are
 * read. */
static uint64_t read_by_store(const struct analysis *analysis, const struct bz_insn *op,
                              const uint64_t *behind, int32_t first, int32_t end) {
    bool is_split = op->copy_bytes == 8 && end - first == 2; /* the lower half is deeper */
    uint64_t parts = op->copy_bytes == 8   ? BZ_REG_WHOLE(op->copy_from)
                     : op->copy_bytes == 1 ? BZ_REG_BYTE(op->copy_from)
                                           : BZ_REG_LOW(op->copy_from);
    bool any = first == end;
    for (int32_t half = first; half < end; half++) {
        any |= is_wanted(analysis, behind, half);
    }
    if (is_split && !is_wanted(analysis, behind, first)) {
        parts &= ~BZ_REG_HIGH(op->copy_from);
    }
    if (is_split && !is_wanted(analysis, behind, first + 1)) {
        parts &= ~BZ_REG_LOW(op->copy_from);
    }
    return any ? parts : 0;
}

/* What a load or a move reads of its source, as parts of register 0. */
static uint64_t read_by_copy(const struct bz_insn *op, uint64_t behind) {
    uint64_t live = behind >> op->copy_to & BZ_REG_WHOLE(0);
    if (op->copy_bytes >= 4 && !op->copy_extends) {
        return op->copy_bytes == 8 ? live : live & BZ_REG_LOW(0);
    }
    bool is_read = op->copy_extends ? live != 0 : (live & BZ_REG_LOW(0)) != 0;
    uint64_t source = op->copy_bytes == 1 ? BZ_REG_BYTE(0) : BZ_REG_LOW(0);
    return is_read ? source : 0;
}

static void add_loaded(const struct analysis *analysis, const struct bz_insn *op, uint64_t behind,
                       int32_t first, int32_t end, uint64_t *set) {
    bool is_faint = op->copy == BZ_COPY_LOAD && !analysis->is_for_arguments;
    uint64_t read = op->copy == BZ_COPY_LOAD ? read_by_copy(op, behind) : BZ_REG_WHOLE(0);
    if (!is_faint && read != 0) {
        read = BZ_REG_WHOLE(0);
    }
    bool is_split = is_faint && op->copy_bytes == 8 && end - first == 2;
    for (int32_t half = first; half < end && read != 0; half++) {
        uint64_t wanted =
            !is_split ? read : read & (half == first ? BZ_REG_HIGH(0) : BZ_REG_LOW(0));
        if (wanted != 0 && has(analysis->by_flow, half)) {
            add_to(set, half);
        }
    }
}

/* From what is live behind an instruction to what is live before it, in place. */
static uint64_t step_back(const struct analysis *analysis, uint32_t index, uint64_t behind,
                          uint64_t *set) {
    const struct bz_function *function = analysis->function;
    const struct bz_insn *op = &function->ops[index];
    uint64_t before = (behind & ~op->writes) | op->reads;
    int32_t place;
    int32_t first = 0;
    int32_t end = 0;
    bool is_on_frame = place_of(function, index, &place) && op->memory.bytes > 0;
    if (is_on_frame) {
        halves_of(place, op->memory.bytes, false, &first, &end);
    }
    if (op->copy == BZ_COPY_STORE) {
        before |= read_by_store(analysis, op, set, first, end);
    } else if (op->copy == BZ_COPY_MOVE) {
        before |= read_by_copy(op, behind) << op->copy_from;
    }
    if (is_on_frame && op->memory.is_write) {
        halves_of(place, op->memory.bytes, true, &first, &end);
        for (int32_t half = first; half < end; half++) {
            set[half / 64] &= ~(UINT64_C(1) << (uint32_t)half % 64);
        }
    } else if (is_on_frame) {
        add_loaded(analysis, op, behind, first, end, set);
    }
    return before;
}

/* One pass over all instructions, from the last to the first. False: nothing has changed. */
static bool pass(const struct analysis *analysis) {
    const struct bz_function *function = analysis->function;
    uint64_t set[BZ_FRAME_HALVES_MAX / 64u];
    bool has_changed = false;
    for (uint32_t index = function->count; index-- > 0;) {
        if (function->sp[index] == BZ_UNSEEN) {
            continue;
        }
        uint64_t *known = &analysis->sets[(size_t)index * analysis->words];
        uint64_t registers = step_back(analysis, index, live_behind(analysis, index, set), set);
        has_changed |= registers != analysis->registers[index] ||
                       memcmp(known, set, analysis->words * sizeof *set) != 0;
        analysis->registers[index] = registers;
        memcpy(known, set, analysis->words * sizeof *set);
    }
    return has_changed;
}

/* From which half on down arguments of a callee lie, which are at the bottom of the frame. Halves
 * among them and above them that nobody here accesses are padding. They belong to the callee, too,
 * whose tail call may have arguments there. */
static uint32_t first_argument(const struct bz_function *function, uint32_t halves) {
    bool has_arguments = false;
    uint32_t first = halves;
    for (; first > 0; first--) {
        uint8_t access = function->access[first - 1];
        if (access != 0 && (access & IS_ARGUMENT) == 0) {
            break;
        }
        has_arguments |= access != 0;
    }
    return has_arguments ? first : halves;
}

static void tell(const struct analysis *analysis, uint32_t index, struct bz_live *live) {
    const uint64_t *set = &analysis->sets[(size_t)index * analysis->words];
    live->registers = analysis->registers[index];
    uint32_t halves = (uint32_t)-analysis->function->sp[index] / BZ_HALF_BYTES;
    uint32_t end = first_argument(analysis->function, halves);
    for (uint32_t half = 0; half < end; half++) {
        enum word_class class = class_of(analysis->function, analysis->out, half);
        if (class == ALWAYS_DEAD || (class == BY_FLOW && !has(set, (int32_t)half))) {
            add_to(live->dead, (int32_t)half);
        }
    }
}

static void finish(struct analysis *analysis) {
    free(analysis->by_flow);
    free(analysis->sets);
    free(analysis->registers);
}

/* False: without memory. */
static bool analyse(struct analysis *analysis, const struct bz_function *function,
                    const struct bz_exit *out, bool is_for_arguments) {
    *analysis = (struct analysis){.function = function,
                                  .out = out,
                                  .is_for_arguments = is_for_arguments,
                                  .words = (function->halves + 63u) / 64u};
    analysis->by_flow = calloc(analysis->words, sizeof *analysis->by_flow);
    analysis->sets = calloc((size_t)function->count * analysis->words, sizeof *analysis->sets);
    analysis->registers = calloc(function->count, sizeof *analysis->registers);
    if (analysis->by_flow == NULL || analysis->sets == NULL || analysis->registers == NULL) {
        finish(analysis);
        return false;
    }
    for (uint32_t half = 0; half < function->halves; half++) {
        if (class_of(function, out, half) == BY_FLOW) {
            add_to(analysis->by_flow, (int32_t)half);
        }
    }
    while (pass(analysis)) {
    }
    return true;
}

/* Compilers store nothing that is not read. So what this function cannot read is an argument, also
 * if it reads another value at the same place elsewhere. */
static void note_arguments(struct bz_function *function, const struct analysis *analysis) {
    uint64_t behind[BZ_FRAME_HALVES_MAX / 64u];
    int32_t place;
    int32_t first;
    int32_t end;
    for (uint32_t index = 0; index < function->count; index++) {
        const struct bz_insn_memory *memory = &function->ops[index].memory;
        if (function->sp[index] == BZ_UNSEEN || !memory->may_write ||
            !place_of(function, index, &place)) {
            continue;
        }
        (void)live_behind(analysis, index, behind);
        halves_of(place, memory->bytes, false, &first, &end);
        for (int32_t half = first; half < end; half++) {
            function->access[half] |= has(behind, half) ? 0 : IS_ARGUMENT;
        }
    }
}

static bool find_arguments(struct bz_function *function) {
    const struct bz_exit out = {BZ_REGS_CALLEE_SAVED, false};
    struct analysis analysis;
    if (!analyse(&analysis, function, &out, true)) {
        function->lacks_memory = true;
        return false;
    }
    note_arguments(function, &analysis);
    finish(&analysis);
    return true;
}

bool bz_function_find_accesses(struct bz_function *function) {
    return note_accesses(function) && find_arguments(function);
}

bool bz_function_find_live(const struct bz_function *function, uintptr_t address,
                           const struct bz_exit *out, struct bz_live *live) {
    struct analysis analysis;
    *live = (struct bz_live){.registers = BZ_REGS_ALL};
    if (!function->is_plain || bz_function_depth(function, address) == 0) {
        return true;
    }
    if (!analyse(&analysis, function, out, false)) {
        return false;
    }
    tell(&analysis, bz_function_insn_at(function, address), live);
    finish(&analysis);
    return true;
}
