/* The story of hand-made traces: its lines, which led to which, and where each task was. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

#include "tools/story/story.h"

#define tst_text(actual, expected) cr_assert_str_eq((char *)(actual), (char *)(expected))

static struct bz_trace trace;
static struct bz_story story;

static void add_event(struct bz_trace_event event) {
    event.n = event.n == 0 ? BZ_TRACE_ABSENT : event.n - 1; /* 0: none */
    event.held = BZ_TRACE_ABSENT;
    bz_trace_add_event(&trace, event);
}
#define HAPPENS(number, who, what, ...)                                                            \
    add_event(                                                                                     \
        (struct bz_trace_event){.step = (number), .task = (who), .event = (what), __VA_ARGS__})

static void begin(const char *const *tasks) {
    bz_trace_init(&trace);
    for (unsigned index = 0; tasks[index] != NULL; index++) {
        bz_trace_add_task(&trace, tasks[index]);
    }
}
#define BEGIN(...) begin((const char *const[]){__VA_ARGS__, NULL})

static void starts_and_waits(uint64_t step, const char *task) {
    HAPPENS(step, task, "resume", .status = "ok");
    HAPPENS(step, task, "call", .op = "acquire", .object = "door");
    HAPPENS(step, task, "suspend", .wait = "future");
}

static void acquires(uint64_t step, const char *task, const char *object) {
    HAPPENS(step, task, "return", .op = "acquire", .object = object, .status = "ok");
}

static void violate(const char *oracle, const char *task, const char *object, uint64_t step) {
    trace.verdict = (struct bz_trace_verdict){.result = "violation",
                                              .oracle = oracle,
                                              .task = task,
                                              .object = object,
                                              .message = "",
                                              .step = step};
}

static void has_object(const char *name, enum bz_kind kind, const char *partner) {
    bz_trace_add_object(&trace, (struct bz_trace_object){.name = name,
                                                         .kind = bz_kind_name(kind),
                                                         .partner = partner,
                                                         .size = BZ_TRACE_ABSENT});
}

static void tell(void) {
    bz_trace_list_objects(&trace);
    bz_story_init(&story, &trace);
    for (size_t index = 0; index < story.arrow_count; index++) {
        const struct bz_arrow *arrow = &story.arrows[index];
        cr_assert_lt(arrow->from, arrow->to);
        cr_assert(index == 0 || arrow[-1].to < arrow->to ||
                  (arrow[-1].to == arrow->to && arrow[-1].from <= arrow->from));
    }
}

static void end(void) {
    bz_story_fini(&story);
    bz_trace_fini(&trace);
}

/* The first line of that task with that text. */
static uint32_t find(const char *task, const char *text) {
    uint32_t number = bz_trace_find_task(&trace, task);
    for (uint32_t line = 0; line < story.line_count; line++) {
        if (story.lines[line].task == number && strcmp(story.lines[line].text, text) == 0) {
            return line;
        }
    }
    for (uint32_t line = 0; line < story.line_count; line++) {
        fprintf(stderr, "%u: %s\n", story.lines[line].task, story.lines[line].text);
    }
    cr_assert(false, "no line of %s says: %s", task == NULL ? "the loop" : task, text);
    return BZ_STORY_NONE;
}

static bool has_arrow(uint32_t from, uint32_t to, enum bz_arrow_kind kind) {
    for (size_t index = 0; index < story.arrow_count; index++) {
        const struct bz_arrow *arrow = &story.arrows[index];
        if (arrow->from == from && arrow->to == to && arrow->kind == kind) {
            return true;
        }
    }
    return false;
}

static size_t arrows_to(uint32_t to) {
    size_t count = 0;
    for (size_t index = 0; index < story.arrow_count; index++) {
        count += story.arrows[index].to == to;
    }
    return count;
}

/* a has the door, b and c wait, a wakes b, d cancels b, and b leaves without waking c. e does
 * something else. */
