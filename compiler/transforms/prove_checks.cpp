#include "transforms/prove_checks.h"

#include "transforms/fold_scalars.h"

namespace melix::transforms {

using namespace core;

namespace {

struct Range {
  DimId low, high;
};

class Prover {
public:
  Prover(Module& m, const Function& f) : f_(f), types_(m.types), dims_(m.types.dims) {}

  bool holds(const Op& op) {
    auto value = [&](size_t k) { return op.operands[k]; };
    switch (op.as<CheckAttr>().kind) {
    case CheckKind::Index: {
      std::optional<Range> r = range(value(0), 8);
      return r && dims_.atLeast(r->low, 0) && dims_.atLeast(dims_.sub(op.dims[0], r->high), 1);
    }
    case CheckKind::Slice: {
      std::optional<Range> a = range(value(0), 8), b = range(value(1), 8);
      return a && b && dims_.atLeast(a->low, 0) && dims_.atLeast(dims_.sub(b->low, a->high), 0) &&
             dims_.atLeast(dims_.sub(op.dims[0], b->high), 0);
    }
    case CheckKind::DimEqual: return op.dims[0] == op.dims[1];
    case CheckKind::DimNonNegative: return dims_.atLeast(op.dims[0], 0);
    case CheckKind::NotEmpty: return dims_.atLeast(op.dims[0], 1);
    case CheckKind::Divisor: {
      std::optional<int64_t> c = integer(value(0));
      std::optional<Range> r = range(value(0), 8);
      return (c && *c != 0) || (r && dims_.atLeast(r->low, 1));
    }
    case CheckKind::DivideOverflow: {
      std::optional<int64_t> c = integer(value(1));
      std::optional<Range> r = range(value(1), 8);
      return (c && *c != -1) || (r && dims_.atLeast(r->low, 0));
    }
    case CheckKind::Exponent: {
      std::optional<int64_t> c = integer(value(0));
      return c && *c >= 0;
    }
    case CheckKind::Assert: {
      std::optional<int64_t> c = integer(value(0));
      return c && *c != 0;
    }
    case CheckKind::ListIndex:
    case CheckKind::Converts: return false;
    }
    return false;
  }

private:
  const Op* def(ValueId v) const { return f_.values[v].def.valid() ? &f_.ops[f_.values[v].def] : nullptr; }

  std::optional<int64_t> integer(ValueId v) const {
    const Op* op = def(v);
    TypeKind kind = types_.kind(f_.typeOf(v));
    if (!op || op->kind != OpKind::Const || !(types::isIntKind(kind) || kind == TypeKind::Bool))
      return std::nullopt;
    return signedBits(kind, op->as<Constant>().bits);
  }

  /// Bounds of an i64 as dimensions. Sums of dimensions are taken not to wrap: they are sizes of arrays that
  /// exist.
  std::optional<Range> range(ValueId v, int depth) {
    if (depth == 0 || f_.typeOf(v) != types_.int64()) return std::nullopt;
    if (std::optional<int64_t> c = integer(v)) return Range{dims_.constant(*c), dims_.constant(*c)};
    const Op* op = def(v);
    if (!op) return index(v, depth);
    switch (op->kind) {
    case OpKind::DimValue: return Range{op->dims[0], op->dims[0]};
    case OpKind::Add:
    case OpKind::Sub: {
      std::optional<Range> a = range(op->operands[0], depth - 1), b = range(op->operands[1], depth - 1);
      if (!a || !b) return std::nullopt;
      if (op->kind == OpKind::Add) return Range{dims_.add(a->low, b->low), dims_.add(a->high, b->high)};
      return Range{dims_.sub(a->low, b->high), dims_.sub(a->high, b->low)};
    }
    case OpKind::Mul: {
      std::optional<int64_t> c = integer(op->operands[1]);
      ValueId other = op->operands[0];
      if (!c) {
        c = integer(op->operands[0]);
        other = op->operands[1];
      }
      std::optional<Range> a = range(other, depth - 1);
      if (!c || *c < 0 || !a) return std::nullopt;
      DimId k = dims_.constant(*c);
      return Range{dims_.mul(a->low, k), dims_.mul(a->high, k)};
    }
    default: return std::nullopt;
    }
  }

  /// An axis of a nest or the index of a loop: 0 to the extent.
  std::optional<Range> index(ValueId v, int depth) {
    const Value& value = f_.values[v];
    OpId parent = f_.regions[value.region].parent;
    if (!parent.valid()) return std::nullopt;
    const Op& op = f_.ops[parent];
    DimId one = dims_.constant(1);
    if (op.kind == OpKind::Nest && value.region == op.regions[0] && value.index < op.dims.size())
      return Range{dims_.constant(0), dims_.sub(op.dims[value.index], one)};
    if (op.kind == OpKind::For && value.index == 0) {
      std::optional<Range> count = range(op.operands[0], depth - 1);
      if (count) return Range{dims_.constant(0), dims_.sub(count->high, one)};
    }
    return std::nullopt;
  }

  const Function& f_;
  types::TypeStore& types_;
  types::DimStore& dims_;
};

} // namespace

bool isProved(Module& m, const Function& f, const Op& check) { return Prover(m, f).holds(check); }

} // namespace melix::transforms
