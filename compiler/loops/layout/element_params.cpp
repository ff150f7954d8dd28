#include "loops/layout/element_params.h"

#include "core/ir/place.h"

#include <algorithm>

namespace melix::loops {

using core::OpKind;

namespace {

/// Whether an array that goes to the place is copied there: it is a part of another along some of the axes.
bool isPartOfArray(const core::Path& path) { return !path.empty() && core::isIndexLike(path.back().kind); }

/// Whether the path leads to leaves of the value itself: through fields of records that lie in no block.
bool isAmongLeaves(Layouts& layouts, types::TypeId type, const core::Path& path) {
  for (const core::PathStep& step : path) {
    if (!layouts.isProduct(type) || layouts.inBlock(type)) return false;
    type = layouts.part(type, step.number);
  }
  return true;
}

/// Whether the operand goes to a field of a node in which arrays lie in place: it is copied there.
bool isCopiedToNode(Layouts& layouts, const core::Function& fn, core::Use use) {
  const core::Op& op = fn.ops[use.op];
  const types::TypeId node = fn.typeOf(op.results[0]);
  if (layouts.isProduct(node)) return false;
  return layouts.isInPlace(
      layouts.field(layouts.inMemory(node), op.index(), static_cast<uint32_t>(use.operand)));
}

bool hasBlocks(Layouts& layouts, types::TypeId type) {
  return layouts.unsupported(type).empty() &&
         std::ranges::find(layouts.leaves(type), dataType) != layouts.leaves(type).end();
}

} // namespace

BlockUseKind blockUse(Layouts& layouts, const core::Function& fn, core::Use use) {
  using enum BlockUseKind;
  const core::Op& op = fn.ops[use.op];
  const types::TypeStore& types = layouts.types;
  const types::TypeId type = fn.typeOf(op.operands[use.operand]);
  const bool isArray = types.kind(type) == types::TypeKind::Array;
  switch (op.kind) {
  case OpKind::Get: return isAmongLeaves(layouts, type, op.as<core::Path>()) ? Renames : Reads;
  case OpKind::Set: return isArray && use.operand == 1 && isPartOfArray(op.as<core::Path>()) ? Reads : Keeps;
  case OpKind::AddAt: // in the block of the first operand
  case OpKind::Add:
  case OpKind::Sub: return isArray && use.operand == 1 && types.isScalar(types.element(type)) ? Reads : Keeps;
  case OpKind::ArrayOf: return isArray ? Reads : Keeps;
  case OpKind::Variant: return isCopiedToNode(layouts, fn, use) ? Reads : Keeps;
  case OpKind::ArgSort:
  case OpKind::Length: return Reads;
  case OpKind::Pack:
  case OpKind::Unpack:
  case OpKind::CastDims:
  case OpKind::Reshape:
  case OpKind::StopGradient:
  case OpKind::BlackBox: return Renames;
  case OpKind::Call: return Passes;
  default: return Keeps;
  }
}

ElementParams::ElementParams(const core::Module& module, Layouts& layouts,
                             std::span<const core::FunctionId> onDevices)
    : module_(module), layouts_(layouts), isOne_(module.functions.size()) {
  for (uint32_t f = 0; f < module.functions.size(); ++f) find(core::FunctionId(f));
  for (core::FunctionId f : onDevices)
    for (size_t k = 0; k < isOne_[f.index].size(); ++k) exclude({f, k});
  // A parameter that is passed on as an excluded one is excluded.
  while (!open_.empty()) {
    const Param p = open_.back();
    open_.pop_back();
    const auto passed = passedTo_.find(key(p));
    if (passed == passedTo_.end()) continue;
    for (const Param& from : passed->second) exclude(from);
  }
}

bool ElementParams::isRead(const core::Function& fn, core::Use use) const {
  const BlockUseKind kind = blockUse(layouts_, fn, use);
  if (kind == BlockUseKind::Passes) return (*this)(fn.ops[use.op].as<core::CallAttr>().callee, use.operand);
  return kind == BlockUseKind::Reads;
}

void ElementParams::exclude(const Param& p) {
  std::vector<bool>& isOne = isOne_[p.function.index];
  if (!isOne[p.number]) return;
  isOne[p.number] = false;
  open_.push_back(p);
}

void ElementParams::find(core::FunctionId f) {
  const core::Function& fn = module_.functions[f];
  if (!fn.body) return;
  isOne_[f.index].assign(fn.params().size(), true);
  const auto uses = core::analysis<core::Uses>(module_, f);
  for (size_t k = 0; k < fn.params().size(); ++k) follow({f, k}, *uses, fn.params()[k]);
}

void ElementParams::follow(const Param& p, const core::Uses& uses, core::ValueId v) {
  const core::Function& fn = module_.functions[p.function];
  if (!hasBlocks(layouts_, fn.typeOf(v))) return;
  uses.forEach(v, [&](core::Use use) {
    const core::Op& op = fn.ops[use.op];
    switch (blockUse(layouts_, fn, use)) {
    case BlockUseKind::Reads: return;
    case BlockUseKind::Renames: return follow(p, uses, op.results[0]);
    case BlockUseKind::Passes: {
      const core::FunctionId callee = op.as<core::CallAttr>().callee;
      if (!module_.functions[callee].body) return exclude(p);
      return passedTo_[key({callee, use.operand})].push_back(p);
    }
    case BlockUseKind::Keeps: return exclude(p);
    }
  });
}

} // namespace melix::loops
