#include "tools/show/stepper_model.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "primitives/runtime/timer.h"
#include "sim/choice/strategy_replay.h"
#include "sim/native/inspect.h"
#include "tools/cli/cli.h"
#include "traces/lack.h"
#include "traces/text.h"

#define READY_MAX 256u
#define READY_SHOWN 9u
#define QUEUE_MAX 64u

static bool is(const char *text, const char *word) {
    return text == NULL || word == NULL ? text == word : strcmp(text, word) == 0;
}

/* --- the events of the run -------------------------------------------------------------------- */

uint32_t bz_stepper_find(const struct bz_stepper *stepper, const char *name, bool is_backward) {
    uint32_t found = 0;
    for (size_t index = 0; index < stepper->run.event_count; index++) {
        const struct bz_trace_event *event = &stepper->run.events[index];
        if (!is(event->task, name) && !is(event->object, name)) {
            continue;
        }
        if (!is_backward && event->step > stepper->step) {
            return (uint32_t)event->step;
        }
        if (is_backward && event->step < stepper->step) {
            found = (uint32_t)event->step;
        }
    }
    return found;
}

static const char *task_name(const struct bz_stepper *stepper, uint32_t task) {
    return task == 0 ? NULL : task <= stepper->run.task_count ? stepper->run.tasks[task - 1] : "?";
}

/* The first event of a step that says what it is; NULL: none does. */
static const struct bz_trace_event *head_of(const struct bz_trace *run, uint64_t step) {
    for (size_t index = 0; index < run->event_count; index++) {
        const struct bz_trace_event *event = &run->events[index];
        if (event->step == step && (is(event->event, "resume") || is(event->event, "callback") ||
                                    is(event->event, "inject"))) {
            return event;
        }
    }
    return NULL;
}

/* Whether the run's next step is the cancel, or the handle. The event of a callback does not say
 * which one of its owner it is. */
static bool is_next(const struct bz_stepper *stepper, const struct bz_trace_choice *choice) {
    const struct bz_trace_event *head = head_of(&stepper->run, (uint64_t)stepper->step + 1);
    if (head == NULL || !is(head->task, choice->task)) {
        return false;
    }
    return is(choice->kind, "cancel") ? is(head->event, "inject")
           : choice->role == NULL     ? is(head->event, "resume") && head->n == choice->n
                                      : is(head->event, "callback") && is(head->role, choice->role);
}

/* How many permits of the object the task owns after this step. */
static uint32_t holdings_of(const struct bz_stepper *stepper, const char *task,
                            const char *object) {
    uint32_t count = 0;
    for (size_t index = 0; index < stepper->run.event_count; index++) {
        const struct bz_trace_event *event = &stepper->run.events[index];
        bool is_return = is(event->event, "return");
        if (event->step > stepper->step || !is(event->task, task) || !is(event->object, object)) {
            continue;
        }
        if (is(event->op, "release")) { /* only a refused one returns */
            count = is_return ? count + 1 : count - (count > 0);
        } else if (is(event->op, "acquire") && is_return) {
            count += is(event->status, "ok");
        }
    }
    return count;
}

/* --- what the next step can be ---------------------------------------------------------------- */

struct looking {
    struct bz_world_watch watch;
    struct bz_replay_listener listener;
    const struct bz_stepper *stepper;
    struct bz_stepper_state *state;
};

/* A new entry, behind those of its kind; NULL: there is no more room. */
static struct bz_alternative *add(struct bz_stepper_state *state, enum bz_alternative_kind kind,
                                  bool is_taken, struct bz_trace_choice choice) {
    uint32_t place = state->count;
    if (place == BZ_ALTERNATIVES_MAX) {
        return NULL;
    }
    for (state->count++; place > 0 && state->list[place - 1].kind > kind; place--) {
        state->list[place] = state->list[place - 1];
    }
    state->list[place] =
        (struct bz_alternative){.kind = kind, .is_taken = is_taken, .choice = choice};
    return &state->list[place];
}

static const char *handle_text(const struct bz_trace_choice *choice, char *text, size_t bytes) {
    const char *owner = choice->task == NULL ? "the loop" : choice->task;
    if (choice->role == NULL) {
        snprintf(text, bytes, "%s, step %" PRIu64, owner, choice->n);
    } else {
        snprintf(text, bytes, "%s %" PRIu64 " of %s", choice->role, choice->n, owner);
    }
    return text;
}

