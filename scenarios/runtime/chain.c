/* The parameter `chain` of the scenario deferred: the runtime's own deferreds, whatever the variant
 * is.
 *
 * A *plan* is drawn: callbacks of three deferreds, each with acts that it performs, and acts from
 * outside. A model performs the plan first. It runs callbacks by recursion, as deferred.h describes
 * their order, and writes a log: each callback with its argument, each act with its answer. Then
 * the deferreds that ship perform the same plan and must make the same log. So any act may come
 * inside any callback. */
#include "primitives/runtime/deferred.h"
#include "scenarios/scenario_support.h"

enum { CHAINS = 3, LINKS = 6, LINK_ACTS = 3, ACTS = 8, LOG = 256, NOBODY = CHAINS };

/* ADD and REMOVE are of a link. INIT comes after FINI, or from the last callback. */
enum op {
    NOTHING,
    FIRE,
    FAIL,
    FAIL_WITH_OK,
    CANCEL,
    PAUSE,
    UNPAUSE,
    ADD,
    REMOVE,
    FINI,
    INIT,
    ASK,
    OPS
};
enum returned { ONE_MORE, AN_ERROR, THE_NEXT_CHAIN, RETURNS };
enum canceller { NONE, IDLE, FIRES, CANCELLERS };

struct act {
    enum op op;
    uint32_t chain;
    uint32_t link;
};

struct link_plan {
    struct act acts[LINK_ACTS];
    enum returned returns;
    uint32_t skips; /* THE_NEXT_CHAIN: so many */
    bool is_for_ok;
    bool is_for_errors;
};

struct plan {
    struct link_plan links[LINKS];
    enum canceller cancellers[CHAINS];
    struct act adds[LINKS - 1];
    struct act acts[ACTS];
};

/* A chain of the model. Its queue has links, and LINKS + index for a chain that waits for it. */
struct model {
    uint32_t queue[LINKS + CHAINS];
    uint32_t queued;
    uint32_t pauses;
    uint32_t waits_for; /* a chain, or NOBODY */
    uint32_t due;       /* its ticket in a list of those that run next; 0: in none */
    struct bz_deferred_result result;
    bool is_fired;
    bool ignores_late;
    bool has_ended;
};

/* One callback fires these. */
struct due {
    uint32_t count;
    uint32_t chains[2 * LINK_ACTS];
    uint32_t tickets[2 * LINK_ACTS];
};

struct link {
    struct bz_deferred_pair pair;
    struct play *play;
    uint32_t chain;
    bool is_linked; /* in the model */
    bool has_run;
};

struct chain {
    struct bz_deferred deferred;
    struct play *play;
};

struct play {
    struct bz_world *world;
    struct plan plan;
    struct bz_trampoline trampoline;
    struct chain chains[CHAINS];
    struct model models[CHAINS];
    struct link links[LINKS];
    struct due *due; /* of the callback that the model runs; NULL: it does nothing */
    uint32_t running;
    uint32_t tickets;
    bool is_model;
    bool has_failed;
    uint32_t noted;
    uint32_t compared;
    uint64_t log[LOG];
};

/* --- the log ---------------------------------------------------------------------------------- */

static void note(struct play *play, uint64_t entry) {
    if (play->is_model) {
        BZ_CHECK(play->noted < LOG);
        play->log[play->noted++] = entry;
        return;
    }
    uint32_t at = play->compared++;
    if (!play->has_failed && (at >= play->noted || play->log[at] != entry)) {
        play->has_failed = true;
        bz_world_assert(play->world, false,
                        "deferreds: event %u of a plan is %llu, and was not due by the model",
                        at + 1, (unsigned long long)entry);
    }
}

/* The model decides this: it knows what is allowed. */
static uint64_t decided(struct play *play, uint64_t by_model) {
    if (play->is_model) {
        note(play, by_model);
        return by_model;
    }
    bool is_known = !play->has_failed && play->compared < play->noted;
    return is_known ? play->log[play->compared++] : 0;
}

