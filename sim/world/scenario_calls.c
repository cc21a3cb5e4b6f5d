/* What a scenario asks the world for: numbers, memory, marks, and who is where. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sim/world/world.h"

static uint32_t next_draw(struct bz_world *world, uint32_t task) {
    if (task >= world->draws_capacity) {
        uint32_t capacity = world->draws_capacity == 0 ? 64 : world->draws_capacity;
        while (capacity <= task) {
            capacity *= 2;
        }
        uint32_t *larger = realloc(world->draws, capacity * sizeof *larger);
        BZ_CHECK(larger != NULL);
        memset(larger + world->draws_capacity, 0,
               (capacity - world->draws_capacity) * sizeof *larger);
        world->draws = larger;
        world->draws_capacity = capacity;
    }
    return ++world->draws[task];
}

static uint64_t draw(struct bz_world *world, enum bz_choice_kind kind, const char *label,
                     uint64_t bound) {
    BZ_CHECK(bound > 0 && bound <= BZ_TIME_MAX_NS);
    uint32_t task = bz_world_current_task(world);
    world->has_drawn = true;
    struct bz_draw question = {
        .bound = bound, .label = label, .owner = task, .nth = next_draw(world, task)};
    uint64_t value =
        world->config.strategy->draw(world->strategy_state, kind, &question, world->step);
    BZ_CHECK(value < bound);
    bz_world_event(world, (struct bz_event){.kind = BZ_EVENT_DRAW,
                                            .task = task,
                                            .detail = (uint8_t)kind,
                                            .arg = (uint32_t)value,
                                            .object = (uint32_t)(value >> 32u)});
    if (value != 0) {
        *bz_tape_next(&world->tape) = (struct bz_choice){.kind = (uint8_t)kind,
                                                         .step = world->step,
                                                         .owner = task,
                                                         .nth = question.nth,
                                                         .label = label,
                                                         .bound = bound,
                                                         .value = value};
        world->tape.count++;
    }
    return value;
}

uint64_t bz_world_draw(struct bz_world *world, const char *label, uint64_t bound) {
    return draw(world, BZ_CHOICE_DATA, label, bound);
}

uint64_t bz_world_draw_delay_ns(struct bz_world *world, const char *label, uint64_t least_ns,
                                uint64_t most_ns) {
    BZ_CHECK(least_ns <= most_ns && most_ns < BZ_TIME_MAX_NS);
    return least_ns + draw(world, BZ_CHOICE_DELAY, label, most_ns - least_ns + 1);
}

void bz_world_note(struct bz_world *world, uint32_t number) {
    bz_world_event(world, (struct bz_event){.kind = BZ_EVENT_NOTE,
                                            .task = bz_world_current_task(world),
                                            .arg = number});
}

/* Who looks depends on who is looked at: see footprint.h. */
static inline bool look_inside(struct bz_world *world, const struct bz_task *task, enum bz_op op) {
    uint32_t id = bz_task_id(task);
    world->looked_at |= id < 64 ? UINT64_C(1) << id : ~UINT64_C(0);
    return bz_book_is_suspended_in(&world->book.tasks[id], op);
}

/* Not inline: a task that calls it would have no room for what is called at every step. */
__attribute__((noinline)) uint64_t bz_world_suspended_in(struct bz_world *world,
                                                         struct bz_task *const *tasks,
                                                         uint32_t count, enum bz_op op) {
    uint64_t set = 0;
    BZ_CHECK(count <= 64);
    for (uint32_t index = 0; index < count; index++) {
        set |= (uint64_t)look_inside(world, tasks[index], op) << index;
    }
    return set;
}

bool bz_world_is_suspended_in(struct bz_world *world, const struct bz_task *task, enum bz_op op) {
    return look_inside(world, task, op);
}

void *bz_world_alloc(struct bz_world *world, size_t size_bytes) {
    void *block = bz_mem_alloc(bz_loop_mem(world->loop), size_bytes);
    BZ_CHECK(block != NULL);
    return block;
}

struct bz_task *bz_world_find_task(const struct bz_world *world, uint32_t id) {
    struct bz_task *task = bz_driver_next_task(world->loop, NULL);
    while (task != NULL && bz_task_id(task) != id) {
        task = bz_driver_next_task(world->loop, task);
    }
    return task;
}

const char *bz_world_task_name(const struct bz_world *world, uint32_t task, char *buffer,
                               size_t size_bytes) {
    const struct bz_book_task *entry = &world->book.tasks[task];
    if (task == 0 || task > world->book.task_count) {
        snprintf(buffer, size_bytes, "loop");
    } else if (entry->name_index == 0) {
        snprintf(buffer, size_bytes, "%s", entry->name_base);
    } else {
        snprintf(buffer, size_bytes, "%s-%u", entry->name_base, entry->name_index);
    }
    return buffer;
}
