// What derivatives cost: an update costs the same however large the array, chains and towers of calls grow
// linearly, and the gradients of dense work are dense.

#include "core/ir/walk.h"
#include "transforms/grad_check.h"

#include <gtest/gtest.h>

using namespace melix;
using test::GradCheck;

/// One element is written a step, in a `while`.
static const char* updates = R"(fn f [N] (%x: f64[N]) -> (f64) {
  %z = const 0 : i64
  %zero = const 0.0 : f64
  %n = dim_value dims [N] : i64
  %i, %s, %a = while %z, %zero, %x {
   (%i1: i64, %s1: f64, %a1: f64[N])
    %c = cmp lt %i1, %n : bool
    yield %c
  } {
   (%i2: i64, %s2: f64, %a2: f64[N])
    %one = const 1 : i64
    %v = get %a2[%i2] : f64
    %w = mul %v, %v : f64
    %s3 = add %s2, %w : f64
    %e = mul %s3, %v : f64
    %a3 = set %a2[%i2] = %e : f64[N]
    %j = add %i2, %one : i64
    yield %j, %s3, %a3
  } : i64, f64, f64[N]
  %v2 = get %a[%z] : f64
  %r = mul %s, %v2 : f64
  yield %r
}
)";

/// The same of an array whose size is hidden, read before and after it is written.
static const char* hiddenUpdates = R"(fn f [N] (%x: f64[N]) -> (f64) {
  %one = const 1 : i64
  %zero = const 0.0 : f64
  %n = dim_value dims [N] : i64
  %m = sub %n, %one : i64
  %p = pack %x dims [N] : pack 1 f64[_]
  %q, %s = for collects 0 %m, %p, %zero { (%i: i64, %h: pack 1 f64[_], %s1: f64)
    %a = unpack %h defines [A] : f64[A]
    %v = get %a[%i] : f64
    %w = mul %v, %v : f64
    %j = add %i, %one : i64
    %b = set %a[%j] = %w : f64[A]
    %u = get %b[%j] : f64
    %s2 = add %s1, %u : f64
    %k = pack %b dims [A] : pack 1 f64[_]
    yield %k, %s2
  } : pack 1 f64[_], f64
  yield %s
}
)";

/// Bytes of arrays that a run makes. A copy at every step would make them grow with the square of the size.
static int64_t arrayBytes(GradCheck& c, const std::string& name, const std::vector<interp::Value>& args) {
  int64_t before = interp::arrayBytesMade();
  interp::RunResult r = c.run(name, args);
  EXPECT_FALSE(r.panicked) << r.panic.message;
  return interp::arrayBytesMade() - before;
}

/// One element is written by a call a step.
static const char* callsThatUpdate = R"(fn put [N] (%a: f64[N], %s: f64, %i: i64) -> (f64, f64[N]) {
  %v = get %a[%i] : f64
  %w = mul %v, %v : f64
  %b = set %a[%i] = %w : f64[N]
  %x = add %s, %w : f64
  yield %x, %b
}
fn f [N] (%x: f64[N]) -> (f64) {
  %z = const 0 : i64
  %zero = const 0.0 : f64
  %n = dim_value dims [N] : i64
  %a, %s = for collects 0 %n, %x, %zero { (%i: i64, %a1: f64[N], %s1: f64)
    %s2, %a2 = call @put %a1, %s1, %i dims [N] : f64, f64[N]
    yield %a2, %s2
  } : f64[N], f64
  %v = get %a[%z] : f64
  %p = mul %v, %s : f64
  yield %p
}
)";

/// One element is read a step, of one of two arrays in a list.
static const char* placesInLists = R"(fn f [N] (%x: f64[N]) -> (f64) {
  %two = const 2 : i64
  %zero = const 0.0 : f64
  %n = dim_value dims [N] : i64
  %l = list %x, %x : List[f64[N]]
  %s = for collects 0 %n, %zero { (%i: i64, %s1: f64)
    %k = irem %i, %two : i64
    %row = get %l<%k> : f64[N]
    %v = get %row[%i] : f64
    %w = mul %v, %v : f64
    %s2 = add %s1, %w : f64
    yield %s2
  } : f64
  yield %s
}
)";

