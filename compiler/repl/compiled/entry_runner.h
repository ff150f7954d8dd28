#pragma once
// Runs the statements of an entry: light ones in the interpreter, the others compiled.
//
// An entry whose own statements hold loops, nests or derivatives of any size is compiled as a whole. Else it
// is interpreted, and the heavy functions that it calls are compiled by themselves: later entries find their
// code. Code is found by its contents, so a function is compiled anew if something that it uses was
// redefined. An entry that uses a device, or values without a stored form, is interpreted.
//
// The blocks of an argument have the prompt as an owner too, so an update copies them; an entry that fails
// leaves no trace.

#include "interp/interp.h"
#include "repl/compiled/units.h"
#include "session/session.h"

namespace melix::repl {

enum class EntryWay : uint8_t { ByWork, Interpreted, Compiled };

/// The services that a runner needs from its host.
struct RunnerHost {
  interp::Hooks hooks;
  MelixTask* task = nullptr; ///< none: nothing is compiled
  /// Machine code of the session's module, which is optimised Core. None: the host has said why.
  std::function<std::optional<codegen::Compiled>(session::Session&)> compile;
  EntryWay way = EntryWay::ByWork;
};

enum class EntryOutcomeKind : uint8_t { Done, Refused, Panicked, Interrupted, Exited };

/// A part of the result of an entry: a variable as it was, or a new value in one of its forms.
struct EntryPart {
  std::optional<uint32_t> before; ///< number of the variable
  interp::Value plain;
  std::shared_ptr<StoredValue> stored; ///< null: `plain` is the value

  HeldValue held(types::TypeId type, const std::vector<HeldValue>& variables) const {
    if (before) return variables[*before];
    return stored ? HeldValue(type, stored) : HeldValue(type, plain);
  }
};

struct EntryOutcome {
  EntryOutcomeKind kind = EntryOutcomeKind::Done;
  std::string problem;          ///< Refused: a bug of the compiler, or empty: the sink has it
  std::string compiledTrace;    ///< Panicked: the report of compiled code; may be empty
  interp::Panic panic;          ///< Panicked: the report of the interpreter
  std::vector<int64_t> dims;    ///< Done: the sizes that the entry decided
  std::vector<EntryPart> parts; ///< Done: of the entry's tuple
  std::vector<uint32_t> lost;   ///< not Done: the variables that have no value any more
};

/// How long an entry takes. One that changes no variable, and has no effect beside its value, is repeated
/// when it is short.
struct EntryTime {
  bool isCompiled = false;     ///< or interpreted: it has no stored form
  double compiling = 0;        ///< seconds; 0: the code was there
  std::vector<double> running; ///< seconds, of each run
  int64_t allocations = 0;     ///< of one run: blocks of memory
};

class EntryRunner {
public:
  EntryRunner(session::Session& session, RunnerHost host)
      : session_(session), host_(std::move(host)), units_(session.types, host_.task) {}

  StoredForms& forms() { return units_.forms(); }
  /// Whether an entry that fails leaves all variables as they were. Else compiled entries update variables in
  /// place, and lose them if they fail.
  void setRollback(bool isOn) { rollback_ = isOn; }
  /// Runs an entry with the values of the variables that are its parameters. `text` was entered: the
  /// places of a panic depend on it. With `time`, all is compiled that can be, and measured.
  EntryOutcome run(check::InstanceId entry, const std::string& text, const std::vector<HeldValue>& variables,
                   EntryTime* time = nullptr);

private:
  struct Plan;
  std::optional<EntryVariables> lower(check::InstanceId entry, EntryOutcome& end);
  bool optimise(EntryOutcome& end);
  Plan planOf();
  bool canCompile();
  bool isStorableCall(core::OpId call);
  bool compileMissing(const std::vector<std::pair<std::string, core::FunctionId>>& wanted, EntryOutcome& end);
  using Parts = std::vector<std::optional<uint32_t>>;
  EntryOutcome runWhole(const std::string& text, const Parts& parts,
                        std::vector<std::optional<HeldValue>> arguments);
  EntryOutcome runCalls(check::InstanceId entry, std::vector<core::OpId> calls, const Parts& parts,
                        const std::vector<std::optional<HeldValue>>& arguments);
  EntryOutcome interpret(const Parts& parts, const std::vector<std::optional<HeldValue>>& arguments);
  void callHost(ops::BuiltinKind kind, interp::BuiltinCall& call);
  void runUnit(int64_t number, interp::BuiltinCall& call);
  interp::Hooks hooks();

  session::Session& session_;
  RunnerHost host_;
  bool mayRepeat(const Parts& parts) const;
  std::vector<bool> movedArguments(const EntryVariables& entry,
                                   const std::vector<HeldValue>& variables) const;
  UnitRun timed(Unit& unit, const std::vector<std::optional<HeldValue>>& arguments, bool repeats);

  Units units_;
  EntryTime* time_ = nullptr; ///< of the entry that runs
  bool rollback_ = true;
  std::vector<bool> moved_;   ///< by argument of the entry that runs
  std::vector<Unit*> called_; ///< by the numbers of `host_run`
  std::vector<std::optional<HeldValue>> arguments_,
      given_;    ///< of the entry that is interpreted, and of the unit
  UnitRun last_; ///< of a unit that the interpreter called
};

} // namespace melix::repl
