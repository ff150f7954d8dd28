#pragma once
// Builds statements: a function under construction and the region that grows.

#include "loops/ir/ir.h"

#include <optional>

#include <string>
#include <unordered_map>
#include <unordered_set>

namespace melix::loops {

/// A place in memory: where an access begins and the terms of its index.
struct Term {
  ValueId index, stride;
};

/// The bits of a constant, if it is one.
const uint64_t* asConstant(const Function& fn, ValueId v);
/// The scalar op that defines a value; null if another statement does.
const Stmt* scalarOf(const Function& fn, ValueId v);
/// The bytes of an allocated array, if all its sizes are constants and no product of them wraps.
std::optional<uint64_t> knownBytes(const Function& fn, const Stmt& alloc);
/// The trip count of a `for`, if it is known.
std::optional<uint64_t> constantTripCount(const Function& fn, const Stmt& loop);
/// Whether a loop runs over exactly the range of its function, which is a chunk or kernel.
bool isOverChunk(const Function& fn, const Stmt& loop);

/// The position of a statement in its region: the number of statements before it.
size_t placeOf(const Function& fn, RegionId region, StmtId s);

/// The only statement of a region for which `passes` is false; none if several exist.
template <class Passes>
StmtId onlyStmt(const Function& fn, RegionId region, const Passes& passes) {
  StmtId found;
  for (StmtId id : fn.regions[region].stmts) {
    if (passes(fn.stmts[id])) continue;
    if (found.valid()) return {};
    found = id;
  }
  return found;
}
/// The same if it is a loop.
template <class Passes>
StmtId onlyLoop(const Function& fn, RegionId region, const Passes& passes) {
  const StmtId found = onlyStmt(fn, region, passes);
  return found.valid() && fn.stmts[found].kind == StmtKind::For ? found : StmtId();
}

/// All operands of the statements in a region, at any depth.
template <class Visit>
void forEachUse(const Function& fn, RegionId region, const Visit& visit) {
  for (StmtId id : fn.regions[region].stmts) {
    for (ValueId v : fn.stmts[id].operands) visit(v);
    for (RegionId inner : fn.stmts[id].regions) forEachUse(fn, inner, visit);
  }
}

/// Calls `rewrite(id, region)` for each statement, outer ones first. If it returns true, nested statements
/// are not visited. Lists may change meanwhile; added statements are not visited either.
template <class Rewrite>
void rewriteStmts(Function& fn, RegionId region, const Rewrite& rewrite) {
  const std::vector<StmtId> stmts = fn.regions[region].stmts;
  for (StmtId id : stmts) {
    if (rewrite(id, region)) continue;
    const std::vector<RegionId> inner = fn.stmts[id].regions;
    for (RegionId each : inner) rewriteStmts(fn, each, rewrite);
  }
}

/// The region and all in it.
std::unordered_set<RegionId> regionsWithin(const Function& fn, RegionId region);

/// How much memory a scalar takes.
uint32_t bytesOf(ValueType type);

/// Whether a number is a multiple of `n`, a power of two, by its definition: a constant that `n` divides, a
/// multiple of one, or a sum or difference of these.
bool isMultipleOf(const Function& fn, ValueId v, uint64_t n, int depth = 6);

class Builder {
public:
  explicit Builder(Function& function) : fn(function) {}

  Function& fn;
  LocId loc; ///< given to the statements that follow

  // Regions under construction; statements go to the innermost.
  RegionId begin(const std::vector<ValueType>& params = {});
  /// Ends the innermost region with a yield of these values.
  RegionId end(std::vector<ValueId> yields = {});
  const std::vector<ValueId>& params(RegionId r) const { return fn.regions[r].params; }
  RegionId current() const { return stack_.back(); }

  StmtId stmt(StmtKind kind, std::vector<ValueId> operands, const std::vector<ValueType>& results = {},
              Attr attr = {}, std::vector<RegionId> regions = {});
  ValueId value(StmtKind kind, std::vector<ValueId> operands, ValueType result, Attr attr = {}) {
    return fn.stmts[stmt(kind, std::move(operands), {result}, std::move(attr))].results[0];
  }
  const std::vector<ValueId>& results(StmtId s) const { return fn.stmts[s].results; }

