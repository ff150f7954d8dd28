#include "check/body/key_hint.h"

#include "check/signatures/declaration_table.h"
#include "check/signatures/lookup.h"

namespace melix::check {

void hintKey(Diagnostic& to, Body& body, const FunctionDecl& fn) {
  const syntax::Ast& tree = body.c.ast(fn.decl);
  auto written = [&](syntax::NodeId node) {
    return std::string(body.c.modules.sources.text(tree.span(node)));
  };
  const bool isLibrary = body.c.modules.decl(fn.decl).module == body.c.modules.prelude();
  if (!isLibrary || fn.params.empty() || !fn.params[0].type || written(fn.params[0].type) != "Key") return;
  std::string given = "k";
  for (size_t p = 1; p < fn.params.size(); ++p)
    given += ", " + std::string(body.types.names.text(fn.params[p].name));
  const bool asksForType = !fn.generics.empty() && fn.generics[0].defaultType.valid();
  const std::string type = asksForType ? ": " + written(fn.generics[0].defaultType) : "";
  to.hint = "random numbers are drawn with a key, in the expected type: `let k = key(1)`, `let x" + type +
            " = " + std::string(body.types.names.text(fn.name)) + "(" + given + ")`";
}

void hintKey(Diagnostic& to, Body& body, std::string_view function, TypeId asked) {
  const ModuleId prelude = body.c.modules.prelude();
  const DeclId key = typeDecl(body.c, prelude, body.types.names.intern("Key"));
  const types::RecordId record = body.types[body.infer.shallow(asked)].record;
  if (!key || !record || body.types.recordInfo(record).declaration != key.index) return;
  const std::vector<DeclId> found = functionsIn(body.c, prelude, body.types.names.intern(function), true);
  if (!found.empty()) hintKey(to, body, body.c.declarations.function(found[0]));
}

} // namespace melix::check
