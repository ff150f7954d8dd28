#include "transforms/dce.h"

#include "core/walk.h"

#include <unordered_map>
#include <unordered_set>

namespace melix::transforms {

using namespace core;

namespace {

/// Marks what is needed, from effects and the function's results on.
class Marker {
public:
  Marker(Module& m, Function& f, const Effects& effects) : m_(m), f_(f), effects_(effects) {
    marked_.assign(f.values.size(), false);
    opMarked_.assign(f.ops.size(), false);
  }

  void run() {
    regionOf_ = regionsOfOps(f_);
    forEachOp(f_, [&](OpId id) {
      for (DimSym s : f_.ops[id].resultDims) dimDef_[s] = id;
      for (RegionId r : f_.ops[id].regions)
        for (DimSym s : f_.regions[r].dimParams) dimDef_[s] = id;
    });
    forEachOp(f_, [&](OpId id) {
      const Op& op = f_.ops[id];
      bool structured = op.kind == OpKind::If || op.kind == OpKind::Match || op.kind == OpKind::For ||
                        op.kind == OpKind::Nest;
      if (op.kind != OpKind::Yield && !structured && effects_.ofOp(f_, id).any()) needOp(id);
      if (op.kind == OpKind::Nest)
        for (ValueId sum : panickingSums(m_, f_, op)) need(sum);
    });
    const Op& end = terminator(f_, f_.body);
    for (ValueId v : end.operands) need(v);
    for (DimId d : end.dims) needDim(d);
    while (!queue_.empty()) {
      ValueId v = queue_.back();
      queue_.pop_back();
      visit(v);
    }
  }
  bool needed(ValueId v) const { return marked_[v.index]; }
  bool needed(OpId o) const { return opMarked_[o.index]; }

private:
  void need(ValueId v) {
    if (marked_[v.index]) return;
    marked_[v.index] = true;
    queue_.push_back(v);
  }
  void needDim(DimId d) {
    std::vector<DimSym> syms;
    m_.types.dims.collectSymbols(d, syms);
    for (DimSym s : syms) needSym(s);
  }
  void needSym(DimSym s) {
    auto it = dimDef_.find(s);
    if (it == dimDef_.end()) return;
    needOp(it->second);
    // The trip count is a dimension because something is collected.
    const Op& op = f_.ops[it->second];
    bool isCount = op.kind == OpKind::For && op.as<LoopAttr>().collects > 0 && op.resultDims[0] == s;
    if (isCount) need(op.results[op.operands.size() - 1]);
  }
  void needType(TypeId t) {
    std::vector<DimSym> syms;
    m_.types.collectSymbols(t, syms);
    for (DimSym s : syms) needSym(s);
  }

  /// The op runs: what decides how it runs is needed, and so are the ops around it.
  void needOp(OpId id) {
    if (opMarked_[id.index]) return;
    opMarked_[id.index] = true;
    const Op& op = f_.ops[id];
    if (OpId parent = f_.regions[regionOf_[id.index]].parent; parent.valid()) needOp(parent);
    for (DimId d : op.dims) needDim(d);
    if (auto* path = std::get_if<Path>(&op.attr))
      for (const PathStep& s : *path)
        if (s.length.valid()) needDim(s.length);
    for (RegionId r : op.regions)
      for (DimId d : terminator(f_, r).dims) needDim(d);
    switch (op.kind) {
    case OpKind::If:
    case OpKind::Match:
    case OpKind::For: need(op.operands[0]); break;
    case OpKind::While: need(terminator(f_, op.regions[0]).operands[0]); break;
    case OpKind::Nest: nestCore(op); break;
    default:
      for (ValueId v : op.operands) need(v);
    }
  }

  /// Filters decide sizes; combining regions are kept whole.
  void nestCore(const Op& op) {
    const auto& attr = op.as<NestAttr>();
    size_t y = 0;
    const Op& end = terminator(f_, op.regions[0]);
    for (const NestResult& r : attr.results) {
      if (r.kind == NestResultKind::Filter) {
        need(end.operands[y]);
        need(end.operands[y + 1]);
      }
      y += r.kind == NestResultKind::Filter ? 2 : r.yields;
    }
  }

  void visit(ValueId v) {
    const Value value = f_.values[v];
    needType(value.type);
    if (value.def.valid()) return result(value.def, value.index);
    OpId parent = f_.regions[value.region].parent;
    if (!parent.valid()) return; // a parameter of the function
    needOp(parent);
    param(parent, value.region, value.index);
  }

  void carry(const Op& op, size_t k) {
    if (op.kind == OpKind::For) {
      need(op.operands[k + 1]);
      need(f_.regions[op.regions[0]].params[k + 1]);
      need(terminator(f_, op.regions[0]).operands[k]);
      return;
    }
    need(op.operands[k]);
    for (RegionId r : op.regions) need(f_.regions[r].params[k]);
    need(terminator(f_, op.regions[1]).operands[k]);
  }

