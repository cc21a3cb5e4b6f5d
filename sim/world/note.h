/* Taking note of what happens: the book, the facts, the digest, and whoever watches.
 *
 * What the world itself sees happen in nearly every step (a task resumes, is suspended, acquires,
 * releases) is noted here directly, inline, at the place where it happens. Everything else comes
 * from the runtime through the observer's buffer (bz_world_note_events()). Before something is
 * noted directly, the buffer must be empty: bz_note_what_was(). */
#ifndef BZ_SIM_WORLD_NOTE_H
#define BZ_SIM_WORLD_NOTE_H

#include "sim/world/world.h"

/* Tells the oracles that asked for them of these facts, BZ_FACT_... */
void bz_note_tell_facts(struct bz_world *world, uint32_t facts, uint32_t task, uint32_t object);

/* Tells the oracles of the facts that the book found in the last event, and shows it to whoever
 * watches. */
void bz_note_tell(struct bz_world *world, struct bz_event_words event);

/* What every event ends with, once the book has it. */
static inline __attribute__((always_inline)) void bz_note_noted(struct bz_world *world,
                                                                struct bz_event_words event) {
    world->digest = bz_digest_event(world->digest, event);
    if (__builtin_expect(world->book.facts != 0, 0)) {
        bz_note_tell(world, event);
    }
}

/* What happened before comes before. */
static inline __attribute__((always_inline)) void bz_note_what_was(struct bz_world *world) {
    if (world->observer.next != world->buffer) {
        bz_world_note_events(world);
    }
}

static inline __attribute__((always_inline)) void
bz_note_resume(struct bz_world *world, const struct bz_task *task, enum bz_status status) {
    bz_book_on_resume(&world->book, task->actor.id, status);
    bz_note_noted(world, bz_event_pack((struct bz_event){.kind = BZ_EVENT_RESUME,
                                                         .task = task->actor.id,
                                                         .status = (uint8_t)status,
                                                         .arg = task->wake.handle.nth}));
}

static inline __attribute__((always_inline)) void bz_note_suspend(struct bz_world *world,
                                                                  const struct bz_task *task) {
    bz_book_on_suspend(&world->book, task->actor.id, task->wait);
    bz_note_noted(world, bz_event_pack((struct bz_event){
                             .kind = BZ_EVENT_SUSPEND, .task = task->actor.id, .arg = task->wait}));
}

#endif
