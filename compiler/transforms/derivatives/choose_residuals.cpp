// Which of the values asked for of a region are kept by the forward companion; the others are rematerialised
// (rematerialise.cpp).

#include "core/ir/nest.h"
#include "core/ir/walk.h"
#include "transforms/analysis/minimum_cut.h"
#include "transforms/derivatives/backward_values.h"
#include "transforms/derivatives/residual_cost.h"

#include <algorithm>
#include <numeric>

namespace melix::transforms {

// Note: What is kept
//
// Of the values that the backward companion asks for, and those that they are made of in the same region, a
// minimum cut is kept: the least bytes from which all that is asked for can be rematerialised. Nothing is
// rematerialised that costs more than keeping it may (`isProfitable`), nor calls, loops, branches and nests,
// but for those that collect what is scalar work at each point. Values from outside of a loop or nest cost
// nothing within it: they are kept once, arrays by reference, and reads of them are rematerialised; but not
// of arrays that are updated later, for keeping these would cost a copy at every update. A value that a nest
// collects anyway is read there. An item of a branch lies in an enum, which is a block of its own. An
// array that is part of a parameter is kept together with its indices: the caller has the parameter, and
// chooses between the part and the indices.
//
// What decides (a comparison of floats, an integer made of one) has to decide as it did: an index that was
// checked is not checked again. Arithmetic rematerialised may round otherwise, for an `fma` is formed by what
// stands around it. So a decision is rematerialised only of floats that have their bits: kept, read where
// they were kept, or sums, differences and extremes of such, in which no product stands.

namespace {

constexpr uint64_t unit = 4096;    ///< of weights: bytes are divided by points
constexpr uint64_t enumBytes = 16; ///< that an item of a branch costs beside its own
constexpr uint64_t tripCount = 64; ///< of a loop, guessed
constexpr uint64_t mostKeptPoints = uint64_t(1) << 24;
constexpr int lookedAt = 24; ///< ops, to see that a value from further out is free

/// Whether the op makes no float of a float.
bool decides(const Function& f, const types::TypeStore& types, const Op& op) {
  if (op.kind != OpKind::Cmp && op.kind != OpKind::Convert && op.kind != OpKind::Bitcast) return false;
  return types.isFloat(f.typeOf(op.operands[0])) && !types.isFloat(f.typeOf(op.results[0]));
}

} // namespace

/// How often the region of the scope runs for each time that `v`, from outside, is made; guessed where that
/// is not known.
uint64_t KnownValues::pointsFor(const Scope& s, ValueId v) const {
  uint64_t points = 1;
  const Scope* end = &levelOf(scopeOf(homeOf(v)));
  for (const Scope* level = &levelOf(s); level != end; level = &levelOf(*level->parent)) {
    if (level->kind == ScopeKind::Loop) points *= tripCount;
    if (level->kind == ScopeKind::Nest)
      for (DimId d : opOf(g().regions[level->source].parent).dims) points *= guessedExtent(types(), d);
    points = std::clamp<uint64_t>(points, 1, mostKeptPoints);
  }
  return points;
}

/// The graph of what is asked for in a region.
class KnownValues::Choice {
public:
  Choice(KnownValues& known, const Scope& scope)
      : known_(known), s_(scope), demands_(scope.demands.begin(), scope.demands.end()) {
    for (ValueId v : scope.demands) numberOf(v);
    for (size_t k = 0; k < nodes_.size(); ++k) explore(k);
  }

  /// Parts of the graph that do not touch are cut on their own: what is rematerialised is short, and so are
  /// they.
  std::vector<ValueId> solve() {
    keepBits();
    limit();
    std::vector<std::vector<uint32_t>> parts(nodes_.size());
    const std::vector<uint32_t> partOf = connected();
    for (uint32_t k = 0; k < nodes_.size(); ++k) parts[partOf[k]].push_back(k);
    std::vector<ValueId> out;
    for (const std::vector<uint32_t>& part : parts) solve(part, out);
    return out;
  }

private:
  struct Node {
    ValueId value;
    std::optional<uint64_t> further;             ///< from further out: the weight of asking for it
    std::optional<std::vector<ValueId>> sources; ///< none: it is not rematerialised
    std::vector<uint32_t> from;                  ///< nodes of sources that may cost something
    Effort own{};                                ///< to make it again of its sources
    uint32_t seenAt = 0;                         ///< the round of `effort` that counted it
  };

  uint32_t numberOf(ValueId v) {
    auto [it, isNew] = numbers_.try_emplace(v, static_cast<uint32_t>(nodes_.size()));
    if (isNew) nodes_.push_back({v, {}, {}, {}});
    return it->second;
  }
  bool isHere(ValueId v) const { return known_.homeOf(v) == s_.source; }

