#include "sim/frames/internal.h"

#include <stdlib.h>
#include <string.h>

/* How the function accesses a byte of its frame. */
#define IS_ACCESSED 1u
#define IS_NO_SAVE 2u  /* by anything but push and pop of one register that callees save */
#define IS_ARGUMENT 4u /* it is written where nothing here can read it: for a callee */

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

/* The bytes of the frame that an access at `place` touches, as [*first, *end). Those above the
 * frame are not among them. */
static void bytes_of(int32_t place, uint32_t bytes, int32_t *first, int32_t *end) {
    int32_t low = -place; /* counted downward */
    int32_t high = -(place + (int32_t)bytes);
    *first = high < 0 ? 0 : high;
    *end = low < 0 ? 0 : low;
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
    bytes_of(place, op->memory.bytes, &first, &end);
    uint8_t saved = op->copy == BZ_COPY_STORE ? op->copy_from : op->copy_to;
    for (int32_t byte = first; byte < end; byte++) {
        bool is_save =
            op->is_save && (function->access[byte] == 0 || function->saved[byte] == saved);
        function->saved[byte] = saved;
        function->access[byte] |= is_save ? IS_ACCESSED : IS_ACCESSED | IS_NO_SAVE;
    }
    function->bytes = (uint32_t)end > function->bytes ? (uint32_t)end : function->bytes;
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
        uint32_t bytes = (uint32_t)-function->sp[index];
        function->bytes = bytes > function->bytes ? bytes : function->bytes;
        if (!note_access(function, index) || !is_followed(function, index)) {
            return false;
        }
    }
    return true;
}

/* --- liveness --------------------------------------------------------------------------------- */

enum byte_class { ALWAYS_LIVE, ALWAYS_DEAD, BY_FLOW };

struct analysis {
    const struct bz_function *function;
    const struct bz_exit *out;
    bool
        is_for_arguments; /* whole copies are read, and a move even if nobody reads the copy. A load
                             counts if somebody does: `pop` removes arguments from the stack, too */
    uint32_t words;       /* of a set of bytes */
    uint64_t *by_flow;    /* which bytes are BY_FLOW, as a set */
    uint64_t *sets;       /* those that are live before each instruction */
    uint64_t *registers;
};

static enum byte_class class_of(const struct bz_function *function, const struct bz_exit *out,
                                uint32_t byte) {
    uint8_t access = function->access[byte];
    bool is_save = access != 0 && (access & IS_NO_SAVE) == 0;
    if (byte < sizeof(uintptr_t) || (access & IS_ARGUMENT) != 0 ||
        (function->forms_addresses && !is_save)) {
        return ALWAYS_LIVE;
    }
    if (access == 0) {
        return ALWAYS_DEAD;
    }
    return out->may_unwind ? ALWAYS_LIVE : BY_FLOW;
}

static bool has(const uint64_t *set, int32_t byte) {
    return (set[byte / 64] >> (uint32_t)byte % 64 & 1u) != 0;
}

static void add_to(uint64_t *set, int32_t byte) {
    set[byte / 64] |= UINT64_C(1) << (uint32_t)byte % 64;
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
    if (op->kind == BZ_INSN_JUMP_FAR) {
        registers |= BZ_REGS_ALL;
        memcpy(set, analysis->by_flow, analysis->words * sizeof *set);
    } else if (op->kind == BZ_INSN_RET || bz_function_is_tail_call(function, index)) {
        /* Not A and D alone: conventions of single functions, and `pop` of arguments. */
        registers |= BZ_REGS_OF_CALLS | analysis->out->registers;
    }
    return registers;
}

/* The part of register 0 that is copied to or from the byte of an operand with this number. */
static uint64_t part_of(int32_t number) {
    return number == 0  ? BZ_REG_BYTE(0)
           : number < 4 ? BZ_REG_LOW(0) & ~BZ_REG_BYTE(0)
                        : BZ_REG_HIGH(0);
}

/* What a store reads of its register, as parts of register 0. Its bytes may reach into the caller's
 * frame, where all are read. */
