#pragma once
// Versions nests by divisibility: finds axes that are divided by numbers from before the nest, and emits the
// test whether their extents are multiples of these numbers.

#include "core/analysis/ranges.h"
#include "core/order/clone.h"
#include "support/function_ref.h"

#include <map>
#include <optional>

namespace melix::transforms {

/// A number from before a nest that divides axes. No size determines which axes are multiples of it. It is an
/// i64, or the size that it is.
struct Divisor {
  core::ValueId number;
  std::optional<core::DimId> size;
  auto operator<=>(const Divisor&) const = default;
};

/// Symbols for such numbers, one for each, by which axes are compared; the arm of each version has its own.
using DivisorNames = std::map<Divisor, core::DimSym>;

/// The divisions of one nest, for a test of its own.
struct Divisions {
  /// The extent of axes, to be a multiple of the divisor `by`, a product of one term: of constants, sizes and
  /// names.
  struct Axis {
    core::DimId extent, by;
    std::optional<core::DimId> times; ///< how often, where quotients are indices of axes as long
    int64_t least;                    ///< that the last of the factors has to be
  };
  /// An operand that a name stands for.
  struct Named {
    core::OpId op;
    uint32_t operand;
    Divisor divisor;
  };
  std::vector<Axis> axes;
  std::vector<Named> named;
  /// Whether an extent is no symbol, as `N*M`. The arm then has another size for it as a whole, which sizes
  /// made of N or M do not follow. So no copied op may reshape.
  bool hasWhole = false;
};

/// Of a nest of sums and those in it.
Divisions divisionsOf(core::Module& module, core::FunctionId f, core::OpId nest, core::Ranges& ranges,
                      DivisorNames& names);

/// Emits the test, and the facts that hold in its first arm.
class DivisionWriter {
public:
  /// Of axes of the same extent the one that is divided by a multiple of the other's size counts.
  DivisionWriter(core::Module& m, const DivisorNames& names, const std::vector<Divisions>& all);

  bool isAny() const { return !axes_.empty(); }
  /// Whether each extent is a multiple.
  core::ValueId holds(core::Builder& b) const;
  /// In an arm where each extent is a multiple: names the numbers and the quotients. In copies the extents
  /// are products of these names. A value from outside of `ops` that has such an extent in its type is cast.
  void enter(core::Builder& arm, core::Cloner& copy, std::span<const core::OpId> ops);
  /// The operands to replace in the copy of an op: the names.
  std::vector<std::pair<uint32_t, core::ValueId>> renamed(core::OpId id, core::Builder& b) const;

private:
  struct Factor {
    core::DimId size;
    const Divisor* divisor; ///< of a name
  };
  std::vector<Factor> factorsOf(core::DimId by) const;
  static core::ValueId number(const Divisor& divisor, core::Builder& b);
  core::ValueId number(const Factor& factor, core::Builder& b) const;
  core::ValueId holds(core::Builder& b, core::ValueId whole, std::span<const Factor> by,
                      std::span<const Divisions::Axis> axes) const;
  core::ValueId holds(core::Builder& b, std::span<const Divisions::Axis> axes) const;
  void cast(core::Builder& arm, core::Cloner& copy, std::span<const core::OpId> ops) const;

  core::Module& m_;
  std::map<core::DimSym, Divisor> divisors_;
  std::vector<Divisions::Axis> axes_;
  std::vector<Divisions::Named> named_;
  std::map<Divisor, core::DimId> here_; ///< the numbers as sizes of the arm
};

/// `if first { then } { false }`.
core::ValueId andThen(core::Builder& b, core::ValueId first, FunctionRef<core::ValueId(core::Builder&)> then);

} // namespace melix::transforms
