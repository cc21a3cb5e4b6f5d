/* In a child process: how it begins, and what it tells of its end. */
#include "sim/contain/child.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include "sim/contain/one_process.h"
#include "sim/judge/internal.h"
#include "sim/native/internal.h"

/* Of this process; a signal handler has no other way to them. */
static const struct bz_world *own_world;
static struct bz_child_page *own_page;
static int own_fd;
static bool own_program_is_foreign;

#define SIGNAL_STACK_BYTES ((size_t)64 * 1024)

/* No printf: a signal handler calls this. */
static void tell(struct bz_account *account, enum bz_ending ending, const char *text) {
    size_t length = strlen(text);
    length = length < sizeof account->text ? length : sizeof account->text - 1;
    memset(account->text, 0, sizeof account->text);
    memcpy(account->text, text, length);
    account->ending = ending;
    __atomic_store_n(&account->sum, bz_account_sum(account), __ATOMIC_RELEASE);
}

/* Of bz_lack_stop(): for the parent to say. */
static void on_lack(const char *sentence) {
    tell(&own_page->end, END_LACK, sentence);
    _exit(0);
}

/* Code that dies because the loop has refused it something is not to blame. */
static void tell_refusal(void) {
    enum bz_shortage shortage = own_world == NULL ? BZ_SHORT_OF_NOTHING : bz_shortage(own_world);
    if (shortage == BZ_SHORT_OF_TASKS) {
        on_lack("a run has fewer than " BZ_TASKS_MAX_TEXT " tasks, and this one asked for more");
    }
    if (shortage != BZ_SHORT_OF_NOTHING) {
        on_lack("the memory of a loop (" BZ_MEM_LIMIT_TEXT ") ran out for a run with many tasks");
    }
}

/* Of BZ_CHECK(), which aborts then. */
static void on_check(const char *text) {
    tell(&own_page->end, END_CHECK, text);
}

static void on_abort(int number) {
    tell_refusal();
    signal(number, SIG_DFL);
    (void)raise(number); /* strikes when this returns: not only abort() sends it */
}

/* Notes an access just below the stack of the running task, and then lets the signal kill. */
static void on_fault(int number, siginfo_t *info, void *context) {
    (void)context;
    tell_refusal();
    const struct bz_task *task = own_world == NULL ? NULL : own_world->loop->current;
    const char *address = info->si_addr;
    if (task != NULL && task->stack != NULL && info->si_code > 0) {
        const char *base = task->stack->base;
        if (address < base && base - address <= 65536) {
            tell(&own_page->end, END_OFF_STACK, "");
        }
    }
    signal(number, SIG_DFL); /* the access is repeated, but not raise() */
    if (info->si_code <= 0) {
        (void)raise(number);
    }
}

/* Of bz_refuse_forks(). */
static void on_refused_call(int number) {
    (void)number;
    tell(&own_page->end, END_FORKED, "");
    _exit(1);
}

static void catch_faults(void) {
    stack_t stack = {.ss_sp = malloc(SIGNAL_STACK_BYTES), .ss_size = SIGNAL_STACK_BYTES};
    struct sigaction action = {.sa_sigaction = on_fault, .sa_flags = SA_SIGINFO | SA_ONSTACK};
    struct sigaction refusal = {.sa_handler = on_refused_call, .sa_flags = SA_ONSTACK};
    sigemptyset(&refusal.sa_mask);
    sigaction(SIGSYS, &refusal, NULL);
    sigemptyset(&action.sa_mask);
    if (stack.ss_sp != NULL && sigaltstack(&stack, NULL) == 0) {
        sigaction(SIGSEGV, &action, NULL);
        sigaction(SIGBUS, &action, NULL);
    }
}

#if BZ_SAN_ADDRESS
void __sanitizer_set_death_callback(void (*callback)(void));

/* LeakSanitizer asks at exit. A child never ends as a program should. */
int __lsan_is_turned_off(void);
int __lsan_is_turned_off(void) {
    return own_page != NULL;
}

static void on_sanitizer(void) {
    tell(&own_page->end, END_SANITIZER, "");
}
#endif

/* A second process would act on the same judge, unless we start it. */
static bool starts_child;

pid_t bz_child_fork(void) {
    starts_child = true;
    pid_t pid = bz_fork_own();
    starts_child = false;
    return pid;
}

static void on_fork(void) {
    if (!starts_child) {
        tell(&own_page->end, END_FORKED, "");
        _exit(1);
    }
}

/* The loop's memory has room for far more tasks than these, with all that a scenario keeps. */
#define TASKS_THAT_FIT 16384u

static void on_loop_full(void) {
    if (bz_shortage(own_world) == BZ_SHORT_OF_ROOM) {
        bz_lack_stop(NULL, "the tasks and the objects of a run");
    }
    if (own_world->loop->tasks_created < TASKS_THAT_FIT) {
        tell(&own_page->end, END_LOOP_FULL, "");
        _exit(1);
    }
}

