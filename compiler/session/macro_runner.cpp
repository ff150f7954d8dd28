#include "session/macro_runner.h"

#include "check/instances/instances.h"
#include "session/pipeline.h"

namespace melix::session {

using expand::Datum;
using expand::Handle;
using expand::Outcome;
using expand::OutcomeKind;
using interp::Value;

std::string_view astFunction(ops::BuiltinKind kind) {
  constexpr std::string_view prefix = "ast_";
  std::string_view name = ops::builtinName(kind);
  return name.starts_with(prefix) ? name.substr(prefix.size()) : std::string_view();
}

namespace {

/// `Syntax` of module `ast`: a struct that holds a number.
Value syntaxValue(Handle h) { return Value::tuple({Value::integer(h.number)}); }

struct ToValue {
  Value operator()(int64_t v) const { return Value::integer(v); }
  Value operator()(double v) const { return Value::f64(v); }
  Value operator()(bool v) const { return Value::boolean(v); }
  Value operator()(const std::string& v) const { return Value::text(v); }
  Value operator()(Handle h) const { return syntaxValue(h); }
  Value operator()(const std::vector<Handle>& all) const {
    std::vector<Value> items;
    for (Handle h : all) items.push_back(syntaxValue(h));
    return Value::list(interp::objectKind, std::move(items));
  }
};

} // namespace

void MacroRunner::callAst(std::string_view name, interp::BuiltinCall& call) {
  std::vector<Datum> args, results;
  for (const Value& v : call.arguments) {
    if (interp::isObject(v.kind()))
      args.emplace_back(v.asText());
    else if (v.kind() == types::TypeKind::Bool)
      args.emplace_back(v.asBool());
    else if (v.kind() == types::TypeKind::F64)
      args.emplace_back(v.asF64());
    else
      args.emplace_back(v.asInteger());
  }
  if (std::optional<std::string> problem = expander->call(name, args, results)) {
    call.panic = *problem;
    return;
  }
  for (Datum& d : results) {
    if (auto* text = std::get_if<std::string>(&d))
      call.results.push_back(Value::text(std::move(*text)));
    else if (const auto* b = std::get_if<bool>(&d))
      call.results.push_back(Value::boolean(*b));
    else
      call.results.push_back(Value::integer(std::get<int64_t>(d)));
  }
}

interp::Hooks MacroRunner::hooks() {
  if (!host_) host_ = hostHooks_ ? hostHooks_(checker_.types) : interp::Hooks();
  interp::Hooks out = *host_;
  out.builtin = [this](ops::BuiltinKind kind, interp::BuiltinCall& call) {
    if (std::string_view name = astFunction(kind); !name.empty()) return callAst(name, call);
    if (!host_->builtin) {
      call.panic = "`" + std::string(ops::builtinName(kind)) + "` is not available while macros are expanded";
      return;
    }
    host_->builtin(kind, call);
  };
  out.interrupted = [this] {
    isOutOfMemory_ |= static_cast<uint64_t>(interp::arrayBytesMade() - bytesBefore_) > maxBytes_;
    return isOutOfMemory_ || (host_->interrupted && host_->interrupted());
  };
  out.maxSteps = expand::maxUseSteps;
  out.stackBytes = expand::maxUseBytes / 4;
  return out;
}

const MacroRunner::Ready& MacroRunner::ready(names::DeclId function) {
  auto [found, isNew] = ready_.try_emplace(function);
  Ready& out = found->second;
  if (!isNew) return out;
  check::InstanceKey key;
  key.decl = function;
  const size_t errors = checker_.sink.errorCount();
  const check::InstanceId instance = checker_.instances.instantiate(key, Span());
  const check::Instance& checked = checker_.program_.instance(instance);
  if (checked.io.valid() && !checked.failed) {
    const std::string name = "`@" + std::string(modules_.names.text(modules_.decl(function).name)) + "`";
    checker_.sink
        .report(DiagId::MacroFailed, checked.io,
                "a macro only computes, and " + name + " does input or output here")
        .notes.push_back({modules_.decl(function).span, name + " is declared here"});
  }
  if (checker_.sink.errorCount() > errors || checker_.program_.instance(instance).failed) return out;
  out.runnable = makeRunnable_(instance);
  if (!out.runnable.problem.empty()) return out;
  out.program = std::make_unique<interp::Program>(*out.runnable.module, hooks());
  return out;
}

/// The innermost place outside of the library, else the innermost.
Span MacroRunner::placeOf(const core::Module& module, const interp::Panic& panic) const {
  Span first;
  for (const interp::PanicFrame& frame : panic.trace) {
    const Span span = locationOf(module, frame.loc);
    if (!span.valid()) continue;
    if (!first.valid()) first = span;
    if (!modules_.isLibraryFile(span.file)) return span;
  }
  return first;
}

Outcome MacroRunner::run(names::DeclId function, const std::vector<expand::MacroArgument>& arguments,
                         uint64_t maxSteps, uint64_t maxBytes) {
  const Ready& r = ready(function);
  Outcome out;
  if (!r.program) {
    out.kind = r.runnable.problem.empty() ? OutcomeKind::Reported : OutcomeKind::Panic;
    out.problem = r.runnable.problem;
    return out;
  }
  if (maxSteps == 0) {
    out.kind = OutcomeKind::Steps;
    return out;
  }
  std::vector<Value> values;
  for (const expand::MacroArgument& a : arguments) values.push_back(std::visit(ToValue(), a));
  const int64_t bytesBefore = std::exchange(bytesBefore_, interp::arrayBytesMade());
  maxBytes_ = maxBytes;
  isOutOfMemory_ = false;
  interp::RunResult result = r.program->run(r.runnable.function, std::move(values));
  bytesBefore_ = bytesBefore;
  out.steps = result.steps;
  if (!result.panicked) {
    out.kind = OutcomeKind::Value;
    out.value = {result.values[0].part(0).asInteger()};
    return out;
  }
  const bool isStopped = result.panic.message == "interrupted";
  out.kind = !isStopped ? OutcomeKind::Panic : isOutOfMemory_ ? OutcomeKind::Memory : OutcomeKind::Steps;
  out.problem = result.panic.message;
  out.place = placeOf(*r.runnable.module, result.panic);
  return out;
}

} // namespace melix::session
