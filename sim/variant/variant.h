/* A variant: one implementation of some primitives. It has const tables of functions, its claims,
 * and, if it is faulty on purpose, where the fault comes from.
 *
 * A variant is written against primitives/runtime alone: futures, tasks, the loop. It cannot tell
 * whether it is simulated. All its memory comes from bz_loop_mem(), it has no global state, and it
 * never asks for time, addresses or random numbers.
 *
 * Order of calls of one instance: init once, then the other functions in any order, fini last. Only
 * tasks call functions that may wait. Runs do not call fini: they end with a reset of the arena.
 * `buzzer check-plugin` calls it. A process calls init for every object of many runs, and not once
 * a run: a search goes back to memory in which it ran, and so does the next run. README.md says
 * what each function may return, and how code with a loop of its own fits.
 */
#ifndef BZ_SIM_VARIANT_VARIANT_H
#define BZ_SIM_VARIANT_VARIANT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "primitives/runtime/loop.h"
#include "primitives/runtime/rules.h"
#include "primitives/runtime/status.h"
#include "sim/variant/claims.h"

BZ_BEGIN_DECLS

/* Changes when a table below changes. A plug-in built for another number is refused. */
#define BZ_VARIANT_VERSION 11u

/* Lock, semaphore, bounded semaphore. */
struct bz_permit_ops {
    size_t instance_bytes; /* zeroed memory of this size is what init receives */
    enum bz_status (*init)(void *instance, struct bz_loop *loop, uint32_t permits);
    void (*fini)(void *instance); /* NULL: nothing to do */
    enum bz_status (*acquire)(void *instance);
    enum bz_status (*release)(void *instance);
    bool (*locked)(void *instance);                            /* NULL: not offered */
    void (*view)(void *instance, struct bz_permit_view *view); /* NULL: black box */
};

/* Event: a flag that tasks wait for, and that stays up until it is cleared (manual reset). An
 * auto-reset event, whose set lets one task pass, is a semaphore or a lock. */
struct bz_event_ops {
    size_t instance_bytes;
    enum bz_status (*init)(void *instance, struct bz_loop *loop);
    void (*set)(void *instance);
    void (*clear)(void *instance);
    bool (*is_set)(void *instance);
    enum bz_status (*wait)(void *instance);
    uint32_t (*queued)(void *instance); /* entries of its queue; NULL: not shown */
};

/* Condition, with the lock that it goes with. */
struct bz_condition_ops {
    size_t instance_bytes;
    enum bz_status (*init)(void *instance, struct bz_loop *loop);
    enum bz_status (*acquire)(void *instance); /* the lock */
    enum bz_status (*release)(void *instance);
    bool (*locked)(void *instance);
    enum bz_status (*wait)(void *instance);                   /* by who holds the lock */
    enum bz_status (*notify)(void *instance, uint32_t count); /* UINT32_MAX: all */
    uint32_t (*queued)(void *instance); /* entries of both queues; NULL: not shown */
};

/* Barrier. wait sets `index` to 0 to parties - 1, each once a round. */
struct bz_barrier_ops {
    size_t instance_bytes;
    enum bz_status (*init)(void *instance, struct bz_loop *loop, uint32_t parties);
    enum bz_status (*wait)(void *instance, uint32_t *index); /* BZ_BROKEN, if it is */
    void (*abort)(void *instance);                           /* NULL: not offered */
    void (*reset)(void *instance);                           /* NULL: not offered */
    uint32_t (*queued)(void *instance);                      /* NULL: not shown */
};

/* Queue. Beside BZ_OK and BZ_CANCELLED it returns BZ_FULL and BZ_EMPTY from the try functions, and
 * BZ_CLOSED after a shutdown, for which no put waits. */
struct bz_queue_ops {
    size_t instance_bytes;
    /* maxsize 0: no bound; or BZ_QUEUE_RENDEZVOUS, if it is offered. BZ_INVALID_ARGUMENT: this
     * order or size is not offered; `offers` of struct bz_variant says so before. */
    enum bz_status (*init)(void *instance, struct bz_loop *loop, enum bz_queue_order order,
                           uint32_t maxsize);
    enum bz_status (*put)(void *instance, uint64_t value, int64_t priority);
    enum bz_status (*get)(void *instance, uint64_t *value);
    enum bz_status (*try_put)(void *instance, uint64_t value, int64_t priority);
    enum bz_status (*try_get)(void *instance, uint64_t *value);
    enum bz_status (*task_done)(void *instance);         /* NULL: not offered, with join */
    enum bz_status (*join)(void *instance);              /* until every item put is done */
    void (*shutdown)(void *instance, bool is_immediate); /* NULL: not offered */
    uint64_t (*size)(void *instance);   /* items in it, promised ones too; NULL: not shown */
    uint32_t (*queued)(void *instance); /* waiters' entries; NULL: not shown */
};

