#include "loops/emit/lower.h"

#include "core/analysis/ranges.h"
#include "loops/emit/emit_builtin.h"
#include "loops/emit/emit_nest.h"
#include "loops/emit/lower_arrays.h"
#include "loops/emit/lower_calls.h"
#include "loops/emit/lower_checks.h"
#include "loops/emit/lower_control.h"
#include "loops/emit/lower_effects.h"
#include "loops/emit/lower_lists.h"
#include "loops/emit/lower_places.h"
#include "loops/emit/lower_records.h"
#include "loops/emit/lower_scalars.h"
#include "loops/emit/lower_values.h"
#include "loops/ir/overflow.h"
#include "types/dim_facts.h"

#include <algorithm>

namespace melix::loops {

namespace {

void lowerCastDims(Lower& l, const core::Op& op) {
  const core::ValueId x = op.operands[0];
  if (l.rep(x).view) return l.setRep(op.results[0], Rep(l.rep(x)));
  l.define(op.results[0], l.leaves(x));
  l.setPlaced(op.results[0], l.rep(x).placed);
}

void lowerOp(Lower& l, const core::Op& op) {
  switch (op.kind) {
  case OpKind::Const: return lowerConst(l, op);
  case OpKind::Zero: return lowerZero(l, op);
  case OpKind::Undef: return l.define(op.results[0], undefOf(l, l.typeOf(op.results[0])));
  case OpKind::DimValue: return l.define(op.results[0], {l.dim(op.dims[0])});
  case OpKind::BindDim: return l.defineDim(op.resultDims[0], l.leaf(op.operands[0]));
  case OpKind::CastDims: return lowerCastDims(l, op);
  case OpKind::Reshape:
  case OpKind::StopGradient: return l.define(op.results[0], l.leaves(op.operands[0]));
  case OpKind::Make:
  case OpKind::Known: return lowerMake(l, op);
  case OpKind::Capture: return lowerCapture(l, op);
  case OpKind::Variant: return lowerVariant(l, op);
  case OpKind::Pack: return lowerPack(l, op);
  case OpKind::Unpack: return lowerUnpack(l, op);
  case OpKind::Get: return lowerGet(l, op);
  case OpKind::Set: return lowerSet(l, op);
  case OpKind::AddAt: return lowerAddAt(l, op);
  case OpKind::ArrayOf: return lowerArrayOf(l, op);
  case OpKind::Add:
  case OpKind::Sub:
  case OpKind::Neg: return lowerSum(l, op);
  case OpKind::Math: return lowerMath(l, op);
  case OpKind::Cmp: return lowerCompare(l, op);
  case OpKind::Select: return lowerSelect(l, op);
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
  case OpKind::Bitcast: return lowerScalar(l, op);
  case OpKind::If: return lowerIf(l, op);
  case OpKind::Match: return lowerMatch(l, op);
  case OpKind::For: return lowerFor(l, op);
  case OpKind::While: return lowerWhile(l, op);
  case OpKind::Call: return lowerCall(l, op);
  case OpKind::Check: return lowerCheck(l, op);
  case OpKind::Holds: return lowerHolds(l, op);
  case OpKind::Panic: return lowerPanic(l, op);
  case OpKind::Nest: return emitNest(l, op);
  case OpKind::ArgSort: return lowerArgSort(l, op);
  case OpKind::ListOf: return lowerListOf(l, op);
  case OpKind::Length: return lowerLength(l, op);
  case OpKind::Push: return lowerPush(l, op);
  case OpKind::Pop: return lowerPop(l, op);
  case OpKind::ToArray: return lowerToArray(l, op);
  case OpKind::ToList: return lowerToList(l, op);
  case OpKind::Builtin: return emitBuiltin(l, op);
  case OpKind::Format: return lowerFormat(l, op);
  case OpKind::Debug: return lowerDebug(l, op);
  case OpKind::BlackBox: return lowerBlackBox(l, op);
  case OpKind::Closure:
  case OpKind::Apply: return l.fail("a function value that was not resolved");
  case OpKind::Derivative: return l.fail("a derivative that was not expanded");
  case OpKind::Yield: return;
  }
}

} // namespace

void Lower::fail(std::string what) {
  if (!context.error) context.error = Unsupported{std::move(what), b.loc};
}

const std::vector<ValueId>& Lower::leaves(core::ValueId v) {
  Rep& r = env_[v.index];
  if (!r.view) return r.leaves;
  // A view that is needed whole: in an arm that takes a payload, else only in a place that use counting did
  // not foresee.
  const Place& place = r.view->place;
  r.leaves = place.axes.empty() ? loadStored(*this, place) : std::vector<ValueId>{copyToDense(*this, place)};
  r.view.reset();
  return r.leaves;
}

std::optional<Rep> Lower::takeView(core::ValueId v) {
  const auto found = env_.find(v.index);
  if (found == env_.end() || !found->second.view) return std::nullopt;
  return std::move(found->second);
}

std::vector<ValueType> Lower::leafTypes(std::span<const core::ValueId> vs) {
  std::vector<ValueType> out;
  for (core::ValueId v : vs)
    for (ValueType type : layouts.leaves(typeOf(v))) out.push_back(type);
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
    size_t count = layouts.leafCount(typeOf(v));
    define(v, {values.begin() + static_cast<long>(at), values.begin() + static_cast<long>(at + count)});
    at += count;
  }
}

