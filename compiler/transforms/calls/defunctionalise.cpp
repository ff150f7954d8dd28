#include "transforms/calls/defunctionalise.h"

#include "core/ir/analyses.h"
#include "core/ir/build.h"
#include "core/ir/walk.h"

#include <algorithm>
#include <unordered_map>
#include <unordered_set>

namespace melix::transforms {

using namespace core;

namespace {

/// One function type up to its dimensions.
struct Signature {
  RecordId record;
  std::vector<DimSym> dims;   ///< the enum's dimension parameters
  std::vector<TypeId> params; ///< in terms of `dims`, already without function types
  TypeId result;
  std::vector<FunctionId> cases;
  FunctionId apply;
};

class Defunctionaliser {
public:
  explicit Defunctionaliser(Module& m) : m_(m), types_(m.types) {}

  void run() {
    if (!anything()) return;
    // Cases first: every closure says which callee its type may hold.
    for (uint32_t i = 0; i < m_.functions.size(); ++i) collectCases(FunctionId(i));
    size_t count = m_.functions.size();
    for (uint32_t i = 0; i < count; ++i) retype(FunctionId(i));
    for (size_t k = 0; k < signatures_.size(); ++k) declare(k);
    for (size_t k = 0; k < signatures_.size(); ++k) makeApply(k);
    for (uint32_t i = 0; i < count; ++i)
      if (m_.functions[FunctionId(i)].body.valid()) rewrite(FunctionId(i), m_.functions[FunctionId(i)].body);
  }

private:
  bool anything() {
    bool found = false;
    for (const Function& f : m_.functions) {
      for (const Value& v : f.values) found |= holdsFunction(v.type);
      for (TypeId t : f.results) found |= holdsFunction(t);
    }
    return found;
  }

  // --- types
  // ------------------------------------------------------------------------------------------------------

  bool holdsFunction(TypeId id) {
    auto [it, fresh] = holds_.try_emplace(id, false);
    if (!fresh) return it->second;
    std::unordered_set<TypeId> seen; // what is found of a part of a type that holds itself is not all of it
    std::vector<TypeId> left{id};
    auto add = [&](TypeId part) {
      if (seen.insert(part).second) left.push_back(part);
    };
    while (!left.empty()) {
      const types::Type& t = types_[left.back()];
      left.pop_back();
      if (t.kind == TypeKind::Function) return holds_[id] = true;
      for (TypeId p : t.parts) add(p);
      if (t.kind != TypeKind::Struct && t.kind != TypeKind::Enum) continue;
      for (const types::EnumCase& c : types_.recordInfo(t.record).cases)
        for (const types::Field& f : c.fields) add(f.type);
    }
    return false;
  }

  /// Records with function values inside are declared anew; the checker keeps its own.
  RecordId recordOf(RecordId id) {
    auto it = records_.find(id);
    if (it != records_.end()) return it->second;
    types::Record r = types_.recordInfo(id);
    std::vector<types::EnumCase> cases = std::move(r.cases);
    r.cases.clear();
    RecordId made = types_.addRecord(std::move(r));
    records_.emplace(id, made);
    for (types::EnumCase& c : cases)
      for (types::Field& f : c.fields) f.type = type(f.type);
    types_.recordInfo(made).cases = std::move(cases);
    return made;
  }

  TypeId type(TypeId id) {
    if (!holdsFunction(id)) return id;
    auto it = mapped_.find(id);
    if (it != mapped_.end()) return it->second;
    types::Type t = types_[id];
    TypeId out;
    if (t.kind == TypeKind::Function) {
      std::vector<DimId> args;
      size_t k = signatureOf(id, args);
      out = types_.record(signatures_[k].record, args);
    } else if (t.kind == TypeKind::Struct || t.kind == TypeKind::Enum) {
      out = types_.record(recordOf(t.record), t.dims);
    } else {
      for (TypeId& p : t.parts) p = type(p);
      out = t.kind == TypeKind::Array ? types_.array(t.parts[0], t.dims) : types_.intern(std::move(t));
    }
    return mapped_[id] = out;
  }

