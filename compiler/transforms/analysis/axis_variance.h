#pragma once
// Analyses the axes that values in the body of a nest or a counted loop vary with: finds the parts that may
// be computed elsewhere, over fewer axes, and copies them.

#include "core/ir/nest.h"
#include "core/order/clone.h"

#include <optional>
#include <span>
#include <unordered_map>
#include <unordered_set>

namespace melix::core {
class Effects;
}

namespace melix::transforms {

/// Axes of a nest by their numbers; the index of a loop is its only axis.
class AxisSet {
public:
  static constexpr size_t most = 64;
  AxisSet() = default;
  static AxisSet first(size_t n) { return AxisSet(n == most ? ~uint64_t(0) : (uint64_t(1) << n) - 1); }
  static AxisSet of(size_t axis) { return AxisSet(uint64_t(1) << axis); }

  bool contains(size_t axis) const { return (bits_ >> axis & 1) != 0; }
  bool empty() const { return bits_ == 0; }
  size_t size() const { return static_cast<size_t>(__builtin_popcountll(bits_)); }
  AxisSet operator|(AxisSet o) const { return AxisSet(bits_ | o.bits_); }
  AxisSet operator-(AxisSet o) const { return AxisSet(bits_ & ~o.bits_); }
  AxisSet& operator|=(AxisSet o) { return *this = *this | o; }
  bool operator==(const AxisSet&) const = default;
  bool holds(AxisSet o) const { return (o - *this).empty(); }

private:
  explicit AxisSet(uint64_t bits) : bits_(bits) {}
  uint64_t bits_ = 0;
};

/// Whether ops of a body that define sizes are copied with the ops that use them. A copy defines sizes of its
/// own, which no value that leaves the copied ops may have.
enum class OwnSizes : uint8_t { Stay, Copied };

/// Of a sweep of at most `AxisSet::most` axes. It knows the body as it was when this was made.
class AxisVariance {
public:
  AxisVariance(core::Module& m, core::FunctionId f, core::OpId sweep, const core::Effects& effects,
               OwnSizes sizes = OwnSizes::Stay);

  /// The axes that a value varies with; none for values from outside. nullopt if the ops that make it cannot
  /// be copied elsewhere: one of them has an effect, or needs a carried value or sizes of the body.
  std::optional<AxisSet> axesOf(core::ValueId v) const;
  /// The same for all results of an op of the body.
  std::optional<AxisSet> axesOf(core::OpId op) const;
  /// Whether a copy of the ops that make a value may run where the sweep has no points. They read arrays at
  /// axes alone, each over just the axis of the array that is read.
  bool readsWithin(core::ValueId v) const;
  bool readsWithin(core::OpId op) const;
  /// The ops of the body that make these values, in their order.
  std::vector<core::OpId> slice(std::span<const core::ValueId> values) const;
  /// A read before the others replaces the op: it needs nothing but its axes.
  void replaceByRead(core::OpId op, core::OpId read);

private:
  struct Made {
    AxisSet axes;
    bool within = true;
    uint32_t position = 0;
    std::vector<core::OpId> operands; ///< the ops of the body that make its operands
  };
  const core::Function& fn() const { return m_.functions[f_]; }
  bool isCopied(core::OpId id, const core::Effects& effects, OwnSizes sizes) const;
  std::optional<Made> make(core::OpId id, uint32_t position) const;
  bool look(const core::Op& op, Made& made) const;
  bool lookAt(core::ValueId v, Made& made) const;
  bool lookAtSizes(const core::Op& op, Made& made) const;
  /// Whether a read is one at axes of nests alone, each over just the axis of the array.
  bool isIndexedByAxes(const core::Op& get) const;

  core::Module& m_;
  core::FunctionId f_;
  core::RegionId body_;
  size_t axes_; ///< the first parameters of the body
  /// By ops of the body; nullopt for an op of which no copy can be placed elsewhere.
  std::unordered_map<core::OpId, std::optional<Made>> made_;
  std::unordered_map<core::DimSym, core::OpId> sizes_; ///< that the body defines; none for a parameter of it
};

/// Whether values of a type are numbers, or arrays of them.
bool isOfNumbers(const types::TypeStore& types, core::TypeId type);

/// The nest's axes of the set, opened in `made` in their order; `copy` knows them from then on. The axes of
/// the original, in the same order.
std::vector<core::ValueId> openAxes(core::NestBuilder& made, core::Cloner& copy, const core::Function& f,
                                    const core::Op& nest, AxisSet axes);

} // namespace melix::transforms
