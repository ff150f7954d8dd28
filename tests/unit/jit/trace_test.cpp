// Traces: functions and lines of Melix, also of what was inlined and of code that runs in a kernel.
#include "core/text/parse.h"
#include "jit/program.h"

#include <gtest/gtest.h>

namespace melix::jit {
namespace {

/// Gives each op of a function a line of its own in a made-up file.
void placeOps(Program& program, SourceStore& sources) {
  std::string text;
  for (int line = 1; line <= 60; ++line) text += "line " + std::to_string(line) + "\n";
  FileId file = sources.add("made.mlx", text);
  uint32_t next = 0;
  auto newLoc = [&] {
    uint32_t begin = 0;
    for (uint32_t k = 0; k < next; ++k) begin = static_cast<uint32_t>(text.find('\n', begin)) + 1;
    ++next;
    return program.core.locs.add({core::LocKind::Source, Span{file, begin, begin + 4}, {}, {}});
  };
  for (uint32_t f = 0; f < program.core.functions.size(); ++f) {
    core::Function& fn = program.core.functions[core::FunctionId(f)];
    fn.loc = newLoc();
    for (uint32_t k = 0; k < fn.ops.size(); ++k) fn.ops[core::OpId(k)].loc = newLoc();
  }
}

constexpr const char* text = R"(
fn pick [N] (%x: i64[N], %i: i64) -> (i64) {
  check index "" %i dims [N]
  %v = get %x[%i] : i64
  yield %v
}
fn main () -> (i64) {
  %x2 = zero : i64[10]
  %k = const 12 : i64
  %r = call @pick %x2, %k dims [10] : i64
  yield %r
}
)";

TEST(Traces, ShowPlaceLineAndCallers) {
  Program program(text);
  ASSERT_EQ(program.error, "");
  SourceStore sources;
  placeOps(program, sources);
  codegen::Options options;
  options.sources = &sources;
  Outcome outcome = program.run(options);
  ASSERT_EQ(outcome.error, "");
  EXPECT_EQ(outcome.panic, "made.mlx:2:1: panic: index 12 is out of range for an axis of size 10\n"
                           "line 2\n"
                           "  at pick (made.mlx:2)\n"
                           "  at main (made.mlx:8)\n");
}

TEST(Traces, ShowInlinedFrames) {
  Program program(text);
  ASSERT_EQ(program.error, "");
  SourceStore sources;
  placeOps(program, sources);
  // As if `pick` had been inlined into a third function.
  core::Function& pick = program.core.functions[core::findFunction(program.core, "pick")];
  core::OpId check =
      program.core.functions[core::findFunction(program.core, "pick")].regions[pick.body].ops[0];
  core::LocId inner = pick.ops[check].loc;
  core::Loc call{core::LocKind::InlinedAt, program.core.locs[pick.loc].span, inner, "leaf"};
  pick.ops[check].loc = program.core.locs.add(call);
  codegen::Options options;
  options.sources = &sources;
  Outcome outcome = program.run(options);
  ASSERT_EQ(outcome.error, "");
  EXPECT_EQ(outcome.panic, "made.mlx:2:1: panic: index 12 is out of range for an axis of size 10\n"
                           "line 2\n"
                           "  at leaf (made.mlx:2)\n"
                           "  at pick (made.mlx:1)\n"
                           "  at main (made.mlx:8)\n");
}

TEST(Traces, OfAKernelNameItsFunctionOnce) {
  Program program(R"(
fn main () -> (i64) {
  %x = zero : i64[10]
  %y = nest (%i: 20) -> collect[i] {
    check index "" %i dims [10]
    %v = get %x[%i] : i64
    yield %v
  } : i64[20]
  %k = const 1 : i64
  %r = get %y[%k] : i64
  yield %r
}
)");
  ASSERT_EQ(program.error, "");
  SourceStore sources;
  placeOps(program, sources);
  codegen::Options options;
  options.sources = &sources;
  for (bool optimise : {true, false}) {
    options.optimise = optimise;
    Outcome outcome = program.run(options);
    ASSERT_EQ(outcome.error, "");
    EXPECT_NE(outcome.panic.find("index 10 is out of range for an axis of size 10\n"), std::string::npos)
        << outcome.panic;
    EXPECT_EQ(outcome.panic.find("  at main"), outcome.panic.rfind("  at main")) << outcome.panic;
  }
}

} // namespace
} // namespace melix::jit
