#include "sim/frames/frames.h"

#include <stdlib.h>
#include <string.h>

#include "sim/frames/internal.h"

#define DEPTH_MAX 64u /* frames of a stack; nothing is known of those further out */

/* One frame of a stack, from the innermost one outward. */
struct frame {
    const struct bz_function *function;
    uintptr_t pc;    /* where it goes on */
    uint32_t offset; /* of its lowest word, from the stack pointer */
    uint32_t bytes;
};

/* A place with a value: a return address. */
struct link {
    uint32_t offset;
    uintptr_t pc;
};

struct dead_range {
    uint32_t offset;
    uint32_t bytes;
};

/* What is known of one chain of return addresses. */
struct chain {
    uintptr_t pc;
    uint32_t bytes; /* of the stack */
    bool clears_frame_pointer;
    uint32_t link_count;
    uint32_t range_count;
    struct link *links; /* the first of one block, with the ranges behind */
    struct dead_range *ranges;
};

struct bz_frames {
    uint8_t dead; /* what dead bytes become */
    struct bz_decoder *decoder;
    struct bz_function **functions;
    size_t function_count;
    struct chain *chains;
    size_t chain_count;
    uint32_t *table; /* numbers of chains and 1, by their first return address */
};

#define TABLE_SIZE (2u * BZ_FRAMES_CHAINS_MAX)

/* --- life ------------------------------------------------------------------------------------- */

bool bz_frames_is_supported(void) {
    return bz_decoder_is_there();
}

struct bz_frames *bz_frames_new(uint8_t dead) {
    struct bz_frames *frames = calloc(1, sizeof *frames);
    if (frames == NULL) {
        return NULL;
    }
    frames->dead = dead;
    frames->decoder = bz_decoder_new();
    frames->chains = calloc(BZ_FRAMES_CHAINS_MAX, sizeof *frames->chains);
    frames->table = calloc(TABLE_SIZE, sizeof *frames->table);
    if (frames->decoder == NULL || frames->chains == NULL || frames->table == NULL) {
        bz_frames_destroy(frames);
        return NULL;
    }
    return frames;
}

void bz_frames_destroy(struct bz_frames *frames) {
    if (frames == NULL) {
        return;
    }
    for (size_t index = 0; index < frames->chain_count; index++) {
        free(frames->chains[index].links);
    }
    for (size_t index = 0; index < frames->function_count; index++) {
        bz_function_destroy(frames->functions[index]);
    }
    free(frames->functions);
    free(frames->chains);
    free(frames->table);
    bz_decoder_destroy(frames->decoder);
    free(frames);
}

/* --- walking ---------------------------------------------------------------------------------- */

/* NULL: it is not described. */
static const struct bz_function *function_at(struct bz_frames *frames, uintptr_t pc) {
    struct bz_code_range range;
    for (size_t index = 0; index < frames->function_count; index++) {
        if (bz_function_has(frames->functions[index], pc)) {
            return frames->functions[index];
        }
    }
    if (!bz_code_range_find(pc, &range)) {
        return NULL;
    }
    frames->functions = bz_lack_check(
        realloc(frames->functions, (frames->function_count + 1) * sizeof(struct bz_function *)),
        BZ_FRAMES_PURPOSE);
    return frames->functions[frames->function_count++] = bz_function_new(frames->decoder, &range);
}

static uintptr_t word_at(const struct bz_frames_stack *stack, uint32_t offset) {
    uintptr_t word;
    memcpy(&word, (const char *)stack->sp + offset, sizeof word);
    return word;
}

static uint32_t bytes_of(const struct bz_frames_stack *stack) {
    return (uint32_t)((char *)stack->top - (char *)stack->sp);
}

/* The frames from the stack pointer on, as far as they are known. */
static uint32_t walk(struct bz_frames *frames, const struct bz_frames_stack *stack,
                     struct frame *list) {
    uintptr_t pc = (uintptr_t)stack->pc;
    uint32_t offset = 0;
    uint32_t count = 0;
    while (count < DEPTH_MAX) {
        /* A call that does not return may be the last instruction of its function. */
        const struct bz_function *function = function_at(frames, pc - 1);
        uint32_t bytes = function == NULL ? 0 : bz_function_depth(function, pc);
        if (bytes < sizeof pc || bytes > bytes_of(stack) - offset) {
            break;
        }
        list[count++] = (struct frame){function, pc, offset, bytes};
        offset += bytes;
        pc = word_at(stack, offset - (uint32_t)sizeof pc);
    }
    return count;
}

/* --- what is dead ----------------------------------------------------------------------------- */

