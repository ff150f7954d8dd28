#include "transforms/simplify.h"

#include "core/clone.h"
#include "core/ranges.h"
#include "core/walk.h"
#include "transforms/dce.h"
#include "transforms/fold_scalars.h"

#include <algorithm>

namespace melix::transforms {

using namespace core;

namespace {

class Folder {
public:
  Folder(Module& m, FunctionId id) : m_(m), id_(id), f_(m.functions[id]), types_(m.types), ranges_(m, f_) {}

  bool run() {
    region(f_.body);
    replaceAll(m_, id_, replaced_);
    return changed_;
  }

private:
  using Known = std::unordered_map<std::string, std::vector<ValueId>>;

  ValueId resolve(ValueId v) const {
    for (auto it = replaced_.values.find(v); it != replaced_.values.end(); it = replaced_.values.find(v))
      v = it->second;
    return v;
  }
  const Op* defOf(ValueId v, OpKind kind) const {
    OpId def = f_.values[v].def;
    return def.valid() && f_.ops[def].kind == kind ? &f_.ops[def] : nullptr;
  }
  std::optional<uint64_t> constantOf(ValueId v) const {
    const Op* op = defOf(v, OpKind::Const);
    if (!op || types_.kind(f_.typeOf(v)) == TypeKind::Str) return std::nullopt;
    return op->as<Constant>().bits;
  }
  bool isConstant(ValueId v, int64_t value) const {
    std::optional<uint64_t> bits = constantOf(v);
    return bits && types_.isInt(f_.typeOf(v)) && signedBits(types_.kind(f_.typeOf(v)), *bits) == value;
  }

  void region(RegionId r) {
    known_.emplace_back();
    size_t mark = ranges_.enter(r);
    const std::vector<OpId> list = f_.regions[r].ops; // stays there while its ops are looked at
    std::vector<OpId> out;
    splice(list, out);
    f_.regions[r].ops = std::move(out);
    ranges_.leave(mark);
    known_.pop_back();
  }

  void splice(const std::vector<OpId>& list, std::vector<OpId>& out) {
    for (OpId id : list) {
      for (ValueId& v : f_.ops[id].operands) v = resolve(v);
      if (step(id, out)) {
        changed_ = true;
        continue;
      }
      ranges_.define(f_.ops[id]);
      out.push_back(id);
    }
  }

  void replace(const Op& op, size_t k, ValueId by) { replaced_.values.emplace(op.results[k], resolve(by)); }

  /// Whether the op is gone: its results stand for other values, or its region's ops were put in `out`.
  bool step(OpId id, std::vector<OpId>& out) {
    Op& op = f_.ops[id];
    if (op.kind == OpKind::Yield) return false;
    if (op.kind == OpKind::If && chooseArm(id, out)) return true;
    if (op.kind == OpKind::Match && chooseCase(id, out)) return true;
    if (op.kind == OpKind::Nest && onePoint(id, out)) return true;
    if (op.kind == OpKind::Check && ranges_.isProved(op)) return true;
    for (size_t k = 0; k < f_.ops[id].regions.size(); ++k) region(f_.ops[id].regions[k]);
    if (op.kind == OpKind::If) sameInBothArms(op);
    if (op.kind == OpKind::Get) readInPlace(op, out);
    if (identity(op) || bindKnown(op)) return true;
    constants(op);
    return common(op);
  }

  // --- branches
  // ---------------------------------------------------------------------------------------------------