  void explore(size_t k) {
    if (nodes_[k].further) return;
    nodes_[k].sources = known_.rematerialisationSources(s_, nodes_[k].value);
    if (!nodes_[k].sources) return;
    if (varies(nodes_[k].value)) nodes_[k].own = known_.effortOf(nodes_[k].value);
    const std::vector<ValueId> sources = *nodes_[k].sources;
    for (ValueId x : sources) {
      if (known_.isImmediate(x) || (known_.isKnown(x) && !demands_.contains(x))) continue;
      const std::optional<uint64_t> cost = isHere(x) ? std::nullopt : std::optional(further(x));
      if (cost == 0) continue;
      const uint32_t from = numberOf(x);
      nodes_[from].further = cost;
      nodes_[k].from.push_back(from);
    }
  }
  /// Whether a value of the region is not the same at all points, or in all iterations, before which it is
  /// made.
  bool varies(ValueId v, int depth = lookedAt) {
    const ScopeKind kind = known_.levelOf(s_).kind;
    if (kind != ScopeKind::Nest && kind != ScopeKind::Loop) return true;
    if (known_.isImmediate(v) || !isHere(v)) return false;
    const auto [it, isNew] = varies_.try_emplace(v, true);
    if (!isNew) return it->second;
    const Op* def = known_.definition(v);
    if (depth == 0 || !def || !known_.types().isScalar(known_.g().typeOf(v)) ||
        !rematerialisationEffort(known_.g(), known_.types(), *def))
      return true;
    const bool out = std::ranges::any_of(def->operands, [&](ValueId x) { return varies(x, depth - 1); });
    return varies_[v] = out;
  }
  /// What it costs to ask for `x`, from further out.
  uint64_t further(ValueId x) const {
    int budget = lookedAt;
    return further(x, budget);
  }
  /// Nothing where it is at hand, or will be without anything saved for it alone; else its bytes, or less
  /// where it is read of what costs less: of an element at an index, say, the index.
  uint64_t further(ValueId x, int& budget) const {
    if (known_.isKnown(x) || known_.isImmediate(x)) return 0;
    const Op* def = known_.definition(x);
    const uint64_t bytes = unit * bytesKept(known_.types(), known_.g().typeOf(x)) - (def && isPlace(*def, x));
    const uint64_t own = bytes / known_.pointsFor(s_, x);
    if (--budget <= 0 || known_.updated(x)) return own;
    if (!def) return known_.g().values[x].region == known_.g().body ? 0 : own;
    const std::optional<Effort> effort = rematerialisationEffort(known_.g(), known_.types(), *def);
    if (!effort || effort->math > 0) return own;
    uint64_t sum = 0;
    for (ValueId v : def->operands) sum = std::min(own, sum + further(v, budget));
    return sum;
  }

  /// What decides is rematerialised of floats that have their bits, and so are the values that these are read
  /// of.
  void keepBits() {
    std::vector<ValueId> queue;
    for (const Node& node : nodes_) {
      const Op* def = known_.definition(node.value);
      if (node.sources && def && decides(known_.g(), known_.types(), *def))
        queue.insert(queue.end(), def->operands.begin(), def->operands.end());
      if (known_.exact_.contains(node.value)) queue.push_back(node.value);
    }
    std::unordered_set<ValueId> seen;
    for (size_t k = 0; k < queue.size(); ++k) {
      const ValueId v = queue[k];
      if (known_.isImmediate(v) || !seen.insert(v).second) continue;
      known_.exact_.insert(v);
      if (const auto held = known_.collectedAs(v)) known_.exact_.insert(held->first);
      const Op* def = known_.definition(v);
      if (def && known_.keepsBits(*def)) // indices are no floats
        queue.insert(queue.end(), def->operands.begin(),
                     def->kind == OpKind::Get ? def->operands.begin() + 1 : def->operands.end());
      else if (auto it = numbers_.find(v); it != numbers_.end() && !nodes_[it->second].further)
        given(nodes_[it->second]);
    }
  }

  /// Values that would cost too much are not rematerialised; in the order of the program, so that all that a
  /// value is made of is known.
  void limit() {
    for (OpId id : known_.g().regions[s_.source].ops)
      for (ValueId v : known_.opOf(id).results)
        if (auto it = numbers_.find(v); it != numbers_.end()) limit(nodes_[it->second]);
    for (Node& node : nodes_)
      if (!known_.g().values[node.value].def.valid()) limit(node);
  }
  void limit(Node& node) {
    if (!node.sources || isProfitable(known_.types(), known_.g().typeOf(node.value), effort(node))) return;
    // An elementary function of what is expensive itself: others may be made of that as well.
    if (node.own.math == 0) return given(node);
    for (uint32_t from : node.from) given(nodes_[from]);
  }
  static void given(Node& node) {
    node.sources.reset();
    node.from.clear();
    node.own = {};
  }
  /// Of all that the value is made of; no more is counted than decides.
  Effort effort(const Node& node) {
    Effort sum;
    ++round_;
    std::vector<const Node*> queue{&node};
    for (size_t k = 0; k < queue.size(); ++k) {
      sum += queue[k]->own;
      if (!isProfitable(known_.types(), known_.g().typeOf(node.value), sum)) break;
      for (uint32_t from : queue[k]->from)
        if (std::exchange(nodes_[from].seenAt, round_) != round_) queue.push_back(&nodes_[from]);
    }
    return sum;
  }

