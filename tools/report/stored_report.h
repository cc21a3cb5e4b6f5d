/* The stored traces that a campaign tried first, for people and programs. */
#ifndef BZ_TOOLS_REPORT_STORED_REPORT_H
#define BZ_TOOLS_REPORT_STORED_REPORT_H

#include "sim/session/stored_traces.h"
#include "tools/report/text_output.h"
#include "traces/json.h"

/* Says on stderr what became of them, a line for each outcome. `is_quiet`: of failures alone. */
void bz_stored_say_own(const struct bz_stored *stored, const char *name,
                       const struct bz_program *program, bool is_quiet);

/* Prints those that failed, with the command that shows each, and a summary unless `is_quiet`. */
void bz_stored_print(const struct bz_stored *stored, const struct bz_program *program,
                     bool is_quiet);

/* Adds the command that shows one that failed. */
void bz_stored_add_command(struct bz_text *text, const struct bz_stored_failure *failure,
                           const struct bz_program *program);

/* Adds the same to a document, under this key. */
void bz_stored_add_json(const struct bz_stored *stored, struct bz_json *object, const char *key);

#endif
