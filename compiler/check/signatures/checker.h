#pragma once
// Checks items on demand: one instance at a time, memoised by InstanceKey. The facts that checks share belong
// to objects: instances, declarations, signatures, bodies of generic functions, constants, the names of
// scripts. Names are looked up by lookup.h, signatures of types read by resolve.h, bodies checked by body.h.

#include "check/instances/instances.h"
#include "check/signatures/constants.h"
#include "check/signatures/declaration_table.h"
#include "check/signatures/generic_bodies.h"
#include "check/signatures/scripts.h"

#include <functional>
#include <memory>

namespace melix::check {

class SignatureTable;

class Checker {
public:
  /// `strictShapes`: sizes that only the run can compare are errors (rule 22), except where the program asks
  /// for the check: `x as T`, `reshape`.
  Checker(names::Modules& modules, TypeStore& types, DiagnosticSink& sink, bool strictShapes = false);
  ~Checker();

  /// Checks every declaration of the module that needs no caller: typed functions, records, constants. Gives
  /// the functions.
  std::vector<InstanceId> checkModule(ModuleId module);
  /// The program of a root module: its statements, then `main` with the command line's values; gives the exit
  /// status as i64. None after errors.
  InstanceId program(ModuleId root);
  /// `test "name"` blocks of a module, each an instance without parameters; those whose name contains
  /// `filter`.
  using NamedInstances = std::vector<std::pair<std::string, InstanceId>>;
  NamedInstances tests(ModuleId root, std::string_view filter);
  /// `bench "name"` blocks: the same, whose value is computed for its own sake.
  NamedInstances benches(ModuleId root, std::string_view filter);
  /// The statements of a module as an entry at the prompt; its instance is none after errors.
  PromptEntry prompt(ModuleId module, const std::vector<PromptVariable>& known);
  /// The library's function `name` (like `exp_f32`); none if the library has none.
  InstanceId libraryFunction(std::string_view module, std::string_view name);

  Trail trail; ///< of the instances that are made
  Program program_;
  names::Modules& modules;
  TypeStore& types;
  DiagnosticSink& sink;
  const bool strictShapes;

private:
  const std::unique_ptr<SignatureTable> signatures_;

public:
  SignatureTable& signatures;
  Instances instances{*this};
  DeclarationTable declarations{*this};
  GenericBodies generics{*this};
  Constants constants{*this};
  Scripts scripts{*this};

  /// Runs a constant that is an integer; who makes the checker says how. `problem` goes on from its name.
  struct Evaluated {
    std::optional<int64_t> value;
    std::string problem;
  };
  /// Services that the owner of the checker provides.
  struct Hooks {
    std::function<Evaluated(InstanceId)> evaluate;
    /// Called before a declaration's signature is read, and before its body is checked (false: it cannot be
    /// yet).
    std::function<void(DeclId)> prepareSignature;
    std::function<bool(DeclId)> prepareBody;
  } hooks;
  /// Instances are checked anew when they are asked for; of a module that has changed all is found anew.
  void forgetInstances(ModuleId changed = ModuleId::none());
  bool inTest = false; ///< a test runs the checked code, without the statements of the script
  static uint64_t literalBits(std::string_view text); ///< of an integer literal in any base
  static bool literalFits(std::string_view text, uint64_t& bits);
  const syntax::Ast& ast(DeclId decl) const { return modules.astOf(decl); }
};

} // namespace melix::check
