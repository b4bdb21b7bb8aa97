/* The ledger of a process: regions, operations, its times; and the file that tells of them. */

#include "probe.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <inttypes.h>
#include <link.h>
#include <math.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

/* ---- Functions that come after the probe's own */

static int keep_runtime(struct dl_phdr_info *module, size_t size, void *found) {
    static const char *const parts[] = {"libgomp", "libomp", "libiomp", "libmpi", "libmpich"};
    (void) size;
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        const char *name = strrchr(module->dlpi_name, '/');
        if (name && !strncmp(name + 1, parts[i], strlen(parts[i]))) {
            void *handle = dlopen(module->dlpi_name, RTLD_LAZY | RTLD_NOLOAD);
            void **named = found;
            void *function = handle ? dlsym(handle, named[0]) : NULL;
            if (handle) dlclose(handle);
            if (function) {
                named[1] = function;
                return 1;
            }
        }
    }
    return 0;
}

/* A library that was opened by a program while it ran is in nobody's list but its own. */
void *mmgp_next(const char *name) {
    void *function = dlsym(RTLD_NEXT, name);
    if (function) return function;
    void *named[2] = {(void *) name, NULL};
    dl_iterate_phdr(keep_runtime, named);
    return named[1];
}

void *mmgp_needed(const char *name) {
    void *function = mmgp_next(name);
    if (!function) {
        fprintf(stderr, "mmgp probe: no library has %s\n", name);
        abort();
    }
    return function;
}

/* ---- The ledger */

enum { BUCKETS = 1024 };

static struct region *regions[BUCKETS];
static struct operation *operations;
static atomic_flag busy = ATOMIC_FLAG_INIT;
static atomic_int most_threads = 1;
/* Threads that encountered regions: those of another, and the first. */
static pthread_t first_host;
static atomic_int has_host, other_hosts;
static int has_ended;

static void lock(void) { while (atomic_flag_test_and_set_explicit(&busy, memory_order_acquire)) {} }
static void unlock(void) { atomic_flag_clear_explicit(&busy, memory_order_release); }

struct region *mmgp_region(const void *code) {
    struct region **bucket = &regions[((uintptr_t) code >> 4) % BUCKETS];
    for (struct region *it = *bucket; it; it = it->next)
        if (it->code == code) return it;
    lock();
    struct region *made = *bucket;
    while (made && made->code != code) made = made->next;
    if (!made && (made = calloc(1, sizeof *made))) {
        made->code = code;
        made->next = *bucket;
        *bucket = made;
    }
    unlock();
    return made;
}

void mmgp_region_ran(struct region *region, const struct region *call) {
    static struct region after_the_end;
    if (!region) return;
    if (has_ended) region = &after_the_end;
    if (!atomic_exchange(&has_host, 1)) first_host = pthread_self();
    if (!pthread_equal(first_host, pthread_self())) atomic_store(&other_hosts, 1);
    lock();
    region->calls++;
    if (region->threads < call->threads) region->threads = call->threads;
    region->time += call->time;
    region->work += call->work;
    region->slowest += call->slowest;
    region->first += call->first;
    if (atomic_load(&most_threads) < call->threads) atomic_store(&most_threads, (int) call->threads);
    unlock();
}

int mmgp_most_threads(void) { return atomic_load(&most_threads); }

struct operation *mmgp_operations(void) { return operations; }

struct operation *mmgp_operation(const char *name, int is_collective) {
    lock();
    struct operation *it = operations;
    while (it && strcmp(it->name, name)) it = it->next;
    if (!it && (it = calloc(1, sizeof *it))) {
        it->name = name;
        it->is_collective = is_collective;
        it->last = -1;
        it->next = operations;
        operations = it;
    }
    unlock();
    return it;
}

/* ---- The run */

static struct { nanoseconds at; struct rusage used; } begin, end;
static int rank, ranks;
static char mpi_library[64];

static void stamp(__typeof__(begin) *moment) {
    moment->at = now();
    getrusage(RUSAGE_SELF, &moment->used);
}

/* What comes before is of nobody: regions of a program that has yet to call MPI_Init are no part of it. */
void mmgp_run_begins(void) {
    lock();
    for (int i = 0; i < BUCKETS; i++)
        for (struct region *it = regions[i]; it; it = it->next)
            *it = (struct region) {.code = it->code, .next = it->next};
    unlock();
    stamp(&begin);
}

void mmgp_run_ends(void) {
    if (has_ended) return;
    stamp(&end);
    has_ended = 1;
    mmgp_devices_end();
}

void mmgp_set_rank(int its, int size, const char *library) {
    rank = its;
    ranks = size;
    snprintf(mpi_library, sizeof mpi_library, "%s", library);
    for (char *it = mpi_library; *it; it++)
        if (*it == '\t' || *it == '\n') *it = ' ';
}

/* ---- Threads that are no runtime's of OpenMP */

int mmgp_is_starting;

static atomic_int other_threads;
static char other_starter[128];