  /// Distinct dimensions of a type in order of occurrence.
  void distinctDims(TypeId id, std::vector<DimId>& out) {
    const types::Type& t = types_[id];
    for (DimId d : t.dims)
      if (std::find(out.begin(), out.end(), d) == out.end()) out.push_back(d);
    if (t.kind == TypeKind::Pack) return; // what is hidden stays inside; the rest is part of the shape
    for (TypeId p : t.parts) distinctDims(p, out);
    if (t.result.valid()) distinctDims(t.result, out);
  }
  /// The type with each dimension of `from` as the symbol of the same number.
  TypeId withSyms(TypeId id, const std::vector<DimId>& from, const std::vector<DimSym>& syms) {
    types::Type t = types_[id];
    for (DimId& d : t.dims) {
      auto at = std::find(from.begin(), from.end(), d);
      if (at != from.end()) d = types_.dims.symbol(syms[static_cast<size_t>(at - from.begin())]);
    }
    if (t.kind != TypeKind::Pack)
      for (TypeId& p : t.parts) p = withSyms(p, from, syms);
    if (t.result.valid()) t.result = withSyms(t.result, from, syms);
    return t.kind == TypeKind::Array ? types_.array(t.parts[0], t.dims) : types_.intern(std::move(t));
  }

  size_t signatureOf(TypeId function, std::vector<DimId>& args) {
    distinctDims(function, args);
    while (placeholders_.size() < args.size())
      placeholders_.push_back(types_.dims.newSym(
          {"d" + std::to_string(placeholders_.size()), types::DimSymKind::Parameter, 0, {}}));
    TypeId shape = withSyms(function, args, placeholders_);
    auto it = byShape_.find(shape);
    if (it != byShape_.end()) return it->second;
    size_t k = signatures_.size();
    byShape_.emplace(shape, k);
    Signature s;
    s.dims.assign(placeholders_.begin(), placeholders_.begin() + static_cast<long>(args.size()));
    types::Record r;
    r.name = types_.names.intern("Closure" + std::to_string(k));
    r.isEnum = true;
    r.dimParams = s.dims;
    s.record = types_.addRecord(std::move(r));
    signatures_.push_back(s);
    const types::Type& t = types_[shape];
    std::vector<TypeId> params;
    for (TypeId p : t.parts) params.push_back(type(p));
    TypeId result = type(t.result);
    signatures_[k].params = std::move(params);
    signatures_[k].result = result;
    return k;
  }

  // --- cases
  // ------------------------------------------------------------------------------------------------------

  void collectCases(FunctionId id) {
    const Function& f = m_.functions[id];
    if (!f.body.valid()) return;
    forEachOp(f, [&](OpId o) {
      const Op& op = f.ops[o];
      if (op.kind != OpKind::Closure) return;
      std::vector<DimId> args;
      Signature& s = signatures_[signatureOf(f.typeOf(op.results[0]), args)];
      FunctionId callee = op.as<CallAttr>().callee;
      if (std::find(s.cases.begin(), s.cases.end(), callee) == s.cases.end()) s.cases.push_back(callee);
    });
  }

  void retype(FunctionId id) {
    Function& f = m_.functions[id];
    for (uint32_t v = 0; v < f.values.size(); ++v) {
      TypeId now = type(f.values[ValueId(v)].type);
      appliedAs_[{id.index, v}] = f.values[ValueId(v)].type;
      f.values[ValueId(v)].type = now;
    }
    for (TypeId& t : f.results) t = type(t);
  }

  size_t captureCount(const Signature& s, FunctionId callee) {
    return m_.functions[callee].params().size() - s.params.size();
  }
  TypeId closed(TypeId t) {
    std::vector<DimSym> syms;
    types_.collectSymbols(t, syms);
    return types_.pack(t, syms);
  }

  void declare(size_t k) {
    std::vector<types::EnumCase> cases;
    for (FunctionId callee : signatures_[k].cases) {
      const Function& f = m_.functions[callee];
      types::EnumCase c{types_.names.intern(f.name), {}};
      for (size_t d = 0; d < f.dimParams.size(); ++d) c.fields.push_back({{}, types_.int64()});
      for (size_t p = 0; p < captureCount(signatures_[k], callee); ++p)
        c.fields.push_back({{}, closed(f.typeOf(f.params()[p]))});
      cases.push_back(std::move(c));
    }
    types_.recordInfo(signatures_[k].record).cases = std::move(cases);
  }

  // --- apply
  // ------------------------------------------------------------------------------------------------------

