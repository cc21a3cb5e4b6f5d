#include "tools/cli/manual/manual.h"

#include <stdio.h>
#include <string.h>

#include "tools/cli/embedded.h"
#include "tools/cli/options.h"

#define LINE_COLUMNS 64 /* before dashes are escaped */

static const struct bz_command *shown;

/* --- text in mdoc ----------------------------------------------------------------------------- */

/* A line that begins with a dot would be a macro; a bare hyphen may become a dash. */
static void put_word(const char *word, size_t length, bool is_first) {
    if (is_first && length > 0 && (word[0] == '.' || word[0] == '\'')) {
        fputs("\\&", stdout);
    }
    bool is_option = length > 1 && strncmp(word + (word[0] == '\'' || word[0] == '('), "-", 1) == 0;
    for (size_t index = 0; index < length; index++) {
        if (word[index] == '\\') {
            fputs("\\e", stdout);
        } else if (word[index] == '-' && is_option) {
            fputs("\\-", stdout);
        } else {
            putchar(word[index]);
        }
    }
}

/* Prints a text as lines of mdoc, each sentence on a new one. */
static void put_text(const char *text, size_t length) {
    const char *end = text + length;
    size_t column = 0;
    bool is_sentence_over = false;
    while (text < end) {
        size_t word = strcspn(text, " \n\v");
        word = word < (size_t)(end - text) ? word : (size_t)(end - text);
        if (word > 0) {
            bool is_new = is_sentence_over || column + 1 + word > LINE_COLUMNS;
            if (column > 0) {
                putchar(is_new ? '\n' : ' ');
            }
            put_word(text, word, column == 0 || is_new);
            column = column == 0 || is_new ? word : column + 1 + word;
            size_t last = word - 1;
            while (last > 0 && strchr(")'\"", text[last]) != NULL) {
                last--;
            }
            is_sentence_over = strchr(".?!", text[last]) != NULL;
        }
        text += word + 1;
    }
    printf("%s", column > 0 ? "\n" : "");
}

/* "--name=VALUE" as macros of one line. */
static void put_option(const struct bz_option *option) {
    const char *value = option->argument;
    printf(".It ");
    if (option->letter != 0) {
        printf("Fl %c%s%s , ", option->letter, value != NULL ? " Ar " : "",
               value != NULL ? value : "");
    }
    printf("Fl \\-%s%s%s\n", option->name, value != NULL ? " Ns = Ns Ar " : "",
           value != NULL ? value : "");
}

/* --- a page ----------------------------------------------------------------------------------- */

/* The date is that of buzzer(1). */
static void put_head(const struct bz_syntax *syntax) {
    const char *overview = bz_embedded_text(bz_manual_parts, "buzzer.1");
    printf("%.*s\n.Dt BUZZER-", (int)strcspn(overview, "\n"), overview);
    for (const char *letter = shown->name; *letter != '\0'; letter++) {
        putchar(*letter >= 'a' && *letter <= 'z' ? *letter - 'a' + 'A' : *letter);
    }
    printf(" 1\n.Os\n.Sh NAME\n.Nm buzzer-%s\n.Nd %s\n.Sh SYNOPSIS\n.Nm buzzer\n.Cm %s\n"
           ".Op Ar OPTION ...\n",
           shown->name, shown->summary, shown->name);
    if (syntax->args_doc != NULL) {
        printf(".Ar %s\n", syntax->args_doc);
    }
}

static void put_options(const struct bz_option *options, size_t count) {
    printf(".Sh OPTIONS\n");
    bool is_listing = false;
    for (size_t index = 0; index < count; index++) {
        const struct bz_option *option = &options[index];
        if (option->name == NULL) {
            printf("%s.Ss ", is_listing ? ".El\n" : "");
            put_text(option->help, strcspn(option->help, ":"));
            is_listing = false;
            continue;
        }
        printf("%s", is_listing ? "" : ".Bl -tag -width Ds\n");
        is_listing = true;
        put_option(option);
        put_text(option->help, strlen(option->help));
    }
    printf("%s", is_listing ? ".El\n" : "");
}

static void put_status(const char *status) {
    printf(".Sh EXIT STATUS\n");
    put_text(status, strlen(status));
    printf(".Xr buzzer 1\nlists all.\n");
}

/* The part of the command in manual.txt: from the line behind its name to the next name. */
static const char *part_of(const char *name, size_t *length) {
    char mark[64];
    size_t mark_length = (size_t)snprintf(mark, sizeof mark, "\n== %s\n", name);
    const char *part = strstr(bz_embedded_text(bz_manual_parts, "manual.txt"), mark);
    part = part != NULL ? part + mark_length : "";
    const char *end = strstr(part, "\n== ");
    *length = end != NULL ? (size_t)(end + 1 - part) : strlen(part);
    return part;
}

/* A line of code. */
static void put_code(const char *text, size_t length) {
    printf(".Dl ");
    for (size_t index = 0; index < length; index++) {
        fputs(text[index] == '"'    ? "\\(dq"
              : text[index] == '\\' ? "\\e"
                                    : (const char[]){text[index], '\0'},
              stdout);
    }
    putchar('\n');
}

/* Paragraphs, headings and code; a paragraph behind a heading needs no macro. */
static void put_prose(const char *text, const char *end, bool is_begun) {
    bool was_code = false;
    while (text < end) {
        size_t length = strcspn(text, "\n");
        bool is_code = strncmp(text, "    ", 4) == 0;
        bool is_heading = strncmp(text, "# ", 2) == 0;
        if (is_heading) {
            bool is_section = strncmp(text, "# EXAMPLES", 10) == 0;
            printf(".%s %.*s\n", is_section ? "Sh" : "Ss", (int)length - 2, text + 2);
        } else if (length > 0 && !is_begun && !(is_code && was_code)) {
            printf(".Pp\n");
        }
        if (is_code) {
            put_code(text + 4, length - 4);
        } else if (!is_heading && length > 0) {
            const char *blank = strstr(text, "\n\n");
            length = (size_t)((blank != NULL && blank < end ? blank : end) - text);
            put_text(text, length);
        }
        is_begun = is_heading || (is_begun && length == 0);
        was_code = is_code;
        text += length + 1;
    }
}

static void put_page(const struct bz_syntax *syntax, const struct bz_line *line) {
    static const char status_mark[] = "Exit status: ";
    static const char examples_mark[] = "# EXAMPLES\n";
    size_t length;
    const char *part = part_of(shown->name, &length);
    const char *end = part + length;
    const char *examples = strstr(part, examples_mark);
    examples = examples != NULL && examples < end ? examples : end;
    const char *status = strstr(syntax->doc, status_mark);
    put_head(syntax);
    printf(".Sh DESCRIPTION\n");
    put_text(syntax->doc, status != NULL ? (size_t)(status - syntax->doc) : strlen(syntax->doc));
    put_prose(part, examples, false);
    put_options(line->options, line->option_count);
    put_status(status != NULL ? status + sizeof status_mark - 1 : "");
    put_prose(examples, end, true);
    printf(".Sh SEE ALSO\n.Xr buzzer 1\n");
}

void bz_manual_print(const struct bz_command *command) {
    char *words[] = {NULL, NULL};
    if (command == NULL) {
        fputs(bz_embedded_text(bz_manual_parts, "buzzer.1"), stdout);
        return;
    }
    shown = command;
    bz_options_show = put_page;
    (void)bz_commands_call(command, 1, words);
}
