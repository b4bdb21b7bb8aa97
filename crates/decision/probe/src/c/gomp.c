/* Regions of libgomp. Each of its functions is called as before, with a body that notes when a thread begins
   and ends. Regions within regions belong to the outer one. */

#include "probe.h"

#include <stdbool.h>
#include <string.h>

static int (*level)(void), (*thread_number)(void), (*team_size)(void), (*most_allowed)(void);

/* Whether a region that is encountered now is one that is noted. */
static int is_outermost(void) {
    NEXT(level, "omp_get_level");
    NEXT(thread_number, "omp_get_thread_num");
    NEXT(team_size, "omp_get_num_threads");
    NEXT(most_allowed, "omp_get_max_threads");
    return !mmgp_has_tool && !mmgp_is_off && !mmgp_is_in_team() && level() == 0;
}

static void body(void *argument) {
    struct team *team = argument;
    int index = thread_number();
    if (index == 0) team->count = team_size();
    mmgp_thread_begins(team, index);
    team->body(team->data);
    mmgp_wait_begins();
}

/* Calls one of libgomp's functions: with the probe's body for a region that is noted. */
#define REGION(call_with)                                                          \
    struct team *team = is_outermost() ? mmgp_team(threads ? (int) threads : most_allowed()) : NULL; \
    if (!team) { call_with(function, data); return; }                              \
    team->body = function;                                                         \
    team->data = data;                                                             \
    nanoseconds began = now();                                                     \
    call_with(body, team);                                                         \
    mmgp_team_ends(team, (const void *) function, began)

typedef void (*code)(void *);

#define PARALLEL(f, d) next(f, d, threads, flags)
void GOMP_parallel(code function, void *data, unsigned threads, unsigned flags) {
    static void (*next)(code, void *, unsigned, unsigned);
    NEXT(next, "GOMP_parallel");
    REGION(PARALLEL);
}

#define SECTIONS(f, d) next(f, d, threads, count, flags)
void GOMP_parallel_sections(code function, void *data, unsigned threads, unsigned count, unsigned flags) {
    static void (*next)(code, void *, unsigned, unsigned, unsigned);
    NEXT(next, "GOMP_parallel_sections");
    REGION(SECTIONS);
}

unsigned GOMP_parallel_reductions(code function, void *data, unsigned threads, unsigned flags) {
    static unsigned (*next)(code, void *, unsigned, unsigned);
    NEXT(next, "GOMP_parallel_reductions");
    struct team *team = is_outermost() ? mmgp_team(threads ? (int) threads : most_allowed()) : NULL;
    if (!team) return next(function, data, threads, flags);
    team->body = function;
    team->data = data;
    nanoseconds began = now();
    unsigned count = next(body, team, threads, flags);
    mmgp_team_ends(team, (const void *) function, began);
    return count;
}

