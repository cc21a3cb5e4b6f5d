#include "tools/lab/lockstep/partner.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tools/cli/cli.h"
#include "tools/cli/embedded.h"
#include "traces/lack.h"

#define SILENCE_MS (120 * 1000)

extern char **environ;

/* --- processes -------------------------------------------------------------------------------- */

static bool make_pipe(int ends[2], char *error) {
    if (pipe2(ends, O_CLOEXEC) == 0) {
        return true;
    }
    snprintf(error, BZ_PARTNER_ERROR_BYTES, "no pipe: %s", strerror(errno));
    return false;
}

/* `is_quiet`: what it says on stderr is for nobody. */
static int spawn(pid_t *pid, const char *const *arguments, int input, int output, bool is_quiet) {
    posix_spawn_file_actions_t actions;
    int code = posix_spawn_file_actions_init(&actions);
    if (code != 0) {
        return code;
    }
    code = posix_spawn_file_actions_adddup2(&actions, input, STDIN_FILENO);
    code = code != 0 ? code : posix_spawn_file_actions_adddup2(&actions, output, STDOUT_FILENO);
    if (code == 0 && is_quiet) {
        code = posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
    }
    if (code == 0) {
        code = posix_spawnp(pid, arguments[0], &actions, NULL, (char *const *)(uintptr_t)arguments,
                            environ);
    }
    posix_spawn_file_actions_destroy(&actions);
    return code;
}

/* With its ends of two pipes. */
static bool start(struct bz_partner *partner, const char *const *arguments, bool is_quiet,
                  char *error) {
    int to[2];
    int from[2];
    *partner = (struct bz_partner){.python = arguments[0]};
    if (!make_pipe(to, error)) {
        return false;
    }
    if (!make_pipe(from, error)) {
        close(to[0]);
        close(to[1]);
        return false;
    }
    int code = spawn(&partner->pid, arguments, to[0], from[1], is_quiet);
    close(to[0]);
    close(from[1]);
    partner->to = to[1];
    partner->from = from[0];
    if (code != 0) {
        partner->pid = 0;
        snprintf(error, BZ_PARTNER_ERROR_BYTES, "cannot run '%s': %s", arguments[0],
                 strerror(code));
        bz_partner_stop(partner);
        return false;
    }
    return true;
}

void bz_partner_stop(struct bz_partner *partner) {
    close(partner->to);
    close(partner->from);
    if (partner->pid > 0) {
        kill(partner->pid, SIGKILL);
        while (waitpid(partner->pid, NULL, 0) < 0 && errno == EINTR) {
        }
        partner->pid = 0;
    }
}

/* --- lines ------------------------------------------------------------------------------------ */

/* Waits for more of the answer. */
static enum bz_reply read_more(struct bz_partner *partner) {
    struct pollfd ready = {.fd = partner->from, .events = POLLIN};
    int count = poll(&ready, 1, SILENCE_MS);
    if (count < 0 && errno == EINTR) {
        return bz_interrupt_requested != 0 ? BZ_REPLY_INTERRUPTED : BZ_REPLY_SAME;
    }
    size_t room = BZ_PARTNER_REPLY_BYTES - 1 - partner->received;
    ssize_t bytes =
        count > 0 && room > 0 ? read(partner->from, partner->reply + partner->received, room) : 0;
    if (bytes <= 0) {
        return BZ_REPLY_DIED;
    }
    partner->received += (size_t)bytes;
    return BZ_REPLY_SAME;
}

/* Takes the next line, which is then at the front of `reply`, without its end. */
static enum bz_reply take_line(struct bz_partner *partner) {
    memmove(partner->reply, partner->reply + partner->taken, partner->received - partner->taken);
    partner->received -= partner->taken;
    partner->taken = 0;
    char *end;
    while ((end = memchr(partner->reply, '\n', partner->received)) == NULL) {
        enum bz_reply reply = read_more(partner);
        if (reply != BZ_REPLY_SAME) {
            return reply;
        }
    }
    *end = '\0';
    partner->taken = (size_t)(end - partner->reply) + 1;
    return BZ_REPLY_SAME;
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

enum bz_reply bz_partner_receive(struct bz_partner *partner) {
    enum bz_reply reply = take_line(partner);
    if (reply != BZ_REPLY_SAME || strcmp(partner->reply, "same") == 0) {
        return reply;
    }
    return partner->reply[0] == '{' ? BZ_REPLY_DIFFERS : BZ_REPLY_DIED;
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
static bool ask(const char *const *arguments, char *line, size_t bytes, char *error) {
    struct bz_partner *partner = calloc(1, sizeof *partner);
    if (partner == NULL || !start(partner, arguments, true, error)) {
        free(partner);
        return false;
    }
    bool is_answered = take_line(partner) == BZ_REPLY_SAME;
    snprintf(line, bytes, "%.*s", (int)bytes - 1, is_answered ? partner->reply : "");
    bz_partner_stop(partner);
    free(partner);
    return true;
}

/* First what any program understands: a shell would take the script for one of its own. */
bool bz_partner_ask(const char *python, struct bz_python *answer, char *error) {
    const char *const version[] = {python, "--version", NULL};
    static const char *const print =
        "import sys; print(sys.implementation.name, *sys.version_info[:3])";
    const char *const hello[] = {python, "-I", "-S", "-c", print, "--hello", NULL};
    char line[128] = "";
    if (!ask(version, line, sizeof line, error)) {
        return false;
    }
    if (strncmp(line, "Python 3.", strlen("Python 3.")) != 0) {
        snprintf(error, BZ_PARTNER_ERROR_BYTES, "'%s' is not Python 3", python);
        return false;
    }
    if (!ask(hello, line, sizeof line, error)) {
        return false;
    }
    unsigned *numbers = answer->version;
    if (sscanf(line, "%31s %u %u %u", answer->implementation, &numbers[0], &numbers[1],
               &numbers[2]) != 4) {
        snprintf(error, BZ_PARTNER_ERROR_BYTES, "'%s' does not run what -c says, as Python does",
                 python);
        return false;
    }
    return true;
}

bool bz_partner_ask_twisted(const char *python, char *version, size_t bytes, char *error) {
    static const char *const print = "import twisted.internet.defer; print(twisted.__version__)";
    const char *const arguments[] = {python, "-I", "-c", print, NULL};
    if (!ask(arguments, version, bytes, error)) {
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
