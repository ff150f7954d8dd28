// The command line of a program (rule 45): its entry declares the parameters of main, has the arguments
// parsed before anything else runs, and asks for the values. One command line a process.
#include "builtins.h"
#include "parse_number.h"
#include "system.h"

namespace melix::runtime {

namespace {

struct Param {
  char* name;        ///< as in the program
  char* standard;    ///< text of the default value, or null: positional
  uint8_t kind;      ///< of a scalar or str; MELIX_KIND_LIST takes the remaining positional arguments
  const char* given; ///< the argument's text, or null
  uint64_t bits;     ///< of a number, bool or char
};

Param* params;
int64_t paramCount;
const char** restTexts; ///< what the list takes
int32_t restCount;

bool isOption(const Param& p) { return p.standard != nullptr && p.kind != MELIX_KIND_LIST; }
bool isFlag(const Param& p) { return isOption(p) && p.kind == MELIX_KIND_BOOL; }
bool isRest(const Param& p) { return p.kind == MELIX_KIND_LIST; }

/// A flag that is set unless `--no-…` turns it off.
bool isOnByDefault(const Param& p) { return isFlag(p) && strcmp(p.standard, "true") == 0; }

/// `batch_size` as `batch-size`
void addOptionName(TextBuffer& out, const Param& p) {
  for (const char* c = p.name; *c; c++) out.addByte(*c == '_' ? '-' : *c);
}

const char* valueWord(uint8_t kind) {
  switch (kind) {
  case MELIX_KIND_STR: return "TEXT";
  case MELIX_KIND_CHAR: return "CHAR";
  case MELIX_KIND_BOOL: return "true|false";
  default: return kind >= MELIX_KIND_F16 && kind <= MELIX_KIND_F64 ? "NUMBER" : "INTEGER";
  }
}

void addUpper(TextBuffer& out, const char* name) {
  for (const char* c = name; *c; c++) out.addByte(*c >= 'a' && *c <= 'z' ? static_cast<char>(*c - 32) : *c);
}

void addUsage(TextBuffer& out, const char* program) {
  out.add("usage: ");
  out.add(program);
  for (int64_t k = 0; k < paramCount; k++) {
    const Param& p = params[k];
    if (isOption(p)) continue;
    out.add(isRest(p) ? " [" : " ");
    addUpper(out, p.name);
    out.add(isRest(p) ? "...]" : "");
  }
  for (int64_t k = 0; k < paramCount; k++) {
    const Param& p = params[k];
    if (!isOption(p)) continue;
    out.add(isOnByDefault(p) ? " [--no-" : " [--");
    addOptionName(out, p);
    if (!isFlag(p)) {
      out.addByte(' ');
      out.add(valueWord(p.kind));
    }
    out.addByte(']');
  }
  out.addByte('\n');
}

void addHelpLine(TextBuffer& out, const Param& p) {
  int64_t start = out.len;
  out.add("  ");
  if (isOption(p)) {
    out.add(isOnByDefault(p) ? "--no-" : "--");
    addOptionName(out, p);
    out.addByte(' ');
    if (!isFlag(p)) out.add(valueWord(p.kind));
  } else {
    addUpper(out, p.name);
  }
  while (out.len - start < 26) out.addByte(' ');
  if (p.standard && (!isFlag(p) || isOnByDefault(p))) {
    out.add("default ");
    out.add(p.standard);
  }
  while (out.len > start && out.data[out.len - 1] == ' ') out.len--;
  out.addByte('\n');
}

void writeHelp(const char* program, MelixStr doc) {
  ScopedBuffer out;
  addUsage(out, program);
  if (doc.len > 0) {
    out.addByte('\n');
    out.add(doc);
    if (out.data[out.len - 1] != '\n') out.addByte('\n');
  }
  out.addByte('\n');
  for (int64_t k = 0; k < paramCount; k++) addHelpLine(out, params[k]);
  out.add("  --help                  show this text\n");
  writeText(1, out.data, out.len);
}

const char* wanted(uint8_t kind) {
  switch (kind) {
  case MELIX_KIND_BOOL: return "is not `true` or `false`";
  case MELIX_KIND_CHAR: return "is not one char";
  case MELIX_KIND_STR:
  case MELIX_KIND_LIST: return "is not UTF-8";
  default: return kind >= MELIX_KIND_F16 && kind <= MELIX_KIND_F64 ? "is not a number" : "is not an integer";
  }
}

/// Reads the arguments; the statuses are MELIX_OK, MELIX_USAGE with the message written, -1 after --help.
class Parser {
public:
  explicit Parser(MelixStr doc) : doc_(doc) {}

