/* The checks and reports of a queue of waiters, for the stages of this folder. */
#ifndef BZ_TESTS_STAGE_WAITERS_H
#define BZ_TESTS_STAGE_WAITERS_H

#include "primitives/sync/waitq.h"
#include "primitives/tests/stage.h"

static inline uint32_t list_length(const struct bz_list *head) {
    uint32_t length = 0;
    for (const struct bz_list *link = head->next; link != head; link = link->next) {
        length++;
    }
    return length;
}

static inline void check_waiters(const struct bz_waitq *queue) {
    cr_assert_eq(list_length(&queue->waiting), queue->waiting_count);
}

/* Reports waiting/woken/cancelled if the word is that name. */
static inline void report_waiters(struct tst_call *call, const char *name,
                                  const struct bz_waitq *queue) {
    if (strcmp(call->word, name) == 0) {
        tst_report(call, "%u/%u/%u", queue->waiting_count, queue->woken_count,
                   queue->cancelled_count);
    }
}

#endif
