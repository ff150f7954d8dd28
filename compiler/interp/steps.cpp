#include "interp/steps.h"

#include <algorithm>
#include <new>
#include <stdexcept>

namespace melix::interp {

const Instr* Machine::fail(Frame& f, const Instr* in, std::string message) {
  if (!panicked) {
    panicked = true;
    panic.message = std::move(message);
  }
  const core::Function& fn = program.module().functions[f.code->function];
  panic.trace.push_back({fn.name, f.code->locs[static_cast<size_t>(in - f.code->instrs.data())]});
  return nullptr;
}

void runFrom(Frame& f, const Instr* in) {
  try {
    while (in) in = in->run(f, in);
  } catch (const OutOfMemory& asked) {
    f.machine->fail(f, in, asked.message());
  } catch (const std::bad_alloc&) {
    f.machine->fail(f, in, "out of memory");
  } catch (const std::length_error&) {
    f.machine->fail(f, in, "out of memory");
  }
}

static const Instr* at(Frame& f, uint32_t target) { return f.code->instrs.data() + target; }

static void put(Frame& f, uint32_t reg, TypeKind kind, Slot owned) {
  if (isObject(kind))
    putObject(f, reg, owned.o);
  else
    f.r[reg] = owned;
}
static Slot taken(Frame& f, uint32_t operand, TypeKind kind) {
  return isObject(kind) ? take(f, operand) : peek(f, operand);
}

// --- moving and control
// -------------------------------------------------------------------------------------------

const Instr* runMove(Frame& f, const Instr* in) {
  f.r[in->a] = f.r[in->b];
  return in + 1;
}

const Instr* runMoveObject(Frame& f, const Instr* in) {
  Slot s = take(f, in->b);
  putObject(f, in->a, s.o);
  return in + 1;
}

const Instr* runDrop(Frame& f, const Instr* in) {
  putObject(f, in->a, nullptr);
  return in + 1;
}

const Instr* runReturn(Frame& f, const Instr* in) {
  const auto& x = extraOf<RegsExtra>(in);
  for (size_t k = 0; k < x.regs.size(); ++k) f.results->push_back(taken(f, x.regs[k], x.kinds[k]));
  return nullptr;
}

const Instr* runRefuse(Frame& f, const Instr* in) {
  return f.machine->fail(f, in, extraOf<MessageExtra>(in).text);
}
const Instr* runJump(Frame& f, const Instr* in) { return at(f, in->a); }
const Instr* runJumpUnless(Frame& f, const Instr* in) { return f.r[in->a].u ? in + 1 : at(f, in->b); }

bool mayGoOn(Machine& m) {
  ++m.steps;
  const Hooks& h = m.program.hooks();
  if (h.maxSteps != 0 && m.steps > h.maxSteps) return false;
  return (m.steps & 0xfff) != 0 || !h.interrupted || !h.interrupted();
}

const Instr* runLoopBack(Frame& f, const Instr* in) {
  if (!mayGoOn(*f.machine)) return f.machine->fail(f, in, "interrupted");
  return at(f, in->a);
}

const Instr* runForStart(Frame& f, const Instr* in) {
  f.r[in->a].i = -1;
  return in + 1;
}

const Instr* runForNext(Frame& f, const Instr* in) {
  int64_t i = ++f.r[in->a].i;
  return i < f.r[in->b].i ? in + 1 : at(f, in->c);
}

const Instr* runMatch(Frame& f, const Instr* in) {
  auto* r = static_cast<Record*>(f.r[in->a].o);
  if (!r) return f.machine->fail(f, in, "an undefined value is matched");
  return at(f, extraOf<MatchExtra>(in).targets[r->tag]);
}

const Instr* runSwitch(Frame& f, const Instr* in) {
  const std::vector<uint32_t>& targets = extraOf<MatchExtra>(in).targets;
  return at(f, targets[std::min<uint64_t>(f.r[in->a].u, targets.size() - 1)]);
}

const Instr* runCall(Frame& f, const Instr* in) {
  const auto& x = extraOf<CallExtra>(in);
  Machine& m = *f.machine;
  if (!mayGoOn(m)) return m.fail(f, in, "interrupted");
  const Code& code = m.program.code(x.callee);
  bool overflows =
      reinterpret_cast<uintptr_t>(__builtin_frame_address(0)) < m.lowest || m.used + code.regs > m.stackSlots;
  if (overflows) return m.fail(f, in, "stack overflow: recursion without end?");
  Frame callee{m.stack + m.used, &m, &code, nullptr};
  std::memcpy(static_cast<void*>(callee.r), code.constants.data(), code.constants.size() * sizeof(Slot));
  m.used += code.regs;
  for (size_t k = 0; k < x.args.size(); ++k) callee.r[code.paramRegs[k]] = taken(f, x.args[k], x.argKinds[k]);
  std::vector<Slot> results;
  results.reserve(x.results.size());
  callee.results = &results;
  runFrom(callee, code.instrs.data());
  for (uint32_t r : code.objectRegs) release(callee.r[r].o);
  m.used -= code.regs;
  if (m.panicked) return m.fail(f, in, {});
  for (size_t k = 0; k < x.results.size(); ++k) put(f, x.results[k], x.resultKinds[k], results[k]);
  return in + 1;
}

const Instr* runMathHook(Frame& f, const Instr* in) {
  auto kind = static_cast<ops::MathKind>(in->c & 0xff);
  auto type = static_cast<TypeKind>(in->c >> 8);
  const Hooks& h = f.machine->program.hooks();
  auto number = [&](uint32_t r) { return type == TypeKind::F32 ? static_cast<double>(f.r[r].f) : f.r[r].d; };
  std::optional<double> v;
  if (h.math) v = h.math(kind, type, number(in->b), number(in->d));
  if (!v)
    return f.machine->fail(f, in, "`" + std::string(ops::mathName(kind)) + "` has no body in this program");
  f.r[in->a] = type == TypeKind::F32 ? slotOf(static_cast<float>(*v)) : slotOf(*v);
  return in + 1;
}

// --- values
// -------------------------------------------------------------------------------------------------------

const Instr* runSelect(Frame& f, const Instr* in) {
  f.r[in->a] = f.r[in->b].u ? f.r[in->c] : f.r[in->d];
  return in + 1;
}

const Instr* runSelectObject(Frame& f, const Instr* in) {
  Object* o = f.r[in->b].u ? f.r[in->c].o : f.r[in->d].o;
  retain(o);
  putObject(f, in->a, o);
  return in + 1;
}

const Instr* runTangent(Frame& f, const Instr* in) {
  std::string problem;
  Slot a = take(f, in->b);
  Slot r = tangentOp(static_cast<TangentOp>(in->d), objectKind, a, peek(f, in->c), problem);
  putObject(f, in->a, r.o);
  return problem.empty() ? in + 1 : f.machine->fail(f, in, problem);
}

const Instr* runRecord(Frame& f, const Instr* in) {
  const auto& x = extraOf<RegsExtra>(in);
  auto* r = new Record(in->b, in->c != 0, x.regs.size());
  for (size_t k = 0; k < x.regs.size(); ++k) {
    r->kinds[k] = x.kinds[k];
    r->parts[k] = taken(f, x.regs[k], x.kinds[k]);
  }
  putObject(f, in->a, r);
  return in + 1;
}

const Instr* runPart(Frame& f, const Instr* in) {
  Slot s = static_cast<Record*>(peek(f, in->b).o)->parts[in->c];
  if (in->d) {
    retain(s.o);
    putObject(f, in->a, s.o);
  } else {
    f.r[in->a] = s;
  }
  return in + 1;
}

const Instr* runNewArray(Frame& f, const Instr* in) {
  const auto& x = extraOf<RegsExtra>(in);
  Extents dims(x.dims.size());
  for (size_t k = 0; k < dims.size(); ++k) dims[k] = f.r[x.dims[k]].i;
  if (std::string why = whyNoArray(dims); !why.empty()) return f.machine->fail(f, in, why);
  putObject(f, in->a, new Array(x.element, dims));
  return in + 1;
}

const Instr* runFillZero(Frame& f, const Instr* in) {
  auto* a = static_cast<Array*>(f.r[in->a].o);
  for (int64_t k = 0; k < a->count; ++k) {
    retain(f.r[in->b].o);
    a->put(k, f.r[in->b]);
  }
  return in + 1;
}

const Instr* runArrayOf(Frame& f, const Instr* in) {
  const auto& x = extraOf<RegsExtra>(in);
  const Instr* next = runNewArray(f, in);
  if (!next) return nullptr;
  auto* a = static_cast<Array*>(f.r[in->a].o);
  bool rows = in->c != 0;
  for (size_t k = 0; k < x.regs.size(); ++k) {
    auto index = static_cast<int64_t>(k);
    if (!rows) {
      a->put(index, taken(f, x.regs[k], x.element));
      continue;
    }
    auto* row = static_cast<const Array*>(peek(f, x.regs[k]).o);
    copyElements(*a, index * (a->count / static_cast<int64_t>(x.regs.size())), row);
    if (x.regs[k] & moveBit) putObject(f, x.regs[k] & ~moveBit, nullptr);
  }
  return next;
}

const Instr* runPutRow(Frame& f, const Instr* in) {
  auto* a = static_cast<Array*>(f.r[in->a].o);
  int64_t row = f.r[in->b].i;
  auto kind = static_cast<TypeKind>(in->d);
  if (kind == TypeKind::Array) {
    auto* from = static_cast<const Array*>(f.r[in->c].o);
    copyElements(*a, a->dims[0] > 0 ? row * (a->count / a->dims[0]) : 0, from);
    return in + 1;
  }
  Slot s = f.r[in->c];
  if (isObject(kind)) retain(s.o);
  a->put(row, s);
  return in + 1;
}

const Instr* runReshape(Frame& f, const Instr* in) {
  const auto& x = extraOf<RegsExtra>(in);
  auto* a = updated<Array>(f, in);
  int64_t count = 1;
  for (uint32_t r : x.dims) count *= f.r[r].i;
  if (count != a->count) return f.machine->fail(f, in, "a reshape changes the number of elements");
  a->dims = Extents(x.dims.size());
  for (size_t k = 0; k < x.dims.size(); ++k) a->dims[k] = f.r[x.dims[k]].i;
  return in + 1;
}

// --- lists
// --------------------------------------------------------------------------------------------------------

const Instr* runNewList(Frame& f, const Instr* in) {
  const auto& x = extraOf<RegsExtra>(in);
  auto* l = new List(x.element);
  putObject(f, in->a, l);
  l->items.reserve(x.regs.size());
  for (uint32_t r : x.regs) l->items.push_back(taken(f, r, x.element));
  return in + 1;
}

const Instr* runPush(Frame& f, const Instr* in) {
  auto* l = updated<List>(f, in);
  l->items.push_back(Slot{0});
  l->items.back() = taken(f, in->c, static_cast<TypeKind>(in->d));
  return in + 1;
}

const Instr* runPop(Frame& f, const Instr* in) {
  Object* o = take(f, in->c).o;
  putObject(f, in->b, o);
  auto* l = uniqueAt<List>(f.r[in->b].o);
  if (l->items.empty()) return f.machine->fail(f, in, "pop of an empty list");
  Slot last = l->items.back();
  l->items.pop_back();
  put(f, in->a, static_cast<TypeKind>(in->d), last);
  return in + 1;
}

const Instr* runLength(Frame& f, const Instr* in) {
  const Object* o = f.r[in->b].o;
  size_t n = o->kind == ObjectKind::List ? static_cast<const List*>(o)->items.size()
                                         : static_cast<const Str*>(o)->text.size();
  f.r[in->a].i = static_cast<int64_t>(n);
  return in + 1;
}

const Instr* runToArray(Frame& f, const Instr* in) {
  const auto& x = extraOf<RegsExtra>(in);
  const Instr* next = runNewArray(f, in);
  if (!next) return nullptr;
  auto* a = static_cast<Array*>(f.r[in->a].o);
  auto* l = static_cast<const List*>(f.r[in->b].o);
  bool rows = isObject(l->element) && !l->items.empty() && l->items[0].o &&
              l->items[0].o->kind == ObjectKind::Array && x.dims.size() > 1;
  for (size_t k = 0; k < l->items.size(); ++k) {
    Slot s = l->items[k];
    if (rows) {
      copyElements(*a, static_cast<int64_t>(k) * (a->count / a->dims[0]), static_cast<const Array*>(s.o));
      continue;
    }
    if (isObject(l->element)) retain(s.o);
    a->put(static_cast<int64_t>(k), s);
  }
  return next;
}

const Instr* runToList(Frame& f, const Instr* in) {
  const auto& x = extraOf<RegsExtra>(in);
  auto* a = static_cast<const Array*>(f.r[in->b].o);
  auto* l = new List(x.element);
  putObject(f, in->a, l);
  l->items.reserve(static_cast<size_t>(a->dims[0]));
  for (int64_t k = 0; k < a->dims[0]; ++k) l->items.push_back(elementOrRow(*a, 1, k));
  return in + 1;
}

const Instr* runExactDim(Frame& f, const Instr* in) {
  const auto& x = extraOf<ExactDimExtra>(in);
  std::unordered_map<types::DimSym, int64_t> sizes;
  for (auto [symbol, r] : x.symbols) sizes.emplace(symbol, f.r[r].i);
  f.r[in->a].i = f.machine->program.module().types.dims.evaluate(x.dim, sizes).value_or(INT64_MAX);
  return in + 1;
}

const Instr* runRealDim(Frame& f, const Instr* in) {
  f.r[in->a].i = std::max<int64_t>(f.r[in->b].i, 0);
  return in + 1;
}

} // namespace melix::interp
