// What the subjects in C share: their data, and how a case is timed. timing.mlx says the same in Melix.
#pragma once
#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/// In front of the statements of a function whose sums may be added in any order, as those of Melix may.
#define SUMS_IN_ANY_ORDER _Pragma("clang fp reassociate(on)")

/// A function whose calls the compiler neither merges nor looks into.
#define APART __attribute__((noinline))

/// Number i of the data called `seed`: between -0.5 and 0.5.
static inline double sample(int64_t i, int64_t seed) {
  int64_t v = (i * 7919 + seed * 104729) % 10007;
  return (double)(v * v % 10007) / 10007 - 0.5;
}

/// x, of which the compiler knows nothing.
static inline int64_t black_box(int64_t x) {
  __asm__ volatile("" : "+r"(x));
  return x;
}

static inline void* allocate(size_t bytes) {
  void* block = aligned_alloc(64, (bytes + 63) / 64 * 64);
  if (!block) exit(3);
  memset(block, 0, bytes);
  // From here the compiler takes it that others see the block.
  __asm__ volatile("" : "+r"(block) : : "memory");
  return block;
}

/// The first n numbers of that data.
static inline float* vector32(int64_t n, int64_t seed) {
  float* x = allocate((size_t)n * sizeof *x);
  for (int64_t i = 0; i < n; ++i) x[i] = (float)sample(i, seed);
  return x;
}

static inline double* vector64(int64_t n, int64_t seed) {
  double* x = allocate((size_t)n * sizeof *x);
  for (int64_t i = 0; i < n; ++i) x[i] = sample(i, seed);
  return x;
}

static inline float* zeros32(int64_t n) { return allocate((size_t)n * sizeof(float)); }
static inline double* zeros64(int64_t n) { return allocate((size_t)n * sizeof(double)); }

/// Indices below a bound.
static inline int64_t* indices(int64_t n, int64_t bound, int64_t seed) {
  int64_t* x = allocate((size_t)n * sizeof *x);
  for (int64_t i = 0; i < n; ++i) x[i] = (i * 7919 + seed * 104729) % 10007 * bound / 10007;
  return x;
}

static inline double weighted(int64_t i, double v) { return (double)(1 + i % 7) * (v > 0 ? 2 * v : -v); }

/// One number that tells whether a result is right.
static inline double checksum32(const float* y, int64_t n) {
  double sum = 0;
  for (int64_t i = 0; i < n; ++i) sum += weighted(i, y[i]);
  return sum;
}

static inline double checksum64(const double* y, int64_t n) {
  double sum = 0;
  for (int64_t i = 0; i < n; ++i) sum += weighted(i, y[i]);
  return sum;
}

static inline double checksum_int(const int64_t* y, int64_t n) {
  double sum = 0;
  for (int64_t i = 0; i < n; ++i) sum += (double)(1 + i % 7) * (double)y[i];
  return sum;
}

/// The larger one, or NaN if one is: what the compiler may take in any order.
static inline float larger(float a, float b) { return __builtin_elementwise_maximum(a, b); }

/// The number in argument k of the command line.
static inline int64_t argument(char** argv, int k) { return atoll(argv[k]); }

static inline double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static inline double setting(const char* name, double otherwise) {
  const char* text = getenv(name);
  return text ? atof(text) : otherwise;
}

static inline int compare_doubles(const void* a, const void* b) {
  double x = *(const double*)a, y = *(const double*)b;
  return (x > y) - (x < y);
}

enum { most_samples = 1000 };

/// The state of a measurement: `calls` are made between two readings of the clock.
typedef struct {
  int64_t calls;
  int count;
  bool warm;
  double start, total;
  double samples[most_samples];
} Timing;

static inline bool enough(const Timing* t, double wanted_calls) {
  if (wanted_calls > 0 || t->count == most_samples) return true;
  return t->count >= 3 && t->total >= setting("BENCH_SECONDS", 0.2);
}

/// Called before the first sample and after each: whether another one is wanted.
static inline bool another(Timing* t) {
  double taken = now() - t->start, wanted_calls = setting("BENCH_CALLS", 0);
  if (t->calls == 0) {
    t->warm = wanted_calls > 0;
    t->calls = t->warm ? (int64_t)wanted_calls : 1;
  } else if (t->warm) {
    t->samples[t->count++] = taken / (double)t->calls;
    t->total += taken;
    if (enough(t, wanted_calls)) return false;
  } else {
    t->warm = taken >= 0.002;
    if (!t->warm) t->calls *= 2;
  }
  t->start = now();
  return true;
}

static inline bool wanted_case(const char* name) {
  const char* wanted = getenv("BENCH_CASE");
  return !wanted || strcmp(wanted, name) == 0;
}

/// MEASURE("case", value, statements): times the statements, then prints the case's name, the value, and the
/// least and the median seconds of one execution. The compiler takes it that each execution reads and writes
/// all memory.
#define MEASURE(name, value, ...)                                                                            \
  if (wanted_case(name)) {                                                                                   \
    Timing timing = {0};                                                                                     \
    while (another(&timing))                                                                                 \
      for (int64_t call = 0; call < timing.calls; ++call) {                                                  \
        __VA_ARGS__;                                                                                         \
        __asm__ volatile("" ::: "memory");                                                                   \
      }                                                                                                      \
    qsort(timing.samples, (size_t)timing.count, sizeof(double), compare_doubles);                            \
    printf("%s %.17g %.9g %.9g\n", name, (double)(value), timing.samples[0],                                 \
           timing.samples[timing.count / 2]);                                                                \
  }
