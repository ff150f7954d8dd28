#pragma once
// Expansion: replaces uses of macros by their results, before anything is checked.
//
// before:  fn dot(…) { @unroll(4) for i in 0..n { … } }     after:  fn dot(…) { let (lo, hi) = … for … }
//
// Uses are expanded from the outside in, in the order of the text, and their results are expanded again. A
// function that a macro calls is expanded when it is checked, by `prepare`. Each use has a mark. Names that
// its quotes write carry it (Modules::meant). Places of code from its quotes lie in an expansion of the
// macro's file (SourceStore::expansion).

#include "expand/copy.h"
#include "expand/evaluator.h"
#include "expand/quotes.h"
#include "expand/same.h"

#include <set>
#include <unordered_map>
#include <unordered_set>

namespace melix::expand {

/// Values that the functions of module `ast` take and give.
using Datum = std::variant<int64_t, double, bool, std::string>;

/// A macro made ready to run.
struct MacroFunction {
  names::DeclId function; ///< none: something is wrong with it, which was reported
  std::vector<MacroParameter> parameters;
  std::optional<Kind> result;
};

/// The syntax that the numbers (Handle) of running macros denote, for the uses being expanded.
struct SyntaxTable {
  struct Cell {
    int64_t before; ///< none: -1
    Handle last;
    bool isMany;
  };
  struct LastMatch {
    int64_t pattern = -1, subject = -1;
    Bindings found;
  };

  Values values;
  std::vector<Cell> cells; ///< lists of splice values: the list so far, and its last value
  std::vector<std::vector<Handle>> lists;
  LastMatch lastMatch;
  std::unordered_map<NodeId, uint32_t> heights; ///< of results of quotes: quotes within quotes

  Handle keep(Value value) {
    values.push_back(value);
    return {static_cast<int64_t>(values.size() - 1)};
  }
};

class Expander {
public:
  Expander(names::Modules& modules, Evaluator& evaluator) : modules_(modules), evaluator_(evaluator) {}

  /// Expands a module whose written declarations are indexed (ModuleReader::expand).
  void expand(ModuleId module, Ast& ast);
  /// Before a declaration's signature or body is read while modules are expanded; false after reporting that
  /// it waits for its own expansion.
  bool prepareSignature(names::DeclId decl);
  bool prepareBody(names::DeclId decl);
  /// Whether some use has been expanded since this was asked last.
  bool takeExpanded() { return std::exchange(hasExpanded_, false); }

  // --- functions of module `ast` (functions.cpp)
  /// Calls one of functions.def; the problem if it panics.
  std::optional<std::string> call(std::string_view function, const std::vector<Datum>& args,
                                  std::vector<Datum>& results);

private:
  friend class ExpandTree;
  friend class AstFunctions;

  struct Chosen {
    const MacroFunction* macro = nullptr;
    names::DeclId decl;
    std::vector<MacroArgument> arguments;
    bool takesTarget = false;
  };
  /// A use that is being expanded.
  struct Use {
    NodeId node;
    ModuleId module, home; ///< where it stands, and where its macro does
    Ast* ast;
    std::string macro;
    Span span;
    NameId written; ///< the macro's name as it stands there, with its marks
    std::map<ModuleId, uint32_t> marks;
    std::map<FileId, FileId> files;
    std::map<std::pair<FileId, std::string>, FileId> placed; ///< by file and hint of `placed`
    std::optional<CopyProblem> failure;                      ///< of `fail`
    size_t firstNode = 0;                                    ///< nodes of the tree before it
  };
  enum class State : uint8_t { Written, Open, Done };
  using ItemKey = std::pair<const Ast*, NodeId>;

  // --- items (expander.cpp)
  void expandItems(ModuleId module, Ast& ast, NodeList& items);
  /// Gives the statements or items read as part of the item that stand for themselves.
  NodeList expandItem(ModuleId module, Ast& ast, NodeId item);
  void expandBody(ModuleId module, Ast& ast, NodeId& node, Role role = Role::Body);
  void declareMade(ModuleId module, Ast& ast, NodeId item);
  void spellNames(ModuleId module, Ast& ast, NodeId item);
  bool isOpen(names::DeclId decl) const;
  bool reportCycle(names::DeclId decl, Span place);

  // --- uses (uses.cpp)
  std::vector<names::DeclId> macrosMeant(ModuleId module, const Ast& ast, NodeId path);
  const MacroFunction& macroFunction(names::DeclId decl);
  bool readSignature(names::DeclId decl, MacroFunction& out);
  std::optional<Chosen> choose(ModuleId module, Ast& ast, NodeId use);
  std::optional<int> bindArguments(ModuleId module, Ast& ast, const MacroUse& use, const MacroFunction& macro,
                                   bool withTarget, std::vector<MacroArgument>& out, std::string& why);
  std::optional<int> bindOne(ModuleId module, Ast& ast, const MacroParameter& parameter, NodeId written,
                             MacroArgument& out, std::string& why);
  std::optional<Datum> constant(ModuleId module, const Ast& ast, NodeId node, unsigned depth = 0);
  void reportUnknown(ModuleId module, const Ast& ast, const MacroUse& use);
  bool isToldToBeMissing(ModuleId module, NameId name) const;
  bool isFunction(ModuleId module, const Ast& ast, NodeId path) const;
  /// The result of a use; none after a report. `rest`: the syntax after it that is not its argument.
  std::optional<Value> run(ModuleId module, Ast& ast, NodeId use, NodeId& rest);
  void reportOutcome(const Use& use, const Outcome& outcome);
  bool isWithinBounds(const Use& use, NodeId result);
  NodeId unshared(Ast& ast, NodeId node, std::unordered_set<NodeId>& placed);
  unsigned depthOf(Span span) const;
  NodeId errorNode(Ast& ast, Span span) { return ast.add(NodeKind::Error, span); }

  uint32_t markFor(Use& use, ModuleId home);
  FileId fileFor(Use& use, FileId file);

  names::Modules& modules_;
  Evaluator& evaluator_;
  std::vector<Template> templates_;
  std::map<names::DeclId, MacroFunction> macros_;
  std::map<ItemKey, State> items_;
  std::map<ItemKey, NodeList> behind_;     ///< of items expanded on demand
  std::vector<ItemKey> open_;              ///< items being expanded, outermost first
  std::vector<std::unique_ptr<Use>> uses_; ///< being expanded, outermost first
  Values values_;                          ///< of the uses being expanded
  SyntaxTable table_;
  std::map<const Ast*, ModuleId> expanding_;
  struct Spent {
    uint64_t steps = 0, nodes = 0;
  };
  std::map<const Ast*, Spent> spent_; ///< by the uses of a module
  bool hasExpanded_ = false;
};

/// How far expansion goes (rule 13 of macros).
inline constexpr unsigned maxExpansionDepth = 200, maxQuoteHeight = 1000;
inline constexpr uint64_t maxUseSteps = 10'000'000, maxModuleSteps = 100'000'000, maxModuleNodes = 10'000'000,
                          maxUseBytes = 256ull << 20;

} // namespace melix::expand
