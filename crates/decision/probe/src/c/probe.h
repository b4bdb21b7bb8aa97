/* What the parts of the probe know of one another. Times are in nanoseconds of CLOCK_MONOTONIC.

   core.c: the ledger of a process, its file, and when that is written
   team.c: a region, the teams of threads that work in it, and their waits
   gomp.c: regions of libgomp, by its functions
   ompt.c: regions of libomp, by its tool interface
   cuda.c: kernels and copies of CUDA devices (with -DMMGP_CUPTI)
   mpi.c:  calls of MPI in C and Fortran (with -DMMGP_MPI) */

#ifndef MMGP_PROBE_H
#define MMGP_PROBE_H

#define _GNU_SOURCE
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <time.h>

#define THREAD_LOCAL static __thread __attribute__((tls_model("initial-exec")))

typedef int64_t nanoseconds;

static inline nanoseconds now(void) {
    struct timespec at;
    clock_gettime(CLOCK_MONOTONIC, &at);
    return at.tv_sec * INT64_C(1000000000) + at.tv_nsec;
}

/* The function of this name that comes after the probe's own; NULL where there is none. */
void *mmgp_next(const char *name);

/* Sets a static pointer to the function that comes after the probe's own, once. */
#define NEXT(pointer, name) \
    do { if (!(pointer)) (pointer) = (__typeof__(pointer)) mmgp_needed(name); } while (0)
void *mmgp_needed(const char *name);

/* ---- The ledger (core.c) */

/* A place in the code where a team begins to work, and what all its calls were. */
struct region {
    const void *code;
    /* How often it was entered, and the most threads that it had. */
    int64_t calls, threads;
    /* Of the calls; of all their threads; of the thread that worked longest in each; until the first other thread
       began. */
    nanoseconds time, work, slowest, first;
    struct region *next;
};

/* An operation of MPI, and what all its calls were. */
struct operation {
    const char *name;
    int is_collective;
    atomic_int_fast64_t calls, bytes, time, outside;
    /* Of that, among other ranks than all of them, and in regions. */
    atomic_int_fast64_t elsewhere;
    /* Of collectives among all ranks: the time of the last to arrive, and all time elsewhere; -1 where that is not
       known. */
    nanoseconds last;
    struct operation *next;
};

/* The region of this code; found or made. */
struct region *mmgp_region(const void *code);
/* Adds one call of a region, which the thread that encountered it waited for. */
void mmgp_region_ran(struct region *region, const struct region *call);
/* The operation of this name; found or made. */
struct operation *mmgp_operation(const char *name, int is_collective);
struct operation *mmgp_operations(void);
/* The most threads that a region had. */
int mmgp_most_threads(void);

/* Where the run begins and ends, where that is not where the process does. */
void mmgp_run_begins(void);
void mmgp_run_ends(void);
void mmgp_set_rank(int rank, int size, const char *library);
/* A line that is kept for the file as it is. */
void mmgp_say(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* Says that this process, which another may have made by fork, is one of the program. */
void mmgp_is_a_process(void);
/* Writes the file, once. */
void mmgp_write(const char *how_it_ended);
/* Catches the signals that end a process, what caught them before being told after. */
void mmgp_catch_signals(void);
/* Whether the sizes that only a run by itself tells are to be timed. */
int mmgp_calibrates(void);

/* How long something takes once, by batches, with its standard error. */
enum { MMGP_BATCHES = 10 };
struct timing { double mean, error; };
struct timing mmgp_summary(double batches[MMGP_BATCHES]);
/* That of what is done repeatedly for so long. */
struct timing mmgp_timed(void (*once)(void *), void *data, nanoseconds budget);

/* ---- Teams (team.c) */

/* What a thread of a team does; a line of the cache of its own. */
struct slot {
    nanoseconds begun, work;
} __attribute__((aligned(128)));

struct team {
    void (*body)(void *);
    void *data;
    struct slot *slots;
    int count;
};

/* Whether the thread that asks works in a team. */
int mmgp_is_in_team(void);
/* The team of the thread that encounters a region, with room for so many threads. */
struct team *mmgp_team(int threads);
/* A thread of a team begins, waits, goes on, and ends. */
void mmgp_thread_begins(struct team *team, int index);
void mmgp_wait_begins(void);
void mmgp_wait_ends(void);
void mmgp_thread_leaves(void);
/* A task begins and ends in a thread; what is returned by the first is given to the second. */
int mmgp_task_begins(void);
void mmgp_task_ends(int);
/* All threads of a team have ended: the region's ledger gets the call. */
void mmgp_team_ends(struct team *team, const void *code, nanoseconds began);

/* Whether a runtime tells of its regions by itself: libgomp's functions, which it may have as well, say no more. */
extern int mmgp_has_tool;
/* Whether regions are not noted. */
extern int mmgp_is_off;
/* Whether MPI starts: threads of whatever it loads, as drivers of devices, are its own. */
extern int mmgp_is_starting;

/* ---- Devices (cuda.c) */

/* Says what devices did. */
void mmgp_devices_end(void);

/* ---- Empty regions (gomp.c) */

/* Times empty regions on 1 to so many threads. */
void mmgp_time_empty_regions(int most);

#endif
