#pragma once
// The prompt without a terminal: entries in, text out. Definitions and values of variables are kept between
// entries.
//
// An entry is a module of its own. Its declarations are imported by later entries; its statements are a
// function of the variables there are, which gives their new values, so nothing runs twice. How entries run:
// compiled/entry_runner.h. An entry that fails (error, panic, Ctrl-C) changes no variable and defines
// nothing. Redefining a name declares again the names kept from earlier entries that may use it, so that they
// see the new meaning. If a declaration no longer checks, the old meaning stays. Values of a type that is
// declared again keep the old type.

#include "diagnostics/messages.h"
#include "interp/interp.h"
#include "repl/compiled/entry_runner.h"
#include "repl/completion.h"
#include "repl/definitions.h"
#include "repl/display.h"
#include "repl/transcript.h"
#include "session/session.h"

namespace melix::repl {

/// The services that the prompt needs from its host.
struct Host {
  RunnerHost runner;
  std::function<std::string(types::TypeId, const interp::Value&)> show; ///< a value as inside another one
  std::function<size_t()> columns;                                      ///< of a line of values
  std::function<void(std::string_view)> write, writeError;
  std::function<std::optional<std::string>(const std::string& file, std::string& error)> readFile;
  /// Makes or replaces a file in one step; gives the error.
  std::function<std::optional<std::string>(const std::string& file, std::string_view content)> writeFile;
  std::function<void()> writeDiagnostics;
  /// Reports a panic or Ctrl-C; the report of compiled code comes before the trace.
  std::function<void(const interp::Panic&, const std::string& compiled)> reportPanic;
  std::function<void()> noteExit; ///< compiled code called `exit`
  /// The text of a stage of the compiler, by its name (`core`, `asm`), of the entry that the session
  /// has lowered; of one function alone where the stage knows functions. None: `error` says why.
  std::function<std::optional<std::string>(const std::string& stage, const std::string& function,
                                           std::string& error)>
      stageText;
  /// Takes pictures of values by their MIME type; empty: there are no pictures.
  std::function<void(std::string_view mime, std::string_view bytes)> writePicture = {};
};

class Prompt {
public:
  Prompt(session::Session& session, Host host)
      : session_(session), host_(std::move(host)), runner_(session, host_.runner) {
    session_.modules().options.beforeIndex = [this](names::ModuleId entry) { giveMacros(entry); };
  }

  /// Whether more lines are wanted before the entry can be taken.
  bool isIncomplete(const std::string& text) const;
  /// The names that may stand at the cursor of an entry that is being typed.
  Completion complete(const std::string& text, size_t cursor) const {
    return completionOf({session_, definitions_, variables_.known}, text, cursor);
  }
  /// Whether a text is a command rather than an entry. `command` runs it; false if the prompt is to end.
  bool isCommand(const std::string& text) const;
  bool command(const std::string& text);
  /// Checks and runs one entry, which messages call by this name. Whether that went well; errors have been
  /// reported.
  bool enter(const std::string& text, const std::string& name = "<prompt>");

private:
  struct Variables {
    std::vector<check::PromptVariable> known;
    std::vector<HeldValue> values; ///< of known
  };
  /// Declarations of earlier entries that are declared again because an entry changes a name.
  struct Renewal {
    std::set<NameId> replaced;           ///< the changed names
    names::ModuleId module;              ///< has the declarations; none: there are none
    std::vector<names::DeclId> outdated; ///< structs and enums that the names meant before
  };
  bool means(std::string_view name) const;
  const check::PromptVariable* variableNamed(std::string_view name) const; ///< null if there is none
  static bool endsInDocumentation(const std::string& text);
  bool showType(const std::string& text);
  void setDigits(const std::string& text);
  void setRollback(const std::string& text);
  void tellTime(const std::string& text);
  void showStage(const std::string& argument);
  bool lowerFunction(const std::string& name);
  bool lowerEntry(const std::string& text);
  check::PromptEntry checkedEntry(const std::string& text);
  std::vector<names::DeclId> declarationsOf(const std::string& name) const;
  void tellOf(const std::string& name);
  void tellOfIntrinsic(const std::string& name);
  void tellType(const std::string& text);
  void load(const std::string& file);
  void save(const std::string& file, bool replaces);
  std::vector<names::DeclId> functionsBeside(names::ModuleId module) const;
  void showMade(const std::vector<names::DeclId>& made, names::ModuleId module);
  names::ModuleId withOverloads(names::ModuleId entry, const std::string& text);
  void dropWarningsBehind(Messages& told, names::ModuleId module, size_t end);
  void giveMacros(names::ModuleId entry);
  bool take(names::ModuleId module);
  Variables variablesBeside(names::ModuleId module) const;
  std::set<NameId> replacedBy(names::ModuleId module) const;
  Renewal renew(std::set<NameId> replaced, const Definitions& before, Definitions& now);
  bool checkRenewal(const Renewal& renewal, const std::vector<check::PromptVariable>& variables);
  bool isOtherThanBefore(NameId name, const check::PromptEntry& entry) const;
  bool checkStatements(names::ModuleId module, const Variables& before, Definitions& now,
                       check::PromptEntry& entry);
  bool takeIn(names::ModuleId module, const Variables& before, Definitions& now);
  void connect(names::ModuleId module, const Definitions& known);
  void setOutdated(const Renewal& renewal, bool isOutdated);
  bool checkDefinitions(names::ModuleId module, const std::vector<check::PromptVariable>& variables);
  void tellOfDevices();
  bool run(const check::PromptEntry& entry, names::ModuleId module, const Variables& before);
  void keep(const check::PromptEntry& entry, EntryOutcome end, const Variables& before);
  void forgetLost(const std::vector<uint32_t>& lost, const Variables& before);
  void show(types::TypeId type, const HeldValue& value);
  void showPictures(types::TypeId type, const HeldValue& value);
  std::optional<interp::Value> evaluateWith(const check::PromptVariable& value, const HeldValue& is,
                                            const std::string& text, types::TypeId& type);
  DisplayOptions displayOptions() const { return {host_.columns(), 20, digits_}; }

  session::Session& session_;
  Host host_;
  EntryRunner runner_; ///< outlives the values
  Definitions definitions_;
  Variables variables_;
  Transcript transcript_;
  int digits_ = 6;
  bool toldOfDevices_ = false;
  EntryTime* time_ = nullptr;                                   ///< of the entry that runs
  std::optional<std::pair<types::TypeId, HeldValue>> pictured_; ///< the record that an entry has shown
};

} // namespace melix::repl
