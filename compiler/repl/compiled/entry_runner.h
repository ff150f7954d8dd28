#pragma once
// Runs the statements of an entry: in the interpreter what is light, compiled what is not.
//
// An entry whose own statements hold loops, nests or derivatives of any size is compiled as a whole. Else it
// is interpreted, and the functions that it calls and that are not light are compiled by themselves: they are
// there for later entries. Code is found by its contents: what an entry redefines is compiled anew when it is
// called. An entry that uses a device, or values without a stored form, is interpreted.
//
// What runs gets values whose blocks the prompt owns too, so an update copies; what fails leaves no trace.

#include "interp/interp.h"
#include "repl/compiled/units.h"
#include "session/session.h"

namespace melix::repl {

enum class EntryWay : uint8_t { ByWork, Interpreted, Compiled };

/// What a runner needs from its host.
struct RunnerHost {
  interp::Hooks hooks;
  MelixTask* task;
  /// Machine code of the session's module, which is optimised Core. None: the host has said why.
  std::function<std::optional<codegen::Compiled>(session::Session&)> compile;
  EntryWay way = EntryWay::ByWork;
};

enum class EntryEndKind : uint8_t { Done, Refused, Panicked, Interrupted, Exited };

/// A part of what an entry gives: a variable as it was, or a new value in one of its forms.
struct EntryPart {
  std::optional<uint32_t> before; ///< number of the variable
  interp::Value plain;
  std::shared_ptr<StoredValue> stored; ///< null: `plain` is the value

  HeldValue held(types::TypeId type, const std::vector<HeldValue>& variables) const {
    if (before) return variables[*before];
    return stored ? HeldValue(type, stored) : HeldValue(type, plain);
  }
};

struct EntryEnd {
  EntryEndKind kind = EntryEndKind::Done;
  std::string problem;          ///< Refused: a bug of the compiler, or empty: the sink has it
  std::string compiledTrace;    ///< Panicked: the text of the panic as compiled code gives it; may be empty
  interp::Panic panic;          ///< Panicked: what the interpreter knows
  std::vector<int64_t> dims;    ///< Done: the sizes that the entry decided
  std::vector<EntryPart> parts; ///< Done: of the entry's tuple
};

class EntryRunner {
public:
  EntryRunner(session::Session& session, RunnerHost host)
      : session_(session), host_(std::move(host)), units_(session.types, host_.task) {}

  StoredForms& forms() { return units_.forms(); }
  /// Runs an entry with the values of the variables that are its parameters. `text` is what was entered: the
  /// places of a panic depend on it.
  EntryEnd run(check::InstanceId entry, const std::string& text, const std::vector<HeldValue>& variables);

private:
  struct Plan;
  std::optional<EntryVariables> lower(check::InstanceId entry, EntryEnd& end);
  bool optimise(EntryEnd& end);
  Plan planOf();
  bool canCompile();
  bool isStorableCall(core::OpId call);
  bool compileMissing(const std::vector<std::pair<std::string, core::FunctionId>>& wanted, EntryEnd& end);
  using Parts = std::vector<std::optional<uint32_t>>;
  EntryEnd runWhole(const std::string& text, const Parts& parts,
                    std::vector<std::optional<HeldValue>> arguments);
  EntryEnd runCalls(check::InstanceId entry, std::vector<core::OpId> calls, const Parts& parts,
                    const std::vector<std::optional<HeldValue>>& arguments);
  EntryEnd interpret(const Parts& parts, const std::vector<std::optional<HeldValue>>& arguments);
  void callHost(ops::BuiltinKind kind, interp::BuiltinCall& call);
  void runUnit(int64_t number, interp::BuiltinCall& call);
  interp::Hooks hooks();

  session::Session& session_;
  RunnerHost host_;
  Units units_;
  std::vector<Unit*> called_; ///< by the numbers of `host_run`
  std::vector<std::optional<HeldValue>> given_;
  UnitRun last_; ///< of a unit that the interpreter called
};

} // namespace melix::repl