static void lose_wakeup(void) {
    BEGIN("a", "b", "c", "d", "e");
    HAPPENS(1, "a", "resume", .status = "ok");
    acquires(1, "a", "door");
    HAPPENS(1, "a", "suspend", .wait = "yield");
    starts_and_waits(2, "b");
    starts_and_waits(3, "c");
    HAPPENS(4, "e", "resume", .status = "ok");
    acquires(4, "e", "window");
    HAPPENS(4, "e", "suspend", .wait = "yield");
    HAPPENS(5, "a", "resume", .status = "ok");
    HAPPENS(5, "a", "call", .op = "release", .object = "door");
    HAPPENS(5, "b", "wake", .status = "ok");
    HAPPENS(5, "a", "exit", .status = "ok");
    HAPPENS(6, "d", "resume", .status = "ok");
    HAPPENS(6, "b", "cancel", .op = "acquire", .window = "woken", .by = "d");
    HAPPENS(6, "d", "exit", .status = "ok");
    HAPPENS(7, "e", "resume", .status = "ok");
    HAPPENS(7, "e", "call", .op = "release", .object = "window");
    HAPPENS(7, "e", "exit", .status = "ok");
    HAPPENS(8, "b", "resume", .status = "cancelled");
    HAPPENS(8, "b", "return", .op = "acquire", .object = "door", .status = "cancelled");
    HAPPENS(8, "b", "exit", .status = "cancelled");
    violate("lost-wakeup", "c", "door", 8);
}

Test(story, says_what_runs_in_place) {
    BEGIN("a", "b");
    starts_and_waits(1, "b");
    HAPPENS(2, "a", "resume", .status = "ok");
    HAPPENS(2, "a", "call", .op = "release", .object = "door");
    HAPPENS(2, "b", "wake", .status = "ok");
    HAPPENS(2, "a", "suspend", .wait = "inside");
    HAPPENS(3, "b", "resume", .status = "ok");
    HAPPENS(3, "b", "exit", .status = "ok");
    HAPPENS(4, "a", "resume", .status = "ok");
    HAPPENS(4, "a", "exit", .status = "ok");
    violate("lost-wakeup", "b", "door", 4);
    tell();
    (void)find("a", "runs it inside this call");
    (void)find("a", "continues");
    (void)find("b", "resumes");
}

Test(story, links_what_happened_to_what_it_follows_from) {
    lose_wakeup();
    tell();
    uint32_t has = find("a", "acquires 'door'");
    uint32_t waits = find("b", "waits for 'door'");
    uint32_t queued = find("c", "waits for 'door'");
    uint32_t woken = find("b", "is woken by a (result set)");
    uint32_t cancelled = find("b", "is cancelled while woken, before it resumes, by d");
    cr_assert(has_arrow(has, waits, BZ_ARROW_BLOCKS));
    cr_assert(has_arrow(waits, queued, BZ_ARROW_QUEUE));
    cr_assert(has_arrow(find("a", "releases 'door'"), woken, BZ_ARROW_WAKE));
    cr_assert(has_arrow(find("d", "starts"), cancelled, BZ_ARROW_CANCEL));
    cr_assert_eq(story.arrow_count, 4);
    cr_assert_eq(story.lines[woken].before, waits);
    tst_text(story.lines[cancelled].window, "woken");
    cr_assert(story.lines[cancelled].is_own_cancel && !story.lines[cancelled].is_injected);
    tst_text(story.lines[waits].object, "door");
    tst_text(story.lines[waits].op, "acquire");
    end();
}

Test(story, marks_what_the_violation_depends_on) {
    lose_wakeup();
    tell();
    for (uint32_t line = 0; line < story.line_count; line++) {
        bool is_beside =
            story.lines[line].task == 5 || strcmp(story.lines[line].text, "ends (ok)") == 0;
        cr_assert_eq(story.lines[line].is_cause, !is_beside, "line %u: %s", line,
                     story.lines[line].text);
    }
    const struct bz_story_line *last = &story.lines[story.line_count - 1];
    cr_assert(last->is_violation);
    cr_assert_eq(last->task, 3);
    cr_assert_eq(last->distance, 0);
    cr_assert_lt(0, story.lines[find("d", "starts")].distance);
    tst_text(last->text, "*** lost-wakeup ***");
    end();
}

