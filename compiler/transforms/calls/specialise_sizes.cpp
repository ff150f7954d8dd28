#include "transforms/calls/specialise_sizes.h"

#include "core/ir/analyses.h"
#include "core/ir/call_graph.h"
#include "core/ir/walk.h"
#include "core/order/clone.h"
#include "transforms/calls/inline_calls.h"
#include "transforms/calls/unroll_functions.h"
#include "transforms/simplify/simplify.h"

#include <algorithm>
#include <optional>
#include <set>

namespace melix::transforms {

using namespace core;

namespace {

/// A function and which of its sizes are known.
struct Sized {
  FunctionId function;
  std::vector<std::optional<int64_t>> sizes;
  auto operator<=>(const Sized&) const = default;
  /// A check before such a call fails: it is something else than sizes that ends the recursion.
  bool isNegative() const {
    return std::any_of(sizes.begin(), sizes.end(),
                       [](std::optional<int64_t> n) { return n.value_or(0) < 0; });
  }
};

/// An op that calls a function, or its derivative, with sizes that are known.
struct Site {
  OpId op;
  Sized callee;
};

struct Instance {
  FunctionId function;
  std::vector<Site> sites;
  size_t ops = 0;
};

class SizeSpecialiser {
public:
  explicit SizeSpecialiser(Module& m) : m_(m), wanted_(m.functions.size(), false) { findWanted(); }

  /// The instances that the module has calls of now.
  std::vector<FunctionId> run() {
    // Copies are made of functions as they were, so that what one leads to depends on no call elsewhere.
    std::vector<std::pair<FunctionId, Site>> sites;
    for (uint32_t i = 0, written = static_cast<uint32_t>(m_.functions.size()); i < written; ++i) {
      const FunctionId f(i);
      if (!m_.functions[f].body.valid()) continue;
      for (Site& site : sitesIn(f))
        if (reach(site.callee)) sites.emplace_back(f, std::move(site));
    }
    for (const auto& [f, site] : sites) retarget(f, site);
    std::vector<FunctionId> out;
    for (const auto& [sized, instance] : instances_) out.push_back(instance.function);
    return out;
  }

private:
  /// The functions with sizes from which recursion may be reached.
  void findWanted() {
    const CallGraph calls(m_);
    std::vector<bool> isRule(m_.functions.size(), false);
    for (const Function& f : m_.functions)
      if (f.customJvp.valid()) isRule[f.customJvp.index] = true;
    for (FunctionId id : calls.order()) {
      const Function& f = m_.functions[id];
      if (!f.body.valid() || f.dimParams.empty() || f.customJvp.valid() || isRule[id.index]) continue;
      wanted_[id.index] =
          calls.isRecursive(id) || std::any_of(calls.callees(id).begin(), calls.callees(id).end(),
                                               [&](FunctionId callee) { return wanted_[callee.index]; });
    }
  }

  std::vector<Site> sitesIn(FunctionId id) const {
    std::vector<Site> out;
    const Function& f = m_.functions[id];
    forEachOp(f, [&](OpId op) {
      if (std::optional<Sized> callee = sizedCallee(f.ops[op])) out.push_back({op, std::move(*callee)});
    });
    return out;
  }
  std::optional<Sized> sizedCallee(const Op& op) const {
    FunctionId callee;
    if (op.kind == OpKind::Call) callee = op.as<CallAttr>().callee;
    // The two halves of a pullback speak of one function and one record.
    if (op.kind == OpKind::Derivative && !op.as<DerivativeAttr>().saved.valid())
      callee = op.as<DerivativeAttr>().callee;
    if (!callee.valid() || callee.index >= wanted_.size() || !wanted_[callee.index]) return std::nullopt;
    Sized out{callee, {}};
    bool any = false;
    for (DimId d : op.dims) {
      out.sizes.push_back(m_.types.dims.asConstant(d));
      any |= out.sizes.back().has_value();
    }
    return any ? std::optional(out) : std::nullopt;
  }