  void param(OpId id, RegionId region, size_t k) {
    const Op& op = f_.ops[id];
    switch (op.kind) {
    case OpKind::Match: need(op.operands[0]); break;
    case OpKind::For:
      if (k > 0) carry(op, k - 1);
      break;
    case OpKind::While: carry(op, k); break;
    case OpKind::Nest:
      if (region == op.regions[0] && k >= op.dims.size()) accumulator(op, k - op.dims.size());
      break; // parameters of a combining region: see nestResult
    default: break;
    }
  }

  void accumulator(const Op& op, size_t k) {
    const Op& end = terminator(f_, op.regions[0]);
    uint32_t accs = op.as<NestAttr>().accs;
    need(op.operands[k]);
    need(f_.regions[op.regions[0]].params[op.dims.size() + k]);
    need(end.operands[end.operands.size() - accs + k]);
  }

  void result(OpId id, size_t k) {
    needOp(id);
    const Op& op = f_.ops[id];
    switch (op.kind) {
    case OpKind::If:
    case OpKind::Match:
      for (RegionId r : op.regions) need(terminator(f_, r).operands[k]);
      break;
    case OpKind::For:
      if (k < op.operands.size() - 1)
        carry(op, k);
      else
        need(terminator(f_, op.regions[0]).operands[k]);
      break;
    case OpKind::While: carry(op, k); break;
    case OpKind::Nest: nestResult(op, k); break;
    default: break;
    }
  }

  void nestResult(const Op& op, size_t k) {
    const auto& attr = op.as<NestAttr>();
    const Op& end = terminator(f_, op.regions[0]);
    size_t y = 0, r = 0, unit = attr.accs;
    for (const NestResult& nr : attr.results) {
      bool combine = nr.kind == NestResultKind::Reduce && nr.monoid == MonoidKind::Combine;
      size_t yields = nr.kind == NestResultKind::Filter ? 2 : nr.yields;
      size_t results = resultCount(nr, op.dims.size());
      if (k < r + results) {
        for (size_t i = 0; i < yields; ++i) need(end.operands[y + i]);
        if (!combine) return;
        for (size_t i = 0; i < yields; ++i) {
          need(op.operands[unit + i]);
          need(op.results[r + i]);
        }
        for (ValueId v : terminator(f_, op.regions[nr.combineRegion]).operands) need(v);
        for (ValueId p : f_.regions[op.regions[nr.combineRegion]].params) need(p);
        return;
      }
      y += yields;
      r += results;
      unit += combine ? nr.yields : 0;
    }
    accumulator(op, k - r);
  }

public:
  static size_t resultCount(const NestResult& r, size_t axes) {
    if (r.kind != NestResultKind::Reduce) return 1;
    if (r.monoid == MonoidKind::Combine) return r.yields;
    return r.monoid == MonoidKind::ArgMin || r.monoid == MonoidKind::ArgMax ? axes - r.keep.size() : 1;
  }

private:
  Module& m_;
  Function& f_;
  const Effects& effects_;
  std::vector<bool> marked_, opMarked_;
  std::vector<RegionId> regionOf_;
  std::unordered_map<DimSym, OpId> dimDef_;
  std::vector<ValueId> queue_;
};

/// Takes away what was not marked.
class Sweeper {
public:
  Sweeper(Function& f, const Marker& marks) : f_(f), marks_(marks) {}

  void region(RegionId r) {
    std::vector<OpId> kept;
    const std::vector<OpId> ops = f_.regions[r].ops;
    for (OpId id : ops) {
      bool isYield = f_.ops[id].kind == OpKind::Yield;
      if (!isYield && !marks_.needed(id)) {
        changed = true;
        continue;
      }
      kept.push_back(id);
      if (f_.ops[id].regions.empty()) continue;
      trim(f_.ops[id]);
      const std::vector<RegionId> inner = f_.ops[id].regions;
      for (RegionId i : inner) region(i);
    }
    f_.regions[r].ops = std::move(kept);
  }
  bool changed = false;

private:
  Op& end(RegionId r) { return f_.ops[f_.regions[r].ops.back()]; }

  void removeAt(std::vector<ValueId>& list, const std::vector<bool>& dead, size_t from) {
    std::vector<ValueId> out(list.begin(), list.begin() + static_cast<long>(from));
    for (size_t k = from; k < list.size(); ++k)
      if (k - from >= dead.size() || !dead[k - from]) out.push_back(list[k]);
    list = std::move(out);
  }
  void renumber(const std::vector<ValueId>& list) {
    for (uint32_t k = 0; k < list.size(); ++k) f_.values[list[k]].index = k;
  }
  bool any(const std::vector<bool>& dead) {
    for (bool d : dead)
      if (d) return changed = true;
    return false;
  }