/// `exact`, where given, becomes false if a number on the way leaves 64 bits.
ValueId Lower::dim(types::DimId d, ValueId* exact) {
  types::DimStore& store = types.dims;
  if (exact && types::DimFacts(store).isExact(d)) exact = nullptr;
  auto arith = [&](OpKind kind, ValueId left, ValueId right) {
    if (exact) *exact = b.both(*exact, dimStepFits(b, kind, left, right));
    return b.arith(kind, left, right);
  };
  if (auto c = store.asConstant(d)) return b.integer(*c);
  ValueId sum;
  for (const types::DimTerm& term : store.terms(d)) {
    ValueId product;
    for (types::DimAtomId id : term.factors) {
      const types::DimAtom& atom = store.atom(id);
      ValueId v;
      if (atom.kind == types::DimAtomKind::Symbol) {
        v = dims.find(atom.symbol);
        if (!v.valid()) {
          fail("the dimension `" + store.info(atom.symbol).name + "` is not in scope");
          return b.integer(0);
        }
      } else if (atom.kind == types::DimAtomKind::TooLarge) {
        if (exact) *exact = b.boolean(false);
        v = b.integer(0);
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
    ValueId c = b.integer(term.coefficient);
    if (!product)
      product = c;
    else if (term.coefficient != 1)
      product = arith(OpKind::Mul, product, c);
    sum = sum ? arith(OpKind::Add, sum, product) : product;
  }
  return sum ? sum : b.integer(0);
}

std::vector<ValueId> Lower::dimsOf(TypeId arrayType) {
  std::vector<ValueId> out;
  for (types::DimId d : types[arrayType].dims) out.push_back(dim(d));
  return out;
}

bool Lower::dimInScope(types::DimId d) {
  std::vector<types::DimSym> symbols;
  types.dims.collectSymbols(d, symbols);
  for (types::DimSym s : symbols)
    if (!dims.find(s).valid()) return false;
  return true;
}

const core::Op& Lower::yieldOf(core::RegionId region) const { return in.ops[in.regions[region].ops.back()]; }

void Lower::lowerOps(core::RegionId region) {
  auto found = filters_.find(region);
  const std::set<core::OpId>* only = found == filters_.end() ? nullptr : found->second;
  for (core::OpId id : in.regions[region].ops) {
    const core::Op& op = in.ops[id];
    if (op.kind == OpKind::Yield || context.error) return;
    if (only && !only->contains(id)) continue;
    b.loc = op.loc;
    for (core::ValueId v : op.results)
      if (std::string what = layouts.unsupported(typeOf(v)); !what.empty())
        return fail("values of type `" + what + "` are not compiled yet");
    lowerOp(*this, op);
    b.loc = op.loc;
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
  DimValues::Scope scope(dims);
  std::vector<std::pair<core::ValueId, Rep>> staying;
  for (core::ValueId v : wholeIn_[region.index]) {
    staying.emplace_back(v, rep(v));
    leaves(v);
  }
  lowerOps(region);
  if (context.error) return {};
  const core::Op& yield = yieldOf(region);
  std::vector<ValueId> out = leavesOf(yield.operands);
  for (types::DimId d : yield.dims) out.push_back(dim(d));
  for (auto& [v, where] : staying) setRep(v, std::move(where)); // these leaves are of this region
  return out;
}

/// All blocks of a parameter of which only elements are read have the mode `elements`.
void Lower::noteElementParams(core::FunctionId function) {
  size_t leaf = in.dimParams.size();
  for (size_t k = 0; k < in.params().size(); ++k)
    for (ValueType type : layouts.leaves(typeOf(in.params()[k]))) {
      if (type == dataType && context.elementParams(function, k)) b.fn.modes[leaf] = ModeKind::Elements;
      ++leaf;
    }
}

void Lower::run(core::FunctionId function, const std::vector<uint32_t>& written) {
  facts.emplace(context, function);
  b.loc = in.loc;
  std::vector<ValueType> params(in.dimParams.size(), indexType);
  for (core::ValueId v : in.params()) {
    if (std::string what = layouts.unsupported(typeOf(v)); !what.empty())
      return fail("values of type `" + what + "` are not compiled yet");
    for (ValueType type : layouts.leaves(typeOf(v))) params.push_back(type);
  }
  b.fn.modes.assign(params.size(), ModeKind::Borrow);
  core::Ranges ranges(types, in); // an array that a function is given was made: no size of it is negative
  for (size_t k = 0; k < in.dimParams.size(); ++k)
    if (ranges.isNoLess(types.dims.symbol(in.dimParams[k]), types.dims.constant(0)))
      b.fn.modes[k] = ModeKind::Size;
  noteElementParams(function);
  params.insert(params.end(), written.size(), addressType);
  b.fn.modes.resize(params.size(), ModeKind::Dest);
  RegionId body = b.begin(params);
  const std::vector<ValueId>& values = b.params(body);
  for (size_t k = 0; k < in.dimParams.size(); ++k) defineDim(in.dimParams[k], values[k]);
  size_t at = in.dimParams.size();
  bind(in.params(), values, at);
  const core::Op& yield = yieldOf(in.body);
  for (uint32_t k : written) writeTo(*this, yield.operands[k], in.body, {values[at++], {}});
  lowerOps(in.body);
  if (context.error) return;
  std::vector<ValueId> results;
  for (uint32_t k = 0; k < yield.operands.size(); ++k)
    if (std::find(written.begin(), written.end(), k) == written.end())
      for (ValueId v : leaves(yield.operands[k])) results.push_back(v);
  for (types::DimId d : yield.dims) results.push_back(dim(d));
  b.loc = in.loc;
  b.fn.body = b.end(results);
  for (ValueId v : results) b.fn.results.push_back(b.fn.typeOf(v));
}

} // namespace melix::loops
