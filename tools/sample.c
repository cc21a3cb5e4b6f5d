#include "tools/sample.h"

#include <math.h>
#include <stdlib.h>

#define NORMAL_95 1.959964 /* 95 % of a normal distribution lie within so many deviations */

static int compare(const void *a, const void *b) {
    uint64_t left = *(const uint64_t *)a;
    uint64_t right = *(const uint64_t *)b;
    return (left > right) - (left < right);
}

struct bz_sample bz_sample_of(uint64_t *values, size_t count) {
    struct bz_sample sample = {.count = count};
    double squares = 0;
    if (count == 0) {
        return sample;
    }
    qsort(values, count, sizeof values[0], compare);
    for (size_t index = 0; index < count; index++) {
        sample.mean += (double)values[index];
    }
    sample.mean /= (double)count;
    for (size_t index = 0; index < count; index++) {
        double distance = (double)values[index] - sample.mean;
        squares += distance * distance;
    }
    if (count > 1) {
        sample.error = sqrt(squares / (double)(count - 1) / (double)count);
    }
    sample.median = ((double)values[(count - 1) / 2] + (double)values[count / 2]) / 2;
    sample.p90 = (double)values[(count * 9 + 9) / 10 - 1];
    return sample;
}

struct bz_sample_ratio bz_sample_ratio_of(const struct bz_sample *a, const struct bz_sample *b) {
    double of_a = a->error / a->mean;
    double of_b = b->error / b->mean;
    double spread = exp(NORMAL_95 * sqrt(of_a * of_a + of_b * of_b));
    double ratio = a->mean / b->mean;
    return (struct bz_sample_ratio){.ratio = ratio,
                                    .low = ratio / spread,
                                    .high = ratio * spread,
                                    .has_interval = a->count > 1 && b->count > 1};
}