  void makeApply(size_t k) {
    const Signature s = signatures_[k];
    Function fresh;
    fresh.name = "apply_" + std::string(types_.names.text(types_.recordInfo(s.record).name));
    fresh.key = fresh.name;
    fresh.loc = s.cases.empty() ? m_.locs.add(Loc{}) : m_.functions[s.cases[0]].loc;
    fresh.body = fresh.regions.add(Region{});
    LocId loc = fresh.loc;
    RegionId body = fresh.body;
    FunctionId id = m_.functions.add(std::move(fresh));
    signatures_[k].apply = id;
    Builder b(m_, id, body, loc);
    types::DimSubst subst;
    std::vector<DimId> args;
    for (DimSym d : s.dims) {
      DimSym own =
          b.newDim(types_.dims.info(d).name, types::DimSymKind::Parameter, types_.dims.info(d).lowerBound);
      b.fn().dimParams.push_back(own);
      args.push_back(types_.dims.symbol(own));
      subst.emplace(d, args.back());
    }
    ValueId function = b.param(types_.record(s.record, args));
    std::vector<ValueId> params;
    for (TypeId t : s.params) params.push_back(b.param(types_.substitute(t, subst)));
    TypeId result = types_.substitute(s.result, subst);
    b.fn().results = {result};
    if (s.cases.empty()) {
      // No value of this type is ever made, so this is never called.
      Op panic = Builder::simple(OpKind::Panic, {b.text("a function value that was never made is called")});
      b.append(std::move(panic), {});
      b.yield({b.undef(result)});
      return;
    }
    Op match = Builder::simple(OpKind::Match, {function});
    MatchAttr attr;
    for (uint32_t c = 0; c < s.cases.size(); ++c) {
      attr.regionOf.push_back(c);
      match.regions.push_back(callCase(b, s, c, function, params, result));
    }
    match.attr = std::move(attr);
    b.yield({b.one(std::move(match), result)});
  }

  RegionId callCase(Builder& outer, const Signature& s, uint32_t c, ValueId function,
                    const std::vector<ValueId>& params, TypeId result) {
    Builder b = outer.in(outer.newRegion());
    FunctionId callee = s.cases[c];
    TypeId enumType = b.typeOf(function);
    std::vector<ValueId> payload;
    size_t fields = types_.recordInfo(s.record).cases[c].fields.size();
    for (uint32_t k = 0; k < fields; ++k) payload.push_back(b.param(types_.fieldType(enumType, c, k)));
    types::DimSubst subst;
    std::vector<DimId> dims;
    const std::vector<DimSym>& calleeDims = m_.functions[callee].dimParams;
    for (size_t k = 0; k < calleeDims.size(); ++k) {
      dims.push_back(types_.dims.symbol(b.bindDim(payload[k], types_.dims.info(calleeDims[k]).name)));
      subst.emplace(calleeDims[k], dims.back());
    }
    std::vector<ValueId> args;
    auto want = [&](size_t p) {
      return types_.substitute(m_.functions[callee].typeOf(m_.functions[callee].params()[p]), subst);
    };
    for (size_t k = calleeDims.size(); k < fields; ++k)
      args.push_back(b.castDims(unpacked(b, payload[k]), want(args.size())));
    for (ValueId p : params) args.push_back(b.castDims(p, want(args.size())));
    OpId call = b.call(callee, std::move(args), dims);
    b.yield({b.castDims(b.result(call), result)});
    return b.region;
  }

  ValueId unpacked(Builder& b, ValueId v) {
    const types::Type& t = types_[b.typeOf(v)];
    if (t.kind != TypeKind::Pack) return v;
    Op op = Builder::simple(OpKind::Unpack, {v});
    std::vector<DimId> own;
    for (uint32_t k = 0; k < t.number; ++k) {
      op.resultDims.push_back(b.newDim("K"));
      own.push_back(types_.dims.symbol(op.resultDims.back()));
    }
    return b.one(std::move(op), types_.openPack(b.typeOf(v), own));
  }

  // --- ops
  // --------------------------------------------------------------------------------------------------------

