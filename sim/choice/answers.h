/* A script: the choices of one run that are not the default, by the number of the choice point.
 *
 * The choice points of a run are numbered 1, 2, 3, ... in the order in which the judge asks its
 * strategy; each choice is a number, and 0 is the default. Choice points are: which of two or more
 * ready handles is next (its place in the queue), a cancel (0: none; else the candidate's place
 * plus 1), a clock jump (0 or 1), and every draw. As text, a script is one word that fits into a
 * token: "5-1+12-3" chooses 1 at choice point 5, 3 at choice point 12, and 0 at all others.
 *
 * A tape says what was chosen by its identity, and can be edited; a script can only repeat a run.
 */
#ifndef BZ_SIM_CHOICE_ANSWERS_H
#define BZ_SIM_CHOICE_ANSWERS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "primitives/runtime/cdecl.h"

BZ_BEGIN_DECLS

#define BZ_ANSWERS_ENTRIES_MAX 48u
#define BZ_ANSWERS_TEXT_BYTES 512u /* of the longest, NUL included */

struct bz_answers {
    uint32_t count;
    struct bz_answer_entry {
        uint32_t question; /* number of the choice point; ascending */
        uint64_t answer;   /* the choice; not 0 */
    } entries[BZ_ANSWERS_ENTRIES_MAX];
};

/* Adds an entry at the end. False, and nothing is added, if there are too many, or if the
 * text would be too long. O(entries). */
bool bz_answers_add(struct bz_answers *answers, uint32_t question, uint64_t answer);

/* From text, false if it is malformed; and to text, cut to fit. "0" is the empty script. */
bool bz_answers_parse(struct bz_answers *answers, const char *text);
const char *bz_answers_format(const struct bz_answers *answers, char *text, size_t text_bytes);

BZ_END_DECLS

#endif
