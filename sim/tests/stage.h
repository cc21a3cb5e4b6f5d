/* The stage of the judge's tests: one world, objects under test, guests that play scripts, and a
 * strategy that follows a plan. So a test says exactly which handle runs at which step.
 *
 * Guests are actors (primitives/tests/actor.h) with these further words:
 *     cancel-x  join-x              cancels guest x; joins it
 *     doze                          sleeps 30 ns
 *     draw                          draws a datum below 8; logs nothing
 *     refuse                        ends the run with a failed assertion of the scenario
 *     acquire  release              the semaphore or lock, or the lock of the condition
 *     pass  set  clear              the event
 *     wait  notify-N                the condition; notify-9 is for all
 *     arrive  abort  reset          the barrier, which is for three
 *     put  get  try-put  try-get    the queue; urgent: a put before all others
 *     close  drop                   shut the queue down; drop also empties it
 *     count                         a scenario's finish: every item must have been delivered
 *     take-K  give-K                acquire and release key K (0 to 9) of the pool
 *     sweep                         a scenario's finish: the pool must be empty
 *
 * A plan has one word for each step, separated by blanks:
 *     a        a step of guest a
 *     A        a timer of guest a
 *     !a       a cancel is injected into guest a
 *     .        whatever is oldest
 *     +a, +.   the clock jumps to the next timer first
 * After its last word every choice is the default. A word that cannot be followed fails the test.
 */
#ifndef BZ_SIM_TESTS_STAGE_H
#define BZ_SIM_TESTS_STAGE_H

#include "primitives/tests/actor.h"
#include "sim/native/internal.h"
#include "sim/native/sut.h"

#define STAGE_GUESTS_MAX 8u
#define STAGE_PLAN_MAX 256u

/* --- the strategy ----------------------------------------------------------------------------- */

struct stage_plan {
    uint32_t length;
    char who[STAGE_PLAN_MAX]; /* by step, from 1; '.' for default */
    bool is_cancel[STAGE_PLAN_MAX];
    bool is_jump[STAGE_PLAN_MAX];
    uint8_t window[STAGE_PLAN_MAX]; /* what the candidate was labelled when its cancel was chosen */
};

static inline void stage_plan_begin(void *state, const struct bz_strategy_start *start) {
    (void)start;
    memset(state, 0, sizeof(struct stage_plan));
}

static inline uint32_t stage_plan_next(void *state, const struct bz_ready *ready, uint32_t count,
                                       uint32_t step) {
    const struct stage_plan *plan = state;
    if (step > plan->length || plan->who[step] == '.' || plan->is_cancel[step]) {
        return 0;
    }
    bool is_timer = plan->who[step] < 'a';
    uint32_t owner = (uint32_t)(plan->who[step] - (is_timer ? 'A' : 'a')) + 1;
    for (uint32_t index = 0; index < count; index++) {
        if (ready[index].owner == owner && (ready[index].role == BZ_ROLE_TIMER) == is_timer) {
            return index;
        }
    }
    cr_assert(false, "step %u: the plan wants %c, which is not ready", step, plan->who[step]);
    return 0;
}

static inline uint32_t stage_plan_gap(void *state) {
    (void)state;
    return 0;
}

static inline uint32_t stage_plan_cancel(void *state, const struct bz_cancel_candidate *candidates,
                                         uint32_t count, uint32_t step, uint32_t point) {
    struct stage_plan *plan = state;
    (void)point;
    if (step > plan->length || !plan->is_cancel[step]) {
        return 0;
    }
    for (uint32_t index = 0; index < count; index++) {
        if (candidates[index].task == (uint32_t)(plan->who[step] - 'a') + 1) {
            plan->window[step] = candidates[index].window;
            return index + 1;
        }
    }
    return 0;
}

static inline bool stage_plan_jump(void *state, uint32_t step) {
    struct stage_plan *plan = state;
    bool is_jump = step <= plan->length && plan->is_jump[step];
    if (is_jump) {
        plan->is_jump[step] = false;
    }
    return is_jump;
}

