/* Variants that misbehave: each is a correct semaphore but for what it does at one place. The test
 * `containment` says what each must be called. -DCONSTRUCTOR=... gives the plug-in a constructor.
 */
#define _GNU_SOURCE /* clone() */
#include <errno.h>
#include <fcntl.h>
#include <locale.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <unistd.h>

#include "sim/variant/plugin.h"

struct waiter {
    struct bz_future future;
    struct bz_list link;
};

struct semaphore {
    struct bz_loop *loop;
    struct bz_list queue;
    uint32_t value;
};

/* --- misdeeds --------------------------------------------------------------------------------- */

#define DEED(name_, ...)                                                                           \
    static void do_##name_(struct semaphore *self) {                                               \
        (void)self;                                                                                \
        __VA_ARGS__;                                                                               \
    }

static volatile int zero;
static volatile char *volatile sink;

DEED(segv, *(volatile int *)16 = 1)
DEED(call_null, void (*volatile function)(struct semaphore *) = NULL; function(self))
DEED(ill, __builtin_trap())
/* where a division by zero has a result */
DEED(fpe, zero = 1 / zero; raise(SIGFPE))
DEED(bus, raise(SIGBUS))
DEED(abort, abort())
/* the signal alone: no abort() that raises it again */
DEED(raise_abort, raise(SIGABRT))
DEED(failed_check, bz_mem_free(bz_loop_mem(self->loop), self - 100000, 16))
/* there is no access to repeat */
DEED(raise_segv, raise(SIGSEGV))
DEED(hang_up, raise(SIGHUP))
DEED(term, raise(SIGTERM))
DEED(kill, kill(getpid(), SIGKILL))
/* As if from outside: the next run goes on. */
static void do_kill_once(struct semaphore *self) {
    int fd = open("killed", O_CREAT | O_EXCL | O_WRONLY, 0600);
    if (fd >= 0) {
        close(fd);
        do_kill(self);
    }
}

DEED(fork, zero = fork() & 0)
/* as _Fork() does */
DEED(raw_fork, zero = (int)syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0) & 0)
/* At most eight processes, also where nobody refuses it. */
static void do_fork_thrice(struct semaphore *self) {
    for (int count = 0; count < 3; count++) {
        do_raw_fork(self);
    }
}

static void do_fork_for_ever(struct semaphore *self) {
    for (;;) {
        do_raw_fork(self);
    }
}

/* The copy runs on a stack of its own, and only sleeps. */
static int sleep_for_ever(void *unused) {
    (void)unused;
    for (;;) {
        sleep(1000);
    }
}

static void do_leave_copy(struct semaphore *self) {
    static char stack[65536];
    (void)self;
    (void)clone(sleep_for_ever, stack + sizeof stack, SIGCHLD, NULL);
}

DEED(leave_program, (void)!system("sleep 1000 &"))
static void *in_thread(void *word) {
    *(volatile int *)word = 1;
    return NULL;
}

/* These are no processes that act on the simulation. */
static void do_thread_and_program(struct semaphore *self) {
    pthread_t thread;
    int word = 0;
    (void)self;
    if (pthread_create(&thread, NULL, in_thread, &word) != 0 || pthread_join(thread, NULL) != 0 ||
        word != 1 || system("true") != 0) {
        abort();
    }
}

static int recurse(volatile char *caller) {
    volatile char here[512];
    here[0] = *caller;
    return recurse(here) + here[0];
}

DEED(recurse, char here = (char)self->value; zero = recurse(&here) & 0)
static void do_loop(struct semaphore *self) {
    while (self != NULL) {
        zero = 0;
    }
}

static void do_loop_deaf(struct semaphore *self) {
    sigset_t all;
    sigfillset(&all);
    sigprocmask(SIG_BLOCK, &all, NULL);
    do_loop(self);
}

DEED(exit_0, exit(0))
DEED(exit_1, exit(1))
DEED(underscore_exit, _exit(0))
DEED(quick_exit, quick_exit(0))
static void do_eat(struct semaphore *self) {
    (void)self;
    for (;;) {
        sink = malloc(1 << 20);
        if (sink != NULL) {
            memset((char *)sink, 1, 1 << 20);
        }
    }
}

/* it has 1 GiB, and needs some */
DEED(eat_loop, sink = bz_mem_alloc(bz_loop_mem(self->loop), 600 << 20))
static void do_free_twice(struct semaphore *self) {
    struct bz_mem *mem = bz_loop_mem(self->loop);
    void *block = bz_mem_alloc(mem, 48);
    bz_mem_free(mem, block, 48);
    bz_mem_free(mem, block, 48);
}

