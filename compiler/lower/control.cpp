// Branches, loops, exits (core.md, Single exit).
#include "lower/body.h"

namespace melix::lower {

using namespace check;

ValueId BodyLowering::branches(core::Op op, const std::vector<std::function<ValueId(RegionId)>>& makes, TypeId type, const std::vector<DimSym>& sizes) {
  Values before = values_;
  types::DimSubst dimsBefore = dimMap_;
  auto hoistedBefore = hoisted_;
  FlowKind flowBefore = flow_;
  RegionId outer = b_.region;
  struct Done {
    RegionId region;
    ValueId value;
    Values values;
    FlowKind flow;
  };
  std::vector<Done> done;
  for (const auto& make : makes) {
    RegionId region = b_.newRegion();
    b_.region = region;
    values_ = before;
    dimMap_ = dimsBefore;
    flow_ = flowBefore;
    ValueId value = make(region);
    done.push_back({region, value, values_, flow_});
  }
  dimMap_ = dimsBefore;
  hoisted_ = hoistedBefore;
  std::vector<LocalId> changed;
  for (const auto& [local, value] : before)
    for (const Done& d : done)
      if (d.values.at(local) != value) {
        changed.push_back(local);
        break;
      }
  // Sizes that the arms decide.
  std::vector<DimSym> fresh;
  for (DimSym s : sizes) {
    b_.region = outer;
    fresh.push_back(b_.newDim(types_.dims.info(s).name));
    dimMap_[s] = types_.dims.symbol(fresh.back());
  }
  bool never = types_.kind(type) == TypeKind::Never;
  TypeId result = never ? types_.unit() : T(type);
  std::vector<TypeId> resultTypes{result};
  for (LocalId l : changed)
    resultTypes.push_back(b_.fn().typeOf(before.at(l)));
  for (Done& d : done) {
    b_.region = d.region;
    types::DimSubst actual;
    matchDims(type, b_.typeOf(d.value), actual);
    std::vector<DimId> dims;
    types::DimSubst own = dimsBefore;
    for (size_t k = 0; k < sizes.size(); ++k) {
      auto found = actual.find(sizes[k]);
      DimId dim = found != actual.end() && d.flow != FlowKind::Off ? found->second : types_.dims.constant(0);
      dims.push_back(dim);
      own[sizes[k]] = dim;
    }
    TypeId want = never ? types_.unit() : types_.substitute(type, own);
    ValueId value = d.value;
    if (b_.typeOf(value) != want)
      value = d.flow == FlowKind::Off || types_.isUnit(b_.typeOf(value)) || types_.isUnit(want) ? (types_.isUnit(want) ? unit() : b_.undef(want)) : cast(value, want);
    std::vector<ValueId> out{value};
    for (size_t k = 0; k < changed.size(); ++k)
      out.push_back(cast(d.values.at(changed[k]), resultTypes[k + 1]));
    b_.yield(std::move(out), std::move(dims));
    op.regions.push_back(d.region);
  }
  b_.region = outer;
  op.resultDims = fresh;
  core::OpId made = b_.append(std::move(op), std::span<const TypeId>(resultTypes));
  values_ = before;
  for (size_t k = 0; k < changed.size(); ++k)
    values_[changed[k]] = b_.result(made, k + 1);
  bool allOff = true, anyLeft = false;
  for (const Done& d : done) {
    allOff &= d.flow == FlowKind::Off;
    anyLeft |= d.flow != FlowKind::On;
  }
  flow_ = allOff ? FlowKind::Off : anyLeft ? FlowKind::Maybe : FlowKind::On;
  return b_.result(made, 0);
}

ValueId BodyLowering::ifNode(const Node& node) {
  return after({node.children[0]}, node.type, [&](std::vector<ValueId> v) {
    return branches(Builder::simple(OpKind::If, {v[0]}),
                    {[&](RegionId) {
                       ValueId value = expr(node.children[1]);
                       return node.children.size() == 2 && flow_ != FlowKind::Off ? unit() : value;
                     },
                     [&](RegionId) { return node.children.size() > 2 ? expr(node.children[2]) : unit(); }},
                    node.type, node.resultDims);
  });
}

ValueId BodyLowering::shortCircuit(const Node& node) {
  bool conjunction = node.kind == NodeKind::ShortAnd;
  return after({node.children[0]}, node.type, [&](std::vector<ValueId> v) {
    std::function<ValueId(RegionId)> right = [&](RegionId) { return expr(node.children[1]); };
    std::function<ValueId(RegionId)> fixed = [&](RegionId) { return b_.boolean(!conjunction); };
    return branches(Builder::simple(OpKind::If, {v[0]}), {conjunction ? right : fixed, conjunction ? fixed : right}, types_.boolean(), {});
  });
}

// --- patterns -------------------------------------------------------------------------------------------------------

bool BodyLowering::irrefutable(PatternId id) {
  const Pattern& p = instance_.patterns[id];
  switch (p.kind) {
  case PatternKind::Wildcard:
  case PatternKind::Bind:
  case PatternKind::BindPlace: return true;
  case PatternKind::Parts: return std::all_of(p.subs.begin(), p.subs.end(), [&](PatternId s) { return irrefutable(s); });
  default: return false;
  }
}

ValueId BodyLowering::opened(ValueId value, const Pattern& p) {
  if (p.unpacked.empty())
    return value;
  core::Op op = Builder::simple(OpKind::Unpack, {value});
  std::vector<DimId> dims;
  for (DimSym s : p.unpacked) {
    op.resultDims.push_back(b_.newDim(types_.dims.info(s).name));
    dims.push_back(types_.dims.symbol(op.resultDims.back()));
    dimMap_[s] = dims.back();
  }
  return b_.one(std::move(op), types_.openPack(b_.typeOf(value), dims));
}

/// Binds the names of a pattern that matches `value`.
void BodyLowering::bind(ValueId value, PatternId id) {
  const Pattern p = instance_.patterns[id];
  value = opened(value, p);
  switch (p.kind) {
  case PatternKind::Bind: define(p.local, cast(value, T(p.type))); return;
  case PatternKind::Parts:
    for (uint32_t k = 0; k < p.subs.size(); ++k)
      if (instance_.patterns[p.subs[k]].kind != PatternKind::Wildcard)
        bind(b_.field(value, k), p.subs[k]);
    return;
  case PatternKind::Case: {
    bool binds = std::any_of(p.subs.begin(), p.subs.end(), [&](PatternId s) { return instance_.patterns[s].kind != PatternKind::Wildcard; });
    if (!binds)
      return;
    // The payload of the one case; the others are not met here.
    TypeId type = b_.typeOf(value);
    std::vector<TypeId> fields;
    for (uint32_t k = 0; k < p.subs.size(); ++k)
      fields.push_back(types_.fieldType(type, p.caseIndex, k));
    core::Op op = Builder::simple(OpKind::Match, {value}, core::MatchAttr{});
    RegionId outer = b_.region;
    for (uint32_t c = 0; c < types_.recordInfo(types_[type].record).cases.size(); ++c) {
      RegionId region = b_.newRegion();
      b_.region = region;
      std::vector<ValueId> payload;
      for (uint32_t k = 0; k < types_.recordInfo(types_[type].record).cases[c].fields.size(); ++k)
        payload.push_back(b_.param(types_.fieldType(type, c, k)));
      if (c != p.caseIndex) {
        payload.clear();
        for (TypeId f : fields)
          payload.push_back(b_.undef(f));
      }
      b_.yield(std::move(payload));
      op.as<core::MatchAttr>().regionOf.push_back(c);
      op.regions.push_back(region);
    }
    b_.region = outer;
    core::OpId made = b_.append(std::move(op), std::span<const TypeId>(fields));
    for (uint32_t k = 0; k < p.subs.size(); ++k)
      bind(b_.result(made, k), p.subs[k]);
    return;
  }
  default: return;
  }
}

/// Whether a pattern matches, as a bool.
ValueId BodyLowering::test(ValueId value, PatternId id) {
  const Pattern p = instance_.patterns[id];
  if (irrefutable(id))
    return b_.boolean(true);
  value = opened(value, p);
  auto both = [&](ValueId a, const Make& rest) {
    return branches(Builder::simple(OpKind::If, {a}), {[&](RegionId) { return rest(); }, [&](RegionId) { return b_.boolean(false); }}, types_.boolean(), {});
  };
  switch (p.kind) {
  case PatternKind::Literal: {
    TypeId type = b_.typeOf(value);
    ValueId constant = types_.kind(type) == TypeKind::Str ? b_.text(p.value.text) : b_.constant(type, p.value.bits);
    return b_.compare(ops::CmpKind::Eq, value, constant);
  }
  case PatternKind::Or: {
    ValueId any = test(value, p.subs[0]);
    for (size_t k = 1; k < p.subs.size(); ++k) {
      ValueId earlier = any;
      any = branches(Builder::simple(OpKind::If, {earlier}), {[&](RegionId) { return b_.boolean(true); }, [&](RegionId) { return test(value, p.subs[k]); }}, types_.boolean(), {});
    }
    return any;
  }
  case PatternKind::Parts: {
    ValueId all = b_.boolean(true);
    for (uint32_t k = 0; k < p.subs.size(); ++k)
      if (!irrefutable(p.subs[k]))
        all = both(all, [&] { return test(b_.field(value, k), p.subs[k]); });
    return all;
  }
  case PatternKind::Case: {
    TypeId type = b_.typeOf(value);
    core::Op op = Builder::simple(OpKind::Match, {value}, core::MatchAttr{});
    std::vector<std::function<ValueId(RegionId)>> makes;
    for (uint32_t c = 0; c < types_.recordInfo(types_[type].record).cases.size(); ++c) {
      op.as<core::MatchAttr>().regionOf.push_back(c);
      makes.push_back([&, c](RegionId) {
        std::vector<ValueId> payload;
        for (uint32_t k = 0; k < types_.recordInfo(types_[type].record).cases[c].fields.size(); ++k)
          payload.push_back(b_.param(types_.fieldType(type, c, k)));
        if (c != p.caseIndex)
          return b_.boolean(false);
        ValueId all = b_.boolean(true);
        for (uint32_t k = 0; k < p.subs.size(); ++k)
          if (!irrefutable(p.subs[k]))
            all = both(all, [&] { return test(payload[k], p.subs[k]); });
        return all;
      });
    }
    return branches(std::move(op), makes, types_.boolean(), {});
  }
  default: return b_.boolean(true);
  }
}

/// Arms that one `match` op can hold: cases without guards whose parts bind, and a last arm for the rest.
bool BodyLowering::isDirect(const std::vector<check::Arm>& arms, TypeId scrutinee) {
  if (types_.kind(scrutinee) != TypeKind::Enum)
    return false;
  for (const check::Arm& arm : arms) {
    const Pattern& p = instance_.patterns[arm.pattern];
    if (arm.guard.valid() || !p.unpacked.empty())
      return false;
    bool simpleCase = p.kind == PatternKind::Case && std::all_of(p.subs.begin(), p.subs.end(), [&](PatternId s) { return irrefutable(s); });
    if (!simpleCase && p.kind != PatternKind::Wildcard && p.kind != PatternKind::Bind)
      return false;
  }
  return true;
}

ValueId BodyLowering::matchDirect(ValueId value, const std::vector<check::Arm>& arms, TypeId type, const std::vector<DimSym>& sizes) {
  TypeId scrutinee = b_.typeOf(value);
  core::Op op = Builder::simple(OpKind::Match, {value}, core::MatchAttr{});
  std::vector<std::function<ValueId(RegionId)>> makes;
  auto cases = types_.recordInfo(types_[scrutinee].record).cases;
  for (uint32_t c = 0; c < cases.size(); ++c) {
    op.as<core::MatchAttr>().regionOf.push_back(c);
    makes.push_back([&, c](RegionId) {
      std::vector<ValueId> payload;
      for (uint32_t k = 0; k < cases[c].fields.size(); ++k)
        payload.push_back(b_.param(types_.fieldType(scrutinee, c, k), cases[c].fields[k].name));
      for (const check::Arm& arm : arms) {
        const Pattern p = instance_.patterns[arm.pattern];
        if (p.kind == PatternKind::Case && p.caseIndex != c)
          continue;
        if (p.kind == PatternKind::Case)
          for (uint32_t k = 0; k < p.subs.size(); ++k)
            bind(payload[k], p.subs[k]);
        else
          bind(value, arm.pattern);
        return expr(arm.body);
      }
      b_.append(Builder::simple(OpKind::Panic, {b_.text("no arm matches")}), {});
      flow_ = FlowKind::Off;
      return unit();
    });
  }
  return branches(std::move(op), makes, type, sizes);
}

ValueId BodyLowering::matchChain(ValueId value, const std::vector<check::Arm>& arms, size_t k, TypeId type, const std::vector<DimSym>& sizes) {
  if (k == arms.size()) {
    b_.append(Builder::simple(OpKind::Panic, {b_.text("no arm matches")}), {});
    flow_ = FlowKind::Off;
    return unit();
  }
  const check::Arm& arm = arms[k];
  if (!arm.guard.valid() && irrefutable(arm.pattern)) {
    bind(value, arm.pattern);
    return expr(arm.body);
  }
  ValueId hit = test(value, arm.pattern);
  if (arm.guard.valid()) {
    hit = branches(Builder::simple(OpKind::If, {hit}), {[&](RegionId) {
                     bind(value, arm.pattern);
                     return expr(arm.guard);
                   }, [&](RegionId) { return b_.boolean(false); }}, types_.boolean(), {});
  }
  return branches(Builder::simple(OpKind::If, {hit}), {[&](RegionId) {
                    bind(value, arm.pattern);
                    return expr(arm.body);
                  }, [&](RegionId) { return matchChain(value, arms, k + 1, type, sizes); }}, type, sizes);
}

ValueId BodyLowering::match(const Node& node) {
  const Arms arms = node.as<Arms>();
  return after({node.children[0]}, node.type, [&](std::vector<ValueId> v) {
    if (isDirect(arms.arms, b_.typeOf(v[0])))
      return matchDirect(v[0], arms.arms, node.type, node.resultDims);
    return matchChain(v[0], arms.arms, 0, node.type, node.resultDims);
  });
}

// --- walking the typed tree -----------------------------------------------------------------------------------------

void BodyLowering::childrenOf(NodeId n, const std::function<void(NodeId)>& f) {
  const Node& node = instance_.nodes[n];
  for (NodeId child : node.children)
    f(child);
  auto steps = [&](const std::vector<Step>& list) {
    for (const Step& s : list) {
      if (s.index.valid())
        f(s.index);
      if (s.end.valid())
        f(s.end);
    }
  };
  if (auto* p = std::get_if<Steps>(&node.payload))
    steps(p->steps);
  else if (auto* place = std::get_if<Place>(&node.payload))
    steps(place->steps);
  else if (auto* update = std::get_if<Update>(&node.payload))
    steps(update->place.steps);
  else if (auto* target = std::get_if<CallTarget>(&node.payload)) {
    for (const InoutArg& arg : target->inouts)
      steps(arg.place.steps);
  } else if (auto* arms = std::get_if<Arms>(&node.payload)) {
    for (const check::Arm& arm : arms->arms) {
      if (arm.guard.valid())
        f(arm.guard);
      f(arm.body);
    }
  }
}

void BodyLowering::visit(NodeId n, const std::function<void(NodeId)>& f) {
  f(n);
  childrenOf(n, [&](NodeId child) { visit(child, f); });
}

std::set<LocalId> BodyLowering::assignedIn(const std::vector<NodeId>& nodes) {
  std::set<LocalId> out;
  for (NodeId n : nodes)
    visit(n, [&](NodeId k) {
      const Node& node = instance_.nodes[k];
      if (auto* place = std::get_if<Place>(&node.payload))
        out.insert(place->root);
      else if (auto* update = std::get_if<Update>(&node.payload))
        out.insert(update->place.root);
      else if (auto* target = std::get_if<CallTarget>(&node.payload))
        for (const InoutArg& arg : target->inouts)
          out.insert(arg.place.root);
    });
  std::set<LocalId> outer;
  for (LocalId l : out)
    if (values_.contains(l))
      outer.insert(l);
  return outer;
}

/// Whether control may leave `n` by return, or by a break or continue of a loop outside of it.
bool BodyLowering::exitsIn(NodeId n, bool onlyOutside, std::set<uint32_t> inside) {
  const Node& node = instance_.nodes[n];
  if (node.kind == NodeKind::Return)
    return true;
  if (node.kind == NodeKind::Break || node.kind == NodeKind::Continue)
    return !onlyOutside || !inside.contains(node.as<check::Loop>().loop);
  if (node.kind == NodeKind::While || node.kind == NodeKind::Loop)
    inside.insert(node.as<check::Loop>().loop);
  if (node.kind == NodeKind::For)
    inside.insert(node.as<check::For>().loop);
  bool found = false;
  childrenOf(n, [&](NodeId child) { found = found || exitsIn(child, onlyOutside, inside); });
  return found;
}

// --- exits ----------------------------------------------------------------------------------------------------------

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
      if (!v.empty())
        values_[return_] = cast(v[0], b_.typeOf(values_.at(return_)));
      setExit(core::exits::ret);
    } else {
      uint32_t loop = node.as<check::Loop>().loop;
      uint64_t number = loopNumbers_.at(loop);
      if (!v.empty())
        values_[loopValues_.at(loop)] = cast(v[0], b_.typeOf(values_.at(loopValues_.at(loop))));
      setExit(node.kind == NodeKind::Break ? core::exits::breakOf(number) : core::exits::continueOf(number));
    }
    flow_ = FlowKind::Off;
    return unit();
  });
}

