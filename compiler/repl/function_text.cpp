#include "repl/function_text.h"

namespace melix::repl {

namespace {

/// `fn name(parameters) -> result`, from the source up to the body.
std::string signatureOf(session::Session& session, names::DeclId decl) {
  const syntax::Ast& ast = session.modules().astOf(decl);
  const syntax::NodeId node = session.modules().decl(decl).node;
  const auto& item = ast[node].as<syntax::FnItem>();
  Span span = ast.span(node);
  span.begin = item.nameSpan.begin;
  if (item.body) span.end = ast.span(item.body).begin;
  std::string text(session.sources.text(span));
  auto trim = [&text] { text.erase(text.find_last_not_of(" \t\r\n") + 1); };
  trim();
  if (item.body && item.shortForm && text.ends_with('=')) text.pop_back();
  trim();
  return "fn " + text;
}

} // namespace

std::string functionText(session::Session& session, types::TypeId type) {
  const check::Known known = session.checker().program_.known(session.types[type].known);
  std::string out;
  if (known.kind == check::KnownKind::Overloads)
    for (names::DeclId decl : known.candidates) out += (out.empty() ? "" : "\n") + signatureOf(session, decl);
  return out.empty() ? session.types.show(type) : out;
}

} // namespace melix::repl
