/* The common parts of the soaks: random guests, random cancels, any order of steps, and a model
 * that follows the runtime's events. A seed is a whole run; the seeds are looped inside a test. The
 * model knows nothing of how the primitive works. */
#ifndef BZ_TESTS_STAGE_SOAK_H
#define BZ_TESTS_STAGE_SOAK_H

#include "primitives/tests/support.h"

#define SOAK_TASKS_MAX 8u
#define SOAK_ROUNDS 6u

struct soak {
    struct bz_loop *loop;
    struct tst_draw draw;
    uint64_t seed;
    bool is_fifo;
    uint32_t tasks_count;
    struct bz_task *tasks[SOAK_TASKS_MAX];
    /* The runtime's reports; NULL: not observed. */
    void (*on_event)(struct soak *soak, enum bz_event_kind kind, uint32_t task, uint8_t status);
    struct bz_observer observer;
};

/* A line of tasks, by number, oldest first. */
struct line {
    uint32_t ids[SOAK_TASKS_MAX];
    uint32_t count;
};

#define soak_assert(soak, condition)                                                               \
    do {                                                                                           \
        bool does_hold = (condition);                                                              \
        cr_assert(does_hold, "'%s' does not hold, seed %u", #condition, (unsigned)(soak)->seed);   \
    } while (0)

static inline void line_push(struct line *line, uint32_t id) {
    line->ids[line->count++] = id;
}

/* The place of `id`; the count if it is not there. */
static inline uint32_t line_find(const struct line *line, uint32_t id) {
    uint32_t place = 0;
    while (place < line->count && line->ids[place] != id) {
        place++;
    }
    return place;
}

static inline void line_remove_at(struct line *line, uint32_t place) {
    cr_assert_lt(place, line->count);
    line->count--;
    memmove(&line->ids[place], &line->ids[place + 1], (line->count - place) * sizeof line->ids[0]);
}

static inline void line_remove(struct line *line, uint32_t id) {
    line_remove_at(line, line_find(line, id));
}

static inline void soak_report(struct bz_observer *observer, enum bz_event_kind kind, uint32_t task,
                               uint8_t status, uint32_t arg) {
    struct soak *soak = bz_container_of(observer, struct soak, observer);
    (void)arg;
    soak->on_event(soak, kind, task, status);
}

/* Begins the run of this seed, on a loop as new. */
static inline void soak_begin(struct soak *soak) {
    bz_loop_reset(soak->loop);
    soak->draw = tst_draw_seeded(soak->seed);
    soak->observer.report = soak_report;
    if (soak->on_event != NULL) {
        bz_driver_observe(soak->loop, &soak->observer);
    }
}

static inline void soak_spawn(struct soak *soak, uint32_t count, bz_task_fn *fn) {
    soak->tasks_count = count;
    for (uint32_t index = 0; index < count; index++) {
        soak->tasks[index] = tst_spawn(soak->loop, fn, soak);
    }
}

/* Cancels somebody, once in `odds` times. */
static inline void soak_cancel(struct soak *soak, uint32_t odds) {
    if (tst_draw(&soak->draw, odds) == 0) {
        bz_task_cancel(soak->tasks[tst_draw(&soak->draw, soak->tasks_count)]);
    }
}

static inline bool soak_is_ready(const struct soak *soak) {
    return bz_driver_ready_count(soak->loop) > 0;
}

static inline void soak_step(struct soak *soak) {
    uint32_t ready = bz_driver_ready_count(soak->loop);
    uint32_t index = soak->is_fifo ? 0 : tst_draw(&soak->draw, ready);
    bz_driver_step(soak->loop, bz_driver_take(soak->loop, index));
}

/* Lets others run, up to twice. A guest that is cancelled here goes on. */
static inline void soak_pause(struct soak *soak) {
    for (uint32_t pause = tst_draw(&soak->draw, 3); pause > 0; pause--) {
        (void)!bz_yield(soak->loop);
    }
}

/* Every task has ended. */
static inline void soak_end(struct soak *soak) {
    for (uint32_t index = 0; index < soak->tasks_count; index++) {
        soak_assert(soak, bz_task_is_done(soak->tasks[index]));
        bz_task_free(soak->tasks[index]);
    }
}

#endif
