/* The folder of a session: its traces, under names that follow from the run. Several processes may
 * write into one folder. */
#pragma once

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "traces/trace.h"

/* Why a session could not do something: a file cannot be read or written, or something ran out. */
enum bz_trouble { BZ_TROUBLE_NONE = 0, BZ_TROUBLE_FILE, BZ_TROUBLE_LACK };
typedef void bz_trouble_fn(void *context, enum bz_trouble trouble, const char *message);

/* Creates a folder with all above it. True if it is there already; false with errno. */
bool bz_folder_make(const char *folder);

/* The same, and checks that files can be created in it. False with a message. */
bool bz_folder_prepare(const char *folder, char *error, size_t error_bytes);

/* Takes a lock of the folder, against sessions that choose a name in it at the same time. The
 * caller closes the descriptor with bz_folder_unlock(); -1: there is no lock. */
int bz_folder_lock(const char *folder);
void bz_folder_unlock(int lock);

/* SCENARIO_VARIANT_SEED.json in the folder. `kind` comes after the seed: "", "-shrunk", "-fifo".
 * `number` above 1: with -2, -3, ... */
void bz_folder_trace_path(const char *scenario, const char *variant, uint64_t seed,
                          const char *kind, const char *folder, unsigned number,
                          char path[PATH_MAX]);

/* Writes a trace under the first such name that is free or has the same content. Without a lock,
 * the trace is written anyway. False with a message; then `path` is empty. */
bool bz_folder_write_trace(const struct bz_trace *trace, uint64_t seed, const char *kind,
                           const char *folder, char path[PATH_MAX], char *error,
                           size_t error_bytes);
