#include "tools/show/match_events.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "traces/lack.h"

#define WORDS 4u
#define NONE SIZE_MAX

/* Items that may have a counterpart in the other run: some events, and what they are matched by. */
struct item {
    const char *words[WORDS]; /* NULL: none */
    uint64_t n;
    uint64_t nth; /* of the items with these words and this number */
    size_t place; /* among the items of its side */
    const struct bz_trace_event *begin;
    const struct bz_trace_event *end;
};

/* The items of both sides, and the counterparts of side 0: places of side 1 that increase. */
struct items {
    size_t count[2];
    struct item *items[2];
    size_t *matches;
};

static void *get_memory(size_t count, size_t bytes) {
    return bz_lack_check(calloc(count + 1, bytes), "two runs side by side");
}

/* --- matching --------------------------------------------------------------------------------- */

static int compare_words(const char *a, const char *b) {
    return a == NULL || b == NULL ? (a != NULL) - (b != NULL) : strcmp(a, b);
}

static int compare_names(const struct item *a, const struct item *b) {
    int order = 0;
    for (unsigned index = 0; index < WORDS && order == 0; index++) {
        order = compare_words(a->words[index], b->words[index]);
    }
    return order != 0 ? order : (a->n > b->n) - (a->n < b->n);
}

static int compare_items(const void *left, const void *right) {
    const struct item *const *a = left;
    const struct item *const *b = right;
    int order = compare_names(*a, *b);
    return order != 0 ? order : ((*a)->place > (*b)->place) - ((*a)->place < (*b)->place);
}

/* The items of a side in the order of their names; numbers those with the same name. */
static struct item **sort_items(struct item *items, size_t count) {
    struct item **sorted = get_memory(count, sizeof *sorted);
    for (size_t index = 0; index < count; index++) {
        sorted[index] = &items[index];
    }
    qsort(sorted, count, sizeof *sorted, compare_items);
    for (size_t index = 1; index < count; index++) {
        bool is_same = compare_names(sorted[index - 1], sorted[index]) == 0;
        sorted[index]->nth = is_same ? sorted[index - 1]->nth + 1 : 0;
    }
    return sorted;
}

/* Matches every item with that of the same name, wherever it is. */
static void match_names(struct items *items) {
    struct item **a = sort_items(items->items[0], items->count[0]);
    struct item **b = sort_items(items->items[1], items->count[1]);
    size_t other = 0;
    for (size_t index = 0; index < items->count[0]; index++) {
        int order = -1;
        while (other < items->count[1] && order < 0) {
            order = compare_names(b[other], a[index]);
            order = order != 0 ? order
                               : (b[other]->nth > a[index]->nth) - (b[other]->nth < a[index]->nth);
            other += order < 0;
        }
        items->matches[a[index]->place] = order == 0 ? b[other]->place : NONE;
    }
    free(a);
    free(b);
}

/* Keeps the longest sequence of matches that increase, and drops the others. */
static void keep_order(struct items *items) {
    size_t count = items->count[0];
    size_t *last = get_memory(count, sizeof *last);     /* of a sequence of each length: its item */
    size_t *before = get_memory(count, sizeof *before); /* the item before it in that sequence */
    size_t longest = 0;
    for (size_t index = 0; index < count; index++) {
        size_t low = 0;
        size_t high = items->matches[index] == NONE ? 0 : longest;
        while (low < high) {
            size_t middle = low + (high - low) / 2;
            if (items->matches[last[middle]] < items->matches[index]) {
                low = middle + 1;
            } else {
                high = middle;
            }
        }
        if (items->matches[index] != NONE) {
            before[index] = low == 0 ? NONE : last[low - 1];
            last[low] = index;
            longest += low == longest;
        }
    }
    size_t kept = longest == 0 ? NONE : last[longest - 1];
    for (size_t index = count; index-- > 0;) {
        if (index == kept) {
            kept = before[index];
        } else {
            items->matches[index] = NONE;
        }
    }
    free(last);
    free(before);
}

static void match(struct items *items) {
    items->matches = get_memory(items->count[0], sizeof *items->matches);
    match_names(items);
    keep_order(items);
}

static void free_items(struct items *items) {
    free(items->items[0]);
    free(items->items[1]);
    free(items->matches);
}

/* --- what is matched -------------------------------------------------------------------------- */

static bool is_handle(const struct bz_trace_event *event) {
    return strcmp(event->event, "resume") == 0 || strcmp(event->event, "callback") == 0 ||
           strcmp(event->event, "inject") == 0;
}

/* A step has the name of its handle; the set-up, and a step without one, that of its first event.
 */