static struct bz_trace_choice handle_choice(const struct bz_stepper *stepper,
                                            const struct bz_ready *handle) {
    return (struct bz_trace_choice){
        .kind = "next",
        .task = task_name(stepper, handle->owner),
        .role = handle->role == BZ_ROLE_STEP ? NULL : bz_role_name(handle->role),
        .step = (uint64_t)stepper->step + 1,
        .n = handle->nth,
        .bound = BZ_TRACE_ABSENT,
        .value = BZ_TRACE_ABSENT};
}

static void add_handle(const struct looking *looking, const struct bz_ready *handle,
                       bool is_taken) {
    struct bz_trace_choice choice = handle_choice(looking->stepper, handle);
    struct bz_alternative *entry = add(looking->state, BZ_ALTERNATIVE_HANDLE, is_taken, choice);
    if (entry != NULL) {
        handle_text(&choice, entry->text, sizeof entry->text);
    }
}

/* Among these the run chose: timers that came due are with them. */
static void hear_next(void *context, const struct bz_ready *ready, uint32_t count, uint32_t chosen,
                      uint32_t step) {
    const struct looking *looking = context;
    struct bz_stepper_state *state = looking->state;
    uint32_t before = 0; /* those that were ready before the step */
    if (step != looking->stepper->step + 1 || looking->stepper->program->order != BZ_ORDER_ANY) {
        return;
    }
    while (before < state->count && state->list[before].kind == BZ_ALTERNATIVE_HANDLE) {
        before++;
    }
    state->count -= before;
    memmove(state->list, state->list + before, state->count * sizeof state->list[0]);
    for (uint32_t index = 0; index < count && index < READY_MAX; index++) {
        add_handle(looking, &ready[index], index == chosen);
    }
}

static void hear_jump(void *context, bool is_jump, uint32_t step) {
    const struct looking *looking = context;
    struct bz_stepper_state *state = looking->state;
    for (uint32_t index = 0; index < state->count; index++) {
        if (state->list[index].kind == BZ_ALTERNATIVE_JUMP) {
            return; /* it was asked before */
        }
    }
    for (unsigned jumps = 0; step == looking->stepper->step + 1 && jumps < 2; jumps++) {
        struct bz_alternative *entry = add(state, BZ_ALTERNATIVE_JUMP, is_jump == (jumps == 1),
                                           (struct bz_trace_choice){.kind = "delay",
                                                                    .step = step,
                                                                    .n = BZ_TRACE_ABSENT,
                                                                    .bound = BZ_TRACE_ABSENT,
                                                                    .value = jumps});
        if (entry != NULL) {
            snprintf(entry->text, sizeof entry->text, "the step before takes %s%s",
                     bz_cli_time_text(jumps == 1 ? state->wait_ns : 0),
                     jumps == 1 ? ", until the next timer" : "");
        }
    }
}

static void hear_draw(void *context, enum bz_choice_kind kind, const struct bz_draw *draw,
                      uint64_t value, uint32_t step) {
    const struct looking *looking = context;
    const struct bz_stepper *stepper = looking->stepper;
    bool is_heard = step == stepper->step + 1 || (step == 0 && stepper->step == 0);
    bool is_typed = draw->bound > BZ_STEPPER_VALUES;
    struct bz_trace_choice choice = {.kind = kind == BZ_CHOICE_DELAY ? "delay" : "data",
                                     .task = task_name(stepper, draw->owner),
                                     .step = step,
                                     .n = draw->nth,
                                     .bound = draw->bound};
    for (uint64_t other = 0; is_heard && draw->bound > 1 && other < (is_typed ? 1 : draw->bound);
         other++) {
        choice.value = is_typed ? value : other;
        struct bz_alternative *entry =
            add(looking->state, BZ_ALTERNATIVE_DRAW, choice.value == value, choice);
        if (entry != NULL) {
            entry->is_typed = is_typed;
            (void)bz_fail(entry->label, sizeof entry->label, "%s", draw->label);
            snprintf(entry->text, sizeof entry->text,
                     "%.40s draws '%.40s': %" PRIu64 " of 0..%" PRIu64 "%s",
                     step == 0             ? "the set-up"
                     : choice.task == NULL ? "the loop"
                                           : choice.task,
                     entry->label, choice.value, draw->bound - 1,
                     is_typed ? "; Enter: type another" : "");
        }
    }
}

