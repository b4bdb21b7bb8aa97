/* Threads that share a pool of accelerators: exit code 0 where all is as mmgp.h says.
 *
 * The accelerators are make-believe: an off-load is a wait of (SERIAL + PARALLEL / shares) ns. What is
 * around it is what a run-time system does: a condition variable on which those wait that were told to,
 * and a broadcast whenever an off-load completes or a thread leaves.
 */
#define _POSIX_C_SOURCE 200809L
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "mmgp.h"

#define CHECK(condition)                                                        \
    do {                                                                        \
        if (!(condition)) {                                                     \
            fprintf(stderr, "%s:%d: not so: %s (last message: %s)\n", __FILE__, \
                    __LINE__, #condition, mmgp_message());                      \
            exit(1);                                                            \
        }                                                                       \
    } while (0)

enum { APUS = 8, CONTEXTS = 2, THREADS = 3, OFFLOADS = 300, SERIAL = 20000, PARALLEL = 400000 };

/* What the threads share. */
struct machine {
    mmgp_pool *pool;
    pthread_mutex_t lock;
    pthread_cond_t again; /* an off-load has completed, or a thread has left */
    unsigned leased;
};

struct worker {
    struct machine *machine;
    unsigned number;
};

static double now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return time.tv_sec + 1e-9 * time.tv_nsec;
}

/* Waits for a lease. */
static unsigned acquire(struct machine *machine, unsigned me)
{
    uint32_t shares = 0;
    pthread_mutex_lock(&machine->lock);
    CHECK(mmgp_pool_arrive(machine->pool, now(), me, 0, APUS, &shares) == MMGP_OK);
    while (shares == 0) {
        pthread_cond_wait(&machine->again, &machine->lock);
        CHECK(mmgp_pool_arrive(machine->pool, now(), me, 0, APUS, &shares) == MMGP_OK);
    }
    machine->leased += shares;
    CHECK(machine->leased <= APUS);
    pthread_mutex_unlock(&machine->lock);
    return shares;
}

static void release(struct machine *machine, unsigned me, unsigned shares)
{
    pthread_mutex_lock(&machine->lock);
    CHECK(mmgp_pool_complete(machine->pool, now(), me) == MMGP_OK);
    machine->leased -= shares;
    pthread_cond_broadcast(&machine->again);
    pthread_mutex_unlock(&machine->lock);
}

static void *work(void *argument)
{
    struct worker *worker = argument;
    struct machine *machine = worker->machine;
    unsigned offload;
    for (offload = 0; offload < OFFLOADS; offload++) {
        unsigned shares = acquire(machine, worker->number);
        struct timespec time = { 0, SERIAL + PARALLEL / (long)shares };
        nanosleep(&time, NULL);
        release(machine, worker->number, shares);
    }
    pthread_mutex_lock(&machine->lock);
    CHECK(mmgp_pool_leave(machine->pool, worker->number) == MMGP_OK);
    pthread_cond_broadcast(&machine->again);
    pthread_mutex_unlock(&machine->lock);
    return NULL;
}

static void check_threads(void)
{
    struct machine machine = { .leased = 0 };
    struct worker workers[THREADS];
    pthread_t threads[THREADS];
    mmgp_pool_state state;
    char text[4096];
    size_t length;
    unsigned index;
    CHECK(mmgp_pool_new(APUS, CONTEXTS, &machine.pool) == MMGP_OK);
    CHECK(!pthread_mutex_init(&machine.lock, NULL) && !pthread_cond_init(&machine.again, NULL));
    for (index = 0; index < THREADS; index++) {
        workers[index].machine = &machine;
        workers[index].number = index;
        CHECK(mmgp_pool_enter(machine.pool, index) == MMGP_OK);
    }
    for (index = 0; index < THREADS; index++)
        CHECK(!pthread_create(&threads[index], NULL, work, &workers[index]));
    for (index = 0; index < THREADS; index++)
        CHECK(!pthread_join(threads[index], NULL));
    CHECK(mmgp_pool_look(machine.pool, &state) == MMGP_OK);
    CHECK(state.offloads == THREADS * OFFLOADS && state.idle == APUS && machine.leased == 0);
    CHECK(mmgp_pool_explain(machine.pool, text, sizeof text, &length) == MMGP_OK);
    CHECK(length > 0 && length < sizeof text && strlen(text) == length);
    fputs(text, stdout);
    CHECK(mmgp_pool_explain(machine.pool, text, 4, &length) == MMGP_OK && strlen(text) == 3);
    mmgp_pool_free(machine.pool);
    pthread_cond_destroy(&machine.again);
    pthread_mutex_destroy(&machine.lock);
}

