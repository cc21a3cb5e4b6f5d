/* The ledger of hand-made traces: who owns what, who waits for what, what each task does. And of
 * recorded ones, where the judge has written how many permits were out. */
#include <dirent.h>

#include "traces/ledger.h"
#include "traces/tests/sample.h"

static struct bz_trace trace;
static struct bz_ledger ledger;

#define HAPPENS(number, who, what, ...)                                                            \
    tst_sample_event(&trace, (struct bz_trace_event){                                              \
                                 .step = (number), .task = (who), .event = (what), __VA_ARGS__})

static void begin(void) {
    bz_trace_init(&trace);
    for (const char *name = "a\0b\0c\0"; *name != '\0'; name += 2) {
        bz_trace_add_task(&trace, name);
    }
}

static void has_object(const char *name, enum bz_kind kind, const char *partner) {
    bz_trace_add_object(&trace, (struct bz_trace_object){.name = name,
                                                         .kind = bz_kind_name(kind),
                                                         .partner = partner,
                                                         .size = BZ_TRACE_ABSENT});
}

static void read_all(void) {
    bz_trace_list_objects(&trace);
    bz_ledger_init(&ledger, &trace);
    for (size_t index = 0; index < trace.event_count; index++) {
        bz_ledger_read(&ledger, &trace.events[index]);
    }
    bz_ledger_finish(&ledger);
}

static void end(void) {
    bz_ledger_fini(&ledger);
    bz_trace_fini(&trace);
}

static void acquires(uint64_t step, const char *task, const char *object) {
    HAPPENS(step, task, "return", .op = "acquire", .object = object, .status = "ok");
}

static void is_hold(uint32_t number, uint32_t task, uint64_t step, uint64_t after) {
    cr_assert_lt(number, ledger.hold_count);
    cr_assert_eq(ledger.holds[number].task, task, "hold %u of %u", number,
                 ledger.holds[number].task);
    cr_assert_eq(ledger.holds[number].step, step, "hold %u", number);
    cr_assert_eq(ledger.holds[number].end, after, "hold %u", number);
}

Test(ledger, permits_are_owned_from_acquire_to_release) {
    begin();
    acquires(1, "a", "door");
    acquires(2, "b", "door");
    acquires(2, "b", "window");
    HAPPENS(3, "a", "call", .op = "release", .object = "door");
    HAPPENS(4, "b", "call", .op = "release", .object = "door");
    HAPPENS(4, "b", "return", .op = "release", .object = "door", .status = "not-held");
    HAPPENS(5, "c", "call", .op = "release", .object = "door"); /* of nobody's, for all we know */
    read_all();
    cr_assert_eq(ledger.hold_count, 4);
    is_hold(1, 1, 1, 3);
    is_hold(2, 2, 2, UINT64_MAX);
    is_hold(3, 2, 2, UINT64_MAX);
    uint32_t door = bz_trace_find_object(&trace, "door");
    cr_assert_eq(bz_ledger_owned(&ledger, 2, door), 2);
    cr_assert_eq(bz_ledger_owned(&ledger, 1, door), 0);
    cr_assert_eq(ledger.objects[door].count, 1);
    end();
}

/* c releases what it does not own: somebody's permit comes back, for the judge counts one less. The
 * refusal gives it to its owner again. */
Test(ledger, follows_the_number_of_permits_that_are_out) {
    begin();
    acquires(1, "a", "door");
    acquires(2, "b", "door");
    acquires(2, "b", "door");
    HAPPENS(3, "c", "call", .op = "release", .object = "door", .held = 2);
    HAPPENS(3, "c", "return", .op = "release", .object = "door", .status = "failed", .held = 3);
    HAPPENS(4, "c", "call", .op = "release", .object = "door", .held = 2);
    HAPPENS(5, "a", "call", .op = "release", .object = "door", .held = 1);
    HAPPENS(6, "c", "call", .op = "acquire", .object = "door", .held = 2);
    read_all();
    is_hold(1, 1, 1, 5);
    is_hold(2, 2, 2, UINT64_MAX);
    is_hold(3, 2, 2, 4);
    is_hold(4, 3, 6, UINT64_MAX); /* whose else it is */
    end();
}

static void waits_for_news(void) {
    acquires(1, "a", "lock");
    HAPPENS(2, "a", "call", .op = "wait", .object = "news");
    HAPPENS(2, "a", "suspend", .wait = "future");
    acquires(3, "b", "lock");
    HAPPENS(3, "b", "call", .op = "notify", .object = "news");
    HAPPENS(3, "a", "wake", .status = "ok");
    HAPPENS(4, "b", "call", .op = "release", .object = "lock");
    HAPPENS(5, "a", "return", .op = "wait", .object = "news", .status = "ok");
}

