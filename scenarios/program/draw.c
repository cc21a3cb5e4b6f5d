/* Draws a script, so that programs and schedules are searched together, and shrink together.
 *
 * Every task has a fixed number of slots, and every slot has the same five draws, used or not. So
 * each draw keeps its place on the tape when another one is removed. A slot with the default draws
 * is no operation. A lock that is held, a timeout, or a group contains some of the slots after it.
 * Times are data, not delays: a file written from a drawn script runs under the same schedule for
 * the same seed.
 *
 * No script that is drawn without a focus deadlocks on a correct variant:
 * - A wait that may never be answered (for an event, a notification, a barrier, an item, a slot, a
 *   permit of a semaphore that begins with none) is inside a timeout of its own.
 * - What is held while others are acquired is acquired in one order: by number of the object, then
 *   by key, and never twice. A task waits for a condition only while it holds nothing above its
 *   lock, because no timeout ends the second acquire of that lock.
 * - A task waits for another one only while it and its parents hold nothing: the other may not heed
 *   the cancel that comes with the timeout.
 * - The children of a group, which their parent awaits, acquire only what is above all that the
 *   parent holds. */
#include <stdio.h>

#include "primitives/runtime/check.h"
#include "scenarios/program/script.h"
#include "scenarios/program/slots.h"
#include "sim/judge/judge.h"

#define DETAILS 16u

struct slot {
    uint32_t kind;
    uint32_t object;
    uint32_t detail;
    uint32_t span;
    uint32_t ns;
};

struct drawing {
    struct bz_script *script;
    const struct bz_script_draw *draw;
    struct slot slots[BZ_SCRIPT_DRAW_OPS_MAX];
    uint32_t task; /* its index */
};

/* The context in which a slot is expanded. */
struct place {
    uint32_t top;   /* above the rank of all that this task and its parents hold */
    uint32_t holds; /* rank + 1 of the topmost that this task itself holds; 0: nothing */
    uint32_t held;  /* objects that this task holds, as bits */
    uint32_t depth;
};

static void expand(struct drawing *drawing, uint32_t from, uint32_t to, struct place place);

static struct bz_script_op *add(struct drawing *drawing, enum bz_script_verb verb,
                                const struct slot *slot) {
    struct bz_script_op *op = bz_script_add(drawing->script, verb);
    op->object = (uint8_t)slot->object;
    return op;
}

/* Under a focus mostly one of the first tasks, which wait for longer. */
static uint32_t victim_of(const struct drawing *drawing, uint32_t detail) {
    uint32_t victim = detail % drawing->script->task_count;
    return drawing->draw->focus == NULL ? victim : detail % (victim + 1);
}

/* Under a focus, a wait may have none. */
static uint32_t limit_of(const struct drawing *drawing, const struct slot *slot) {
    const struct bz_script_draw *draw = drawing->draw;
    return draw->focus != NULL && slot->ns > draw->ns / 2 ? BZ_SCRIPT_NEVER : slot->ns;
}

/* An operation with others inside, from slot `from` to before slot `to`. */
static void enclose(struct drawing *drawing, struct bz_script_op *op, uint32_t from, uint32_t to,
                    struct place place) {
    uint32_t first = drawing->script->op_count;
    place.depth++;
    expand(drawing, from, to, place);
    op->span = (uint16_t)(drawing->script->op_count - first);
}

/* Two children share the slots, or a child and the body. */
static void add_group(struct drawing *drawing, enum bz_script_verb verb, uint32_t from, uint32_t to,
                      struct place place, bool has_body) {
    struct bz_script *script = drawing->script;
    struct bz_script_op *group = bz_script_add(script, verb);
    uint32_t first = script->op_count;
    uint32_t half = from + (to - from + 1) / 2;
    struct place own = place;
    own.depth++;
    place.holds = 0;
    place.held = 0;
    place.depth++;
    enclose(drawing, bz_script_add(script, BZ_VERB_CHILD), from, half, place);
    if (half < to) {
        enclose(drawing, bz_script_add(script, has_body ? BZ_VERB_BODY : BZ_VERB_CHILD), half, to,
                has_body ? own : place);
    }
    group->span = (uint16_t)(script->op_count - first);
}

