#include "transforms/grad_check.h"

#include "core/order/verify.h"
#include "core/text/parse.h"
#include "core/text/print.h"
#include "transforms/accumulation/scatter_to_gather.h"
#include "transforms/accumulation/split_nest_results.h"
#include "transforms/calls/inline_calls.h"
#include "transforms/derivatives/expand_derivatives.h"
#include "transforms/fusion/loop_invariant_code_motion.h"
#include "transforms/simplify/simplify.h"

#include <cmath>
#include <gtest/gtest.h>

namespace melix::test {

using namespace core;
using interp::Value;

Value array64(std::vector<double> v, std::vector<int64_t> dims) {
  if (dims.empty()) dims = {static_cast<int64_t>(v.size())};
  return Value::array(TypeKind::F64, dims, v.data());
}
Value arrayInt(std::vector<int64_t> v) {
  std::vector<int64_t> dims{static_cast<int64_t>(v.size())};
  return Value::array(TypeKind::I64, dims, v.data());
}

static std::optional<double> math(ops::MathKind kind, TypeKind, double x, double y) {
  using ops::MathKind;
  switch (kind) {
  case MathKind::Exp: return std::exp(x);
  case MathKind::Exp2: return std::exp2(x);
  case MathKind::Expm1: return std::expm1(x);
  case MathKind::Log: return std::log(x);
  case MathKind::Log2: return std::log2(x);
  case MathKind::Log10: return std::log10(x);
  case MathKind::Log1p: return std::log1p(x);
  case MathKind::Sin: return std::sin(x);
  case MathKind::Cos: return std::cos(x);
  case MathKind::Tan: return std::tan(x);
  case MathKind::Asin: return std::asin(x);
  case MathKind::Acos: return std::acos(x);
  case MathKind::Atan: return std::atan(x);
  case MathKind::Sinh: return std::sinh(x);
  case MathKind::Cosh: return std::cosh(x);
  case MathKind::Tanh: return std::tanh(x);
  case MathKind::Erf: return std::erf(x);
  case MathKind::Pow: return std::pow(x, y);
  case MathKind::Rem: return x - y * std::floor(x / y);
  case MathKind::Atan2: return std::atan2(x, y);
  }
  return std::nullopt;
}

GradCheck::GradCheck(std::string text, std::string function) {
  std::string error = parseModule(module_, text);
  EXPECT_EQ(error, "") << text;
  f_ = findFunction(module_, function);
  EXPECT_TRUE(f_.valid()) << text;
  for (const std::string& e : verify(module_)) ADD_FAILURE() << e;
  const Function& f = module_.functions[f_];
  for (uint32_t i = 0; i < f.params().size(); ++i)
    if (isFloats(f.typeOf(f.params()[i]))) wrt_.push_back(i);
}

GradCheck& GradCheck::dims(std::vector<int64_t> values) {
  dims_ = std::move(values);
  return *this;
}
GradCheck& GradCheck::argument(size_t index, Value value) {
  given_[index] = std::move(value);
  return *this;
}
GradCheck& GradCheck::orders(int highest) {
  orders_ = highest;
  return *this;
}
GradCheck& GradCheck::tolerance(double t) {
  tolerance_ = t;
  return *this;
}
GradCheck& GradCheck::withoutReductions() {
  reduce_ = false;
  return *this;
}

bool GradCheck::isFloats(TypeId t) const { return types_.kind(types_.element(t)) == TypeKind::F64; }

double GradCheck::random() {
  seed_ = seed_ * 6364136223846793005ull + 1442695040888963407ull;
  return 0.3 + static_cast<double>(seed_ >> 40) / static_cast<double>(1ull << 24);
}

Value GradCheck::randomValue(TypeId t) {
  if (types_.kind(t) == TypeKind::F64) return Value::f64(random());
  std::unordered_map<DimSym, int64_t> values;
  const Function& f = module_.functions[f_];
  for (size_t i = 0; i < f.dimParams.size(); ++i) values[f.dimParams[i]] = dims_[i];
  std::vector<int64_t> extents;
  size_t count = 1;
  for (DimId d : types_[t].dims) {
    extents.push_back(*types_.dims.evaluate(d, values));
    count *= static_cast<size_t>(extents.back());
  }
  std::vector<double> data;
  for (size_t i = 0; i < count; ++i) data.push_back(random());
  return Value::array(TypeKind::F64, extents, data.data());
}

std::vector<Value> GradCheck::arguments() {
  seed_ = 42;
  std::vector<Value> out;
  const Function& f = module_.functions[f_];
  for (size_t i = 0; i < f.params().size(); ++i)
    out.push_back(given_.count(i) ? given_.at(i) : randomValue(f.typeOf(f.params()[i])));
  return out;
}

/// A function whose body is one derivative op.
FunctionId GradCheck::derivative(FunctionId callee, DerivativeMode mode, const std::vector<uint32_t>& wrt,
                                 const std::vector<bool>& seeded, const std::string& name) {
  Function d;
  d.name = name;
  d.key = name;
  d.keep = true;
  d.body = d.regions.add(Region{});
  std::vector<TypeId> params, results;
  types::DimSubst to;
  {
    const Function& f = module_.functions[callee];
    for (DimSym s : f.dimParams) {
      d.dimParams.push_back(types_.dims.newSym(types_.dims.info(s)));
      to[s] = types_.dims.symbol(d.dimParams.back());
    }
    auto type = [&](TypeId t) { return types_.substitute(t, to); };
    for (ValueId p : f.params()) params.push_back(type(f.typeOf(p)));
    for (TypeId t : f.results) results.push_back(type(t));
  }
  std::vector<TypeId> in = params, out = results;
  if (mode == DerivativeMode::Jvp) {
    for (uint32_t w : wrt) in.push_back(params[w]);
    for (TypeId t : results)
      if (isFloats(t)) out.push_back(t);
  } else {
    for (size_t i = 0; i < results.size(); ++i)
      if (seeded[i]) in.push_back(results[i]);
    for (uint32_t w : wrt) out.push_back(params[w]);
  }
  d.results = out;
  FunctionId id = module_.functions.add(std::move(d));
  Builder b(module_, id, module_.functions[id].body, module_.functions[f_].ops[OpId(0)].loc);
  Op op;
  op.kind = OpKind::Derivative;
  for (TypeId t : in) op.operands.push_back(b.param(t));
  for (DimSym s : module_.functions[id].dimParams) op.dims.push_back(types_.dims.symbol(s));
  op.attr = DerivativeAttr{mode, callee, wrt, seeded, {}};
  OpId made = b.append(std::move(op), out);
  b.yield(b.fn().ops[made].results);
  return id;
}

void GradCheck::expand() {
  if (program_) return;
  std::vector<bool> seeded;
  for (TypeId t : module_.functions[f_].results) seeded.push_back(isFloats(t));
  module_.functions[f_].keep = true;
  jvp_ = derivative(f_, DerivativeMode::Jvp, wrt_, {}, "jvp_of_f");
  reverse_ = derivative(f_, DerivativeMode::Reverse, wrt_, seeded, "reverse_of_f");
  if (orders_ >= 2) {
    forwardOverReverse_ = derivative(reverse_, DerivativeMode::Jvp, wrt_, {}, "forward_over_reverse");
    std::vector<bool> gradients(module_.functions[reverse_].results.size(), false);
    for (size_t i = gradients.size() - wrt_.size(); i < gradients.size(); ++i) gradients[i] = true;
    reverseOverReverse_ =
        derivative(reverse_, DerivativeMode::Reverse, wrt_, gradients, "reverse_over_reverse");
  }
  if (orders_ >= 3) third_ = derivative(forwardOverReverse_, DerivativeMode::Jvp, wrt_, {}, "third");
  transforms::DerivativeResult r = transforms::expandDerivatives(module_);
  for (const transforms::AdProblem& p : r.problems) problems_.push_back(p.reason);
  if (!problems_.empty()) return;
  for (const std::string& e : verify(module_, {State::DerivativesGone})) fail("after expand: " + e);
  auto pass = [&](const char* name, auto run) {
    run(module_);
    for (const std::string& e : verify(module_, {State::DerivativesGone}))
      fail(std::string("after ") + name + ": " + e);
  };
  if (reduce_) {
    pass("simplify", transforms::simplify);
    pass("inline_calls", [](Module& m) { transforms::inlineCalls(m, {.beforeDerivatives = false}); });
    pass("simplify", transforms::simplify);
    pass("scatter_to_gather", transforms::scatterToGather);
    pass("split_nest_results", transforms::splitNestResults);
    pass("hoist_axis_invariants", transforms::hoistAxisInvariants);
    pass("simplify", transforms::simplify);
  }
  interp::Hooks hooks;
  hooks.math = math;
  program_ = std::make_unique<interp::Program>(module_, hooks);
}

std::string GradCheck::text() {
  expand();
  return printModule(module_);
}

interp::RunResult GradCheck::run(const std::string& name, std::vector<Value> args) {
  expand();
  return program_->run(findFunction(module_, name), std::move(args), dims_);
}

std::vector<double> GradCheck::flatten(const Value& v) const {
  if (!interp::isObject(v.kind())) return {v.asF64()};
  const interp::Array& a = v.asArray();
  const double* d = reinterpret_cast<const double*>(a.data);
  return std::vector<double>(d, d + a.count);
}

Value GradCheck::rebuild(const Value& like, const double*& from) const {
  if (!interp::isObject(like.kind())) return Value::f64(*from++);
  const interp::Array& a = like.asArray();
  Value v = Value::array(TypeKind::F64, a.dims, from);
  from += a.count;
  return v;
}

/// Floats among `count` results from `from` on, flattened.
std::vector<double> GradCheck::call(FunctionId f, const std::vector<Value>& args, size_t from, size_t count) {
  interp::RunResult r = program_->run(f, args, dims_);
  std::vector<double> out;
  if (r.panicked) {
    fail(module_.functions[f].name + ": " + r.panic.message);
    return out;
  }
  for (size_t i = from; i < from + count; ++i) {
    if (!isFloats(module_.functions[f].results[i])) continue;
    std::vector<double> v = flatten(r.values[i]);
    out.insert(out.end(), v.begin(), v.end());
  }
  return out;
}

static double dot(const std::vector<double>& a, const std::vector<double>& b) {
  double sum = 0;
  for (size_t i = 0; i < a.size() && i < b.size(); ++i) sum += a[i] * b[i];
  return sum;
}

void GradCheck::equal(double a, double b, double tolerance, const char* what) {
  if (!(std::abs(a - b) <= tolerance))
    fail(std::string(what) + ": " + std::to_string(a) + " and " + std::to_string(b));
}

void GradCheck::near(const std::vector<double>& a, const std::vector<double>& b, double tolerance,
                     const char* what) {
  if (a.size() != b.size()) return fail(std::string(what) + ": different numbers of numbers");
  double scale = 1;
  for (double x : a) scale = std::max(scale, std::abs(x));
  for (size_t i = 0; i < a.size(); ++i) equal(a[i], b[i], tolerance * scale, what);
}

std::vector<double> GradCheck::gradient() {
  expand();
  if (!program_) return {};
  std::vector<Value> args = arguments();
  const size_t results = module_.functions[f_].results.size();
  interp::RunResult primal = program_->run(f_, args, dims_);
  for (size_t i = 0; i < results; ++i) {
    if (!isFloats(module_.functions[f_].results[i])) continue;
    std::vector<double> ones(flatten(primal.values[i]).size(), 1.0);
    const double* from = ones.data();
    args.push_back(rebuild(primal.values[i], from));
  }
  return call(reverse_, args, results, wrt_.size());
}

void GradCheck::check() {
  for (const std::string& f : failures()) ADD_FAILURE() << f;
}

std::vector<std::string> GradCheck::failures() {
  failures_.clear();
  compare();
  return failures_;
}

void GradCheck::compare() {
  expand();
  for (const std::string& p : problems_) fail(p);
  if (!program_) return;
  const Function& f = module_.functions[f_];
  const size_t results = f.results.size();
  std::vector<Value> args = arguments();
  std::vector<double> x;
  for (uint32_t w : wrt_) {
    std::vector<double> v = flatten(args[w]);
    x.insert(x.end(), v.begin(), v.end());
  }
  std::vector<double> v, w;
  for (size_t i = 0; i < x.size(); ++i) v.push_back(random() - 0.7);
  for (size_t i = 0; i < x.size(); ++i) w.push_back(random() - 0.7);
  auto at = [&](double h) {
    std::vector<Value> moved = args;
    std::vector<double> y = x;
    for (size_t i = 0; i < y.size(); ++i) y[i] += h * v[i];
    const double* from = y.data();
    for (uint32_t k : wrt_) moved[k] = rebuild(args[k], from);
    return moved;
  };
  auto append = [&](std::vector<Value> base, const std::vector<double>& direction) {
    const double* from = direction.data();
    for (uint32_t k : wrt_) base.push_back(rebuild(args[k], from));
    return base;
  };
  auto difference = [&](FunctionId g, const std::vector<Value>& more, size_t from, size_t count) {
    const double h = 1e-5;
    std::vector<Value> a = at(h), b = at(-h);
    a.insert(a.end(), more.begin(), more.end());
    b.insert(b.end(), more.begin(), more.end());
    std::vector<double> up = call(g, a, from, count), down = call(g, b, from, count);
    for (size_t i = 0; i < up.size(); ++i) up[i] = (up[i] - down[i]) / (2 * h);
    return up;
  };

  // First order: values as before, forward against differences, reverse against forward.
  std::vector<double> y = call(f_, args, 0, results);
  near(y, call(jvp_, append(args, v), 0, results), 1e-14, "value beside the jvp");
  const size_t tangents = module_.functions[jvp_].results.size() - results;
  std::vector<double> t = call(jvp_, append(args, v), results, tangents);
  near(t, difference(f_, {}, 0, results), tolerance_, "jvp and difference");
  if (t.size() != y.size()) return;
  std::vector<double> seed;
  for (size_t i = 0; i < t.size(); ++i) seed.push_back(random() - 0.5);
  std::vector<Value> seeds;
  interp::RunResult primal = program_->run(f_, args, dims_);
  const double* from = seed.data();
  for (size_t i = 0; i < results; ++i)
    if (isFloats(f.results[i])) seeds.push_back(rebuild(primal.values[i], from));
  std::vector<Value> seededArgs = args;
  seededArgs.insert(seededArgs.end(), seeds.begin(), seeds.end());
  near(y, call(reverse_, seededArgs, 0, results), 1e-14, "value beside the gradient");
  std::vector<double> g = call(reverse_, seededArgs, results, wrt_.size());
  equal(dot(t, seed), dot(v, g), 1e-9 * (1 + std::abs(dot(t, seed))), "<Jv, w> and <v, J'w>");
  if (orders_ < 2) return;

  // Second order: of the gradient, forward against differences, reverse against forward.
  const size_t reverseResults = module_.functions[reverse_].results.size();
  std::vector<double> hv =
      call(forwardOverReverse_, append(seededArgs, v),
           module_.functions[forwardOverReverse_].results.size() - wrt_.size(), wrt_.size());
  near(hv, difference(reverse_, seeds, results, wrt_.size()), 10 * tolerance_,
       "jvp of the gradient and difference");
  std::vector<double> hw = call(reverseOverReverse_, append(seededArgs, w), reverseResults, wrt_.size());
  equal(dot(hv, w), dot(v, hw), 1e-8 * (1 + std::abs(dot(hv, w))), "<Hv, w> and <v, Hw>");
  if (orders_ < 3) return;

  std::vector<Value> more = seeds;
  more = append(more, v);
  std::vector<double> third = call(third_, append(append(seededArgs, v), v),
                                   module_.functions[third_].results.size() - wrt_.size(), wrt_.size());
  near(third,
       difference(forwardOverReverse_, more,
                  module_.functions[forwardOverReverse_].results.size() - wrt_.size(), wrt_.size()),
       100 * tolerance_, "third order and difference");
}

} // namespace melix::test
