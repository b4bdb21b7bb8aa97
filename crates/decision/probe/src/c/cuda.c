/* Kernels and copies of a CUDA program, by CUPTI: libcuda loads what CUDA_INJECTION64_PATH names into the processes
   that use it, and calls InitializeInjection there. */

#include "probe.h"

#ifdef MMGP_CUPTI

#include <cupti.h>
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct interval { uint64_t begin, end; };

/* What a device did: a kernel's name or a way of copies, how often, and how long. */
struct device_work {
    char *name;
    int64_t calls;
    uint64_t time;
    struct device_work *next;
};

static pthread_mutex_t guard = PTHREAD_MUTEX_INITIALIZER;
static struct device_work *works;
static struct interval *intervals;
static size_t count, room, lost;
static CUptiResult (*next_record)(uint8_t *, size_t, CUpti_Activity **);
static CUptiResult (*flush_all)(uint32_t);

static void worked(const char *name, uint64_t begin, uint64_t end) {
    struct device_work *it = works;
    while (it && strcmp(it->name, name)) it = it->next;
    if (!it && (it = calloc(1, sizeof *it))) {
        it->name = strdup(name);
        it->next = works;
        works = it;
    }
    if (count == room) {
        size_t more = room ? 2 * room : 1 << 12;
        struct interval *grown = realloc(intervals, more * sizeof *grown);
        if (grown) intervals = grown, room = more;
    }
    if (!it || !it->name || count == room) {
        lost++;
        return;
    }
    it->calls++;
    it->time += end - begin;
    intervals[count++] = (struct interval) {begin, end};
}

static const char *way(uint8_t kind) {
    switch (kind) {
    case CUPTI_ACTIVITY_MEMCPY_KIND_HTOD: return "copy to the device";
    case CUPTI_ACTIVITY_MEMCPY_KIND_DTOH: return "copy to the host";
    default: return "copy on devices";
    }
}

static void CUPTIAPI buffer_wanted(uint8_t **buffer, size_t *size, size_t *most) {
    *size = 1 << 20;
    *buffer = aligned_alloc(16, *size);
    *most = 0;
}

/* Records are of the newest layout, which begins as this one does. */
static void CUPTIAPI buffer_filled(CUcontext context, uint32_t stream, uint8_t *buffer, size_t size, size_t valid) {
    (void) context, (void) stream, (void) size;
    pthread_mutex_lock(&guard);
    CUpti_Activity *record = NULL;
    while (next_record(buffer, valid, &record) == CUPTI_SUCCESS) {
        if (record->kind == CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL) {
            CUpti_ActivityKernel4 *it = (CUpti_ActivityKernel4 *) record;
            worked(it->name ? it->name : "kernel", it->start, it->end);
        } else if (record->kind == CUPTI_ACTIVITY_KIND_MEMCPY) {
            CUpti_ActivityMemcpy *it = (CUpti_ActivityMemcpy *) record;
            worked(way(it->copyKind), it->start, it->end);
        }
    }
    pthread_mutex_unlock(&guard);
    free(buffer);
}

int InitializeInjection(void) {
    mmgp_is_a_process();
    void *cupti = dlopen(MMGP_CUPTI, RTLD_LAZY | RTLD_GLOBAL);
    if (!cupti || !getenv("MMGP_PROBE_DIR")) {
        mmgp_say("note\tthis program uses CUDA, and %s cannot be loaded: what devices do is in no term\n", MMGP_CUPTI);
        return 1;
    }
    __typeof__(&cuptiActivityRegisterCallbacks) callbacks = dlsym(cupti, "cuptiActivityRegisterCallbacks");
    __typeof__(&cuptiActivityEnable) enable = dlsym(cupti, "cuptiActivityEnable");
    next_record = dlsym(cupti, "cuptiActivityGetNextRecord");
    flush_all = dlsym(cupti, "cuptiActivityFlushAll");
    int is_on = callbacks && enable && next_record && flush_all &&
                callbacks(buffer_wanted, buffer_filled) == CUPTI_SUCCESS &&
                enable(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL) == CUPTI_SUCCESS &&
                enable(CUPTI_ACTIVITY_KIND_MEMCPY) == CUPTI_SUCCESS;
    if (!is_on) mmgp_say("note\tCUPTI does not say what devices do here, as where another profiler uses it\n");
    return 1;
}

static int by_begin(const void *one, const void *other) {
    uint64_t a = ((const struct interval *) one)->begin, b = ((const struct interval *) other)->begin;
    return (a > b) - (a < b);
}

void mmgp_devices_end(void) {
    if (flush_all) flush_all(1);
    pthread_mutex_lock(&guard);
    qsort(intervals, count, sizeof *intervals, by_begin);
    uint64_t busy = 0, until = 0;
    for (size_t i = 0; i < count; i++) {
        uint64_t from = intervals[i].begin > until ? intervals[i].begin : until;
        if (intervals[i].end > from) {
            busy += intervals[i].end - from;
            until = intervals[i].end;
        }
    }
    if (count) mmgp_say("devices\t%lld\n", (long long) busy);
    for (struct device_work *it = works; it; it = it->next)
        mmgp_say("device\t%.200s\t%lld\t%lld\n", it->name, (long long) it->calls, (long long) it->time);
    if (lost) mmgp_say("note\t%zu kernels and copies found no memory: they are in no term\n", lost);
    pthread_mutex_unlock(&guard);
}

#else

/* Without CUPTI it is said that the program uses a device. */
int InitializeInjection(void) {
    mmgp_is_a_process();
    mmgp_say("note\tthis program uses CUDA, and there was no CUPTI to compile the probe with: what devices do is in no "
             "term\n");
    return 1;
}

void mmgp_devices_end(void) {}

#endif
