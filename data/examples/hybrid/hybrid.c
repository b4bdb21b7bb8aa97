/*
 * Heat in a square plate, by Jacobi's method: M processes share the rows of the plate, P threads of
 * each process share the rows of that process. A small stand-in for a program in MPI + OpenMP, with
 * nothing to install:
 *
 *     cc -O2 -pthread hybrid.c -o hybrid
 *     ./hybrid --processes 2 --threads 2
 *
 * Processes and threads cost differently, as they do in large programs. In every sweep, the first
 * thread of a process alone copies the rows next to its part from the two neighbours and computes
 * the temperatures along the left wall; the other threads wait. So a thread more divides less of the
 * work than a process more, but a process more brings two rows more to copy, and one more for whom
 * all others wait.
 *
 * The checksum is the same for all M and P, bit for bit: every point is computed from the same
 * numbers by the same operations, whoever computes it.
 *
 * Exit code: 0 done, 2 bad usage, 3 the system refused memory, a process or a thread.
 */

/* For MAP_ANONYMOUS, which POSIX has only since 2024. */
#define _DEFAULT_SOURCE
#define _DARWIN_C_SOURCE

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { BAD_USAGE = 2, REFUSED = 3, MOST = 4096, MOST_POINTS = 30000, MOST_SWEEPS = 1000000 };

/* Temperatures [K]. */
static const double PLATE = 300.0, TOP = 400.0, OUTSIDE = 273.0;

typedef struct {
    int processes, threads;
    int size;   /* points in a row, and rows */
    int sweeps;
} Options;

/* ------------------------------------------------------------------ barriers */

/* Written out because macOS has no pthread_barrier_t. */
typedef struct {
    pthread_mutex_t mutex;
    pthread_cond_t all_here;
    int parties, waiting;
    unsigned round;
} Barrier;

static void barrier_init(Barrier *barrier, int parties, int sharing)
{
    pthread_mutexattr_t mutex;
    pthread_condattr_t condition;
    pthread_mutexattr_init(&mutex);
    pthread_condattr_init(&condition);
    pthread_mutexattr_setpshared(&mutex, sharing);
    pthread_condattr_setpshared(&condition, sharing);
    pthread_mutex_init(&barrier->mutex, &mutex);
    pthread_cond_init(&barrier->all_here, &condition);
    pthread_mutexattr_destroy(&mutex);
    pthread_condattr_destroy(&condition);
    barrier->parties = parties;
    barrier->waiting = 0;
    barrier->round = 0;
}

static void barrier_wait(Barrier *barrier)
{
    pthread_mutex_lock(&barrier->mutex);
    unsigned round = barrier->round;
    if (++barrier->waiting == barrier->parties) {
        barrier->waiting = 0;
        barrier->round++;
        pthread_cond_broadcast(&barrier->all_here);
    }
    while (round == barrier->round)
        pthread_cond_wait(&barrier->all_here, &barrier->mutex);
    pthread_mutex_unlock(&barrier->mutex);
}

/* -------------------------------------------------------- what processes share */

typedef struct {
    Barrier barrier;
    double seconds; /* the sweeps alone */
    double change;  /* the largest change of a point in the last sweep [K] */
} Common;

static Options options;
static Common *common;
static double *plates[2];  /* a sweep reads one and writes the other */
static double *changes[2]; /* the largest change in each process's part, of even and odd sweeps */

static void *shared_memory(size_t bytes)
{
    void *memory =
        mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) {
        fprintf(stderr, "hybrid: no memory for %zu bytes: %s\n", bytes, strerror(errno));
        exit(REFUSED);
    }
    return memory;
}

/* The first of `total` rows that falls to part `part` of `parts`. */
static int first_row(int total, int part, int parts)
{
    return (int)((int64_t)total * part / parts);
}

/* A row of a process, 0 and the one behind the last being copies of its neighbours' rows. Column 0
   is the left wall, the points are 1 to `size`, and `size` + 1 is the right wall. */
static double *row_of(double *plate, int process, int row)
{
    int first = first_row(options.size, process, options.processes);
    return plate + ((size_t)first + 2 * (size_t)process + (size_t)row) * ((size_t)options.size + 2);
}

static int rows_of(int process)
{
    return first_row(options.size, process + 1, options.processes)
           - first_row(options.size, process, options.processes);
}

/* ------------------------------------------------------------------- the work */

typedef struct {
    Barrier barrier; /* among the threads of this process */
    int process;
    double *changes; /* the largest change in each thread's rows */
} Team;

typedef struct {
    Team *team;
    int thread;
} Member;

/* Each thread begins with its own rows, so that they lie in the memory next to it. */
static void initialise(int process, int from, int to)
{
    for (int row = from; row < to; row++)
        for (int which = 0; which < 2; which++)
            for (int column = 0; column <= options.size + 1; column++)
                row_of(plates[which], process, row)[column] = PLATE;
}

