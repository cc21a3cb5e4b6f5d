/* What the plug-in finds in GNU Pth, without Buzzer: on Pth's own scheduler. Prints a line for each
 * case, and exits with the number of cases that fail. */
#include <pth.h>
#include <stdint.h>
#include <stdio.h>

static pth_barrier_t barrier;
static pth_rwlock_t rwlock;
static int passed, reading, beside; /* waits that ended; readers; readers that a writer met */

static void yields(int turns) {
    for (; turns > 0; turns--) {
        pth_yield(NULL);
    }
}

static void *reach(void *times) {
    for (intptr_t left = (intptr_t)times; left > 0; left--) {
        pth_barrier_reach(&barrier);
        passed++;
    }
    return NULL;
}

/* Three threads wait 1, 2 and 1 times at a barrier for two. The second round begins and ends before
 * the first thread has looked at the number of the round, which is one bit. */
static int of_barrier(void) {
    pth_barrier_init(&barrier, 2);
    for (int number = 0; number < 3; number++) {
        pth_spawn(PTH_ATTR_DEFAULT, reach, (void *)(intptr_t)(1 + number % 2));
    }
    yields(1000);
    printf("barrier: %d of 4 waits have ended\n", passed);
    return passed != 4;
}

static void *read_for(void *turns) {
    pth_rwlock_acquire(&rwlock, PTH_RWLOCK_RD, FALSE, NULL);
    reading++;
    yields((int)(intptr_t)turns);
    reading--;
    printf("rwlock: the release of a reader returns %d\n", pth_rwlock_release(&rwlock));
    return NULL;
}

/* The first of two readers leaves first. Its thread still owns the mutex of the lock. */
static int of_rwlock(void) {
    pth_rwlock_init(&rwlock);
    pth_rwlock_acquire(&rwlock, PTH_RWLOCK_RD, FALSE, NULL);
    pth_spawn(PTH_ATTR_DEFAULT, read_for, (void *)10);
    yields(3);
    pth_rwlock_release(&rwlock);
    pth_rwlock_acquire(&rwlock, PTH_RWLOCK_RW, FALSE, NULL);
    beside = reading;
    printf("rwlock: a writer writes beside %d reader\n", beside);
    pth_rwlock_release(&rwlock);
    yields(100);
    return beside;
}

static void *write_once(void *has_written) {
    pth_rwlock_acquire(&rwlock, PTH_RWLOCK_RW, FALSE, NULL);
    *(int *)has_written = 1;
    return NULL;
}

/* The same, and the first reader does not come back: nobody reads, and a writer waits forever. */
static int of_writer(void) {
    int has_written = 0;
    pth_rwlock_init(&rwlock);
    pth_rwlock_acquire(&rwlock, PTH_RWLOCK_RD, FALSE, NULL);
    pth_spawn(PTH_ATTR_DEFAULT, read_for, (void *)10);
    yields(3);
    pth_rwlock_release(&rwlock);
    yields(100);
    pth_spawn(PTH_ATTR_DEFAULT, write_once, &has_written);
    yields(1000);
    printf("rwlock: nobody reads, and a writer %s\n", has_written ? "writes" : "waits");
    return !has_written;
}

int main(void) {
    pth_init();
    return of_barrier() + of_rwlock() + of_writer();
}
