/* Off-loads to a device of OpenCL, the first that is no processor of the host, or else the first: `opencl COUNT` times a
   kernel that does nothing, alone and between copies there and back, so many batches of each, and prints

     device  NAME  PLATFORM
     launch  CALLS NANOSECONDS         of an empty kernel, until it has ended
     copies  BYTES CALLS NANOSECONDS   of a copy there, an empty kernel, and a copy back

   with tabs between. Where there is no device it ends with 3 and says why. What is asked of OpenCL stands here as its
   specification (1.1) has it, so that no header of it has to be there. */

#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum {
    DEVICE_NAME = 0x102B, PLATFORM_NAME = 0x0902,
    TYPE_CPU = 1 << 1, TYPE_GPU = 1 << 2, TYPE_ACCELERATOR = 1 << 3,
    READ_WRITE = 1, BLOCKS = 1,
};

/* Platforms, devices and all that is made are handles; a call returns 0, or an error through its last argument. */
typedef void *handle;

static struct {
    int32_t (*platforms)(uint32_t room, handle *platforms, uint32_t *count);
    int32_t (*platform_name)(handle platform, uint32_t what, size_t size, void *value, size_t *length);
    int32_t (*devices)(handle platform, uint64_t type, uint32_t room, handle *devices, uint32_t *count);
    int32_t (*device_name)(handle device, uint32_t what, size_t size, void *value, size_t *length);
    handle (*context)(const intptr_t *properties, uint32_t count, const handle *devices, void (*told)(void), void *data,
                      int32_t *error);
    handle (*queue)(handle context, handle device, uint64_t properties, int32_t *error);
    handle (*buffer)(handle context, uint64_t flags, size_t size, void *at, int32_t *error);
    handle (*program)(handle context, uint32_t count, const char **texts, const size_t *lengths, int32_t *error);
    int32_t (*build)(handle program, uint32_t count, const handle *devices, const char *options, void (*told)(void),
                     void *data);
    handle (*kernel)(handle program, const char *name, int32_t *error);
    int32_t (*argument)(handle kernel, uint32_t index, size_t size, const void *value);
    int32_t (*write)(handle queue, handle buffer, uint32_t blocks, size_t offset, size_t size, const void *from,
                     uint32_t waits, const handle *events, handle *event);
    int32_t (*read)(handle queue, handle buffer, uint32_t blocks, size_t offset, size_t size, void *to, uint32_t waits,
                    const handle *events, handle *event);
    int32_t (*launch)(handle queue, handle kernel, uint32_t dimensions, const size_t *offset, const size_t *global,
                      const size_t *local, uint32_t waits, const handle *events, handle *event);
    int32_t (*finish)(handle queue);
} cl;

#define FUNCTION(field, name) {(void **) &cl.field, name}
static const struct { void **function; const char *name; } functions[] = {
    FUNCTION(platforms, "clGetPlatformIDs"),        FUNCTION(platform_name, "clGetPlatformInfo"),
    FUNCTION(devices, "clGetDeviceIDs"),            FUNCTION(device_name, "clGetDeviceInfo"),
    FUNCTION(context, "clCreateContext"),           FUNCTION(queue, "clCreateCommandQueue"),
    FUNCTION(buffer, "clCreateBuffer"),             FUNCTION(program, "clCreateProgramWithSource"),
    FUNCTION(build, "clBuildProgram"),              FUNCTION(kernel, "clCreateKernel"),
    FUNCTION(argument, "clSetKernelArg"),           FUNCTION(write, "clEnqueueWriteBuffer"),
    FUNCTION(read, "clEnqueueReadBuffer"),          FUNCTION(launch, "clEnqueueNDRangeKernel"),
    FUNCTION(finish, "clFinish"),
};

static void succeeds(int32_t error, const char *what) {
    if (!error) return;
    fprintf(stderr, "%s: error %d of OpenCL\n", what, error);
    exit(1);
}

static void nothing_here(const char *why) {
    fprintf(stderr, "%s\n", why);
    exit(3);
}

static void load(void) {
    void *library = dlopen("libOpenCL.so.1", RTLD_NOW);
    if (!library) nothing_here("no OpenCL: libOpenCL.so.1 is not here");
    for (size_t i = 0; i < sizeof functions / sizeof *functions; i++)
        if (!(*functions[i].function = dlsym(library, functions[i].name))) nothing_here("libOpenCL.so.1 lacks functions");
}

