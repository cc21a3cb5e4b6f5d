/* buzzer new: writes a plug-in skeleton that compiles and tests itself: the files of
 * templates/variant or templates/scenario, with @WORD@ replaced. */
#include <ctype.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "sim/program/settings.h"
#include "tools/cli/cli.h"
#include "tools/cli/embedded.h"
#include "tools/cli/options.h"
#include "tools/report/text_output.h"
#include "traces/text.h"

#define NAME_LENGTH_MAX 40u

struct word {
    const char *name;
    const char *value;
};

/* The words that depend on the primitive, in the order of --primitive. */
static const struct kind {
    enum bz_primitive primitive;
    const char *enum_name;
    const char *bound;
    const char *refusal;
    const char *claims;
} kinds[] = {
    {BZ_PRIMITIVE_SEMAPHORE, "BZ_PRIMITIVE_SEMAPHORE", "UINT32_MAX", "BZ_FULL",
     "BZ_CLAIM_FIFO | BZ_CLAIM_WAKE_IS_GRANT"},
    {BZ_PRIMITIVE_BOUNDED, "BZ_PRIMITIVE_BOUNDED", "permits", "BZ_NOT_HELD",
     "BZ_CLAIM_FIFO | BZ_CLAIM_WAKE_IS_GRANT | BZ_CLAIM_REFUSES_MISUSE"},
    {BZ_PRIMITIVE_LOCK, "BZ_PRIMITIVE_LOCK", "permits", "BZ_NOT_HELD",
     "BZ_CLAIM_FIFO | BZ_CLAIM_WAKE_IS_GRANT | BZ_CLAIM_REFUSES_MISUSE"},
};

struct new {
    const char *arguments[2]; /* what, and a name */
    const char *name;
    bool is_scenario;
    const char *dir;
    uint32_t primitive; /* the number of its kind, from 1 on; 0: not given */
};

static const struct bz_option options[] = {
    {"dir", "DIR", "Create the folder NAME in DIR (default .)", BZ_OPTION_TEXT,
     offsetof(struct new, dir)},
    {"primitive", "semaphore|bounded|lock", "Primitive of a variant (default semaphore)",
     BZ_OPTION_WORD, offsetof(struct new, primitive)},
    {NULL},
};

static void check_arguments(void *target) {
    struct new *new = target;
    const char *what = new->arguments[0];
    new->is_scenario = bz_option_word("the command", "variant|scenario", what) == 2;
    new->name = new->arguments[1];
    if (new->name == NULL) {
        bz_cli_misuse("the name is missing: 'buzzer new %s NAME'", what);
    } else if (new->is_scenario &&new->primitive != 0) {
        bz_cli_misuse("--primitive is for a variant; the file of a scenario lists its own");
    }
}

/* --- the name --------------------------------------------------------------------------------- */

/* The name is used for a struct, a file, a CMake target and a variant. */
static int check_name(const struct new *new) {
    const char *name = new->name;
    static const char keywords[] =
        " auto break case char const continue default do double else enum extern float for goto if "
        "inline int long register restrict return short signed sizeof static struct switch typedef "
        "typeof union unsigned void volatile while asm bool true false linux unix ";
    static const char targets[] =
        " all clean help install depend test package package_source cmake ";
    char word[NAME_LENGTH_MAX + 3];
    size_t length = strspn(name, "abcdefghijklmnopqrstuvwxyz0123456789_");
    if (islower((unsigned char)name[0]) == 0 || name[length] != '\0' || length > NAME_LENGTH_MAX) {
        return bz_cli_fail(BZ_EXIT_USAGE,
                           "'%.64s' is not a valid name: use 1 to %u lower-case letters, digits "
                           "and '_', and start with a letter",
                           name, NAME_LENGTH_MAX);
    }
    snprintf(word, sizeof word, " %s ", name);
    if (strstr(keywords, word) != NULL || strncmp(name, "bz_", 3) == 0) {
        return bz_cli_fail(BZ_EXIT_USAGE, "'%s' is a keyword of C, or reserved by Buzzer's headers",
                           name);
    }
    if (strstr(targets, word) != NULL) {
        return bz_cli_fail(BZ_EXIT_USAGE, "'%s' is already a target of CMake", name);
    }
    bool is_taken = new->is_scenario ? bz_catalog_scenario(&bz_cli_catalog, name) != NULL
                                     : bz_catalog_variant(&bz_cli_catalog, name) != NULL;
    if (is_taken) {
        return bz_cli_fail(BZ_EXIT_USAGE, "%s '%s' already exists", new->arguments[0], name);
    }
    return BZ_EXIT_OK;
}

/* --- the files -------------------------------------------------------------------------------- */

