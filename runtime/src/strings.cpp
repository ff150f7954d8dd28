// Strings: taking apart, putting together, walking. Positions are byte offsets; a str is well-formed UTF-8.
#include "builtins.h"
#include "words.h"

namespace melix::runtime {

namespace {

bool startsChar(MelixStr s, int64_t at) { return at == s.len || (s.data[at] & 0xc0) != 0x80; }

/// The char that starts at `at`, and its length; 0 if none does.
int charAt(MelixStr s, int64_t at, uint32_t& c) {
  if (at < 0 || at >= s.len || !startsChar(s, at)) return 0;
  return decodeChar(s.data + at, s.len - at, c);
}

[[noreturn]] void badPosition(MelixTask* task, MelixStr s, int64_t at) {
  int64_t values[] = {at, s.len};
  if (at < 0 || at > s.len)
    melix_panic_format(task, "index {0} is out of range for a string of {1} bytes", 2, values);
  melix_panic_format(task, "index {0} is inside a char", 1, values);
}

int64_t totalOf(const MelixStr* parts, int64_t count) {
  int64_t total = 0;
  for (int64_t k = 0; k < count; k++) total += parts[k].len;
  return total;
}

/// Copies a part and gives the place behind it.
uint8_t* put(uint8_t* at, MelixStr part) {
  if (part.len > 0) memcpy(at, part.data, static_cast<size_t>(part.len));
  return at + part.len;
}

/// Whether the bytes up to `total` are from now on the caller's, behind a text that ends where its block is
/// filled. Other texts of the block end before and see nothing of them.
bool takesRoom(MelixTask* task, MelixStr text, int64_t total) {
  MelixBlock* block = headerOf(const_cast<uint8_t*>(text.data));
  auto filled = static_cast<uint32_t>(text.len), wanted = static_cast<uint32_t>(total);
  if (total > UINT32_MAX || static_cast<uint64_t>(total) > block->bytes) return false;
  // Read first: a literal, which never has room, stands where nothing may be written.
  if (__atomic_load_n(&block->filled, __ATOMIC_RELAXED) != filled) return false;
  if (task->head.threaded)
    return __atomic_compare_exchange_n(&block->filled, &filled, wanted, false, __ATOMIC_ACQ_REL,
                                       __ATOMIC_RELAXED);
  block->filled = wanted;
  return true;
}

/// Memory for a text that begins with `first`: with room behind it where `first` was put together itself, so
/// that a text which grows bit by bit is copied a few times only.
uint8_t* newJoined(MelixTask* task, MelixStr first, int64_t total) {
  bool grows = first.len > 0 && headerOf(const_cast<uint8_t*>(first.data))->filled != 0;
  uint8_t* text = newText(task, grows ? total + total / 2 : total);
  if (total <= UINT32_MAX) headerOf(text)->filled = static_cast<uint32_t>(total);
  return text;
}

MelixStr joinAll(MelixTask* task, const MelixStr* parts, int64_t count, MelixStr between) {
  int64_t total = totalOf(parts, count) + (count > 1 ? between.len * (count - 1) : 0);
  if (total == 0) return {nullptr, 0};
  uint8_t* text = newText(task, total);
  uint8_t* at = text;
  for (int64_t k = 0; k < count; k++) {
    if (k > 0) at = put(at, between);
    at = put(at, parts[k]);
  }
  return {text, total};
}

template <class Map>
void mapAscii(MelixTask* task, const uint64_t* args, uint64_t* results, Map map) {
  MelixStr s = strArg(args);
  MelixStr copy = makeStr(task, s.data, s.len);
  auto* bytes = const_cast<uint8_t*>(copy.data);
  for (int64_t k = 0; k < copy.len; k++) bytes[k] = map(bytes[k]);
  setStr(results, copy);
}

} // namespace

} // namespace melix::runtime

using namespace melix::runtime;

void melix_str_concat(MelixTask* task, const uint64_t* args, uint64_t* results) {
  auto* parts = reinterpret_cast<const MelixStr*>(args[1]);
  auto count = static_cast<int64_t>(args[0]);
  int64_t total = totalOf(parts, count);
  setStr(results, {nullptr, 0});
  if (total == 0) return;
  MelixStr first = parts[0];
  uint8_t* text;
  if (first.len > 0 && takesRoom(task, first, total)) {
    text = const_cast<uint8_t*>(first.data);
    melix_retain(task, text);
  } else {
    text = newJoined(task, first, total);
    put(text, first);
  }
  uint8_t* at = text + first.len;
  for (int64_t k = 1; k < count; k++) at = put(at, parts[k]);
  setStr(results, {text, total});
}

void melix_str_join(MelixTask* task, const uint64_t* args, uint64_t* results) {
  auto* list = reinterpret_cast<const uint8_t*>(args[0]);
  auto* parts = reinterpret_cast<const MelixStr*>(list + MELIX_LIST_ELEMENTS);
  setStr(results, joinAll(task, parts, melix_list_length(list), strArg(args + 1)));
}

