// Folding gives what the interpreter computes: every scalar op, on every kind that it takes.
#include "core/analysis/evaluate.h"
#include "core/order/verify.h"
#include "core/text/text_words.h"
#include "interp/interp.h"
#include "transforms/simplify/fold_scalars.h"

#include <algorithm>
#include <gtest/gtest.h>
#include <limits>

namespace melix::transforms {
namespace {

using namespace core;
using interp::Value;

/// Scalar ops that are not folded here: functions of their own, a choice, a change of type.
constexpr OpKind exempt[] = {OpKind::Math, OpKind::Select, OpKind::Bitcast};

std::vector<OpKind> scalarOps() {
  std::vector<OpKind> out;
  for (auto k = static_cast<unsigned>(OpKind::Add); k <= static_cast<unsigned>(OpKind::Bitcast); ++k)
    if (auto op = static_cast<OpKind>(k);
        std::find(std::begin(exempt), std::end(exempt), op) == std::end(exempt))
      out.push_back(op);
  return out;
}

/// Bits that are something special for some kind of the width.
std::vector<uint64_t> samples(TypeKind kind) {
  if (kind == TypeKind::Bool) return {0, 1};
  if (kind == TypeKind::Char) return {0, 'a', 'b', 0x1F600};
  std::vector<uint64_t> out;
  if (types::isFloatKind(kind)) {
    constexpr double inf = std::numeric_limits<double>::infinity();
    for (double v : {0.0, -0.0, 1.0, -1.5, 2.5, 1.0 / 3, 300.7, 1e-7, -inf, std::nan("")})
      out.push_back(floatBits(kind, v));
    return out;
  }
  const uint64_t top = uint64_t(1) << (types::scalarBits(kind) - 1);
  for (uint64_t v : {uint64_t(0), uint64_t(1), uint64_t(3), uint64_t(7), top - 1, top, top + 1, ~uint64_t(0),
                     ~uint64_t(2)})
    out.push_back(lowBits(kind, v));
  return out;
}

std::vector<TypeKind> scalarKinds() {
  std::vector<TypeKind> out;
  for (auto k = static_cast<unsigned>(TypeKind::Bool); k <= static_cast<unsigned>(TypeKind::F64); ++k)
    out.push_back(static_cast<TypeKind>(k));
  return out;
}

/// A function of `arity` parameters that is one op.
struct OneOp {
  Interner names;
  types::TypeStore types{names};
  Module module{types};
  FunctionId function;
  OpId op;

  OneOp(OpKind kind, uint32_t detail, bool hasDetail, TypeKind from, TypeKind to, size_t arity) {
    Function f;
    f.name = f.key = "f";
    f.body = f.regions.add(Region{});
    f.results = {types.scalar(to)};
    const RegionId body = f.body;
    function = module.functions.add(std::move(f));
    Builder b(module, function, body, module.locs.add(Loc{}));
    std::vector<ValueId> operands;
    for (size_t k = 0; k < arity; ++k) operands.push_back(b.param(types.scalar(from)));
    op = b.append(Builder::simple(kind, operands, hasDetail ? Attr(detail) : Attr()), {types.scalar(to)});
    b.yield({b.result(op)});
  }
};

class FoldScalars {
public:
  /// Every op that the verifier takes, on all samples.
  void compare(OpKind kind, TypeKind from, TypeKind to) {
    uint32_t details = 0;
    while (!indexWord(kind, details).empty()) ++details;
    for (uint32_t detail = 0; detail < std::max(details, 1u); ++detail)
      for (size_t arity = 1; arity <= 3; ++arity) {
        OneOp made(kind, detail, details > 0, from, to, arity);
        if (!verify(made.module).empty()) continue;
        taken_ = true;
        interp::Program program(made.module, {});
        std::vector<uint64_t> operands(arity);
        compareFrom(made, program, from, to, operands, 0);
      }
  }
  bool taken() const { return taken_; }

private:
  void compareFrom(OneOp& made, interp::Program& program, TypeKind from, TypeKind to,
                   std::vector<uint64_t>& operands, size_t k) {
    if (k == operands.size()) return compareOn(made, program, from, to, operands);
    for (uint64_t bits : samples(from)) {
      operands[k] = bits;
      compareFrom(made, program, from, to, operands, k + 1);
    }
  }

  void compareOn(OneOp& made, interp::Program& program, TypeKind from, TypeKind to,
                 const std::vector<uint64_t>& operands) {
    const Op& op = made.module.functions[made.function].ops[made.op];
    std::vector<Value> args;
    std::string shown;
    for (uint64_t bits : operands) {
      args.push_back(Value::ofBits(from, bits));
      shown += " " + std::to_string(bits);
    }
    const auto ran = program.run(made.function, std::move(args));
    const std::optional<uint64_t> folded = foldScalar(op, from, to, operands);
    SCOPED_TRACE(std::string(ops::opText(op.kind)) + shown + " of " + std::string(types::scalarName(from)) +
                 " : " + std::string(types::scalarName(to)));
    const uint64_t bits = ran.panicked ? 0 : lowBits(to, ran.values[0].slot().u);
    const bool isNan = types::isFloatKind(to) && std::isnan(floatValue(to, bits)); // left to run time
    EXPECT_EQ(folded.has_value(), !ran.panicked && !isNan) << ran.panic.message;
    if (folded) {
      EXPECT_EQ(*folded, bits);
    }
  }

  bool taken_ = false;
};

TEST(FoldScalars, IsWhatTheInterpreterComputes) {
  for (OpKind op : scalarOps()) {
    FoldScalars test;
    for (TypeKind from : scalarKinds())
      for (TypeKind to : scalarKinds())
        if (to == from || op == OpKind::Convert || (op == OpKind::Cmp && to == TypeKind::Bool))
          test.compare(op, from, to);
    EXPECT_TRUE(test.taken()) << ops::opText(op) << " takes no kind";
  }
}

/// An fma may round less than a product and a sum.
TEST(FoldScalars, RoundedProductsAreTold) {
  const Op mul = Builder::simple(OpKind::Mul, {}), add = Builder::simple(OpKind::Add, {});
  auto rounded = [&](const Op& op, TypeKind kind, double x, double y) {
    return isRoundedProduct(op, kind, {floatBits(kind, x), floatBits(kind, y)});
  };
  EXPECT_TRUE(rounded(mul, TypeKind::F32, 4097, 4097));
  EXPECT_FALSE(rounded(mul, TypeKind::F64, 4097, 4097));
  EXPECT_TRUE(rounded(mul, TypeKind::F64, 0.1, 3));
  EXPECT_TRUE(rounded(mul, TypeKind::F64, 1e300, 1e300));
  EXPECT_TRUE(rounded(mul, TypeKind::F64, 1e-200, 1e-200));
  EXPECT_FALSE(rounded(mul, TypeKind::F64, HUGE_VAL, 3));
  EXPECT_FALSE(rounded(mul, TypeKind::F64, -0.0, 3));
  EXPECT_FALSE(rounded(mul, TypeKind::F64, -1, 0.1));
  EXPECT_FALSE(rounded(mul, TypeKind::F16, 0.1, 0.1)); // no fma takes it
  EXPECT_FALSE(rounded(add, TypeKind::F64, 0.1, 3));
}

} // namespace
} // namespace melix::transforms