// --- loops ----------------------------------------------------------------------------------------------------------

void BodyLowering::whileOver(const std::set<LocalId>& assigned, const Make& condition, const std::function<void()>& body) {
  std::vector<LocalId> carried(assigned.begin(), assigned.end());
  core::Op op = Builder::simple(OpKind::While, {});
  std::vector<TypeId> carryTypes;
  for (LocalId l : carried) {
    op.operands.push_back(values_.at(l));
    carryTypes.push_back(b_.typeOf(values_.at(l)));
  }
  Values before = values_;
  types::DimSubst dimsBefore = dimMap_;
  RegionId outer = b_.region;
  auto enter = [&](const std::function<std::vector<ValueId>()>& make) {
    RegionId region = b_.newRegion();
    b_.region = region;
    values_ = before;
    dimMap_ = dimsBefore;
    flow_ = FlowKind::On;
    for (size_t k = 0; k < carried.size(); ++k)
      values_[carried[k]] = b_.param(carryTypes[k], b_.fn().values[before.at(carried[k])].hint);
    b_.yield(make());
    op.regions.push_back(region);
  };
  enter([&] { return std::vector<ValueId>{condition()}; });
  enter([&] {
    body();
    std::vector<ValueId> out;
    for (size_t k = 0; k < carried.size(); ++k)
      out.push_back(cast(values_.at(carried[k]), carryTypes[k]));
    return out;
  });
  b_.region = outer;
  values_ = before;
  dimMap_ = dimsBefore;
  flow_ = FlowKind::On;
  core::OpId made = b_.append(std::move(op), std::span<const TypeId>(carryTypes));
  for (size_t k = 0; k < carried.size(); ++k)
    values_[carried[k]] = b_.result(made, k);
}