int pthread_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*start)(void *), void *argument) {
    static int (*next)(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *);
    NEXT(next, "pthread_create");
    Dl_info caller;
    if (dladdr(__builtin_return_address(0), &caller) && caller.dli_fname) {
        const char *name = strrchr(caller.dli_fname, '/');
        name = name ? name + 1 : caller.dli_fname;
        static const char *const own[] = {"libgomp", "libomp", "libiomp", "libmpi", "libopen-", "libmpich", "mca_",
                                          "libpmix", "libevent", "libucs", "libuct", "libucp", "libfabric", "libpsm"};
        int is_other = !mmgp_is_starting;
        for (size_t i = 0; i < sizeof own / sizeof *own; i++)
            is_other &= strncmp(name, own[i], strlen(own[i])) != 0;
        if (is_other && !atomic_fetch_add(&other_threads, 1))
            snprintf(other_starter, sizeof other_starter, "%s", name);
    }
    return next(thread, attributes, start, argument);
}

/* ---- The file */

static char said[1 << 18];
static size_t said_length;

void mmgp_say(const char *format, ...) {
    va_list values;
    va_start(values, format);
    size_t room = sizeof said - said_length;
    int length = vsnprintf(said + said_length, room, format, values);
    va_end(values);
    if (length > 0 && (size_t) length < room) said_length += (size_t) length;
}

static char buffer[1 << 13];
static size_t filled;
static int file = -1, is_broken;

static void flush(void) {
    for (size_t done = 0; done < filled && !is_broken;) {
        ssize_t count = write(file, buffer + done, filled - done);
        if (count <= 0) is_broken = 1;
        else done += (size_t) count;
    }
    filled = 0;
}

static void put(const char *format, ...) __attribute__((format(printf, 1, 2)));
static void put(const char *format, ...) {
    if (sizeof buffer - filled < 2048) flush();
    va_list values;
    va_start(values, format);
    int length = vsnprintf(buffer + filled, sizeof buffer - filled, format, values);
    va_end(values);
    if (length > 0 && (size_t) length < sizeof buffer - filled) filled += (size_t) length;
    else is_broken = 1;
}

static void put_regions(void) {
    for (int i = 0; i < BUCKETS; i++)
        for (struct region *it = regions[i]; it; it = it->next) {
            if (!it->calls) continue;
            Dl_info module = {0};
            if (!dladdr(it->code, &module) || !module.dli_fname) module.dli_fname = "";
            put("region\t%.900s\t%td\t%.500s", module.dli_fname, (const char *) it->code - (char *) module.dli_fbase,
                module.dli_sname ? module.dli_sname : "");
            put("\t%" PRId64 "\t%" PRId64 "\t%" PRId64 "\t%" PRId64 "\t%" PRId64 "\t%" PRId64 "\n", it->calls,
                it->threads, it->time, it->work, it->slowest, it->first);
        }
}

static int64_t microseconds(struct timeval it) { return it.tv_sec * INT64_C(1000000) + it.tv_usec; }

static int64_t cpu(struct rusage *it) { return microseconds(it->ru_utime) + microseconds(it->ru_stime); }

static char program[1024];
static atomic_int is_written;
/* A child has the memory of its parent, or even shares it, and is another process. */
static pid_t own_process;

void mmgp_is_a_process(void) {
    if (own_process != getpid()) stamp(&begin);
    own_process = getpid();
}

static int has_regions(void) {
    for (int i = 0; i < BUCKETS; i++)
        for (struct region *it = regions[i]; it; it = it->next)
            if (it->calls) return 1;
    return 0;
}

/* A process of the program: one of MPI, one with regions, or the one that was asked for. */
static int is_of_program(void) {
    const char *parent = getenv("MMGP_PROBE_PARENT");
    return ranks > 0 || said_length || has_regions() || (parent && atoi(parent) == getppid());
}

