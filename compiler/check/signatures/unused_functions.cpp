#include "check/signatures/unused_functions.h"

#include "check/tree/protocols.h"

#include <algorithm>
#include <cctype>

namespace melix::check {

using namespace syntax;
using names::Decl;
using names::DeclId;
using names::DeclKind;
using SynId = syntax::NodeId;

bool isWordByte(char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_' || (c & 0x80); }

namespace {

class Reached {
public:
  Reached(const names::Modules& modules, names::ModuleId root)
      : modules_(modules), module_(modules[root]), ast_(module_.ast) {
    for (const auto& [name, same] : module_.decls.own()) {
      for (DeclId decl : same)
        if (isRoot(modules.decl(decl))) reach(decl);
    }
    for (SynId statement : module_.statements) lookFromOutside(statement);
    for (SynId test : module_.tests) lookFromOutside(test);
    for (SynId bench : module_.benches) lookFromOutside(bench);
    hasEntry_ = hasEntry_ || !module_.examples.all.empty();
    for (const Comment& comment : ast_.comments)
      if (comment.isDoc) lookIn(modules.sources.text(comment.span));
    // What macros write is named in quotes, which stand beside the tree.
    for (uint32_t k = 0; ast_.hasMacros && k < ast_.size(); ++k)
      if (ast_.kind(SynId(k)) == syntax::NodeKind::Name) reach(ast_[SynId(k)].as<syntax::Name>().name);
    while (!open_.empty()) {
      const SynId node = modules.decl(open_.back()).node;
      open_.pop_back();
      look(node);
    }
  }

  /// Whether anything in the file is run, or given away.
  bool hasEntry() const { return hasEntry_; }
  bool contains(DeclId decl) const { return reached_.contains(decl); }

private:
  /// Whether a declaration is there whether or not the file names it.
  bool isRoot(const Decl& decl) {
    const std::string_view name = modules_.names.text(decl.name);
    const bool isFunction = decl.kind == DeclKind::Function;
    if (isFunction && (decl.isPub || name == "main")) hasEntry_ = true;
    return !isFunction || decl.isPub || name == "main" || !isWordByte(name[0]) || name[0] == '_' ||
           std::find(std::begin(protocols::all), std::end(protocols::all), name) != std::end(protocols::all);
  }

  void reach(DeclId decl) {
    if (reached_.insert(decl).second) open_.push_back(decl);
  }

  /// None where macros put a name together, and failed.
  void reach(NameId name) {
    if (!name) return;
    for (DeclId decl : module_.named(modules_.names.spelling(name))) reach(decl);
  }

  void lookFromOutside(SynId node) {
    hasEntry_ = true;
    look(node);
  }

  void look(SynId node) {
    if (ast_.kind(node) == syntax::NodeKind::Name) reach(ast_[node].as<syntax::Name>().name);
    if (ast_.kind(node) == syntax::NodeKind::Member) reach(ast_[node].as<syntax::Member>().name);
    forEachChild(ast_, node, [this](SynId child) { look(child); });
  }

  /// The words of a line of documentation, where it is one of an example.
  void lookIn(std::string_view line) {
    const size_t first = std::min(line.find_first_not_of("/ \t"), line.size());
    if (line.substr(first).starts_with("```")) {
      inExample_ = !inExample_;
      return;
    }
    for (size_t at = first; inExample_ && at < line.size();) {
      size_t end = at;
      while (end < line.size() && isWordByte(line[end])) ++end;
      if (end > at) reach(modules_.names.intern(line.substr(at, end - at)));
      at = end + (end == at);
    }
  }

  const names::Modules& modules_;
  const names::Module& module_;
  const Ast& ast_;
  std::unordered_set<DeclId> reached_;
  std::vector<DeclId> open_; ///< reached, and not yet looked at
  bool hasEntry_ = false, inExample_ = false;
};

} // namespace

void warnUnusedFunctions(const names::Modules& modules, names::ModuleId root) {
  const Reached reached(modules, root);
  if (!reached.hasEntry()) return;
  std::vector<DeclId> unused;
  for (const auto& [name, same] : modules[root].decls.own())
    for (DeclId decl : same)
      if (!reached.contains(decl)) unused.push_back(decl);
  std::sort(unused.begin(), unused.end()); // as they stand in the file
  for (DeclId decl : unused)
    modules.sink.report(DiagId::UnusedFunction, modules.decl(decl).span,
                        modules.names.text(modules.decl(decl).name));
}

} // namespace melix::check