static void perform(struct play *play, const struct act *act);

static void play_canceller(struct play *play, uint32_t chain) {
    struct act fires = {FIRE, chain, 0};
    note(play, 100 + chain);
    if (play->plan.cancellers[chain] == FIRES) {
        perform(play, &fires);
    }
}

static bool may_wait_for(const struct play *play, uint32_t chain) {
    return chain < CHAINS && !play->models[chain].has_ended;
}

static struct bz_deferred_result play_link(struct play *play, uint32_t index, uint32_t fn,
                                           struct bz_deferred_result result) {
    const struct link_plan *plan = &play->plan.links[index];
    note(play, 1000 + 10 * index + fn);
    note(play, (uint64_t)result.status);
    note(play, result.value);
    for (uint32_t act = 0; act < LINK_ACTS; act++) {
        perform(play, &plan->acts[act]);
    }
    uint32_t next = play->links[index].chain + 1 + plan->skips;
    if (plan->returns == THE_NEXT_CHAIN && decided(play, may_wait_for(play, next))) {
        return bz_deferred_wait_for(&play->chains[next].deferred);
    }
    return plan->returns == ONE_MORE ? bz_deferred_error(result.status, result.value + 1)
                                     : bz_deferred_error(BZ_FAILED, result.value + 10);
}

/* --- the model -------------------------------------------------------------------------------- */

static bool is_runnable(const struct model *model) {
    return model->is_fired && model->pauses == 0 && model->waits_for == NOBODY && model->queued > 0;
}

static bool has_settled(const struct play *play, uint32_t chain) {
    const struct model *model = &play->models[chain];
    return model->is_fired && model->pauses == 0 && model->waits_for == NOBODY &&
           model->queued == 0 && play->running != chain;
}

static void schedule(struct play *play, uint32_t chain) {
    struct model *model = &play->models[chain];
    if (play->running != chain && is_runnable(model) && model->due == 0) {
        uint32_t at = play->due->count++;
        BZ_CHECK(at < sizeof play->due->chains / sizeof play->due->chains[0]);
        model->due = ++play->tickets;
        play->due->chains[at] = chain;
        play->due->tickets[at] = model->due;
    }
}

static void settle(struct play *play, uint32_t chain, enum bz_status status, uint64_t value) {
    play->models[chain].is_fired = true;
    play->models[chain].result = bz_deferred_error(status, value);
    schedule(play, chain);
}

static enum bz_status model_fire(struct play *play, uint32_t chain, enum bz_status status) {
    struct model *model = &play->models[chain];
    if (!model->is_fired) {
        settle(play, chain, status, 1000);
        return BZ_OK;
    }
    bool is_ignored = model->ignores_late;
    model->ignores_late = false;
    return is_ignored ? BZ_OK : BZ_INVALID_STATE;
}

static bool model_cancel(struct play *play, uint32_t chain) {
    while (play->models[chain].waits_for != NOBODY) {
        chain = play->models[chain].waits_for;
    }
    if (play->models[chain].is_fired) {
        return false;
    }
    if (play->plan.cancellers[chain] == NONE) {
        play->models[chain].ignores_late = true;
    } else {
        play_canceller(play, chain);
    }
    if (!play->models[chain].is_fired) {
        settle(play, chain, BZ_CANCELLED, 0);
    }
    return true;
}

static bool model_remove(struct play *play, uint32_t entry, uint32_t chain) {
    struct model *model = &play->models[chain];
    uint32_t kept = 0;
    for (uint32_t at = 0; at < model->queued; at++) {
        model->queue[kept] = model->queue[at];
        kept += model->queue[at] != entry;
    }
    bool is_removed = kept < model->queued;
    model->queued = kept;
    if (entry < LINKS) {
        play->links[entry].is_linked = false;
    }
    return is_removed;
}

