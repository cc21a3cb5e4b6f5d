/* A stage: guests who play scripts (actor.h), and a test that is written as a timeline.
 *
 *     tst_play(&stage, "a-b: acquire release;"
 *                      "turn cancel-a release queue=0/1/1 => a.acquire:cancelled b.acquire:ok");
 *
 * A timeline is a list of clauses with a ";" between them. A clause is one of these:
 *
 *     a: SCRIPT      guest a starts; "a-c: SCRIPT" starts three guests with the same script
 *     +a: SCRIPT     gives guest a its script, and does not start it
 *     WORD WORD ...  the test plays these words, outside of any task
 *
 * A clause may end in an arrow. "-> LOG": what was logged since the last arrow must be LOG.
 * "=> LOG": before that the loop runs to the end, until nothing is ready and no timer is armed.
 *
 * Guests and the test share one vocabulary: the words below, and those that a stage adds. X is a
 * guest, N a number. Without N it is one turn, a value of 7, and 0 elsewhere.
 *
 *     step-N  turn-N  run     runs the N-th ready handle; runs N turns; runs to the end
 *     time-N  due-N           moves the clock by N ns; queues the due timers, which must be N
 *     cancel-X  uncancel-X    of X's task; uncancel reports the requests that are left
 *     join-X  free-X          joins X's task; frees it
 *     set-XN  fail-XN         completes future X, which guest X awaits, with a result, an exception
 *     place-XN                completes future X in place with a result
 *     drop-X  await-X         cancels future X; awaits it
 *     future-X                reports state/value of future X
 *     end-X                   reports outcome/requests of X's task, which must have ended
 *     done-X  cancelling-X    reports yes or no; reports the requests
 *     now  deadline           reports the time; reports the next deadline, or "never"
 *     ready  live             reports the number of ready handles; of live tasks
 *     requests                reports the requests of the guest who plays it
 *
 * A word may name the report or the status that it must have: "queue=1/0/0", "release:not-held".
 * Without that a word of the test must return BZ_OK. A guest logs "a.get=7" for a word that reports
 * something, else "a.get:ok". A quiet word is logged only if it does not return BZ_OK. A word with
 * "=" is never logged.
 */
#ifndef BZ_TESTS_STAGE_H
#define BZ_TESTS_STAGE_H

#include "primitives/tests/actor.h"

#define TST_GUESTS 26u
#define TST_SCRIPT_BYTES 128u

struct tst_stage;

/* One word that is being played. */
struct tst_call {
    struct tst_stage *stage;
    struct tst_actor *actor; /* NULL: the test */
    const char *word;
    const char *rest; /* what follows the verb */
    char report[64];  /* empty: none */
};

/* A verb that ends in "-", "+" or "(" is what a word begins with. Another one is a whole word. */
struct tst_word {
    const char *verb; /* NULL: end of the table */
    enum bz_status (*play)(struct tst_call *call);
    bool is_quiet;
};

/* The part that a stage adds. The first member of each stage is a struct tst_stage. */
struct tst_cast {
    const struct tst_word *words;           /* NULL: none */
    void (*report)(struct tst_call *call);  /* plays words that only report; or NULL */
    void (*check)(struct tst_stage *stage); /* after every step and every word; or NULL */
};

struct tst_stage {
    struct bz_loop *loop;
    struct tst_log log;
    struct tst_cast cast;
    const char *clause; /* for messages */
    char scripts[TST_GUESTS][TST_SCRIPT_BYTES];
    struct tst_actor actors[TST_GUESTS];
    struct bz_future futures[TST_GUESTS];
    struct bz_task *tasks[TST_GUESTS];
    bool is_owned[TST_GUESTS]; /* the task is the stage's to free */
};

void tst_stage_begin(struct tst_stage *stage, struct tst_cast cast);

/* Runs to the end. Nothing was logged since the last arrow; every task has ended, and is freed. */
void tst_stage_end(struct tst_stage *stage);

void tst_play(struct tst_stage *stage, const char *timeline);

/* A whole timeline on a stage that adds nothing. */
void tst_timeline(const char *timeline);

/* A timeline in a table. Messages of failures have its name. */
struct tst_row {
    const char *name; /* NULL: end of the table */
    const char *timeline;
};

void tst_play_rows(const struct tst_row *rows, void (*play)(const char *timeline));

/* As before, with a number that the play begins with: of permits, places, parties. */
struct tst_sized_row {
    const char *name; /* NULL: end of the table */
    uint32_t size;
    const char *timeline;
};

void tst_play_sized_rows(const struct tst_sized_row *rows,
                         void (*play)(uint32_t size, const char *timeline));

/* For tables of another form: what is played from here on is the row of this name. */
void tst_begin_row(const char *name);

/* The play of a word in one expression: with its status, or one that always succeeds. */
#define TST_WORD(name_, ...)                                                                       \
    static inline enum bz_status name_(struct tst_call *call) {                                    \
        return __VA_ARGS__;                                                                        \
    }
#define TST_DEED(name_, ...)                                                                       \
    static inline enum bz_status name_(struct tst_call *call) {                                    \
        __VA_ARGS__;                                                                               \
        return BZ_OK;                                                                              \
    }

/* Plays words as the test. */
void tst_act(struct tst_stage *stage, const char *words);

static inline unsigned tst_index(char name) {
    cr_assert(name >= 'a' && name <= 'z', "'%c' is no guest", name);
    return (unsigned)(name - 'a');
}

/* --- for the functions that play words -------------------------------------------------------- */

/* The guest that the word names, by index. */
static inline unsigned tst_named(const struct tst_call *call) {
    return tst_index(call->rest[0]);
}

static inline uint64_t tst_number(const char *digits) {
    return strtoull(digits, NULL, 10);
}

__attribute__((format(printf, 2, 3))) void tst_report(struct tst_call *call, const char *format,
                                                      ...);

/* Each reports a value if the word is that name. */
void tst_flag(struct tst_call *call, const char *name, bool flag);
void tst_count(struct tst_call *call, const char *name, uint64_t count);

#endif