  /// Makes the instance and all that it leads to; false if these are too many.
  bool reach(const Sized& outermost) {
    std::vector<Sized> made, reached{outermost};
    bool few = true;
    size_t ops = 0;
    for (size_t k = 0; few && k < reached.size(); ++k) {
      const Sized at = reached[k];
      few = reached.size() <= mostInstances && !at.isNegative() && !refused_.contains(at);
      if (!few) break;
      if (instances_.try_emplace(at).second) {
        made.push_back(at);
        instances_[at] = make(at);
      }
      ops += instances_[at].ops;
      few = ops <= mostInstanceOps;
      for (const Site& site : instances_[at].sites)
        if (std::find(reached.begin(), reached.end(), site.callee) == reached.end())
          reached.push_back(site.callee);
    }
    if (few) {
      for (const Sized& at : made)
        for (const Site& site : instances_[at].sites) retarget(instances_[at].function, site);
      return true;
    }
    for (const Sized& at : made) {
      Function& refused = m_.functions[instances_[at].function];
      refused.body = RegionId();
      refused.version.raise();
      instances_.erase(at);
    }
    refused_.insert(outermost);
    return false;
  }

  void retarget(FunctionId caller, const Site& site) {
    Op& op = m_.functions[caller].ops[site.op];
    const FunctionId callee = instances_.at(site.callee).function;
    if (op.kind == OpKind::Call)
      op.as<CallAttr>().callee = callee;
    else
      op.as<DerivativeAttr>().callee = callee;
    Dims left;
    for (size_t k = 0; k < site.callee.sizes.size(); ++k)
      if (!site.callee.sizes[k]) left.push_back(op.dims[k]);
    op.dims = std::move(left);
  }

  Instance make(const Sized& sized) {
    const FunctionId source = sized.function;
    Function f;
    f.name = m_.functions[source].name;
    f.key = m_.functions[source].key + text(sized.sizes);
    f.device = m_.functions[source].device;
    f.isCold = m_.functions[source].isCold;
    f.loc = m_.functions[source].loc;
    f.inouts = m_.functions[source].inouts;
    f.body = f.regions.add(Region{});
    const RegionId body = f.body;
    const LocId loc = f.loc;
    const FunctionId id = m_.functions.add(std::move(f));
    Builder b(m_, id, body, loc);
    const Function& from = m_.functions[source];
    Cloner cloner(m_, source, id);
    for (size_t k = 0; k < sized.sizes.size(); ++k) {
      if (sized.sizes[k])
        cloner.setDim(from.dimParams[k], m_.types.dims.constant(*sized.sizes[k]));
      else
        b.fn().dimParams.push_back(cloner.defineDim(from.dimParams[k]));
    }
    for (ValueId p : from.params())
      cloner.values[p] = b.param(cloner.type(from.typeOf(p)), from.values[p].hint);
    for (DimSym s : from.resultDims) b.fn().resultDims.push_back(cloner.defineDim(s));
    for (TypeId t : from.results) b.fn().results.push_back(cloner.type(t));
    Cloner::Yielded end = cloner.body(from.body, b);
    b.yield(std::move(end.values), std::move(end.dims));
    foldBranches(id);
    size_t ops = 0;
    forEachOp(m_.functions[id], [&](OpId) { ++ops; });
    return {id, sitesIn(id), ops};
  }
  static std::string text(const std::vector<std::optional<int64_t>>& sizes) {
    std::string out;
    for (const std::optional<int64_t>& size : sizes)
      out += (out.empty() ? " [" : ", ") + (size ? std::to_string(*size) : "_");
    return out + "]";
  }
  /// So that calls which these sizes never reach are gone.
  void foldBranches(FunctionId id) {
    constexpr int maxRounds = 4;
    for (int round = 0; round < maxRounds && foldFunction(m_, id); ++round) {
    }
  }

  Module& m_;
  std::vector<bool> wanted_; ///< by function
  std::map<Sized, Instance> instances_;
  std::set<Sized> refused_; ///< they lead to too many
};

} // namespace

void specialiseSizes(Module& m) {
  const std::vector<FunctionId> instances = SizeSpecialiser(m).run();
  if (instances.empty()) return;
  raiseAll(m);
  removeUnreachable(m);
  unroll(m, instances);
  removeUnreachable(m); // what was copied into straight code
}

} // namespace melix::transforms
