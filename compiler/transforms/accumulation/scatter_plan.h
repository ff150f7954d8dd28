#pragma once
// Plans how `preaggregate_scatter` moves an add at places that indices choose, by the axes of the nests
// around it.

#include "transforms/accumulation/accumulation_sites.h"

#include <set>
#include <unordered_map>
#include <unordered_set>

namespace melix::transforms {

/// The axes around an add, by their use in the place:
///
///   %p = get %index[%k]   add_at %h[%p, %j] += %v      places: k   rows: j   summed: all others
struct ScatteredAdd {
  struct Axis {
    core::ValueId param;
    core::DimId extent;
    size_t level;         ///< of the site
    bool isKnown = false; ///< whether its extent is known before the nests
  };

  AccumulationSite site;
  std::set<core::ValueId> varying;        ///< the axes that places are made of
  std::vector<Axis> places, rows, summed; ///< rows by their place in the array
  std::vector<Axis> elements;             ///< axes of the added value that the path does not index
  std::vector<bool> guards;               ///< by level: an arm that the places alone decide
  bool isSum = false;                     ///< several terms go to one place
  bool isAhead = false; ///< sums, of these or of each term, can be an array that a nest before makes
  bool isMoved = false; ///< rows do not stand innermost, the last one inside of the others
  /// Without a point of these axes no term exists, or no value that determines its place. Reads for the place
  /// may not exist then.
  std::vector<Axis> needed;
  std::unordered_set<core::OpId> value, placing; ///< ops to copy: of the value, and of place and guard
  std::vector<core::ValueId> kept;      ///< values of the outermost body to be read from the nest as it is
  std::unordered_set<core::OpId> keeps; ///< the ops that make these
};

/// Looks at the adds of one nest.
class ScatterPlanner {
public:
  ScatterPlanner(core::Module& m, core::FunctionId f, const core::Uses& uses) : m_(m), f_(f), uses_(uses) {}
  /// Fills in the plan that moves the add of `c.site`; false if it cannot move.
  bool plan(ScatteredAdd& c);

private:
  using AxisSet = std::set<core::ValueId>;
  core::Function& fn() const { return m_.functions[f_]; }
  types::TypeStore& types() const { return m_.types; }
  const core::Op& op(core::OpId id) const { return fn().ops[id]; }

  void openSite(const ScatteredAdd& c);
  AxisSet axesOf(core::ValueId v);
  const AxisSet& axesOf(core::OpId id);
  AxisSet axesOf(core::DimId d);
  std::vector<core::DimSym> sizesFor(core::OpId id) const;
  bool isOutside(const std::vector<core::DimSym>& symbols) const;
  bool isOutside(core::DimId d) const;

  bool readPlace(ScatteredAdd& c);
  void sortAxes(ScatteredAdd& c);
  void chooseKind(ScatteredAdd& c) const;
  bool isValueSum(const ScatteredAdd& c) const;
  bool takeGuards(ScatteredAdd& c);
  bool isPlaceThere(const ScatteredAdd& c) const;
  bool takeOps(ScatteredAdd& c);
  enum class SliceKind : uint8_t { Value, Placing };
  bool slice(ScatteredAdd& c, core::ValueId v, SliceKind kind);
  bool slice(ScatteredAdd& c, core::OpId id, SliceKind kind);
  bool slice(ScatteredAdd& c, core::DimId d, SliceKind kind);
  bool isExpensiveOutside(const ScatteredAdd& c, core::OpId id) const;
  bool collectsRow(const ScatteredAdd& c, core::OpId id) const;
  bool isPlacedByAll(const ScatteredAdd& c, core::OpId id);
  bool mayFail(core::OpId id);
  void findNeeded(ScatteredAdd& c) const;
  bool keep(ScatteredAdd& c, core::OpId id) const;

  core::Module& m_;
  core::FunctionId f_;
  const core::Uses& uses_;
  // Of the site at hand:
  std::unordered_map<core::RegionId, size_t> levelOf_;     ///< of its regions
  std::unordered_map<core::DimSym, core::OpId> definedBy_; ///< sizes that ops there find
  std::unordered_set<core::DimSym> insideDims_;
  std::unordered_map<core::ValueId, ScatteredAdd::Axis> axes_;
  std::vector<ScatteredAdd::Axis> inOrder_;
  std::unordered_map<core::OpId, AxisSet> ofOp_;
  std::unordered_map<core::OpId, bool> mayFail_;
  size_t innermost_ = 0; ///< level of the last nest
  size_t free_ = 0;      ///< levels before the first arm that not the places alone decide
};

} // namespace melix::transforms
