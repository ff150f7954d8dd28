// The table of slots and edges knows every op with regions: all that goes in and comes out of the examples of
// ops.def is in it.
#include "core/ir/flow.h"

#include "core/ir/walk.h"
#include "interp/op_examples.h"
#include "interp/run_text.h"

#include <map>

namespace melix::interp {
namespace {

using core::FlowEdge;
using core::FlowKind;
using core::Function;
using core::Op;
using core::OpId;
using core::OpKind;
using core::RegionId;
using core::Slot;
using core::SlotKind;
using core::ValueId;

std::string textOf(const OpExample& e) {
  return std::string("enum Option { None(), Some(f32) }\n\nfn minus (%a: f32, %b: f32) -> (f32) {\n  %c = "
                     "sub %a, %b : f32\n  yield %c\n}\n\nfn f ") +
         e.signature + " {\n" + e.body + "\n}\n";
}

/// All that a nest may give, at once, and filters.
constexpr const char* nests[] = {
    R"(fn f [N] (%x: f32[N], %h: f32[N], %g: f32[N]) -> (f32, f32, f32, i64, f32[N], f32[N]) {
  %u = const 1.0 : f32
  %w = const 0.0 : f32
  %s, %p, %q, %k, %r, %t = nest (%i: N) -> keep[] sum, keep[] combine 2 region 1, keep[] argmax accs (%a = %h, %b = %g) units (%u, %w) {
    %v = get %x[%i] : f32
    %c = add_at %a[%i] += %v : acc f32[N]
    %d = add_at %b[%i] += %v : acc f32[N]
    yield %v, %v, %u, %v, %c, %d
  } { (%l: f32, %m: f32, %n: f32, %o: f32)
    %y = mul %l, %n : f32
    %z = add %m, %o : f32
    yield %y, %z
  } : f32, f32, f32, i64, f32[N], f32[N]
  yield %s, %p, %q, %k, %r, %t
}
)",
    R"(fn f [N] (%x: f32[N]) -> (f32, f32[K]) defines [K] {
  %z = const 0.0 : f32
  %s, %r = nest (%i: N) -> keep[] sum, filter defines [K$1] {
    %v = get %x[%i] : f32
    %c = cmp gt %v, %z : bool
    yield %v, %c, %v
  } : f32, f32[K$1]
  yield %s, %r dims [K$1]
}
)"};

/// Calls `check(function, op)` for each op with regions in the examples.
template <class Check>
std::map<OpKind, int> forEachStructured(Check check) {
  std::map<OpKind, int> seen;
  std::vector<std::string> texts(std::begin(nests), std::end(nests));
  for (const OpExample& e : opExamples()) texts.push_back(textOf(e));
  for (const std::string& text : texts) {
    SCOPED_TRACE(text);
    Running m(text);
    Function& f = m.module.functions[core::findFunction(m.module, "f")];
    std::vector<OpId> found;
    core::forEachOp(f, [&](OpId id) {
      if (!f.ops[id].regions.empty()) found.push_back(id);
    });
    for (OpId id : found) {
      ++seen[f.ops[id].kind];
      check(f, id);
    }
  }
  return seen;
}

/// What an op decides by: no slot holds it.
size_t deciding(const Op& op) { return op.kind == OpKind::While || op.kind == OpKind::Nest ? 0 : 1; }

/// Parameters that the op itself makes: axes, the index, payloads.
size_t ownParams(const Function& f, const Op& op, RegionId r) {
  if (op.kind == OpKind::Match) return f.regions[r].params.size();
  if (op.kind == OpKind::For) return 1;
  return op.kind == OpKind::Nest && r == op.regions[0] ? op.dims.size() : 0;
}

