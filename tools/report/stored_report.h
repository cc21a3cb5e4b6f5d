/* Stored traces whose schedules are repeated on the present code, for people and programs: by
 * `corpus`, and by a campaign before it begins. */
#pragma once

#include "sim/session/stored_traces.h"
#include "sim/session/transfer.h"
#include "tools/report/text_output.h"
#include "traces/json.h"

/* --- one schedule ----------------------------------------------------------------------------- */

/* True if the run fails, as recorded or otherwise. */
bool bz_carry_is_failure(enum bz_carry_result result);

/* Adds "now passes      FILE: 8 steps; recorded: fifo of 'permits'". */
void bz_carry_add_line(struct bz_text *line, const char *file, const struct bz_trace *trace,
                       const struct bz_carry *carry);

/* Adds the members of the entry in the results of `corpus --json`. */
void bz_carry_add_json(struct bz_json *item, const char *file, const struct bz_trace *trace,
                       const struct bz_carry *carry, bool is_as_expected);

/* --- those of a campaign ---------------------------------------------------------------------- */

/* Says on stderr what became of them, a line for each outcome. `is_quiet`: of failures alone. */
void bz_stored_say_own(const struct bz_stored *stored, const struct bz_program *program,
                       bool is_quiet);

/* Prints those that failed, with the command that shows each, and a summary unless `is_quiet`. */
void bz_stored_print(const struct bz_stored *stored, const struct bz_program *program,
                     bool is_quiet);

/* Adds the command that shows one that failed. */
void bz_stored_add_command(struct bz_text *text, const struct bz_stored_failure *failure,
                           const struct bz_program *program);

/* Adds the same to a document, under this key. */
void bz_stored_add_json(const struct bz_stored *stored, struct bz_json *object, const char *key);
