// Nests whose reads a mask keeps in range, written twice: with what is asked in front, and as they are.
#include "transforms/pass_text.h"
#include "transforms/predication/version_nests.h"

namespace melix::transforms {
namespace {

using interp::Value;

/// Products of rows of %x and of those of %y that `index` chooses, where %m holds.
std::string products(const std::string& index,
                     const std::string& condition = "    %m = cmp le %u, %t : bool\n") {
  return "fn f [H, G, T] (%x: f32[H, T, 2], %y: f32[G, T, 2], %group: i64[H], %r: i64) -> (f32[H, T, T]) "
         "keep {\n"
         "  %z = const 0.5 : f32\n  %one = const 1 : i64\n  %zero = const 0 : i64\n"
         "  %s = nest (%h: H, %t: T, %u: T) -> collect[h, t, u] {\n" +
         condition + "    %p = if %m {\n" + index +
         "      check index \"out of range\" %i dims [G]\n      %q = nest (%e: 2) -> keep[] sum {\n"
         "        %a = get %x[%h, %t, %e] : f32\n        %b = get %y[%i, %u, %e] : f32\n"
         "        %c = mul %a, %b : f32\n        yield %c\n      } : f32\n      yield %q\n    } {\n"
         "      yield %z\n    } : f32\n    yield %p\n  } : f32[H, T, T]\n  yield %s\n}\n";
}
const char* const table = "      %i = get %group[%h] : i64\n";
const char* const shared = "      check divisor \"by zero\" %r\n      %i = idiv %h, %r : i64\n";

/// Three heads of two keys each, in two places.
std::vector<Value> arguments(std::vector<int64_t> group, int64_t r, int64_t keys = 2) {
  std::vector<float> x, y;
  for (int k = 0; k < 12; ++k) x.push_back(static_cast<float>(k) - 3);
  for (int k = 0; k < 4 * keys; ++k) y.push_back(static_cast<float>(k * k));
  const int64_t heads[] = {3};
  const Value groups = Value::array(types::TypeKind::I64, heads, group.data());
  return {Value::floats(x, {3, 2, 2}), Value::floats(y, {keys, 2, 2}), groups, Value::integer(r)};
}

/// The text with one version more, if there is one.
std::string versioned(const std::string& text, const std::vector<std::vector<Value>>& calls) {
  std::string made;
  for (const std::vector<Value>& args : calls) {
    PassText m(text);
    m.apply(versionNests, args);
    made = m.count("and ") > 0 ? m.text() : "";
  }
  return made;
}

TEST(VersionNests, OfIndicesThatATableTells) {
  const std::string text = versioned(products(table), {arguments({0, 1, 1}, 1), arguments({0, 2, 1}, 1),
                                                       arguments({-1, 0, 0}, 1), arguments({0, 0, 0}, 1, 0)});
  EXPECT_NE(text.find("keep[] and"), std::string::npos) << text;
  EXPECT_NE(text.find("min "), std::string::npos) << text;
}

TEST(VersionNests, OfQuotientsWhoseDivisorIsAskedFirst) {
  const std::string text =
      versioned(products(shared), {arguments({0, 0, 0}, 2), arguments({0, 0, 0}, 1), arguments({0, 0, 0}, 0),
                                   arguments({0, 0, 0}, -1), arguments({0, 0, 0}, 3, 0)});
  ASSERT_FALSE(text.empty());
  EXPECT_LT(text.find("cmp ge %r"), text.find("idiv")) << text;
}

TEST(VersionNests, WhereTheMaskHoldsNowhereNothingIsOutOfRange) {
  const std::string none = "    %m = cmp gt %zero, %u : bool\n";
  EXPECT_NE(versioned(products(table, none), {arguments({7, 8, 9}, 1), arguments({7, 8, 9}, 1, 0)}), "");
}

TEST(VersionNests, NotOfSumsOfAxesNorOfWhatTheMaskAsksFor) {
  EXPECT_EQ(versioned(products("      %i = sub %h, %one : i64\n"), {arguments({0, 0, 0}, 1)}), "")
      << "the mask is there for what is out of range";
  const std::string asked = products("      %i = add %g, %zero : i64\n",
                                     "    %g = get %group[%h] : i64\n    %m = cmp ge %g, %zero : bool\n");
  EXPECT_EQ(versioned(asked, {arguments({0, -1, 1}, 1)}), "");
}

TEST(VersionNests, NotOfAllAxes) {
  const std::string all = "      %j = add %h, %t : i64\n      %k = add %j, %u : i64\n"
                          "      %i = irem %k, %r : i64\n";
  EXPECT_EQ(versioned(products("      check divisor \"by zero\" %r\n" + all), {arguments({0, 0, 0}, 2)}), "");
}

/// A gather under a mask: the read tells all axes of the nest.
TEST(VersionNests, NotOfGathersOfWhichNoTileIsMade) {
  PassText m(
      "fn f [H, G, T] (%x: f32[H, T], %y: f32[G, T], %group: i64[H]) -> (f32) keep {\n"
      "  %z = const 0.0 : f32\n  %s = nest (%h: H, %t: T) -> keep[] sum {\n    %v = get %x[%h, %t] : f32\n"
      "    %m = cmp gt %v, %z : bool\n    %p = if %m {\n      %i = get %group[%h] : i64\n"
      "      check index \"out of range\" %i dims [G]\n      %b = get %y[%i, %t] : f32\n"
      "      %c = mul %v, %b : f32\n      yield %c\n    } {\n      yield %z\n    } : f32\n    yield %p\n"
      "  } : f32\n  yield %s\n}\n");
  const int64_t heads[] = {0, 1};
  const int64_t extent[] = {2};
  const Value x = Value::floats(std::vector<float>{1, -2, 3, 4}, {2, 2});
  m.apply(versionNests, {x, x, Value::array(types::TypeKind::I64, extent, heads)});
  EXPECT_EQ(m.count("keep[] and"), 0u) << m.text();
}

TEST(VersionNests, WithNestsThatReadWhatItMakesAndNoOthers) {
  const std::string square =
      " = nest (%k: H) -> keep[] sum {\n    %l = dim_value dims [H] : i64\n    yield %l\n"
      "  } : i64\n";
  std::string text = products(table);
  const std::string end = "  yield %s\n";
  std::string more = "  %n" + square +
                     "  %w = nest (%a1: H, %a2: T, %a3: T) -> keep[] sum {\n"
                     "    %g1 = get %s[%a1, %a2, %a3] : f32\n    yield %g1\n  } : f32\n  %o" +
                     square;
  for (const char* name : {"k", "l"}) { // of the second one
    const std::string from = "%" + std::string(name);
    for (size_t at = more.find(from, more.find("  %o")); at != std::string::npos;
         at = more.find(from, at + 3))
      more.replace(at, 2, from + "2");
  }
  text.replace(text.rfind(end), end.size(), more + end);
  text.replace(text.find("-> (f32[H, T, T])"), 17, "-> (f32[H, T, T], f32, i64, i64)");
  text.replace(text.rfind("yield %s"), 8, "yield %s, %w, %n, %o");
  PassText m(text);
  m.apply(versionNests, arguments({0, 1, 1}, 1));
  const std::string made = m.text();
  EXPECT_EQ(m.count("get %group"), 3u) << "asked once, and once in each version: " << made;
  EXPECT_LT(made.rfind("} : f32[H, T, T], i64, f32"), made.rfind("%o = nest"))
      << "what stands behind is there once: " << made;
}

} // namespace
} // namespace melix::transforms