static inline uint64_t stage_plan_draw(void *state, enum bz_choice_kind kind,
                                       const struct bz_draw *draw, uint32_t step) {
    (void)state;
    (void)kind;
    (void)step;
    return draw->bound - 1;
}

static const struct bz_strategy stage_strategy = {
    .name = "plan",
    .summary = "follows the plan of a test",
    .reads_ready = true,
    .state_bytes = sizeof(struct stage_plan),
    .begin = stage_plan_begin,
    .next = stage_plan_next,
    .cancel_gap = stage_plan_gap,
    .cancel = stage_plan_cancel,
    .jump_gap = stage_plan_gap,
    .jump = stage_plan_jump,
    .draw = stage_plan_draw,
};

/* --- the stage -------------------------------------------------------------------------------- */

struct stage {
    struct bz_world *world;
    /* The objects. One that the test does not use has no `ops`. */
    struct bz_sut_permits sut;
    struct bz_sut_event event;
    struct bz_sut_condition condition;
    struct bz_sut_barrier barrier;
    struct bz_sut_queue queue;
    struct bz_sut_pool pool;
    struct tst_log log;
    struct tst_actor actors[STAGE_GUESTS_MAX];
    struct bz_task *tasks[STAGE_GUESTS_MAX];
    char names[STAGE_GUESTS_MAX][2];
    uint32_t count;
};

/* The words that cannot suspend, and are not logged. */
static inline enum bz_status stage_quiet_word(struct tst_actor *actor, const char *word) {
    struct stage *stage = actor->object;
    if (strncmp(word, "cancel-", 7) == 0) {
        bz_task_cancel(stage->tasks[word[7] - 'a']);
    } else if (strcmp(word, "draw") == 0) {
        (void)bz_world_draw(stage->world, "test", 8);
    } else if (strcmp(word, "refuse") == 0) {
        bz_world_assert(stage->world, stage == NULL, "%s refuses", actor->name);
    } else if (strcmp(word, "set") == 0) {
        bz_sut_event_set(&stage->event);
    } else if (strcmp(word, "clear") == 0) {
        bz_sut_event_clear(&stage->event);
    } else if (strcmp(word, "abort") == 0) {
        cr_assert(bz_sut_barrier_abort(&stage->barrier));
    } else if (strcmp(word, "reset") == 0) {
        cr_assert(bz_sut_barrier_reset(&stage->barrier));
    } else if (strcmp(word, "close") == 0 || strcmp(word, "drop") == 0) {
        cr_assert(bz_sut_queue_shutdown(&stage->queue, word[0] == 'd'));
    } else if (strcmp(word, "count") == 0) {
        bz_sut_queue_finish(&stage->queue);
    } else if (strcmp(word, "sweep") == 0) {
        bz_sut_pool_finish(&stage->pool);
    } else if (strncmp(word, "give-", 5) == 0) {
        return bz_sut_pool_release(&stage->pool, (uint32_t)(word[5] - '0'));
    } else {
        return BZ_INVALID_ARGUMENT;
    }
    return BZ_OK;
}

