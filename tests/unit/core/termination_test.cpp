// Which loops end whatever they compute.
#include "core/ir/termination.h"

#include "core/ir/walk.h"
#include "core/text/parse.h"

#include <gtest/gtest.h>

namespace melix::core {
namespace {

/// A loop that carries %n, from an argument, as long as `condition` gives %c, and goes on with `next`, %k.
bool ends(const std::string& condition, const std::string& next, const std::string& type = "i64") {
  Interner names;
  types::TypeStore types{names};
  Module module{types};
  const std::string text = "fn f (%x: " + type + ", %limit: " + type + ", %go: bool) -> (" + type +
                           ") {\n  %r = while %x { (%n: " + type + ")\n" + condition +
                           "    yield %c\n  } { (%m: " + type + ")\n" + next + "    yield %k\n  } : " + type +
                           "\n  yield %r\n}\n";
  EXPECT_EQ(parseModule(module, text), "");
  const Function& f = module.functions[findFunction(module, "f")];
  return provablyTerminates(module, f, f.ops[f.regions[f.body].ops[0]]);
}

const std::string isNotZero = "    %z = const 0 : i64\n    %c = cmp ne %n, %z : bool\n",
                  isBelow = "    %c = cmp lt %n, %limit : bool\n",
                  isAbove = "    %c = cmp gt %n, %limit : bool\n", one = "    %one = const 1 : i64\n",
                  shifted = one + "    %s = shr %m, %one : i64\n",
                  next = one + "    %k = add %m, %one : i64\n",
                  before = one + "    %k = sub %m, %one : i64\n";

TEST(Termination, OfWhatIsHalvedToZero) {
  const std::string unsign = "    %h = const 9223372036854775807 : i64\n    %k = and %s, %h : i64\n";
  EXPECT_TRUE(ends(isNotZero, shifted + unsign));
  EXPECT_TRUE(ends("    %z = const 0 : u64\n    %c = cmp ne %n, %z : bool\n",
                   "    %one = const 1 : u64\n    %k = shr %m, %one : u64\n", "u64"));
  EXPECT_FALSE(ends(isNotZero, one + "    %k = shr %m, %one : i64\n")) << "-1 stays";
  EXPECT_FALSE(ends(isNotZero, shifted + "    %h = const -1 : i64\n    %k = and %s, %h : i64\n"));
  EXPECT_FALSE(ends("    %z = const 1 : i64\n    %c = cmp ne %n, %z : bool\n", shifted + unsign));
}

TEST(Termination, OfWhatIsCountedToALimit) {
  EXPECT_TRUE(ends(isBelow, next));
  EXPECT_TRUE(ends(isAbove, before));
  EXPECT_TRUE(ends("    %c = cmp gt %limit, %n : bool\n", next));
  EXPECT_TRUE(ends("    %b = cmp lt %n, %limit : bool\n    %c = and %go, %b : bool\n", next));
  EXPECT_FALSE(ends(isAbove, next));
  EXPECT_FALSE(ends(isBelow, before));
  EXPECT_FALSE(ends(isBelow, "    %one = const 2 : i64\n    %k = add %m, %one : i64\n")) << "it may go round";
  EXPECT_FALSE(ends("    %c = cmp le %n, %limit : bool\n", next)) << "the limit may be the greatest number";
  EXPECT_FALSE(ends("    %l = add %n, %limit : i64\n    %c = cmp lt %n, %l : bool\n", next)) << "no limit";
  EXPECT_FALSE(ends("    %c = cmp lt %n, %limit : bool\n", "    %k = add %m, %limit : i64\n"));
  EXPECT_FALSE(ends("    %b = cmp lt %n, %limit : bool\n    %c = or %go, %b : bool\n", next));
}

} // namespace
} // namespace melix::core