void mmgp_write(const char *how_it_ended) {
    const char *folder = getenv("MMGP_PROBE_DIR");
    if (!folder || getpid() != own_process || atomic_load(&is_written)) return;
    mmgp_run_ends();
    if (!is_of_program() || atomic_exchange(&is_written, 1)) return;
    char host[64] = "", name[1200], whole[1200];
    gethostname(host, sizeof host - 1);
    snprintf(whole, sizeof whole, "%.1000s/%s.%ld", folder, host, (long) getpid());
    snprintf(name, sizeof name, "%.1100s.part", whole);
    file = open(name, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    if (file < 0) return;
    put("probe\t1\nprogram\t%s\nend\t%s\nrank\t%d\t%d\t%s\n", program, how_it_ended, rank, ranks, mpi_library);
    put("time\t%" PRId64 "\t%" PRId64 "\t%ld\n", end.at - begin.at, 1000 * (cpu(&end.used) - cpu(&begin.used)),
        end.used.ru_nivcsw - begin.used.ru_nivcsw);
    put("host\t%s\t%ld\n", host, sysconf(_SC_NPROCESSORS_ONLN));
    put("threads\t%d\t%d\t%d\t%s\n", mmgp_most_threads(), atomic_load(&other_hosts), atomic_load(&other_threads),
        other_starter);
    put_regions();
    for (struct operation *it = operations; it; it = it->next)
        if (it->calls)
            put("mpi\t%s\t%d\t%" PRId64 "\t%" PRId64 "\t%" PRId64 "\t%" PRId64 "\t%" PRId64 "\n", it->name,
                it->is_collective, (int64_t) it->calls, (int64_t) it->bytes, (int64_t) it->time, (int64_t) it->outside,
                it->last);
    flush();
    for (size_t done = 0; done < said_length && !is_broken; done += filled) {
        filled = said_length - done < sizeof buffer ? said_length - done : sizeof buffer;
        memcpy(buffer, said + done, filled);
        size_t length = filled;
        flush();
        filled = length;
    }
    filled = 0;
    put("whole\n");
    flush();
    close(file);
    if (is_broken) unlink(name);
    else rename(name, whole);
}

/* ---- When it is written */

int mmgp_calibrates(void) {
    const char *value = getenv("MMGP_PROBE_CALIBRATE");
    return !value || strcmp(value, "0");
}

static void on_exit_of_process(void) {
    if (getpid() == own_process && !atomic_load(&is_written) && getenv("MMGP_PROBE_DIR")) {
        mmgp_run_ends();
        if (!ranks && has_regions() && mmgp_calibrates()) mmgp_time_empty_regions(mmgp_most_threads());
        mmgp_write("exit");
    }
}

#define AT_ONCE(name)                                       \
    void name(int status) {                                 \
        static void (*next)(int) __attribute__((noreturn)); \
        mmgp_write("exit");                                 \
        NEXT(next, #name);                                  \
        next(status);                                       \
    }
AT_ONCE(_exit)
AT_ONCE(_Exit)

static const int fatal[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGTERM, SIGINT, SIGHUP, SIGXCPU};
static struct sigaction caught_before[NSIG];

static void on_signal(int number) {
    char how[32];
    snprintf(how, sizeof how, "signal %d", number);
    mmgp_write(how);
    sigaction(number, &caught_before[number], NULL);
    raise(number);
}

void mmgp_catch_signals(void) {
    for (size_t i = 0; i < sizeof fatal / sizeof *fatal; i++) {
        struct sigaction now_caught;
        if (sigaction(fatal[i], NULL, &now_caught)) continue;
        int is_own = !(now_caught.sa_flags & SA_SIGINFO) && now_caught.sa_handler == on_signal;
        int is_ignored = !(now_caught.sa_flags & SA_SIGINFO) && now_caught.sa_handler == SIG_IGN;
        if (is_own || is_ignored) continue;
        caught_before[fatal[i]] = now_caught;
        struct sigaction own = {.sa_handler = on_signal, .sa_flags = SA_NODEFER | SA_ONSTACK};
        sigemptyset(&own.sa_mask);
        sigaction(fatal[i], &own, NULL);
    }
}

__attribute__((constructor)) static void start(void) {
    if (!getenv("MMGP_PROBE_DIR")) return;
    ssize_t length = readlink("/proc/self/exe", program, sizeof program - 1);
    program[length > 0 ? length : 0] = 0;
    own_process = getpid();
    atexit(on_exit_of_process);
    mmgp_catch_signals();
    stamp(&begin);
}

/* ---- Timing */

static int by_size(const void *one, const void *other) {
    double a = *(const double *) one, b = *(const double *) other;
    return (a > b) - (a < b);
}

/* Others' work makes batches longer, never shorter: the median, and its error by the median deviation. */
struct timing mmgp_summary(double batches[MMGP_BATCHES]) {
    qsort(batches, MMGP_BATCHES, sizeof *batches, by_size);
    double median = (batches[(MMGP_BATCHES - 1) / 2] + batches[MMGP_BATCHES / 2]) / 2, deviations[MMGP_BATCHES];
    for (int i = 0; i < MMGP_BATCHES; i++) deviations[i] = fabs(batches[i] - median);
    qsort(deviations, MMGP_BATCHES, sizeof *deviations, by_size);
    double of_one = 1.4826 * (deviations[(MMGP_BATCHES - 1) / 2] + deviations[MMGP_BATCHES / 2]) / 2;
    return (struct timing) {median, 1.2533 * of_one / sqrt(MMGP_BATCHES)};
}

struct timing mmgp_timed(void (*once)(void *), void *data, nanoseconds budget) {
    double batches[MMGP_BATCHES];
    nanoseconds from = now();
    once(data);
    once(data);
    nanoseconds single = (now() - from) / 2 + 1;
    int64_t each = budget / MMGP_BATCHES / single;
    each = each < 1 ? 1 : each > 10000 ? 10000 : each;
    for (int batch = 0; batch < MMGP_BATCHES; batch++) {
        from = now();
        for (int64_t i = 0; i < each; i++) once(data);
        batches[batch] = (double) (now() - from) / (double) each;
    }
    return mmgp_summary(batches);
}
