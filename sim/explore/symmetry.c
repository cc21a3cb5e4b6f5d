#include "sim/explore/symmetry.h"

#include <stdlib.h>
#include <string.h>

#include "sim/choice/pcg.h"

/* What stands for a pointer into a region, beside the offset there. No data has these values by
 * accident. */
#define TO_ITSELF UINT64_C(0x9c3f6e0b51d7a200)
#define TO_OTHER UINT64_C(0x61b8d42ef90c3500)
#define TO_LINKS UINT64_C(0xd70a4f8236eb1900)
#define INTO_STACK (UINT64_C(1) << 40u)
#define INTO_OWN (UINT64_C(1) << 41u)

#define NOBODY BZ_ALIKE_MAX
#define REST_REFERENCES_MAX 128u
#define OBJECTS_MAX 8u
#define HOLES_MAX (3u * BZ_ALIKE_MAX + 2u * BZ_ALIKE_GROUPS_MAX + OBJECTS_MAX + 1u)
#define LABELS_MAX                                                                                 \
    (REST_REFERENCES_MAX + BZ_ALIKE_MAX * (OBJECTS_MAX + 2u + BZ_REGION_REFERENCES_MAX))
#define RECORD_WORDS (sizeof(struct bz_shadow_task) / 8)
#define BLOCK_WORDS (sizeof(struct bz_task) / 8)

_Static_assert(sizeof(struct bz_shadow_task) % 8 == 0 && sizeof(struct bz_task) % 8 == 0,
               "regions are words");

/* Bytes of the snapshot that belong to no rest. */
struct hole {
    size_t offset;
    size_t bytes;
};

/* Where references go; more than fit are an overflow. */
struct references {
    struct bz_reference *list;
    uint32_t count;
    uint32_t capacity;
};

/* --- life ------------------------------------------------------------------------------------- */

static void widen(uintptr_t *low, uintptr_t *span, uintptr_t from, uintptr_t to) {
    uintptr_t high = *low + *span;
    if (*span == 0 || from < *low) {
        *low = from;
    }
    high = *span == 0 || to > high ? to : high;
    *span = high - *low;
}

static bool is_in_arena(const struct bz_world *world, const void *address) {
    const struct bz_mem *mem = world->loop->mem;
    return (uintptr_t)address - (uintptr_t)mem->base < mem->used_bytes;
}

static void add_task(struct bz_symmetry *symmetry, const struct bz_task *task, uintptr_t own,
                     size_t own_bytes) {
    uint32_t index = symmetry->count++;
    uintptr_t block = (uintptr_t)task;
    uintptr_t top = (uintptr_t)bz_stack_top(task->stack);
    symmetry->blocks[index] = block;
    symmetry->stack_tops[index] = top;
    symmetry->owns[index] = own;
    symmetry->own_bytes[index] = own_bytes;
    widen(&symmetry->blocks_low, &symmetry->blocks_span, block, block + sizeof *task);
    widen(&symmetry->stacks_low, &symmetry->stacks_span, (uintptr_t)task->stack->base, top + 1);
    if (own_bytes > 0) {
        widen(&symmetry->blocks_low, &symmetry->blocks_span, own, own + own_bytes);
    }
}

/* False: they are not as the program has promised. */
static bool add_group(struct bz_symmetry *symmetry, const struct bz_world *world,
                      const struct bz_alike *alike) {
    const struct bz_task *first = alike->tasks[0];
    if (first == NULL || (alike->own_bytes > 0 && !is_in_arena(world, alike->own)) ||
        alike->own_bytes % 8 != 0) {
        return false;
    }
    symmetry->ranges[symmetry->range_count++] =
        (struct bz_alike_range){.first = symmetry->count,
                                .first_id = first->actor.id,
                                .count = alike->count,
                                .array = is_in_arena(world, alike->array) ? alike->array : NULL};
    for (uint32_t place = 0; place < alike->count; place++) {
        const struct bz_task *task = alike->tasks[place];
        if (task == NULL || task->actor.id != first->actor.id + place || task->fn != first->fn ||
            task->arg != first->arg || task->is_detached) {
            return false;
        }
        add_task(symmetry, task, (uintptr_t)alike->own + place * alike->own_bytes,
                 alike->own_bytes);
    }
    return true;
}

