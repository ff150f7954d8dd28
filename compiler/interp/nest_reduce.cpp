// Reductions of a nest: what comes to one element, in the order that the nest says.
#include "interp/nest_run.h"

#include <algorithm>
#include <cmath>

namespace melix::interp {

using core::MonoidKind;
using core::NestResultKind;

static Slot combined(const NestResultExtra& x, Slot a, Slot b) { return Slot{x.scalar.combine(a.u, b.u, 0)}; }

void NestRun::reset(ResultState& r, size_t c) {
  const NestResultExtra& x = *r.x;
  Cell& cell = r.cells[c];
  if (core::isCombine(x.spec)) {
    size_t n = x.combine.yields.size();
    r.combined.resize(r.cells.size() * n, Slot{0});
    for (size_t k = 0; k < n; ++k) {
      Slot unit = f_.r[x.combine.units[k]], &place = r.combined[c * n + k];
      if (isObject(x.combine.kinds[k])) {
        retain(unit.o);
        release(place.o);
      }
      place = unit;
    }
    return;
  }
  if (isObject(x.kind0)) {
    retain(f_.r[x.zero].o);
    release(cell.total.o);
    cell.total = f_.r[x.zero];
    return;
  }
  cell = Cell{};
  if (core::isPosition(x.spec)) return;
  cell.total = x.scalar.unit;
}

bool NestRun::reduce(ResultState& r) {
  const NestResultExtra& x = *r.x;
  size_t c = r.single ? 0 : static_cast<size_t>(elementOf(r));
  if (core::isCombine(x.spec)) return combine(r, c);
  Cell& cell = r.cells[c];
  Slot v = f_.r[x.yields[0]];
  if (isObject(x.kind0)) {
    Slot sum = cell.total;
    cell.total.o = nullptr;
    cell.total = tangentOp(TangentOp::AddAll, objectKind, sum, v, problem);
    return problem.empty();
  }
  if (core::isPosition(x.spec)) {
    argument(r, cell, v);
    return true;
  }
  const Slot factor = x.scalar.fma ? f_.r[x.yields[1]] : Slot{0};
  if (r.ordered)
    r.ordered->add(c, {v, factor}, s_.index);
  else
    cell.total = x.scalar.fma ? Slot{x.scalar.fma(v.u, factor.u, cell.total.u)} : combined(x, cell.total, v);
  return true;
}

void NestRun::argument(const ResultState& r, Cell& cell, Slot v) {
  TypeKind k = r.x->kind0;
  bool max = core::infoOf(r.x->spec.monoid).finds == core::ExtremumKind::Greatest, better = !cell.any;
  if (!better && types::isFloatKind(k)) {
    double x = core::floatValue(k, v.u), best = core::floatValue(k, cell.total.u);
    const double low = max ? best : x, high = max ? x : best;
    const bool areZeros = low == high && std::signbit(low) && !std::signbit(high); // -0 is below 0
    better = low < high || areZeros || (std::isnan(x) && !std::isnan(best));
  } else if (!better) {
    bool isSigned = types::scalarClass(k) == types::ScalarClass::SInt;
    better = isSigned ? (max ? v.i > cell.total.i : v.i < cell.total.i)
                      : (max ? v.u > cell.total.u : v.u < cell.total.u);
  }
  if (!better) return;
  cell.any = true;
  cell.total = v;
  cell.best = 0;
  for (size_t a = 0; a < s_.index.size(); ++a)
    if (isReduced(r, a)) cell.best = cell.best * s_.extents[a] + s_.index[a];
}

bool NestRun::isReduced(const ResultState& r, size_t axis) {
  return std::find(r.x->spec.keep.begin(), r.x->spec.keep.end(), axis) == r.x->spec.keep.end();
}

bool NestRun::combine(ResultState& r, size_t c) {
  const NestResultExtra& x = *r.x;
  size_t n = x.combine.yields.size();
  Slot* state = r.combined.data() + c * n;
  for (size_t k = 0; k < n; ++k) {
    Slot right = f_.r[x.combine.yields[k]];
    if (isObject(x.combine.kinds[k])) {
      putObject(f_, x.combine.params[k], state[k].o);
      state[k].o = nullptr;
      retain(right.o);
      putObject(f_, x.combine.params[n + k], right.o);
    } else {
      f_.r[x.combine.params[k]] = state[k];
      f_.r[x.combine.params[n + k]] = right;
    }
  }
  runFrom(f_, f_.code->instrs.data() + x.combine.start);
  if (f_.machine->panicked) return false;
  for (size_t k = 0; k < n; ++k) {
    state[k] = f_.r[x.combine.params[k]];
    if (isObject(x.combine.kinds[k])) f_.r[x.combine.params[k]].o = nullptr;
  }
  return true;
}

/// Axis `a` moved on: elements whose reduced axes lie further inside are complete.
void NestRun::finishCells(size_t a) {
  for (ResultState& r : s_.results) {
    if (r.x->spec.kind != NestResultKind::Reduce || !r.single || a >= r.x->spec.keep.size()) continue;
    // The index of axis `a` and those inside have changed already: the element before, row-major over the
    // kept axes.
    int64_t at = previousElement(r, a);
    finish(r, 0, at);
    reset(r, 0);
  }
}

int64_t NestRun::previousElement(const ResultState& r, size_t a) const {
  int64_t at = 0;
  for (size_t k = 0; k < r.x->spec.keep.size(); ++k) {
    int64_t i = k < a ? s_.index[k] : k == a ? s_.index[k] - 1 : s_.extents[k] - 1;
    at += i * r.strides[k];
  }
  return at;
}

void NestRun::finish(ResultState& r, size_t c, int64_t at) {
  const NestResultExtra& x = *r.x;
  if (core::isCombine(x.spec)) {
    size_t n = x.combine.yields.size();
    for (size_t k = 0; k < n; ++k) result(r, k, at, r.combined[c * n + k], x.combine.kinds[k]);
    return;
  }
  Cell& cell = r.cells[c];
  if (isObject(x.kind0)) {
    if (!r.outs[0]) return result(r, 0, at, cell.total, objectKind);
    store(*r.outs[0], at, r.width, x, cell.total);
    return;
  }
  if (core::isPosition(x.spec)) {
    int64_t rest = cell.best;
    size_t out = r.outs.size();
    for (size_t a = s_.index.size(); a-- > 0;) {
      if (!isReduced(r, a)) continue;
      int64_t extent = s_.extents[a] > 0 ? s_.extents[a] : 1;
      Slot s;
      s.i = rest % extent;
      rest /= extent;
      result(r, --out, at, s, TypeKind::I64);
    }
    return;
  }
  if (r.ordered) cell.total = r.ordered->take(c);
  result(r, 0, at, cell.total, x.kind0);
}

void NestRun::result(ResultState& r, size_t k, int64_t at, Slot v, TypeKind kind) {
  if (isObject(kind)) retain(v.o);
  if (r.outs[k])
    r.outs[k]->put(at, v);
  else if (isObject(kind))
    putObject(f_, r.x->outs[k], v.o);
  else
    f_.r[r.x->outs[k]] = v;
}

void NestRun::endReduce(ResultState& r, bool empty) {
  int64_t cells = 1;
  for (uint32_t a : r.x->spec.keep) cells *= s_.extents[a];
  if (!r.single) {
    for (int64_t c = 0; c < cells; ++c) finish(r, static_cast<size_t>(c), c);
    return;
  }
  if (!empty) return finish(r, 0, cells - 1 < 0 ? 0 : lastElement(r));
  for (int64_t c = 0; c < cells; ++c) {
    finish(r, 0, c);
    reset(r, 0);
  }
}

int64_t NestRun::lastElement(const ResultState& r) const {
  int64_t at = 0;
  for (uint32_t a : r.x->spec.keep) at += (s_.extents[a] - 1) * r.strides[a];
  return at;
}

} // namespace melix::interp
