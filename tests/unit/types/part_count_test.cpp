// Types are shared: what a short program makes of them has any number of parts, and nothing visits each.
#include "types/types.h"

#include <gtest/gtest.h>

namespace melix::types {
namespace {

class Doubled : public ::testing::Test {
protected:
  Interner interner;
  TypeStore types{interner};
  DimSym n = types.dims.newSym({"N", DimSymKind::Parameter, 0, {}});

  /// `(t, t)` of `(t, t)` of …, `times` deep.
  TypeId doubled(TypeId t, size_t times) {
    for (size_t k = 0; k < times; ++k) t = types.tuple({t, t});
    return t;
  }
  TypeId row() { return types.array(types.scalar(TypeKind::F64), {types.dims.symbol(n)}); }
};

TEST_F(Doubled, PartsAreCountedUpToTheMost) {
  EXPECT_EQ(types.partCount(types.int64()), 1u);
  EXPECT_EQ(types.partCount(row()), 2u);
  EXPECT_EQ(types.partCount(doubled(types.int64(), 3)), 15u);
  EXPECT_EQ(types.partCount(doubled(types.int64(), 60)), TypeStore::mostParts + 1);
  EXPECT_EQ(types.partCount(types.function({row()}, {}, types.tuple({row(), row()}))), 1u + 2 + 5);
}

TEST_F(Doubled, FieldsAreParts) {
  TypeId field = types.scalar(TypeKind::F64);
  for (int k = 0; k < 40; ++k) {
    Record record;
    record.name = types.names.intern("S" + std::to_string(k));
    record.cases = {{{}, {{{}, field}, {{}, field}}}};
    field = types.record(types.addRecord(record), {});
    if (k == 2) EXPECT_EQ(types.partCount(field), 15u);
  }
  EXPECT_EQ(types.partCount(field), TypeStore::mostParts + 1);
}

TEST_F(Doubled, ARecordInsideOfItselfCountsOnce) {
  Record tree;
  tree.name = types.names.intern("Tree");
  tree.isEnum = true;
  RecordId id = types.addRecord(tree);
  TypeId type = types.record(id, {});
  EXPECT_EQ(types.partCount(type), 1u); // its cases are not known yet
  types.recordInfo(id).cases = {{types.names.intern("Leaf"), {{{}, types.int64()}}},
                                {types.names.intern("Node"), {{{}, type}, {{}, type}}}};
  EXPECT_EQ(types.partCount(type), 4u);
}

TEST_F(Doubled, SizesAreReplacedAndFoundOnce) {
  TypeId large = doubled(row(), 60);
  DimSubst three{{n, types.dims.constant(3)}};
  TypeId replaced = types.substitute(large, three);
  EXPECT_EQ(replaced, doubled(types.substitute(row(), three), 60));
  std::vector<DimSym> symbols;
  types.collectSymbols(large, symbols);
  EXPECT_EQ(symbols, std::vector<DimSym>{n});
  size_t visited = 0;
  types.rewrite(large, [&](TypeId t) { return ++visited, t; });
  EXPECT_LE(visited, 60u + 2 * 2); // what does not branch, wherever it stands in what does
}

TEST_F(Doubled, TextsOfMessagesAreShort) {
  EXPECT_EQ(types.show(doubled(types.int64(), 2)), "((int, int), (int, int))");
  std::string text = types.show(doubled(types.int64(), 60));
  EXPECT_LT(text.size(), 400u);
  EXPECT_NE(text.find("…"), std::string::npos);
  EXPECT_EQ(std::count(text.begin(), text.end(), '('), std::count(text.begin(), text.end(), ')'));
}

} // namespace
} // namespace melix::types
