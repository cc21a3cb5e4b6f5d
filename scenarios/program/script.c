#include "scenarios/program/script.h"

#include "primitives/runtime/check.h"

#define BIT(primitive) (1u << BZ_PRIMITIVE_##primitive)
#define PERMITS (BIT(SEMAPHORE) | BIT(BOUNDED) | BIT(LOCK))

const struct bz_script_verb_info bz_script_verbs[BZ_VERB_COUNT] = {
    [BZ_VERB_YIELD] = {"yield", 0, 0},
    [BZ_VERB_SLEEP] = {"sleep", 0, BZ_FIELD_NS},
    [BZ_VERB_FAIL] = {"fail", 0, 0},
    [BZ_VERB_CANCEL] = {"cancel", 0, BZ_FIELD_VICTIM},
    [BZ_VERB_TIMEOUT] = {"timeout", 0, BZ_FIELD_NS | BZ_FIELD_OPS},
    [BZ_VERB_GROUP] = {"group", 0, BZ_FIELD_TASKS | BZ_FIELD_BODY},
    [BZ_VERB_ACQUIRE] = {"acquire", PERMITS | BIT(CONDITION) | BIT(POOL), BZ_FIELD_WITHIN},
    [BZ_VERB_RELEASE] = {"release", PERMITS | BIT(CONDITION) | BIT(POOL), 0},
    [BZ_VERB_POST] = {"post", BIT(SEMAPHORE), 0},
    [BZ_VERB_WAIT] = {"wait", BIT(EVENT) | BIT(CONDITION) | BIT(BARRIER), BZ_FIELD_WITHIN},
    [BZ_VERB_NOTIFY] = {"notify", BIT(CONDITION), BZ_FIELD_COUNT},
    [BZ_VERB_NOTIFY_ALL] = {"notify-all", BIT(CONDITION), 0},
    [BZ_VERB_SET] = {"set", BIT(EVENT), 0},
    [BZ_VERB_CLEAR] = {"clear", BIT(EVENT), 0},
    [BZ_VERB_ABORT] = {"abort", BIT(BARRIER), 0},
    [BZ_VERB_RESET] = {"reset", BIT(BARRIER), 0},
    [BZ_VERB_PUT] = {"put", BIT(QUEUE), BZ_FIELD_WITHIN | BZ_FIELD_PRIORITY},
    [BZ_VERB_GET] = {"get", BIT(QUEUE), BZ_FIELD_WITHIN},
    [BZ_VERB_TRY_PUT] = {"try-put", BIT(QUEUE), BZ_FIELD_PRIORITY},
    [BZ_VERB_TRY_GET] = {"try-get", BIT(QUEUE), 0},
    [BZ_VERB_DONE] = {"done", BIT(QUEUE), 0},
    [BZ_VERB_JOIN] = {"join", BIT(QUEUE), BZ_FIELD_WITHIN},
    [BZ_VERB_SHUTDOWN] = {"shutdown", BIT(QUEUE), 0},
    [BZ_VERB_SHUTDOWN_NOW] = {"shutdown-now", BIT(QUEUE), 0},
    [BZ_VERB_CHILD] = {NULL, 0, 0},
    [BZ_VERB_BODY] = {NULL, 0, 0},
    [BZ_VERB_LOCKED] = {"locked", PERMITS | BIT(CONDITION), 0},
    [BZ_VERB_SIZE] = {"size", BIT(QUEUE), 0},
    [BZ_VERB_TRY_ACQUIRE] = {"try-acquire", PERMITS | BIT(CONDITION), BZ_FIELD_WITHIN},
    [BZ_VERB_CATCH] = {"catch", 0, BZ_FIELD_OPS},
    [BZ_VERB_FINALLY] = {"finally", 0, BZ_FIELD_OPS},
    [BZ_VERB_UNCANCEL] = {"uncancel", 0, 0},
    [BZ_VERB_AWAIT] = {"await", 0, BZ_FIELD_VICTIM | BZ_FIELD_WITHIN},
    [BZ_VERB_SPAWN] = {"spawn", 0, BZ_FIELD_OPS},
    [BZ_VERB_MISUSE] = {"misuse", BIT(BOUNDED) | BIT(LOCK) | BIT(CONDITION) | BIT(QUEUE), 0},
    [BZ_VERB_GATHER] = {"gather", 0, BZ_FIELD_TASKS},
    [BZ_VERB_GATHER_ALL] = {"gather-all", 0, BZ_FIELD_TASKS},
    [BZ_VERB_WAIT_FOR] = {"wait-for", 0, BZ_FIELD_NS | BZ_FIELD_OPS},
    [BZ_VERB_STEAL] = {"steal", PERMITS | BIT(CONDITION), 0},
    [BZ_VERB_RESCHEDULE] = {"reschedule", 0, BZ_FIELD_NS | BZ_FIELD_COUNT},
    [BZ_VERB_CREATE_TASK] = {"create-task", 0, BZ_FIELD_OPS},
    [BZ_VERB_SHIELD] = {"shield", 0, BZ_FIELD_VICTIM | BZ_FIELD_WITHIN},
};

const char *const bz_script_orders[3] = {
    [BZ_QUEUE_ORDER_FIFO] = "fifo",
    [BZ_QUEUE_ORDER_LIFO] = "lifo",
    [BZ_QUEUE_ORDER_PRIORITY] = "priority",
};

const struct bz_script_kind bz_script_kinds[BZ_SCRIPT_PRIMITIVES] = {
    [BZ_PRIMITIVE_SEMAPHORE] = {"permits", 0, BZ_SCRIPT_PERMITS_MAX, {1, 2, 0}},
    [BZ_PRIMITIVE_BOUNDED] = {"permits", 0, BZ_SCRIPT_PERMITS_MAX, {1, 2, 0}},
    [BZ_PRIMITIVE_BARRIER] = {"parties", 1, BZ_SCRIPT_PARTIES_MAX, {2, 3, 1}},
    [BZ_PRIMITIVE_QUEUE] = {"maxsize", 0, BZ_SCRIPT_MAXSIZE_MAX, {0, 1, 2}, .has_order = true},
    [BZ_PRIMITIVE_POOL] = {"keys", 1, BZ_SCRIPT_KEYS_MAX, {1, 2, 3}},
};

struct bz_script_op *bz_script_add(struct bz_script *script, enum bz_script_verb verb) {
    BZ_CHECK(script->op_count < BZ_SCRIPT_OPS_MAX);
    struct bz_script_op *op = &script->ops[script->op_count++];
    op->verb = (uint8_t)verb;
    op->number = (bz_script_verbs[verb].fields & BZ_FIELD_COUNT) != 0 ? 1 : 0;
    op->within_ns = BZ_SCRIPT_NEVER;
    if (bz_script_has_child((uint8_t)verb)) {
        op->number = ++script->child_count;
    }
    return op;
}
