#include "tools/stepper_model.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "traces/lack.h"
#include "traces/text.h"

/* --- the state at a step ---------------------------------------------------------------------- */

struct looking {
    struct bz_world_watch watch; /* first */
    struct bz_stepper_state *state;
    uint32_t step;
};

/* Names come from code under test: what is no text becomes '?'. */
static void copy_name(char *to, const char *name) {
    (void)bz_fail(to, BZ_VIEW_NAME_BYTES, "%s", name == NULL ? "" : name);
}

static void look_at_object(const struct bz_judge *judge, uint32_t number,
                           struct bz_stepper_object *object) {
    (void)bz_judge_view_object(judge, number, &object->view);
    copy_name(object->name, object->view.name);
    object->line_count = bz_judge_view_line(judge, number, object->line, BZ_STEPPER_LINE);
}

static void look(const struct bz_world *world, struct bz_stepper_state *state) {
    const struct bz_judge *judge = world->judge;
    state->now_ns = bz_loop_now_ns(world->loop);
    state->deadline_ns = bz_look_deadline_ns(world);
    state->task_count = bz_judge_task_count(judge);
    state->object_count = bz_judge_object_count(judge);
    state->ready_count = bz_look_ready(world, state->ready, BZ_STEPPER_READY);
    for (uint32_t task = 0; task < state->task_count && task < BZ_STEPPER_TASKS; task++) {
        struct bz_task_view *view = &state->tasks[task];
        char name[BZ_VIEW_NAME_BYTES];
        (void)bz_judge_view_task(judge, task + 1, view);
        memcpy(name, view->name, sizeof name);
        copy_name(view->name, name);
        copy_name(state->task_objects[task], view->object);
    }
    for (uint32_t object = 0; object < state->object_count && object < BZ_STEPPER_OBJECTS;
         object++) {
        look_at_object(judge, object + 1, &state->objects[object]);
    }
    state->is_there = true;
}

static bool before_step(void *context, struct bz_world *world, uint32_t step) {
    const struct looking *looking = context;
    if (step <= looking->step) {
        return true;
    }
    look(world, looking->state);
    return false;
}

static void after_last(void *context, struct bz_world *world) {
    const struct looking *looking = context;
    if (!looking->state->is_there) {
        look(world, looking->state);
    }
}

