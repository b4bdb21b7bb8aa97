/* mmgp: which (m, p) is fastest, for programs in C.
 *
 * A program runs m host threads, each of which shares its off-loaded work among p accelerators
 * (APUs). A model is loaded from parameters that `mmgp fit` has written; it predicts the time of a
 * run at (m, p) by equation 11 of MMGP, chooses the best (m, p), and learns from timed runs.
 *
 * Where the parameters come with the runs that they were fitted with, times and intervals within the
 * range of these runs are those of `mmgp predict`: equation 11 times how far the runs show it off,
 * which is worked out at loading for up to 4096 (m, p); of a range that has more, for the m and p that
 * were timed, as far as they fit. Without runs but with refined terms they are those of the refined
 * model, if there are at most 4096 (m, p). Everywhere else they are equation 11, taken to be off by a
 * relative standard deviation of 10 %.
 *
 *     mmgp_model *model;
 *     mmgp_choice best;
 *     if (mmgp_load("params.toml", NULL, &model) != MMGP_OK)
 *         return fail(mmgp_message());
 *     mmgp_best(model, NULL, &best);
 *     double seconds = run(best.m, best.p);
 *     mmgp_add_sample(model, best.m, best.p, seconds, NULL);
 *     mmgp_free(model);
 *
 * Parameters of rates (`mmgp fit --rate`) or of amounts (`mmgp fit --objective joules`) have no seconds:
 * mmgp_unit says what every time_s, low_s and high_s is in. Of rates it is the time of one unit of work, the
 * inverse of a rate ("1/(ns/day)"): 1/time_s is the rate, the least time is the largest rate, and what
 * mmgp_add_sample takes is 1/rate as well. Of amounts it is the amount ("joules").
 *
 * Build the library: cargo build --release --example mmgp
 * Link: cc program.c -I include -L target/release/examples -lmmgp
 *
 * Threads. mmgp_time, mmgp_predict, mmgp_best, mmgp_apus, mmgp_unit, mmgp_samples and mmgp_add_sample
 * may be called on the same model by any number of threads at once. All but the last wait for nobody; each
 * sees the model either before or after a sample, never between. The first question after samples takes
 * them in, which costs it some microseconds for each (m, p) that was ever run; questions that other
 * threads ask meanwhile are answered without these samples. mmgp_add_sample holds a lock against other
 * calls of itself. Loading is independent of everything. mmgp_free may be called when no other call on the
 * model is under way or will follow. None of these is safe within a signal handler.
 *
 * Memory. mmgp_load and mmgp_load_text allocate; mmgp_add_sample does where the (m, p), or such a
 * time of it, is new, and so does the question that takes samples in. All numbers that go in and out are the
 * caller's. Where a call fails, it writes to none of its results.
 */
#ifndef MMGP_H
#define MMGP_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* What a function returns. Numbers keep their meaning in later versions; new ones may come. */
typedef int mmgp_status;
enum {
    MMGP_OK = 0,
    MMGP_BAD_ARGUMENT = 1,     /* a null pointer, text that is not UTF-8, a number out of range */
    MMGP_BAD_INPUT = 2,        /* a text that is not a set of parameters */
    MMGP_CANNOT_READ = 3,      /* a file that cannot be read */
    MMGP_INFEASIBLE = 4,       /* more APUs than there are, or m above max_m */
    MMGP_NOTHING_TO_LEARN = 5, /* a sample, but no value of the parameters is uncertain */
    MMGP_BUG = 6               /* a mistake in the library */
};

/* A loaded model. */
typedef struct mmgp_model mmgp_model;

/* How to learn. A null pointer to options means MMGP_OPTIONS, which has 0 everywhere but in `size`:
 *
 *     mmgp_options options = MMGP_OPTIONS;
 *     options.unknown_error = 0.1;
 *
 * Later versions may add fields at the end, where 0 means what earlier versions did, and still take the
 * options of a program compiled with an earlier header. A program compiled with a later header is
 * understood as far as all that this version does not know is 0; otherwise the options are refused
 * (MMGP_BAD_ARGUMENT). No other structure will ever have more fields. */
