#include "tools/lab/lockstep/side.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "scenarios/scenarios.h"
#include "scenarios/variants/variants.h"
#include "sim/choice/pcg.h"
#include "sim/judge/internal.h"
#include "sim/native/internal.h"
#include "sim/program/scenario.h"
#include "traces/lack.h"

#define CANCELS_MAX 3u
#define STATE_BYTES 65536u
#define STREAM UINT64_C(0x6c6f636b73746570) /* of the numbers that shape programs */

struct bz_side {
    struct bz_world *worlds[BZ_ORDER_COUNT];
    struct bz_pair *pair;
    bool is_twisted;
    struct bz_script_draw shape; /* of the program that is drawn */
    struct bz_event_sink sink;
    struct bz_world_watch watch;
    struct bz_script_watch returns;
    struct bz_scenario_args args;
    struct bz_run_stats stats;
    struct bz_verb_counts verbs;
    void *state; /* of the scenario, in a run */
    FILE *out;
    char *text;
    size_t length;
    FILE *events; /* of this step */
    char *events_text;
    size_t events_length;
    char handle[64]; /* what this step is */
    char state_text[STATE_BYTES];
    char program_text[BZ_FILE_BYTES_MAX];
};

static const char *const roles = "stc"; /* by enum bz_role */

/* --- what happens ----------------------------------------------------------------------------- */

