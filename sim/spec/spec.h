/* Executable specifications: small transition systems, as const tables, that can be enumerated.
 *
 * A specification is the set of its initial state and of its actions. An action has guards, which
 * say when it may happen, and an effect. What must be true in every state that can be reached is an
 * invariant. This is TLA+ as far as the model checker TLC runs it (L. Lamport, "Specifying
 * Systems", 2002), with the state packed by hand: sim/spec/search.h enumerates the states.
 *
 * A state is one or two words and means nothing to anybody but its specification. Two states are
 * the same exactly if their words are: there is no hash that could take one for another.
 */
#ifndef BZ_SIM_SPEC_SPEC_H
#define BZ_SIM_SPEC_SPEC_H

#include <stddef.h>
#include <stdint.h>

#define BZ_SPEC_CLIENTS_MAX 16u
#define BZ_SPEC_PERMITS_MAX 250u
#define BZ_SPEC_STEPS_MAX 160u /* out of one state */
#define BZ_SPEC_NO_CLIENT UINT8_MAX
#define BZ_SPEC_NO_ACTION UINT8_MAX

/* The constants of a specification: permits from 1, clients from 1, up to the limits above. */
struct bz_spec_constants {
    uint32_t permits;
    uint32_t clients;
    /* Guards that one action does without, as bits: so a test can show that an invariant misses
     * them. 0: none, the specification as it is. */
    uint32_t left_out_guards;
    uint8_t left_out_action;
    uint32_t forbidden_actions; /* likewise: actions that never happen, as bits 1 << action */
};

/* All ones in word[0] is no state. Of a narrow specification, word[1] is 0 in every state. */
struct bz_spec_state {
    uint64_t word[2];
};

/* One transition out of a state. */
struct bz_spec_step {
    struct bz_spec_state state; /* where it leads */
    uint8_t action;
    uint8_t client; /* from 0; BZ_SPEC_NO_CLIENT: the action is nobody's in particular */
};

struct bz_spec_invariant {
    const char *name;
    const char *text; /* the formula */
};

struct bz_spec {
    const char *name;
    const char *summary;
    const char *const *actions; /* names; ends with NULL */
    const struct bz_spec_invariant *invariants;
    uint32_t invariant_count; /* at most 32 */
    /* How many words a state needs with these constants, 1 or 2. */
    uint32_t (*words)(const struct bz_spec_constants *constants);
    struct bz_spec_state (*initial)(const struct bz_spec_constants *constants);
    /* All transitions out of a state, in a fixed order, each as often as there are ways to take it;
     * returns how many. `broken`: the invariants that do not hold in the state, as bits. */
    uint32_t (*expand)(const struct bz_spec_constants *constants, struct bz_spec_state state,
                       struct bz_spec_step *steps, uint32_t *broken);
    /* A state in words, on one line without an end of line. */
    void (*print)(const struct bz_spec_constants *constants, struct bz_spec_state state,
                  char *buffer, size_t buffer_bytes);
};

/* The published specification of asyncio's semaphore, as it is; and the repaired one, which the
 * real code refines (guards.h). */
extern const struct bz_spec bz_spec_tla;
extern const struct bz_spec bz_spec_buzzer;

/* All of them, NULL at the end. */
extern const struct bz_spec *const bz_specs[];

#endif
