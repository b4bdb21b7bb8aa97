/* Regions of libomp (LLVM and Intel): a tool as chapter 19 of the OpenMP specification, version 5.2, has it. */

#include "probe.h"

#include <stdlib.h>

/* Whether a runtime has called the tool. */
int mmgp_has_tool;

typedef union { uint64_t value; void *ptr; } ompt_data_t;
typedef void (*ompt_function)(void);
typedef ompt_function (*ompt_lookup)(const char *);
typedef int (*ompt_set_callback)(int event, ompt_function callback);
typedef struct {
    int (*initialize)(ompt_lookup lookup, int device, ompt_data_t *tool);
    void (*finalize)(ompt_data_t *tool);
    ompt_data_t tool;
} ompt_start;

enum { PARALLEL_BEGIN = 3, PARALLEL_END = 4, TASK_CREATE = 5, TASK_SCHEDULE = 6, IMPLICIT_TASK = 7, SYNC_WAIT = 16 };
enum { BEGIN = 1, INITIAL = 1, EXPLICIT = 4 };

/* A region that is under way; kept by the runtime for all its threads. */
struct running { struct team *team; nanoseconds began; };

static __thread int depth;

static void parallel_begins(ompt_data_t *task, const void *frame, ompt_data_t *parallel, unsigned threads, int flags,
                            const void *code) {
    (void) task, (void) frame, (void) flags, (void) code;
    parallel->ptr = NULL;
    if (mmgp_is_in_team() || depth++ || mmgp_is_off) return;
    struct running *it = malloc(sizeof *it);
    struct team *team = it ? mmgp_team((int) threads) : NULL;
    if (!team) {
        free(it);
        return;
    }
    *it = (struct running) {team, now()};
    parallel->ptr = it;
}

static void parallel_ends(ompt_data_t *parallel, ompt_data_t *task, int flags, const void *code) {
    (void) task, (void) flags;
    if (depth) depth--;
    struct running *it = parallel->ptr;
    if (!it) return;
    if (it->team->count == 1) mmgp_wait_begins();
    mmgp_team_ends(it->team, code, it->began);
    free(it);
    parallel->ptr = NULL;
}

/* At the end of a worker there is no region any more: its last wait has ended it. */
static void implicit_task(int endpoint, ompt_data_t *parallel, ompt_data_t *task, unsigned size, unsigned index,
                          int flags) {
    (void) task;
    if (flags & INITIAL || endpoint != BEGIN || !parallel || !parallel->ptr) return;
    struct running *it = parallel->ptr;
    if (index == 0) it->team->count = (int) size;
    mmgp_thread_begins(it->team, (int) index);
}

static void sync_wait(int kind, int endpoint, ompt_data_t *parallel, ompt_data_t *task, const void *code) {
    (void) kind, (void) task, (void) code;
    if (endpoint == BEGIN) mmgp_wait_begins();
    /* Where the region is over, it is the worker's last wait. */
    else if (parallel && parallel->ptr) mmgp_wait_ends();
}

static void task_created(ompt_data_t *task, const void *frame, ompt_data_t *made, int flags, int depends,
                         const void *code) {
    (void) task, (void) frame, (void) depends, (void) code;
    if (flags & EXPLICIT) made->value = EXPLICIT;
}

/* An explicit task within a wait is work. */
static void task_scheduled(ompt_data_t *before, int status, ompt_data_t *after) {
    static __thread int began;
    (void) before, (void) status;
    int is_explicit = after && after->value == EXPLICIT;
    if (is_explicit && !began) began = mmgp_task_begins();
    else if (!is_explicit) {
        mmgp_task_ends(began);
        began = 0;
    }
}

static int initialize(ompt_lookup lookup, int device, ompt_data_t *tool) {
    (void) device, (void) tool;
    ompt_set_callback set = (ompt_set_callback) lookup("ompt_set_callback");
    if (!set) return 0;
    set(PARALLEL_BEGIN, (ompt_function) parallel_begins);
    set(PARALLEL_END, (ompt_function) parallel_ends);
    set(IMPLICIT_TASK, (ompt_function) implicit_task);
    set(SYNC_WAIT, (ompt_function) sync_wait);
    set(TASK_CREATE, (ompt_function) task_created);
    set(TASK_SCHEDULE, (ompt_function) task_scheduled);
    mmgp_has_tool = 1;
    return 1;
}

static void finalize(ompt_data_t *tool) { (void) tool; }

ompt_start *ompt_start_tool(unsigned version, const char *runtime) {
    static ompt_start start = {initialize, finalize, {0}};
    (void) version, (void) runtime;
    return getenv("MMGP_PROBE_DIR") ? &start : NULL;
}
