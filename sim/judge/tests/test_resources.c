/* Pools of resources, told by hand: what becomes of each resource, and who is in the line. */
#include "sim/judge/tests/teller.h"

#define LIMIT 2u
#define IDLE_NS 10u

/* Words of the teller, and these, with N the number of a resource:
 *     make made failed    a creation of the running task: it begins, ends with BZ_OK, with
 * BZ_FAILED borrow              it calls acquire lent-N              acquire returns BZ_OK with
 * that resource; "none" BZ_CANCELLED, "shut" BZ_CLOSED, "poor" BZ_FAILED give-N break-N      it
 * releases that resource, healthy or broken; "kept-N": that is refused destroy-N           the pool
 * does close closed        it calls close; that returns BZ_OK later               the clock moves
 * on by 11 ns over                the run is over */
struct told {
    struct teller teller;
    struct bz_judged_resource_pool pool;
    struct bz_judged_join join;
    bool was_closed;
    uint64_t now_ns;
};

static bool give_word(struct told *told, const char *word, uint64_t number) {
    bool is_give = strncmp(word, "give-", 5) == 0;
    bool is_kept = strncmp(word, "kept-", 5) == 0;
    bool is_break = strncmp(word, "break-", 6) == 0;
    if (is_give || is_kept || is_break) {
        bool was_lent = bz_judge_give_back_begin(&told->pool, number, is_break);
        bz_judge_give_back_end(&told->pool, was_lent, number, is_kept ? BZ_NOT_HELD : BZ_OK);
    }
    return is_give || is_kept || is_break;
}

static bool borrow_word(struct told *told, const char *word, uint64_t number) {
    static const struct {
        const char *word;
        enum bz_status status;
    } ends[] = {{"none", BZ_CANCELLED}, {"shut", BZ_CLOSED}, {"poor", BZ_FAILED}};
    bool is_end = strncmp(word, "lent-", 5) == 0;
    enum bz_status status = BZ_OK;
    for (unsigned index = 0; index < sizeof ends / sizeof ends[0]; index++) {
        if (strcmp(word, ends[index].word) == 0) {
            is_end = true;
            status = ends[index].status;
        }
    }
    if (is_end) {
        bz_judge_borrow_end(&told->pool, told->was_closed, number, status);
    } else if (strcmp(word, "borrow") == 0) {
        told->was_closed = bz_judge_borrow_begin(&told->pool);
        is_end = true;
    }
    return is_end;
}

static void told_word(struct told *told, const char *word) {
    struct bz_judge *judge = told->teller.judge;
    const char *dash = strchr(word, '-');
    uint64_t number = dash == NULL ? 0 : (uint64_t)(dash[1] - '0');
    if (give_word(told, word, number) || borrow_word(told, word, number)) {
        return;
    }
    if (strcmp(word, "make") == 0) {
        bz_judge_resource_create_begin(&told->pool);
    } else if (strcmp(word, "made") == 0 || strcmp(word, "failed") == 0) {
        bz_judge_resource_create_end(&told->pool, told->pool.count,
                                     word[0] == 'm' ? BZ_OK : BZ_FAILED);
    } else if (strncmp(word, "destroy-", 8) == 0) {
        bz_judge_resource_destroy(&told->pool, number);
    } else if (strcmp(word, "close") == 0) {
        told->join = bz_judge_close_begin(&told->pool);
    } else if (strcmp(word, "closed") == 0) {
        bz_judge_close_end(&told->pool, told->join, BZ_OK);
    } else if (strcmp(word, "later") == 0) {
        bz_judge_clock(judge, told->now_ns += IDLE_NS + 1);
    } else if (strcmp(word, "over") == 0) {
        bz_judge_resource_pool_end(&told->pool);
    } else {
        tell_word(&told->teller, word);
    }
}