/* Acquire, the slots inside, release. */
static void add_hold_by(struct drawing *drawing, enum bz_script_verb verb, const struct slot *slot,
                        uint32_t key, uint32_t from, uint32_t to, struct place place) {
    struct bz_script *script = drawing->script;
    const struct bz_script_object *object = &script->objects[slot->object];
    bool is_empty = object->number == 0 && (object->primitive == BZ_PRIMITIVE_SEMAPHORE ||
                                            object->primitive == BZ_PRIMITIVE_BOUNDED);
    struct bz_script_op *acquire = add(drawing, verb, slot);
    acquire->number = key;
    if (is_empty || slot->ns > 0) {
        acquire->within_ns = limit_of(drawing, slot);
    }
    uint32_t lock = bz_script_lock_of(script, slot->object);
    place.top = lock * BZ_SCRIPT_KEYS_MAX + key + 1;
    place.holds = place.top;
    place.held |= 1u << lock;
    expand(drawing, from, to, place);
    add(drawing, BZ_VERB_RELEASE, slot)->number = key;
}

static void add_hold(struct drawing *drawing, const struct slot *slot, uint32_t key, uint32_t from,
                     uint32_t to, struct place place) {
    add_hold_by(drawing, BZ_VERB_ACQUIRE, slot, key, from, to, place);
}

static void add_notify(struct drawing *drawing, const struct slot *slot) {
    add(drawing, slot->detail % 4 == 0 ? BZ_VERB_NOTIFY_ALL : BZ_VERB_NOTIFY, slot);
}

/* With the lock held already, or acquired just for this. Returns whether the next slots are inside.
 */
static bool use_condition(struct drawing *drawing, const struct slot *slot, uint32_t from,
                          uint32_t to, struct place place) {
    uint32_t lock = bz_script_lock_of(drawing->script, slot->object);
    uint32_t rank = lock * BZ_SCRIPT_KEYS_MAX;
    if ((place.held >> lock & 1u) != 0) {
        if (slot->detail < 6 && place.holds == rank + 1) {
            add(drawing, BZ_VERB_WAIT, slot)->within_ns = limit_of(drawing, slot);
        } else {
            add_notify(drawing, slot);
        }
        return false;
    }
    if (rank < place.top) {
        return false;
    }
    if (slot->detail < 4) {
        add_hold(drawing, slot, 0, from, to, place);
        return true;
    }
    add(drawing, BZ_VERB_ACQUIRE, slot);
    if (slot->detail < 10) {
        add(drawing, BZ_VERB_WAIT, slot)->within_ns = limit_of(drawing, slot);
    } else {
        add_notify(drawing, slot);
    }
    add(drawing, BZ_VERB_RELEASE, slot);
    return false;
}

static void use_queue(struct drawing *drawing, const struct slot *slot) {
    static const uint8_t verbs[DETAILS] = {
        BZ_VERB_PUT,  BZ_VERB_GET,  BZ_VERB_PUT,     BZ_VERB_GET,     BZ_VERB_PUT,  BZ_VERB_GET,
        BZ_VERB_PUT,  BZ_VERB_GET,  BZ_VERB_PUT,     BZ_VERB_GET,     BZ_VERB_DONE, BZ_VERB_DONE,
        BZ_VERB_JOIN, BZ_VERB_JOIN, BZ_VERB_TRY_PUT, BZ_VERB_TRY_GET,
    };
    enum bz_script_verb verb = verbs[slot->detail];
    struct bz_script_op *op = add(drawing, verb, slot);
    if ((bz_script_verbs[verb].fields & BZ_FIELD_WITHIN) != 0) {
        op->within_ns = limit_of(drawing, slot);
    }
    if ((bz_script_verbs[verb].fields & BZ_FIELD_PRIORITY) != 0) {
        op->number = slot->span;
    }
}

