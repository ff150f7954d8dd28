// The command line of a program, from the parameters of its main (rule 45).
#include "builtins.h"
#include "parse_number.h"
#include "system.h"

namespace melix::runtime {

namespace {

bool isFlag(const MelixParam& p) {
  return (p.flags & MELIX_PARAM_DEFAULT) && p.type->kind == MELIX_KIND_BOOL;
}
bool isOption(const MelixParam& p) { return p.flags & MELIX_PARAM_DEFAULT; }
bool isRest(const MelixParam& p) { return p.flags & MELIX_PARAM_REST; }

/// `batch_size` as `batch-size`
void addOptionName(TextBuffer& out, const MelixParam& p) {
  for (const char* c = p.name; *c; c++) out.addByte(*c == '_' ? '-' : *c);
}

const char* valueWord(const MelixType* type) {
  switch (type->kind) {
  case MELIX_KIND_STR: return "TEXT";
  case MELIX_KIND_CHAR: return "CHAR";
  case MELIX_KIND_BOOL: return "true|false";
  default: return type->kind >= MELIX_KIND_F16 && type->kind <= MELIX_KIND_F64 ? "NUMBER" : "INTEGER";
  }
}

void addUpper(TextBuffer& out, const char* name) {
  for (const char* c = name; *c; c++) out.addByte(*c >= 'a' && *c <= 'z' ? static_cast<char>(*c - 32) : *c);
}

void addUsage(TextBuffer& out, const MelixCommandLine& spec, const char* program) {
  out.add("usage: ");
  out.add(program);
  for (int64_t k = 0; k < spec.count; k++) {
    const MelixParam& p = spec.params[k];
    if (isOption(p)) continue;
    out.add(isRest(p) ? " [" : " ");
    addUpper(out, p.name);
    out.add(isRest(p) ? "...]" : "");
  }
  for (int64_t k = 0; k < spec.count; k++) {
    const MelixParam& p = spec.params[k];
    if (!isOption(p)) continue;
    out.add(" [--");
    addOptionName(out, p);
    if (!isFlag(p)) {
      out.addByte(' ');
      out.add(valueWord(p.type));
    }
    out.addByte(']');
  }
  out.addByte('\n');
}

void addHelpLine(TextBuffer& out, const MelixParam& p) {
  int64_t start = out.len;
  out.add("  ");
  if (isOption(p)) {
    out.add("--");
    addOptionName(out, p);
    out.addByte(' ');
    if (!isFlag(p)) out.add(valueWord(p.type));
  } else {
    addUpper(out, p.name);
  }
  while (out.len - start < 26) out.addByte(' ');
  if (p.help) out.add(p.help);
  if (p.defaultText && !isFlag(p)) {
    out.add(p.help ? " (default " : "default ");
    out.add(p.defaultText);
    out.add(p.help ? ")" : "");
  }
  while (out.len > start && out.data[out.len - 1] == ' ') out.len--;
  out.addByte('\n');
}

void writeHelp(const MelixCommandLine& spec, const char* program) {
  ScopedBuffer out;
  addUsage(out, spec, program);
  if (spec.doc && *spec.doc) {
    out.addByte('\n');
    out.add(spec.doc);
    if (out.data[out.len - 1] != '\n') out.addByte('\n');
  }
  out.addByte('\n');
  for (int64_t k = 0; k < spec.count; k++) addHelpLine(out, spec.params[k]);
  out.add("  --help                  show this text\n");
  writeText(1, out.data, out.len);
}

struct Parser {
  MelixTask* task;
  const MelixCommandLine& spec;
  int32_t argc;
  char** argv;
  MelixArg* out;

  int32_t wrong(const char* before, const char* what, const char* after) {
    ScopedBuffer text;
    text.add("error: ");
    text.add(before);
    text.add(what);
    text.add(after);
    text.addByte('\n');
    addUsage(text, spec, argv[0]);
    text.add("`--help` tells more\n");
    writeText(2, text.data, text.len);
    return MELIX_USAGE;
  }

  int32_t badValue(const MelixParam& p, const char* value, ParseStatus status) {
    ScopedBuffer after;
    after.add("` for `");
    after.add(p.name);
    after.add(status == ParseStatus::TooLarge ? "` does not fit its type" : "` is not ");
    if (status != ParseStatus::TooLarge) {
      uint8_t kind = p.type->kind;
      bool isFloat = kind >= MELIX_KIND_F16 && kind <= MELIX_KIND_F64;
      after.add(kind == MELIX_KIND_BOOL   ? "`true` or `false`"
                : kind == MELIX_KIND_CHAR ? "one char"
                : kind == MELIX_KIND_STR  ? "UTF-8"
                : isFloat                 ? "a number"
                                          : "an integer");
    }
    after.addByte(0);
    return wrong("`", value, reinterpret_cast<const char*>(after.data));
  }

