#pragma once
// Escape analysis over Core: finds parameters of which a function only reads elements while it runs. It
// neither owns, keeps nor changes such an array, so that a caller may give it a part of an array:
//
//   %row = get %x[%i] : f64[M]        a view of %x (views.h)
//   %s = call @norm %row              the address of row %i, if @norm only reads elements

#include "core/ir/uses.h"
#include "loops/layout/layout.h"

#include <span>
#include <unordered_map>
#include <vector>

namespace melix::loops {

/// How a use treats the blocks of a value: of an array, a List, a text, or of a product of such.
enum class BlockUseKind : uint8_t {
  Reads,   ///< elements, or all of them for a copy
  Renames, ///< the op's result is the same value of another type, or a part of it
  Passes,  ///< a call has it as an argument
  Keeps,   ///< else: a block may have another owner afterwards, or have changed
};
BlockUseKind blockUse(Layouts& layouts, const core::Function& fn, core::Use use);

/// Linear in the ops, regardless of the call graph. A parameter that is passed on is one if the callee's is.
class ElementParams {
public:
  /// Functions `onDevices` have none: launches need whole blocks.
  ElementParams(const core::Module& module, Layouts& layouts,
                std::span<const core::FunctionId> onDevices = {});

  bool operator()(core::FunctionId f, size_t k) const {
    return k < isOne_[f.index].size() && isOne_[f.index][k];
  }
  /// Whether a use reads only elements; not of one that gives the value another name.
  bool isRead(const core::Function& fn, core::Use use) const;

private:
  struct Param {
    core::FunctionId function;
    size_t number;
  };
  static uint64_t key(const Param& p) { return uint64_t{p.function.index} << 32 | p.number; }

  void find(core::FunctionId f);
  void follow(const Param& p, const core::Uses& uses, core::ValueId v);
  void exclude(const Param& p);

  const core::Module& module_;
  Layouts& layouts_;
  std::vector<std::vector<bool>> isOne_;
  std::unordered_map<uint64_t, std::vector<Param>> passedTo_; ///< by the callee's, the callers'
  std::vector<Param> open_;                                   ///< excluded, with callers to visit
};

} // namespace melix::loops
