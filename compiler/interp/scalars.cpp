// Scalar ops: one instruction an op and kind; core/analysis/evaluate.h says what they compute.
#include "interp/code.h"

#include "core/analysis/evaluate.h"

namespace melix::interp {

namespace {

template <class K, class F>
const Instr* runScalar(Frame& f, const Instr* in) {
  f.r[in->a].u = core::applied<K, F>(f.r[in->b].u, f.r[in->c].u, f.r[in->d].u);
  return in + 1;
}

} // namespace

Handler scalarHandler(core::OpKind op, TypeKind kind, uint32_t detail) {
  return core::withScalarOp<Handler>(op, kind, detail,
                                     []<class K, class F>(K, F) { return &runScalar<K, F>; });
}

const Instr* runConvert(Frame& f, const Instr* in) {
  f.r[in->a].u =
      core::convertedBits(static_cast<TypeKind>(in->c & 0xff), static_cast<TypeKind>((in->c >> 8) & 0xff),
                          static_cast<ops::ConvertMode>(in->c >> 16), f.r[in->b].u);
  return in + 1;
}

/// The bits of a float; a NaN shows no sign or payload.
const Instr* runBits(Frame& f, const Instr* in) {
  auto kind = static_cast<TypeKind>(in->c);
  Slot v = f.r[in->b];
  if (std::isnan(core::floatValue(kind, v.u))) v.u = core::floatBits(kind, std::nan(""));
  f.r[in->a] = v;
  return in + 1;
}

} // namespace melix::interp
