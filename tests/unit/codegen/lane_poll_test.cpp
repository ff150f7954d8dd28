// A loop inside of one in lanes looks for cancellation as it does outside.
#include "codegen/codegen.h"
#include "loops/text/parse.h"
#include "loops/text/verify.h"

#include <gtest/gtest.h>

namespace melix::codegen {
namespace {

size_t polls(const std::string& inner) {
  Interner names;
  types::TypeStore types{names};
  core::Module core{types};
  loops::ParseResult read =
      loops::parse(core, "fn @f(%n: i64, %x: data, %w: f32) exported {\n  %one = const 1 : i64\n"
                         "  for independent vector 4 %one, %n { (%i)\n"
                         "    %v = load %x[%i*%one] : f32\n" +
                             inner + "    store %x[%i*%one] = %r\n    yield\n  }\n  yield\n}\n");
  EXPECT_EQ(read.error, "");
  if (!read.error.empty()) return 0;
  EXPECT_EQ(loops::verify(read.module, {loops::State::CountsInserted}), "");
  const std::string text = compileToText(read.module, Options{}, TextKind::Ir);
  size_t found = 0;
  for (size_t at = text.find("call void @melix_cancelled"); at != std::string::npos;
       at = text.find("call void @melix_cancelled", at + 1))
    ++found;
  return found;
}

std::string loop(const std::string& head) {
  return "    %r = for " + head +
         " %one, %n, %v : f32 { (%j, %s)\n      %t = add %s, %s : f32\n      yield %t\n    }\n";
}

TEST(LanePoll, AWhileAndALoopThatSaysSo) {
  EXPECT_GT(
      polls("    %r = while %v : f32 { (%a)\n      %g = cmp lt %a, %w : bool\n      yield %g\n    } { (%b)\n"
            "      %d = mul %b, %b : f32\n      yield %d\n    }\n"),
      0u);
  EXPECT_GT(polls(loop("polls")), 0u);
  EXPECT_EQ(polls(loop("")), 0u);
}

} // namespace
} // namespace melix::codegen
