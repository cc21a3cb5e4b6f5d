/* An intrusive doubly linked list: no allocation, O(1) insertion and removal.
 *
 *     head <-> a <-> b <-> head          the head of an empty list points to itself
 *
 * The links of a removed node are NULL: bz_list_is_linked() is then false, and bz_list_remove()
 * aborts on a second removal.
 */
#ifndef BZ_RUNTIME_LIST_H
#define BZ_RUNTIME_LIST_H

#include <stdbool.h>
#include <stddef.h>

#include "primitives/runtime/check.h"

BZ_BEGIN_DECLS

struct bz_list {
    struct bz_list *prev;
    struct bz_list *next;
};

#define bz_container_of(pointer, type, member)                                                     \
    ((type *)(void *)((char *)(pointer)-offsetof(type, member)))

static inline void bz_list_init(struct bz_list *head) {
    head->prev = head;
    head->next = head;
}

static inline bool bz_list_is_empty(const struct bz_list *head) {
    return head->next == head;
}

static inline bool bz_list_is_linked(const struct bz_list *node) {
    return node->next != NULL;
}

static inline void bz_list_insert_before(struct bz_list *position, struct bz_list *node) {
    node->prev = position->prev;
    node->next = position;
    position->prev->next = node;
    position->prev = node;
}

static inline void bz_list_push_back(struct bz_list *head, struct bz_list *node) {
    bz_list_insert_before(head, node);
}

static inline void bz_list_push_front(struct bz_list *head, struct bz_list *node) {
    bz_list_insert_before(head->next, node);
}

static inline void bz_list_remove(struct bz_list *node) {
    BZ_CHECK(node->next != NULL);
    node->prev->next = node->next;
    node->next->prev = node->prev;
    node->prev = NULL;
    node->next = NULL;
}

/* Removes and returns the first node; NULL if the list is empty. */
static inline struct bz_list *bz_list_pop_front(struct bz_list *head) {
    struct bz_list *node = head->next;
    if (node == head) {
        return NULL;
    }
    bz_list_remove(node);
    return node;
}

BZ_END_DECLS

#endif
