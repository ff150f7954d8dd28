#include "core/ir/place.h"

#include "core/ir/path.h"
#include "types/leaves.h"

#include <algorithm>

namespace melix::core {

Place placeOf(const Op& op) {
  const Path& path = op.as<Path>();
  const Operands& all = op.operands;
  return {path, {all.begin() + (op.kind == OpKind::Get ? 1 : 2), all.end()}};
}

size_t leadingAxes(const types::TypeStore& types, TypeId root, const Path& path) {
  if (types.kind(root) != TypeKind::Array) return 0;
  size_t n = 0;
  while (n < path.size() && isIndexLike(path[n].kind)) ++n;
  return n;
}

namespace {

/// A step and its index, if it takes one.
struct Step {
  PathStep step;
  ValueId index;
};

std::vector<Step> stepsOf(const Place& p) {
  std::vector<Step> out;
  size_t at = 0;
  for (const PathStep& s : p.path) out.push_back({s, takesIndex(s.kind) ? p.indices[at++] : ValueId()});
  return out;
}

/// What a step does on the axis that another one keeps.
Step onAxis(Builder& b, const Step& kept, const Step& inner) {
  if (kept.step.kind == StepKind::All) return inner;
  if (inner.step.kind == StepKind::All) return kept;
  const int64_t stride = kept.step.step;
  ValueId offset = inner.index;
  if (stride != 1) offset = b.binary(OpKind::Mul, b.integer(stride), offset);
  Step out{inner.step, b.binary(OpKind::Add, kept.index, offset)};
  out.step.step = stride * inner.step.step;
  return out;
}

bool isFieldStep(const Step& s) { return s.step.kind == StepKind::Field; }

Place placeOfSteps(const std::vector<Step>& steps) {
  Place out;
  for (const Step& s : steps) {
    out.path.push_back(s.step);
    if (s.index.valid()) out.indices.push_back(s.index);
  }
  return out;
}

/// Whether a place is a record as a whole, such as an element of a list: its fields are places too.
bool isRecord(types::TypeStore& types, TypeId root, const Path& path) {
  const std::optional<TypeId> at = pathType(types, root, path);
  return at && types::hasParts(types, *at);
}

} // namespace

std::optional<Place> placeWithin(Builder& b, TypeId root, const Place& outer, const Place& inner) {
  const std::vector<Step> from = stepsOf(outer), to = stepsOf(inner);
  const bool isArray = b.types().kind(root) == TypeKind::Array;
  const size_t rank = isArray ? b.types()[root].dims.size() : 0;
  const size_t axes = leadingAxes(b.types(), root, outer.path);
  auto isKept = [](const Step& s) { return s.step.kind != StepKind::Index; };
  if (isArray && !from.empty() && isFieldStep(from[0])) return std::nullopt; // the part is an array itself
  const auto fields = from.begin() + static_cast<std::ptrdiff_t>(axes);
  if (!std::all_of(fields, from.end(), isFieldStep)) {
    if (!std::ranges::all_of(to, isFieldStep) || !isRecord(b.types(), root, outer.path)) return std::nullopt;
    std::vector<Step> all = from;
    all.insert(all.end(), to.begin(), to.end());
    return placeOfSteps(all);
  }

  std::vector<Step> all(from.begin(), fields);
  all.resize(rank, Step{PathStep{StepKind::All, 0, {}, 1}, {}});
  const auto kept = std::count_if(all.begin(), all.end(), isKept);
  auto next = to.begin();
  while (next != to.end() && next - to.begin() < kept && isIndexLike(next->step.kind)) ++next;
  if (next != to.end() && !isFieldStep(*next)) return std::nullopt;
  auto on = to.begin();
  for (Step& s : all)
    if (isKept(s) && on != next) s = onAxis(b, s, *on++);
  while (!all.empty() && all.back().step.kind == StepKind::All) all.pop_back(); // whole without a step
  all.insert(all.end(), fields, from.end());
  all.insert(all.end(), next, to.end());
  return placeOfSteps(all);
}

namespace {

/// Goes along an updated place and a read one together.
class Overlapping {
public:
  Overlapping(const Module& m, const Function& f, const Place& updated, const Place& read)
      : m_(m), f_(f), updated_(stepsOf(updated)), read_(stepsOf(read)) {}

  Overlap run(TypeId at) {
    types::TypeStore& types = m_.types;
    while (u_ < updated_.size()) {
      bool goes = false;
      if (types.kind(at) == TypeKind::Array) {
        const size_t rank = types[at].dims.size();
        for (size_t k = 0; k < rank; ++k)
          if (!axis()) return out_;
        at = types[at].parts[0];
        goes = true;
      } else if (r_ < read_.size() && isField(updated_[u_]) && isField(read_[r_])) {
        const uint32_t part = updated_[u_++].step.number;
        if (read_[r_++].step.number != part) return setDisjoint();
        goes = types::hasParts(types, at);
        if (goes) at = types::partOf(types, at, part);
      }
      if (!goes) return out_;
    }
    for (; r_ < read_.size(); ++r_) rest(read_[r_]);
    out_.kind = Overlap::Within;
    return std::move(out_);
  }

private:
  static bool isField(const Step& s) { return s.step.kind == StepKind::Field; }
  /// The step of the axis at hand; whole if there is none.
  static Step axisStep(const std::vector<Step>& steps, size_t& at) {
    if (at < steps.size() && isIndexLike(steps[at].step.kind)) return steps[at++];
    return {PathStep{StepKind::All, 0, {}, 1}, {}};
  }
  /// Whether nothing is decided, and it can go on.
  bool axis() {
    const Step updated = axisStep(updated_, u_), read = axisStep(read_, r_);
    if (updated.step.kind == StepKind::All) return rest(read), true;
    if (read.step.kind != StepKind::Index) return false;
    if (updated.step.kind == StepKind::Slice) {
      out_.inSlices.push_back({read.index, updated.index, updated.step.length, updated.step.step});
      out_.rest.path.push_back(read.step);
      out_.rest.indices.emplace_back();
      return true;
    }
    if (updated.step.kind != StepKind::Index) return false;
    if (updated.index == read.index) return true;
    const std::optional<uint64_t> a = constantOf(updated.index), b = constantOf(read.index);
    if (a && b && *a != *b) return setDisjoint(), false;
    if (!a || !b) out_.equal.emplace_back(updated.index, read.index);
    return true;
  }
  Overlap setDisjoint() {
    out_ = {Overlap::Disjoint, {}, {}, {}};
    return out_;
  }
  void rest(const Step& s) {
    out_.rest.path.push_back(s.step);
    if (s.index.valid()) out_.rest.indices.push_back(s.index);
  }
  std::optional<uint64_t> constantOf(ValueId v) const {
    const OpId def = f_.values[v].def;
    if (!def.valid() || f_.ops[def].kind != OpKind::Const) return std::nullopt;
    return f_.ops[def].as<Constant>().bits;
  }

  const Module& m_;
  const Function& f_;
  const std::vector<Step> updated_, read_;
  size_t u_ = 0, r_ = 0;
  Overlap out_;
};

} // namespace

Overlap overlap(const Module& m, const Function& f, TypeId root, const Place& updated, const Place& read) {
  auto byElement = [&](const Place& p) { return Place{indicesFirst(m.types, root, p.path), p.indices}; };
  Overlap out = Overlapping(m, f, byElement(updated), byElement(read)).run(root);
  if (m.recordsFlat && out.kind == Overlap::Within)
    out.rest.path = fieldsFirst(m.types, *pathType(m.types, root, updated.path), out.rest.path);
  return out;
}

} // namespace melix::core
