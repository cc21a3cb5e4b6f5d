#include "tools/plugins.h"

#include <dlfcn.h>
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <unistd.h>

#include "sim/run/contain.h"
#include "sim/run/settings.h"
#include "sim/variant/plugin.h"
#include "tools/cli.h"
#include "traces/lack.h"
#include "traces/text.h"

/* Of one plug-in, because the list may lack its end. */
#define VARIANTS_MAX 4096u

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
                       S_ISREG(status.st_mode) ? strerror(errno) : "it is no file");
    }
    Elf64_Half type = ET_NONE;
    bool is_elf =
        fread(head, 1, sizeof head, stream) == sizeof head && memcmp(head, ELFMAG, SELFMAG) == 0;
    fclose(stream);
    memcpy(&type, head + EI_NIDENT, sizeof type);
    return (is_elf && type == ET_DYN) || bz_fail(error, error_bytes, "it is not a shared object");
}

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
                   "it ends the process that loads it (%s): the file was cut short, or a "
                   "constructor of it fails",
                   death.how);
}

/* What a constructor may change in a process, and must not in this one. */
struct surroundings {
    int files[3]; /* standard input, output, error */
    int folder;
    struct sigaction actions[NSIG];
};

static void keep_surroundings(struct surroundings *before) {
    for (int fd = 0; fd < 3; fd++) {
        before->files[fd] = fcntl(fd, F_DUPFD_CLOEXEC, 3);
    }
    before->folder = open(".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    for (int number = 1; number < NSIG; number++) {
        (void)sigaction(number, NULL, &before->actions[number]);
    }
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
    (void)setitimer(ITIMER_REAL, &none, NULL);
    (void)setitimer(ITIMER_PROF, &none, NULL);
    (void)setitimer(ITIMER_VIRTUAL, &none, NULL);
}

/* The table of the plug-in, or NULL with a message. */
static const struct bz_plugin *open_table(const char *file, char *error, size_t error_bytes) {
    char path[PATH_MAX + 2];
    if (!is_shared_object(file, error, error_bytes)) {
        return NULL;
    }
    /* without a slash, the loader searches the library path */
    snprintf(path, sizeof path, "%s%s", strchr(file, '/') == NULL ? "./" : "", file);
    if (!survives(path, error, error_bytes)) {
        return NULL;
    }
    struct surroundings before;
    keep_surroundings(&before);
    void *handle = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    restore_surroundings(&before);
    if (handle == NULL) {
        snprintf(error, error_bytes, "%s", dlerror());
        return NULL;
    }
    const struct bz_plugin *table = dlsym(handle, BZ_PLUGIN_SYMBOL);
    if (table == NULL) {
        snprintf(error, error_bytes,
                 "it has no symbol '%s': it is no plug-in of Buzzer, or lacks BZ_PLUGIN(...)",
                 BZ_PLUGIN_SYMBOL);
        dlclose(handle);
    }
    return table;
}

static bool table_fits(const struct bz_plugin *table, char *error, size_t error_bytes) {
    if (table->version != BZ_VARIANT_VERSION) {
        return bz_fail(
            error, error_bytes,
            "built for table version %u, this program has %u; compile it against the headers "
            "of this program",
            table->version, BZ_VARIANT_VERSION);
    }
    if (table->variant_bytes != sizeof(struct bz_variant) ||
        table->future_bytes != sizeof(struct bz_future) ||
        table->timer_bytes != sizeof(struct bz_timer)) {
        return bz_fail(
            error, error_bytes,
            "its headers are not those of this program (a variant, a future and a timer have "
            "%u, %u and %u bytes there, %zu, %zu and %zu here); compile it again",
            table->variant_bytes, table->future_bytes, table->timer_bytes,
            sizeof(struct bz_variant), sizeof(struct bz_future), sizeof(struct bz_timer));
    }
    return (table->variants != NULL && table->variants[0] != NULL) ||
           bz_fail(error, error_bytes, "it has no variants");
}

/* --- the catalog ------------------------------------------------------------------------------ */

/* The list of the catalog after the first plug-in; allocated. */
static const struct bz_variant **longer_list;

const char *bz_plugins_file(const struct bz_variant *variant) {
    Dl_info own;
    Dl_info info;
    bool is_known = dladdr(&bz_cli_catalog, &own) != 0 && dladdr(variant, &info) != 0;
    return is_known && info.dli_fbase != own.dli_fbase ? info.dli_fname : NULL;
}

bool bz_plugins_are_loaded(void) {
    return longer_list != NULL;
}

bool bz_plugins_is_foreign(const struct bz_variant *variant) {
    return bz_plugins_file(variant) != NULL;
}

/* Checks each variant and appends it to the list, which is large enough. False with a message. */
static bool add_variants(const struct bz_plugin *table, const struct bz_variant **list,
                         size_t *count, char *error, size_t error_bytes) {
    char what[BZ_ERROR_BYTES];
    for (unsigned index = 0; table->variants[index] != NULL; index++) {
        const struct bz_variant *variant = table->variants[index];
        if (index == VARIANTS_MAX) {
            return bz_fail(error, error_bytes, "it has more than %u variants", VARIANTS_MAX);
        }
        if (!bz_plugin_check_variant(variant, what, sizeof what)) {
            bool is_named = variant->version == BZ_VARIANT_VERSION && variant->name != NULL;
            return bz_fail(error, error_bytes, "its variant number %u, '%.64s', %.512s", index + 1,
                           is_named ? variant->name : "?", what);
        }
        for (size_t other = 0; other < *count; other++) {
            if (strcmp(list[other]->name, variant->name) == 0) {
                const char *holder = bz_plugins_file(list[other]);
                return bz_fail(error, error_bytes,
                               "the name of its variant '%.64s' is taken by %.512s", variant->name,
                               holder != NULL ? holder : "the program itself");
            }
        }
        list[(*count)++] = variant;
    }
    return true;
}

int bz_plugins_load(const char *file, const char *name) {
    char error[BZ_ERROR_BYTES];
    size_t count = 0;
    const struct bz_plugin *table = open_table(file, error, sizeof error);
    if (table == NULL || !table_fits(table, error, sizeof error)) {
        return bz_cli_fail(name, BZ_EXIT_USAGE, "cannot load the plug-in '%.512s': %s", file,
                           error);
    }
    while (bz_cli_catalog.variants[count] != NULL) {
        count++;
    }
    const struct bz_variant **list = bz_lack_check(
        realloc(longer_list, (count + VARIANTS_MAX + 1) * sizeof *list), "the list of variants");
    if (longer_list == NULL) {
        memcpy(list, bz_cli_catalog.variants, count * sizeof *list);
    }
    longer_list = list;
    list[count] = NULL;
    bz_cli_catalog.variants = list;
    if (!add_variants(table, list, &count, error, sizeof error)) {
        return bz_cli_fail(name, BZ_EXIT_USAGE, "cannot load the plug-in '%.512s': %s", file,
                           error);
    }
    list[count] = NULL;
    return BZ_EXIT_OK;
}
