#pragma once
// Inference variables of one instance: open numbers and unknown types (TypeKind::Var), unknown extents
// (Inference dimension symbols), and unification over them. Solutions are recorded on a trail, by
// which an attempt undoes them (attempt.h).

#include "check/tree/typed.h"
#include "support/function_ref.h"

#include <set>

namespace melix::check {

using types::TypeKind;
using types::TypeStore;
using types::VarClass;

/// How two types, or two dimensions, relate after unification.
enum class UnifyKind : uint8_t {
  Equal,      ///< the same, perhaps after solving variables
  NeedsCheck, ///< dimensions that only the run can compare (rule 22)
  DimsDiffer, ///< dimensions that cannot be equal
  Mismatch,   ///< different constructors, element types or ranks
};

struct UnifyResult {
  UnifyKind kind = UnifyKind::Equal;
  std::vector<DimCheckItem> checks; ///< pairs to compare at run time
  DimId left, right;                ///< the first pair at fault, of DimsDiffer
  DimId asked;                      ///< `left` before it was solved
  uint32_t axis = 0;                ///< its position in the innermost array
};

class Inference {
public:
  /// The same record at other type arguments (open arguments get solved).
  using AtArguments = std::function<TypeId(TypeId record, std::vector<TypeId>)>;
  Inference(TypeStore& types, Trail& trail, AtArguments atArguments)
      : equalHere(trail), types_(types), atArguments_(std::move(atArguments)), vars_(trail), solved_(trail),
        mayDiffer_(trail), templates_(trail), records_(trail) {}

  TypeId freshVar(VarClass cls, Span span);
  DimSym freshDim(std::string name, Span span);

  /// The type that a solved variable stands for; parts are left alone.
  TypeId shallow(TypeId t) const;
  /// Everything solved so far replaced.
  TypeId zonk(TypeId t);
  DimId zonk(DimId d);

  bool isOpen(TypeId t) const;       ///< an unsolved variable
  VarClass varClass(TypeId t) const; ///< of an unsolved variable
  /// Whether nothing is known of the type yet.
  bool isAny(TypeId t) const { return isOpen(t) && varClass(t) == types::VarClass::Any; }
  bool hasOpen(TypeId t);         ///< contains an unsolved variable
  bool hasInferenceDim(TypeId t); ///< contains an unsolved dimension
  bool hasInferenceDim(DimId d);
  /// Branches may differ in the unsolved dimensions of `type`, and in no others (rule 24).
  void letDiffer(TypeId type);
  bool mayDiffer(TypeId type);

  /// Whether something in it is still to be found.
  bool isUnsettled(TypeId t) { return hasOpen(t) || hasInferenceDim(t); }
  /// The type with new sizes, still to be found, in place of the sizes that mention an open symbol. There is
  /// one for each symbol that stands alone somewhere, used wherever it stands, and one for each formula of
  /// others.
  TypeId withOwnSizes(TypeId t, FunctionRef<bool(DimSym)> isOpen);
  /// The type with sizes of its own where some are still to be found, and types of its own where nothing is
  /// known of them.
  TypeId withOwnUnknowns(TypeId t);

  /// Replaces each unsolved variable of `t` by the result of `map`, arguments of records included.
  TypeId mapVars(TypeId t, FunctionRef<TypeId(TypeId)> map);
  /// The unsolved variables of some types, each once, in order.
  std::vector<TypeId> openVars(const std::vector<TypeId>& in);

  /// The instance of a call, once it is resolved, has template values of its own in the place of the ones it
  /// had while its arguments were open. The two result types pair them.
  void settleTemplates(TypeId open, TypeId settled);
  types::KnownId templateOf(types::KnownId id) const;
  types::RecordId recordOf(types::RecordId id) const;

  UnifyResult unify(TypeId expected, TypeId actual);
  UnifyKind unifyDim(DimId expected, DimId actual);
  /// Whether two sizes are known to differ in every run (rule 22) where some are assumed to be `equal`.
  bool areDifferent(DimId one, DimId other, const types::DimSubst& equal);
  /// The sizes that dimension variables were asserted to equal (rule 23). Sizes that are equal only by such
  /// an assertion are compared at run time.
  TrailedMap<types::DimSubst> equalHere;
  void assume(DimId bare, DimId equal);
  /// Binds an unsolved dimension; false if it is already solved.
  bool solve(DimSym s, DimId value);

  /// Gives every variable that is still open its default: int, f32; an Any variable is reported through
  /// `unsolved`.
  void settle(std::vector<Span>& unsolved);

private:
  struct VarInfo {
    VarClass cls;
    TypeId bound; ///< none while unsolved
    Span span;
    uint32_t behind = 0;   ///< how many others were joined to it
    bool metError = false; ///< an error was reported that could resolve it
  };
  VarInfo& changed(TypeId var) { return vars_.edit(types_[var].number); }
  std::vector<DimSym> inferenceDims(TypeId t); ///< unsolved
  TypeId zonkRecord(TypeId t);
  TypeId mapArgs(TypeId record, FunctionRef<TypeId(TypeId)> map);
  TypeId zonkTemplate(TypeId t);
  bool bindVar(TypeId var, TypeId to);
  void noteError(TypeId type);
  bool isInside(TypeId var, TypeId type);
  bool bindRows(TypeId few, TypeId more);
  bool holdsArray(TypeId array) const;
  void join(TypeId a, TypeId b);
  UnifyResult unifyParts(TypeId a, TypeId b);
  void join(UnifyResult& into, UnifyResult part) const;

  TypeStore& types_;
  AtArguments atArguments_;
  TrailedVector<VarInfo> vars_;
  TrailedMap<types::DimSubst> solved_;
  TrailedSet<std::set<DimSym>> mayDiffer_; ///< unsolved dimensions that are each branch's own
  TrailedMap<std::unordered_map<types::KnownId, types::KnownId>> templates_;
  TrailedMap<std::unordered_map<types::RecordId, types::RecordId>> records_;
};

} // namespace melix::check