static void add_byte(struct chain *chain, const struct frame *frame, uint32_t byte) {
    uint32_t offset = frame->offset + frame->bytes - byte - 1;
    struct dead_range *last = &chain->ranges[chain->range_count];
    if (chain->range_count > 0 && last[-1].offset == offset + 1) {
        last[-1].offset = offset;
        last[-1].bytes++;
    } else {
        *last = (struct dead_range){offset, 1};
        chain->range_count++;
    }
}

/* From the outermost frame inward. */
static void find_ranges(struct chain *chain, const struct frame *list, uint32_t count) {
    const struct frame *outermost = &list[count == 0 ? 0 : count - 1];
    bool is_whole = count > 0 && outermost->offset + outermost->bytes == chain->bytes;
    struct bz_exit out = {is_whole ? 0 : BZ_REGS_CALLEE_SAVED, !is_whole};
    struct bz_live live = {.registers = BZ_REGS_ALL};
    for (uint32_t index = count; index-- > 0;) {
        const struct frame *frame = &list[index];
        bz_function_find_live(frame->function, frame->pc, &out, &live);
        for (uint32_t byte = 0; byte < frame->bytes; byte++) {
            if ((live.dead[byte / 64] >> byte % 64 & 1u) != 0) {
                add_byte(chain, frame, byte);
            }
        }
        out.registers = live.registers & BZ_REGS_CALLEE_SAVED;
        out.may_unwind |= live.registers == BZ_REGS_ALL;
    }
    chain->clears_frame_pointer =
        count > 0 && !out.may_unwind && (live.registers & BZ_REG_WHOLE(BZ_REG_FP)) == 0;
}

static void make_chain(struct bz_frames *frames, const struct bz_frames_stack *stack,
                       struct chain *chain) {
    struct frame list[DEPTH_MAX];
    uint32_t count = walk(frames, stack, list);
    size_t bytes = count == 0 ? 0 : list[count - 1].offset + list[count - 1].bytes;
    *chain = (struct chain){.pc = (uintptr_t)stack->pc, .bytes = bytes_of(stack)};
    chain->links = bz_lack_check(
        malloc((count + 1) * sizeof *chain->links + (bytes + 1) / 2 * sizeof *chain->ranges),
        BZ_FRAMES_PURPOSE);
    chain->ranges = (struct dead_range *)(void *)(chain->links + count + 1);
    for (uint32_t index = 0; index < count; index++) {
        uint32_t offset = list[index].offset + list[index].bytes - (uint32_t)sizeof(uintptr_t);
        chain->links[chain->link_count++] = (struct link){offset, word_at(stack, offset)};
    }
    find_ranges(chain, list, count);
}

/* --- clearing --------------------------------------------------------------------------------- */

static bool is_chain_of(const struct chain *chain, const struct bz_frames_stack *stack) {
    bool is_same = chain->pc == (uintptr_t)stack->pc && chain->bytes == bytes_of(stack);
    for (uint32_t index = 0; is_same && index < chain->link_count; index++) {
        is_same = word_at(stack, chain->links[index].offset) == chain->links[index].pc;
    }
    return is_same;
}

static uint32_t place_of(const struct bz_frames_stack *stack) {
    uint64_t mixed =
        ((uint64_t)(uintptr_t)stack->pc ^ bytes_of(stack)) * UINT64_C(0x9e3779b97f4a7c15);
    return (uint32_t)(mixed >> 40u) % TABLE_SIZE;
}

/* NULL: there are too many. */
static const struct chain *chain_of(struct bz_frames *frames, const struct bz_frames_stack *stack) {
    uint32_t place = place_of(stack);
    for (; frames->table[place] != 0; place = (place + 1) % TABLE_SIZE) {
        const struct chain *chain = &frames->chains[frames->table[place] - 1];
        if (is_chain_of(chain, stack)) {
            return chain;
        }
    }
    if (frames->chain_count == BZ_FRAMES_CHAINS_MAX) {
        return NULL;
    }
    struct chain *chain = &frames->chains[frames->chain_count];
    make_chain(frames, stack, chain);
    frames->table[place] = (uint32_t)++frames->chain_count;
    return chain;
}

void bz_frames_clear(struct bz_frames *frames, const struct bz_frames_stack *stack,
                     void **frame_pointer) {
    const struct chain *chain = chain_of(frames, stack);
    if (chain == NULL) {
        return;
    }
    for (uint32_t index = 0; index < chain->range_count; index++) {
        memset((char *)stack->sp + chain->ranges[index].offset, frames->dead,
               chain->ranges[index].bytes);
    }
    if (chain->clears_frame_pointer) {
        memset(frame_pointer, frames->dead, sizeof *frame_pointer);
    }
}
