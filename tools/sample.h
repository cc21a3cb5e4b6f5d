/* What a handful of waiting times says of their mean, and two of them of each other.
 *
 * Times to a first finding are nearly geometric: as wide as they are long, so that the mean of 200
 * is good to 7 %. Whoever compares two means must say what is within noise.
 */
#ifndef BZ_TOOLS_SAMPLE_H
#define BZ_TOOLS_SAMPLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Zeros: no sample. */
struct bz_sample {
    size_t count;
    double mean;
    double error; /* the standard error of the mean; 0 of fewer than two values, which show none */
    double median;
    double p90; /* the least value that nine tenths of all do not exceed */
};

/* Sorts the values. */
struct bz_sample bz_sample_of(uint64_t *values, size_t count);

/* a.mean / b.mean, and its 95 % interval: normal on the logarithm, which a ratio is nearer to than
 * to itself, its variance by the delta method, var(ln a/b) = (error a / a)^2 + (error b / b)^2. The
 * two are taken as independent. Without an interval (fewer than two values), low and high are the
 * ratio. Both means must be positive. */
struct bz_sample_ratio {
    double ratio;
    double low;
    double high;
    bool has_interval;
};

struct bz_sample_ratio bz_sample_ratio_of(const struct bz_sample *a, const struct bz_sample *b);

#endif
