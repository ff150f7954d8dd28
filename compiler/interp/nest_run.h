#pragma once
// Internal: one run of a nest. Its state is an object in a register, so that a panic or an outer nest finds
// it.

#include "core/order/order.h"
#include "interp/ordered_sums.h"

#include <optional>

namespace melix::interp {

/// The reduction so far of one element of a result.
struct Cell {
  Slot total{0};
  bool any = false; ///< of argmin and argmax: whether there is a best
  int64_t best = 0; ///< its row-major number over the reduced axes
};

struct ResultState {
  const NestResultExtra* x = nullptr;
  std::vector<int64_t> strides;       ///< by axis, of the result's elements; 0 for reduced axes
  std::vector<Cell> cells;            ///< one for each kept element, or a single one
  std::optional<OrderedSums> ordered; ///< in place of cells, where the result has an order
  std::vector<Slot> combined;         ///< Combine: `yields` values a cell
  std::vector<Slot> filtered;
  std::vector<Array*> outs; ///< null where the result is no array
  int64_t width = 1;        ///< elements of an array value
  bool single = false;      ///< the reduced axes are innermost: one cell at a time
};

inline bool isOrdered(const NestResultExtra& x) {
  return core::isOrdered(x.spec.monoid, x.spec.order, x.kind0);
}

struct NestState : Object {
  const NestExtra* x;
  std::vector<int64_t> index, extents;
  std::vector<ResultState> results;
  NestState() : Object(ObjectKind::Hidden) {}
  ~NestState() override;
};

/// Works on the state at the current point of the axes.
class NestRun {
public:
  NestRun(Frame& f, NestState& s) : f_(f), s_(s) {}

  /// Makes room for the results, or says why there is none in `problem`.
  void begin();
  /// Combines the values that the body yielded at the current point; false after a panic in a combining
  /// region.
  bool accumulate();
  /// To the next point, row-major; false at the end.
  bool advance();
  /// Puts the results into their registers.
  void end(bool empty);

  std::string problem; ///< why `begin` or `accumulate` failed, unless a region panicked

private:
  // nest.cpp
  void prepare(ResultState& r, const NestResultExtra& x);
  int64_t elementOf(const ResultState& r) const;
  void collect(ResultState& r);
  /// An array value goes in element by element.
  static void store(Array& out, int64_t at, int64_t width, const NestResultExtra& x, Slot v);
  void filter(ResultState& r);
  void endFilter(ResultState& r);

  // nest_reduce.cpp
  void reset(ResultState& r, size_t c);
  bool reduce(ResultState& r);
  void argument(const ResultState& r, Cell& cell, Slot v);
  static bool isReduced(const ResultState& r, size_t axis);
  bool combine(ResultState& r, size_t c);
  /// Axis `a` moved on: elements whose reduced axes lie further inside are complete.
  void finishCells(size_t a);
  int64_t previousElement(const ResultState& r, size_t a) const;
  void finish(ResultState& r, size_t c, int64_t at);
  void result(ResultState& r, size_t k, int64_t at, Slot v, TypeKind kind);
  void endReduce(ResultState& r, bool empty);
  int64_t lastElement(const ResultState& r) const;

  Frame& f_;
  NestState& s_;
};

} // namespace melix::interp
