#pragma once
// Plans how `scatter_to_gather` converts adds to reductions. A plan has, for each add, the axes of the
// enclosing nests, the axes that its place is solved for, and the ops that are copied.

#include "core/analysis/affine.h"
#include "core/analysis/ranges.h"
#include "support/function_ref.h"
#include "transforms/accumulation/accumulation_sites.h"
#include "transforms/analysis/maybe_undefined.h"

#include <algorithm>
#include <map>
#include <optional>
#include <unordered_set>

namespace melix::transforms {

/// One way to write a sum into an array: for each axis of the target an axis of the nest that is solved for.
///
///   Unit      %place = sign·axis + …                     the axis is the remaining form
///   Radix     %place = radix·axis + rest                 quotient and remainder, as 0 <= rest < radix
///   Stride    %place = sign·(radix·axis + rest) + …      of all rests with the remainder, each is a term: an
///                                                        axis of its own counts them
///   Multiple  %place = sign·radix·axis + …               where the remaining form is a multiple
///   Part      %place = axis + …                          the remaining form is invariant: a part as
///                                                        long as the axis
struct Solved {
  enum class Kind : uint8_t { Fixed, Unit, Radix, Stride, Multiple, Part };
  Kind kind = Kind::Fixed;
  core::AffineForm index;
  core::ValueId axis;
  int64_t sign = 1;
  core::ValueId rest;
  int64_t radix = 1; ///< of Stride it may be negative
};

/// An axis of which an index holds a quotient or a remainder: both are axes, and it is
/// sign·(by·quotient + remainder - rest).
struct Divided {
  core::ValueId axis, dividend;
  core::AffineForm rest; ///< of the dividend, beside the axis
  int64_t sign = 1;
  core::DimId by;
  core::ValueId quotient, remainder;
  bool isWhole = false; ///< whether every pair of both is a point
};

/// One add as a reduction of its own.
struct Conversion {
  AccumulationSite site;
  std::vector<core::ValueId> axes; ///< of all levels, then of slices and whole axes
  /// No extent is less than the number of points of its axis. The extent of an axis that stands for a number
  /// may be more.
  std::vector<core::DimId> extents;
  core::DimId points; ///< of the nests around the add, at most
  /// Where the points of an axis end whose number differs with the axes around it: below all of these.
  std::unordered_map<core::ValueId, std::vector<core::AffineForm>> ends;
  /// Sizes from inside the nest, by the value read of them, as forms of the axes.
  std::unordered_map<core::ValueId, core::AffineForm> sizes;
  std::vector<core::ValueId> element; ///< the axes that index the added value
  core::OpId row; ///< the nest that collects it, each element from few reads and of other such rows; or none
  std::unordered_set<core::OpId> rows; ///< nests, and sums of such, of which elements are read: made there
  std::vector<Divided> divided;
  /// Numbers that are found at a point, as the place of its greatest: by an axis of all that they can be.
  /// There is a term where the axis is the number.
  std::map<core::ValueId, core::ValueId> found;
  std::vector<Solved> target;         ///< for each axis of the accumulator
  std::unordered_set<uint32_t> slice; ///< ops to copy
  std::vector<core::ValueId> kept;    ///< values of the outermost body to be read from the first nest
  std::unordered_set<core::OpId>
      recomputed; ///< expensive ops of the slice, and the ops that make their operands

  core::DimId extentOf(core::ValueId axis) const;
  /// How many points of the rest beside a step have one remainder.
  core::DimId steps(types::DimStore& dims, const Solved& s) const;
  bool isAxis(core::ValueId v) const { return std::find(axes.begin(), axes.end(), v) != axes.end(); }
  /// Whether every point of the axis is a point of the nests. Not if the axis ends with others, nor if it
  /// stands for a number, which may have fewer values.
  bool isWhole(core::ValueId axis) const;
  /// Whether an index is a found number and no step: most of the elements have no term.
  bool looksForElement() const;
  /// Whether the place determines the axis.
  bool isSolved(core::ValueId axis) const;
  /// Whether points may be without the add: it stands in a branch, or ends differ.
  bool mayMissPoints() const;
};

/// Whether an op collects numbers, in the order of its axes, each of which costs about as much as a load.
/// Elements of such a row are rematerialised where they are added.
bool isSoonMadeRow(const types::TypeStore& types, const core::Function& f, const core::Op& op);

/// How many times `by` it takes for `n`.
core::DimId ceilDiv(types::DimStore& dims, core::DimId n, core::DimId by);

/// Plans for one nest.
class AccumulationPlanner {
public:
  AccumulationPlanner(core::Module& m, core::FunctionId f, const core::Uses& uses, const Undefined& undefined,
                      core::OpId nest);
  /// Fills in the conversion of `c.site`; whether there is one.
  bool plan(Conversion& c);

private:
  using AffineIndices = std::vector<std::optional<core::AffineForm>>;
  core::Function& fn() const { return m_.functions[f_]; }
  types::TypeStore& types() const { return m_.types; }

