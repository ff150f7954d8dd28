// Uses of values: what is kept while a function changes is what a walk finds.
#include "core/ir/uses.h"

#include "core/core_text.h"
#include "core/ir/build.h"
#include "core/ir/walk.h"

#include <algorithm>
#include <map>

namespace melix::core {
namespace {

constexpr const char* text = R"(fn f (%a: f32, %c: bool) -> (f32) {
  %s = add %a, %a : f32
  %r = if %c {
    %t = mul %s, %a : f32
    yield %t
  } {
    yield %s
  } : f32
  %u = add %r, %s : f32
  yield %u
}
)";

struct UsesTest : testing::Test {
  TextModule m{text};
  FunctionId id = m.function("f");
  Function& f() { return m.module.functions[id]; }
  /// The op that has a result of this name.
  OpId op(std::string_view name) {
    OpId found;
    forEachOp(f(), [&](OpId o) {
      for (ValueId v : f().ops[o].results)
        if (f().values[v].hint.valid() && m.names.text(f().values[v].hint) == name) found = o;
    });
    return found;
  }
  ValueId value(std::string_view name) { return f().ops[op(name)].results[0]; }

  void expectWhatAWalkFinds(const Uses& uses) {
    std::map<ValueId, std::vector<std::pair<OpId, uint32_t>>> found;
    const std::vector<RegionId> homes = regionsOfOps(f());
    forEachOp(f(), [&](OpId o) {
      EXPECT_EQ(uses.regionOf(o), homes[o.index]);
      for (uint32_t k = 0; k < f().ops[o].operands.size(); ++k)
        found[f().ops[o].operands[k]].emplace_back(o, k);
    });
    for (uint32_t i = 0; i < f().values.size(); ++i) {
      std::vector<std::pair<OpId, uint32_t>> kept;
      uses.forEach(ValueId(i), [&](Use use) { kept.emplace_back(use.op, use.operand); });
      std::sort(kept.begin(), kept.end());
      std::sort(found[ValueId(i)].begin(), found[ValueId(i)].end());
      EXPECT_EQ(kept, found[ValueId(i)]) << "value " << i;
      EXPECT_EQ(uses.count(ValueId(i)), kept.size());
    }
  }
};

TEST_F(UsesTest, AreFoundInAllRegions) {
  Uses uses(m.module, id);
  expectWhatAWalkFinds(uses);
  EXPECT_EQ(uses.count(value("s")), 3u);
  EXPECT_EQ(uses.homeOf(value("t")), f().ops[op("r")].regions[0]);
  EXPECT_EQ(uses.ancestorIn(f().body, op("t")), op("r"));
  EXPECT_FALSE(uses.ancestorIn(f().ops[op("r")].regions[1], op("t")).valid());
}

TEST_F(UsesTest, AreMovedByAReplacement) {
  LiveUses uses(m.module, id);
  uses.replace(value("s"), f().params()[0]);
  EXPECT_FALSE(uses.used(value("s")));
  EXPECT_EQ(uses.count(f().params()[0]), 6u);
  expectWhatAWalkFinds(uses);
  EXPECT_EQ(m.problems(), "");
}

TEST_F(UsesTest, FollowOpsThatChangeComeAndGo) {
  LiveUses uses(m.module, id);
  const OpId sum = op("u");
  uses.change(sum, [&](Op& o) { o.operands.push_back(o.operands[0]); });
  expectWhatAWalkFinds(uses);
  uses.change(sum, [&](Op& o) { o.operands.erase(o.operands.begin()); });
  expectWhatAWalkFinds(uses);

  const OpId branch = op("r");
  const ValueId s = value("s"), result = value("r");
  uses.replace(result, s);
  uses.leave(branch);
  std::erase(f().regions[f().body].ops, branch);
  expectWhatAWalkFinds(uses);
  EXPECT_EQ(uses.count(f().params()[1]), 0u);

  Builder b(m.module, id, f().body, f().ops[sum].loc);
  const OpId end = f().regions[f().body].ops.back();
  f().regions[f().body].ops.pop_back();
  const ValueId more = b.binary(OpKind::Mul, s, s);
  uses.enter(f().values[more].def, f().body);
  f().regions[f().body].ops.push_back(end);
  uses.change(end, [&](Op& o) { o.operands = {more}; });
  expectWhatAWalkFinds(uses);
}

} // namespace
} // namespace melix::core
