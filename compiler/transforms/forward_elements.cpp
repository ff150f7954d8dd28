#include "transforms/forward_elements.h"

#include "core/build.h"
#include "core/place.h"
#include "core/uses.h"
#include "core/walk.h"

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
    return changed_;
  }

private:
  using Elements = std::vector<ValueId>; ///< row-major

  void region(RegionId r) {
    std::vector<OpId> out;
    work.ops += f_.regions[r].ops.size();
    for (OpId id : f_.regions[r].ops) {
      const bool goes = step(id);
      std::vector<OpId>& come = f_.regions[scratch_].ops;
      for (OpId made : come) uses_.enter(made, r);
      out.insert(out.end(), come.begin(), come.end());
      come.clear();
      if (goes) {
        uses_.leave(id);
        changed_ = true;
        continue;
      }
      out.push_back(id);
      for (RegionId inner : f_.ops[id].regions) region(inner);
    }
    f_.regions[r].ops = std::move(out);
  }

  /// Learns what the op makes; whether another value took its place.
  bool step(OpId id) {
    const Op& op = f_.ops[id];
    if (op.kind == OpKind::Get) return read(op);
    if (op.results.size() != 1) return false;
    const std::optional<int64_t> size = sizeOf(f_.typeOf(op.results[0]));
    if (!size) return false;
    std::optional<Elements> elements;
    switch (op.kind) {
    case OpKind::ArrayOf: elements = stacked(op); break;
    case OpKind::Zero: elements = zeros(op, *size); break;
    case OpKind::Reshape:
    case OpKind::CastDims: elements = known(op.operands[0]); break;
    case OpKind::Set:
    case OpKind::AddAt: elements = updated(op); break;
    default: break;
    }
    if (elements && elements->size() == static_cast<size_t>(*size))
      elements_.insert_or_assign(op.results[0], std::move(*elements));
    return false;
  }

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

  std::optional<Elements> stacked(const Op& op) const {
    Elements out;
    for (ValueId part : op.operands) {
      if (m_.types.isScalar(f_.typeOf(part))) {
        out.push_back(part);
      } else {
        auto row = elements_.find(part);
        if (row == elements_.end()) return std::nullopt;
        out.insert(out.end(), row->second.begin(), row->second.end());
      }
    }
    return out;
  }
  std::optional<Elements> zeros(const Op& op, int64_t size) {
    const TypeId element = m_.types.element(f_.typeOf(op.results[0]));
    if (!m_.types.isInt(element) && !m_.types.isFloat(element)) return std::nullopt;
    const ValueId zero = Builder(m_, id_, scratch_, op.loc).constant(element, 0);
    return Elements(static_cast<size_t>(size), zero);
  }

  /// The elements of the array that a place of it speaks of; nullopt unless all indices are constants in
  /// range.
  std::optional<std::vector<size_t>> placed(TypeId type, const Place& place) const {
    const Dims extents(m_.types[type].dims.begin(), m_.types[type].dims.end());
    if (leadingAxes(m_.types, type, place.path) != place.path.size()) return std::nullopt;
    std::vector<size_t> out{0};
    size_t index = 0;
    for (size_t axis = 0; axis < extents.size(); ++axis) {
      const int64_t extent = *m_.types.dims.asConstant(extents[axis]);
      const PathStep* step = axis < place.path.size() ? &place.path[axis] : nullptr;
      int64_t first = 0, length = extent, stride = 1;
      if (step && takesIndex(step->kind)) {
        const std::optional<int64_t> at = constantOf(place.indices[index++]);
        const std::optional<int64_t> some = step->kind == StepKind::Slice
                                                ? m_.types.dims.asConstant(step->length)
                                                : std::optional<int64_t>(1);
        if (!at || !some) return std::nullopt;
        first = *at, length = *some, stride = step->kind == StepKind::Slice ? step->step : 1;
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

  bool read(const Op& op) {
    auto from = elements_.find(op.operands[0]);
    if (from == elements_.end()) return false;
    const std::optional<std::vector<size_t>> at = placed(f_.typeOf(op.operands[0]), placeOf(op));
    if (!at) return false;
    if (m_.types.isScalar(f_.typeOf(op.results[0]))) {
      uses_.replace(op.results[0], from->second[at->front()]);
      return true;
    }
    Elements part;
    for (size_t k : *at) part.push_back(from->second[k]);
    elements_.insert_or_assign(op.results[0], std::move(part));
    return false;
  }
  std::optional<Elements> updated(const Op& op) {
    std::optional<Elements> out = known(op.operands[0]);
    if (!out) return std::nullopt;
    const std::optional<std::vector<size_t>> at = placed(f_.typeOf(op.operands[0]), placeOf(op));
    const ValueId v = op.operands[1];
    const std::optional<Elements> values =
        m_.types.isScalar(f_.typeOf(v)) ? std::optional(Elements{v}) : known(v);
    if (!at || !values || values->size() != at->size()) return std::nullopt;
    Builder b(m_, id_, scratch_, op.loc);
    for (size_t k = 0; k < at->size(); ++k) {
      ValueId& cell = (*out)[(*at)[k]];
      cell = op.kind == OpKind::AddAt ? b.binary(OpKind::Add, cell, (*values)[k]) : (*values)[k];
    }
    return out;
  }

  Module& m_;
  FunctionId id_;
  Function& f_;
  LiveUses uses_;
  RegionId scratch_;
  std::unordered_map<ValueId, Elements> elements_;
  bool changed_ = false;
};

} // namespace

bool forwardElementsIn(Module& m, FunctionId f) { return ElementForwarder(m, f).run(); }

bool forwardElements(Module& m) {
  bool changed = false;
  for (uint32_t i = 0; i < m.functions.size(); ++i)
    if (m.functions[FunctionId(i)].body.valid()) changed |= forwardElementsIn(m, FunctionId(i));
  return changed;
}

} // namespace melix::transforms
