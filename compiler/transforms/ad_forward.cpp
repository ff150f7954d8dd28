// Makes the body of f_fwd: the ops of a jvp companion that do not depend on tangents, and the residual items
// that the plan asks for: collected by loops and nests, a case of an enum from branches, the callee's Saved
// from calls.

#include "transforms/ad.h"
#include "transforms/nest_shape.h"

namespace melix::transforms {

namespace {

class Forward {
public:
  Forward(Ad& ad, Linearisation& lin)
      : ad_(ad), lin_(lin), e_(ad.module, lin.forward, ad.module.functions[lin.forward].body, g().loc) {}

  void build() {
    const std::vector<DimSym> dimParams = e_.fn().dimParams;
    for (size_t i = 0; i < g().dimParams.size(); ++i)
      dims_[g().dimParams[i]] = types().dims.symbol(dimParams[i]);
    const std::vector<ValueId> own = e_.fn().params();
    size_t at = 0;
    for (size_t i = 0; i < g().params().size(); ++i)
      if (!lin_.linear[i]) values_[g().params()[i]] = own[at++];
    region(g().body, e_);
    const Op& y = terminator(g().body);
    std::vector<ValueId> out;
    for (size_t i = 0; i < y.operands.size(); ++i)
      if (!lin_.linearResults[i]) out.push_back(value(y.operands[i]));
    TypeId saved = TypeId(e_.fn().results.back());
    out.push_back(e_.make(saved, items(g().body, e_)));
    e_.yield(std::move(out), dimsOf(y.dims));
  }

private:
  const Function& g() const { return ad_.module.functions[lin_.source]; }
  const Op& opOf(OpId id) const { return g().ops[id]; }
  const Op& terminator(RegionId r) const { return opOf(g().regions[r].ops.back()); }
  types::TypeStore& types() const { return ad_.module.types; }
  bool linear(ValueId v) const { return lin_.values->values.count(v) != 0; }

  ValueId value(ValueId v) const {
    auto it = values_.find(v);
    assert(it != values_.end() && "a known value depends on a tangent");
    return it->second;
  }
  std::vector<ValueId> known(const std::vector<ValueId>& vs, Emit&) const {
    std::vector<ValueId> out;
    for (ValueId v : vs)
      if (!linear(v)) out.push_back(value(v));
    return out;
  }
  TypeId type(TypeId t) { return types().substitute(t, dims_); }
  TypeId typeOf(ValueId v) { return type(TypeId(g().typeOf(v))); }
  DimId dim(DimId d) { return types().dims.substitute(d, dims_); }
  std::vector<DimId> dimsOf(const std::vector<DimId>& ds) {
    std::vector<DimId> out;
    for (DimId d : ds) out.push_back(dim(d));
    return out;
  }
  DimSym defineDim(DimSym s) {
    DimSym fresh = ad_.freshDim(s);
    dims_[s] = types().dims.symbol(fresh);
    return fresh;
  }

  const std::vector<ResidualItem>* planned(RegionId r) const {
    auto it = lin_.plan.regions.find(r);
    return it == lin_.plan.regions.end() ? nullptr : &it->second;
  }
  const OpResidual* planned(OpId id) const {
    auto it = lin_.plan.ops.find(id);
    return it == lin_.plan.ops.end() || it->second.carriers.empty() ? nullptr : &it->second;
  }

  /// The residual items of a region, at its end.
  std::vector<ValueId> items(RegionId r, Emit& e) {
    std::vector<ValueId> out;
    const std::vector<ResidualItem>* plan = planned(r);
    if (!plan) return out;
    for (const ResidualItem& item : *plan) {
      if (item.hidden.empty()) {
        out.push_back(value(item.values[0]));
        continue;
      }
      std::vector<ValueId> parts;
      std::vector<TypeId> partTypes;
      for (ValueId v : item.values) {
        parts.push_back(value(v));
        partTypes.push_back(e.typeOf(parts.back()));
      }
      Op pack = Emit::simple(OpKind::Pack, {e.make(types().tuple(partTypes), std::move(parts))});
      for (DimSym s : item.hidden) pack.dims.push_back(dim(types().dims.symbol(s)));
      out.push_back(e.one(std::move(pack), type(item.type)));
    }
    return out;
  }

