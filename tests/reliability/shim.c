/* Stands between a program and the system where it changes files below one folder.
 *
 * A seccomp filter turns each such system call into a signal, whichever library makes it; the signal's handler makes the
 * call itself, with a mark in an argument that the call does not have, so that the filter lets it pass. It counts these
 * calls, and can record them, make one of them fail, or kill the process before one or in the midst of a write. A lock is
 * held from the count to the end of the call, so the record has the order in which a program with threads made them.
 *
 * What does not go through these calls (a memory mapping, io_uring) is not seen: a test compares what was recorded with
 * what lies in the folder.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <ucontext.h>
#include <unistd.h>

#define MARK 0x74656e74L
#define NONE -1

/* A system call: which of its arguments are the folders and paths of its one or two files, and which tells more of it.
   Without a path its first argument is a descriptor. */
static const struct kind {
    int number;
    const char *name;
    int folder, path, other_folder, other_path, more;
} kinds[] = {
    {SYS_openat, "open", 0, 1, NONE, NONE, 2},
    {SYS_write, "write", NONE, NONE, NONE, NONE, NONE},
    {SYS_pwrite64, "write", NONE, NONE, NONE, NONE, NONE},
    {SYS_writev, "write", NONE, NONE, NONE, NONE, NONE},
    {SYS_pwritev, "write", NONE, NONE, NONE, NONE, NONE},
    {SYS_pwritev2, "write", NONE, NONE, NONE, NONE, NONE},
    {SYS_ftruncate, "truncate", NONE, NONE, NONE, NONE, 1},
    {SYS_truncate, "truncate", NONE, 0, NONE, NONE, 1},
    {SYS_fallocate, "allocate", NONE, NONE, NONE, NONE, NONE},
    {SYS_fsync, "fsync", NONE, NONE, NONE, NONE, NONE},
    {SYS_fdatasync, "fsync", NONE, NONE, NONE, NONE, NONE},
    {SYS_close, "close", NONE, NONE, NONE, NONE, NONE},
    {SYS_renameat2, "rename", 0, 1, 2, 3, 4},
    {SYS_linkat, "link", 0, 1, 2, 3, 4},
    {SYS_symlinkat, "symlink", 1, 2, NONE, NONE, NONE},
    {SYS_unlinkat, "unlink", 0, 1, NONE, NONE, 2},
    {SYS_mkdirat, "mkdir", 0, 1, NONE, NONE, 2},
    {SYS_fchmod, "chmod", NONE, NONE, NONE, NONE, 1},
    {SYS_fchmodat, "chmod", 0, 1, NONE, NONE, 2},
#ifdef SYS_renameat
    {SYS_renameat, "rename", 0, 1, 2, 3, NONE},
#endif
#ifdef SYS_open
    {SYS_open, "open", NONE, 0, NONE, NONE, 1},
    {SYS_rename, "rename", NONE, 0, NONE, 1, NONE},
    {SYS_link, "link", NONE, 0, NONE, 1, NONE},
    {SYS_symlink, "symlink", NONE, 1, NONE, NONE, NONE},
    {SYS_unlink, "unlink", NONE, 0, NONE, NONE, NONE},
    {SYS_rmdir, "rmdir", NONE, 0, NONE, NONE, NONE},
    {SYS_mkdir, "mkdir", NONE, 0, NONE, NONE, 1},
    {SYS_chmod, "chmod", NONE, 0, NONE, NONE, 1},
#endif
};
#define KINDS (sizeof kinds / sizeof kinds[0])

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static char root[PATH_MAX];
static size_t root_length;
static int record, watching, filtering, kill_midst, fail_error, fail_short;
static long count, kill_at, fail_at;

/* The call itself; its result, or the negative number of its error. */
static long system_call(long number, const long *a) {
    long result = syscall(number, a[0], a[1], a[2], a[3], a[4], MARK);
    return result < 0 ? -errno : result;
}
#define SYSTEM(number, ...) system_call(number, (long[5]){__VA_ARGS__})

static long answer(const struct kind *kind, const long *a);

static void trapped(int number, siginfo_t *info, void *context) {
    (void)number;
    int before = errno;
    mcontext_t *at = &((ucontext_t *)context)->uc_mcontext;
#if defined __x86_64__
    greg_t *r = at->gregs, *result = &r[REG_RAX];
    long a[5] = {r[REG_RDI], r[REG_RSI], r[REG_RDX], r[REG_R10], r[REG_R8]};
#elif defined __aarch64__
    unsigned long long *r = at->regs, *result = &r[0];
    long a[5] = {r[0], r[1], r[2], r[3], r[4]};
#else
#error "say here where this processor has the arguments of a system call"
#endif
    for (size_t index = 0; index < KINDS; index++)
        if (kinds[index].number == info->si_syscall) *result = answer(&kinds[index], a);
    errno = before;
}

static int filter_calls(void) {
    struct sock_filter code[KINDS + 7];
    int length = 0;
    code[length++] = (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr));
    for (size_t index = 0; index < KINDS; index++)
        code[length++] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, kinds[index].number,
                                                      (unsigned char)(KINDS - index), 0);
    code[length++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
    code[length++] = (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, args[5]));
    code[length++] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, MARK, 0, 1);
    code[length++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
    code[length++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_TRAP);
    struct sock_fprog program = {(unsigned short)length, code};
    struct sigaction action = {.sa_sigaction = trapped, .sa_flags = SA_SIGINFO | SA_NODEFER};
    if (sigaction(SIGSYS, &action, NULL) || prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)) return errno;
    return syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_TSYNC, &program) ? errno : 0;
}

/* Control, for the program that is watched. */

int shim_watch(const char *folder, int descriptor) {
    snprintf(root, sizeof root, "%s", folder);
    root_length = strlen(root);
    record = descriptor;
    count = kill_at = fail_at = 0;
    watching = 1;
    int error = filtering ? 0 : filter_calls();
    filtering = !error;
    return error;
}

void shim_pause(int on) { watching = !on; }

long shim_count(void) { return count; }

void shim_kill(long at, int in_the_midst) {
    kill_midst = in_the_midst;
    kill_at = at;
}

void shim_fail(long at, int error, int first_a_short_write) {
    fail_error = error;
    fail_short = first_a_short_write;
    fail_at = at;
}

#include "shim_answer.h"