static void name_step(struct item *item) {
    const struct bz_trace_event *event = item->begin;
    while (event + 1 < item->end && !is_handle(event)) {
        event++;
    }
    event = is_handle(event) ? event : item->begin;
    item->words[0] = event->event;
    item->words[1] = event->task;
    item->words[2] = event->role;
    item->n = strcmp(event->event, "resume") == 0 ? event->n : 0;
}

static size_t collect_steps(const struct bz_trace_event *begin, const struct bz_trace_event *end,
                            struct item **items) {
    size_t count = 0;
    *items = get_memory((size_t)(end - begin), sizeof **items);
    while (begin < end) {
        struct item *item = &(*items)[count];
        item->place = count++;
        item->begin = begin;
        while (begin < end && begin->step == item->begin->step) {
            begin++;
        }
        item->end = begin;
        name_step(item);
    }
    return count;
}

static size_t collect_events(const struct item *step, struct item **items) {
    size_t count = (size_t)(step->end - step->begin);
    *items = get_memory(count, sizeof **items);
    for (size_t index = 0; index < count; index++) {
        const struct bz_trace_event *event = &step->begin[index];
        (*items)[index] =
            (struct item){.words = {event->event, event->task, event->op, event->object},
                          .place = index,
                          .begin = event,
                          .end = event + 1};
    }
    return count;
}

/* --- rows ------------------------------------------------------------------------------------- */

static bool is_same(const struct bz_trace_event *a, const struct bz_trace_event *b) {
    if (a == NULL || b == NULL) {
        return false;
    }
    struct bz_trace_event renumbered = *b;
    renumbered.step = a->step;
    return bz_trace_event_equal(a, &renumbered);
}

static void add_row(struct bz_alignment *alignment, const struct bz_trace_event *a,
                    const struct bz_trace_event *b) {
    alignment->rows[alignment->count++] = (struct bz_align_row){{a, b}, !is_same(a, b)};
}

static void add_unmatched(struct bz_alignment *alignment, const struct item *item, unsigned side) {
    for (const struct bz_trace_event *event = item->begin; event < item->end; event++) {
        add_row(alignment, side == 0 ? event : NULL, side == 1 ? event : NULL);
    }
}

/* The same handle in both runs. Events without a counterpart share a row, while both sides have
 * some before the next match. */
static void add_both(struct bz_alignment *alignment, const struct item *a, const struct item *b) {
    struct items events;
    events.count[0] = collect_events(a, &events.items[0]);
    events.count[1] = collect_events(b, &events.items[1]);
    match(&events);
    size_t at[2] = {0, 0};
    while (at[0] < events.count[0] || at[1] < events.count[1]) {
        size_t next = at[0]; /* match */
        while (next < events.count[0] && events.matches[next] == NONE) {
            next++;
        }
        size_t other = next < events.count[0] ? events.matches[next] : events.count[1];
        while (at[0] < next || at[1] < other) {
            const struct bz_trace_event *left = at[0] < next ? &a->begin[at[0]++] : NULL;
            add_row(alignment, left, at[1] < other ? &b->begin[at[1]++] : NULL);
        }
        if (next < events.count[0]) {
            add_row(alignment, &a->begin[at[0]++], &b->begin[at[1]++]);
        }
    }
    free_items(&events);
}

void bz_align(struct bz_alignment *alignment, const struct bz_trace *a, const struct bz_trace *b,
              size_t first) {
    while (first > 0 && (first >= a->event_count || first >= b->event_count ||
                         a->events[first - 1].step == a->events[first].step)) {
        first--; /* to the begin of a step */
    }
    struct items steps;
    size_t most = a->event_count + b->event_count - 2 * first;
    *alignment =
        (struct bz_alignment){.begin = first, .rows = get_memory(most, sizeof *alignment->rows)};
    steps.count[0] = collect_steps(a->events + first, a->events + a->event_count, &steps.items[0]);
    steps.count[1] = collect_steps(b->events + first, b->events + b->event_count, &steps.items[1]);
    match(&steps);
    size_t at = 0;
    for (size_t index = 0; index <= steps.count[0]; index++) {
        bool is_end = index == steps.count[0];
        size_t other = is_end ? steps.count[1] : steps.matches[index];
        if (other == NONE) {
            add_unmatched(alignment, &steps.items[0][index], 0);
            alignment->unmatched[0]++;
            continue;
        }
        while (at < other) {
            add_unmatched(alignment, &steps.items[1][at++], 1);
            alignment->unmatched[1]++;
        }
        if (!is_end) {
            add_both(alignment, &steps.items[0][index], &steps.items[1][at++]);
        }
    }
    free_items(&steps);
}

void bz_alignment_fini(struct bz_alignment *alignment) {
    free(alignment->rows);
    alignment->rows = NULL;
}
