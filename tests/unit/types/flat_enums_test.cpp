// Which enums lie flat, and the slots of their cases.
#include "types/flat_enums.h"

#include "types/leaves.h"

#include <gtest/gtest.h>

namespace melix::types {
namespace {

class FlatEnums : public ::testing::Test {
protected:
  using Fields = std::vector<TypeId>;

  Interner interner;
  TypeStore types{interner};
  DimSym n = types.dims.newSym({"N", DimSymKind::Parameter, 0, {}});
  TypeId f64 = types.scalar(TypeKind::F64), f32 = types.scalar(TypeKind::F32), bools = types.boolean();

  EnumCase caseOf(const Fields& fields) {
    EnumCase out;
    for (TypeId field : fields) out.fields.push_back({{}, field});
    return out;
  }
  RecordId declare(const std::vector<Fields>& cases, bool isEnum = true, bool isSized = false) {
    Record record;
    record.isEnum = isEnum;
    if (isSized) record.dimParams = {n};
    for (const Fields& fields : cases) record.cases.push_back(caseOf(fields));
    return types.addRecord(record);
  }
  TypeId enumOf(const std::vector<Fields>& cases) { return types.record(declare(cases), {}); }
  TypeId structOf(const Fields& fields) { return types.record(declare({fields}, false), {}); }
  TypeId array(TypeId element, int64_t size) { return types.array(element, {types.dims.constant(size)}); }
  std::vector<TypeId> partTypes(TypeId product) {
    std::vector<TypeId> out;
    for (uint32_t k = 0; k < partsOf(types, product); ++k) out.push_back(partOf(types, product, k));
    return out;
  }
};

TEST_F(FlatEnums, TheTagIsAsNarrowAsTheCasesAllow) {
  EXPECT_EQ(partTypes(enumOf({{}})), Fields{bools});
  EXPECT_EQ(partTypes(enumOf({{}, {}})), Fields{bools});
  EXPECT_EQ(partTypes(enumOf({{}, {}, {}})), Fields{types.scalar(TypeKind::U8)});
  EXPECT_EQ(partTypes(enumOf(std::vector<Fields>(256))), Fields{types.scalar(TypeKind::U8)});
  EXPECT_EQ(partTypes(enumOf(std::vector<Fields>(257))), Fields{types.scalar(TypeKind::I32)});
}

TEST_F(FlatEnums, ScalarsAndTextsShareSlotsOfTheirType) {
  const TypeId t = enumOf({{f64, types.str()}, {f64, f64}, {f32, types.str()}});
  EXPECT_EQ(partTypes(t), (Fields{types.scalar(TypeKind::U8), f64, types.str(), f64, f32}));
  using Slots = std::vector<std::vector<uint32_t>>;
  EXPECT_EQ(flatEnum(types, t)->slotsOf, (Slots{{0, 1}, {0, 2}, {3, 1}}));
}

TEST_F(FlatEnums, OtherLeavesHaveSlotsOfTheirOwn) {
  const TypeId list = types.list(f64), rows = array(f64, 3);
  EXPECT_EQ(partTypes(enumOf({{list, rows}, {list, rows}})), (Fields{bools, list, rows, list, rows}));
}

TEST_F(FlatEnums, FieldsAreTheirLeaves) {
  const TypeId inner = enumOf({{}, {f64}}), body = structOf({f64, array(f64, 3)});
  EXPECT_EQ(partTypes(enumOf({{body}, {inner, f64}})), (Fields{bools, f64, array(f64, 3), bools, f64}));
  EXPECT_EQ(
      partTypes(enumOf({{array(body, 2)}, {}})),
      (Fields{bools, array(f64, 2), types.array(f64, {types.dims.constant(2), types.dims.constant(3)})}));
  EXPECT_EQ(partTypes(enumOf({{types.unit()}, {}})), (Fields{bools, types.unit()}));
}

TEST_F(FlatEnums, ArraysOfThemAreArraysOfTheParts) {
  EXPECT_EQ(partTypes(array(enumOf({{}, {f64}}), 4)), (Fields{array(bools, 4), array(f64, 4)}));
}

TEST_F(FlatEnums, OnlyDeclaredSizesLieInPlace) {
  const RecordId sized = declare({{types.array(f64, {types.dims.symbol(n)})}, {}}, true, true);
  EXPECT_EQ(flatEnum(types, types.record(sized, {types.dims.constant(3)})), nullptr);
  const RecordId lists = declare({{types.list(types.array(f64, {types.dims.symbol(n)}))}, {}}, true, true);
  const TypeId of3 = types.record(lists, {types.dims.constant(3)});
  EXPECT_EQ(partTypes(of3), (Fields{bools, types.list(array(f64, 3))}));
}

TEST_F(FlatEnums, LargeOnesAreBoxed) {
  EXPECT_NE(flatEnum(types, enumOf({Fields(16, f64), {}})), nullptr);
  EXPECT_EQ(flatEnum(types, enumOf({Fields(17, f64), {}})), nullptr);
  EXPECT_NE(flatEnum(types, enumOf({{array(f64, 32)}, {}})), nullptr);
  EXPECT_EQ(flatEnum(types, enumOf({{array(f64, 33)}, {}})), nullptr);
  EXPECT_EQ(flatEnum(types, enumOf({{array(types.str(), 1)}, {}})), nullptr);
}

TEST_F(FlatEnums, ThoseThatHoldThemselvesAndTangentsAreBoxed) {
  Record tree;
  tree.isEnum = true;
  const RecordId id = types.addRecord(tree);
  const TypeId type = types.record(id, {});
  EXPECT_EQ(flatEnum(types, type), nullptr); // its cases are not known yet
  types.recordInfo(id).cases = {caseOf({f64}), caseOf({types.list(structOf({type}))})};
  EXPECT_EQ(flatEnum(types, type), nullptr);
  EXPECT_EQ(partTypes(enumOf({{type}, {}})), (Fields{bools, type}));
  const RecordId tangent = declare({{}, {f64}});
  types.recordInfo(tangent).tangentOf = id;
  EXPECT_EQ(flatEnum(types, types.record(tangent, {})), nullptr);
}

TEST_F(FlatEnums, TypesMadeOfSharedPartsAreFoundBoxedAtOnce) {
  TypeId large = f64;
  for (int k = 0; k < 60; ++k) large = types.tuple({large, large});
  EXPECT_EQ(flatEnum(types, enumOf({{large}, {}})), nullptr);
}

} // namespace
} // namespace melix::types