  bool takeRegion(const Op& op, RegionId r, std::vector<OpId>& out) {
    const std::vector<ValueId> results = op.results;
    const std::vector<DimSym> resultDims = op.resultDims;
    std::vector<OpId> inner = f_.regions[r].ops;
    OpId end = inner.back();
    inner.pop_back();
    splice(inner, out);
    for (size_t k = 0; k < results.size(); ++k)
      replaced_.values.emplace(results[k], resolve(f_.ops[end].operands[k]));
    for (size_t k = 0; k < resultDims.size(); ++k)
      replaced_.dims.insert_or_assign(resultDims[k], f_.ops[end].dims[k]);
    return true;
  }
  bool chooseArm(OpId id, std::vector<OpId>& out) {
    const Op op = f_.ops[id];
    std::optional<uint64_t> c = constantOf(op.operands[0]);
    return c && takeRegion(op, op.regions[*c ? 0 : 1], out);
  }
  bool chooseCase(OpId id, std::vector<OpId>& out) {
    const Op op = f_.ops[id];
    const Op* made = defOf(op.operands[0], OpKind::Variant);
    if (!made) return false;
    RegionId r = op.regions[op.as<MatchAttr>().regionOf[made->index()]];
    const std::vector<ValueId> params = f_.regions[r].params;
    for (size_t k = 0; k < params.size(); ++k)
      replaced_.values.emplace(params[k], resolve(made->operands[k]));
    return takeRegion(op, r, out);
  }
  /// A nest of no axes is its body, unless its accumulators begin here.
  bool onePoint(OpId id, std::vector<OpId>& out) {
    const Op op = f_.ops[id];
    if (!op.dims.empty()) return false;
    for (const NestResult& r : op.as<NestAttr>().results)
      if (r.kind != NestResultKind::Collect) return false;
    for (ValueId v : op.operands)
      if (types_.kind(f_.typeOf(v)) != TypeKind::Acc) return false;
    const std::vector<ValueId> accs = f_.regions[op.regions[0]].params;
    for (size_t k = 0; k < accs.size(); ++k) replaced_.values.emplace(accs[k], resolve(op.operands[k]));
    return takeRegion(op, op.regions[0], out);
  }
  void sameInBothArms(const Op& op) {
    for (size_t k = 0; k < op.results.size(); ++k) {
      ValueId a = resolve(terminator(f_, op.regions[0]).operands[k]),
              b = resolve(terminator(f_, op.regions[1]).operands[k]);
      if (a != b || replaced_.values.contains(op.results[k])) continue;
      if (f_.typeOf(a) != f_.typeOf(op.results[k])) continue;
      replace(op, k, a);
      changed_ = true;
    }
  }

  // --- what was put together
  // --------------------------------------------------------------------------------------

  bool identity(const Op& op) {
    switch (op.kind) {
    case OpKind::CastDims:
      if (f_.typeOf(op.operands[0]) != f_.typeOf(op.results[0])) return false;
      return replace(op, 0, op.operands[0]), true;
    case OpKind::Get: return takeApart(op);
    case OpKind::Capture: {
      const Op* made = defOf(op.operands[0], OpKind::Known);
      if (!made) return false;
      return replace(op, 0, made->operands[op.index()]), true;
    }
    case OpKind::Unpack: return unpack(op);
    case OpKind::Select: {
      std::optional<uint64_t> c = constantOf(op.operands[0]);
      if (!c && op.operands[1] != op.operands[2]) return false;
      return replace(op, 0, op.operands[!c || *c ? 1 : 2]), true;
    }
    case OpKind::Max:
    case OpKind::Min: return extremum(op);
    case OpKind::Convert:
      if (countedUnsigned(op)) return true;
      [[fallthrough]];
    case OpKind::Reshape:
      if (f_.typeOf(op.operands[0]) != f_.typeOf(op.results[0])) return false;
      return replace(op, 0, op.operands[0]), true;
    case OpKind::Not:
    case OpKind::Neg: {
      const Op* inner = defOf(op.operands[0], op.kind);
      if (!inner) return false;
      return replace(op, 0, inner->operands[0]), true;
    }
    default: return arithmetic(op);
    }
  }

  /// Exact for floats too: x · 1, x / 1, x - 0. (x + 0 is not: the sum of -0 and 0 is 0.)
  bool arithmetic(const Op& op) {
    if (op.operands.size() != 2 || op.results.size() != 1) return false;
    ValueId a = op.operands[0], b = op.operands[1];
    TypeKind kind = types_.kind(f_.typeOf(a));
    auto is = [&](ValueId v, int64_t n) {
      std::optional<uint64_t> bits = constantOf(v);
      if (bits && (kind == TypeKind::F32 || kind == TypeKind::F64))
        return *bits == floatBits(kind, static_cast<double>(n));
      return isConstant(v, n);
    };
    bool isInt = types::isIntKind(kind);
    ValueId same;
    if (op.kind == OpKind::Mul && is(b, 1)) same = a;
    if (op.kind == OpKind::Mul && is(a, 1)) same = b;
    if ((op.kind == OpKind::Div || op.kind == OpKind::IDiv) && is(b, 1)) same = a;
    if (op.kind == OpKind::Sub && is(b, 0)) same = a;
    if (op.kind == OpKind::Add && isInt && is(b, 0)) same = a;
    if (op.kind == OpKind::Add && isInt && is(a, 0)) same = b;
    if (isInt && op.kind == OpKind::Mul && is(a, 0)) same = a;
    if (isInt && op.kind == OpKind::Mul && is(b, 0)) same = b;
    if (kind == TypeKind::Bool && (op.kind == OpKind::And || op.kind == OpKind::Or))
      same = connective(op, a, b);
    if (!same.valid()) return false;
    return replace(op, 0, same), true;
  }
  /// Of two i64 one of which is never the lesser.
  bool extremum(const Op& op) {
    if (f_.typeOf(op.results[0]) != types_.int64()) return false;
    ValueId a = op.operands[0], b = op.operands[1];
    bool isMax = op.kind == OpKind::Max;
    if (ranges_.isNoLess(a, b)) return replace(op, 0, isMax ? a : b), true;
    if (ranges_.isNoLess(b, a)) return replace(op, 0, isMax ? b : a), true;
    return false;
  }
  /// An i64 that is not negative, to u64 and back.
  bool countedUnsigned(const Op& op) {
    const Op* inner = defOf(op.operands[0], OpKind::Convert);
    bool back = inner && f_.typeOf(op.results[0]) == types_.int64() &&
                types_.kind(f_.typeOf(op.operands[0])) == TypeKind::U64 &&
                f_.typeOf(inner->operands[0]) == types_.int64();
    if (!back || !ranges_.isNatural(inner->operands[0])) return false;
    return replace(op, 0, inner->operands[0]), true;
  }
  ValueId connective(const Op& op, ValueId a, ValueId b) const {
    bool neutral = op.kind == OpKind::And;
    if (a == b) return a;
    if (std::optional<uint64_t> c = constantOf(a)) return (*c != 0) == neutral ? b : a;
    if (std::optional<uint64_t> c = constantOf(b)) return (*c != 0) == neutral ? a : b;
    return {};
  }

