#include "tools/plugin/plugins.h"

#include <dlfcn.h>
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <locale.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <unistd.h>

#include "sim/contain/contain.h"
#include "sim/contain/one_process.h"
#include "sim/program/scenario_plugin.h"
#include "sim/program/settings.h"
#include "sim/variant/plugin.h"
#include "tools/cli/cli.h"
#include "traces/lack.h"
#include "traces/text.h"

/* Variants or scenarios of one plug-in, because the list may lack its end. */
#define PARTS_MAX 4096u

/* --- the file --------------------------------------------------------------------------------- */

/* Better messages than the loader's. */
static bool is_shared_object(const char *file, char *error, size_t error_bytes) {
    struct stat status;
    unsigned char head[EI_NIDENT + sizeof(Elf64_Half)] = {0};
    if (file[0] == '\0' || strlen(file) >= PATH_MAX) {
        return bz_fail(error, error_bytes, "it is not a file name");
    }
    if (stat(file, &status) != 0) {
        return bz_fail(error, error_bytes, "%s", strerror(errno));
    }
    FILE *stream = S_ISREG(status.st_mode) ? fopen(file, "rb") : NULL;
    if (stream == NULL) {
        return bz_fail(error, error_bytes, "%s",
                       S_ISREG(status.st_mode) ? strerror(errno) : "it is not a file");
    }
    Elf64_Half type = ET_NONE;
    bool is_elf =
        fread(head, 1, sizeof head, stream) == sizeof head && memcmp(head, ELFMAG, SELFMAG) == 0;
    fclose(stream);
    memcpy(&type, head + EI_NIDENT, sizeof type);
    return (is_elf && type == ET_DYN) || bz_fail(error, error_bytes, "it is not a shared object");
}

/* --- assertions of plug-ins ------------------------------------------------------------------- */

#if defined(__GLIBC__)
/* In place of the one in the C library, which ends the process in the same way: the message about
 * the end says which assertion failed. */
_Noreturn void __assert_fail(const char *assertion, const char *file, unsigned line,
                             const char *function);
void __assert_fail(const char *assertion, const char *file, unsigned line, const char *function) {
    const char *slash = strrchr(file, '/');
    char place[BZ_CHILD_PLACE_BYTES];
    (void)fprintf(stderr, "%s:%u: %s: Assertion `%s' failed.\n", file, line, function, assertion);
    snprintf(place, sizeof place, "%s:%u (assertion '%s' failed)", slash == NULL ? file : slash + 1,
             line, assertion);
    bz_child_note_place(place);
    abort();
}
#endif

/* --- loading: constructors run ---------------------------------------------------------------- */

#define LOAD_NS UINT64_C(10000000000)

static void load(void *path) {
    (void)dlopen(path, RTLD_NOW | RTLD_LOCAL); /* an error shows when it is loaded for good */
}

/* Loads it in a child process. */
static bool survives(char *path, char *error, size_t error_bytes) {
    struct bz_contain contain = bz_cli_catalog.contain;
    struct bz_death death;
    contain.step_ns = LOAD_NS;
    enum bz_child_state state = bz_contain_call(&contain, NULL, load, path, &death);
    if (state == BZ_CHILD_LACKS) {
        bz_lack_handler(death.how);
    }
    return state == BZ_CHILD_DONE ||
           bz_fail(error, error_bytes,
                   "loading it kills the process (%s): truncated file or failing constructor",
                   death.how);
}

/* The state of a process that a constructor may change, and must not in this one. */
struct surroundings {
    int files[3]; /* standard input, output, error */
    int folder;
    struct sigaction actions[NSIG];
    sigset_t blocked;
    mode_t mask; /* of new files */
    char *locale;
};

static void keep_surroundings(struct surroundings *before) {
    for (int fd = 0; fd < 3; fd++) {
        before->files[fd] = fcntl(fd, F_DUPFD_CLOEXEC, 3);
    }
    before->folder = open(".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    for (int number = 1; number < NSIG; number++) {
        (void)sigaction(number, NULL, &before->actions[number]);
    }
    (void)sigprocmask(SIG_BLOCK, NULL, &before->blocked);
    before->mask = umask(0);
    (void)umask(before->mask);
    before->locale = strdup(setlocale(LC_ALL, NULL));
    fflush(stdout);
    (void)dup2(STDERR_FILENO, STDOUT_FILENO);
}

static void restore_surroundings(const struct surroundings *before) {
    static const struct itimerval none;
    fflush(stdout);
    for (int fd = 0; fd < 3; fd++) {
        if (before->files[fd] >= 0) {
            (void)dup2(before->files[fd], fd);
            close(before->files[fd]);
        }
    }
    if (before->folder >= 0) {
        (void)!fchdir(before->folder);
        close(before->folder);
    }
    for (int number = 1; number < NSIG; number++) {
        (void)sigaction(number, &before->actions[number], NULL);
    }
    (void)sigprocmask(SIG_SETMASK, &before->blocked, NULL);
    (void)umask(before->mask);
    (void)setlocale(LC_ALL, before->locale != NULL ? before->locale : "C");
    free(before->locale);
    (void)setitimer(ITIMER_REAL, &none, NULL);
    (void)setitimer(ITIMER_PROF, &none, NULL);
    (void)setitimer(ITIMER_VIRTUAL, &none, NULL);
}

