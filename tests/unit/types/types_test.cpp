// Types are equal iff their ids are; tangents follow rule 40.
#include "types/tangent.h"

#include <gtest/gtest.h>

namespace melix::types {
namespace {

class Types : public ::testing::Test {
protected:
  Interner names;
  TypeStore types{names};
  TypeId f32 = types.scalar(TypeKind::F32), i64 = types.int64();
  DimSym newSym(const char* n) { return types.dims.newSym({n, DimSymKind::Parameter, 0, {}}); }
  DimId sym(const char* n) { return types.dims.symbol(newSym(n)); }
  RecordId add(const char* name, bool isEnum, std::vector<EnumCase> cases, std::vector<DimSym> params = {}) {
    Record r;
    r.name = names.intern(name);
    r.isEnum = isEnum;
    r.cases = std::move(cases);
    r.dimParams = std::move(params);
    return types.addRecord(r);
  }
  Field field(const char* name, TypeId t) { return {names.intern(name), t}; }
};

TEST_F(Types, ArraysOfArraysAreFlat) {
  DimId m = sym("M"), n = sym("N");
  EXPECT_EQ(types.array(types.array(f32, {m}), {n}), types.array(f32, {n, m}));
  EXPECT_EQ(types.array(f32, {}), f32);
  EXPECT_EQ(types.rank(types.array(f32, {n, m})), 2u);
  EXPECT_EQ(types.print(types.array(f32, {n, m})), "f32[N, M]");
}

TEST_F(Types, FieldsTakeTheDimsOfTheRecord) {
  DimSym h = newSym("H");
  RecordId r = add("Layer", false, {{{}, {field("w", types.array(f32, {types.dims.symbol(h)}))}}}, {h});
  TypeId layer = types.record(r, {types.dims.constant(10)});
  EXPECT_EQ(types.print(types.fieldType(layer, 0, 0)), "f32[10]");
  EXPECT_EQ(types.print(layer), "Layer[10]");
}

TEST_F(Types, PacksHideDims) {
  DimSym n = newSym("N"), m = newSym("M");
  TypeId a = types.pack(types.array(f32, {types.dims.symbol(n)}), std::vector{n});
  TypeId b = types.pack(types.array(f32, {types.dims.symbol(m)}), std::vector{m});
  EXPECT_EQ(a, b);
  EXPECT_EQ(types.print(types.list(a)), "List[f32[_]]");
  DimId four = types.dims.constant(4);
  EXPECT_EQ(types.openPack(a, std::vector{four}), types.array(f32, {four}));
}

TEST_F(Types, NestedPacksKeepTheirDimsApart) {
  DimSym n = newSym("N"), m = newSym("M");
  TypeId inner = types.pack(types.array(f32, {types.dims.symbol(n), types.dims.symbol(m)}), std::vector{n});
  TypeId outer = types.pack(types.list(inner), std::vector{m});
  DimId four = types.dims.constant(4);
  TypeId opened = types.openPack(outer, std::vector{four});
  TypeId expected = types.list(types.pack(types.array(f32, {types.dims.symbol(n), four}), std::vector{n}));
  EXPECT_EQ(opened, expected);
  std::vector<DimSym> free;
  types.collectSymbols(outer, free);
  EXPECT_TRUE(free.empty());
}

TEST_F(Types, TangentOfFloatsIsTheTypeItself) {
  TypeId pair = types.tuple({f32, types.array(f32, {sym("N")})});
  EXPECT_EQ(tangentType(types, pair), pair);
  RecordId r = add("Point", false, {{{}, {field("x", f32), field("y", f32)}}});
  EXPECT_EQ(tangentType(types, types.record(r, {})), types.record(r, {}));
}

TEST_F(Types, TangentOfIntegersIsUnit) {
  EXPECT_TRUE(types.isUnit(tangentType(types, i64)));
  EXPECT_TRUE(types.isUnit(tangentType(types, types.array(i64, {sym("N")}))));
  EXPECT_EQ(tangentType(types, types.tuple({i64, f32})), types.tuple({types.unit(), f32}));
}

TEST_F(Types, TangentOfAnEnumHasACaseZero) {
  RecordId r = add("Shape", true, {{names.intern("Circle"), {field("r", f32)}}, {names.intern("Empty"), {}}});
  TypeId shape = types.record(r, {}), tangent = tangentType(types, shape);
  const Record& d = types.recordInfo(types[tangent].record);
  ASSERT_EQ(d.cases.size(), 3u);
  EXPECT_EQ(names.text(d.cases[0].name), "zero");
  EXPECT_EQ(names.text(d.cases[tangentCase(types, shape, 0)].name), "Circle");
  EXPECT_EQ(tangentType(types, tangent), tangent) << "a tangent type is its own tangent";
  EXPECT_EQ(tangentType(types, shape), tangent) << "derived once";
}

TEST_F(Types, TangentOfARecursiveTypeEnds) {
  RecordId tree = add("Tree", true, {});
  TypeId t = types.record(tree, {});
  types.recordInfo(tree).cases = {{names.intern("Leaf"), {field("w", f32), field("n", i64)}},
                                  {names.intern("Node"), {field("l", t), field("r", types.list(t))}}};
  TypeId d = tangentType(types, t);
  EXPECT_EQ(types.fieldType(d, 2, 0), d);
  EXPECT_EQ(types.fieldType(d, 2, 1), types.list(d));
  EXPECT_TRUE(types.isUnit(types.fieldType(d, 1, 1)));
}

TEST_F(Types, AParameterHasWhatItsBoundOffers) {
  TypeId any = types.param({names.intern("T")}), same = types.param({names.intern("T")});
  EXPECT_NE(any, same);
  TypeId integer = types.param({names.intern("I"), ParamClass::Int}),
         real = types.param({names.intern("F"), ParamClass::Float});
  EXPECT_FALSE(types.isNumber(any) || types.isScalar(any) || types.offers(any, ParamClass::Data));
  EXPECT_TRUE(types.isInt(integer) && types.isNumber(integer) && types.offers(integer, ParamClass::Ordered));
  EXPECT_FALSE(types.isFloat(integer) || types.isInt(real));
  EXPECT_TRUE(types.isFloat(real) && types.isScalar(real));
  EXPECT_TRUE(types.holds(types.list(types.tuple({types.int64(), any})), TypeKind::Param));
  EXPECT_FALSE(types.holds(types.list(types.int64()), TypeKind::Param));
}

TEST_F(Types, TangentOfAParameterIsItsSlopeUnlessItIsANumber) {
  TypeId any = types.param({names.intern("T")}), real = types.param({names.intern("F"), ParamClass::Float});
  TypeId slope = tangentType(types, any);
  EXPECT_EQ(types.print(slope), "Tangent[T]");
  EXPECT_EQ(tangentType(types, slope), slope);
  EXPECT_EQ(tangentType(types, real), real);
  EXPECT_TRUE(types.isUnit(tangentType(types, types.param({names.intern("I"), ParamClass::Int}))));
}

TEST_F(Types, AnEnumWithoutFloatsHasNoTangent) {
  RecordId list = add("Ints", true, {});
  TypeId t = types.record(list, {});
  types.recordInfo(list).cases = {{names.intern("End"), {}},
                                  {names.intern("Cons"), {field("n", i64), field("r", t)}}};
  EXPECT_TRUE(types.isUnit(tangentType(types, t)));
}

} // namespace
} // namespace melix::types
