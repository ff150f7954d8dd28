#include "repl/aside.h"

#include "check/instances/programs.h"

#include <algorithm>
#include <map>

namespace melix::repl {

Aside::Aside(const Visible& visible, const std::string& text)
    : visible_(visible), unheard_(visible.session.sink), newest_(visible.session.modules().newestEntry()),
      firstInstance_(visible.session.checker().program_.instanceCount()) {
  session::Session& session = visible.session;
  module_ = session.modules().addRoot("<prompt>", text);
  isParsed_ = !unheard_.anyErrors();
  if (!isParsed_) return;
  connect(session.modules(), module_, visible.definitions);
  session.checker().scripts.seePrompt(module_, visible.variables);
  session.modules().setNewestEntry(module_);
  session.checker().checkModule(module_);
  std::map<NameId, types::TypeId> lets;
  for (const check::PromptVariable& v : visible.variables)
    if (!v.isVar && !v.isSize) lets.emplace(v.name, v.type);
  checkCapturingLets(session.checker(), module_, lets);
  if (!session.modules()[module_].statements.empty())
    entry_ = session.checker().prompt(module_, visible.variables);
}

Aside::~Aside() {
  if (newest_) visible_.session.modules().setNewestEntry(newest_);
}

types::TypeId Aside::typeOf(size_t begin, size_t end) const {
  session::Session& session = visible_.session;
  const FileId file = session.modules()[module_].ast.file;
  const std::string_view text = session.sources.text(file);
  // Brackets around an expression are no part of it.
  auto isWhole = [&](Span span) {
    return span.file == file && span.begin >= begin && span.end <= end &&
           text.substr(begin, span.begin - begin).find_first_not_of("( \t\r\n") == std::string_view::npos &&
           text.substr(span.end, end - span.end).find_first_not_of(") \t\r\n") == std::string_view::npos;
  };
  const check::Program& program = session.checker().program_;
  types::TypeId found;
  size_t length = 0;
  for (uint32_t k = firstInstance_; k < program.instanceCount(); ++k)
    for (const check::Node& node : program.instance(check::InstanceId(k)).nodes) {
      if (!node.type || !isWhole(node.span) || node.span.end - node.span.begin <= length) continue;
      const types::TypeKind kind = session.types.kind(node.type);
      if (kind == types::TypeKind::Error || session.types.holds(node.type, types::TypeKind::Var)) continue;
      found = node.type;
      length = node.span.end - node.span.begin;
    }
  return found;
}

} // namespace melix::repl
