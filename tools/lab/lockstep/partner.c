#include "tools/lab/lockstep/partner.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tools/cli/cli.h"
#include "tools/cli/embedded.h"
#include "traces/lack.h"

#define CANNOT_RUN "cannot run"

/* In the child. `is_quiet`: what it says on stderr is for nobody. */
static void become(const char *const *words, int input, int output, bool is_quiet) {
    (void)dup2(input, STDIN_FILENO);
    (void)dup2(output, STDOUT_FILENO);
    if (is_quiet) {
        (void)dup2(open("/dev/null", O_WRONLY | O_CLOEXEC), STDERR_FILENO);
    }
    execvp(words[0], (char *const *)(uintptr_t)words);
    (void)!write(STDOUT_FILENO, CANNOT_RUN, strlen(CANNOT_RUN));
    _exit(BZ_EXIT_USAGE);
}

static bool start(struct bz_partner *partner, const char *const *words, bool is_quiet,
                  char *error) {
    int ends[2];
    partner->answer = bz_lack_check(tmpfile(), "the answer of an interpreter");
    if (pipe2(ends, O_CLOEXEC) != 0 || (partner->pid = fork()) < 0) {
        snprintf(error, BZ_PARTNER_ERROR_BYTES, "cannot start '%s': %s", words[0], strerror(errno));
        return false;
    }
    if (partner->pid == 0) {
        become(words, ends[0], fileno(partner->answer), is_quiet);
    }
    close(ends[0]);
    partner->to = ends[1];
    return true;
}

bool bz_partner_send(struct bz_partner *partner, const char *text, size_t length) {
    while (length > 0) {
        ssize_t written = write(partner->to, text, length);
        if (written < 0 && (errno != EINTR || bz_interrupt_requested != 0)) {
            return false;
        }
        text += written > 0 ? written : 0;
        length -= written > 0 ? (size_t)written : 0;
    }
    return true;
}

void bz_partner_end(struct bz_partner *partner, char *answer, size_t bytes) {
    close(partner->to);
    while (waitpid(partner->pid, NULL, 0) < 0 && errno == EINTR) {
    }
    rewind(partner->answer);
    if (fgets(answer, (int)bytes, partner->answer) == NULL) {
        answer[0] = '\0';
    }
    answer[strcspn(answer, "\n")] = '\0';
    fclose(partner->answer);
}

/* --- the interpreter -------------------------------------------------------------------------- */

/* The player, in two files. */
static const char *script(void) {
    static char *text;
    if (text == NULL &&
        asprintf(&text, "%s%s", bz_embedded_text(bz_lockstep_scripts, "player_loop.py"),
                 bz_embedded_text(bz_lockstep_scripts, "player.py")) < 0) {
        bz_lack_stop("memory", "the player");
    }
    return text;
}

/* The first line that it prints. */
static bool ask(const char *const *words, char *line, size_t bytes, char *error) {
    struct bz_partner partner;
    if (!start(&partner, words, true, error)) {
        return false;
    }
    bz_partner_end(&partner, line, bytes);
    if (strcmp(line, CANNOT_RUN) == 0) {
        snprintf(error, BZ_PARTNER_ERROR_BYTES, CANNOT_RUN " '%s'", words[0]);
        return false;
    }
    return true;
}

bool bz_partner_ask(const char *python, struct bz_python *answer, char *error) {
    static const char *const print =
        "import sys; print(sys.implementation.name, *sys.version_info[:3])";
    const char *const words[] = {python, "-I", "-S", "-c", print, "--hello", NULL};
    unsigned *numbers = answer->version;
    char line[128];
    if (!ask(words, line, sizeof line, error)) {
        return false;
    }
    if (sscanf(line, "%31s %u %u %u", answer->implementation, &numbers[0], &numbers[1],
               &numbers[2]) != 4) {
        snprintf(error, BZ_PARTNER_ERROR_BYTES, "'%s' is not Python 3", python);
        return false;
    }
    return true;
}

bool bz_partner_ask_twisted(const char *python, char *version, size_t bytes, char *error) {
    static const char *const print = "import twisted.internet.defer; print(twisted.__version__)";
    const char *const words[] = {python, "-I", "-c", print, NULL};
    if (!ask(words, version, bytes, error)) {
        return false;
    }
    if (version[0] == '\0') {
        snprintf(error, BZ_PARTNER_ERROR_BYTES, "'%s' has no Twisted (python3-twisted in Debian)",
                 python);
        return false;
    }
    return true;
}

/* Twisted lies where -S would hide it. */
bool bz_partner_start(struct bz_partner *partner, const char *python, bool is_pure, bool is_twisted,
                      char *error) {
    const char *task = is_pure ? "--py-task" : "--c-task";
    const char *const plain[] = {python, "-I", "-S", "-c", script(), task, NULL};
    const char *const twisted[] = {
        python, "-I", "-c", script(), task, bz_embedded_text(bz_lockstep_scripts, "deferreds.py"),
        NULL};
    return start(partner, is_twisted ? twisted : plain, false, error);
}
