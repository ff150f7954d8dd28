#include "transforms/affine.h"

namespace melix::transforms {

using namespace core;

namespace {

void accumulate(AffineIndex& into, const AffineIndex& x, int64_t scale) {
  for (auto [v, c] : x.axes)
    if ((into.axes[v] += scale * c) == 0) into.axes.erase(v);
  for (auto [v, c] : x.outside)
    if ((into.outside[v] += scale * c) == 0) into.outside.erase(v);
  for (auto [d, c] : x.dims)
    if ((into.dims[d] += scale * c) == 0) into.dims.erase(d);
  into.constant += scale * x.constant;
}

bool isConstant(const AffineIndex& x) { return x.axes.empty() && x.outside.empty() && x.dims.empty(); }

} // namespace

std::optional<AffineIndex> affineIndex(const Module& m, const Function& f, ValueId v,
                                       const std::function<bool(ValueId)>& isAxis,
                                       const std::function<bool(ValueId)>& isOutside) {
  AffineIndex out;
  if (isAxis(v)) {
    out.axes[v] = 1;
    return out;
  }
  OpId def = f.values[v].def;
  if (def.valid()) {
    const Op& o = f.ops[def];
    auto operand = [&](size_t i) { return affineIndex(m, f, o.operands[i], isAxis, isOutside); };
    if (o.kind == OpKind::Const) {
      out.constant = static_cast<int64_t>(o.as<Constant>().bits);
      return out;
    }
    if (o.kind == OpKind::DimValue) {
      if (auto c = m.types.dims.asConstant(o.dims[0]))
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
  if (!isOutside(v)) return std::nullopt;
  out.outside[v] = 1;
  return out;
}

} // namespace melix::transforms