typedef struct mmgp_options {
    uint32_t size;        /* sizeof(mmgp_options) where the program was compiled, at most 4096 */
    uint32_t max_m;       /* the most host threads that will be asked for, up to 131072;
                             0: as many as there are APUs, up to that */
    double noise;         /* standard deviation of a run's time, relative; 0 means 0.02 */
    double unknown_error; /* relative standard error of values that come without one; 0: exact */
} mmgp_options;

#define MMGP_OPTIONS { sizeof(mmgp_options), 0, 0.0, 0.0 }

/* A time and its 95 % interval from the uncertainty of the parameters and the error of the model [s].
 * The noise of a single run is not in it. Samples narrow what the parameters contribute where the
 * model is equation 11; how far the model is off is taken as it was at loading. */
typedef struct mmgp_prediction {
    double time_s;
    double low_s;
    double high_s;
} mmgp_prediction;

/* What a choice must keep to; 0 where there is no limit. A null pointer means no limits. */
typedef struct mmgp_limits {
    uint32_t apus;  /* m * p at most this; never more than the parameters have */
    uint32_t max_m; /* host threads */
    uint32_t max_p; /* APUs for each of them */
} mmgp_limits;

typedef struct mmgp_choice {
    uint32_t m;
    uint32_t p;
    double time_s; /* predicted [s] */
} mmgp_choice;

/* Loads parameters, in TOML, from a file or by the name of a published set
 * (pbpi-qs20, raxml-qs20). */
mmgp_status mmgp_load(const char *name_or_file, const mmgp_options *options, mmgp_model **model);

/* The same from `length` bytes of UTF-8, which need no zero at their end. */
mmgp_status mmgp_load_text(const char *text, size_t length, const mmgp_options *options,
                           mmgp_model **model);

/* Gives a model back. A null pointer is none. */
void mmgp_free(mmgp_model *model);

/* The predicted time of a run at (m, p), both at least 1 [s]. */
mmgp_status mmgp_time(const mmgp_model *model, uint32_t m, uint32_t p, double *time_s);

/* That time with its interval. */
mmgp_status mmgp_predict(const mmgp_model *model, uint32_t m, uint32_t p,
                         mmgp_prediction *prediction);

/* The (m, p) that `mmgp predict` chooses, within the limits: the least predicted time, with its caution
 * where runs tell how far equation 11 is off. Of what cannot be told from it, times that are the same by
 * four digits and hardly less sure, it is the fewest APUs (m * p), then the fewest m. With runs,
 * max_m and max_p of 0 mean the range of the runs, and so do the smallest m and p, unless nothing there is
 * within the limits; without both, only what predict would consider is. It looks at every m twice, and at
 * every (m, p) that is known beyond equation 11. */
mmgp_status mmgp_best(const mmgp_model *model, const mmgp_limits *limits, mmgp_choice *choice);

/* Learns from a run of time_s seconds at (m, p). After any number of runs, in any order, the model is
 * the least-squares solution of parameters, by their standard errors, and runs together, in the
 * totals that equation 11 is linear in. A wild run (milliseconds for seconds, a disturbance) counts
 * for nothing where others tell that it is one; runs that agree with each other are believed, however
 * far from the parameters. `surprise`, where not null, becomes the distance of time_s from what was
 * expected not long before in standard deviations: beyond about 4 either side it is rather a
 * disturbance than noise. A model whose parameters have no standard errors learns nothing unless unknown_error is set. */
mmgp_status mmgp_add_sample(mmgp_model *model, uint32_t m, uint32_t p, double time_s,
                            double *surprise);

/* The unit of all times of the model in UTF-8, such as "1/(ns/day)" or "joules"; null where they are seconds, and
 * for a null model. It lives as long as the model. */
const char *mmgp_unit(const mmgp_model *model);

/* APUs of the parameters, and runs learnt from; 0 for a null model. */
uint32_t mmgp_apus(const mmgp_model *model);
uint64_t mmgp_samples(const mmgp_model *model);

/* Why the last call of this thread that failed did so, in UTF-8; empty where none has. It is
 * overwritten by the next failure in this thread and lives as long as the thread. */
const char *mmgp_message(void);

/* The version of the library, such as "0.1.0". */
const char *mmgp_version(void);

