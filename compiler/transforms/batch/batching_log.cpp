#include "transforms/batch/batching_log.h"

#include "core/ir/walk.h"

#include <algorithm>
#include <unordered_map>

namespace melix::transforms {

using namespace core;

namespace {

struct Entry {
  bool isRefused;
  std::string_view text;
};

/// By kinds.
constexpr Entry entries[] = {
#define BATCHED(Kind, Text) {false, Text},
#define REFUSED(Kind, Text) {true, Text},
#include "transforms/batch/batching.def"
};

} // namespace

bool isRefused(BatchingKind kind) { return entries[static_cast<size_t>(kind)].isRefused; }
std::string_view textOf(BatchingKind kind) { return entries[static_cast<size_t>(kind)].text; }

void BatchingLog::add(const BatchingDecision& decision) {
  if (!isRefused(decision.kind) || !seldom_.contains(decision.op)) decisions_.push_back(decision);
}

void BatchingLog::add(std::span<const BatchingDecision> decisions) {
  for (const BatchingDecision& d : decisions) add(d);
}

void BatchingLog::forgetRefused() {
  std::erase_if(decisions_, [](const BatchingDecision& d) { return isRefused(d.kind); });
}

void BatchingLog::forgetNest(Module& m, FunctionId id, OpId nest, size_t from) {
  Function& f = m.functions[id];
  std::unordered_map<LocId, LocId> own;
  auto move = [&](OpId each) {
    LocId& loc = f.ops[each].loc;
    if (!loc.valid()) return;
    LocId& made = own[loc];
    if (!made.valid()) made = m.locs.add(Loc(m.locs[loc]));
    seldom_.insert(made);
    loc = made;
  };
  move(nest);
  for (RegionId r : f.ops[nest].regions) forEachOp(f, r, move);
  const auto gone =
      std::remove_if(decisions_.begin() + static_cast<ptrdiff_t>(from), decisions_.end(),
                     [&](const BatchingDecision& d) { return isRefused(d.kind) && own.contains(d.op); });
  decisions_.erase(gone, decisions_.end());
}

} // namespace melix::transforms