static void model_fini(struct play *play, uint32_t chain) {
    struct model *model = &play->models[chain];
    while (model->queued > 0) {
        model_remove(play, model->queue[0], chain);
    }
    if (model->waits_for != NOBODY) {
        model_remove(play, LINKS + chain, model->waits_for);
    }
    play->running = play->running == chain ? NOBODY : play->running;
    *model = (struct model){.waits_for = NOBODY, .has_ended = true};
}

static void take_over(struct model *outer, struct model *inner) {
    outer->result = inner->result;
    inner->result = bz_deferred_ok(0);
}

static void apply(struct play *play, uint32_t chain, struct bz_deferred_result result) {
    struct model *model = &play->models[chain];
    model->result = result;
    if (result.wait_for == NULL) {
        return;
    }
    uint32_t inner =
        (uint32_t)(bz_container_of(result.wait_for, struct chain, deferred) - play->chains);
    if (has_settled(play, inner)) {
        take_over(model, &play->models[inner]);
    } else {
        model->waits_for = inner;
        play->models[inner].queue[play->models[inner].queued++] = LINKS + chain;
    }
}

static uint32_t make_due(struct play *play, uint32_t chain) {
    play->models[chain].due = is_runnable(&play->models[chain]) ? ++play->tickets : 0;
    return play->models[chain].due;
}

static void run_if_due(struct play *play, uint32_t chain, uint32_t ticket);

/* Runs a link, and everything that it fires. The rest of the chain comes behind that. */
static void run_link(struct play *play, uint32_t chain, uint32_t index) {
    const struct link_plan *plan = &play->plan.links[index];
    struct bz_deferred_result result = play->models[chain].result;
    struct due due = {0};
    bool goes_on = true;
    play->links[index].has_run = true;
    if (result.status == BZ_OK ? plan->is_for_ok : plan->is_for_errors) {
        play->due = &due;
        play->running = chain;
        result = play_link(play, index, result.status != BZ_OK, result);
        goes_on = play->running == chain;
        play->running = NOBODY;
        if (goes_on) {
            apply(play, chain, result);
        }
    }
    uint32_t rest = goes_on ? make_due(play, chain) : 0;
    for (uint32_t at = 0; at < due.count; at++) {
        run_if_due(play, due.chains[at], due.tickets[at]);
    }
    run_if_due(play, chain, rest);
}

static void run_if_due(struct play *play, uint32_t chain, uint32_t ticket) {
    struct model *model = &play->models[chain];
    if (ticket == 0 || model->due != ticket) {
        return;
    }
    model->due = 0;
    if (!is_runnable(model)) {
        return;
    }
    uint32_t entry = model->queue[0];
    model_remove(play, entry, chain);
    if (entry < LINKS) {
        run_link(play, chain, entry);
        return;
    }
    uint32_t outer = entry - LINKS;
    play->models[outer].waits_for = NOBODY;
    take_over(&play->models[outer], model);
    uint32_t rest = make_due(play, chain);
    run_if_due(play, outer, make_due(play, outer));
    run_if_due(play, chain, rest);
}

static bool is_waited_for(const struct model *model) {
    for (uint32_t at = 0; at < model->queued; at++) {
        if (model->queue[at] >= LINKS) {
            return true;
        }
    }
    return false;
}

static bool is_allowed(const struct play *play, const struct act *act) {
    const struct model *model = &play->models[act->chain];
    const struct link *link = &play->links[act->link];
    switch (act->op) {
    case NOTHING:
        return false;
    case UNPAUSE:
        return model->pauses > 0;
    case ADD:
        return !model->has_ended && !link->is_linked && !link->has_run;
    case REMOVE:
        return true;
    case FINI:
        return !model->has_ended && !is_waited_for(model);
    case INIT:
        return model->has_ended ||
               (play->running == act->chain && model->queued == 0 && model->pauses == 0);
    default:
        return !model->has_ended;
    }
}

