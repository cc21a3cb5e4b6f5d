/* Recording and replay.
 *
 * A strict replay takes every choice from the trace. It stops at the first choice that does not fit
 * or the first event that differs, and reports step, expected and got. A lenient replay takes the
 * default choice where the recorded one does not fit, and compares nothing. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "sim/judge/record.h"
#include "sim/program/settings.h"

/* Runs `seed`, then its tape again with full recording into `trace` (empty). If the two differ, the
 * program is nondeterministic: the report says where, and the verdict is a violation of
 * `nondeterminism`. False if memory runs out: see report->lack. */
bool bz_record(const struct bz_program *program, uint64_t seed, struct bz_trace *trace,
               struct bz_replay_report *report);

/* The digest of a seed's run. False if something ran out, which `lack` then says. */
bool bz_seed_digest(const struct bz_program *program, uint64_t seed, uint64_t *digest, char *lack);

/* Records a run of the program that was kept (sim/judge/record.h): the second half of bz_record().
 */
bool bz_record_kept(const struct bz_program *program, const struct bz_kept_run *run,
                    struct bz_trace *trace, struct bz_replay_report *report);

/* The program that a trace names. False with a message. */
bool bz_trace_program(const struct bz_trace *trace, const struct bz_catalog *catalog,
                      struct bz_program *program, char *error, size_t error_bytes);

/* True if the variant offers the primitive that the trace's program uses. If not, `why` says what
 * is missing. True for a scenario or a primitive that does not exist. */
bool bz_trace_is_offered(const struct bz_trace *trace, const struct bz_catalog *catalog,
                         const struct bz_variant *variant, char *why, size_t why_bytes);

/* Replays a trace strictly. False with a message if the trace is invalid, or memory runs out; then
 * report->lack is not empty. */
bool bz_replay_trace(const struct bz_trace *trace, const struct bz_program *program,
                     struct bz_replay_report *report, char *error, size_t error_bytes);

/* Replays its choices leniently on any program (another variant) and records the run into `record`.
 * The report counts the choices that were made; a run that hit the step limit proves nothing.
 * `watch`: a watcher of every step of this one run; NULL: none. A run that it ends has no verdict
 * (report->end). A contained program is watched in its child process, so what the watcher writes
 * there must be in shared memory (contain.h). */
bool bz_replay_lenient(const struct bz_trace *trace, const struct bz_program *program,
                       const struct bz_world_watch *watch, struct bz_trace *record,
                       struct bz_replay_report *report, char *error, size_t error_bytes);

/* The program of a trace as the text of a file, for scenarios that take one. Replays only what was
 * drawn before the first step. NUL-terminated and cut to fit; `length` is the full length. False
 * with a message. */
bool bz_trace_print_program(const struct bz_trace *trace, const struct bz_program *program,
                            char *text, size_t text_bytes, size_t *length, char *error,
                            size_t error_bytes);
