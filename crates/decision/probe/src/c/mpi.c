/* Calls of MPI, by its profiling interface. A call within a call is of the outer one: MPICH's Fortran functions call
   those of C, Open MPI's do not. */

#ifdef MMGP_MPI

#include "probe.h"

#include <dlfcn.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

THREAD_LOCAL int depth;

enum { MOST_CALLS = 1 << 20 };

/* Times of the collectives of MPI_COMM_WORLD in their order [ns], and their operations. */
static struct { float time; struct operation *of; } *calls;
static atomic_int_fast32_t count_of_calls;

static int size_of_world = 1, rank_in_world;

/* Handles of Open MPI are addresses of objects, of its library or copied into the program, if there are any. Each is
   looked up once: the search takes half as long as a collective among two ranks. */
#ifdef OPEN_MPI
static void *handle_of(const char *name) {
    void *object = dlsym(RTLD_DEFAULT, name);
    return object ? object : mmgp_needed(name);
}
#define handle(name) ({ static void *it; if (!it) it = handle_of(name); it; })
#define WORLD ((MPI_Comm) handle("ompi_mpi_comm_world"))
#define FLOATS ((MPI_Datatype) handle("ompi_mpi_float"))
#define BYTES ((MPI_Datatype) handle("ompi_mpi_byte"))
#define LONGS ((MPI_Datatype) handle("ompi_mpi_int64_t"))
#define DOUBLES ((MPI_Datatype) handle("ompi_mpi_double"))
#define SMALLEST ((MPI_Op) handle("ompi_mpi_op_min"))
#define LARGEST ((MPI_Op) handle("ompi_mpi_op_max"))
#define SUM ((MPI_Op) handle("ompi_mpi_op_sum"))
#define TYPE_OF(number) PMPI(Type_f2c)(number)
#define COMM_OF(number) PMPI(Comm_f2c)(number)
#else
#define WORLD MPI_COMM_WORLD
#define FLOATS MPI_FLOAT
#define BYTES MPI_BYTE
#define LONGS MPI_INT64_T
#define DOUBLES MPI_DOUBLE
#define SMALLEST MPI_MIN
#define LARGEST MPI_MAX
#define SUM MPI_SUM
/* Not functions in MPICH. */
#define TYPE_OF(number) MPI_Type_f2c(number)
#define COMM_OF(number) MPI_Comm_f2c(number)
#endif

/* A function of MPI itself. */
#define PMPI(name) ((__typeof__(&PMPI_##name)) ({ static void *it; NEXT(it, "PMPI_" #name); it; }))

static nanoseconds call_begins(void) {
    return depth++ ? 0 : now();
}

static void call_ends(struct operation *operation, nanoseconds began, int64_t bytes, int is_of_world) {
    if (--depth || !operation) return;
    nanoseconds time = now() - began;
    atomic_fetch_add_explicit(&operation->calls, 1, memory_order_relaxed);
    atomic_fetch_add_explicit(&operation->bytes, bytes, memory_order_relaxed);
    atomic_fetch_add_explicit(&operation->time, time, memory_order_relaxed);
    int is_inside = mmgp_is_in_team();
    if (!is_inside) atomic_fetch_add_explicit(&operation->outside, time, memory_order_relaxed);
    if (is_inside || !is_of_world || !operation->is_collective || !calls) {
        atomic_fetch_add_explicit(&operation->elsewhere, time, memory_order_relaxed);
        return;
    }
    int_fast32_t number = atomic_fetch_add(&count_of_calls, 1);
    if (number < MOST_CALLS) {
        calls[number].time = (float) time;
        calls[number].of = operation;
    }
}

static int64_t amount(int64_t count, MPI_Datatype type) {
    int size = 0;
    PMPI(Type_size)(type, &size);
    return count * size;
}

/* ---- Begin and end */

/* Handles of one MPI mean nothing to another: a program of another than the probe was compiled for ends here. */
static void check_family(void) {
    int is_open_mpi = dlsym(RTLD_DEFAULT, "ompi_mpi_comm_world") || mmgp_next("ompi_mpi_comm_world");
#ifdef OPEN_MPI
    const char *other = is_open_mpi ? NULL : "Open MPI, and the program is not of it: --mpicc mpicc.mpich";
#else
    const char *other = is_open_mpi ? "another MPI, and the program is of Open MPI: --mpicc mpicc.openmpi" : NULL;
#endif
    if (!other) return;
    fprintf(stderr, "mmgp probe: compiled for %s, or its own mpicc\n", other);
    exit(3);
}

