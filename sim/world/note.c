#include "sim/world/note.h"

void bz_note_tell_facts(struct bz_world *world, uint32_t facts, uint32_t task, uint32_t object) {
    for (const struct bz_monitor *const *next = world->config.monitors; *next != NULL; next++) {
        uint32_t wanted = facts & (*next)->facts;
        while (wanted != 0) {
            uint32_t fact = wanted & -wanted;
            (*next)->on_fact(world, fact, task, object);
            wanted &= wanted - 1;
        }
    }
}

/* The object that an event is about: its own, or that of the operation the task is in. */
static uint32_t event_object(const struct bz_world *world, const struct bz_event *event) {
    bool has_object = event->kind == BZ_EVENT_CALL || event->kind == BZ_EVENT_RETURN;
    return has_object ? event->object : world->book.tasks[event->task].object;
}

static void show_event(struct bz_world *world, const struct bz_event *event) {
    if (world->sink != NULL) {
        /* The clock moves on before the step that it belongs to. */
        uint32_t step = world->step + (event->kind == BZ_EVENT_CLOCK);
        struct bz_logged_event logged = {
            .time_ns = world->loop->now_ns, .step = step, .event = *event};
        world->sink->event(world->sink, &logged);
    }
    for (uint32_t index = 0; index < world->subscriber_count[event->kind]; index++) {
        world->subscribers[event->kind][index]->on_event(world, event);
    }
}

__attribute__((cold)) void bz_note_tell(struct bz_world *world, struct bz_event event) {
    bz_note_tell_facts(world, world->book.facts, event.task, event_object(world, &event));
    world->book.facts &= BZ_FACT_WATCHED;
    if (world->book.facts != 0) {
        show_event(world, &event);
    }
}

__attribute__((hot, noinline)) void bz_note_held_call(struct bz_world *world) {
    struct bz_event event = world->call;
    world->call.kind = 0;
    bz_book_on_wait(&world->book, &event);
    world->progress_step = world->step;
    bz_note_noted(world, event);
}

/* Says where a cancel strikes, before the book takes note of it. */
static void label_cancel(struct bz_world *world, struct bz_event *event) {
    const struct bz_book_task *task = &world->book.tasks[event->task];
    event->window = (uint8_t)bz_book_window(task);
    event->detail = (uint8_t)bz_book_op(task);
    world->stats.windows[event->detail][event->window]++;
    world->has_drawn = true;
}

static __attribute__((noinline)) void note_rare_event(struct bz_world *world,
                                                      struct bz_event event) {
    struct bz_book *book = &world->book;
    switch (event.kind) {
    case BZ_EVENT_SPAWN:
        bz_book_on_spawn(book, &event);
        break;
    case BZ_EVENT_CANCEL:
        label_cancel(world, &event);
        bz_book_on_cancel(book, &event);
        break;
    case BZ_EVENT_UNCANCEL:
        bz_book_on_uncancel(book, &event);
        break;
    case BZ_EVENT_CALLBACK:
        bz_book_on_callback(book);
        break;
    case BZ_EVENT_EXIT:
        bz_book_on_exit(book, &event);
        world->progress_step = world->step;
        break;
    case BZ_EVENT_FREE:
        book->tasks[event.task].is_freed = true;
        break;
    default:
        break;
    }
    bz_note_noted(world, event);
}

void bz_world_event(struct bz_world *world, struct bz_event event) {
    bz_note_call(world);
    note_rare_event(world, event);
}

__attribute__((hot)) void bz_note_report(struct bz_observer *observer, enum bz_event_kind kind,
                                         uint32_t task, uint8_t status, uint32_t arg) {
    struct bz_world *world = (struct bz_world *)(void *)observer; /* its first member */
    struct bz_event event = {.kind = (uint8_t)kind, .status = status, .task = task, .arg = arg};
    bz_note_call(world);
    if (kind == BZ_EVENT_RESUME) {
        bz_book_on_resume(&world->book, task, (enum bz_status)status);
    } else if (kind == BZ_EVENT_SUSPEND) {
        bz_book_on_suspend(&world->book, task, arg);
    } else if (kind == BZ_EVENT_WAKE) {
        bz_book_on_wake(&world->book, &event);
    } else {
        note_rare_event(world, event);
        return;
    }
    bz_note_noted(world, event);
}
