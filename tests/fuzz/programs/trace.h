#pragma once
// What the evaluator notes about floats while it runs: how large they become, and the steps from which exact
// gradients are made backwards.

#include <cstdint>
#include <vector>

namespace melix::fuzz::programs {

struct Value;

class Trace {
public:
  /// The trace of the evaluator at work, or null.
  static Trace*& active();

  /// A result of `a` and `b`, with its slopes by them. A value without a slot does not vary.
  void note(Value& out, const Value& a, double byA, const Value& b, double byB);
  /// A number that a gradient is asked for; steps are recorded from now on.
  void vary(Value& leaf);
  void stop() { recording_ = false; }
  bool recording() const { return recording_; }
  /// The slopes of the result by every value since `vary`, at its slot. Forgets the steps.
  std::vector<double> slopes(const Value& result);
  /// The largest absolute value but those that stand for infinity: below 2^53 for a while yet, any order of a
  /// sum of whole numbers gives the same bits.
  double largest() const { return largest_; }
  void saw(double value);

private:
  struct Step {
    uint32_t a, b;
    double byA, byB;
  };
  std::vector<Step> steps_{1};
  bool recording_ = false;
  double largest_ = 0;
};

} // namespace melix::fuzz::programs
