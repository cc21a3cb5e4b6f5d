#include "sim/contain/contain.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "primitives/runtime/internal.h"
#include "primitives/runtime/place.h"
#include "sim/contain/child.h"
#include "sim/contain/one_process.h"
#include "sim/judge/inspect.h"
#include "sim/judge/internal.h"
#include "sim/native/internal.h"

#define OVERWRITTEN "the code has written over memory of the simulation"
#define CHILDREN_MAX 256u
/* Between steps the harness itself may take its time. */
#define PATIENCE_BETWEEN_STEPS 30u
#define SHORTER_SLEEP 10u /* for the impatient */
/* With longer times between two looks, this process was stopped, and so was the child. */
#define STOPPED_MS (10 * BZ_CHILD_LOOK_MS)

void *bz_shared_alloc(size_t bytes) {
    void *block = mmap(bz_place_next(bytes), bytes, PROT_READ | PROT_WRITE,
                       MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    return block == MAP_FAILED ? NULL : block;
}

void bz_shared_free(void *block, size_t bytes) {
    if (block != NULL) {
        BZ_CHECK(munmap(block, bytes) == 0);
    }
}

void bz_shared_inherit(void *block, size_t bytes, bool is_inherited) {
    (void)madvise(block, bytes, is_inherited ? MADV_DOFORK : MADV_DONTFORK);
}

/* False: nothing was told, or it was written over. */
static bool read_account(const struct bz_account *account, struct bz_account *copy) {
    copy->sum = __atomic_load_n(&account->sum, __ATOMIC_ACQUIRE);
    copy->ending = account->ending;
    memcpy(copy->text, account->text, sizeof copy->text);
    return copy->sum != 0 && copy->sum == bz_account_sum(copy) && copy->ending < END_COUNT &&
           memchr(copy->text, '\0', sizeof copy->text) != NULL;
}

/* --- in the parent ---------------------------------------------------------------------------- */

static uint64_t wall_ns(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

/* CPU time that a process has taken; 0 if the system does not tell. */
static uint64_t cpu_ns_of(pid_t pid) {
    clockid_t clock;
    struct timespec used;
    if (clock_getcpuclockid(pid, &clock) != 0 || clock_gettime(clock, &used) != 0) {
        return 0;
    }
    return (uint64_t)used.tv_sec * 1000000000u + (uint64_t)used.tv_nsec;
}

/* Reads the start of a file of /proc/PID. False if the system does not tell. */
static bool read_proc(pid_t pid, const char *name, char *text, size_t text_bytes) {
    char path[40];
    snprintf(path, sizeof path, "/proc/%d/%s", (int)pid, name);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t length = fd < 0 ? -1 : read(fd, text, text_bytes - 1);
    if (fd >= 0) {
        close(fd);
    }
    text[length > 0 ? length : 0] = '\0';
    return length > 0;
}

/* Resident pages that are not shared. */
static uint64_t memory_bytes_of(pid_t pid) {
    char text[128];
    char *end;
    if (!read_proc(pid, "statm", text, sizeof text)) {
        return 0;
    }
    (void)strtoull(text, &end, 10);
    uint64_t resident = strtoull(end, &end, 10);
    uint64_t shared = strtoull(end, NULL, 10);
    return (resident - (shared < resident ? shared : resident)) * (uint64_t)sysconf(_SC_PAGESIZE);
}

/* True unless it is ready to run, which on a busy machine may take any time. Z: its first thread
 * has ended, and others have not. Where the system does not tell, it has hardly taken CPU time. */
static bool is_asleep(pid_t pid, uint64_t past_ns, uint64_t used_ns) {
    char text[512];
    if (!read_proc(pid, "stat", text, sizeof text)) {
        return used_ns < past_ns / 64;
    }
    const char *name_end = strrchr(text, ')');
    return name_end != NULL && name_end[1] == ' ' && strchr("SDTZ", name_end[2]) != NULL;
}

static uint64_t progress_of(struct bz_child *child) {
    uint64_t count =
        child->counter == NULL ? 0 : __atomic_load_n(child->counter, __ATOMIC_RELAXED) * 5u;
    return count ^ (child->judge == NULL ? 0 : bz_judge_progress(child->judge));
}

static void note_progress(struct bz_child *child, uint64_t progress, uint64_t cpu_ns) {
    child->progress = progress;
    child->cpu_ns = cpu_ns;
    child->wall_ns = wall_ns();
}

bool bz_child_start(struct bz_child *child, const struct bz_contain *contain,
                    const struct bz_world *world, void (*run)(void *context), void *context) {
    int ends[2];
    *child = (struct bz_child){.contain = *contain, .judge = world == NULL ? NULL : world->judge};
    bz_spare_child_starts();
    if (child->contain.step_ns == 0) {
        child->contain.step_ns = BZ_CHILD_STEP_NS_DEFAULT;
    }
    if (child->contain.sleep_ns == 0) {
        child->contain.sleep_ns = BZ_CHILD_SLEEP_NS_DEFAULT;
    }
    if (child->contain.memory_bytes == 0) {
        child->contain.memory_bytes = BZ_CHILD_MEMORY_BYTES_DEFAULT;
    }
    child->memory_before_bytes = memory_bytes_of(getpid());
    child->page = bz_shared_alloc(sizeof *child->page);
    child->before = malloc(sizeof *child->before);
    if (child->page == NULL || child->before == NULL || pipe(ends) != 0) {
        bz_shared_free(child->page, sizeof *child->page);
        free(child->before);
        return false;
    }
    if (child->judge != NULL) {
        bz_judge_keep_before(child->judge, child->before);
    }
    for (unsigned end = 0; end < 2; end++) {
        (void)fcntl(ends[end], F_SETFD, FD_CLOEXEC);
        (void)fcntl(ends[end], F_SETFL, O_NONBLOCK);
    }
    fflush(NULL); /* or exit() in the child writes it again */
    struct sigaction of_children;
    if (sigaction(SIGCHLD, NULL, &of_children) == 0 && of_children.sa_handler == SIG_IGN) {
        signal(SIGCHLD, SIG_DFL); /* inherited; without it, the end of a child is not reported */
    }
    pid_t parent = getpid();
    pid_t pid = bz_child_fork();
    if (pid == 0) { /* *child may be shared: it belongs to the parent */
        close(ends[0]);
        bz_child_live(&(struct bz_childhood){child->page, world, contain, parent, ends[1]}, run,
                      context);
    }
    close(ends[1]);
    if (pid < 0) {
        close(ends[0]);
        bz_shared_free(child->page, sizeof *child->page);
        free(child->before);
        return false;
    }
    child->pid = pid;
    child->fd = ends[0];
    note_progress(child, progress_of(child), 0);
    return true;
}

/* --- the judge, which the code could write over ----------------------------------------------- */

struct reading {
    struct bz_judge *judge;
    const struct bz_death *death;
};

/* On a copy of the memory. */
static void read_judge(void *context) {
    const struct reading *reading = context;
    struct bz_judge *judge = reading->judge;
    bz_lack_check(bz_judge_make_private(judge) ? judge : NULL, "a copy of a judge");
    bz_judge_died(judge, reading->death->oracle, reading->death->how);
    if (!bz_judge_can_be_read(judge)) {
        bz_child_is_overwritten();
    }
}

/* True if this process can do with the judge what it does after a death: another one tries. */
static bool is_readable(struct bz_judge *judge, const struct bz_death *death) {
    static const struct bz_contain contain = {.is_on = true, .memory_bytes = UINT64_MAX};
    struct reading reading = {judge, death};
    struct bz_death second;
    bz_judge_inherit(judge, true);
    return bz_contain_call(&contain, NULL, read_judge, &reading, &second) == BZ_CHILD_DONE;
}

const struct bz_death bz_death_overwritten = {.oracle = "crash", .how = OVERWRITTEN};

/* `death` NULL: it was stopped, and nothing of its run counts. */
static void take_judge_back(struct bz_child *child, enum bz_child_state state,
                            struct bz_death *death) {
    if (child->judge == NULL) {
        return;
    }
    bool is_sound = bz_judge_adopt(child->judge, child->before);
    if (death == NULL || !is_sound ||
        (state == BZ_CHILD_DIED && !is_readable(child->judge, death))) {
        bz_judge_give_back(child->judge, child->before);
        if (death != NULL && state == BZ_CHILD_DIED) {
            *death = bz_death_overwritten;
        }
    }
}

static void let_go(struct bz_child *child) {
    bz_kill_orphans(child->pid);
    free(child->before);
    close(child->fd);
    bz_shared_free(child->page, sizeof *child->page);
    child->page = NULL;
    child->pid = 0;
}

void bz_child_kill(struct bz_child *child) {
    if (child->pid != 0) {
        kill(child->pid, SIGKILL);
        while (waitpid(child->pid, NULL, 0) < 0 && errno == EINTR) {
        }
        take_judge_back(child, BZ_CHILD_RUNS, NULL);
        let_go(child);
    }
}

/* --- how it ended ----------------------------------------------------------------------------- */

/* strsignal() depends on the locale. */
static const char *signal_name(int number) {
    static char other[24];
    static const struct {
        int number;
        const char *name;
    } names[] = {{SIGSEGV, "SIGSEGV (invalid memory access)"},
                 {SIGBUS, "SIGBUS (invalid memory access)"},
                 {SIGILL, "SIGILL (invalid instruction)"},
                 {SIGFPE, "SIGFPE (division by zero, or the like)"},
                 {SIGABRT, "SIGABRT (abort, or a failed check)"},
                 {SIGTRAP, "SIGTRAP"},
                 {SIGSYS, "SIGSYS (refused system call)"},
                 {SIGPIPE, "SIGPIPE"},
                 {SIGALRM, "SIGALRM"},
                 {SIGTERM, "SIGTERM"},
                 {SIGHUP, "SIGHUP"},
                 {SIGXCPU, "SIGXCPU"},
                 {SIGKILL, "SIGKILL"}};
    for (size_t index = 0; index < sizeof names / sizeof names[0]; index++) {
        if (names[index].number == number) {
            return names[index].name;
        }
    }
    snprintf(other, sizeof other, "signal %d", number);
    return other;
}

static void describe_stop(const struct bz_child *child, struct bz_death *death) {
    bool is_hang = strcmp(child->killed_for, "hang") == 0;
    death->oracle = child->killed_for;
    if (is_hang && child->has_slept) {
        snprintf(death->how, sizeof death->how, "no end, and no CPU time taken for %" PRIu64 " ms",
                 child->contain.sleep_ns / 1000000);
    } else if (is_hang) {
        snprintf(death->how, sizeof death->how, "no end after %" PRIu64 " ms of CPU time",
                 child->contain.step_ns / 1000000);
    } else {
        snprintf(death->how, sizeof death->how, "the process took more than %" PRIu64 " MiB",
                 child->contain.memory_bytes >> 20u);
    }
}

/* By its own account. False: it has told nothing. */
static bool describe_ending(const struct bz_account *end, struct bz_death *death) {
    static const struct {
        const char *oracle;
        const char *how;
    } endings[END_COUNT] = {
        [END_OFF_STACK] = {"stack-overflow", "an access below the stack of the task"},
        [END_SANITIZER] = {"crash", "a sanitizer stopped it"},
        [END_FORKED] = {"crash", "a call of fork(): a simulation is one process"},
        [END_LOOP_FULL] = {"memory",
                           "the run took all of the loop's memory (" BZ_MEM_LIMIT_TEXT ")"},
        [END_OVERWRITTEN] = {"crash", OVERWRITTEN},
        [END_PANIC] = {"crash", "a panic"},
        [END_CHECK] = {"crash", ""},
        [END_BROKEN] = {"crash", OVERWRITTEN}};
    if (endings[end->ending].oracle == NULL) {
        return false;
    }
    death->oracle = endings[end->ending].oracle;
    snprintf(death->how, sizeof death->how, "%s", endings[end->ending].how);
    if (end->ending == END_CHECK) {
        snprintf(death->how, sizeof death->how, "%.*s", (int)sizeof death->how - 1, end->text);
    } else if (end->ending == END_BROKEN || end->ending == END_PANIC) {
        size_t used = strlen(death->how);
        snprintf(death->how + used, sizeof death->how - used, " (%.*s)",
                 (int)(sizeof death->how - used - 10), end->text);
    }
    return true;
}

static void describe(const struct bz_child *child, int status, const struct bz_account *end,
                     struct bz_death *death) {
    *death = (struct bz_death){.oracle = "crash"};
    if (child->killed_for != NULL) {
        describe_stop(child, death);
    } else if (child->is_traced) {
        snprintf(death->how, sizeof death->how, "it let itself be traced, and was stopped");
    } else if (describe_ending(end, death)) {
        return;
    } else if (WIFSIGNALED(status)) {
        death->is_killed = WTERMSIG(status) == SIGKILL || WTERMSIG(status) == SIGXCPU;
        snprintf(death->how, sizeof death->how, "%s", signal_name(WTERMSIG(status)));
    } else {
        death->oracle = "exit";
        snprintf(death->how, sizeof death->how, "the process ended with status %d",
                 WEXITSTATUS(status));
    }
}

/* Where it hangs, if it can tell. */
static void ask_place(const struct bz_child *child) {
    static const struct timespec moment = {0, 1000000};
    if (!child->page->can_tell_place || kill(child->pid, BZ_ASK_SIGNAL) != 0) {
        return;
    }
    for (int waited = 0; waited < BZ_CHILD_ASK_MS; waited++) {
        if (__atomic_load_n(&child->page->place.sum, __ATOMIC_ACQUIRE) != 0) {
            return;
        }
        if (waited == BZ_CHILD_ASK_MS / 2 && child->has_slept) {
            (void)kill(child->pid, BZ_ASK_SIGNAL);
        }
        nanosleep(&moment, NULL);
    }
}

/* Adds where the code under test was. */
static void add_place(const struct bz_child *child, struct bz_death *death) {
    size_t used = strlen(death->how);
    struct bz_account place;
    if (read_account(&child->page->place, &place)) {
        snprintf(death->how + used, sizeof death->how - used, ", at %.*s",
                 (int)BZ_CHILD_PLACE_BYTES - 1, place.text);
    }
}

/* The output of the code may not be read (a pager, Ctrl-S): it may wait. */
static bool is_output_full(void) {
    struct pollfd output = {.fd = STDERR_FILENO, .events = POLLOUT};
    return poll(&output, 1, 0) == 0;
}

/* True if the child has waited for too long without CPU time. */
static bool is_stuck(struct bz_child *child, uint64_t now_ns, uint64_t used_ns) {
    uint64_t most_ns = child->contain.sleep_ns / (child->contain.is_impatient ? SHORTER_SLEEP : 1);
    uint64_t past_ns = now_ns - child->wall_ns;
    if (past_ns <= most_ns || !is_asleep(child->pid, past_ns, used_ns)) {
        return false;
    }
    if (is_output_full()) {
        child->wall_ns = now_ns;
        return false;
    }
    return true;
}

/* Stops a child that hangs or grows. */
static void watch(struct bz_child *child) {
    uint64_t now_ns = wall_ns();
    if (now_ns - child->looked_ns < BZ_CHILD_LOOK_MS * UINT64_C(1000000)) {
        return;
    }
    if (child->looked_ns != 0 && now_ns - child->looked_ns > STOPPED_MS * UINT64_C(1000000)) {
        child->wall_ns += now_ns - child->looked_ns;
    }
    child->looked_ns = now_ns;
    uint64_t progress = progress_of(child);
    uint64_t cpu_ns = cpu_ns_of(child->pid);
    uint64_t memory_bytes = memory_bytes_of(child->pid);
    if (memory_bytes > child->memory_before_bytes &&
        memory_bytes - child->memory_before_bytes > child->contain.memory_bytes) {
        child->killed_for = "memory";
    }
    if (progress != child->progress || child->cpu_ns > cpu_ns || child->cpu_ns == 0 ||
        child->may_sleep) {
        note_progress(child, progress, cpu_ns);
    } else {
        const struct bz_judge *judge = child->judge;
        bool is_between = judge != NULL && bz_judge_running(judge) == 0 &&
                          (bz_judge_steps(judge) > 0 || child->counter != NULL);
        uint64_t patience = is_between ? PATIENCE_BETWEEN_STEPS : 1;
        uint64_t used_ns = cpu_ns - child->cpu_ns;
        uint64_t past_ns = now_ns - child->wall_ns;
        bool is_busy = used_ns > patience * child->contain.step_ns;
        bool is_in_step = judge == NULL || bz_judge_running(judge) != 0;
        bool may_be_stuck = is_in_step || used_ns < past_ns / 16;
        if (is_busy || (may_be_stuck && is_stuck(child, now_ns, used_ns))) {
            child->killed_for = "hang";
            child->has_slept = !is_busy;
        }
    }
    if (child->killed_for != NULL) {
        ask_place(child);
        kill(child->pid, SIGKILL);
    }
}

enum bz_child_state bz_child_look(struct bz_child *child, struct bz_death *death) {
    int status;
    char bytes[256];
    while (read(child->fd, bytes, sizeof bytes) > 0) {
    }
    pid_t ended = waitpid(child->pid, &status, child->killed_for != NULL ? 0 : WNOHANG);
    if (ended == child->pid && WIFSTOPPED(status)) { /* it called PTRACE_TRACEME */
        child->is_traced = true;
        kill(child->pid, SIGKILL);
        ended = waitpid(child->pid, &status, 0);
    }
    if (ended != child->pid) {
        watch(child);
        return BZ_CHILD_RUNS;
    }
    enum bz_child_state state = BZ_CHILD_DIED;
    struct bz_account end = {.ending = END_UNTOLD};
    if (!read_account(&child->page->end, &end)) {
        end.ending = end.sum == 0 ? END_UNTOLD : END_OVERWRITTEN;
    }
    if (end.ending == END_LACK) {
        *death = (struct bz_death){.oracle = NULL};
        memcpy(death->how, end.text, sizeof death->how);
        state = BZ_CHILD_LACKS;
    } else if (end.ending == END_DONE && WIFEXITED(status) && WEXITSTATUS(status) == 0) {
        state = BZ_CHILD_DONE;
    } else {
        describe(child, status, &end, death);
        add_place(child, death);
    }
    take_judge_back(child, state, death);
    let_go(child);
    return state;
}

void bz_child_wait(struct bz_child *const *children, size_t count) {
    struct pollfd fds[CHILDREN_MAX];
    bool is_open = true;
    for (size_t index = 0; index < count && index < CHILDREN_MAX; index++) {
        fds[index] = (struct pollfd){.fd = children[index]->fd, .events = POLLIN};
    }
    int ready = poll(fds, (nfds_t)(count < CHILDREN_MAX ? count : CHILDREN_MAX), BZ_CHILD_LOOK_MS);
    for (size_t index = 0; ready > 0 && index < count && index < CHILDREN_MAX; index++) {
        is_open &= (fds[index].revents & (POLLHUP | POLLERR)) == 0;
    }
    if (ready > 0 && !is_open) { /* its end follows at once, unless it closed the file itself */
        static const struct timespec moment = {0, 200000};
        nanosleep(&moment, NULL);
    }
}

enum bz_child_state bz_contain_call(const struct bz_contain *contain, const struct bz_world *world,
                                    void (*run)(void *context), void *context,
                                    struct bz_death *death) {
    struct bz_child child;
    struct bz_child *const children[] = {&child};
    if (!bz_child_start(&child, contain, world, run, context)) {
        *death = (struct bz_death){.oracle = NULL};
        bz_lack_text(death->how, sizeof death->how, "processes", "a run");
        return BZ_CHILD_LACKS;
    }
    enum bz_child_state state = bz_child_look(&child, death);
    while (state == BZ_CHILD_RUNS) {
        if (contain->stop != NULL && *contain->stop != 0) {
            bz_child_kill(&child);
            break;
        }
        bz_child_wait(children, 1);
        state = bz_child_look(&child, death);
    }
    return state;
}
