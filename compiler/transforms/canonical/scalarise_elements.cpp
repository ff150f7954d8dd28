#include "transforms/canonical/scalarise_elements.h"

#include "core/ir/build.h"
#include "core/ir/place.h"
#include "core/ir/uses.h"
#include "core/ir/walk.h"
#include "transforms/walks/for_each_function.h"

#include <algorithm>
#include <optional>
#include <unordered_map>

namespace melix::transforms {

using namespace core;

namespace {

class ElementForwarder {
public:
  ElementForwarder(Module& m, FunctionId id)
      : m_(m), id_(id), f_(m.functions[id]), uses_(m, id), scratch_(f_.regions.add(Region{})) {}

  bool run() {
    region(f_.body);
    if (changed_) applyInsertions(f_.body);
    return changed_;
  }

private:
  /// An element: a value, or how one is made before an op when it is read.
  struct Cell {
    ValueId value;
    OpId at;
    OpKind kind = OpKind::Const; ///< of nothing: zero
    uint32_t a = 0, b = 0;       ///< of Add, Sub, Neg: cells
  };
  using Elements = std::vector<uint32_t>; ///< row-major, numbers of cells

  void region(RegionId r) {
    work.ops += f_.regions[r].ops.size();
    for (OpId id : f_.regions[r].ops) {
      step(id);
      for (RegionId inner : f_.ops[id].regions) region(inner);
    }
  }

  void step(OpId id) {
    const Op& op = f_.ops[id];
    if (op.kind == OpKind::Get) return read(id);
    if (op.results.size() != 1) return;
    const std::optional<int64_t> size = sizeOf(f_.typeOf(op.results[0]));
    if (!size) return;
    std::optional<Elements> elements;
    switch (op.kind) {
    case OpKind::ArrayOf: elements = stacked(op); break;
    case OpKind::Zero: elements = zeros(id, *size); break;
    case OpKind::Reshape:
    case OpKind::CastDims: elements = known(op.operands[0]); break;
    case OpKind::Set:
    case OpKind::AddAt: elements = updated(id); break;
    case OpKind::Add:
    case OpKind::Sub:
    case OpKind::Neg: elements = computed(id); break;
    default: break;
    }
    if (elements && elements->size() == static_cast<size_t>(*size))
      elements_.insert_or_assign(op.results[0], std::move(*elements));
  }

  // --- cells

  uint32_t cell(Cell c) {
    cells_.push_back(c);
    return static_cast<uint32_t>(cells_.size() - 1);
  }
  uint32_t cellOf(ValueId v) { return cell({v, {}}); }
  ValueId valueOf(uint32_t number) {
    if (cells_[number].value.valid()) return cells_[number].value;
    const Cell c = cells_[number];
    Builder b(m_, id_, scratch_, f_.ops[c.at].loc);
    ValueId made;
    if (c.kind == OpKind::Const) {
      made = b.constant(m_.types.element(f_.typeOf(f_.ops[c.at].results[0])), 0);
    } else {
      const ValueId a = valueOf(c.a);
      made = c.kind == OpKind::Neg ? b.unary(c.kind, a) : b.binary(c.kind, a, valueOf(c.b));
    }
    const OpId def = f_.values[made].def;
    uses_.enter(def, uses_.regionOf(c.at));
    before_[c.at].push_back(def);
    f_.regions[scratch_].ops.clear();
    return cells_[number].value = made;
  }

  // --- what is known

  /// The number of elements of an array that may be known.
  std::optional<int64_t> sizeOf(TypeId type) const {
    if (m_.types.kind(type) != TypeKind::Array || !m_.types.isScalar(m_.types.element(type)))
      return std::nullopt;
    int64_t size = 1;
    for (DimId d : m_.types[type].dims) {
      const std::optional<int64_t> extent = m_.types.dims.asConstant(d);
      if (!extent || *extent < 1 || *extent > largestKnown) return std::nullopt;
      size *= *extent;
      if (size > largestKnown) return std::nullopt;
    }
    return size;
  }
  std::optional<Elements> known(ValueId array) const {
    auto it = elements_.find(array);
    return it == elements_.end() ? std::nullopt : std::optional(it->second);
  }
  std::optional<int64_t> constantOf(ValueId v) const {
    const OpId def = f_.values[v].def;
    if (!def.valid() || f_.ops[def].kind != OpKind::Const) return std::nullopt;
    return static_cast<int64_t>(f_.ops[def].as<Constant>().bits);
  }

