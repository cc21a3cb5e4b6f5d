#include "tools/show/match_events.h"

#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "traces/lack.h"
#include "traces/text.h"

#define PURPOSE "two runs side by side"
#define NONE SIZE_MAX

/* Items that may have a counterpart in the other run: some events, and what they are matched by. */
struct item {
    uint32_t name;
    const struct bz_trace_event *begin;
    const struct bz_trace_event *end;
};

/* The items of both sides, and the counterparts of side 0: places of side 1 that increase. */
struct items {
    struct bz_trace names; /* their names, as the names of tasks: a trace finds them by a hash */
    size_t count[2];
    struct item *items[2];
    size_t *matches;
};

/* --- matching --------------------------------------------------------------------------------- */

/* The number of what the words and the number name; no word has a line end. */
static uint32_t name_of(struct bz_trace *names, const char *const words[4], uint64_t n) {
    char name[4 * BZ_TRACE_NAME_BYTES_MAX + 32];
    snprintf(name, sizeof name, "%s\n%s\n%s\n%s\n%" PRIu64, words[0], bz_or(words[1], ""),
             bz_or(words[2], ""), bz_or(words[3], ""), n);
    if (bz_trace_find_task(names, name) == 0) {
        bz_trace_add_task(names, name);
    }
    return bz_trace_find_task(names, name);
}

/* Matches the n-th item of a name with the n-th of the same name, wherever it is. */
static void match_names(struct items *items) {
    size_t *first = bz_lack_new(items->names.task_count + 1, sizeof *first, PURPOSE);
    size_t *next = bz_lack_new(items->count[1] + 1, sizeof *next, PURPOSE);
    for (size_t place = items->count[1]; place > 0; place--) { /* numbers are places + 1 */
        uint32_t name = items->items[1][place - 1].name;
        next[place] = first[name];
        first[name] = place;
    }
    for (size_t place = 0; place < items->count[0]; place++) {
        size_t *match = &first[items->items[0][place].name];
        items->matches[place] = *match == 0 ? NONE : *match - 1;
        *match = next[*match];
    }
    free(first);
    free(next);
}

/* Keeps the longest sequence of matches that increase, and drops the others. */
static void keep_order(struct items *items) {
    size_t count = items->count[0];
    size_t *last =
        bz_lack_new(count + 1, sizeof *last, PURPOSE); /* of a sequence of each length: its item */
    size_t *before =
        bz_lack_new(count + 1, sizeof *before, PURPOSE); /* the item before it in that sequence */
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
    items->matches = bz_lack_new(items->count[0] + 1, sizeof *items->matches, PURPOSE);
    match_names(items);
    keep_order(items);
}

static void free_items(struct items *items) {
    free(items->items[0]);
    free(items->items[1]);
    free(items->matches);
    bz_trace_fini(&items->names);
}

/* --- what is matched -------------------------------------------------------------------------- */

static bool is_handle(const struct bz_trace_event *event) {
    return strcmp(event->event, "resume") == 0 || strcmp(event->event, "callback") == 0 ||
           strcmp(event->event, "inject") == 0;
}

/* A step has the name of its handle; the set-up, and a step without one, that of its first event.
 */
static uint32_t name_of_step(struct bz_trace *names, const struct item *item) {
    const struct bz_trace_event *event = item->begin;
    while (event + 1 < item->end && !is_handle(event)) {
        event++;
    }
    event = is_handle(event) ? event : item->begin;
    const char *const words[4] = {event->event, event->task, event->role, NULL};
    return name_of(names, words, bz_is(event->event, "resume") ? event->n : 0);
}

static void collect_steps(struct items *items, unsigned side, const struct bz_trace_event *begin,
                          const struct bz_trace_event *end) {
    items->items[side] =
        bz_lack_new((size_t)(end - begin) + 1, sizeof *items->items[side], PURPOSE);
    while (begin < end) {
        struct item *item = &items->items[side][items->count[side]++];
        item->begin = begin;
        while (begin < end && begin->step == item->begin->step) {
            begin++;
        }
        item->end = begin;
        item->name = name_of_step(&items->names, item);
    }
}

static void collect_events(struct items *items, unsigned side, const struct item *step) {
    items->count[side] = (size_t)(step->end - step->begin);
    items->items[side] = bz_lack_new(items->count[side] + 1, sizeof *items->items[side], PURPOSE);
    for (size_t index = 0; index < items->count[side]; index++) {
        const struct bz_trace_event *event = &step->begin[index];
        const char *const words[4] = {event->event, event->task, event->op, event->object};
        items->items[side][index] =
            (struct item){name_of(&items->names, words, 0), event, event + 1};
    }
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
    struct items events = {.count = {0, 0}};
    collect_events(&events, 0, a);
    collect_events(&events, 1, b);
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
    struct items steps = {.count = {0, 0}};
    size_t most = a->event_count + b->event_count - 2 * first;
    *alignment = (struct bz_alignment){
        .begin = first, .rows = bz_lack_new(most + 1, sizeof *alignment->rows, PURPOSE)};
    collect_steps(&steps, 0, a->events + first, a->events + a->event_count);
    collect_steps(&steps, 1, b->events + first, b->events + b->event_count);
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
