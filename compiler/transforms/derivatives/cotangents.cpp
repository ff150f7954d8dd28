// Cotangents of values of g in f_bwd: where they stand, how they begin, what is added to them.

#include "transforms/derivatives/cotangents.h"
#include "core/ir/path.h"
#include "core/ir/same_path.h"
#include "transforms/derivatives/scalar_rules.h"

#include <algorithm>
#include <utility>

namespace melix::transforms {

/// Summed over the lanes of a nest rather than accumulated: what is no array or list, and has a zero of its
/// own.
static bool byValue(const types::TypeStore& types, TypeId t) {
  TypeKind k = types.kind(t);
  return k != TypeKind::Array && k != TypeKind::Acc && !sizedByValue(types, t);
}

void Cotangents::makeWaiting(Scope& s, ValueId v) {
  closeHoles(s, v);
  auto found = s.parts.waiting.find(v);
  if (found == s.parts.waiting.end()) return;
  std::vector<Add> adds = std::move(found->second);
  s.parts.waiting.erase(found);
  beginAt(s, v);
  ValueId c = s.cotangents[v];
  s.cotangents[v] = c.valid() ? addAll(s, c, std::move(adds)) : sumOf(s, v, {}, typeOf(v), std::move(adds));
}

ValueId Cotangents::addAll(Scope& s, ValueId c, std::vector<Add> adds) {
  for (Add& add : adds) c = s.e.addAt(c, add.value, std::move(add.path), add.indices);
  return c;
}

/// The cotangent of the part of `v` at `path`, of type `t`, that these adds make: what is added to all of it
/// it begins with, and a tuple or struct is made of its parts. So an array in one gets no zero beside it.
ValueId Cotangents::sumOf(Scope& s, ValueId v, std::vector<uint32_t> path, TypeId t, std::vector<Add> adds) {
  if (types().isUnit(t)) return s.e.make(t, {});
  const auto whole = std::find_if(adds.begin(), adds.end(), [](const Add& add) { return add.path.empty(); });
  if (whole != adds.end()) {
    const ValueId c = s.e.castDims(whole->value, t);
    adds.erase(whole);
    return addAll(s, c, std::move(adds));
  }
  const TypeKind kind = types().kind(t);
  if (adds.empty() || (kind != TypeKind::Tuple && kind != TypeKind::Struct))
    return addAll(s, zeroOfPart(s, v, path, t), std::move(adds));
  std::vector<ValueId> parts;
  for (uint32_t k = 0; k < ad_.leaves.kidCount(t); ++k) {
    std::vector<Add> own;
    for (const Add& add : adds)
      if (add.path[0].number == k)
        own.push_back({Path(add.path.begin() + 1, add.path.end()), add.indices, add.value});
    path.push_back(k);
    parts.push_back(sumOf(s, v, path, ad_.leaves.kid(t, k), std::move(own)));
    path.pop_back();
  }
  return s.e.make(t, std::move(parts));
}

/// For one who adds what was read.
ValueId& Cotangents::slot(Scope& s, ValueId v) {
  ValueId& c = open(s, v);
  s.read.erase(v);
  return c;
}

ValueId& Cotangents::open(Scope& s, ValueId v) {
  if (homeOf(v) == s.source) {
    makeWaiting(s, v);
    return s.cotangents[v];
  }
  if (auto it = s.captured.find(v); it != s.captured.end()) {
    closeHoles(s, v);
    return it->second.current;
  }
  Capture c;
  if (s.kind == ScopeKind::Arm) {
    c.base = c.current = open(*s.parent, v);
    if (const ValueId read = readOf(*s.parent, v); read.valid()) s.read[v] = read;
  } else if (s.kind == ScopeKind::Loop || !byValue(types(), g().typeOf(v))) {
    ValueId& outer = open(*s.parent, v);
    if (!outer.valid()) outer = zeroFor(*s.parent, v);
    c.init = outer;
    TypeId t = s.e.typeOf(outer);
    if (s.kind == ScopeKind::Nest && types().kind(t) != TypeKind::Acc) t = types().acc(t);
    c.current = c.param = s.kind == ScopeKind::Nest ? s.e.placeholder(t) : s.e.param(t);
  }
  s.captureOrder.push_back(v);
  return s.captured.emplace(v, c).first->second.current;
}

ValueId Cotangents::readOf(const Scope& s, ValueId v) {
  const auto found = s.read.find(v);
  return found == s.read.end() ? ValueId() : found->second;
}

/// What the op at hand gives was added to the cotangent of `v`, which had begun before.
void Cotangents::noteRead(ValueId v, bool begun) {
  if (!read_.valid() || !steep_.contains(v)) {
    cur_->read.erase(v);
  } else if (!begun) {
    cur_->read[v] = read_;
  } else if (const ValueId before = readOf(*cur_, v); before.valid()) {
    cur_->read[v] = cur_->e.binary(OpKind::Or, before, read_);
  }
}

// --- holes
// ------------------------------------------------------------------------------------------------------------

/// The cotangent of `v` as it stands in a scope that has one, holes and all.
ValueId& Cotangents::current(Scope& s, ValueId v) {
  return homeOf(v) == s.source ? s.cotangents[v] : s.captured.at(v).current;
}

ValueId Cotangents::zeroOf(Scope& s, const Hole& hole) {
  return hole.overwritten ? zeroFollowing(s, hole.type, *hole.overwritten) : s.e.zero(hole.type);
}

/// Adds `c` to the cotangent of `v`, but for a place, to which nothing is added.
void Cotangents::addBut(ValueId v, ValueId c, Hole hole) {
  if (homeOf(v) != cur_->source) begin(v);
  if (ValueId& s = slot(*cur_, v); !s.valid()) {
    s = cur_->e.castDims(c, typeOf(v));
    return cur_->parts.holes.push_back(std::move(hole));
  }
  addTo(v, cur_->e.set(c, zeroOf(*cur_, hole), hole.path, hole.indices));
}

/// Whether an add is to a hole: then its value stands there.
bool Cotangents::fill(Scope& s, const Add& add, ValueId v) {
  auto found = std::find_if(s.parts.holes.begin(), s.parts.holes.end(), [&](const Hole& h) {
    return h.whole == v && samePath(h.path, add.path) && h.indices == add.indices;
  });
  if (found == s.parts.holes.end()) return false;
  ValueId& c = current(s, v);
  c = s.e.set(c, s.e.castDims(add.value, found->type), add.path, add.indices);
  s.parts.holes.erase(found);
  return true;
}

/// Those of `v`, before anything else is done with its cotangent; of every value, without one.
void Cotangents::closeHoles(Scope& s, ValueId v) {
  for (size_t k = 0; k < s.parts.holes.size();) {
    if (v.valid() && s.parts.holes[k].whole != v) {
      ++k;
      continue;
    }
    const Hole hole = std::move(s.parts.holes[k]);
    s.parts.holes.erase(s.parts.holes.begin() + static_cast<std::ptrdiff_t>(k));
    ValueId& c = current(s, hole.whole);
    c = s.e.set(c, zeroOf(s, hole), hole.path, hole.indices);
  }
}

/// Of a value of the current region; none for zero.
ValueId Cotangents::cotangent(ValueId v) {
  if (isAcc(v)) return {};
  makeWaiting(*cur_, v);
  auto it = cur_->cotangents.find(v);
  return it == cur_->cotangents.end() ? ValueId() : it->second;
}

ValueId Cotangents::realCotangent(ValueId v) {
  ValueId c = cotangent(v);
  return c.valid() ? c : zeroFor(*cur_, v);
}

ValueId Cotangents::reader(ValueId v) const {
  auto it = readers_.find(v);
  return it == readers_.end() ? ValueId() : it->second;
}

/// Whether something was added to the cotangent of `v`, as far as the current scope sees.
bool Cotangents::begun(ValueId v) const {
  const Scope* s = cur_;
  for (; s->source != homeOf(v); s = s->parent)
    if (s->captured.count(v)) return true;
  auto found = s->cotangents.find(v);
  return found != s->cotangents.end() && found->second.valid();
}

void Cotangents::addTo(ValueId v, ValueId c) {
  if (!linear(v) || !c.valid()) return;
  if (isAcc(v)) {
    readers_[v] = c;
    return;
  }
  Emit& e = cur_->e;
  c = e.castDims(c, typeOf(v));
  if (cur_->parts.waiting.count(v)) {
    cur_->read.erase(v);
    cur_->cotangents[v] = c;
    return makeWaiting(*cur_, v);
  }
  if (homeOf(v) != cur_->source) begin(v);
  ValueId& s = open(*cur_, v);
  const bool isBegun = s.valid();
  if (!isBegun)
    s = c;
  else if (byValue(types(), e.typeOf(s)))
    s = e.add(s, c);
  else
    s = e.addAt(s, c, {}, {});
  noteRead(v, isBegun);
}

/// Whether the steps of another path go on where those of `p` end: no axes are kept.
static bool reachesPart(types::TypeStore& types, TypeId root, const Path& p) {
  for (size_t k = 0; k < p.size(); ++k) {
    if (p[k].kind == StepKind::Slice || p[k].kind == StepKind::All) return false;
    if (p[k].kind == StepKind::Index || k == 0) continue;
    if (types.kind(*core::pathType(types, root, Path(p.begin(), p.begin() + static_cast<long>(k)))) ==
        TypeKind::Array)
      return false;
  }
  return true;
}

/// The op that read `v` at a place of another value, if an add to a place of `v` is to go there: nothing was
/// added to `v` itself, nor is its cotangent swept by a nest.
const Op* Cotangents::readAt(ValueId v) const {
  const OpId def = g().values[v].def;
  if (!def.valid() || opOf(def).kind != OpKind::Get || begun(v)) return nullptr;
  const Op& o = opOf(def);
  for (const Scope* s = cur_; s->source != homeOf(v); s = s->parent)
    if (s->kind == ScopeKind::Nest) return nullptr;
  return linear(o.operands[0]) && reachesPart(types(), g().typeOf(o.operands[0]), o.as<Path>()) ? &o
                                                                                                : nullptr;
}

void Cotangents::addAt(ValueId v, Path p, std::vector<ValueId> indices, ValueId c) {
  if (p.empty()) return addTo(v, c);
  if (!linear(v)) return;
  if (const Op* read = readAt(v)) {
    Path whole = path(read->as<Path>());
    whole.insert(whole.end(), p.begin(), p.end());
    std::vector<ValueId> at =
        placeIndices(cur_->e, StructuralRule::TransposeGet, knownAll(std::span(read->operands).subspan(1)));
    at.insert(at.end(), indices.begin(), indices.end());
    return addAt(read->operands[0], std::move(whole), std::move(at), c);
  }
  if (fill(*cur_, {p, indices, c}, v)) return;
  if (homeOf(v) == cur_->source && !cur_->cotangents[v].valid()) {
    cur_->parts.waiting[v].push_back({std::move(p), std::move(indices), c});
    return;
  }
  begin(v);
  ValueId& s = slot(*cur_, v);
  if (!s.valid()) s = zeroFor(*cur_, v);
  s = cur_->e.addAt(s, c, std::move(p), indices);
}

} // namespace melix::transforms