  std::optional<Elements> stacked(const Op& op) {
    Elements out;
    for (ValueId part : op.operands) {
      if (m_.types.isScalar(f_.typeOf(part))) {
        out.push_back(cellOf(part));
      } else {
        auto row = elements_.find(part);
        if (row == elements_.end()) return std::nullopt;
        out.insert(out.end(), row->second.begin(), row->second.end());
      }
    }
    return out;
  }
  std::optional<Elements> zeros(OpId id, int64_t size) {
    const TypeId element = m_.types.element(f_.typeOf(f_.ops[id].results[0]));
    if (!m_.types.isInt(element) && !m_.types.isFloat(element)) return std::nullopt;
    return Elements(static_cast<size_t>(size), cell({{}, id}));
  }
  std::optional<Elements> computed(OpId id) {
    const Op& op = f_.ops[id];
    std::optional<Elements> out = known(op.operands[0]);
    const std::optional<Elements> other = known(op.operands.back());
    if (!out || !other || out->size() != other->size()) return std::nullopt;
    for (size_t k = 0; k < out->size(); ++k) (*out)[k] = cell({{}, id, op.kind, (*out)[k], (*other)[k]});
    return out;
  }
  std::optional<Elements> updated(OpId id) {
    const Op& op = f_.ops[id];
    std::optional<Elements> out = known(op.operands[0]);
    if (!out) return std::nullopt;
    const std::optional<std::vector<size_t>> at = placed(f_.typeOf(op.operands[0]), placeOf(op));
    const ValueId v = op.operands[1];
    const std::optional<Elements> values =
        m_.types.isScalar(f_.typeOf(v)) ? std::optional(Elements{cellOf(v)}) : known(v);
    if (!at || !values || values->size() != at->size()) return std::nullopt;
    for (size_t k = 0; k < at->size(); ++k) {
      uint32_t& old = (*out)[(*at)[k]];
      old = op.kind == OpKind::AddAt ? cell({{}, id, OpKind::Add, old, (*values)[k]}) : (*values)[k];
    }
    return out;
  }

  /// The elements of the array that a place of it speaks of; nullopt unless all indices are constants in
  /// range.
  std::optional<std::vector<size_t>> placed(TypeId type, const Place& place) const {
    const std::vector<DimId>& extents = m_.types[type].dims;
    if (leadingAxes(m_.types, type, place.path) != place.path.size()) return std::nullopt;
    std::vector<size_t> out{0};
    size_t index = 0;
    for (size_t axis = 0; axis < extents.size(); ++axis) {
      const int64_t extent = *m_.types.dims.asConstant(extents[axis]);
      const PathStep* step = axis < place.path.size() ? &place.path[axis] : nullptr;
      int64_t first = 0, length = extent, stride = 1;
      if (step && takesIndex(step->kind)) {
        const bool slice = step->kind == StepKind::Slice;
        const std::optional<int64_t> at = constantOf(place.indices[index++]);
        const std::optional<int64_t> some =
            slice ? m_.types.dims.asConstant(step->length) : std::optional<int64_t>(1);
        if (!at || !some) return std::nullopt;
        first = *at, length = *some, stride = slice ? step->step : 1;
      }
      if (first < 0 || length < 1 || first >= extent || (length - 1) * stride >= extent - first)
        return std::nullopt;
      std::vector<size_t> next;
      for (size_t row : out)
        for (int64_t k = 0; k < length; ++k)
          next.push_back(row * static_cast<size_t>(extent) + static_cast<size_t>(first + k * stride));
      out = std::move(next);
    }
    return out;
  }

  void read(OpId id) {
    const Op& op = f_.ops[id];
    auto from = elements_.find(op.operands[0]);
    if (from == elements_.end()) return;
    const std::optional<std::vector<size_t>> at = placed(f_.typeOf(op.operands[0]), placeOf(op));
    if (!at) return;
    if (m_.types.isScalar(f_.typeOf(op.results[0]))) {
      uses_.replace(op.results[0], valueOf(from->second[at->front()]));
      uses_.leave(id);
      changed_ = true;
      return;
    }
    Elements part;
    for (size_t k : *at) part.push_back(from->second[k]);
    elements_.insert_or_assign(op.results[0], std::move(part));
  }

  /// The lists of the regions with what came and without what went.
  void applyInsertions(RegionId r) {
    std::vector<OpId> out;
    for (OpId id : f_.regions[r].ops) {
      if (auto it = before_.find(id); it != before_.end())
        out.insert(out.end(), it->second.begin(), it->second.end());
      if (uses_.regionOf(id).valid()) out.push_back(id);
    }
    f_.regions[r].ops = std::move(out);
    for (OpId id : f_.regions[r].ops)
      for (RegionId inner : f_.ops[id].regions) applyInsertions(inner);
  }

  Module& m_;
  FunctionId id_;
  Function& f_;
  LiveUses uses_;
  RegionId scratch_;
  std::vector<Cell> cells_;
  std::unordered_map<ValueId, Elements> elements_;
  std::unordered_map<OpId, std::vector<OpId>> before_; ///< what came before an op
  bool changed_ = false;
};

} // namespace

bool forwardElementsIn(Module& m, FunctionId f) { return ElementForwarder(m, f).run(); }

bool scalariseElements(Module& m) {
  return changeBodies(m, [&](FunctionId f) { return forwardElementsIn(m, f); });
}

} // namespace melix::transforms
