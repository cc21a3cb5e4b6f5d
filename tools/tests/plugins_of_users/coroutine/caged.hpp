/* For -include, in the place of cotask.hpp, whose guard it has: a posted handle is a wake-up. */
#ifndef COTASK_HPP
#define COTASK_HPP

#include "sim/variant/coroutine.hpp"

namespace co {

template <typename T> using task = bz::task<T>;

struct loop {
    bz_loop *in;
    void post(std::coroutine_handle<> handle) {
        bz::post(handle);
    }
};

} // namespace co

#endif