  void region(RegionId from, Emit& e) {
    const std::vector<OpId> ops = g().regions[from].ops;
    for (OpId id : ops)
      if (opOf(id).kind != OpKind::Yield) op(id, e);
  }

  /// A new region whose parameters are the known ones of `from`.
  Emit open(RegionId from, Emit& e) {
    Emit b = e.in(e.newRegion());
    for (DimSym s : g().regions[from].dimParams) e.fn().regions[b.region].dimParams.push_back(defineDim(s));
    for (ValueId p : g().regions[from].params)
      if (!linear(p)) values_[p] = b.param(typeOf(p), g().values[p].hint);
    return b;
  }

  void bind(const Op& o, OpId made, Emit& e) {
    size_t at = 0;
    for (ValueId r : o.results)
      if (!linear(r)) values_[r] = e.result(made, at++);
  }

  void op(OpId id, Emit& e) {
    const Op& o = opOf(id);
    e.loc = o.loc;
    switch (o.kind) {
    case OpKind::If:
    case OpKind::Match:
      if (linear(o.operands[0])) return;
      return branch(id, e);
    case OpKind::For:
    case OpKind::While: return loop(id, e);
    case OpKind::Nest: return nest(id, e);
    case OpKind::Call: return call(id, e);
    default: break;
    }
    for (ValueId r : o.results)
      if (linear(r)) return;
    for (ValueId v : o.operands)
      if (linear(v)) return; // a length, say, of a tangent: nothing known needs it
    Op copy = start(o, e);
    if (auto* p = std::get_if<Path>(&copy.attr))
      for (PathStep& s : *p)
        if (s.kind == StepKind::Slice) s.length = dim(s.length);
    if (auto* c = std::get_if<CheckAttr>(&copy.attr); c && c->type.valid()) c->type = type(c->type);
    for (DimSym s : o.resultDims) copy.resultDims.push_back(defineDim(s));
    bind(o, e.append(std::move(copy), resultTypes(o)), e);
  }

  std::vector<TypeId> resultTypes(const Op& o) {
    std::vector<TypeId> out;
    for (ValueId r : o.results)
      if (!linear(r)) out.push_back(typeOf(r));
    return out;
  }

  Op start(const Op& o, Emit& e) {
    Op copy;
    copy.kind = o.kind;
    copy.loc = o.loc;
    copy.attr = o.attr;
    copy.operands = known(o.operands, e);
    copy.dims = dimsOf(o.dims);
    return copy;
  }

  void branch(OpId id, Emit& e) {
    const Op& o = opOf(id);
    const OpResidual* plan = planned(id);
    Op copy = start(o, e);
    for (size_t i = 0; i < o.regions.size(); ++i) {
      Emit b = open(o.regions[i], e);
      region(o.regions[i], b);
      const Op& y = terminator(o.regions[i]);
      std::vector<ValueId> out;
      for (size_t k = 0; k < o.results.size(); ++k)
        if (!linear(o.results[k])) out.push_back(value(y.operands[k]));
      if (plan) {
        Op v = Emit::simple(OpKind::Variant, items(o.regions[i], b), static_cast<uint32_t>(i));
        out.push_back(b.one(std::move(v), typeOf(plan->carriers[0])));
      }
      b.yield(std::move(out), dimsOf(y.dims));
      copy.regions.push_back(b.region);
    }
    for (DimSym s : o.resultDims) copy.resultDims.push_back(defineDim(s));
    std::vector<TypeId> t = resultTypes(o);
    if (plan) t.push_back(typeOf(plan->carriers[0]));
    OpId made = e.append(std::move(copy), t);
    bind(o, made, e);
    if (plan) values_[plan->carriers[0]] = e.result(made, t.size() - 1);
  }

