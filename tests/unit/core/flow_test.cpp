// Ops with regions through their tables: every operand, parameter, yield and result of each is said to go
// somewhere or to decide something, taking parts away leaves a function in order, and a nest made of its view
// is the same nest.
#include "core/ir/flow.h"

#include "core/core_text.h"
#include "core/ir/walk.h"

#include <algorithm>
#include <map>
#include <set>

namespace melix::core {
namespace {

/// One of each, with all kinds of parts; no parameter is read but by the yield of its own part.
constexpr const char* text = R"(enum Option { None(), Some(f32) }

fn f [N, M] (%x: f32[N, M], %w: f32[M], %o: Option, %c: bool, %n: i64, %u: f32) -> () {
  %a, %b = if %c {
    yield %u, %n
  } {
    yield %u, %n
  } : f32, i64
  %d, %e = match cases [0, 1] %o {
    yield %u, %n
  } { (%v: f32)
    yield %v, %n
  } : f32, i64
  %g, %h, %s, %t = for collects 2 %n, %u, %n defines [K] { (%i: i64, %p: f32, %q: i64)
    yield %p, %q, %u, %i
  } : f32, i64, f32[K], i64[K]
  %j, %k = while %n, %u { (%y: i64, %z: f32)
    yield %c
  } { (%y$1: i64, %z$1: f32)
    yield %y$1, %z$1
  } : i64, f32
  %aa, %bb, %cc, %dd, %ee, %ff, %gg, %hh = nest (%i$1: N, %j$1: M) -> collect[i$1, j$1], keep[i$1] sum, keep[] argmax, keep[j$1] combine 1 region 1, keep[] combine 1 region 2 accs (%acc = %w, %more = %w) units (%u, %u) {
    %r = get %x[%i$1, %j$1] : f32
    yield %r, %r, %r, %r, %r, %acc, %more
  } { (%l: f32, %m: f32)
    yield %m
  } { (%l$1: f32, %m$1: f32)
    yield %l$1
  } : f32[N, M], f32[N], i64, i64, f32[M], f32, f32[M], f32[M]
  %ii = nest (%i$2: N) -> filter defines [L] {
    yield %c, %u
  } : f32[L]
  yield
}
)";

struct FlowTest : testing::Test {
  TextModule m{text};
  FunctionId id = m.function("f");
  Function& f() { return m.module.functions[id]; }
  std::vector<OpId> structured() {
    std::vector<OpId> out;
    for (OpId o : f().regions[f().body].ops)
      if (!f().ops[o].regions.empty()) out.push_back(o);
    return out;
  }
  std::string say(OpId o, std::string_view what) {
    return std::string(ops::opText(f().ops[o].kind)) + ": " + std::string(what);
  }
};

/// How often slots name each value.
using Count = std::map<ValueId, int>;

/// Those that no slot names; no slot names a value twice.
size_t namedByNone(std::span<const ValueId> values, const Count& named) {
  size_t none = 0;
  for (ValueId v : values) {
    const auto at = named.find(v);
    none += at == named.end();
    if (at != named.end()) EXPECT_EQ(at->second, 1);
  }
  return none;
}

TEST_F(FlowTest, HasEveryOpWithRegions) {
  std::set<OpKind> here;
  for (OpId o : structured()) here.insert(f().ops[o].kind);
  for (unsigned k = 0; k < ops::opCount; ++k) {
    const auto kind = static_cast<OpKind>(k);
    const bool ofCallee = kind == OpKind::Call || kind == OpKind::Apply || kind == OpKind::Derivative;
    if (ops::opEffect(kind) != ops::EffectKind::Regions || ofCallee) continue;
    EXPECT_TRUE(here.contains(kind)) << ops::opText(kind);
  }
  EXPECT_EQ(m.problems(), "");
}

/// Indices, axes, payloads, counts, conditions and scrutinees belong to no slot: they decide, or are made.
TEST_F(FlowTest, EveryValueBelongsToOneSlot) {
  for (OpId o : structured()) {
    const Op& op = f().ops[o];
    const bool decides = op.kind == OpKind::If || op.kind == OpKind::Match || op.kind == OpKind::For;
    std::vector<bool> operands(op.operands.size());
    Count results, params;
    std::map<RegionId, std::vector<int>> yields;
    for (RegionId r : op.regions) yields[r].resize(terminator(f(), r).operands.size());
    for (const Slot& slot : slotsOf(f(), op)) {
      for (uint32_t k = 0; k < slot.operands.count; ++k) operands[slot.operands.first + k] = true;
      for (ValueId v : slot.results.of(op.results)) ++results[v];
      forEachParam(f(), op, slot, [&](ValueId v) { ++params[v]; });
      for (RegionId r : yieldRegions(op, slot))
        for (uint32_t k = 0; k < slot.yields.count; ++k) ++yields[r][slot.yields.first + k];
      if (slot.combine != 0)
        for (int& count : yields[op.regions[slot.combine]]) ++count;
    }
    EXPECT_EQ(std::count(operands.begin(), operands.end(), false), decides) << say(o, "operands");
    EXPECT_EQ(namedByNone(op.results, results), 0u) << say(o, "results");
    for (size_t r = 0; r < op.regions.size(); ++r) {
      const std::vector<ValueId>& own = f().regions[op.regions[r]].params;
      const size_t made = op.kind == OpKind::Match            ? own.size()
                          : op.kind == OpKind::For            ? 1
                          : op.kind == OpKind::Nest && r == 0 ? op.dims.size()
                                                              : 0;
      EXPECT_EQ(namedByNone(own, params), made) << say(o, "parameters");
      const bool isCondition = op.kind == OpKind::While && r == 0;
      for (int count : yields[op.regions[r]]) EXPECT_EQ(count, isCondition ? 0 : 1) << say(o, "yields");
    }
  }
}

TEST_F(FlowTest, AnEdgeLeadsToEveryResultThatIsNoPosition) {
  for (OpId o : structured()) {
    const Op& op = f().ops[o];
    std::set<ValueId> reached;
    for (const FlowEdge& edge : flowsOf(f(), op)) reached.insert(edge.to);
    if (op.kind == OpKind::Nest) {
      const NestView nest(f(), op);
      for (const NestPart& part : nest.parts())
        if (isPosition(*part.spec)) reached.insert(nest.results(part).begin(), nest.results(part).end());
    }
    for (ValueId v : op.results) EXPECT_TRUE(reached.contains(v)) << say(o, "results");
  }
}

TEST_F(FlowTest, ASlotThatIsTakenAwayLeavesTheOthers) {
  for (OpId o : structured())
    for (size_t number = 0; number < slotsOf(f(), f().ops[o]).size(); ++number) {
      TextModule fresh(text);
      Function& g = fresh.module.functions[id];
      const Slot slot = slotsOf(g, g.ops[o])[number];
      if (slot.needed) continue;
      std::vector<bool> gone(slotsOf(g, g.ops[o]).size());
      gone[number] = true;
      removeSlots(g, o, gone);
      EXPECT_EQ(g.ops[o].results.size() + slot.results.count, f().ops[o].results.size());
      EXPECT_EQ(fresh.problems(), "") << say(o, "without slot ") << number;
    }
}

/// Nests are made again from their views, around the bodies that are there.
TEST_F(FlowTest, ANestMadeOfItsViewIsTheSame) {
  const std::string before = m.text();
  for (OpId& o : f().regions[f().body].ops) {
    if (f().ops[o].kind != OpKind::Nest) continue;
    const Op old = f().ops[o];
    const NestView nest(f(), old);
    const std::vector<ValueId> yields(nest.yields().begin(), nest.yields().end());
    const std::vector<ValueId> accs(nest.accParams().begin(), nest.accParams().end());
    Region scratch;
    Builder b(m.module, id, f().regions.add(scratch), old.loc);
    f().regions[old.regions[0]].params.resize(old.dims.size());
    NestBuilder made(b, old.regions[0], old.dims);
    for (uint32_t k = 0; k < accs.size(); ++k) made.accumulator(nest.accOperands()[k], accs[k]);
    for (const NestPart& part : nest.parts()) made.add(*part.spec, part.yields.of(yields), nest.own(part));
    for (size_t k = yields.size() - accs.size(); k < yields.size(); ++k) made.end(yields[k]);
    o = made.finish();
    for (size_t k = 0; k < old.results.size(); ++k) {
      const ValueId now = f().ops[o].results[k];
      f().values[now].hint = f().values[old.results[k]].hint;
      EXPECT_EQ(f().typeOf(now), f().typeOf(old.results[k]));
    }
  }
  EXPECT_EQ(m.text(), before);
}

} // namespace
} // namespace melix::core
