// Processes that share one GPU: each prepares batches with threads of its own, has them computed, and adds up
// what comes back. Prints the time from when all are ready to when all are done.
//
//     gpu PROCESSES THREADS BLOCK blocking|overlapped [BATCHES]
//
// Compiled by `nvcc -O2 -Xcompiler -fopenmp gpu.cu -o gpu`.

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <new>

#include <omp.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

// Numbers in a batch, and how often the GPU and a thread go over each.
static const int COUNT = 1 << 20;
static const int ON_GPU = 40000;
static const int ON_HOST = 12;

struct Shared {
    std::atomic<int> ready;
    std::atomic<int> done;
    double sums[64];
};

static double now() {
    timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return time.tv_sec + 1e-9 * time.tv_nsec;
}

static void check(cudaError_t error) {
    if (error == cudaSuccess) return;
    std::fprintf(stderr, "gpu: %s\n", cudaGetErrorString(error));
    std::_Exit(1);
}

__global__ void compute(float *numbers) {
    int place = blockIdx.x * blockDim.x + threadIdx.x;
    if (place >= COUNT) return;
    float x = numbers[place];
    for (int step = 0; step < ON_GPU; ++step) x = 3.7f * x * (1.0f - x);
    numbers[place] = x;
}

static void prepare(float *numbers, int batch) {
#pragma omp parallel for schedule(static)
    for (int place = 0; place < COUNT; ++place) {
        float x = 0.1f + 0.8f * ((place * 7919u + batch * 104729u) % 65536u) / 65536.0f;
        for (int step = 0; step < ON_HOST; ++step) x = 3.9f * x * (1.0f - x);
        numbers[place] = x;
    }
}

static double added(const float *numbers) {
    double sum = 0;
#pragma omp parallel for reduction(+ : sum) schedule(static)
    for (int place = 0; place < COUNT; ++place) sum += numbers[place];
    return sum;
}

// The batches of one process. With two buffers one is computed while the other is prepared and added up.
static void work(Shared *shared, int rank, int processes, int threads, int block, bool overlaps, int batches) {
    omp_set_num_threads(threads);
    const int buffers = overlaps ? 2 : 1;
    float *host[2], *device[2];
    cudaStream_t streams[2];
    for (int it = 0; it < buffers; ++it) {
        check(cudaMallocHost(&host[it], COUNT * sizeof(float)));
        check(cudaMalloc(&device[it], COUNT * sizeof(float)));
        check(cudaStreamCreate(&streams[it]));
    }
    prepare(host[0], 0);
    compute<<<(COUNT + block - 1) / block, block, 0, streams[0]>>>(device[0]);
    check(cudaDeviceSynchronize());
    shared->ready.fetch_add(1);
    while (shared->ready.load() <= processes) usleep(50);

    double sum = 0;
    bool is_full[2] = {false, false};
    int turn = 0;
    for (int batch = rank; batch < batches; batch += processes, turn = (turn + 1) % buffers) {
        check(cudaStreamSynchronize(streams[turn]));
        if (is_full[turn]) sum += added(host[turn]);
        prepare(host[turn], batch);
        size_t size = COUNT * sizeof(float);
        check(cudaMemcpyAsync(device[turn], host[turn], size, cudaMemcpyHostToDevice, streams[turn]));
        compute<<<(COUNT + block - 1) / block, block, 0, streams[turn]>>>(device[turn]);
        check(cudaGetLastError());
        check(cudaMemcpyAsync(host[turn], device[turn], size, cudaMemcpyDeviceToHost, streams[turn]));
        is_full[turn] = true;
    }
    for (int it = 0; it < buffers; ++it) {
        check(cudaStreamSynchronize(streams[it]));
        if (is_full[it]) sum += added(host[it]);
    }
    shared->sums[rank] = sum;
    shared->done.fetch_add(1);
}

int main(int count, char **words) {
    if (count < 5) {
        std::fprintf(stderr, "usage: gpu PROCESSES THREADS BLOCK blocking|overlapped [BATCHES]\n");
        return 2;
    }
    const int processes = std::atoi(words[1]), threads = std::atoi(words[2]), block = std::atoi(words[3]);
    const bool overlaps = std::strcmp(words[4], "overlapped") == 0;
    const int batches = count > 5 ? std::atoi(words[5]) : 96;
    void *memory =
        mmap(nullptr, sizeof(Shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED || processes < 1 || processes > 64) return 2;
    Shared *shared = new (memory) Shared();
    for (int rank = 0; rank < processes; ++rank) {
        if (fork() == 0) {
            work(shared, rank, processes, threads, block, overlaps, batches);
            std::_Exit(0);
        }
    }
    // A process that failed is never ready.
    int status = 0;
    while (shared->ready.load() < processes) {
        if (waitpid(-1, &status, WNOHANG) > 0) return 1;
        usleep(200);
    }
    const double start = now();
    shared->ready.fetch_add(1);
    int ended = 0;
    bool is_right = true;
    auto reap = [&](int how) {
        if (waitpid(-1, &status, how) <= 0) return false;
        is_right = is_right && WIFEXITED(status) && WEXITSTATUS(status) == 0;
        return ++ended > 0;
    };
    while (shared->done.load() < processes && is_right) {
        reap(WNOHANG);
        usleep(100);
    }
    const double taken = now() - start;
    while (ended < processes && reap(0)) {}
    double sum = 0;
    for (int rank = 0; rank < processes; ++rank) sum += shared->sums[rank];
    std::printf("sum %.6e\ntime %.6f s\n", sum, taken);
    return is_right ? 0 : 1;
}
