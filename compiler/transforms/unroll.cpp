#include "transforms/unroll.h"

#include "core/call_graph.h"
#include "core/clone.h"
#include "core/evaluate.h"
#include "core/flow.h"
#include "core/walk.h"
#include "transforms/compose_reads.h"
#include "transforms/dce.h"
#include "transforms/forward_elements.h"
#include "transforms/simplify.h"

#include <algorithm>
#include <optional>
#include <unordered_set>

namespace melix::transforms {

using namespace core;

namespace {

/// Ops of a function while it is written out, before what is known is folded; a bound of the work.
constexpr size_t longestWritten = 16 * longestStraight;
/// Of iterations inside of calls inside of iterations.
constexpr int deepestRounds = 16;

/// Writes iterations and calls of one function out, one level after another.
class Unroller {
public:
  Unroller(Module& m, FunctionId id, const std::vector<bool>& inlined)
      : m_(m), id_(id), inlined_(inlined), begin_(fn().ops.size()) {}

  /// One level; whether there was one.
  bool round() {
    expanded_ = false;
    const RegionId old = fn().body;
    Builder b(m_, id_, fn().regions.add(Region{}), fn().loc);
    Cloner cloner(m_, id_, id_);
    cloner_ = &cloner;
    cloner.instead = [&](OpId op, Builder& at) { return place(op, at); };
    for (ValueId p : fn().regions[old].params)
      cloner.values[p] = b.param(fn().typeOf(p), fn().values[p].hint);
    Cloner::Yielded end = cloner.body(old, b);
    b.yield(std::move(end.values), std::move(end.dims));
    fn().body = b.region;
    return expanded_ && !isTooLong();
  }
  bool isTooLong() const { return fn().ops.size() - begin_ > longestWritten; }

private:
  Function& fn() const { return m_.functions[id_]; }

  /// What is given up on may be left half done.
  bool place(OpId op, Builder& b) {
    if (isTooLong()) return true;
    const OpKind kind = fn().ops[op].kind;
    bool done = false;
    if (kind == OpKind::Nest) done = nest(fn().ops[op], b);
    if (kind == OpKind::For) done = loop(fn().ops[op], b);
    if (kind == OpKind::Call) done = call(fn().ops[op], b);
    expanded_ |= done;
    return done;
  }

  // --- nests

  bool isPlain(TypeId t) const {
    return m_.types.isInt(t) || m_.types.isFloat(t) || m_.types.kind(t) == TypeKind::Bool;
  }
  /// Whether the result can be written as an array of values, each combined of some.
  bool isWritable(const NestView& nest, const NestPart& part, bool anyPoints) const {
    const NestResult& r = *part.spec;
    if (r.kind == NestResultKind::Collect) return anyPoints;
    if (r.kind == NestResultKind::Filter || isCombine(r) || isPosition(r)) return false;
    return r.monoid == MonoidKind::Sum || isPlain(fn().typeOf(nest.yields(part)[0]));
  }
  /// The values of one result, row-major over the axes that it keeps.
  struct Cells {
    std::vector<int64_t> extents;
    std::vector<ValueId> values;
  };

  std::optional<std::vector<int64_t>> extentsOf(const Op& op) {
    std::vector<int64_t> out;
    int64_t points = 1;
    for (DimId d : op.dims) {
      const std::optional<int64_t> extent = m_.types.dims.asConstant(cloner_->dim(d));
      if (!extent || *extent < 0 || *extent > longestStraight) return std::nullopt;
      out.push_back(*extent);
      points *= *extent;
      if (points > longestStraight) return std::nullopt;
    }
    return out;
  }

  bool nest(const Op& op, Builder& b) {
    const std::optional<std::vector<int64_t>> extents = extentsOf(op);
    const NestView nest(fn(), op);
    if (!extents || nest.accs() != 0) return false;
    const bool anyPoints = std::find(extents->begin(), extents->end(), 0) == extents->end();
    std::vector<Cells> cells;
    for (const NestPart& part : nest.parts()) {
      if (!isWritable(nest, part, anyPoints)) return false;
      Cells& c = cells.emplace_back();
      size_t count = 1;
      for (uint32_t axis : part.spec->keep) {
        c.extents.push_back((*extents)[axis]);
        count *= static_cast<size_t>(c.extents.back());
      }
      if (count == 0) return false;
      c.values.resize(count);
    }
    Builder here = b;
    here.loc = op.loc;
    if (anyPoints) points(nest, *extents, cells, here);
    for (size_t k = 0; k < cells.size(); ++k) {
      const NestPart& part = nest.parts()[k];
      for (ValueId& v : cells[k].values)
        if (!v.valid()) v = unit(*part.spec, cloner_->type(fn().typeOf(nest.yields(part)[0])), here);
      cloner_->values.insert_or_assign(nest.results(part)[0], stack(cells[k], here));
    }
    return true;
  }

