// What the body of a builder does not need its indices for is computed in front of it (rule 13).
#include "lower/body.h"

namespace melix::lower {

using namespace check;

/// The locals and sizes that `n` defines for itself.
void BodyLowering::definedIn(NodeId n, std::set<LocalId>& locals, std::set<DimSym>& sizes) {
  std::function<void(PatternId)> names = [&](PatternId p) {
    const Pattern& pattern = instance_.patterns[p];
    if (pattern.local) locals.insert(pattern.local);
    sizes.insert(pattern.unpacked.begin(), pattern.unpacked.end());
    for (PatternId sub : pattern.subs) names(sub);
  };
  visit(n, [&](NodeId k) {
    const Node& node = instance_.nodes[k];
    sizes.insert(node.resultDims.begin(), node.resultDims.end());
    if (auto* let = std::get_if<PatternRef>(&node.payload)) names(let->pattern);
    if (auto* arms = std::get_if<Arms>(&node.payload))
      for (const check::Arm& arm : arms->arms) names(arm.pattern);
    if (auto* nest = std::get_if<Nest>(&node.payload))
      for (const NestAxis& axis : nest->axes) locals.insert(axis.index);
    if (auto* scatter = std::get_if<Scatter>(&node.payload))
      for (const NestAxis& axis : scatter->axes) locals.insert(axis.index);
    if (auto* elements = std::get_if<Elementwise>(&node.payload))
      locals.insert(elements->elements.begin(), elements->elements.end());
    if (auto* loop = std::get_if<check::For>(&node.payload)) locals.insert(loop->index);
    if (auto* update = std::get_if<Update>(&node.payload)) locals.insert({update->value, update->current});
    if (auto* within = std::get_if<Within>(&node.payload)) locals.insert(within->local);
  });
  for (LocalId l : locals)
    if (instance_.locals[l].asDim) sizes.insert(instance_.locals[l].asDim);
}

/// Whether `n` reads only what is known outside of the builder at hand.
bool BodyLowering::invariant(NodeId n) {
  std::set<LocalId> inner;
  std::set<DimSym> symbols;
  definedIn(n, inner, symbols);
  bool fine = true;
  visit(n, [&](NodeId k) {
    const Node& node = instance_.nodes[k];
    fine &= node.kind != NodeKind::Return && node.kind != NodeKind::Break &&
            node.kind != NodeKind::Continue && node.kind != NodeKind::Error &&
            node.kind != NodeKind::Assign && node.kind != NodeKind::Update && node.kind != NodeKind::Within &&
            node.kind != NodeKind::Pop && node.kind != NodeKind::Debug;
    if (auto* arms = std::get_if<Arms>(&node.payload)) fine &= arms->places.empty();
  });
  if (!fine) return false;
  visit(n, [&](NodeId k) {
    const Node& node = instance_.nodes[k];
    if (auto* ref = std::get_if<LocalRef>(&node.payload))
      fine &= inner.contains(ref->local) || values_.contains(ref->local);
    std::vector<DimSym> used;
    symbolsOf(node, used);
    for (DimSym s : used) fine &= !innerSymbols_.contains(s) || symbols.contains(s);
  });
  return fine;
}

bool BodyLowering::mayPanic(RegionId r) {
  for (core::OpId id : b_.fn().regions[r].ops) {
    const core::Op& op = b_.fn().ops[id];
    switch (op.kind) {
    case OpKind::Call:
    case OpKind::Apply:
    case OpKind::Derivative:
    case OpKind::While:
    case OpKind::Builtin:
    case OpKind::Check:
    case OpKind::Panic:
    case OpKind::Pop: return true;
    default: break;
    }
    for (RegionId inner : op.regions)
      if (mayPanic(inner)) return true;
  }
  return false;
}

/// `n` in front of a sweep over `extents`. What may panic runs only if the sweep has an element.
ValueId BodyLowering::ahead(NodeId n, const std::vector<DimId>& extents) {
  RegionId outer = b_.region, region = b_.newRegion();
  types::DimSubst dimsBefore = dimMap_;
  b_.region = region;
  ValueId value = expr(n);
  b_.region = outer;
  auto moveTo = [&](RegionId to) {
    const std::vector<core::OpId> ops = std::move(b_.fn().regions[region].ops);
    b_.fn().regions[region].ops.clear();
    auto& list = b_.fn().regions[to].ops;
    list.insert(list.end(), ops.begin(), ops.end());
    return value;
  };
  ValueId some;
  if (mayPanic(region))
    for (DimId d : extents)
      if (!types_.dims.atLeast(d, 1)) {
        ValueId one = b_.compare(ops::CmpKind::Gt, b_.dimValue(d), b_.integer(0));
        some = some ? b_.binary(OpKind::And, some, one) : one;
      }
  if (!some) return moveTo(outer);
  types::DimSubst dimsAfter = dimMap_;
  dimMap_ = dimsBefore;
  TypeId type = instance_.nodes[n].type;
  ValueId result = branches(Builder::simple(OpKind::If, {some}),
                            {[&](RegionId then) {
                               dimMap_ = dimsAfter;
                               return moveTo(then);
                             },
                             [&](RegionId) {
                               flow_ = FlowKind::Off;
                               return undef(T(type));
                             }},
                            type, instance_.nodes[n].resultDims);
  flow_ = FlowKind::On;
  return result;
}

/// Lowers, in front of a builder, the costly parts of its body that do not depend on its indices and are
/// reached on every path through the body.
void BodyLowering::hoist(NodeId body, const std::vector<DimId>& extents) {
  std::set<LocalId> locals;
  definedIn(body, locals, innerSymbols_);
  for (uint32_t k = 0; k < instance_.locals.size(); ++k)
    if (instance_.locals[LocalId(k)].asDim && !values_.contains(LocalId(k)))
      innerSymbols_.insert(instance_.locals[LocalId(k)].asDim);
  std::function<void(NodeId)> look = [&](NodeId n) {
    if (hoisted_.contains(n)) return;
    const Node node = instance_.nodes[n];
    bool costly = node.kind == NodeKind::Call || node.kind == NodeKind::Nest ||
                  node.kind == NodeKind::Elementwise || node.kind == NodeKind::Derivative ||
                  node.kind == NodeKind::ArgSort;
    bool io = node.kind == NodeKind::Call && !node.as<CallTarget>().inouts.empty();
    if (costly && !io && flow_ == FlowKind::On && invariant(n)) {
      hoisted_[n] = ahead(n, extents);
      return;
    }
    switch (node.kind) {
    case NodeKind::If:
    case NodeKind::Match:
    case NodeKind::ShortAnd:
    case NodeKind::ShortOr: look(node.children[0]); return; // the rest runs on some paths only
    case NodeKind::For:
    case NodeKind::While:
    case NodeKind::Loop: return;
    default: childrenOf(n, look);
    }
  };
  look(body);
}

} // namespace melix::lower