/* The code has written over the simulation's memory, or calls the judge as no task may. */
static void on_refusal(const char *rule) {
    char text[BZ_LACK_BYTES];
    snprintf(text, sizeof text, "%s%.*s", own_program_is_foreign ? "the source of events: " : "",
             (int)BZ_LACK_BYTES - 24, rule);
    tell(&own_page->end, own_program_is_foreign ? END_LACK : END_BROKEN, text);
    _exit(1);
}

/* A signal to the whole process group is for the parent. The system sends SIGPIPE in the name of
 * the process itself, when no task reads what the code prints. */
static void on_end(int number, siginfo_t *info, void *context) {
    (void)context;
    bool is_own = info->si_code == SI_QUEUE || info->si_code == SI_TIMER ||
                  info->si_code == SI_TKILL ||
                  (info->si_code <= 0 && info->si_pid == getpid() && number != SIGPIPE);
    if (is_own) {
        signal(number, SIG_DFL);
        (void)raise(number); /* strikes when this returns */
    }
}

/* None is blocked or ignored, whatever was inherited. Handlers that the code has installed stay. */
static void set_up_signals(void) {
    static const int left_to_parent[] = {SIGINT, SIGTERM, SIGHUP, SIGPIPE};
    static const int deadly[] = {SIGFPE, SIGILL, SIGTRAP};
    struct sigaction action = {.sa_sigaction = on_end, .sa_flags = SA_SIGINFO | SA_RESTART};
    sigemptyset(&action.sa_mask);
    for (int number = 1; number < NSIG; number++) {
        struct sigaction before;
        if (sigaction(number, NULL, &before) == 0 && before.sa_handler == SIG_IGN) {
            signal(number, SIG_DFL);
        }
    }
    for (size_t index = 0; index < sizeof deadly / sizeof deadly[0]; index++) {
        signal(deadly[index], SIG_DFL); /* a sanitizer may have handlers */
    }
    signal(SIGXFSZ, SIG_IGN); /* a file that grows too large is a failed write */
    for (size_t index = 0; index < sizeof left_to_parent / sizeof left_to_parent[0]; index++) {
        sigaction(left_to_parent[index], &action, NULL);
    }
    signal(SIGABRT, on_abort);
    catch_faults();
    sigprocmask(SIG_SETMASK, &action.sa_mask, NULL);
}

_Noreturn void bz_child_live(const struct bz_childhood *childhood, void (*run)(void *context),
                             void *context) {
    static const struct rlimit no_core = {0, 0};
    const struct bz_world *world = childhood->world;
    own_world = world;
    own_page = childhood->page;
    own_fd = childhood->fd;
    own_program_is_foreign = childhood->contain->is_program_foreign;
    (void)prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != childhood->parent) {
        _exit(0);
    }
    (void)setrlimit(RLIMIT_CORE, &no_core);
    int nowhere = childhood->contain->is_quiet ? open("/dev/null", O_WRONLY | O_CLOEXEC) : -1;
    (void)(nowhere < 0 ? 0 : dup2(nowhere, STDERR_FILENO));
    (void)dup2(STDERR_FILENO, STDOUT_FILENO);
    set_up_signals();
    bz_lack_handler = on_lack;
    bz_check_listener = on_check;
    bz_judge_on_refusal = on_refusal;
    (void)pthread_atfork(on_fork, NULL, NULL);
    bz_refuse_forks();
    if (world != NULL) {
        world->loop->mem->on_exhausted = on_loop_full;
    }
#if BZ_SAN_ADDRESS
    __sanitizer_set_death_callback(on_sanitizer);
#endif
    run(context);
    bool is_readable = world == NULL || bz_judge_can_be_read(world->judge);
    tell(&own_page->end, is_readable ? END_DONE : END_OVERWRITTEN, "");
    _exit(0);
}

void bz_child_is_overwritten(void) {
    tell(&own_page->end, END_OVERWRITTEN, "");
    _exit(0);
}

void bz_child_panic(const char *text) {
    char line[BZ_LACK_BYTES / 2];
    size_t length = strnlen(text, sizeof line - 1);
    for (size_t index = 0; index < length; index++) {
        line[index] = (unsigned char)text[index] < ' ' ? ' ' : text[index];
    }
    line[length] = '\0';
    if (own_page == NULL) {
        abort();
    }
    tell(&own_page->end, END_PANIC, line);
    _exit(1);
}

bool bz_child_is_this(void) {
    return own_page != NULL;
}

void bz_child_note_place(const char *place) {
    if (own_page != NULL) {
        tell(&own_page->place, END_UNTOLD, place);
    }
}

static void (*own_ask)(void);

static void on_ask(int number) {
    (void)number;
    own_ask();
}

void bz_child_on_ask(void (*ask)(void)) {
    if (own_page != NULL && !own_page->can_tell_place) {
        struct sigaction action = {.sa_handler = on_ask, .sa_flags = SA_RESTART};
        sigemptyset(&action.sa_mask);
        own_ask = ask;
        own_page->can_tell_place = sigaction(BZ_ASK_SIGNAL, &action, NULL) == 0;
    }
}

void bz_child_rest(void) {
    nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
}

void bz_child_tell(void) {
    while (write(own_fd, "", 1) < 0 && errno == EINTR) {
    }
}
