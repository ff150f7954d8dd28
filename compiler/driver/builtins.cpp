#include "driver/builtins.h"

#include "driver/files.h"
#include "driver/host_types.h"

#include <algorithm>
#include <array>
#include <cstring>

extern "C" {
#define BUILTIN(Kind, Name, Symbol, Effects, Params, Results, Purpose)                                       \
  void Symbol(MelixTask*, const uint64_t*, uint64_t*);
#include "ops/builtins.def"
}

namespace melix::driver {

using interp::Slot;
using interp::Value;
using types::TypeId;
using types::TypeKind;

namespace {

/// How arguments and results lie in slots (melix/abi.h, section 7).
enum class WordKind : uint8_t {
  Bool,
  Char,
  I64,
  F32,
  F64,
  Str,
  Bytes,
  StrList,
  Value,
  StrPack,
  Asked,
  Given
};

struct Row {
  MelixBuiltinFn function;
  std::vector<WordKind> params, results;
};

const Row& rowOf(ops::BuiltinKind kind) {
  using enum WordKind;
#define MELIX_LIST(...)                                                                                      \
  {                                                                                                          \
    __VA_ARGS__                                                                                              \
  }
  static const Row rows[] = {
#define BUILTIN(Kind, Name, Symbol, Effects, Params, Results, Purpose)                                       \
  {Symbol, MELIX_LIST Params, MELIX_LIST Results},
#include "ops/builtins.def"
  };
#undef MELIX_LIST
  return rows[static_cast<size_t>(kind)];
}

TypeKind scalarOf(WordKind word) {
  switch (word) {
  case WordKind::Bool: return TypeKind::Bool;
  case WordKind::Char: return TypeKind::Char;
  case WordKind::F32: return TypeKind::F32;
  case WordKind::F64: return TypeKind::F64;
  default: return TypeKind::I64;
  }
}

/// The text in two slots; takes it over.
Value takeText(MelixTask* task, const uint64_t* at) {
  auto* data = reinterpret_cast<char*>(at[0]);
  Value out = Value::text(data ? std::string(data, at[1]) : std::string());
  melix_release(task, data);
  return out;
}

/// A scalar as it is stored, at the start of a slot.
Value takeScalar(TypeKind kind, const uint64_t* at) {
  return Value(kind, interp::loadSlot(kind, reinterpret_cast<const char*>(at)));
}

Value takeTextList(MelixTask* task, const uint64_t* at) {
  auto* list = reinterpret_cast<char*>(at[0]);
  std::vector<Value> items;
  for (int64_t k = 0; k < melix_list_length(list); ++k) {
    MelixStr item;
    std::memcpy(&item, list + MELIX_LIST_ELEMENTS + k * static_cast<int64_t>(sizeof item), sizeof item);
    items.push_back(Value::text(
        item.data ? std::string(reinterpret_cast<const char*>(item.data), static_cast<size_t>(item.len))
                  : ""));
  }
  melix_release(task, list);
  return Value::list(interp::objectKind, std::move(items));
}

/// An array of numbers; a pack of one gets the sizes in front.
Value takeArray(MelixTask* task, types::TypeStore& types, TypeId type, char* data,
                std::span<const int64_t> dims) {
  bool hidden = types.kind(type) == TypeKind::Pack;
  const types::Type& array = types[hidden ? types[type].parts[0] : type];
  TypeKind element = types.kind(array.parts[0]);
  Value out = Value::array(element, dims, data);
  melix_release(task, data);
  if (!hidden) return out;
  std::vector<Value> parts(types[type].number, Value::integer(0));
  for (uint32_t h = 0; h < types[type].number; ++h)
    for (size_t k = 0; k < array.dims.size(); ++k)
      if (types.dims.asSymbol(array.dims[k]) == types.boundSym(h)) parts[h] = Value::integer(dims[k]);
  parts.push_back(std::move(out));
  return Value::tuple(std::move(parts));
}

/// Arguments in stored form, released when the call is over.
class Arguments {
public:
  Arguments(types::TypeStore& types, MelixTask* task) : task_(task), forms_(types, task) {}
  ~Arguments() {
    for (auto& [type, memory] : stored_) melix_release_value(task_, type, memory.data());
  }