static uint64_t model_act(struct play *play, const struct act *act) {
    struct model *model = &play->models[act->chain];
    struct link *link = &play->links[act->link];
    switch (act->op) {
    case FIRE:
        return model_fire(play, act->chain, BZ_OK);
    case FAIL:
        return model_fire(play, act->chain, BZ_FAILED);
    case FAIL_WITH_OK:
        return BZ_INVALID_ARGUMENT;
    case CANCEL:
        return model_cancel(play, act->chain);
    case PAUSE:
        return model->pauses++, 0;
    case UNPAUSE:
        model->pauses--;
        return schedule(play, act->chain), 0;
    case ADD:
        model->queue[model->queued++] = act->link;
        link->chain = act->chain;
        link->is_linked = true;
        return schedule(play, act->chain), 0;
    case REMOVE:
        return model_remove(play, act->link, link->chain);
    case FINI:
        return model_fini(play, act->chain), 0;
    case INIT:
        model_fini(play, act->chain);
        return model->has_ended = false, 0;
    default:
        return !has_settled(play, act->chain)
                   ? 0
                   : 1 + 8 * model->result.value + (uint64_t)model->result.status;
    }
}

/* --- what ships ------------------------------------------------------------------------------- */

static struct bz_deferred_result run_pair(struct bz_deferred_pair *pair, uint32_t fn,
                                          struct bz_deferred_result result) {
    struct link *link = bz_container_of(pair, struct link, pair);
    return play_link(link->play, (uint32_t)(link - link->play->links), fn, result);
}

static struct bz_deferred_result on_ok(struct bz_deferred_pair *pair,
                                       struct bz_deferred_result result) {
    return run_pair(pair, 0, result);
}

static struct bz_deferred_result on_error(struct bz_deferred_pair *pair,
                                          struct bz_deferred_result result) {
    return run_pair(pair, 1, result);
}

static void on_cancel(struct bz_deferred *deferred) {
    struct chain *chain = bz_container_of(deferred, struct chain, deferred);
    play_canceller(chain->play, (uint32_t)(chain - chain->play->chains));
}

static uint64_t add(struct play *play, const struct act *act) {
    const struct link_plan *plan = &play->plan.links[act->link];
    struct link *link = &play->links[act->link];
    link->chain = act->chain;
    bz_deferred_add(&play->chains[act->chain].deferred, &link->pair, plan->is_for_ok ? on_ok : NULL,
                    plan->is_for_errors ? on_error : NULL);
    return 0;
}

static uint64_t really_act(struct play *play, const struct act *act) {
    struct bz_deferred *deferred = &play->chains[act->chain].deferred;
    switch (act->op) {
    case FIRE:
        return bz_deferred_callback(deferred, 1000);
    case FAIL:
        return bz_deferred_errback(deferred, BZ_FAILED, 1000);
    case FAIL_WITH_OK:
        return bz_deferred_errback(deferred, BZ_OK, 0);
    case CANCEL:
        return bz_deferred_cancel(deferred);
    case PAUSE:
        return bz_deferred_pause(deferred), 0;
    case UNPAUSE:
        return bz_deferred_unpause(deferred), 0;
    case ADD:
        return add(play, act);
    case REMOVE:
        return bz_deferred_remove(&play->links[act->link].pair);
    case FINI:
        return bz_deferred_fini(deferred), 0;
    case INIT:
        bz_deferred_init(deferred, &play->trampoline,
                         play->plan.cancellers[act->chain] == NONE ? NULL : on_cancel);
        return 0;
    default:
        return !bz_deferred_is_settled(deferred) ? 0 : 1 + 8 * deferred->value + deferred->status;
    }
}

/* --- the plan --------------------------------------------------------------------------------- */

