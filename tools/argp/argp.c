#include "tools/argp/argp.h"

#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define HELP_COLUMN 29
#define USAGE_COLUMN 12
#define LINE_COLUMNS 79

int argp_err_exit_status = 64;

static const struct argp_option common[] = {
    {"help", '?', NULL, 0, "Give this help list", -1},
    {"usage", 'u', NULL, 0, "Give a short usage message", -1},
    {"version", 'V', NULL, 0, "Print program version", -1},
    {NULL, 0, NULL, 0, NULL, 0},
};

void argp_error(const struct argp_state *state, const char *format, ...) {
    const char *name = state->argv[0];
    va_list arguments;
    fprintf(stderr, "%s: ", name);
    va_start(arguments, format);
    vfprintf(stderr, format, arguments);
    va_end(arguments);
    fprintf(stderr, "\nTry `%s --help' or `%s --usage' for more information.\n", name, name);
    exit(argp_err_exit_status);
}

/* --- help ------------------------------------------------------------------------------------- */

static bool is_end(const struct argp_option *option) {
    return option->name == NULL && option->doc == NULL;
}

/* Prints one word, on a new line that begins at `indent` if the line is full; the new column. */
static int print_word(const char *word, int length, int column, int indent) {
    if (column > indent && column + 1 + length > LINE_COLUMNS) {
        printf("\n%*s", indent, "");
        column = indent;
    } else if (column > indent) {
        column += printf(" ");
    }
    return column + printf("%.*s", length, word);
}

/* Prints a text, whose own line ends stay. */
static void print_text(const char *text, size_t length, int column, int indent) {
    const char *end = text + length;
    while (text < end) {
        size_t spaces = strspn(text, " ");
        if (spaces > 1) {
            column += printf("%.*s", (int)spaces - 1, text); /* and one before the word */
        }
        text += spaces;
        size_t word = strcspn(text, " \n\v");
        if (word > 0) {
            column = print_word(text, (int)word, column, indent);
        }
        text += word;
        if (text < end && *text == '\n') {
            printf("\n%*s", indent, "");
            column = indent;
            text++;
        }
    }
    putchar('\n');
}

static void print_options(const struct argp_option *option) {
    printf("%s", option != NULL ? "\n" : "");
    for (; option != NULL && !is_end(option); option++) {
        if (option->name == NULL) {
            printf("\n %s\n", option->doc);
            continue;
        }
        int column =
            printf(option->key < 'u' && option->key > 0 ? "  -%c, " : "      ", option->key);
        column += printf("--%s%s%s", option->name, option->arg != NULL ? "=" : "",
                         option->arg != NULL ? option->arg : "");
        column += column < HELP_COLUMN ? printf("%*s", HELP_COLUMN - column, "") : printf("  ");
        print_text(option->doc, strlen(option->doc), column, HELP_COLUMN);
    }
}

static void print_help(const struct argp_state *state) {
    const struct argp *argp = state->root_argp;
    const char *doc = argp->doc == NULL ? "" : argp->doc;
    size_t length = strcspn(doc, "\v");
    printf("Usage: %s [OPTION...] %s\n", state->argv[0],
           argp->args_doc == NULL ? "" : argp->args_doc);
    print_text(doc, length, 0, 0);
    print_options(argp->options);
    print_options(common);
    const char *end = doc[length] == '\v' ? doc + length + 1 : "";
    char *more = argp->help_filter == NULL
                     ? NULL
                     : argp->help_filter(ARGP_KEY_HELP_POST_DOC, end, state->input);
    end = more == NULL ? end : more;
    if (*end != '\0') {
        putchar('\n');
        print_text(end, strlen(end), 0, 0);
    }
    if (more != doc + length + 1) {
        free(more);
    }
}

static int print_usage_of(const struct argp_option *option, int column) {
    for (; option != NULL && !is_end(option); option++) {
        char text[128];
        if (option->name != NULL) {
            int length =
                snprintf(text, sizeof text, "[--%s%s%s]", option->name,
                         option->arg != NULL ? "=" : "", option->arg != NULL ? option->arg : "");
            column = print_word(text, length, column, USAGE_COLUMN);
        }
    }
    return column;
}

