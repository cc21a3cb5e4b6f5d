/* The condition variables of lua-cqueues: a lock and a condition of a few lines of Lua, each call
 * in a coroutine of one controller. A coroutine that a signal wakes runs in the controller's next
 * step, which is a step of Buzzer's loop; a cancel is a signal of a second condition that the same
 * wait polls.
 */
#include <lauxlib.h>
#include <lua.h>
#include <lualib.h>

#include "tools/tests/wild/wild.h"

static const char program[] =
    "local cqueues, condition = require'cqueues', require'cqueues.condition'\n"
    "local controller, free, notified = cqueues.new(), condition.new(), condition.new()\n"
    "local locked, stops, left, calls = false, {}, {}, {}\n"
    "collectgarbage('setpause', 100)\n"
    "collectgarbage('setstepmul', 1000)\n"
    "local function start(call, body)\n"
    "    local stop = condition.new()\n"
    "    stops[call], left[call] = stop, nil\n"
    "    controller:wrap(function()\n"
    "        answer(call, body(stop, call))\n"
    "        stops[call] = nil\n"
    "    end)\n"
    "    assert(controller:step(0))\n"
    "end\n"
    "local function lock(stop, call)\n"
    "    while locked do\n"
    "        if not free:wait(stop) then left[call] = true return false end\n"
    "    end\n"
    "    locked = true\n"
    "    return true\n"
    "end\n"
    "local function unlock() locked = false free:signal(1) end\n"
    "function calls.acquire(call) start(call, lock) end\n"
    "function calls.release() unlock() end\n"
    "function calls.wait(call)\n"
    "    start(call, function(stop)\n"
    "        unlock()\n"
    "        left[call] = not notified:wait(stop)\n"
    "        lock()\n"
    "        return not left[call]\n"
    "    end)\n"
    "end\n"
    "function calls.notify(_, count) notified:signal(count) end\n"
    "function calls.cancel(call)\n"
    "    stops[call]:signal()\n"
    "    assert(controller:step(0))\n"
    "    return left[call]\n"
    "end\n"
    "function calls.turn() assert(controller:step(0)) end\n"
    "function calls.locked() return locked end\n"
    "return calls\n";

struct lua {
    struct wild cage; /* first */
    lua_State *state;
};

struct call {
    struct bz_request request;
    struct lua *in;
};

static int answer(lua_State *state) {
    struct call *call = lua_touserdata(state, 1);
    bz_request_done(&call->request, lua_toboolean(state, 2) ? BZ_OK : BZ_CANCELLED);
    return 0;
}

/* Calls a function of the table at the bottom of the stack; its result. */
static bool calls(struct lua *in, const char *name, void *call, lua_Integer count) {
    wild_enter(&in->cage);
    lua_getfield(in->state, 1, name);
    lua_pushlightuserdata(in->state, call);
    lua_pushinteger(in->state, count);
    lua_call(in->state, 2, 1);
    bool result = lua_toboolean(in->state, -1);
    lua_settop(in->state, 1);
    wild_leave(&in->cage);
    return result;
}
static void turn(struct wild *cage) {
    (void)calls((struct lua *)cage, "turn", NULL, 0);
}
static bool cancel(void *arg) {
    struct call *call = arg;
    return calls(call->in, "cancel", call, 0);
}
static enum bz_status make(struct lua *in, const char *name, void (*undo)(void *)) {
    struct call call = {.request.undo = undo, .in = in};
    (void)calls(in, name, &call, 0);
    wild_turn_soon(&in->cage, turn);
    return bz_request_wait(&call.request, in->cage.loop, &call, NULL, cancel);
}

static enum bz_status release(void *arg) {
    struct lua *in = arg;
    (void)calls(in, "release", NULL, 0);
    wild_turn_soon(&in->cage, turn);
    return BZ_OK;
}
static enum bz_status notify(void *arg, uint32_t count) {
    struct lua *in = arg;
    (void)calls(in, "notify", NULL, count < 1000 ? count : 1000);
    wild_turn_soon(&in->cage, turn);
    return BZ_OK;
}
static void give_back(void *call) {
    (void)release(((struct call *)call)->in);
}
static void pass_on(void *call) {
    (void)notify(((struct call *)call)->in, 1);
}
static enum bz_status acquire(void *in) {
    return make(in, "acquire", give_back);
}
static enum bz_status wait(void *in) {
    return make(in, "wait", pass_on);
}
static bool locked(void *in) {
    return calls(in, "locked", NULL, 0);
}

static enum bz_status init_condition(void *arg, struct bz_loop *loop) {
    struct lua *in = arg;
    if (!wild_begin(&in->cage, loop)) {
        return BZ_NO_MEMORY;
    }
    wild_enter(&in->cage);
    in->state = luaL_newstate();
    luaL_openlibs(in->state);
    lua_register(in->state, "answer", answer);
    bool is_ready = luaL_dostring(in->state, program) == LUA_OK;
    wild_leave(&in->cage);
    return is_ready ? BZ_OK : BZ_NO_MEMORY;
}
static enum bz_status init(void *in, struct bz_loop *loop, uint32_t permits) {
    (void)permits;
    return init_condition(in, loop);
}
static void fini(void *arg) {
    struct lua *in = arg;
    wild_enter(&in->cage);
    lua_close(in->state);
    wild_leave(&in->cage);
    wild_end(&in->cage);
}

static long nothing(void) {
    return 0;
}
static int fake_descriptor(void) {
    return 1000;
}
static const struct wild_hook hooks[] = {{"epoll_create1", fake_descriptor},
                                         {"eventfd", fake_descriptor},
                                         {"epoll_ctl", nothing},
                                         {"epoll_wait", nothing},
                                         {"write", nothing},
                                         {"read", nothing},
                                         {"close", nothing},
                                         {NULL, NULL}};

__attribute__((constructor)) static void load(void) {
    wild_library("liblua5.3.so", NULL);
    wild_library("liblua5.3-cqueues.so", hooks);
}

static const struct bz_permit_ops lock_ops = {.instance_bytes = sizeof(struct lua),
                                              .init = init,
                                              .fini = fini,
                                              .acquire = acquire,
                                              .release = release,
                                              .locked = locked};
static const struct bz_condition_ops condition_ops = {.instance_bytes = sizeof(struct lua),
                                                      .init = init_condition,
                                                      .acquire = acquire,
                                                      .release = release,
                                                      .locked = locked,
                                                      .wait = wait,
                                                      .notify = notify};
static const struct bz_variant variant = {.version = BZ_VARIANT_VERSION,
                                          .name = "cqueues",
                                          .summary = "lua-cqueues: condition variables",
                                          .claims = BZ_CLAIM_UNFAIR,
                                          .permits = {[BZ_PRIMITIVE_LOCK] = &lock_ops},
                                          .condition = &condition_ops};
BZ_PLUGIN(&variant);
