#include "loops/ir/build.h"

#include <algorithm>

namespace melix::loops {

size_t placeOf(const Function& fn, RegionId region, StmtId s) {
  const std::vector<StmtId>& stmts = fn.regions[region].stmts;
  return static_cast<size_t>(std::ranges::find(stmts, s) - stmts.begin());
}

uint32_t bytesOf(ValueType type) { return std::max(8U, types::scalarBits(type.scalar)) / 8; }

bool isMultipleOf(const Function& fn, ValueId v, uint64_t n, int depth) {
  if (const uint64_t* known = asConstant(fn, v)) return *known % n == 0;
  const StmtId def = fn.values[v].def;
  if (depth == 0 || !def.valid() || fn.stmts[def].kind != StmtKind::Scalar) return false;
  auto divides = [&](ValueId x) { return isMultipleOf(fn, x, n, depth - 1); };
  switch (fn.stmts[def].as<ScalarAttr>().op) {
  case core::OpKind::Mul: return std::ranges::any_of(fn.stmts[def].operands, divides);
  case core::OpKind::Add:
  case core::OpKind::Sub: return std::ranges::all_of(fn.stmts[def].operands, divides);
  default: return false;
  }
}

RegionId Builder::begin(const std::vector<ValueType>& params) {
  RegionId region = fn.regions.add({});
  for (ValueType type : params) {
    ValueId param = fn.values.add({type, StmtId(), region});
    fn.regions[region].params.push_back(param);
  }
  stack_.push_back(region);
  constants_.emplace_back();
  return region;
}

RegionId Builder::end(std::vector<ValueId> yields) {
  stmt(StmtKind::Yield, std::move(yields));
  RegionId region = stack_.back();
  stack_.pop_back();
  constants_.pop_back();
  return region;
}

ValueId Builder::constant(ValueType type, uint64_t bits) {
  auto& known = constants_.back();
  for (auto [at, end] = known.equal_range(bits); at != end; ++at)
    if (fn.typeOf(at->second) == type) return at->second;
  return known.emplace(bits, value(StmtKind::Const, {}, type, bits))->second;
}

StmtId Builder::stmt(StmtKind kind, std::vector<ValueId> operands, const std::vector<ValueType>& results,
                     Attr attr, std::vector<RegionId> regions) {
  assert(std::ranges::all_of(operands, [](ValueId v) { return v.valid(); }) && "operands are values");
  StmtId id = fn.stmts.add({kind, loc, std::move(operands), {}, std::move(regions), std::move(attr)});
  for (ValueType type : results) {
    ValueId result = fn.values.add({type, id, stack_.back()});
    fn.stmts[id].results.push_back(result);
  }
  fn.regions[stack_.back()].stmts.push_back(id);
  return id;
}

std::vector<ValueId> Builder::accessOperands(ValueId base, const std::vector<Term>& terms) const {
  std::vector<ValueId> operands{base};
  for (const Term& term : terms) {
    operands.push_back(term.index);
    operands.push_back(term.stride);
  }
  return operands;
}

ValueId Builder::load(ValueId base, const std::vector<Term>& terms, Access access) {
  ValueType type = access.elem;
  return value(StmtKind::Load, accessOperands(base, terms), type, access);
}

void Builder::store(ValueId base, const std::vector<Term>& terms, Access access, ValueId v) {
  std::vector<ValueId> operands = accessOperands(base, terms);
  operands.push_back(v);
  stmt(StmtKind::Store, std::move(operands), {}, access);
}

ValueId Builder::addressOf(ValueId base, const std::vector<Term>& terms, uint32_t elemBytes, int64_t offset) {
  return value(StmtKind::AddressOf, accessOperands(base, terms), addressType,
               Access{addressType, elemBytes, offset, false, false});
}

ValueId Builder::product(const std::vector<ValueId>& sizes) {
  uint64_t known = 1;
  ValueId all;
  for (ValueId size : sizes) {
    if (const uint64_t* n = asConstant(size))
      known *= *n;
    else
      all = all ? arith(core::OpKind::Mul, all, size) : size;
  }
  ValueId constant = all && known == 1 ? ValueId() : integer(static_cast<int64_t>(known));
  return !all ? constant : constant ? arith(core::OpKind::Mul, all, constant) : all;
}

const Stmt* scalarOf(const Function& fn, ValueId v) {
  const StmtId def = fn.values[v].def;
  return def.valid() && fn.stmts[def].kind == StmtKind::Scalar ? &fn.stmts[def] : nullptr;
}

const uint64_t* asConstant(const Function& fn, ValueId v) {
  const StmtId def = fn.values[v].def;
  if (!def || fn.stmts[def].kind != StmtKind::Const) return nullptr;
  return &fn.stmts[def].as<uint64_t>();
}

std::optional<uint64_t> knownBytes(const Function& fn, const Stmt& alloc) {
  uint64_t bytes = alloc.as<AllocAttr>().bytes;
  if (alloc.kind == StmtKind::FrameArray) return bytes;
  for (ValueId d : alloc.operands) {
    if (fn.typeOf(d).counted()) break; // after the sizes
    const uint64_t* extent = asConstant(fn, d);
    if (!extent || __builtin_mul_overflow(bytes, *extent, &bytes)) return std::nullopt;
  }
  return bytes;
}

static void addWithin(const Function& fn, RegionId region, std::unordered_set<RegionId>& out) {
  out.insert(region);
  for (StmtId id : fn.regions[region].stmts)
    for (RegionId inner : fn.stmts[id].regions) addWithin(fn, inner, out);
}

std::unordered_set<RegionId> regionsWithin(const Function& fn, RegionId region) {
  std::unordered_set<RegionId> out;
  addWithin(fn, region, out);
  return out;
}

/// From a number to that and so many.
static std::optional<uint64_t> tripCountFrom(const Function& fn, ValueId first, ValueId end) {
  const StmtId def = fn.values[end].def;
  if (!def.valid() || fn.stmts[def].kind != StmtKind::Scalar) return std::nullopt;
  const Stmt& s = fn.stmts[def];
  if (s.as<ScalarAttr>().op != core::OpKind::Add || s.operands[0] != first) return std::nullopt;
  const uint64_t* more = asConstant(fn, s.operands[1]);
  return more && static_cast<int64_t>(*more) >= 0 ? std::optional(*more) : std::nullopt;
}

std::optional<uint64_t> constantTripCount(const Function& fn, const Stmt& loop) {
  const uint64_t *first = asConstant(fn, loop.operands[0]), *end = asConstant(fn, loop.operands[1]);
  if (!first && !end) return tripCountFrom(fn, loop.operands[0], loop.operands[1]);
  if (!first || !end) return std::nullopt;
  const auto a = static_cast<int64_t>(*first), z = static_cast<int64_t>(*end);
  return a < z ? *end - *first : 0;
}

bool isOverChunk(const Function& fn, const Stmt& loop) {
  return fn.kind != FunctionKind::Orchestration &&
         std::ranges::equal(std::span(loop.operands).first(2), std::span(fn.params()).first(2));
}

} // namespace melix::loops
