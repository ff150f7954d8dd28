// Transposes of control: the same structure, reversed.

#include "transforms/ad_backward.h"
#include "transforms/ad_rules.h"

#include <algorithm>

namespace melix::transforms {

/// If, and Match on a known value: on the case recorded by the forward companion, or the condition itself
/// when no arm saved anything.
void Backward::branch(OpId id) {
  const Op& o = opOf(id);
  bool seeded = false;
  for (ValueId r : o.results) seeded |= linear(r) && (isAcc(r) ? reader(r).valid() : cotangent(r).valid());
  if (!seeded) return;
  Scope* outer = cur_;
  std::deque<Scope> arms;
  for (RegionId from : o.regions) {
    arms.push_back(
        Scope{ScopeKind::Arm, from, outer->e.in(outer->e.newRegion()), outer, {}, {}, {}, {}, {}, {}, {}, 0});
    Scope& s = arms.back();
    cur_ = &s;
    for (size_t i = 0; i < o.results.size(); ++i) {
      ValueId r = o.results[i];
      if (!linear(r)) continue;
      auto c = outer->cotangents.find(r);
      if (isAcc(r))
        addTo(terminator(from).operands[i], reader(r));
      else if (c != outer->cotangents.end() && c->second.valid())
        addTo(terminator(from).operands[i], c->second);
    }
    region(s);
  }

  // What some arm changed comes out of all of them.
  std::vector<ValueId> joined;
  for (Scope& s : arms)
    for (ValueId v : s.captureOrder) {
      const Capture& c = s.captured.at(v);
      if (c.current != c.base && std::find(joined.begin(), joined.end(), v) == joined.end())
        joined.push_back(v);
    }
  std::vector<TypeId> resultTypes;
  std::vector<std::vector<ValueId>> outs;
  for (Scope& s : arms) {
    cur_ = &s;
    std::vector<ValueId> out;
    for (ValueId v : joined) {
      ValueId& c = slot(s, v);
      if (!c.valid()) c = zeroFor(s, v);
      out.push_back(c);
    }
    outs.push_back(std::move(out));
  }
  cur_ = outer;
  for (ValueId v : outs.front()) resultTypes.push_back(outer->e.typeOf(v));
  bool anyItems = false;
  std::vector<std::vector<ResidualItem>> items;
  std::vector<Roots> roots(arms.size());
  for (size_t i = 0; i < arms.size(); ++i) {
    arms[i].e.yield(outs[i]);
    items.push_back(close(arms[i], roots[i]));
    anyItems |= !items.back().empty();
  }
  for (size_t i = 0; i < arms.size(); ++i) {
    for (ValueId r : roots[i]) defineParam(arms[i], r);
    openItems(arms[i], items[i], roots[i]);
    placePrologue(arms[i]);
  }

  Op made;
  if (o.kind == OpKind::If && !anyItems) {
    made.kind = OpKind::If;
    made.operands = {known(o.operands[0])};
  } else {
    ValueId chosen;
    if (lin_.plan.ops.count(id) && !lin_.plan.ops[id].carriers.empty()) {
      chosen = lin_.plan.ops[id].carriers[0];
    } else {
      types::Record record;
      record.name = types().names.intern("Branch");
      record.isEnum = true;
      record.declaration = 0x50000000u + id.index;
      std::vector<DimSym> symbols;
      for (auto& arm : items)
        for (ResidualItem& item : arm) types().collectSymbols(item.type, symbols);
      std::vector<DimId> dims;
      types::DimSubst toRecord;
      std::vector<DimSym> unique;
      for (DimSym s : symbols) {
        if (types().dims.info(s).kind == types::DimSymKind::Bound) continue;
        if (std::find(unique.begin(), unique.end(), s) != unique.end()) continue;
        unique.push_back(s);
        dims.push_back(types().dims.symbol(s));
        record.dimParams.push_back(ad_.freshDim(s));
        toRecord[s] = types().dims.symbol(record.dimParams.back());
      }
      for (auto& arm : items) {
        types::EnumCase c{types().names.intern("arm" + std::to_string(record.cases.size())), {}};
        for (ResidualItem& item : arm)
          c.fields.push_back({NameId(), types().substitute(item.type, toRecord)});
        record.cases.push_back(std::move(c));
      }
      chosen = carrier(id, 0, types().record(types().addRecord(std::move(record)), dims));
    }
    made.kind = OpKind::Match;
    made.operands = {known(chosen)};
    MatchAttr attr;
    for (uint32_t i = 0; i < arms.size(); ++i) attr.regionOf.push_back(i);
    made.attr = attr;
  }
  for (Scope& s : arms) made.regions.push_back(s.e.region);
  if (mutated(StructuralRule::TransposeBranch) && made.kind == OpKind::If)
    std::swap(made.regions[0], made.regions[1]);
  if (joined.empty()) return;
  OpId op = outer->e.append(std::move(made), resultTypes);
  for (size_t i = 0; i < joined.size(); ++i) slot(*outer, joined[i]) = outer->e.result(op, i);
}

void Backward::forLoop(OpId id) { loop(id, false); }

void Backward::whileLoop(OpId id) { loop(id, true); }

/// for %r in 0..n carry(cotangents of carries, cotangents of outside values): iteration n - 1 - %r undone.
void Backward::loop(OpId id, bool isWhile) {
  const Op& o = opOf(id);
  size_t lead = isWhile ? 0 : 1;
  RegionId from = o.regions.back();
  const std::vector<ValueId> params = g().regions[from].params;
  size_t carries = o.operands.size() - lead;
  bool seeded = false;
  for (ValueId r : o.results) seeded |= linear(r) && (isAcc(r) ? reader(r).valid() : cotangent(r).valid());
  if (!seeded) return;
  Scope* outer = cur_;
  Emit& e = outer->e;
  ValueId count = isWhile ? known(carrier(id, 0, types().int64())) : known(o.operands[0]);

  Scope s{ScopeKind::Loop, from, e.in(e.newRegion()), outer, {}, {}, {}, {}, {}, {}, {}, 0};
  ValueId step = s.e.param(types().int64());
  ValueId index = mutated(StructuralRule::TransposeLoop) ? step : s.e.sub(s.e.sub(count, s.e.i64(1)), step);
  if (!isWhile) s.known[params[0]] = index;
  s.prologueAt = s.e.fn().regions[s.e.region].ops.size();

  // Sizes that change from one iteration to the next are carried backwards too.
  const std::vector<DimSym> carriedDims = g().regions[from].dimParams;
  size_t dimLead = o.resultDims.size() - carriedDims.size();
  Op made;
  made.kind = OpKind::For;
  types::DimSubst inBody, atEnd;
  for (size_t k = 0; k < carriedDims.size(); ++k) {
    made.dims.push_back(dim(types().dims.symbol(o.resultDims[dimLead + k])));
    DimSym own = ad_.freshDim(carriedDims[k]), last = ad_.freshDim(carriedDims[k]);
    s.e.fn().regions[s.e.region].dimParams.push_back(own);
    made.resultDims.push_back(last);
    inBody[carriedDims[k]] = types().dims.symbol(own);
    atEnd[carriedDims[k]] = types().dims.symbol(last);
  }

  std::vector<size_t> carried;
  std::vector<ValueId> inits, own;
  for (size_t i = 0; i < carries; ++i) {
    ValueId p = params[i + lead];
    if (!linear(p)) continue;
    if (isAcc(p)) {
      if (ValueId c = reader(o.results[i]); c.valid()) {
        cur_ = &s;
        addTo(terminator(from).operands[i], c);
        cur_ = outer;
        readers_[o.operands[i + lead]] = c;
      }
      continue;
    }
    carried.push_back(i);
    inits.push_back(realCotangent(o.results[i]));
    TypeId t = types().substitute(g().typeOf(p), inBody);
    own.push_back(s.e.param(type(t)));
  }
  cur_ = &s;
  for (size_t k = 0; k < carried.size(); ++k) addTo(terminator(from).operands[carried[k]], own[k]);
  for (size_t i = carries; i < o.results.size(); ++i) {
    if (!linear(o.results[i])) continue;
    auto c = outer->cotangents.find(o.results[i]);
    if (c == outer->cotangents.end() || !c->second.valid()) continue;
    ValueId y = terminator(from).operands[i];
    addTo(y, s.e.getAt(c->second, std::span(&index, 1), typeOf(y)));
  }
  region(s);

  std::vector<ValueId> out;
  std::vector<TypeId> resultTypes;
  cur_ = &s;
  for (size_t i : carried) {
    out.push_back(realCotangent(params[i + lead]));
    cur_ = outer;
    resultTypes.push_back(type(types().substitute(g().typeOf(params[i + lead]), atEnd)));
    cur_ = &s;
  }
  made.operands = {count};
  made.operands.insert(made.operands.end(), inits.begin(), inits.end());
  for (ValueId v : s.captureOrder) {
    const Capture& c = s.captured.at(v);
    made.operands.push_back(c.init);
    resultTypes.push_back(e.typeOf(c.init));
    out.push_back(c.current);
  }
  std::vector<DimId> outDims;
  for (DimSym d : carriedDims) outDims.push_back(dim(types().dims.symbol(d)));
  s.e.yield(std::move(out), std::move(outDims));

  Roots roots;
  const std::vector<ResidualItem> items = close(s, roots);
  cur_ = outer;
  if (isWhile && !items.empty()) {
    TypeId element = items[0].type;
    if (items.size() > 1) {
      std::vector<TypeId> parts;
      for (const ResidualItem& item : items) parts.push_back(item.type);
      element = types().tuple(parts);
    }
    ValueId list = known(carrier(id, 1, types().list(element)));
    for (uint32_t k = 0; k < items.size(); ++k) {
      Path p{PathStep{StepKind::Element, 0, {}, 1}};
      if (items.size() > 1) p.push_back({StepKind::Field, k, {}, 1});
      define(s, roots[k], Emit::simple(OpKind::Get, {list, index}, std::move(p)));
    }
  } else if (!items.empty()) {
    DimSym extent;
    if (o.as<LoopAttr>().collects > 0) {
      extent = o.resultDims[0];
    } else {
      OpResidual& r = lin_.plan.ops[id];
      if (!r.count.valid()) r.count = types().dims.newSym({"n", types::DimSymKind::Unknown, 0, {}});
      extent = r.count;
      dimHome_[extent] = opHome_.at(id);
    }
    for (size_t k = 0; k < items.size(); ++k) {
      ValueId array = known(carrier(id, k, types().array(items[k].type, {types().dims.symbol(extent)})));
      define(s, roots[k],
             Emit::simple(OpKind::Get, {array, index}, Path{PathStep{StepKind::Index, 0, {}, 1}}));
    }
  }
  openItems(s, items, roots);
  placePrologue(s);

  made.regions = {s.e.region};
  made.attr = LoopAttr{};
  OpId op = e.append(std::move(made), resultTypes);
  size_t at = carried.size();
  for (ValueId v : s.captureOrder) slot(*outer, v) = e.result(op, at++);
  for (size_t k = 0; k < carried.size(); ++k) addTo(o.operands[carried[k] + lead], e.result(op, k));
}

/// The record that a call's forward companion gave.
ValueId Backward::savedByCall(OpId call, Linearisation& callee) {
  TypeId record = types().record(callee.saved, opOf(call).dims);
  RecordId boxRecord = ad_.boxOf(callee);
  if (!boxRecord.valid()) return known(carrier(call, 0, record));
  ValueId box = known(carrier(call, 0, types().record(boxRecord, opOf(call).dims)));
  Emit& e = cur_->e;
  Emit arm = e.in(e.newRegion());
  arm.yield({arm.param(type(record))});
  Op open = Emit::simple(OpKind::Match, {box}, MatchAttr{{0}});
  open.regions = {arm.region};
  return e.one(std::move(open), type(record));
}

void Backward::call(OpId id) {
  const Op& o = opOf(id);
  std::vector<bool> params;
  for (ValueId v : o.operands) params.push_back(linear(v));
  FunctionId callee = o.as<CallAttr>().callee;
  Linearisation& lin = ad_.linearise(callee, params);
  bool seeded = false;
  for (ValueId r : o.results) seeded |= linear(r) && (isAcc(r) ? reader(r).valid() : cotangent(r).valid());
  if (!seeded) return;
  Emit& e = cur_->e;
  Op made;
  made.kind = OpKind::Call;
  made.operands.push_back(savedByCall(id, lin));
  for (DimId d : o.dims) made.dims.push_back(dim(d));
  for (DimSym s : o.resultDims) made.dims.push_back(dim(types().dims.symbol(s)));
  for (ValueId r : o.results) {
    if (!linear(r)) continue;
    if (!isAcc(r)) {
      made.operands.push_back(realCotangent(r));
      continue;
    }
    ValueId c = reader(r);
    made.operands.push_back(c.valid() ? c : e.zero(type(types()[g().typeOf(r)].parts[0])));
  }
  // Accumulators; one that is passed twice gets a zero of its own the second time.
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
    bool again = std::find(passed.begin(), passed.end(), v) != passed.end();
    passed.push_back(v);
    ValueId acc;
    if (again) {
      acc = zeroFor(*cur_, v);
    } else {
      ValueId& c = slot(*cur_, v);
      if (!c.valid()) c = zeroFor(*cur_, v);
      acc = c;
    }
    made.operands.push_back(acc);
    accs.push_back(types().kind(e.typeOf(acc)) == TypeKind::Acc);
    backs.push_back({v, !again});
    resultTypes.push_back(e.typeOf(acc));
  }
  made.attr = CallAttr{ad_.backward(lin, accs)};
  OpId op = e.append(std::move(made), resultTypes);
  for (size_t i = 0; i < backs.size(); ++i) {
    if (backs[i].replaces) slot(*cur_, backs[i].operand) = e.result(op, i);
  }
  for (size_t i = 0; i < backs.size(); ++i)
    if (!backs[i].replaces) addTo(backs[i].operand, e.result(op, i));
}

} // namespace melix::transforms