  std::vector<uint64_t> slots;

  char* store(TypeId type, const Value& value) {
    const MelixType* descriptor = forms_.describe(type);
    auto& [kept, memory] = stored_.emplace_back(descriptor, std::vector<uint64_t>(descriptor->size / 8 + 1));
    (void)kept;
    forms_.store(type, value.slot(), reinterpret_cast<char*>(memory.data()));
    return reinterpret_cast<char*>(memory.data());
  }
  void addWords(const char* from, size_t count) {
    for (size_t k = 0; k < count; ++k) {
      uint64_t word;
      std::memcpy(&word, from + 8 * k, 8);
      slots.push_back(word);
    }
  }
  void addPointer(const void* p) { slots.push_back(reinterpret_cast<uint64_t>(p)); }
  const MelixType* describe(TypeId type) { return forms_.describe(type); }

  void add(WordKind word, TypeId type, const Value& value) {
    if (word == WordKind::Value) {
      const char* at = store(type, value);
      addPointer(forms_.describe(type));
      addPointer(at);
    } else if (word == WordKind::Str || word == WordKind::Bytes) {
      addWords(store(type, value), 2);
    } else if (word == WordKind::StrList) {
      addWords(store(type, value), 1);
    } else {
      uint64_t low = 0;
      interp::storeSlot(value.kind(), reinterpret_cast<char*>(&low), value.slot());
      slots.push_back(low);
    }
  }
  void addPack(std::span<const TypeId> argumentTypes, std::span<const Value> values) {
    pack_.clear();
    for (size_t k = 0; k < values.size(); ++k) {
      const char* at = store(argumentTypes[k], values[k]);
      pack_.insert(pack_.end(), at, at + sizeof(MelixStr));
    }
    slots.push_back(values.size());
    addPointer(pack_.data());
  }

private:
  MelixTask* task_;
  HostTypes forms_;
  std::deque<std::pair<const MelixType*, std::vector<uint64_t>>> stored_;
  std::vector<char> pack_;
};

std::string panicMessage(MelixTask* task) {
  int64_t length = 0;
  const char* text = melix_panic_message(task, &length);
  return std::string(text, static_cast<size_t>(length));
}

/// Axes of the array that a result is, packed or not.
size_t rankOf(const types::TypeStore& types, TypeId type) {
  return types[types.kind(type) == TypeKind::Pack ? types[type].parts[0] : type].dims.size();
}

} // namespace

HostBuiltins::HostBuiltins(types::TypeStore& types, int argc, char** argv)
    : types_(types), task_(melix_task_create()) {
  melix_set_arguments(argc, argv);
  melix_watch_interrupt(task_);
}

HostBuiltins::~HostBuiltins() {
  melix_watch_interrupt(nullptr);
  melix_task_destroy(task_);
}

void HostBuiltins::noteExit() {
  exited_ = true;
  exitStatus_ = melix_exit_status(task_);
}

bool HostBuiltins::takeInterrupt() {
  auto* head = reinterpret_cast<volatile MelixTaskHead*>(task_);
  bool was = head->cancel != 0;
  if (was) melix_clear_cancel(task_);
  return was;
}

void HostBuiltins::call(ops::BuiltinKind kind, interp::BuiltinCall& call) {
  if (kind == ops::BuiltinKind::StrConcat) { // the runtime's looks at the blocks that the texts are in
    std::string all;
    for (const interp::Value& part : call.arguments) all += part.asText();
    call.results.push_back(interp::Value::text(std::move(all)));
    return;
  }
  const Row& row = rowOf(kind);
  Arguments in(types_, task_);
  for (size_t k = 0; k < row.params.size(); ++k) {
    if (row.params[k] == WordKind::StrPack)
      in.addPack(call.argumentTypes.subspan(k), call.arguments.subspan(k));
    else
      in.add(row.params[k], call.argumentTypes[k], call.arguments[k]);
  }
  size_t words = 1, nextDim = 0;
  for (size_t k = 0; k < row.results.size(); ++k) {
    if (row.results[k] == WordKind::Asked) {
      in.addPointer(in.describe(call.resultTypes[k]));
      in.addPointer(call.dims.data() + nextDim);
      nextDim += rankOf(call.types, call.resultTypes[k]);
      words += nextDim;
    }
    words += 2;
  }
  std::vector<uint64_t> out(words);
  int32_t status = melix_call_builtin(task_, row.function, in.slots.data(), out.data());
  if (status == MELIX_EXIT) {
    noteExit();
    call.panic = "exit";
    return;
  }
  if (status != MELIX_OK) {
    call.panic = status == MELIX_CANCELLED ? "interrupted" : panicMessage(task_);
    return;
  }
  const uint64_t* at = out.data();
  for (size_t k = 0; k < row.results.size(); ++k) {
    switch (row.results[k]) {
    case WordKind::Str:
      call.results.push_back(takeText(task_, at));
      at += 2;
      break;
    case WordKind::StrList: call.results.push_back(takeTextList(task_, at++)); break;
    case WordKind::Bytes:
    case WordKind::Asked: {
      if (call.types.isScalar(call.resultTypes[k])) {
        call.results.push_back(takeScalar(call.types.kind(call.resultTypes[k]), at++));
        break;
      }
      size_t rank = row.results[k] == WordKind::Bytes ? 1 : rankOf(call.types, call.resultTypes[k]);
      std::vector<int64_t> dims;
      for (size_t d = 0; d < rank; ++d) dims.push_back(static_cast<int64_t>(at[1 + d]));
      call.results.push_back(
          takeArray(task_, types_, call.resultTypes[k], reinterpret_cast<char*>(at[0]), dims));
      at += 1 + rank;
      break;
    }
    default: call.results.push_back(Value::ofBits(scalarOf(row.results[k]), *at++)); break;
    }
  }
}

namespace {
struct FormatJob {
  const MelixType* type;
  const void* value;
  const core::FormatAttr& format;
  std::array<int64_t, 2> numbers;
  MelixStr text;
};
} // namespace

std::string HostBuiltins::show(TypeId type, const Value& value, const core::FormatAttr& format,
                               std::span<const int64_t> numbers) {
  Arguments in(types_, task_);
  const char* at = in.store(type, value);
  FormatJob job{in.describe(type), at, format, {}, {nullptr, 0}};
  std::copy(numbers.begin(), numbers.end(), job.numbers.begin());
  int32_t status = melix_catch(
      task_,
      [](MelixTask* task, void* context) {
        auto* mine = static_cast<FormatJob*>(context);
        mine->text = melix_format_value(task, mine->type, mine->value,
                                        reinterpret_cast<const uint8_t*>(mine->format.spec.data()),
                                        static_cast<int64_t>(mine->format.spec.size()), mine->format.quoted,
                                        mine->numbers[0], mine->numbers[1]);
      },
      &job);
  if (status != MELIX_OK) return panicMessage(task_);
  std::string out(reinterpret_cast<const char*>(job.text.data), static_cast<size_t>(job.text.len));
  melix_release(task_, const_cast<uint8_t*>(job.text.data));
  return out;
}

interp::Hooks HostBuiltins::hooks() {
  interp::Hooks hooks;
  hooks.builtin = [this](ops::BuiltinKind kind, interp::BuiltinCall& c) { call(kind, c); };
  hooks.format = [this](const types::TypeStore&, TypeId type, const Value& value,
                        const core::FormatAttr& format,
                        std::span<const int64_t> numbers) { return show(type, value, format, numbers); };
  hooks.debug = [this](const types::TypeStore&, TypeId type, const Value& value) {
    core::FormatAttr format;
    format.quoted = true;
    melix_flush();
    writeError(show(type, value, format) + "\n");
  };
  hooks.interrupted = [this] { return reinterpret_cast<volatile MelixTaskHead*>(task_)->cancel != 0; };
  return hooks;
}

} // namespace melix::driver
