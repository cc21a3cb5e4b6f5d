#include "sim/explore/fingerprint/word_roles.h"

#include <stdlib.h>
#include <string.h>

#include "sim/explore/fingerprint/symmetry.h"

#define RECORD_WORDS (sizeof(struct bz_shadow_task) / 8)
#define BLOCK_WORDS (sizeof(struct bz_task) / 8)

void bz_printer_begin(struct bz_printer *printer, const struct bz_symmetry *symmetry,
                      bool ignores_order) {
    printer->symmetry = symmetry != NULL && symmetry->count > 0 ? symmetry : NULL;
    printer->ignores_order = ignores_order;
    printer->layout = (struct bz_print_layout){.shadow_tasks = 0}; /* of no world */
    for (size_t depth = 0; depth < BZ_STACK_KEYS; depth++) {
        printer->stack_keys[depth] = bz_key_of(BZ_PLACE_STACK + depth);
    }
}

void bz_printer_fini(struct bz_printer *printer) {
    for (int area = 0; area < BZ_AREAS; area++) {
        free(printer->roles[area]);
        printer->roles[area] = NULL;
        printer->role_capacities[area] = 0;
    }
}

/* Roles for so many words of an area. Those that are added belong to the rest. */
static bool reserve(struct bz_printer *printer, int area, const struct bz_snapshot_area *live) {
    size_t count = live->count / 8;
    if (count > printer->role_capacities[area]) {
        struct bz_word_role *larger =
            realloc(printer->roles[area], 2 * count * sizeof *printer->roles[area]);
        if (larger == NULL) {
            return false;
        }
        printer->roles[area] = larger;
        printer->role_capacities[area] = 2 * count;
    }
    uint64_t first = area == BZ_AREA_HEAD ? BZ_PLACE_TASK : (uintptr_t)live->bytes;
    for (; printer->role_counts[area] < count; printer->role_counts[area]++) {
        size_t index = printer->role_counts[area];
        printer->roles[area][index] =
            (struct bz_word_role){bz_key_of(first + 8 * index), UINT64_MAX, BZ_PART_REST};
    }
    return true;
}

static struct bz_word_role *role_at(const struct bz_printer *printer,
                                    const struct bz_live_areas *live, int area, const void *at) {
    size_t offset = (size_t)((const char *)at - live->areas[area].bytes);
    BZ_CHECK(offset < live->areas[area].count);
    return printer->roles[area] + offset / 8;
}

/* They do not count. */
static void leave_out(struct bz_word_role *roles, size_t bytes) {
    for (size_t index = 0; index < bytes / 8; index++) {
        roles[index].keep = 0;
    }
}

/* They belong to a task: the same words of another one have the same keys. Without what follows
 * from its number, by `keep`. */
static void give(struct bz_word_role *roles, uint64_t part, uint64_t place, const void *keep,
                 size_t bytes) {
    for (size_t index = 0; index < bytes / 8; index++) {
        roles[index].key = bz_key_of(place + index);
        roles[index].part = part;
        memcpy(&roles[index].keep, (const char *)keep + 8 * index, 8);
    }
}

/* All of its own memory counts. */
static void give_own(struct bz_word_role *roles, uint64_t part, size_t bytes) {
    for (size_t index = 0; index < bytes / 8; index++) {
        roles[index] = (struct bz_word_role){bz_key_of(BZ_PLACE_OWN + index), UINT64_MAX, part};
    }
}