/* Adds the template with its words replaced. An '@' that starts no known word stays. */
static void expand(struct bz_text *out, const char *text, const struct word *words) {
    while (*text != '\0') {
        const struct word *word = words;
        size_t length = 0;
        for (; *text == '@' && word->name != NULL; word++) {
            length = strlen(word->name);
            if (strncmp(text + 1, word->name, length) == 0 && text[1 + length] == '@') {
                break;
            }
        }
        if (*text == '@' && word->name != NULL) {
            bz_text_put(out, word->value);
            text += length + 2;
        } else {
            bz_text_put_bytes(out, text++, 1);
        }
    }
}

static int write_file(const char *path, const struct word *words, const char *text) {
    struct bz_text content = {0};
    expand(&content, text, words);
    bool is_written = bz_file_create(path, content.bytes, content.length);
    int problem = errno;
    bz_text_fini(&content);
    return is_written ? BZ_EXIT_OK
                      : bz_cli_fail(bz_cli_exit_of_errno(problem), "cannot write '%s': %s", path,
                                    strerror(problem));
}

/* The path of a file of the skeleton. False: it is too long. */
static bool path_of(const char *folder, const char *source, const struct bz_embedded *file,
                    char path[PATH_MAX]) {
    const char *name = strcmp(file->name, "NAME.c") == 0 ? source : file->name;
    int length = snprintf(path, PATH_MAX, "%s/%s", folder, name);
    return length > 0 && length < PATH_MAX;
}

/* Writes all files into a new folder, or none. */
static int fill_folder(const struct bz_embedded *templates, const char *folder, const char *source,
                       const struct word *words) {
    char path[PATH_MAX];
    int code = BZ_EXIT_OK;
    for (const struct bz_embedded *file = templates; code == BZ_EXIT_OK && file->name != NULL;
         file++) {
        code = path_of(folder, source, file, path)
                   ? write_file(path, words, file->text)
                   : bz_cli_fail(BZ_EXIT_USAGE, "--dir: the name is too long");
    }
    for (const struct bz_embedded *file = templates; file->name != NULL; file++) {
        bool is_path = path_of(folder, source, file, path);
        if (code == BZ_EXIT_OK) {
            printf("%s\n", path);
        } else if (is_path) {
            unlink(path);
        }
    }
    if (code != BZ_EXIT_OK) {
        rmdir(folder);
    }
    return code;
}

/* Creates the folder; an existing one is refused. */
static int write_files(const struct new *new) {
    char folder[PATH_MAX];
    char source[NAME_LENGTH_MAX + 3];
    char version[16];
    const struct kind *kind = &kinds[new->primitive == 0 ? 0 : new->primitive - 1];
    const struct word words[] = {
        {"NAME", new->name},
        {"PRIMITIVE", bz_primitive_name(kind->primitive)},
        {"PRIMITIVE_ENUM", kind->enum_name},
        {"BOUND", kind->bound},
        {"REFUSAL", kind->refusal},
        {"CLAIMS", kind->claims},
        {"VERSION", version},
        {NULL, NULL},
    };
    snprintf(source, sizeof source, "%s.c", new->name);
    /* The package of this program is compatible by major and minor version. */
    snprintf(version, sizeof version, "%.*s", (int)(strrchr(BZ_VERSION, '.') - BZ_VERSION),
             BZ_VERSION);
    int length = snprintf(folder, sizeof folder, "%s/%s", new->dir, new->name);
    if (length < 0 || (size_t)length >= sizeof folder) {
        return bz_cli_fail(BZ_EXIT_USAGE, "--dir: the name is too long");
    }
    if (mkdir(folder, 0777) != 0) {
        return errno == EEXIST
                   ? bz_cli_fail(BZ_EXIT_USAGE, "'%s' exists and is not changed", folder)
                   : bz_cli_fail(BZ_EXIT_USAGE, "cannot create '%s': %s", folder, strerror(errno));
    }
    return fill_folder(new->is_scenario ? bz_scenario_templates : bz_variant_templates, folder,
                       source, words);
}

int bz_command_new(int argc, char **argv) {
    struct new new = {.dir = "."};
    const struct bz_syntax syntax = {
        .options = options,
        .target = &new,
        .args_doc = "variant|scenario NAME",
        .arguments = new.arguments,
        .arguments_max = 2,
        .missing = "the kind ('buzzer new variant NAME')",
        .check = check_arguments,
        .doc =
            "Writes a variant or a scenario that compiles as a plug-in, works, and tests itself, "
            "into the new folder DIR/NAME. Exit status: 0 done, 2 it was not written."};
    (void)bz_options_parse(&syntax, argc, argv);
    int code = check_name(&new);
    code = code == BZ_EXIT_OK ? write_files(&new) : code;
    if (code == BZ_EXIT_OK) {
        printf("\nNext:\n"
               "    cd %s/%s\n"
               "    cmake -S . -B build && cmake --build build && ctest --test-dir build\n",
               new.dir, new.name);
    }
    return code;
}
