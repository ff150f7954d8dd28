#pragma once
// Prints Core as text. core/text/parse.h reads the text back to the same Core, names of values and dimensions
// included. `records flat` stands before them if they are (Module::recordsFlat).
//
//   records flat
//   struct Layer[H] { w: f32[H] }
//   fn scale [N] (%x: f32[N], %s: f32) -> (f32[N]) {
//     %r = nest (%i: N) -> keep[i] {
//       %a = get %x[%i] : f32
//       %b = mul %a, %s : f32
//       yield %b
//     } : f32[N]
//     yield %r
//   }

#include "core/ir/ir.h"
#include "support/function_ref.h"

#include <functional>
#include <memory>

namespace melix::core {

/// Comments to print before the ops of a region; `text` names values as the function's text does.
using RegionNotes =
    std::function<std::vector<std::string>(FunctionId, RegionId, FunctionRef<std::string(ValueId)> text)>;

struct PrintOptions {
  bool records = true; ///< whether they are flat, and declarations of structs and enums, before the functions
  RegionNotes notes = {};
};

std::string printFunction(const Module& m, FunctionId f, const PrintOptions& options = {});
std::string printModule(const Module& m, const PrintOptions& options = {});
/// Declarations of the records that were met, and of those met in their fields.
std::string printRecords(const Module& m, class TextNames& names);
/// Texts of functions up to names: values and dimensions are numbered, and a function is `self` to itself.
/// Functions of one text compute the same; of locations it says nothing.
class StructureText {
public:
  explicit StructureText(const Module& m);
  ~StructureText();
  StructureText(const StructureText&) = delete;
  StructureText& operator=(const StructureText&) = delete;
  std::string of(FunctionId f);

private:
  const Module& module_;
  std::unique_ptr<class TextNames> names_;
};

/// The op without its regions, for messages.
std::string printOp(const Module& m, FunctionId f, OpId op);

// Words for attributes, in text and messages.
std::string_view checkName(CheckKind kind);
std::string_view derivativeName(DerivativeMode mode);

} // namespace melix::core
