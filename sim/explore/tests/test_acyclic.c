/* Cycles in lists of edges. */
#include "sim/explore/acyclic.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>

static struct bz_edge_log logs[2];

static enum bz_acyclic look(uint32_t state_count) {
    const struct bz_edge_log *const both[] = {&logs[0], &logs[1]};
    return bz_edges_are_acyclic(both, 2, state_count);
}

static void begin(void) {
    cr_assert(bz_edge_log_init(&logs[0], 1024));
    cr_assert(bz_edge_log_init(&logs[1], 4 * sizeof(struct bz_edge)));
}

static void end(void) {
    bz_edge_log_fini(&logs[0]);
    bz_edge_log_fini(&logs[1]);
}

Test(acyclic, finds_a_cycle_through_two_logs) {
    begin();
    bz_edge_log_add(&logs[0], 0, 1);
    bz_edge_log_add(&logs[0], 1, 2);
    bz_edge_log_add(&logs[0], 0, 2); /* two ways to one state are no cycle */
    bz_edge_log_add(&logs[1], 2, 3);
    cr_assert(eq(int, look(4), BZ_ACYCLIC_YES));
    bz_edge_log_add(&logs[1], 3, 1);
    cr_assert(eq(int, look(4), BZ_ACYCLIC_NO));
    end();
}

Test(acyclic, a_state_that_leads_to_itself_is_a_cycle) {
    begin();
    cr_assert(eq(int, look(2), BZ_ACYCLIC_YES));
    bz_edge_log_add(&logs[1], 1, 1);
    cr_assert(eq(int, look(2), BZ_ACYCLIC_NO));
    end();
}

Test(acyclic, does_not_know_what_a_full_log_has_left_out) {
    begin();
    for (uint32_t index = 0; index < 5; index++) {
        bz_edge_log_add(&logs[1], index, index + 1);
    }
    cr_assert(logs[1].is_full);
    cr_assert(eq(int, look(6), BZ_ACYCLIC_UNKNOWN));
    end();
}