/* The exports of a plug-in; at least one of both. */
struct tables {
    const struct bz_plugin *variants;
    const struct bz_scenario_plugin *scenarios;
};

/* False with a message. */
static bool open_tables(const char *file, struct tables *tables, char *error, size_t error_bytes) {
    char path[PATH_MAX + 2];
    if (!is_shared_object(file, error, error_bytes)) {
        return false;
    }
    /* without a slash, the loader searches the library path */
    snprintf(path, sizeof path, "%s%s", strchr(file, '/') == NULL ? "./" : "", file);
    if (!survives(path, error, error_bytes)) {
        return false;
    }
    struct surroundings before;
    keep_surroundings(&before);
    void *handle = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    restore_surroundings(&before);
    if (handle == NULL) {
        return bz_fail(error, error_bytes, "%s", dlerror());
    }
    tables->variants = dlsym(handle, BZ_PLUGIN_SYMBOL);
    tables->scenarios = dlsym(handle, BZ_SCENARIO_PLUGIN_SYMBOL);
    if (tables->variants == NULL && tables->scenarios == NULL) {
        dlclose(handle);
        return bz_fail(
            error, error_bytes,
            "it has no symbol '%s': it is not a plug-in of Buzzer, or lacks BZ_PLUGIN(...) "
            "and BZ_SCENARIO_PLUGIN(...)",
            BZ_PLUGIN_SYMBOL);
    }
    bz_reap_orphans();
    return true;
}

static bool version_fits(uint32_t version, uint32_t own, char *error, size_t error_bytes) {
    return version == own ||
           bz_fail(
               error, error_bytes,
               "built for table version %u, this program has %u; compile it against the headers "
               "of this program",
               version, own);
}

/* `parts`: the three structs whose sizes were compiled into the plug-in and into this program. */
static bool sizes_fit(const char *parts, const uint32_t there[3], const size_t here[3], char *error,
                      size_t error_bytes) {
    return (there[0] == here[0] && there[1] == here[1] && there[2] == here[2]) ||
           bz_fail(error, error_bytes,
                   "its headers are not those of this program (%s have %u, %u and %u bytes there, "
                   "%zu, %zu and %zu here); compile it again",
                   parts, there[0], there[1], there[2], here[0], here[1], here[2]);
}

static bool variants_fit(const struct bz_plugin *table, char *error, size_t error_bytes) {
    const uint32_t there[] = {table->variant_bytes, table->future_bytes, table->timer_bytes};
    const size_t here[] = {sizeof(struct bz_variant), sizeof(struct bz_future),
                           sizeof(struct bz_timer)};
    return version_fits(table->version, BZ_VARIANT_VERSION, error, error_bytes) &&
           sizes_fit("a variant, a future and a timer", there, here, error, error_bytes) &&
           ((table->variants != NULL && table->variants[0] != NULL) ||
            bz_fail(error, error_bytes, "it has no variants"));
}

static bool scenarios_fit(const struct bz_scenario_plugin *table, char *error, size_t error_bytes) {
    const uint32_t there[] = {table->scenario_bytes, table->args_bytes, table->world_bytes};
    const size_t here[] = {sizeof(struct bz_scenario), sizeof(struct bz_scenario_args),
                           sizeof(struct bz_world)};
    return version_fits(table->version, BZ_SCENARIO_VERSION, error, error_bytes) &&
           sizes_fit("a scenario, its arguments and a world", there, here, error, error_bytes) &&
           ((table->scenarios != NULL && table->scenarios[0] != NULL) ||
            bz_fail(error, error_bytes, "it has no scenarios"));
}

/* --- the catalog ------------------------------------------------------------------------------ */

static bool are_loaded; /* at least a part of one is in the catalog */

bool bz_plugins_are_loaded(void) {
    return are_loaded;
}

const char *bz_plugins_file(const void *part) {
    Dl_info own;
    Dl_info info;
    bool is_known =
        bz_plugins_are_loaded() && dladdr(&bz_cli_catalog, &own) != 0 && dladdr(part, &info) != 0;
    return is_known && info.dli_fbase != own.dli_fbase ? info.dli_fname : NULL;
}

bool bz_plugins_is_foreign(const void *part) {
    return bz_plugins_file(part) != NULL;
}

bool bz_plugins_have(const struct bz_program *program) {
    return bz_plugins_is_foreign(program->scenario) || bz_plugins_is_foreign(program->variant);
}

