/* What is told to many: events, conditions and barriers, by lost-notification, relock,
 * cancel-delivered, barrier-round and lost-wakeup; and work-conserving. */
#include "sim/tests/toys_hall.h"

#define CLAIMS (TOY_CLAIMS_ALL | BZ_CLAIM_WORK_CONSERVING)

HALL_TOY(sound, 0, CLAIMS);
HALL_TOY(wakes_one, HALL_WAKES_ONE, CLAIMS);
HALL_TOY(blind, HALL_BLIND, CLAIMS);
HALL_TOY(polls, HALL_POLLS, 0);
HALL_TOY(drops, HALL_DROPS, CLAIMS);
HALL_TOY(relocks_once, HALL_RELOCKS_ONCE, CLAIMS);
HALL_TOY(never_relocks, HALL_NEVER_RELOCKS, CLAIMS);
HALL_TOY(swallows, HALL_SWALLOWS, CLAIMS);
HALL_TOY(spurious, HALL_SPURIOUS, CLAIMS);
HALL_TOY(spurious_but_claims_none, HALL_SPURIOUS, CLAIMS | BZ_CLAIM_EXACT_NOTIFY);
HALL_TOY(exact, 0, CLAIMS | BZ_CLAIM_EXACT_NOTIFY);
HALL_TOY(yields, HALL_YIELDS, CLAIMS | BZ_CLAIM_EXACT_NOTIFY);
HALL_TOY(wakes_dead, HALL_WAKES_DEAD, CLAIMS);
HALL_TOY(early, HALL_EARLY, CLAIMS);
HALL_TOY(duplicates, HALL_DUPLICATES, CLAIMS);
HALL_TOY(beyond, HALL_BEYOND, CLAIMS);
HALL_TOY(never_full, HALL_NEVER_FULL, CLAIMS);
HALL_TOY(one_by_one, HALL_ONE_BY_ONE, CLAIMS);
HALL_TOY(one_by_one_unclaimed, HALL_ONE_BY_ONE, 0);

/* --- event ------------------------------------------------------------------------------------ */

static const char *const two_pass[] = {"pass", "pass", "set", NULL};
static const char *const up_and_down[] = {"pass", "pass", "set clear", NULL};

/* That nobody waits beside a set flag any more when the step ends makes it no better. */
Test(lost_notification, fires_when_a_set_leaves_somebody_asleep) {
    hall_fails(&wakes_one, two_pass, "a b c", "lost-notification", 3,
               "c told 'flag' to wake 2 waiter(s), and 1 were woken; 1 still wait(s)");
    hall_fails(&wakes_one, up_and_down, "a b c", "lost-notification", 3, "and 1 were woken");
}

Test(lost_notification, is_silent_when_a_set_wakes_all_that_wait) {
    hall_passes(&sound, two_pass, "a b c", "a.pass:ok b.pass:ok");
    hall_passes(&sound, up_and_down, "a b c b a", "b.pass:ok a.pass:ok");
    /* One is on its way out: the set was not for it. */
    hall_passes(&wakes_one, two_pass, "a b !a c", "a.pass:cancelled b.pass:ok");
}

Test(lost_notification, is_silent_about_waiters_that_look_for_themselves) {
    hall_passes(&polls, two_pass, "a b a b c b a", "b.pass:ok a.pass:ok");
}

Test(lost_wakeup, fires_for_who_waits_beside_a_set_flag) {
    hall_fails(&blind, STAGE_SCRIPTS("set", "pass"), "a b", "lost-wakeup", 2,
               "'flag' is set, b waits (first of 1), and nothing is under way to wake it");
}

Test(lost_wakeup, is_silent_beside_a_flag_that_was_cleared) {
    hall_passes(&sound, STAGE_SCRIPTS("set clear yield set", "pass"), "a b a",
                "a.yield:ok b.pass:ok");
    hall_passes(&sound, STAGE_SCRIPTS("set", "pass"), "a b", "b.pass:ok");
}

/* --- condition -------------------------------------------------------------------------------- */

#define WAITS "acquire wait release"
#define WAITS_SWALLOWS "acquire ~wait release"

static const char *const three_at_news[] = {WAITS, WAITS, "acquire notify-2 release", NULL};
static const char *const one_told[] = {WAITS_SWALLOWS, WAITS_SWALLOWS,
                                       "acquire notify-1 yield release", NULL};

Test(lost_notification, fires_when_a_notification_wakes_too_few) {
    hall_fails(&wakes_one, three_at_news, "a b c", "lost-notification", 3,
               "c told 'news' to wake 2 waiter(s), and 1 were woken; 1 still wait(s)");
}

Test(lost_notification, is_silent_when_there_are_fewer_than_it_is_for) {
    hall_passes(&sound, STAGE_SCRIPTS(WAITS, "acquire notify-9 notify-1 release"), "a b",
                "a.acquire:ok b.acquire:ok b.notify-9:ok b.notify-1:ok b.release:ok a.wait:ok "
                "a.release:ok");
}

