/* Taking note of what happens: the book, the facts, the digest, and whoever watches.
 *
 * Everything is noted at once, in the order in which it happens. One thing is held back: the call
 * of an operation that may wait. If the operation returns before anything else has happened, call
 * and return are one event; else the call is noted before whatever comes next (bz_note_call()). */
#ifndef BZ_SIM_WORLD_NOTE_H
#define BZ_SIM_WORLD_NOTE_H

#include "sim/world/world.h"

/* Tells the oracles that asked for them of these facts, BZ_FACT_... */
void bz_note_tell_facts(struct bz_world *world, uint32_t facts, uint32_t task, uint32_t object);

/* Tells the oracles of the facts that the book found in the last event, and shows it to whoever
 * watches. */
void bz_note_tell(struct bz_world *world, struct bz_event event);

/* What every event ends with, once the book has it. */
static inline __attribute__((always_inline)) void bz_note_noted(struct bz_world *world,
                                                                struct bz_event event) {
    world->digest = bz_digest_event(world->digest, event);
    if (__builtin_expect(world->book.facts != 0, 0)) {
        bz_note_tell(world, event);
    }
}

/* Notes the call that is held back. */
void bz_note_held_call(struct bz_world *world);

static inline __attribute__((always_inline)) void bz_note_call(struct bz_world *world) {
    if (__builtin_expect(world->call.kind != 0, 0)) {
        bz_note_held_call(world);
    }
}

/* The observer's side: what the runtime reports. */
void bz_note_report(struct bz_observer *observer, enum bz_event_kind kind, uint32_t task,
                    uint8_t status, uint32_t arg);

#endif
