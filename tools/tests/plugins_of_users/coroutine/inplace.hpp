/* A mutex and an event in C++20, in the style of cppcoro. Nothing here knows of Buzzer. An awaiter
 * is a node in the coroutine that waits, and unlock() and set() resume it in place. A wait cannot
 * be cancelled. */
#ifndef INPLACE_HPP
#define INPLACE_HPP

#include <coroutine>
#include <utility>

namespace inplace {

struct node {
    std::coroutine_handle<> handle;
    node *next = nullptr;
};

class line {
  public:
    void push(node &last) {
        node **end = &first;
        while (*end != nullptr) {
            end = &(*end)->next;
        }
        *end = &last;
    }
    node *pop() {
        return first == nullptr ? nullptr : std::exchange(first, first->next);
    }
    node *first = nullptr;
};

class mutex {
  public:
    struct locking : node {
        mutex &of;
        explicit locking(mutex &mutex) : of(mutex) {
        }
        bool await_ready() const noexcept {
            return !std::exchange(of.is_locked, true);
        }
        void await_suspend(std::coroutine_handle<> waits) noexcept {
            handle = waits;
            of.waiters.push(*this);
        }
        void await_resume() const noexcept {
        }
    };
    locking lock() {
        return locking(*this);
    }
    void unlock() {
        node *first = waiters.pop();
#if FAULT == 1 /* who was resumed may have unlocked it meanwhile */
        if (first != nullptr) {
            first->handle.resume();
        }
        is_locked = first != nullptr;
#else
        is_locked = first != nullptr;
        if (first != nullptr) {
            first->handle.resume();
        }
#endif
    }
    bool is_locked = false;

  private:
    line waiters;
};

class event {
  public:
    struct waiting : node {
        event &of;
        explicit waiting(event &event) : of(event) {
        }
        bool await_ready() const noexcept {
            return of.is_set;
        }
        void await_suspend(std::coroutine_handle<> waits) noexcept {
            handle = waits;
            of.waiters.push(*this);
        }
        void await_resume() const noexcept {
        }
    };
    waiting wait() {
        return waiting(*this);
    }
    void set() {
        is_set = true;
#if FAULT == 2 /* who was resumed may have cleared it, and wait again */
        line &all = waiters;
#else
        line all = std::exchange(waiters, line());
#endif
        while (node *first = all.pop()) {
            first->handle.resume();
        }
    }
    bool is_set = false;

  private:
    line waiters;
};

} // namespace inplace

#endif
