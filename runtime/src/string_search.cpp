// Strings: finding, splitting, trimming, replacing.
#include "builtins.h"
#include "words.h"

namespace melix::runtime {

namespace {

/// First position >= from where `part` occurs, or -1.
int64_t find(MelixStr s, MelixStr part, int64_t from) {
  if (from < 0) from = 0;
  if (from > s.len || part.len > s.len - from) return -1;
  if (part.len == 0) return from;
  const uint8_t* last = s.data + s.len - part.len;
  for (const uint8_t* at = s.data + from; at <= last; at++) {
    at = static_cast<const uint8_t*>(memchr(at, part.data[0], static_cast<size_t>(last - at) + 1));
    if (!at) return -1;
    if (memcmp(at, part.data, static_cast<size_t>(part.len)) == 0) return at - s.data;
  }
  return -1;
}

bool occursAt(MelixStr s, MelixStr part, int64_t at) {
  return at >= 0 && part.len <= s.len - at &&
         (part.len == 0 || memcmp(s.data + at, part.data, static_cast<size_t>(part.len)) == 0);
}

/// Length of the white space that starts at `at`: ASCII blanks, no-break space, the Unicode spaces and line
/// ends.
int spaceAt(MelixStr s, int64_t at) {
  uint32_t c;
  int n = decodeChar(s.data + at, s.len - at, c);
  bool space = c == ' ' || (c >= '\t' && c <= '\r') || c == 0x85 || c == 0xa0 || c == 0x1680 ||
               (c >= 0x2000 && c <= 0x200a) || c == 0x2028 || c == 0x2029 || c == 0x202f || c == 0x205f ||
               c == 0x3000;
  return n > 0 && space ? n : 0;
}

int64_t skipSpace(MelixStr s, int64_t at) {
  while (at < s.len) {
    int n = spaceAt(s, at);
    if (n == 0) break;
    at += n;
  }
  return at;
}

int64_t skipSpaceBack(MelixStr s, int64_t end, int64_t begin) {
  while (end > begin) {
    int64_t at = end - 1;
    while (at > begin && (s.data[at] & 0xc0) == 0x80) at--;
    if (spaceAt(s, at) == 0) break;
    end = at;
  }
  return end;
}

void pushStr(MelixTask* task, void** list, MelixStr s, int64_t from, int64_t to) {
  // The list's element is owned by the list only when it is complete.
  MelixStr part = makeStr(task, s.data + from, to - from);
  *static_cast<MelixStr*>(melix_list_push(task, list, &melix_scalar_types[MELIX_KIND_STR])) = part;
}

void trim(MelixTask* task, const uint64_t* args, uint64_t* results, bool start, bool end) {
  MelixStr s = strArg(args);
  int64_t from = start ? skipSpace(s, 0) : 0;
  int64_t to = end ? skipSpaceBack(s, s.len, from) : s.len;
  setStr(results, makeStr(task, s.data + from, to - from));
}

} // namespace

} // namespace melix::runtime

using namespace melix::runtime;

static uint64_t mixed(uint64_t x) { return (x ^ (x >> 32)) * 0x9e3779b97f4a7c15; }

/// Words of eight bytes, each multiplied in; the last one is filled up with zeros, and the length begins.
void melix_str_hash(MelixTask*, const uint64_t* args, uint64_t* results) {
  MelixStr s = strArg(args);
  auto hash = static_cast<uint64_t>(s.len);
  int64_t at = 0;
  for (; at + 8 <= s.len; at += 8) hash = mixed(hash ^ wordAt<uint64_t>(s.data + at));
  results[0] = mixed(hash ^ partOfWord(s.data + at, s.len - at));
}

void melix_str_find(MelixTask*, const uint64_t* args, uint64_t* results) {
  results[0] = static_cast<uint64_t>(find(strArg(args), strArg(args + 2), static_cast<int64_t>(args[4])));
}

void melix_str_find_last(MelixTask*, const uint64_t* args, uint64_t* results) {
  MelixStr s = strArg(args), part = strArg(args + 2);
  int64_t at = s.len - part.len;
  while (at >= 0 && !occursAt(s, part, at)) at--;
  results[0] = static_cast<uint64_t>(at < 0 ? -1 : at);
}

void melix_str_contains(MelixTask*, const uint64_t* args, uint64_t* results) {
  results[0] = find(strArg(args), strArg(args + 2), 0) >= 0;
}

void melix_str_starts_with(MelixTask*, const uint64_t* args, uint64_t* results) {
  results[0] = occursAt(strArg(args), strArg(args + 2), 0);
}

void melix_str_ends_with(MelixTask*, const uint64_t* args, uint64_t* results) {
  MelixStr s = strArg(args), part = strArg(args + 2);
  results[0] = occursAt(s, part, s.len - part.len);
}

void melix_str_replace(MelixTask* task, const uint64_t* args, uint64_t* results) {
  MelixStr s = strArg(args), part = strArg(args + 2), with = strArg(args + 4);
  TextBuffer out;
  int64_t at = 0;
  while (part.len > 0) {
    int64_t hit = find(s, part, at);
    if (hit < 0) break;
    out.add(s.data + at, hit - at);
    out.add(with);
    at = hit + part.len;
  }
  out.add(s.data + at, s.len - at);
  setStr(results, takeStr(task, out));
}

void melix_str_split(MelixTask* task, const uint64_t* args, uint64_t* results) {
  MelixStr s = strArg(args), separator = strArg(args + 2);
  if (separator.len == 0) panicText(task, "the separator of `split` is empty");
  void* list = nullptr;
  int64_t at = 0;
  for (int64_t hit; (hit = find(s, separator, at)) >= 0; at = hit + separator.len)
    pushStr(task, &list, s, at, hit);
  pushStr(task, &list, s, at, s.len);
  results[0] = reinterpret_cast<uint64_t>(list);
}

void melix_str_words(MelixTask* task, const uint64_t* args, uint64_t* results) {
  MelixStr s = strArg(args);
  void* list = nullptr;
  for (int64_t at = skipSpace(s, 0); at < s.len; at = skipSpace(s, at)) {
    int64_t begin = at;
    while (at < s.len && spaceAt(s, at) == 0) at++;
    pushStr(task, &list, s, begin, at);
  }
  results[0] = reinterpret_cast<uint64_t>(list);
}

void melix_str_lines(MelixTask* task, const uint64_t* args, uint64_t* results) {
  MelixStr s = strArg(args);
  void* list = nullptr;
  for (int64_t at = 0; at < s.len;) {
    auto* newline = static_cast<const uint8_t*>(memchr(s.data + at, '\n', static_cast<size_t>(s.len - at)));
    int64_t next = newline ? newline - s.data + 1 : s.len;
    int64_t end = newline ? next - 1 : s.len;
    if (newline && end > at && s.data[end - 1] == '\r') end--;
    pushStr(task, &list, s, at, end);
    at = next;
  }
  results[0] = reinterpret_cast<uint64_t>(list);
}

void melix_str_trim(MelixTask* task, const uint64_t* args, uint64_t* results) {
  trim(task, args, results, true, true);
}

void melix_str_trim_start(MelixTask* task, const uint64_t* args, uint64_t* results) {
  trim(task, args, results, true, false);
}

void melix_str_trim_end(MelixTask* task, const uint64_t* args, uint64_t* results) {
  trim(task, args, results, false, true);
}
