#include "session/session.h"

#include "check/signatures/unused_functions.h"
#include "check/signatures/unused_imports.h"
#include "core/analysis/check_analyses.h"
#include "core/analysis/effect_audit.h"
#include "core/order/verify.h"
#include "expand/expanded_text.h"
#include "interp/interp.h"
#include "lower/lower.h"
#include "parse/parse.h"
#include "session/pipeline.h"

#include <algorithm>
#include <cassert>
#include <utility>

namespace melix::session {

struct Session::Lowered {
  Lowered(core::Module& module, check::Program& program, const SourceStore& sources,
          std::function<bool(FileId)> checksOverflow)
      : lowering(module, program, sources, std::move(checksOverflow)) {}

  core::FunctionId add(check::InstanceId id) {
    core::FunctionId f = lowering.functionOf(id);
    lowering.finish();
    added.push_back(id);
    return f;
  }

  lower::Lowering lowering;
  std::vector<check::InstanceId> added;
};

/// What a root module has and nothing in it needs.
static void warnUnused(const names::Modules& modules, names::ModuleId root) {
  check::warnUnusedFunctions(modules, root);
  check::warnUnusedImports(modules, root);
}

Session::Session(Options options)
    : types(names), options_(std::move(options)), modules_(sources, names, sink, *this),
      checker_(modules_, types, sink, options_.strictShapes),
      macroRunner_(
          modules_, checker_, [this](check::InstanceId id) { return runnable(id); }, options_.hooks),
      expander_(modules_, macroRunner_), module_(std::make_unique<core::Module>(types)),
      lowering_(makeLowering(*module_)) {
  checker_.hooks.evaluate = [this](check::InstanceId id) { return evaluate(id); };
  checker_.hooks.prepareSignature = [this](names::DeclId decl) { expander_.prepareSignature(decl); };
  checker_.hooks.prepareBody = [this](names::DeclId decl) { return expander_.prepareBody(decl); };
  macroRunner_.expander = &expander_;
  modules_.options.opensPrivate = options_.opensPrivate;
}

Session::~Session() = default;

std::unique_ptr<Session::Lowered> Session::makeLowering(core::Module& module) {
  auto checksOverflow = [this](FileId file) {
    return options_.checkOverflow && !modules_.isLibraryFile(file);
  };
  return std::make_unique<Lowered>(module, checker_.program_, sources, checksOverflow);
}

std::optional<Session::Text> Session::read(const std::string& slashed) {
  std::string path = rootFolder_ + slashed + ".mlx";
  if (options_.userFile)
    if (std::optional<std::string> text = options_.userFile(path)) return Text{path, std::move(*text)};
  std::string_view library = options_.library ? options_.library(slashed + ".mlx") : std::string_view();
  if (!library.data()) return std::nullopt;
  return Text{"stdlib/" + slashed + ".mlx", std::string(library), true};
}

std::vector<Session::Text> Session::prelude() {
  std::vector<Text> out;
  for (const std::string& path : options_.preludeFiles)
    out.push_back({"stdlib/" + path, std::string(options_.library(path)), true});
  return out;
}

syntax::Ast Session::parse(FileId file) {
  const size_t before = sink.errorCount();
  const bool isRoot = std::exchange(broken_.isReadingRoot, false);
  syntax::Ast ast = std::move(parse::parseFile(file, sources, names, sink).ast);
  const bool isBroken = sink.errorCount() > before;
  broken_.root = (isBroken && isRoot) || (broken_.root && before > 0);
  broken_.others = (isBroken && !isRoot) || (broken_.others && before > 0);
  return ast;
}

/// Macros see and run trees that are whole; those of the library are, and modules see nothing of the root.
void Session::expand(names::ModuleId module, syntax::Ast& ast) {
  const bool isBroken = broken_.others || (broken_.root && modules_[module].isRoot);
  if (isBroken && !modules_.isLibraryFile(ast.file)) return;
  expander_.expand(module, ast);
  // What was checked on the way saw only some of the items.
  if (expander_.takeExpanded() && modules_[module].isRoot) checker_.forgetInstances(module);
}

std::vector<Session::ReadExample> Session::examples(const syntax::Ast& ast) {
  std::vector<ReadExample> out;
  for (parse::Example& e : parse::parseExamples(ast, sources, names, sink))
    out.push_back({std::move(e.name), std::move(e.ast)});
  return out;
}

names::ModuleId Session::load(std::string path, std::string text) {
  size_t slash = path.find_last_of('/');
  rootFolder_ = slash == std::string::npos ? "" : path.substr(0, slash + 1);
  broken_.isReadingRoot = true;
  return modules_.addRoot(std::move(path), std::move(text));
}

std::string Session::expandedText(names::ModuleId root) { return expand::expandedText(modules_, root); }

bool Session::check(names::ModuleId root) {
  if (sink.errorCount() > 0) return false;
  modules_.examples(root);
  std::vector<check::InstanceId> others = checker_.checkModule(root);
  check::InstanceId entry = checker_.program(root);
  std::vector<check::InstanceId> blocks;
  for (auto& [name, id] : checker_.tests(root, "")) blocks.push_back(id);
  for (auto& [name, id] : checker_.benches(root, "")) blocks.push_back(id);
  if (sink.errorCount() == 0) warnUnused(modules_, root);
  if (sink.errorCount() > 0 || !checkSyntax(entry, blocks)) return false;
  others.insert(others.end(), blocks.begin(), blocks.end());
  return checkDerivatives(entry, others);
}

/// Whether what runs asks for syntax is known on Core, where functions that only macros call are told apart.
bool Session::checkSyntax(check::InstanceId entry, const std::vector<check::InstanceId>& blocks) {
  if (!modules_.isLoaded("ast")) return true;
  module_->entry = lowered(entry);
  for (check::InstanceId id : blocks) lowered(id);
  return refuseSyntax();
}

/// What a derivative goes through is known on Core: takes what asks for one that far.
bool Session::checkDerivatives(check::InstanceId entry, const std::vector<check::InstanceId>& others) {
  const check::Program& program = checker_.program_;
  bool any = false;
  for (uint32_t k = 0; k < program.instanceCount(); ++k)
    for (const check::Node& node : program.instance(check::InstanceId(k)).nodes)
      any |= node.kind == check::NodeKind::Derivative;
  if (!any) return true;
  module_->entry = lowered(entry);
  for (check::InstanceId id : others) {
    const check::Instance& instance = program.instance(id);
    // What a function value does is only known where it is made.
    if (std::none_of(instance.params.begin(), instance.params.end(),
                     [&](check::LocalId p) { return types.holdsFunction(instance.locals[p].type); }))
      lowered(id);
  }
  return verified("lower") && advance(CoreStage::Derivatives);
}

core::FunctionId Session::lowered(check::InstanceId id) {
  core::FunctionId f = lowering_->add(id);
  module_->functions[f].keep = true;
  return f;
}

bool Session::program(names::ModuleId root) {
  if (sink.errorCount() > 0) return false;
  checker_.checkModule(root);
  check::InstanceId entry = checker_.program(root);
  if (sink.errorCount() == 0) warnUnused(modules_, root);
  if (sink.errorCount() > 0) return false;
  if (checker_.program_.instance(entry).failed) {
    bug_ = "the checker gave up without a message";
    return false;
  }
  module_->entry = lowered(entry);
  return refuseSyntax() && verified("lower");
}

bool Session::lowerEntry(check::InstanceId id) {
  module_->entry = lowered(id);
  return refuseSyntax() && verified("lower");
}

void Session::renewModule() {
  module_ = std::make_unique<core::Module>(types);
  lowering_ = makeLowering(*module_);
  bug_.clear();
  reached_ = {};
}

Session::NamedFunctions Session::tests(names::ModuleId root, std::string_view filter) {
  return loweredBlocks(root, [&] { return checker_.tests(root, filter); });
}

Session::NamedFunctions Session::benches(names::ModuleId root, std::string_view filter) {
  return loweredBlocks(root, [&] { return checker_.benches(root, filter); });
}

Session::NamedFunctions Session::loweredBlocks(names::ModuleId root,
                                               FunctionRef<check::Checker::NamedInstances()> of) {
  NamedFunctions out;
  if (sink.errorCount() > 0) return out;
  checker_.checkModule(root);
  check::Checker::NamedInstances instances = of();
  if (sink.errorCount() > 0) return out;
  warnUnused(modules_, root);
  for (auto& [name, id] : instances) out.push_back({name, lowered(id)});
  if (!refuseSyntax()) out.clear();
  return out;
}

/// Syntax is there while macros are expanded: what runs later cannot ask for it.
bool Session::refuseSyntax() {
  if (!modules_.isLoaded("ast")) return true;
  for (const core::Function& f : module_->functions)
    for (const core::Op& op : f.ops)
      if (op.kind == core::OpKind::Builtin && !astFunction(op.as<core::BuiltinAttr>().builtin).empty()) {
        Span place = locationOf(*module_, op.loc);
        for (core::LocId loc = op.loc; loc && modules_.isLibraryFile(place.file);
             loc = module_->locs[loc].inner)
          place = module_->locs[loc].span;
        sink.report(DiagId::SyntaxAtRun, place);
        return false;
      }
  return true;
}

bool Session::verified(std::string_view pass) {
  if (!options_.verify) return true;
  std::vector<std::string> problems = core::verify(*module_, reached_.states);
  if (problems.empty()) return true;
  bug_ = "Core is not well formed after `" + std::string(pass) + "`: " + problems[0];
  return false;
}

/// Bodies of the elementary functions that the module uses, and of those that these use.
bool Session::addMathBodies(core::Module& module, Lowered& lowering) {
  for (bool more = true; more;) {
    more = false;
    std::vector<std::pair<ops::MathKind, types::TypeKind>> wanted;
    for (const core::Function& f : module.functions)
      for (const core::Op& op : f.ops)
        if (op.kind == core::OpKind::Math) {
          types::TypeKind kind = types.kind(f.typeOf(op.results[0]));
          auto key = std::pair(static_cast<ops::MathKind>(op.index()), kind);
          if (!module.mathBodies.contains(key) &&
              std::find(wanted.begin(), wanted.end(), key) == wanted.end())
            wanted.push_back(key);
        }
    for (auto [math, kind] : wanted) {
      std::string name(ops::mathName(math));
      std::string full = name + (kind == types::TypeKind::F64 ? "_f64" : "_f32");
      check::InstanceId id = checker_.libraryFunction("math.kernel." + name, full);
      if (!id || checker_.program_.instance(id).failed) {
        if (sink.errorCount() == 0) bug_ = "the library has no `" + full + "`";
        return false;
      }
      module.mathBodies[{math, kind}] = lowering.add(id);
      more = true;
    }
  }
  return true;
}

/// What passes find out of a program does not decide whether it is accepted (rule 57): a gradient is refused
/// where the program as it is written cannot depend on what it is taken by.
void Session::keepWritten(std::vector<transforms::AdProblem>& problems, const core::Module& module,
                          const Lowered& lowering) {
  auto isIndependent = [](const transforms::AdProblem& p) {
    return p.kind == transforms::AdProblemKind::Independent;
  };
  if (std::ranges::none_of(problems, isIndependent)) return;
  core::Module written(types);
  const std::unique_ptr<Lowered> unoptimised = makeLowering(written);
  for (check::InstanceId id : lowering.added) written.functions[unoptimised->add(id)].keep = true;
  const core::EffectAudit own(written); // passes speak of this module, not of the one that is compiled
  functionsKnown(written);
  std::vector<Span> places;
  for (core::LocId loc : transforms::independentGradients(written))
    places.push_back(locationOf(written, loc));
  std::erase_if(problems, [&](const transforms::AdProblem& p) {
    return isIndependent(p) && std::ranges::count(places, locationOf(module, p.path.back())) == 0;
  });
}

/// A function for the interpreter, in a module of its own.
RunnableFunction Session::runnable(check::InstanceId id) {
  RunnableFunction out{std::make_unique<core::Module>(types), {}, {}};
  std::unique_ptr<Lowered> lowering = makeLowering(*out.module);
  out.function = out.module->entry = lowering->add(id);
  for (const Pass& pass : derivativePasses())
    if (auto problems = pass.run(*out.module, {})) {
      keepWritten(*problems, *out.module, *lowering);
      if (problems->empty()) continue;
      out.problem = "asks for a derivative that there is not";
      return out;
    }
  if (!addMathBodies(*out.module, *lowering)) out.problem = "calls what the library has not";
  return out;
}

/// A constant as a number.
check::Checker::Evaluated Session::evaluate(check::InstanceId id) {
  RunnableFunction made = runnable(id);
  if (!made.problem.empty()) return {{}, std::move(made.problem)};
  interp::Hooks hooks;
  hooks.maxSteps = 100'000'000;
  interp::RunResult result = interp::Program(*made.module, std::move(hooks)).run(made.function, {});
  if (result.panicked && result.panic.message == "interrupted") return {{}, "takes too long"};
  if (result.panicked) return {{}, "panics: " + result.panic.message};
  return {result.values[0].asInteger(), {}};
}

/// The place at fault, and how the derivative came there.
void Session::reportDerivative(const transforms::AdProblem& problem) {
  using transforms::AdProblemKind;
  Span place = problem.path.empty() ? Span() : locationOf(*module_, problem.path.back());
  Diagnostic& d = problem.kind == AdProblemKind::LostDerivative ? sink.report(DiagId::LostDerivative, place)
                  : problem.kind == AdProblemKind::Effect ? sink.report(DiagId::EffectDifferentiated, place)
                  : problem.kind == AdProblemKind::Independent
                      ? sink.report(DiagId::IndependentGradient, place)
                      : sink.report(DiagId::NoDerivative, place, problem.reason);
  for (size_t k = 0; k + 1 < problem.path.size(); ++k)
    if (Span at = locationOf(*module_, problem.path[k]); at.valid() && !(at == place))
      d.notes.push_back({at, k == 0 ? "the derivative is taken here" : "on the way through this call"});
}

/// Runs a pass and looks at what it made; false after errors.
bool Session::runPass(const Pass& pass, core::EffectAudit* audit) {
  assert(reached_.states.has(pass.needs) && "the passes before it establish what it requires");
  if (options_.checkPasses) module_->analyses->checks = core::Analyses::Checks::On;
  if (auto problems = pass.run(*module_, {options_.logs, options_.rowsOfTile})) {
    keepWritten(*problems, *module_, *lowering_);
    for (const transforms::AdProblem& p : *problems) reportDerivative(p);
    if (!problems->empty()) return false;
  }
  reached_.states = (reached_.states | pass.establishes) - pass.ends;
  if (!verified(pass.name)) return false;
  if (audit) bug_ = audit->after(pass.name);
  if (options_.checkPasses && bug_.empty()) bug_ = core::checkAnalyses(*module_, pass.name);
  if (bug_.empty() && options_.afterPass) options_.afterPass(*module_, pass.name);
  return bug_.empty();
}

bool Session::advance(CoreStage wanted) {
  std::optional<core::EffectAudit> audit;
  if (options_.verify) audit.emplace(*module_);
  auto run = [&](std::span<const Pass> passes) {
    return std::ranges::all_of(passes, [&](const Pass& pass) {
      const bool isLeftOut =
          (pass.mayRound && options_.strictFloats) || (pass.isBatching && !options_.batchesRows);
      return isLeftOut || runPass(pass, audit ? &*audit : nullptr);
    });
  };
  if (reached_.stage < CoreStage::Derivatives && wanted >= CoreStage::Derivatives) {
    if (!run(derivativePasses())) return false;
    reached_.stage = CoreStage::Derivatives;
  }
  if (reached_.stage < CoreStage::Complete && wanted >= CoreStage::Complete) {
    if (!addMathBodies(*module_, *lowering_)) return false;
    reached_.stage = CoreStage::Complete;
  }
  if (reached_.stage < CoreStage::Optimised && wanted >= CoreStage::Optimised) {
    if (!run(optimisingPasses())) return false;
    reached_.stage = CoreStage::Optimised;
  }
  return sink.errorCount() == 0;
}

} // namespace melix::session
