// Products that all readers mask.
#include "transforms/predication/predicate_by_consumer.h"

#include "transforms/pass_text.h"

namespace melix::transforms {
namespace {

using interp::Value;

/// Products of the rows of %x, of which `readers` make %r.
PassText masked(const std::string& readers) {
  PassText m("fn f (%x: f32[3, 2]) -> (f32[3, 3]) {\n"
             "  %s = nest (%i: 3, %j: 3, %k: 2) -> keep[i, j] sum {\n    %a = get %x[%i, %k] : f32\n"
             "    %b = get %x[%j, %k] : f32\n    %p = mul %a, %b : f32\n    yield %p\n  } : f32[3, 3]\n" +
             readers + "  yield %r\n}\n");
  m.apply(predicateByConsumer,
          {Value::floats(std::vector<float>{1, 2, -3, 4, 5, 6}, std::vector<int64_t>{3, 2})});
  return m;
}
bool isMasked(const std::string& readers) { return masked(readers).count("keep[] sum") == 1; }
std::string chosen(const std::string& mask, const std::string& made = "") {
  return "  %r = nest (%t: 3, %u: 3) -> collect[t, u] {\n    %v = get %s[%t, %u] : f32\n" + made + mask +
         "    %z = const 7.0 : f32\n    %q = select %m, %v, %z : f32\n    yield %q\n  } : f32[3, 3]\n";
}
const char* const before = "    %m = cmp le %u, %t : bool\n";

TEST(MaskUnread, WhereAMaskChooses) { EXPECT_TRUE(isMasked(chosen(before))); }

TEST(MaskUnread, WhatIsMadeOfElements) {
  const PassText m =
      masked("  %r = nest (%t: 3) -> collect[t] {\n    %h = nest (%u: 3) -> collect[u] {\n"
             "      %v = get %s[%t, %u] : f32\n      %n = neg %v : f32\n      yield %n\n    } : f32[3]\n"
             "    %q = nest (%w: 3) -> collect[w] {\n      %m = cmp le %w, %t : bool\n      %g = if %m {\n"
             "        %e = get %h[%w] : f32\n        yield %e\n      } {\n        %z = const 7.0 : f32\n     "
             "   yield %z\n"
             "      } : f32\n      yield %g\n    } : f32[3]\n    yield %q\n  } : f32[3, 3]\n");
  EXPECT_EQ(m.count("keep[] sum"), 1u) << m.text();
}

TEST(MaskUnread, ReadersSpellTheirMaskDifferently) {
  auto readsToo = [](const std::string& mask) {
    return "  %o = nest (%c: 3, %d: 3) -> keep[] max {\n    %w = get %s[%c, %d] : f32\n" + mask +
           "    %g = const 0.0 : f32\n    %h = select %y, %w, %g : f32\n    yield %h\n  } : f32\n";
  };
  const std::string difference = "    %e = sub %d, %c : i64\n    %n = const 0 : i64\n";
  EXPECT_TRUE(isMasked(chosen(before) + readsToo(difference + "    %y = cmp le %e, %n : bool\n")));
  EXPECT_FALSE(isMasked(chosen(before) + readsToo(difference + "    %y = cmp lt %e, %n : bool\n")));
}

TEST(MaskUnread, OthersStay) {
  EXPECT_FALSE(isMasked(chosen(before) +
                        "  %o = nest (%c: 3, %d: 3) -> keep[] max {\n    %w = get %s[%c, %d] : f32\n"
                        "    yield %w\n  } : f32\n"))
      << "who reads all";
  EXPECT_FALSE(isMasked(chosen("    %m = cmp ne %u, %t : bool\n"))) << "few points are left out";
  EXPECT_FALSE(isMasked(chosen("    %zero = const 0.0 : f32\n    %m = cmp lt %v, %zero : bool\n")))
      << "data decide";
}

/// What a pass in front of the product, or behind it, binds a size to.
PassText boundTo(const std::string& front, const std::string& behind, const std::string& effect = "") {
  PassText m("fn f (%x: f32[3, 2]) -> (f32[3, 3]) {\n  %two = const 2 : i64\n" + front +
             "  %s = nest (%i: 3, %j: 3, %k: 2) -> keep[i, j] sum {\n" + effect +
             "    %a = get %x[%i, %k] : f32\n    %b = get %x[%j, %k] : f32\n    %p = mul %a, %b : f32\n"
             "    yield %p\n  } : f32[3, 3]\n" +
             behind +
             "  %r = nest (%t: 3, %u: 3) -> collect[t, u] {\n    %v = get %s[%t, %u] : f32\n"
             "    %n = dim_value dims [n] : i64\n    %d = add %t, %n : i64\n    %m = cmp lt %u, %d : bool\n"
             "    %z = const 7.0 : f32\n    %q = select %m, %v, %z : f32\n    yield %q\n  } : f32[3, 3]\n"
             "  yield %r\n}\n");
  m.apply(predicateByConsumer,
          {Value::floats(std::vector<float>{1, 2, -3, 4, 5, 6}, std::vector<int64_t>{3, 2})});
  return m;
}

TEST(MaskUnread, AsksOnlySizesThatAreKnown) {
  const std::string bind = "  bind_dim %two defines [n]\n";
  EXPECT_EQ(boundTo(bind, "").count("keep[] sum"), 1u);
  EXPECT_EQ(boundTo("", bind).count("keep[] sum"), 0u) << "bound behind the product";
}

TEST(MaskUnread, NotWhereATermHasAnEffect) {
  EXPECT_EQ(
      boundTo("  bind_dim %two defines [n]\n", "", "    check index \"\" %k dims [n]\n").count("keep[] sum"),
      0u);
}

} // namespace
} // namespace melix::transforms