static void starts(void) {
    check_family();
    depth++;
    mmgp_is_starting = 1;
}

static void started(void) {
    static int is_started;
    mmgp_is_starting = 0;
    depth--;
    if (is_started) return;
    is_started = 1;
    PMPI(Comm_rank)(WORLD, &rank_in_world);
    PMPI(Comm_size)(WORLD, &size_of_world);
    char library[MPI_MAX_LIBRARY_VERSION_STRING];
    int length = 0;
    PMPI(Get_library_version)(library, &length);
    char *comma = strpbrk(library, ",\n");
    if (comma) *comma = 0;
    calls = malloc(MOST_CALLS * sizeof *calls);
    mmgp_set_rank(rank_in_world, size_of_world, library);
    mmgp_catch_signals();
    mmgp_run_begins();
}

/* What all ranks have in common: the last to arrive at a collective is in it for the shortest time. */
static void find_last_to_arrive(void) {
    int64_t count = calls ? count_of_calls : -1, range[2] = {count, -count}, least[2];
    PMPI(Allreduce)(range, least, 2, LONGS, SMALLEST, WORLD);
    if (least[0] != -least[1] || count < 0 || count > MOST_CALLS) return;
    enum { PIECE = 1 << 14 };
    static float times[PIECE], shortest[PIECE];
    for (int64_t from = 0; from < count; from += PIECE) {
        int64_t length = count - from < PIECE ? count - from : PIECE;
        for (int64_t i = 0; i < length; i++) times[i] = calls[from + i].time;
        PMPI(Allreduce)(times, shortest, (int) length, FLOATS, SMALLEST, WORLD);
        for (int64_t i = 0; i < length; i++) {
            struct operation *of = calls[from + i].of;
            if (of->last < 0) of->last = of->elsewhere;
            of->last += (nanoseconds) shortest[i];
        }
    }
}

struct timed { const char *name; MPI_Comm of; char *from, *to; int bytes; };

static void run_collective(void *data) {
    struct timed *it = data;
    int doubles = it->bytes / (int) sizeof(double);
    if (!strcmp(it->name, "Barrier")) PMPI(Barrier)(it->of);
    else if (!strcmp(it->name, "Bcast")) PMPI(Bcast)(it->from, it->bytes, BYTES, 0, it->of);
    else if (!strcmp(it->name, "Allreduce")) PMPI(Allreduce)(it->from, it->to, doubles, DOUBLES, SUM, it->of);
    else if (!strcmp(it->name, "Reduce")) PMPI(Reduce)(it->from, it->to, doubles, DOUBLES, SUM, 0, it->of);
    else if (!strcmp(it->name, "Allgather")) PMPI(Allgather)(it->from, it->bytes, BYTES, it->to, it->bytes, BYTES, it->of);
    else PMPI(Alltoall)(it->from, it->bytes, BYTES, it->to, it->bytes, BYTES, it->of);
}

/* Batches of so many calls: the time of each of its slowest rank, and the most that others had a rank's processor. */
struct batches { int each; double times[MMGP_BATCHES], lost[MMGP_BATCHES]; };

static nanoseconds own_processor_time(void) {
    struct timespec had;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &had);
    return had.tv_sec * INT64_C(1000000000) + had.tv_nsec;
}

static struct batches time_batches(struct timed *it) {
    enum { LASTS = 2 * 1000 * 1000, MOST = 10000 };
    struct batches all;
    double slowest = 0;
    /* The first calls make connections: how many make a batch is known of those that take a tenth of it. */
    int calls = 1;
    for (;; calls *= 4) {
        PMPI(Barrier)(it->of);
        nanoseconds from = now();
        for (int i = 0; i < calls; i++) run_collective(it);
        double own = (double) (now() - from + 1);
        PMPI(Allreduce)(&own, &slowest, 1, DOUBLES, LARGEST, it->of);
        if (calls > 1 && (slowest > LASTS / 10 || calls > MOST)) break;
    }
    double wanted = LASTS * (double) calls / slowest;
    all.each = wanted < 1 ? 1 : wanted > MOST ? MOST : (int) wanted;
    for (int batch = 0; batch < MMGP_BATCHES; batch++) {
        PMPI(Barrier)(it->of);
        nanoseconds had = own_processor_time();
        nanoseconds from = now();
        for (int i = 0; i < all.each; i++) run_collective(it);
        nanoseconds time = now() - from;
        double own[2] = {(double) time, (double) (time - (own_processor_time() - had))}, most[2];
        PMPI(Allreduce)(own, most, 2, DOUBLES, LARGEST, it->of);
        all.times[batch] = most[0];
        all.lost[batch] = most[1] > 0 ? most[1] : 0;
    }
    return all;
}