bool bz_stepper_go(struct bz_stepper *stepper, uint32_t step) {
    struct bz_trace record;
    struct bz_replay_report report;
    stepper->step = step < stepper->steps ? step : stepper->steps;
    memset(stepper->state, 0, sizeof *stepper->state);
    struct looking looking = {.watch = {.before_step = before_step, .after_last = after_last},
                              .state = stepper->state,
                              .step = stepper->step};
    looking.watch.context = &looking;
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
    stepper->steps = report.steps;
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

/* --- events ----------------------------------------------------------------------------------- */

static bool is_name(const char *text, const char *name) {
    return text != NULL && strcmp(text, name) == 0;
}

uint32_t bz_stepper_find(const struct bz_stepper *stepper, const char *name, bool is_backward) {
    uint32_t found = 0;
    for (size_t index = 0; index < stepper->run.event_count; index++) {
        const struct bz_trace_event *event = &stepper->run.events[index];
        if (!is_name(event->task, name) && !is_name(event->object, name)) {
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

#define HOLDERS_MAX 64u

struct holders {
    const char *names[HOLDERS_MAX];
    uint32_t counts[HOLDERS_MAX];
    uint32_t count;
};

static void add_holder(struct holders *holders, const char *task, int change) {
    uint32_t place = 0;
    while (place < holders->count && strcmp(holders->names[place], task) != 0) {
        place++;
    }
    if (place == HOLDERS_MAX) {
        return;
    }
    if (place == holders->count) {
        holders->names[place] = task;
        holders->counts[holders->count++] = 0;
    }
    if (change > 0 || holders->counts[place] > 0) {
        holders->counts[place] += (uint32_t)change;
    }
}

const char *bz_stepper_holders(const struct bz_stepper *stepper, const char *object, char *text,
                               size_t bytes) {
    struct holders holders = {.count = 0};
    size_t used = 0;
    for (size_t index = 0; index < stepper->run.event_count; index++) {
        const struct bz_trace_event *event = &stepper->run.events[index];
        if (event->step > stepper->step || event->task == NULL || !is_name(event->object, object)) {
            continue;
        }
        bool is_return = is_name(event->event, "return");
        if (is_name(event->op, "acquire") && is_return && is_name(event->status, "ok")) {
            add_holder(&holders, event->task, 1);
        } else if (is_name(event->op, "release")) { /* only a refused one returns */
            add_holder(&holders, event->task, is_return ? 1 : -1);
        }
    }
    text[0] = '\0';
    for (uint32_t place = 0; place < holders.count && used < bytes; place++) {
        char times[24] = "";
        if (holders.counts[place] > 1) {
            snprintf(times, sizeof times, " (%" PRIu32 ")", holders.counts[place]);
        }
        if (holders.counts[place] > 0) {
            used += (size_t)snprintf(text + used, bytes - used, "%s%s%s", used > 0 ? ", " : "",
                                     holders.names[place], times);
        }
    }
    return text;
}

/* --- alternatives ----------------------------------------------------------------------------- */

static const char *task_name(const struct bz_stepper *stepper, uint32_t task) {
    return task == 0                         ? "the loop"
           : task <= stepper->run.task_count ? stepper->run.tasks[task - 1]
                                             : "?";
}

const char *bz_stepper_handle_text(const struct bz_stepper *stepper, const struct bz_ready *handle,
                                   char *text, size_t bytes) {
    const char *owner = task_name(stepper, handle->owner);
    if (handle->role == BZ_ROLE_STEP) {
        snprintf(text, bytes, "%s, step %" PRIu32, owner, handle->nth);
    } else {
        snprintf(text, bytes, "%s %" PRIu32 " of %s", bz_role_name(handle->role), handle->nth,
                 owner);
    }
    return text;
}

/* The first event of a step that says what it is. */
static const struct bz_trace_event *head_of(const struct bz_trace *run, uint32_t step) {
    for (size_t index = 0; index < run->event_count; index++) {
        const struct bz_trace_event *event = &run->events[index];
        if (event->step == step &&
            (is_name(event->event, "resume") || is_name(event->event, "callback") ||
             is_name(event->event, "inject"))) {
            return event;
        }
    }
    return NULL;
}

/* Whether this step of the run is the alternative. A callback's event does not say which one it is;
 * then the choices do. */
static bool is_taken(const struct bz_stepper *stepper, const struct bz_trace *run, uint32_t step,
                     const struct bz_alternative *alternative) {
    const struct bz_trace_event *event = head_of(run, step);
    uint32_t owner = alternative->handle.owner;
    bool is_owner = event != NULL && (owner == 0 ? event->task == NULL
                                                 : is_name(event->task, task_name(stepper, owner)));
    if (!is_owner) {
        return false;
    }
    if (alternative->is_cancel) {
        return is_name(event->event, "inject");
    }
    if (alternative->handle.role == BZ_ROLE_STEP) {
        return is_name(event->event, "resume") && event->n == alternative->handle.nth;
    }
    return is_name(event->event, "callback") &&
           is_name(event->role, bz_role_name(alternative->handle.role));
}

bool bz_stepper_is_next(const struct bz_stepper *stepper, const struct bz_ready *handle) {
    const struct bz_alternative alternative = {.handle = *handle};
    return is_taken(stepper, &stepper->run, stepper->step + 1, &alternative);
}

static bool may_be_cancelled(const struct bz_stepper *stepper, const struct bz_task_view *view) {
    return (stepper->program->cancel_windows >> view->window & 1u) != 0 && !view->is_helper;
}

uint32_t bz_stepper_alternatives(const struct bz_stepper *stepper,
                                 struct bz_alternative *alternatives, uint32_t max) {
    const struct bz_stepper_state *state = stepper->state;
    bool is_any = stepper->program->order == BZ_ORDER_ANY;
    uint32_t count = 0;
    for (uint32_t index = 0; is_any && state->is_there && index < state->ready_count &&
                             index < BZ_STEPPER_READY && count < max;
         index++) {
        struct bz_alternative *entry = &alternatives[count++];
        *entry = (struct bz_alternative){.handle = state->ready[index]};
        bz_stepper_handle_text(stepper, &entry->handle, entry->text, sizeof entry->text);
    }
    for (uint32_t task = 0;
         state->is_there && task < state->task_count && task < BZ_STEPPER_TASKS && count < max;
         task++) {
        const struct bz_task_view *view = &state->tasks[task];
        if (may_be_cancelled(stepper, view)) {
            struct bz_alternative *entry = &alternatives[count++];
            *entry = (struct bz_alternative){.is_cancel = true,
                                             .handle = {.owner = task + 1, .nth = view->next_step},
                                             .window = view->window};
            snprintf(entry->text, sizeof entry->text, "a cancel of %.64s (%s)", view->name,
                     bz_window_name(view->window));
        }
    }
    for (uint32_t index = 0; index < count; index++) {
        alternatives[index].is_taken =
            is_taken(stepper, &stepper->run, stepper->step + 1, &alternatives[index]);
    }
    return count;
}

/* --- another run ------------------------------------------------------------------------------ */

static struct bz_trace_choice choice_of(const struct bz_stepper *stepper, uint32_t step,
                                        const struct bz_alternative *alternative) {
    const struct bz_ready *handle = &alternative->handle;
    struct bz_trace_choice choice = {.kind = alternative->is_cancel ? "cancel" : "next",
                                     .task = handle->owner == 0 ? NULL
                                                                : task_name(stepper, handle->owner),
                                     .step = step,
                                     .n = handle->nth,
                                     .bound = BZ_TRACE_ABSENT,
                                     .value = BZ_TRACE_ABSENT};
    if (alternative->is_cancel) {
        choice.window = bz_window_name(alternative->window);
    } else if (handle->role != BZ_ROLE_STEP) {
        choice.role = bz_role_name(handle->role);
    }
    return choice;
}

static bool is_of_handle(const struct bz_trace_choice *choice) {
    return is_name(choice->kind, "next") || is_name(choice->kind, "cancel");
}

/* The choices of the run before `step`, the new one, and perhaps the later ones. A new cancel is a
 * step of its own, which moves the later steps; anything else takes the place of what was there. */
static void edit(const struct bz_stepper *stepper, uint32_t step,
                 const struct bz_alternative *alternative, bool keeps_rest,
                 struct bz_trace *edited) {
    const struct bz_trace *run = &stepper->run;
    const struct bz_trace_event *head = head_of(run, step);
    bool was_cancel = head != NULL && is_name(head->event, "inject");
    bool is_moved = alternative->is_cancel && !was_cancel;
    size_t index = 0;
    for (; index < run->choice_count && run->choices[index].step < step; index++) {
        bz_trace_add_choice(edited, run->choices[index]);
    }
    bz_trace_add_choice(edited, choice_of(stepper, step, alternative));
    for (; keeps_rest && index < run->choice_count; index++) {
        struct bz_trace_choice choice = run->choices[index];
        if (is_moved || choice.step > step || !is_of_handle(&choice)) {
            choice.step += is_moved;
            bz_trace_add_choice(edited, choice);
        }
    }
}

bool bz_stepper_choose(struct bz_stepper *stepper, const struct bz_alternative *alternative,
                       bool keeps_rest) {
    struct bz_trace edited = stepper->run; /* a shallow copy with choices of its own */
    struct bz_trace before = stepper->run;
    struct bz_replay_report report = stepper->report;
    uint32_t step = stepper->step + 1;
    uint32_t steps = stepper->steps;
    edited.choices = NULL;
    edited.choice_count = 0;
    edited.choice_capacity = 0;
    edit(stepper, step, alternative, keeps_rest, &edited);
    bz_trace_init(&stepper->run);
    bool is_made = make_run(stepper, &edited);
    free(edited.choices);
    if (is_made && is_taken(stepper, &stepper->run, step, alternative)) {
        bz_trace_fini(&before);
        stepper->is_original = false;
        return bz_stepper_go(stepper, step);
    }
    if (is_made) {
        snprintf(stepper->error, sizeof stepper->error, "%s",
                 !alternative->is_cancel ? "this cannot come here"
                 : stepper->program->order == BZ_ORDER_FIFO
                     ? "no cancel can strike here: fifo takes them between two turns, and at most "
                       "max-cancels"
                     : "no further cancel: the run allows max-cancels of them");
    }
    bz_trace_fini(&stepper->run);
    stepper->run = before;
    stepper->report = report;
    stepper->steps = steps;
    return false;
}
