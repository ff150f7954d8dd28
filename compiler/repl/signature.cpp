#include "repl/signature.h"

namespace melix::repl {

namespace {

/// The text with one space for each white space, and none at its end.
std::string onOneLine(std::string_view text) {
  std::string out;
  for (char c : text)
    if (c != '\n' && c != ' ')
      out += c;
    else if (!out.ends_with(' '))
      out += ' ';
  out.erase(out.find_last_not_of(' ') + 1);
  return out;
}

/// `fn name(parameters) -> result`, up to the body.
std::string headerOfFunction(names::Modules& modules, names::DeclId decl) {
  const syntax::Ast& ast = modules.astOf(decl);
  const syntax::NodeId node = modules.decl(decl).node;
  const auto& item = ast[node].as<syntax::FnItem>();
  Span span = ast.span(node);
  span.begin = item.nameSpan.begin;
  if (item.body) span.end = ast.span(item.body).begin;
  std::string text = onOneLine(modules.sources.text(span));
  if (item.body && item.shortForm && text.ends_with('=')) text.pop_back();
  return "fn " + onOneLine(text);
}

} // namespace

std::string headerOf(names::Modules& modules, names::DeclId decl) {
  if (modules.decl(decl).kind == names::DeclKind::Function) return headerOfFunction(modules, decl);
  const std::string whole = textOf(modules, decl);
  return onOneLine(std::string_view(whole).substr(0, whole.find_first_of("{=")));
}

std::string documentationOf(names::Modules& modules, names::DeclId decl) {
  const Span span = modules.astOf(decl).span(modules.decl(decl).node);
  const std::string_view text = modules.sources.text(span.file);
  // Attributes may stand between the two.
  std::string out;
  size_t end = text.rfind('\n', span.begin);
  while (end != std::string_view::npos && end > 0) {
    const size_t before = text.rfind('\n', end - 1),
                 begin = before == std::string_view::npos ? 0 : before + 1;
    const std::string_view line = text.substr(begin, end - begin);
    const size_t first = line.find_first_not_of(' ');
    if (first != std::string_view::npos && line.substr(first).starts_with("///"))
      out = std::string(
                line.substr(std::min(line.size(), first + 3 + line.substr(first + 3).starts_with(' ')))) +
            "\n" + out;
    else if (first == std::string_view::npos || line[first] != '@')
      break;
    end = before;
  }
  return out;
}

} // namespace melix::repl
