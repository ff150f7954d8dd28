// Loops and exits (core.md, Single exit).
#include "lower/body.h"

namespace melix::lower {

using namespace check;

ValueId BodyLowering::setExit(uint64_t code) {
  values_[exit_] = b_.integer(static_cast<int64_t>(code));
  return values_[exit_];
}

ValueId BodyLowering::exitIs(uint64_t code) {
  return b_.compare(ops::CmpKind::Eq, values_.at(exit_), b_.integer(static_cast<int64_t>(code)));
}

ValueId BodyLowering::jump(const Node& node) {
  return after(node.children, node.type, [&](std::vector<ValueId> v) {
    if (node.kind == NodeKind::Return) {
      if (!v.empty()) values_[return_] = carriedReturn(v[0]);
      setExit(core::exits::ret);
    } else {
      uint32_t loop = node.as<check::Loop>().loop;
      uint64_t number = loopNumbers_.at(loop);
      if (!v.empty())
        if (auto carried = loopValues_.find(loop); carried != loopValues_.end())
          values_[carried->second] = cast(v[0], b_.typeOf(values_.at(carried->second)));
      setExit(node.kind == NodeKind::Break ? core::exits::breakOf(number) : core::exits::continueOf(number));
    }
    flow_ = FlowKind::Off;
    return unit();
  });
}

/// The value that an early return carries to the end: a pack where the function decides sizes of its result.
ValueId BodyLowering::carriedReturn(ValueId value) {
  TypeId wanted = b_.typeOf(values_.at(return_));
  if (instance_.resultDims.empty() || types_.kind(wanted) != TypeKind::Pack) return cast(value, wanted);
  types::DimSubst actual;
  matchDims(instance_.result, b_.typeOf(value), actual);
  core::Op op = Builder::simple(OpKind::Pack, {});
  for (DimSym s : instance_.resultDims) {
    auto found = actual.find(s);
    op.dims.push_back(found != actual.end() ? found->second : types_.dims.constant(0));
  }
  op.operands = {cast(value, types_.openPack(wanted, op.dims))};
  return b_.one(std::move(op), wanted);
}

/// Opens what `carriedReturn` packed.
ValueId BodyLowering::returned() {
  ValueId value = values_.at(return_);
  TypeId type = b_.typeOf(value);
  if (instance_.resultDims.empty() || types_.kind(type) != TypeKind::Pack) return value;
  core::Op op = Builder::simple(OpKind::Unpack, {value});
  std::vector<DimId> dims;
  for (DimSym s : instance_.resultDims) {
    op.resultDims.push_back(b_.newDim(types_.dims.info(s).name));
    dims.push_back(types_.dims.symbol(op.resultDims.back()));
  }
  return b_.one(std::move(op), types_.openPack(type, dims));
}

/// The exit value and what leaves with it are carried by a loop whose body may leave it.
void BodyLowering::carryExit(std::set<LocalId>& assigned) {
  if (!values_.contains(exit_)) values_[exit_] = b_.integer(static_cast<int64_t>(core::exits::on));
  assigned.insert(exit_);
  if (values_.contains(return_)) assigned.insert(return_);
  for (auto [loop, local] : loopValues_)
    if (values_.contains(local)) assigned.insert(local);
}

/// `exit = if exit == code { on } else { exit }`
void BodyLowering::clearExit(uint64_t code) {
  values_[exit_] =
      b_.select(exitIs(code), b_.integer(static_cast<int64_t>(core::exits::on)), values_.at(exit_));
}

BodyLowering::Carries BodyLowering::carry(const std::set<LocalId>& assigned, core::Op& loop) {
  Carries carries;
  for (LocalId l : assigned) {
    carries.locals.push_back(l);
    carries.types.push_back(b_.typeOf(values_.at(l)));
    loop.operands.push_back(values_.at(l));
  }
  return carries;
}

void BodyLowering::enterCarries(const Carries& carries, const Values& before) {
  for (size_t k = 0; k < carries.locals.size(); ++k) {
    LocalId l = carries.locals[k];
    values_[l] = b_.param(carries.types[k], b_.fn().values[before.at(l)].hint);
  }
}

void BodyLowering::whileOver(const std::set<LocalId>& assigned, const Make& condition,
                             const std::function<void()>& body) {
  core::Op op = Builder::simple(OpKind::While, {});
  const Carries carries = carry(assigned, op);
  const std::vector<LocalId>& carried = carries.locals;
  const std::vector<TypeId>& carryTypes = carries.types;
  Values before = values_;
  types::DimSubst dimsBefore = dimMap_;
  RegionId outer = b_.region;
  auto enter = [&](const std::function<std::vector<ValueId>()>& make) {
    RegionId region = b_.newRegion();
    b_.region = region;
    values_ = before;
    dimMap_ = dimsBefore;
    flow_ = FlowKind::On;
    enterCarries(carries, before);
    b_.yield(make());
    op.regions.push_back(region);
  };
  enter([&] { return std::vector<ValueId>{condition()}; });
  enter([&] {
    body();
    std::vector<ValueId> out;
    for (size_t k = 0; k < carried.size(); ++k) out.push_back(cast(values_.at(carried[k]), carryTypes[k]));
    return out;
  });
  b_.region = outer;
  values_ = before;
  dimMap_ = dimsBefore;
  flow_ = FlowKind::On;
  core::OpId made = b_.append(std::move(op), std::span<const TypeId>(carryTypes));
  for (size_t k = 0; k < carried.size(); ++k) values_[carried[k]] = b_.result(made, k);
}

/// The steps in `span`, rounded up.
static ValueId stepsIn(Builder& b, ValueId span, ValueId step) {
  const ValueId some = b.binary(OpKind::Min, span, b.constant(b.typeOf(span), 1));
  return b.binary(OpKind::Add, b.binary(OpKind::IDiv, b.binary(OpKind::Sub, span, some), step), some);
}

/// Numbers as i64 and back: those of u64 keep their bits.
ValueId BodyLowering::rebased(ValueId v, TypeId to) {
  bool wide = types_.kind(b_.typeOf(v)) == TypeKind::U64 || types_.kind(to) == TypeKind::U64;
  return b_.convert(v, to, wide ? ops::ConvertMode::Wrap : ops::ConvertMode::Saturate);
}

/// How often a counted loop runs. What lies between its bounds is counted without a sign where i64 does not
/// hold it; a loop of 2^63 steps or more comes to no end in any case.
BodyLowering::Counted BodyLowering::counted(const std::vector<ValueId>& bounds) {
  Counted out;
  TypeId int64 = types_.int64();
  out.type = b_.typeOf(bounds[0]);
  bool wide = types_.kind(out.type) == TypeKind::U64;
  out.first = rebased(bounds[0], int64);
  ValueId last = rebased(bounds[1], int64);
  const core::Op* from =
      b_.fn().values[out.first].def ? &b_.fn().ops[b_.fn().values[out.first].def] : nullptr;
  bool natural = !wide && from && from->kind == OpKind::Const &&
                 static_cast<int64_t>(from->as<core::Constant>().bits) >= 0;
  bool fits = types::scalarBits(types_.kind(out.type)) < 64 || natural;
  last = wide ? rebased(b_.binary(OpKind::Max, bounds[1], bounds[0]), int64)
              : b_.binary(OpKind::Max, last, out.first);
  out.count = b_.binary(OpKind::Sub, last, out.first);
  if (bounds.size() > 2) {
    checkStep(bounds[2]);
    out.step = rebased(bounds[2], int64);
  }
  if (fits && !out.step) return out;
  TypeId counts = fits ? int64 : types_.scalar(TypeKind::U64);
  out.count = rebased(out.count, counts);
  if (out.step) out.count = stepsIn(b_, out.count, rebased(out.step, counts));
  out.count = b_.convert(out.count, int64);
  return out;
}

void BodyLowering::checkStep(ValueId step) {
  ValueId zero = b_.constant(b_.typeOf(step), 0);
  check(core::CheckKind::Assert, {b_.compare(ops::CmpKind::Gt, step, zero)}, {},
        "the step of a range is positive");
}

/// The loop's variable in iteration `i`.
ValueId BodyLowering::indexOf(const Counted& range, ValueId i) {
  ValueId index = range.step ? b_.binary(OpKind::Mul, i, range.step) : i;
  if (range.first) index = b_.binary(OpKind::Add, range.first, index);
  return rebased(index, range.type);
}

ValueId BodyLowering::forLoop(const Node& node) {
  const auto& ref = node.as<check::For>();
  NodeId body = node.children.back();
  std::vector<NodeId> bounds(node.children.begin(), node.children.end() - 1);
  return after(bounds, types_.unit(), [&](std::vector<ValueId> v) {
    Counted range = counted(v);
    loopNumbers_[ref.loop] = nextLoop_++;
    if (leavesEarly(instance_, body, ref.loop))
      forThatLeaves(ref, body, range);
    else
      countedLoop(ref.index, {body}, range, exitsIn(instance_, body), [&] { expr(body); });
    return unit();
  });
}

/// A loop that runs to its end, a `for` op, over what `nodes` assign. A `continue` ends its iteration only.
void BodyLowering::countedLoop(LocalId index, const std::vector<NodeId>& nodes, const Counted& range,
                               bool continues, const std::function<void()>& body) {
  core::Op op = Builder::simple(OpKind::For, {range.count}, core::LoopAttr{});
  const Carries carries = carry(assignedIn(nodes), op);
  const std::vector<LocalId>& carried = carries.locals;
  const std::vector<TypeId>& carryTypes = carries.types;
  Values before = values_;
  types::DimSubst dimsBefore = dimMap_;
  auto hoistedBefore = hoisted_;
  RegionId outer = b_.region, region = b_.newRegion();
  b_.region = region;
  ValueId i = b_.param(types_.int64());
  enterCarries(carries, before);
  if (continues) values_[exit_] = b_.integer(static_cast<int64_t>(core::exits::on));
  define(index, indexOf(range, i));
  body();
  std::vector<ValueId> out;
  for (size_t k = 0; k < carried.size(); ++k) out.push_back(cast(values_.at(carried[k]), carryTypes[k]));
  b_.yield(std::move(out));
  op.regions.push_back(region);
  b_.region = outer;
  values_ = before;
  dimMap_ = dimsBefore;
  hoisted_ = hoistedBefore;
  flow_ = FlowKind::On;
  core::OpId made = b_.append(std::move(op), std::span<const TypeId>(carryTypes));
  for (size_t k = 0; k < carried.size(); ++k) values_[carried[k]] = b_.result(made, k);
}

/// `while exit == on and i < count`.
void BodyLowering::forThatLeaves(const check::For& ref, NodeId body, const Counted& range) {
  bool leaves = exitsIn(instance_, body, {ref.loop});
  uint64_t number = loopNumbers_.at(ref.loop);
  LocalId counter(nextPseudo_++);
  values_[counter] = b_.integer(0);
  std::set<LocalId> assigned = assignedIn({body});
  assigned.insert(counter);
  carryExit(assigned);
  whileOver(
      assigned,
      [&] {
        return b_.binary(OpKind::And, exitIs(core::exits::on),
                         b_.compare(ops::CmpKind::Lt, values_.at(counter), range.count));
      },
      [&] {
        ValueId i = values_.at(counter);
        define(ref.index, indexOf(range, i));
        expr(body);
        clearExit(core::exits::continueOf(number));
        values_[counter] = b_.binary(OpKind::Add, i, b_.integer(1));
      });
  values_.erase(counter);
  clearExit(core::exits::breakOf(number));
  flow_ = leaves ? FlowKind::Maybe : FlowKind::On;
}

ValueId BodyLowering::whileLoop(const Node& node) {
  NodeId cond = node.children[0], body = node.children[1];
  uint32_t loop = node.as<check::Loop>().loop;
  bool leaves = exitsIn(instance_, body, {loop}) || exitsIn(instance_, cond);
  bool jumps = exitsIn(instance_, body) || exitsIn(instance_, cond);
  uint64_t number = nextLoop_++;
  loopNumbers_[loop] = number;
  std::set<LocalId> assigned = assignedIn({cond, body});
  if (!jumps && assignedIn({cond}).empty()) {
    whileOver(assigned, [&] { return expr(cond); }, [&] { expr(body); });
    return unit();
  }
  // A condition with effects, or a body that leaves: `while exit == on { if cond { body } else { break } }`.
  carryExit(assigned);
  auto iteration = [&](ValueId go) {
    branches(Builder::simple(OpKind::If, {go}),
             {[&](RegionId) {
                expr(body);
                return unit();
              },
              [&](RegionId) {
                setExit(core::exits::breakOf(number));
                flow_ = FlowKind::Off;
                return unit();
              }},
             types_.unit(), {});
  };
  whileOver(
      assigned, [&] { return exitIs(core::exits::on); },
      [&] {
        ValueId go = expr(cond);
        if (flow_ == FlowKind::Maybe)
          guarded(types_.unit(), [&] {
            iteration(go);
            return unit();
          });
        else if (flow_ == FlowKind::On)
          iteration(go);
        clearExit(core::exits::continueOf(number));
      });
  clearExit(core::exits::breakOf(number));
  flow_ = leaves ? FlowKind::Maybe : FlowKind::On;
  return unit();
}

ValueId BodyLowering::loopForever(const Node& node) {
  NodeId body = node.children[0];
  uint32_t loop = node.as<check::Loop>().loop;
  bool leaves = exitsIn(instance_, body, {loop});
  uint64_t number = nextLoop_++;
  loopNumbers_[loop] = number;
  bool valued = types_.kind(node.type) != TypeKind::Never && !types_.isUnit(node.type);
  LocalId value(nextPseudo_++);
  if (valued) {
    values_[value] = undef(T(node.type));
    loopValues_[loop] = value;
  }
  std::set<LocalId> assigned = assignedIn({body});
  carryExit(assigned);
  whileOver(
      assigned, [&] { return exitIs(core::exits::on); },
      [&] {
        expr(body);
        clearExit(core::exits::continueOf(number));
      });
  clearExit(core::exits::breakOf(number));
  bool never = types_.kind(node.type) == TypeKind::Never; // no `break`: what follows is not reached
  flow_ = !leaves ? FlowKind::On : never ? FlowKind::Off : FlowKind::Maybe;
  ValueId result = valued ? values_.at(value) : unit();
  loopValues_.erase(loop);
  values_.erase(value);
  return result;
}

} // namespace melix::lower
