#pragma once
// Bytes of short texts as words, read without a loop over bytes and without a call.

#include <cstdint>
#include <cstring>

namespace melix::runtime {

template <class Word>
Word wordAt(const uint8_t* at) {
  Word word;
  memcpy(&word, at, sizeof word);
  return word;
}

/// The first `count` of at most eight bytes, the first one lowest, zeros after them. Nothing else is read:
/// bytes that are read twice are the same bits.
inline uint64_t partOfWord(const uint8_t* at, int64_t count) {
  if (count >= 4) {
    const uint64_t behind = wordAt<uint32_t>(at + count - 4);
    return wordAt<uint32_t>(at) | behind << 8 * (count - 4);
  }
  if (count <= 0) return 0;
  const uint64_t middle = at[count / 2], last = at[count - 1];
  return at[0] | middle << 8 * (count / 2) | last << 8 * (count - 1);
}

/// Words one after another, the last one over the one before; long texts are left to the C library.
inline bool areEqual(const uint8_t* a, const uint8_t* b, int64_t count) {
  if (count < 8) return partOfWord(a, count) == partOfWord(b, count);
  if (count > 64) return memcmp(a, b, static_cast<size_t>(count)) == 0;
  for (int64_t at = 0; at < count - 8; at += 8)
    if (wordAt<uint64_t>(a + at) != wordAt<uint64_t>(b + at)) return false;
  return wordAt<uint64_t>(a + count - 8) == wordAt<uint64_t>(b + count - 8);
}

} // namespace melix::runtime
