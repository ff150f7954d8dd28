#include "diagnostics/diagnostic.h"

#include <gtest/gtest.h>

#include <set>

namespace melix {
namespace {

struct Row {
  std::string_view id, message, hint;
};
const Row rows[] = {
#define DIAG(Id, Text, Severity, Message, Hint) {Text, Message, Hint},
#include "diagnostics/diagnostics.def"
};

TEST(Diagnostics, ShowPlaceLineCaretAndHint) {
  SourceStore sources;
  DiagnosticSink sink;
  FileId file = sources.add("a.mlx", "fn f() = 1\nlet é = 0 <= i < n\n");
  sink.report(DiagId::ChainedComparison, Span{file, 27, 28});
  EXPECT_EQ(renderDiagnostic(sink.all()[0], sources, false),
            "a.mlx:2:16: error: comparisons do not chain [chained-comparison]\n"
            " 2 | let é = 0 <= i < n\n"
            "   |                ^\n"
            "  hint: write `a <= b and b < c`\n");
}

TEST(Diagnostics, NotesHavePlacesOfTheirOwn) {
  SourceStore sources;
  DiagnosticSink sink;
  FileId file = sources.add("a.mlx", "f(\nx");
  sink.report(DiagId::Expected, Span{file, 4, 4}, "`)`", "the end of the file", "")
      .notes.push_back({{file, 1, 2}, "opened here"});
  EXPECT_EQ(renderDiagnostic(sink.all()[0], sources, false),
            "a.mlx:2:2: error: expected `)`, found the end of the file [expected]\n"
            " 2 | x\n"
            "   |  ^\n"
            "a.mlx:1:2: note: opened here\n"
            " 1 | f(\n"
            "   |  ^\n");
}

TEST(Diagnostics, SpansAreUnderlinedOnTheirFirstLine) {
  SourceStore sources;
  DiagnosticSink sink;
  FileId file = sources.add("a.mlx", "ab cde\nf");
  sink.report(DiagId::UnclosedString, Span{file, 3, 8});
  EXPECT_NE(renderDiagnostic(sink.all()[0], sources, false).find("   |    ^~~\n"), std::string::npos);
}

TEST(Diagnostics, OfALongLineOnlyTheSurroundingsAreShown) {
  SourceStore sources;
  DiagnosticSink sink;
  FileId file = sources.add("a.mlx", std::string(100000, 'x'));
  sink.report(DiagId::BadCharacter, Span{file, 50000, 50001}, "x");
  EXPECT_LT(renderDiagnostic(sink.all()[0], sources, false).size(), 600u);
}

TEST(Diagnostics, BytesThatAreNoTextAreNotEchoed) {
  SourceStore sources;
  DiagnosticSink sink;
  FileId file = sources.add("a.mlx", "x\xff\xfe y\xc3");
  sink.report(DiagId::NotUtf8, Span{file, 1, 2}, "0xff", "1");
  EXPECT_NE(renderDiagnostic(sink.all()[0], sources, false).find("1 | x?? y?\n"), std::string::npos);
}

TEST(Diagnostics, OneMessageForOneCause) {
  SourceStore sources;
  DiagnosticSink sink;
  FileId file = sources.add("a.mlx", "x");
  sink.report(DiagId::UnknownName, Span{file, 0, 1}, "x");
  sink.report(DiagId::UnknownName, Span{file, 0, 1}, "x");
  EXPECT_EQ(sink.errorCount(), 1u);
  EXPECT_EQ(sink.all().size(), 1u);
}

TEST(Diagnostics, WhatWasOnlyTriedIsForgotten) {
  SourceStore sources;
  DiagnosticSink sink;
  FileId file = sources.add("a.mlx", "x");
  size_t mark = sink.all().size();
  sink.report(DiagId::UnknownName, Span{file, 0, 1}, "x");
  sink.rewind(mark);
  EXPECT_EQ(sink.errorCount(), 0u);
  sink.report(DiagId::UnknownName, Span{file, 0, 1}, "x");
  EXPECT_EQ(sink.errorCount(), 1u);
}

TEST(Diagnostics, EveryIdIsUniqueAndOfSmallWordsJoinedByHyphens) {
  std::set<std::string_view> seen;
  for (const Row& row : rows) {
    // The catalogue of what is not supported yet has one id for all its rows.
    EXPECT_TRUE(seen.insert(row.id).second || row.id == "unsupported") << row.id;
    EXPECT_EQ(row.id.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789-"), std::string_view::npos)
        << row.id;
  }
}

TEST(Diagnostics, WordingIsLowerCaseWithoutAFullStop) {
  for (const Row& row : rows) {
    ASSERT_FALSE(row.message.empty()) << row.id;
    EXPECT_FALSE(row.message[0] >= 'A' && row.message[0] <= 'Z' && row.message[1] >= 'a') << row.id;
    EXPECT_NE(row.message.back(), '.') << row.id;
    EXPECT_TRUE(row.hint.empty() || row.hint.back() != '.') << row.id;
  }
}

} // namespace
} // namespace melix