  void trim(Op& op) {
    std::vector<bool> dead;
    for (ValueId v : op.results) dead.push_back(!marks_.needed(v));
    switch (op.kind) {
    case OpKind::If:
    case OpKind::Match:
      if (!any(dead)) return;
      for (RegionId r : op.regions) removeAt(end(r).operands, dead, 0);
      break;
    case OpKind::For: trimFor(op, dead); break;
    case OpKind::While: trimWhile(op, dead); break;
    case OpKind::Nest: trimNest(op, dead); break;
    default: return;
    }
    removeAt(op.results, dead, 0);
    renumber(op.results);
  }

  void trimFor(Op& op, std::vector<bool>& dead) {
    size_t count = op.operands.size() - 1;
    // A carry whose result nobody needs may still be needed inside.
    RegionId r = op.regions[0];
    for (size_t k = 0; k < count; ++k) dead[k] = !marks_.needed(f_.regions[r].params[k + 1]);
    if (!any(dead)) return;
    removeAt(end(r).operands, dead, 0);
    std::vector<bool> carries(dead.begin(), dead.begin() + static_cast<long>(count));
    removeAt(op.operands, carries, 1);
    removeAt(f_.regions[r].params, carries, 1);
    renumber(f_.regions[r].params);
    uint32_t collects = 0;
    for (size_t k = count; k < dead.size(); ++k) collects += !dead[k];
    if (collects == 0 && op.as<LoopAttr>().collects > 0) op.resultDims.erase(op.resultDims.begin());
    op.as<LoopAttr>().collects = collects;
  }

  void trimWhile(Op& op, std::vector<bool>& dead) {
    for (size_t k = 0; k < dead.size(); ++k) {
      dead[k] = true;
      for (RegionId r : op.regions) dead[k] = dead[k] && !marks_.needed(f_.regions[r].params[k]);
    }
    if (!any(dead)) return;
    removeAt(op.operands, dead, 0);
    removeAt(end(op.regions[1]).operands, dead, 0);
    for (RegionId r : op.regions) {
      removeAt(f_.regions[r].params, dead, 0);
      renumber(f_.regions[r].params);
    }
  }

  void trimNest(Op& op, std::vector<bool>& dead) {
    auto& attr = op.as<NestAttr>();
    std::vector<NestResult> kept;
    std::vector<bool> deadYields, deadUnits, deadParams;
    size_t at = 0;
    for (const NestResult& r : attr.results) {
      size_t results = Marker::resultCount(r, op.dims.size());
      bool filter = r.kind == NestResultKind::Filter,
           combine = !filter && r.kind == NestResultKind::Reduce && r.monoid == MonoidKind::Combine;
      bool unused = !filter;
      for (size_t k = 0; k < results; ++k) unused = unused && dead[at + k];
      // All results of an entry stay or go together.
      for (size_t k = 0; k < results; ++k) dead[at + k] = unused;
      at += results;
      deadYields.insert(deadYields.end(), filter ? 2 : r.yields, unused);
      if (combine) deadUnits.insert(deadUnits.end(), r.yields, unused);
      if (!unused) kept.push_back(r);
    }
    std::vector<bool> deadAccs;
    for (uint32_t k = 0; k < attr.accs; ++k) {
      bool unused = !marks_.needed(f_.regions[op.regions[0]].params[op.dims.size() + k]);
      dead[at + k] = unused;
      deadAccs.push_back(unused);
    }
    if (!any(dead)) return;
    deadYields.insert(deadYields.end(), deadAccs.begin(), deadAccs.end());
    removeAt(end(op.regions[0]).operands, deadYields, 0);
    removeAt(f_.regions[op.regions[0]].params, deadAccs, op.dims.size());
    renumber(f_.regions[op.regions[0]].params);
    std::vector<bool> deadOperands = deadAccs;
    deadOperands.insert(deadOperands.end(), deadUnits.begin(), deadUnits.end());
    removeAt(op.operands, deadOperands, 0);
    for (bool d : deadAccs) attr.accs -= d;
    attr.results = std::move(kept);
    dropCombineRegions(op);
  }

  void dropCombineRegions(Op& op) {
    std::vector<RegionId> regions{op.regions[0]};
    for (NestResult& r : op.as<NestAttr>().results) {
      if (r.kind != NestResultKind::Reduce || r.monoid != MonoidKind::Combine) continue;
      regions.push_back(op.regions[r.combineRegion]);
      r.combineRegion = static_cast<uint32_t>(regions.size() - 1);
    }
    op.regions = std::move(regions);
  }

  Function& f_;
  const Marker& marks_;
};

} // namespace

bool eliminateDeadValues(Module& m, FunctionId id, const Effects& effects) {
  Function& f = m.functions[id];
  if (!f.body.valid()) return false;
  Marker marks(m, f, effects);
  marks.run();
  Sweeper sweeper(f, marks);
  sweeper.region(f.body);
  return sweeper.changed;
}

void eliminateDeadValues(Module& m) {
  Effects effects(m);
  for (uint32_t i = 0; i < m.functions.size(); ++i) eliminateDeadValues(m, FunctionId(i), effects);
}

} // namespace melix::transforms
