/* For coroutine_test: semaphores in C++ that wait where the C++ runtime keeps an exception for the
 * thread. `catching` waits in a catch block, `rethrowing` rethrows after the wait, `unwinding`
 * waits in a destructor while the stack is unwound. With -DFAULT=1 a woken waiter that is cancelled
 * keeps its permit. With -DIN_ARENA the exceptions come from the arena, with -DIN_PLACE a waiter
 * resumes inside the release, which may be in a catch block or a destructor. */
#include <exception>

#include "sim/variant/plugin.h"
#ifdef IN_ARENA
#include "sim/variant/new.hpp"
#else
static void bz_malloc_from(bz_loop *) {
}
#endif

#ifdef IN_PLACE
#define set_result bz_future_set_result_in_place
#else
#define set_result bz_future_set_result
#endif

namespace {

struct waiter {
    bz_future future;
    bz_list link;
};

struct semaphore {
    bz_loop *loop;
    uint32_t free;
    uint32_t promised; /* to waiters that have not returned */
    bz_list line;
};

struct busy {
    const semaphore *of;
};

bz_status init(void *instance, bz_loop *loop, uint32_t permits) {
    semaphore *sem = static_cast<semaphore *>(instance);
    sem->loop = loop;
    sem->free = permits;
    bz_list_init(&sem->line);
    return BZ_OK;
}

void put(semaphore &sem) {
    while (bz_list *link = bz_list_pop_front(&sem.line)) {
        bz_future &future = bz_container_of(link, waiter, link)->future;
        if (!bz_future_is_done(&future)) {
            sem.promised++;
            (void)set_result(&future, 0);
            return;
        }
    }
    sem.free++;
}

/* Lets others run twice: while it waits, and once more. */
bz_status wait(semaphore &sem) {
    waiter own;
    bz_future_init(&own.future, sem.loop);
    bz_list_push_back(&sem.line, &own.link);
    bz_status status = bz_future_await(&own.future);
    if (bz_list_is_linked(&own.link)) {
        bz_list_remove(&own.link);
    }
    if (own.future.state != BZ_FUTURE_RESULT) {
        return status;
    }
    bz_status yielded = bz_yield(sem.loop);
    status = status == BZ_OK ? yielded : status;
    sem.promised--;
    if (status != BZ_OK && !FAULT) {
        put(sem);
    }
    return status;
}

void take(semaphore &sem) {
    if (sem.free == 0) {
        throw busy{&sem};
    }
    sem.free--;
}

void check(bool holds) {
    if (!holds) {
        __builtin_trap();
    }
}

bz_status acquire_catching(semaphore &sem) {
    try {
        take(sem);
        return BZ_OK;
    } catch (const busy &what) {
        bz_status status = wait(sem);
        check(what.of == &sem);
        return status;
    }
}

bz_status acquire_rethrowing(semaphore &sem) {
    bz_status status = BZ_OK;
    try {
        try {
            take(sem);
        } catch (...) {
            status = wait(sem);
            throw;
        }
    } catch (const busy &what) {
        check(what.of == &sem);
    }
    return status;
}

bz_status acquire_unwinding(semaphore &sem) {
    struct guard {
        semaphore &sem;
        bz_status &result;
        bool is_needed;
        ~guard() {
            check(std::uncaught_exceptions() == is_needed);
            if (is_needed) {
                result = wait(sem);
            }
            check(std::uncaught_exceptions() == is_needed);
        }
    };
    bz_status status = BZ_OK;
    try {
        guard waits{sem, status, true};
        take(sem);
        waits.is_needed = false;
    } catch (const busy &what) {
        check(what.of == &sem && std::uncaught_exceptions() == 0);
    }
    return status;
}

template <bz_status (*acquire)(semaphore &sem)> bz_status acquire_by(void *instance) {
    semaphore &sem = *static_cast<semaphore *>(instance);
    bz_malloc_from(sem.loop);
    return acquire(sem);
}

/* Others throw and catch meanwhile. */
bz_status release(void *instance) {
    semaphore &sem = *static_cast<semaphore *>(instance);
    bz_malloc_from(sem.loop);
    try {
        throw &sem;
    } catch (const semaphore *same) {
        check(same == &sem);
        put(sem);
    }
    return BZ_OK;
}

void view(void *instance, bz_permit_view *shown) {
    semaphore &sem = *static_cast<semaphore *>(instance);
    shown->level = sem.free + sem.promised;
    for (bz_list *link = sem.line.next; link != &sem.line; link = link->next) {
        uint8_t state = bz_container_of(link, waiter, link)->future.state;
        shown->queued++;
        shown->waiting += state == BZ_FUTURE_PENDING;
        shown->cancelled += state == BZ_FUTURE_CANCELLED;
    }
}

template <bz_status (*acquire)(semaphore &sem)>
constexpr bz_permit_ops ops = {sizeof(semaphore), init,    nullptr, acquire_by<acquire>,
                               release,           nullptr, view};

constexpr bz_variant variant(const char *name, const bz_permit_ops *permits) {
    bz_variant variant{};
    variant.version = BZ_VARIANT_VERSION;
    variant.name = name;
    variant.summary = "a semaphore that waits with an exception";
    variant.claims = BZ_CLAIM_FIFO | BZ_CLAIM_WAKE_IS_GRANT;
    variant.permits[BZ_PRIMITIVE_SEMAPHORE] = permits;
    return variant;
}

constexpr bz_variant catching = variant("catching", &ops<acquire_catching>);
constexpr bz_variant rethrowing = variant("rethrowing", &ops<acquire_rethrowing>);
constexpr bz_variant unwinding = variant("unwinding", &ops<acquire_unwinding>);

} // namespace

BZ_PLUGIN(&catching, &rethrowing, &unwinding);
