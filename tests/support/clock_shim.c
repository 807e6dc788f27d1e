/* The machine's clock, set by so many seconds as a file says: for a process under test alone. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

int clock_gettime(clockid_t which, struct timespec *at) {
    static int (*real)(clockid_t, struct timespec *);
    if (!real)
        real = dlsym(RTLD_NEXT, "clock_gettime");
    int result = real(which, at);
    const char *path = getenv("CLOCK_SHIM");
    FILE *file = which == CLOCK_REALTIME && path ? fopen(path, "r") : NULL;
    long seconds = 0;
    if (file) {
        if (fscanf(file, "%ld", &seconds) == 1)
            at->tv_sec += seconds;
        fclose(file);
    }
    return result;
}