/* Returns whether the slots from `from` to `to` are inside. */
static bool use(struct drawing *drawing, const struct slot *slot, uint32_t from, uint32_t to,
                struct place place) {
    static const uint8_t event_verbs[] = {BZ_VERB_WAIT, BZ_VERB_SET, BZ_VERB_WAIT, BZ_VERB_CLEAR};
    const struct bz_script_object *object = &drawing->script->objects[slot->object];
    uint32_t key = 0;
    switch ((enum bz_primitive)object->primitive) {
    case BZ_PRIMITIVE_EVENT: {
        enum bz_script_verb verb = event_verbs[slot->detail % 4];
        struct bz_script_op *op = add(drawing, verb, slot);
        op->within_ns = verb == BZ_VERB_WAIT ? limit_of(drawing, slot) : BZ_SCRIPT_NEVER;
        return false;
    }
    case BZ_PRIMITIVE_CONDITION:
        return use_condition(drawing, slot, from, to, place);
    case BZ_PRIMITIVE_BARRIER:
        add(drawing, BZ_VERB_WAIT, slot)->within_ns = limit_of(drawing, slot);
        return false;
    case BZ_PRIMITIVE_QUEUE:
        use_queue(drawing, slot);
        return false;
    case BZ_PRIMITIVE_POOL:
        key = slot->detail % object->number;
        break;
    case BZ_PRIMITIVE_SEMAPHORE:
        if (slot->detail >= DETAILS - 2) { /* one more permit */
            add(drawing, BZ_VERB_POST, slot);
            return false;
        }
        break;
    default:
        break;
    }
    if (slot->object * BZ_SCRIPT_KEYS_MAX + key < place.top) {
        return false;
    }
    add_hold(drawing, slot, key, from, to, place);
    return true;
}

/* Returns whether the next slots are inside. */
static bool look(struct drawing *drawing, const struct slot *slot, uint32_t from, uint32_t to,
                 struct place place) {
    const struct bz_script_object *object = &drawing->script->objects[slot->object];
    bool is_queue = object->primitive == BZ_PRIMITIVE_QUEUE;
    if (is_queue) {
        add(drawing,
            slot->detail >= 4   ? BZ_VERB_SIZE
            : slot->detail == 0 ? BZ_VERB_SHUTDOWN_NOW
                                : BZ_VERB_SHUTDOWN,
            slot);
        return false;
    }
    if ((bz_script_verbs[BZ_VERB_LOCKED].primitives >> object->primitive & 1u) == 0) {
        return false;
    }
    bool has_misuse = object->primitive == BZ_PRIMITIVE_BOUNDED ||
                      object->primitive == BZ_PRIMITIVE_LOCK; /* others are drawn by break_it() */
    if (slot->detail == 0 && has_misuse) {
        add(drawing, BZ_VERB_MISUSE, slot);
        return false;
    }
    uint32_t lock = bz_script_lock_of(drawing->script, slot->object);
    if (slot->detail < DETAILS / 2 || lock * BZ_SCRIPT_KEYS_MAX < place.top) {
        add(drawing, BZ_VERB_LOCKED, slot);
        return false;
    }
    add_hold_by(drawing, BZ_VERB_TRY_ACQUIRE, slot, 0, from, to, place);
    return true;
}

/* Abort or reset of a barrier; a misuse, or a release of what others hold. */
static void break_it(struct drawing *drawing, const struct slot *slot) {
    uint32_t primitive = drawing->script->objects[slot->object].primitive;
    enum bz_script_verb verb = BZ_VERB_MISUSE;
    if (primitive == BZ_PRIMITIVE_BARRIER) {
        verb = slot->detail % 2 == 0 ? BZ_VERB_RESET : BZ_VERB_ABORT;
    } else if (slot->detail % 2 == 0 && primitive != BZ_PRIMITIVE_QUEUE) {
        verb = BZ_VERB_STEAL;
    }
    if ((bz_script_verbs[verb].primitives >> primitive & 1u) != 0) {
        add(drawing, verb, slot);
    }
}

static void give_to_queue(struct drawing *drawing, const struct slot *slot) {
    if (slot->kind == SLOT_SHUTDOWN) {
        add(drawing, slot->span % 2 == 0 ? BZ_VERB_SHUTDOWN : BZ_VERB_SHUTDOWN_NOW, slot);
    } else if (slot->kind == SLOT_GIVE) {
        if (slot->detail % 2 == 0) {
            add(drawing, BZ_VERB_TRY_GET, slot);
        }
        add(drawing, BZ_VERB_DONE, slot);
    } else {
        enum bz_script_verb verb = slot->kind == SLOT_PUT   ? BZ_VERB_PUT
                                   : slot->kind == SLOT_GET ? BZ_VERB_GET
                                                            : BZ_VERB_JOIN;
        struct bz_script_op *op = add(drawing, verb, slot);
        op->within_ns = limit_of(drawing, slot);
        op->number = verb == BZ_VERB_PUT ? slot->span : 0;
    }
}

