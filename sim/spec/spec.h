/* Executable specifications of a semaphore: transition systems as const tables.
 *
 * An action has guards, which say when it may happen, and an effect. An invariant must hold in
 * every reachable state. This is the part of TLA+ that the model checker TLC runs (L. Lamport,
 * "Specifying Systems", 2002), with states packed by hand (packed.h). sim/spec/search.h enumerates
 * the states.
 *
 * A state is two words. Two states are equal exactly if their words are: states are never compared
 * by a hash.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#define BZ_SPEC_CLIENTS_MAX 16u
#define BZ_SPEC_PERMITS_MAX 250u
#define BZ_SPEC_STEPS_MAX 160u /* out of one state */
#define BZ_SPEC_NO_CLIENT UINT8_MAX
#define BZ_SPEC_NO_ACTION UINT8_MAX

/* Permits and clients are at least 1, and at most the limits above. */
struct bz_spec_constants {
    uint32_t permits;
    uint32_t clients;
    /* For tests, which show that an invariant fails then; 0: the specification as it is. Guards
     * that one action ignores, as bits; actions that never happen, as bits 1 << action. */
    uint32_t left_out_guards;
    uint8_t left_out_action;
    uint32_t forbidden_actions;
};

struct bz_spec_state {
    uint64_t word[2];
};

/* One transition out of a state. */
struct bz_spec_step {
    struct bz_spec_state state; /* where it leads */
    uint8_t action;
    uint8_t client; /* from 0; BZ_SPEC_NO_CLIENT: the action belongs to no client */
};

struct bz_spec_invariant {
    const char *name;
    const char *text; /* the formula */
};

struct bz_spec {
    const char *name;
    const char *summary;
    const char *const *actions;  /* names; ends with NULL */
    const char *const *statuses; /* names of a client's statuses; 0 is the initial one */
    const struct bz_spec_invariant *invariants;
    uint32_t invariant_count; /* at most 32 */
    /* Writes all transitions out of a state, in a fixed order, each as often as there are ways to
     * take it, and returns how many. `broken`: the invariants that fail in the state, as bits. */
    uint32_t (*expand)(const struct bz_spec_constants *constants, struct bz_spec_state state,
                       struct bz_spec_step *steps, uint32_t *broken);
};

/* The published specification of asyncio's semaphore, faults included; and the repaired one, which
 * the code that ships refines (guards.h). */
extern const struct bz_spec bz_spec_tla;
extern const struct bz_spec bz_spec_buzzer;

extern const struct bz_spec *const bz_specs[]; /* ends with NULL */

/* All clients have status 0, all permits are free, and no task waits. */
struct bz_spec_state bz_spec_initial(const struct bz_spec_constants *constants);

/* Prints "level 1; c1 waiting, ...; queue c2 c3", without an end of line, cut to fit. */
void bz_spec_print(const struct bz_spec *spec, const struct bz_spec_constants *constants,
                   struct bz_spec_state state, char *buffer, size_t buffer_bytes);
