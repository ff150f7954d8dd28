#pragma once
// A program and its tree, for the tests.

#include "parse/parse.h"

#include <fstream>
#include <iterator>
#include <string>

namespace melix::parse {

struct Parsed {
  SourceStore sources;
  Interner names;
  DiagnosticSink sink;
  ParseResult result;

  explicit Parsed(const std::string& text) {
    result = parseFile(sources.add("test.mlx", text), sources, names, sink);
  }

  std::string tree() const { return dump(result.ast, names); }
  /// `line:column id` of each message.
  std::string errors() const {
    std::string out;
    for (const Diagnostic* d : sink.inOrder()) {
      LineColumn at = sources.lineColumn(d->span);
      out += (out.empty() ? "" : ", ") + std::to_string(at.line) + ":" + std::to_string(at.column) + " ";
      out += diagName(d->id);
    }
    return out;
  }
  std::string messages() const {
    std::string out;
    for (const Diagnostic* d : sink.inOrder()) out += renderDiagnostic(*d, sources, false);
    return out;
  }
  /// Statements and items of the file.
  size_t count() const { return result.ast[result.ast.root].as<syntax::Many>().items.size(); }
};

inline std::string treeOf(const std::string& text) {
  Parsed parsed(text);
  return parsed.sink.errorCount() > 0 ? parsed.messages() : parsed.tree();
}

} // namespace melix::parse