  /// A constant, emitted once per region.
  ValueId constant(ValueType type, uint64_t bits);
  ValueId integer(int64_t v) { return constant(indexType, static_cast<uint64_t>(v)); }
  ValueId both(ValueId a, ValueId b) { return arith(core::OpKind::And, a, b, TypeKind::Bool); }
  ValueId either(ValueId a, ValueId b) { return arith(core::OpKind::Or, a, b, TypeKind::Bool); }
  ValueId boolean(bool v) { return constant(scalarType(TypeKind::Bool), v); }
  /// The zero of a class: 0, null.
  ValueId zero(ValueType type) { return constant(type, 0); }

  ValueId scalar(core::OpKind op, std::vector<ValueId> operands, TypeKind from, TypeKind to,
                 uint32_t index = 0) {
    return value(StmtKind::Scalar, std::move(operands), scalarType(to), ScalarAttr{op, index, from});
  }
  ValueId arith(core::OpKind op, ValueId a, ValueId b, TypeKind kind = TypeKind::I64) {
    return scalar(op, {a, b}, kind, kind);
  }
  ValueId compare(ops::CmpKind how, ValueId a, ValueId b, TypeKind kind = TypeKind::I64) {
    return scalar(core::OpKind::Cmp, {a, b}, kind, TypeKind::Bool, static_cast<uint32_t>(how));
  }
  ValueId select(ValueId c, ValueId a, ValueId b) {
    return scalar(core::OpKind::Select, {c, a, b}, fn.typeOf(a).scalar, fn.typeOf(a).scalar);
  }

  ValueId load(ValueId base, const std::vector<Term>& terms, Access access);
  void store(ValueId base, const std::vector<Term>& terms, Access access, ValueId v);
  ValueId addressOf(ValueId base, const std::vector<Term>& terms, uint32_t elemBytes, int64_t offset);
  ValueId scratch(uint64_t bytes) { return value(StmtKind::Scratch, {}, addressType, bytes); }
  ValueId pointerOf(ValueId v) { return value(StmtKind::PointerOf, {v}, addressType); }
  ValueId descriptor(TypeId type) { return value(StmtKind::Descriptor, {}, addressType, type); }

  /// The product of sizes; constant factors are folded.
  ValueId product(const std::vector<ValueId>& sizes);
  /// A loop i in 0..extent without carries.
  template <class Body>
  void loop(ValueId extent, const Body& body);
  /// A loop i in first..last; `body(i, carried)` returns the next carried values.
  template <class Body>
  std::vector<ValueId> carryLoop(ValueId first, ValueId last, std::vector<ValueId> carried, const Body& body,
                                 ForAttr attr = {});

  /// The bits of a constant, if it is one.
  const uint64_t* asConstant(ValueId v) const { return loops::asConstant(fn, v); }

private:
  std::vector<ValueId> accessOperands(ValueId base, const std::vector<Term>& terms) const;
  std::vector<RegionId> stack_;
  std::vector<std::unordered_multimap<uint64_t, ValueId>> constants_; ///< by their bits, for each open region
};

/// Functions created during lowering, each once.
struct MadeFunctions {
  Module* module;
  std::unordered_map<std::string, FunctionId> byKey;
};

template <class Body>
void Builder::loop(ValueId extent, const Body& body) {
  ValueId zero = integer(0);
  RegionId region = begin({indexType});
  body(params(region)[0]);
  end();
  stmt(StmtKind::For, {zero, extent}, {}, ForAttr{}, {region});
}

template <class Body>
std::vector<ValueId> Builder::carryLoop(ValueId first, ValueId last, std::vector<ValueId> carried,
                                        const Body& body, ForAttr attr) {
  std::vector<ValueType> types;
  for (ValueId v : carried) types.push_back(fn.typeOf(v));
  std::vector<ValueType> paramTypes{indexType};
  paramTypes.insert(paramTypes.end(), types.begin(), types.end());
  RegionId region = begin(paramTypes);
  const std::vector<ValueId>& values = params(region);
  std::vector<ValueId> next = body(values[0], std::vector<ValueId>(values.begin() + 1, values.end()));
  end(std::move(next));
  carried.insert(carried.begin(), {first, last});
  return results(stmt(StmtKind::For, std::move(carried), types, attr, {region}));
}

} // namespace melix::loops
