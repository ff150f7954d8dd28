#pragma once
// Derivatives of a Core function, both modes and to the third order, against differences and against each
// other.
//
//   GradCheck("fn f (%x: f64) -> (f64) { … }").inputs({…}).check();
//
// Every f64 and array-of-f64 parameter of `f` is differentiated; other parameters are given as they are.

#include "core/ir/build.h"
#include "interp/interp.h"

#include <optional>
#include <string>

namespace melix::test {

class GradCheck {
public:
  explicit GradCheck(std::string text, std::string function = "f");

  /// Values of dimension parameters, in order.
  GradCheck& dims(std::vector<int64_t> values);
  /// A parameter that is not differentiated, or one whose value matters; others are random in [0.3, 1.3).
  GradCheck& argument(size_t index, interp::Value value);
  GradCheck& orders(int highest);
  GradCheck& tolerance(double t);
  GradCheck& withoutReductions(); ///< leaves accumulators alone

  /// Reports failures through GoogleTest.
  void check();
  /// What `check` would report.
  std::vector<std::string> failures();
  /// Cotangents of the differentiated parameters for seeds of one, flattened.
  std::vector<double> gradient();
  /// Core text of everything after the passes.
  std::string text();
  std::vector<std::string> problems() const { return problems_; }
  /// Runs a function of the expanded module.
  interp::RunResult run(const std::string& name, std::vector<interp::Value> args);
  std::vector<interp::Value> arguments();

private:
  void expand();
  void compare();
  void fail(std::string what) { failures_.push_back(std::move(what)); }
  void near(const std::vector<double>& a, const std::vector<double>& b, double tolerance, const char* what);
  void equal(double a, double b, double tolerance, const char* what);
  core::FunctionId derivative(core::FunctionId f, core::DerivativeMode mode, const std::vector<uint32_t>& wrt,
                              const std::vector<bool>& seeded, const std::string& name);
  bool isFloats(core::TypeId t) const;
  std::vector<double> flatten(const interp::Value& v) const;
  interp::Value rebuild(const interp::Value& like, const double*& from) const;
  std::vector<double> call(core::FunctionId f, const std::vector<interp::Value>& args, size_t from,
                           size_t count);
  interp::Value randomValue(core::TypeId t);
  double random();

  Interner names_;
  types::TypeStore types_{names_};
  core::Module module_{types_};
  core::FunctionId f_, jvp_, reverse_, forwardOverReverse_, reverseOverReverse_, third_;
  std::vector<uint32_t> wrt_;
  std::vector<int64_t> dims_;
  std::map<size_t, interp::Value> given_;
  std::vector<std::string> problems_, failures_;
  std::unique_ptr<interp::Program> program_;
  int orders_ = 2;
  double tolerance_ = 2e-6;
  bool reduce_ = true;
  uint64_t seed_ = 42;
};

/// An array of f64.
interp::Value array64(std::vector<double> v, std::vector<int64_t> dims = {});
interp::Value arrayInt(std::vector<int64_t> v);

} // namespace melix::test