ValueId BodyLowering::forLoop(const Node& node) {
  const auto ref = node.as<check::For>();
  NodeId body = node.children.back();
  std::vector<NodeId> bounds(node.children.begin(), node.children.end() - 1);
  return after(bounds, types_.unit(), [&](std::vector<ValueId> v) {
    TypeId type = b_.typeOf(v[0]);
    ValueId first = v[0];
    // count = (last - first + step - 1) / step, at least 0
    ValueId span = b_.binary(OpKind::Sub, v[1], v[0]);
    if (v.size() > 2) {
      ValueId one = b_.constant(type, 1);
      check(core::CheckKind::Divisor, {v[2]}, {});
      span = b_.binary(OpKind::IDiv, b_.binary(OpKind::Add, span, b_.binary(OpKind::Sub, v[2], one)), v[2]);
    }
    ValueId count = b_.convert(span, types_.int64());
    count = b_.binary(OpKind::Max, count, b_.integer(0));
    bool firstZero = false;
    if (core::OpId def = b_.fn().values[first].def; def)
      firstZero = b_.fn().ops[def].kind == OpKind::Const && b_.fn().ops[def].as<core::Constant>().bits == 0;
    auto indexOf = [&](ValueId i) {
      ValueId index = b_.convert(i, type);
      if (v.size() > 2)
        index = b_.binary(OpKind::Mul, index, v[2]);
      return firstZero ? index : b_.binary(OpKind::Add, index, first);
    };
    bool leaves = exitsIn(body, true, {ref.loop});
    bool jumps = exitsIn(body, false, {});
    uint64_t number = loopNumbers_.size();
    loopNumbers_[ref.loop] = number;
    std::set<LocalId> assigned = assignedIn({body});
    if (!jumps) {
      std::vector<LocalId> carried(assigned.begin(), assigned.end());
      core::Op op = Builder::simple(OpKind::For, {count}, core::LoopAttr{});
      std::vector<TypeId> carryTypes;
      for (LocalId l : carried) {
        op.operands.push_back(values_.at(l));
        carryTypes.push_back(b_.typeOf(values_.at(l)));
      }
      Values before = values_;
      types::DimSubst dimsBefore = dimMap_;
      RegionId outer = b_.region, region = b_.newRegion();
      b_.region = region;
      ValueId i = b_.param(types_.int64());
      if (core::OpId def = b_.fn().values[v[1]].def; def && firstZero && v.size() == 2 && b_.fn().ops[def].kind == OpKind::DimValue)
        axisExtents_[i] = b_.fn().ops[def].dims[0];
      for (size_t k = 0; k < carried.size(); ++k)
        values_[carried[k]] = b_.param(carryTypes[k], b_.fn().values[before.at(carried[k])].hint);
      define(ref.index, indexOf(i));
      expr(body);
      std::vector<ValueId> out;
      for (size_t k = 0; k < carried.size(); ++k)
        out.push_back(cast(values_.at(carried[k]), carryTypes[k]));
      b_.yield(std::move(out));
      op.regions.push_back(region);
      b_.region = outer;
      values_ = before;
      dimMap_ = dimsBefore;
      core::OpId made = b_.append(std::move(op), std::span<const TypeId>(carryTypes));
      for (size_t k = 0; k < carried.size(); ++k)
        values_[carried[k]] = b_.result(made, k);
      return unit();
    }
    LocalId counter(nextPseudo_++);
    values_[counter] = b_.integer(0);
    if (!values_.contains(exit_))
      values_[exit_] = b_.integer(0);
    assigned.insert({counter, exit_});
    if (values_.contains(return_))
      assigned.insert(return_);
    whileOver(assigned, [&] {
      return b_.binary(OpKind::And, exitIs(core::exits::on), b_.compare(ops::CmpKind::Lt, values_.at(counter), count));
    }, [&] {
      define(ref.index, indexOf(values_.at(counter)));
      expr(body);
      ValueId on = b_.integer(0);
      values_[exit_] = b_.select(exitIs(core::exits::continueOf(number)), on, values_.at(exit_));
      values_[counter] = b_.binary(OpKind::Add, values_.at(counter), b_.integer(1));
    });
    values_.erase(counter);
    values_[exit_] = b_.select(exitIs(core::exits::breakOf(number)), b_.integer(0), values_.at(exit_));
    flow_ = leaves ? FlowKind::Maybe : FlowKind::On;
    return unit();
  });
}

