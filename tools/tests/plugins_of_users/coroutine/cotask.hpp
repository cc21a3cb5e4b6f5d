/* A loop and a task type of one's own: what ships. Handles are posted to the loop, and it resumes
 * them later, the oldest first. */
#ifndef COTASK_HPP
#define COTASK_HPP

#include <coroutine>
#include <deque>
#include <exception>
#include <utility>

namespace co {

class loop {
  public:
    void post(std::coroutine_handle<> handle) {
        ready.push_back(handle);
    }
    void run(); /* until nothing is posted */

  private:
    std::deque<std::coroutine_handle<>> ready;
};

/* Starts when it is awaited, or by start(). */
template <typename T> class task {
  public:
    struct promise_type {
        T value{};
        std::coroutine_handle<> continuation;

        struct end {
            bool await_ready() noexcept {
                return false;
            }
            std::coroutine_handle<>
            await_suspend(std::coroutine_handle<promise_type> ended) noexcept {
                std::coroutine_handle<> next = ended.promise().continuation;
                return next ? next : std::noop_coroutine();
            }
            void await_resume() noexcept {
            }
        };
        task get_return_object() {
            return task(std::coroutine_handle<promise_type>::from_promise(*this));
        }
        std::suspend_always initial_suspend() noexcept {
            return {};
        }
        end final_suspend() noexcept {
            return {};
        }
        void return_value(T result) {
            value = std::move(result);
        }
        void unhandled_exception() {
            std::terminate();
        }
    };

    task(task &&other) noexcept : handle(std::exchange(other.handle, nullptr)) {
    }
    ~task() {
        if (handle) {
            handle.destroy();
        }
    }
    void start() {
        handle.resume();
    }
    bool await_ready() {
        return false;
    }
    std::coroutine_handle<> await_suspend(std::coroutine_handle<> outer) {
        handle.promise().continuation = outer;
        return handle;
    }
    T await_resume() {
        return std::move(handle.promise().value);
    }

  private:
    explicit task(std::coroutine_handle<promise_type> own) : handle(own) {
    }
    std::coroutine_handle<promise_type> handle;
};

inline void loop::run() {
    while (!ready.empty()) {
        std::coroutine_handle<> oldest = ready.front();
        ready.pop_front();
        oldest.resume();
    }
}

} // namespace co

#endif