static void say_time(const struct timed *it, int ranks, struct batches *all) {
    for (int batch = 0; batch < MMGP_BATCHES; batch++) all->times[batch] /= all->each;
    struct timing time = mmgp_summary(all->times);
    mmgp_say("collective\t%s\t%d\t%d\t%.1f\t%.1f\n", it->name, ranks, it->bytes, time.mean, time.error);
}

static void say_batches(const struct timed *it, int ranks, struct batches *all) {
    mmgp_say("batches\t%s\t%d\t%d\t%d", it->name, ranks, it->bytes, all->each);
    for (int batch = 0; batch < MMGP_BATCHES; batch++) mmgp_say("\t%.0f\t%.0f", all->times[batch], all->lost[batch]);
    mmgp_say("\n");
}

/* Times a collective on the first ranks, and has rank 0 say it. */
static void time_collective(const char *name, int bytes, int ranks, __typeof__(say_time) *say) {
    enum { LARGEST_SIZE = 1 << 20 };
    bytes = !strcmp(name, "Barrier") ? 0 : bytes < 8 ? 8 : bytes > LARGEST_SIZE ? LARGEST_SIZE : bytes / 8 * 8;
    MPI_Comm of;
    PMPI(Comm_split)(WORLD, rank_in_world < ranks ? 0 : MPI_UNDEFINED, rank_in_world, &of);
    if (rank_in_world < ranks) {
        size_t room = (size_t) bytes * (size_t) ranks + 1;
        struct timed it = {name, of, calloc(1, room), calloc(1, room), bytes};
        if (it.from && it.to) {
            struct batches all = time_batches(&it);
            if (rank_in_world == 0) say(&it, ranks, &all);
        }
        free(it.from);
        free(it.to);
        PMPI(Comm_free)(&of);
    }
}

/* Times what a list asks for, in its order: name, bytes and ranks of each. */
static void time_listed(const char *list) {
    char name[16];
    int bytes, ranks, length;
    for (; sscanf(list, "%15s %d %d%n", name, &bytes, &ranks, &length) == 3; list += length)
        if (ranks <= size_of_world) time_collective(name, bytes, ranks, say_batches);
}

static void calibrate(void) {
    static const char *const names[] = {"Barrier", "Bcast", "Allreduce", "Reduce", "Allgather", "Alltoall"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        int64_t own[2] = {0, 0}, most[2];
        for (struct operation *it = mmgp_operations(); it; it = it->next)
            if (!strcmp(it->name, names[i])) own[0] = it->calls, own[1] = it->bytes;
        PMPI(Allreduce)(own, most, 2, LONGS, LARGEST, WORLD);
        if (most[0] == 0) continue;
        for (int ranks = 1; ranks <= size_of_world; ranks = 2 * ranks > size_of_world && ranks < size_of_world ? size_of_world : 2 * ranks)
            time_collective(names[i], (int) (most[1] / most[0]), ranks, say_time);
    }
    int64_t own = mmgp_most_threads(), most;
    PMPI(Allreduce)(&own, &most, 1, LONGS, LARGEST, WORLD);
    /* All ranks at once, as in the run. */
    if (own > 1 || most > 1) mmgp_time_empty_regions((int) own);
}

static void time_clock(void) {
    enum { TIMES = 1000 };
    nanoseconds from = now();
    for (int i = 0; i < TIMES; i++) (void) now();
    mmgp_say("cost\tmpi\t%.1f\n", 2.0 * (double) (now() - from) / TIMES);
}

static void finishing(void) {
    static int is_finishing;
    if (is_finishing) return;
    is_finishing = 1;
    mmgp_run_ends();
    depth++;
    find_last_to_arrive();
    time_clock();
    const char *list = getenv("MMGP_PROBE_COLLECTIVES");
    if (list) time_listed(list);
    else if (mmgp_calibrates()) calibrate();
    depth--;
    mmgp_write("finalize");
}

int MPI_Init(int *argc, char ***argv) {
    starts();
    int code = PMPI(Init)(argc, argv);
    started();
    return code;
}

int MPI_Init_thread(int *argc, char ***argv, int required, int *provided) {
    starts();
    int code = PMPI(Init_thread)(argc, argv, required, provided);
    started();
    return code;
}