  void points(const NestView& nest, const std::vector<int64_t>& extents, std::vector<Cells>& cells,
              Builder& b) {
    std::vector<int64_t> at(extents.size(), 0);
    while (!isTooLong()) {
      for (size_t k = 0; k < at.size(); ++k)
        cloner_->values.insert_or_assign(nest.axisParams()[k], b.integer(at[k]));
      const Cloner::Yielded yielded = cloner_->body(nest.body(), b);
      for (size_t k = 0; k < cells.size(); ++k) {
        const NestPart& part = nest.parts()[k];
        size_t cell = 0;
        for (uint32_t axis : part.spec->keep)
          cell = cell * static_cast<size_t>(extents[axis]) + static_cast<size_t>(at[axis]);
        join(*part.spec, cells[k].values[cell], yielded.values[part.yields.first], b);
      }
      size_t k = at.size();
      while (k > 0 && ++at[k - 1] == extents[k - 1]) at[--k] = 0;
      if (k == 0) return;
    }
  }
  /// Each combination begins with its unit: a sum of one -0 is 0.
  void join(const NestResult& r, ValueId& cell, ValueId term, Builder& b) const {
    if (r.kind == NestResultKind::Collect) {
      cell = term;
      return;
    }
    const ValueId before = cell.valid() ? cell : unit(r, b.typeOf(term), b);
    cell = b.binary(combiningOp(r.monoid), before, term);
  }
  ValueId unit(const NestResult& r, TypeId type, Builder& b) const {
    return isPlain(type) ? b.constant(type, unitOf(r.monoid, m_.types.kind(type))) : b.zero(type);
  }
  ValueId stack(const Cells& cells, Builder& b) const {
    std::vector<ValueId> values = cells.values;
    for (size_t axis = cells.extents.size(); axis-- > 0;) {
      const auto extent = static_cast<size_t>(cells.extents[axis]);
      const TypeId row = m_.types.array(b.typeOf(values[0]), {b.dims().constant(cells.extents[axis])});
      std::vector<ValueId> rows;
      for (size_t first = 0; first < values.size(); first += extent) {
        Operands parts;
        for (size_t k = 0; k < extent; ++k) parts.push_back(values[first + k]);
        rows.push_back(b.one(Builder::simple(OpKind::ArrayOf, std::move(parts)), row));
      }
      values = std::move(rows);
    }
    return values[0];
  }

  // --- loops and calls

  bool loop(const Op& op, Builder& b) {
    const LoopView loop(fn(), op);
    const Op* count = definition(cloner_->value(loop.count()));
    if (!count || count->kind != OpKind::Const || !loop.bodyDims().empty()) return false;
    const int64_t turns = std::max<int64_t>(static_cast<int64_t>(count->as<Constant>().bits), 0);
    if (turns > longestStraight || (turns == 0 && loop.stacks() > 0)) return false;
    if (loop.stacks() > 0) cloner_->setDim(loop.extent(), b.dims().constant(turns));
    std::vector<ValueId> carried;
    for (ValueId v : loop.carryOperands()) carried.push_back(cloner_->value(v));
    std::vector<Cells> stacks(loop.stacks());
    Builder here = b;
    here.loc = op.loc;
    for (int64_t turn = 0; turn < turns && !isTooLong(); ++turn) {
      cloner_->values.insert_or_assign(loop.index(), here.integer(turn));
      for (size_t k = 0; k < carried.size(); ++k)
        cloner_->values.insert_or_assign(loop.carryParams()[k], carried[k]);
      const Cloner::Yielded yielded = cloner_->body(loop.body(), here);
      for (size_t k = 0; k < carried.size(); ++k) carried[k] = yielded.values[k];
      for (size_t k = 0; k < stacks.size(); ++k)
        stacks[k].values.push_back(yielded.values[carried.size() + k]);
    }
    for (size_t k = 0; k < carried.size(); ++k)
      cloner_->values.insert_or_assign(loop.carryResults()[k], carried[k]);
    for (size_t k = 0; k < stacks.size(); ++k) {
      stacks[k].extents = {turns};
      cloner_->values.insert_or_assign(loop.stackResults()[k], stack(stacks[k], here));
    }
    return true;
  }
  const Op* definition(ValueId v) const {
    const OpId def = fn().values[v].def;
    return def.valid() ? &fn().ops[def] : nullptr;
  }

