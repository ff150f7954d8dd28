#include "transforms/predication/zero_analysis.h"

#include "core/ir/nest.h"
#include "core/ir/walk.h"

#include <algorithm>
#include <limits>

namespace melix::transforms {

using namespace core;

namespace {

constexpr int mostElementOps = 16; ///< ops that make an element

/// What a number is where the mask does not hold.
enum class ValueKind : uint8_t { Other, MinusInfinity, Zero };
/// Elements of an array, at indices that are values of the nest that reads them.
class Elements {
public:
  Elements(const Module& m, const Function& f) : m_(m), f_(f) {}

  Zeros zeros;

  ValueKind of(ValueId array, std::vector<ValueId> indices, int depth = mostElementOps) {
    const OpId def = f_.values[array].def;
    if (!def.valid() || depth == 0 || f_.ops[def].kind != OpKind::Nest) return ValueKind::Other;
    const NestView nest(f_, f_.ops[def]);
    for (const NestPart& part : nest.parts()) {
      if (nest.results(part)[0] != array) continue;
      if (part.spec->kind != NestResultKind::Collect || part.spec->keep != collecting(nest.axes()).keep ||
          indices.size() < nest.axes())
        return ValueKind::Other;
      for (size_t k = 0; k < nest.axes(); ++k) {
        const auto known = zeros.at.try_emplace(nest.axisParams()[k], indices[k]).first;
        if (known->second != indices[k]) return ValueKind::Other;
      }
      indices.erase(indices.begin(), indices.begin() + static_cast<std::ptrdiff_t>(nest.axes()));
      const ValueId made = nest.yields(part)[0];
      return indices.empty() ? number(made, depth - 1) : of(made, std::move(indices), depth - 1);
    }
    return ValueKind::Other;
  }

  ValueKind number(ValueId v, int depth = mostElementOps) {
    const Op* op = defOf(v);
    if (!op || depth == 0) return ValueKind::Other;
    auto operand = [&](size_t k) { return number(op->operands[k], depth - 1); };
    switch (op->kind) {
    case OpKind::Zero: return ValueKind::Zero;
    case OpKind::Const: return constant(*op, v);
    case OpKind::StopGradient: return operand(0);
    case OpKind::Get: {
      std::vector<ValueId> indices;
      for (ValueId index : std::span(op->operands).subspan(1)) {
        const auto known = zeros.at.find(index);
        if (known == zeros.at.end()) return ValueKind::Other;
        indices.push_back(known->second);
      }
      return m_.types.isScalar(f_.typeOf(v)) ? of(op->operands[0], std::move(indices), depth - 1)
                                             : ValueKind::Other;
    }
    case OpKind::Select: return choice(op->operands[0], op->operands[2], depth);
    case OpKind::If: {
      const auto k = static_cast<size_t>(std::ranges::find(op->results, v) - op->results.begin());
      return choice(op->operands[0], terminator(f_, op->regions[1]).operands[k], depth);
    }
    case OpKind::Math: {
      const bool isExp = static_cast<ops::MathKind>(op->index()) == ops::MathKind::Exp;
      return isExp && operand(0) == ValueKind::MinusInfinity ? ValueKind::Zero : ValueKind::Other;
    }
    case OpKind::Sub:
      return operand(0) == ValueKind::MinusInfinity
                 ? needing(NeedKind::AboveMinusInfinity, op->operands[1], ValueKind::MinusInfinity)
                 : ValueKind::Other;
    case OpKind::Div:
      return operand(0) == ValueKind::Zero ? needing(NeedKind::NotZero, op->operands[1], ValueKind::Zero)
                                           : ValueKind::Other;
    case OpKind::Mul:
      for (size_t k : {0, 1})
        if (operand(k) == ValueKind::Zero)
          return needing(NeedKind::Finite, op->operands[1 - k], ValueKind::Zero);
      return ValueKind::Other;
    default: return ValueKind::Other;
    }
  }

private:
  const Op* defOf(ValueId v) const {
    const OpId def = f_.values[v].def;
    return def.valid() ? &f_.ops[def] : nullptr;
  }
  ValueKind constant(const Op& op, ValueId v) const {
    const TypeKind kind = m_.types.kind(f_.typeOf(v));
    if (!types::isFloatKind(kind)) return ValueKind::Other;
    const double number = floatValue(kind, op.as<Constant>().bits);
    if (number == 0) return ValueKind::Zero;
    return number == -std::numeric_limits<double>::infinity() ? ValueKind::MinusInfinity : ValueKind::Other;
  }
  ValueKind choice(ValueId condition, ValueId otherwise, int depth) {
    if (zeros.mask.valid() && zeros.mask != condition) return ValueKind::Other;
    zeros.mask = condition;
    return number(otherwise, depth - 1);
  }
  ValueKind needing(NeedKind kind, ValueId v, ValueKind is) {
    for (const Op* op = defOf(v); op && op->kind == OpKind::StopGradient; op = defOf(v)) v = op->operands[0];
    zeros.needs.push_back({kind, v});
    return is;
  }

  const Module& m_;
  const Function& f_;
};

std::optional<Zeros> found(Elements& elements, ValueKind kind) {
  if (kind != ValueKind::Zero || !elements.zeros.mask.valid()) return std::nullopt;
  return std::move(elements.zeros);
}

} // namespace

std::optional<Zeros> zerosOf(const Module& m, const Function& f, ValueId array,
                             std::vector<ValueId> indices) {
  Elements elements(m, f);
  return found(elements, elements.of(array, std::move(indices)));
}

std::optional<Zeros> zerosOfNumber(const Module& m, const Function& f, OpId nest, ValueId number) {
  Elements elements(m, f);
  for (ValueId axis : NestView(f, f.ops[nest]).axisParams()) elements.zeros.at.emplace(axis, axis);
  return found(elements, elements.number(number));
}

} // namespace melix::transforms
