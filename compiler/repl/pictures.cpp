// Pictures of values: of a type that has a function `svg(x) -> str` or `png(x) -> u8[_]` beside it.
#include "repl/prompt.h"

namespace melix::repl {

using types::TypeId;
using types::TypeKind;

namespace {

constexpr const char* nameOfValue = "value_shown__"; ///< for the length of an expression

struct PictureKind {
  const char* function;
  const char* mime;
};
constexpr PictureKind pictureKinds[] = {{"svg", "image/svg+xml"}, {"png", "image/png"}};

bool isBytes(const types::TypeStore& types, TypeId type) {
  return types.kind(type) == TypeKind::Array && types[type].dims.size() == 1 &&
         types.kind(types[type].parts[0]) == TypeKind::U8;
}

/// The bytes of a picture; nothing if a value of the type is none.
std::optional<std::string> bytesOf(const types::TypeStore& types, TypeId type, const interp::Value& value) {
  if (types.kind(type) == TypeKind::Str) return value.asText();
  if (types.kind(type) == TypeKind::Pack && isBytes(types, types[type].parts[0]))
    return bytesOf(types, types[type].parts[0], value.part(types[type].number));
  if (!isBytes(types, type)) return std::nullopt;
  const interp::Array& bytes = value.asArray();
  return std::string(bytes.data, static_cast<size_t>(bytes.count));
}

} // namespace

/// The value of an expression over the variables and one more; nothing if it does not check. Only a panic is
/// told.
std::optional<interp::Value> Prompt::evaluateWith(const check::PromptVariable& value, const HeldValue& is,
                                                  const std::string& text, TypeId& type) {
  const Unheard unheard(session_.sink);
  const names::ModuleId module = session_.modules().addRoot("<picture>", text);
  Variables all = variablesBeside(module);
  all.known.push_back(value);
  all.values.push_back(is);
  connect(module, definitions_);
  session_.checker().scripts.seePrompt(module, all.known);
  session_.modules().setNewestEntry(module);
  const check::PromptEntry entry = session_.checker().prompt(module, all.known);
  if (!entry.instance.valid() || unheard.anyErrors()) return std::nullopt;
  EntryOutcome end = runner_.run(entry.instance, text, all.values);
  if (end.kind == EntryOutcomeKind::Panicked || end.kind == EntryOutcomeKind::Interrupted)
    host_.reportPanic(end.panic, end.compiledTrace);
  if (end.kind == EntryOutcomeKind::Exited) host_.noteExit();
  if (end.kind != EntryOutcomeKind::Done) return std::nullopt;
  type = session_.types[session_.checker().program_.instance(entry.instance).result].parts[0];
  return end.parts[0].held(type, all.values).plain(runner_.forms());
}

void Prompt::showPictures(TypeId type, const HeldValue& value) {
  check::PromptVariable variable;
  variable.name = session_.names.intern(nameOfValue);
  variable.type = type;
  for (const PictureKind& each : pictureKinds) {
    TypeId result;
    const std::optional<interp::Value> picture =
        evaluateWith(variable, value, std::string(nameOfValue) + "." + each.function + "()", result);
    if (!picture) continue;
    if (const std::optional<std::string> bytes = bytesOf(session_.types, result, *picture))
      host_.writePicture(each.mime, *bytes);
  }
}

} // namespace melix::repl
