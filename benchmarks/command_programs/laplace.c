/* A private sum of whole numbers with Laplace noise, as a persistent command of `dpaudit check --command … --persistent`.

   cc -O2 -o laplace laplace.c -lm
   ./laplace SCALE [FILE]

   One JSON object per line comes in, {"dataset": [0, 1, 1], "size": 3, "seed": 17}, and a JSON list of `size` outputs
   goes out. `dataset` is left out while it stays the same. At its end the program appends to FILE how many outputs it
   has made, and the seconds between a request that was read and the answer that was ready to be written. */

#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static uint64_t state;

/* splitmix64: one number for each state, and every seed is a state */
static double uniform(void) {
    uint64_t z = (state += 0x9e3779b97f4a7c15u);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return ((z ^ (z >> 31)) >> 11) * 0x1p-53;
}

static double laplace(double scale) {
    double u = uniform() - 0.5;
    return -scale * copysign(log1p(-2 * fabs(u)), u);
}

static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec + 1e-9 * t.tv_nsec;
}

int main(int argc, char **argv) {
    double scale = argc > 1 ? atof(argv[1]) : 1, own = 0;
    long made = 0, size;
    int64_t sum = 0;
    char *line = NULL, *answer = NULL, *at;
    size_t room = 0;
    while (getline(&line, &room, stdin) > 0) {
        double begun = now();
        if ((at = strstr(line, "\"dataset\": ["))) {
            sum = 0;
            for (at += 12; *at && *at != ']';) {
                sum += strtoll(at, &at, 10);
                while (*at == ',' || *at == ' ') at++;
            }
        }
        size = (at = strstr(line, "\"size\": ")) ? strtol(at + 8, NULL, 10) : 1;
        state = (at = strstr(line, "\"seed\": ")) ? strtoull(at + 8, NULL, 10) : 0;
        char *end = answer = realloc(answer, 32 * size + 4);
        for (long i = 0; i < size; i++) end += sprintf(end, "%c%.17g", i ? ',' : '[', sum + laplace(scale));
        end += sprintf(end, "]\n");
        own += now() - begun;
        made += size;
        fwrite(answer, 1, end - answer, stdout);
        fflush(stdout);
    }
    if (argc > 2) {
        FILE *file = fopen(argv[2], "a");
        if (file) {
            fprintf(file, "%ld %.9f\n", made, own);
            fclose(file);
        }
    }
    return 0;
}