/* The first device of one of these types, and its platform. */
static int find(uint64_t types, handle found[2]) {
    enum { MOST = 16 };
    handle platforms[MOST];
    uint32_t count = 0, devices = 0;
    if (cl.platforms(MOST, platforms, &count)) return 0;
    for (uint32_t i = 0; i < count && i < MOST; i++)
        if (!cl.devices(platforms[i], types, 1, &found[0], &devices) && devices) {
            found[1] = platforms[i];
            return 1;
        }
    return 0;
}

static handle queue, kernel, buffer;
static char host[1 << 16];

static void off_load(size_t bytes) {
    size_t one = 1;
    if (bytes) succeeds(cl.write(queue, buffer, 0, 0, bytes, host, 0, NULL, NULL), "clEnqueueWriteBuffer");
    succeeds(cl.launch(queue, kernel, 1, NULL, &one, NULL, 0, NULL, NULL), "clEnqueueNDRangeKernel");
    if (bytes) succeeds(cl.read(queue, buffer, BLOCKS, 0, bytes, host, 0, NULL, NULL), "clEnqueueReadBuffer");
    else succeeds(cl.finish(queue), "clFinish");
}

static int64_t batch(size_t bytes, int calls) {
    struct timespec from, to;
    clock_gettime(CLOCK_MONOTONIC, &from);
    for (int i = 0; i < calls; i++) off_load(bytes);
    clock_gettime(CLOCK_MONOTONIC, &to);
    return (to.tv_sec - from.tv_sec) * INT64_C(1000000000) + to.tv_nsec - from.tv_nsec;
}

static void prepare(handle device) {
    static const char *text = "__kernel void nothing(__global char *at) { (void) at; }";
    int32_t error;
    handle context = cl.context(NULL, 1, &device, NULL, NULL, &error);
    succeeds(error, "clCreateContext");
    queue = cl.queue(context, device, 0, &error);
    succeeds(error, "clCreateCommandQueue");
    buffer = cl.buffer(context, READ_WRITE, sizeof host, NULL, &error);
    succeeds(error, "clCreateBuffer");
    handle program = cl.program(context, 1, &text, NULL, &error);
    succeeds(error, "clCreateProgramWithSource");
    succeeds(cl.build(program, 1, &device, NULL, NULL, NULL), "clBuildProgram");
    kernel = cl.kernel(program, "nothing", &error);
    succeeds(error, "clCreateKernel");
    succeeds(cl.argument(kernel, 0, sizeof buffer, &buffer), "clSetKernelArg");
}

int main(int count, char **words) {
    enum { LASTS = 2 * 1000 * 1000, MOST = 10000 };
    static const size_t sizes[] = {0, 8, 64, 256, 1024, 4096, 16384, 65536};
    enum { SIZES = sizeof sizes / sizeof *sizes };
    handle found[2];
    load();
    if (!find(TYPE_GPU | TYPE_ACCELERATOR, found) && !find(TYPE_CPU, found)) nothing_here("OpenCL has no device here");
    char device[256] = "", platform[256] = "";
    cl.device_name(found[0], DEVICE_NAME, sizeof device - 1, device, NULL);
    cl.platform_name(found[1], PLATFORM_NAME, sizeof platform - 1, platform, NULL);
    prepare(found[0]);
    printf("device\t%s\t%s\n", device, platform);
    int calls[SIZES];
    for (int size = 0; size < SIZES; size++) {
        /* The first makes what others find made. */
        batch(sizes[size], 2);
        calls[size] = 1;
        int64_t time;
        while ((time = batch(sizes[size], calls[size])) < LASTS / 10 && calls[size] < MOST) calls[size] *= 4;
        double wanted = (double) LASTS * calls[size] / (double) (time + 1);
        calls[size] = wanted < 1 ? 1 : wanted > MOST ? MOST : (int) wanted;
    }
    for (int i = 0; i < (count > 1 ? atoi(words[1]) : 1); i++)
        for (int size = 0; size < SIZES; size++) {
            long long time = batch(sizes[size], calls[size]);
            if (sizes[size]) printf("copies\t%zu\t%d\t%lld\n", sizes[size], calls[size], time);
            else printf("launch\t%d\t%lld\n", calls[size], time);
        }
    return 0;
}
