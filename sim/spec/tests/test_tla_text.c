/* The TLA+ text and the table have the same actions, invariants and changes of status. */
#include <criterion/criterion.h>
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sim/spec/spec.h"

#define TEXT_BYTES 65536u

static char text[TEXT_BYTES];

/* Reads a file of the specification's folder and blanks out its comments. */
static void read_text(const char *path) {
    FILE *file = fopen(path, "r");
    cr_assert_not_null(file, "%s", path);
    size_t length = fread(text, 1, TEXT_BYTES - 1, file);
    cr_assert_lt(length, TEXT_BYTES - 1);
    text[length] = '\0';
    fclose(file);
    for (char *at = text; (at = strstr(at, "(*")) != NULL;) {
        char *end = strstr(at, "*)");
        cr_assert_not_null(end);
        memset(at, ' ', (size_t)(end + 2 - at));
    }
    for (char *at = text; (at = strstr(at, "\\*")) != NULL;) {
        memset(at, ' ', strcspn(at, "\n"));
    }
}

/* The text of the definition NAME == or NAME(c) ==, up to the blank line; NULL if there is none. */
static char *definition(const char *name) {
    size_t length = strlen(name);
    for (char *line = text; line != NULL; line = strchr(line, '\n')) {
        line += line[0] == '\n';
        char *rest = line + length;
        if (strncmp(line, name, length) != 0 || isalnum((unsigned char)*rest)) {
            continue;
        }
        char *sign = strstr(rest, "==");
        if (sign != NULL && sign < rest + strcspn(rest, "\n")) {
            char *end = strstr(sign, "\n\n");
            return strndup(sign, end != NULL ? (size_t)(end - sign) : strlen(sign));
        }
    }
    return NULL;
}

static bool has_action(const char *name, size_t length) {
    for (const char *const *action = bz_spec_buzzer.actions; *action != NULL; action++) {
        if (strlen(*action) == length && strncmp(*action, name, length) == 0) {
            return true;
        }
    }
    return false;
}

/* Counts the words after each `mark` in a text; all must be actions. */
static uint32_t count_actions(const char *in, const char *mark) {
    uint32_t count = 0;
    for (const char *at = in; (at = strstr(at, mark)) != NULL; count++) {
        at += strlen(mark);
        size_t length = strcspn(at, "(");
        cr_assert(has_action(at, length), "no action %.20s", at);
        cr_assert_eq(strncmp(at + length, "(c)", 3), 0);
    }
    return count;
}

Test(spec_tla_text, actions_are_those_of_the_table) {
    uint32_t count = 0;
    read_text(BZ_SPEC_FOLDER "/buzzer_semaphore.tla");
    char *next = definition("Next");
    cr_assert_not_null(next);
    for (const char *const *action = bz_spec_buzzer.actions; *action != NULL; action++, count++) {
        char disjunct[64];
        snprintf(disjunct, sizeof disjunct, "\\/ %s(c)", *action);
        cr_assert_not_null(strstr(next, disjunct), "Next has no %s", *action);
        char *body = definition(*action);
        cr_assert_not_null(body, "no definition of %s", *action);
        /* Every action says what becomes of each of the three variables. */
        cr_assert_not_null(strstr(body, "Becomes(c, "), "%s", *action);
        cr_assert(strstr(body, "level' =") != NULL || strstr(body, "UNCHANGED level") != NULL ||
                      strstr(body, "UNCHANGED <<level, line>>") != NULL,
                  "%s", *action);
        cr_assert(strstr(body, "line' =") != NULL || strstr(body, "LeavesLine(c)") != NULL ||
                      strstr(body, "UNCHANGED line") != NULL ||
                      strstr(body, "UNCHANGED <<level, line>>") != NULL,
                  "%s", *action);
        free(body);
    }
    cr_assert_eq(count_actions(next, "\\/ "), count);
    free(next);
    /* All moves but the two cancels. */
    char *deadlock = definition("NoDeadlock");
    cr_assert_not_null(deadlock);
    cr_assert_eq(count_actions(deadlock, "\\/ ENABLED "), count - 2);
    cr_assert_null(strstr(deadlock, "Cancel"));
    free(deadlock);
}

/* The quoted word after `mark` in a definition, without its quotes. */
static void quoted(const char *in, const char *mark, char *word, size_t bytes) {
    const char *at = strstr(in, mark);
    word[0] = '\0';
    if (at != NULL) {
        at += strlen(mark);
        snprintf(word, bytes, "%.*s", (int)strcspn(at, "\""), at);
    }
}

/* The status that a client has in the text of a state. */
static void status_of(const struct bz_spec_constants *constants, struct bz_spec_state state,
                      uint32_t client, char *word, size_t bytes) {
    char line[512];
    char name[16];
    bz_spec_print(&bz_spec_buzzer, constants, state, line, sizeof line);
    snprintf(name, sizeof name, "c%u ", client + 1);
    char *at = strstr(line, name) + strlen(name);
    snprintf(word, bytes, "%.*s", (int)strcspn(at, ",;"), at);
}

/* Each transition changes the client's status as the text says. */
Test(spec_tla_text, statuses_change_alike) {
    struct bz_spec_constants constants = {.permits = 2, .clients = 4};
    struct bz_spec_state state = bz_spec_initial(&constants);
    struct bz_spec_step steps[BZ_SPEC_STEPS_MAX];
    uint32_t seen = 0;
    read_text(BZ_SPEC_FOLDER "/buzzer_semaphore.tla");
    for (uint32_t number = 0; number < 2000; number++) { /* a long walk that turns about */
        uint32_t broken;
        uint32_t count = bz_spec_buzzer.expand(&constants, state, steps, &broken);
        for (uint32_t index = 0; index < count; index++) {
            char was[16], now[16], from[16], to[16];
            char *body = definition(bz_spec_buzzer.actions[steps[index].action]);
            quoted(body, "clients[c] = \"", from, sizeof from);
            quoted(body, "Becomes(c, \"", to, sizeof to);
            status_of(&constants, state, steps[index].client, was, sizeof was);
            status_of(&constants, steps[index].state, steps[index].client, now, sizeof now);
            cr_assert_str_eq(now, to);
            /* Only Wake finds its client by the line. */
            cr_assert_eq(strcmp(was, from[0] != '\0' ? from : "waiting"), 0);
            seen |= 1u << steps[index].action;
            free(body);
        }
        state = steps[(number * 7 + number / 5) % count].state;
    }
    cr_assert_eq(seen, 0x1ff);
}

Test(spec_tla_text, invariants_are_those_of_the_table) {
    read_text(BZ_SPEC_FOLDER "/buzzer_semaphore.tla");
    for (uint32_t index = 0; index < bz_spec_buzzer.invariant_count; index++) {
        char *body = definition(bz_spec_buzzer.invariants[index].name);
        cr_assert_not_null(body, "%s", bz_spec_buzzer.invariants[index].name);
        free(body);
    }
    read_text(BZ_SPEC_FOLDER "/buzzer_semaphore.cfg");
    char *at = strstr(text, "INVARIANTS"); /* the last section */
    cr_assert_not_null(at);
    strtok(at, " \n");
    for (uint32_t index = 0; index < bz_spec_buzzer.invariant_count; index++) {
        char *name = strtok(NULL, " \n");
        cr_assert_not_null(name);
        cr_assert_str_eq(name, (char *)bz_spec_buzzer.invariants[index].name);
    }
    cr_assert_null(strtok(NULL, " \n"));
}