Test(story, of_a_run_that_passed_is_all_of_it) {
    lose_wakeup();
    trace.verdict = (struct bz_trace_verdict){.result = "pass", .step = 8};
    tell();
    for (uint32_t line = 0; line < story.line_count; line++) {
        cr_assert(story.lines[line].is_cause && !story.lines[line].is_violation);
    }
    end();
}

/* A pool may throw out the lock of one key when another key comes, and a condition's wait depends
 * on who has its lock; what happens to other objects does not matter. */
Test(story, follows_objects_that_share_a_state) {
    BEGIN("a", "b", "c", "d");
    has_object("key", BZ_KIND_POOL, NULL);
    has_object("key#2", BZ_KIND_POOL, NULL);
    has_object("key#3", BZ_KIND_POOL, NULL);
    HAPPENS(1, "a", "resume", .status = "ok");
    acquires(1, "a", "key#2");
    HAPPENS(2, "b", "resume", .status = "ok");
    acquires(2, "b", "key#3");
    HAPPENS(3, "c", "resume", .status = "ok");
    acquires(3, "c", "room#3");
    HAPPENS(4, "d", "resume", .status = "ok");
    acquires(4, "d", "key#2");
    violate("mutual-exclusion", "d", "key#2", 4);
    tell();
    cr_assert(story.lines[find("b", "acquires 'key#3'")].is_cause);
    cr_assert(story.lines[find("c", "acquires 'room#3'")].is_cause == false);
    cr_assert_eq(story.lines[find("d", "acquires 'key#2'")].object_before,
                 find("b", "acquires 'key#3'"));
    end();
}

/* a waits for news, and b, who has the lock, wakes it. */
static void notify_waiter(void) {
    BEGIN("a", "b");
    has_object("lock", BZ_KIND_LOCK, NULL);
    has_object("news", BZ_KIND_CONDITION, "lock");
    HAPPENS(1, "a", "resume", .status = "ok");
    acquires(1, "a", "lock");
    HAPPENS(1, "a", "call", .op = "wait", .object = "news");
    HAPPENS(1, "a", "suspend", .wait = "future");
    HAPPENS(2, "b", "resume", .status = "ok");
    acquires(2, "b", "lock");
    HAPPENS(2, "b", "call", .op = "notify", .object = "news");
    HAPPENS(2, "a", "wake", .status = "ok");
}

Test(story, knows_who_has_the_lock_of_a_condition) {
    notify_waiter();
    HAPPENS(2, "b", "suspend", .wait = "yield");
    HAPPENS(3, "a", "resume", .status = "ok");
    HAPPENS(3, "a", "suspend", .wait = "future");
    HAPPENS(4, "a", "cancel", .op = "wait", .window = "waiting");
    HAPPENS(5, "a", "resume", .status = "cancelled");
    HAPPENS(5, "a", "return", .op = "wait", .object = "news", .status = "cancelled");
    violate("relock", "a", "news", 5);
    tell();
    uint32_t has = find("b", "acquires 'lock'");
    cr_assert(story.lines[has].is_cause);
    cr_assert(has_arrow(find("a", "waits for 'news'"), has, BZ_ARROW_TAKES));
    cr_assert(has_arrow(has, find("a", "waits again, inside wait of 'news'"), BZ_ARROW_BLOCKS));
    end();
}

/* Whatever a task waits for, the line says where in the program, if that is known. */
Test(story, says_where_a_task_waits) {
    BEGIN("a", "b");
    HAPPENS(1, "a", "resume", .status = "ok");
    HAPPENS(1, "a", "call", .op = "acquire", .object = "door");
    HAPPENS(1, "a", "suspend", .wait = "future", .where = "pool.py:12");
    HAPPENS(2, "a", "resume", .status = "ok");
    HAPPENS(2, "a", "suspend", .wait = "future", .where = "pool.py:13");
    HAPPENS(3, "b", "resume", .status = "ok");
    HAPPENS(3, "b", "suspend", .wait = "sleep", .where = "pool.py:14");
    HAPPENS(4, "b", "resume", .status = "ok");
    HAPPENS(4, "b", "suspend", .wait = "future");
    tell();
    find("a", "waits for 'door' at pool.py:12");
    find("a", "waits again, inside acquire of 'door' at pool.py:13");
    find("b", "sleeps at pool.py:14");
    find("b", "waits for a future");
    end();
}

