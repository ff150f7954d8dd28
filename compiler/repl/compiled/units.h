#pragma once
// The units of code that the prompt has compiled, and their runs.

#include "jit/jit.h"
#include "repl/compiled/held_value.h"
#include "repl/compiled/unit.h"

#include <functional>
#include <unordered_map>

namespace melix::repl {

struct Unit {
  MelixEntryFn run = nullptr, describe = nullptr;
  std::vector<const MelixType*> taken; ///< by number; null: not taken. Known once it was described
  bool isDescribed = false;
};

/// How a run ended: MELIX_OK, or MELIX_PANIC, MELIX_CANCELLED, MELIX_EXIT.
struct UnitRun {
  int32_t status = 0;
  std::vector<std::shared_ptr<StoredValue>> results; ///< by number; null: not given
  std::string problem, message; ///< if it panicked: the text for the user, and the message alone
};

/// Units by their contents. Code that was made stays: values may refer to its constants.
class Units {
public:
  Units(types::TypeStore& types, MelixTask* task) : values_(task), forms_(types, values_) {}
  Units(const Units&) = delete;
  Units& operator=(const Units&) = delete;

  StoredForms& forms() { return forms_; }
  /// Null if there is none yet.
  Unit* find(const std::string& contents);
  /// Links code that was compiled from a module with these functions, and keeps them by their contents.
  /// Returns the error, or an empty text.
  using Functions = std::vector<std::pair<std::string, UnitFunctions>>;
  std::string add(const codegen::Compiled& compiled, const Functions& functions);
  /// The arguments by their numbers. The code becomes the owner of the arguments that are
  /// marked in `moved`: nobody has their values afterwards.
  UnitRun run(Unit& unit, const std::vector<std::optional<HeldValue>>& arguments,
              const std::vector<bool>& moved = {});

private:
  int32_t call(MelixEntryFn entry, struct Exchange& exchange);
  void describe(Unit& unit, size_t arguments);

  std::vector<std::unique_ptr<jit::Jit>> code_;
  StoredValues values_;
  StoredForms forms_;
  std::unordered_map<std::string, Unit> units_;
};

} // namespace melix::repl
