#include "check/tree/literal_digits.h"

#include <cstdio>
#include <cstdlib>

namespace melix::check {

namespace {

/// How many digits of a literal count: those behind the zeros that it begins with.
int digitsOf(std::string_view text) {
  int count = 0;
  for (char c : text.substr(0, text.find_first_of("eE")))
    count += c >= '0' && c <= '9' && (count > 0 || c != '0');
  return count;
}

/// Whether the f32 next to a number, rounded to as many digits as are written, is what is written.
bool f32Holds(const std::string& text) {
  const int digits = digitsOf(text);
  if (digits < 6 && text.find_first_of("eE") == std::string::npos) return true; // an f32 holds any six
  if (digits == 0) return true;
  std::string shown(static_cast<size_t>(digits) + 16, '\0');
  std::snprintf(shown.data(), shown.size(), "%.*e", digits - 1, double(std::strtof(text.c_str(), nullptr)));
  return std::strtod(shown.c_str(), nullptr) == std::strtod(text.c_str(), nullptr);
}

} // namespace

std::vector<OpenFloat> wideLiterals(Body& body) {
  std::vector<OpenFloat> out;
  for (uint32_t k = 0; k < body.instance.nodes.size(); ++k) {
    const Node& node = body.instance.nodes[NodeId(k)];
    if (node.kind != NodeKind::Const || !body.infer.isOpen(node.type) ||
        body.infer.varClass(node.type) != types::VarClass::OpenFloat)
      continue;
    const std::string& text = node.as<Const>().text;
    const bool isWritten = !text.empty() && text[0] >= '0' && text[0] <= '9'; // not `pi`
    if (isWritten && node.span.valid() && !body.c.modules.isLibraryFile(node.span.file) && !f32Holds(text))
      out.push_back({NodeId(k), text});
  }
  return out;
}

void warnLostDigits(Body& body, const std::vector<OpenFloat>& literals) {
  for (const OpenFloat& open : literals) {
    const Node& node = body.instance.nodes[open.literal];
    if (node.kind == NodeKind::Const && body.types.kind(node.type) == TypeKind::F32)
      body.sink.report(DiagId::LiteralDigits, node.span, open.text);
  }
}

} // namespace melix::check
