#include "diagnostics/messages.h"

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
  {
    const Unheard tried(sink);
    sink.report(DiagId::UnknownName, Span{file, 0, 1}, "x");
    EXPECT_TRUE(tried.anyErrors());
  }
  EXPECT_EQ(sink.errorCount(), 0u);
  sink.report(DiagId::UnknownName, Span{file, 0, 1}, "x");
  EXPECT_EQ(sink.errorCount(), 1u);
}

/// A sink with messages at places of a text, told by these.
struct Places {
  SourceStore sources;
  DiagnosticSink sink;
  FileId file = sources.add("a.mlx", "abcdefgh");

  void report(uint32_t at, DiagId id = DiagId::UnknownName) { sink.report(id, Span{file, at, at + 1}, "x"); }
  std::string told() const {
    std::string out;
    for (const Diagnostic* d : sink.inOrder()) out += std::to_string(d->span.begin);
    return out;
  }
};

TEST(Messages, BelongToWhatIsAroundThemUnlessDropped) {
  Places places;
  places.report(5);
  Messages outer(places.sink);
  EXPECT_FALSE(outer.any());
  {
    Messages kept(places.sink);
    places.report(3);
    EXPECT_EQ(kept.all().size(), 1u);
    kept.noteErrors({Span(), "here"});
    kept.hintLast("so");
  }
  {
    Messages dropped(places.sink);
    places.report(1);
    EXPECT_EQ(dropped.take().size(), 1u);
  }
  ASSERT_EQ(outer.all().size(), 1u);
  EXPECT_EQ(outer.last()->notes.size(), 1u);
  EXPECT_EQ(outer.last()->hint, "so");
  EXPECT_EQ(places.told(), "35");
  EXPECT_EQ(places.sink.errorCount(), 2u);
}

TEST(Messages, OfARoundGoButFinalOnes) {
  Places places;
  Messages rounds(places.sink);
  places.report(2);
  {
    Messages callee(places.sink);
    places.report(6);
    places.report(4);
    callee.makeFinal();
  }
  places.report(1);
  rounds.dropRound();
  EXPECT_EQ(places.told(), "46");
  places.report(2); // is told again
  EXPECT_EQ(places.told(), "246");
  rounds.dropIf([](const Diagnostic& d) { return d.span.begin == 4; });
  EXPECT_EQ(places.told(), "26");
  EXPECT_EQ(places.sink.errorCount(), 2u);
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