  /// Strings are made only when everything else is known to be right.
  int32_t store(const MelixParam& p, MelixArg& arg, const char* value) {
    MelixStr text{reinterpret_cast<const uint8_t*>(value), static_cast<int64_t>(strlen(value))};
    arg.given = 1;
    arg.slots[0] = arg.slots[1] = 0;
    if (p.type->kind == MELIX_KIND_STR) {
      if (findBadUtf8(text.data, text.len) >= 0) return badValue(p, value, ParseStatus::NoNumber);
      setStr(arg.slots, text);
      return MELIX_OK;
    }
    if (p.type->kind == MELIX_KIND_CHAR) {
      uint32_t c;
      if (text.len == 0 || decodeChar(text.data, text.len, c) != text.len)
        return badValue(p, value, ParseStatus::NoNumber);
      arg.slots[0] = c;
      return MELIX_OK;
    }
    ParseStatus status = parseScalar(text, p.type->kind, arg.slots);
    return status == ParseStatus::Ok ? static_cast<int32_t>(MELIX_OK) : badValue(p, value, status);
  }

  /// Option `text` (without dashes, up to `=`); `no-` in front of a flag turns it off.
  const MelixParam* findOption(const char* text, size_t len, bool& off) {
    for (int64_t k = 0; k < spec.count; k++) {
      const MelixParam& p = spec.params[k];
      if (!isOption(p)) continue;
      ScopedBuffer name;
      addOptionName(name, p);
      auto equal = [&](const char* t, size_t n) {
        return n == static_cast<size_t>(name.len) && memcmp(t, name.data, n) == 0;
      };
      off = false;
      if (equal(text, len)) return &p;
      off = true;
      if (isFlag(p) && len > 3 && memcmp(text, "no-", 3) == 0 && equal(text + 3, len - 3)) return &p;
    }
    return nullptr;
  }

  int32_t option(int32_t& at) {
    const char* text = argv[at] + 2;
    const char* equals = strchr(text, '=');
    bool off;
    const MelixParam* p = findOption(text, equals ? static_cast<size_t>(equals - text) : strlen(text), off);
    if (!p) return wrong("unknown option `", argv[at], "`");
    MelixArg& arg = out[p - spec.params];
    if (isFlag(*p) && !equals) {
      arg = {1, {!off, 0}};
      return MELIX_OK;
    }
    if (equals) return store(*p, arg, equals + 1);
    if (at + 1 == argc) return wrong("`", argv[at], "` needs a value");
    return store(*p, arg, argv[++at]);
  }

  /// Positional arguments in order; what is left goes to the rest parameter, whose slots count it until the
  /// end.
  int32_t positional(int64_t& next, const char* value, int64_t index) {
    while (next < spec.count && (isOption(spec.params[next]) || isRest(spec.params[next]))) next++;
    if (next < spec.count) {
      int64_t k = next++;
      return store(spec.params[k], out[k], value);
    }
    for (int64_t k = 0; k < spec.count; k++) {
      if (isRest(spec.params[k])) {
        if (findBadUtf8(reinterpret_cast<const uint8_t*>(value), static_cast<int64_t>(strlen(value))) >= 0)
          return wrong("argument `", value, "` is not UTF-8");
        rest[restCount++] = static_cast<int32_t>(index);
        return MELIX_OK;
      }
    }
    return wrong("unexpected argument `", value, "`");
  }

  int32_t* rest = nullptr;
  int32_t restCount = 0;

  int32_t scan() {
    int64_t next = 0;
    bool options = true;
    for (int32_t at = 1; at < argc; at++) {
      const char* text = argv[at];
      int32_t status = MELIX_OK;
      if (options && strcmp(text, "--help") == 0) {
        writeHelp(spec, argv[0]);
        return -1;
      }
      if (options && strcmp(text, "--") == 0)
        options = false;
      else if (options && text[0] == '-' && text[1] == '-')
        status = option(at);
      else
        status = positional(next, text, at);
      if (status != MELIX_OK) return status;
    }
    for (int64_t k = 0; k < spec.count; k++) {
      if (!out[k].given && !isOption(spec.params[k]) && !isRest(spec.params[k]))
        return wrong("`", spec.params[k].name, "` is missing");
    }
    return MELIX_OK;
  }

  /// Gives the program strings and lists of its own.
  void own() {
    for (int64_t k = 0; k < spec.count; k++) {
      const MelixParam& p = spec.params[k];
      if (isRest(p)) {
        void* list = nullptr;
        for (int32_t n = 0; n < restCount; n++) {
          MelixStr text = makeStr(task, argv[rest[n]]);
          *static_cast<MelixStr*>(melix_list_push(task, &list, &melix_scalar_types[MELIX_KIND_STR])) = text;
        }
        out[k] = {1, {reinterpret_cast<uint64_t>(list), 0}};
      } else if (out[k].given && p.type->kind == MELIX_KIND_STR) {
        MelixStr text = strArg(out[k].slots);
        setStr(out[k].slots, makeStr(task, text.data, text.len));
      }
    }
  }
};

} // namespace

} // namespace melix::runtime

using namespace melix::runtime;

int32_t melix_parse_command_line(MelixTask* task, const MelixCommandLine* spec, int32_t argc, char** argv,
                                 MelixArg* out) {
  for (int64_t k = 0; k < spec->count; k++) out[k] = {0, {0, 0}};
  auto* rest = static_cast<int32_t*>(malloc(static_cast<size_t>(argc + 1) * sizeof(int32_t)));
  if (!rest) return MELIX_USAGE;
  Parser parser{task, *spec, argc, argv, out};
  parser.rest = rest;
  int32_t status = parser.scan();
  if (status == MELIX_OK) parser.own();
  free(rest);
  return status;
}
