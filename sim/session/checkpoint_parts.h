/* What the files of unfinished work have in common: a campaign's checkpoint, and the state of a
 * long campaign (sim/fuzz). JSON with hexadecimal numbers as strings, so that all 64 bits are kept.
 * All that is read is untrusted: a function returns false for what makes no sense. */
#ifndef BZ_SIM_SESSION_CHECKPOINT_PARTS_H
#define BZ_SIM_SESSION_CHECKPOINT_PARTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "sim/session/checkpoint.h" /* read_hex and violations, which a search has, too */
#include "traces/json.h"

/* The document as one line that ends with a checksum of all before it. Frees `root`; the caller
 * frees the text. Without memory it calls bz_lack_stop(). */
char *bz_checkpoint_seal(struct bz_json *root);

/* Whether the checksum of a text fits its content. */
bool bz_checkpoint_is_whole(const char *text, size_t length);

/* A number that must be there. */
bool bz_checkpoint_read_u32(const struct bz_json *object, const char *key, uint32_t *value);

/* A table of numbers by operation and window; zeros are left out. */
typedef uint64_t bz_window_table[BZ_OP_COUNT][BZ_WINDOW_COUNT];
void bz_checkpoint_add_table(struct bz_json *root, const char *key, const bz_window_table table);
bool bz_checkpoint_read_table(const struct bz_json *root, const char *key, bz_window_table table);

/* A sketch: its hashes as one text, '+' before each that was seen again, else '-'. It is read into
 * an empty one of the same capacity; `total`: how many values it has seen. */
void bz_checkpoint_add_sketch(struct bz_json *root, const char *key,
                              const struct bz_distinct *distinct);
bool bz_checkpoint_read_sketch(const struct bz_json *root, const char *key, uint64_t total,
                               struct bz_distinct *distinct);

/* A finding, as an object that is appended to an array. */
void bz_checkpoint_add_finding(struct bz_json *findings, const struct bz_finding *finding);
bool bz_checkpoint_read_finding(const struct bz_json *item, struct bz_finding *finding);

#endif
