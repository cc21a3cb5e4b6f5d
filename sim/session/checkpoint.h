/* A checkpoint: a campaign that stopped, or was killed, as a file from which it goes on.
 *
 *     {"format":"buzzer-checkpoint/2", "campaign":TOKEN, ..., "checksum":"0123456789abcdef"}
 *
 * One line of JSON. `campaign` is a token: its seed is the first seed, its digest that of the runs
 * so far. The rest is the result so far and the sketches behind its estimates, exactly: a campaign
 * that goes on ends as if it had never stopped. A checkpoint is untrusted input, as a trace is.
 *
 * It is also the result of a shard: `shard`, `shards` and `campaign_runs` say which runs it has.
 * Format 1 has no shards, and smaller sketches; it is read, too. */
#ifndef BZ_SIM_SESSION_CHECKPOINT_H
#define BZ_SIM_SESSION_CHECKPOINT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "sim/judge/record.h"
#include "sim/program/settings.h"
#include "sim/session/campaign.h"
#include "sim/session/shard.h"

#define BZ_CHECKPOINT_FORMAT "buzzer-checkpoint/2"
#define BZ_CHECKPOINT_FORMAT_1 "buzzer-checkpoint/1"
#define BZ_CHECKPOINT_BYTES_MAX ((size_t)4 << 20u)

/* What the campaign is to do. */
struct bz_checkpoint {
    struct bz_program program;
    uint64_t seed_first;
    char version[BZ_VERSION_BYTES]; /* of the program that wrote it; read, not written */
    struct bz_shard shard;          /* number 0: 1 of 1 */
    uint64_t campaign_runs;         /* of all shards; not used of 1 of 1 */
    uint64_t runs;                  /* wanted, of this shard */
    uint64_t limit_ms;              /* time for all of them; 0: no limit */
    uint64_t spent_ms;              /* of it, so far */
    uint64_t slices;                /* of 'fuzz' that are complete; 0 elsewhere */
    bool keep_going;
    bool keeps_size;                /* what is found is not shrunk */
    bool draws_sizes;               /* with program.pinned */
    uint32_t required[BZ_OP_COUNT]; /* windows that cancels must hit, as bits, by operation;
                                       [BZ_OP_NONE]: in any one */
};

/* Whether there is nothing left to do: all runs are done, the time is up, or it ended with its
 * first violation. */
bool bz_checkpoint_is_finished(const struct bz_checkpoint *checkpoint,
                               const struct bz_campaign_state *state);

/* The index of its first run. */
uint64_t bz_checkpoint_first_run(const struct bz_checkpoint *checkpoint);

/* The program of the run of a seed: its own, or one of drawn sizes. Its profile is not measured. */
void bz_checkpoint_program(const struct bz_checkpoint *checkpoint, uint64_t seed,
                           struct bz_program *program);

/* Whether they are not of one campaign, as two shards of it are. True with a reason: "it has 8
 * shards, and not 64", said of `other`. */
bool bz_checkpoint_differs(const struct bz_checkpoint *checkpoint,
                           const struct bz_checkpoint *other, char *reason, size_t reason_bytes);

/* The text of the file; the caller frees it. Without memory it calls bz_lack_stop(). */
char *bz_checkpoint_print(const struct bz_checkpoint *checkpoint,
                          const struct bz_campaign_state *state);

/* Renews the checksum of a text whose content was edited. */
void bz_checkpoint_sign(char *text);

/* Reads it back. What follows from the sums (result.distinct and others) is left to
 * bz_campaign_run(). False with a message that begins with `origin`. */
bool bz_checkpoint_parse(struct bz_checkpoint *checkpoint, struct bz_campaign_state *state,
                         const struct bz_catalog *catalog, const char *text, size_t length,
                         const char *origin, char *error, size_t error_bytes);

/* --- shared with the checkpoint of a search (sim/explore/checkpoint.h) -------------------------
 */

struct bz_json;

/* A number of 64 bits that bz_json_add_hex() wrote; 0 if there is none. False if it is no number.
 */
bool bz_checkpoint_read_hex(const struct bz_json *object, const char *key, uint64_t *value);

void bz_checkpoint_add_violation(struct bz_json *item, const struct bz_violation *violation);
bool bz_checkpoint_read_violation(const struct bz_json *item, struct bz_violation *violation);

#endif