/* gh-112202: in the window, and while it waits for the lock. */
Test(lost_notification, fires_when_a_cancelled_waiter_takes_it_along) {
    static const char text[] = "a was notified by 'news', then cancelled, and left without passing "
                               "it on; 1 still wait(s)";
    hall_fails(&drops, one_told, "a b c !a a c a", "lost-notification", 7, text);
    hall_fails(&drops, one_told, "a b c a !a a c a", "lost-notification", 8, text);
}

Test(lost_notification, is_silent_when_a_cancelled_waiter_passes_it_on) {
    hall_passes(&sound, one_told, "a b c !a a c",
                "a.acquire:ok b.acquire:ok c.acquire:ok c.notify-1:ok c.yield:ok c.release:ok "
                "a.wait:cancelled a.release:ok b.wait:ok b.release:ok");
    hall_passes(&sound, one_told, "a b c a !a a b c",
                "a.acquire:ok b.acquire:ok c.acquire:ok c.notify-1:ok c.yield:ok c.release:ok "
                "a.wait:cancelled a.release:ok b.wait:ok b.release:ok");
}

/* asyncio from 3.13 on: a waiter that nobody had notified wakes another one, too. */
Test(lost_notification, is_silent_about_wake_ups_for_no_reason) {
    hall_passes(&spurious, STAGE_SCRIPTS(WAITS_SWALLOWS, WAITS), "a b !a a b",
                "a.acquire:ok b.acquire:ok a.wait:cancelled a.release:ok b.wait:ok b.release:ok");
}

Test(notify_count, fires_on_a_wake_up_for_no_reason_where_none_is_claimed) {
    hall_fails(&spurious_but_claims_none, STAGE_SCRIPTS(WAITS_SWALLOWS, WAITS), "a b !a a",
               "notify-count", 4, "'news' has woken 1 waiter(s) in all, and 0 were due");
}

/* Passed on in the window is due; cancelled before any notification is not. */
Test(notify_count, is_silent_when_each_wake_up_was_due) {
    hall_passes(&exact, one_told, "a b c !a a c",
                "a.acquire:ok b.acquire:ok c.acquire:ok c.notify-1:ok c.yield:ok c.release:ok "
                "a.wait:cancelled a.release:ok b.wait:ok b.release:ok");
    hall_passes(&exact, STAGE_SCRIPTS(WAITS, "acquire notify-9 notify-1 release"), "a b",
                "a.acquire:ok b.acquire:ok b.notify-9:ok b.notify-1:ok b.release:ok a.wait:ok "
                "a.release:ok");
}

/* It had not begun to wait: nobody notified it, and it owes nobody anything. */
Test(lost_notification, is_silent_about_who_is_cancelled_before_it_waits) {
    hall_passes(&yields, STAGE_SCRIPTS(WAITS, WAITS_SWALLOWS, "acquire notify-1 release"),
                "a a b !b b c a",
                "a.acquire:ok b.acquire:ok b.wait:cancelled b.release:ok c.acquire:ok "
                "c.notify-1:ok c.release:ok a.wait:ok a.release:ok");
}

/* anyio: the notification goes to one that is being cancelled, and from there to the next. */
Test(lost_notification, is_silent_when_it_goes_through_one_on_its_way_out) {
    hall_passes(&wakes_dead, one_told, "a b !a c a",
                "a.acquire:ok b.acquire:ok c.acquire:ok c.notify-1:ok c.yield:ok c.release:ok "
                "a.wait:cancelled a.release:ok b.wait:ok b.release:ok");
}

/* gh-67159. */
Test(relock, fires_when_a_wait_comes_back_without_the_lock) {
    hall_fails(&relocks_once, one_told, "a b c a !a a", "relock", 6,
               "a came back from waiting for 'news' with 'cancelled', while another task holds the "
               "lock");
    hall_fails(&never_relocks, STAGE_SCRIPTS(WAITS, "acquire notify-1 release"), "a b a", "relock",
               3, "a came back from waiting for 'news' with 'ok', and nobody holds the lock");
}

/* Cancelled on the way back and for a second time: it has the lock all the same. */
Test(relock, is_silent_when_it_comes_back_with_the_lock) {
    static const char *const two_told[] = {WAITS_SWALLOWS, "acquire notify-1 yield yield release",
                                           NULL};
    hall_passes(&sound, two_told, "a b a !a a !a a b b a",
                "a.acquire:ok b.acquire:ok b.notify-1:ok b.yield:ok b.yield:ok b.release:ok "
                "a.wait:cancelled a.release:ok");
}

/* gh-77022. That the notification stays with who swallowed the cancellation is not lost. */
Test(cancel_delivered, fires_when_the_way_back_to_the_lock_swallows_a_request) {
    hall_fails(&swallows, one_told, "a b c a !a a c a", "cancel-delivered", 8,
               "a on news was cancelled inside an operation, which swallowed that");
}

