/* Options of a command as a table, from which its help is printed and its command line is read.
 *
 *     static const struct bz_option options[] = {
 *         {"runs", "N", "Schedules of each (1000)", BZ_OPTION_NUMBER, offsetof(struct zoo, runs),
 *          .least = 1, .most = UINT32_MAX},
 *         {NULL}};
 *     struct bz_syntax syntax = {.options = options, .target = &zoo, .doc = "..."};
 *     int code = bz_options_parse(&syntax, argc, argv);
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "sim/program/program.h"

enum bz_option_type {
    BZ_OPTION_FLAG,     /* a bool; takes no argument */
    BZ_OPTION_TEXT,     /* a const char * */
    BZ_OPTION_NUMBER,   /* a uint64_t */
    BZ_OPTION_NUMBER32, /* a uint32_t */
    BZ_OPTION_SECONDS,  /* a uint64_t: a duration, "30s", "5m", "2h" */
    BZ_OPTION_WORD,     /* a uint32_t: which word of its argument, "any|fifo", from 1 on */
    BZ_OPTION_PARSED,   /* parse() stores it */
};

struct bz_option {
    const char *name; /* NULL ends a table */
    /* Its name in the help, by which the shell completes it (tools/cli/manual/completion.c): "DIR"
     * stands for a folder, "any|fifo" for these words. NULL: a flag. */
    const char *argument;
    const char *help;
    enum bz_option_type type;
    size_t offset;        /* of the member of the target */
    bool is_repeatable;   /* else to give it twice is an error, unless it is a flag */
    bool is_stored;       /* --resume reads it from the folder, and refuses it */
    uint64_t least, most; /* of a number */
    char letter;          /* of its short form, "o" for -o; 0: none */
    void (*parse)(void *target, const char *name, char *text);
};

/* The use that a command makes of plug-ins decides its options for them. */
enum bz_plugin_use {
    BZ_PLUGINS_NONE = 0,
    BZ_PLUGINS_LOADED = 1, /* --plugin FILE.so */
    BZ_PLUGINS_RUN = 2,    /* their code runs: also --step-time and --max-memory */
};

#define BZ_OPTION_SETTINGS_MAX 64u
#define BZ_OPTION_VARIANTS_MAX 256u

/* A program as named on the command line. */
struct bz_options {
    const char *scenario;
    const char *variant; /* NULL: the only one of the plug-ins that fits; without any, buzzer */
    struct {
        const char *name;
        const char *value;
    } settings[BZ_OPTION_SETTINGS_MAX];
    unsigned setting_count;
    /* With syntax->takes_variants: every --variant that was given, instead of `variant`. */
    const char *variants[BZ_OPTION_VARIANTS_MAX];
    unsigned variant_count;
};

struct bz_syntax {
    const struct bz_option *options;
    void *target;
    const char *doc;
    const char *args_doc;   /* in the usage line; NULL: no arguments */
    const char **arguments; /* where they are stored; the unused ones stay NULL */
    size_t arguments_max;
    const char *missing; /* the first argument, if the command needs one: "a trace file" */
    enum bz_plugin_use plugins;
    const char *memory_help;     /* of --max-memory; NULL: it is the limit for plug-in code alone */
    struct bz_options *program;  /* the options that name a program; NULL: none */
    bool tries_every_choice;     /* so the program has no --strategy */
    bool takes_variants;         /* --variant may be given several times */
    void (*check)(void *target); /* at the end; NULL: no check */
};

/* Reads the command line and loads the plug-ins. A usage error ends the process. An exit code; not
 * BZ_EXIT_OK after a message on stderr. */
int bz_options_parse(const struct bz_syntax *syntax, int argc, char **argv);

/* A word of the command line, and what it is. */
struct bz_given {
    const struct bz_option *option; /* NULL: an argument */
    char *value;                    /* of the option, or the argument; NULL: none */
};

/* A command line and all options of its command. An option without a name is the title of those
 * behind it. */
struct bz_line {
    const struct bz_option *options;
    size_t option_count;
    const struct bz_given *words;
    size_t word_count;
    bool has_ended; /* "--": what follows is no option */
};

/* Set: bz_options_parse() stores nothing. It shows the syntax of the command and the line, however
 * wrong it is, and ends the process. */
extern void (*bz_options_show)(const struct bz_syntax *syntax, const struct bz_line *line);

/* Those that every command has. */
extern const struct bz_option bz_options_everywhere[];

/* Makes the program of the options. An exit code; not BZ_EXIT_OK after a message on stderr. */
int bz_options_program(const struct bz_options *options, struct bz_program *program);

/* The variants of plug-ins that fit the scenario of the options, up to `most`. Returns how many. */
size_t bz_options_fitting(const struct bz_options *options, const char **names, size_t most);

/* True if a variant, if both exist, offers what the scenario of the options can use. */
bool bz_options_fits(const struct bz_options *options, const char *variant);

/* True if a plug-in was loaded. */
bool bz_options_has_plugins(void);

/* The value of a setting on the command line, or NULL. */
const char *bz_options_setting(const struct bz_options *options, const char *name);

/* The value of a numeric option, within limits. A usage error ends the process. */
uint64_t bz_option_number(const char *option, const char *text, uint64_t least, uint64_t most);

/* The number of the text among words such as "any|fifo", from 1 on. A usage error ends the process;
 * its message begins with `taker`, "--order". */
uint32_t bz_option_word(const char *taker, const char *words, const char *text);

/* --sizes (sim/program/sizes.h), a word. */
enum { BZ_OPTION_SIZES_DRAWN = 1, BZ_OPTION_SIZES_DEFAULT = 2 };
#define BZ_OPTION_SIZES_HELP                                                                       \
    "drawn: in one run of four, the seed draws the parameters of the scenario that are not set; "  \
    "default: every parameter has its default (default: drawn)"
