#pragma once
// Random changes of programs: such that must not matter to the layout, and such that may break anything.

#include "fuzz/run.h"
#include "lex/lexer.h"
#include "syntax/ast.h"

#include <string>
#include <string_view>
#include <vector>

namespace melix::fuzz {

/// The .mlx files below a folder and its subfolders, by path; none if there is no such folder.
std::vector<std::string> programsBelow(const std::string& folder);
std::string readFile(const std::string& path);
/// The programs of this repository to start from, and those of ../shared/programs where they are.
class Corpus {
public:
  explicit Corpus(const std::string& sourceFolder);
  size_t size() const { return programs_.size(); }
  const std::string& operator[](size_t k) const { return programs_[k]; }
  bool usesMacros(size_t k) const;
  /// The number of one; every third use macros.
  size_t draw(Random& random) const;

private:
  std::vector<std::string> programs_;
  std::vector<size_t> macros_; ///< those that use macros, in order
};

/// Whether a token of a text is the `@` of `@name`, `quote`, `macro`, `$` or `$..`.
bool isOfMacros(std::string_view text, Span token);

/// The tokens' places in a text, comments and blanks left out.
std::vector<Span> tokenSpans(std::string_view text);

/// A place between two tokens, with all that may stand there instead.
struct Gap {
  uint32_t begin = 0, end = 0;           ///< of the blanks, newlines and separators now there
  bool newline = false;                  ///< rule 1 lets a newline be here
  bool comma = false, semicolon = false; ///< these mean the same as a newline
};

/// The places of a program that parses where its layout may change. None holds a comment or a blank line.
std::vector<Gap> layoutGaps(const syntax::Ast& ast, const SourceStore& sources);

/// The program with newlines, separators and blanks changed at random, so that tokens, comments, blank lines
/// and tree are the same. `rate` of 100 gaps are changed.
std::string changeLayout(std::string_view text, const std::vector<Gap>& gaps, Random& random, unsigned rate);

/// The program with some tokens removed, doubled, swapped or replaced by tokens of `others`, or by those of
/// macros.
std::string changeTokens(std::string_view text, const std::string& others, Random& random);
/// The program with some bytes changed.
std::string changeBytes(std::string_view text, Random& random);

/// The program with expressions, statements, patterns or items of `other` in place of some of its own or
/// beside them.
std::string graftPieces(std::string text, const std::string& other, Random& random);

} // namespace melix::fuzz
