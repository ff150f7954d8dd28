#pragma once
// The interpreter of Core: it defines the meaning of programs, bit for bit.

#include "core/ir/ir.h"
#include "interp/forms.h"

#include <functional>

namespace melix::interp {

/// A call of a builtin: arguments are borrowed; results have the kinds of `resultTypes`.
struct BuiltinCall {
  const types::TypeStore& types;
  std::span<const types::TypeId> argumentTypes, resultTypes;
  std::span<const Value> arguments;
  std::span<const int64_t> dims; ///< of the array results, one after another; -1 where the call decides
  std::vector<Value> results;
  std::string panic; ///< not empty: the call panics
};

/// Services that the host gives to the interpreter; anything missing panics when it is needed.
struct Hooks {
  std::function<void(ops::BuiltinKind, BuiltinCall&)> builtin;
  /// The text of a value; the numbers are the values of `{}` in the specification.
  std::function<std::string(const types::TypeStore&, types::TypeId, const Value&, const core::FormatAttr&,
                            std::span<const int64_t>)>
      format;
  std::function<void(const types::TypeStore&, types::TypeId, const Value&)> debug;
  /// Elementary functions whose body the module lacks.
  std::function<std::optional<double>(ops::MathKind, TypeKind, double, double)> math;
  /// Polled at calls and loop back-edges; true stops the run with a panic.
  std::function<bool()> interrupted;
  uint64_t maxSteps = 0;   ///< calls and loop iterations allowed; 0: any number
  uint64_t stackBytes = 0; ///< for calls within calls, with their values; 0: all there is
};

struct PanicFrame {
  std::string function;
  core::LocId loc; ///< the panic, then the calls, innermost first
};
struct Panic {
  std::string message;
  std::vector<PanicFrame> trace;
};

struct RunResult {
  bool panicked = false;
  std::vector<Value> values;
  std::vector<int64_t> dims; ///< the function's result dims
  Panic panic;
  uint64_t steps = 0; ///< calls and loop iterations taken
};

struct Code;

/// A module made ready to run: functions become code when first called.
class Program {
public:
  explicit Program(const core::Module& module, Hooks hooks = {});
  ~Program();
  Program(const Program&) = delete;
  Program& operator=(const Program&) = delete;

  /// Calls a function; `dims` are its dimension arguments. Runs on a stack of its own. Arguments and results
  /// are in the plain form (forms.h), as arguments and results of hooks.
  RunResult run(core::FunctionId f, std::vector<Value> args, std::vector<int64_t> dims = {});

  const core::Module& module() const { return module_; }
  const Hooks& hooks() const { return hooks_; }
  const Code& code(core::FunctionId f);
  Forms& forms() { return forms_; }

private:
  const core::Module& module_;
  Hooks hooks_;
  Forms forms_;
  std::vector<std::unique_ptr<Code>> codes_;
};

/// Dimension arguments of `f` that agree with the sizes of the arguments; 0 where they do not tell.
std::vector<int64_t> dimsOfArguments(const core::Module& m, core::FunctionId f, std::span<const Value> args);

} // namespace melix::interp
