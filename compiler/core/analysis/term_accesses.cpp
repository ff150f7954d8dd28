#include "core/analysis/term_accesses.h"

#include "core/ir/walk.h"

#include <algorithm>
#include <unordered_set>

namespace melix::core {

TermAccesses::TermAccesses(const Module& m, FunctionId f)
    : m_(m), f_(m.functions[f]), info_(analysis<AccessInfo>(m, f)), number_(f_.ops.size()),
      end_(f_.ops.size()) {
  uint32_t next = 0;
  auto count = [&](auto& self, RegionId region) -> void {
    for (OpId id : f_.regions[region].ops) {
      number_[id.index] = ++next;
      for (RegionId inner : f_.ops[id].regions) self(self, inner);
      end_[id.index] = next;
    }
  };
  count(count, f_.body);
}

/// By size, each set holds the one before, if all can be compared.
bool haveTwoSides(std::vector<std::set<ValueId>> axes) {
  std::ranges::sort(axes, {}, [](const std::set<ValueId>& each) { return each.size(); });
  for (size_t k = 1; k < axes.size(); ++k)
    if (!std::ranges::includes(axes[k], axes[k - 1])) return true;
  return false;
}

std::span<const ValueId> TermAccesses::readOperands(const Op& op) {
  const std::span<const ValueId> all(op.operands);
  switch (op.kind) {
  case OpKind::Get: return all.first(1);
  case OpKind::Set:
  case OpKind::AddAt: return all.first(2);
  default: return all;
  }
}

TermAccess TermAccesses::access(OpId get) const {
  const Op& op = f_.ops[get];
  TermAccess out{get, {}, info_->axesOf(op.operands[0])};
  for (ValueId index :
       op.operands.size() > 1 ? std::span(op.operands).subspan(1) : std::span<const ValueId>()) {
    out.indices.push_back(info_->axesOf(index));
    out.axes.insert(out.indices.back().begin(), out.indices.back().end());
  }
  return out;
}

std::vector<TermAccess> TermAccesses::of(OpId nest, ValueId term) const {
  std::vector<TermAccess> out;
  std::vector<ValueId> open{term};
  std::unordered_set<OpId> seen;
  while (!open.empty()) {
    const OpId def = f_.values[open.back()].def;
    open.pop_back();
    const bool inside =
        def.valid() && number_[def.index] > number_[nest.index] && number_[def.index] <= end_[nest.index];
    if (!inside || !seen.insert(def).second) continue;
    const Op& op = f_.ops[def];
    const bool element = op.kind == OpKind::Get && op.operands.size() > 1 &&
                         m_.types.kind(f_.typeOf(op.results[0])) != TypeKind::Array;
    if (element) out.push_back(access(def));
    const std::span<const ValueId> read = readOperands(op);
    open.insert(open.end(), read.begin(), read.end());
    for (RegionId r : op.regions) {
      const Operands& yields = terminator(f_, r).operands;
      open.insert(open.end(), yields.begin(), yields.end());
    }
  }
  std::sort(out.begin(), out.end(), [&](const TermAccess& a, const TermAccess& b) {
    return number_[a.get.index] < number_[b.get.index];
  });
  return out;
}

} // namespace melix::core
