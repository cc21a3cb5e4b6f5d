#include "sim/contain/one_process.h"

#include <errno.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/sched.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#if defined __x86_64__
#define OWN_ARCH AUDIT_ARCH_X86_64
#elif defined __aarch64__
#define OWN_ARCH AUDIT_ARCH_AARCH64
#endif

#ifdef OWN_ARCH

#ifndef SYS_fork /* there is only clone() */
#define SYS_fork SYS_clone
#endif
#ifndef SECCOMP_FILTER_FLAG_SPEC_ALLOW /* or the process gets slower on some systems */
#define SECCOMP_FILTER_FLAG_SPEC_ALLOW (1ul << 2)
#endif

#define FIELD(name) offsetof(struct seccomp_data, name)
#define LOAD(at) BPF_STMT(BPF_LD | BPF_W | BPF_ABS, (uint32_t)(at))
#define IF_EQUAL(value, yes, no) BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, value, yes, no)
#define IF_HAS(bits, yes, no) BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, bits, yes, no)
#define ANSWER(value) BPF_STMT(BPF_RET | BPF_K, value)

/* A filter cannot look at the flags of clone3(); the C library then takes clone(). On both
 * processors the flags of clone() come first. A task that shares memory is a thread, or
 * waits for the exec() of another program. */
void bz_refuse_forks(void) {
    static struct sock_filter steps[] = {
        LOAD(FIELD(arch)),         IF_EQUAL(OWN_ARCH, 0, 6),
        LOAD(FIELD(nr)),           IF_EQUAL(SYS_clone3, 5, 0),
        IF_EQUAL(SYS_clone, 1, 0), IF_EQUAL(SYS_fork, 4, 2),
        LOAD(FIELD(args[0])),      IF_HAS(CLONE_VM, 0, 2),
        ANSWER(SECCOMP_RET_ALLOW), ANSWER(SECCOMP_RET_ERRNO | ENOSYS),
        ANSWER(SECCOMP_RET_TRAP)};
    static const struct sock_fprog filter = {sizeof steps / sizeof steps[0], steps};
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0) {
        (void)syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_SPEC_ALLOW,
                      &filter);
    }
}

#else

void bz_refuse_forks(void) {
}

#endif