/* Who comes back from a wait is unknown to the lock's line: others that wait for the lock are not
 * passed over by it, and do not sleep beside a lock that nobody is to get. */
Test(work_conserving, is_silent_about_the_lock_of_a_condition) {
    hall_passes(&sound,
                STAGE_SCRIPTS(WAITS, "acquire notify-1 yield release", "acquire release",
                              "acquire release"),
                "a b c a d b c a d",
                "a.acquire:ok b.acquire:ok b.notify-1:ok b.yield:ok b.release:ok c.acquire:ok "
                "c.release:ok a.wait:ok a.release:ok d.acquire:ok d.release:ok");
}

/* --- barrier ---------------------------------------------------------------------------------- */

static const char *const three[] = {"arrive", "arrive", "arrive", NULL};
static const char *const four[] = {"~arrive", "arrive", "arrive", "arrive", NULL};

Test(barrier_round, fires_when_too_few_pass) {
    hall_fails(&early, three, "a b", "barrier-round", 2, "b passed 'gate' with only 2 of 3");
    /* Who was cancelled while it filled is none of them. */
    hall_fails(&early, three, "a !a a b c", "barrier-round", 5, "c passed 'gate' with only 2 of 3");
}

/* gh-155233. */
Test(barrier_round, fires_when_an_index_comes_twice) {
    hall_fails(&duplicates, four, "a b !a a c d b c", "barrier-round", 8,
               "c got index 1 of 'gate', which another task of its round has, too");
    hall_fails(&beyond, three, "a b c", "barrier-round", 3,
               "c got index 3 of 'gate', which is none of 0 to parties - 1");
}

Test(barrier_round, is_silent_when_each_round_is_complete) {
    hall_passes(&sound, three, "a b c b a", "c.arrive:ok b.arrive:ok a.arrive:ok");
    hall_passes(&duplicates, three, "a b c", "c.arrive:ok a.arrive:ok b.arrive:ok");
    hall_passes(&sound, four, "a b !a a c d b c",
                "a.arrive:cancelled d.arrive:ok b.arrive:ok c.arrive:ok");
}

/* It was one of the round: three came, and two of them pass. */
Test(barrier_round, is_silent_when_one_is_cancelled_after_the_round_is_complete) {
    hall_passes(&sound, three, "a b c !a a b", "c.arrive:ok a.arrive:cancelled b.arrive:ok");
}

/* Two rounds overlap, where nobody is held back. */
Test(barrier_round, is_silent_when_a_fast_task_comes_round_again) {
    hall_passes(&sound, STAGE_SCRIPTS("arrive", "arrive", "arrive arrive", "arrive", "arrive"),
                "a b c d e a b c d",
                "c.arrive:ok e.arrive:ok a.arrive:ok b.arrive:ok c.arrive:ok d.arrive:ok");
}

/* A reset throws out who fills and spares who passes; the next round is judged as ever. */
Test(barrier_round, starts_anew_after_a_reset) {
    hall_passes(&sound, STAGE_SCRIPTS("~arrive arrive", "arrive", "arrive", "reset"),
                "a d a b c b a", "a.arrive:broken c.arrive:ok b.arrive:ok a.arrive:ok");
    hall_passes(&sound, STAGE_SCRIPTS("arrive", "arrive", "arrive", "reset"), "a b c d a b",
                "c.arrive:ok a.arrive:ok b.arrive:ok");
    hall_fails(&early, STAGE_SCRIPTS("~arrive", "reset", "arrive", "arrive"), "a b a c d",
               "barrier-round", 5, "d passed 'gate' with only 2 of 3");
}

Test(lost_wakeup, fires_when_enough_wait_at_a_barrier) {
    hall_fails(&never_full, three, "a b c", "lost-wakeup", 3,
               "3 wait at 'gate', which is for 3, and nothing is under way to wake them");
}

Test(lost_wakeup, is_silent_at_a_barrier_where_too_few_wait) {
    hall_fails(&never_full, STAGE_SCRIPTS("arrive", "arrive"), "a b", "deadlock", 2,
               "a (in wait of gate), b (in wait of gate)");
}

/* --- semaphore -------------------------------------------------------------------------------- */

/* gh-111693: three permits come back in one step while b alone waits; c and d queue behind it. */
static const char *const four_guests[] = {"acquire acquire acquire yield release release release",
                                          "acquire yield release", "acquire release",
                                          "acquire release", NULL};

Test(work_conserving, fires_when_who_resumes_wakes_one_where_two_fit) {
    toy_fails(&one_by_one, 3, four_guests, "a b a c d b", "work-conserving", 6,
              "permit(s) of 'table' are free and promised to nobody, but d sleeps (first of 1)");
}

Test(work_conserving, is_silent_when_all_that_fit_are_woken) {
    toy_passes(&sound, 3, four_guests, "a b a c d b");
}

Test(work_conserving, is_silent_without_the_claim) {
    toy_passes(&one_by_one_unclaimed, 3, four_guests, "a b a c d b");
}
