/* A focus: words of letters, each of which is a kind of slot. */
#include <string.h>

#include "scenarios/program/slots.h"
#include "sim/judge/judge.h"

/* The letters of a focus. */
static const uint8_t letters[128] = {
    ['A'] = SLOT_AWAIT,   ['B'] = SLOT_BODY,     ['C'] = SLOT_CREATE_TASK, ['F'] = SLOT_FAIL,
    ['G'] = SLOT_GROUP,   ['K'] = SLOT_CATCH,    ['L'] = SLOT_LOOK,        ['M'] = SLOT_RESCHEDULE,
    ['N'] = SLOT_FINALLY, ['P'] = SLOT_SPAWN,    ['R'] = SLOT_GATHER,      ['S'] = SLOT_CANCEL_SELF,
    ['T'] = SLOT_TIMEOUT, ['U'] = SLOT_UNCANCEL, ['W'] = SLOT_WAIT_FOR,    ['X'] = SLOT_BREAK,
    ['c'] = SLOT_CANCEL,  ['g'] = SLOT_GIVE,     ['j'] = SLOT_JOIN,        ['h'] = SLOT_SHUTDOWN,
    ['p'] = SLOT_PUT,     ['q'] = SLOT_GET,      ['s'] = SLOT_SLEEP,       ['u'] = SLOT_USE,
    ['y'] = SLOT_YIELD,
};

/* Words of letters, as often as they are likely. Brackets say what is inside; else that is drawn.
 */
const struct bz_script_focus bz_script_focuses[BZ_SCRIPT_FOCUSES] = {
    {"lock", "u u u u u u u y y s c K L X", BZ_PRIMITIVE_LOCK},
    {"semaphore", "u u u u u u g g gc gc y s", BZ_PRIMITIVE_SEMAPHORE},
    {"bounded", "u u u u u u g L X y y s c", BZ_PRIMITIVE_BOUNDED},
    {"event", "u u u u u g g y y c s", BZ_PRIMITIVE_EVENT},
    {"condition", "u u u u u u u u u g g gc y s", BZ_PRIMITIVE_CONDITION},
    {"barrier", "u u u u u u g X y y c s", BZ_PRIMITIVE_BARRIER},
    {"queue", "q q q q pp pp pc qc u u uc gc h y s L X", BZ_PRIMITIVE_QUEUE},
    {"join", "p p g gg gg j j j h y s c X", BZ_PRIMITIVE_QUEUE},
    {"shutdown", "q q q q pp pp pp h h y y s c", BZ_PRIMITIVE_QUEUE},
    {"timeout", "T T T T(K(s)F) T(K(s)M) K S U y s s s M c F", BZ_SCRIPT_PRIMITIVES},
    {"cancel", "T T K(SSy) K(Sy) T(Us) T(Uy) T(K(s)U) S U y s s c", BZ_SCRIPT_PRIMITIVES},
    {"group", "G B B(FyyyK(s)C(y)) B(C(F)K(s)C(y)) K N C F S c y s s", BZ_SCRIPT_PRIMITIVES},
    {"wait-for", "W W W(K(s)y) K N y y s S c F", BZ_SCRIPT_PRIMITIVES},
    {"gather", "R R R K y y s c F S N", BZ_SCRIPT_PRIMITIVES},
    {"shield", "A A A A P K y y s c F", BZ_SCRIPT_PRIMITIVES},
    {"timers", "s s s s T T T M M M y y u", BZ_SCRIPT_PRIMITIVES},
};

/* A word of the focus. */
static const char *draw_word(const char *words, struct bz_judge *judge) {
    uint64_t count = 1;
    for (const char *at = words; (at = strchr(at, ' ')) != NULL; at++) {
        count++;
    }
    for (uint64_t skip = bz_judge_draw(judge, "op", count); skip > 0; skip--) {
        words = strchr(words, ' ') + 1;
    }
    return words;
}

uint32_t bz_focus_span(const char *letter, uint32_t drawn) {
    uint32_t depth = letter[1] == '(';
    uint32_t count = 0;
    for (letter += 2; depth > 0; letter++) {
        depth += *letter == '(';
        depth -= *letter == ')';
        count += *letter != '(' && *letter != ')';
    }
    return count > 0 ? count : drawn;
}

uint32_t bz_focus_slot(const char *letter) {
    return letters[(uint8_t)*letter];
}

const char *bz_focus_draw(const struct bz_script_focus *focus, const char *letter,
                          struct bz_judge *judge) {
    letter += letter != NULL;
    while (letter != NULL && (*letter == '(' || *letter == ')')) {
        letter++;
    }
    return letter == NULL || *letter == ' ' || *letter == '\0' ? draw_word(focus->slots, judge)
                                                               : letter;
}
