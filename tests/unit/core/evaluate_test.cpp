// Units of reductions, and the corners of conversion.
#include "core/analysis/evaluate.h"

#include "core/ir/monoid.h"
#include "core/order/order.h"

#include <gtest/gtest.h>

namespace melix::core {
namespace {

constexpr TypeKind integers[] = {TypeKind::I8, TypeKind::I16, TypeKind::I32, TypeKind::I64,
                                 TypeKind::U8, TypeKind::U16, TypeKind::U32, TypeKind::U64};
constexpr TypeKind floats[] = {TypeKind::F16, TypeKind::BF16, TypeKind::F32, TypeKind::F64};

void expectUnit(MonoidKind monoid, TypeKind kind, uint64_t bits) {
  const ScalarFunction combine = scalarFunction(combiningOp(monoid), kind);
  ASSERT_NE(combine, nullptr);
  const uint64_t x = extendedBits(kind, bits), unit = extendedBits(kind, unitOf(monoid, kind));
  EXPECT_EQ(combine(unit, x, 0), x) << types::scalarName(kind) << " " << static_cast<int>(monoid);
  EXPECT_EQ(combine(x, unit, 0), x) << types::scalarName(kind) << " " << static_cast<int>(monoid);
}

TEST(Evaluate, UnitsChangeNothing) {
  for (const MonoidInfo& row : ops::monoids()) {
    const MonoidKind monoid = row.kind;
    if (!infoOf(monoid).op) continue;
    for (TypeKind kind : integers)
      for (uint64_t bits : {uint64_t(0), uint64_t(1), uint64_t(0x7F), uint64_t(0x80), ~uint64_t(0)})
        expectUnit(monoid, kind, bits);
    if (monoid == MonoidKind::And || monoid == MonoidKind::Or) continue;
    for (TypeKind kind : floats)
      for (double v : {0.0, 1.5, -3.0, HUGE_VAL, -HUGE_VAL}) expectUnit(monoid, kind, floatBits(kind, v));
  }
  for (MonoidKind monoid : {MonoidKind::And, MonoidKind::Or})
    for (uint64_t bits : {0, 1}) expectUnit(monoid, TypeKind::Bool, bits);
}

TEST(Evaluate, KindsOfReductionsAgreeWithTheirOps) {
  for (const MonoidInfo& row : ops::monoids()) {
    const MonoidKind monoid = row.kind;
    const MonoidInfo& info = infoOf(monoid);
    if (info.op) EXPECT_EQ(monoidOf(*info.op), monoid) << info.text;
    if (info.position) EXPECT_EQ(infoOf(*info.position).finds, info.finds) << info.text;
    EXPECT_EQ(isExact(monoid, TypeKind::F64), info.op && !info.rounds) << info.text;
    EXPECT_EQ(isExact(monoid, TypeKind::I64), info.op.has_value()) << info.text;
  }
  EXPECT_EQ(monoidOf(OpKind::Sub), std::nullopt);
  EXPECT_TRUE(isOrdered(MonoidKind::Prod, OrderKind::Chain, TypeKind::F32));
  EXPECT_FALSE(isOrdered(MonoidKind::Prod, OrderKind::Chain, TypeKind::I32));
  EXPECT_FALSE(isOrdered(MonoidKind::Combine, OrderKind::Chain, TypeKind::F32)); // has no blocks
}

TEST(Evaluate, AnOrderedSumOfANegativeZeroKeepsItsSign) {
  for (TypeKind kind : floats) {
    const uint64_t zero = floatBits(kind, -0.0);
    EXPECT_EQ(scalarFunction(OpKind::Add, kind)(firstTotal(MonoidKind::Sum, kind), zero, 0), zero);
    EXPECT_EQ(firstTotal(MonoidKind::Prod, kind), floatBits(kind, 1.0));
  }
}

TEST(Evaluate, ConversionsToIntegersSaturateAndWrapKeepsLowBits) {
  using ops::ConvertMode;
  auto fromFloat = [](TypeKind to, double v) {
    return static_cast<int64_t>(
        convertedBits(TypeKind::F64, to, ConvertMode::Saturate, floatBits(TypeKind::F64, v)));
  };
  EXPECT_EQ(fromFloat(TypeKind::I8, 300.7), 127);
  EXPECT_EQ(fromFloat(TypeKind::I8, -300.7), -128);
  EXPECT_EQ(fromFloat(TypeKind::I8, -1.9), -1);
  EXPECT_EQ(fromFloat(TypeKind::U8, -1.0), 0);
  EXPECT_EQ(fromFloat(TypeKind::U8, 255.5), 255);
  EXPECT_EQ(fromFloat(TypeKind::I64, HUGE_VAL), INT64_MAX);
  EXPECT_EQ(fromFloat(TypeKind::I64, -HUGE_VAL), INT64_MIN);
  EXPECT_EQ(static_cast<uint64_t>(fromFloat(TypeKind::U64, HUGE_VAL)), UINT64_MAX);
  EXPECT_EQ(fromFloat(TypeKind::I32, std::nan("")), 0);

  auto fromInteger = [](TypeKind from, TypeKind to, ConvertMode mode, int64_t v) {
    return static_cast<int64_t>(convertedBits(from, to, mode, static_cast<uint64_t>(v)));
  };
  EXPECT_EQ(fromInteger(TypeKind::I64, TypeKind::U8, ConvertMode::Saturate, 257), 255);
  EXPECT_EQ(fromInteger(TypeKind::I64, TypeKind::U8, ConvertMode::Saturate, -1), 0);
  EXPECT_EQ(fromInteger(TypeKind::I64, TypeKind::I8, ConvertMode::Saturate, -1000), -128);
  EXPECT_EQ(fromInteger(TypeKind::U64, TypeKind::I64, ConvertMode::Saturate, -1), INT64_MAX);
  EXPECT_EQ(fromInteger(TypeKind::I64, TypeKind::U8, ConvertMode::Wrap, 257), 1);
  EXPECT_EQ(fromInteger(TypeKind::I64, TypeKind::I8, ConvertMode::Wrap, 0x80), -128);
}

TEST(Evaluate, AnIntegerBecomesAFloatWithOneRounding) {
  // In f64 first it would be halfway between two f32, and then round to the even one below.
  constexpr uint64_t above = (uint64_t(1) << 60) + (uint64_t(1) << 36) + 1;
  EXPECT_EQ(convertedBits(TypeKind::U64, TypeKind::F32, ops::ConvertMode::Saturate, above),
            floatBits(TypeKind::F32, std::ldexp(1.0, 60) + std::ldexp(1.0, 37)));
}

} // namespace
} // namespace melix::core
