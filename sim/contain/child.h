/* Written by a child before it ends; read by its parent. Private to contain.c and child.c. */
#pragma once

#include <assert.h>
#include <signal.h>
#include <stddef.h>

#include "sim/contain/contain.h"
#include "traces/text.h"

/* How a child ends, by its own account. */
enum bz_ending {
    END_UNTOLD = 0,
    END_DONE,
    END_OFF_STACK,
    END_SANITIZER,
    END_FORKED,
    END_LOOP_FULL,
    END_OVERWRITTEN,
    END_PANIC,  /* the text is that of the panic */
    END_CHECK,  /* the text is that of a failed check */
    END_BROKEN, /* the text is the rule that its events broke */
    END_LACK,   /* the text is what ran out */
    END_COUNT
};

/* A part of a child's page. Code under test may write over it: then its sum is wrong. */
struct bz_account {
    uint64_t ending; /* enum bz_ending */
    char text[BZ_LACK_BYTES];
    uint64_t sum; /* 0: nothing was told */
};

/* Written by the child, read by its parent. */
struct bz_child_page {
    bool can_tell_place;
    struct bz_account end;
    struct bz_account place; /* of the code under test */
};

static_assert(offsetof(struct bz_account, sum) == sizeof(uint64_t) + BZ_LACK_BYTES,
              "the sum covers no padding, which a copy need not have");

static inline uint64_t bz_account_sum(const struct bz_account *account) {
    return bz_checksum((const char *)account, offsetof(struct bz_account, sum)) | 1u;
}

/* By default it is ignored, and hardly any program uses it. */
#define BZ_ASK_SIGNAL SIGURG

struct bz_childhood {
    struct bz_child_page *page;
    const struct bz_world *world; /* NULL: none */
    const struct bz_contain *contain;
    pid_t parent;
    int fd; /* to wake the parent */
};

/* fork() for a child; the code under test may not call it. */
pid_t bz_child_fork(void);

/* The life of a child. */
_Noreturn void bz_child_live(const struct bz_childhood *childhood, void (*run)(void *context),
                             void *context);