/* b is woken for the permit that a released, but c takes it first: c found it, and b did not. */
Test(story, shows_which_release_an_acquire_found) {
    BEGIN("a", "b", "c");
    HAPPENS(1, "a", "resume", .status = "ok");
    acquires(1, "a", "door");
    HAPPENS(1, "a", "suspend", .wait = "yield");
    starts_and_waits(2, "b");
    HAPPENS(3, "a", "resume", .status = "ok");
    HAPPENS(3, "a", "call", .op = "release", .object = "door");
    HAPPENS(3, "b", "wake", .status = "ok");
    HAPPENS(3, "a", "exit", .status = "ok");
    HAPPENS(4, "c", "resume", .status = "ok");
    acquires(4, "c", "door");
    HAPPENS(4, "c", "exit", .status = "ok");
    HAPPENS(5, "b", "resume", .status = "ok");
    acquires(5, "b", "door");
    violate("mutual-exclusion", "b", "door", 5);
    tell();
    uint32_t releases = find("a", "releases 'door'");
    cr_assert(has_arrow(releases, find("c", "acquires 'door'"), BZ_ARROW_TAKES));
    cr_assert_eq(arrows_to(find("b", "acquires 'door'")), 0);
    cr_assert_eq(arrows_to(find("a", "acquires 'door'")), 0);
    end();
}

/* The permit that b was woken for is used up when b has it: c did not find it. */
Test(story, gives_a_permit_to_one_task_only) {
    BEGIN("a", "b", "c");
    acquires(1, "a", "door");
    starts_and_waits(2, "b");
    HAPPENS(3, "a", "resume", .status = "ok");
    HAPPENS(3, "a", "call", .op = "release", .object = "door");
    HAPPENS(3, "b", "wake", .status = "ok");
    HAPPENS(4, "b", "resume", .status = "ok");
    acquires(4, "b", "door");
    HAPPENS(5, "c", "resume", .status = "ok");
    acquires(5, "c", "door");
    violate("mutual-exclusion", "c", "door", 5);
    tell();
    cr_assert_eq(arrows_to(find("c", "acquires 'door'")), 0);
    cr_assert(story.lines[find("b", "acquires 'door'")].is_cause, "it still has it");
    end();
}

/* a holds two permits and b has ended; nobody waits for the window. */
Test(story, of_a_deadlock_names_the_holders) {
    for (int is_deadlock = 0; is_deadlock < 2; is_deadlock++) {
        BEGIN("a", "b", "c");
        acquires(1, "a", "door");
        acquires(1, "a", "door");
        acquires(1, "a", "window");
        HAPPENS(2, "b", "resume", .status = "ok");
        acquires(2, "b", "door");
        HAPPENS(2, "b", "exit", .status = "ok");
        starts_and_waits(3, "c");
        violate(is_deadlock ? "deadlock" : "lost-wakeup", "c", "door", 3);
        tell();
        struct bz_text text = {0};
        bz_story_add_holders(&story, &text);
        tst_text(text.length == 0 ? "" : text.bytes,
                 is_deadlock ? "'door' is held by a, b (ended)" : "");
        bz_text_fini(&text);
        end();
    }
}

Test(story, says_that_a_cancel_ends_no_wait) {
    BEGIN("a", "b");
    starts_and_waits(1, "a");
    starts_and_waits(2, "b");
    HAPPENS(3, "a", "inject");
    HAPPENS(3, "a", "cancel", .op = "acquire", .window = "waiting");
    HAPPENS(4, "b", "inject");
    HAPPENS(4, "b", "cancel", .op = "acquire", .window = "waiting");
    HAPPENS(4, "b", "wake", .status = "cancelled");
    tell();
    (void)find("a", "is cancelled while waiting (injected); it keeps waiting");
    (void)find("b", "is cancelled while waiting (injected)");
    end();
}

