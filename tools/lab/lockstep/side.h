/* The C side of a lock-step: draws programs, runs them, and writes down every step. */
#pragma once

#include "scenarios/program/script.h"
#include "sim/judge/judge.h"
#include "sim/native/world.h"

/* A program and its schedule. */
struct bz_pair {
    uint64_t number; /* decides both */
    enum bz_order order;
    struct bz_script script;
};

struct bz_side;

/* For one variant, whose tables must last: asyncio's or Twisted's. Stops the process without
 * memory. */
struct bz_side *bz_side_new(const struct bz_variant *variant, bool is_twisted);
void bz_side_free(struct bz_side *side);

/* Draws the pair of that number. */
void bz_side_draw(struct bz_side *side, uint64_t number, struct bz_pair *pair);

/* Runs it, and returns what tools/python/lockstep/player.py reads: a text that lasts until the next
 * call. With `length`. */
const char *bz_side_play(struct bz_side *side, struct bz_pair *pair, size_t *length);

/* Cancels that struck so far, by operation and window. */
const struct bz_run_stats *bz_side_stats(struct bz_side *side);

/* Operations that returned so far, by verb and primitive; those without an object are at 0. */
struct bz_verb_counts {
    uint64_t counts[BZ_VERB_COUNT][BZ_SCRIPT_PRIMITIVES];
};
const struct bz_verb_counts *bz_side_verbs(const struct bz_side *side);
