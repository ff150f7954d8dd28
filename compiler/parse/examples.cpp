// Examples in documentation comments.
#include "parse/parse.h"
#include "parse/parser.h"

#include <algorithm>
#include <map>

namespace melix::parse {

namespace {

constexpr std::string_view blanks = " \t\r";
constexpr std::string_view mark = "```";

/// One example: where its marks stand, and what it explains.
struct Marked {
  uint32_t open = 0, close = 0;
  std::string name;
  std::string owner = {}; ///< the declaration it explains; empty: none
};

/// Finds the examples of a file. `code_` is the file's text with all but them blanked, so that they are read
/// where they stand.
class Examples {
public:
  Examples(const Ast& ast, std::string_view text, const Interner& names, DiagnosticSink& sink)
      : ast_(ast), text_(text), names_(names), sink_(sink), code_(text) {
    for (char& c : code_)
      if (c != '\n') c = ' ';
  }

  std::vector<Marked> find() {
    for (size_t k = 0; k < ast_.comments.size();) k = run(k);
    std::map<std::string, size_t> all, named; // overloads share their name
    for (const Marked& e : found_) ++all[e.owner];
    for (Marked& e : found_) {
      if (e.owner.empty()) continue;
      std::string number = all[e.owner] > 1 ? " " + std::to_string(++named[e.owner]) : "";
      e.name = "example" + number + " of " + e.owner;
    }
    return std::move(found_);
  }
  std::string takeCode() { return std::move(code_); }

private:
  bool isDoc(size_t k) const { return ast_.comments[k].isDoc && ast_.comments[k].ownLine; }
  bool onlyBlanks(uint32_t begin, uint32_t end) const {
    return text_.substr(begin, end - begin).find_first_not_of(" \t\r\n") == std::string_view::npos;
  }

  /// The documentation comment that begins with comment `first`; what stands behind it.
  size_t run(size_t first) {
    size_t end = first + 1;
    if (!isDoc(first)) return end;
    const std::vector<syntax::Comment>& all = ast_.comments;
    while (end < all.size() && isDoc(end) && onlyBlanks(all[end - 1].span.end, all[end].span.begin)) ++end;
    size_t before = found_.size();
    bool inside = false, runs = false;
    for (size_t k = first; k < end; ++k) line(all[k].span, inside, runs);
    if (inside && runs) {
      sink_.report(DiagId::OpenExample, {ast_.file, found_.back().open, found_.back().open + 3});
      found_.pop_back();
    }
    name(before, all[end - 1].span.end);
    return end;
  }

  /// One line of a comment: a mark, or code of the example at hand.
  void line(Span span, bool& inside, bool& runs) {
    uint32_t begin = span.begin + 3;
    std::string_view rest = text_.substr(begin, span.end - begin);
    size_t at = std::min(rest.find_first_not_of(blanks), rest.size());
    if (!rest.substr(at).starts_with(mark)) {
      if (inside && runs) code_.replace(begin, rest.size(), rest);
      return;
    }
    auto place = static_cast<uint32_t>(begin + at);
    std::string_view language = rest.substr(at + mark.size());
    language = language.substr(0, language.find_last_not_of(blanks) + 1);
    inside = !inside;
    if (inside) runs = language.empty() || language == "mlx" || language == "melix";
    if (!runs) return;
    if (inside)
      found_.push_back({place, 0, {}});
    else
      found_.back().close = place;
  }

  /// Names the examples from `first` on after the declaration that begins behind `end`.
  void name(size_t first, uint32_t end) {
    if (found_.size() == first) return;
    const std::string owner = ownerAt(end);
    size_t count = found_.size() - first;
    for (size_t k = 0; k < count; ++k) {
      Marked& e = found_[first + k];
      std::string number = count > 1 ? " " + std::to_string(k + 1) : "";
      if (owner.empty()) e.name = "example" + number + " in line " + lineOf(e.open);
      e.owner = owner;
    }
  }

  std::string textOf(NameId name) const { return name ? std::string(names_.text(name)) : std::string(); }

  std::string lineOf(uint32_t offset) const {
    return std::to_string(1 + std::count(text_.begin(), text_.begin() + offset, '\n'));
  }

  /// The name of the declaration that an example before `end` explains. Items stand in the order of the text,
  /// but for those that macros made.
  std::string ownerAt(uint32_t end) const {
    if (!ast_.root || ast_.hasMacros) return declaredAt(ast_.root, end);
    const syntax::NodeList& items = ast_[ast_.root].as<syntax::Many>().items;
    auto next = std::ranges::partition_point(items, [&](NodeId item) { return ast_.span(item).end <= end; });
    return next == items.end() ? std::string() : declaredAt(*next, end);
  }

  /// The name of the declaration that follows `end` among `node` and what is inside of it, else of the
  /// innermost around it.
  std::string declaredAt(NodeId node, uint32_t end) const {
    Span span = ast_.span(node);
    bool follows = span.begin >= end && onlyBlanks(end, span.begin),
         around = span.begin < end && end < span.end;
    std::string own = follows || around ? textOf(syntax::declaredName(ast_, node)) : std::string();
    if (follows && !own.empty()) return own;
    std::string inner;
    syntax::forEachChild(ast_, node, [&](NodeId child) {
      if (inner.empty() && ast_.span(child).end > end) inner = declaredAt(child, end);
    });
    return inner.empty() ? own : inner;
  }

  const Ast& ast_;
  std::string_view text_;
  const Interner& names_;
  DiagnosticSink& sink_;
  std::string code_;
  std::vector<Marked> found_;
};

} // namespace

std::vector<Example> parseExamples(const Ast& ast, const SourceStore& sources, Interner& names,
                                   DiagnosticSink& sink) {
  Examples examples(ast, sources.text(ast.file), names, sink);
  const std::vector<Marked> found = examples.find();
  const std::string code = examples.takeCode();
  std::vector<Example> out;
  for (const Marked& e : found) {
    const size_t before = sink.errorCount();
    lex::TokenStream stream = lex::lex(ast.file, std::string_view(code).substr(0, e.close), e.open, sink);
    Example example{e.name, {}};
    example.ast.file = ast.file;
    Parser parser(stream, sources, names, sink, example.ast);
    parser.parseModule();
    // What it would be checked as is not what is meant.
    if (sink.errorCount() == before) out.push_back(std::move(example));
  }
  return out;
}

} // namespace melix::parse
