/* The C interface, used as a program in C would: exit code 0 where all is as mmgp.h says.
 *
 * interface PARAMETERS.toml        checks, on several threads as well
 * interface PARAMETERS.toml speed  prints what a call costs [ns]
 *
 * Built with -DCOUNT_ALLOCATIONS it replaces malloc and requires that nothing is allocated after
 * loading where nothing is learnt; without, it can run under valgrind, which replaces malloc itself.
 */
#define _GNU_SOURCE /* RTLD_NEXT */
#include <math.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "mmgp.h"

#define CHECK(condition)                                                          \
    do {                                                                          \
        if (!(condition)) {                                                       \
            fprintf(stderr, "%s:%d: not so: %s (last message: %s)\n", __FILE__,   \
                    __LINE__, #condition, mmgp_message());                        \
            exit(1);                                                              \
        }                                                                         \
    } while (0)

#ifdef COUNT_ALLOCATIONS
static atomic_long allocations;
static _Thread_local volatile int counting; /* the compiler knows malloc, and thinks it reads nothing */
extern void *__libc_malloc(size_t);
extern void *__libc_calloc(size_t, size_t);
extern void *__libc_realloc(void *, size_t);
extern void *__libc_memalign(size_t, size_t);
static void count(void)
{
    if (counting)
        atomic_fetch_add(&allocations, 1);
}
void *malloc(size_t size)
{
    count();
    return __libc_malloc(size);
}
void *calloc(size_t items, size_t size)
{
    count();
    return __libc_calloc(items, size);
}
void *realloc(void *old, size_t size)
{
    count();
    return __libc_realloc(old, size);
}
int posix_memalign(void **out, size_t alignment, size_t size)
{
    count();
    *out = __libc_memalign(alignment, size);
    return *out ? 0 : 12;
}
void *aligned_alloc(size_t alignment, size_t size)
{
    count();
    return __libc_memalign(alignment, size);
}
#define COUNTING(on) (counting = (on))
#else
#define COUNTING(on) ((void)0)
#endif

static const mmgp_options learning = { sizeof(mmgp_options), 0, 0.02, 0.1 };

/* Everything but loading; safe to run on many threads with one model. */
static void use(mmgp_model *model, double least, double most)
{
    unsigned m, p;
    double time_s;
    mmgp_prediction prediction;
    mmgp_choice choice;
    const mmgp_limits limits = { 8, 4, 2 };
    for (m = 1; m <= 16; m++) {
        for (p = 1; p <= 16 / m; p++) {
            CHECK(mmgp_time(model, m, p, &time_s) == MMGP_OK);
            CHECK(time_s > least && time_s < most);
            CHECK(mmgp_predict(model, m, p, &prediction) == MMGP_OK);
            CHECK(prediction.low_s <= prediction.time_s);
            CHECK(prediction.time_s <= prediction.high_s);
        }
    }
    CHECK(mmgp_best(model, NULL, &choice) == MMGP_OK);
    CHECK(choice.m * choice.p <= 16 && choice.time_s < most);
    CHECK(mmgp_best(model, &limits, &choice) == MMGP_OK);
    CHECK(choice.m <= 4 && choice.p <= 2 && choice.m * choice.p <= 8);
    CHECK(mmgp_time(model, 5, 4, &time_s) == MMGP_INFEASIBLE);
    CHECK(!strcmp(mmgp_message(), "m = 5, p = 4 needs 20 APUs, but there are 16"));
    CHECK(mmgp_time(model, 0, 4, &time_s) == MMGP_BAD_ARGUMENT);
    CHECK(mmgp_time(NULL, 1, 1, &time_s) == MMGP_BAD_ARGUMENT);
    CHECK(mmgp_time(model, 1, 1, NULL) == MMGP_BAD_ARGUMENT);
}

static void check_published(void)
{
    mmgp_model *model;
    mmgp_choice choice;
    double time_s;
    CHECK(mmgp_load("pbpi-qs20", NULL, &model) == MMGP_OK);
    CHECK(mmgp_apus(model) == 16 && mmgp_samples(model) == 0);
    CHECK(!mmgp_unit(model) && !mmgp_unit(NULL));
    /* 1.28*1.3 + 370/16 + 1.72 + 4*0.8 + 20000*118e-6 + 2.07e-6 */
    CHECK(mmgp_time(model, 4, 4, &time_s) == MMGP_OK);
    CHECK(fabs(time_s - 32.06900207) < 1e-9);
    CHECK(mmgp_best(model, NULL, &choice) == MMGP_OK);
    CHECK(choice.m == 4 && choice.p == 4 && choice.time_s == time_s);
    CHECK(mmgp_add_sample(model, 4, 4, 30.0, NULL) == MMGP_NOTHING_TO_LEARN);
    mmgp_free(model);
    CHECK(mmgp_load("raxml-qs20", &learning, &model) == MMGP_OK);
    CHECK(mmgp_best(model, NULL, &choice) == MMGP_OK);
    CHECK(choice.m == 16 && choice.p == 1);
    mmgp_free(model);
}

/* Parameters of rates, whose times are those of one unit of work. */
static void check_rates(void)
{
    const char *text = "schema = 2\nname = \"md\"\ndecomposition = \"data\"\napus = 4\n"
                       "[objective]\nrate = \"ns/day\"\n"
                       "[terms]\nt_hpu_s = 0.01\nt_apu_s = 0.04\nc_apu_s = 0\noffloads = 1\n"
                       "o_offload_s = 0\nt_csw_s = 0\ng_s = 0\nalpha = 1.0\no_col_s = 0\n";
    mmgp_model *model;
    mmgp_choice choice;
    CHECK(mmgp_load_text(text, strlen(text), NULL, &model) == MMGP_OK);
    CHECK(mmgp_unit(model) && !strcmp(mmgp_unit(model), "1/(ns/day)"));
    CHECK(mmgp_best(model, NULL, &choice) == MMGP_OK);
    /* 0.01 and 0.04/4 days per ns: 50 ns/day. */
    CHECK(choice.m * choice.p == 4 && fabs(1.0 / choice.time_s - 50.0) < 1e-9);
    mmgp_free(model);
}

/* Options as headers of other versions have them. */
static void check_versions(void)
{
    struct later {
        mmgp_options known;
        double more;
        uint32_t most;
        uint32_t rest;
    } later = { MMGP_OPTIONS, 0.0, 0, 0 };
    static union {
        mmgp_options options;
        char bytes[4097];
    } page;
    mmgp_options options = MMGP_OPTIONS;
    mmgp_model *model = NULL;
    /* As it stands in memory in every version. */
    CHECK(sizeof options == 24 && offsetof(mmgp_options, size) == 0);
    CHECK(offsetof(mmgp_options, max_m) == 4 && offsetof(mmgp_options, noise) == 8);
    CHECK(offsetof(mmgp_options, unknown_error) == 16);
    CHECK(mmgp_load("pbpi-qs20", &options, &model) == MMGP_OK);
    CHECK(mmgp_add_sample(model, 4, 4, 30.0, NULL) == MMGP_NOTHING_TO_LEARN);
    mmgp_free(model);
    later.known.size = sizeof later;
    later.known.unknown_error = 0.1;
    CHECK(mmgp_load("pbpi-qs20", &later.known, &model) == MMGP_OK);
    CHECK(mmgp_add_sample(model, 4, 4, 30.0, NULL) == MMGP_OK);
    mmgp_free(model);
    model = NULL;
    later.rest = 1;
    CHECK(mmgp_load("pbpi-qs20", &later.known, &model) == MMGP_BAD_ARGUMENT);
    CHECK(!strcmp(mmgp_message(), "the options set what this version does not know"));
    later.known.size = sizeof options; /* what stands behind is not looked at */
    CHECK(mmgp_load("pbpi-qs20", &later.known, &model) == MMGP_OK);
    mmgp_free(model);
    model = NULL;
    for (options.size = 0; options.size < 24; options.size++)
        CHECK(mmgp_load("pbpi-qs20", &options, &model) == MMGP_BAD_ARGUMENT);
    options.size = 23;
    CHECK(mmgp_load_text("", 0, &options, &model) == MMGP_BAD_ARGUMENT);
    CHECK(!strcmp(mmgp_message(), "the options have a size of 23, expected 24"));
    page.options.size = 4096;
    CHECK(mmgp_load("pbpi-qs20", &page.options, &model) == MMGP_OK);
    mmgp_free(model);
    model = NULL;
    page.options.size = 4097;
    CHECK(mmgp_load("pbpi-qs20", &page.options, &model) == MMGP_BAD_ARGUMENT);
    CHECK(model == NULL);
}

static void check_failures(void)
{
    mmgp_model *model = NULL;
    const char *text = "schema = 1\nname = 3\n";
    const mmgp_options bad = { sizeof(mmgp_options), 0, -1.0, 0.0 };
    CHECK(mmgp_load("/nowhere/at/all.toml", NULL, &model) == MMGP_CANNOT_READ);
    CHECK(strstr(mmgp_message(), "/nowhere/at/all.toml"));
    CHECK(mmgp_load(NULL, NULL, &model) == MMGP_BAD_ARGUMENT);
    CHECK(mmgp_load("pbpi-qs20", NULL, NULL) == MMGP_BAD_ARGUMENT);
    CHECK(mmgp_load("pbpi-qs20", &bad, &model) == MMGP_BAD_ARGUMENT);
    CHECK(mmgp_load_text(text, strlen(text), NULL, &model) == MMGP_BAD_INPUT);
    CHECK(!strncmp(mmgp_message(), "parameters:", 11));
    CHECK(mmgp_load_text("\xff", 1, NULL, &model) == MMGP_BAD_INPUT);
    CHECK(model == NULL);
    mmgp_free(NULL);
    CHECK(strlen(mmgp_version()) >= 5);
}

struct job {
    mmgp_model *model;
    double time_s;
};

static void *reader(void *argument)
{
    struct job *job = argument;
    int round;
    for (round = 0; round < 200; round++)
        use(job->model, 1.0, 1000.0);
    return NULL;
}

static void *writer(void *argument)
{
    struct job *job = argument;
    double surprise;
    int round;
    for (round = 0; round < 500; round++) {
        CHECK(mmgp_add_sample(job->model, 4, 4, job->time_s, &surprise) == MMGP_OK);
        CHECK(isfinite(surprise));
        CHECK(mmgp_add_sample(job->model, 4, 4, -job->time_s, NULL) == MMGP_BAD_ARGUMENT);
    }
    return NULL;
}

static void check_threads(const char *file)
{
    pthread_t threads[4];
    struct job job;
    double before, after;
    int index;
    CHECK(mmgp_load(file, &learning, &job.model) == MMGP_OK);
    CHECK(mmgp_time(job.model, 4, 4, &before) == MMGP_OK);
    job.time_s = 1.1 * before;
    for (index = 0; index < 4; index++)
        CHECK(!pthread_create(&threads[index], NULL, index % 2 ? writer : reader, &job));
    for (index = 0; index < 4; index++)
        CHECK(!pthread_join(threads[index], NULL));
    CHECK(mmgp_samples(job.model) == 1000);
    CHECK(mmgp_time(job.model, 4, 4, &after) == MMGP_OK);
    CHECK(fabs(after / before - 1.1) < 1e-3);
    mmgp_free(job.model);
}

static double now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return time.tv_sec + 1e-9 * time.tv_nsec;
}

