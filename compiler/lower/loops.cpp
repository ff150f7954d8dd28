// Loops and exits (core.md, Single exit).
#include "lower/loops.h"

#include "lower/body.h"
#include "lower/control.h"

namespace melix::lower {

using namespace check;

namespace {

/// The locals that a loop carries, and the types they keep.
struct Carries {
  std::vector<LocalId> locals;
  std::vector<TypeId> types;
};

ValueId setExit(BodyLowering& fn, uint64_t code) {
  fn.values[fn.exits.code] = fn.b.integer(static_cast<int64_t>(code));
  return fn.values[fn.exits.code];
}

/// The value that an early return carries to the end: a pack where the function decides sizes of its result.
ValueId carriedReturn(BodyLowering& fn, ValueId value) {
  TypeId wanted = fn.b.typeOf(fn.values.at(fn.exits.value));
  if (fn.instance.resultDims.empty() || fn.types.kind(wanted) != TypeKind::Pack)
    return fn.cast(value, wanted);
  types::DimSubst actual;
  fn.matchDims(fn.instance.result, fn.b.typeOf(value), actual);
  core::Op op = Builder::simple(OpKind::Pack, {});
  for (DimSym s : fn.instance.resultDims) {
    auto found = actual.find(s);
    op.dims.push_back(found != actual.end() ? found->second : fn.types.dims.constant(0));
  }
  op.operands = {fn.cast(value, fn.types.openPack(wanted, op.dims))};
  return fn.b.one(std::move(op), wanted);
}

/// The exit value and what leaves with it are carried by a loop whose body may leave it.
void carryExit(BodyLowering& fn, std::set<LocalId>& assigned) {
  if (!fn.values.contains(fn.exits.code))
    fn.values[fn.exits.code] = fn.b.integer(static_cast<int64_t>(core::exits::on));
  assigned.insert(fn.exits.code);
  if (fn.values.contains(fn.exits.value)) assigned.insert(fn.exits.value);
  for (auto [loop, local] : fn.exits.loopValues)
    if (fn.values.contains(local)) assigned.insert(local);
}

/// `exit = if exit == code { on } else { exit }`
void clearExit(BodyLowering& fn, uint64_t code) {
  fn.values[fn.exits.code] = fn.b.select(
      exitIs(fn, code), fn.b.integer(static_cast<int64_t>(core::exits::on)), fn.values.at(fn.exits.code));
}

Carries carry(BodyLowering& fn, const std::set<LocalId>& assigned, core::Op& loop) {
  Carries carries;
  for (LocalId l : assigned) {
    carries.locals.push_back(l);
    carries.types.push_back(fn.b.typeOf(fn.values.at(l)));
    loop.operands.push_back(fn.values.at(l));
  }
  return carries;
}

void enterCarries(BodyLowering& fn, const Carries& carries, const Values& before) {
  for (size_t k = 0; k < carries.locals.size(); ++k) {
    LocalId l = carries.locals[k];
    fn.values[l] = fn.b.param(carries.types[k], fn.b.fn().values[before.at(l)].hint);
  }
}

void whileOver(BodyLowering& fn, const std::set<LocalId>& assigned, const Make& condition,
               FunctionRef<void()> body) {
  core::Op op = Builder::simple(OpKind::While, {});
  const Carries carries = carry(fn, assigned, op);
  const std::vector<LocalId>& carried = carries.locals;
  const std::vector<TypeId>& carryTypes = carries.types;
  Values before = fn.values;
  types::DimSubst dimsBefore = fn.sizes.known;
  RegionId outer = fn.b.region;
  auto enter = [&](FunctionRef<std::vector<ValueId>()> make) {
    RegionId region = fn.b.newRegion();
    fn.b.region = region;
    fn.values = before;
    fn.sizes.known = dimsBefore;
    fn.exits.flow = FlowKind::On;
    enterCarries(fn, carries, before);
    fn.b.yield(make());
    op.regions.push_back(region);
  };
  enter([&] { return std::vector<ValueId>{condition()}; });
  enter([&] {
    body();
    std::vector<ValueId> out;
    for (size_t k = 0; k < carried.size(); ++k)
      out.push_back(fn.cast(fn.values.at(carried[k]), carryTypes[k]));
    return out;
  });
  fn.b.region = outer;
  fn.values = before;
  fn.sizes.known = dimsBefore;
  fn.exits.flow = FlowKind::On;
  core::OpId made = fn.b.append(std::move(op), std::span<const TypeId>(carryTypes));
  for (size_t k = 0; k < carried.size(); ++k) fn.values[carried[k]] = fn.b.result(made, k);
}

/// The steps in `span`, rounded up.
ValueId stepsIn(Builder& b, ValueId span, ValueId step) {
  const ValueId some = b.binary(OpKind::Min, span, b.constant(b.typeOf(span), 1));
  return b.binary(OpKind::Add, b.binary(OpKind::IDiv, b.binary(OpKind::Sub, span, some), step), some);
}

/// Numbers as i64 and back: those of u64 keep their bits.
ValueId rebased(BodyLowering& fn, ValueId v, TypeId to) {
  bool wide = fn.types.kind(fn.b.typeOf(v)) == TypeKind::U64 || fn.types.kind(to) == TypeKind::U64;
  return fn.b.convert(v, to, wide ? ops::ConvertMode::Wrap : ops::ConvertMode::Saturate);
}

void checkStep(BodyLowering& fn, ValueId step) {
  ValueId zero = fn.b.constant(fn.b.typeOf(step), 0);
  fn.check(core::CheckKind::Assert, {fn.b.compare(ops::CmpKind::Gt, step, zero)}, {},
           "the step of a range is positive");
}

/// The loop's variable in iteration `i`.
ValueId indexOf(BodyLowering& fn, const Counted& range, ValueId i) {
  ValueId index = range.step ? fn.b.binary(OpKind::Mul, i, range.step) : i;
  if (range.first) index = fn.b.binary(OpKind::Add, range.first, index);
  return rebased(fn, index, range.type);
}

/// `while exit == on and i < count`.
void forThatLeaves(BodyLowering& fn, const check::For& ref, NodeId body, const Counted& range) {
  bool leaves = exitsIn(fn.instance, body, {ref.loop});
  uint64_t number = fn.exits.numberOf(ref.loop);
  const LocalId counter = fn.exits.addLocal();
  fn.values[counter] = fn.b.integer(0);
  std::set<LocalId> assigned = assignedIn(fn, {body});
  assigned.insert(counter);
  carryExit(fn, assigned);
  whileOver(
      fn, assigned,
      [&] {
        return fn.b.binary(OpKind::And, exitIs(fn, core::exits::on),
                           fn.b.compare(ops::CmpKind::Lt, fn.values.at(counter), range.count));
      },
      [&] {
        ValueId i = fn.values.at(counter);
        fn.define(ref.index, indexOf(fn, range, i));
        fn.expr(body);
        clearExit(fn, core::exits::continueOf(number));
        fn.values[counter] = fn.b.binary(OpKind::Add, i, fn.b.integer(1));
      });
  fn.values.erase(counter);
  clearExit(fn, core::exits::breakOf(number));
  fn.exits.flow = leaves ? FlowKind::Maybe : FlowKind::On;
}

} // namespace

ValueId exitIs(BodyLowering& fn, uint64_t code) {
  return fn.b.compare(ops::CmpKind::Eq, fn.values.at(fn.exits.code),
                      fn.b.integer(static_cast<int64_t>(code)));
}

ValueId lowerJump(BodyLowering& fn, const Node& node) {
  return fn.after(node.children, node.type, [&](std::vector<ValueId> v) {
    if (node.kind == NodeKind::Return) {
      if (!v.empty()) fn.values[fn.exits.value] = carriedReturn(fn, v[0]);
      setExit(fn, core::exits::ret);
    } else {
      uint32_t loop = node.as<check::Loop>().loop;
      uint64_t number = fn.exits.numberOf(loop);
      if (!v.empty())
        if (auto carried = fn.exits.loopValues.find(loop); carried != fn.exits.loopValues.end())
          fn.values[carried->second] = fn.cast(v[0], fn.b.typeOf(fn.values.at(carried->second)));
      setExit(fn,
              node.kind == NodeKind::Break ? core::exits::breakOf(number) : core::exits::continueOf(number));
    }
    fn.exits.flow = FlowKind::Off;
    return fn.unit();
  });
}

/// Opens what `carriedReturn` packed.
ValueId returned(BodyLowering& fn) {
  ValueId value = fn.values.at(fn.exits.value);
  TypeId type = fn.b.typeOf(value);
  if (fn.instance.resultDims.empty() || fn.types.kind(type) != TypeKind::Pack) return value;
  core::Op op = Builder::simple(OpKind::Unpack, {value});
  std::vector<DimId> dims;
  for (DimSym s : fn.instance.resultDims) {
    op.resultDims.push_back(fn.b.newDim(fn.types.dims.info(s).name));
    dims.push_back(fn.types.dims.symbol(op.resultDims.back()));
  }
  return fn.b.one(std::move(op), fn.types.openPack(type, dims));
}

/// How often a counted loop runs. What lies between its bounds is counted without a sign where i64 does not
/// hold it; a loop of 2^63 steps or more comes to no end in any case.
Counted counted(BodyLowering& fn, const std::vector<ValueId>& bounds) {
  Counted out;
  TypeId int64 = fn.types.int64();
  out.type = fn.b.typeOf(bounds[0]);
  bool wide = fn.types.kind(out.type) == TypeKind::U64;
  out.first = rebased(fn, bounds[0], int64);
  ValueId last = rebased(fn, bounds[1], int64);
  const core::Op* from =
      fn.b.fn().values[out.first].def ? &fn.b.fn().ops[fn.b.fn().values[out.first].def] : nullptr;
  bool natural = !wide && from && from->kind == OpKind::Const &&
                 static_cast<int64_t>(from->as<core::Constant>().bits) >= 0;
  bool fits = types::scalarBits(fn.types.kind(out.type)) < 64 || natural;
  last = wide ? rebased(fn, fn.b.binary(OpKind::Max, bounds[1], bounds[0]), int64)
              : fn.b.binary(OpKind::Max, last, out.first);
  out.count = fn.b.binary(OpKind::Sub, last, out.first);
  if (bounds.size() > 2) {
    checkStep(fn, bounds[2]);
    out.step = rebased(fn, bounds[2], int64);
  }
  if (fits && !out.step) return out;
  TypeId counts = fits ? int64 : fn.types.scalar(TypeKind::U64);
  out.count = rebased(fn, out.count, counts);
  if (out.step) out.count = stepsIn(fn.b, out.count, rebased(fn, out.step, counts));
  out.count = fn.b.convert(out.count, int64);
  return out;
}

ValueId lowerFor(BodyLowering& fn, const Node& node) {
  const auto& ref = node.as<check::For>();
  NodeId body = node.children.back();
  std::vector<NodeId> bounds(node.children.begin(), node.children.end() - 1);
  return fn.after(bounds, fn.types.unit(), [&](std::vector<ValueId> v) {
    Counted range = counted(fn, v);
    fn.exits.addLoop(ref.loop);
    if (leavesEarly(fn.instance, body, ref.loop))
      forThatLeaves(fn, ref, body, range);
    else
      countedLoop(fn, ref.index, {body}, range, exitsIn(fn.instance, body), [&] { fn.expr(body); });
    return fn.unit();
  });
}

/// A loop that runs to its end, a `for` op, over what `nodes` assign. A `continue` ends its iteration only.
void countedLoop(BodyLowering& fn, LocalId index, const std::vector<NodeId>& nodes, const Counted& range,
                 bool continues, FunctionRef<void()> body) {
  core::Op op = Builder::simple(OpKind::For, {range.count}, core::LoopAttr{});
  const Carries carries = carry(fn, assignedIn(fn, nodes), op);
  const std::vector<LocalId>& carried = carries.locals;
  const std::vector<TypeId>& carryTypes = carries.types;
  Values before = fn.values;
  types::DimSubst dimsBefore = fn.sizes.known;
  auto hoistedBefore = fn.hoisting.ahead;
  RegionId outer = fn.b.region, region = fn.b.newRegion();
  fn.b.region = region;
  ValueId i = fn.b.param(fn.types.int64());
  enterCarries(fn, carries, before);
  if (continues) fn.values[fn.exits.code] = fn.b.integer(static_cast<int64_t>(core::exits::on));
  fn.define(index, indexOf(fn, range, i));
  body();
  std::vector<ValueId> out;
  for (size_t k = 0; k < carried.size(); ++k) out.push_back(fn.cast(fn.values.at(carried[k]), carryTypes[k]));
  fn.b.yield(std::move(out));
  op.regions.push_back(region);
  fn.b.region = outer;
  fn.values = before;
  fn.sizes.known = dimsBefore;
  fn.hoisting.ahead = hoistedBefore;
  fn.exits.flow = FlowKind::On;
  core::OpId made = fn.b.append(std::move(op), std::span<const TypeId>(carryTypes));
  for (size_t k = 0; k < carried.size(); ++k) fn.values[carried[k]] = fn.b.result(made, k);
}

ValueId lowerWhile(BodyLowering& fn, const Node& node) {
  NodeId cond = node.children[0], body = node.children[1];
  uint32_t loop = node.as<check::Loop>().loop;
  bool leaves = exitsIn(fn.instance, body, {loop}) || exitsIn(fn.instance, cond);
  bool jumps = exitsIn(fn.instance, body) || exitsIn(fn.instance, cond);
  const uint64_t number = fn.exits.addLoop(loop);
  std::set<LocalId> assigned = assignedIn(fn, {cond, body});
  if (!jumps && assignedIn(fn, {cond}).empty()) {
    whileOver(fn, assigned, [&] { return fn.expr(cond); }, [&] { fn.expr(body); });
    return fn.unit();
  }
  // A condition with effects, or a body that leaves: `while exit == on { if cond { body } else { break } }`.
  carryExit(fn, assigned);
  auto iteration = [&](ValueId go) {
    branches(fn, Builder::simple(OpKind::If, {go}),
             {[&](RegionId) {
                fn.expr(body);
                return fn.unit();
              },
              [&](RegionId) {
                setExit(fn, core::exits::breakOf(number));
                fn.exits.flow = FlowKind::Off;
                return fn.unit();
              }},
             fn.types.unit(), {});
  };
  whileOver(
      fn, assigned, [&] { return exitIs(fn, core::exits::on); },
      [&] {
        ValueId go = fn.expr(cond);
        if (fn.exits.flow == FlowKind::Maybe)
          fn.guarded(fn.types.unit(), [&] {
            iteration(go);
            return fn.unit();
          });
        else if (fn.exits.flow == FlowKind::On)
          iteration(go);
        clearExit(fn, core::exits::continueOf(number));
      });
  clearExit(fn, core::exits::breakOf(number));
  fn.exits.flow = leaves ? FlowKind::Maybe : FlowKind::On;
  return fn.unit();
}

ValueId lowerLoop(BodyLowering& fn, const Node& node) {
  NodeId body = node.children[0];
  uint32_t loop = node.as<check::Loop>().loop;
  bool leaves = exitsIn(fn.instance, body, {loop});
  const uint64_t number = fn.exits.addLoop(loop);
  bool valued = fn.types.kind(node.type) != TypeKind::Never && !fn.types.isUnit(node.type);
  const LocalId value = fn.exits.addLocal();
  if (valued) {
    fn.values[value] = fn.undef(fn.T(node.type));
    fn.exits.loopValues[loop] = value;
  }
  std::set<LocalId> assigned = assignedIn(fn, {body});
  carryExit(fn, assigned);
  whileOver(
      fn, assigned, [&] { return exitIs(fn, core::exits::on); },
      [&] {
        fn.expr(body);
        clearExit(fn, core::exits::continueOf(number));
      });
  clearExit(fn, core::exits::breakOf(number));
  bool never = fn.types.kind(node.type) == TypeKind::Never; // no `break`: what follows is not reached
  fn.exits.flow = !leaves ? FlowKind::On : never ? FlowKind::Off : FlowKind::Maybe;
  ValueId result = valued ? fn.values.at(value) : fn.unit();
  fn.exits.loopValues.erase(loop);
  fn.values.erase(value);
  return result;
}

} // namespace melix::lower