  int32_t scan() {
    int64_t next = 0;
    bool options = true;
    for (int32_t at = 1; at < argumentCount(); at++) {
      const char* text = argument(at);
      int32_t status = MELIX_OK;
      if (options && strcmp(text, "--help") == 0) {
        writeHelp(argument(0), doc_);
        return -1;
      }
      if (options && strcmp(text, "--") == 0)
        options = false;
      else if (options && text[0] == '-' && text[1] == '-')
        status = option(at);
      else
        status = positional(next, text);
      if (status != MELIX_OK) return status;
    }
    for (int64_t k = 0; k < paramCount; k++) {
      if (!params[k].given && !isOption(params[k]) && !isRest(params[k]))
        return wrong("`", params[k].name, "` is missing");
    }
    return MELIX_OK;
  }

private:
  int32_t wrong(const char* before, const char* what, const char* after) {
    ScopedBuffer text;
    text.add("error: ");
    text.add(before);
    text.add(what);
    text.add(after);
    text.addByte('\n');
    addUsage(text, argument(0));
    text.add("`--help` tells more\n");
    writeText(2, text.data, text.len);
    return MELIX_USAGE;
  }

  int32_t badValue(const Param& p, const char* value, ParseStatus status) {
    ScopedBuffer after;
    after.add("` for `");
    after.add(p.name);
    after.add("` ");
    after.add(status == ParseStatus::TooLarge ? "does not fit its type" : wanted(p.kind));
    after.addByte(0);
    return wrong("`", value, reinterpret_cast<const char*>(after.data));
  }

  int32_t store(Param& p, const char* value) {
    MelixStr text{reinterpret_cast<const uint8_t*>(value), static_cast<int64_t>(strlen(value))};
    ParseStatus status = ParseStatus::Ok;
    uint32_t c;
    p.given = value;
    p.bits = 0;
    if (p.kind == MELIX_KIND_STR || p.kind == MELIX_KIND_LIST) {
      if (findBadUtf8(text.data, text.len) >= 0) status = ParseStatus::NoNumber;
    } else if (p.kind == MELIX_KIND_CHAR) {
      if (text.len == 0 || decodeChar(text.data, text.len, c) != text.len) status = ParseStatus::NoNumber;
    } else {
      status = parseScalar(text, p.kind, &p.bits);
    }
    return status == ParseStatus::Ok ? static_cast<int32_t>(MELIX_OK) : badValue(p, value, status);
  }

