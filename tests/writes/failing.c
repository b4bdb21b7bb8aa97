/* Makes one of the calls that write fail: the FAIL_AT-th that concerns a file beneath FAIL_UNDER, or
 * standard output, with the error FAIL_WITH; or, where FAIL_WITH is 0, has every write take but one
 * byte more than half. Leaves the number of calls, and the one that failed, in the file FAIL_LOG.
 * Preloaded by writes.py.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <sys/uio.h>
#include <unistd.h>

static atomic_long calls;
static char failed[4200] = "none";

static long fail_at(void) {
    const char *text = getenv("FAIL_AT");
    return text ? atol(text) : 0;
}

static int fail_with(void) {
    const char *text = getenv("FAIL_WITH");
    return text ? atoi(text) : EIO;
}

static int is_beneath(const char *path) {
    const char *under = getenv("FAIL_UNDER");
    if (!under || !path) return 0;
    /* Commands run in that folder: what is relative lies beneath it. */
    return path[0] != '/' || strncmp(path, under, strlen(under)) == 0;
}

static int concerns(int fd) {
    char link[64], path[4096];
    if (fd == 1) return 1;
    if (fd < 3) return 0;
    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    ssize_t length = readlink(link, path, sizeof path - 1);
    if (length <= 0 || path[0] != '/') return 0;
    path[length] = 0;
    return is_beneath(path);
}

/* Whether this call is to fail; errno is set then. */
static int fails(const char *call, const char *what) {
    long number = atomic_fetch_add(&calls, 1) + 1;
    if (number != fail_at() || fail_with() == 0) return 0;
    snprintf(failed, sizeof failed, "%s %s", call, what);
    errno = fail_with();
    return 1;
}

static int fails_on(const char *call, int fd) {
    char what[16];
    snprintf(what, sizeof what, "%d", fd);
    return concerns(fd) && fails(call, what);
}

#define REAL(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))

ssize_t write(int fd, const void *bytes, size_t count) {
    if (fails_on("write", fd)) return -1;
    if (fail_with() == 0 && count > 1 && concerns(fd)) count = count / 2 + 1;
    return REAL(write)(fd, bytes, count);
}

ssize_t writev(int fd, const struct iovec *pieces, int count) {
    if (fails_on("writev", fd)) return -1;
    if (fail_with() == 0 && count > 1 && concerns(fd)) count = 1;
    return REAL(writev)(fd, pieces, count);
}

int fsync(int fd) { return fails_on("fsync", fd) ? -1 : REAL(fsync)(fd); }
int fdatasync(int fd) { return fails_on("fdatasync", fd) ? -1 : REAL(fdatasync)(fd); }
int ftruncate64(int fd, off64_t length) {
    return fails_on("ftruncate", fd) ? -1 : REAL(ftruncate64)(fd, length);
}
int fchmod(int fd, mode_t mode) { return fails_on("fchmod", fd) ? -1 : REAL(fchmod)(fd, mode); }

int rename(const char *from, const char *to) {
    return is_beneath(to) && fails("rename", to) ? -1 : REAL(rename)(from, to);
}
int mkdir(const char *path, mode_t mode) {
    return is_beneath(path) && fails("mkdir", path) ? -1 : REAL(mkdir)(path, mode);
}
int unlink(const char *path) {
    return is_beneath(path) && fails("unlink", path) ? -1 : REAL(unlink)(path);
}

int open64(const char *path, int flags, ...) {
    va_list rest;
    va_start(rest, flags);
    mode_t mode = va_arg(rest, mode_t);
    va_end(rest);
    int writes = (flags & O_ACCMODE) != O_RDONLY;
    if (writes && is_beneath(path) && fails("open", path)) return -1;
    return REAL(open64)(path, flags, mode);
}

__attribute__((destructor)) static void tell(void) {
    const char *log = getenv("FAIL_LOG");
    char text[4400];
    if (!log) return;
    int length = snprintf(text, sizeof text, "%ld %s\n", (long)calls, failed);
    int fd = syscall(SYS_openat, AT_FDCWD, log, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    syscall(SYS_write, fd, text, length);
    syscall(SYS_close, fd);
}
