#include "source/source.h"

#include <gtest/gtest.h>

namespace melix {
namespace {

TEST(Source, ColumnsCountCharactersFromOne) {
  SourceStore sources;
  FileId file = sources.add("a.mlx", "let é = 1\nx");
  EXPECT_EQ(sources.lineColumn(file, 0).line, 1u);
  EXPECT_EQ(sources.lineColumn(file, 0).column, 1u);
  EXPECT_EQ(sources.lineColumn(file, 6).column, 6u) << "é takes two bytes and one column";
  EXPECT_EQ(sources.lineColumn(file, 11).line, 2u);
  EXPECT_EQ(sources.lineColumn(file, 11).column, 1u);
}

TEST(Source, PlacesAtAndBehindTheEndAreOfTheLastLine) {
  SourceStore sources;
  FileId file = sources.add("a.mlx", "ab\n");
  EXPECT_EQ(sources.lineColumn(file, 3).line, 2u);
  EXPECT_EQ(sources.lineColumn(file, 99).line, 2u);
  EXPECT_EQ(sources.lineText(file, 2), "");
}

TEST(Source, LinesComeWithoutTheirEnds) {
  SourceStore sources;
  FileId file = sources.add("a.mlx", "one\r\ntwo\nthree");
  EXPECT_EQ(sources.lineText(file, 1), "one");
  EXPECT_EQ(sources.lineText(file, 2), "two");
  EXPECT_EQ(sources.lineText(file, 3), "three");
}

} // namespace
} // namespace melix
