/* How lock-step makes a program smaller. */
#include <criterion/criterion.h>
#include <string.h>

#include "tools/lab/lockstep/smaller.h"

/* a: timeout { yield sleep } fail; b: group { child { yield } child { fail } } spawn { yield } */
static void write_script(struct bz_script *script) {
    memset(script, 0, sizeof *script);
    script->task_count = 2;
    bz_script_add(script, BZ_VERB_TIMEOUT)->span = 2;
    bz_script_add(script, BZ_VERB_YIELD);
    bz_script_add(script, BZ_VERB_SLEEP);
    bz_script_add(script, BZ_VERB_FAIL);
    script->tasks[0].count = 4;
    script->tasks[1].first = 4;
    bz_script_add(script, BZ_VERB_GROUP)->span = 4;
    bz_script_add(script, BZ_VERB_CHILD)->span = 1;
    bz_script_add(script, BZ_VERB_YIELD);
    bz_script_add(script, BZ_VERB_CHILD)->span = 1;
    bz_script_add(script, BZ_VERB_FAIL);
    bz_script_add(script, BZ_VERB_SPAWN)->span = 1;
    bz_script_add(script, BZ_VERB_YIELD);
    script->tasks[1].count = 7;
}

Test(lockstep, removes_an_operation_inside_another) {
    static struct bz_script script;
    write_script(&script);
    bz_script_remove(&script, 1);
    cr_assert_eq(script.op_count, 10);
    cr_assert_eq(script.ops[0].span, 1);
    cr_assert_eq(script.ops[1].verb, BZ_VERB_SLEEP);
    cr_assert_eq(script.tasks[0].count, 3);
    cr_assert_eq(script.tasks[1].first, 3);
    cr_assert_eq(script.tasks[1].count, 7);
}

Test(lockstep, removes_a_child_and_numbers_the_others_again) {
    static struct bz_script script;
    write_script(&script);
    bz_script_remove(&script, 5);
    cr_assert_eq(script.child_count, 2);
    cr_assert_eq(script.ops[4].span, 2);
    cr_assert_eq(script.ops[5].verb, BZ_VERB_CHILD);
    cr_assert_eq(script.ops[5].number, 1);
    cr_assert_eq(script.ops[7].number, 2);
    cr_assert_eq(script.tasks[1].count, 5);
}

/* Objects a, b, c and d, which shares the lock of c; an operation uses d. */
Test(lockstep, removes_an_object_that_nothing_uses) {
    static struct bz_script script;
    write_script(&script);
    script.object_count = 4;
    for (uint32_t object = 0; object < 4; object++) {
        script.objects[object].name[0] = (char)('a' + (int)object);
    }
    script.objects[3].lock = 3;
    script.ops[1].verb = BZ_VERB_WAIT;
    script.ops[1].object = 3;
    bz_script_remove_object(&script, 1);
    cr_assert_eq(script.object_count, 3);
    cr_assert_eq(script.objects[1].name[0], 'c');
    cr_assert_eq(script.objects[2].name[0], 'd');
    cr_assert_eq(script.objects[2].lock, 2);
    cr_assert_eq(script.ops[1].object, 2);
    cr_assert_eq(script.objects[3].name[0], '\0');
}

/* The sides differ as long as task b fails anywhere, and a choice of step 7 is there. */
static bool fails_in_b(void *context, struct bz_pair *pair) {
    const struct bz_script_task *task = &pair->script.tasks[1];
    bool has_fail = false;
    bool has_choice = false;
    ++*(uint32_t *)context;
    for (uint32_t index = task->first; index < (uint32_t)task->first + task->count; index++) {
        has_fail |= pair->script.ops[index].verb == BZ_VERB_FAIL;
    }
    for (size_t index = 0; index < pair->tape.count; index++) {
        has_choice |= pair->tape.choices[index].step == 7;
    }
    return has_fail && has_choice;
}

Test(lockstep, shrinks_to_what_differs) {
    static struct bz_pair pair;
    uint32_t calls = 0;
    write_script(&pair.script);
    bz_tape_init(&pair.tape, NULL);
    for (uint32_t step = 1; step <= 9; step++) {
        cr_assert(bz_tape_append(&pair.tape, (struct bz_choice){.step = step}));
    }
    uint64_t tried = bz_pair_shrink(&pair, fails_in_b, &calls);
    cr_assert_eq(tried, calls);
    cr_assert_eq(pair.script.tasks[0].count, 0);
    cr_assert_eq(pair.script.op_count, 3); /* group { child { fail } } */
    cr_assert_eq(pair.script.ops[2].verb, BZ_VERB_FAIL);
    cr_assert_eq(pair.tape.count, 1);
    cr_assert_eq(pair.tape.choices[0].step, 7);
    bz_tape_fini(&pair.tape);
}
