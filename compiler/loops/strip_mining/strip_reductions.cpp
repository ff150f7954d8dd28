#include "loops/strip_mining/strip_reductions.h"

#include <algorithm>

namespace melix::loops {

using core::OpKind;

void useStrip(Function& fn, RegionId region, const StripBlock& strip, ValueId row) {
  for (StmtId id : fn.regions[region].stmts) {
    Stmt& s = fn.stmts[id];
    if (!s.operands.empty() && s.operands[0] == strip.array) {
      s.operands[0] = strip.block;
      s.operands.erase(s.operands.begin() + 1,
                       s.operands.begin() + 1 + 2 * (static_cast<std::ptrdiff_t>(strip.axes) - 1));
      s.operands[1] = row;
    }
    for (RegionId r : s.regions) useStrip(fn, r, strip, row);
  }
}

StripSum::StripSum(Builder& b, const RowSweep& sweep, const std::vector<ValueId>& around)
    : b_(b), sweep_(sweep), sum_(sweep.sum), around_(around) {
  for (size_t k = 0; k < sweep.loops.size(); ++k)
    if (!pointOf(k).valid()) inner_.push_back(sweep.loops[k]);
}

// --- the loops
// ----------------------------------------------------------------------------------------------------------

/// At which point of a loop that is, if it is one over an axis around.
ValueId StripSum::pointOf(size_t loop) const {
  const auto axis = static_cast<size_t>(std::ranges::find(sweep_.axes, loop) - sweep_.axes.begin());
  return axis < around_.size() ? around_[axis] : ValueId();
}

/// Copies of the loops that are left, and of the numbers beside all; in them what `body` writes.
template <class Body>
void StripSum::loops(const Body& body) {
  Copies copies;
  b_.loc = stmt(sweep_.loop()).loc;
  loopsFrom(0, copies, body);
}
template <class Body>
void StripSum::loopsFrom(size_t level, Copies& copies, const Body& body) {
  if (level == sweep_.loops.size()) return body(copies);
  const Stmt loop = stmt(sweep_.loops[level]);
  auto write = [&](ValueId index) {
    const ValueId original = b_.fn.regions[loop.regions[0]].params[0];
    Copies here(&copies);
    here.set(original, index);
    if (level + 1 < sweep_.loops.size()) besides(loop.regions[0], sweep_.loops[level + 1], here);
    loopsFrom(level + 1, here, body);
    return original;
  };
  if (const ValueId point = pointOf(level); point.valid()) {
    write(point);
    return;
  }
  auto attr = loop.as<ForAttr>();
  if (!around_.empty()) attr.dependence = Dependence::Independent;
  b_.carryLoop(
      copies.of(loop.operands[0]), copies.of(loop.operands[1]), {},
      [&](ValueId index, const std::vector<ValueId>& none) {
        b_.fn.values[index].hint = b_.fn.values[write(index)].hint;
        return none;
      },
      attr);
}

/// What stands before a statement, and after it.
void StripSum::besides(RegionId region, StmtId until, Copies& copies) {
  const std::vector<StmtId> stmts = b_.fn.regions[region].stmts;
  for (auto at = stmts.begin(); *at != until; ++at) clone(b_, *at, copies);
}
void StripSum::after(RegionId region, StmtId from, Copies& copies) {
  const std::vector<StmtId> stmts = b_.fn.regions[region].stmts;
  for (auto at = std::ranges::find(stmts, from) + 1; at != stmts.end() && *at != sum_.store; ++at)
    if (stmt(*at).kind != StmtKind::Yield) clone(b_, *at, copies);
}

// --- what is kept
// ----------------------------------------------------------------------------------------------------------

ValueId StripSum::loadStored(Copies& copies) {
  const std::vector<ValueId> operands = stmt(sum_.store).operands;
  std::vector<Term> terms;
  for (size_t k = 1; k + 1 < operands.size(); k += 2)
    terms.push_back({number(operands[k], copies), number(operands[k + 1], copies)});
  Access access = stmt(sum_.store).as<Access>();
  access.elem = scalarType(kind());
  access.borrowed = access.nonTemporal = false;
  return b_.load(number(operands[0], copies), terms, access);
}
/// A number at a point, which may be computed after the sum.
ValueId StripSum::number(ValueId v, Copies& copies) {
  const StmtId def = b_.fn.values[v].def;
  if (copies.of(v) != v || !def.valid() || b_.fn.values[v].region != home()) return copies.of(v);
  const std::vector<ValueId> operands = stmt(def).operands;
  for (ValueId operand : operands) number(operand, copies);
  clone(b_, def, copies);
  return copies.of(v);
}
void StripSum::keep(ValueId v, const Copies& copies) {
  const Stmt store = stmt(sum_.store);
  std::vector<ValueId> operands = copies.of(store.operands);
  operands.back() = v;
  Access access = store.as<Access>();
  access.elem = scalarType(kind());
  access.nonTemporal = false;
  b_.stmt(StmtKind::Store, operands, {}, access);
}

// --- strips
// ----------------------------------------------------------------------------------------------------------

void StripSum::write(const SumStrip& strip, std::span<const StripBlock> blocks) {
  loops([&](Copies& copies) {
    const StmtId sum = sum_.outermost();
    besides(home(), sum, copies);
    const std::vector<ValueId> begun = stmt(sum).operands;
    const ValueId total = copies.of(begun[2]);
    if (sum_.blocks.valid()) {
      copies.set(b_.fn.regions[stmt(sum).regions[0]].params[0], strip.block);
      copies.set(b_.fn.regions[stmt(sum).regions[0]].params[1], total);
      besides(stmt(sum).regions[0], sum_.chain, copies);
    }
    const ValueId chain = runChain(strip, blocks, copies);
    const ValueId made = finish(chain, total, strip.isAny, copies);
    keep(b_.select(endsOf(strip).last, made, chain), copies);
  });
}

ValueId StripSum::runChain(const SumStrip& strip, std::span<const StripBlock> blocks, Copies& copies) {
  const Stmt chain = stmt(sum_.chain);
  ValueId begun = beginOrGoOn(endsOf(strip).first, copies.of(chain.operands[2]), copies);
  if (isNeverNegativeZero()) { // as what looks at the chain knows then
    const TypeKind kind = b_.fn.typeOf(begun).scalar;
    begun = b_.arith(OpKind::Add, b_.zero(b_.fn.typeOf(begun)), begun, kind);
  }
  const std::vector<ValueId> sums = b_.carryLoop(
      b_.integer(0), strip.count, {begun},
      [&](ValueId iteration, const std::vector<ValueId>& carried) {
        const RegionId body = chain.regions[0];
        Copies here(&copies);
        here.set(b_.fn.regions[body].params[0], b_.arith(OpKind::Add, strip.first, iteration));
        here.set(b_.fn.regions[body].params[1], carried[0]);
        const std::vector<StmtId> stmts = b_.fn.regions[body].stmts;
        for (StmtId id : stmts)
          if (stmt(id).kind != StmtKind::Yield) clone(b_, id, here);
        for (const StripBlock& block : blocks) useStrip(b_.fn, b_.current(), block, iteration);
        return here.of(stmt(b_.fn.regions[body].stmts.back()).operands);
      },
      chain.as<ForAttr>());
  copies.set(chain.results[0], sums[0]);
  return sums[0];
}
/// What is not there yet is not read.
ValueId StripSum::beginOrGoOn(ValueId begins, ValueId first, Copies& copies) {
  const RegionId yes = b_.begin();
  b_.end({first});
  const RegionId no = b_.begin();
  Copies here(&copies);
  b_.end({loadStored(here)});
  return b_.results(b_.stmt(StmtKind::If, {begins}, {b_.fn.typeOf(first)}, {}, {yes, no}))[0];
}
/// A chain of floats that begins at +0, and that numbers are added to: only two -0 are -0 together.
bool StripSum::isNeverNegativeZero() const {
  const Stmt& chain = stmt(sum_.chain);
  const RegionId body = chain.regions[0];
  const uint64_t* begun = asConstant(b_.fn, chain.operands[2]);
  const StmtId def = b_.fn.values[stmt(b_.fn.regions[body].stmts.back()).operands[0]].def;
  if (!begun || *begun != 0 || !def.valid() || stmt(def).kind != StmtKind::Scalar) return false;
  const Stmt& s = stmt(def);
  return s.as<ScalarAttr>().op == OpKind::Add && types::isFloatKind(s.as<ScalarAttr>().from) &&
         std::ranges::find(s.operands, b_.fn.regions[body].params[1]) != s.operands.end();
}

/// What is stored of a whole sum, as a number of its kind: of one block of terms after what the others came
/// to.
ValueId StripSum::finish(ValueId chain, ValueId total, ValueId isAny, Copies& copies) {
  ValueId sum = chain;
  const StmtId outermost = sum_.outermost();
  if (sum_.blocks.valid()) {
    const RegionId body = stmt(sum_.blocks).regions[0];
    after(body, sum_.chain, copies);
    const ValueId next = copies.of(stmt(b_.fn.regions[body].stmts.back()).operands[0]);
    sum = isAny.valid() ? b_.select(isAny, next, total) : next;
  }
  copies.set(stmt(outermost).results[0], sum);
  after(home(), outermost, copies);
  const ValueId made = copies.of(stmt(sum_.store).operands.back());
  const TypeKind from = b_.fn.typeOf(made).scalar;
  return from == kind() ? made : b_.scalar(OpKind::Bitcast, {made}, from, kind());
}

// --- several blocks of terms
// ----------------------------------------------------------------------------------------------------------

std::vector<ValueId> StripSum::extents() const {
  std::vector<ValueId> out;
  out.reserve(inner_.size());
  for (StmtId loop : inner_) {
    const uint64_t* known = asConstant(b_.fn, stmt(loop).operands[1]);
    out.push_back(known ? b_.integer(static_cast<int64_t>(*known)) : stmt(loop).operands[1]);
  }
  return out;
}

void StripSum::addBlock(ValueId block, ValueId isFirst, ValueId totals) {
  const std::vector<ValueId> sizes = extents();
  std::vector<ValueId> strides(sizes.size(), b_.integer(1));
  for (size_t k = sizes.size(); k-- > 1;) strides[k - 1] = b_.product({strides[k], sizes[k]});
  std::vector<ValueId> indices;
  indices.reserve(inner_.size());
  for (StmtId loop : inner_) indices.push_back(b_.fn.regions[stmt(loop).regions[0]].params[0]);
  loops([&](Copies& copies) {
    const StmtId sum = sum_.blocks;
    besides(home(), sum, copies);
    std::vector<Term> terms;
    for (size_t k = 0; k < indices.size(); ++k) terms.push_back({copies.of(indices[k]), strides[k]});
    if (terms.empty()) terms.push_back({b_.integer(0), b_.integer(1)});
    const ValueType type = b_.fn.typeOf(stmt(sum).results[0]);
    const Access access{type, bytesOf(type), 0, false, false};
    const ValueId begun = copies.of(stmt(sum).operands[2]);
    const ValueId total = b_.select(isFirst, begun, b_.load(totals, terms, access));
    const RegionId body = stmt(sum).regions[0];
    copies.set(b_.fn.regions[body].params[0], block);
    copies.set(b_.fn.regions[body].params[1], total);
    besides(body, sum_.chain, copies);
    copies.set(stmt(sum_.chain).results[0], loadStored(copies));
    const ValueId made = finish({}, total, {}, copies);
    b_.store(totals, terms, access, copies.of(stmt(sum).results[0]));
    keep(made, copies);
  });
}

} // namespace melix::loops