/* Pool of locks: one for each key. */
struct bz_pool_ops {
    size_t instance_bytes;
    enum bz_status (*init)(void *instance, struct bz_loop *loop);
    enum bz_status (*acquire)(void *instance, uint64_t key);
    enum bz_status (*release)(void *instance, uint64_t key);
    uint64_t (*entries)(void *instance); /* keys that it keeps a lock for; NULL: not shown */
};

/* The arguments of a pool of resources: all of them live as long as the pool. */
struct bz_resource_setup {
    uint32_t limit;   /* resources that may exist at the same time, those being made included */
    uint64_t idle_ns; /* one that was idle for longer is not lent again; 0: it may be */
    /* Makes a resource: any task may call it, also one of the pool's own. It may wait, never on a
     * future, and return BZ_FAILED, or BZ_CANCELLED if its task is cancelled. BZ_OK: `*resource` is
     * its number, which is not 0. Not to be called once close was. */
    enum bz_status (*create)(void *context, uint64_t *resource);
    void (*destroy)(void *context, uint64_t resource); /* never waits */
    void *context;
};

/* Pool of resources. Beside BZ_OK and BZ_CANCELLED acquire returns BZ_FAILED after a failed create,
 * and BZ_CLOSED: to newcomers once close was called, and to those who waited then, whom the close
 * wakes. A release that is refused returns BZ_NOT_HELD. */
struct bz_resource_pool_ops {
    size_t instance_bytes;
    /* BZ_INVALID_ARGUMENT: this limit or an idle time is not offered. */
    enum bz_status (*init)(void *instance, struct bz_loop *loop,
                           const struct bz_resource_setup *setup);
    enum bz_status (*acquire)(void *instance, uint64_t *resource);
    /* May wait. Cancelled then, it has given back all the same. */
    enum bz_status (*release)(void *instance, uint64_t resource, bool is_broken);
    /* Waits until every resource was destroyed. Cancelled, it leaves the pool closed. May be called
     * again. NULL: not offered */
    enum bz_status (*close)(void *instance);
    uint32_t (*queued)(void *instance); /* NULL: not shown */
};

/* One acquire of a deferred semaphore, in storage of the caller until it was answered. */
struct bz_deferred_request {
    /* Called once, with BZ_OK (the caller owns the permit) or BZ_CANCELLED, possibly before acquire
     * or release returns. It may call both. */
    void (*answer)(struct bz_deferred_request *request, enum bz_status status);
    void *waiter; /* zeroed memory of waiter_bytes, for the variant */
};

/* A semaphore (with one permit, a lock) as Twisted has it. No function suspends. */
struct bz_deferred_ops {
    size_t instance_bytes;
    size_t waiter_bytes;
    enum bz_status (*init)(void *instance, struct bz_loop *loop, uint32_t permits);
    void (*acquire)(void *instance, struct bz_deferred_request *request);
    void (*cancel)(void *instance, struct bz_deferred_request *request); /* no-op once answered */
    enum bz_status (*release)(void *instance);
    uint32_t (*queued)(void *instance); /* NULL: not shown */
};

/* A timeout scope. exit takes the status that the body ended with, and returns the one to continue
 * with. Each enter has one exit, by the same task, the innermost scope first. */
struct bz_scope_ops {
    size_t scope_bytes; /* zeroed memory of this size is what enter receives */
    /* The deadline is `delay_ns` from now; 0: in the next turn, BZ_TIME_NEVER: none. */
    enum bz_status (*enter)(void *scope, struct bz_loop *loop, uint64_t delay_ns);
    enum bz_status (*exit)(void *scope, enum bz_status status);
};

/* A primitive of its author's own, with the model that judges it in the scenario `model`
 * (sim/model/model.h). */
struct bz_model;
struct bz_modelled_ops {
    size_t instance_bytes;
    const struct bz_model *model;
    enum bz_status (*init)(void *instance, struct bz_loop *loop, const int64_t *parameters);
    /* The operation of that index in the model. BZ_OK: it is completed, and `answer` is set if it
     * is not 0. BZ_CANCELLED: it has had the effect that the model allows a cancelled one. Another
     * status, such as BZ_FULL: a refusal. Its answer in the model is the status, negated. */
    enum bz_status (*call)(void *instance, uint32_t op, const int64_t *arguments, int64_t *answer);
};

/* A fault that was shipped once, or that of a toy. Every string is plain text. */
struct bz_fault {
    const char *family;   /* which kind of fault, see scenarios/zoo/README.md */
    const char *project;  /* who shipped it */
    const char *issue;    /* where it is documented */
    const char *versions; /* what was affected */
    const char *summary;  /* the fault in one line */
    const char *property; /* not read; for plug-ins that say what it violates */
    const char *oracle;   /* which oracle must catch it; see bz_fault_is_caught() */
    const char *scenario; /* which scenario shows it */
    const char *settings; /* settings of that scenario, "name=value,..."; NULL: its defaults */
    bool fifo_reachable;  /* also on a plain FIFO loop: it can happen in production */
    uint32_t primitives; /* that have it, as bits 1 << enum bz_primitive; 0: all that are offered */
};