/* More than one of the things that others wait for. */
static void give(struct drawing *drawing, const struct slot *slot, struct place place) {
    struct bz_script *script = drawing->script;
    bool is_held = (place.held >> bz_script_lock_of(script, slot->object) & 1u) != 0;
    switch ((enum bz_primitive)script->objects[slot->object].primitive) {
    case BZ_PRIMITIVE_SEMAPHORE:
        for (uint32_t count = 0; count <= slot->span % 3; count++) {
            add(drawing, BZ_VERB_POST, slot);
        }
        break;
    case BZ_PRIMITIVE_EVENT:
        add(drawing, BZ_VERB_SET, slot);
        if (slot->detail % 2 == 0) {
            add(drawing, BZ_VERB_CLEAR, slot);
        }
        break;
    case BZ_PRIMITIVE_CONDITION:
        if (!is_held) {
            add(drawing, BZ_VERB_ACQUIRE, slot);
        }
        add(drawing, BZ_VERB_NOTIFY, slot)->number = 1 + slot->detail % 3;
        if (!is_held) {
            add(drawing, BZ_VERB_RELEASE, slot);
        }
        break;
    case BZ_PRIMITIVE_QUEUE:
        give_to_queue(drawing, slot);
        break;
    case BZ_PRIMITIVE_BARRIER:
        break_it(drawing, slot);
        break;
    default:
        add(drawing, BZ_VERB_RELEASE, slot);
    }
}

/* Around the number of timers from which asyncio looks for those that were cancelled. */
static void reschedule(struct drawing *drawing, const struct slot *slot) {
    struct bz_script_op *op = bz_script_add(drawing->script, BZ_VERB_RESCHEDULE);
    op->ns = slot->ns;
    op->number = slot->detail < DETAILS / 2 ? 1 : 88 + slot->detail;
}

/* A wait-for is a task of its own, as the child of a group. */
static void add_wait_for(struct drawing *drawing, const struct slot *slot, uint32_t from,
                         uint32_t to, struct place place) {
    struct bz_script_op *op = bz_script_add(drawing->script, BZ_VERB_WAIT_FOR);
    op->ns = slot->ns;
    place.holds = 0;
    place.held = 0;
    enclose(drawing, op, from, to, place);
}

/* A slot of version 2. Returns the first one after it that is not inside. */
static uint32_t expand_more(struct drawing *drawing, const struct slot *slot, uint32_t next,
                            uint32_t end, struct place place) {
    struct bz_script *script = drawing->script;
    struct bz_script_op *op;
    bool has_room = next < end && place.depth + 2 < BZ_SCRIPT_DEPTH_MAX;
    switch (slot->kind) {
    case SLOT_UNCANCEL:
        bz_script_add(script, BZ_VERB_UNCANCEL);
        return next;
    case SLOT_AWAIT:
        if (place.top > 0) {
            return next;
        }
        op = bz_script_add(script, slot->span % 2 == 0 ? BZ_VERB_AWAIT : BZ_VERB_SHIELD);
        op->number = slot->detail % script->task_count;
        op->within_ns = limit_of(drawing, slot);
        return next;
    case SLOT_LOOK:
    case SLOT_LOOK + 1:
        return look(drawing, slot, next, end, place) ? end : next;
    case SLOT_BREAK:
    case SLOT_BREAK + 1:
        break_it(drawing, slot);
        return next;
    case SLOT_GIVE:
    case SLOT_PUT:
    case SLOT_GET:
    case SLOT_JOIN:
    case SLOT_SHUTDOWN:
        give(drawing, slot, place);
        return next;
    case SLOT_CANCEL_SELF:
        bz_script_add(script, BZ_VERB_CANCEL)->number = drawing->task;
        return next;
    case SLOT_RESCHEDULE:
        reschedule(drawing, slot);
        return next;
    default:
        break;
    }
    if (!has_room) {
        return next;
    }
    if (slot->kind == SLOT_GATHER) {
        add_group(drawing, slot->detail % 4 == 0 ? BZ_VERB_GATHER_ALL : BZ_VERB_GATHER, next, end,
                  place, false);
    } else if (slot->kind == SLOT_WAIT_FOR) {
        add_wait_for(drawing, slot, next, end, place);
    } else if (slot->kind == SLOT_BODY) {
        add_group(drawing, BZ_VERB_GROUP, next, end, place, true);
    } else if (slot->kind == SLOT_SPAWN) {
        enclose(drawing, bz_script_add(script, BZ_VERB_SPAWN), next, end,
                (struct place){.depth = place.depth});
    } else if (slot->kind == SLOT_CREATE_TASK) {
        place.holds = 0;
        place.held = 0;
        enclose(drawing, bz_script_add(script, BZ_VERB_CREATE_TASK), next, end, place);
    } else {
        enclose(drawing,
                bz_script_add(script, slot->kind == SLOT_CATCH ? BZ_VERB_CATCH : BZ_VERB_FINALLY),
                next, end, place);
    }
    return end;
}