  void rewrite(FunctionId id, RegionId r) {
    std::vector<OpId> list = std::move(m_.functions[id].regions[r].ops);
    m_.functions[id].regions[r].ops.clear();
    for (OpId o : list) {
      Builder b(m_, id, r, m_.functions[id].ops[o].loc);
      if (m_.functions[id].ops[o].kind == OpKind::Closure) closure(b, o);
      if (m_.functions[id].ops[o].kind == OpKind::Apply) apply(b, o);
      if (auto* check = std::get_if<CheckAttr>(&m_.functions[id].ops[o].attr))
        if (check->type.valid()) check->type = type(check->type);
      m_.functions[id].regions[r].ops.push_back(o);
      for (RegionId inner : m_.functions[id].ops[o].regions) rewrite(id, inner);
    }
  }

  void closure(Builder& b, OpId o) {
    Op& op = b.fn().ops[o];
    std::vector<DimId> args;
    TypeId was = appliedAs_.at({b.function.index, op.results[0].index});
    const Signature s = signatures_[signatureOf(was, args)];
    FunctionId callee = op.as<CallAttr>().callee;
    auto c = static_cast<uint32_t>(std::find(s.cases.begin(), s.cases.end(), callee) - s.cases.begin());
    const std::vector<types::Field>& fields = types_.recordInfo(s.record).cases[c].fields;
    std::vector<ValueId> payload;
    for (DimId d : op.dims) payload.push_back(b.dimValue(d));
    for (ValueId v : op.operands) payload.push_back(packed(b, v, fields[payload.size()].type));
    op.kind = OpKind::Variant;
    op.operands = std::move(payload);
    op.dims.clear();
    op.attr = c;
  }

  /// The capture with its dims hidden, as the field wants it.
  ValueId packed(Builder& b, ValueId v, TypeId field) {
    const types::Type& t = types_[field];
    if (t.kind != TypeKind::Pack || b.typeOf(v) == field) return v;
    std::vector<DimId> hidden(t.number);
    bind(t.parts[0], b.typeOf(v), hidden);
    for (DimId& d : hidden)
      if (!d.valid()) d = types_.dims.constant(0);
    Op op = Builder::simple(OpKind::Pack, {b.castDims(v, types_.openPack(field, hidden))});
    op.dims = hidden;
    return b.one(std::move(op), field);
  }
  /// Finds what the hidden symbols stand for by comparing the packed type with the actual one.
  void bind(TypeId pattern, TypeId actual, std::vector<DimId>& hidden) {
    const types::Type &p = types_[pattern], &a = types_[actual];
    for (size_t k = 0; k < p.dims.size() && k < a.dims.size(); ++k) {
      std::optional<DimSym> s = types_.dims.asSymbol(p.dims[k]);
      for (uint32_t i = 0; s && i < hidden.size(); ++i)
        if (*s == types_.boundSym(i)) hidden[i] = a.dims[k];
    }
    for (size_t k = 0; k < p.parts.size() && k < a.parts.size(); ++k) bind(p.parts[k], a.parts[k], hidden);
  }

  void apply(Builder& b, OpId o) {
    Op& op = b.fn().ops[o];
    std::vector<DimId> args;
    const Signature s =
        signatures_[signatureOf(appliedAs_.at({b.function.index, op.operands[0].index}), args)];
    types::DimSubst subst;
    for (size_t k = 0; k < args.size(); ++k) subst.emplace(s.dims[k], args[k]);
    std::vector<ValueId> operands{op.operands[0]};
    for (size_t k = 1; k < op.operands.size(); ++k)
      operands.push_back(b.castDims(op.operands[k], types_.substitute(s.params[k - 1], subst)));
    op.kind = OpKind::Call;
    op.operands = std::move(operands);
    op.dims = args;
    op.attr = CallAttr{s.apply};
  }

  Module& m_;
  types::TypeStore& types_;
  std::unordered_map<TypeId, bool> holds_;
  std::unordered_map<TypeId, TypeId> mapped_;
  std::unordered_map<RecordId, RecordId> records_;
  std::vector<DimSym> placeholders_;
  std::unordered_map<TypeId, size_t> byShape_;
  std::vector<Signature> signatures_;
  std::map<std::pair<uint32_t, uint32_t>, TypeId> appliedAs_; ///< function types of values before retyping
};

} // namespace

void defunctionalise(Module& m) {
  Defunctionaliser(m).run();
  raiseAll(m);
}

} // namespace melix::transforms
