#include "repl/signature.h"

namespace melix::repl {

std::string headerOf(names::Modules& modules, names::DeclId decl) {
  const std::string whole = textOf(modules, decl);
  std::string out;
  size_t depth = 0;
  for (size_t k = 0; k < whole.size(); ++k) {
    const char c = whole[k];
    if (depth == 0 && (c == '{' || (c == '=' && whole[k - 1] == ' '))) break;
    depth += c == '(' || c == '[';
    depth -= depth > 0 && (c == ')' || c == ']');
    if (c == '\n' || (c == ' ' && out.ends_with(' ')))
      out += out.ends_with(' ') ? "" : " ";
    else
      out += c;
  }
  out.erase(out.find_last_not_of(' ') + 1);
  return out;
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