static void tell_all(struct told *told, uint32_t claims, const char *words) {
    char word[16];
    *told = (struct told){.now_ns = 0};
    begin(&told->teller, &plain, 0, 1, false);
    bz_judge_add_resource_pool(told->teller.judge, &told->pool, "pool", LIMIT, IDLE_NS, claims,
                               NULL);
    while (sscanf(words, "%15s", word) == 1) {
        words = strstr(words, word) + strlen(word);
        if (word[0] == '+' && bz_judge_running(told->teller.judge) != 0) {
            told_word(told, "yield");
        }
        told_word(told, word);
    }
}

static const struct {
    const char *name;
    const char *words;
    const char *oracle; /* NULL: silent */
    const char *text;
} rows[] = {
    {"lends_what_was_made_and_came_back",
     "+a borrow make made lent-1 give-1 borrow lent-1 give-1 close destroy-1 closed over", NULL,
     NULL},
    {"broken_one_is_destroyed", "+a borrow make made lent-1 break-1 destroy-1 over", NULL, NULL},
    {"refusals_are_allowed",
     "+a borrow make made lent-1 give-1 kept-1 borrow make failed poor close destroy-1 borrow shut",
     NULL, NULL},

    {"bound/counts_those_that_are_being_made",
     "+a borrow make yield +b borrow make yield +c borrow make", "bound",
     "'pool' has 3 resources, with those that are being made, but its limit is 2"},
    {"bound/counts_no_failures_and_nothing_destroyed",
     "+a borrow make failed poor borrow make made lent-2 break-2 destroy-2 borrow make made lent-3 "
     "+b borrow make",
     NULL, NULL},
    {"bound/counts_a_broken_one_until_it_is_destroyed",
     "+a borrow make made lent-1 break-1 borrow make made lent-2 +b borrow make", "bound",
     "has 3 resources"},

    {"item-once/lent_twice", "+a borrow make made lent-1 +b borrow lent-1", "item-once",
     "resource 1 of 'pool' was handed out, although it is lent to a task"},
    {"item-once/broken_and_lent", "+a borrow make made lent-1 break-1 +b borrow lent-1",
     "item-once", "was handed out, although it came back broken"},
    {"item-once/destroyed_and_lent", "+a borrow make made lent-1 break-1 destroy-1 borrow lent-1",
     "item-once", "was handed out, although it was destroyed"},
    {"item-once/never_made", "+a borrow lent-4", "item-once", "although it was never made"},
    {"item-once/destroyed_twice", "+a borrow make made lent-1 break-1 destroy-1 destroy-1",
     "item-once", "resource 1 of 'pool' is to be destroyed, although it was destroyed"},
    {"item-once/destroyed_while_it_is_lent", "+a borrow make made lent-1 destroy-1", "item-once",
     "is to be destroyed, although it is lent to a task"},
    {"item-once/idle_time_is_over", "+a borrow make made lent-1 give-1 later borrow lent-1",
     "item-once", "was handed out, although its idle time was over"},
    /* It may have been on its way to b. */
    {"item-once/idle_time_begins_again_when_a_waiter_leaves",
     "+a borrow make made lent-1 +c borrow make made lent-2 +b borrow wait +a give-1 wake-b later "
     "mark-b +b! none +a borrow lent-1",
     NULL, NULL},
    {"item-once/who_waited_may_have_been_given_it_in_time",
     "+a borrow make made lent-1 +c borrow make made lent-2 +b borrow wait +a give-1 wake-b later "
     "+b lent-1",
     NULL, NULL},

    {"misuse/lent_by_a_closed_pool", "+a borrow make made lent-1 give-1 close +b borrow lent-1",
     "misuse", "was handed out, although the pool was closed before the acquire"},
    {"misuse/lent_to_who_came_before_the_close",
     "+a borrow make made lent-1 give-1 +b borrow yield +a close yield +b lent-1", NULL, NULL},
    {"misuse/made_for_a_closed_pool", "+a close +b borrow make", "misuse",
     "resource 1 of 'pool' is to be made, although the pool was closed before"},
    {"misuse/what_was_being_made_when_the_pool_was_closed_may_be_lent",
     "+a borrow make yield +b close wait +a made lent-1 give-1 destroy-1", NULL, NULL},
    {"misuse/released_twice", "+a borrow make made lent-1 give-1 give-1", "misuse",
     "resource 1 of 'pool' was released, although it was not lent"},

    {"leak/close_has_returned_too_early", "+a borrow make made lent-1 +b close closed", "leak",
     "resource 1 of 'pool' is lent to a task, although the close has returned"},
    {"leak/broken_one_is_left_in_a_closed_pool", "+a borrow make made lent-1 close break-1 over",
     "leak", "came back broken, although the pool is closed, and every task has ended"},
    {"leak/idle_one_is_left_in_a_closed_pool", "+a borrow make made lent-1 close give-1 over",
     "leak", "is idle, although the pool is closed, and every task has ended"},
    /* A pool may look at it in its next acquire. */
    {"leak/those_in_an_open_pool_may_stay",
     "+a borrow make made lent-1 borrow make made lent-2 give-1 break-2 over", NULL, NULL},

    {"status/nothing_failed", "+a borrow poor", "status", "acquire of 'pool' returned failed"},
    {"status/nothing_was_closed", "+a borrow shut", "status", "but nothing was closed"},

    /* b waits beside room: that of the failed creation. While one is made there is none. */
    {"lost-wakeup/room_of_a_failed_creation",
     "+c borrow make made lent-1 +a borrow make yield +b borrow wait +a failed poor", "lost-wakeup",
     "1 of 2 permits of 'pool' is free, but b waits"},
    {"lost-wakeup/a_helper_makes_one", "+c borrow make made lent-1 +a make wait +b borrow wait",
     NULL, NULL},
    {"lost-wakeup/broken_one_is_still_there",
     "+c borrow make made lent-1 +a borrow make made lent-2 +b borrow wait +a break-2", NULL, NULL},
    {"lost-wakeup/broken_one_was_destroyed",
     "+c borrow make made lent-1 +a borrow make made lent-2 +b borrow wait +a break-2 destroy-2",
     "lost-wakeup", "b waits"},
    {"lost-wakeup/who_waits_for_a_closed_pool",
     "+c borrow make made lent-1 +a borrow make made lent-2 +b borrow wait +a close", "lost-wakeup",
     "'pool' is closed, but b waits (first of 1 waiter)"},
    {"lost-wakeup/who_is_woken_by_the_close",
     "+c borrow make made lent-1 +a borrow make made lent-2 +b borrow wait +a close wake-b +b shut",
     NULL, NULL},
    /* Failed, the task waits again at its place. */
    {"lost-wakeup/whose_creation_failed_and_who_waits_again",
     "+c borrow make made lent-1 +a borrow make yield +a failed wait", "lost-wakeup", "a waits"},

    {"fifo/newcomer_makes_one_while_another_waits",
     "+a borrow make made lent-1 +c borrow make made lent-2 +b borrow wait "
     "+a break-1 destroy-1 borrow make",
     "fifo", "a was granted a permit of 'pool' before b"},
    {"fifo/who_makes_one_is_not_passed",
     "+a borrow make yield +c borrow make made lent-2 +b borrow wait +c give-2 wake-b +b lent-2",
     NULL, NULL},
};

Test(resources, told_runs) {
    for (unsigned index = 0; index < sizeof rows / sizeof rows[0]; index++) {
        struct told told;
        tell_all(&told, BZ_CLAIM_FIFO | BZ_CLAIM_WAKE_IS_GRANT | BZ_CLAIM_REFUSES_MISUSE,
                 rows[index].words);
        const char *error = bz_judge_error(told.teller.judge);
        cr_assert(error == NULL, "%s: %s", rows[index].name, error);
        if (rows[index].oracle == NULL) {
            end_silently(&told.teller);
        } else {
            end_violated(&told.teller, rows[index].oracle, rows[index].text);
        }
    }
}