/// One element is read a step, in a loop and in a sum, by functions that hold the array.
static const char* capturedArrays = R"(enum Reader { Squares(pack 1 f64[_]), Doubles(pack 1 f64[_]) }
fn read (%r: Reader, %i: i64) -> (f64) {
  %y = match cases [0, 1] %r { (%p: pack 1 f64[_])
    %a = unpack %p defines [A] : f64[A]
    %v = get %a[%i] : f64
    %w = mul %v, %v : f64
    yield %w
  } { (%q: pack 1 f64[_])
    %b = unpack %q defines [B] : f64[B]
    %u = get %b[%i] : f64
    %t = add %u, %u : f64
    yield %t
  } : f64
  yield %y
}
fn f [N] (%x: f64[N]) -> (f64) {
  %zero = const 0.0 : f64
  %five = const 5 : i64
  %n = dim_value dims [N] : i64
  %small = cmp lt %n, %five : bool
  %r = if %small {
    %p = pack %x dims [N] : pack 1 f64[_]
    %d = variant 1 %p : Reader
    yield %d
  } {
    %q = pack %x dims [N] : pack 1 f64[_]
    %e = variant 0 %q : Reader
    yield %e
  } : Reader
  %s = for collects 0 %n, %zero { (%i: i64, %s1: f64)
    %v = call @read %r, %i : f64
    %s2 = add %s1, %v : f64
    yield %s2
  } : f64
  %t = nest (%j: N) -> keep[] sum {
    %w = call @read %r, %j : f64
    yield %w
  } : f64
  %o = add %s, %t : f64
  yield %o
}
)";

/// Whether what a function of GradCheck makes grows no faster than the array.
static void expectLinear(const char* text, const std::string& name) {
  std::vector<int64_t> made;
  for (int64_t n : {1024, 2048, 4096}) {
    GradCheck c(text);
    c.dims({n});
    std::vector<double> small(static_cast<size_t>(n), 1e-3);
    interp::Value x = test::array64(small), one = interp::Value::f64(1);
    std::vector<interp::Value> args{x};
    if (name == "jvp_of_f") args = {x, x};
    if (name == "reverse_of_f") args = {x, one};
    if (name == "forward_over_reverse") args = {x, one, x};
    if (name == "reverse_over_reverse") args = {x, one, x};
    c.text();
    made.push_back(arrayBytes(c, name, args));
  }
  EXPECT_LE(made[1], 2.5 * static_cast<double>(made[0]) + 4096) << name;
  EXPECT_LE(made[2], 2.5 * static_cast<double>(made[1]) + 4096) << name;
}

TEST(Cost, updatesCostTheSameInLargeArrays) {
  for (std::string name : {"f", "jvp_of_f", "reverse_of_f", "forward_over_reverse", "reverse_over_reverse"})
    expectLinear(updates, name);
}

TEST(Cost, updatesOfArraysOfHiddenSizeCostTheSame) {
  for (std::string name : {"f", "jvp_of_f", "reverse_of_f"}) expectLinear(hiddenUpdates, name);
}

TEST(Cost, callsThatUpdateGiveBackTheCotangentTheyGet) {
  for (std::string name : {"f", "jvp_of_f", "reverse_of_f", "forward_over_reverse"})
    expectLinear(callsThatUpdate, name);
  GradCheck(callsThatUpdate).dims({3}).check();
}

TEST(Cost, readsAtPlacesInListsAddAtThePlaces) {
  for (std::string name : {"f", "jvp_of_f", "reverse_of_f", "forward_over_reverse"})
    expectLinear(placesInLists, name);
  GradCheck(placesInLists).dims({3}).check();
}

TEST(Cost, callsAddToWhatFunctionsHold) {
  for (std::string name : {"f", "jvp_of_f", "reverse_of_f"}) expectLinear(capturedArrays, name);
  for (int64_t n : {3, 7}) GradCheck(capturedArrays).dims({n}).check();
}

static size_t opsAfterExpansion(int calls, int orders) {
  std::string text =
      "fn step (%x: f64) -> (f64) {\n  %a = math sin %x : f64\n  %b = mul %a, %x : f64\n  yield %b\n}\n"
      "fn f (%x0: f64) -> (f64) {\n";
  for (int k = 0; k < calls; ++k)
    text += "  %x" + std::to_string(k + 1) + " = call @step %x" + std::to_string(k) + " : f64\n";
  text += "  yield %x" + std::to_string(calls) + "\n}\n";
  GradCheck c(text);
  c.orders(orders);
  std::string out = c.text();
  return static_cast<size_t>(std::count(out.begin(), out.end(), '\n'));
}

TEST(Cost, derivativesOfAChainOfCallsGrowLinearly) {
  for (int order : {1, 2, 3})
    EXPECT_LE(static_cast<double>(opsAfterExpansion(40, order)),
              2.1 * static_cast<double>(opsAfterExpansion(20, order)))
        << "order " << order;
}