static void perform(struct play *play, const struct act *act) {
    if (!decided(play, play->is_model && is_allowed(play, act))) {
        return;
    }
    struct due due = {0};
    bool is_outermost = play->is_model && play->due == NULL;
    play->due = is_outermost ? &due : play->due;
    uint64_t answer = play->is_model ? model_act(play, act) : really_act(play, act);
    if (is_outermost) {
        for (uint32_t at = 0; at < due.count; at++) {
            run_if_due(play, due.chains[at], due.tickets[at]);
        }
        play->due = NULL;
    }
    note(play, answer);
}

static void perform_all(struct play *play, bool is_model) {
    play->is_model = is_model;
    for (uint32_t chain = 0; chain < CHAINS; chain++) {
        perform(play, &(struct act){INIT, chain, 0});
    }
    for (uint32_t index = 0; index < LINKS - 1; index++) {
        perform(play, &play->plan.adds[index]);
    }
    for (uint32_t act = 0; act < ACTS; act++) {
        perform(play, &play->plan.acts[act]);
        for (uint32_t chain = 0; chain < CHAINS; chain++) {
            perform(play, &(struct act){ASK, chain, 0});
        }
    }
}

static uint32_t draw(struct bz_world *world, const char *label, uint32_t bound) {
    return (uint32_t)bz_world_draw(world, label, bound);
}

static void draw_acts(struct bz_world *world, struct act *acts, uint32_t count) {
    for (uint32_t at = 0; at < count; at++) {
        struct act *act = &acts[at];
        uint32_t op = draw(world, "chain-act", OPS + 3);
        act->op = op < OPS ? (enum op)op : FIRE; /* often */
        act->chain = act->op == NOTHING ? 0 : draw(world, "chain-of", CHAINS);
        bool has_link = act->op == ADD || act->op == REMOVE;
        act->link = has_link ? draw(world, "chain-link", LINKS) : 0;
    }
}

/* The first acts add links. */
static void draw_plan(struct bz_world *world, struct plan *plan) {
    for (uint32_t index = 0; index < LINKS; index++) {
        struct link_plan *link = &plan->links[index];
        draw_acts(world, link->acts, LINK_ACTS);
        link->returns = (enum returned)draw(world, "chain-returns", RETURNS);
        link->skips = link->returns == THE_NEXT_CHAIN ? draw(world, "chain-skips", CHAINS - 1) : 0;
        uint32_t not_for = draw(world, "chain-for", 4);
        link->is_for_ok = not_for != 1;
        link->is_for_errors = not_for != 2;
    }
    for (uint32_t chain = 0; chain < CHAINS; chain++) {
        plan->cancellers[chain] = (enum canceller)draw(world, "chain-canceller", CANCELLERS);
    }
    for (uint32_t index = 0; index < LINKS - 1; index++) {
        plan->adds[index] = (struct act){ADD, draw(world, "chain-of", CHAINS), index};
    }
    draw_acts(world, plan->acts, ACTS);
}

static void play_plan(struct bz_world *world, struct play *play) {
    *play = (struct play){.world = world, .running = NOBODY};
    for (uint32_t chain = 0; chain < CHAINS; chain++) {
        play->chains[chain].play = play;
        play->models[chain] = (struct model){.waits_for = NOBODY, .has_ended = true};
    }
    for (uint32_t index = 0; index < LINKS; index++) {
        play->links[index].play = play;
    }
    draw_plan(world, &play->plan);
    bz_trampoline_init(&play->trampoline, world->loop);
    perform_all(play, true);
    perform_all(play, false);
    bz_world_assert(world, play->has_failed || play->compared == play->noted,
                    "deferreds: of a plan %u events did not come that were due by the model",
                    play->noted - play->compared);
}

void bz_play_chains(struct bz_world *world, int64_t plans) {
    struct play *play = bz_world_alloc(world, sizeof *play);
    for (int64_t left = plans; left > 0; left--) {
        play_plan(world, play);
    }
}
