/* A subject that is a barrier; see subject.h.
 *
 * Judged: each round hands out each index once, and passes nobody before enough have come
 * (`barrier-round`, gh-155233); nobody waits when enough are there (`lost-wakeup`). Who is
 * cancelled before its wake-up is not one of the round; who is cancelled after it, was. */
#ifndef BZ_SIM_WORLD_SUBJECT_BARRIER_H
#define BZ_SIM_WORLD_SUBJECT_BARRIER_H

#include "sim/world/subject.h"

#define BZ_BARRIER_PARTIES_MAX 64u

struct bz_barrier_subject {
    struct bz_world *world;
    const struct bz_barrier_ops *ops;
    void *instance;
    uint32_t object;
    uint32_t parties;
    uint64_t arrived; /* calls, but for those that left before a round took them */
    uint64_t passed;  /* taken by a round: came back with OK, or cancelled after the wake-up */
    uint64_t indices; /* handed out in the current round, as bits */
};

/* 1 to BZ_BARRIER_PARTIES_MAX parties. */
enum bz_status bz_barrier_subject_init(struct bz_barrier_subject *subject, struct bz_world *world,
                                       const char *name, uint32_t parties) BZ_MUST_USE;

/* BZ_OK, BZ_CANCELLED, or BZ_BROKEN. From tasks only. */
enum bz_status bz_barrier_subject_wait(struct bz_barrier_subject *subject,
                                       uint32_t *index) BZ_MUST_USE;

/* False: the variant does not offer it. Afterwards rounds are counted anew. */
bool bz_barrier_subject_abort(struct bz_barrier_subject *subject);
bool bz_barrier_subject_reset(struct bz_barrier_subject *subject);

#endif
