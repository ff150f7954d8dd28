#include "session/session.h"

#include "core/verify.h"
#include "lower/lower.h"
#include "parse/parse.h"
#include "session/pipeline.h"

#include <algorithm>

namespace melix::session {

struct Session::Lowered {
  Lowered(core::Module& module, check::Program& program) : lowering(module, program) {}
  lower::Lowering lowering;
};

Session::Session(Options options)
    : types(names), options_(std::move(options)), modules_(sources, names, sink, *this), checker_(modules_, types, sink),
      module_(std::make_unique<core::Module>(types)), lowering_(std::make_unique<Lowered>(*module_, checker_.program_)) {}

Session::~Session() = default;

std::optional<Session::Text> Session::read(const std::string& slashed) {
  std::string path = rootFolder_ + slashed + ".mlx";
  if (options_.userFile)
    if (std::optional<std::string> text = options_.userFile(path))
      return Text{path, std::move(*text)};
  std::string_view library = options_.library ? options_.library(slashed + ".mlx") : std::string_view();
  if (!library.data())
    return std::nullopt;
  return Text{"stdlib/" + slashed + ".mlx", std::string(library)};
}

std::vector<Session::Text> Session::prelude() {
  std::vector<Text> out;
  for (const std::string& path : options_.preludeFiles)
    out.push_back({"stdlib/" + path, std::string(options_.library(path))});
  return out;
}

syntax::Ast Session::parse(FileId file) { return std::move(parse::parseFile(file, sources, names, sink).ast); }

names::ModuleId Session::load(std::string path, std::string text) {
  size_t slash = path.find_last_of('/');
  rootFolder_ = slash == std::string::npos ? "" : path.substr(0, slash + 1);
  return modules_.addRoot(std::move(path), std::move(text));
}

bool Session::check(names::ModuleId root) {
  if (sink.errorCount() > 0)
    return false;
  checker_.checkModule(root);
  checker_.program(root);
  checker_.tests(root, "");
  return sink.errorCount() == 0;
}

core::FunctionId Session::lowered(check::InstanceId id) {
  core::FunctionId f = lowering_->lowering.functionOf(id);
  lowering_->lowering.finish();
  module_->functions[f].keep = true;
  return f;
}

bool Session::program(names::ModuleId root) {
  if (sink.errorCount() > 0)
    return false;
  checker_.checkModule(root);
  check::InstanceId entry = checker_.program(root);
  if (sink.errorCount() > 0)
    return false;
  if (checker_.program_.instance(entry).failed) {
    bug_ = "the checker gave up without a message";
    return false;
  }
  module_->entry = lowered(entry);
  return verified("lower", false);
}

bool Session::lowerEntry(check::InstanceId id) {
  module_->entry = lowered(id);
  return verified("lower", false);
}

void Session::renewModule() {
  module_ = std::make_unique<core::Module>(types);
  lowering_ = std::make_unique<Lowered>(*module_, checker_.program_);
  bug_.clear();
  stage_ = CoreStage::Lowered;
}

std::vector<std::pair<std::string, core::FunctionId>> Session::tests(names::ModuleId root, std::string_view filter) {
  std::vector<std::pair<std::string, core::FunctionId>> out;
  if (sink.errorCount() > 0)
    return out;
  checker_.checkModule(root);
  auto instances = checker_.tests(root, filter);
  if (sink.errorCount() > 0)
    return out;
  for (auto& [name, id] : instances)
    out.push_back({name, lowered(id)});
  return out;
}

bool Session::verified(std::string_view pass, bool derivativesGone) {
  if (!options_.verify)
    return true;
  core::VerifyBarriers barriers;
  barriers.noDerivative = derivativesGone;
  std::vector<std::string> problems = core::verify(*module_, barriers);
  if (problems.empty())
    return true;
  bug_ = "Core is not well formed after `" + std::string(pass) + "`: " + problems[0];
  return false;
}

/// Bodies of the elementary functions that the module uses, and of those that these use.
bool Session::addMathBodies() {
  for (bool more = true; more;) {
    more = false;
    std::vector<std::pair<ops::MathKind, types::TypeKind>> wanted;
    for (const core::Function& f : module_->functions)
      for (const core::Op& op : f.ops)
        if (op.kind == core::OpKind::Math) {
          types::TypeKind kind = types.kind(f.typeOf(op.results[0]));
          auto key = std::pair(static_cast<ops::MathKind>(op.index()), kind);
          if (!module_->mathBodies.contains(key) && std::find(wanted.begin(), wanted.end(), key) == wanted.end())
            wanted.push_back(key);
        }
    for (auto [math, kind] : wanted) {
      std::string name(ops::mathName(math));
      std::string full = name + (kind == types::TypeKind::F64 ? "_f64" : "_f32");
      check::InstanceId id = checker_.libraryFunction("math.kernel." + name, full);
      if (!id || checker_.program_.instance(id).failed) {
        if (sink.errorCount() == 0)
          bug_ = "the library has no `" + full + "`";
        return false;
      }
      module_->mathBodies[{math, kind}] = lowered(id);
      module_->functions[module_->mathBodies[{math, kind}]].keep = false;
      more = true;
    }
  }
  return true;
}

bool Session::advance(CoreStage wanted) {
  if (stage_ < CoreStage::Derivatives && wanted >= CoreStage::Derivatives) {
    for (const Pass& pass : derivativePasses()) {
      if (auto problem = pass.run(*module_)) {
        for (const transforms::AdProblem& p : *problem)
          sink.report(DiagId::LostDerivative, p.path.empty() ? Span() : locationOf(*module_, p.path.back()), p.reason);
        if (!problem->empty())
          return false;
      }
      if (!verified(pass.name, pass.derivativesGone))
        return false;
    }
    stage_ = CoreStage::Derivatives;
  }
  if (stage_ < CoreStage::Optimised && wanted >= CoreStage::Optimised) {
    if (!addMathBodies())
      return false;
    for (const Pass& pass : optimisingPasses()) {
      if (pass.name == "form_fma" && !options_.fuse)
        continue;
      pass.run(*module_);
      if (!verified(pass.name, true))
        return false;
    }
    stage_ = CoreStage::Optimised;
  }
  return sink.errorCount() == 0;
}

} // namespace melix::session