TEST(FlowTable, SlotsHoldEveryValueOnce) {
  std::map<OpKind, int> seen = forEachStructured([](Function& f, OpId id) {
    const Op& op = f.ops[id];
    std::map<ValueId, int> results, params;
    std::map<std::pair<RegionId, uint32_t>, int> yields;
    size_t operands = deciding(op);
    for (const Slot& slot : core::slotsOf(f, op)) {
      operands += slot.operands.count;
      for (ValueId v : slot.results.of(op.results)) ++results[v];
      core::forEachParam(f, op, slot, [&](ValueId v) { ++params[v]; });
      for (RegionId r : core::yieldRegions(op, slot))
        for (uint32_t k = 0; k < slot.yields.count; ++k) ++yields[{r, slot.yields.first + k}];
      if (slot.combine != 0)
        for (uint32_t k = 0; k < core::terminator(f, op.regions[slot.combine]).operands.size(); ++k)
          ++yields[{op.regions[slot.combine], k}];
    }
    EXPECT_EQ(operands, op.operands.size());
    for (ValueId v : op.results) EXPECT_EQ(results[v], 1);
    for (RegionId r : op.regions) {
      const auto& own = f.regions[r].params;
      for (size_t k = 0; k < own.size(); ++k) EXPECT_EQ(params[own[k]], k < ownParams(f, op, r) ? 0 : 1);
      const bool test = op.kind == OpKind::While && r == op.regions[0];
      for (uint32_t k = 0; k < core::terminator(f, r).operands.size(); ++k)
        EXPECT_EQ((yields[{r, k}]), test ? 0 : 1);
    }
  });
  for (OpKind kind : {OpKind::If, OpKind::Match, OpKind::For, OpKind::While, OpKind::Nest})
    EXPECT_GT(seen[kind], 0) << ops::opText(kind) << " has no example";
  EXPECT_EQ(seen.size(), 5u) << "an op with regions that this test does not know";
}

TEST(FlowTable, EdgesEndAtWhatTheOpDefines) {
  forEachStructured([](Function& f, OpId id) {
    const Op& op = f.ops[id];
    std::map<ValueId, int> into;
    for (const FlowEdge& edge : core::flowsOf(f, op)) {
      const core::Value& to = f.values[edge.to];
      const bool out =
          edge.kind == FlowKind::Leave || edge.kind == FlowKind::Skip || edge.kind == FlowKind::Case;
      EXPECT_EQ(to.def.valid() ? to.def : f.regions[to.region].parent, id);
      EXPECT_EQ(to.def.valid(), out);
      ++into[edge.to];
    }
    for (const Slot& slot : core::slotsOf(f, op)) {
      if (slot.kind == SlotKind::Part) continue; // positions are decided, and nothing flows to them
      for (ValueId v : slot.results.of(op.results)) EXPECT_GT(into[v], 0);
      core::forEachParam(f, op, slot, [&](ValueId v) { EXPECT_GT(into[v], 0); });
    }
  });
}

/// A slot that is taken out leaves an op of the others.
TEST(FlowTable, RemovedSlotsLeaveTheOthers) {
  forEachStructured([](Function& f, OpId id) {
    const std::vector<Slot> before = core::slotsOf(f, f.ops[id]);
    if (before.size() < 2 || before[0].needed) return;
    const Op was = f.ops[id];
    std::vector<bool> gone(before.size(), false);
    gone[0] = true;
    core::removeSlots(f, id, gone);
    const Op& op = f.ops[id];
    const std::vector<Slot> after = core::slotsOf(f, op);
    ASSERT_EQ(after.size(), before.size() - 1);
    for (size_t k = 0; k < after.size(); ++k) {
      EXPECT_EQ(after[k].kind, before[k + 1].kind);
      auto now = after[k].results.of(op.results), then = before[k + 1].results.of(was.results);
      EXPECT_TRUE(std::equal(now.begin(), now.end(), then.begin(), then.end()));
      auto taken = after[k].operands.of(op.operands), took = before[k + 1].operands.of(was.operands);
      EXPECT_TRUE(std::equal(taken.begin(), taken.end(), took.begin(), took.end()));
    }
    for (uint32_t k = 0; k < op.results.size(); ++k) EXPECT_EQ(f.values[op.results[k]].index, k);
  });
}

} // namespace
} // namespace melix::interp