static void add_cancel(const struct looking *looking, uint32_t task,
                       const struct bz_task_view *view) {
    const struct bz_stepper *stepper = looking->stepper;
    const struct bz_trace_choice choice = {.kind = "cancel",
                                           .task = task_name(stepper, task),
                                           .window = bz_window_name(view->window),
                                           .step = (uint64_t)stepper->step + 1,
                                           .n = view->next_step,
                                           .bound = BZ_TRACE_ABSENT,
                                           .value = BZ_TRACE_ABSENT};
    struct bz_alternative *entry =
        (stepper->program->cancel_windows >> view->window & 1u) == 0 || view->is_helper
            ? NULL
            : add(looking->state, BZ_ALTERNATIVE_CANCEL, is_next(stepper, &choice), choice);
    if (entry != NULL) {
        snprintf(entry->text, sizeof entry->text, "a cancel of %s (%s)", view->name, choice.window);
    }
}

/* --- the state at a step ---------------------------------------------------------------------- */

__attribute__((format(printf, 2, 3))) static void put(struct bz_stepper_state *state,
                                                      const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(state->text + state->used, sizeof state->text - state->used, format, arguments);
    va_end(arguments);
    state->used += strlen(state->text + state->used);
}

static void look_at_ready(const struct looking *looking, const struct bz_world *world) {
    struct bz_stepper_state *state = looking->state;
    struct bz_ready ready[READY_MAX];
    uint32_t count = bz_look_ready(world, ready, READY_MAX);
    put(state, "ready   %s", count == 0 ? "nothing" : "");
    for (uint32_t index = 0; index < count && index < READY_MAX; index++) {
        char text[192];
        struct bz_trace_choice choice = handle_choice(looking->stepper, &ready[index]);
        bool is_taken = is_next(looking->stepper, &choice);
        if (index < READY_SHOWN) {
            put(state, "%s%s%s", index > 0 ? " | " : "", is_taken ? "*" : "",
                handle_text(&choice, text, sizeof text));
        }
        if (looking->stepper->program->order == BZ_ORDER_ANY) {
            add_handle(looking, &ready[index], is_taken);
        }
    }
    if (count > READY_SHOWN) {
        put(state, " | and %" PRIu32 " more", count - READY_SHOWN);
    }
    put(state, "\n");
    uint64_t deadline_ns = bz_look_deadline_ns(world);
    state->now_ns = bz_loop_now_ns(world->loop);
    state->wait_ns = deadline_ns - state->now_ns;
    if (deadline_ns != BZ_TIME_NEVER) {
        put(state, "timer   %s\n", bz_cli_time_text(deadline_ns));
    }
}

static void look_at_object(const struct looking *looking, const struct bz_judge *judge,
                           uint32_t number) {
    struct bz_stepper_state *state = looking->state;
    struct bz_object_view view;
    uint32_t line[QUEUE_MAX];
    uint32_t count = bz_judge_view_line(judge, number, line, QUEUE_MAX);
    const char *separator = "";
    (void)bz_judge_view_object(judge, number, &view);
    put(state,
        "'%s'  %" PRIu64 " of %" PRIu64 " out  W %" PRIu32 "  R %" PRIu32 "  C %" PRIu32
        "  holders: ",
        view.name, view.holders, view.permits, view.waiting, view.woken, view.cancelled);
    for (uint32_t task = 1; task <= looking->stepper->run.task_count; task++) {
        const char *name = task_name(looking->stepper, task);
        uint32_t held = holdings_of(looking->stepper, name, view.name);
        if (held > 0) {
            put(state, "%s%s", separator, name);
            separator = ", ";
        }
        if (held > 1) {
            put(state, " (%" PRIu32 ")", held);
        }
    }
    put(state, "%s\n", separator[0] == '\0' ? "none" : "");
    for (uint32_t place = 0; place < count; place++) {
        put(state, "%s%s", place == 0 ? "    in line: " : ", ",
            task_name(looking->stepper, line[place]));
    }
    put(state, "%s", count > 0 ? "\n" : "");
}