Test(story, of_a_refused_release_leaves_no_permit) {
    BEGIN("a", "b");
    HAPPENS(1, "a", "resume", .status = "ok");
    HAPPENS(1, "a", "call", .op = "release", .object = "door");
    HAPPENS(1, "a", "return", .op = "release", .object = "door", .status = "not-held");
    HAPPENS(2, "b", "resume", .status = "ok");
    acquires(2, "b", "door");
    tell();
    (void)find("a", "is refused: release of 'door' returns not-held");
    cr_assert_eq(story.arrow_count, 0);
    end();
}

Test(story, follows_items_from_put_to_get) {
    BEGIN("a", "b");
    has_object("items", BZ_KIND_ITEMS, "slots");
    has_object("slots", BZ_KIND_SLOTS, "items");
    HAPPENS(1, "a", "resume", .status = "ok");
    HAPPENS(1, "a", "return", .op = "put", .object = "slots", .status = "ok");
    HAPPENS(1, "a", "call", .op = "put", .object = "slots");
    HAPPENS(1, "a", "suspend", .wait = "future");
    HAPPENS(2, "b", "resume", .status = "ok");
    HAPPENS(2, "b", "call", .op = "get", .object = "items");
    HAPPENS(2, "a", "wake", .status = "ok");
    HAPPENS(2, "b", "return", .op = "get", .object = "items", .status = "ok");
    tell();
    uint32_t put = find("a", "puts an item ('slots')");
    uint32_t calls = find("b", "calls get of 'items'");
    cr_assert(has_arrow(put, find("b", "gets an item ('items')"), BZ_ARROW_TAKES));
    cr_assert(has_arrow(put, find("a", "waits for 'slots'"), BZ_ARROW_BLOCKS));
    cr_assert(has_arrow(calls, find("a", "is woken by b (result set)"), BZ_ARROW_WAKE));
    end();
}

/* The operation that sets an event never waits: afterwards, the task only yields. */
Test(story, does_not_say_waits_of_a_task_that_yields) {
    BEGIN("setter", "child");
    HAPPENS(1, "setter", "resume", .status = "ok");
    HAPPENS(1, "child", "spawn", .by = "setter");
    HAPPENS(1, "setter", "call", .op = "set", .object = "flag");
    HAPPENS(1, "setter", "suspend", .wait = "yield");
    HAPPENS(2, "child", "resume", .status = "ok");
    HAPPENS(2, "child", "return", .op = "wait", .object = "flag", .status = "ok");
    tell();
    cr_assert_eq(story.line_count, 5);
    cr_assert(has_arrow(find("setter", "spawns child"), find("child", "starts"), BZ_ARROW_SPAWN));
    cr_assert(has_arrow(find("setter", "sets 'flag'"), find("child", "need not wait for 'flag'"),
                        BZ_ARROW_TAKES));
    end();
}

Test(story, counts_cancels_and_deviations) {
    BEGIN("a", "b");
    bz_trace_add_choice(&trace, (struct bz_trace_choice){.kind = "next", .task = "b", .step = 1});
    bz_trace_add_choice(&trace, (struct bz_trace_choice){.kind = "delay", .step = 2, .value = 1});
    bz_trace_add_choice(
        &trace, (struct bz_trace_choice){.kind = "cancel", .task = "b", .window = "waiting"});
    starts_and_waits(1, "b");
    HAPPENS(2, NULL, "clock", .time_ns = 7);
    HAPPENS(2, "a", "callback", .role = "timer", .time_ns = 7);
    HAPPENS(2, "a", "cancel", .op = "start", .window = "unstarted", .time_ns = 7);
    HAPPENS(3, "b", "inject", .time_ns = 7);
    HAPPENS(3, "b", "cancel", .op = "acquire", .window = "waiting", .time_ns = 7);
    HAPPENS(3, "b", "wake", .status = "cancelled", .time_ns = 7);
    tell();
    cr_assert_eq(story.injected, 1);
    cr_assert_eq(story.own_cancels, 1);
    cr_assert_eq(story.deviations, 1);
    cr_assert_eq(story.jumps, 1);
    cr_assert(story.lines[find("b", "is cancelled while waiting (injected)")].is_injected);
    uint32_t timeout = find("a", "is cancelled before its first step, by a timeout");
    cr_assert(story.lines[timeout].is_timeout);
    cr_assert(has_arrow(find(NULL, "step 1 of b takes 7 ns"), timeout, BZ_ARROW_CANCEL));
    end();
}

