#include "traces/words.h"

#include <stddef.h>

#define WORD(words, number) ((number) < sizeof(words) / sizeof *(words) ? (words)[number] : NULL)

const char *bz_status_word(unsigned number) {
    const char *name = bz_status_name((enum bz_status)number);
    return name == NULL ? "unknown" : name;
}

const char *bz_event_name(unsigned number) {
    static const char *const words[BZ_EVENT_KIND_COUNT] = {
        [BZ_EVENT_SPAWN] = "spawn",     [BZ_EVENT_RESUME] = "resume",
        [BZ_EVENT_SUSPEND] = "suspend", [BZ_EVENT_WAKE] = "wake",
        [BZ_EVENT_CANCEL] = "cancel",   [BZ_EVENT_UNCANCEL] = "uncancel",
        [BZ_EVENT_EXIT] = "exit",       [BZ_EVENT_CALLBACK] = "callback",
        [BZ_EVENT_FREE] = "free",       [BZ_EVENT_CALL] = "call",
        [BZ_EVENT_RETURN] = "return",   [BZ_EVENT_CLOCK] = "clock",
        [BZ_EVENT_INJECT] = "inject",   [BZ_EVENT_NOTE] = "note",
        [BZ_EVENT_DRAW] = "draw"};
    return WORD(words, number);
}

const char *bz_op_name(unsigned number) {
    static const char *const words[BZ_OP_COUNT] = {
        NULL,      "start",   "yield", "sleep",    "join", "await",  "run",
        "acquire", "release", "wait",  "put",      "get",  "notify", "set",
        "clear",   "abort",   "reset", "shutdown", "done", "create", "destroy"};
    return WORD(words, number);
}

const char *bz_wait_name(unsigned number) {
    static const char *const words[BZ_WAIT_COUNT] = {NULL,    "future", "yield",
                                                     "sleep", "join",   "inside"};
    return WORD(words, number);
}

const char *bz_role_name(unsigned number) {
    static const char *const words[BZ_ROLE_COUNT] = {"step", "timer", "callback"};
    return WORD(words, number);
}

const char *bz_window_name(unsigned number) {
    static const char *const words[BZ_WINDOW_COUNT] = {NULL,         "unstarted", "waiting",
                                                       "woken",      "sleeping",  "holding",
                                                       "cancelling", "done",      "running"};
    return WORD(words, number);
}

const char *bz_choice_kind_name(unsigned number) {
    static const char *const words[BZ_CHOICE_KIND_COUNT] = {"next", "cancel", "delay", "data"};
    return WORD(words, number);
}

const char *bz_order_name(unsigned number) {
    static const char *const words[BZ_ORDER_COUNT] = {"any", "fifo"};
    return WORD(words, number);
}

const char *bz_kind_name(unsigned number) {
    static const char *const words[BZ_KIND_COUNT] = {
        NULL,        "lock",    "semaphore", "bounded", "pool",     "event",
        "condition", "barrier", "items",     "slots",   "modelled", "resource-pool"};
    return WORD(words, number);
}

const char *bz_queue_order_name(unsigned number) {
    static const char *const words[BZ_QUEUE_ORDER_COUNT] = {"fifo", "lifo", "priority"};
    return WORD(words, number);
}
