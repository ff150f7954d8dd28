#include "repl/compiled/entry_runner.h"

#include "core/ir/walk.h"
#include "repl/compiled/work_bound.h"
#include "transforms/calls/inline_calls.h"

#include <algorithm>
#include <chrono>
#include <utility>

namespace melix::repl {

using core::FunctionId;
using core::OpId;
using types::TypeId;

/// How an entry runs.
struct EntryRunner::Plan {
  enum class Kind : uint8_t { Interpret, Whole, Calls } kind = Kind::Interpret;
  std::vector<OpId> calls; ///< that are to be compiled by themselves
};

namespace {

bool usesDevice(const core::Module& module) {
  return std::ranges::any_of(
      module.functions, [](const core::Function& f) { return f.device == Device::Gpu && f.body.valid(); });
}

double secondsNow() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

EntryOutcomeKind endOf(int32_t status) {
  switch (status) {
  case MELIX_OK: return EntryOutcomeKind::Done;
  case MELIX_CANCELLED: return EntryOutcomeKind::Interrupted;
  case MELIX_EXIT: return EntryOutcomeKind::Exited;
  default: return EntryOutcomeKind::Panicked;
  }
}

} // namespace

std::optional<EntryVariables> EntryRunner::lower(check::InstanceId entry, EntryOutcome& end) {
  session_.renewModule();
  if (session_.lowerEntry(entry)) return dropUnchanged(session_.module(), session_.module().entry);
  end.kind = EntryOutcomeKind::Refused;
  end.problem = session_.bug();
  return std::nullopt;
}

bool EntryRunner::optimise(EntryOutcome& end) {
  if (session_.advance(session::CoreStage::Optimised)) return true;
  end.kind = EntryOutcomeKind::Refused;
  end.problem = session_.bug();
  return false;
}

/// Whether all that the entry takes and gives has a stored form.
bool EntryRunner::canCompile() {
  const core::Module& module = session_.module();
  const core::Function& entry = module.functions[module.entry];
  const auto canGo = [&](core::ValueId v) { return isStorable(session_.types, entry.typeOf(v)); };
  return std::ranges::all_of(entry.params(), canGo) && isStorable(session_.types, entry.results[0]);
}

bool EntryRunner::isStorableCall(OpId call) {
  const core::Module& module = session_.module();
  const core::Function& entry = module.functions[module.entry];
  const core::Op& op = entry.ops[call];
  const auto canGo = [&](core::ValueId v) { return isStorable(session_.types, entry.typeOf(v)); };
  return std::ranges::all_of(op.operands, canGo) && std::ranges::all_of(op.results, canGo);
}

EntryRunner::Plan EntryRunner::planOf() {
  const core::Module& module = session_.module();
  Plan plan;
  if (!host_.task || host_.way == EntryWay::Interpreted || usesDevice(module)) return plan;
  if (time_ || host_.way == EntryWay::Compiled || !isLightButForCalls(module, module.entry, plan.calls)) {
    if (canCompile()) plan.kind = Plan::Kind::Whole;
  } else if (!plan.calls.empty()) {
    const bool canCall = std::ranges::all_of(plan.calls, [this](OpId call) { return isStorableCall(call); });
    if (canCall)
      plan.kind = Plan::Kind::Calls;
    else if (canCompile())
      plan.kind = Plan::Kind::Whole;
  }
  return plan;
}

/// Compiles functions of the module as units, but for those whose contents are known. If there were others,
/// the module is used up.
bool EntryRunner::compileMissing(const std::vector<std::pair<std::string, FunctionId>>& wanted,
                                 EntryOutcome& end) {
  core::Module& module = session_.module();
  Units::Functions made;
  for (const auto& [contents, f] : wanted) {
    const bool isMade = std::ranges::any_of(made, [&](const auto& m) { return m.first == contents; });
    if (!isMade && !units_.find(contents)) made.emplace_back(contents, addUnit(module, f, f == module.entry));
  }
  if (made.empty()) return true;
  module.functions[module.entry].keep = false;
  module.entry = {};
  const double begun = secondsNow();
  if (!optimise(end)) return false;
  end.kind = EntryOutcomeKind::Refused;
  const std::optional<codegen::Compiled> compiled = host_.compile(session_);
  if (!compiled) return false;
  end.problem = units_.add(*compiled, made);
  if (!end.problem.empty()) return false;
  end.kind = EntryOutcomeKind::Done;
  if (time_) time_->compiling = secondsNow() - begun;
  return true;
}

EntryOutcome EntryRunner::runWhole(const std::string& text, const Parts& parts,
                                   std::vector<std::optional<HeldValue>> arguments) {
  const core::Module& module = session_.module();
  const size_t sizes = module.functions[module.entry].resultDims.size();
  const std::string contents = text + "\n" + contentsOf(module, module.entry);
  const bool repeats = time_ && mayRepeat(parts);
  EntryOutcome end;
  if (!compileMissing({{contents, module.entry}}, end)) return end;
  Unit& unit = *units_.find(contents);
  UnitRun run = time_ ? timed(unit, arguments, repeats) : units_.run(unit, arguments, moved_);
  end.kind = endOf(run.status);
  end.compiledTrace = std::move(run.problem);
  if (end.kind != EntryOutcomeKind::Done) return end;
  run.results.resize(sizes + parts.size());
  for (size_t k = 0; k < sizes; ++k)
    end.dims.push_back(forms().plain(session_.types.int64(), run.results[k]).asInteger());
  size_t next = sizes;
  for (const auto& before : parts)
    end.parts.push_back({before, interp::Value::tuple({}), before ? nullptr : run.results[next++]});
  return end;
}

/// Whether one run more cannot be told from none.
bool EntryRunner::mayRepeat(const Parts& parts) const {
  const core::Module& module = session_.module();
  const core::EffectSet effects = core::Effects(module).ofFunction(module.entry);
  const bool changesNone =
      std::all_of(parts.begin() + 1, parts.end(), [](const auto& p) { return p.has_value(); });
  return changesNone && !effects.io && !effects.debug;
}

UnitRun EntryRunner::timed(Unit& unit, const std::vector<std::optional<HeldValue>>& arguments, bool repeats) {
  constexpr double enough = 0.3; // seconds
  constexpr size_t most = 10'000;
  time_->isCompiled = true;
  UnitRun run;
  double sum = 0;
  do {
    const int64_t before = melix_stats(host_.task).allocations;
    const double begun = secondsNow();
    run = units_.run(unit, arguments);
    time_->running.push_back(secondsNow() - begun);
    time_->allocations = melix_stats(host_.task).allocations - before;
    sum += time_->running.back();
  } while (repeats && run.status == MELIX_OK && sum < enough && time_->running.size() < most);
  return run;
}

EntryOutcome EntryRunner::runCalls(check::InstanceId entry, std::vector<OpId> calls, const Parts& parts,
                                   const std::vector<std::optional<HeldValue>>& arguments) {
  const core::Function& f = session_.module().functions[session_.module().entry];
  std::vector<std::pair<std::string, FunctionId>> wanted;
  for (const OpId call : calls) {
    const FunctionId callee = f.ops[call].as<core::CallAttr>().callee;
    wanted.emplace_back(contentsOf(session_.module(), callee), callee);
  }
  EntryOutcome end;
  if (!compileMissing(wanted, end)) return end;
  if (!session_.module().entry.valid()) { // used up
    if (!lower(entry, end)) return end;
    calls = planOf().calls;
  }
  called_.clear();
  for (size_t k = 0; k < calls.size(); ++k) {
    called_.push_back(units_.find(wanted[k].first));
    replaceCall(session_.module(), session_.module().entry, calls[k], static_cast<int64_t>(k));
  }
  transforms::removeUnreachable(session_.module());
  return interpret(parts, arguments);
}

EntryOutcome EntryRunner::interpret(const Parts& parts,
                                    const std::vector<std::optional<HeldValue>>& arguments) {
  EntryOutcome end;
  if (!optimise(end)) return end;
  std::vector<interp::Value> plain;
  for (const auto& argument : arguments) plain.push_back(argument->plain(forms()));
  arguments_ = arguments;
  interp::Program program(session_.module(), hooks());
  last_ = {};
  const double begun = secondsNow();
  interp::RunResult result = program.run(session_.module().entry, std::move(plain));
  if (time_) time_->running.push_back(secondsNow() - begun);
  given_.clear();
  arguments_.clear();
  if (result.panicked) {
    end.kind = last_.status == MELIX_OK ? EntryOutcomeKind::Panicked : endOf(last_.status);
    end.compiledTrace = std::move(last_.problem);
    end.panic = std::move(result.panic);
    return end;
  }
  end.dims = std::move(result.dims);
  size_t next = 0;
  for (const auto& before : parts)
    end.parts.push_back({before, before ? interp::Value() : result.values[0].part(next++), {}});
  return end;
}

interp::Hooks EntryRunner::hooks() {
  interp::Hooks hooks = host_.hooks;
  hooks.builtin = [this, call = hooks.builtin](ops::BuiltinKind kind, interp::BuiltinCall& c) {
    const bool isHosts = kind == ops::BuiltinKind::HostTake || kind == ops::BuiltinKind::HostGive ||
                         kind == ops::BuiltinKind::HostRun;
    if (isHosts)
      callHost(kind, c);
    else
      call(kind, c);
  };
  return hooks;
}

void EntryRunner::callHost(ops::BuiltinKind kind, interp::BuiltinCall& call) {
  const int64_t number = call.arguments[0].asInteger();
  const auto n = static_cast<size_t>(number);
  if (kind == ops::BuiltinKind::HostRun) return runUnit(number, call);
  if (kind == ops::BuiltinKind::HostTake) {
    call.results.push_back(forms().plain(call.resultTypes[0], last_.results[n]));
    return;
  }
  if (given_.size() <= n) given_.resize(n + 1);
  // An argument of the entry is there in the stored form already.
  const auto argument =
      std::ranges::find_if(arguments_, [&](const auto& each) { return each->isPlain(call.arguments[1]); });
  if (argument != arguments_.end())
    given_[n] = *argument;
  else
    given_[n].emplace(call.argumentTypes[1], call.arguments[1]);
}

void EntryRunner::runUnit(int64_t number, interp::BuiltinCall& call) {
  last_ = units_.run(*called_[static_cast<size_t>(number)], given_);
  given_.clear();
  if (last_.status == MELIX_OK) return;
  call.panic = last_.message;
}

/// The arguments that may be updated in place: nothing needs the variable afterwards.
std::vector<bool> EntryRunner::movedArguments(const EntryVariables& entry,
                                              const std::vector<HeldValue>& variables) const {
  std::vector<bool> out(entry.read.size());
  if (rollback_) return out;
  for (size_t k = 0; k < out.size(); ++k) {
    const HeldValue& value = variables[entry.read[k]];
    const auto isIt = [&](const HeldValue& other) { return other.sharesWith(value); };
    out[k] = std::ranges::count(entry.passedOn, std::optional(entry.read[k])) == 0 &&
             std::ranges::count_if(variables, isIt) == 1;
  }
  return out;
}

EntryOutcome EntryRunner::run(check::InstanceId entry, const std::string& text,
                              const std::vector<HeldValue>& variables, EntryTime* time) {
  EntryOutcome end;
  time_ = time;
  moved_.clear();
  const std::optional<EntryVariables> lowered = lower(entry, end);
  if (!lowered) return end;
  std::vector<std::optional<HeldValue>> arguments;
  for (const uint32_t k : lowered->read) arguments.emplace_back(variables[k]);
  moved_ = movedArguments(*lowered, variables);
  const Plan plan = planOf();
  switch (plan.kind) {
  case Plan::Kind::Whole: end = runWhole(text, lowered->passedOn, std::move(arguments)); break;
  case Plan::Kind::Calls: return runCalls(entry, plan.calls, lowered->passedOn, arguments);
  case Plan::Kind::Interpret: return interpret(lowered->passedOn, arguments);
  }
  const bool hasRun = end.kind != EntryOutcomeKind::Done && end.kind != EntryOutcomeKind::Refused;
  for (size_t k = 0; k < moved_.size() && hasRun; ++k)
    if (moved_[k]) end.lost.push_back(lowered->read[k]);
  return end;
}

} // namespace melix::repl
