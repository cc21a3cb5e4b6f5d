/* The part of glibc's argp that the program uses, for C libraries that have none (musl). Its manual
 * is glibc's; options are listed in the order of their table. */
#ifndef BZ_TOOLS_ARGP_ARGP_H
#define BZ_TOOLS_ARGP_ARGP_H

typedef int error_t;

#define ARGP_KEY_ARG 0
#define ARGP_KEY_END 0x1000001
#define ARGP_KEY_NO_ARGS 0x1000002
#define ARGP_KEY_HELP_POST_DOC 0x2000002
#define ARGP_ERR_UNKNOWN 7 /* E2BIG, as there */

struct argp_option {
    const char *name; /* NULL with a text: the title of a group */
    int key;
    const char *arg;
    int flags;
    const char *doc;
    int group;
};

struct argp_state;

struct argp {
    const struct argp_option *options;
    error_t (*parser)(int key, char *arg, struct argp_state *state);
    const char *args_doc;
    const char *doc; /* "\v" separates what the help ends with */
    const void *children;
    char *(*help_filter)(int key, const char *text, void *input);
};

struct argp_state {
    const struct argp *root_argp;
    int argc;
    char **argv;
    int next;
    unsigned flags;
    void *input;
};

extern int argp_err_exit_status;
extern const char *argp_program_version;

error_t argp_parse(const struct argp *argp, int argc, char **argv, unsigned flags, int *index,
                   void *input);

void argp_error(const struct argp_state *state, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

#endif
