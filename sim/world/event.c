#include "sim/world/event.h"

#include <stddef.h>

#include "primitives/runtime/handle.h"

const char *bz_event_name(unsigned kind) {
    static const char *const names[BZ_EVENT_KIND_COUNT] = {
        [BZ_EVENT_SPAWN] = "spawn",     [BZ_EVENT_RESUME] = "resume",
        [BZ_EVENT_SUSPEND] = "suspend", [BZ_EVENT_WAKE] = "wake",
        [BZ_EVENT_CANCEL] = "cancel",   [BZ_EVENT_UNCANCEL] = "uncancel",
        [BZ_EVENT_EXIT] = "exit",       [BZ_EVENT_CALLBACK] = "callback",
        [BZ_EVENT_FREE] = "free",       [BZ_EVENT_CALL] = "call",
        [BZ_EVENT_RETURN] = "return",   [BZ_EVENT_CLOCK] = "clock",
        [BZ_EVENT_INJECT] = "inject",   [BZ_EVENT_NOTE] = "note",
        [BZ_EVENT_DRAW] = "draw"};
    return kind < BZ_EVENT_KIND_COUNT ? names[kind] : NULL;
}

const char *bz_op_name(enum bz_op op) {
    static const char *const names[BZ_OP_COUNT] = {
        NULL,  "start", "yield",  "sleep", "join",  "await", "run",   "acquire",  "release", "wait",
        "put", "get",   "notify", "set",   "clear", "abort", "reset", "shutdown", "done"};
    return (unsigned)op < BZ_OP_COUNT ? names[op] : NULL;
}

const char *bz_wait_name(enum bz_wait wait) {
    static const char *const names[] = {NULL, "future", "yield", "sleep", "join"};
    return (unsigned)wait < sizeof names / sizeof names[0] ? names[wait] : NULL;
}

const char *bz_role_name(unsigned role) {
    static const char *const names[BZ_ROLE_COUNT] = {"step", "timer", "callback"};
    return role < BZ_ROLE_COUNT ? names[role] : NULL;
}
