#pragma once
// Internal to simplify. Values that branches, one in the other, choose among constants: a test of one is a
// condition of the branches.
//
//   before:  %t = if %a { yield 0 } { %b = cmp gt %x, %y   %u = if %b { yield 1 } { yield 2 }   yield %u }
//            %c = cmp eq %t, 2
//   after:   %b' = cmp gt %x, %y   %n = not %a   %m = not %b'   %c = and %n, %m
//
// Conditions that are made in an arm are rematerialised where the test stands: they are cheap.

#include "core/ir/build.h"
#include "core/ir/uses.h"
#include "support/function_ref.h"

#include <optional>

namespace melix::transforms {

class ConstantChoice {
public:
  ConstantChoice(const core::Module& m, const core::Function& f, const core::Uses& uses)
      : m_(m), f_(f), uses_(uses) {}

  /// Whether the value is chosen among a few constants, on conditions that are cheap.
  bool isOne(core::ValueId v) const;
  /// Where `holds` is true of the bits of the constant that is chosen.
  core::ValueId conditionWhere(core::Builder& b, core::ValueId v, FunctionRef<bool(uint64_t)> holds) const;

private:
  /// A choice between two values by a condition.
  struct Choice {
    core::ValueId condition, yes, no;
    core::OpId branch;
  };
  struct Condition {
    std::optional<bool> always;
    core::ValueId value;
  };
  std::optional<Choice> choiceOf(core::ValueId v) const;
  bool isConstant(core::ValueId v) const;
  bool isOne(core::ValueId v, std::vector<core::RegionId>& arms, size_t& left) const;
  bool isMadeIn(std::span<const core::RegionId> arms, core::ValueId v) const;
  bool canRepeat(std::span<const core::RegionId> arms, core::ValueId v, size_t& left) const;
  core::ValueId repeated(core::Builder& b, std::span<const core::RegionId> arms, core::ValueId v) const;
  Condition where(core::Builder& b, core::ValueId v, std::vector<core::RegionId>& arms,
                  FunctionRef<bool(uint64_t)> holds) const;

  const core::Module& m_;
  const core::Function& f_;
  const core::Uses& uses_;
};

} // namespace melix::transforms