  /// An element of a list that was read out of a place right before is read there: its derivative is then
  /// that of the place, not a list of zeros beside it.
  void readInPlace(Op& op, const std::vector<OpId>& before) {
    Path& path = op.as<Path>();
    const Op* list = defOf(op.operands[0], OpKind::Get);
    auto isElement = [](const PathStep& s) { return s.kind == StepKind::Element; };
    auto isPart = [](const PathStep& s) { return s.kind == StepKind::Slice || s.kind == StepKind::All; };
    if (!list || std::none_of(path.begin(), path.end(), isElement)) return;
    if (std::any_of(list->as<Path>().begin(), list->as<Path>().end(), isPart)) return;
    auto updates = [&](const Op& o) {
      bool update =
          o.kind == OpKind::Set || o.kind == OpKind::AddAt || o.kind == OpKind::Push || o.kind == OpKind::Pop;
      return !o.regions.empty() || (update && o.operands[0] == list->operands[0]);
    };
    for (size_t k = before.size();;) {
      if (k == 0) return;
      const Op& o = f_.ops[before[--k]];
      if (&o == list) break;
      if (updates(o)) return; // it would have to copy what is read later
    }
    const Path& outer = list->as<Path>();
    path.insert(path.begin(), outer.begin(), outer.end());
    op.operands.erase(op.operands.begin());
    op.operands.insert(op.operands.begin(), list->operands.begin(), list->operands.end());
    changed_ = true;
  }

  bool takeApart(const Op& op) {
    const auto& path = op.as<Path>();
    if (path.empty()) return replace(op, 0, op.operands[0]), true;
    if (path[0].kind != StepKind::Field) return false;
    uint32_t k = path[0].number;
    ValueId from = op.operands[0];
    if (path.size() == 1) {
      if (const Op* made = defOf(from, OpKind::Make)) return replace(op, 0, made->operands[k]), true;
    } else if (const Op* made = defOf(from, OpKind::Make)) { // the rest of the path goes on in the part
      Op& own = f_.ops[f_.values[op.results[0]].def];
      own.operands[0] = made->operands[k];
      own.as<Path>().erase(own.as<Path>().begin());
      return changed_ = true, false;
    }
    const Op* update = defOf(from, OpKind::Set);
    if (!update) return false;
    const auto& written = update->as<Path>();
    if (written.empty() || written[0].kind != StepKind::Field) return false;
    if (written[0].number != k) { // another field was replaced
      f_.ops[f_.values[op.results[0]].def].operands[0] = update->operands[0];
      return changed_ = true, false;
    }
    if (written.size() != 1 || path.size() != 1) return false;
    return replace(op, 0, update->operands[1]), true;
  }

  bool unpack(const Op& op) {
    const Op* made = defOf(op.operands[0], OpKind::Pack);
    if (!made) return false;
    for (size_t k = 0; k < op.resultDims.size(); ++k)
      replaced_.dims.insert_or_assign(op.resultDims[k], made->dims[k]);
    return replace(op, 0, made->operands[0]), true;
  }

  bool bindKnown(const Op& op) {
    if (op.kind != OpKind::BindDim) return false;
    const Op* value = defOf(op.operands[0], OpKind::DimValue);
    std::optional<uint64_t> c = constantOf(op.operands[0]);
    if (!c && !(value && ranges_.isExact(value->dims[0]))) return false; // an i64 that wraps is no dimension
    DimId d = value ? value->dims[0] : types_.dims.constant(static_cast<int64_t>(*c));
    replaced_.dims.insert_or_assign(op.resultDims[0], d);
    return true;
  }

  // --- constants
  // --------------------------------------------------------------------------------------------------