/// Characters of the text: a line may hold any number of parameters and results.
static size_t sizeAfterExpansion(int levels, int orders) {
  std::string text = "fn f0 (%x: f64) -> (f64) {\n  %a = math sin %x : f64\n  yield %a\n}\n";
  for (int k = 1; k <= levels; ++k) {
    std::string callee = "@f" + std::to_string(k - 1);
    text += (k == levels ? "fn f" : "fn f" + std::to_string(k)) + " (%x: f64) -> (f64) {\n  %a = call " +
            callee + " %x : f64\n  %y = add %x, %a : f64\n  %b = call " + callee +
            " %y : f64\n  %c = mul %a, %b : f64\n  yield %c\n}\n";
  }
  GradCheck c(text);
  return c.orders(orders).text().size();
}

/// What a call saved would be part of what its caller saves, twice at each level.
TEST(Cost, derivativesOfFunctionsThatCallTheOneBelowTwiceGrowLinearly) {
  for (int order : {1, 2}) {
    size_t six = sizeAfterExpansion(6, order), twelve = sizeAfterExpansion(12, order),
           eighteen = sizeAfterExpansion(18, order);
    EXPECT_LE(static_cast<double>(eighteen - twelve), 1.3 * static_cast<double>(twelve - six))
        << "order " << order;
  }
}

static bool scatters(const std::string& f, std::vector<int64_t> dims) {
  GradCheck c(f);
  c.dims(std::move(dims)).orders(1);
  std::string text = c.text();
  // Adding a whole array to a given one is no scatter.
  return text.find("accs (") != std::string::npos;
}

TEST(Cost, gradientsOfProductsConvolutionsPoolingsAndSlicesAreDense) {
  EXPECT_FALSE(scatters(R"(fn f [B, I, O] (%x: f64[B, I], %w: f64[I, O]) -> (f64[B, O]) {
  %z = nest (%i: B, %o: O) -> collect[i, o] {
    %s = nest (%k: I) -> keep[] sum {
      %a = get %x[%i, %k] : f64
      %c = get %w[%k, %o] : f64
      %p = mul %a, %c : f64
      yield %p
    } : f64
    yield %s
  } : f64[B, O]
  yield %z
}
)",
                        {3, 4, 2}))
      << "matrix product";
  EXPECT_FALSE(
      scatters(R"(fn f [H, W, K, C] (%x: f64[H, W, C], %w: f64[K, K, C]) -> (f64[H - K + 1, W - K + 1]) {
  %z = nest (%i: H - K + 1, %j: W - K + 1, %a: K, %b: K, %c: C) -> keep[i, j] sum {
    %y = add %i, %a : i64
    %u = add %j, %b : i64
    %v = get %x[%y, %u, %c] : f64
    %m = get %w[%a, %b, %c] : f64
    %p = mul %v, %m : f64
    yield %p
  } : f64[H - K + 1, W - K + 1]
  yield %z
}
)",
               {4, 5, 2, 2}))
      << "convolution";
  EXPECT_FALSE(scatters(R"(fn f [H] (%x: f64[H]) -> (f64[H / 2]) {
  %z = nest (%i: H / 2, %a: 2) -> keep[i] sum {
    %two = const 2 : i64
    %y = mul %i, %two : i64
    %u = add %y, %a : i64
    %v = get %x[%u] : f64
    yield %v
  } : f64[H / 2]
  yield %z
}
)",
                        {6}))
      << "average pooling";
  EXPECT_FALSE(scatters(R"(fn f [N, M] (%x: f64[N, M]) -> (f64[M]) {
  %z = nest (%j: M) -> collect[j] {
    %two = const 2 : i64
    %v = get %x[%two, %j] : f64
    %w = mul %v, %v : f64
    yield %w
  } : f64[M]
  yield %z
}
)",
                        {4, 3}))
      << "slice";
  EXPECT_FALSE(scatters(R"(fn f [N] (%x: f64[N]) -> (f64[N]) {
  %z = nest (%j: N) -> collect[j] {
    %one = const 1 : i64
    %n = dim_value dims [N] : i64
    %l = sub %n, %one : i64
    %k = sub %l, %j : i64
    %v = get %x[%k] : f64
    %w = mul %v, %v : f64
    yield %w
  } : f64[N]
  yield %z
}
)",
                        {4}))
      << "reversal";
  EXPECT_FALSE(scatters(R"(fn f [H, D, B] (%w: f64[H, D], %x: f64[B, D]) -> (f64) {
  %z = nest (%n: B) -> keep[] sum {
    %inner = nest (%h: H) -> keep[] sum {
      %a = get %x[%n] : f64[D]
      %c = get %w[%h] : f64[D]
      %s = nest (%r: D) -> keep[] sum {
        %v = get %a[%r] : f64
        %u = get %c[%r] : f64
        %p = mul %v, %u : f64
        yield %p
      } : f64
      yield %s
    } : f64
    yield %inner
  } : f64
  yield %z
}
)",
                        {2, 3, 4}))
      << "products in a sum within a sum";
}
