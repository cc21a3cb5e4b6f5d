/* Cycles in lists of edges. */
#include "sim/explore/cycle_check.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>

#define CAPACITY 4u /* of each */

static struct bz_edge_logs *logs;

static void add(uint32_t log, uint32_t from, uint32_t to) {
    bz_edge_log_add(&logs->logs[log], from, to);
}

static enum bz_acyclic look(uint32_t state_count) {
    logs->state_count = state_count;
    return bz_edges_are_acyclic(logs);
}

static void begin(void) {
    logs = bz_edge_logs_new(2, 2 * CAPACITY * sizeof(struct bz_edge));
    cr_assert(ne(ptr, logs, NULL));
    bz_edge_logs_begin(logs);
}

Test(acyclic, finds_a_cycle_through_two_logs) {
    begin();
    add(0, 0, 1);
    add(0, 1, 2);
    add(0, 0, 2); /* two ways to one state are no cycle */
    add(1, 2, 3);
    cr_assert(eq(int, look(4), BZ_ACYCLIC_YES));
    add(1, 3, 1);
    cr_assert(eq(int, look(4), BZ_ACYCLIC_NO));
    bz_edge_logs_destroy(logs);
}

Test(acyclic, a_state_that_leads_to_itself_is_a_cycle) {
    begin();
    cr_assert(eq(int, look(2), BZ_ACYCLIC_YES));
    add(1, 1, 1);
    cr_assert(eq(int, look(2), BZ_ACYCLIC_NO));
    bz_edge_logs_destroy(logs);
}

Test(acyclic, does_not_know_what_a_full_log_has_left_out) {
    begin();
    for (uint32_t index = 0; index < 5; index++) {
        add(1, index, index + 1);
    }
    cr_assert(logs->logs[1].is_full);
    cr_assert(eq(int, look(6), BZ_ACYCLIC_UNKNOWN));
    bz_edge_logs_begin(logs);
    cr_assert(eq(int, look(6), BZ_ACYCLIC_YES));
    bz_edge_logs_destroy(logs);
}