static uint64_t read_by_store(const struct analysis *analysis, const struct bz_insn *op,
                              const uint64_t *behind, int32_t place) {
    uint64_t parts = 0;
    for (int32_t number = 0; number < (int32_t)op->copy_bytes; number++) {
        int32_t byte = -(place + number) - 1;
        bool is_read = byte < 0 || !has(analysis->by_flow, byte) || has(behind, byte);
        parts |= is_read ? part_of(number) : 0;
    }
    return parts;
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

static void add_read(const struct analysis *analysis, const struct bz_insn *op, uint64_t behind,
                     int32_t place, uint64_t *set) {
    bool is_faint = op->copy == BZ_COPY_LOAD && !analysis->is_for_arguments;
    uint64_t read = op->copy == BZ_COPY_LOAD ? read_by_copy(op, behind) : BZ_REG_WHOLE(0);
    for (int32_t number = 0; number < (int32_t)op->memory.bytes && read != 0; number++) {
        int32_t byte = -(place + number) - 1;
        bool is_read = !is_faint || (read & part_of(number)) != 0;
        if (is_read && byte >= 0 && has(analysis->by_flow, byte)) {
            add_to(set, byte);
        }
    }
}

/* From what is live behind an instruction to what is live before it, in place. */
static uint64_t step_back(const struct analysis *analysis, uint32_t index, uint64_t behind,
                          uint64_t *set) {
    const struct bz_function *function = analysis->function;
    const struct bz_insn *op = &function->ops[index];
    uint64_t before = (behind & ~op->writes) | op->reads;
    int32_t place = 0;
    bool is_on_frame = op->memory.bytes > 0 && place_of(function, index, &place);
    if (op->copy == BZ_COPY_STORE) {
        before |= read_by_store(analysis, op, set, place) << op->copy_from;
    } else if (op->copy == BZ_COPY_MOVE) {
        before |= read_by_copy(op, behind) << op->copy_from;
    }
    if (is_on_frame && op->memory.is_write) {
        int32_t first;
        int32_t end;
        bytes_of(place, op->memory.bytes, &first, &end);
        for (int32_t byte = first; byte < end; byte++) {
            set[byte / 64] &= ~(UINT64_C(1) << (uint32_t)byte % 64);
        }
    } else if (is_on_frame) {
        add_read(analysis, op, behind, place, set);
    }
    return before;
}

/* One pass over all instructions, from the last to the first. False: nothing has changed. */
static bool pass(const struct analysis *analysis) {
    const struct bz_function *function = analysis->function;
    uint64_t set[BZ_FRAME_BYTES_MAX / 64u];
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

/* From which byte on down arguments of a callee lie, which are at the bottom of the frame. Bytes
 * among them and above them that nobody here accesses are padding. They belong to the callee, too,
 * whose tail call may have arguments there. */
static uint32_t first_argument(const struct bz_function *function, uint32_t bytes) {
    bool has_arguments = false;
    uint32_t first = bytes;
    for (; first > 0; first--) {
        uint8_t access = function->access[first - 1];
        if (access != 0 && (access & IS_ARGUMENT) == 0) {
            break;
        }
        has_arguments |= access != 0;
    }
    return has_arguments ? first : bytes;
}

static void tell(const struct analysis *analysis, uint32_t index, struct bz_live *live) {
    const uint64_t *set = &analysis->sets[(size_t)index * analysis->words];
    live->registers = analysis->registers[index];
    uint32_t bytes = (uint32_t)-analysis->function->sp[index];
    uint32_t end = first_argument(analysis->function, bytes);
    for (uint32_t byte = 0; byte < end; byte++) {
        enum byte_class class = class_of(analysis->function, analysis->out, byte);
        if (class == ALWAYS_DEAD || (class == BY_FLOW && !has(set, (int32_t)byte))) {
            add_to(live->dead, (int32_t)byte);
        }
    }
}

static void finish(struct analysis *analysis) {
    free(analysis->by_flow);
    free(analysis->sets);
    free(analysis->registers);
}

static uint64_t *words_of(size_t count) {
    return bz_lack_check(calloc(count + 1, sizeof(uint64_t)), BZ_FRAMES_PURPOSE);
}

static void analyse(struct analysis *analysis, const struct bz_function *function,
                    const struct bz_exit *out, bool is_for_arguments) {
    *analysis = (struct analysis){.function = function,
                                  .out = out,
                                  .is_for_arguments = is_for_arguments,
                                  .words = (function->bytes + 63u) / 64u};
    analysis->by_flow = words_of(analysis->words);
    analysis->sets = words_of((size_t)function->count * analysis->words);
    analysis->registers = words_of(function->count);
    for (uint32_t byte = 0; byte < function->bytes; byte++) {
        if (class_of(function, out, byte) == BY_FLOW) {
            add_to(analysis->by_flow, (int32_t)byte);
        }
    }
    while (pass(analysis)) {
    }
}

/* Whether a byte of the same half of a word is, which was stored with it. */
static bool is_any_read(const uint64_t *behind, int32_t byte, int32_t first, int32_t end) {
    int32_t half = byte & ~3;
    bool is_read = false;
    for (int32_t other = half; other < half + 4; other++) {
        is_read |= other >= first && other < end && has(behind, other);
    }
    return is_read;
}

/* Compilers store nothing that is not read. So what this function cannot read is an argument, also
 * if it reads another value at the same place elsewhere. A bool may be stored as an int. */
static void note_arguments(struct bz_function *function, const struct analysis *analysis) {
    uint64_t behind[BZ_FRAME_BYTES_MAX / 64u];
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
        bytes_of(place, memory->bytes, &first, &end);
        for (int32_t byte = first; byte < end; byte++) {
            function->access[byte] |= is_any_read(behind, byte, first, end) ? 0 : IS_ARGUMENT;
        }
    }
}

static void find_arguments(struct bz_function *function) {
    const struct bz_exit out = {BZ_REGS_CALLEE_SAVED, false};
    struct analysis analysis;
    analyse(&analysis, function, &out, true);
    note_arguments(function, &analysis);
    finish(&analysis);
}

bool bz_function_find_accesses(struct bz_function *function) {
    bool is_known = note_accesses(function);
    if (is_known) {
        find_arguments(function);
    }
    return is_known;
}

void bz_function_find_live(const struct bz_function *function, uintptr_t address,
                           const struct bz_exit *out, struct bz_live *live) {
    struct analysis analysis;
    *live = (struct bz_live){.registers = BZ_REGS_ALL};
    if (function->is_plain && bz_function_depth(function, address) != 0) {
        analyse(&analysis, function, out, false);
        tell(&analysis, bz_function_insn_at(function, address), live);
        finish(&analysis);
    }
}
