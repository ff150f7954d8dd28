// Transposes of control: the same structure, reversed.

#include "transforms/derivatives/backward.h"
#include "transforms/derivatives/item_lists.h"
#include "transforms/derivatives/scalar_rules.h"

#include <algorithm>

namespace melix::transforms {

/// Whether a result of the op has a cotangent.
bool Backward::seeded(const Op& o) {
  return std::any_of(o.results.begin(), o.results.end(), [&](ValueId r) {
    return linear(r) && (isAcc(r) ? reader(r).valid() : cotangent(r).valid());
  });
}

/// One arm transposed, from the cotangents of the op's results.
void Backward::arm(const Op& o, Scope& s) {
  cur_ = &s;
  for (size_t i = 0; i < o.results.size(); ++i) {
    ValueId r = o.results[i];
    if (!linear(r)) continue;
    auto c = s.parent->cotangents.find(r);
    read_ = readOf(*s.parent, r);
    if (isAcc(r))
      addTo(terminator(s.source).operands[i], reader(r));
    else if (c != s.parent->cotangents.end() && c->second.valid())
      addTo(terminator(s.source).operands[i], c->second);
  }
  read_ = ValueId();
  region(s);
}

/// Whether anything read a value, as an arm knows that adds to its cotangent, or leaves it; none if it did.
ValueId Backward::readInArm(Scope& s, ValueId v) {
  const Capture& c = s.captured.at(v);
  return c.current.valid() ? readOf(s, v) : s.e.boolean(false);
}

/// What some arm changed comes out of all of them: these values; the arms yield their cotangents, and whether
/// anything read them.
Backward::Joined Backward::joinArms(std::deque<Scope>& arms, std::vector<TypeId>& resultTypes) {
  Joined joined;
  for (Scope& s : arms)
    for (ValueId v : s.captureOrder) {
      const Capture& c = s.captured.at(v);
      if (c.current != c.base && std::ranges::find(joined.values, v) == joined.values.end())
        joined.values.push_back(v);
    }
  std::vector<std::vector<ValueId>> outs(arms.size());
  for (ValueId v : joined.values) {
    if (!steep_.contains(v)) continue;
    bool any = false;
    for (size_t i = 0; i < arms.size(); ++i) {
      cur_ = &arms[i];
      open(arms[i], v);
      outs[i].push_back(readInArm(arms[i], v));
      any |= outs[i].back().valid();
    }
    for (size_t i = 0; i < arms.size(); ++i)
      if (!any)
        outs[i].pop_back();
      else if (!outs[i].back().valid())
        outs[i].back() = arms[i].e.boolean(true);
    if (any) joined.read.push_back(v);
  }
  for (size_t i = 0; i < arms.size(); ++i) {
    cur_ = &arms[i];
    std::vector<ValueId> out;
    for (ValueId v : joined.values) {
      ValueId& c = slot(arms[i], v);
      if (!c.valid()) c = zeroFor(arms[i], v);
      out.push_back(c);
    }
    out.insert(out.end(), outs[i].begin(), outs[i].end());
    if (i == 0)
      for (ValueId v : out) resultTypes.push_back(arms[i].e.typeOf(v));
    arms[i].e.yield(std::move(out));
  }
  return joined;
}

/// The results of the op with the arms are the cotangents of what they joined.
void Backward::takeJoined(Scope& s, const Joined& joined, OpId made) {
  for (size_t i = 0; i < joined.values.size(); ++i) slot(s, joined.values[i]) = s.e.result(made, i);
  for (size_t i = 0; i < joined.read.size(); ++i)
    s.read[joined.read[i]] = s.e.result(made, joined.values.size() + i);
}

/// The enum that the forward companion's branch gives: a case an arm, with its items.
TypeId Backward::branchType(OpId id, const std::vector<std::vector<ResidualItem>>& items) {
  types::Record record;
  record.name = types().names.intern("Branch");
  record.isEnum = true;
  record.declaration = 0x50000000u + id.index;
  std::vector<DimSym> symbols, unique;
  for (const auto& arm : items)
    for (const ResidualItem& item : arm) types().collectSymbols(item.type, symbols);
  std::vector<DimId> dims;
  types::DimSubst toRecord;
  for (DimSym s : symbols) {
    if (types().dims.info(s).kind == types::DimSymKind::Bound) continue;
    if (std::find(unique.begin(), unique.end(), s) != unique.end()) continue;
    unique.push_back(s);
    dims.push_back(types().dims.symbol(s));
    record.dimParams.push_back(ad_.freshDim(s));
    toRecord[s] = types().dims.symbol(record.dimParams.back());
  }
  for (const auto& arm : items) {
    types::EnumCase c{types().names.intern("arm" + std::to_string(record.cases.size())), {}};
    for (const ResidualItem& item : arm)
      c.fields.push_back({NameId(), types().substitute(item.type, toRecord)});
    record.cases.push_back(std::move(c));
  }
  return types().record(types().addRecord(std::move(record)), dims);
}

/// Whether the items of all arms, if any, are numbers: these lie beside the results, which takes less than an
/// enum, a block of its own.
bool Backward::areFewNumbers(const std::vector<std::vector<ResidualItem>>& items) const {
  constexpr size_t most = 4;
  size_t count = 0;
  for (const auto& arm : items) {
    count += arm.size();
    for (const ResidualItem& item : arm)
      if (!item.hidden.empty() || !types().isScalar(item.type)) return false;
  }
  return count <= most;
}

/// The items of all arms as values beside the branch: those of one arm are read in it alone.
void Backward::readArmItems(OpId id, std::deque<Scope>& arms,
                            const std::vector<std::vector<ResidualItem>>& items,
                            const std::vector<Roots>& roots) {
  size_t number = 0;
  for (size_t i = 0; i < arms.size(); ++i)
    for (size_t k = 0; k < items[i].size(); ++k) {
      const ValueId item = known(carrier(id, number++, items[i][k].type));
      define(arms[i], roots[i][k], Emit::simple(OpKind::CastDims, {item})); // by another name
    }
}

/// The op that chooses an arm again: by the condition itself where arms saved numbers at the most, else by
/// the case that the forward companion recorded.
Op Backward::recomputeChoice(OpId id, const std::vector<std::vector<ResidualItem>>& items, bool areNumbers) {
  const Op& o = opOf(id);
  Op made;
  if (areNumbers) {
    made.kind = OpKind::If;
    made.operands = {known(o.operands[0])};
    return made;
  }
  const bool recorded = lin_.plan.ops.count(id) && !lin_.plan.ops[id].carriers.empty();
  ValueId chosen = recorded ? lin_.plan.ops[id].carriers[0] : carrier(id, 0, branchType(id, items));
  made.kind = OpKind::Match;
  made.operands = {known(chosen)};
  MatchAttr attr;
  for (uint32_t i = 0; i < items.size(); ++i) attr.regionOf.push_back(i);
  made.attr = attr;
  return made;
}

/// If, and Match on a known value.
void Backward::branch(OpId id) {
  const Op& o = opOf(id);
  if (!seeded(o)) return;
  Scope* outer = cur_;
  std::deque<Scope> arms;
  for (RegionId from : o.regions) {
    arms.push_back(
        Scope{ScopeKind::Arm, from, outer->e.in(outer->e.newRegion()), outer, {}, {}, {}, {}, {}, {}, {}, 0});
    arm(o, arms.back());
  }
  std::vector<TypeId> resultTypes;
  const Joined joined = joinArms(arms, resultTypes);
  cur_ = outer;
  std::vector<std::vector<ResidualItem>> items;
  std::vector<Roots> roots(arms.size());
  for (size_t i = 0; i < arms.size(); ++i) items.push_back(close(arms[i], roots[i]));
  const bool areNumbers = o.kind == OpKind::If && areFewNumbers(items);
  if (areNumbers) readArmItems(id, arms, items, roots);
  for (size_t i = 0; i < arms.size(); ++i) {
    if (!areNumbers)
      for (ValueId r : roots[i]) arms[i].e.defineParam(r);
    openItems(arms[i], items[i], roots[i]);
    placePrologue(arms[i]);
  }

  Op made = recomputeChoice(id, items, areNumbers);
  for (Scope& s : arms) made.regions.push_back(s.e.region);
  if (mutated(StructuralRule::TransposeBranch) && made.kind == OpKind::If)
    std::swap(made.regions[0], made.regions[1]);
  if (joined.values.empty()) return;
  takeJoined(*outer, joined, outer->e.append(std::move(made), resultTypes));
}

/// A loop undone: what its parts share.
struct Backward::LoopSweep {
  OpId id;
  LoopView from;
  Op made{};
  ValueId index{}; ///< of the iteration undone
  types::DimSubst inBody{}, atEnd{};
  std::vector<size_t> carried{}; ///< carries that have a cotangent
  std::vector<TypeId> resultTypes{};
};

/// Sizes that change from one iteration to the next are carried backwards too.
void Backward::carrySizes(LoopSweep& sweep, Scope& s) {
  const std::span<const DimSym> carriedDims = sweep.from.bodyDims();
  for (size_t k = 0; k < carriedDims.size(); ++k) {
    sweep.made.dims.push_back(dim(types().dims.symbol(sweep.from.resultDims()[k])));
    DimSym own = ad_.freshDim(carriedDims[k]), last = ad_.freshDim(carriedDims[k]);
    s.e.fn().regions[s.e.region].dimParams.push_back(own);
    sweep.made.resultDims.push_back(last);
    sweep.inBody[carriedDims[k]] = types().dims.symbol(own);
    sweep.atEnd[carriedDims[k]] = types().dims.symbol(last);
  }
}

/// Cotangents of what the body yields: those carried, and elements of those of what was collected.
void Backward::takeCarried(LoopSweep& sweep, Scope& s) {
  const LoopView& from = sweep.from;
  Scope* outer = s.parent;
  std::vector<ValueId> own;
  for (size_t i = 0; i < from.carries(); ++i) {
    ValueId p = from.carryParams()[i];
    if (!linear(p)) continue;
    if (isAcc(p)) {
      if (ValueId c = reader(from.carryResults()[i]); c.valid()) {
        cur_ = &s;
        addTo(from.carryYields()[i], c);
        cur_ = outer;
        readers_[from.carryOperands()[i]] = c;
      }
      continue;
    }
    sweep.carried.push_back(i);
    sweep.made.operands.push_back(realCotangent(from.carryResults()[i]));
    own.push_back(s.e.param(type(types().substitute(g().typeOf(p), sweep.inBody))));
  }
  cur_ = &s;
  for (size_t k = 0; k < own.size(); ++k) addTo(from.carryYields()[sweep.carried[k]], own[k]);
  for (size_t i = 0; i < from.stacks(); ++i) {
    const ValueId stack = from.stackResults()[i], y = from.stackYields()[i];
    if (!linear(stack)) continue;
    auto c = outer->cotangents.find(stack);
    if (c == outer->cotangents.end() || !c->second.valid()) continue;
    addTo(y, s.e.getAt(c->second, std::span(&sweep.index, 1), typeOf(y)));
  }
}

/// A loop carries the cotangents of outside values that its iterations add to.
void Backward::yieldCaptured(const Scope& s, Op& made, std::vector<TypeId>& resultTypes,
                             std::vector<ValueId>& out) {
  for (ValueId v : s.captureOrder) {
    const Capture& c = s.captured.at(v);
    made.operands.push_back(c.init);
    resultTypes.push_back(s.e.typeOf(c.init));
    out.push_back(c.current);
  }
}

/// Cotangents of the parameters carried, then of outside values.
void Backward::yieldCarried(LoopSweep& sweep, Scope& s) {
  Scope* outer = s.parent;
  std::vector<ValueId> out;
  for (size_t i : sweep.carried) {
    const ValueId param = sweep.from.carryParams()[i];
    cur_ = &s;
    out.push_back(realCotangent(param));
    cur_ = outer;
    sweep.resultTypes.push_back(type(types().substitute(g().typeOf(param), sweep.atEnd)));
  }
  cur_ = &s;
  yieldCaptured(s, sweep.made, sweep.resultTypes, out);
  std::vector<DimId> outDims;
  for (DimSym d : sweep.from.bodyDims()) outDims.push_back(dim(types().dims.symbol(d)));
  s.e.yield(std::move(out), std::move(outDims));
}

/// The items of an iteration: of a `while` places in Lists, of a `for` an element of an array each.
void Backward::readItems(const LoopSweep& sweep, Scope& s, const std::vector<ResidualItem>& items,
                         const Roots& roots) {
  if (items.empty()) return;
  if (!sweep.from.isCounted()) return readItemLists(sweep, s, items, roots);
  const DimId extent = extentOfItems(sweep.id, sweep.from);
  for (size_t k = 0; k < items.size(); ++k) {
    ValueId array = known(carrier(sweep.id, k, types().array(items[k].type, {extent})));
    define(s, roots[k],
           Emit::simple(OpKind::Get, {array, sweep.index}, Path{PathStep{StepKind::Index, 0, {}, 1}}));
  }
}

/// The items of an iteration of a `while`, in the Lists after the count.
void Backward::readItemLists(const LoopSweep& sweep, Scope& s, const std::vector<ResidualItem>& items,
                             const Roots& roots) {
  const ItemLists lists = itemListsOf(types(), items);
  size_t next = 1;
  if (!lists.records.empty()) {
    const ValueId list = known(carrier(sweep.id, next++, types().list(recordOfItems(types(), items, lists))));
    for (uint32_t i = 0; i < lists.records.size(); ++i) {
      Path p{PathStep{StepKind::Element, 0, {}, 1}};
      if (lists.records.size() > 1) p.push_back({StepKind::Field, i, {}, 1});
      define(s, roots[lists.records[i]], Emit::simple(OpKind::Get, {list, sweep.index}, std::move(p)));
    }
  }
  // What puts arrays together stands before the rest of the body, as reads do.
  std::vector<OpId>& ops = s.e.fn().regions[s.e.region].ops;
  const size_t before = ops.size();
  std::map<size_t, std::vector<LeafNumbers>> leaves;
  for (const ItemLists::Row& row : lists.rows) {
    const ValueId list = known(carrier(sweep.id, next++, types().list(row.number)));
    const ValueId first = s.e.mul(sweep.index, s.e.dimValue(dim(row.size)));
    for (const ItemLists::Part& part : row.parts)
      leaves[part.item].push_back({list, s.e.add(first, s.e.dimValue(dim(part.at)))});
  }
  std::vector<std::pair<size_t, ValueId>> made;
  for (const auto& [item, numbers] : leaves)
    made.emplace_back(item, itemOf(s.e, type(items[item].type), numbers));
  s.prologue.insert(s.prologue.end(), ops.begin() + static_cast<long>(before), ops.end());
  ops.resize(before);
  for (const auto& [item, value] : made)
    define(s, roots[item], Emit::simple(OpKind::CastDims, {value})); // by another name
}

/// for %r in 0..n carry(cotangents of carries, cotangents of outside values): iteration n - 1 - %r undone.
void Backward::loop(OpId id) {
  const Op& o = opOf(id);
  if (!seeded(o)) return;
  Scope* outer = cur_;
  Emit& e = outer->e;
  LoopSweep sweep{id, LoopView(g(), o)};
  const LoopView& from = sweep.from;
  ValueId count = known(from.isCounted() ? from.count() : carrier(id, 0, types().int64()));

  Scope s{ScopeKind::Loop, from.body(), e.in(e.newRegion()), outer, {}, {}, {}, {}, {}, {}, {}, 0};
  ValueId step = s.e.param(types().int64());
  sweep.index = mutated(StructuralRule::TransposeLoop) ? step : s.e.sub(s.e.sub(count, s.e.i64(1)), step);
  if (from.isCounted()) s.known[from.index()] = sweep.index;
  s.prologueAt = s.e.fn().regions[s.e.region].ops.size();

  sweep.made.kind = OpKind::For;
  sweep.made.operands = {count};
  carrySizes(sweep, s);
  takeCarried(sweep, s);
  region(s);
  yieldCarried(sweep, s);

  Roots roots;
  const std::vector<ResidualItem> items = close(s, roots);
  cur_ = outer;
  readItems(sweep, s, items, roots);
  openItems(s, items, roots);
  placePrologue(s);

  sweep.made.regions = {s.e.region};
  sweep.made.attr = LoopAttr{};
  OpId op = e.append(std::move(sweep.made), sweep.resultTypes);
  size_t at = sweep.carried.size();
  for (ValueId v : s.captureOrder) slot(*outer, v) = e.result(op, at++);
  for (size_t k = 0; k < sweep.carried.size(); ++k)
    addTo(from.carryOperands()[sweep.carried[k]], e.result(op, k));
}

/// Names the items of the record of a call: carriers of their own, but for those that the caller has anyway.
void Backward::itemsOfCall(OpId call, const Linearisation& callee) {
  const Op o = opOf(call);
  OpResidual& plan = lin_.plan.ops[call];
  const TypeId record = types().record(callee.saved, std::vector<DimId>(o.dims));
  for (uint32_t k = 0; k < callee.atHand.size(); ++k) {
    const auto& had = callee.atHand[k];
    if (had && had->path.empty()) {
      plan.carriers.push_back(had->isResult ? o.results[had->number] : o.operands[had->number]);
      if (had->exact) exact_.insert(plan.carriers.back());
      continue;
    }
    const ValueId v = carrier(call, plan.carriers.size(), types().fieldType(record, 0, k));
    if (had && had->exact) exact_.insert(v);
    if (had) lin_.readOf[v] = readOfPart(call, *had, plan.carriers);
  }
}

/// The read that gives a part of an operand of the call; `items` are those before.
Op Backward::readOfPart(OpId call, const Linearisation::AtHand& part, const std::vector<ValueId>& items) {
  using Kind = Linearisation::AtHand::Index::Kind;
  const Operands operands = opOf(call).operands;
  Op read = Emit::simple(OpKind::Get, {operands[part.number]}, part.path);
  for (const Linearisation::AtHand::Index& index : part.indices) {
    if (index.kind == Kind::Constant) {
      const ValueId number =
          ad_.module.functions[lin_.source].values.add(Value{types().int64(), {}, {}, 0, {}});
      lin_.carrierHome[number] = uses_.regionOf(call);
      lin_.readOf[number] = Emit::simple(OpKind::Const, {}, Constant{static_cast<uint64_t>(index.value), {}});
      read.operands.push_back(number);
    } else {
      const auto at = static_cast<size_t>(index.value);
      read.operands.push_back(index.kind == Kind::Param ? operands[at] : items[at]);
    }
  }
  return read;
}

/// The record that a call's forward companion gave.
ValueId Backward::savedByCall(OpId call, Linearisation& callee) {
  const std::vector<DimId> dims(opOf(call).dims);
  const TypeId record = types().record(callee.saved, dims);
  OpResidual& plan = lin_.plan.ops[call];
  const bool isBoxed = lin_.planned
                           ? plan.whole && types().kind(g().typeOf(plan.carriers[0])) == TypeKind::Enum
                           : ad_.isBoxed(callee, uses_.regionOf(call) == g().body);
  if (!lin_.planned) plan.whole = isBoxed || !callee.planned;
  Emit& e = cur_->e;
  if (!plan.whole) {
    if (!lin_.planned) itemsOfCall(call, callee);
    std::vector<ValueId> items;
    for (uint32_t k = 0; k < plan.carriers.size(); ++k)
      items.push_back(e.castDims(known(plan.carriers[k]), types().fieldType(type(record), 0, k)));
    return e.make(type(record), std::move(items));
  }
  if (!isBoxed) return known(carrier(call, 0, record));
  ValueId box = known(carrier(call, 0, types().record(ad_.boxOf(callee), dims)));
  Emit arm = e.in(e.newRegion());
  arm.yield({arm.param(type(record))});
  Op open = Emit::simple(OpKind::Match, {box}, MatchAttr{{0}});
  open.regions = {arm.region};
  return e.one(std::move(open), type(record));
}

/// Seeds of a call of a backward companion: cotangents of the results.
void Backward::passSeeds(const Op& o, Op& made) {
  for (ValueId r : o.results) {
    if (!linear(r)) continue;
    if (!isAcc(r)) {
      made.operands.push_back(realCotangent(r));
      continue;
    }
    ValueId c = reader(r);
    made.operands.push_back(c.valid() ? c : cur_->e.zero(type(types()[g().typeOf(r)].parts[0])));
  }
}

/// An accumulator for the cotangent of an operand; one that is passed twice gets a zero of its own the second
/// time.
ValueId Backward::accumulatorFor(ValueId v, bool isRepeated) {
  if (isRepeated) return zeroFor(*cur_, v);
  begin(v);
  ValueId& c = slot(*cur_, v);
  if (!c.valid()) c = zeroFor(*cur_, v);
  return c;
}

void Backward::call(OpId id) {
  const Op& o = opOf(id);
  std::vector<bool> params;
  for (ValueId v : o.operands) params.push_back(linear(v));
  FunctionId callee = o.as<CallAttr>().callee;
  Linearisation& lin = ad_.linearise(callee, params);
  if (!seeded(o)) return;
  Emit& e = cur_->e;
  Op made;
  made.kind = OpKind::Call;
  made.operands.push_back(savedByCall(id, lin));
  for (DimId d : o.dims) made.dims.push_back(dim(d));
  for (DimSym s : o.resultDims) made.dims.push_back(dim(types().dims.symbol(s)));
  passSeeds(o, made);
  struct Back {
    ValueId operand;
    bool replaces;
  };
  std::vector<Back> backs;
  std::vector<bool> accs;
  std::vector<ValueId> passed;
  std::vector<TypeId> resultTypes;
  size_t kindAt = 0;
  for (size_t i = 0; i < o.operands.size(); ++i) {
    if (!params[i]) continue;
    ValueId v = o.operands[i];
    CotangentKind kind = lin.kinds[kindAt++];
    if (kind == CotangentKind::Reader) {
      for (InoutPair p : ad_.module.functions[callee].inouts)
        if (p.param == i && reader(o.results[p.result]).valid()) readers_[v] = reader(o.results[p.result]);
      continue;
    }
    if (kind != CotangentKind::Accumulate) {
      backs.push_back({v, false});
      resultTypes.push_back(typeOf(v));
      continue;
    }
    bool isRepeated = std::find(passed.begin(), passed.end(), v) != passed.end();
    passed.push_back(v);
    ValueId acc = accumulatorFor(v, isRepeated);
    made.operands.push_back(acc);
    accs.push_back(types().kind(e.typeOf(acc)) == TypeKind::Acc);
    backs.push_back({v, !isRepeated});
    resultTypes.push_back(e.typeOf(acc));
  }
  made.attr = CallAttr{ad_.backward(lin, accs)};
  OpId op = e.append(std::move(made), resultTypes);
  for (size_t i = 0; i < backs.size(); ++i)
    if (backs[i].replaces) slot(*cur_, backs[i].operand) = e.result(op, i);
  for (size_t i = 0; i < backs.size(); ++i)
    if (!backs[i].replaces) addTo(backs[i].operand, e.result(op, i));
}

} // namespace melix::transforms
