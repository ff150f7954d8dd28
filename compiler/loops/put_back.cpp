#include "loops/put_back.h"

#include "core/same_path.h"

#include <set>

namespace melix::loops {

using namespace core;

namespace {

bool readsElement(const Path& path) {
  auto isMany = [](const PathStep& s) { return s.kind == StepKind::Slice || s.kind == StepKind::All; };
  return !path.empty() && path.back().kind == StepKind::Element &&
         std::none_of(path.begin(), path.end(), isMany);
}

bool samePlace(const Op& get, const Op& set) {
  return samePath(get.as<Path>(), set.as<Path>()) && std::equal(get.operands.begin() + 1, get.operands.end(),
                                                                set.operands.begin() + 2, set.operands.end());
}

/// Whether `put` comes after `get`, and from there on is all that uses what that reads.
bool isLastUse(const Function& f, const Uses& uses, const Op& get, OpId put) {
  const RegionId home = uses.regionOf(put);
  std::set<OpId> users;
  uses.forEach(get.operands[0], [&](Use use) {
    if (OpId op = uses.ancestorIn(home, use.op); op.valid() && op != put) users.insert(op);
  });
  const std::vector<OpId>& ops = f.regions[home].ops;
  const auto from = std::find_if(ops.begin(), ops.end(), [&](OpId op) { return &f.ops[op] == &get; });
  return std::find(from, ops.end(), put) != ops.end() &&
         std::none_of(from + 1, ops.end(), [&](OpId op) { return users.contains(op); });
}

} // namespace

const Op* putBack(const Function& f, const Uses& uses, const Op& get) {
  if (!readsElement(get.as<Path>())) return nullptr;
  const RegionId home = uses.homeOf(get.results[0]);
  OpId put;
  uses.forEach(get.operands[0], [&](Use use) {
    const Op& op = f.ops[use.op];
    if (op.kind == OpKind::Set && use.operand == 0 && uses.regionOf(use.op) == home && samePlace(get, op))
      put = use.op;
  });
  const bool found = put.valid() && uses.used(f.ops[put].results[0]) && isLastUse(f, uses, get, put);
  return found ? &f.ops[put] : nullptr;
}

} // namespace melix::loops