  void loop(OpId id, Emit& e) {
    const Op& o = opOf(id);
    bool isWhile = o.kind == OpKind::While;
    size_t lead = isWhile ? 0 : 1;
    const OpResidual* plan = planned(id);
    RegionId body = o.regions.back();
    const std::vector<ValueId> params = g().regions[body].params;
    size_t carries = o.operands.size() - lead;
    Op copy = start(o, e);
    copy.operands.clear();
    if (!isWhile) copy.operands.push_back(value(o.operands[0]));
    std::vector<TypeId> t;
    std::vector<ValueId> slots; // values of g that the results stand for
    for (size_t i = 0; i < carries; ++i)
      if (!linear(params[i + lead])) {
        copy.operands.push_back(value(o.operands[i + lead]));
        slots.push_back(o.results[i]);
      }
    bool list = isWhile && plan && plan->carriers.size() > 1;
    if (isWhile && plan) {
      copy.operands.push_back(e.i64(0));
      slots.push_back(plan->carriers[0]);
      if (list) {
        copy.operands.push_back(e.one(Emit::simple(OpKind::ListOf, {}), typeOf(plan->carriers[1])));
        slots.push_back(plan->carriers[1]);
      }
    }
    ValueId count, kept;
    for (RegionId from : o.regions) {
      // The condition's parameters follow the body's in what is linear.
      Emit b = e.in(e.newRegion());
      for (DimSym s : g().regions[from].dimParams) e.fn().regions[b.region].dimParams.push_back(defineDim(s));
      const std::vector<ValueId> own = g().regions[from].params;
      for (size_t i = 0; i < own.size(); ++i)
        if (!linear(params[i])) values_[own[i]] = b.param(typeOf(own[i]), g().values[own[i]].hint);
      if (isWhile && plan) {
        count = b.param(types().int64());
        if (list) kept = b.param(typeOf(plan->carriers[1]));
      }
      region(from, b);
      const Op& y = terminator(from);
      std::vector<ValueId> out;
      if (from != body) {
        out.push_back(value(y.operands[0]));
      } else {
        for (size_t i = 0; i < carries; ++i)
          if (!linear(params[i + lead])) out.push_back(value(y.operands[i]));
        if (isWhile && plan) {
          out.push_back(b.add(count, b.i64(1)));
          if (list) {
            std::vector<ValueId> saved = items(from, b);
            ValueId element = saved[0];
            if (saved.size() > 1) {
              std::vector<TypeId> parts;
              for (ValueId v : saved) parts.push_back(b.typeOf(v));
              element = b.make(types().tuple(parts), saved);
            }
            out.push_back(b.one(Emit::simple(OpKind::Push, {kept, element}), typeOf(plan->carriers[1])));
          }
        }
        if (!isWhile) {
          uint32_t collects = 0;
          for (size_t i = carries; i < o.results.size(); ++i)
            if (!linear(o.results[i])) {
              out.push_back(value(y.operands[i]));
              slots.push_back(o.results[i]);
              ++collects;
            }
          if (plan)
            for (ValueId v : items(from, b)) {
              out.push_back(v);
              ++collects;
            }
          copy.attr = LoopAttr{collects};
        }
      }
      b.yield(std::move(out), dimsOf(y.dims));
      copy.regions.push_back(b.region);
    }
    uint32_t had = isWhile ? 0 : o.as<LoopAttr>().collects;
    uint32_t has = isWhile ? 0 : std::get<LoopAttr>(copy.attr).collects;
    if (had == 0 && has > 0) copy.resultDims.push_back(defineDim(plan->count));
    for (size_t i = had > 0 && has == 0 ? 1 : 0; i < o.resultDims.size(); ++i)
      copy.resultDims.push_back(defineDim(o.resultDims[i]));
    if (had > 0 && has == 0) {
      ValueId n = e.binary(OpKind::Max, value(o.operands[0]), e.i64(0));
      Op bindDim = Emit::simple(OpKind::BindDim, {n});
      bindDim.resultDims.push_back(defineDim(o.resultDims[0]));
      e.append(std::move(bindDim), std::span<const TypeId>());
    }
    if (!isWhile && plan) slots.insert(slots.end(), plan->carriers.begin(), plan->carriers.end());
    for (ValueId v : slots) t.push_back(typeOf(v));
    OpId made = e.append(std::move(copy), t);
    for (size_t i = 0; i < slots.size(); ++i) values_[slots[i]] = e.result(made, i);
  }

