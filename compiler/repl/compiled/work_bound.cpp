#include "repl/compiled/work_bound.h"

#include <algorithm>
#include <limits>
#include <map>
#include <set>

namespace melix::repl {

using core::FunctionId;
using core::Op;
using core::OpId;
using core::OpKind;
using core::RegionId;
using core::ValueId;

namespace {

constexpr double unknown = std::numeric_limits<double>::infinity();
constexpr double mostLight = 50'000; ///< ops: some milliseconds
constexpr double mathOps = 30, builtinOps = 10, derivativeFactor = 6;

/// The sizes that dimension parameters have in a call.
using Sizes = std::vector<std::optional<int64_t>>;

class WorkBound {
public:
  explicit WorkBound(const core::Module& module) : module_(module), dims_(module.types.dims) {}

  double ofFunction(FunctionId f, const Sizes& sizes) {
    const auto found = known_.find({f, sizes});
    if (found != known_.end()) return found->second;
    const core::Function& function = module_.functions[f];
    if (!function.body.valid() || !open_.insert(f).second) return unknown; // recursion has no bound
    Frame frame{function, {}, {}, nullptr};
    for (size_t k = 0; k < function.dimParams.size() && k < sizes.size(); ++k)
      if (sizes[k]) frame.sizes.emplace(function.dimParams[k], dims_.constant(*sizes[k]));
    const double work = ofRegion(frame, function.body);
    open_.erase(f);
    known_[{f, sizes}] = work;
    return work;
  }

  /// Without what calls outside of loops do that are not light.
  double withoutCalls(FunctionId f, std::vector<OpId>& heavy) {
    Frame frame{module_.functions[f], {}, {}, &heavy};
    return ofRegion(frame, frame.function.body);
  }

private:
  struct Frame {
    const core::Function& function;
    types::DimSubst sizes;
    std::map<ValueId, int64_t> numbers; ///< known so far
    std::vector<OpId>* heavy; ///< gets the calls that are not light; null inside of loops, and callees
  };

  std::optional<int64_t> sizeOf(const Frame& frame, types::DimId d) {
    return dims_.asConstant(frame.sizes.empty() ? d : dims_.substitute(d, frame.sizes));
  }
  static std::optional<int64_t> numberOf(const Frame& frame, ValueId v) {
    const auto found = frame.numbers.find(v);
    return found == frame.numbers.end() ? std::nullopt : std::optional(found->second);
  }

  /// Notes the result of an op that only computes with known numbers, as counts of loops are made.
  void noteNumber(Frame& frame, const Op& op) {
    if (op.results.size() != 1 ||
        module_.types.kind(frame.function.typeOf(op.results[0])) != types::TypeKind::I64)
      return;
    if (op.kind == OpKind::Const) {
      frame.numbers[op.results[0]] = static_cast<int64_t>(op.as<core::Constant>().bits);
    } else if (op.kind == OpKind::DimValue) {
      if (const auto size = sizeOf(frame, op.dims[0])) frame.numbers[op.results[0]] = *size;
    } else if (op.operands.size() == 2) {
      const auto a = numberOf(frame, op.operands[0]), b = numberOf(frame, op.operands[1]);
      if (!a || !b || std::max(std::abs(*a), std::abs(*b)) > (int64_t(1) << 31)) return;
      if (op.kind == OpKind::Add) frame.numbers[op.results[0]] = *a + *b;
      if (op.kind == OpKind::Sub) frame.numbers[op.results[0]] = *a - *b;
      if (op.kind == OpKind::Mul) frame.numbers[op.results[0]] = *a * *b;
      if (op.kind == OpKind::Min) frame.numbers[op.results[0]] = std::min(*a, *b);
      if (op.kind == OpKind::Max) frame.numbers[op.results[0]] = std::max(*a, *b);
    }
  }

  double ofRegion(Frame& frame, RegionId region) {
    double work = 0;
    for (const OpId id : frame.function.regions[region].ops) {
      noteNumber(frame, frame.function.ops[id]);
      work += ofOp(frame, id);
      if (work > mostLight && !frame.heavy) return unknown;
    }
    return work;
  }

  /// The regions of an op one time each.
  double ofRegions(Frame& frame, const Op& op) {
    double work = 1;
    for (const RegionId region : op.regions) work += ofRegion(frame, region);
    return work;
  }

  /// The regions of a loop, which calls do not leave.
  double repeated(Frame& frame, const Op& op, std::optional<int64_t> times) {
    if (!times) return unknown;
    if (*times <= 0) return 1;
    std::vector<OpId>* heavy = std::exchange(frame.heavy, nullptr);
    const double once = ofRegions(frame, op);
    frame.heavy = heavy;
    return 1 + once * static_cast<double>(*times);
  }

  std::optional<int64_t> pointsOf(const Frame& frame, const Op& nest) {
    double points = 1;
    for (const types::DimId d : nest.dims) {
      const std::optional<int64_t> size = sizeOf(frame, d);
      if (!size) return std::nullopt;
      points *= static_cast<double>(std::max<int64_t>(*size, 0));
      if (points > mostLight) return std::nullopt;
    }
    return static_cast<int64_t>(points);
  }

  double ofCall(Frame& frame, OpId id, FunctionId callee, double factor) {
    const Op& op = frame.function.ops[id];
    Sizes sizes;
    for (const types::DimId d : op.dims) sizes.push_back(sizeOf(frame, d));
    const double work = 1 + factor * ofFunction(callee, sizes);
    if (work <= mostLight || !frame.heavy || op.kind != OpKind::Call) return work;
    frame.heavy->push_back(id);
    return 1;
  }

  double ofOp(Frame& frame, OpId id) {
    const Op& op = frame.function.ops[id];
    switch (op.kind) {
    case OpKind::If:
    case OpKind::Match: return ofRegions(frame, op);
    case OpKind::For: return repeated(frame, op, numberOf(frame, op.operands[0]));
    case OpKind::Nest: return repeated(frame, op, pointsOf(frame, op));
    case OpKind::Call: return ofCall(frame, id, op.as<core::CallAttr>().callee, 1);
    case OpKind::Derivative: return ofCall(frame, id, op.as<core::DerivativeAttr>().callee, derivativeFactor);
    case OpKind::While:
    case OpKind::Apply: return unknown;
    case OpKind::ArgSort: return unknown;
    case OpKind::Math: return mathOps;
    case OpKind::Builtin: return builtinOps;
    default: return 1;
    }
  }

  const core::Module& module_;
  types::DimStore& dims_;
  std::map<std::pair<FunctionId, Sizes>, double> known_;
  std::set<FunctionId> open_; ///< being walked
};

} // namespace

bool isLight(const core::Module& module, FunctionId f) {
  return WorkBound(module).ofFunction(f, {}) <= mostLight;
}

bool isLightButForCalls(const core::Module& module, FunctionId f, std::vector<OpId>& heavy) {
  return WorkBound(module).withoutCalls(f, heavy) <= mostLight;
}

} // namespace melix::repl