Test(ledger, a_waiter_of_a_condition_does_not_own_its_lock) {
    begin();
    has_object("lock", BZ_KIND_LOCK, NULL);
    has_object("news", BZ_KIND_CONDITION, "lock");
    waits_for_news();
    read_all();
    is_hold(1, 1, 1, 2);
    is_hold(2, 2, 3, 4);
    is_hold(3, 1, 5, UINT64_MAX);
    end();
}

/* Version 1 does not say which lock: nothing is said of what the waiter owns. An event is no
 * condition, whatever locks are called. */
Test(ledger, guesses_no_lock) {
    begin();
    waits_for_news();
    acquires(6, "c", "jobs-lock");
    HAPPENS(7, "c", "call", .op = "wait", .object = "jobs");
    HAPPENS(7, "c", "suspend", .wait = "future");
    read_all();
    cr_assert_eq(ledger.hold_count, 4);
    is_hold(1, 1, 1, 2);
    is_hold(3, 3, 6, UINT64_MAX);
    end();
}

static void is_place(size_t index, enum bz_span_kind kind, uint64_t step, uint64_t after,
                     uint64_t since) {
    const struct bz_place *place = &ledger.places[index];
    cr_assert_lt(index, ledger.place_count);
    cr_assert_eq(place->kind, kind, "place %zu is %u", index, place->kind);
    cr_assert(place->step == step && place->end == after && place->since == since, "place %zu",
              index);
}

/* The span of a task, counted from 0. */
static void is_span(uint32_t task, unsigned number, uint64_t step, uint64_t after,
                    enum bz_span_kind kind, bool is_holding) {
    size_t index = 0;
    for (unsigned left = number + 1;; index++) {
        cr_assert_lt(index, ledger.span_count);
        left -= ledger.spans[index].task == task;
        if (left == 0) {
            break;
        }
    }
    const struct bz_span *span = &ledger.spans[index];
    cr_assert(span->step == step && span->end == after, "span %u of %u", number, task);
    cr_assert_eq(span->kind, kind, "span %u of %u is %u", number, task, span->kind);
    cr_assert_eq(span->is_holding, is_holding, "span %u of %u", number, task);
}

/* a has the door and wakes b, which is cancelled before it resumes; c waits to the end. */
Test(ledger, knows_where_each_task_is) {
    begin();
    HAPPENS(1, "a", "resume", .status = "ok");
    acquires(1, "a", "door");
    HAPPENS(1, "a", "suspend", .wait = "yield");
    for (unsigned task = 0; task < 2; task++) {
        HAPPENS(2 + task, task == 0 ? "b" : "c", "resume", .status = "ok");
        HAPPENS(2 + task, task == 0 ? "b" : "c", "call", .op = "acquire", .object = "door");
        HAPPENS(2 + task, task == 0 ? "b" : "c", "suspend", .wait = "future");
    }
    HAPPENS(5, "a", "resume", .status = "ok");
    HAPPENS(5, "a", "call", .op = "release", .object = "door");
    HAPPENS(5, "b", "wake", .status = "ok");
    HAPPENS(5, "a", "exit", .status = "ok");
    HAPPENS(6, "b", "cancel", .op = "acquire", .window = "woken");
    HAPPENS(8, "b", "resume", .status = "cancelled");
    HAPPENS(8, "b", "return", .op = "acquire", .object = "door", .status = "cancelled");
    read_all();
    is_span(1, 0, 0, 1, BZ_SPAN_UNSTARTED, false);
    is_span(1, 1, 1, 2, BZ_SPAN_RUNNING, false);
    is_span(1, 2, 2, 5, BZ_SPAN_READY, true);
    is_span(2, 2, 3, 5, BZ_SPAN_WAITING, false);
    is_span(2, 3, 5, 6, BZ_SPAN_WOKEN, false);
    is_span(2, 4, 6, 8, BZ_SPAN_STRUCK, false);
    is_span(2, 5, 8, 9, BZ_SPAN_RUNNING, false);
    cr_assert_eq(ledger.place_count, 4);
    is_place(0, BZ_SPAN_WAITING, 2, 5, 2);
    is_place(1, BZ_SPAN_WOKEN, 5, 6, 2);
    is_place(2, BZ_SPAN_STRUCK, 6, 8, 2);
    cr_assert(ledger.places[2].was_woken, "b was woken before it was cancelled");
    cr_assert_not(ledger.places[1].was_woken);
    is_place(3, BZ_SPAN_WAITING, 3, UINT64_MAX, 3);
    uint32_t door = bz_trace_find_object(&trace, "door");
    cr_assert_eq(ledger.objects[door].last, 3, "c is the only one in the queue");
    cr_assert_eq(ledger.tasks[3].before, 0);
    end();
}

