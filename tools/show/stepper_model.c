#include "tools/show/stepper_model.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sim/choice/strategy_replay.h"
#include "tools/cli/cli.h"
#include "traces/lack.h"
#include "traces/text.h"

/* --- the state at a step ---------------------------------------------------------------------- */

struct looking {
    struct bz_world_watch watch; /* first */
    struct bz_replay_listener listener;
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

/* Makes the run under this watch, which ends it early. */
static bool make_part(struct bz_stepper *stepper, const struct bz_world_watch *watch) {
    struct bz_trace record;
    struct bz_replay_report report;
    bz_trace_init(&record);
    bool is_ok = bz_replay_watched(&stepper->run, stepper->program, watch, &record, &report,
                                   stepper->error, sizeof stepper->error);
    bz_trace_fini(&record);
    return is_ok;
}

bool bz_stepper_go(struct bz_stepper *stepper, uint32_t step) {
    stepper->step = step < stepper->steps ? step : stepper->steps;
    memset(stepper->state, 0, sizeof *stepper->state);
    struct looking looking = {.watch = {.before_step = before_step, .after_last = after_last},
                              .state = stepper->state,
                              .step = stepper->step};
    looking.watch.context = &looking;
    return make_part(stepper, &looking.watch);
}

/* --- what the next step is asked -------------------------------------------------------------- */

static void hear_next(void *context, const struct bz_ready *ready, uint32_t count, uint32_t chosen,
                      uint32_t step) {
    const struct looking *looking = context;
    struct bz_stepper_asked *asked = &looking->state->asked;
    if (step == looking->step + 1) {
        asked->is_next = true;
        asked->chosen = chosen;
        asked->ready_count = count < BZ_STEPPER_READY ? count : BZ_STEPPER_READY;
        memcpy(asked->ready, ready, asked->ready_count * sizeof *ready);
    }
}

static void hear_jump(void *context, bool is_jump, uint32_t step) {
    const struct looking *looking = context;
    struct bz_stepper_asked *asked = &looking->state->asked;
    if (step == looking->step + 1 && !asked->is_jump) {
        asked->is_jump = true;
        asked->jumps = is_jump;
    }
}

static void hear_draw(void *context, enum bz_choice_kind kind, const struct bz_draw *draw,
                      uint64_t value, uint32_t step) {
    const struct looking *looking = context;
    struct bz_stepper_asked *asked = &looking->state->asked;
    bool is_heard = step == looking->step + 1 || (step == 0 && looking->step == 0);
    if (is_heard && asked->draw_count < BZ_STEPPER_DRAWS) {
        struct bz_stepper_draw *heard = &asked->draws[asked->draw_count++];
        *heard = (struct bz_stepper_draw){.kind = kind,
                                          .bound = draw->bound,
                                          .value = value,
                                          .owner = draw->owner,
                                          .nth = draw->nth,
                                          .step = step};
        copy_name(heard->label, draw->label);
    }
}

static void listen(void *context, struct bz_world *world) {
    const struct looking *looking = context;
    bz_judge_listen(world->judge, &looking->listener);
}

static bool before_step_after(void *context, struct bz_world *world, uint32_t step) {
    const struct looking *looking = context;
    (void)world;
    return step <= looking->step + 1;
}

/* Fills state->asked. */
static bool ask(struct bz_stepper *stepper) {
    memset(&stepper->state->asked, 0, sizeof stepper->state->asked);
    struct looking looking = {.watch = {.begin = listen, .before_step = before_step_after},
                              .listener = {.next = hear_next, .jump = hear_jump, .draw = hear_draw},
                              .state = stepper->state,
                              .step = stepper->step};
    looking.watch.context = &looking;
    looking.listener.context = &looking;
    return make_part(stepper, &looking.watch);
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

/* Whether this step of the run is the handle, or the cancel. */
static bool is_head(const struct bz_stepper *stepper, uint32_t step,
                    const struct bz_alternative *alternative) {
    const struct bz_trace_event *event = head_of(&stepper->run, step);
    uint32_t owner = alternative->handle.owner;
    bool is_owner = event != NULL && (owner == 0 ? event->task == NULL
                                                 : is_name(event->task, task_name(stepper, owner)));
    if (!is_owner) {
        return false;
    }
    if (alternative->kind == BZ_ALTERNATIVE_CANCEL) {
        return is_name(event->event, "inject");
    }
    if (alternative->handle.role == BZ_ROLE_STEP) {
        return is_name(event->event, "resume") && event->n == alternative->handle.nth;
    }
    return is_name(event->event, "callback") &&
           is_name(event->role, bz_role_name(alternative->handle.role));
}

bool bz_stepper_is_next(const struct bz_stepper *stepper, const struct bz_ready *handle) {
    const struct bz_alternative alternative = {.kind = BZ_ALTERNATIVE_HANDLE, .handle = *handle};
    return is_head(stepper, stepper->step + 1, &alternative);
}

/* Whether the run does this next. The event of a callback does not say which one it is; what was
 * asked does. */
static bool is_taken(const struct bz_stepper *stepper, const struct bz_alternative *alternative) {
    const struct bz_stepper_asked *asked = &stepper->state->asked;
    const struct bz_ready *handle = &alternative->handle;
    switch (alternative->kind) {
    case BZ_ALTERNATIVE_JUMP:
        return asked->is_jump && asked->jumps == alternative->jumps;
    case BZ_ALTERNATIVE_DRAW:
        return alternative->draw < asked->draw_count &&
               asked->draws[alternative->draw].value == alternative->value;
    case BZ_ALTERNATIVE_HANDLE:
        if (asked->is_next && asked->chosen < asked->ready_count) {
            const struct bz_ready *chosen = &asked->ready[asked->chosen];
            return chosen->owner == handle->owner && chosen->role == handle->role &&
                   chosen->nth == handle->nth;
        }
        break;
    default:
        break;
    }
    return is_head(stepper, stepper->step + 1, alternative);
}

static bool may_be_cancelled(const struct bz_stepper *stepper, const struct bz_task_view *view) {
    return (stepper->program->cancel_windows >> view->window & 1u) != 0 && !view->is_helper;
}

struct listing {
    struct bz_stepper *stepper;
    struct bz_alternative *alternatives;
    uint32_t count;
    uint32_t max;
};

/* A new entry without its text; NULL: there is no more room. */
static struct bz_alternative *add(struct listing *listing,
                                  const struct bz_alternative *alternative) {
    if (listing->count == listing->max) {
        return NULL;
    }
    struct bz_alternative *entry = &listing->alternatives[listing->count++];
    *entry = *alternative;
    entry->is_taken = is_taken(listing->stepper, entry);
    return entry;
}

/* The handles among which the run chose: timers that came due are with them. Where a cancel took
 * the place of the choice, those that were ready. */
static void list_handles(struct listing *listing) {
    const struct bz_stepper_state *state = listing->stepper->state;
    const struct bz_stepper_asked *asked = &state->asked;
    const struct bz_ready *ready = asked->is_next ? asked->ready : state->ready;
    uint32_t count = asked->is_next ? asked->ready_count : state->ready_count;
    for (uint32_t index = 0; index < count && index < BZ_STEPPER_READY; index++) {
        struct bz_alternative *entry =
            add(listing,
                &(struct bz_alternative){.kind = BZ_ALTERNATIVE_HANDLE, .handle = ready[index]});
        if (entry != NULL) {
            bz_stepper_handle_text(listing->stepper, &entry->handle, entry->text,
                                   sizeof entry->text);
        }
    }
}

static void list_jumps(struct listing *listing) {
    const struct bz_stepper_state *state = listing->stepper->state;
    for (unsigned jumps = 0; state->asked.is_jump && jumps < 2; jumps++) {
        struct bz_alternative *entry = add(
            listing, &(struct bz_alternative){.kind = BZ_ALTERNATIVE_JUMP, .jumps = jumps == 1});
        if (entry != NULL) {
            snprintf(entry->text, sizeof entry->text, "the step before takes %s%s",
                     bz_cli_time_text(jumps == 1 ? state->deadline_ns - state->now_ns : 0),
                     jumps == 1 ? ", until the next timer" : "");
        }
    }
}

static void list_draw(struct listing *listing, uint32_t place) {
    const struct bz_stepper_draw *draw = &listing->stepper->state->asked.draws[place];
    bool is_typed = draw->bound > BZ_STEPPER_VALUES;
    uint64_t values = is_typed ? 1 : draw->bound;
    for (uint64_t value = 0; draw->bound > 1 && value < values; value++) {
        struct bz_alternative *entry =
            add(listing, &(struct bz_alternative){.kind = BZ_ALTERNATIVE_DRAW,
                                                  .draw = place,
                                                  .value = is_typed ? draw->value : value,
                                                  .is_typed = is_typed});
        if (entry != NULL) {
            snprintf(entry->text, sizeof entry->text,
                     "%.40s draws '%.40s': %" PRIu64 " of 0..%" PRIu64 "%s",
                     draw->step == 0 ? "the set-up" : task_name(listing->stepper, draw->owner),
                     draw->label, entry->value, draw->bound - 1,
                     is_typed ? "; Enter: type another" : "");
        }
    }
}

static void list_cancels(struct listing *listing) {
    const struct bz_stepper_state *state = listing->stepper->state;
    for (uint32_t task = 0; task < state->task_count && task < BZ_STEPPER_TASKS; task++) {
        const struct bz_task_view *view = &state->tasks[task];
        struct bz_alternative *entry =
            !may_be_cancelled(listing->stepper, view)
                ? NULL
                : add(listing, &(struct bz_alternative){
                                   .kind = BZ_ALTERNATIVE_CANCEL,
                                   .handle = {.owner = task + 1, .nth = view->next_step},
                                   .window = view->window});
        if (entry != NULL) {
            snprintf(entry->text, sizeof entry->text, "a cancel of %.64s (%s)", view->name,
                     bz_window_name(view->window));
        }
    }
}

uint32_t bz_stepper_alternatives(struct bz_stepper *stepper, struct bz_alternative *alternatives,
                                 uint32_t max) {
    struct listing listing = {.stepper = stepper, .alternatives = alternatives, .max = max};
    if (!stepper->state->is_there || !ask(stepper)) {
        return 0;
    }
    if (stepper->program->order == BZ_ORDER_ANY) {
        list_handles(&listing);
    }
    list_jumps(&listing);
    for (uint32_t place = 0; place < stepper->state->asked.draw_count; place++) {
        list_draw(&listing, place);
    }
    list_cancels(&listing);
    return listing.count;
}

/* --- another run ------------------------------------------------------------------------------ */

/* The place of a choice: its step, and where in the step. */
struct place {
    uint64_t step;
    uint32_t rank;
};

static struct place place_of(const struct bz_stepper *stepper,
                             const struct bz_alternative *alternative) {
    bool is_draw = alternative->kind == BZ_ALTERNATIVE_DRAW;
    return (struct place){is_draw ? stepper->state->asked.draws[alternative->draw].step
                                  : stepper->step + 1,
                          (uint32_t)alternative->kind + (is_draw ? alternative->draw : 0)};
}

static bool is_draw_of(const struct bz_stepper *stepper, const struct bz_trace_choice *choice,
                       const struct bz_stepper_draw *draw) {
    bool is_owner = draw->owner == 0 ? choice->task == NULL
                                     : is_name(choice->task, task_name(stepper, draw->owner));
    return is_owner && choice->n == draw->nth && is_name(choice->label, draw->label);
}

static struct place place_in_run(const struct bz_stepper *stepper,
                                 const struct bz_trace_choice *choice) {
    const struct bz_stepper_asked *asked = &stepper->state->asked;
    struct place place = {choice->step, BZ_ALTERNATIVE_DRAW};
    if (choice->label != NULL) {
        uint32_t draw = 0;
        while (draw < asked->draw_count && !is_draw_of(stepper, choice, &asked->draws[draw])) {
            draw++;
        }
        place.rank += draw;
    } else {
        place.rank = is_name(choice->kind, "cancel")  ? BZ_ALTERNATIVE_CANCEL
                     : is_name(choice->kind, "delay") ? BZ_ALTERNATIVE_JUMP
                                                      : BZ_ALTERNATIVE_HANDLE;
    }
    return place;
}

static void add_choice(const struct bz_stepper *stepper, const struct bz_alternative *alternative,
                       struct bz_trace *edited) {
    const struct bz_ready *handle = &alternative->handle;
    const struct bz_stepper_draw *draw = &stepper->state->asked.draws[alternative->draw];
    struct bz_trace_choice choice = {.step = place_of(stepper, alternative).step,
                                     .n = BZ_TRACE_ABSENT,
                                     .bound = BZ_TRACE_ABSENT,
                                     .value = BZ_TRACE_ABSENT};
    uint32_t owner = handle->owner;
    switch (alternative->kind) {
    case BZ_ALTERNATIVE_CANCEL:
        choice.kind = "cancel";
        choice.n = handle->nth;
        choice.window = bz_window_name(alternative->window);
        break;
    case BZ_ALTERNATIVE_HANDLE:
        choice.kind = "next";
        choice.n = handle->nth;
        choice.role = handle->role == BZ_ROLE_STEP ? NULL : bz_role_name(handle->role);
        break;
    case BZ_ALTERNATIVE_JUMP:
        choice.kind = "delay";
        choice.value = 1;
        break;
    case BZ_ALTERNATIVE_DRAW:
        owner = draw->owner;
        choice.kind = draw->kind == BZ_CHOICE_DELAY ? "delay" : "data";
        choice.label = draw->label;
        choice.n = draw->nth;
        choice.bound = draw->bound;
        choice.value = alternative->value;
        break;
    }
    choice.task = owner == 0 ? NULL : task_name(stepper, owner);
    bool is_default = alternative->kind == BZ_ALTERNATIVE_JUMP   ? !alternative->jumps
                      : alternative->kind == BZ_ALTERNATIVE_DRAW ? alternative->value == 0
                                                                 : false;
    if (!is_default) {
        bz_trace_add_choice(edited, choice);
    }
}

/* The choices of the run before the alternative's place, the alternative, and perhaps the later
 * ones. A new cancel is a step of its own, which moves the later steps; anything else takes the
 * place of what was there. */
static void edit(const struct bz_stepper *stepper, const struct bz_alternative *alternative,
                 bool keeps_rest, struct bz_trace *edited) {
    const struct bz_trace *run = &stepper->run;
    struct place place = place_of(stepper, alternative);
    const struct bz_trace_event *head = head_of(run, (uint32_t)place.step);
    bool was_cancel = head != NULL && is_name(head->event, "inject");
    bool is_moved = alternative->kind == BZ_ALTERNATIVE_CANCEL && !was_cancel;
    bool is_added = false;
    for (size_t index = 0; index < run->choice_count; index++) {
        struct bz_trace_choice choice = run->choices[index];
        struct place own = place_in_run(stepper, &choice);
        bool is_same = own.step == place.step;
        /* A handle takes the place of a cancel, too. */
        bool is_replaced = !is_moved && is_same &&
                           (own.rank == place.rank || (own.rank == BZ_ALTERNATIVE_CANCEL &&
                                                       place.rank == BZ_ALTERNATIVE_HANDLE));
        bool is_before = own.step < place.step || (is_same && own.rank < place.rank);
        if (!is_before && !is_added) {
            add_choice(stepper, alternative, edited);
            is_added = true;
        }
        if (!is_replaced && (is_before || keeps_rest)) {
            choice.step += !is_before && is_moved;
            bz_trace_add_choice(edited, choice);
        }
    }
    if (!is_added) {
        add_choice(stepper, alternative, edited);
    }
}

static const char *why_not(const struct bz_stepper *stepper,
                           const struct bz_alternative *alternative) {
    return alternative->kind != BZ_ALTERNATIVE_CANCEL ? "this cannot come here"
           : stepper->program->order == BZ_ORDER_FIFO
               ? "no cancel can strike here: fifo takes them between two turns, and at most "
                 "max-cancels"
               : "no further cancel: the run allows max-cancels of them";
}

bool bz_stepper_choose(struct bz_stepper *stepper, const struct bz_alternative *alternative,
                       bool keeps_rest) {
    struct bz_trace before = stepper->run;
    struct bz_trace edited = before; /* a shallow copy with choices of its own */
    struct bz_replay_report report = stepper->report;
    uint32_t step = stepper->step;
    uint32_t steps = stepper->steps;
    bool is_setup = place_of(stepper, alternative).step == 0;
    edited.choices = NULL;
    edited.choice_count = 0;
    edited.choice_capacity = 0;
    edit(stepper, alternative, keeps_rest, &edited);
    bz_trace_init(&stepper->run);
    bool is_made = make_run(stepper, &edited);
    free(edited.choices);
    if (is_made && step <= stepper->steps && bz_stepper_go(stepper, step) && ask(stepper) &&
        is_taken(stepper, alternative)) {
        bz_trace_fini(&before);
        stepper->is_original = false;
        return bz_stepper_go(stepper, is_setup ? 0 : step + 1);
    }
    bz_trace_fini(&stepper->run);
    stepper->run = before;
    stepper->report = report;
    stepper->steps = steps;
    (void)bz_stepper_go(stepper, step);
    if (is_made) {
        snprintf(stepper->error, sizeof stepper->error, "%s", why_not(stepper, alternative));
    }
    return false;
}
