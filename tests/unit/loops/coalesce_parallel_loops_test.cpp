// What a launch shares of loops of points around each other, from text.
#include "loops/kernels/partition_launches.h"
#include "loops/kernels/strip_mine_points.h"
#include "loops/loops_text.h"

namespace melix::loops {
namespace {

/// A launch of a kernel over some images of %n rows; `loops` stand over the chunk.
std::string shared(const std::string& loops, FunctionKind kind = FunctionKind::Kernel) {
  return textAfter(
      "fn @f(%m: i64, %n: i64, %x: data, %y: data) {\n  launch @p %m, %m, %n, %x, %y\n  yield\n}\n\n" +
          std::string(kind == FunctionKind::Kernel ? "kernel" : "chunk") +
          " @p(%first: i64, %last: i64, %n: i64, %x: data, %y: data) {\n"
          "  %zero = const 0 : i64\n  %one = const 1 : i64\n  %few = const 3 : i64\n" +
          loops + "  yield\n}\n",
      [](Module& module) {
        for (uint32_t f = 0; f < module.functions.size(); ++f)
          stripMinePoints(module, module.functions[FunctionId(f)]);
        partitionLaunches(module);
        EXPECT_EQ(verify(module, {State::CountsInserted}), "");
      });
}
/// Their indices carry a mark that tells them apart from others.
std::string overChunk(const std::string& inside, const std::string& mark = "") {
  return "  for independent %first, %last { (%i" + mark + ")\n" + inside + "yield\n}\n";
}
std::string row(const std::string& attributes, const std::string& end, const std::string& mark = "",
                const std::string& image = "") {
  const std::string i = "%i" + image, j = "%j" + mark, v = "%v" + mark;
  return "for independent " + attributes + "%zero, " + end + " { (" + j + ")\n" + v + " = load %x[" + j +
         "*%one] : f32\nstore %y[" + i + "*%n + " + j + "*%one] = " + v + "\nyield\n}\n";
}

bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}
/// Operands of the launch.
size_t given(const std::string& text) {
  const size_t at = text.find("launch @p");
  return static_cast<size_t>(std::count(text.begin() + static_cast<std::ptrdiff_t>(at),
                                        text.begin() + static_cast<std::ptrdiff_t>(text.find('\n', at)),
                                        ',')) +
         1;
}
constexpr size_t asItWas = 5, cut = 7; ///< turns and units more

TEST(ChunkNests, RowsOfImagesAreUnits) {
  for (FunctionKind kind : {FunctionKind::Kernel, FunctionKind::Chunk}) {
    const std::string text = shared(overChunk(row("", "%n")), kind);
    EXPECT_EQ(given(text), cut) << text;
    EXPECT_FALSE(contains(text, "for independent %zero, %n")) << text;
    EXPECT_FALSE(contains(text, "for independent %first, %last")) << text;
  }
}

TEST(ChunkNests, RowsTogetherAndLanesGoByBlocks) {
  EXPECT_TRUE(contains(shared(overChunk(row("unroll_jam 6 ", "%n"))), "const 48 : i64"));
  EXPECT_TRUE(contains(shared(overChunk(row("vector 16 interleave 2 ", "%n"))), "const 8192 : i64"));
  const std::string known = "  %all = const 96 : i64\n" + overChunk(row("unroll_jam 6 ", "%all"));
  EXPECT_EQ(given(shared(known)), asItWas) << "two blocks of a known size, and short turns";
}

TEST(ChunkNests, WhatIsKnownToBeShortStaysWhole) {
  EXPECT_EQ(given(shared(overChunk(row("", "%few")))), asItWas);
  EXPECT_EQ(given(shared(
                overChunk("for independent %zero, %few { (%k)\n" + row("vector 16 ", "%n") + "yield\n}\n"))),
            cut)
      << "short loops around one that may be long";
}

TEST(ChunkNests, LengthsOfTheirOwnAndOtherEffectsAreNotShared) {
  EXPECT_EQ(given(shared(overChunk("%end = load %x[%i*%one] : i64\n" + row("", "%end")))), asItWas)
      << "rows differ in length";
  EXPECT_EQ(given(shared(overChunk(row("", "%n") + row("", "%n", "2")))), asItWas) << "one after the other";
  EXPECT_EQ(given(shared(overChunk(row("distance 64 ", "%n")))), asItWas) << "neighbours share memory";
  EXPECT_EQ(given(shared("  %w = load %x[%zero*%one] : f32\n  store %y[%zero*%one] = %w\n" +
                         overChunk(row("", "%n")))),
            asItWas)
      << "memory of all chunks is written beside the loops";
  EXPECT_EQ(given(shared("  %s = scratch 64 : address\n  %w = load %x[%zero*%one] : f32\n"
                         "  store %s[%zero*%one] = %w\n" +
                         overChunk(row("", "%n")))),
            cut)
      << "memory of the thread";
}

TEST(ChunkNests, LoopsInPlaceOfEachOtherAreCutAlike) {
  auto either = [](const std::string& end) {
    return shared("  %c = cmp gt %n, %few : bool\n  if %c {\n" + overChunk(row("", "%n")) + "yield\n} {\n" +
                  overChunk(row("", end, "2", "2"), "2") + "yield\n}\n");
  };
  EXPECT_EQ(given(either("%n")), cut);
  EXPECT_EQ(given(either("%few")), asItWas) << "other points";
}

} // namespace
} // namespace melix::loops
