#pragma once
// Files packed by gzip (RFC 1952), with zlib, which a program needs only if it reaches functions of this
// file.

#include "text_buffer.h"

#include <zlib.h>

namespace melix::runtime {

/// The bytes of a file in order: unpacked if the file is gzip, of one member or several, else as they are.
class UnpackedBytes {
public:
  /// The file's bytes stay the caller's, who keeps them.
  explicit UnpackedBytes(const TextBuffer& file);
  ~UnpackedBytes();
  UnpackedBytes(const UnpackedBytes&) = delete;
  UnpackedBytes& operator=(const UnpackedBytes&) = delete;

  /// The next bytes; returns their count, less than `count` only at the end or before an error.
  int64_t read(uint8_t* to, int64_t count);
  /// Null, or the error in the packed data where reading ended.
  const char* problem() const { return problem_; }
  /// No file of this length holds more bytes.
  int64_t bound() const;

private:
  int64_t unpack(uint8_t* to, int64_t count);
  bool startMember();

  const uint8_t* at_;
  const uint8_t* end_;
  const char* problem_ = nullptr;
  bool packed_;
  bool inMember_ = false;
  z_stream stream_;
};

/// Appends the bytes packed by gzip; false if memory is short.
bool packBytes(const uint8_t* data, int64_t len, TextBuffer& out);

} // namespace melix::runtime