void bz_symmetry_begin(struct bz_symmetry *symmetry, const struct bz_world *world) {
    const struct bz_native *native = bz_native_of(world);
    bool is_sound = true;
    symmetry->count = 0;
    symmetry->range_count = 0;
    symmetry->blocks_span = 0;
    symmetry->stacks_span = 0;
    symmetry->stack_bytes = world->loop->stacks->stack_bytes;
    for (uint32_t group = 0; is_sound && group < native->alike_count; group++) {
        is_sound = add_group(symmetry, world, &native->alike[group]);
    }
    symmetry->count = is_sound ? symmetry->count : 0;
    symmetry->range_count = is_sound ? symmetry->range_count : 0;
    symmetry->low = symmetry->blocks_low;
    symmetry->span = symmetry->blocks_span;
    widen(&symmetry->low, &symmetry->span, symmetry->stacks_low,
          symmetry->stacks_low + symmetry->stacks_span);
}

void bz_symmetry_fini(struct bz_symmetry *symmetry) {
    free(symmetry->words);
    symmetry->words = NULL;
}

bool bz_symmetry_applies(const struct bz_symmetry *symmetry, const struct bz_world *world) {
    const struct bz_shadow *shadow = &world->judge->shadow;
    bool applies = symmetry->count > 1 && shadow->object_count <= OBJECTS_MAX;
    for (uint32_t number = 1; number <= shadow->object_count; number++) {
        /* The ledger of a queue names who put and who got. */
        applies &= shadow->objects[number].kind != BZ_OBJECT_ITEMS;
    }
    return applies;
}

static uint64_t *reserve(struct bz_symmetry *symmetry, size_t bytes) {
    if (bytes > symmetry->words_capacity) {
        free(symmetry->words);
        symmetry->words = malloc(2 * bytes);
        symmetry->words_capacity = symmetry->words == NULL ? 0 : 2 * bytes;
    }
    return symmetry->words;
}

/* --- references ------------------------------------------------------------------------------- */

static inline bool may_refer(const struct bz_symmetry *symmetry, uint64_t word) {
    return (word - symmetry->blocks_low < symmetry->blocks_span) |
           (word - symmetry->stacks_low < symmetry->stacks_span);
}

/* The task whose region a word points into, and where; NOBODY: none. A stack belongs to its first
 * task for good, because nothing that is looked at may depend on who has ended. */
static uint32_t refers_to(const struct bz_symmetry *symmetry, uint64_t word, uint64_t *offset) {
    for (uint32_t index = 0; index < symmetry->count; index++) {
        uint64_t into_block = word - symmetry->blocks[index];
        uint64_t below_top = symmetry->stack_tops[index] - word;
        if (into_block < sizeof(struct bz_task)) {
            *offset = into_block;
            return index;
        }
        if (below_top <= symmetry->stack_bytes) {
            *offset = INTO_STACK + below_top;
            return index;
        }
        if (word - symmetry->owns[index] < symmetry->own_bytes[index]) {
            *offset = INTO_OWN + (word - symmetry->owns[index]);
            return index;
        }
    }
    return NOBODY;
}

static void note(struct references *references, size_t place, uint32_t task) {
    if (references->count < references->capacity && place <= UINT16_MAX) {
        references->list[references->count] =
            (struct bz_reference){(uint16_t)place, (uint16_t)task};
    }
    references->count += place <= UINT16_MAX ? 1 : references->capacity + 1;
}

static bool has_overflowed(const struct references *references) {
    return references->count > references->capacity;
}

/* Writes the references among `count` words in a way that does not depend on numbers, and notes
 * them. The list of tasks is in the order of their numbers, so its links are not noted. */
static void generalize(const struct bz_symmetry *symmetry, uint64_t *words, size_t count,
                       uint32_t self, struct references *references) {
    const uint64_t links = offsetof(struct bz_task, siblings);
    const uint64_t low = symmetry->low;
    const uint64_t span = symmetry->span;
    for (size_t place = 0; place < count; place++) {
        while (place + 4 <= count &&
               (words[place] - low >= span) & (words[place + 1] - low >= span) &
                   (words[place + 2] - low >= span) & (words[place + 3] - low >= span)) {
            place += 4; /* nearly always */
        }
        if (place == count || !may_refer(symmetry, words[place])) {
            continue;
        }
        uint64_t offset;
        uint32_t task = refers_to(symmetry, words[place], &offset);
        if (task == NOBODY) {
            continue;
        }
        if (offset - links < sizeof(struct bz_list)) {
            words[place] = TO_LINKS + offset;
        } else if (task == self) {
            words[place] = TO_ITSELF + offset;
        } else {
            words[place] = TO_OTHER + offset;
            note(references, place, task);
        }
    }
}

/* --- regions ---------------------------------------------------------------------------------- */