static void print_usage(const struct argp_state *state) {
    const char *arguments = state->root_argp->args_doc;
    int column = printf("Usage: %s [-?V]", state->argv[0]);
    column = print_usage_of(state->root_argp->options, column);
    column = print_usage_of(common, column);
    if (arguments != NULL) {
        print_word(arguments, (int)strlen(arguments), column, USAGE_COLUMN);
    }
    putchar('\n');
}

static void do_common(const struct argp_state *state, int key) {
    if (key == '?') {
        print_help(state);
    } else if (key == 'u') {
        print_usage(state);
    } else if (key == 'V') {
        printf("%s\n", argp_program_version);
    } else {
        argp_error(state, "invalid option -- '%c'", key);
    }
    exit(0);
}

/* --- parsing ---------------------------------------------------------------------------------- */

/* The option that a word names, or abbreviates in one way only. */
static const struct argp_option *find(const struct argp_state *state, const char *word) {
    const struct argp_option *const lists[] = {state->root_argp->options, common};
    const struct argp_option *found = NULL;
    size_t length = strcspn(word, "=");
    bool is_ambiguous = false;
    for (size_t index = 0; index < 2; index++) {
        for (const struct argp_option *option = lists[index]; option != NULL && !is_end(option);
             option++) {
            if (option->name == NULL || strncmp(option->name, word, length) != 0) {
                continue;
            }
            if (option->name[length] == '\0') {
                return option;
            }
            is_ambiguous |= found != NULL;
            found = option;
        }
    }
    if (found == NULL) {
        argp_error(state, "unrecognized option '--%s'", word);
    } else if (is_ambiguous) {
        argp_error(state, "option '--%s' is ambiguous", word);
    }
    return found;
}

static void do_long(struct argp_state *state, char *word) {
    const struct argp_option *option = find(state, word);
    char *value = strchr(word, '=');
    value += value != NULL;
    if (option->arg == NULL && value != NULL) {
        argp_error(state, "option '--%s' doesn't allow an argument", option->name);
    }
    if (option->arg != NULL && value == NULL) {
        if (state->next == state->argc) {
            argp_error(state, "option '--%s' requires an argument", option->name);
        }
        value = state->argv[state->next++];
    }
    if (option->group == -1) {
        do_common(state, option->key);
    }
    state->root_argp->parser(option->key, value, state);
}

/* "-o FILE" and "-oFILE". */
static void do_short(struct argp_state *state, char *word) {
    const struct argp_option *option = state->root_argp->options;
    while (option != NULL && !is_end(option) && (option->name == NULL || option->key != word[1])) {
        option++;
    }
    if (option == NULL || is_end(option)) {
        do_common(state, word[1]);
    } else if (option->arg == NULL || (word[2] == '\0' && state->next == state->argc)) {
        argp_error(state, "option requires an argument -- '%c'", word[1]);
    } else {
        char *value = word[2] != '\0' ? word + 2 : state->argv[state->next++];
        state->root_argp->parser(option->key, value, state);
    }
}

/* Options first, then the other words, wherever they stand; what follows "--" is no option. */
error_t argp_parse(const struct argp *argp, int argc, char **argv, unsigned flags, int *index,
                   void *input) {
    struct argp_state state = {
        .root_argp = argp, .argc = argc, .argv = argv, .next = 1, .flags = flags, .input = input};
    bool is_after = false;
    (void)index;
    while (state.next < argc && !is_after) {
        int place = state.next++;
        char *word = argv[place];
        is_after = strcmp(word, "--") == 0;
        if (word[0] != '-' || word[1] == '\0') {
            continue;
        }
        if (word[1] != '-') {
            do_short(&state, word);
        } else if (!is_after) {
            do_long(&state, word + 2);
        }
        while (place < state.next) { /* done with the option and its value */
            argv[place++] = NULL;
        }
    }
    bool has_any = false;
    for (state.next = 1; state.next < argc;) {
        char *word = argv[state.next++];
        if (word != NULL) {
            has_any = true;
            argp->parser(ARGP_KEY_ARG, word, &state);
        }
    }
    if (!has_any) {
        argp->parser(ARGP_KEY_NO_ARGS, NULL, &state);
    }
    argp->parser(ARGP_KEY_END, NULL, &state);
    return 0;
}