/* A pool of APUs that the processes (or threads) of a program share, and that decides at run time how
 * many of them off-load at once, and on how many APUs each. It needs no parameters: it starts with one APU
 * for each off-load, learns from the times of the first what sharing gains, and learns anew when the
 * workload changes. `tests/c/pool.c` is a program with threads that share one.
 *
 *     mmgp_pool_arrive(pool, now(), me, function, most, &shares);
 *     while (shares == 0) {
 *         wait until some off-load has completed or some process has left;
 *         mmgp_pool_arrive(pool, now(), me, function, most, &shares);
 *     }
 *     run on `shares` APUs
 *     mmgp_pool_complete(pool, now(), me);
 *
 * Whoever was told to wait must ask again, each time that an off-load completes or a process leaves, all of
 * them, in any order: an APU is given to who has waited longest, and to nobody who does not ask.
 *
 * Threads. All but mmgp_pool_new and mmgp_pool_free may be called on the same pool by any number of
 * threads at once, and hold its lock for less than a microsecond; the completion that ends a window of
 * some dozens, for some tens of microseconds. Calls for one process must follow each other. mmgp_pool_free
 * may be called when no other call is under way or will follow. None is safe within a signal handler.
 *
 * Memory. mmgp_pool_arrive allocates nothing. mmgp_pool_new, mmgp_pool_enter, mmgp_pool_explain, and
 * mmgp_pool_complete at the end of a window do. */
typedef struct mmgp_pool mmgp_pool;

/* How a pool stands. */
typedef struct mmgp_pool_state {
    uint32_t processes;     /* that may off-load at once */
    uint32_t shares;        /* APUs that an off-load gets at most */
    uint32_t idle;          /* APUs that nobody has leased */
    uint64_t changes;       /* how often the workload was found to have changed */
    uint64_t offloads;      /* completed */
    uint64_t settled_after; /* of these, when nothing promised more for the first time; 0: not yet */
} mmgp_pool_state;

/* A pool of `apus` APUs for a host that runs `contexts` processes at a time (its hardware threads), both
 * from 1 to 4096. */
mmgp_status mmgp_pool_new(uint32_t apus, uint32_t contexts, mmgp_pool **pool);

/* Gives a pool back. A null pointer is none. */
void mmgp_pool_free(mmgp_pool *pool);

/* A process exists that will ask, by a number below 4096 of its own. MMGP_BAD_ARGUMENT where it has
 * entered already. Let all enter before the first asks, where that is possible. */
mmgp_status mmgp_pool_enter(mmgp_pool *pool, uint32_t process);

/* A process has no more work; an off-load that it has under way is taken to be none. Whoever waits asks
 * again. MMGP_BAD_ARGUMENT where it has not entered. */
mmgp_status mmgp_pool_leave(mmgp_pool *pool, uint32_t process);

/* A process asks, at now_s, to off-load `function` (any number; those from 15 on count as one), which at
 * most `most_shares` APUs can share. `shares` becomes the number of APUs that are its own until it calls
 * mmgp_pool_complete, or 0 where it has to wait and to ask again. now_s is in seconds from any instant, by
 * a clock that does not go back and that all threads share. MMGP_BAD_ARGUMENT where the process has not
 * entered, or has an off-load under way. */
mmgp_status mmgp_pool_arrive(mmgp_pool *pool, double now_s, uint32_t process, uint32_t function,
                             uint32_t most_shares, uint32_t *shares);

/* The off-load of a process is complete at now_s, and its APUs are given back; it goes on with host code.
 * Whoever waits asks again. MMGP_BAD_ARGUMENT where it has none under way. */
mmgp_status mmgp_pool_complete(mmgp_pool *pool, double now_s, uint32_t process);

/* How a pool stands. */
mmgp_status mmgp_pool_look(const mmgp_pool *pool, mmgp_pool_state *state);

/* What a pool believes, in lines for people, in UTF-8: as much as fits in `size` bytes with a zero at its
 * end. `length`, where not null, becomes the bytes of the whole text without the zero; `text` may be null. */
mmgp_status mmgp_pool_explain(const mmgp_pool *pool, char *text, size_t size, size_t *length);

#ifdef __cplusplus
}
#endif

#endif
