#include "repl/typed_receiver.h"

#include "check/signatures/lookup.h"

#include <algorithm>
#include <set>

namespace melix::repl {

namespace {

constexpr size_t longestEntry = 20'000, longestReceiver = 2'000; ///< bytes that are checked at a key

} // namespace

TypedReceiver::TypedReceiver(const Visible& visible, const std::string& text, const Cursor& cursor,
                             Part receiver, const std::string& closing)
    : receiver_(receiver), session_(visible.session) {
  if (receiver.isEmpty() || receiver.end - receiver.begin > longestReceiver) return;
  const std::string before = text.substr(0, receiver.end);
  const bool isAlone = before.find_first_not_of(" \t\r\n") == receiver.begin;
  const bool isChecked =
      !isAlone && !cursor.isActive && before.size() <= longestEntry &&
      (tryEntry(visible, before + closing) || tryEntry(visible, before + " {}" + closing)); // of `if x.`
  if (!isChecked) tryAlone(visible, std::string(receiver.of(text)));
  if (!type_) return;
  value_ = std::make_unique<check::Receiver>(session_.checker(), module(), type_);
  homes_ = value_->homes();
}

bool TypedReceiver::tryEntry(const Visible& visible, const std::string& text) {
  aside_.reset(); // before the next one begins
  aside_ = std::make_unique<Aside>(visible, text);
  type_ = aside_->isParsed() ? aside_->typeOf(receiver_.begin, receiver_.end) : types::TypeId::none();
  return type_.valid();
}

void TypedReceiver::tryAlone(const Visible& visible, const std::string& text) {
  if (text.find('@') != std::string::npos) return; // a macro
  aside_.reset();
  aside_ = std::make_unique<Aside>(visible, text);
  if (!aside_->entry().instance.valid()) return;
  const types::TypeId all = session_.checker().program_.instance(aside_->entry().instance).result;
  type_ = session_.types[all].parts[0];
}

std::vector<names::DeclId> TypedReceiver::methods(NameId name) {
  check::Checker& checker = session_.checker();
  std::vector<names::DeclId> out;
  auto take = [&](const std::vector<names::DeclId>& layer) {
    for (names::DeclId d : layer)
      if (std::ranges::count(out, d) == 0 && value_->isTakenBy(d)) out.push_back(d);
  };
  for (const auto& layer : functionLayers(checker, module(), name)) take(layer);
  for (names::ModuleId home : homes_) take(functionsAtHome(checker, home, name));
  return out;
}

std::vector<NameId> TypedReceiver::methodNames(const std::string& begin) {
  std::set<NameId> out;
  auto add = [&](NameId name) {
    if (session_.names.text(name).starts_with(begin)) out.insert(name);
  };
  names::Modules& modules = session_.modules();
  for (const auto& [name, decls] : modules[modules.prelude()].decls.all()) add(name);
  for (const auto& [name, decls] : modules[module()].decls.all()) add(name);
  for (const auto& [name, from] : modules[module()].imported.all()) add(name);
  for (names::ModuleId home : homes_)
    for (const auto& [name, decls] : modules[home].decls.all()) add(name);
  return {out.begin(), out.end()};
}

} // namespace melix::repl
