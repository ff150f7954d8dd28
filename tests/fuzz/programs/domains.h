#pragma once
// The place in a function about domains for which a term, a range or an array is made.

#include "fuzz/programs/spellings.h"

namespace melix::fuzz::programs {

/// An index in scope, `0 <= name < size`.
struct Axis {
  std::string name;
  std::string size;
};

struct Site {
  Context& c;
  Type element; ///< of the arrays: f64, f32 or int
  std::vector<Axis> axes{};
  std::vector<Parameter> arrays{};    ///< of the element, parameters and those made so far
  std::vector<std::string> sizes{};   ///< numerals and names of dimensions
  std::vector<std::string> numbers{}; ///< small positive ints
  std::vector<std::string> flags{};   ///< bools
  bool graded = false;                ///< its gradient is asked for
  double volume = 1;                  ///< iterations of the loops around
  double most = 6000;                 ///< iterations of one nest
  bool simple = false;                ///< terms are short, of large nests

  bool real() const { return isFloat(element->kind); }
};

/// A range of an axis is left when this ends, and what was declared inside.
class Nested {
public:
  explicit Nested(Site& s) : s_(s), axes_(s.axes.size()), arrays_(s.arrays.size()), volume_(s.volume) {}
  ~Nested() {
    s_.axes.resize(axes_);
    s_.arrays.resize(arrays_);
    s_.volume = volume_;
  }
  Nested(const Nested&) = delete;
  Nested& operator=(const Nested&) = delete;

private:
  Site& s_;
  size_t axes_, arrays_;
  double volume_;
};

// domain_terms.cpp
/// An affine index of the axes in scope, or a quotient or remainder of one; any int.
NodePtr affine(Site& s);
/// A condition of the axes in scope, and sometimes of data.
NodePtr condition(Site& s, int depth = 2);
/// A number of the element's type, with reads that stay in range.
NodePtr term(Site& s);
/// The element at the positions: zero, the nearest or the next period where they leave the array.
NodePtr readAt(Site& s, const Parameter& array, std::vector<NodePtr> positions);
NodePtr masked(Site& s, NodePtr value);

// domain_ranges.cpp
/// Whether loops over the axis fit what may run.
bool affords(const Site& s, const std::string& size);
/// A range over all of the axis, which is then in scope.
NodePtr wholeRange(Site& s, const std::string& size);
/// A part of the axis: a triangle, a band, a block, a stride. It never ends before it begins.
NodePtr partOf(Site& s, const std::string& size);
/// A reduction over one or more further axes.
NodePtr reductionOf(Site& s);

// domain_nests.cpp
/// An array of the sizes, or a scalar for none; adds statements that it needs.
NodePtr arrayValue(Site& s, const std::vector<std::string>& dims, std::vector<NodePtr>& body);

// domain_products.cpp
/// A product of two of the arrays over the inner axis.
NodePtr productOf(Site& s, const std::vector<std::string>& dims, const std::string& inner,
                  std::vector<NodePtr>& body);
/// The matrix in a triangle, a band or where another condition holds, and else zeros.
NodePtr maskedCopy(Site& s, const Parameter& matrix);
/// Attention of queries, keys and values, whose weights are 0 and 1: all arithmetic stays exact.
NodePtr attentionOf(Site& s, std::vector<NodePtr>& body);
/// The second array is the kernel, by output, input and one or two axes, and the first the image.
NodePtr convolutionOf(Site& s, const std::vector<std::string>& dims);

// domain_functions.cpp
/// A size of a function's arrays: a number, or a name that calls bind.
struct Dim {
  std::string name;
  std::vector<int64_t> values; ///< at each call
};

/// What a function computes.
enum class Shape : uint8_t { Any, Product, Convolution, Attention };

std::vector<Dim> dimsFor(Context& c, Shape shape);
std::shared_ptr<Function> domainFunction(Context& c, const Type& element, const std::vector<Dim>& dims,
                                         Shape shape, bool graded);

/// Declares functions that programs about domains call: reads with an edge, masks, tests.
void declareHelpers(Context& c, const Type& element);

} // namespace melix::fuzz::programs
