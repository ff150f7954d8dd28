#include "check/signatures/unused_imports.h"

#include "check/signatures/unused_functions.h"
#include "check/tree/protocols.h"

#include <algorithm>
#include <cctype>

namespace melix::check {

using namespace syntax;
using names::DeclId;
using names::DeclKind;
using SynId = syntax::NodeId;

namespace {

bool holdsWord(std::string_view text, std::string_view word) {
  for (size_t at = text.find(word); at != std::string_view::npos; at = text.find(word, at + 1)) {
    const size_t end = at + word.size();
    if ((at == 0 || !isWordByte(text[at - 1])) && (end == text.size() || !isWordByte(text[end]))) return true;
  }
  return false;
}

class Imports {
public:
  Imports(const names::Modules& modules, names::ModuleId root)
      : modules_(modules), module_(modules[root]), ast_(module_.ast) {
    for (uint32_t k = 0; k < ast_.size(); ++k) { // what macros write stands in quotes, which are nodes too
      const syntax::Node& node = ast_[SynId(k)];
      if (node.kind == syntax::NodeKind::Name) note(node.as<Name>().name);
      if (node.kind == syntax::NodeKind::Member) note(node.as<Member>().name);
    }
  }

  void warn() const {
    for (uint32_t k = 0; k < ast_.size(); ++k) {
      const syntax::Node& node = ast_[SynId(k)];
      const bool isWritten = node.kind == syntax::NodeKind::Use && !SourceStore::isExpansion(node.span.file);
      if (isWritten && !node.as<UseItem>().isPub) warnOf(node.as<UseItem>(), node.span);
    }
  }

private:
  void note(NameId name) {
    if (name && !isSpliced(name)) used_.insert(modules_.names.spelling(name));
  }

  void warnOf(const UseItem& use, Span span) const {
    if (use.path.empty()) return;
    if (!use.hasNames) {
      const NameId prefix = use.alias ? use.alias : use.path.back().name;
      if (!isUsed(prefix)) report(prefix, span);
    }
    for (const UseName& part : use.names)
      if (!isUsed(part.name) && !hasUsedCase(part.name) && !isCalledByLanguage(part.name))
        report(part.name, part.span);
  }

  void report(NameId name, Span span) const {
    modules_.sink.report(DiagId::UnusedImport, span, modules_.names.text(name));
  }

  bool isUsed(NameId name) const {
    const std::string_view word = modules_.names.text(name);
    return used_.contains(name) ||
           std::any_of(ast_.comments.begin(), ast_.comments.end(), [&](const Comment& c) {
             return c.isDoc && holdsWord(modules_.sources.text(c.span), word);
           });
  }

  /// Whether a case of an enum is named: it comes with the name of the enum.
  bool hasUsedCase(NameId name) const {
    const std::vector<names::ModuleId>* from = module_.imported.find(name);
    for (names::ModuleId home : from ? *from : std::vector<names::ModuleId>())
      for (DeclId decl : modules_[home].named(name)) {
        if (modules_.decl(decl).kind != DeclKind::Enum) continue;
        const auto& cases = modules_.astOf(decl)[modules_.decl(decl).node].as<EnumItem>().cases;
        if (std::any_of(cases.begin(), cases.end(), [&](const CaseDecl& c) { return isUsed(c.name); }))
          return true;
      }
    return false;
  }

  bool isCalledByLanguage(NameId name) const {
    return std::find(std::begin(protocols::all), std::end(protocols::all), modules_.names.text(name)) !=
           std::end(protocols::all);
  }

  const names::Modules& modules_;
  const names::Module& module_;
  const Ast& ast_;
  std::unordered_set<NameId> used_;
};

} // namespace

void warnUnusedImports(const names::Modules& modules, names::ModuleId root) { Imports(modules, root).warn(); }

} // namespace melix::check
