/* The answers of one run that are not default, by the number of the question.
 *
 * A search numbers the questions of a run 1, 2, 3, ... in the order in which a world asks them, and
 * gives a schedule as the answers that are not 0. As text that is one word, question-answer pairs
 * joined by '+', so that it fits into a token: with "5-1+12-3" the fifth question is answered with
 * 1, the twelfth with 3, all others with 0. Questions are: which of two or more ready handles is
 * next (its place in the queue), whether and whom a cancel hits (0 nobody, else the candidate's
 * place plus 1), whether the clock jumps, and every draw. Unlike a tape they do not say what was
 * chosen, only where: they repeat a run exactly, and are not made to be edited.
 */
#ifndef BZ_SIM_CHOICE_ANSWERS_H
#define BZ_SIM_CHOICE_ANSWERS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define BZ_ANSWERS_ENTRIES_MAX 48u
#define BZ_ANSWERS_TEXT_BYTES 512u /* of the longest, NUL included */

struct bz_answers {
    uint32_t count;
    struct bz_answer_entry {
        uint32_t question; /* 1 is the first; ascending */
        uint64_t answer;   /* not 0 */
    } entries[BZ_ANSWERS_ENTRIES_MAX];
};

/* Adds an answer behind the others. False if they are full, by number or by length as text. O(n).
 */
bool bz_answers_add(struct bz_answers *answers, uint32_t question, uint64_t answer);

/* From and to text; false if it is no such text. No answers at all are "0". */
bool bz_answers_parse(struct bz_answers *answers, const char *text);
const char *bz_answers_format(const struct bz_answers *answers, char *text, size_t text_bytes);

#endif