/* The words of a region, without what follows from the number. */
static size_t copy_region(const struct bz_snapshot *snapshot, const struct bz_region *region,
                          size_t own_bytes, uint64_t *words) {
    struct bz_shadow_task record;
    struct bz_task block;
    memcpy(&record, snapshot->bytes + region->record_offset, sizeof record);
    memcpy(&block, snapshot->bytes + region->block_offset, sizeof block);
    record.name_index = 0;
    block.name_index = 0;
    block.actor.id = 0;
    block.wake.handle.owner = 0;
    block.siblings = (struct bz_list){NULL, NULL};
    block.stack = NULL;
    block.coro.stack_bottom = NULL;
    memcpy(words, &record, sizeof record);
    memcpy(words + RECORD_WORDS, &block, sizeof block);
    words += RECORD_WORDS + BLOCK_WORDS;
    memcpy(words, snapshot->bytes + region->own_offset, own_bytes);
    memcpy(words + own_bytes / 8, snapshot->bytes + region->stack_offset, region->stack_bytes);
    return RECORD_WORDS + BLOCK_WORDS + (own_bytes + region->stack_bytes) / 8;
}

static bool is_same_region(const struct bz_snapshot *snapshot, const struct bz_region *region,
                           size_t own_bytes, const struct bz_snapshot *before,
                           const struct bz_region *was) {
    return region->stack_bytes == was->stack_bytes &&
           memcmp(snapshot->bytes + region->record_offset, before->bytes + was->record_offset,
                  sizeof(struct bz_shadow_task)) == 0 &&
           memcmp(snapshot->bytes + region->block_offset, before->bytes + was->block_offset,
                  sizeof(struct bz_task)) == 0 &&
           memcmp(snapshot->bytes + region->own_offset, before->bytes + was->own_offset,
                  own_bytes) == 0 &&
           memcmp(snapshot->bytes + region->stack_offset, before->bytes + was->stack_offset,
                  region->stack_bytes) == 0;
}

static bool print_region(const struct bz_symmetry *symmetry, const struct bz_snapshot *snapshot,
                         uint32_t index, struct bz_region *region) {
    struct references references = {region->references, 0, BZ_REGION_REFERENCES_MAX};
    size_t count = copy_region(snapshot, region, symmetry->own_bytes[index], symmetry->words);
    generalize(symmetry, symmetry->words, count, index, &references);
    region->print = bz_fingerprint_of(BZ_FINGERPRINT_BEGIN, symmetry->words, count * 8);
    region->reference_count = references.count;
    return !has_overflowed(&references);
}

/* Where the regions are in a snapshot. */
static void find_regions(const struct bz_symmetry *symmetry, const struct bz_world *world,
                         const struct bz_snapshot *snapshot, struct bz_region *regions) {
    const struct bz_shadow *shadow = &world->judge->shadow;
    size_t records = snapshot->judge_offset +
                     (size_t)((char *)shadow->tasks - (shadow->mem->base + BZ_MEM_HEADER_BYTES));
    uintptr_t blocks = (uintptr_t)world->loop->mem->base + BZ_MEM_HEADER_BYTES;
    size_t stack = snapshot->stacks_offset;
    for (const struct bz_task *task = bz_driver_next_task(world->loop, NULL); task != NULL;
         task = bz_driver_next_task(world->loop, task)) {
        uint32_t index = bz_symmetry_index(symmetry, task->actor.id);
        size_t bytes = bz_image_stack_bytes(task);
        if (index != NOBODY) {
            struct bz_region *region = &regions[index];
            region->record_offset = (uint32_t)(records + task->actor.id * sizeof shadow->tasks[0]);
            region->block_offset =
                (uint32_t)(snapshot->blocks_offset + (symmetry->blocks[index] - blocks));
            region->own_offset = 0;
            if (symmetry->own_bytes[index] > 0) {
                region->own_offset =
                    (uint32_t)(snapshot->blocks_offset + (symmetry->owns[index] - blocks));
            }
            region->stack_offset = (uint32_t)stack;
            region->stack_bytes = (uint32_t)bytes;
        }
        stack += bytes;
    }
}

/* --- the rest --------------------------------------------------------------------------------- */

static uint32_t add_hole(struct hole *holes, uint32_t count, size_t offset, size_t bytes) {
    uint32_t place = count;
    for (; place > 0 && holes[place - 1].offset > offset; place--) {
        holes[place] = holes[place - 1];
    }
    holes[place] = (struct hole){offset, bytes};
    return count + 1;
}

static size_t line_offset(const struct bz_shadow *shadow, const struct bz_snapshot *snapshot,
                          const uint32_t *line) {
    return snapshot->judge_offset +
           (size_t)((const char *)line - (shadow->mem->base + BZ_MEM_HEADER_BYTES));
}