/* Rows above the first process and below the last are the walls there. */
static void initialise_edges(int process)
{
    int last = rows_of(process) + 1;
    initialise(process, 0, 1);
    initialise(process, last, last + 1);
    for (int which = 0; which < 2 && process == 0; which++)
        for (int column = 1; column <= options.size; column++)
            row_of(plates[which], process, 0)[column] = TOP;
}

static void copy_neighbours(double *plate, int process)
{
    size_t bytes = (size_t)options.size * sizeof(double);
    int last = rows_of(process);
    if (process > 0)
        memcpy(row_of(plate, process, 0) + 1,
               row_of(plate, process - 1, rows_of(process - 1)) + 1, bytes);
    if (process + 1 < options.processes)
        memcpy(row_of(plate, process, last + 1) + 1, row_of(plate, process + 1, 1) + 1, bytes);
}

/* The left wall has the geometric mean of the temperatures on its two sides, its root by Heron's
   rule: a part that nobody has divided among threads. */
static void heat_wall(double *plate, int process)
{
    for (int row = 1; row <= rows_of(process); row++) {
        double *points = row_of(plate, process, row);
        double square = points[1] * OUTSIDE, root = OUTSIDE;
        for (int step = 0; step < 12; step++)
            root = 0.5 * (root + square / root);
        points[0] = root;
    }
}

/* Every point becomes the mean of its four neighbours; returns the largest change. Additions alone,
   so that no compiler contracts them into other bits. */
static double relax(double *from, double *to, int process, int first, int end)
{
    double largest = 0.0;
    for (int row = first; row < end; row++) {
        const double *above = row_of(from, process, row - 1);
        const double *here = row_of(from, process, row);
        const double *below = row_of(from, process, row + 1);
        double *target = row_of(to, process, row);
        for (int column = 1; column <= options.size; column++) {
            double mean = 0.25 * ((above[column] + below[column])
                                  + (here[column - 1] + here[column + 1]));
            double change = fabs(mean - here[column]);
            target[column] = mean;
            if (change > largest)
                largest = change;
        }
    }
    return largest;
}

static double maximum(const double *values, int count)
{
    double largest = 0.0;
    for (int index = 0; index < count; index++)
        if (values[index] > largest)
            largest = values[index];
    return largest;
}

static double now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

/* All sweeps of one thread. The first thread of each process speaks for it: what stands under
   `speaks` is what no thread divides. */
static void *sweep(void *argument)
{
    const Member *member = argument;
    Team *team = member->team;
    int process = team->process, rows = rows_of(process), speaks = member->thread == 0;
    int first = 1 + first_row(rows, member->thread, options.threads);
    int end = 1 + first_row(rows, member->thread + 1, options.threads);
    double begin = 0.0, change = 0.0;

    initialise(process, first, end);
    if (speaks)
        initialise_edges(process);
    barrier_wait(&team->barrier);
    if (speaks) {
        barrier_wait(&common->barrier);
        begin = now();
    }
    for (int count = 0; count < options.sweeps; count++) {
        double *from = plates[count % 2], *to = plates[(count + 1) % 2];
        if (speaks) {
            copy_neighbours(from, process);
            heat_wall(from, process);
        }
        barrier_wait(&team->barrier);
        team->changes[member->thread] = relax(from, to, process, first, end);
        barrier_wait(&team->barrier);
        if (speaks) {
            changes[count % 2][process] = maximum(team->changes, options.threads);
            barrier_wait(&common->barrier);
            /* Every process needs it, as where it decides whether to go on. The next sweep writes
               the other half, so nobody has to wait once more. */
            change = maximum(changes[count % 2], options.processes);
        }
    }
    if (speaks && process == 0) {
        common->seconds = now() - begin;
        common->change = change;
    }
    return NULL;
}

/* A whole process. Returns its exit code; to leave early ends its threads. */
static int run_process(int process)
{
    size_t threads = (size_t)options.threads;
    Team team = {.process = process, .changes = calloc(threads, sizeof(double))};
    Member *members = calloc(threads, sizeof *members);
    pthread_t *handles = calloc(threads, sizeof *handles);
    if (!team.changes || !members || !handles) {
        fprintf(stderr, "hybrid: no memory for %d threads\n", options.threads);
        return REFUSED;
    }
    barrier_init(&team.barrier, options.threads, PTHREAD_PROCESS_PRIVATE);
    for (int thread = 0; thread < options.threads; thread++)
        members[thread] = (Member){&team, thread};
    for (int thread = 1; thread < options.threads; thread++) {
        int error = pthread_create(&handles[thread], NULL, sweep, &members[thread]);
        if (error) {
            fprintf(stderr, "hybrid: no thread %d of %d: %s\n", thread + 1, options.threads,
                    strerror(error));
            return REFUSED;
        }
    }
    sweep(&members[0]);
    for (int thread = 1; thread < options.threads; thread++)
        pthread_join(handles[thread], NULL);
    free(team.changes);
    free(members);
    free(handles);
    return 0;
}

/* ------------------------------------------------------------------- processes */