static void look(const struct looking *looking, const struct bz_world *world) {
    const struct bz_judge *judge = world->judge;
    struct bz_stepper_state *state = looking->state;
    look_at_ready(looking, world);
    for (uint32_t object = 1; object <= bz_judge_object_count(judge); object++) {
        look_at_object(looking, judge, object);
    }
    put(state, "%-20s %-11s %-8s %-16s %s\n", "task", "state", "in", "of", "owns");
    for (uint32_t task = 1; task <= bz_judge_task_count(judge); task++) {
        struct bz_task_view view;
        (void)bz_judge_view_task(judge, task, &view);
        bool is_inside = view.op != BZ_OP_NONE;
        put(state, "%-20s %-11s %-8s %-16s %-4" PRIu32 "%s\n", view.name, view.state,
            is_inside ? bz_op_name(view.op) : "",
            is_inside && view.object != NULL ? view.object : "", view.holdings,
            view.is_cancel_pending ? " cancel pending" : "");
        add_cancel(looking, task, &view);
    }
    state->is_there = true;
}

static void begin(void *context, struct bz_world *world) {
    bz_judge_listen(world->judge, &((struct looking *)context)->listener);
}

static void after_last(void *context, struct bz_world *world) {
    const struct looking *looking = context;
    if (!looking->state->is_there) {
        look(looking, world);
    }
}

/* The step behind the one that is shown is made, too: what it is asked are the alternatives. */
static bool before_step(void *context, struct bz_world *world, uint32_t step) {
    const struct looking *looking = context;
    if (step > looking->stepper->step) {
        after_last(context, world);
    }
    return step <= looking->stepper->step + 1;
}

bool bz_stepper_go(struct bz_stepper *stepper, uint32_t step) {
    struct bz_trace record;
    struct bz_replay_report report;
    struct looking looking = {
        .watch = {.begin = begin, .before_step = before_step, .after_last = after_last},
        .listener = {.next = hear_next, .jump = hear_jump, .draw = hear_draw},
        .stepper = stepper,
        .state = stepper->state};
    looking.watch.context = looking.listener.context = &looking;
    stepper->step = step < stepper->report.steps ? step : stepper->report.steps;
    memset(stepper->state, 0, sizeof *stepper->state);
    bz_trace_init(&record);
    bool is_ok = bz_replay_watched(&stepper->run, stepper->program, &looking.watch, &record,
                                   &report, stepper->error, sizeof stepper->error);
    bz_trace_fini(&record);
    return is_ok;
}

/* --- the run ---------------------------------------------------------------------------------- */

/* Makes the run of these choices; the run before it stays if that fails. */
static bool make_run(struct bz_stepper *stepper, const struct bz_trace *choices) {
    struct bz_trace record;
    struct bz_replay_report report;
    bz_trace_init(&record);
    if (!bz_replay_lenient(choices, stepper->program, &record, &report, stepper->error,
                           sizeof stepper->error)) {
        bz_trace_fini(&record);
        return false;
    }
    bz_trace_fini(&stepper->run);
    stepper->run = record;
    stepper->report = report;
    return true;
}

bool bz_stepper_init(struct bz_stepper *stepper, const struct bz_trace *trace,
                     const struct bz_program *program) {
    *stepper = (struct bz_stepper){.program = program, .original = trace};
    bz_trace_init(&stepper->run);
    stepper->state =
        bz_lack_check(bz_shared_alloc(sizeof *stepper->state), "the state of a stepper");
    return bz_stepper_reset(stepper);
}

void bz_stepper_fini(struct bz_stepper *stepper) {
    bz_trace_fini(&stepper->run);
    bz_shared_free(stepper->state, sizeof *stepper->state);
}

bool bz_stepper_reset(struct bz_stepper *stepper) {
    stepper->is_original = true;
    return make_run(stepper, stepper->original) && bz_stepper_go(stepper, stepper->step);
}

/* --- another run ------------------------------------------------------------------------------ */