  /// By node: the least of those that it is connected with.
  std::vector<uint32_t> connected() const {
    std::vector<uint32_t> parents(nodes_.size());
    std::iota(parents.begin(), parents.end(), 0);
    auto root = [&](uint32_t k) {
      while (parents[k] != k) k = parents[k] = parents[parents[k]];
      return k;
    };
    for (uint32_t k = 0; k < nodes_.size(); ++k)
      for (uint32_t from : nodes_[k].from) {
        const auto [low, high] = std::minmax({root(k), root(from)});
        parents[high] = low;
      }
    for (uint32_t k = 0; k < nodes_.size(); ++k) parents[k] = root(k);
    return parents;
  }
  void solve(const std::vector<uint32_t>& part, std::vector<ValueId>& out) {
    MinimumCut cut;
    std::unordered_map<uint32_t, uint32_t> numberIn;
    for (uint32_t k : part) numberIn[k] = cut.node(weight(nodes_[k]));
    for (uint32_t k : part) {
      if (demands_.contains(nodes_[k].value)) cut.needed(numberIn[k]);
      if (!nodes_[k].sources) cut.given(numberIn[k]);
      for (uint32_t from : nodes_[k].from) cut.require(numberIn[from], numberIn[k]);
    }
    const std::vector<bool> isCut = cut.solve();
    for (uint32_t k : part)
      if (isCut[numberIn[k]] && !nodes_[k].further) out.push_back(nodes_[k].value);
  }

  uint64_t weight(const Node& node) const {
    if (node.further) return *node.further;
    const uint64_t bytes = bytesKept(known_.types(), known_.g().typeOf(node.value));
    if (known_.collectedAs(node.value)) return unit * bytes - 1;
    const Op* def = known_.definition(node.value);
    const uint64_t all = unit * (bytes + (s_.kind == ScopeKind::Arm ? enumBytes : 0));
    // The place of an extreme is kept rather than an index made of it, of which less is known.
    if (def && isPlace(*def, node.value)) return all - 1;
    if (!def && isIndexGiven(node.value)) return all - 1;
    const bool reads = def && def->kind == OpKind::Get && known_.isOutside(s_, def->operands[0]);
    // What is read is kept rather than the elements: it is there already.
    return all + (reads ? 1 : 0);
  }
  /// Whether a function is given an integer that counts no iterations: it is kept rather than an index made
  /// of it, as who calls may have it anyway.
  bool isIndexGiven(ValueId v) const {
    const Function& f = known_.g();
    if (s_.source != f.body || !types::isIntKind(known_.types().kind(f.typeOf(v)))) return false;
    bool counts = false;
    forEachOp(f, f.body, [&](OpId id) {
      const OpKind kind = f.ops[id].kind;
      counts |= kind == OpKind::For || kind == OpKind::While || kind == OpKind::BindDim;
    });
    return !counts;
  }
  bool isPlace(const Op& op, ValueId v) const {
    if (op.kind != OpKind::Nest) return false;
    const NestView nest(known_.g(), op);
    return std::ranges::any_of(nest.parts(), [&](const NestPart& part) {
      const std::span<const ValueId> own = nest.results(part);
      return isPosition(*part.spec) && std::ranges::find(own, v) != own.end();
    });
  }

  KnownValues& known_;
  const Scope& s_;
  const std::unordered_set<ValueId> demands_;
  std::vector<Node> nodes_;
  std::unordered_map<ValueId, uint32_t> numbers_;
  std::unordered_map<ValueId, bool> varies_;
  uint32_t round_ = 0;
};

/// The values of the region that are kept, of those that were asked for. Those that are read where a nest
/// collects them are entered into the plan.
std::vector<ValueId> KnownValues::choose(const Scope& s) {
  std::vector<ValueId> kept = Choice(*this, s).solve();
  std::erase_if(kept, [&](ValueId v) {
    const bool collected = collectedAs(v).has_value();
    if (collected) lin_.plan.collected.insert(v);
    return collected;
  });
  if (s.kind == ScopeKind::Function) keepIndices(kept);
  return kept;
}

/// An array that is part of a parameter stands after its indices: the caller has the parameter, and may read
/// the part again rather than keep it for each call.
void KnownValues::keepIndices(std::vector<ValueId>& kept) const {
  std::vector<ValueId> indices;
  for (ValueId v : kept) {
    const std::optional<PartOfParam> part = partOfParam(v);
    if (!part || types().isScalar(g().typeOf(v))) continue;
    for (ValueId index : part->indices)
      if (!isImmediate(index) && std::ranges::find(indices, index) == indices.end()) indices.push_back(index);
  }
  std::erase_if(kept, [&](ValueId v) { return std::ranges::find(indices, v) != indices.end(); });
  kept.insert(kept.begin(), indices.begin(), indices.end());
}

} // namespace melix::transforms
