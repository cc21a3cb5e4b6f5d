#include "tools/show/stepper_model.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "primitives/runtime/timer.h"
#include "sim/native/inspect.h"
#include "tools/cli/cli.h"
#include "traces/lack.h"
#include "traces/text.h"

#define READY_MAX 256u

/* --- the events of the run -------------------------------------------------------------------- */

uint32_t bz_stepper_find(const struct bz_stepper *stepper, const char *name, bool is_backward) {
    uint32_t found = 0;
    for (size_t index = 0; index < stepper->run.event_count; index++) {
        const struct bz_trace_event *event = &stepper->run.events[index];
        if (!bz_is(event->task, name) && !bz_is(event->object, name)) {
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

/* The task that an injected cancel strikes in the step; NULL: the step is no cancel. */
static const char *victim_of(const struct bz_trace *run, uint64_t step) {
    for (size_t index = 0; index < run->event_count; index++) {
        const struct bz_trace_event *event = &run->events[index];
        if (event->step == step && bz_is(event->event, "inject")) {
            return event->task;
        }
    }
    return NULL;
}

/* --- what the next step can be ---------------------------------------------------------------- */

/* A new entry, behind those of its kind, if there is room. The format is that of its text. */
__attribute__((format(printf, 5, 6))) static void add(const struct bz_stepper *stepper,
                                                      enum bz_alternative_kind kind, bool is_taken,
                                                      struct bz_trace_choice choice,
                                                      const char *format, ...) {
    struct bz_stepper_state *state = stepper->state;
    uint32_t place = state->count;
    va_list arguments;
    if (place == BZ_ALTERNATIVES_MAX) {
        return;
    }
    for (state->count++; place > 0 && state->list[place - 1].kind > kind; place--) {
        state->list[place] = state->list[place - 1];
    }
    struct bz_alternative *entry = &state->list[place];
    *entry = (struct bz_alternative){.kind = kind, .is_taken = is_taken, .choice = choice};
    (void)bz_fail(entry->label, sizeof entry->label, "%s", bz_or(choice.label, ""));
    va_start(arguments, format);
    vsnprintf(entry->text, sizeof entry->text, format, arguments);
    va_end(arguments);
    state->handles += kind == BZ_ALTERNATIVE_HANDLE;
}

static void add_handle(const struct bz_stepper *stepper, const struct bz_ready *handle,
                       bool is_taken) {
    const struct bz_trace_choice choice = {
        .kind = "next",
        .task = task_name(stepper, handle->owner),
        .role = handle->role == BZ_ROLE_STEP ? NULL : bz_role_name(handle->role),
        .step = (uint64_t)stepper->step + 1,
        .n = handle->nth,
        .bound = BZ_TRACE_ABSENT,
        .value = BZ_TRACE_ABSENT};
    const char *owner = bz_or(choice.task, "the loop");
    if (choice.role == NULL) {
        add(stepper, BZ_ALTERNATIVE_HANDLE, is_taken, choice, "%s, step %" PRIu64, owner, choice.n);
    } else {
        add(stepper, BZ_ALTERNATIVE_HANDLE, is_taken, choice, "%s %" PRIu64 " of %s", choice.role,
            choice.n, owner);
    }
}

/* Among these the run chose: timers that came due are with them. */
static void hear_next(void *context, const struct bz_ready *ready, uint32_t count, uint32_t chosen,
                      uint32_t step) {
    const struct bz_stepper *stepper = context;
    struct bz_stepper_state *state = stepper->state;
    if (step != stepper->step + 1) {
        return;
    }
    state->count -= state->handles;
    memmove(state->list, state->list + state->handles, state->count * sizeof state->list[0]);
    state->handles = 0;
    for (uint32_t index = 0; index < count && index < READY_MAX; index++) {
        add_handle(stepper, &ready[index], index == chosen);
    }
}

static void hear_jump(void *context, bool is_jump, uint32_t step) {
    const struct bz_stepper *stepper = context;
    struct bz_stepper_state *state = stepper->state;
    if (step != stepper->step + 1 || state->is_jump_known) {
        return;
    }
    state->is_jump_known = true;
    for (unsigned jumps = 0; jumps < 2; jumps++) {
        struct bz_trace_choice choice = {.kind = "delay",
                                         .step = step,
                                         .n = BZ_TRACE_ABSENT,
                                         .bound = BZ_TRACE_ABSENT,
                                         .value = jumps};
        add(stepper, BZ_ALTERNATIVE_JUMP, is_jump == (jumps == 1), choice,
            "the step before takes %s%s",
            bz_cli_time_text(jumps == 1 ? state->deadline_ns - state->now_ns : 0),
            jumps == 1 ? ", until the next timer" : "");
    }
}

static void hear_draw(void *context, enum bz_choice_kind kind, const struct bz_draw *draw,
                      uint64_t value, uint32_t step) {
    const struct bz_stepper *stepper = context;
    bool is_heard = step == stepper->step + 1 || (step == 0 && stepper->step == 0);
    bool is_typed = draw->bound > BZ_STEPPER_VALUES;
    struct bz_trace_choice choice = {.kind = kind == BZ_CHOICE_DELAY ? "delay" : "data",
                                     .task = task_name(stepper, draw->owner),
                                     .label = draw->label,
                                     .step = step,
                                     .n = draw->nth,
                                     .bound = draw->bound};
    for (uint64_t other = 0; is_heard && draw->bound > 1 && other < (is_typed ? 1 : draw->bound);
         other++) {
        choice.value = is_typed ? value : other;
        add(stepper, BZ_ALTERNATIVE_DRAW, choice.value == value, choice,
            "%.40s draws '%.40s': %" PRIu64 " of 0..%" PRIu64 "%s",
            step == 0 ? "the set-up" : bz_or(choice.task, "the loop"), draw->label, choice.value,
            draw->bound - 1, is_typed ? "; Enter: type another" : "");
    }
}

static void add_cancel(const struct bz_stepper *stepper, const struct bz_judge *judge,
                       uint32_t task) {
    struct bz_task_view view;
    (void)bz_judge_view_task(judge, task, &view);
    const struct bz_trace_choice choice = {.kind = "cancel",
                                           .task = task_name(stepper, task),
                                           .window = bz_window_name(view.window),
                                           .step = (uint64_t)stepper->step + 1,
                                           .n = view.next_step,
                                           .bound = BZ_TRACE_ABSENT,
                                           .value = BZ_TRACE_ABSENT};
    if ((stepper->program->cancel_windows >> view.window & 1u) != 0 && !view.is_helper) {
        const char *victim = victim_of(&stepper->run, choice.step);
        add(stepper, BZ_ALTERNATIVE_CANCEL, victim != NULL && bz_is(victim, choice.task), choice,
            "a cancel of %s (%s)", view.name, choice.window);
    }
}

static void look(const struct bz_stepper *stepper, const struct bz_world *world) {
    struct bz_stepper_state *state = stepper->state;
    struct bz_ready ready[READY_MAX];
    uint32_t count = bz_look_ready(world, ready, READY_MAX);
    bool is_handle = stepper->step < stepper->report.steps &&
                     victim_of(&stepper->run, (uint64_t)stepper->step + 1) == NULL;
    for (uint32_t index = 0; index < count && index < READY_MAX; index++) {
        add_handle(stepper, &ready[index], is_handle && index == 0);
    }
    for (uint32_t task = 1; task <= bz_judge_task_count(world->judge); task++) {
        add_cancel(stepper, world->judge, task);
    }
    state->now_ns = bz_loop_now_ns(world->loop);
    state->deadline_ns = bz_look_deadline_ns(world);
    state->is_there = true;
}

static void begin(void *context, struct bz_world *world) {
    bz_judge_listen(world->judge, &((const struct bz_stepper *)context)->listener);
}

static void after_last(void *context, struct bz_world *world) {
    const struct bz_stepper *stepper = context;
    if (!stepper->state->is_there) {
        look(stepper, world);
    }
}

/* The step behind the one that is shown is made, too: what it is asked are the alternatives. */
static bool before_step(void *context, struct bz_world *world, uint32_t step) {
    const struct bz_stepper *stepper = context;
    if (step > stepper->step) {
        after_last(context, world);
    }
    return step <= stepper->step + 1;
}

/* Who owns and who waits after the step. */
static void read_ledger(struct bz_stepper *stepper) {
    const struct bz_trace *run = &stepper->run;
    bz_ledger_fini(&stepper->ledger);
    bz_ledger_init(&stepper->ledger, run);
    for (size_t index = 0; index < run->event_count; index++) {
        if (run->events[index].step <= stepper->step) {
            bz_ledger_read(&stepper->ledger, &run->events[index]);
        }
    }
}

bool bz_stepper_go(struct bz_stepper *stepper, uint32_t step) {
    struct bz_trace record;
    struct bz_replay_report report;
    const struct bz_world_watch watch = {
        .begin = begin, .before_step = before_step, .after_last = after_last, .context = stepper};
    stepper->listener = (struct bz_replay_listener){
        .next = hear_next, .jump = hear_jump, .draw = hear_draw, .context = stepper};
    stepper->step = step < stepper->report.steps ? step : stepper->report.steps;
    read_ledger(stepper);
    memset(stepper->state, 0, sizeof *stepper->state);
    bz_trace_init(&record);
    bool is_ok = bz_replay_watched(&stepper->run, stepper->program, &watch, &record, &report,
                                   stepper->error, sizeof stepper->error);
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
    bz_ledger_fini(&stepper->ledger);
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
    return choice->label != NULL           ? 3
           : bz_is(choice->kind, "cancel") ? 0
           : bz_is(choice->kind, "delay")  ? 1
                                           : 2;
}

/* The same point of the run, whatever is chosen there. A handle stands in the place of a cancel. */
static bool is_instead(const struct bz_trace_choice *new, const struct bz_trace_choice *old) {
    if (new->label != NULL || old->label != NULL) {
        return bz_is(new->label, old->label) && bz_is(new->task, old->task) && new->n == old->n;
    }
    return new->step == old->step &&
           (rank_of(new) == rank_of(old) || (rank_of(new) == 2 && rank_of(old) == 0));
}

/* The run with the new choice, and with the later ones or without them. A new cancel is a step of
 * its own, which moves the later steps; anything else takes the place of what was there. A lenient
 * replay takes the first choice that fits. The value 0 is the default, which is not written. */
static bool make_edited(struct bz_stepper *stepper, const struct bz_trace *run,
                        const struct bz_trace_choice *new, bool keeps_rest) {
    struct bz_trace edited = *run; /* a shallow copy with choices of its own */
    bool is_moved = bz_is(new->kind, "cancel") && victim_of(run, new->step) == NULL;
    bool is_added = new->value == 0;
    edited.choices = NULL;
    edited.choice_count = edited.choice_capacity = 0;
    for (size_t index = 0; index < run->choice_count; index++) {
        struct bz_trace_choice choice = run->choices[index];
        bool is_before = choice.step < new->step ||
                         (choice.step == new->step &&rank_of(&choice) <= rank_of(new));
        if (!is_before && !is_added) {
            bz_trace_add_choice(&edited, *new);
            is_added = true;
        }
        if ((is_before || keeps_rest) && (is_moved || !is_instead(new, &choice))) {
            choice.step += !is_before && is_moved;
            bz_trace_add_choice(&edited, choice);
        }
    }
    if (!is_added) {
        bz_trace_add_choice(&edited, *new);
    }
    bool is_made = make_run(stepper, &edited);
    free(edited.choices);
    return is_made;
}

bool bz_stepper_choose(struct bz_stepper *stepper, struct bz_alternative alternative,
                       bool keeps_rest) {
    struct bz_trace before = stepper->run;
    struct bz_replay_report report = stepper->report;
    struct bz_trace_choice *choice = &alternative.choice;
    choice->label = alternative.kind == BZ_ALTERNATIVE_DRAW ? alternative.label : NULL;
    bz_trace_init(&stepper->run);
    bool is_made = make_edited(stepper, &before, choice, false);
    bool fits = is_made && stepper->report.choices_made == stepper->report.choices;
    if (fits && (!keeps_rest || make_edited(stepper, &before, choice, true))) {
        bz_trace_fini(&before);
        stepper->is_original = false;
        return bz_stepper_go(stepper, (uint32_t)choice->step);
    }
    bz_trace_fini(&stepper->run);
    stepper->run = before;
    stepper->report = report;
    if (is_made && !fits) {
        (void)bz_fail(stepper->error, sizeof stepper->error, "%s",
                      alternative.kind != BZ_ALTERNATIVE_CANCEL ? "this cannot come here"
                      : stepper->program->order == BZ_ORDER_FIFO
                          ? "no cancel can strike here: fifo takes them between two turns, and at "
                            "most max-cancels"
                          : "no further cancel: the run allows max-cancels of them");
    }
    return false;
}
