// The value that a body adds to its index.
#include "transforms/analysis/index_offset.h"

#include "core/ir/walk.h"
#include "transforms/pass_text.h"

namespace melix::transforms {
namespace {

using namespace core;

/// The sums of the index %l of a loop whose body has these ops; 0 if there is no offset.
size_t sumsOf(const std::string& ops) {
  PassText m("fn f [N] (%x: i64[N], %i: i64, %j: i64) -> (i64) {\n  %n = dim_value dims [N] : i64\n"
             "  %s = for collects 0 %n, %i { (%l: i64, %t: i64)\n" +
             ops + "    yield %t\n  } : i64\n  yield %s\n}\n");
  const Function& f = m.module.functions[findFunction(m.module, "f")];
  RegionId body;
  forEachOp(f, [&](OpId id) {
    if (f.ops[id].kind == OpKind::For) body = f.ops[id].regions[0];
  });
  const auto offset = indexOffset(f, body, f.regions[body].params[0], [&](ValueId v) {
    const OpId def = f.values[v].def;
    const bool isSize = def.valid() && f.ops[def].kind == OpKind::DimValue;
    return isSize ? std::optional(f.ops[def].dims[0]) : std::nullopt;
  });
  return offset ? offset->sums.size() : 0;
}

TEST(IndexOffset, IsOneValueFromOutsideOrOneSize) {
  EXPECT_EQ(sumsOf("    %k = add %i, %l : i64\n"), 1u);
  EXPECT_EQ(sumsOf("    %k = add %i, %l : i64\n    %h = add %l, %i : i64\n"), 2u);
  EXPECT_EQ(sumsOf("    %d = dim_value dims [N] : i64\n    %e = dim_value dims [N] : i64\n"
                   "    %k = add %l, %d : i64\n    %h = add %l, %e : i64\n"),
            2u)
      << "two numbers of one size";
}

TEST(IndexOffset, OtherUsesHaveNone) {
  EXPECT_EQ(sumsOf(""), 0u);
  EXPECT_EQ(sumsOf("    %k = add %i, %l : i64\n    %h = add %j, %l : i64\n"), 0u) << "two offsets";
  EXPECT_EQ(sumsOf("    %k = add %i, %l : i64\n    %h = mul %l, %i : i64\n"), 0u) << "used alone";
  EXPECT_EQ(sumsOf("    %k = add %l, %l : i64\n"), 0u);
  EXPECT_EQ(sumsOf("    %k = sub %l, %i : i64\n"), 0u);
  EXPECT_EQ(sumsOf("    %o = mul %i, %j : i64\n    %k = add %l, %o : i64\n"), 0u) << "computed in the body";
}

} // namespace
} // namespace melix::transforms
