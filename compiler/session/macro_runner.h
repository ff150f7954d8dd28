#pragma once
// Runs macros: checks, lowers and interprets their functions when they are first used.

#include "check/signatures/checker.h"
#include "check/signatures/lookup.h"
#include "expand/expander.h"
#include "interp/interp.h"

#include <functional>
#include <memory>

namespace melix::session {

/// A function made ready for the interpreter.
struct RunnableFunction {
  std::unique_ptr<core::Module> module;
  core::FunctionId function;
  std::string problem; ///< not empty: why it is not to be had
};

class MacroRunner final : public expand::Evaluator {
public:
  using MakeRunnable = std::function<RunnableFunction(check::InstanceId)>;

  MacroRunner(names::Modules& modules, check::Checker& checker, MakeRunnable makeRunnable,
              std::function<interp::Hooks(types::TypeStore&)> hostHooks)
      : modules_(modules), checker_(checker), makeRunnable_(std::move(makeRunnable)),
        hostHooks_(std::move(hostHooks)) {}

  /// The expander whose functions the code calls.
  expand::Expander* expander = nullptr;

  expand::Outcome run(names::DeclId function, const std::vector<expand::MacroArgument>& arguments,
                      uint64_t maxSteps, uint64_t maxBytes) override;
  std::string suggest(std::string_view wrong, const std::vector<std::string_view>& known) override {
    return check::suggest(wrong, known);
  }

private:
  struct Ready {
    RunnableFunction runnable;
    std::unique_ptr<interp::Program> program; ///< none: its function does not check
  };

  const Ready& ready(names::DeclId function);
  interp::Hooks hooks();
  void callAst(std::string_view name, interp::BuiltinCall& call);
  Span placeOf(const core::Module& module, const interp::Panic& panic) const;

  names::Modules& modules_;
  check::Checker& checker_;
  MakeRunnable makeRunnable_;
  std::function<interp::Hooks(types::TypeStore&)> hostHooks_;
  std::map<names::DeclId, Ready> ready_;
  std::optional<interp::Hooks> host_;
  int64_t bytesBefore_ = 0;
  uint64_t maxBytes_ = 0;
  bool isOutOfMemory_ = false;
};

/// The name of the function of module `ast` that a builtin is; empty if it is none.
std::string_view astFunction(ops::BuiltinKind kind);

} // namespace melix::session