static void print_speed(const char *file)
{
    enum { CALLS = 1 << 24, FEW = 1 << 18 };
    mmgp_model *model;
    mmgp_prediction prediction;
    mmgp_choice choice;
    double time_s, sum = 0, start;
    unsigned call;
    CHECK(mmgp_load(file, &learning, &model) == MMGP_OK);
    start = now();
    for (call = 0; call < CALLS; call++) {
        mmgp_time(model, 1 + call % 4, 1 + call / 4 % 4, &time_s);
        sum += time_s;
    }
    printf("mmgp_time       %8.1f ns\n", 1e9 * (now() - start) / CALLS);
    start = now();
    for (call = 0; call < FEW; call++) {
        mmgp_predict(model, 1 + call % 4, 1 + call / 4 % 4, &prediction);
        sum += prediction.high_s;
    }
    printf("mmgp_predict    %8.1f ns\n", 1e9 * (now() - start) / FEW);
    start = now();
    for (call = 0; call < FEW; call++) {
        mmgp_best(model, NULL, &choice);
        sum += choice.m;
    }
    printf("mmgp_best       %8.1f ns (16 APUs)\n", 1e9 * (now() - start) / FEW);
    start = now();
    for (call = 0; call < FEW; call++)
        mmgp_add_sample(model, 1 + call % 4, 1 + call / 4 % 4, 30.0, NULL);
    printf("mmgp_add_sample %8.1f ns (16 APUs)\n", 1e9 * (now() - start) / FEW);
    CHECK(isfinite(sum));
    mmgp_free(model);
}

int main(int count, char **arguments)
{
    mmgp_model *model;
    double most;
    if (count < 2) {
        fprintf(stderr, "usage: %s PARAMETERS.toml [speed]\n", arguments[0]);
        return 2;
    }
    if (count > 2) {
        print_speed(arguments[1]);
        return 0;
    }
    check_published();
    check_rates();
    check_versions();
    check_failures();
    CHECK(mmgp_load(arguments[1], NULL, &model) == MMGP_OK);
    CHECK(mmgp_time(model, 1, 1, &most) == MMGP_OK);
    COUNTING(1);
    use(model, 0.0, 2.0 * most);
    COUNTING(0);
    mmgp_free(model);
    check_threads(arguments[1]);
#ifdef COUNT_ALLOCATIONS
    CHECK(atomic_load(&allocations) == 0);
    {
        void *volatile block; /* or the compiler would do without */
        COUNTING(1);
        block = malloc(1);
        COUNTING(0);
        free(block);
        CHECK(atomic_load(&allocations) == 1); /* the counter works */
    }
#endif
    puts("the C interface is as mmgp.h says");
    return 0;
}