uint32_t bz_plugins_files(const struct bz_scenario *scenario, const struct bz_variant *variant,
                          const char *files[2]) {
    uint32_t count = 0;
    files[0] = scenario != NULL ? bz_plugins_file(scenario) : NULL;
    count += files[0] != NULL;
    files[count] = variant != NULL ? bz_plugins_file(variant) : NULL;
    bool is_other = files[count] != NULL && (count == 0 || strcmp(files[0], files[1]) != 0);
    return count + is_other;
}

void bz_plugins_add_options(struct bz_text *text, const struct bz_scenario *scenario,
                            const struct bz_variant *variant) {
    char quoted[4 * PATH_MAX];
    const char *files[2];
    uint32_t count = bz_plugins_files(scenario, variant, files);
    for (uint32_t index = 0; index < count; index++) {
        bz_text_add(text, " --plugin %s", bz_cli_quoted(files[index], quoted, sizeof quoted));
    }
}

/* A message about one of its variants or scenarios; its name is shown if it can be read. */
static bool fail_part(const char *kind, unsigned number, const char *name, const char *what,
                      char *error, size_t error_bytes) {
    return bz_fail(error, error_bytes, "its %s number %u, '%.64s', %.512s", kind, number,
                   name != NULL ? name : "?", what);
}

static bool fail_taken(const char *kind, const char *name, const char *holder, char *error,
                       size_t error_bytes) {
    return bz_fail(error, error_bytes, "the name of its %s '%.64s' is taken by %.512s", kind, name,
                   holder != NULL ? holder : "the program itself");
}

/* Checks each and appends it to the catalog. False with a message. */
static bool add_variants(const struct bz_plugin *table, char *error, size_t error_bytes) {
    char what[BZ_ERROR_BYTES];
    for (unsigned index = 0; table->variants[index] != NULL; index++) {
        const struct bz_variant *variant = table->variants[index];
        if (index == PARTS_MAX) {
            return bz_fail(error, error_bytes, "it has more than %u variants", PARTS_MAX);
        }
        if (!bz_plugin_check_variant(variant, what, sizeof what)) {
            bool is_named = variant->version == BZ_VARIANT_VERSION;
            return fail_part("variant", index + 1, is_named ? variant->name : NULL, what, error,
                             error_bytes);
        }
        const struct bz_variant *other = bz_catalog_variant(&bz_cli_catalog, variant->name);
        if (other != NULL) {
            return fail_taken("variant", variant->name, bz_plugins_file(other), error, error_bytes);
        }
        bz_catalog_add_variant(&bz_cli_catalog, variant);
        are_loaded = true;
    }
    return true;
}

static bool add_scenarios(const struct bz_scenario_plugin *table, char *error, size_t error_bytes) {
    char what[BZ_ERROR_BYTES];
    for (unsigned index = 0; table->scenarios[index] != NULL; index++) {
        const struct bz_scenario *scenario = table->scenarios[index];
        if (index == PARTS_MAX) {
            return bz_fail(error, error_bytes, "it has more than %u scenarios", PARTS_MAX);
        }
        if (!bz_plugin_check_scenario(scenario, what, sizeof what)) {
            return fail_part("scenario", index + 1, scenario->name, what, error, error_bytes);
        }
        if (scenario->runtime != NULL) {
            return fail_part("scenario", index + 1, scenario->name,
                             "has a runtime of its own, which a plug-in cannot bring; a program of "
                             "your own can (tools/property.h)",
                             error, error_bytes);
        }
        const struct bz_scenario *other = bz_catalog_scenario(&bz_cli_catalog, scenario->name);
        if (other != NULL) {
            return fail_taken("scenario", scenario->name, bz_plugins_file(other), error,
                              error_bytes);
        }
        bz_catalog_add_scenario(&bz_cli_catalog, scenario);
        are_loaded = true;
    }
    return true;
}

/* Without /proc, the memory of a child is not known, nor what it leaves. */
static void warn_of_missing_proc(void) {
    if (access("/proc/self/statm", R_OK) != 0 && !bz_plugins_are_loaded()) {
        bz_cli_note("warning: /proc is missing: --max-memory does not limit the code of "
                    "plug-ins, and processes that it leaves stay");
    }
}

int bz_plugins_load(const char *file) {
    char error[BZ_ERROR_BYTES];
    struct tables tables;
    warn_of_missing_proc();
    /* Scenarios first: a variant may declare a fault that shows in one. */
    bool is_ok =
        open_tables(file, &tables, error, sizeof error) &&
        (tables.scenarios == NULL || (scenarios_fit(tables.scenarios, error, sizeof error) &&
                                      add_scenarios(tables.scenarios, error, sizeof error))) &&
        (tables.variants == NULL || (variants_fit(tables.variants, error, sizeof error) &&
                                     add_variants(tables.variants, error, sizeof error)));
    return is_ok ? BZ_EXIT_OK
                 : bz_cli_fail(BZ_EXIT_USAGE, "cannot load the plug-in '%.512s': %s", file, error);
}
