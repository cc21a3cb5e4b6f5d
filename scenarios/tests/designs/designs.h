/* Correct designs that differ from the primitives that ship as much as they can. No oracle may
 * object to any of them: each claims what it keeps, and nothing else. They are written as a plug-in
 * is, against sim/variant/plugin.h, and most wait in the deque of the references. */
#ifndef BZ_SCENARIOS_TESTS_DESIGNS_H
#define BZ_SCENARIOS_TESTS_DESIGNS_H

#include "primitives/runtime/check.h"
#include "scenarios/variants/deque.h"
#include "sim/variant/plugin.h"

#define LOCK(ops) .permits = {[BZ_PRIMITIVE_LOCK] = ops}
/* A plain semaphore must take a release by anybody, the others must refuse one too many. */
#define ALL_PERMITS(plain, bounded)                                                                \
    .permits = {[BZ_PRIMITIVE_SEMAPHORE] = plain,                                                  \
                [BZ_PRIMITIVE_BOUNDED] = bounded,                                                  \
                [BZ_PRIMITIVE_LOCK] = bounded}

#define DESIGN(identifier, claims_, summary_, ...)                                                 \
    const struct bz_variant design_##identifier = {.version = BZ_VARIANT_VERSION,                  \
                                                   .claims = claims_,                              \
                                                   .name = #identifier,                            \
                                                   .summary = summary_,                            \
                                                   __VA_ARGS__}

extern const struct bz_variant design_chain, design_linked_chain, design_ticket, design_dispatching,
    design_early_entry, design_helper, design_clerk, design_timer, design_callback, design_porter,
    design_baton, design_two_stage, design_barging, design_rewaking, design_lifo, design_lazy,
    design_hall, design_firm, design_firm_losing, design_firm_doubling, design_firm_keeping,
    design_posting_cancelled, design_resting, design_workers, design_workers_faulty,
    design_bulkhead, design_bulkhead_faulty, design_trylock, design_trylock_faulty, design_bell,
    design_bell_faulty, design_broadcast, design_broadcast_faulty, design_select,
    design_select_faulty, design_meeting, design_meeting_kept, design_meeting_leaving,
    design_meeting_dropping, design_meeting_counting, design_meeting_doubling,
    design_meeting_losing, design_morphing, design_morphing_losing, design_morphing_keeping,
    design_inplace, design_inplace_cancelled, design_inplace_late, design_inplace_walking,
    design_inplace_storing, design_inplace_closing, design_rechecks, design_rechecks_faulty;

/* prompt.c */
extern const struct bz_variant design_prompt, design_prompt_doubling, design_prompt_losing,
    design_prompt_leaking;

/* spinning.c */
extern const struct bz_variant design_spinning, design_spinning_blind, design_spinning_losing,
    design_spinning_slow, design_sleeping, design_sleeping_blind, design_sleeping_deaf,
    design_sleeping_slow, design_sleeping_ticking, design_sleeping_sliced, design_sleeping_lazy,
    design_sleeping_briefly, design_sleeping_counting;

/* channel.c */
extern const struct bz_variant design_channel, design_channel_blocks, design_channel_says_closed,
    design_channel_serves_last;

/* single.c */
extern const struct bz_variant design_single, design_single_crowded, design_single_losing,
    design_spsc, design_spsc_crowded;

#endif