/* Expands one slot. Returns the first one after it that is not inside. */
static uint32_t expand_one(struct drawing *drawing, uint32_t index, uint32_t to,
                           struct place place) {
    struct bz_script *script = drawing->script;
    const struct slot *slot = &drawing->slots[index];
    uint32_t next = index + 1;
    uint32_t end = next + slot->span < to ? next + slot->span : to;
    bool is_deep = place.depth + 2 >= BZ_SCRIPT_DEPTH_MAX;
    switch (slot->kind) {
    case SLOT_NOTHING:
        return next;
    case SLOT_YIELD:
    case SLOT_YIELD + 1:
        bz_script_add(script, BZ_VERB_YIELD);
        return next;
    case SLOT_SLEEP:
        bz_script_add(script, BZ_VERB_SLEEP)->ns = slot->ns;
        return next;
    case SLOT_CANCEL:
        bz_script_add(script, BZ_VERB_CANCEL)->number = victim_of(drawing, slot->detail);
        return next;
    case SLOT_FAIL:
        bz_script_add(script, BZ_VERB_FAIL);
        return next;
    case SLOT_TIMEOUT:
    case SLOT_GROUP:
        if (next == end || is_deep) {
            return next;
        }
        if (slot->kind == SLOT_GROUP) {
            add_group(drawing, BZ_VERB_GROUP, next, end, place, false);
        } else {
            struct bz_script_op *timeout = bz_script_add(script, BZ_VERB_TIMEOUT);
            timeout->ns = slot->ns;
            enclose(drawing, timeout, next, end, place);
        }
        return end;
    default:
        break;
    }
    return slot->kind >= SLOT_KINDS               ? expand_more(drawing, slot, next, end, place)
           : use(drawing, slot, next, end, place) ? end
                                                  : next;
}

static void expand(struct drawing *drawing, uint32_t from, uint32_t to, struct place place) {
    while (from < to) {
        from = expand_one(drawing, from, to, place);
    }
}

/* A condition shares the lock of the first one, or has its own. */
static void draw_lock(const struct bz_script *script, struct bz_script_object *object,
                      struct bz_judge *judge) {
    bool shares = bz_judge_draw(judge, "shares-lock", 2) == 1;
    uint32_t first = 0;
    while (&script->objects[first] != object &&
           script->objects[first].primitive != BZ_PRIMITIVE_CONDITION) {
        first++;
    }
    if (shares && object->primitive == BZ_PRIMITIVE_CONDITION &&
        &script->objects[first] != object) {
        object->lock = (uint8_t)(first + 1);
    }
}

/* The nearest that the variant offers. */
static void keep_offer(struct bz_script_object *object, const struct bz_variant *variant) {
    const struct bz_script_kind *kind = &bz_script_kinds[object->primitive];
    if (kind->number != NULL) {
        object->number = (uint32_t)bz_variant_nearest_size(
            variant, (enum bz_primitive)object->primitive, object->number,
            kind->has_order ? -1 : (int64_t)kind->least, kind->most);
    }
    if (kind->has_order) {
        object->order =
            (uint8_t)bz_variant_nearest_order(variant, (enum bz_queue_order)object->order);
    }
}