/* The sizes that an init offers: permits of a semaphore, parties of a barrier, maxsize of a queue,
 * limit of a pool of resources, parameters of a modelled one. All zero: any. Scenarios and
 * campaigns keep to it, and a size that the user sets and that is not offered is refused.
 *
 *     .offers = {[BZ_PRIMITIVE_BARRIER] = {.least = 2, .most = 2},
 *                [BZ_PRIMITIVE_QUEUE] = {.bounds = BZ_OFFERS_NO_BOUND}}, */
struct bz_offer {
    uint32_t least, most; /* inclusive; most 0: no limit */
    uint32_t bounds;      /* of a queue, BZ_OFFERS_...; 0: a bound, and none if `most` is 0 */
    uint32_t orders;      /* of a queue, as bits 1 << enum bz_queue_order; 0: all */
};
#define BZ_OFFERS_BOUND 0x1u    /* from `least` to `most` */
#define BZ_OFFERS_NO_BOUND 0x2u /* maxsize 0 */
#define BZ_OFFERS_RENDEZVOUS 0x4u

struct bz_variant {
    uint32_t version; /* BZ_VARIANT_VERSION */
    uint32_t claims;  /* BZ_CLAIM_... */
    const char *name;
    const char *summary;
    const struct bz_permit_ops *permits[BZ_PERMIT_PRIMITIVES]; /* NULL: not offered, as below */
    const struct bz_event_ops *event;
    const struct bz_condition_ops *condition;
    const struct bz_barrier_ops *barrier;
    const struct bz_queue_ops *queue;
    const struct bz_pool_ops *pool;
    const struct bz_deferred_ops *deferred;
    const struct bz_scope_ops *scope;
    const struct bz_modelled_ops *modelled;
    const struct bz_fault *fault;        /* what a faulty variant is for; NULL: it is none */
    uint32_t waives[BZ_PRIMITIVE_COUNT]; /* claims that it does not make for this primitive */
    /* Known faults of a reference, which is otherwise meant to be right. A run that finds one says
     * so, and still counts as a violation. Ends with NULL; NULL: none is known. */
    const struct bz_fault *const *declared;
    const struct bz_rules *rules; /* of the runtime that it is for; NULL: of the one that ships */
    /* The most tasks that may wait in an instance at the same time; 0: any number. Campaigns draw
     * no more tasks than that. While so many wait, another call may return BZ_NO_MEMORY. */
    uint32_t waiters_max;
    struct bz_offer offers[BZ_PRIMITIVE_COUNT];
    const struct bz_resource_pool_ops *resource_pool;
};

bool bz_variant_offers(const struct bz_variant *variant, enum bz_primitive primitive);

/* Its table for the primitive, struct bz_..._ops, which begins with the bytes of an instance; NULL:
 * not offered. */
const void *bz_variant_table(const struct bz_variant *variant, enum bz_primitive primitive);

/* True if that table has every function that is not optional. */
bool bz_variant_is_complete(const struct bz_variant *variant, enum bz_primitive primitive);

/* Its claims of this primitive, BZ_CLAIM_... */
uint32_t bz_variant_claims(const struct bz_variant *variant, enum bz_primitive primitive);

/* True if an init of the primitive offers this size; of a queue, 0 is no bound, -1 a rendezvous. */
bool bz_variant_offers_size(const struct bz_variant *variant, enum bz_primitive primitive,
                            int64_t size);

/* The offered size that is nearest to this one, within least..most, the smaller of two; the size
 * itself if there is none. */
int64_t bz_variant_nearest_size(const struct bz_variant *variant, enum bz_primitive primitive,
                                int64_t size, int64_t least, int64_t most);

/* This order, if its queue offers it; else the first that it offers. */
enum bz_queue_order bz_variant_nearest_order(const struct bz_variant *variant,
                                             enum bz_queue_order order);

/* True if this oracle is the one that must catch the fault. "linearizability" stands for all that a
 * model finds: where a value is lost, the schedule decides whether an answer shows it first, or a
 * waiter that the model would let complete. */
bool bz_fault_is_caught(const struct bz_fault *fault, const char *oracle);

/* The fault of the variant, its own or a declared one, that this oracle must catch in this
 * primitive; NULL: none. */
const struct bz_fault *bz_variant_declared(const struct bz_variant *variant,
                                           enum bz_primitive primitive, const char *oracle);

BZ_END_DECLS

#endif
