#include "loops/choose_lanes.h"

#include "loops/build.h"
#include "loops/jam_rows.h"
#include "loops/lanes.h"

#include <algorithm>
#include <bit>
#include <limits>

namespace melix::loops {

namespace {

/// What a turn of a loop is made of, as far as it differs between lanes.
struct Body {
  uint32_t bits = 0;    ///< of the widest value
  uint32_t ops = 0;     ///< that make one
  uint32_t carried = 0; ///< values that inner loops carry, at most
};

class BodyReader {
public:
  BodyReader(const Module& module, const Function& fn, const Variance& variance)
      : module_(module), fn_(fn), variance_(variance) {}

  Body body;

  void region(RegionId r) {
    for (StmtId id : fn_.regions[r].stmts) statement(fn_.stmts[id]);
  }

private:
  void statement(const Stmt& s) {
    for (ValueId v : s.results) value(v);
    if (s.kind == StmtKind::Scalar && variance_.of(s.results[0]) == VarianceKind::Varying)
      widest(s.as<ScalarAttr>().from);
    if (s.kind == StmtKind::Store) widest(fn_.typeOf(s.operands.back()).scalar);
    if (s.kind == StmtKind::Call && !variance_.allUniform(s.operands)) callee(s);
    if (s.kind == StmtKind::For || s.kind == StmtKind::While) {
      const auto varying =
          std::ranges::count_if(s.results, [&](ValueId v) { return !variance_.isUniform(v); });
      body.carried = std::max(body.carried, static_cast<uint32_t>(varying));
    }
    for (RegionId r : s.regions) region(r);
  }
  void value(ValueId v) {
    if (variance_.of(v) != VarianceKind::Varying) return;
    ++body.ops;
    const ValueType type = fn_.typeOf(v);
    widest(type.cls == ClassKind::Scalar ? type.scalar : TypeKind::I64);
  }
  void widest(TypeKind kind) {
    if (kind != TypeKind::Bool) body.bits = std::max(body.bits, types::scalarBits(kind));
  }
  void callee(const Stmt& s) {
    const Variance inside = varianceOfCall(module_, s, variance_);
    BodyReader reader(module_, module_.functions[s.as<FunctionId>()], inside);
    reader.region(module_.functions[s.as<FunctionId>()].body);
    body.bits = std::max(body.bits, reader.body.bits);
    body.ops += reader.body.ops;
  }

  const Module& module_;
  const Function& fn_;
  const Variance& variance_;
};

class Chooser {
public:
  Chooser(const Module& module, Function& fn, const Machine& machine)
      : module_(module), fn_(fn), machine_(machine) {}

  /// Whether a loop in the region runs in lanes now.
  bool region(RegionId r) {
    bool any = false;
    const std::vector<StmtId> stmts = fn_.regions[r].stmts;
    for (StmtId id : stmts) {
      bool inside = false;
      const std::vector<RegionId> regions = fn_.stmts[id].regions;
      for (RegionId inner : regions) inside |= region(inner);
      if (inside)
        rows(fn_.stmts[id]);
      else
        inside = loop(fn_.stmts[id]);
      any |= inside;
    }
    return any;
  }

private:
  bool loop(Stmt& s) {
    if (!canWiden(module_, fn_, s)) return false;
    widen(s, 1);
    return s.as<ForAttr>().lanes > 0;
  }

  /// A loop around one in lanes: points of both are done together where that saves reads.
  void rows(Stmt& s) {
    if (s.kind != StmtKind::For || !gainsByRows(module_, fn_, s)) return;
    const std::optional<uint64_t> turns = turnsOf(s);
    const uint32_t rows = turns ? static_cast<uint32_t>(std::min<uint64_t>(*turns, mostRows)) : mostRows;
    if (rows < 2) return;
    s.as<ForAttr>().rows = rows;
    for (StmtId id : fn_.regions[s.regions[0]].stmts)
      if (Stmt& inner = fn_.stmts[id]; inner.kind == StmtKind::For && inner.as<ForAttr>().lanes > 0)
        widen(inner, rows);
  }

  /// As many lanes as suit the loop, of so many points of another one.
  void widen(Stmt& s, uint32_t rows) const {
    const Variance variance(fn_, s);
    BodyReader reader(module_, fn_, variance);
    reader.region(s.regions[0]);
    const Body& body = reader.body;
    if (body.bits == 0) return;
    const uint32_t most = machine_.vectorBits / body.bits;
    const uint64_t turns = turnsOf(s).value_or(std::numeric_limits<uint32_t>::max());
    const auto lanes = static_cast<uint32_t>(std::bit_ceil(std::min<uint64_t>(turns, most)));
    if (turns < fewLanes || lanes < most / 2) return;
    ForAttr& attr = s.as<ForAttr>();
    attr.lanes = lanes;
    attr.unroll = registersOf(body, rows);
    while (attr.unroll > 1 && uint64_t(lanes) * attr.unroll > turns) attr.unroll /= 2;
  }

  /// How many registers a value may take.
  uint32_t registersOf(const Body& body, uint32_t rows) const {
    const uint32_t room = machine_.registers / 2;
    if (body.carried > 0)
      return std::bit_floor(std::clamp(room / (body.carried * rows), 1U, machine_.registers / 4));
    return body.ops <= room / 2 ? 4 : body.ops <= 4 * room ? 2 : 1;
  }

  std::optional<uint64_t> turnsOf(const Stmt& s) const {
    const Builder b(fn_);
    const uint64_t *first = b.asConstant(s.operands[0]), *end = b.asConstant(s.operands[1]);
    if (!first || !end) return std::nullopt;
    return static_cast<uint64_t>(std::max<int64_t>(0, static_cast<int64_t>(*end - *first)));
  }

  static constexpr uint32_t fewLanes = 4, mostRows = 4;

  const Module& module_;
  Function& fn_;
  const Machine& machine_;
};

} // namespace

void chooseLanes(const Module& module, Function& function, const Machine& machine) {
  Chooser(module, function, machine).region(function.body);
}

} // namespace melix::loops
