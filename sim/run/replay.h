/* Record heavy, and replay: the same choices again, held against what they led to.
 *
 * A strict replay answers every choice from the tape. It stops at the first choice that does not
 * fit and at the first event that differs, and says: step, expected, got. A lenient one answers
 * what does not fit with the default choice and compares nothing.
 */
#ifndef BZ_SIM_RUN_REPLAY_H
#define BZ_SIM_RUN_REPLAY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "sim/judge/record.h"
#include "sim/run/settings.h"

/* Runs `seed` of the program, then its tape again with full recording into `trace` (empty). If the
 * two differ, the program is not deterministic: the report says where, and the verdict of the trace
 * is a violation of `nondeterminism`. False without memory. */
bool bz_record(const struct bz_program *program, uint64_t seed, struct bz_trace *trace,
               struct bz_replay_report *report);

/* The program that a trace names. False with a message. */
bool bz_trace_program(const struct bz_trace *trace, const struct bz_catalog *catalog,
                      struct bz_program *program, char *error, size_t error_bytes);

/* Replays a trace strictly. False with a message if the trace makes no sense. */
bool bz_replay_trace(const struct bz_trace *trace, const struct bz_program *program,
                     struct bz_replay_report *report, char *error, size_t error_bytes);

/* Replays its choices leniently, on a program that may be another one (another variant), and
 * records what happens into `record`. */
bool bz_replay_lenient(const struct bz_trace *trace, const struct bz_program *program,
                       struct bz_trace *record, struct bz_replay_report *report, char *error,
                       size_t error_bytes);

/* The program that a trace runs, as the text of a file that can be set in its place: for scenarios
 * that take one. Only what was drawn before the first step is played again. NUL-terminated, cut to
 * fit; `length` is that of the whole. False with a message. */
bool bz_trace_print_program(const struct bz_trace *trace, const struct bz_program *program,
                            char *text, size_t text_bytes, size_t *length, char *error,
                            size_t error_bytes);

#endif