static void draw_object(struct bz_script *script, struct bz_judge *judge,
                        const struct bz_variant *variant, const struct bz_script_draw *draw) {
    uint8_t candidates[1 + BZ_SCRIPT_PRIMITIVES] = {(uint8_t)draw->first};
    uint32_t count = 1;
    for (uint32_t primitive = 0; primitive < BZ_SCRIPT_PRIMITIVES; primitive++) {
        bool is_wanted = (draw->primitives >> primitive & 1u) != 0 && primitive != draw->first;
        if (is_wanted &&
            (variant == NULL || bz_variant_offers(variant, (enum bz_primitive)primitive))) {
            candidates[count++] = (uint8_t)primitive;
        }
    }
    struct bz_script_object *object = &script->objects[script->object_count++];
    uint64_t kind = bz_judge_draw(judge, "kind", count);
    uint64_t number = bz_judge_draw(judge, "number", draw->focus != NULL ? 4 : 3);
    uint64_t order = bz_judge_draw(judge, "order", 3);
    object->primitive = candidates[script->object_count == 1 ? 0 : kind];
    const struct bz_script_kind *info = &bz_script_kinds[object->primitive];
    object->number = draw->focus == NULL    ? info->drawn[number]
                     : info->number == NULL ? 0
                     : number < info->least ? info->least
                                            : (uint32_t)number;
    object->order = bz_script_kinds[object->primitive].has_order ? (uint8_t)order : 0;
    if (variant != NULL) {
        keep_offer(object, variant);
    }
    snprintf(object->name, sizeof object->name, "%s-%u",
             bz_primitive_name((enum bz_primitive)object->primitive), script->object_count);
    if (draw->more > 1) {
        draw_lock(script, object, judge);
    }
}

static void draw_task(struct drawing *drawing, struct bz_judge *judge, uint32_t index) {
    struct bz_script *script = drawing->script;
    const struct bz_script_draw *draw = drawing->draw;
    struct bz_script_task *task = &script->tasks[index];
    static const uint64_t kinds[] = {SLOT_KINDS, SLOT_KINDS_2, SLOT_KINDS_3};
    const char *letter = NULL;
    drawing->task = index;
    for (uint32_t slot = 0; slot < draw->ops; slot++) {
        letter = draw->focus == NULL ? NULL : bz_focus_draw(draw->focus, letter, judge);
        drawing->slots[slot] = (struct slot){
            .kind = letter != NULL ? bz_focus_slot(letter)
                                   : (uint32_t)bz_judge_draw(judge, "op", kinds[draw->more]),
            .object = (uint32_t)bz_judge_draw(judge, "object", draw->objects),
            .detail = (uint32_t)bz_judge_draw(judge, "detail", DETAILS),
            .span = (uint32_t)bz_judge_draw(judge, "span", draw->ops),
            .ns = (uint32_t)bz_judge_draw(judge, "ns", (uint64_t)draw->ns + 1),
        };
        if (letter != NULL) {
            drawing->slots[slot].span = bz_focus_span(letter, drawing->slots[slot].span);
        }
    }
    snprintf(task->name, sizeof task->name, "task-%u", index + 1);
    task->first = (uint16_t)script->op_count;
    expand(drawing, 0, draw->ops, (struct place){0});
    task->count = (uint16_t)(script->op_count - task->first);
}

void bz_script_draw(struct bz_script *script, struct bz_judge *judge,
                    const struct bz_variant *variant, const struct bz_script_draw *draw) {
    struct drawing drawing = {.script = script, .draw = draw};
    BZ_CHECK(draw->objects <= BZ_SCRIPT_OBJECTS_MAX && draw->tasks <= BZ_SCRIPT_DRAW_TASKS_MAX &&
             draw->ops <= BZ_SCRIPT_DRAW_OPS_MAX);
    for (uint32_t object = 0; object < draw->objects; object++) {
        draw_object(script, judge, variant, draw);
    }
    script->task_count = draw->tasks;
    for (uint32_t task = 0; task < draw->tasks; task++) {
        draw_task(&drawing, judge, task);
    }
}
