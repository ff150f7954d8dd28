// Nests on the pool: with any number of threads, cut anywhere and each chunk held up at random, a program
// prints what it prints with one thread, and panics with the same message, the one of the lowest index.
#include "driver/compile.h"
#include "driver/delays.h"
#include "harness/launches.h"
#include "jit/jit.h"

#include <cstdlib>
#include <gtest/gtest.h>

namespace melix::driver {
namespace {

struct Subject {
  const char* name;
  const char* text;
};

const char* const shared = R"(
fn value(i: int) -> f32 = ((i * 7919 % 1009) as f32 - 37.3) / 37.3
fn hash(x: f32[N]) -> u32 {
  var h: u32 = 17
  for v in x { h = h * 16777619 + bits(v) }
  h
}
let n = black_box(2500)
let m = black_box(33)
let x = [for i in 0..n, j in 0..m: value(m * i + j)]
let long = reshape(x, n * m)
)";

const Subject subjects[] = {
    {"whole", "print(bits(sum(x)), bits(sum(long)), bits(prod(1 + long / 65536)), bits(sum(long * long)))"},
    {"rows", "print(hash([for i: sum(for j: x[i, j])]), hash([for i: max(for j: x[i, j])]))"},
    {"columns", "print(hash([for j: sum(for i: x[i, j] * x[i, 0])]), hash([for j: min(for i: x[i, j])]))"},
    {"collect", "print(hash([for i in 0..n * m: exp(long[i]) - long[n * m - 1 - i]]))"},
    {"filter", "let some = [for i in 0..n * m if long[i] > 0.5: long[i]]\nprint(len(some), hash(some))"},
    {"argmax", "print(argmax(long), argmin(long), hash([for i: argmax(for j: x[i, j]) as f32]))"},
    {"product", "print(hash(reshape(transpose(x) @ x, m * m)), hash((x @ [for j in 0..m: value(j)])))"},
    {"scatter", R"(fn picked(w: f32[N]) -> f32 = sum(for i in 0..n: w[i * 31 % m] * x[i, 3])
print(hash(grad(picked)([for j in 0..m: value(j)])))
var counts = [for _ in 0..m: 0.0 as f32]
for i in 0..n { counts[i * i % m] += x[i, 1] }
print(hash(counts)))"},
    {"gradient", R"(fn energy(w: f32[N, M]) -> f32 = sum(tanh(w @ transpose(w)) ^ 2) / (N * M) as f32
let g = grad(energy)([for i in 0..60, j in 0..m: x[i, j]])
print(hash(reshape(g, 60 * m))))"},
    {"blocks_of_memory", R"(fn steps(k: int) -> f32 {
  var l: List[f32] = []
  for i in 0..k { l.push(value(i)) }
  sum(array(l))
}
let names = [for i in 0..n: "{i % 7}"]
print(hash([for i in 0..n: steps(i % 13)]), len(names), names[n - 1]))"},
    {"lengths_that_depend", "print(hash([for i in 0..n: sum(for j in 0..i % m: x[i, j])]))"},
    {"images", R"(fn filtered(x: f32[B, H, W, C], w: f32[K, L, C, O]) -> f32[B, H - K + 1, W - L + 1, O] =
  [for b, i, j, o: sum(for k, l, c: x[b, i + k, j + l, c] * w[k, l, c, o])]
fn energy(x: f32[B, H, W, C], w: f32[K, L, C, O]) -> f32 = sum(filtered(x, w)^2) / 64
fn flat(x: f32[B, H, W, C]) -> f32[B * H * W * C] = reshape(x, B * H * W * C)
for sizes in [(1, 40, 19, 3, 5), (3, 7, 50, 8, 70), (2, 3, 3, 1, 1), (0, 9, 9, 2, 2), (1, 9, 9, 0, 2), (2, 9, 9, 2, 0)] {
  let (b, h, v, c, o) = sizes
  let image = [for i in 0..b, j in 0..h, k in 0..v, l in 0..c: value(i + 3 * j + 7 * k + l)]
  let window = [for i in 0..3, j in 0..2, k in 0..c, l in 0..o: value(5 * i + j + k * l)]
  print(hash(flat(filtered(image, window))))
  print(hash(flat(grad(x => energy(x, window))(image))))
  print(hash(flat(grad(w => energy(image, w))(window))))
})"},
    {"axes_of_builders", R"(fn flat(y: f32[A, B, C]) -> f32[A * B * C] = reshape(y, A * B * C)
for sizes in [(1, 2500, 33), (2, 300, 137), (3, 5, 2), (5, 0, 3), (3, 4, 0), (1, 1, 20000)] {
  let (a, b, c) = sizes
  let y = [for i in 0..a, j in 0..b, k in 0..c: value(i + 31 * j + k)]
  let w = [for i in 0..c, j in 0..7: value(3 * i + j)]
  print(hash(flat([for i, j: softmax(y[i, j])])), hash(flat([for i, j, k: exp(y[i, j, k]) - y[i, b - 1 - j, k]])))
  print(hash(flat([for i, k, j: exp(y[i, j, k])])), hash(flat([for i, j: y[i, j] @ w])))
  print(hash(reshape([for i, j: sqrt(sum(y[i, j]^2))], a * b)), hash(reshape([for i, j: max(for k: y[i, j, k])], a * b)))
  print(len([for i in 0..a, j in 0..b: "{j}"]), hash(flat([for i, j: cumsum(y[i, j])])))
  var z = y
  for i in 0..a { for j in 0..b { for k in 0..c { z[i, j, k] = z[i, j, k] * 3 - 1 } } }
  print(hash(flat(z)))
})"},
    {"panic_of_an_inner_axis", R"(let at = [for i in 0..n: i * 2 % 4999]
for b in 1..3 {
  let all = [for i in 0..b, j in 0..n: long[at[j] * (16 + i)]]
  print(hash(reshape(all, b * n)))
})"},
    {"panic_of_a_kernel",
     "let at = [for i in 0..n: i * 7 % 5000]\nprint(hash([for i in 0..n: long[at[i] * 40]]))"},
    {"panic_of_a_chunk",
     R"(print(hash([for i in 0..n: { if i % 900 == 811 { panic("no {i}") }; x[i, 2] }])))"},
    {"panics_of_two_kinds", R"(print(hash([for i in 0..n: {
  if i % 1000 == 999 { panic("no {i}") }
  assert i % 700 != 650, "not {i}"
  x[i, 2]
}])))"},
    {"panic_of_a_sum", "let at = [for i in 0..n: i * 3]\nprint(bits(sum(for i in 0..n: x[at[i], 1])))"},
    {"panic_within_rows", "print(hash([for i in 0..n: sum(for j in 0..i: x[j, i / 40])]))"},
};