/* A draw of the default has no choice, so its name is not known. */
Test(story, names_draws) {
    BEGIN("a");
    bz_trace_add_choice(&trace, (struct bz_trace_choice){.kind = "data",
                                                         .task = "a",
                                                         .label = "patience",
                                                         .step = 1,
                                                         .n = 2,
                                                         .bound = 8,
                                                         .value = 5});
    bz_trace_add_choice(&trace, (struct bz_trace_choice){.kind = "delay",
                                                         .task = "a",
                                                         .label = "meal-ns",
                                                         .step = 1,
                                                         .n = 3,
                                                         .bound = 9,
                                                         .value = 4});
    HAPPENS(1, "a", "resume", .status = "ok");
    HAPPENS(1, "a", "draw", .n = 1);
    HAPPENS(1, "a", "draw", .n = 1 + 5);
    HAPPENS(1, "a", "draw", .n = 1 + 4);
    tell();
    (void)find("a", "draws 0");
    (void)find("a", "draws patience 5");
    (void)find("a", "draws meal-ns 4");
    end();
}

/* A value that is made of several draws is told once. */
Test(story, draws_a_value) {
    BEGIN("a", "b");
    HAPPENS(1, "a", "resume", .status = "ok");
    HAPPENS(1, "a", "draw", .n = 1 + 7);
    HAPPENS(1, "a", "resume", .status = "ok", .n = 2);
    HAPPENS(1, "a", "draw", .n = 1 + 3);
    HAPPENS(1, "a", "draw", .n = 1 + 4, .text = "items [3, 4]");
    HAPPENS(1, "a", "draw", .n = 1 + 5, .text = "size 5");
    HAPPENS(1, "a", "draw", .n = 1 + 6);
    HAPPENS(2, "a", "draw", .n = 1 + 1, .text = "size 1");
    tell();
    (void)find("a", "draws 7");
    (void)find("a", "draws items [3, 4]");
    (void)find("a", "draws size 5");
    (void)find("a", "draws 6");
    (void)find("a", "draws size 1");
    for (size_t line = 0; line < story.line_count; line++) {
        cr_assert_neq(strcmp(story.lines[line].text, "draws 3"), 0);
        cr_assert_neq(strcmp(story.lines[line].text, "draws 4"), 0);
    }
    end();
}

/* Whatever a file says, the story is told: unknown tasks, returns without a call, long names. */
Test(story, survives_events_that_make_no_sense) {
    static char name[121];
    for (size_t at = 0; at < 120; at += 3) {
        memcpy(name + at, "\xe2\x82\xac", 3); /* a character of three bytes */
    }
    BEGIN("a", name);
    HAPPENS(1, "stranger", "wake", .status = "ok");
    HAPPENS(1, "a", "return", .op = "acquire", .object = name, .status = "ok");
    HAPPENS(1, "a", "return", .op = "wait", .object = name, .status = "unknown");
    HAPPENS(1, "a", "suspend");
    HAPPENS(1, "a", "suspend", .wait = "future");
    HAPPENS(2, name, "cancel", .by = name);
    HAPPENS(2, name, "cancel", .by = "a", .window = "waiting");
    HAPPENS(3, name, "spawn", .by = "a");
    HAPPENS(3, NULL, "exit");
    HAPPENS(3, "a", "draw");
    HAPPENS(3, "a", "call");
    HAPPENS(3, "a", "return");
    HAPPENS(9, "a", "nonsense");
    violate("nobody-knows", "stranger", "nowhere", 7);
    tell();
    cr_assert_lt(6, story.line_count);
    for (uint32_t line = 0; line < story.line_count; line++) {
        size_t length = strlen(story.lines[line].text);
        cr_assert_lt(length, BZ_STORY_TEXT_BYTES);
        size_t tail = length;
        while (tail > 0 && ((unsigned char)story.lines[line].text[tail - 1] & 0xc0u) == 0x80) {
            tail--;
        }
        cr_assert(length - tail == 0 || length - tail == 2, "cut inside a character");
    }
    end();
}