Test(ledger, a_task_begins_when_it_is_spawned) {
    begin();
    HAPPENS(3, "b", "spawn", .by = "a");
    HAPPENS(5, "b", "resume", .status = "ok");
    HAPPENS(5, "b", "exit", .status = "ok");
    HAPPENS(6, "b", "free");
    read_all();
    is_span(2, 0, 3, 5, BZ_SPAN_UNSTARTED, false);
    is_span(2, 1, 5, 6, BZ_SPAN_RUNNING, false);
    is_span(2, 2, 6, 7, BZ_SPAN_DONE, false);
    end();
}

/* A task that is woken in the step in which it began to wait has waited all the same. */
Test(ledger, a_wait_may_end_in_its_first_step) {
    begin();
    HAPPENS(1, "a", "resume", .status = "ok");
    HAPPENS(1, "a", "call", .op = "acquire", .object = "door");
    HAPPENS(1, "a", "suspend", .wait = "future");
    HAPPENS(1, "a", "wake", .status = "ok");
    HAPPENS(2, "a", "resume", .status = "ok");
    HAPPENS(2, "a", "suspend", .wait = "future"); /* it found nothing */
    read_all();
    is_place(0, BZ_SPAN_WOKEN, 1, 2, 1);
    is_place(1, BZ_SPAN_WAITING, 2, UINT64_MAX, 2);
    end();
}

/* Whatever a file says. */
Test(ledger, survives_events_that_make_no_sense) {
    begin();
    for (uint64_t step = 1; step < 4000; step++) {
        static const char *const ops[] = {"acquire", "release", "wait", "put", "notify", "done"};
        static const char *const events[] = {"call", "return", "suspend", "wake", "cancel", "exit"};
        static const char *const names[] = {"a", "b", "c", "stranger", NULL};
        HAPPENS(step / 3, names[step % 5], events[step * 7 % 6], .op = ops[step * 5 % 11 % 6],
                .object = names[step * 3 % 7 % 5], .wait = "future",
                .status = step % 2 == 0 ? "ok" : "failed", .held = step % 13);
    }
    read_all();
    for (uint32_t number = 1; number <= trace.object_count; number++) {
        unsigned steps = 0;
        for (uint32_t task = ledger.objects[number].last; task != 0; steps++) {
            task = ledger.tasks[task].before;
            cr_assert_leq(steps, 4, "the queue has no cycle");
        }
    }
    end();
}

/* The judge writes how many permits are out. The events alone say the same, but where a task
 * releases what it does not own. */
static unsigned check_counts(const char *path) {
    char error[BZ_TRACE_ERROR_BYTES];
    unsigned count = 0;
    bool may_differ = false;
    cr_assert(bz_trace_read(&trace, path, error, sizeof error), "%s", error);
    bz_ledger_init(&ledger, &trace);
    for (size_t index = 0; index < trace.event_count; index++) {
        struct bz_trace_event event = trace.events[index];
        uint32_t object = bz_trace_find_object(&trace, event.object);
        uint32_t task = bz_trace_find_task(&trace, event.task);
        const struct bz_ledger_object *state = &ledger.objects[object];
        uint32_t permits = state->kind == BZ_KIND_CONDITION ? state->partner : object;
        bool is_release = event.op != NULL && strcmp(event.op, "release") == 0;
        may_differ |= is_release && bz_ledger_owned(&ledger, task, permits) == 0;
        if (!may_differ) {
            event.held = BZ_TRACE_ABSENT;
        }
        bz_ledger_read(&ledger, &event);
        if (trace.events[index].held != BZ_TRACE_ABSENT) {
            cr_assert_eq(ledger.objects[permits].count, trace.events[index].held,
                         "%s: event %zu: %u", path, index, ledger.objects[permits].count);
            count += !may_differ;
        }
    }
    end();
    return count;
}

Test(ledger, counts_what_the_judge_counts) {
    DIR *list = opendir(TST_TRACES_FOLDER "/corpus");
    unsigned count = 0;
    for (struct dirent *entry = readdir(list); entry != NULL; entry = readdir(list)) {
        char path[1024];
        snprintf(path, sizeof path, TST_TRACES_FOLDER "/corpus/%s", entry->d_name);
        count += entry->d_name[0] == '.' ? 0 : check_counts(path);
    }
    closedir(list);
    cr_assert_geq(count, 1000, "%u", count);
}
