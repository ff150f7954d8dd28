// Long programs are compiled as several objects: calls, traces and copies of what is merged go through all.
#include "codegen/codegen.h"
#include "core/text/parse.h"
#include "jit/program.h"

#include <gtest/gtest.h>

namespace melix::jit {
namespace {

constexpr int functions = 200;

/// `f0` reads beyond the end if `deep` is not 0; each of the others adds 1 to what the one before gives.
std::string chain(int64_t deep) {
  std::string text = R"(
fn f0 [N] (%x: i64[N], %i: i64) -> (i64) {
  check index "" %i dims [N]
  %v = get %x[%i] : i64
  yield %v
}
)";
  for (int k = 1; k <= functions; ++k) {
    text += "fn f" + std::to_string(k) + " [N] (%x: i64[N], %i: i64) -> (i64) {\n  %one = const 1 : i64\n";
    text += "  %s0 = call @f" + std::to_string(k - 1) + " %x, %i dims [N] : i64\n";
    for (int step = 1; step <= 40; ++step)
      text += "  %s" + std::to_string(step) + " = xor %s" + std::to_string(step - 1) + ", %one : i64\n";
    text += "  %y = nest (%k: N) -> keep[] sum {\n    %e = get %x[%k] : i64\n    yield %e\n  } : i64\n";
    text += "  %z = add %s40, %one : i64\n  %r = add %z, %y : i64\n  yield %r\n}\n";
  }
  text += "fn main () -> (i64) {\n  %x = zero : i64[10]\n  %i = const " + std::to_string(deep) +
          " : i64\n  %r = call @f" + std::to_string(functions) + " %x, %i dims [10] : i64\n  yield %r\n}\n";
  return text;
}

codegen::Compiled compiled(Program& program, const codegen::Options& options) {
  loops::Result lowered = loops::fromCore(program.core, codegen::loopOptions(options));
  EXPECT_FALSE(lowered.error);
  return codegen::compile(lowered.module, options);
}

TEST(Units, OfALongProgramAreSeveralAndEqualEachTime) {
  Program program(chain(0));
  ASSERT_EQ(program.error, "");
  const codegen::Compiled once = compiled(program, {}), again = compiled(program, {});
  ASSERT_EQ(once.error, "");
  EXPECT_GT(once.objects.size(), 2u);
  ASSERT_EQ(once.objects.size(), again.objects.size());
  for (size_t k = 0; k < once.objects.size(); ++k)
    EXPECT_TRUE(once.objects[k].bytes == again.objects[k].bytes) << "object " << k;
}

TEST(Units, OfAShortProgramAreOne) {
  Program program("fn main () -> (i64) {\n  %k = const 1 : i64\n  yield %k\n}\n");
  ASSERT_EQ(program.error, "");
  EXPECT_EQ(compiled(program, {}).objects.size(), 1u);
}

TEST(Units, CallEachOther) {
  for (bool optimise : {true, false}) {
    Program program(chain(0));
    ASSERT_EQ(program.error, "");
    codegen::Options options;
    options.optimise = optimise;
    Outcome outcome = program.run(options);
    EXPECT_EQ(outcome.error, "");
    EXPECT_EQ(outcome.panic, "");
    EXPECT_EQ(outcome.result, functions);
  }
}

TEST(Units, AreAllInATrace) {
  Program program(chain(12));
  ASSERT_EQ(program.error, "");
  SourceStore sources;
  FileId file = sources.add("made.mlx", "fn made\n");
  for (uint32_t f = 0; f < program.core.functions.size(); ++f) {
    core::Function& fn = program.core.functions[core::FunctionId(f)];
    fn.loc = program.core.locs.add({core::LocKind::Source, Span{file, 0, 7}, {}, {}});
    for (uint32_t k = 0; k < fn.ops.size(); ++k) fn.ops[core::OpId(k)].loc = fn.loc;
  }
  codegen::Options options;
  options.sources = &sources;
  Outcome outcome = program.run(options);
  EXPECT_NE(outcome.panic.find("index 12 is out of range"), std::string::npos) << outcome.panic;
  EXPECT_NE(outcome.panic.find("at f0 "), std::string::npos) << outcome.panic;
  EXPECT_NE(outcome.panic.find("at f" + std::to_string(functions) + " "), std::string::npos) << outcome.panic;
  EXPECT_NE(outcome.panic.find("at main "), std::string::npos) << outcome.panic;
}

} // namespace
} // namespace melix::jit
