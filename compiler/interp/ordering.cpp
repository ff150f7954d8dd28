// Sorting and comparing.
#include "core/ir/build.h"
#include "interp/steps.h"

#include <algorithm>
#include <cmath>

namespace melix::interp {

/// Strictly before; NaN is behind everything.
static bool isBefore(TypeKind kind, Slot a, Slot b) {
  if (isObject(kind)) return static_cast<Str*>(a.o)->text < static_cast<Str*>(b.o)->text;
  if (types::isFloatKind(kind)) {
    double x = core::floatValue(kind, a.u), y = core::floatValue(kind, b.u);
    if (std::isnan(x) || std::isnan(y)) return !std::isnan(x) && std::isnan(y);
    return x < y;
  }
  return types::scalarClass(kind) == types::ScalarClass::SInt ? a.i < b.i : a.u < b.u;
}

const Instr* runArgSort(Frame& f, const Instr* in) {
  auto* a = static_cast<const Array*>(f.r[in->b].o);
  std::vector<int64_t> order(static_cast<size_t>(a->count));
  for (size_t k = 0; k < order.size(); ++k) order[k] = static_cast<int64_t>(k);
  auto isNan = [&](Slot s) {
    return types::isFloatKind(a->element) && std::isnan(core::floatValue(a->element, s.u));
  };
  std::stable_sort(order.begin(), order.end(), [&](int64_t p, int64_t q) {
    Slot x = a->at(p), y = a->at(q);
    if (in->c == 0 || isNan(x) || isNan(y)) return isBefore(a->element, x, y);
    return isBefore(a->element, y, x);
  });
  putObject(f, in->a, new Array(TypeKind::I64, std::span<const int64_t>(a->dims).first(1)));
  if (!order.empty()) std::memcpy(static_cast<Array*>(f.r[in->a].o)->data, order.data(), order.size() * 8);
  return in + 1;
}

const Instr* runCompareText(Frame& f, const Instr* in) {
  int c = static_cast<Str*>(f.r[in->b].o)->text.compare(static_cast<Str*>(f.r[in->c].o)->text);
  bool r = false;
  switch (static_cast<ops::CmpKind>(in->d)) {
  case ops::CmpKind::Eq: r = c == 0; break;
  case ops::CmpKind::Ne: r = c != 0; break;
  case ops::CmpKind::Lt: r = c < 0; break;
  case ops::CmpKind::Le: r = c <= 0; break;
  case ops::CmpKind::Gt: r = c > 0; break;
  case ops::CmpKind::Ge: r = c >= 0; break;
  }
  f.r[in->a].u = r;
  return in + 1;
}

} // namespace melix::interp
