/* Does a variant from a plug-in keep the contract of sim/variant/README.md?
 *
 * Every scenario that can use the primitive runs, in both loop orders, until it ends or finds
 * something. Then each finding is looked at once more, to tell a fault of the implementation from a
 * fault of what it shows: the same schedules run again without the function that the oracle asked
 * (`view`, `locked`, `queued`). If they find nothing now, callers see nothing wrong, and what the
 * function says is wrong.
 *
 * A leak is memory of the arena that grows with the number of operations, or that fini leaves. */
#ifndef BZ_TOOLS_PLUGIN_CONFORMANCE_H
#define BZ_TOOLS_PLUGIN_CONFORMANCE_H

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>

#include "sim/session/campaign.h"
#include "traces/lack.h"

/* The topics of the contract, in the order of the report. */
enum bz_topic {
    BZ_TOPIC_RUNS,        /* it neither crashes nor hangs */
    BZ_TOPIC_STATUSES,    /* operations return what they may */
    BZ_TOPIC_DETERMINISM, /* equal seeds, equal runs */
    BZ_TOPIC_LEAKS,       /* nothing is left behind */
    BZ_TOPIC_VIEW,        /* view, locked and queued say what is */
    BZ_TOPIC_BEHAVIOUR,   /* it does what a primitive must do, and what it claims */
};
#define BZ_TOPIC_COUNT 6

const char *bz_topic_name(enum bz_topic topic);

#define BZ_FAULTS_MAX 64u

/* Something that is wrong. */
struct bz_fault_found {
    enum bz_topic topic;
    const char *oracle; /* NULL: no oracle but a measurement */
    char message[BZ_MESSAGE_BYTES];
    const char *meaning;       /* what it says about the plug-in, as a sentence; NULL: nothing */
    struct bz_program program; /* the first run that shows it, if an oracle found it */
    uint64_t seed, digest;
    uint32_t sessions; /* that found it, of one oracle and one meaning */
};

struct bz_conformance {
    const struct bz_variant *variant;
    enum bz_primitive primitive;
    uint32_t scenarios;
    uint64_t schedules;
    uint64_t waited; /* schedules in which an operation waited */
    uint64_t cut;    /* schedules that hit the step limit: they prove nothing */
    bool is_interrupted;
    char lack[BZ_LACK_BYTES]; /* not empty: this ran out, and ended the check */
    bool has_counted;         /* the blocks of the arena, in a short run and a long one */
    uint32_t fault_count;     /* at most BZ_FAULTS_MAX; the rest is not kept */
    struct bz_fault_found faults[BZ_FAULTS_MAX];
};

struct bz_conformance_config {
    uint64_t runs; /* schedules of each scenario and order */
    uint32_t jobs;
    const volatile sig_atomic_t *stop;
    void (*poll)(void *context, uint64_t schedules); /* of this check so far; never NULL */
    void *context;
};

/* Checks one primitive of a variant from a plug-in. `check` is zeroed memory with the variant and
 * the primitive set. False if memory or processes ran out, see check->lack. */
bool bz_conformance_check(struct bz_conformance *check, const struct bz_conformance_config *config);

/* How many faults there are of a topic. */
uint32_t bz_conformance_faults(const struct bz_conformance *check, enum bz_topic topic);

/* The reason why the topic could not be judged, in plain words; NULL: it was judged. */
const char *bz_conformance_gap(const struct bz_conformance *check, enum bz_topic topic);

#endif