static inline enum bz_status stage_word(struct tst_actor *actor, const char *word, bool *is_quiet) {
    struct stage *stage = actor->object;
    bool has_condition = stage->condition.ops != NULL;
    uint32_t index;
    if (strcmp(word, "acquire") == 0) {
        return has_condition ? bz_sut_condition_acquire(&stage->condition)
                             : bz_sut_acquire(&stage->sut);
    }
    if (strcmp(word, "release") == 0) {
        return has_condition ? bz_sut_condition_release(&stage->condition)
                             : bz_sut_release(&stage->sut);
    }
    if (strcmp(word, "doze") == 0) {
        return bz_sleep(actor->loop, 30);
    }
    if (strcmp(word, "pass") == 0) {
        return bz_sut_event_wait(&stage->event);
    }
    if (strcmp(word, "wait") == 0) {
        return bz_sut_condition_wait(&stage->condition);
    }
    if (strncmp(word, "notify-", 7) == 0) {
        uint32_t count = word[7] == '9' ? BZ_NOTIFY_ALL : (uint32_t)(word[7] - '0');
        return bz_sut_condition_notify(&stage->condition, count);
    }
    if (strcmp(word, "arrive") == 0) {
        return bz_sut_barrier_wait(&stage->barrier, &index);
    }
    if (strcmp(word, "put") == 0 || strcmp(word, "urgent") == 0) {
        return bz_sut_queue_put(&stage->queue, word[0] == 'u' ? 1 : 5);
    }
    if (strcmp(word, "get") == 0) {
        return bz_sut_queue_get(&stage->queue);
    }
    if (strcmp(word, "try-put") == 0) {
        return bz_sut_queue_try_put(&stage->queue, 5);
    }
    if (strcmp(word, "try-get") == 0) {
        return bz_sut_queue_try_get(&stage->queue);
    }
    if (strncmp(word, "join-", 5) == 0) {
        return bz_task_join(stage->tasks[word[5] - 'a']);
    }
    if (strncmp(word, "take-", 5) == 0) {
        return bz_sut_pool_acquire(&stage->pool, (uint32_t)(word[5] - '0'));
    }
    *is_quiet = true;
    return stage_quiet_word(actor, word);
}

static inline struct bz_judge_config stage_config(enum bz_order order) {
    return (struct bz_judge_config){.strategy = &stage_strategy,
                                    .order = order,
                                    .cancel_windows = BZ_WINDOWS_ALL,
                                    .cancels_max = 16,
                                    .steps_max = 1000};
}

/* As bz_judge_run() begins a run, but the test itself goes on with it. */
static inline void stage_begin_run(struct bz_world *world) {
    bz_judge_begin(world->judge, &(struct bz_run_start){.seed = 0});
    bz_world_begin(world);
}

/* A stage without objects. */
static inline void stage_open(struct stage *stage, const struct bz_variant *variant,
                              const struct bz_judge_config *config) {
    memset(stage, 0, sizeof *stage);
    stage->world = bz_world_new(config, variant);
    cr_assert_not_null(stage->world);
    stage_begin_run(stage->world);
}

static inline void stage_begin_with(struct stage *stage, const struct bz_variant *variant,
                                    const struct bz_judge_config *config,
                                    enum bz_primitive primitive, uint32_t permits) {
    stage_open(stage, variant, config);
    tst_status(bz_sut_permits_init(&stage->sut, stage->world, primitive, "table", permits), BZ_OK);
}

/* A semaphore or, if the variant offers none, what else it has of this kind. */
static inline enum bz_primitive stage_permits_of(const struct bz_variant *variant) {
    enum bz_primitive primitive = BZ_PRIMITIVE_SEMAPHORE;
    while (!bz_variant_offers(variant, primitive)) {
        primitive++;
    }
    return primitive;
}

static inline void stage_begin(struct stage *stage, const struct bz_variant *variant,
                               uint32_t permits) {
    struct bz_judge_config config = stage_config(BZ_ORDER_ANY);
    stage_begin_with(stage, variant, &config, stage_permits_of(variant), permits);
}

/* The first clause of a timeline (see struct stage_row). */
struct stage_setup {
    char kind[24];
    uint32_t size;
    enum bz_queue_order order;
    struct bz_judge_config config;
};

