#include "names/name_table.h"

#include <gtest/gtest.h>

namespace melix::names {
namespace {

TEST(NameTable, LooksAroundItselfForWhatItLacks) {
  Interner names;
  const NameId a = names.intern("a"), b = names.intern("b"), c = names.intern("c");
  NameTable<int> outer, inner;
  outer[a] = 1;
  outer[b] = 2;
  inner.layIn(outer, {b});
  EXPECT_EQ(*inner.find(a), 1);
  EXPECT_FALSE(inner.contains(b)) << "hidden";
  EXPECT_FALSE(inner.contains(c));
  outer[c] = 3;
  EXPECT_EQ(*inner.find(c), 3) << "what comes later is seen too";
  EXPECT_TRUE(inner.own().empty());
}

TEST(NameTable, OwnEntriesBeginAsThoseAround) {
  Interner names;
  const NameId a = names.intern("a"), b = names.intern("b");
  NameTable<int> outer, inner;
  outer[a] = 1;
  outer[b] = 2;
  inner.layIn(outer, {b});
  inner[a] += 10;
  inner[b] += 10;
  EXPECT_EQ(*inner.find(a), 11);
  EXPECT_EQ(*inner.find(b), 10) << "nothing comes of what is hidden";
  EXPECT_EQ(*outer.find(a), 1);
  EXPECT_EQ(inner.all().size(), 2u);
}

TEST(NameTable, HidesAlsoThroughATableBetween) {
  Interner names;
  const NameId a = names.intern("a");
  NameTable<int> outer, middle, inner;
  outer[a] = 1;
  middle.layIn(outer, {a});
  inner.layIn(middle);
  EXPECT_FALSE(inner.contains(a));
  EXPECT_TRUE(inner.all().empty());
}

} // namespace
} // namespace melix::names