ValueId BodyLowering::whileLoop(const Node& node) {
  NodeId cond = node.children[0], body = node.children[1];
  uint32_t loop = node.as<check::Loop>().loop;
  bool leaves = exitsIn(body, true, {loop}) || exitsIn(cond, true, {});
  bool jumps = exitsIn(body, false, {}) || exitsIn(cond, false, {});
  std::set<LocalId> inCondition = assignedIn({cond});
  uint64_t number = loopNumbers_.size();
  loopNumbers_[loop] = number;
  std::set<LocalId> assigned = assignedIn({cond, body});
  if (!jumps && inCondition.empty()) {
    whileOver(assigned, [&] { return expr(cond); }, [&] { expr(body); });
    return unit();
  }
  // A condition with effects, or a body that leaves: `while exit == on { if cond { body } else { break } }`.
  if (!values_.contains(exit_))
    values_[exit_] = b_.integer(0);
  assigned.insert(exit_);
  if (values_.contains(return_))
    assigned.insert(return_);
  auto iteration = [&](ValueId go) {
    branches(Builder::simple(OpKind::If, {go}), {[&](RegionId) {
               expr(body);
               return unit();
             }, [&](RegionId) {
               setExit(core::exits::breakOf(number));
               return unit();
             }}, types_.unit(), {});
  };
  whileOver(assigned, [&] { return exitIs(core::exits::on); }, [&] {
    ValueId go = expr(cond);
    if (flow_ == FlowKind::Maybe)
      guarded(types_.unit(), [&] {
        iteration(go);
        return unit();
      });
    else if (flow_ == FlowKind::On)
      iteration(go);
    values_[exit_] = b_.select(exitIs(core::exits::continueOf(number)), b_.integer(0), values_.at(exit_));
  });
  values_[exit_] = b_.select(exitIs(core::exits::breakOf(number)), b_.integer(0), values_.at(exit_));
  flow_ = leaves ? FlowKind::Maybe : FlowKind::On;
  return unit();
}

