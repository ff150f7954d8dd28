// Products of an m x k and a k x n matrix by libraries and by a tile written by hand, beside the subject
// `matmul`.
//
//   cc -O3 -march=native products.c -ldl -lm -o products
//   chrt -f 1 taskset -c 1 ./products LIBRARY... -- M K N...
//
// A library is a file that has sgemm_ and dgemm_. A line is a case, as `matmul` names it, the size, and the
// seconds of a call, least of 0.2 s: of the tile first, then of each library.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

enum { rowsAtOnce = 6, registers = 4, huge = 2 << 20, mostLibraries = 8 };

static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void* matrix(long count, size_t size) {
  size_t bytes = ((size_t)count * size + 4 * huge - 1) / huge * huge;
  void* made = aligned_alloc(huge, bytes);
  madvise(made, bytes, MADV_HUGEPAGE);
  memset(made, 0, bytes);
  return made;
}

// The tile of both types: as many rows of c as there are, four registers wide, stay in registers over all of
// k. Panels of b are copied by rows where that pays, and padded; the last rows of a have a tile of as many.
#define TILE(T, LANES, NAME)                                                                                 \
  typedef T NAME##_v __attribute__((vector_size(sizeof(T) * (LANES)), aligned(sizeof(T))));                  \
  static inline __attribute__((always_inline)) void NAME##_rows(                                             \
      int rows, long k, const T* a, long lda, const T* b, long ldb, T* c, long ldc, int first) {             \
    NAME##_v sum[rowsAtOnce][registers];                                                                     \
    _Pragma("GCC unroll 6") for (int r = 0; r < rows; r++)                                                   \
        _Pragma("GCC unroll 4") for (int j = 0; j < registers; j++) sum[r][j] =                              \
            first ? (NAME##_v){0} : *(const NAME##_v*)(c + r * ldc + (LANES) * j);                           \
    for (long p = 0; p < k; p++) {                                                                           \
      NAME##_v x[registers];                                                                                 \
      _Pragma("GCC unroll 4") for (int j = 0; j < registers; j++) {                                          \
        x[j] = *(const NAME##_v*)(b + p * ldb + (LANES) * j);                                                \
        __builtin_prefetch(b + (p + 8) * ldb + (LANES) * j);                                                 \
      }                                                                                                      \
      _Pragma("GCC unroll 6") for (int r = 0; r < rows; r++) {                                               \
        NAME##_v y = a[r * lda + p] - (NAME##_v){0};                                                         \
        __asm__("" : "+v"(y)); /* one broadcast for the four */                                              \
        _Pragma("GCC unroll 4") for (int j = 0; j < registers; j++) sum[r][j] += x[j] * y;                   \
      }                                                                                                      \
    }                                                                                                        \
    _Pragma("GCC unroll 6") for (int r = 0; r < rows; r++)                                                   \
            _Pragma("GCC unroll 4") for (int j = 0; j < registers; j++) *                                    \
        (NAME##_v*)(c + r * ldc + (LANES) * j) = sum[r][j];                                                  \
  }                                                                                                          \
  static __attribute__((noinline)) void NAME##_tile(int rows, long k, const T* a, long lda, const T* b,      \
                                                    long ldb, T* c, long ldc, int first) {                   \
    switch (rows) {                                                                                          \
    case 1: NAME##_rows(1, k, a, lda, b, ldb, c, ldc, first); break;                                         \
    case 2: NAME##_rows(2, k, a, lda, b, ldb, c, ldc, first); break;                                         \
    case 3: NAME##_rows(3, k, a, lda, b, ldb, c, ldc, first); break;                                         \
    case 4: NAME##_rows(4, k, a, lda, b, ldb, c, ldc, first); break;                                         \
    case 5: NAME##_rows(5, k, a, lda, b, ldb, c, ldc, first); break;                                         \
    default: NAME##_rows(6, k, a, lda, b, ldb, c, ldc, first);                                               \
    }                                                                                                        \
  }                                                                                                          \
  static void NAME##_column(long m, long k, const T* a, long lda, const T* b, long ldb, T* c, long ldc,      \
                            int first) {                                                                     \
    for (long i = 0; i < m; i += rowsAtOnce) {                                                               \
      int rows = m - i < rowsAtOnce ? (int)(m - i) : rowsAtOnce;                                             \
      NAME##_tile(rows, k, a + i * lda, lda, b, ldb, c + i * ldc, ldc, first);                               \
    }                                                                                                        \
  }                                                                                                          \
  static void NAME##_product(long m, long k, long n, const T* a, const T* b, T* c, T* panel, long kc,        \
                             long mc, long nc) {                                                             \
    const long wide = registers * (LANES);                                                                   \
    for (long jc = 0; jc < n; jc += nc) {                                                                    \
      const long columns = n - jc < nc ? n - jc : nc;                                                        \
      for (long pc = 0; pc < k; pc += kc) {                                                                  \
        const long terms = k - pc < kc ? k - pc : kc;                                                        \
        for (long j = 0; j < columns; j += wide)                                                             \
          for (long p = 0; p < terms; p++)                                                                   \
            memcpy(panel + j * terms + p * wide, b + (pc + p) * n + jc + j,                                  \
                   sizeof(T) * (size_t)(columns - j < wide ? columns - j : wide));                           \
        for (long ic = 0; ic < m; ic += mc)                                                                  \
          for (long j = 0; j < columns; j += wide) {                                                         \
            const long rows = m - ic < mc ? m - ic : mc;                                                     \
            if (columns - j >= wide) {                                                                       \
              NAME##_column(rows, terms, a + ic * k + pc, k, panel + j * terms, wide, c + ic * n + jc + j,   \
                            n, pc == 0);                                                                     \
              continue;                                                                                      \
            }                                                                                                \
            T part[6 * 16 * registers];                                                                      \
            for (long i = 0; i < rows; i += rowsAtOnce) {                                                    \
              const int some = rows - i < rowsAtOnce ? (int)(rows - i) : rowsAtOnce;                         \
              T* at = c + (ic + i) * n + jc + j;                                                             \
              const size_t bytes = sizeof(T) * (size_t)(columns - j);                                        \
              if (pc != 0)                                                                                   \
                for (int r = 0; r < some; r++) memcpy(part + r * wide, at + r * n, bytes);                   \
              NAME##_tile(some, terms, a + (ic + i) * k + pc, k, panel + j * terms, wide, part, wide,        \
                          pc == 0);                                                                          \
              for (int r = 0; r < some; r++) memcpy(at + r * n, part + r * wide, bytes);                     \
            }                                                                                                \
          }                                                                                                  \
      }                                                                                                      \
    }                                                                                                        \
  }                                                                                                          \
  static void NAME##_in_place(long m, long k, long n, const T* a, const T* b, T* c) {                        \
    for (long j = 0; j < n; j += registers * (LANES)) NAME##_column(m, k, a, k, b + j, n, c + j, n, 1);      \
  }                                                                                                          \
  struct NAME##_sizes {                                                                                      \
    long m, k, n;                                                                                            \
    const T *a, *b;                                                                                          \
    T *c, *panel;                                                                                            \
    void* library;                                                                                           \
  };                                                                                                         \
  static void NAME##_unpacked(struct NAME##_sizes* s) {                                                      \
    NAME##_in_place(s->m, s->k, s->n, s->a, s->b, s->c);                                                     \
  }                                                                                                          \
  static void NAME##_narrow(struct NAME##_sizes* s) {                                                        \
    NAME##_product(s->m, s->k, s->n, s->a, s->b, s->c, s->panel, 1024, 48, 256);                             \
  }                                                                                                          \
  static void NAME##_broad(struct NAME##_sizes* s) {                                                         \
    NAME##_product(s->m, s->k, s->n, s->a, s->b, s->c, s->panel, 512, 48, 2048);                             \
  }                                                                                                          \
  static void NAME##_library(struct NAME##_sizes* s) {                                                       \
    const T one = 1, none = 0;                                                                               \
    const int rows = (int)s->m, terms = (int)s->k, columns = (int)s->n;                                      \
    void (*gemm)(const char*, const char*, const int*, const int*, const int*, const T*, const T*,           \
                 const int*, const T*, const int*, const T*, T*, const int*);                                \
    memcpy(&gemm, &s->library, sizeof gemm);                                                                 \
    gemm("N", "N", &columns, &rows, &terms, &one, s->b, &columns, s->a, &terms, &none, s->c, &columns);      \
  }                                                                                                          \
  static double NAME##_least(void (*call)(struct NAME##_sizes*), struct NAME##_sizes* s) {                   \
    long calls = 1;                                                                                          \
    double best = INFINITY, all = 0;                                                                         \
    while (all < 0.2) {                                                                                      \
      const double start = now();                                                                            \
      for (long q = 0; q < calls; q++) call(s);                                                              \
      const double taken = now() - start;                                                                    \
      if (taken < 0.001) {                                                                                   \
        calls *= 2;                                                                                          \
        continue;                                                                                            \
      }                                                                                                      \
      all += taken;                                                                                          \
      if (taken / (double)calls < best) best = taken / (double)calls;                                        \
    }                                                                                                        \
    return best;                                                                                             \
  }                                                                                                          \
  static void NAME(const char* symbol, void** libraries, int count, long m, long k, long n) {                \
    T *a = matrix(m * k, sizeof(T)), *b = matrix(k * n, sizeof(T)), *c = matrix(m * n, sizeof(T));           \
    T *panel = matrix(1024 * 2048, sizeof(T)), *expected = matrix(m * n, sizeof(T));                         \
    for (long i = 0; i < m * k; i++) a[i] = (T)(i % 13) / 8;                                                 \
    for (long i = 0; i < k * n; i++) b[i] = (T)(i % 7) / 8;                                                  \
    struct NAME##_sizes s = {m, k, n, a, b, c, panel, NULL};                                                 \
    double tile = fmin(NAME##_least(NAME##_narrow, &s), NAME##_least(NAME##_broad, &s));                     \
    memcpy(expected, c, sizeof(T) * (size_t)(m * n));                                                        \
    if (n % (registers * (LANES)) == 0) tile = fmin(tile, NAME##_least(NAME##_unpacked, &s));                \
    printf("%s\t%ld %ld %ld\t%.4g", #NAME, m, k, n, tile);                                                   \
    for (int q = 0; q < count; q++) {                                                                        \
      s.library = dlsym(libraries[q], symbol);                                                               \
      printf("\t%.4g", NAME##_least(NAME##_library, &s));                                                    \
      for (long i = 0; i < m * n; i++)                                                                       \
        if (fabs((double)(c[i] - expected[i])) > 1e-4 * fabs((double)expected[i])) abort();                  \
    }                                                                                                        \
    printf("\n");                                                                                            \
    fflush(stdout);                                                                                          \
    free(a), free(b), free(c), free(panel), free(expected);                                                  \
  }

TILE(float, 16, f32)
TILE(double, 8, f64)

int main(int count, char** arguments) {
  void* libraries[mostLibraries];
  int found = 0, at = 1;
  for (; at < count && strcmp(arguments[at], "--") != 0; at++) {
    void* library = found < mostLibraries ? dlopen(arguments[at], RTLD_NOW | RTLD_LOCAL) : NULL;
    if (!library || !dlsym(library, "sgemm_") || !dlsym(library, "dgemm_")) {
      fprintf(stderr, "%s: no library with sgemm_ and dgemm_\n", arguments[at]);
      return 1;
    }
    libraries[found++] = library;
  }
  for (at++; at + 2 < count; at += 3) {
    const long m = atol(arguments[at]), k = atol(arguments[at + 1]), n = atol(arguments[at + 2]);
    if (m < 1 || k < 1 || n < 1) return 2;
    f32("sgemm_", libraries, found, m, k, n);
    f64("dgemm_", libraries, found, m, k, n);
  }
  return 0;
}