static inline void stage_setup_word(struct stage_setup *setup, const char *word) {
    static const char *const orders[] = {"fifo", "lifo", "priority"};
    const char *value = strchr(word, '=');
    uint32_t number = (uint32_t)strtoul(value == NULL ? word : value + 1, NULL, 10);
    if (strncmp(word, "order=", 6) == 0) {
        setup->config.order = word[6] == 'f' ? BZ_ORDER_FIFO : BZ_ORDER_ANY;
    } else if (strncmp(word, "max-steps=", 10) == 0) {
        setup->config.steps_max = number;
    } else if (strncmp(word, "starvation-bound=", 17) == 0) {
        setup->config.starvation_bound = number;
    } else if (strcmp(word, "ignores-starvation") == 0) {
        setup->config.ignores_starvation = true;
    } else if (word[0] >= '0' && word[0] <= '9') {
        setup->size = number;
    } else if (setup->kind[0] == '\0') {
        snprintf(setup->kind, sizeof setup->kind, "%s", word);
    } else {
        setup->order = BZ_QUEUE_ORDER_FIFO;
        while (strcmp(orders[setup->order], word) != 0) {
            setup->order++;
            cr_assert_leq(setup->order, BZ_QUEUE_ORDER_PRIORITY, "'%s' sets nothing up", word);
        }
    }
}

/* The objects of a "hall": the variant's event, condition and barrier, if it offers them. */
static inline void stage_add_hall(struct stage *stage) {
    struct bz_world *world = stage->world;
    if (world->variant->event != NULL) {
        tst_status(bz_sut_event_init(&stage->event, world, "flag"), BZ_OK);
    }
    if (world->variant->condition != NULL) {
        tst_status(bz_sut_condition_init(&stage->condition, world, "news", "lock"), BZ_OK);
    }
    if (world->variant->barrier != NULL) {
        tst_status(bz_sut_barrier_init(&stage->barrier, world, "gate", 3), BZ_OK);
    }
}

/* A stage with the objects and settings of the first clause of a timeline. */
static inline void stage_begin_as(struct stage *stage, const struct bz_variant *variant,
                                  const char *clause) {
    static const char *const permits[] = {[BZ_PRIMITIVE_SEMAPHORE] = "semaphore",
                                          [BZ_PRIMITIVE_BOUNDED] = "bounded",
                                          [BZ_PRIMITIVE_LOCK] = "lock"};
    struct stage_setup setup = {.config = stage_config(BZ_ORDER_ANY)};
    char word[24];
    while (tst_actor_next(&clause, word, sizeof word)) {
        stage_setup_word(&setup, word);
    }
    stage_open(stage, variant, &setup.config);
    if (strcmp(setup.kind, "hall") == 0) {
        stage_add_hall(stage);
    } else if (strcmp(setup.kind, "queue") == 0) {
        tst_status(bz_sut_queue_init(&stage->queue, stage->world, "items", "slots", setup.order,
                                     setup.size),
                   BZ_OK);
    } else if (strcmp(setup.kind, "pool") == 0) {
        tst_status(bz_sut_pool_init(&stage->pool, stage->world, "key", 10), BZ_OK);
    } else if (strcmp(setup.kind, "nothing") != 0) {
        enum bz_primitive primitive = stage_permits_of(variant);
        while (strcmp(setup.kind, "permits") != 0 && strcmp(permits[primitive], setup.kind) != 0) {
            primitive++;
            cr_assert_lt(primitive, sizeof permits / sizeof permits[0], "'%s'?", setup.kind);
        }
        tst_status(bz_sut_permits_init(&stage->sut, stage->world, primitive, "table", setup.size),
                   BZ_OK);
    }
}

/* Guests are named a, b, c in the order in which they come. */
static inline void stage_guest(struct stage *stage, const char *script) {
    uint32_t index = stage->count++;
    cr_assert_lt(index, STAGE_GUESTS_MAX);
    stage->names[index][0] = (char)('a' + (char)index);
    stage->actors[index] = (struct tst_actor){.name = stage->names[index],
                                              .script = script,
                                              .loop = stage->world->loop,
                                              .log = &stage->log,
                                              .extra = stage_word,
                                              .object = stage};
    stage->tasks[index] = bz_task_spawn(stage->world->loop, stage->names[index], 0, tst_actor_run,
                                        &stage->actors[index]);
    cr_assert_not_null(stage->tasks[index]);
}