void collect(void* context, int32_t, const uint8_t* data, int64_t length) {
  static_cast<std::string*>(context)->append(reinterpret_cast<const char*>(data),
                                             static_cast<size_t>(length));
}

/// What the program writes, and its status.
std::string outcomeOf(const codegen::Compiled& compiled, const char* threads) {
  setenv("MELIX_THREADS", threads, 1);
  std::string name = "program", error, output;
  char* arguments[] = {name.data(), nullptr};
  melix_set_writer(collect, &output);
  const int status = jit::runProgram(compiled, 1, arguments, error);
  melix_set_writer(nullptr, nullptr);
  unsetenv("MELIX_THREADS");
  return output + error + "status " + std::to_string(status);
}

class Threads : public testing::TestWithParam<Subject> {
protected:
  /// The code of the program, all of whose launches go to the pool.
  static codegen::Compiled compiled(const std::string& text, bool optimise) {
    ProgramSource program;
    program.code = text;
    codegen::Compiled out;
    testing::internal::CaptureStderr(); // what is shared is not used by all
    onBigStack([&] {
      const SessionPtr session = makeSession({});
      if (!advanceProgram(program, *session, session::CoreStage::Optimised)) return 1;
      CodeOptions code;
      code.optimise = optimise;
      const codegen::Options options = codegenOptions(*session, code, codegen::TargetKind::Host);
      std::optional<loops::Module> module = loopsOf(*session, options);
      if (!module) return 1;
      harness::makeLaunchesLong(*module);
      out = codegen::compile(*module, options);
      return 0;
    });
    const std::string told = testing::internal::GetCapturedStderr();
    EXPECT_EQ(told.find("error:"), std::string::npos) << told;
    return out;
  }
};

TEST_P(Threads, GiveWhatOneGives) {
  const std::string text = std::string(shared) + GetParam().text + "\n";
  for (bool optimise : {true, false}) {
    const codegen::Compiled code = compiled(text, optimise);
    const std::string expected = outcomeOf(code, "1");
    const bool panics = std::string_view(GetParam().name).starts_with("panic");
    EXPECT_EQ(expected.ends_with("status 0"), !panics) << expected;
    for (const char* threads : {"1", "2", "3", "7"})
      for (uint32_t seed : {1, 2, 3}) {
        const uint64_t before = delayedChunks();
        const Delays delays(seed);
        EXPECT_EQ(outcomeOf(code, threads), expected) << threads << " threads, seed " << seed;
        if (*threads != '1') EXPECT_GT(delayedChunks(), before);
      }
  }
}

INSTANTIATE_TEST_SUITE_P(Nests, Threads, testing::ValuesIn(subjects),
                         [](const auto& subject) { return std::string(subject.param.name); });

} // namespace
} // namespace melix::driver
