#include "text_buffer.h"

#include "fmt_digits.h"

namespace melix::runtime {

bool TextBuffer::reserve(int64_t more) {
  if (more <= cap - len) return true;
  int64_t want = cap < 64 ? 128 : cap * 2;
  if (want < len + more) want = len + more;
  auto* grown = static_cast<uint8_t*>(realloc(data, static_cast<size_t>(want)));
  if (!grown) return false;
  data = grown;
  cap = want;
  return true;
}

void TextBuffer::add(const void* bytes, int64_t count) {
  if (count <= 0 || !reserve(count)) return;
  memcpy(data + len, bytes, static_cast<size_t>(count));
  len += count;
}

void TextBuffer::addUnsigned(uint64_t value) {
  if (!reserve(20)) return;
  const int count = digitCount(value);
  writeWhole(reinterpret_cast<char*>(data + len), value, count);
  len += count;
}

void TextBuffer::addInt(int64_t value) {
  if (value < 0) addByte('-');
  addUnsigned(value < 0 ? 0 - static_cast<uint64_t>(value) : static_cast<uint64_t>(value));
}

void TextBuffer::addChar(uint32_t codePoint) {
  uint8_t bytes[4];
  add(bytes, encodeChar(codePoint, bytes));
}

void TextBuffer::addEscaped(uint32_t codePoint) {
  switch (codePoint) {
  case '\n': return add("\\n");
  case '\t': return add("\\t");
  case '\r': return add("\\r");
  case 0: return add("\\0");
  default: break;
  }
  char digits[8];
  int at = 8;
  do {
    digits[--at] = "0123456789abcdef"[codePoint % 16];
    codePoint /= 16;
  } while (codePoint);
  add("\\u{");
  add(digits + at, 8 - at);
  addByte('}');
}

bool isSeen(uint32_t c) {
  constexpr struct {
    uint32_t first, last;
  } unseen[] = {{0, 0x1f},        {0x7f, 0x9f},     {0xad, 0xad},     {0x61c, 0x61c},   {0x200b, 0x200f},
                {0x2028, 0x202e}, {0x2060, 0x206f}, {0xfeff, 0xfeff}, {0xfff9, 0xfffb}, {0xe0000, 0xe007f}};
  for (auto range : unseen)
    if (c >= range.first && c <= range.last) return false;
  return true;
}

void TextBuffer::addShown(MelixStr text, int64_t longest) {
  for (int64_t i = 0; i < text.len; longest--) {
    if (longest == 0) return add("…");
    uint32_t c;
    int n = decodeChar(text.data + i, text.len - i, c);
    if (n == 0) {
      const char* hex = "0123456789abcdef";
      const uint8_t byte = text.data[i++];
      const char escaped[] = {'\\', 'x', hex[byte / 16], hex[byte % 16]};
      add(escaped, 4);
      continue;
    }
    i += n;
    const bool digitFollows = i < text.len && text.data[i] >= '0' && text.data[i] <= '9';
    if (isSeen(c))
      add(text.data + i - n, n);
    else if (c == 0 && digitFollows)
      add("\\u{0}"); // `\0` and the digit would read as one number
    else
      addEscaped(c);
  }
}

int64_t countChars(const uint8_t* data, int64_t len) {
  int64_t count = 0;
  for (int64_t i = 0; i < len; i++) count += (data[i] & 0xc0) != 0x80;
  return count;
}

int encodeChar(uint32_t c, uint8_t* out) {
  if (c < 0x80) {
    out[0] = static_cast<uint8_t>(c);
    return 1;
  }
  if (c < 0x800) {
    out[0] = static_cast<uint8_t>(0xc0 | c >> 6);
    out[1] = static_cast<uint8_t>(0x80 | (c & 63));
    return 2;
  }
  if (c < 0x10000) {
    out[0] = static_cast<uint8_t>(0xe0 | c >> 12);
    out[1] = static_cast<uint8_t>(0x80 | (c >> 6 & 63));
    out[2] = static_cast<uint8_t>(0x80 | (c & 63));
    return 3;
  }
  out[0] = static_cast<uint8_t>(0xf0 | (c >> 18 & 7));
  out[1] = static_cast<uint8_t>(0x80 | (c >> 12 & 63));
  out[2] = static_cast<uint8_t>(0x80 | (c >> 6 & 63));
  out[3] = static_cast<uint8_t>(0x80 | (c & 63));
  return 4;
}

int decodeChar(const uint8_t* data, int64_t len, uint32_t& out) {
  if (len <= 0) return 0;
  uint8_t first = data[0];
  if (first < 0x80) {
    out = first;
    return 1;
  }
  int count = first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : 2;
  if (first < 0xc2 || first > 0xf4 || len < count) return 0;
  uint32_t c = first & (0x7f >> count);
  for (int i = 1; i < count; i++) {
    if ((data[i] & 0xc0) != 0x80) return 0;
    c = c << 6 | (data[i] & 63);
  }
  bool overlong = (count == 3 && c < 0x800) || (count == 4 && (c < 0x10000 || c > 0x10ffff));
  if (overlong || (c >= 0xd800 && c < 0xe000)) return 0;
  out = c;
  return count;
}

int64_t findBadUtf8(const uint8_t* data, int64_t len) {
  uint32_t c;
  for (int64_t i = 0; i < len;) {
    if (data[i] < 0x80) {
      i++;
      continue;
    }
    int n = decodeChar(data + i, len - i, c);
    if (n == 0) return i;
    i += n;
  }
  return -1;
}

} // namespace melix::runtime