static void happens(struct bz_side *side, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

static void happens(struct bz_side *side, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    if (ftell(side->events) > 0) {
        fputc(' ', side->events);
    }
    vfprintf(side->events, format, arguments);
    va_end(arguments);
}

/* The name of the handle that runs: on the tape, or right behind it if it is the default. */
static void name_callback(struct bz_side *side, const struct bz_judge *judge) {
    const struct bz_choice *choice = judge->tape.choices + judge->tape.count;
    bool is_behind = judge->tape.count == 0 || choice[-1].kind != BZ_CHOICE_NEXT ||
                     choice[-1].step != judge->step;
    choice -= !is_behind;
    snprintf(side->handle, sizeof side->handle, "run %u%c%u", choice->owner, roles[choice->role],
             choice->nth);
}

static struct bz_judge *judge_of(const struct bz_side *side) {
    return side->worlds[side->pair->order]->judge;
}

static void on_event(struct bz_event_sink *sink, const struct bz_logged_event *logged) {
    struct bz_side *side = bz_container_of(sink, struct bz_side, sink);
    const struct bz_event *event = &logged->event;
    const char *status = bz_status_name((enum bz_status)event->status);
    switch (event->kind) {
    case BZ_EVENT_SPAWN:
        happens(side, "s%u", event->task);
        break;
    case BZ_EVENT_RESUME:
        snprintf(side->handle, sizeof side->handle, "run %us%u", event->task, event->arg);
        happens(side, "r%u:%s", event->task, status);
        break;
    case BZ_EVENT_WAKE:
        happens(side, "w%u:%s", event->task, status);
        break;
    case BZ_EVENT_CANCEL:
        if (event->status == BZ_OK) { /* asyncio also asks a task that is done, in vain */
            happens(side, "c%u", event->task);
        }
        break;
    case BZ_EVENT_UNCANCEL:
        happens(side, "u%u:%u%s", event->task, event->arg, event->status == BZ_OK ? "" : "m");
        break;
    case BZ_EVENT_CALLBACK:
        name_callback(side, judge_of(side));
        break;
    case BZ_EVENT_INJECT:
        snprintf(side->handle, sizeof side->handle, "cancel %u", event->task);
        break;
    default:
        break;
    }
}

static void on_return(void *context, uint32_t op, enum bz_status status, int64_t value) {
    struct bz_side *side = context;
    happens(side, "o%u:%u:%s", judge_of(side)->shadow.running, op, bz_status_name(status));
    if (value >= 0) {
        fprintf(side->events, "=%" PRIi64, value);
    }
    const struct bz_script_op *entry = &side->pair->script.ops[op];
    bool has_object = bz_script_verbs[entry->verb].primitives != 0;
    uint8_t primitive = side->pair->script.objects[entry->object].primitive;
    side->verbs.counts[entry->verb][has_object ? primitive : 0]++;
}

/* --- the state -------------------------------------------------------------------------------- */

static void put_handle(struct bz_cut_text *text, const struct bz_handle *handle) {
    bz_cut_add(text, "%u%c%u", handle->owner, roles[handle->role], handle->nth);
}

static void put_queues(struct bz_cut_text *text, const struct bz_loop *loop) {
    for (uint32_t index = 0; index < loop->ready_count; index++) {
        bz_cut_add(text, "%s", index == 0 ? "" : " ");
        put_handle(text, loop->ready[index]);
    }
    bz_cut_add(text, "|");
    for (uint32_t index = 0; index < loop->heap_count; index++) {
        const struct bz_heap_entry *entry = &loop->heap[index];
        bz_cut_add(text, "%s%" PRIu64 ":", index == 0 ? "" : " ", entry->when_ns);
        if (entry->timer == NULL) {
            bz_cut_add(text, "-");
        } else {
            put_handle(text, &entry->timer->handle);
        }
    }
    bz_cut_add(text, "|");
}

static void put_tasks(struct bz_cut_text *text, const struct bz_loop *loop) {
    static const char letters[] = {[BZ_FUTURE_PENDING] = 'P',
                                   [BZ_FUTURE_RESULT] = 'D',
                                   [BZ_FUTURE_EXCEPTION] = 'F',
                                   [BZ_FUTURE_CANCELLED] = 'X'};
    const struct bz_task *first = bz_driver_next_task(loop, NULL);
    for (const struct bz_task *task = first; task != NULL; task = bz_driver_next_task(loop, task)) {
        bz_cut_add(text, "%s%u%c%u%s", task == first ? "" : " ", task->actor.id,
                   letters[task->done.state], task->cancel_requests, task->must_cancel ? "m" : "");
    }
    bz_cut_add(text, "|");
}

static void put_state(struct bz_side *side) {
    struct bz_cut_text text = {.text = side->state_text, .bytes = STATE_BYTES};
    const struct bz_script *script = bz_script_of(side->state);
    const struct bz_loop *loop = side->worlds[side->pair->order]->loop;
    put_queues(&text, loop);
    put_tasks(&text, loop);
    for (uint32_t index = 0; index < script->object_count; index++) {
        bz_cut_add(&text, "%s", index == 0 ? "" : " ");
        (side->is_twisted ? bz_twisted_print : bz_asyncio_print)(
            &text, (enum bz_primitive)script->objects[index].primitive,
            (void *)(uintptr_t)bz_script_instance(side->state, index));
    }
    BZ_CHECK(text.length < STATE_BYTES);
}

/* The step before this one is complete. */
static void put_step(struct bz_side *side, struct bz_world *world) {
    fflush(side->events);
    put_state(side);
    if (world->judge->step == 0) {
        fputs("setup", side->out);
    } else {
        fprintf(side->out, "%s %" PRIu64 " %u", side->handle, world->loop->now_ns,
                world->loop->turn_left);
    }
    fprintf(side->out, "\t%.*s\t%s\n", (int)ftell(side->events), side->events_text,
            side->state_text);
    rewind(side->events);
}

static bool before_step(void *context, struct bz_world *world, uint32_t step) {
    struct bz_side *side = context;
    if (step == 1 || side->handle[0] != '\0') {
        put_step(side, world);
    }
    side->handle[0] = '\0';
    return true;
}

static void after_last(void *context, struct bz_world *world) {
    (void)before_step(context, world, world->judge->step + 1);
}

/* --- runs ------------------------------------------------------------------------------------- */

static void run(void *context, struct bz_judge *judge) {
    struct bz_side *side = context;
    struct bz_world *world = side->worlds[side->pair->order];
    (void)judge;
    bz_world_begin(world);
    side->state = bz_scenario_program.setup(world, &side->args);
    bz_script_watch(side->state, &side->returns);
    bz_world_watch(world, &side->watch);
    bz_world_run(world);
    bz_world_end(world);
}

/* The set-up alone, which draws the program. */
static void run_setup(void *context, struct bz_judge *judge) {
    struct bz_side *side = context;
    struct bz_world *world = side->worlds[BZ_ORDER_ANY];
    (void)judge;
    bz_world_begin(world);
    memset(&side->pair->script, 0, sizeof side->pair->script);
    bz_script_draw(&side->pair->script, world->judge, world->variant, &side->shape);
    bz_world_end(world);
}

static void expect_end(enum bz_run_end end) {
    BZ_CHECK(end != BZ_RUN_BAD_SOURCE && end != BZ_RUN_VIOLATED);
    if (end == BZ_RUN_NO_RESOURCE) {
        bz_lack_stop("memory", "a run of the C side");
    }
}

/* Twisted's queue has one order; a drawn object may have another. */
static void make_plainer(struct bz_script *script) {
    for (uint32_t index = 0; index < script->object_count; index++) {
        script->objects[index].order = BZ_QUEUE_ORDER_FIFO;
    }
}

/* Seven of eight programs have one, of a primitive that the variant offers. */
static const struct bz_script_focus *draw_focus(const struct bz_side *side, struct bz_pcg32 *pcg) {
    const struct bz_script_focus *focus =
        &bz_script_focuses[bz_pcg32_below(pcg, BZ_SCRIPT_FOCUSES)];
    bool is_offered =
        focus->primitive == BZ_SCRIPT_PRIMITIVES ||
        bz_variant_offers(side->worlds[0]->variant, (enum bz_primitive)focus->primitive);
    return bz_pcg32_below(pcg, 8) > 0 && is_offered ? focus : NULL;
}

void bz_side_draw(struct bz_side *side, uint64_t number, struct bz_pair *pair) {
    static const uint8_t asyncio[8] = {
        BZ_PRIMITIVE_SEMAPHORE, BZ_PRIMITIVE_LOCK,  BZ_PRIMITIVE_CONDITION, BZ_PRIMITIVE_QUEUE,
        BZ_PRIMITIVE_BOUNDED,   BZ_PRIMITIVE_EVENT, BZ_PRIMITIVE_BARRIER,   BZ_PRIMITIVE_QUEUE};
    static const uint8_t twisted[8] = {
        BZ_PRIMITIVE_BOUNDED, BZ_PRIMITIVE_LOCK,  BZ_PRIMITIVE_QUEUE, BZ_PRIMITIVE_QUEUE,
        BZ_PRIMITIVE_BOUNDED, BZ_PRIMITIVE_QUEUE, BZ_PRIMITIVE_LOCK,  BZ_PRIMITIVE_QUEUE};
    const uint8_t *firsts = side->is_twisted ? twisted : asyncio;
    struct bz_pcg32 pcg;
    bz_pcg32_seed(&pcg, number, STREAM);
    pair->number = number;
    pair->order = bz_pcg32_below(&pcg, 2) == 0 ? BZ_ORDER_ANY : BZ_ORDER_FIFO;
    side->shape = (struct bz_script_draw){
        .first = (enum bz_primitive)firsts[number % sizeof asyncio],
        .primitives = UINT32_MAX,
        .objects = 1 + bz_pcg32_below(&pcg, 3),
        .tasks = 2 + bz_pcg32_below(&pcg, 4),
        .ops = 4 + bz_pcg32_below(&pcg, 7),
        .ns = 1 + bz_pcg32_below(&pcg, 8),
        .more = bz_pcg32_below(&pcg, 3),
    };
    const struct bz_script_focus *focus = draw_focus(side, &pcg);
    if (focus != NULL) {
        side->shape.focus = focus;
        side->shape.tasks += 2;
        if (focus->primitive != BZ_SCRIPT_PRIMITIVES) {
            side->shape.first = (enum bz_primitive)focus->primitive;
            side->shape.objects = 1 + side->shape.objects / 3;
        }
    }
    side->pair = pair;
    struct bz_source source = {.run = run_setup, .context = side};
    expect_end(bz_judge_run(side->worlds[BZ_ORDER_ANY]->judge, &source,
                            &(struct bz_run_start){.seed = number}));
    if (side->is_twisted) {
        make_plainer(&pair->script);
    }
}

static void print_program(struct bz_side *side) {
    char *text = side->program_text;
    size_t length = bz_script_print(&side->pair->script, text, sizeof side->program_text);
    BZ_CHECK(length < sizeof side->program_text);
    for (char *at = text; (at = strchr(at, '\n')) != NULL;) {
        *at = ' ';
    }
    fprintf(side->out, "program %" PRIu64 " %s\n%s\n", side->pair->number,
            bz_order_name(side->pair->order), text);
}

const char *bz_side_play(struct bz_side *side, struct bz_pair *pair, size_t *length) {
    struct bz_judge *judge = side->worlds[pair->order]->judge;
    struct bz_source source = {.run = run, .context = side};
    struct bz_run_start start = {.seed = pair->number, .sink = &side->sink};
    side->pair = pair;
    side->handle[0] = '\0';
    rewind(side->out);
    rewind(side->events);
    print_program(side);
    memcpy(side->args.file, &pair->script, sizeof pair->script);
    expect_end(bz_judge_run(judge, &source, &start));
    fputs("end\n", side->out);
    fflush(side->out);
    *length = (size_t)ftell(side->out);
    return side->text;
}

const struct bz_run_stats *bz_side_stats(struct bz_side *side) {
    memset(&side->stats, 0, sizeof side->stats);
    for (int order = 0; order < BZ_ORDER_COUNT; order++) {
        const struct bz_run_stats *stats = bz_judge_stats(side->worlds[order]->judge);
        for (uint32_t op = 0; op < BZ_OP_COUNT; op++) {
            for (uint32_t window = 0; window < BZ_WINDOW_COUNT; window++) {
                side->stats.windows[op][window] += stats->windows[op][window];
            }
        }
    }
    return &side->stats;
}

const struct bz_verb_counts *bz_side_verbs(const struct bz_side *side) {
    return &side->verbs;
}

struct bz_side *bz_side_new(const struct bz_variant *variant, bool is_twisted) {
    struct bz_side *side = bz_lack_check(calloc(1, sizeof *side), "the C side");
    side->is_twisted = is_twisted;
    for (int order = 0; order < BZ_ORDER_COUNT; order++) {
        struct bz_judge_config config = {.program = bz_scenario_program.name,
                                         .variant = variant->name,
                                         .strategy = &bz_strategy_random,
                                         .order = (enum bz_order)order,
                                         .cancel_windows = BZ_WINDOWS_ALL,
                                         .cancels_max = CANCELS_MAX,
                                         .ignores_starvation = true,
                                         .oracles_off = UINT64_MAX};
        side->worlds[order] = bz_lack_check(bz_world_new(&config, variant), "a world");
    }
    side->out = bz_lack_check(open_memstream(&side->text, &side->length), "a text");
    side->events =
        bz_lack_check(open_memstream(&side->events_text, &side->events_length), "a text");
    side->sink.event = on_event;
    side->returns =
        (struct bz_script_watch){.returned = on_return,
                                 .break_barrier = is_twisted ? NULL : bz_asyncio_break_barrier,
                                 .context = side};
    side->watch = (struct bz_world_watch){
        .before_step = before_step, .after_last = after_last, .context = side};
    side->args.file_digest = 1; /* the program is not drawn in the run */
    return side;
}

void bz_side_free(struct bz_side *side) {
    for (int order = 0; order < BZ_ORDER_COUNT; order++) {
        bz_world_destroy(side->worlds[order]);
    }
    fclose(side->out);
    fclose(side->events);
    free(side->text);
    free(side->events_text);
    free(side);
}