DEED(mint, self->value++)
DEED(underflow, memset((char *)self - 64, 0xff, 64))
DEED(traced, ptrace(PTRACE_TRACEME, 0, NULL, NULL); raise(SIGUSR1))
/* Which run it is in depends on how many there were in this process. */
static void do_mint_late(struct semaphore *self) {
    static unsigned calls;
    self->value += ++calls == 1000;
}

static void do_print(struct semaphore *self) {
    (void)self;
    printf("a line on standard output\n");
    fflush(stdout);
    (void)!write(1, "{\n", 2);
}

DEED(close, close(1))
static void do_close_all(struct semaphore *self) {
    (void)self;
    for (int fd = 0; fd < 256; fd++) {
        close(fd);
    }
}

DEED(chdir, (void)!chdir("/"))
static void do_ignore_signals(struct semaphore *self) {
    (void)self;
    for (int number = 1; number < 32; number++) {
        signal(number, SIG_IGN);
    }
}

DEED(ignore_and_segv, do_ignore_signals(self); do_segv(self))
static void on_alarm(int number) {
    (void)number;
    _exit(0);
}

static void do_alarm(struct semaphore *self) {
    static const struct itimerval soon = {.it_value = {.tv_usec = 1}};
    signal(SIGALRM, on_alarm);
    setitimer(ITIMER_REAL, &soon, NULL);
    do_loop(self);
}

/* Eight bytes of noise, once, at a place of the memory that is shared with other processes: which
 * place, and at which call, follows from the number in WILD. Only pages in use are of interest. */
