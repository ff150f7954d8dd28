#pragma once
// Copies ops and regions, within a function or from one into another.

#include "core/ir/build.h"

#include <map>
#include <unordered_map>

namespace melix::core {

/// Copies from `source` into the builders' function. Values and dims of the source that are not in the maps
/// stand for themselves, which is right within one function. Every value and dim symbol that the copied ops
/// define is made anew.
class Cloner {
public:
  Cloner(Module& m, FunctionId source, FunctionId target) : module_(m), source_(source), target_(target) {}

  std::unordered_map<ValueId, ValueId> values;
  types::DimSubst dims;
  /// Extents that others replace, as a whole; extents that are parts of others stay.
  std::map<DimId, DimId> extents;
  /// Maps the locations of the copies; the identity if not set.
  std::function<LocId(LocId)> relocate;
  /// If set: whether it appended something else in the place of an op, and entered its results in the maps.
  std::function<bool(OpId, Builder&)> instead;

  ValueId value(ValueId v) const;
  DimId dim(DimId d);
  TypeId type(TypeId t);
  /// A new symbol for a symbol of the source, entered into `dims`.
  DimSym defineDim(DimSym s);
  /// From here on the symbol stands for this.
  void setDim(DimSym s, DimId by);

  /// The op with its regions, appended at the builder.
  OpId op(OpId id, Builder& b);
  /// A new region with the same parameters and ops.
  RegionId region(RegionId id, Builder& b);
  /// Only the ops, without the terminator, appended at the builder; region parameters must be in the maps.
  /// Gives the terminator's operands and dims, mapped.
  struct Yielded {
    std::vector<ValueId> values;
    std::vector<DimId> dims;
  };
  Yielded body(RegionId id, Builder& b);

private:
  const Function& source() const { return module_.functions[source_]; }
  TypeId withExtents(TypeId t) const;
  void place(OpId id, Builder& b) {
    if (!instead || !instead(id, b)) op(id, b);
  }
  Module& module_;
  FunctionId source_, target_;
  std::unordered_map<TypeId, TypeId> types_; ///< memo (D5), dropped when `dims` grows
  size_t typesAt_ = 0;
};

/// The location of code at `inner` inlined at `call` into another function; `function` names the callee.
LocId inlinedLoc(Module& m, LocId inner, LocId call, const std::string& function);

/// A copy of a function; its key is that of the original and `suffix`.
FunctionId copyFunction(Module& m, FunctionId source, const std::string& suffix);

/// Appends a copy of the callee's body in place of the call; gives the values that replace its results. The
/// call's result dims are replaced through `outer`, to be applied to the ops after it.
std::vector<ValueId> inlineCall(Module& m, const Op& call, Builder& b, types::DimSubst& outer);

/// Replaces symbols in every op and type of the function; the replacements mention none of them.
void replaceDims(Module& m, FunctionId f, const types::DimSubst& dims);

/// The op defines these values from here on, whatever defined them; its own results are used nowhere.
void takeOver(Function& f, OpId op, std::span<const ValueId> values);

} // namespace melix::core