/* Two processes in a time of our own: 1 s on the host, 16 s on one APU, shared without loss. */
static void check_choice(void)
{
    mmgp_pool *pool;
    mmgp_pool_state state;
    double time_s[2] = { 0.0, 0.5 };
    uint32_t shares[2] = { 0, 0 };
    unsigned offload;
    CHECK(mmgp_pool_new(8, 2, &pool) == MMGP_OK);
    CHECK(mmgp_pool_enter(pool, 0) == MMGP_OK && mmgp_pool_enter(pool, 1) == MMGP_OK);
    for (offload = 0; offload < 2000; offload++) {
        unsigned me = time_s[1] < time_s[0], other = !me;
        if (shares[me] == 0) { /* it asks */
            CHECK(mmgp_pool_arrive(pool, time_s[me], me, 0, 8, &shares[me]) == MMGP_OK);
            /* Held: until the other is done, which has APUs then. */
            CHECK(shares[me] || shares[other]);
            time_s[me] = shares[me] ? time_s[me] + 16.0 / shares[me] : nextafter(time_s[other], 1e300);
        } else { /* it is done */
            CHECK(mmgp_pool_complete(pool, time_s[me], me) == MMGP_OK);
            shares[me] = 0;
            time_s[me] += 1.0;
        }
    }
    CHECK(mmgp_pool_look(pool, &state) == MMGP_OK);
    CHECK(state.shares >= 4 && state.changes == 0 && state.settled_after > 0);
    mmgp_pool_free(pool);
}

static void check_failures(void)
{
    mmgp_pool *pool = NULL;
    uint32_t shares = 7;
    CHECK(mmgp_pool_new(0, 2, &pool) == MMGP_BAD_ARGUMENT && pool == NULL);
    CHECK(mmgp_pool_new(8, 2, NULL) == MMGP_BAD_ARGUMENT);
    CHECK(mmgp_pool_new(8, 2, &pool) == MMGP_OK);
    CHECK(mmgp_pool_enter(NULL, 0) == MMGP_BAD_ARGUMENT);
    CHECK(mmgp_pool_enter(pool, 4096) == MMGP_BAD_ARGUMENT);
    CHECK(mmgp_pool_arrive(pool, 0.0, 3, 0, 8, &shares) == MMGP_BAD_ARGUMENT && shares == 7);
    CHECK(!strcmp(mmgp_message(), "process 3 has not entered"));
    CHECK(mmgp_pool_leave(pool, 3) == MMGP_BAD_ARGUMENT);
    CHECK(mmgp_pool_enter(pool, 3) == MMGP_OK);
    CHECK(mmgp_pool_enter(pool, 3) == MMGP_BAD_ARGUMENT);
    CHECK(mmgp_pool_complete(pool, 0.0, 3) == MMGP_BAD_ARGUMENT);
    CHECK(mmgp_pool_arrive(pool, NAN, 3, 0, 8, &shares) == MMGP_BAD_ARGUMENT);
    CHECK(mmgp_pool_arrive(pool, 0.0, 3, 0, 0, &shares) == MMGP_BAD_ARGUMENT);
    CHECK(mmgp_pool_arrive(pool, 0.0, 3, 0, 8, NULL) == MMGP_BAD_ARGUMENT);
    CHECK(mmgp_pool_arrive(pool, 0.0, 3, 0, 8, &shares) == MMGP_OK && shares == 1);
    CHECK(mmgp_pool_arrive(pool, 0.0, 3, 0, 8, &shares) == MMGP_BAD_ARGUMENT);
    CHECK(mmgp_pool_leave(pool, 3) == MMGP_OK);
    CHECK(mmgp_pool_look(pool, NULL) == MMGP_BAD_ARGUMENT);
    mmgp_pool_free(pool);
    mmgp_pool_free(NULL);
}

int main(void)
{
    check_failures();
    check_choice();
    check_threads();
    puts("the pool is as mmgp.h says");
    return 0;
}
