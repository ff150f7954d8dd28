#include "loops/layout/move_out_elements.h"

#include "core/ir/same_path.h"

#include <set>

namespace melix::loops {

namespace {

bool readsElement(const core::Path& path) {
  auto isMany = [](const core::PathStep& s) {
    return s.kind == core::StepKind::Slice || s.kind == core::StepKind::All;
  };
  return !path.empty() && path.back().kind == core::StepKind::Element &&
         std::none_of(path.begin(), path.end(), isMany);
}

bool samePlace(const core::Op& get, const core::Op& set) {
  return core::samePath(get.as<core::Path>(), set.as<core::Path>()) &&
         std::equal(get.operands.begin() + 1, get.operands.end(), set.operands.begin() + 2,
                    set.operands.end());
}

/// Whether `put` comes after `get`, and from there on is all that uses what that reads.
bool isLastUse(const core::Function& f, const core::Uses& uses, const core::Op& get, core::OpId put) {
  const core::RegionId home = uses.regionOf(put);
  std::set<core::OpId> users;
  uses.forEach(get.operands[0], [&](core::Use use) {
    if (core::OpId op = uses.ancestorIn(home, use.op); op.valid() && op != put) users.insert(op);
  });
  const std::vector<core::OpId>& ops = f.regions[home].ops;
  const auto from = std::find_if(ops.begin(), ops.end(), [&](core::OpId op) { return &f.ops[op] == &get; });
  return std::find(from, ops.end(), put) != ops.end() &&
         std::none_of(from + 1, ops.end(), [&](core::OpId op) { return users.contains(op); });
}

} // namespace

const core::Op* putBack(const core::Function& f, const core::Uses& uses, const core::Op& get) {
  if (!readsElement(get.as<core::Path>())) return nullptr;
  const core::RegionId home = uses.homeOf(get.results[0]);
  core::OpId put;
  uses.forEach(get.operands[0], [&](core::Use use) {
    const core::Op& op = f.ops[use.op];
    if (op.kind == core::OpKind::Set && use.operand == 0 && uses.regionOf(use.op) == home &&
        samePlace(get, op))
      put = use.op;
  });
  const bool found = put.valid() && uses.used(f.ops[put].results[0]) && isLastUse(f, uses, get, put);
  return found ? &f.ops[put] : nullptr;
}

} // namespace melix::loops
