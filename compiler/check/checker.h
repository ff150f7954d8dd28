#pragma once
// Checks items on demand: one instance at a time, memoised by InstanceKey. The unit of work is the instance; the bodies are
// checked by Body (body.h), signatures and records here.

#include "check/build.h"
#include "check/intrinsics.h"
#include "check/program.h"
#include "names/modules.h"

#include <map>
#include <set>

namespace melix::check {

class Body;

/// A parameter as the declaration gives it.
struct ParamDecl {
  NameId name;
  syntax::NodeId type;         ///< none: untyped, the function is a template
  syntax::NodeId defaultValue; ///< none: must be given
  bool isInout = false;
  Span span;
};

/// A function's declaration, read once.
struct FunctionDecl {
  DeclId decl;
  ModuleId module;
  NameId name;
  syntax::NodeId node;
  std::vector<GenericParam> generics; ///< declared ones first, then those that parameters' types bind
  std::vector<ParamDecl> params;
  syntax::NodeId result; ///< none: inferred
  syntax::NodeId body;   ///< none: a builtin
  std::string builtin;   ///< of `@builtin("name")`
  bool shortForm = false;
  Span span;
  bool isTemplate() const; ///< has an untyped parameter
};

/// A struct's or enum's declaration.
struct RecordDecl {
  DeclId decl;
  ModuleId module;
  NameId name;
  syntax::NodeId node;
  bool isEnum = false;
  std::vector<GenericParam> generics;
  Span span;
};

/// One step of how the instance at hand came to be checked, for notes under diagnostics.
struct TraceStep {
  std::string function;
  Span call;
};

/// What is known of an instance before its body: enough to call it.
struct Signature {
  InstanceId instance;
  std::vector<DimSym> dimParams;
  std::vector<TypeId> params; ///< captures first
  TypeId result;              ///< none until an inferred one is known
};

class Checker {
public:
  Checker(names::Modules& modules, TypeStore& types, DiagnosticSink& sink);
  ~Checker();

  /// Checks every declaration of the root module that needs no caller: typed functions, records, constants, tests and the
  /// script's statements.
  void checkModule(ModuleId module);
  /// The program of a root module: statements, then main with its command line; an i64 exit status.
  InstanceId program(ModuleId root);
  /// `test "name"` blocks of a module, each an instance without parameters.
  std::vector<std::pair<std::string, InstanceId>> tests(ModuleId root, std::string_view filter);
  /// The function `name` of the library at one element type, for Module::mathBodies.
  InstanceId mathBody(std::string_view name);

  Program program_;
  names::Modules& modules;
  TypeStore& types;
  DiagnosticSink& sink;

  // --- declarations
  const FunctionDecl& function(DeclId decl);
  const RecordDecl& record(DeclId decl);
  RecordId recordAt(DeclId decl, std::vector<TypeId> typeArgs);
  RecordId reinstantiate(RecordId record, std::vector<TypeId> typeArgs);
  /// The prelude's record of that name (`Option`, `Result`, `Error`, `Range`).
  DeclId preludeType(std::string_view name);

  // --- instances
  /// Gets or checks the instance of `key`; `paramTypes` are those of untyped parameters and captures, in the instance's
  /// own dimension symbols.
  InstanceId instantiate(const InstanceKey& key, const TypeEnv& env, std::vector<DimSym> dimParams,
                         std::vector<TypeId> paramTypes, Span call);
  std::vector<TraceStep> trace;

private:
  friend class Body;
  std::map<InstanceKey, InstanceId> instances_;
  std::map<DeclId, std::unique_ptr<FunctionDecl>> functions_;
  std::map<DeclId, std::unique_ptr<RecordDecl>> recordDecls_;
  std::map<std::pair<DeclId, std::vector<TypeId>>, RecordId> records_;
};

} // namespace melix::check