/* The parts of the snapshot that are no rest, by their place. A line is a hole as a whole: what is
 * behind its end is zero. */
static uint32_t find_holes(const struct bz_symmetry *symmetry, const struct bz_world *world,
                           const struct bz_snapshot *snapshot, const struct bz_region *regions,
                           struct hole *holes) {
    const struct bz_shadow *shadow = &world->judge->shadow;
    const struct bz_mem *mem = world->loop->mem;
    uint32_t count = 0;
    for (uint32_t number = 0; number < symmetry->range_count; number++) {
        const struct bz_alike_range *range = &symmetry->ranges[number];
        count = add_hole(holes, count, regions[range->first].record_offset,
                         range->count * sizeof(struct bz_shadow_task));
        if (range->array != NULL) {
            size_t offset =
                (size_t)((const char *)range->array - (mem->base + BZ_MEM_HEADER_BYTES));
            count = add_hole(holes, count, snapshot->blocks_offset + offset,
                             range->count * sizeof(struct bz_task *));
        }
    }
    for (uint32_t number = 1; number <= shadow->object_count; number++) {
        const struct bz_shadow_object *object = &shadow->objects[number];
        count = add_hole(holes, count, line_offset(shadow, snapshot, object->line),
                         object->line_capacity * sizeof object->line[0]);
    }
    count = add_hole(holes, count, snapshot->queue_offset,
                     snapshot->queue_count * sizeof(struct bz_handle *));
    for (uint32_t index = 0; index < symmetry->count; index++) {
        count = add_hole(holes, count, regions[index].block_offset, sizeof(struct bz_task));
        if (regions[index].stack_bytes > 0) {
            count = add_hole(holes, count, regions[index].stack_offset, regions[index].stack_bytes);
        }
        if (symmetry->own_bytes[index] > 0) {
            count = add_hole(holes, count, regions[index].own_offset, symmetry->own_bytes[index]);
        }
    }
    return count;
}

/* The ready handles, as a set: without those in the regions of interchangeable tasks, whose
 * is_ready says the same. */
static void copy_queue(const struct bz_symmetry *symmetry, const struct bz_world *world,
                       uint64_t *words, size_t *count) {
    const struct bz_loop *loop = world->loop;
    size_t first = *count;
    for (uint32_t index = 0; index < loop->ready_count; index++) {
        uint64_t word = (uintptr_t)loop->ready[index];
        uint64_t offset;
        if (refers_to(symmetry, word, &offset) != NOBODY) {
            continue;
        }
        size_t place = (*count)++;
        for (; place > first && words[place - 1] > word; place--) {
            words[place] = words[place - 1];
        }
        words[place] = word;
    }
}

static bool print_rest(const struct bz_symmetry *symmetry, const struct bz_world *world,
                       const struct bz_snapshot *snapshot, const struct bz_region *regions,
                       struct references *references, struct bz_fingerprint *print) {
    struct hole holes[HOLES_MAX];
    uint64_t *words = symmetry->words;
    uint32_t hole_count = find_holes(symmetry, world, snapshot, regions, holes);
    size_t offset = 0;
    size_t count = 0;
    for (uint32_t index = 0; index <= hole_count; index++) {
        size_t end = index < hole_count ? holes[index].offset : snapshot->state_bytes;
        memcpy(words + count, snapshot->bytes + offset, end - offset);
        count += (end - offset) / 8;
        offset = index < hole_count ? end + holes[index].bytes : end;
    }
    generalize(symmetry, words, count, NOBODY, references);
    copy_queue(symmetry, world, words, &count);
    *print = bz_fingerprint_of(BZ_FINGERPRINT_BEGIN, words, count * 8);
    return !has_overflowed(references);
}

/* --- order ------------------------------------------------------------------------------------ */

/* Sorts the tasks of each group by their regions, and by the references from and to these, two
 * steps deep. */