static void give_to_tasks(struct bz_printer *printer, const struct bz_world *world,
                          const struct bz_live_areas *live) {
    const struct bz_symmetry *symmetry = printer->symmetry;
    const struct bz_shadow *shadow = &world->judge->shadow;
    struct bz_shadow_task record;
    struct bz_task block;
    memset(&record, 0xff, sizeof record);
#define KEEP_DATA(life, clear)
#define KEEP_NUMBER(life, clear) clear;
#define KEEP_TASK(life, clear) KEEP_TASK_##life
#define KEEP_TASK_NEVER /* another life does not compile: no sum takes account of that task */
#define TASK(type, name, bits, writer, life, reference) KEEP_##reference(life, record.name = 0)
#include "sim/judge/shadow/fields.h"
    memset(&block, 0xff, sizeof block);
    block.name_index = 0;
    block.actor.id = 0;
    block.wake.handle.owner = 0;
    block.siblings = (struct bz_list){NULL, NULL};
    block.stack = NULL;
    block.coro.stack_bottom = NULL;
    for (uint32_t number = 0; number < symmetry->range_count; number++) {
        const struct bz_alike_range *range = &symmetry->ranges[number];
        for (uint32_t place = 0; place < range->count; place++) {
            give(role_at(printer, live, BZ_AREA_SHADOW, &shadow->tasks[range->first_id + place]),
                 range->first + place, BZ_PLACE_TASK, &record, sizeof record);
        }
        if (range->array != NULL) {
            leave_out(role_at(printer, live, BZ_AREA_BLOCKS, range->array),
                      range->count * sizeof(struct bz_task *));
        }
    }
    for (uint32_t index = 0; index < symmetry->count; index++) {
        give(role_at(printer, live, BZ_AREA_BLOCKS, (const void *)symmetry->blocks[index]), index,
             BZ_PLACE_TASK + RECORD_WORDS, &block, sizeof block);
        if (symmetry->own_bytes[index] > 0) {
            give_own(role_at(printer, live, BZ_AREA_BLOCKS, (const void *)symmetry->owns[index]),
                     index, symmetry->own_bytes[index]);
        }
    }
    for (uint32_t number = 1; number <= shadow->object_count; number++) {
        const struct bz_shadow_object *object = &shadow->objects[number];
        leave_out(role_at(printer, live, BZ_AREA_SHADOW, object->line),
                  object->line_capacity * sizeof object->line[0]);
    }
}

static struct bz_print_layout layout_of(const struct bz_printer *printer,
                                        const struct bz_world *world) {
    const struct bz_shadow *shadow = &world->judge->shadow;
    struct bz_print_layout layout = {.shadow_tasks = (uintptr_t)shadow->tasks,
                                     .queue = (uintptr_t)world->loop->ready_block,
                                     .queue_end = (uintptr_t)world->loop->ready_end};
    layout.object_count = printer->symmetry == NULL ? 0 : shadow->object_count;
    for (uint32_t number = 1; number <= layout.object_count; number++) {
        layout.lines[number - 1].line = (uintptr_t)shadow->objects[number].line;
        layout.lines[number - 1].capacity = shadow->objects[number].line_capacity;
    }
    return layout;
}

bool bz_roles_find(struct bz_printer *printer, const struct bz_world *world,
                   const struct bz_live_areas *live) {
    if (printer->symmetry != NULL && world->judge->shadow.object_count > BZ_PRINT_OBJECTS_MAX) {
        return false;
    }
    struct bz_print_layout layout = layout_of(printer, world);
    bool is_same = memcmp(&layout, &printer->layout, sizeof layout) == 0;
    for (int area = 0; area < BZ_AREAS; area++) {
        printer->role_counts[area] = is_same ? printer->role_counts[area] : 0;
        if (printer->role_counts[area] < live->areas[area].count / 8 &&
            !reserve(printer, area, &live->areas[area])) {
            return false;
        }
    }
    if (is_same) {
        return true;
    }
    printer->layout = layout;
    printer->layout_number++;
    if (printer->symmetry != NULL) {
        give_to_tasks(printer, world, live);
    }
    if (printer->ignores_order) {
        const struct bz_loop *loop = world->loop;
        size_t slots = (size_t)(loop->ready_end - loop->ready_block) + BZ_READY_SPARE;
        struct bz_word_role *roles = role_at(printer, live, BZ_AREA_BLOCKS, loop->ready_block);
        for (size_t index = 0; index < slots; index++) {
            roles[index].key = bz_key_of(BZ_PLACE_QUEUE);
            roles[index].part = BZ_PART_QUEUE;
        }
    }
    return true;
}