  bool call(Op op, Builder& b) {
    if (!inlined_[op.as<CallAttr>().callee.index]) return false;
    for (ValueId& v : op.operands) v = cloner_->value(v);
    for (DimId& d : op.dims) d = cloner_->dim(d);
    types::DimSubst decided;
    const std::vector<ValueId> results = inlineCall(m_, op, b, decided);
    for (const auto& [symbol, by] : decided) cloner_->setDim(symbol, by);
    for (size_t k = 0; k < results.size(); ++k) cloner_->values.insert_or_assign(op.results[k], results[k]);
    return true;
  }

  Module& m_;
  FunctionId id_;
  const std::vector<bool>& inlined_; ///< by function
  size_t begin_;
  Cloner* cloner_ = nullptr;
  bool expanded_ = false;
};

/// Ops of a function, if it iterates and calls nothing.
std::optional<unsigned> straightLength(const Function& f) {
  unsigned length = 0;
  bool straight = true;
  forEachOp(f, [&](OpId id) {
    const OpKind kind = f.ops[id].kind;
    length += kind != OpKind::Yield;
    straight = straight && kind != OpKind::Nest && kind != OpKind::For && kind != OpKind::While &&
               kind != OpKind::Call && kind != OpKind::Apply && kind != OpKind::Derivative;
  });
  return straight ? std::optional(length) : std::nullopt;
}

class Straightener {
public:
  explicit Straightener(Module& m) : m_(m), calls_(m), effects_(m), inlined_(m.functions.size(), false) {}

  void run(std::span<const FunctionId> functions) {
    const std::unordered_set<FunctionId> given(functions.begin(), functions.end());
    for (FunctionId id : calls_.order()) {
      if (!m_.functions[id].body.valid()) continue;
      inlined_[id.index] = mayBecomeStraight(id) && (!given.contains(id) || straighten(id));
    }
  }

private:
  /// Whether nothing in the function, and in what it calls, stands in the way.
  bool mayBecomeStraight(FunctionId id) const {
    const Function& f = m_.functions[id];
    if (calls_.isRecursive(id) || f.customJvp.valid()) return false;
    bool may = true;
    size_t length = 0;
    forEachOp(f, [&](OpId op) {
      const OpKind kind = f.ops[op].kind;
      may = may && kind != OpKind::While && kind != OpKind::Apply && kind != OpKind::Derivative &&
            kind != OpKind::StopGradient && ++length <= longestStraight;
      if (kind == OpKind::Call) may = may && inlined_[f.ops[op].as<CallAttr>().callee.index];
    });
    return may;
  }

  bool straighten(FunctionId id) {
    Function before = m_.functions[id];
    Unroller unroller(m_, id, inlined_);
    for (int round = 0; round < deepestRounds && unroller.round(); ++round) clean(id);
    if (!unroller.isTooLong()) {
      clean(id);
      const std::optional<unsigned> length = straightLength(m_.functions[id]);
      if (length && *length <= longestStraight) return true;
    }
    m_.functions[id] = std::move(before);
    return false;
  }
  void clean(FunctionId id) {
    constexpr int maxRounds = 8;
    for (int round = 0; round < maxRounds; ++round) {
      bool changed = foldFunction(m_, id);
      changed |= composeReadsIn(m_, id);
      changed |= forwardElementsIn(m_, id);
      eliminateDeadValues(m_, id, effects_);
      if (!changed) return;
    }
  }

  Module& m_;
  const CallGraph calls_;
  const Effects effects_;
  std::vector<bool> inlined_; ///< by function: whether callers take its body
};

} // namespace

void unroll(Module& m, std::span<const FunctionId> functions) { Straightener(m).run(functions); }

} // namespace melix::transforms