/* Plays the guests by the plan, to the end. */
static inline enum bz_run_end stage_play(struct stage *stage, const char *words) {
    struct stage_plan *plan = stage->world->judge->strategy_state;
    char word[8];
    while (tst_actor_next(&words, word, sizeof word)) {
        uint32_t step = ++plan->length;
        cr_assert_lt(step, STAGE_PLAN_MAX);
        const char *who = word;
        plan->is_jump[step] = *who == '+';
        who += *who == '+';
        plan->is_cancel[step] = *who == '!';
        who += *who == '!';
        plan->who[step] = *who;
    }
    bz_world_run(stage->world);
    bz_judge_end(stage->world->judge);
    bz_native_judge_kept(bz_native_of(stage->world));
    return bz_judge_verdict(stage->world->judge);
}

static inline void stage_end(struct stage *stage) {
    bz_world_destroy(stage->world);
}

/* The run must have failed exactly so. */
static inline void stage_expect_violation(const struct stage *stage, const char *oracle,
                                          uint32_t step, const char *fragment) {
    const struct bz_violation *violation = &stage->world->judge->violation;
    cr_assert_not_null((void *)violation->oracle, "%s stayed silent at step %u: %s", oracle,
                       stage->world->judge->step, stage->log.text);
    tst_text(violation->oracle, oracle);
    cr_assert_not_null(strstr(violation->message, fragment), "'%s' does not say '%s'",
                       violation->message, fragment);
    cr_assert_eq(violation->step, step, "%s", violation->message);
    cr_assert_eq(stage->world->judge->end, BZ_RUN_VIOLATED);
}

static inline void stage_expect_pass(const struct stage *stage) {
    const struct bz_violation *violation = &stage->world->judge->violation;
    cr_assert_null((void *)violation->oracle, "%s, step %u: %s", violation->oracle, violation->step,
                   violation->message);
    cr_assert_eq(stage->world->judge->end, BZ_RUN_PASSED);
}

static inline void stage_guests(struct stage *stage, const char *const *scripts) {
    while (*scripts != NULL) {
        stage_guest(stage, *scripts++);
    }
}

#define STAGE_SCRIPTS(...) ((const char *const[]){__VA_ARGS__, NULL})

static inline void stage_act(struct stage *stage, const char *const *scripts, const char *plan) {
    stage_guests(stage, scripts);
    stage_play(stage, plan);
}

/* --- tables of timelines ---------------------------------------------------------------------- */

/* A run in a table, whose messages of failures begin with its name:
 *
 *     {"fifo/fires_at_the_grant_that_passes_over_an_earlier_waiter", &bz_variant_zoo_toy_lifo,
 *      "permits 1; a: acquire yield release; b-c: acquire release; a b c a",
 *      "fifo 4: c was granted a permit of 'table' before b"},
 *
 * A timeline has clauses with a ";" between them. The first one says what is there: "permits N"
 * (what stage_begin() chooses), "semaphore N", "bounded N", "lock N", "queue ORDER N", "hall" (an
 * event, a condition, a barrier), "pool" or "nothing". Settings of the judge may follow:
 * "order=any|fifo", "max-steps=N", "starvation-bound=N", "ignores-starvation". Then come the
 * guests; "a-c: SCRIPT" are three with one script. The last clause, which may be left out, is the
 * plan. It may end in "=> LOG", which is what the guests must have logged. */
struct stage_row {
    const char *name; /* NULL: end of the table; "": as in the row before */
    const struct bz_variant *variant;
    const char *timeline;
    /* "ORACLE STEP: a part of its message"; without STEP it is the last one. "out-of-steps": the
     * limit ends the run. NULL: the run ends, and no oracle objects. */
    const char *verdict;
};

typedef enum bz_status stage_word_fn(struct tst_actor *actor, const char *word, bool *is_quiet);

