#include "tools/cli/require_window.h"

#include <stdio.h>
#include <string.h>

#include "tools/cli/cli.h"

/* Operations in which a cancel can strike; the others never wait. */
static bool can_be_struck(unsigned op) {
    return op > BZ_OP_NONE && op < BZ_OP_NOTIFY && op != BZ_OP_RELEASE;
}

static unsigned parse_window(const char *word) {
    const char *names[BZ_WINDOW_COUNT - 1];
    for (unsigned window = 1; window < BZ_WINDOW_COUNT; window++) {
        names[window - 1] = bz_window_name(window);
        if (strcmp(names[window - 1], word) == 0) {
            return window;
        }
    }
    bz_cli_misuse("--require-window: no window '%s'%s ('%s list windows' lists them)", word,
                  bz_cli_hint(word, names, BZ_WINDOW_COUNT - 1), bz_caller.program);
    return BZ_WINDOW_NONE;
}

static unsigned parse_op(const char *word) {
    const char *names[BZ_OP_COUNT];
    char list[128] = "";
    size_t count = 0;
    for (unsigned op = 0; op < BZ_OP_COUNT; op++) {
        if (!can_be_struck(op)) {
            continue;
        }
        names[count++] = bz_op_name((enum bz_op)op);
        if (strcmp(names[count - 1], word) == 0) {
            return op;
        }
        snprintf(list + strlen(list), sizeof list - strlen(list), "%s%s", count > 1 ? ", " : "",
                 names[count - 1]);
    }
    bz_cli_misuse("--require-window: no operation '%s' that a cancel can strike in%s (%s)", word,
                  bz_cli_hint(word, names, count), list);
    return BZ_OP_NONE;
}

void bz_require_window_parse(void *target, const char *option, char *list) {
    uint32_t *required = target;
    (void)option;
    for (char *word; (word = strsep(&list, ",")) != NULL;) {
        unsigned op = strchr(word, ':') != NULL ? parse_op(strsep(&word, ":")) : BZ_OP_NONE;
        required[op] |= 1u << parse_window(word);
    }
}

void bz_require_window_missed(const uint32_t *required, const struct bz_run_stats *stats,
                              struct bz_missed *missed) {
    uint32_t left[BZ_OP_COUNT];
    memcpy(left, required, sizeof left);
    for (unsigned op = 0; op < BZ_OP_COUNT; op++) {
        for (unsigned window = 1; window < BZ_WINDOW_COUNT; window++) {
            if (stats->windows[op][window] > 0) {
                left[BZ_OP_NONE] &= ~(1u << window);
                left[op] &= ~(1u << window);
            }
        }
    }
    for (unsigned op = 0; op < BZ_OP_COUNT; op++) {
        for (unsigned window = 1; window < BZ_WINDOW_COUNT; window++) {
            if ((left[op] >> window & 1u) != 0) {
                snprintf(missed->names[missed->count++], sizeof missed->names[0], "%s%s%s",
                         op == BZ_OP_NONE ? "" : bz_op_name(op), op == BZ_OP_NONE ? "" : ":",
                         bz_window_name(window));
            }
        }
    }
}
