#pragma once
// A session: the sources, names and types of one program, and the results of the phases. Queries are answered
// once and kept; only the session knows the order of the phases.

#include "check/signatures/checker.h"
#include "core/ir/ir.h"
#include "expand/expander.h"
#include "session/macro_runner.h"
#include "session/pipeline.h"
#include "support/function_ref.h"
#include "transforms/derivatives/expand_derivatives.h"

#include <functional>
#include <memory>

namespace melix::core {
class EffectAudit;
}

namespace melix::session {

/// Text of a library file by its path (`prelude/arrays.mlx`); null data if there is none.
using LibraryFile = std::function<std::string_view(std::string_view path)>;
/// Text of a file of the user's; none if it cannot be read.
using UserFile = std::function<std::optional<std::string>(const std::string& path)>;

struct Options {
  LibraryFile library;
  std::vector<std::string> preludeFiles; ///< paths of the prelude's files
  UserFile userFile;
  bool strictFloats = false;  ///< sums in sequence, no product fused with a sum
  bool checkOverflow = false; ///< a sum, difference, product or negative of integers that wraps is a panic
  bool opensPrivate = false;  ///< modules see private items of others
  bool strictShapes = false;  ///< sizes that only the run can compare are errors
  bool batchesRows = true;    ///< ops at the points of a nest run for all points at once
  std::optional<int64_t> rowsOfTile; ///< at most so many points at once
  PassLogs logs;
  /// The services of the host for the interpreter while macros are expanded: builtins and texts of values.
  std::function<interp::Hooks(types::TypeStore&)> hooks;
  bool verify = false; ///< check Core after every pass (a bug of the compiler is then reported and stops)
  bool checkPasses = false; ///< check the analyses that passes keep (the same)
  /// Gets the module after every pass.
  std::function<void(const core::Module&, std::string_view pass)> afterPass;
};

/// How far Core is taken: as it was lowered, without derivatives and function values, with the bodies of the
/// elementary functions, optimised.
enum class CoreStage : uint8_t { Lowered, Derivatives, Complete, Optimised };

class Session : private names::ModuleReader {
public:
  explicit Session(Options options);
  ~Session() override;

  SourceStore sources;
  Interner names;
  DiagnosticSink sink;
  types::TypeStore types;

  /// parse: the root module.
  names::ModuleId load(std::string path, std::string text);
  /// expand: the root module as it is after expansion, laid out by whoever shows it.
  std::string expandedText(names::ModuleId root);
  /// check: every declaration of the root and its program. False after errors.
  bool check(names::ModuleId root);
  /// The program of the root as a Core function without parameters that gives the exit status; kept in
  /// `module()`. False after errors, which are in `sink`.
  bool program(names::ModuleId root);
  /// Tests of the root whose name contains `filter`, each a Core function without parameters.
  using NamedFunctions = std::vector<std::pair<std::string, core::FunctionId>>;
  NamedFunctions tests(names::ModuleId root, std::string_view filter);
  /// The same of its benches.
  NamedFunctions benches(names::ModuleId root, std::string_view filter);
  /// An entry at the prompt as the module's entry, which takes the variables there are. False after errors.
  bool lowerEntry(check::InstanceId id);
  /// Starts a new Core module; sources, names, types and checked instances stay. Whoever runs the old one
  /// must be gone.
  void renewModule();
  /// lower … optimised: takes the module to a stage; false after errors.
  bool advance(CoreStage stage);

  const Options& options() const { return options_; }
  core::Module& module() { return *module_; }
  check::Checker& checker() { return checker_; }
  names::Modules& modules() { return modules_; }
  /// The message of the verifier, if it was asked and found an error.
  const std::string& bug() const { return bug_; }

private:
  struct Lowered;
  std::optional<Text> read(const std::string& slashed) override;
  std::vector<Text> prelude() override;
  syntax::Ast parse(FileId file) override;
  void expand(names::ModuleId module, syntax::Ast& ast) override;
  RunnableFunction runnable(check::InstanceId id);
  bool refuseSyntax();
  bool addMathBodies(core::Module& module, Lowered& lowering);
  std::vector<ReadExample> examples(const syntax::Ast& ast) override;
  core::FunctionId lowered(check::InstanceId id);
  NamedFunctions loweredBlocks(names::ModuleId root, FunctionRef<check::Checker::NamedInstances()> of);
  check::Checker::Evaluated evaluate(check::InstanceId id);
  bool checkSyntax(check::InstanceId entry, const std::vector<check::InstanceId>& blocks);
  bool checkDerivatives(check::InstanceId entry, const std::vector<check::InstanceId>& others);
  void reportDerivative(const transforms::AdProblem& problem);
  void keepWritten(std::vector<transforms::AdProblem>& problems, const core::Module& module,
                   const Lowered& lowering);
  bool verified(std::string_view pass);
  bool runPass(const Pass& pass, core::EffectAudit* audit);

  Options options_;
  /// Where syntax errors are among the files that were read for the current check. Nothing uses a root.
  struct Broken {
    bool isReadingRoot = false, root = false, others = false;
  } broken_;
  names::Modules modules_;
  check::Checker checker_;
  MacroRunner macroRunner_;
  expand::Expander expander_;
  std::unique_ptr<core::Module> module_;
  std::unique_ptr<Lowered> makeLowering(core::Module& module);
  std::unique_ptr<Lowered> lowering_;
  std::string rootFolder_;
  std::string bug_;
  /// How far the module is.
  struct Reached {
    CoreStage stage = CoreStage::Lowered;
    core::States states = statesOfLowered;
  } reached_;
};

} // namespace melix::session
