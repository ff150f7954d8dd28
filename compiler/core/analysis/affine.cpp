#include "core/analysis/affine.h"

#include "support/wrapping.h"

namespace melix::core {

namespace {

template <class Terms>
void accumulateTerms(Terms& into, const Terms& terms, int64_t scale) {
  for (auto [term, c] : terms)
    if ((into[term] = wrappingSum(into[term], wrappingProduct(scale, c))) == 0) into.erase(term);
}

bool isConstant(const AffineIndex& x) { return x.axes.empty() && x.outside.empty() && x.dims.empty(); }

/// Each value is looked at once, however often others are made of it.
class AffineForms {
public:
  AffineForms(const Module& m, const Function& f, FunctionRef<bool(ValueId)> isAxis,
              FunctionRef<bool(ValueId)> isOutside)
      : m_(m), f_(f), isAxis_(isAxis), isOutside_(isOutside) {}

  const std::optional<AffineIndex>& of(ValueId v) {
    if (auto known = forms_.find(v); known != forms_.end()) return known->second;
    std::optional<AffineIndex> found = find(v);
    return forms_.emplace(v, std::move(found)).first->second;
  }

private:
  std::optional<AffineIndex> find(ValueId v);

  const Module& m_;
  const Function& f_;
  FunctionRef<bool(ValueId)> isAxis_, isOutside_;
  std::map<ValueId, std::optional<AffineIndex>> forms_;
};

std::optional<AffineIndex> AffineForms::find(ValueId v) {
  AffineIndex out;
  if (isAxis_(v)) {
    out.axes[v] = 1;
    return out;
  }
  OpId def = f_.values[v].def;
  if (def.valid()) {
    const Op& o = f_.ops[def];
    auto operand = [&](size_t i) { return of(o.operands[i]); };
    if (o.kind == OpKind::Const) {
      out.constant = static_cast<int64_t>(o.as<Constant>().bits);
      return out;
    }
    if (o.kind == OpKind::DimValue) {
      if (auto c = m_.types.dims.asConstant(o.dims[0]))
        out.constant = *c;
      else
        out.dims[o.dims[0]] = 1;
      return out;
    }
    if (o.kind == OpKind::Add || o.kind == OpKind::Sub) {
      auto a = operand(0), b = operand(1);
      if (a && b) {
        accumulate(out, *a, 1);
        accumulate(out, *b, o.kind == OpKind::Add ? 1 : -1);
        return out;
      }
    }
    if (o.kind == OpKind::Neg)
      if (auto a = operand(0)) {
        accumulate(out, *a, -1);
        return out;
      }
    if (o.kind == OpKind::Mul) {
      auto a = operand(0), b = operand(1);
      if (a && b && isConstant(*b)) std::swap(a, b);
      if (a && b && isConstant(*a)) {
        accumulate(out, *b, a->constant);
        return out;
      }
    }
  }
  if (!isOutside_(v)) return std::nullopt;
  out.outside[v] = 1;
  return out;
}

} // namespace

void accumulate(AffineIndex& into, const AffineIndex& x, int64_t scale) {
  accumulateTerms(into.axes, x.axes, scale);
  accumulateTerms(into.outside, x.outside, scale);
  accumulateTerms(into.dims, x.dims, scale);
  into.constant = wrappingSum(into.constant, wrappingProduct(scale, x.constant));
}

std::optional<AffineIndex> affineIndex(const Module& m, const Function& f, ValueId v,
                                       FunctionRef<bool(ValueId)> isAxis,
                                       FunctionRef<bool(ValueId)> isOutside) {
  return AffineForms(m, f, isAxis, isOutside).of(v);
}

} // namespace melix::core