  void nest(OpId id, Emit& e) {
    const Op& o = opOf(id);
    const NestAttr& attr = o.as<NestAttr>();
    const OpResidual* plan = planned(id);
    RegionId from = o.regions[0];
    Op copy = start(o, e);
    copy.operands.clear();
    NestAttr made;
    size_t results = o.results.size() - attr.accs;
    for (uint32_t i = 0; i < attr.accs; ++i)
      if (!linear(o.results[results + i])) {
        copy.operands.push_back(value(o.operands[i]));
        ++made.accs;
      }
    for (size_t i = attr.accs; i < o.operands.size(); ++i) copy.operands.push_back(value(o.operands[i]));
    // An accumulator that begins with a known zero and takes tangents is linear all the same.
    Emit b = e.in(e.newRegion());
    const std::vector<ValueId> params = g().regions[from].params;
    for (size_t i = 0; i < params.size(); ++i) {
      if (linear(params[i])) continue;
      if (i >= o.dims.size() && linear(o.results[results + i - o.dims.size()])) continue;
      values_[params[i]] = b.param(typeOf(params[i]), g().values[params[i]].hint);
    }
    copy.regions.push_back(b.region);
    region(from, b);
    const Op& y = terminator(from);
    std::vector<ValueId> out, slots;
    size_t yielded = 0, at = 0;
    for (const NestResult& r : attr.results) {
      if (!linear(o.results[at])) {
        made.results.push_back(r);
        for (uint32_t k = 0; k < yieldsOf(r); ++k) out.push_back(value(y.operands[yielded + k]));
        for (uint32_t k = 0; k < resultsOf(r, o.dims.size()); ++k) slots.push_back(o.results[at + k]);
        if (r.kind == NestResultKind::Reduce && r.monoid == MonoidKind::Combine) {
          Emit c = open(o.regions[r.combineRegion], e);
          region(o.regions[r.combineRegion], c);
          c.yield(known(terminator(o.regions[r.combineRegion]).operands, c));
          copy.regions.push_back(c.region);
          made.results.back().combineRegion = static_cast<uint32_t>(copy.regions.size() - 1);
        }
      }
      yielded += yieldsOf(r);
      at += resultsOf(r, o.dims.size());
    }
    if (plan) {
      NestResult all;
      for (uint32_t a = 0; a < o.dims.size(); ++a) all.keep.push_back(a);
      for (ValueId v : items(from, b)) {
        out.push_back(v);
        made.results.push_back(all);
      }
      slots.insert(slots.end(), plan->carriers.begin(), plan->carriers.end());
    }
    for (uint32_t i = 0; i < attr.accs; ++i)
      if (!linear(o.results[results + i])) {
        out.push_back(value(y.operands[yielded + i]));
        slots.push_back(o.results[results + i]);
      }
    b.yield(std::move(out));
    for (DimSym s : o.resultDims) copy.resultDims.push_back(defineDim(s));
    std::vector<TypeId> t;
    for (ValueId v : slots) t.push_back(typeOf(v));
    copy.attr = std::move(made);
    OpId op = e.append(std::move(copy), t);
    for (size_t i = 0; i < slots.size(); ++i) values_[slots[i]] = e.result(op, i);
  }

  void call(OpId id, Emit& e) {
    const Op& o = opOf(id);
    bool any = false;
    std::vector<bool> params;
    for (ValueId v : o.operands) {
      params.push_back(linear(v));
      any |= params.back();
    }
    Op copy = start(o, e);
    for (DimSym s : o.resultDims) copy.resultDims.push_back(defineDim(s));
    std::vector<TypeId> t = resultTypes(o);
    if (!any) return bind(o, e.append(std::move(copy), t), e);
    Linearisation& lin = ad_.linearise(o.as<CallAttr>().callee, params);
    copy.attr = CallAttr{lin.forward};
    std::vector<DimId> savedDims = copy.dims;
    t.push_back(types().record(lin.saved, savedDims));
    OpId made = e.append(std::move(copy), t);
    bind(o, made, e);
    const OpResidual* plan = planned(id);
    if (!plan) return;
    ValueId saved = e.result(made, t.size() - 1);
    if (RecordId box = ad_.boxOf(lin); box.valid())
      saved = e.one(Emit::simple(OpKind::Variant, {saved}, 0u), types().record(box, savedDims));
    values_[plan->carriers[0]] = saved;
  }

  Ad& ad_;
  Linearisation& lin_;
  Emit e_;
  std::unordered_map<ValueId, ValueId> values_;
  types::DimSubst dims_;
};

} // namespace

void buildForward(Ad& ad, Linearisation& lin) { Forward(ad, lin).build(); }

} // namespace melix::transforms
