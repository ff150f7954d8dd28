// Contractions swept by panels: what is one, and how its shared side is read, from text.
#include "loops/tiles/tile_contractions.h"

#include "loops/loops_text.h"

namespace melix::loops {
namespace {

/// A kernel of rows and columns whose chain has these statements, which make %u of the sum so far, %t.
std::string kernel(const std::string& chain, const std::string& last) {
  return "fn @f(%m: i64, %n: i64, %k: i64, %z: f32, %x: data, %w: data, %v: data, %ids: data, %y: data) {\n"
         "  launch @p %m, %m, %n, %k, %z, %x, %w, %v, %ids, %y\n  yield\n}\n\n"
         "kernel @p(%first: i64, %last: i64, %n: i64, %k: i64, %z: f32, %x: data, %w: data, %v: data, "
         "%ids: data, %y: data) {\n  %zero = const 0 : i64\n  %one = const 1 : i64\n"
         "  for independent unroll_jam 6 %first, %last { (%i)\n    for independent vector 16 interleave 4 "
         "%zero, %n { (%j)\n"
         "      %s = for %zero, " +
         last + ", %z : f32 { (%l, %t)\n" + chain +
         "yield %u\n}\n      store %y[%i*%n + %j*%one] = %s\n      yield\n    }\n    yield\n  }\n  "
         "yield\n}\n";
}
std::string afterTiling(const std::string& text) {
  return textAfter(text, [](Module& module) {
    tileContractions(module);
    EXPECT_EQ(verify(module, {State::CountsInserted}), "");
  });
}
std::string tiled(const std::string& chain, const std::string& last = "%k") {
  return afterTiling(kernel(chain, last));
}
bool has(const std::string& text, const std::string& word) { return text.find(word) != std::string::npos; }

/// What becomes of it: how its panels, of elements of so many bytes, are made.
std::string layoutIn(const std::string& text, int bytes) {
  if (!has(text, "sub %j")) return has(text, "shr") ? "in place" : "none";
  if (has(text, "address_of")) return "if large";
  return has(text, " at " + std::to_string(bytes) + " = ") ? "by lines" : "by rows";
}
std::string layout(const std::string& chain, const std::string& last = "%k") {
  return layoutIn(tiled(chain, last), 4);
}

const std::string row = "%a = load %x[%i*%k + %l*%one] : f32\n";
const std::string fma = "%u = fma %a, %b, %t : f32\n";

TEST(TileContractions, WhatLiesSideBySideIsCopiedIfItIsLarge) {
  EXPECT_EQ(layout(row + "%b = load %w[%l*%n + %j*%one] : f32\n" + fma), "if large");
  EXPECT_EQ(layout("%a = load %x[%l*%n + %i*%one] : f32\n%b = load %w[%l*%n + %j*%one] : f32\n" + fma),
            "if large")
      << "of rows it is all the same how they lie";
  EXPECT_EQ(layout(row + "%b = load %w[%l*%n + %j*%one] : f32\n%d = sub %a, %b : f32\n"
                         "%u = fma %d, %d, %t : f32\n"),
            "if large")
      << "no product, and a contraction";
}

TEST(TileContractions, PartsOfASumThatBeginAtQuotients) {
  // The chain goes on in blocks, whose first terms are quotients times lengths.
  const std::string text = textAfter(
      "fn @f(%m: i64, %n: i64, %k: i64, %z: f32, %x: data, %w: data, %y: data) {\n"
      "  launch @p %m, %m, %n, %k, %z, %x, %w, %y\n  yield\n}\n\n"
      "kernel @p(%first: i64, %last: i64, %n: i64, %k: i64, %z: f32, %x: data, %w: data, %y: data) {\n"
      "  %zero = const 0 : i64\n  %one = const 1 : i64\n  %three = const 3 : i64\n"
      "  for independent unroll_jam 6 %first, %last { (%i)\n    for independent vector 16 interleave 4 "
      "%zero, %n { (%j)\n"
      "      %s = for %zero, %k, %z : f32 { (%b, %t)\n        %q = idiv %b, %three : i64\n"
      "        %from = mul %q, %three : i64\n        %end = add %from, %three : i64\n"
      "        %to = min %k, %end : i64\n        %c = for %from, %to, %t : f32 { (%l, %u)\n" +
          row + "%d = load %w[%j*%k + %l*%one] : f32\n%v = fma %a, %d, %u : f32\n" +
          "          yield %v\n        }\n        yield %c\n      }\n      store %y[%i*%n + %j*%one] = %s\n"
          "      yield\n    }\n    yield\n  }\n  yield\n}\n",
      [](Module& module) {
        tileContractions(module);
        EXPECT_EQ(verify(module, {State::CountsInserted}), "");
      });
  EXPECT_TRUE(has(text, "sub %j")) << "a panel is made: " << text;
}

TEST(TileContractions, WhatMayBeFarAwayIsAskedForAhead) {
  EXPECT_TRUE(has(tiled(row + "%b = load %w[%l*%n + %j*%one] : f32\n" + fma), "] prefetch : f32"));
  EXPECT_FALSE(has(tiled(row + "%b = load %w[%j*%k + %l*%one] : f32\n" + fma), " prefetch"))
      << "a panel is near";
}

TEST(TileContractions, WhatLiesSideBySideAlongTheSumIsReadSo) {
  EXPECT_EQ(layout(row + "%b = load %w[%j*%k + %l*%one] : f32\n" + fma), "by lines");
  EXPECT_EQ(layout(row +
                   "%c = load %w[%j*%k + %l*%one] : f32\n%d = load %v[%l*%one] : f32\n"
                   "%b = sub %c, %d : f32\n" +
                   fma),
            "by lines");
}

/// Of a sum of this type, whose terms are %a by `term` %b and which is made by `step`.
std::string layoutOf(const std::string& type, int bytes, const std::string& term, const std::string& step,
                     const std::string& column) {
  std::string text = kernel(row + "%b = load %w[" + column + "] : f32\n%p = " + term +
                                " %a, %b : f32\n%u = " + step + " %t, %p : f32\n",
                            "%k");
  for (size_t at = text.find("f32"); at != std::string::npos; at = text.find("f32", at + 1))
    text.replace(at, 3, type);
  return layoutIn(afterTiling(text), bytes);
}

TEST(TileContractions, SumsOfAnyKindAreThoseOfProducts) {
  const struct {
    const char* type;
    int bytes;
    const char *term, *step;
  } sums[] = {{"f64", 8, "mul", "add"}, {"f64", 8, "add", "max"},  {"f32", 4, "mul", "min"},
              {"i64", 8, "mul", "add"}, {"i32", 4, "add", "max"},  {"i16", 2, "sub", "min"},
              {"u8", 1, "mul", "add"},  {"bf16", 2, "mul", "add"}, {"bool", 1, "and", "or"},
              {"bool", 1, "or", "and"}, {"bool", 1, "xor", "or"},  {"u32", 4, "and", "xor"}};
  for (const auto& s : sums) {
    EXPECT_EQ(layoutOf(s.type, s.bytes, s.term, s.step, "%l*%n + %j*%one"), "if large") << s.type << s.step;
    EXPECT_EQ(layoutOf(s.type, s.bytes, s.term, s.step, "%j*%k + %l*%one"), "by lines") << s.type << s.step;
  }
}

TEST(TileContractions, AnyExpressionIsComputedOnce) {
  EXPECT_EQ(layout(row + "%q = load %ids[%j*%one] : i64\n%b = load %w[%l*%n + %q*%one] : f32\n" + fma),
            "by rows");
  EXPECT_EQ(layout(row +
                   "%g = cmp le %l, %j : bool\n%b = if %g : f32 {\n%c = load %w[%l*%n + %j*%one] : f32\n"
                   "yield %c\n} {\nyield %z\n}\n" +
                   fma),
            "by rows");
}

TEST(TileContractions, RowsOfAGatherAreReadWhereTheyLie) {
  EXPECT_EQ(layout(row + "%q = load %ids[%l*%one] : i64\n%b = load %w[%q*%n + %j*%one] : f32\n" + fma),
            "in place");
}

TEST(TileContractions, BlocksOfASumOverTwoAxesBeginWithQuotients) {
  const std::string text = tiled(
      "%c = const 8 : i64\n%q = idiv %l, %c : i64\n%lo = mul %q, %c : i64\n%hi = add %lo, %c : i64\n"
      "%end = min %k, %hi : i64\n%u = for %lo, %end, %t : f32 { (%h, %r)\n"
      "%a = load %x[%i*%k + %h*%one] : f32\n%b = load %w[%j*%k + %h*%one] : f32\n%p = fma %a, %b, %r : f32\n"
      "yield %p\n}\n");
  EXPECT_TRUE(has(text, "sub %j")) << "made as a panel\n" << text;
}

TEST(TileContractions, WhatIsNone) {
  EXPECT_EQ(layout(row + "%b = load %w[%l*%one] : f32\n" + fma), "none") << "columns are all the same";
  EXPECT_EQ(layout(row + "%b = load %w[%i*%n + %j*%one] : f32\n" + fma), "none") << "rows share nothing";
  EXPECT_EQ(layout(row + "%b = load %w[%l*%n + %j*%one] : f32\n" + fma, "%i"), "none")
      << "each row has a sum of its own length";
}

TEST(TileContractions, WhatIsMadeIsNotTooLongAndForSomeRows) {
  const std::string text = tiled(row + "%b = load %w[%j*%k + %l*%one] : f32\n" + fma);
  EXPECT_TRUE(has(text, "const 65536 : i64")) << "a launch asks for no more\n" << text;
  EXPECT_TRUE(has(text, "const 4194304 : i64")) << "nor is a longer one made, of 64 columns\n" << text;
  EXPECT_TRUE(has(text, "load %w[%j$1*%k + %l$1*%one]")) << "the loops as they were\n" << text;
}

TEST(TileContractions, WhatTurnsOfASumShareIsMadeInFrontOfThem) {
  auto after = [](const std::string& shared) {
    return textAfter(
        "fn @f(%m: i64, %n: i64, %k: i64, %z: f32, %x: data, %w: data, %v: data, %y: data) {\n"
        "  launch @p %m, %m, %n, %k, %z, %x, %w, %v, %y\n  yield\n}\n\n"
        "kernel @p(%first: i64, %last: i64, %n: i64, %k: i64, %z: f32, %x: data, %w: data, %v: data, %y: "
        "data) {\n  %zero = const 0 : i64\n  %one = const 1 : i64\n"
        "  for independent %zero, %n { (%r)\n    for independent vector 16 interleave 4 %first, %last { "
        "(%j)\n"
        "      %s = for independent unroll_jam 6 %zero, %k, %z : f32 { (%i, %t)\n        %c = for %zero, %k, "
        "%z : f32 { "
        "(%l, %p)\n          %a = load %x[%i*%k + %l*%one] : f32\n" +
            shared +
            "          %q = fma %a, %b, %p : f32\n          yield %q\n        }\n"
            "        %u = fma %c, %c, %t : f32\n        yield %u\n      }\n"
            "      store %y[%j*%n + %r*%one] = %s\n      yield\n    }\n    yield\n  }\n  yield\n}\n",
        [](Module& module) {
          tileContractions(module);
          EXPECT_EQ(verify(module, {State::CountsInserted}), "");
        });
  };
  const std::string text = after("%d = load %w[%j*%k + %l*%one] : f32\n%e = load %v[%r*%k + %l*%one] : f32\n"
                                 "%b = sub %d, %e : f32\n");
  const size_t made = text.find(" at 4 = "), read = text.find("for independent unroll_jam 6");
  ASSERT_TRUE(made != std::string::npos && read != std::string::npos) << text;
  EXPECT_LT(text.find("for independent %zero, %n"), made) << "one for each part\n" << text;
  EXPECT_LT(made, read) << text;
  EXPECT_EQ(text.find("sub %d", read), text.rfind("sub %d")) << "but for loops as they were\n" << text;
  EXPECT_FALSE(has(after("%b = load %w[%l*%n + %j*%one] : f32\n"), "shr")) << "what lies so is read there";
}

TEST(TileContractions, SmallPanelsOfAChunkLieInItsFrame) {
  auto inChunk = [](const std::string& end) {
    return textAfter(
        "fn @f(%m: i64, %z: f32, %x: data, %w: data, %y: data, %d: data) {\n"
        "  launch @p %m, %m, %z, %x, %w, %y, %d\n  yield\n}\n\n"
        "chunk @p(%first: i64, %last: i64, %z: f32, %x: data, %w: data, %y: data, %d: data) {\n"
        "  %zero = const 0 : i64\n  %one = const 1 : i64\n  %k = const " +
            end +
            " : i64\n  %n = const 64 : i64\n"
            "  retain %d\n  for independent unroll_jam 6 %first, %last { (%i)\n    for independent vector 16 "
            "interleave 4 %zero, "
            "%n { (%j)\n"
            "      %s = for %zero, %k, %z : f32 { (%l, %t)\n" +
            row + "%b = load %w[%j*%k + %l*%one] : f32\n" + fma +
            "yield %u\n}\n      store %y[%i*%n + %j*%one] = %s\n      yield\n    }\n    yield\n  }\n  "
            "drop %d\n  yield\n}\n",
        [](Module& module) {
          tileContractions(module);
          EXPECT_EQ(verify(module, {State::CountsInserted}), "");
        });
  };
  const std::string few = inChunk("100"), many = inChunk("1000");
  EXPECT_TRUE(has(few, "scratch 25600 : address")) << few;
  EXPECT_FALSE(has(few, "if ")) << "it is known to be short";
  EXPECT_FALSE(has(many, "scratch")) << many;
}

TEST(TileContractions, ALaunchSaysHowManyBytesItNeeds) {
  const std::string text = tiled(row + "%b = load %w[%j*%k + %l*%one] : f32\n" + fma);
  EXPECT_TRUE(has(text, "scratch %")) << text;
  EXPECT_TRUE(has(text, "const 256 : i64")) << "64 columns of 4 bytes for each turn of the sum\n" << text;
}

} // namespace
} // namespace melix::loops
