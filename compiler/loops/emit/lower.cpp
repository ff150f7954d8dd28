#include "loops/emit/lower.h"

#include "core/analysis/ranges.h"
#include "loops/emit/emit_builtin.h"
#include "loops/emit/emit_nest.h"
#include "loops/ir/overflow.h"
#include "types/dim_facts.h"

#include <algorithm>

namespace melix::loops {

void Lower::fail(std::string what) {
  if (!context_.error) context_.error = Unsupported{std::move(what), b_.loc};
}

const std::vector<ValueId>& Lower::leaves(core::ValueId v) {
  Rep& r = env_[v.index];
  if (!r.view) return r.leaves;
  // A view that turned out to be needed whole: only in a place that use counting did not foresee.
  r.leaves = {copyToDense(r.view->place)};
  r.view.reset();
  return r.leaves;
}

std::vector<ValueType> Lower::leafTypes(std::span<const core::ValueId> vs) {
  std::vector<ValueType> out;
  for (core::ValueId v : vs)
    for (ValueType type : layouts_.leaves(typeOf(v))) out.push_back(type);
  return out;
}

std::vector<ValueId> Lower::leavesOf(std::span<const core::ValueId> vs) {
  std::vector<ValueId> out;
  for (core::ValueId v : vs)
    for (ValueId x : leaves(v)) out.push_back(x);
  return out;
}

void Lower::bind(std::span<const core::ValueId> vs, const std::vector<ValueId>& values, size_t& at) {
  for (core::ValueId v : vs) {
    size_t count = layouts_.leafCount(typeOf(v));
    define(v, {values.begin() + static_cast<long>(at), values.begin() + static_cast<long>(at + count)});
    at += count;
  }
}

// --- dims
// -----------------------------------------------------------------------------------------------------------

/// `exact`, where given, becomes false if a number on the way leaves 64 bits.
ValueId Lower::dim(types::DimId d, ValueId* exact) {
  types::DimStore& store = types_.dims;
  if (exact && types::DimFacts(store).isExact(d)) exact = nullptr;
  auto arith = [&](OpKind kind, ValueId a, ValueId b) {
    if (exact) *exact = b_.both(*exact, dimStepFits(b_, kind, a, b));
    return b_.arith(kind, a, b);
  };
  if (auto c = store.asConstant(d)) return b_.integer(*c);
  ValueId sum;
  for (const types::DimTerm& term : store.terms(d)) {
    ValueId product;
    for (types::DimAtomId id : term.factors) {
      const types::DimAtom& atom = store.atom(id);
      ValueId v;
      if (atom.kind == types::DimAtomKind::Symbol) {
        v = dims_.find(atom.symbol);
        if (!v.valid()) {
          fail("the dimension `" + store.info(atom.symbol).name + "` is not in scope");
          return b_.integer(0);
        }
      } else if (atom.kind == types::DimAtomKind::TooLarge) {
        if (exact) *exact = b_.boolean(false);
        v = b_.integer(0);
      } else {
        v = dim(atom.args[0], exact);
        for (size_t k = 1; k < atom.args.size(); ++k) {
          ValueId w = dim(atom.args[k], exact);
          switch (atom.kind) {
          case types::DimAtomKind::Min: v = arith(OpKind::Min, v, w); break;
          case types::DimAtomKind::Max: v = arith(OpKind::Max, v, w); break;
          // A dimension divided by zero has no value; whoever makes it checks that.
          default: v = arith(atom.kind == types::DimAtomKind::Mod ? OpKind::IRem : OpKind::IDiv, v, w);
          }
        }
      }
      product = product ? arith(OpKind::Mul, product, v) : v;
    }
    ValueId c = b_.integer(term.coefficient);
    if (!product)
      product = c;
    else if (term.coefficient != 1)
      product = arith(OpKind::Mul, product, c);
    sum = sum ? arith(OpKind::Add, sum, product) : product;
  }
  return sum ? sum : b_.integer(0);
}

std::vector<ValueId> Lower::dimsOf(TypeId arrayType) {
  std::vector<ValueId> out;
  for (types::DimId d : types_[arrayType].dims) out.push_back(dim(d));
  return out;
}

bool Lower::dimInScope(types::DimId d) {
  std::vector<types::DimSym> symbols;
  types_.dims.collectSymbols(d, symbols);
  for (types::DimSym s : symbols)
    if (!dims_.find(s).valid()) return false;
  return true;
}

// --- regions
// --------------------------------------------------------------------------------------------------------

const core::Op& Lower::yieldOf(core::RegionId region) const {
  return in_.ops[in_.regions[region].ops.back()];
}

void Lower::lowerOps(core::RegionId region) {
  auto found = filters_.find(region);
  const std::set<core::OpId>* only = found == filters_.end() ? nullptr : found->second;
  for (core::OpId id : in_.regions[region].ops) {
    const core::Op& op = in_.ops[id];
    if (op.kind == OpKind::Yield || context_.error) return;
    if (only && !only->contains(id)) continue;
    b_.loc = op.loc;
    for (core::ValueId v : op.results)
      if (std::string what = layouts_.unsupported(typeOf(v)); !what.empty())
        return fail("values of type `" + what + "` are not compiled yet");
    lowerOp(op);
    b_.loc = op.loc;
  }
}

void Lower::lowerPoint(core::RegionId body, const std::optional<std::set<core::OpId>>& only) {
  if (only) filters_[body] = &*only;
  ++nestDepth_;
  lowerOps(body);
  --nestDepth_;
  filters_.erase(body);
}

std::vector<ValueId> Lower::lowerRegion(core::RegionId region) {
  DimScope scope(*this);
  lowerOps(region);
  if (context_.error) return {};
  const core::Op& yield = yieldOf(region);
  std::vector<ValueId> out = leavesOf(yield.operands);
  for (types::DimId d : yield.dims) out.push_back(dim(d));
  return out;
}

// --- functions
// ------------------------------------------------------------------------------------------------------

void Lower::run(core::FunctionId in, const std::vector<uint32_t>& written) {
  facts_.emplace(context_.core, in);
  b_.loc = in_.loc;
  std::vector<ValueType> params(in_.dimParams.size(), indexType);
  for (core::ValueId v : in_.params()) {
    if (std::string what = layouts_.unsupported(typeOf(v)); !what.empty())
      return fail("values of type `" + what + "` are not compiled yet");
    for (ValueType type : layouts_.leaves(typeOf(v))) params.push_back(type);
  }
  b_.fn.modes.assign(params.size(), ModeKind::Borrow);
  core::Ranges ranges(types_, in_); // an array that a function is given was made: no size of it is negative
  for (size_t k = 0; k < in_.dimParams.size(); ++k)
    if (ranges.isNoLess(types_.dims.symbol(in_.dimParams[k]), types_.dims.constant(0)))
      b_.fn.modes[k] = ModeKind::Size;
  params.insert(params.end(), written.size(), addressType);
  b_.fn.modes.resize(params.size(), ModeKind::Dest);
  RegionId body = b_.begin(params);
  const std::vector<ValueId>& values = b_.params(body);
  for (size_t k = 0; k < in_.dimParams.size(); ++k) defineDim(in_.dimParams[k], values[k]);
  size_t at = in_.dimParams.size();
  bind(in_.params(), values, at);
  const core::Op& yield = yieldOf(in_.body);
  for (uint32_t k : written) writeTo(yield.operands[k], in_.body, {values[at++], {}});
  lowerOps(in_.body);
  if (context_.error) return;
  std::vector<ValueId> results;
  for (uint32_t k = 0; k < yield.operands.size(); ++k)
    if (std::find(written.begin(), written.end(), k) == written.end())
      for (ValueId v : leaves(yield.operands[k])) results.push_back(v);
  for (types::DimId d : yield.dims) results.push_back(dim(d));
  b_.loc = in_.loc;
  b_.fn.body = b_.end(results);
  for (ValueId v : results) b_.fn.results.push_back(b_.fn.typeOf(v));
}

void Lower::lowerOp(const core::Op& op) {
  switch (op.kind) {
  case OpKind::Const: return lowerConst(op);
  case OpKind::Zero: return lowerZero(op);
  case OpKind::Undef: return define(op.results[0], undefOf(typeOf(op.results[0])));
  case OpKind::DimValue: return define(op.results[0], {dim(op.dims[0])});
  case OpKind::BindDim: return defineDim(op.resultDims[0], leaf(op.operands[0]));
  case OpKind::CastDims:
    define(op.results[0], leaves(op.operands[0]));
    env_[op.results[0].index].placed = rep(op.operands[0]).placed;
    return;
  case OpKind::Reshape:
  case OpKind::StopGradient: return define(op.results[0], leaves(op.operands[0]));
  case OpKind::Make:
  case OpKind::Known: return lowerMake(op);
  case OpKind::Capture: return lowerCapture(op);
  case OpKind::Variant: return lowerVariant(op);
  case OpKind::Pack: return lowerPack(op);
  case OpKind::Unpack: return lowerUnpack(op);
  case OpKind::Get: return lowerGet(op);
  case OpKind::Set: return lowerSet(op);
  case OpKind::AddAt: return lowerAddAt(op);
  case OpKind::ArrayOf: return lowerArrayOf(op);
  case OpKind::Add:
  case OpKind::Sub:
  case OpKind::Neg: return lowerSum(op);
  case OpKind::Math: return lowerMath(op);
  case OpKind::Cmp: return lowerCompare(op);
  case OpKind::Select: return lowerSelect(op);
  case OpKind::Mul:
  case OpKind::Div:
  case OpKind::Fma:
  case OpKind::Sqrt:
  case OpKind::Abs:
  case OpKind::Min:
  case OpKind::Max:
  case OpKind::Round:
  case OpKind::CopySign:
  case OpKind::Scale:
  case OpKind::Directed:
  case OpKind::IDiv:
  case OpKind::IRem:
  case OpKind::And:
  case OpKind::Or:
  case OpKind::Xor:
  case OpKind::Not:
  case OpKind::Shl:
  case OpKind::Shr:
  case OpKind::Convert:
  case OpKind::Bitcast: return lowerScalar(op);
  case OpKind::If: return lowerIf(op);
  case OpKind::Match: return lowerMatch(op);
  case OpKind::For: return lowerFor(op);
  case OpKind::While: return lowerWhile(op);
  case OpKind::Call: return lowerCall(op);
  case OpKind::Check: return lowerCheck(op);
  case OpKind::Panic: return lowerPanic(op);
  case OpKind::Nest: return emitNest(*this, op);
  case OpKind::ArgSort: return lowerArgSort(op);
  case OpKind::ListOf: return lowerListOf(op);
  case OpKind::Length: return lowerLength(op);
  case OpKind::Push: return lowerPush(op);
  case OpKind::Pop: return lowerPop(op);
  case OpKind::ToArray: return lowerToArray(op);
  case OpKind::ToList: return lowerToList(op);
  case OpKind::Builtin: return emitBuiltin(*this, op);
  case OpKind::Format: return lowerFormat(op);
  case OpKind::Debug: return lowerDebug(op);
  case OpKind::BlackBox: return lowerBlackBox(op);
  case OpKind::Closure:
  case OpKind::Apply: return fail("a function value that was not resolved");
  case OpKind::Derivative: return fail("a derivative that was not expanded");
  case OpKind::Yield: return;
  }
}

} // namespace melix::loops
