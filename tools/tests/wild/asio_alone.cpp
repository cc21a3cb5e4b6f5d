/* What the plug-in finds in Asio's channels, without Buzzer. Prints a line for each case. */
#include <asio/bind_cancellation_slot.hpp>
#include <asio/cancellation_signal.hpp>
#include <asio/experimental/channel.hpp>
#include <asio/io_context.hpp>
#include <cstdio>

using channel = asio::experimental::channel<void(asio::error_code, int)>;

namespace {

const asio::error_code no_error;

struct setting {
    asio::io_context context;
    channel items;
    asio::cancellation_signal stop;
    bool has_ended = false;
    asio::error_code error;

    explicit setting(std::size_t slots) : items(context, slots) {
    }
    auto ends() { /* a handler that can be cancelled */
        return asio::bind_cancellation_slot(stop.slot(), [this](asio::error_code with, auto...) {
            has_ended = true;
            error = with;
        });
    }
    void run() {
        context.restart();
        context.poll();
    }
    void cancel() {
        stop.emit(asio::cancellation_type::terminal);
        run();
    }
};

void say(const char *what, bool is_wrong) {
    std::printf("%s: %s\n", what, is_wrong ? "wrong" : "right");
}

void receive_cancelled() {
    setting own(2);
    own.items.async_receive(own.ends());
    own.cancel();
    say("a cancelled receive leaves a channel with room for items",
        !own.items.try_send(no_error, 1));
}

void close_with_items() {
    setting own(2);
    (void)own.items.try_send(no_error, 1);
    own.items.close();
    own.items.async_receive(own.ends());
    own.run();
    say("a close leaves the items that are in", own.error != no_error);
}

void close_with_send() {
    setting own(0);
    own.items.async_send(no_error, 1, own.ends());
    own.items.close();
    own.run();
    say("a close ends the sends that wait", !own.has_ended);
    own.cancel();
    say("a send that is cancelled after that says so", own.has_ended && own.error == no_error);
}

} // namespace

int main() {
    receive_cancelled();
    close_with_items();
    close_with_send();
}