/* The order of the choices of one step. */
static unsigned rank_of(const struct bz_trace_choice *choice) {
    return choice->label != NULL        ? 3
           : is(choice->kind, "cancel") ? 0
           : is(choice->kind, "delay")  ? 1
                                        : 2;
}

/* The same point of the run, whatever is chosen there. A handle stands in the place of a cancel. */
static bool is_instead(const struct bz_trace_choice *new, const struct bz_trace_choice *old) {
    if (new->label != NULL || old->label != NULL) {
        return is(new->label, old->label) && is(new->task, old->task) && new->n == old->n;
    }
    return new->step == old->step &&
           (rank_of(new) == rank_of(old) || (rank_of(new) == 2 && rank_of(old) == 0));
}

/* The choices of the run up to the new one, the new one, and perhaps the later ones. A new cancel
 * is a step of its own, which moves the later steps; anything else takes the place of what was
 * there. The value 0 is the default, which is not written. */
static void edit(const struct bz_trace *run, const struct bz_trace_choice *new, bool keeps_rest,
                 struct bz_trace *edited) {
    const struct bz_trace_event *head = head_of(run, new->step);
    bool is_moved = is(new->kind, "cancel") && !(head != NULL && is(head->event, "inject"));
    bool is_added = new->value == 0;
    for (size_t index = 0; index < run->choice_count; index++) {
        struct bz_trace_choice choice = run->choices[index];
        bool is_before = choice.step < new->step ||
                         (choice.step == new->step &&rank_of(&choice) <= rank_of(new));
        if (!is_before && !is_added) {
            bz_trace_add_choice(edited, *new);
            is_added = true;
        }
        if ((is_before || keeps_rest) && (is_moved || !is_instead(new, &choice))) {
            choice.step += !is_before && is_moved;
            bz_trace_add_choice(edited, choice);
        }
    }
    if (!is_added) {
        bz_trace_add_choice(edited, *new);
    }
}

/* Whether the run that was made takes the choice where it belongs. */
static bool is_made(const struct bz_stepper_state *state, const struct bz_alternative *wanted) {
    const struct bz_trace_choice *choice = &wanted->choice;
    for (uint32_t index = 0; index < state->count; index++) {
        const struct bz_alternative *entry = &state->list[index];
        if (entry->is_taken && entry->kind == wanted->kind && entry->choice.n == choice->n &&
            entry->choice.value == choice->value && is(entry->choice.task, choice->task) &&
            is(entry->choice.role, choice->role) && strcmp(entry->label, wanted->label) == 0) {
            return true;
        }
    }
    return false;
}

bool bz_stepper_choose(struct bz_stepper *stepper, struct bz_alternative alternative,
                       bool keeps_rest) {
    struct bz_trace before = stepper->run;
    struct bz_trace edited = before; /* a shallow copy with choices of its own */
    struct bz_replay_report report = stepper->report;
    uint32_t step = stepper->step;
    struct bz_trace_choice *choice = &alternative.choice;
    choice->label = alternative.kind == BZ_ALTERNATIVE_DRAW ? alternative.label : NULL;
    edited.choices = NULL;
    edited.choice_count = edited.choice_capacity = 0;
    edit(&before, choice, keeps_rest, &edited);
    bz_trace_init(&stepper->run);
    bool has_run = make_run(stepper, &edited);
    free(edited.choices);
    if (has_run && step <= stepper->report.steps && bz_stepper_go(stepper, step) &&
        is_made(stepper->state, &alternative)) {
        bz_trace_fini(&before);
        stepper->is_original = false;
        return bz_stepper_go(stepper, (uint32_t)choice->step);
    }
    bz_trace_fini(&stepper->run);
    stepper->run = before;
    stepper->report = report;
    (void)bz_stepper_go(stepper, step);
    if (has_run) {
        (void)bz_fail(stepper->error, sizeof stepper->error, "%s",
                      alternative.kind != BZ_ALTERNATIVE_CANCEL ? "this cannot come here"
                      : stepper->program->order == BZ_ORDER_FIFO
                          ? "no cancel can strike here: fifo takes them between two turns, and at "
                            "most max-cancels"
                          : "no further cancel: the run allows max-cancels of them");
    }
    return false;
}