  void enter(core::RegionId r);
  bool outside(core::ValueId v) const;
  bool allOutside(const std::vector<core::DimSym>& symbols) const;
  bool outsideDim(core::DimId d) const;
  bool outsideType(core::TypeId t) const;

  bool takeAxes(Conversion& c) const;
  bool takeRaggedAxis(Conversion& c, core::ValueId axis, core::DimId extent) const;
  std::vector<core::DimId> leastOf(core::DimId d) const;
  core::DimId bound(const Conversion& c, const core::AffineForm& end) const;
  bool placeIndices(Conversion& c, AffineIndices& indices);
  core::ValueId newAxis(Conversion& c, core::DimId extent);
  std::optional<core::AffineForm> wholeAxis(Conversion& c, core::DimId extent);
  core::ValueId elementAxis(Conversion& c, core::DimId extent);
  std::optional<core::AffineForm> placeIndex(Conversion& c, core::ValueId v, core::DimId extent);
  std::optional<core::AffineForm> formOf(Conversion& c, core::ValueId v);
  core::ValueId foundAxis(Conversion& c, core::ValueId v, core::DimId extent);
  core::ValueId substitute(Conversion& c, core::ValueId v);
  core::DimId divisor(core::ValueId v) const;
  const Divided* divide(Conversion& c, const core::Op& op);
  bool writeQuotients(const Conversion& c, AffineIndices& indices) const;
  std::optional<core::AffineForm> affine(const Conversion& c, core::ValueId v,
                                         FunctionRef<bool(core::ValueId)> isSubstituted = nullptr) const;
  std::optional<core::AffineForm> affine(const Conversion& c, core::DimId d) const;
  bool solve(Conversion& c, const AffineIndices& indices);
  bool elementIndexIsInBounds(const Conversion& c, size_t axis);
  bool solveIndex(const Conversion& c, Solved& s, std::map<core::ValueId, int>& uses);
  static bool solveRagged(const Conversion& c, Solved& s, std::map<core::ValueId, int>& uses);
  bool radix(const Conversion& c, const core::AffineForm& i, std::map<core::ValueId, int>& uses,
             Solved& s) const;
  bool stride(const Conversion& c, core::ValueId rest, std::map<core::ValueId, int>& uses, Solved& s);
  bool hasFewerSteps(const Conversion& c, const Solved& stride);
  bool multiple(const Conversion& c, std::map<core::ValueId, int>& uses, Solved& s);
  bool hasMorePoints(const Conversion& c, core::ValueId a, core::ValueId b);
  bool isDense(const Conversion& c) const;
  bool areQuotientsFew(const Conversion& c) const;
  /// The operands and sizes of the ops to be copied.
  struct Needed {
    std::unordered_set<uint32_t> values, dims;
    std::unordered_set<uint32_t> kept; ///< values that are stored
  };
  bool slice(Conversion& c) const;
  bool isMadeOfLess(Conversion& c, core::OpId op) const;
  bool hasFewPoints(const core::Op& nest) const;
  bool readsLess(const Conversion& c, const core::Op& get, std::unordered_set<core::ValueId>& axes) const;
  bool readsElement(core::Use use, const std::unordered_set<core::RegionId>& regions) const;
  bool isReadWithin(const Conversion& c, core::OpId row,
                    const std::unordered_set<core::RegionId>& nests) const;
  bool isWorkedRow(const Conversion& c, const core::Op& row) const;
  uint32_t flopsOfAll(const std::unordered_set<core::OpId>& ops) const;
  bool isRowOfLess(const Conversion& c, const core::Op& row) const;
  bool isReadByRows(const Conversion& c, core::OpId row, core::RegionId body,
                    const std::unordered_set<core::RegionId>& rows) const;
  bool sliceLevel(Conversion& c, size_t level, Needed& needed) const;
  void keepNumbers(Conversion& c, const core::Op& row, Needed& needed) const;
  void need(const core::Op& op, Needed& needed) const;
  bool dimsCopied(const Conversion& c) const;

  core::Module& m_;
  core::FunctionId f_;
  const core::Uses& uses_;
  const Undefined& undefined_;
  core::Ranges ranges_; ///< without facts from checks and branches
  std::unordered_set<uint32_t> insideOps_, insideDims_, insideParams_;
  std::unordered_map<core::DimSym, core::ValueId> boundTo_; ///< numbers that sizes inside are
};

} // namespace melix::transforms
