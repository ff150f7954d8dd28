#include "interp/nest_run.h"

#include "interp/steps.h"
#include "support/wrapping.h"

namespace melix::interp {

using core::MonoidKind;
using core::NestResultKind;

NestState::~NestState() {
  for (ResultState& r : results) {
    for (Array* a : r.outs)
      if (a) release(a);
    if (isObject(r.x->kind0) && r.x->spec.kind == NestResultKind::Reduce)
      for (Cell& c : r.cells) release(c.total.o);
    if (isObject(r.x->kind0))
      for (Slot s : r.filtered) release(s.o);
    for (size_t k = 0; k < r.combined.size(); ++k)
      if (isObject(r.x->combine.kinds[k % r.x->combine.yields.size()])) release(r.combined[k].o);
  }
}

void NestRun::begin() {
  for (const NestResultExtra& x : s_.x->results) {
    s_.results.emplace_back();
    prepare(s_.results.back(), x);
  }
}

/// Takes what the body yielded at the current point; false after a panic in a combining region.
bool NestRun::accumulate() {
  for (ResultState& r : s_.results) {
    const NestResultExtra& x = *r.x;
    if (x.spec.kind == NestResultKind::Collect)
      collect(r);
    else if (x.spec.kind == NestResultKind::Filter)
      filter(r);
    else if (!reduce(r))
      return false;
  }
  return true;
}

/// To the next point, row-major; false at the end.
bool NestRun::advance() {
  for (size_t a = s_.index.size(); a-- > 0;) {
    if (++s_.index[a] < s_.extents[a]) {
      finishCells(a);
      f_.r[s_.x->axes[a]].i = s_.index[a];
      return true;
    }
    s_.index[a] = 0;
    f_.r[s_.x->axes[a]].i = 0;
  }
  return false;
}

/// Puts the results into their registers.
void NestRun::end(bool empty) {
  for (ResultState& r : s_.results) {
    if (r.x->spec.kind == NestResultKind::Filter) {
      endFilter(r);
      continue;
    }
    if (r.x->spec.kind == NestResultKind::Reduce) endReduce(r, empty);
    for (size_t k = 0; k < r.outs.size(); ++k) {
      if (!r.outs[k]) continue;
      putObject(f_, r.x->outs[k], r.outs[k]);
      r.outs[k] = nullptr;
    }
  }
}

/// Sizes may wrap if no array can have them: its allocation fails then.
void NestRun::prepare(ResultState& r, const NestResultExtra& x) {
  r.x = &x;
  r.strides.assign(s_.extents.size(), 0);
  for (uint32_t reg : x.elementDims) r.width = wrappingProduct(r.width, f_.r[reg].i);
  int64_t cells = 1;
  for (size_t k = x.spec.keep.size(); k-- > 0;) {
    r.strides[x.spec.keep[k]] = cells;
    cells = wrappingProduct(cells, s_.extents[x.spec.keep[k]]);
  }
  if (x.spec.kind == NestResultKind::Filter) return;
  std::vector<int64_t> dims;
  for (uint32_t a : x.spec.keep) dims.push_back(s_.extents[a]);
  for (uint32_t reg : x.elementDims) dims.push_back(f_.r[reg].i);
  if (problem.empty()) problem = whyNoArray(dims);
  if (!problem.empty()) return;
  bool arg = core::isPosition(x.spec);
  bool collect = x.spec.kind == NestResultKind::Collect;
  for (size_t k = 0; k < x.outs.size(); ++k) {
    bool combine = core::isCombine(x.spec);
    TypeKind element = collect || !arg ? (combine ? x.combine.kinds[k] : x.element) : TypeKind::I64;
    r.outs.push_back(dims.empty() ? nullptr : new Array(element, dims));
  }
  if (collect) return;
  // Reduced axes behind all kept ones: one cell at a time is enough.
  r.single = true;
  for (uint32_t a : x.spec.keep) r.single &= a < x.spec.keep.size();
  r.cells.resize(static_cast<size_t>(r.single ? 1 : cells));
  if (isOrdered(x)) r.ordered.emplace(x, r.cells.size(), s_.extents);
  for (size_t c = 0; c < r.cells.size(); ++c) reset(r, c);
}

int64_t NestRun::elementOf(const ResultState& r) const {
  int64_t at = 0;
  for (size_t a = 0; a < s_.index.size(); ++a) at += s_.index[a] * r.strides[a];
  return at;
}

void NestRun::collect(ResultState& r) {
  Slot v = f_.r[r.x->yields[0]];
  if (r.outs[0])
    store(*r.outs[0], elementOf(r), r.width, *r.x, v);
  else
    result(r, 0, 0, v, r.x->kind0); // no axes: the value itself
}

/// An array value goes in element by element.
void NestRun::store(Array& out, int64_t at, int64_t width, const NestResultExtra& x, Slot v) {
  if (!x.isArray) {
    if (isObject(out.element)) retain(v.o);
    out.put(at, v);
    return;
  }
  auto* from = static_cast<const Array*>(v.o);
  if (!from) return;
  if (!isObject(out.element)) {
    std::memcpy(out.data + at * width * out.elementBytes, from->data,
                static_cast<size_t>(width) * out.elementBytes);
    return;
  }
  for (int64_t k = 0; k < width; ++k) {
    Slot s = from->at(k);
    retain(s.o);
    out.put(at * width + k, s);
  }
}

void NestRun::filter(ResultState& r) {
  if (!f_.r[r.x->yields[0]].u) return;
  Slot v = f_.r[r.x->yields[1]];
  r.filtered.push_back(v);
  if (isObject(r.x->kind0)) retain(v.o);
}

void NestRun::endFilter(ResultState& r) {
  auto n = static_cast<int64_t>(r.filtered.size());
  std::vector<int64_t> dims{n};
  for (uint32_t reg : r.x->elementDims) dims.push_back(f_.r[reg].i);
  auto* out = new Array(r.x->element, dims);
  for (int64_t k = 0; k < n; ++k) store(*out, k, r.width, *r.x, r.filtered[static_cast<size_t>(k)]);
  putObject(f_, r.x->outs[0], out);
  f_.r[r.x->dimOut].i = n;
}

// --- instructions

const Instr* runNestBegin(Frame& f, const Instr* in) {
  const auto& x = *static_cast<const NestExtra*>(in->extra);
  auto* s = new NestState;
  putObject(f, in->a, s);
  s->x = &x;
  s->index.assign(x.extents.size(), 0);
  bool empty = false;
  for (size_t a = 0; a < x.extents.size(); ++a) {
    s->extents.push_back(f.r[x.extents[a]].i);
    empty |= s->extents.back() == 0;
    f.r[x.axes[a]].i = 0;
  }
  NestRun run(f, *s);
  run.begin();
  if (!run.problem.empty()) return f.machine->fail(f, in, run.problem);
  for (int64_t n : s->extents)
    if (n < 0 && !empty) return f.machine->fail(f, in, "the size of an axis is " + std::to_string(n));
  if (!empty) return f.code->instrs.data() + x.body;
  run.end(true);
  putObject(f, in->a, nullptr);
  return f.code->instrs.data() + x.end;
}

const Instr* runNestStep(Frame& f, const Instr* in) {
  auto* s = static_cast<NestState*>(f.r[in->a].o);
  NestRun run(f, *s);
  if (!run.accumulate()) return f.machine->panicked ? nullptr : f.machine->fail(f, in, run.problem);
  if (!mayGoOn(*f.machine)) return f.machine->fail(f, in, "interrupted");
  if (run.advance()) return f.code->instrs.data() + s->x->body;
  run.end(false);
  putObject(f, in->a, nullptr);
  return in + 1;
}

const Instr* runEndSub(Frame&, const Instr*) { return nullptr; }

} // namespace melix::interp
