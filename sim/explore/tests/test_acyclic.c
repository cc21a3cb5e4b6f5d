/* Cycles in lists of edges. */
#include "sim/explore/cycle_check.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>

#define CAPACITY (2u * BZ_EDGES_AT_A_TIME)

static struct bz_edge_log *edges;
static struct bz_edge_places places[2]; /* of two workers */

static void add(uint32_t worker, uint32_t from, uint32_t to) {
    bz_edge_log_add(edges, &places[worker], from, to);
}

static enum bz_acyclic look(uint32_t state_count) {
    edges->state_count = state_count;
    return bz_edges_are_acyclic(edges);
}

static void begin(void) {
    edges = bz_edge_log_new(CAPACITY * sizeof(struct bz_edge));
    cr_assert(ne(ptr, edges, NULL));
    bz_edge_log_begin(edges);
}

Test(acyclic, finds_a_cycle_through_the_edges_of_two_workers) {
    begin();
    add(0, 0, 1);
    add(0, 1, 2);
    add(0, 0, 2); /* two ways to one state are no cycle */
    add(1, 2, 3);
    cr_assert(eq(int, look(4), BZ_ACYCLIC_YES));
    add(1, 3, 1);
    cr_assert(eq(int, look(4), BZ_ACYCLIC_NO));
    bz_edge_log_destroy(edges);
}

Test(acyclic, a_state_that_leads_to_itself_is_a_cycle) {
    begin();
    cr_assert(eq(int, look(2), BZ_ACYCLIC_YES));
    add(1, 1, 1);
    cr_assert(eq(int, look(2), BZ_ACYCLIC_NO));
    bz_edge_log_destroy(edges);
}

Test(acyclic, does_not_know_what_a_full_log_has_left_out) {
    begin();
    for (uint32_t index = 0; index <= CAPACITY; index++) {
        cr_assert(bz_edge_log_has_all(edges));
        add(1, index, index + 1);
    }
    cr_assert(not(bz_edge_log_has_all(edges)));
    cr_assert(eq(int, look(CAPACITY + 2), BZ_ACYCLIC_UNKNOWN));
    bz_edge_log_begin(edges);
    cr_assert(eq(int, look(6), BZ_ACYCLIC_YES));
    bz_edge_log_destroy(edges);
}