static inline void stage_row_guests(struct stage *stage, const char *names, const char *script,
                                    stage_word_fn *words) {
    char last = names[names[1] == '-' ? 2 : 0];
    cr_assert_eq(names[0], 'a' + (char)stage->count, "guest %c comes out of order", names[0]);
    while (stage->count <= (uint32_t)(last - 'a')) {
        stage_guest(stage, script);
        stage->actors[stage->count - 1].extra = words;
    }
}

static inline void stage_row_judge(const struct stage *stage, const struct stage_row *row) {
    const struct bz_judge *judge = stage->world->judge;
    const char *verdict = row->verdict == NULL ? "" : row->verdict;
    const char *text = strchr(verdict, ':');
    bool is_cut = strcmp(verdict, "out-of-steps") == 0;
    char oracle[32] = "";
    uint32_t step = judge->step;
    if (text != NULL) {
        sscanf(verdict, "%31[^ :] %u", oracle, &step);
    }
    cr_assert_str_eq(judge->violation.oracle == NULL ? "" : judge->violation.oracle, oracle,
                     "%s: '%s': %s; at step %u: %s", row->name, row->timeline,
                     judge->violation.message, judge->step, stage->log.text);
    cr_assert_eq(judge->end,
                 text != NULL ? BZ_RUN_VIOLATED
                 : is_cut     ? BZ_RUN_OUT_OF_STEPS
                              : BZ_RUN_PASSED,
                 "%s: '%s'", row->name, row->timeline);
    if (text != NULL) {
        cr_assert_eq(judge->violation.step, step, "%s: '%s': in step %u: %s", row->name,
                     row->timeline, judge->violation.step, judge->violation.message);
        cr_assert_not_null(strstr(judge->violation.message, text + 2), "%s: '%s' does not say '%s'",
                           row->name, judge->violation.message, text + 2);
    }
}

/* Plays the row; the caller ends the stage. `words` plays the words of the guests: stage_word(), or
 * one that asks it for those that it does not know. */
static inline void stage_row_begin(struct stage *stage, const struct stage_row *row,
                                   stage_word_fn *words) {
    static char text[STAGE_GUESTS_MAX + 2][160]; /* the clauses; guests keep their scripts */
    const char *log = strstr(row->timeline, " => ");
    const char *end = log == NULL ? strchr(row->timeline, '\0') : log;
    const char *plan = "";
    uint32_t clause = 0;
    for (const char *at = row->timeline; at < end; clause++) {
        size_t length =
            strcspn(at, ";") < (size_t)(end - at) ? strcspn(at, ";") : (size_t)(end - at);
        cr_assert(clause < STAGE_GUESTS_MAX + 2 && length < sizeof text[0], "%s", row->name);
        snprintf(text[clause], sizeof text[0], "%.*s", (int)length, at);
        at += length + strspn(at + length, "; ");
        char *script = strstr(text[clause], ": ");
        if (clause == 0) {
            stage_begin_as(stage, row->variant, text[0]);
        } else if (script != NULL) {
            stage_row_guests(stage, text[clause], script + 2, words);
        } else {
            plan = text[clause];
        }
    }
    stage_play(stage, plan);
    stage_row_judge(stage, row);
    if (log != NULL) {
        cr_assert_str_eq(stage->log.text, log + 4, "%s: '%s'", row->name, row->timeline);
    }
}

static inline void stage_row_with(const struct stage_row *row, stage_word_fn *words) {
    struct stage stage;
    stage_row_begin(&stage, row, words);
    stage_end(&stage);
}

static inline void stage_rows_with(const struct stage_row *rows, stage_word_fn *words) {
    struct stage_row row = {NULL};
    for (; rows->name != NULL; rows++) {
        const char *name = rows->name[0] == '\0' ? row.name : rows->name;
        row = *rows;
        row.name = name;
        stage_row_with(&row, words);
    }
}

static inline void stage_rows(const struct stage_row *rows) {
    stage_rows_with(rows, stage_word);
}

#endif