void melix_str_equal(MelixTask*, const uint64_t* args, uint64_t* results) {
  MelixStr a = strArg(args), b = strArg(args + 2);
  results[0] = a.len == b.len && areEqual(a.data, b.data, a.len);
}

int32_t melix_str_order(const uint8_t* a, int64_t aLen, const uint8_t* b, int64_t bLen) {
  int64_t common = aLen < bLen ? aLen : bLen;
  int order = common ? memcmp(a, b, static_cast<size_t>(common)) : 0;
  if (order == 0) return aLen < bLen ? -1 : aLen > bLen;
  return order < 0 ? -1 : 1;
}

void melix_str_compare(MelixTask*, const uint64_t* args, uint64_t* results) {
  MelixStr a = strArg(args), b = strArg(args + 2);
  results[0] = static_cast<uint64_t>(static_cast<int64_t>(melix_str_order(a.data, a.len, b.data, b.len)));
}

void melix_str_slice(MelixTask* task, const uint64_t* args, uint64_t* results) {
  MelixStr s = strArg(args);
  auto a = static_cast<int64_t>(args[2]), b = static_cast<int64_t>(args[3]);
  if (a < 0 || a > b || b > s.len) {
    int64_t values[] = {a, b, s.len};
    melix_panic_format(task, "slice {0}..{1} does not fit a string of {2} bytes", 3, values);
  }
  if (!startsChar(s, a) || !startsChar(s, b)) badPosition(task, s, startsChar(s, a) ? b : a);
  setStr(results, makeStr(task, s.data + a, b - a));
}

void melix_str_char_at(MelixTask* task, const uint64_t* args, uint64_t* results) {
  MelixStr s = strArg(args);
  auto at = static_cast<int64_t>(args[2]);
  uint32_t c;
  if (charAt(s, at, c) == 0) {
    if (at != s.len) badPosition(task, s, at);
    int64_t values[] = {at, s.len};
    melix_panic_format(task, "index {0} is out of range for a string of {1} bytes", 2, values);
  }
  results[0] = c;
}

void melix_str_get(MelixTask*, const uint64_t* args, uint64_t* results) {
  uint32_t c = 0;
  results[0] = charAt(strArg(args), static_cast<int64_t>(args[2]), c) > 0;
  results[1] = c;
}

void melix_str_next(MelixTask*, const uint64_t* args, uint64_t* results) {
  uint32_t c = 0;
  auto at = static_cast<int64_t>(args[2]);
  int n = charAt(strArg(args), at, c);
  results[0] = n > 0;
  results[1] = c;
  results[2] = static_cast<uint64_t>(at + n);
}

void melix_str_from_char(MelixTask* task, const uint64_t* args, uint64_t* results) {
  uint8_t bytes[4];
  setStr(results, makeStr(task, bytes, encodeChar(static_cast<uint32_t>(args[0]), bytes)));
}

void melix_str_bytes(MelixTask* task, const uint64_t* args, uint64_t* results) {
  MelixStr s = strArg(args);
  void* data = melix_alloc(task, s.len);
  if (s.len > 0) memcpy(data, s.data, static_cast<size_t>(s.len));
  setStr(results, {static_cast<const uint8_t*>(data), s.len});
}

void melix_str_from_bytes(MelixTask* task, const uint64_t* args, uint64_t* results) {
  MelixStr bytes = strArg(args);
  int64_t bad = findBadUtf8(bytes.data, bytes.len);
  results[0] = bad < 0;
  setStr(results + 1, {nullptr, 0});
  setStr(results + 3, {nullptr, 0});
  if (bad < 0) {
    setStr(results + 1, makeStr(task, bytes.data, bytes.len));
    return;
  }
  TextBuffer message;
  message.add("byte ");
  message.addInt(bad);
  message.add(" is not UTF-8");
  setStr(results + 3, takeStr(task, message));
}

void melix_str_repeat(MelixTask* task, const uint64_t* args, uint64_t* results) {
  MelixStr s = strArg(args);
  auto times = static_cast<int64_t>(args[2]);
  int64_t total;
  if (times < 0) {
    int64_t values[] = {times};
    melix_panic_format(task, "a string cannot be repeated {0} times", 1, values);
  }
  if (__builtin_mul_overflow(s.len, times, &total))
    panicText(task, "the repeated string does not fit into memory");
  setStr(results, {nullptr, 0});
  if (total == 0) return;
  uint8_t* text = newText(task, total);
  for (int64_t k = 0; k < times; k++) memcpy(text + k * s.len, s.data, static_cast<size_t>(s.len));
  setStr(results, {text, total});
}

void melix_str_upper(MelixTask* task, const uint64_t* args, uint64_t* results) {
  mapAscii(task, args, results,
           [](uint8_t c) { return static_cast<uint8_t>(c >= 'a' && c <= 'z' ? c - 32 : c); });
}

void melix_str_lower(MelixTask* task, const uint64_t* args, uint64_t* results) {
  mapAscii(task, args, results,
           [](uint8_t c) { return static_cast<uint8_t>(c >= 'A' && c <= 'Z' ? c + 32 : c); });
}
