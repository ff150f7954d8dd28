#include "repl/function_text.h"

#include "repl/signature.h"

namespace melix::repl {

std::string functionText(session::Session& session, types::TypeId type) {
  const check::Known known = session.checker().program_.known(session.types[type].known);
  std::string out;
  if (known.kind == check::KnownKind::Overloads)
    for (names::DeclId decl : known.candidates)
      out += (out.empty() ? "" : "\n") + headerOf(session.modules(), decl);
  return out.empty() ? session.types.show(type) : out;
}

} // namespace melix::repl