  void constants(Op& op) {
    if (op.kind == OpKind::DimValue) {
      if (std::optional<int64_t> c = types_.dims.asConstant(op.dims[0]))
        becomeConstant(op, static_cast<uint64_t>(*c));
      return;
    }
    if (op.results.size() != 1 || op.operands.empty() || !op.regions.empty()) return;
    std::vector<uint64_t> x;
    for (ValueId v : op.operands) {
      std::optional<uint64_t> c = constantOf(v);
      if (!c) return;
      x.push_back(*c);
    }
    std::optional<uint64_t> r =
        foldScalar(op, types_.kind(f_.typeOf(op.operands[0])), types_.kind(f_.typeOf(op.results[0])), x);
    if (r) becomeConstant(op, *r);
  }
  void becomeConstant(Op& op, uint64_t bits) {
    op.kind = OpKind::Const;
    op.operands.clear();
    op.dims.clear();
    op.attr = Constant{bits, {}};
    changed_ = true;
  }

  // --- common subexpressions
  // --------------------------------------------------------------------------------------

  bool common(const Op& op) {
    if (op.kind == OpKind::Unpack) return openedBefore(op);
    bool check = op.kind == OpKind::Check;
    if (!check && ops::opEffect(op.kind) != ops::EffectKind::None) return false;
    if (!op.resultDims.empty() || op.kind == OpKind::Undef || op.kind == OpKind::Zero) return false;
    if (op.operands.empty() && op.kind != OpKind::Const && op.kind != OpKind::DimValue && !check)
      return false;
    for (ValueId v : op.operands)
      if (types_.kind(f_.typeOf(v)) == TypeKind::Acc) return false;
    std::string key = keyOf(op);
    for (const Known& scope : known_) {
      auto it = scope.find(key);
      if (it == scope.end()) continue;
      for (size_t k = 0; k < op.results.size(); ++k) replace(op, k, it->second[k]);
      return true;
    }
    known_.back().emplace(std::move(key), op.results);
    return false;
  }

  /// What is opened twice has the same sizes both times.
  bool openedBefore(const Op& op) {
    std::string key = "unpack " + std::to_string(op.operands[0].index);
    for (const Known& scope : known_) {
      auto it = scope.find(key);
      if (it == scope.end()) continue;
      const Op& first = f_.ops[f_.values[it->second[0]].def];
      for (size_t k = 0; k < op.resultDims.size(); ++k)
        replaced_.dims.insert_or_assign(op.resultDims[k], types_.dims.symbol(first.resultDims[k]));
      return replace(op, 0, it->second[0]), true;
    }
    known_.back().emplace(std::move(key), op.results);
    return false;
  }

  std::string keyOf(const Op& op) const {
    std::string key(ops::opText(op.kind));
    auto add = [&](auto n) { key += ' ' + std::to_string(n); };
    for (ValueId v : op.operands) add(v.index);
    for (DimId d : op.dims) key += " d", add(d.index);
    for (ValueId v : op.results) key += " t", add(f_.typeOf(v).index);
    if (auto* c = std::get_if<Constant>(&op.attr)) key += " c" + c->text, add(c->bits);
    if (auto* n = std::get_if<uint32_t>(&op.attr)) key += " n", add(*n);
    if (auto* c = std::get_if<CallAttr>(&op.attr)) key += " f", add(c->callee.index);
    if (auto* p = std::get_if<Path>(&op.attr)) {
      for (const PathStep& s : *p) {
        add(static_cast<int>(s.kind));
        add(s.number);
        add(s.length.index);
        add(s.step);
      }
    }
    if (auto* c = std::get_if<CheckAttr>(&op.attr))
      key += c->text, add(static_cast<int>(c->kind)), add(c->type.index);
    if (auto* a = std::get_if<FormatAttr>(&op.attr)) key += a->spec, add(a->quoted);
    return key;
  }

  Module& m_;
  FunctionId id_;
  Function& f_;
  types::TypeStore& types_;
  Ranges ranges_;
  Replacement replaced_;
  std::vector<Known> known_;
  bool changed_ = false;
};

} // namespace

bool foldFunction(Module& m, FunctionId f) { return Folder(m, f).run(); }

void simplify(Module& m) {
  // Folding makes values dead and dead values make folding possible; a few rounds are enough, the bound is a
  // guard.
  for (int round = 0; round < 12; ++round) {
    bool changed = false;
    Effects effects(m);
    for (uint32_t i = 0; i < m.functions.size(); ++i) {
      FunctionId f(i);
      if (!m.functions[f].body.valid()) continue;
      changed |= foldFunction(m, f);
      changed |= eliminateDeadValues(m, f, effects);
    }
    if (!changed) return;
  }
}

} // namespace melix::transforms