static void sort_tasks(const struct bz_symmetry *symmetry, const struct bz_region *regions,
                       const struct references *rest, uint32_t *order) {
    uint64_t colours[BZ_ALIKE_MAX];
    uint64_t next[BZ_ALIKE_MAX];
    for (uint32_t index = 0; index < symmetry->count; index++) {
        colours[index] = regions[index].print.low;
    }
    for (uint32_t index = 0; index < rest->count; index++) {
        colours[rest->list[index].task] += bz_seed_mix(rest->list[index].place);
    }
    for (int round = 0; round < 2; round++) {
        memcpy(next, colours, sizeof next);
        for (uint32_t index = 0; index < symmetry->count; index++) {
            const struct bz_region *region = &regions[index];
            for (uint32_t number = 0; number < region->reference_count; number++) {
                const struct bz_reference *reference = &region->references[number];
                uint64_t place = bz_seed_mix(reference->place + UINT64_C(0x10000));
                next[index] += bz_seed_mix(colours[reference->task] ^ place);
                next[reference->task] += bz_seed_mix(colours[index] ^ ~place);
            }
        }
        memcpy(colours, next, sizeof next);
    }
    for (uint32_t number = 0; number < symmetry->range_count; number++) {
        const struct bz_alike_range *range = &symmetry->ranges[number];
        for (uint32_t index = range->first; index < range->first + range->count; index++) {
            uint32_t place = index;
            for (; place > range->first && colours[order[place - 1]] > colours[index]; place--) {
                order[place] = order[place - 1];
            }
            order[place] = index;
        }
    }
}

/* --- the fingerprint -------------------------------------------------------------------------- */

static size_t label_references(const struct bz_reference *list, uint32_t count,
                               const uint32_t *numbers, uint64_t *labels) {
    for (uint32_t index = 0; index < count; index++) {
        labels[index] = (uint64_t)list[index].place << 32u | numbers[list[index].task];
    }
    return count;
}

/* The new numbers of those in the lines; others follow the interchangeable ones. */
static bool label_lines(const struct bz_symmetry *symmetry, const struct bz_shadow *shadow,
                        const uint32_t *numbers, uint64_t *labels, size_t *count) {
    for (uint32_t number = 1; number <= shadow->object_count; number++) {
        const struct bz_shadow_object *object = &shadow->objects[number];
        if (object->line_end > BZ_ALIKE_MAX || object->over_released_by != BZ_NO_TASK) {
            return false;
        }
        for (uint32_t place = 0; place < object->line_end; place++) {
            uint32_t index = bz_symmetry_index(symmetry, object->line[place]);
            labels[(*count)++] =
                index != NOBODY ? numbers[index] : BZ_ALIKE_MAX + object->line[place];
        }
    }
    return true;
}

static bool has_all(const struct bz_symmetry *symmetry, const struct bz_shadow *shadow) {
    bool has = true;
    for (uint32_t number = 0; number < symmetry->range_count; number++) {
        const struct bz_alike_range *range = &symmetry->ranges[number];
        for (uint32_t place = 0; place < range->count; place++) {
            has &= !shadow->tasks[range->first_id + place].is_freed;
        }
    }
    return has;
}

bool bz_symmetry_print(struct bz_symmetry *symmetry, const struct bz_world *world,
                       const struct bz_snapshot *snapshot, struct bz_region *regions,
                       const struct bz_snapshot *before, const struct bz_region *regions_before,
                       struct bz_fingerprint *print) {
    const struct bz_shadow *shadow = &world->judge->shadow;
    struct bz_reference rest_list[REST_REFERENCES_MAX];
    struct references rest = {rest_list, 0, REST_REFERENCES_MAX};
    uint64_t labels[LABELS_MAX];
    uint32_t order[BZ_ALIKE_MAX];
    uint32_t numbers[BZ_ALIKE_MAX];
    size_t count = 0;
    if (reserve(symmetry, snapshot->state_bytes) == NULL || !has_all(symmetry, shadow)) {
        return false;
    }
    find_regions(symmetry, world, snapshot, regions);
    for (uint32_t index = 0; index < symmetry->count; index++) {
        if (before != NULL && is_same_region(snapshot, &regions[index], symmetry->own_bytes[index],
                                             before, &regions_before[index])) {
            regions[index].print = regions_before[index].print;
            regions[index].reference_count = regions_before[index].reference_count;
            memcpy(regions[index].references, regions_before[index].references,
                   sizeof regions[index].references);
        } else if (!print_region(symmetry, snapshot, index, &regions[index])) {
            return false;
        }
    }
    if (!print_rest(symmetry, world, snapshot, regions, &rest, print)) {
        return false;
    }
    sort_tasks(symmetry, regions, &rest, order);
    for (uint32_t place = 0; place < symmetry->count; place++) {
        numbers[order[place]] = place;
    }
    count = label_references(rest.list, rest.count, numbers, labels);
    if (!label_lines(symmetry, shadow, numbers, labels, &count)) {
        return false;
    }
    for (uint32_t place = 0; place < symmetry->count; place++) {
        const struct bz_region *region = &regions[order[place]];
        labels[count++] = region->print.high;
        labels[count++] = region->print.low;
        count +=
            label_references(region->references, region->reference_count, numbers, labels + count);
    }
    *print = bz_fingerprint_of(*print, labels, count * 8);
    return true;
}
