/* A checkpoint: a search that stopped, or was killed, as a file from which it continues
 * (sim/session/work.h). The body is settings, place and results, the table of states, the table of
 * outcomes, and the choices of the path if there is no table of states.
 *
 * Only the program that wrote a file reads it, so most parts are the bytes of its structs. Pointers
 * are written as numbers or texts.
 *
 * States are compared by fingerprints, which depend on addresses and on what the compiler left in a
 * frame of a stack. So a checkpoint is for the same program and the same plug-ins, whose digests
 * are in it, at the same addresses: a process that writes or reads one runs without randomization
 * of addresses (sim/explore/fixed_addresses.h). A file that does not fit, is cut short or
 * was edited is refused. The fingerprints of the states on the path are compared, too, when they
 * are run again.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "sim/explore/explore.h"
#include "sim/program/catalog.h"

#define BZ_EXPLORE_CHECKPOINT_KIND "search"
#define BZ_EXPLORE_PLUGINS_MAX 2u

/* The search that is to be made, and the code that makes it. */
struct bz_explore_checkpoint {
    struct bz_program program;
    uint32_t delays_max; /* these are as in struct bz_explore_config */
    uint32_t reductions;
    uint32_t rounds_before_sweep;
    bool keep_going;
    uint64_t states_max;
    uint64_t spent_ms;                               /* in all sessions */
    uint64_t code_digest;                            /* of the program file */
    uint64_t plugin_digests[BZ_EXPLORE_PLUGINS_MAX]; /* of the files of its plug-ins; 0: none */
    struct bz_explore_content *content;              /* of an open one: what bz_explore() reads */
};

/* Writes what the search has so far; from within config->keep(). False with errno. */
bool bz_explore_checkpoint_write(const struct bz_explore_checkpoint *checkpoint,
                                 const struct bz_search *search, FILE *file);

/* Reads the beginning, and keeps the file open until the checkpoint is closed. False with a
 * message that begins with `origin`; the file is closed then. */
bool bz_explore_checkpoint_open(struct bz_explore_checkpoint *checkpoint, FILE *file,
                                const struct bz_catalog *catalog, const char *origin, char *error,
                                size_t error_bytes);
void bz_explore_checkpoint_close(struct bz_explore_checkpoint *checkpoint);

/* Sets the digests of the program file and of the files of its plug-ins. */
void bz_explore_checkpoint_set_code(struct bz_explore_checkpoint *checkpoint,
                                    const char *const *plugins, uint32_t count);

/* True if they are those of the checkpoint. False with a message that begins with `origin`. */
bool bz_explore_checkpoint_check_code(const struct bz_explore_checkpoint *checkpoint,
                                      const char *const *plugins, uint32_t count,
                                      const char *origin, char *error, size_t error_bytes);

/* Of an open one: how far the search came, and the result that has what was found. */
const struct bz_explore_result *
bz_explore_checkpoint_result(const struct bz_explore_checkpoint *checkpoint);
const struct bz_explore_result *
bz_explore_checkpoint_found(const struct bz_explore_checkpoint *checkpoint);
bool bz_explore_checkpoint_has_outside_state(const struct bz_explore_checkpoint *checkpoint);