static void kill_all(const pid_t *children, int count)
{
    for (int process = 0; process < count; process++)
        if (children[process] > 0)
            kill(children[process], SIGKILL);
    while (wait(NULL) > 0 || errno == EINTR)
        ;
}

static void start_all(pid_t *children)
{
    for (int process = 0; process < options.processes; process++) {
        children[process] = fork();
        if (children[process] < 0) {
            fprintf(stderr, "hybrid: no process %d of %d: %s\n", process + 1, options.processes,
                    strerror(errno));
            kill_all(children, process);
            exit(REFUSED);
        }
        if (children[process] == 0)
            _exit(run_process(process));
    }
}

/* Where one fails the others would wait for it for ever. */
static void wait_for_all(pid_t *children)
{
    for (int left = options.processes; left > 0;) {
        int status;
        pid_t ended = wait(&status);
        if (ended < 0)
            continue;
        left--;
        for (int process = 0; process < options.processes; process++)
            if (children[process] == ended)
                children[process] = 0;
        if (WIFSIGNALED(status))
            fprintf(stderr, "hybrid: a process was ended by signal %d\n", WTERMSIG(status));
        if (!WIFEXITED(status) || WEXITSTATUS(status) != 0) {
            kill_all(children, options.processes);
            exit(REFUSED);
        }
    }
}

/* FNV-1a over the bits of all points, row by row. */
static uint64_t checksum(double *plate)
{
    uint64_t hash = 14695981039346656037u;
    for (int process = 0; process < options.processes; process++)
        for (int row = 1; row <= rows_of(process); row++)
            for (int column = 1; column <= options.size; column++) {
                uint64_t bits;
                memcpy(&bits, row_of(plate, process, row) + column, sizeof bits);
                hash = (hash ^ bits) * 1099511628211u;
            }
    return hash;
}

/* ----------------------------------------------------------------- command line */

static const char USAGE[] =
    "usage: hybrid --processes M --threads P [--size N] [--sweeps S]\n"
    "  --processes M   processes, 1 to 4096 and no more than rows\n"
    "  --threads P     threads of each, 1 to 4096\n"
    "  --size N        rows and columns of the plate, 1 to 30000 (1000)\n"
    "  --sweeps S      how often every point is computed, 1 to 1000000 (400)\n";

static void refuse(const char *what, const char *found)
{
    fprintf(stderr, "hybrid: %s: found %s\n%s", what, found ? found : "nothing", USAGE);
    exit(BAD_USAGE);
}

static int count_in(const char *flag, const char *text, int most)
{
    char *end = NULL;
    errno = 0;
    long value = text ? strtol(text, &end, 10) : 0;
    if (!text || end == text || *end || errno || value < 1 || value > most)
        refuse(flag, text);
    return (int)value;
}

static Options parse(int argc, char **argv)
{
    Options found = {.size = 1000, .sweeps = 400};
    for (int index = 1; index < argc; index += 2) {
        const char *flag = argv[index], *value = argv[index + 1];
        if (!strcmp(flag, "--help")) {
            fputs(USAGE, stdout);
            exit(0);
        } else if (!strcmp(flag, "--processes"))
            found.processes = count_in(flag, value, MOST);
        else if (!strcmp(flag, "--threads"))
            found.threads = count_in(flag, value, MOST);
        else if (!strcmp(flag, "--size"))
            found.size = count_in(flag, value, MOST_POINTS);
        else if (!strcmp(flag, "--sweeps"))
            found.sweeps = count_in(flag, value, MOST_SWEEPS);
        else
            refuse("unknown argument", flag);
    }
    if (!found.processes || !found.threads)
        refuse("--processes and --threads are needed", NULL);
    if (found.processes > found.size)
        refuse("--processes", "more than rows");
    return found;
}

int main(int argc, char **argv)
{
    options = parse(argc, argv);
    size_t width = (size_t)options.size + 2;
    size_t height = (size_t)options.size + 2 * (size_t)options.processes;
    common = shared_memory(sizeof *common);
    for (int which = 0; which < 2; which++) {
        plates[which] = shared_memory(width * height * sizeof(double));
        changes[which] = shared_memory((size_t)options.processes * sizeof(double));
    }
    barrier_init(&common->barrier, options.processes, PTHREAD_PROCESS_SHARED);
    pid_t *children = calloc((size_t)options.processes, sizeof *children);
    if (!children) {
        fprintf(stderr, "hybrid: no memory for %d processes\n", options.processes);
        return REFUSED;
    }
    start_all(children);
    wait_for_all(children);
    free(children);
    printf("Grid: %d x %d, %d sweeps, last change %.3e K\n", options.size, options.size,
           options.sweeps, common->change);
    printf("Processes: %d of %d threads\n", options.processes, options.threads);
    printf("Checksum: %016" PRIx64 "\n", checksum(plates[options.sweeps % 2]));
    printf("Total time: %.6f s\n", common->seconds);
    return 0;
}
