#include "repl/compiled/units.h"

#include <cstring>

namespace melix::repl {

/// What code takes and gives while it runs.
struct Exchange {
  StoredValues& values;
  std::vector<std::shared_ptr<StoredValue>> arguments, results; ///< by number
  std::vector<bool> moved;                                      ///< by number of the argument; may be shorter
  std::vector<const MelixType*>* described = nullptr;           ///< gets the types that are asked for
};

namespace {

void takeValue(void* context, MelixTask* task, int64_t number, const MelixType* type, void* place) {
  auto& exchange = *static_cast<Exchange*>(context);
  const auto n = static_cast<size_t>(number);
  if (exchange.described) {
    (*exchange.described)[n] = type;
    std::memset(place, 0, type->size);
    return;
  }
  std::memcpy(place, exchange.arguments[n]->place(), type->size);
  if (n < exchange.moved.size() && exchange.moved[n])
    std::memset(exchange.arguments[n]->place(), 0, type->size);
  else
    melix_retain_value(task, type, place);
}

void giveValue(void* context, MelixTask* task, int64_t number, MelixValue value) {
  auto& exchange = *static_cast<Exchange*>(context);
  const auto n = static_cast<size_t>(number);
  if (exchange.results.size() <= n) exchange.results.resize(n + 1);
  exchange.results[n] = exchange.values.make(value.type);
  std::memcpy(exchange.results[n]->place(), value.data, value.type->size);
  melix_retain_value(task, value.type, value.data);
}

std::string reported(MelixTask* task, const char* (*text)(MelixTask*, int64_t*)) {
  int64_t length = 0;
  const char* data = text(task, &length);
  return std::string(data, static_cast<size_t>(length));
}

} // namespace

Unit* Units::find(const std::string& contents) {
  const auto found = units_.find(contents);
  return found == units_.end() ? nullptr : &found->second;
}

std::string Units::add(const codegen::Compiled& compiled, const Functions& functions) {
  jit::Jit& code = *code_.emplace_back(std::make_unique<jit::Jit>());
  if (std::string error = code.add(compiled); !error.empty()) return error;
  for (const auto& [contents, made] : functions) {
    const auto entryOf = [&](core::FunctionId f) {
      return reinterpret_cast<MelixEntryFn>(code.lookup(compiled.entries.at(f)));
    };
    const Unit unit{entryOf(made.run), entryOf(made.describe), {}, false};
    if (!unit.run || !unit.describe) return "a unit has no entry";
    units_.insert_or_assign(contents, unit);
  }
  return {};
}

/// One call under a landing; after another end than a return the blocks from before have owners again.
int32_t Units::call(MelixEntryFn entry, Exchange& exchange) {
  MelixTask* task = values_.task();
  const MelixHost host{&exchange, takeValue, giveValue};
  melix_set_host(task, &host);
  const int32_t status =
      melix_catch(task, [](MelixTask* t, void* f) { (void)(*static_cast<MelixEntryFn*>(f))(t); }, &entry);
  melix_set_host(task, nullptr);
  if (status == MELIX_OK) return status;
  for (const auto& given : exchange.results)
    if (given) std::memset(given->place(), 0, given->type()->size); // its blocks are gone
  exchange.results.clear();
  values_.countOwners();
  return status;
}

void Units::describe(Unit& unit, size_t arguments) {
  unit.taken.resize(arguments);
  Exchange exchange{values_, {}, {}, {}, &unit.taken};
  call(unit.describe, exchange);
  unit.isDescribed = true;
}

UnitRun Units::run(Unit& unit, const std::vector<std::optional<HeldValue>>& arguments,
                   const std::vector<bool>& moved) {
  if (!unit.isDescribed) describe(unit, arguments.size());
  UnitRun out;
  Exchange exchange{values_, {}, {}, moved, nullptr};
  exchange.arguments.resize(arguments.size());
  for (size_t n = 0; n < arguments.size(); ++n) {
    if (!unit.taken[n]) continue;
    exchange.arguments[n] = arguments[n]->stored(forms_, unit.taken[n], out.problem);
    if (n < moved.size() && moved[n]) arguments[n]->dropPlain();
    if (exchange.arguments[n]) continue;
    out.message = out.problem;
    out.problem = "panic: " + out.problem + "\n";
    out.status = MELIX_PANIC;
    return out;
  }
  out.status = call(unit.run, exchange);
  if (out.status == MELIX_CANCELLED || out.status == MELIX_EXIT) out.message = "stopped";
  if (out.status == MELIX_PANIC) {
    out.problem = reported(values_.task(), melix_panic_text);
    out.message = reported(values_.task(), melix_panic_message);
  }
  out.results = std::move(exchange.results);
  return out;
}

} // namespace melix::repl