int MPI_Finalize(void) {
    finishing();
    return PMPI(Finalize)();
}

int MPI_Abort(MPI_Comm of, int code) {
    mmgp_write("abort");
    return PMPI(Abort)(of, code);
}

/* ---- Functions of C */

#define OPERATION(name, kind) ({ static struct operation *it; if (!it) it = mmgp_operation(name, kind); it; })

#define CALL(kind, name, parameters, arguments, bytes, is_of_world)            \
    int MPI_##name parameters {                                                \
        nanoseconds began = call_begins();                                     \
        int code = PMPI(name) arguments;                                       \
        call_ends(OPERATION(#name, kind), began, (bytes), (is_of_world));      \
        return code;                                                           \
    }
#define COLLECTIVE(name, parameters, arguments, bytes) CALL(1, name, parameters, arguments, bytes, comm == WORLD)
#define MESSAGE(name, parameters, arguments, bytes) CALL(0, name, parameters, arguments, bytes, 0)

COLLECTIVE(Barrier, (MPI_Comm comm), (comm), 0)
COLLECTIVE(Bcast, (void *at, int count, MPI_Datatype type, int root, MPI_Comm comm), (at, count, type, root, comm),
           amount(count, type))
COLLECTIVE(Reduce, (const void *from, void *to, int count, MPI_Datatype type, MPI_Op op, int root, MPI_Comm comm),
           (from, to, count, type, op, root, comm), amount(count, type))
COLLECTIVE(Allreduce, (const void *from, void *to, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm),
           (from, to, count, type, op, comm), amount(count, type))
COLLECTIVE(Scan, (const void *from, void *to, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm),
           (from, to, count, type, op, comm), amount(count, type))
COLLECTIVE(Exscan, (const void *from, void *to, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm),
           (from, to, count, type, op, comm), amount(count, type))
COLLECTIVE(Reduce_scatter, (const void *from, void *to, const int counts[], MPI_Datatype type, MPI_Op op, MPI_Comm comm),
           (from, to, counts, type, op, comm), amount(counts[0], type))
COLLECTIVE(Reduce_scatter_block, (const void *from, void *to, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm),
           (from, to, count, type, op, comm), amount(count, type))
#define EXCHANGE const void *from, int sent, MPI_Datatype type, void *to, int received, MPI_Datatype into
COLLECTIVE(Gather, (EXCHANGE, int root, MPI_Comm comm), (from, sent, type, to, received, into, root, comm),
           amount(sent, type))
COLLECTIVE(Scatter, (EXCHANGE, int root, MPI_Comm comm), (from, sent, type, to, received, into, root, comm),
           amount(received, into))
COLLECTIVE(Allgather, (EXCHANGE, MPI_Comm comm), (from, sent, type, to, received, into, comm), amount(sent, type))
COLLECTIVE(Alltoall, (EXCHANGE, MPI_Comm comm), (from, sent, type, to, received, into, comm), amount(sent, type))
COLLECTIVE(Gatherv, (const void *from, int sent, MPI_Datatype type, void *to, const int counts[], const int places[],
                     MPI_Datatype into, int root, MPI_Comm comm),
           (from, sent, type, to, counts, places, into, root, comm), amount(sent, type))
COLLECTIVE(Scatterv, (const void *from, const int counts[], const int places[], MPI_Datatype type, void *to, int received,
                      MPI_Datatype into, int root, MPI_Comm comm),
           (from, counts, places, type, to, received, into, root, comm), amount(received, into))
COLLECTIVE(Allgatherv, (const void *from, int sent, MPI_Datatype type, void *to, const int counts[], const int places[],
                        MPI_Datatype into, MPI_Comm comm),
           (from, sent, type, to, counts, places, into, comm), amount(sent, type))
COLLECTIVE(Alltoallv, (const void *from, const int counts[], const int places[], MPI_Datatype type, void *to,
                       const int counts_to[], const int places_to[], MPI_Datatype into, MPI_Comm comm),
           (from, counts, places, type, to, counts_to, places_to, into, comm), amount(counts[0], type))

#define SENT const void *from, int count, MPI_Datatype type, int whom, int tag, MPI_Comm comm
#define RECEIVED void *to, int count, MPI_Datatype type, int whom, int tag, MPI_Comm comm
MESSAGE(Send, (SENT), (from, count, type, whom, tag, comm), amount(count, type))
MESSAGE(Ssend, (SENT), (from, count, type, whom, tag, comm), amount(count, type))
MESSAGE(Rsend, (SENT), (from, count, type, whom, tag, comm), amount(count, type))
MESSAGE(Bsend, (SENT), (from, count, type, whom, tag, comm), amount(count, type))
MESSAGE(Isend, (SENT, MPI_Request *request), (from, count, type, whom, tag, comm, request), amount(count, type))
MESSAGE(Issend, (SENT, MPI_Request *request), (from, count, type, whom, tag, comm, request), amount(count, type))
MESSAGE(Recv, (RECEIVED, MPI_Status *status), (to, count, type, whom, tag, comm, status), 0)
MESSAGE(Irecv, (RECEIVED, MPI_Request *request), (to, count, type, whom, tag, comm, request), 0)
MESSAGE(Sendrecv, (const void *from, int count, MPI_Datatype type, int whom, int tag, void *to, int received,
                   MPI_Datatype into, int of, int tags, MPI_Comm comm, MPI_Status *status),
        (from, count, type, whom, tag, to, received, into, of, tags, comm, status), amount(count, type))
MESSAGE(Sendrecv_replace, (void *at, int count, MPI_Datatype type, int whom, int tag, int of, int tags, MPI_Comm comm,
                           MPI_Status *status), (at, count, type, whom, tag, of, tags, comm, status), amount(count, type))
MESSAGE(Wait, (MPI_Request *request, MPI_Status *status), (request, status), 0)
MESSAGE(Waitall, (int count, MPI_Request requests[], MPI_Status *statuses), (count, requests, statuses), 0)
MESSAGE(Waitany, (int count, MPI_Request requests[], int *which, MPI_Status *status), (count, requests, which, status), 0)
MESSAGE(Waitsome, (int count, MPI_Request requests[], int *done, int which[], MPI_Status *statuses),
        (count, requests, done, which, statuses), 0)
MESSAGE(Test, (MPI_Request *request, int *flag, MPI_Status *status), (request, flag, status), 0)
MESSAGE(Testall, (int count, MPI_Request requests[], int *flag, MPI_Status *statuses), (count, requests, flag, statuses), 0)
MESSAGE(Testany, (int count, MPI_Request requests[], int *which, int *flag, MPI_Status *status),
        (count, requests, which, flag, status), 0)
MESSAGE(Probe, (int whom, int tag, MPI_Comm comm, MPI_Status *status), (whom, tag, comm, status), 0)
MESSAGE(Iprobe, (int whom, int tag, MPI_Comm comm, int *flag, MPI_Status *status), (whom, tag, comm, flag, status), 0)
MESSAGE(Start, (MPI_Request *request), (request), 0)
MESSAGE(Startall, (int count, MPI_Request requests[]), (count, requests), 0)
MESSAGE(Win_fence, (int assert, MPI_Win window), (assert, window), 0)
MESSAGE(Win_lock, (int type, int whom, int assert, MPI_Win window), (type, whom, assert, window), 0)
MESSAGE(Win_unlock, (int whom, MPI_Win window), (whom, window), 0)
MESSAGE(Win_flush, (int whom, MPI_Win window), (whom, window), 0)
MESSAGE(Ibarrier, (MPI_Comm comm, MPI_Request *request), (comm, request), 0)
MESSAGE(Ibcast, (void *at, int count, MPI_Datatype type, int root, MPI_Comm comm, MPI_Request *request),
        (at, count, type, root, comm, request), 0)
MESSAGE(Iallreduce, (const void *from, void *to, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm,
                     MPI_Request *request), (from, to, count, type, op, comm, request), 0)

/* ---- Functions of Fortran: all arguments are addresses, and how many there are is all that differs */

#define P1 void *a
#define P2 P1, void *b
#define P3 P2, void *c
#define P4 P3, void *d
#define P5 P4, void *e
#define P6 P5, void *f
#define P7 P6, void *g
#define P8 P7, void *h
#define P9 P8, void *i
#define P10 P9, void *j
#define P13 P10, void *k, void *l, void *m
#define A1 a
#define A2 A1, b
#define A3 A2, c
#define A4 A3, d
#define A5 A4, e
#define A6 A5, f
#define A7 A6, g
#define A8 A7, h
#define A9 A8, i
#define A10 A9, j
#define A13 A10, k, l, m

static int64_t fortran_amount(const void *count, const void *type) {
    return amount(*(const MPI_Fint *) count, TYPE_OF(*(const MPI_Fint *) type));
}

static int is_world(const void *comm) { return COMM_OF(*(const MPI_Fint *) comm) == WORLD; }

#define FORTRAN_AS(symbol, kind, name, many, bytes, of)           \
    void symbol(P##many) {                                                     \
        static void (*next)(P##many);                                          \
        NEXT(next, #symbol);                                                   \
        nanoseconds began = call_begins();                                     \
        int64_t carried = depth == 1 ? (bytes) : 0;                            \
        int is_of_world = depth == 1 ? (of) : 0;                               \
        next(A##many);                                                         \
        call_ends(OPERATION(name, kind), began, carried, is_of_world);         \
    }
#define FORTRAN(kind, name, lower, many, bytes, of)                                                \
    FORTRAN_AS(mpi_##lower##_, kind, name, many, bytes, of)                    \
    FORTRAN_AS(mpi_##lower##_f08_, kind, name, many, bytes, of)

FORTRAN(1, "Barrier", barrier, 2, 0, is_world(a))
FORTRAN(1, "Bcast", bcast, 6, fortran_amount(b, c), is_world(e))
FORTRAN(1, "Reduce", reduce, 8, fortran_amount(c, d), is_world(g))
FORTRAN(1, "Allreduce", allreduce, 7, fortran_amount(c, d), is_world(f))
FORTRAN(1, "Scan", scan, 7, fortran_amount(c, d), is_world(f))
FORTRAN(1, "Exscan", exscan, 7, fortran_amount(c, d), is_world(f))
FORTRAN(1, "Reduce_scatter", reduce_scatter, 7, fortran_amount(c, d), is_world(f))
FORTRAN(1, "Gather", gather, 9, fortran_amount(b, c), is_world(h))
FORTRAN(1, "Scatter", scatter, 9, fortran_amount(e, f), is_world(h))
FORTRAN(1, "Allgather", allgather, 8, fortran_amount(b, c), is_world(g))
FORTRAN(1, "Alltoall", alltoall, 8, fortran_amount(b, c), is_world(g))
FORTRAN(1, "Gatherv", gatherv, 10, fortran_amount(b, c), is_world(i))
FORTRAN(1, "Scatterv", scatterv, 10, fortran_amount(f, g), is_world(i))
FORTRAN(1, "Allgatherv", allgatherv, 9, fortran_amount(b, c), is_world(h))
FORTRAN(1, "Alltoallv", alltoallv, 10, fortran_amount(b, d), is_world(i))
FORTRAN(0, "Send", send, 7, fortran_amount(b, c), 0)
FORTRAN(0, "Ssend", ssend, 7, fortran_amount(b, c), 0)
FORTRAN(0, "Isend", isend, 8, fortran_amount(b, c), 0)
FORTRAN(0, "Recv", recv, 8, 0, 0)
FORTRAN(0, "Irecv", irecv, 8, 0, 0)
FORTRAN(0, "Sendrecv", sendrecv, 13, fortran_amount(b, c), 0)
FORTRAN(0, "Sendrecv_replace", sendrecv_replace, 10, fortran_amount(b, c), 0)
FORTRAN(0, "Wait", wait, 3, 0, 0)
FORTRAN(0, "Waitall", waitall, 4, 0, 0)
FORTRAN(0, "Waitany", waitany, 5, 0, 0)
FORTRAN(0, "Waitsome", waitsome, 6, 0, 0)
FORTRAN(0, "Test", test, 4, 0, 0)
FORTRAN(0, "Testall", testall, 5, 0, 0)
FORTRAN(0, "Probe", probe, 5, 0, 0)
FORTRAN(0, "Iprobe", iprobe, 6, 0, 0)

#define FORTRAN_BEGIN(symbol, many)                \
    void symbol(P##many) {                         \
        static void (*next)(P##many);              \
        NEXT(next, #symbol);                       \
        starts();                                  \
        next(A##many);                             \
        started();                                 \
    }
FORTRAN_BEGIN(mpi_init_, 1)
FORTRAN_BEGIN(mpi_init_f08_, 1)
FORTRAN_BEGIN(mpi_init_thread_, 3)
FORTRAN_BEGIN(mpi_init_thread_f08_, 3)

#define FORTRAN_END(symbol)                        \
    void symbol(void *code) {                      \
        static void (*next)(void *);               \
        NEXT(next, #symbol);                       \
        finishing();                               \
        next(code);                                \
    }
FORTRAN_END(mpi_finalize_)
FORTRAN_END(mpi_finalize_f08_)

#endif