  /// The option `text` (without dashes, up to `=`); `no-` in front of a flag turns it off.
  Param* findOption(const char* text, size_t len, bool& off) {
    for (int64_t k = 0; k < paramCount; k++) {
      Param& p = params[k];
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
    const char* text = argument(at) + 2;
    const char* equals = strchr(text, '=');
    bool off;
    Param* p = findOption(text, equals ? static_cast<size_t>(equals - text) : strlen(text), off);
    if (!p) return wrong("unknown option `", argument(at), "`");
    if (isFlag(*p) && !equals) return store(*p, off ? "false" : "true");
    if (equals) return store(*p, equals + 1);
    if (at + 1 == argumentCount()) return wrong("`", argument(at), "` needs a value");
    return store(*p, argument(++at));
  }

  /// Positional arguments in order; what is left goes to the list.
  int32_t positional(int64_t& next, const char* value) {
    while (next < paramCount && (isOption(params[next]) || isRest(params[next]))) next++;
    if (next < paramCount) return store(params[next++], value);
    for (int64_t k = 0; k < paramCount; k++) {
      if (!isRest(params[k])) continue;
      restTexts[restCount++] = value;
      return store(params[k], value);
    }
    return wrong("unexpected argument `", value, "`");
  }

  MelixStr doc_;
};

/// The kind that has this name in Melix; `List[str]` is MELIX_KIND_LIST.
uint8_t kindNamed(MelixStr name) {
  static const char* const names[] = {"()",  "bool", "char", "i8",  "i16",  "i32", "int", "u8",
                                      "u16", "u32",  "u64",  "f16", "bf16", "f32", "f64"};
  for (size_t k = 0; k < sizeof names / sizeof *names; k++)
    if (strlen(names[k]) == static_cast<size_t>(name.len) &&
        memcmp(names[k], name.data, strlen(names[k])) == 0)
      return static_cast<uint8_t>(k);
  return name.len == 3 ? MELIX_KIND_STR : MELIX_KIND_LIST;
}

char* copyText(MelixTask* task, MelixStr text) {
  auto* copy = static_cast<char*>(calloc(static_cast<size_t>(text.len) + 1, 1));
  if (!copy) panicText(task, "out of memory");
  if (text.len > 0) memcpy(copy, text.data, static_cast<size_t>(text.len));
  return copy;
}

} // namespace

void forgetCommandLine() {
  for (int64_t k = 0; k < paramCount; k++) {
    free(params[k].name);
    free(params[k].standard);
  }
  free(params);
  free(restTexts);
  params = nullptr;
  restTexts = nullptr;
  paramCount = restCount = 0;
}

} // namespace melix::runtime

using namespace melix::runtime;

void melix_command_declare(MelixTask* task, const uint64_t* args, uint64_t*) {
  auto* grown = static_cast<Param*>(realloc(params, static_cast<size_t>(paramCount + 1) * sizeof(Param)));
  if (!grown) panicText(task, "out of memory");
  params = grown;
  Param p{copyText(task, strArg(args)), nullptr, kindNamed(strArg(args + 2)), nullptr, 0};
  if (args[4]) p.standard = copyText(task, strArg(args + 5));
  params[paramCount++] = p;
}

void melix_command_parse(MelixTask* task, const uint64_t* args, uint64_t*) {
  restTexts = static_cast<const char**>(malloc(static_cast<size_t>(argumentCount() + 1) * sizeof(char*)));
  if (!restTexts) panicText(task, "out of memory");
  int32_t status = Parser(strArg(args)).scan();
  if (status == MELIX_OK) return;
  task->around.exitStatus = status < 0 ? static_cast<int32_t>(MELIX_OK) : status;
  leaveToLanding(task, MELIX_EXIT);
}

void melix_command_given(MelixTask*, const uint64_t* args, uint64_t* results) {
  results[0] = params[args[0]].given != nullptr;
}

void melix_command_int(MelixTask*, const uint64_t* args, uint64_t* results) {
  const Param& p = params[args[0]];
  unsigned unused = 64 - 8 * melix_scalar_types[p.kind].size;
  bool isSigned = p.kind >= MELIX_KIND_I8 && p.kind <= MELIX_KIND_I64;
  results[0] = isSigned ? static_cast<uint64_t>(static_cast<int64_t>(p.bits << unused) >> unused) : p.bits;
}

void melix_command_float(MelixTask*, const uint64_t* args, uint64_t* results) {
  const Param& p = params[args[0]];
  results[0] = p.bits;
  if (p.kind == MELIX_KIND_F64) return;
  float narrow;
  memcpy(&narrow, &p.bits, sizeof narrow);
  double wide = static_cast<double>(narrow);
  memcpy(results, &wide, sizeof wide);
}

void melix_command_text(MelixTask* task, const uint64_t* args, uint64_t* results) {
  setStr(results, makeStr(task, params[args[0]].given));
}

void melix_command_rest(MelixTask* task, const uint64_t*, uint64_t* results) {
  void* list = nullptr;
  for (int32_t k = 0; k < restCount; k++) {
    MelixStr text = makeStr(task, restTexts[k]);
    *static_cast<MelixStr*>(melix_list_push(task, &list, &melix_scalar_types[MELIX_KIND_STR])) = text;
  }
  results[0] = reinterpret_cast<uint64_t>(list);
}