static uint64_t noise(uint64_t *state) {
    uint64_t mixed = *state += UINT64_C(0x9e3779b97f4a7c15);
    mixed = (mixed ^ (mixed >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    mixed = (mixed ^ (mixed >> 27)) * UINT64_C(0x94d049bb133111eb);
    return mixed ^ (mixed >> 31);
}

struct shared_pages {
    char *pages[65536];
    size_t count;
};

static void list_pages(struct shared_pages *shared, char *begin, const char *end) {
    static unsigned char in_use[1 << 21];
    size_t bytes = (size_t)(end - begin);
    if (bytes / 4096 > sizeof in_use || mincore(begin, bytes, in_use) != 0) {
        return;
    }
    for (size_t page = 0; page < bytes / 4096; page++) {
        if ((in_use[page] & 1) != 0 && shared->count < 65536) {
            shared->pages[shared->count++] = begin + page * 4096;
        }
    }
}

static void write_wildly(uint64_t state) {
    static struct shared_pages shared;
    char line[512];
    FILE *maps = fopen("/proc/self/maps", "r");
    shared.count = 0;
    while (maps != NULL && fgets(line, sizeof line, maps) != NULL) {
        void *begin;
        void *end;
        char rights[5];
        if (sscanf(line, "%p-%p %4s", &begin, &end, rights) == 3 && strcmp(rights, "rw-s") == 0) {
            list_pages(&shared, begin, end);
        }
    }
    if (maps != NULL) {
        fclose(maps);
    }
    if (shared.count > 0) {
        char *page = shared.pages[noise(&state) % shared.count];
        uint64_t value = noise(&state);
        memcpy(page + noise(&state) % 512 * 8, &value, sizeof value);
    }
}

static void do_wild(struct semaphore *self) {
    static uint64_t calls;
    (void)self;
    const char *text = getenv("WILD");
    uint64_t state = text == NULL ? 0 : strtoull(text, NULL, 10);
    if (++calls == 1 + noise(&state) % 300) {
        write_wildly(state);
    }
}

/* Fails in each run, and writes after some runs of the same process. */
static void do_mint_wild(struct semaphore *self) {
    static uint64_t calls;
    const char *text = getenv("WILD");
    uint64_t state = text == NULL ? 0 : strtoull(text, NULL, 10);
    do_mint(self);
    if (text != NULL && ++calls == 100 + noise(&state) % 3000) {
        write_wildly(state);
    }
}

/* Dies in each run, and writes before that in one of four. */
static void do_segv_wild(struct semaphore *self) {
    const char *text = getenv("WILD");
    uint64_t state = text == NULL ? 0 : strtoull(text, NULL, 10) + (uint64_t)getpid() * 1000003u;
    if (text != NULL && noise(&state) % 4 == 0) {
        write_wildly(state);
    }
    do_segv(self);
}

/* --- a correct semaphore ---------------------------------------------------------------------- */

enum place { AT_INIT, AT_ACQUIRE, AT_WINDOW, AT_RELEASE, AT_VIEW };

static enum place place;
static void (*misdeed)(struct semaphore *self);

static void at(enum place here, struct semaphore *self) {
    if (misdeed != NULL && place == here) {
        misdeed(self);
    }
}

static struct waiter *waiter_of(struct bz_list *link) {
    return bz_container_of(link, struct waiter, link);
}

static uint32_t count(const struct semaphore *self, enum bz_future_state state) {
    uint32_t found = 0;
    for (struct bz_list *link = self->queue.next; link != &self->queue; link = link->next) {
        found += waiter_of(link)->future.state == state;
    }
    return found;
}

static void wake_oldest(struct semaphore *self) {
    struct bz_list *link = self->queue.next;
    while (self->value > 0 && link != &self->queue) {
        if (bz_future_set_result(&waiter_of(link)->future, 0) == BZ_OK) {
            self->value--;
        }
        link = link->next;
    }
}

static enum bz_status init(void *instance, struct bz_loop *loop, uint32_t permits) {
    struct semaphore *self = instance;
    self->loop = loop;
    self->value = permits;
    bz_list_init(&self->queue);
    at(AT_INIT, self);
    return BZ_OK;
}

static enum bz_status acquire(void *instance) {
    struct semaphore *self = instance;
    struct waiter waiter;
    at(AT_ACQUIRE, self);
    if (self->value > 0) {
        self->value--;
        return BZ_OK;
    }
    bz_future_init(&waiter.future, self->loop);
    bz_list_push_back(&self->queue, &waiter.link);
    enum bz_status status = bz_future_await(&waiter.future);
    bz_list_remove(&waiter.link);
    if (status != BZ_OK && waiter.future.state == BZ_FUTURE_RESULT) {
        at(AT_WINDOW, self);
        self->value++;
        wake_oldest(self);
    }
    return status;
}

static enum bz_status release(void *instance) {
    struct semaphore *self = instance;
    at(AT_RELEASE, self);
    self->value++;
    wake_oldest(self);
    return BZ_OK;
}

static bool locked(void *instance) {
    const struct semaphore *self = instance;
    return self->value == 0;
}

static void view(void *instance, struct bz_permit_view *view) {
    struct semaphore *self = instance;
    at(AT_VIEW, self);
    view->waiting = count(self, BZ_FUTURE_PENDING);
    view->woken = count(self, BZ_FUTURE_RESULT);
    view->cancelled = count(self, BZ_FUTURE_CANCELLED);
    view->queued = view->waiting + view->woken + view->cancelled;
    view->level = (uint64_t)self->value + view->woken;
}

/* --- the variants: MISDEED(name, place, function) --------------------------------------------- */

#define MISDEEDS                                                                                   \
    MISDEED(segv_acquire, AT_ACQUIRE, do_segv)                                                     \
    MISDEED(segv_window, AT_WINDOW, do_segv)                                                       \
    MISDEED(segv_release, AT_RELEASE, do_segv)                                                     \
    MISDEED(segv_init, AT_INIT, do_segv)                                                           \
    MISDEED(segv_view, AT_VIEW, do_segv)                                                           \
    MISDEED(call_null, AT_RELEASE, do_call_null)                                                   \
    MISDEED(ill, AT_ACQUIRE, do_ill)                                                               \
    MISDEED(fpe, AT_ACQUIRE, do_fpe)                                                               \
    MISDEED(bus, AT_ACQUIRE, do_bus)                                                               \
    MISDEED(abort_window, AT_WINDOW, do_abort)                                                     \
    MISDEED(raise_abort, AT_RELEASE, do_raise_abort)                                               \
    MISDEED(raise_segv, AT_RELEASE, do_raise_segv)                                                 \
    MISDEED(hang_up, AT_RELEASE, do_hang_up)                                                       \
    MISDEED(abort_init, AT_INIT, do_abort)                                                         \
    MISDEED(failed_check, AT_RELEASE, do_failed_check)                                             \
    MISDEED(term, AT_RELEASE, do_term)                                                             \
    MISDEED(kill, AT_ACQUIRE, do_kill)                                                             \
    MISDEED(kill_once, AT_ACQUIRE, do_kill_once)                                                   \
    MISDEED(fork, AT_ACQUIRE, do_fork)                                                             \
    MISDEED(fork_window, AT_WINDOW, do_fork)                                                       \
    MISDEED(raw_fork, AT_ACQUIRE, do_raw_fork)                                                     \
    MISDEED(fork_thrice, AT_WINDOW, do_fork_thrice)                                                \
    MISDEED(fork_for_ever, AT_WINDOW, do_fork_for_ever)                                            \
    MISDEED(leave_copy, AT_RELEASE, do_leave_copy)                                                 \
    MISDEED(leave_program, AT_INIT, do_leave_program)                                              \
    MISDEED(thread_and_program, AT_INIT, do_thread_and_program)                                    \
    MISDEED(recurse, AT_ACQUIRE, do_recurse)                                                       \
    MISDEED(recurse_window, AT_WINDOW, do_recurse)                                                 \
    MISDEED(loop_acquire, AT_ACQUIRE, do_loop)                                                     \
    MISDEED(loop_window, AT_WINDOW, do_loop)                                                       \
    MISDEED(loop_init, AT_INIT, do_loop)                                                           \
    MISDEED(loop_deaf, AT_RELEASE, do_loop_deaf)                                                   \
    MISDEED(exit_0, AT_ACQUIRE, do_exit_0)                                                         \
    MISDEED(exit_0_window, AT_WINDOW, do_exit_0)                                                   \
    MISDEED(exit_1, AT_RELEASE, do_exit_1)                                                         \
    MISDEED(exit_init, AT_INIT, do_exit_0)                                                         \
    MISDEED(underscore_exit, AT_ACQUIRE, do_underscore_exit)                                       \
    MISDEED(underscore_exit_view, AT_VIEW, do_underscore_exit)                                     \
    MISDEED(quick_exit, AT_ACQUIRE, do_quick_exit)                                                 \
    MISDEED(underflow, AT_ACQUIRE, do_underflow)                                                   \
    MISDEED(traced, AT_ACQUIRE, do_traced)                                                         \
    MISDEED(mint_late, AT_ACQUIRE, do_mint_late)                                                   \
    MISDEED(mint, AT_ACQUIRE, do_mint)                                                             \
    MISDEED(eat, AT_ACQUIRE, do_eat)                                                               \
    MISDEED(free_twice, AT_RELEASE, do_free_twice)                                                 \
    MISDEED(eat_loop, AT_ACQUIRE, do_eat_loop)                                                     \
    MISDEED(eat_loop_init, AT_INIT, do_eat_loop)                                                   \
    MISDEED(print, AT_ACQUIRE, do_print)                                                           \
    MISDEED(close, AT_ACQUIRE, do_close)                                                           \
    MISDEED(close_all, AT_ACQUIRE, do_close_all)                                                   \
    MISDEED(chdir, AT_ACQUIRE, do_chdir)                                                           \
    MISDEED(ignore_signals, AT_ACQUIRE, do_ignore_signals)                                         \
    MISDEED(ignore_and_segv, AT_RELEASE, do_ignore_and_segv)                                       \
    MISDEED(alarm, AT_WINDOW, do_alarm)                                                            \
    MISDEED(wild, AT_ACQUIRE, do_wild)                                                             \
    MISDEED(mint_wild, AT_ACQUIRE, do_mint_wild)                                                   \
    MISDEED(segv_wild, AT_RELEASE, do_segv_wild)

/* An init function for each, which says what the others do. */
#define MISDEED(word, at_place, function)                                                          \
    static enum bz_status init_##word(void *instance, struct bz_loop *loop, uint32_t permits) {    \
        place = at_place;                                                                          \
        misdeed = function;                                                                        \
        return init(instance, loop, permits);                                                      \
    }                                                                                              \
    static const struct bz_permit_ops ops_##word = {.instance_bytes = sizeof(struct semaphore),    \
                                                    .init = init_##word,                           \
                                                    .acquire = acquire,                            \
                                                    .release = release,                            \
                                                    .locked = locked,                              \
                                                    .view = view};                                 \
    static const struct bz_variant variant_##word = {                                              \
        .version = BZ_VARIANT_VERSION,                                                             \
        .name = #word,                                                                             \
        .summary = "misbehaves",                                                                   \
        .claims = BZ_CLAIM_FIFO | BZ_CLAIM_WAKE_IS_GRANT,                                          \
        .permits = {[BZ_PRIMITIVE_SEMAPHORE] = &ops_##word}};
MISDEED(none, AT_INIT, NULL)
MISDEEDS
#undef MISDEED

#define MISDEED(word, at_place, function) , &variant_##word
BZ_PLUGIN(&variant_none MISDEEDS);

#ifdef CONSTRUCTOR
__attribute__((constructor)) static void construct(void) {
    CONSTRUCTOR;
}
#endif
