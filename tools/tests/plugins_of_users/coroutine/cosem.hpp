/* A semaphore for that loop, in coroutines. Nothing here knows of Buzzer. */
#ifndef COSEM_HPP
#define COSEM_HPP

#include <coroutine>

#include "cotask.hpp"

namespace co {

/* In the caller's storage until acquire has returned. */
struct waiter {
    enum { idle, waiting, granted, cancelled } state = idle;
    std::coroutine_handle<> handle;
    waiter *next = nullptr;
};

class semaphore {
  public:
    semaphore(loop &own_loop, unsigned permits) : on(own_loop), level(permits) {
    }

    task<bool> acquire(waiter &own); /* false: without a permit, after a cancel */
    void release();
    bool cancel(waiter &other); /* false: it is too late */

    unsigned free() const {
        return level + promised;
    } /* permits that nobody has */
    unsigned queued() const {
        return length;
    }

  private:
    struct turn; /* what a waiter awaits */
    void wake_oldest();

    loop &on;
    waiter *oldest = nullptr;
    unsigned level;
    unsigned promised = 0; /* granted to waiters that have not resumed */
    unsigned length = 0;
};

} // namespace co

#endif
