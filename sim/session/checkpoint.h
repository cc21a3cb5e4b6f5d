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

#include "sim/program/settings.h"
#include "sim/session/job.h"

#define BZ_CHECKPOINT_FORMAT "buzzer-checkpoint/2"
#define BZ_CHECKPOINT_FORMAT_1 "buzzer-checkpoint/1"
#define BZ_CHECKPOINT_BYTES_MAX ((size_t)4 << 20u)

/* The text of the file; the caller frees it. Without memory it calls bz_lack_stop(). */
char *bz_checkpoint_print(const struct bz_job *checkpoint, const struct bz_campaign_state *state);

/* Renews the checksum of a text whose content was edited. */
void bz_checkpoint_sign(char *text);

/* Reads it back. What follows from the sums (result.distinct and others) is left to
 * bz_campaign_run(). False with a message that begins with `origin`. */
bool bz_checkpoint_parse(struct bz_job *checkpoint, struct bz_campaign_state *state,
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
