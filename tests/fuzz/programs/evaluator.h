#pragma once
// The evaluator's state and its parts, by construct.

#include "fuzz/programs/evaluate.h"
#include "fuzz/programs/trace.h"

namespace melix::fuzz::programs {

/// How control leaves a statement or an expression before its end.
struct Left {
  Form how; ///< Break, Continue, Return
  Value value;
};

struct Frame {
  Variables variables;
  std::vector<std::pair<std::string, Kind>> types; ///< what type parameters stand for
};

/// The part of an array that subscripts select, after their checks.
struct Selection {
  std::vector<std::vector<int64_t>> positions{}; ///< along each axis
  std::vector<bool> kept{};                      ///< the axes that stay
};

/// What stands between brackets, its numbers known and nothing checked yet.
struct Subscript {
  Form form; ///< Index for a number, Slice, Whole, FromEnd, Array for positions
  int64_t a = 0, b = 0, step = 1;
  bool open = false; ///< a slice without an end
  std::vector<int64_t> positions{};
};

/// One step of a place: a field, or subscripts.
struct PlaceStep {
  int field = -1;
  std::vector<Subscript> subscripts{};
};

class Evaluator {
public:
  Evaluator(const Program& program, bool exactPanics) : program_(program), exactPanics_(exactPanics) {}

  void run();
  std::string output;
  double largest() const { return trace_.largest(); }
  uint64_t spent() const { return spent_; }

private:
  // evaluate.cpp: expressions and statements
  Value value(const NodePtr& node);
  Value named(const Node& n);
  Value operation(const Node& n);
  Value block(const Node& n);
  Value branches(const Node& n);
  Value match(const Node& n);
  bool fits(const Node& arm, const Value& subject);
  void statement(const NodePtr& node);
  void assign(const Node& n);
  void loop(const Node& n);
  /// One round of a loop; false if it was left.
  bool round(const NodePtr& body);
  void print(const Node& n);

  // evaluate_calls.cpp
  Value call(const Node& n);
  Value invoke(const Value& function, std::vector<Value> arguments);
  Value call(const Function& f, std::vector<Value>& arguments);
  Value lambda(const Node& n);
  Value gradient(const Node& n);
  Value builtin(const Node& n);
  Value wholeArray(const Node& n, const Value& of);
  void change(const Node& n);

  // evaluate_arrays.cpp
  Value builder(const Node& n);
  Value reduce(const Node& n);
  /// Calls `each` at every point of the headers, the last index fastest; gives the extents.
  std::vector<int64_t> points(const Node& n, const std::function<void()>& each);
  void header(const Node& n, size_t at, std::vector<int64_t>& extents, const std::function<void()>& each);
  void allExtents(const Node& n, std::vector<int64_t>& extents);
  Value index(const Node& n);
  Value elementwise(const std::string& op, Kind kind, const Value& a, const Value& b);
  Value matrixProduct(Kind kind, const Value& a, const Value& b);
  Value overAxis(const std::string& name, size_t axis, const Value& of);

  // evaluate_places.cpp
  std::vector<Subscript> subscripts(const Node& n);
  std::vector<PlaceStep> steps(const NodePtr& place, std::string_view& variable);
  Value read(const Value& from, const std::vector<PlaceStep>& steps, size_t at);
  /// Replaces the part by what `change` makes of it.
  void update(Value& in, const std::vector<PlaceStep>& steps, size_t at,
              const std::function<Value(const Value&)>& change);
  Selection resolve(const Value& of, const std::vector<Subscript>& subscripts);

  Value& variable(std::string_view name);
  void bind(std::string_view name, Value v) { frame().variables.emplace_back(name, std::move(v)); }
  Frame& frame() { return frames_.back(); }
  Kind kindOf(const Type& type);
  int64_t size(const std::string& dim);
  void bindSizes(const Type& type, const Value& v);
  [[noreturn]] void panic(std::string message);
  void spend();

  const Program& program_;
  bool exactPanics_;
  std::vector<Frame> frames_{};
  unsigned inside_ = 0; ///< builders and reductions around
  uint64_t spent_ = 0;
  Trace trace_{};
  friend struct Kept;
};

/// Combines terms of a reduction.
Value unitOf(const std::string& name, Kind kind);
Value combined(const std::string& name, Kind kind, const Value& a, const Value& b);

} // namespace melix::fuzz::programs
