/* Select: decided once, no value lost, no arm left behind. */
#include "primitives/sync/select.h"
#include "primitives/sync/tests/stage_waiters.h"

/* Words: "put-P-V" "close-P" with a port; "select" "first" "second" for both ports or one;
 * "within-N" for both, at most N ns; "values" "promised" "arms" report both ports. */
#define PORTS 2u

struct ports {
    struct tst_stage stage;
    struct bz_port ports[PORTS];
};

static struct ports *ports_of(struct tst_call *call) {
    return bz_container_of(call->stage, struct ports, stage);
}

static enum bz_status select_of(struct tst_call *call, uint32_t first, uint32_t count,
                                uint64_t delay_ns) {
    struct bz_port *ports[PORTS] = {&ports_of(call)->ports[first], &ports_of(call)->ports[1]};
    struct bz_selected selected = {.index = 0};
    enum bz_status status = bz_select(ports, count, delay_ns, &selected);
    if (status == BZ_OK) {
        tst_report(call, "%u/%u", selected.index + first, (unsigned)selected.value);
    }
    return status;
}

TST_WORD(word_select, select_of(call, 0, 2, BZ_TIME_NEVER))
TST_WORD(word_first, select_of(call, 0, 1, BZ_TIME_NEVER))
TST_WORD(word_second, select_of(call, 1, 1, BZ_TIME_NEVER))
TST_WORD(word_within, select_of(call, 0, 2, tst_number(call->rest)))
TST_WORD(word_put,
         bz_port_put(&ports_of(call)->ports[call->rest[0] - '0'], tst_number(call->rest + 2)))
TST_DEED(word_close, bz_port_close(&ports_of(call)->ports[tst_number(call->rest)]))

static void ports_report(struct tst_call *call) {
    const struct bz_port *ports = ports_of(call)->ports;
    if (strcmp(call->word, "values") == 0) {
        tst_report(call, "%u/%u", ports[0].values.count, ports[1].values.count);
    } else if (strcmp(call->word, "promised") == 0) {
        tst_report(call, "%u/%u", ports[0].promised, ports[1].promised);
    } else if (strcmp(call->word, "arms") == 0) {
        tst_report(call, "%u/%u", ports[0].queued, ports[1].queued);
    }
}

static void ports_check(struct tst_stage *stage) {
    const struct bz_port *ports = bz_container_of(stage, struct ports, stage)->ports;
    for (uint32_t index = 0; index < PORTS; index++) {
        const struct bz_port *port = &ports[index];
        cr_assert_eq(list_length(&port->arms), port->queued);
        cr_assert_leq(port->promised, port->values.count);
        cr_assert(port->queued == 0 || port->values.count == port->promised);
    }
}

static void play(const char *timeline) {
    static const struct tst_word words[] = {{"select", word_select},
                                            {"first", word_first},
                                            {"second", word_second},
                                            {"within-", word_within},
                                            {"put-", word_put},
                                            {"close-", word_close, .is_quiet = true},
                                            {NULL, NULL}};
    struct ports ports;
    tst_stage_begin(&ports.stage, (struct tst_cast){words, ports_report, ports_check});
    tst_status(bz_port_init(&ports.ports[0], ports.stage.loop, 0), BZ_INVALID_ARGUMENT);
    for (uint32_t index = 0; index < PORTS; index++) {
        tst_status(bz_port_init(&ports.ports[index], ports.stage.loop, 2), BZ_OK);
    }
    tst_play(&ports.stage, timeline);
    tst_play(&ports.stage, "run promised=0/0 arms=0/0");
    bz_port_fini(&ports.ports[0]);
    bz_port_fini(&ports.ports[1]);
    tst_stage_end(&ports.stage);
}

Test(select, timelines) {
    static const struct tst_row rows[] = {
        {"takes_what_is_there_the_first_port_first",
         "put-1-8 put-0-7 select=0/7 select=1/8 values=0/0"},
        {"a_put_has_a_bound", "put-0-1 put-0-2 put-0-3:full first=0/1 first=0/2"},
        {"the_first_put_decides_and_takes_out_all_arms",
         "a: select; turn arms=1/1 put-1-8 arms=0/0 promised=0/1 put-0-7 promised=0/1"
         " => a.select=1/8; values=1/0"},
        {"nobody_takes_a_promised_value",
         "a: select; turn put-0-7; b: first => a.select=0/7; arms=1/0 put-0-8 => b.first=0/8"},
        {"the_oldest_is_served_by_any_of_its_arms",
         "a: select; turn; b: second; turn put-1-8 put-1-9 => a.select=1/8 b.second=1/9"},
        {"values_keep_their_order",
         "a: select select; turn put-0-1 put-0-2 => a.select=0/1 a.select=0/2"},
        /* A deadline. */
        {"times_out",
         "a: within-5; turn arms=1/1 => a.within-5:timed-out; arms=0/0 put-0-7 values=1/0"},
        {"a_value_before_the_deadline_ends_it", "a: within-5; turn put-0-7 => a.within-5=0/7"},
        {"a_value_behind_the_deadline_is_not_lost",
         "a: within-5; turn time-5 due-1 step-0 put-0-7 promised=1/0 => a.within-5=0/7"},
        {"cancelled_behind_the_deadline",
         "a: within-5; turn time-5 due-1 step-0 cancel-a => a.within-5:cancelled; arms=0/0"},
        /* Closed ports. */
        {"a_close_decides", "a: select; turn close-1 arms=0/0 => a.select:closed; put-1-8:closed"},
        {"a_closed_port_gives_out_what_is_left", "put-0-7 close-0 first=0/7 first:closed"},
        {"who_waits_behind_the_last_promise_learns_of_the_close",
         "a-b: first; turn put-0-7 close-0 arms=1/0 => a.first=0/7 b.first:closed"},
        {"the_last_value_of_a_closed_port_is_handed_on",
         "a-b: first; turn put-0-7 close-0 cancel-a => a.first:cancelled b.first=0/7"},
        /* Cancels. */
        {"cancelled_while_waiting_leaves_all_ports",
         "a: select; turn cancel-a arms=0/0 put-0-7 => a.select:cancelled; values=1/0"},
        {"cancelled_in_the_window_hands_the_promise_on",
         "a: select; turn; b: first; turn put-0-7 cancel-a => a.select:cancelled b.first=0/7"},
        {"cancelled_in_the_window_leaves_the_value",
         "a: select; turn put-0-7 cancel-a => a.select:cancelled; first=0/7"},
        {NULL, NULL},
    };
    tst_play_rows(rows, play);
}
