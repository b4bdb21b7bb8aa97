/* Programs with known parts, for MPI and OpenMP: they sleep in place of work, so that sixteen threads fit on two
   processors; with KNOWN_WORK=compute in the environment they compute, about as long on a processor of their own.

       mpirun -n M ./known NAME [STEPS]

   Each step is host code, regions, a message to the next rank and collectives, of the sizes that stand with the
   program's name below [us]. Prints the time of its steps on the slowest rank [s]. */

#include <mpi.h>
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

struct program {
    const char *name;
    /* Host code that each rank repeats, and that ranks share. */
    double host, host_shared;
    /* Regions of a step, and the work in all of them: what each rank repeats, and what ranks share. */
    int regions;
    double work, work_shared;
    /* In a region: what one thread does while all others wait, shared among ranks; and by how much the last thread
       has more to do than the others. */
    double serial, uneven;
    /* By how much the last rank has more to do, of its shared work. */
    double uneven_ranks;
    /* Numbers in a message to the next rank; collectives of a step. */
    int message, collectives;
};

static const struct program programs[] = {
    /* A stencil: all is shared, messages cost. */
    {"stencil", 200, 0, 1, 0, 40000, 0, 0.0, 0.0, 100000, 1},
    /* A search: much host code, that each rank repeats. */
    {"search", 4000, 0, 2, 0, 30000, 0, 0.10, 0.0, 0, 1},
    /* A simulation whose host code is shared among ranks, with a serial part in its regions. */
    {"simulation", 500, 8000, 2, 0, 30000, 2000, 0.0, 0.0, 20000, 1},
    /* Ranks of different sizes. */
    {"uneven", 1000, 2000, 1, 0, 36000, 0, 0.05, 0.3, 0, 2},
    /* Each rank repeats some of the work. */
    {"halo", 500, 1000, 4, 4000, 28000, 0, 0.0, 0.05, 50000, 1},
    /* Serial parts that limit. */
    {"amdahl", 3000, 3000, 1, 0, 24000, 4000, 0.0, 0.0, 0, 1},
};

enum { LONGEST = 1 << 17 };
static double cells[LONGEST], others[LONGEST];

static int computes;

static void rest(double microseconds) {
    if (computes) {
        volatile double sum = 1;
        for (long i = 0; i < (long) (microseconds * 250); i++) sum = sum * 0.999999 + 1e-6;
        return;
    }
    struct timespec time = {(time_t) (microseconds / 1e6), (long) (microseconds * 1e3) % 1000000000L};
    if (microseconds > 0) nanosleep(&time, NULL);
}

static void step(const struct program *it, int rank, int ranks) {
    rest(it->host + it->host_shared / ranks);
    double share = it->work_shared / ranks * (rank == ranks - 1 && ranks > 1 ? 1 + it->uneven_ranks : 1);
    for (int region = 0; region < it->regions; region++) {
#pragma omp parallel
        {
            int thread = omp_get_thread_num(), threads = omp_get_num_threads();
            double own = (it->work + share) / it->regions / threads;
            rest(own * (thread == threads - 1 && threads > 1 ? 1 + it->uneven : 1));
            if (thread == 0) rest(it->serial / ranks / it->regions);
        }
    }
    if (ranks > 1 && it->message > 0) {
        int next = (rank + 1) % ranks, before = (rank + ranks - 1) % ranks;
        MPI_Sendrecv(cells, it->message, MPI_DOUBLE, next, 0, others, it->message, MPI_DOUBLE, before, 0, MPI_COMM_WORLD,
                     MPI_STATUS_IGNORE);
    }
    for (int i = 0; i < it->collectives; i++) {
        double own = rank, sum;
        MPI_Allreduce(&own, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    }
}

int main(int count, char **words) {
    MPI_Init(&count, &words);
    computes = getenv("KNOWN_WORK") && !strcmp(getenv("KNOWN_WORK"), "compute");
    int rank, ranks, steps = count > 2 ? atoi(words[2]) : 30;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    const struct program *it = NULL;
    for (size_t i = 0; i < sizeof programs / sizeof *programs; i++)
        if (count > 1 && !strcmp(words[1], programs[i].name)) it = &programs[i];
    if (!it) {
        fprintf(stderr, "no program of that name\n");
        MPI_Abort(MPI_COMM_WORLD, 2);
    }
    double from = MPI_Wtime();
    for (int i = 0; i < steps; i++) step(it, rank, ranks);
    double own = MPI_Wtime() - from, slowest;
    MPI_Reduce(&own, &slowest, 1, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
    if (rank == 0) printf("time %.6f\n", slowest);
    MPI_Finalize();
    return 0;
}
