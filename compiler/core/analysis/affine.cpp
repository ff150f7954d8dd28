#include "core/analysis/affine.h"

#include <cassert>
#include <unordered_map>

namespace melix::core {

namespace {

/// Each value is looked at once, however often others are made of it.
class AffineForms {
public:
  AffineForms(const types::DimStore& dims, const Function& f, const AffineReading& reading)
      : dims_(dims), f_(f), reading_(reading) {}

  const std::optional<AffineForm>& of(ValueId v, int depth) {
    if (auto known = forms_.find(v); known != forms_.end()) return known->second;
    std::optional<AffineForm> found = find(v, depth);
    return forms_.emplace(v, std::move(found)).first->second;
  }

private:
  std::optional<AffineForm> find(ValueId v, int depth) {
    if (reading_.isAxis(v)) return AffineForm::ofAxis(v);
    if (const OpId def = f_.values[v].def; def.valid())
      if (std::optional<AffineForm> form = opened(f_.ops[def], depth)) return form;
    if (!reading_.isOutside(v)) return std::nullopt;
    return AffineForm{{}, {{v, 1}}, {}, 0};
  }
  std::optional<AffineForm> opened(const Op& op, int depth) {
    if (reading_.opens && !reading_.opens(op, depth)) return std::nullopt;
    if (op.kind == OpKind::Const) return AffineForm::ofConstant(static_cast<int64_t>(op.as<Constant>().bits));
    if (op.kind == OpKind::DimValue)
      return reading_.ofSize ? reading_.ofSize(op.dims[0]) : AffineForm::ofSize(dims_, op.dims[0]);
    if (depth == 0) return std::nullopt;
    return openLinear<AffineForm>(op.kind, [&](size_t k) { return of(op.operands[k], depth - 1); });
  }

  const types::DimStore& dims_;
  const Function& f_;
  const AffineReading& reading_;
  std::unordered_map<ValueId, std::optional<AffineForm>> forms_;
};

void addMultiple(types::DimStore& dims, DimId& sum, DimId d, int64_t factor) {
  sum = dims.add(sum, dims.mul(dims.constant(factor), d));
}

} // namespace

AffineForm AffineForm::ofSize(const types::DimStore& dims, DimId d) {
  if (const std::optional<int64_t> known = dims.asConstant(d)) return ofConstant(*known);
  return {{}, {}, {{d, 1}}, 0};
}

void AffineForm::add(const AffineForm& x, int64_t factor) {
  axes.add(x.axes, factor);
  outside.add(x.outside, factor);
  dims.add(x.dims, factor);
  constant = wrappingSum(constant, wrappingProduct(factor, x.constant));
}

bool isSmall(const AffineForm& form) {
  return isSmallConstant(form.constant) && form.axes.weight(largestWeight) +
                                                   form.outside.weight(largestWeight) +
                                                   form.dims.weight(largestWeight) <=
                                               largestWeight;
}

std::optional<AffineForm> affineForm(const types::DimStore& dims, const Function& f, ValueId v,
                                     const AffineReading& reading) {
  return AffineForms(dims, f, reading).of(v, reading.depth);
}

AffineForm affineForm(types::DimStore& dims, DimId d,
                      FunctionRef<std::optional<AffineForm>(DimSym)> ofSymbol) {
  AffineForm out;
  for (const types::DimTerm& term : std::vector(dims.terms(d))) {
    if (term.factors.empty()) {
      out.constant = wrappingSum(out.constant, term.coefficient);
      d = dims.sub(d, dims.constant(term.coefficient));
      continue;
    }
    const types::DimAtom& atom = dims.atom(term.factors[0]);
    if (term.factors.size() != 1 || atom.kind != types::DimAtomKind::Symbol) continue;
    const DimSym symbol = atom.symbol;
    const std::optional<AffineForm> number = ofSymbol(symbol);
    if (!number) continue;
    out.add(*number, term.coefficient);
    d = dims.sub(d, dims.mul(dims.constant(term.coefficient), dims.symbol(symbol)));
  }
  out.add(AffineForm::ofSize(dims, d), 1);
  return out;
}

DimId sizeOf(types::DimStore& dims, const AffineForm& form) {
  DimId sum = dims.constant(form.constant);
  for (auto [d, factor] : form.dims) addMultiple(dims, sum, d, factor);
  return sum;
}

DimId extremeOf(types::DimStore& dims, const AffineForm& form, bool isGreatest,
                FunctionRef<DimId(ValueId)> extentOf) {
  assert(form.outside.empty() && "a value has no least and no greatest");
  DimId sum = sizeOf(dims, form);
  for (auto [axis, factor] : form.axes) {
    if ((factor > 0) != isGreatest) continue; // it is 0 there
    const DimId extent = extentOf(axis);
    if (!extent.valid()) return {};
    addMultiple(dims, sum, dims.sub(extent, dims.constant(1)), factor);
  }
  return sum;
}

ValueId emit(Builder& b, const AffineForm& form, FunctionRef<ValueId(ValueId)> at) {
  ValueId sum;
  std::vector<ValueId> less;
  auto plus = [&](ValueId v, int64_t factor) {
    if (factor == -1) return less.push_back(v);
    if (factor != 1) v = b.binary(OpKind::Mul, v, b.integer(factor));
    sum = sum.valid() ? b.binary(OpKind::Add, sum, v) : v;
  };
  for (auto [axis, factor] : form.axes) plus(at ? at(axis) : axis, factor);
  for (auto [v, factor] : form.outside) plus(v, factor);
  for (auto [d, factor] : form.dims) plus(b.dimValue(d), factor);
  if (form.constant != 0 || (!sum.valid() && less.empty())) plus(b.integer(form.constant), 1);
  for (ValueId v : less) sum = sum.valid() ? b.binary(OpKind::Sub, sum, v) : b.unary(OpKind::Neg, v);
  return sum;
}

} // namespace melix::core