ValueId BodyLowering::loopForever(const Node& node) {
  NodeId body = node.children[0];
  uint32_t loop = node.as<check::Loop>().loop;
  bool leaves = exitsIn(body, true, {loop});
  uint64_t number = loopNumbers_.size();
  loopNumbers_[loop] = number;
  if (!values_.contains(exit_))
    values_[exit_] = b_.integer(0);
  bool valued = types_.kind(node.type) != TypeKind::Never && !types_.isUnit(node.type);
  LocalId value(nextPseudo_++);
  if (valued) {
    values_[value] = undef(T(node.type));
    loopValues_[loop] = value;
  }
  std::set<LocalId> assigned = assignedIn({body});
  assigned.insert(exit_);
  if (values_.contains(return_))
    assigned.insert(return_);
  if (valued)
    assigned.insert(value);
  whileOver(assigned, [&] { return exitIs(core::exits::on); }, [&] {
    expr(body);
    values_[exit_] = b_.select(exitIs(core::exits::continueOf(number)), b_.integer(0), values_.at(exit_));
  });
  values_[exit_] = b_.select(exitIs(core::exits::breakOf(number)), b_.integer(0), values_.at(exit_));
  flow_ = leaves ? FlowKind::Maybe : FlowKind::On;
  if (types_.kind(node.type) == TypeKind::Never)
    flow_ = leaves ? FlowKind::Off : FlowKind::On;
  ValueId result = valued ? values_.at(value) : unit();
  values_.erase(value);
  return result;
}

} // namespace melix::lower