#define CHUNKS(f, d) next(f, d, threads, from, to, step, chunk, flags)
#define WITH_CHUNKS(name)                                                                                   \
    void name(code function, void *data, unsigned threads, long from, long to, long step, long chunk,       \
              unsigned flags) {                                                                             \
        static void (*next)(code, void *, unsigned, long, long, long, long, unsigned);                      \
        NEXT(next, #name);                                                                                  \
        REGION(CHUNKS);                                                                                     \
    }
WITH_CHUNKS(GOMP_parallel_loop_static)
WITH_CHUNKS(GOMP_parallel_loop_dynamic)
WITH_CHUNKS(GOMP_parallel_loop_guided)
WITH_CHUNKS(GOMP_parallel_loop_nonmonotonic_dynamic)
WITH_CHUNKS(GOMP_parallel_loop_nonmonotonic_guided)

#define LOOP(f, d) next(f, d, threads, from, to, step, flags)
#define WITHOUT_CHUNKS(name)                                                                                \
    void name(code function, void *data, unsigned threads, long from, long to, long step, unsigned flags) { \
        static void (*next)(code, void *, unsigned, long, long, long, unsigned);                            \
        NEXT(next, #name);                                                                                  \
        REGION(LOOP);                                                                                       \
    }
WITHOUT_CHUNKS(GOMP_parallel_loop_runtime)
WITHOUT_CHUNKS(GOMP_parallel_loop_nonmonotonic_runtime)
WITHOUT_CHUNKS(GOMP_parallel_loop_maybe_nonmonotonic_runtime)

/* ---- Waits */

#define WAIT(name)                  \
    void name(void) {               \
        static void (*next)(void);  \
        NEXT(next, #name);          \
        if (!mmgp_has_tool) mmgp_wait_begins();  \
        next();                     \
        if (!mmgp_has_tool) mmgp_wait_ends();    \
    }
WAIT(GOMP_barrier)
WAIT(GOMP_loop_end)
WAIT(GOMP_sections_end)
WAIT(GOMP_taskwait)
WAIT(GOMP_taskgroup_end)

/* ---- Tasks */

/* A task's argument, behind what libgomp writes into that of a loop of tasks. */
struct parcel {
    long from, to;
    code function;
    void (*copy)(void *, void *);
    void *data;
    long size, align;
};

static void copy_parcel(void *to, void *from) {
    struct parcel *parcel = from, *copied = to;
    uintptr_t end = (uintptr_t) to + sizeof *parcel, align = (uintptr_t) parcel->align;
    *copied = *parcel;
    copied->data = (void *) ((end + align - 1) / align * align);
    if (parcel->copy) parcel->copy(copied->data, parcel->data);
    else memcpy(copied->data, parcel->data, (size_t) parcel->size);
}

static void run_parcel(void *argument) {
    struct parcel *parcel = argument;
    int began = mmgp_task_begins();
    parcel->function(parcel->data);
    mmgp_task_ends(began);
}

static void run_loop_parcel(void *argument) {
    struct parcel *parcel = argument;
    memcpy(parcel->data, &parcel->from, 2 * sizeof(long));
    run_parcel(argument);
}

enum { REDUCTION = 1 << 12, DETACH = 1 << 13 };

static long with_parcel(long size, long align) { return (long) sizeof(struct parcel) + size + align; }

static long aligned_as(long align) { return align < 16 ? 16 : align; }

void GOMP_task(code function, void *data, void (*copy)(void *, void *), long size, long align, bool is_deferred,
               unsigned flags, void **depend, int priority, void *detach) {
    static void (*next)(code, void *, void (*)(void *, void *), long, long, bool, unsigned, void **, int, void *);
    NEXT(next, "GOMP_task");
    if (mmgp_has_tool || flags & DETACH) {
        next(function, data, copy, size, align, is_deferred, flags, depend, priority, detach);
        return;
    }
    struct parcel parcel = {0, 0, function, copy, data, size, align < 1 ? 1 : align};
    next(run_parcel, &parcel, copy_parcel, with_parcel(size, align), aligned_as(align), is_deferred, flags, depend,
         priority, detach);
}

#define TASKLOOP(name, integer)                                                                              \
    void name(code function, void *data, void (*copy)(void *, void *), long size, long align, unsigned flags, \
              unsigned long tasks, int priority, integer from, integer to, integer step) {                  \
        static void (*next)(code, void *, void (*)(void *, void *), long, long, unsigned, unsigned long, int, \
                            integer, integer, integer);                                                     \
        NEXT(next, #name);                                                                                  \
        if (mmgp_has_tool || flags & REDUCTION) {                                                                            \
            next(function, data, copy, size, align, flags, tasks, priority, from, to, step);                \
            return;                                                                                         \
        }                                                                                                   \
        struct parcel parcel = {0, 0, function, copy, data, size, align < 1 ? 1 : align};                   \
        next(run_loop_parcel, &parcel, copy_parcel, with_parcel(size, align), aligned_as(align), flags,     \
             tasks, priority, from, to, step);                                                              \
    }
TASKLOOP(GOMP_taskloop, long)
TASKLOOP(GOMP_taskloop_ull, unsigned long long)

/* ---- Empty regions */

struct empty { void (*parallel)(code, void *, unsigned, unsigned); code function; void *data; unsigned threads; };

static void nothing(void *data) { (void) data; }

static void run_empty(void *argument) {
    struct empty *it = argument;
    it->parallel(it->function, it->data, it->threads, 0);
}

static void run_noted(void *argument) {
    struct empty *it = argument;
    GOMP_parallel(it->function, it->data, it->threads, 0);
}

void mmgp_time_empty_regions(int most) {
    struct empty it = {(__typeof__(it.parallel)) mmgp_next("GOMP_parallel"), nothing, NULL, 1};
    if (!it.parallel) return;
    enum { BUDGET = 10 * 1000 * 1000 };
    mmgp_is_off = 1;
    for (int threads = 1; threads <= most; threads = threads < 8 || 2 * threads > most ? threads + 1 : 2 * threads) {
        it.threads = (unsigned) threads;
        struct timing time = mmgp_timed(run_empty, &it, BUDGET);
        mmgp_say("empty\t%d\t%.1f\t%.1f\n", threads, time.mean, time.error);
    }
    /* On one thread, where nobody waits: threads note their parts at the same time. */
    it.threads = 1;
    mmgp_is_off = 0;
    struct timing noted = mmgp_timed(run_noted, &it, BUDGET);
    mmgp_is_off = 1;
    struct timing plain = mmgp_timed(run_empty, &it, BUDGET);
    double cost = noted.mean - plain.mean;
    mmgp_say("cost\tregion\t%.1f\n", cost > 0 ? cost : 0);
}
