// Lengths of lists are known not to be negative: a place is checked by one comparison.
#include "codegen/codegen.h"
#include "core/order/verify.h"
#include "core/text/parse.h"
#include "loops/pipeline.h"

#include <gtest/gtest.h>

namespace melix::codegen {
namespace {

TEST(ListLength, APlaceIsCheckedByOneComparison) {
  Interner names;
  types::TypeStore types{names};
  core::Module core{types};
  EXPECT_EQ(core::parseModule(core, R"(
fn main (%list: List[i64], %zero: i64) -> (i64) {
  %length = length %list : i64
  %factor = const 7919 : i64
  %total = for collects 0 %length, %zero { (%k: i64, %sum: i64)
    %far = mul %k, %factor : i64
    %place = irem %far, %length : i64
    check list_index "" %place, %length
    %x = get %list<%place> : i64
    %next = add %sum, %x : i64
    yield %next
  } : i64
  yield %total
}
)"),
            "");
  for (const std::string& problem : core::verify(core)) ADD_FAILURE() << problem;
  core.functions[core::findFunction(core, "main")].keep = true;
  loops::Result lowered = loops::fromCore(core, loopOptions({}));
  ASSERT_FALSE(lowered.error);
  const std::string text = compileToText(lowered.module, {}, TextKind::Ir);
  EXPECT_NE(text.find("icmp ult"), std::string::npos) << text;
  EXPECT_EQ(text.find("xor"), std::string::npos) << "the remainder has the sign of the length\n" << text;
}

} // namespace
} // namespace melix::codegen
