#include "gzip.h"

namespace melix::runtime {

namespace {

constexpr int gzipFormat = 16 + MAX_WBITS; ///< for zlib: a header and a checksum of gzip around the data
constexpr int64_t mostRatio = 1032;        ///< of unpacked to packed bytes, by the format of deflate
constexpr int64_t piece = 1 << 30;         ///< zlib counts in 32 bits

bool isGzip(const uint8_t* at, const uint8_t* end) { return end - at >= 2 && at[0] == 0x1f && at[1] == 0x8b; }

unsigned pieceOf(int64_t len) { return static_cast<unsigned>(len < piece ? len : piece); }

} // namespace

UnpackedBytes::UnpackedBytes(const TextBuffer& file)
    : at_(file.data), end_(file.data + file.len), packed_(isGzip(at_, end_)) {
  memset(&stream_, 0, sizeof stream_);
  if (packed_ && inflateInit2(&stream_, gzipFormat) != Z_OK)
    problem_ = "there is not enough memory to unpack it";
  inMember_ = packed_;
}

UnpackedBytes::~UnpackedBytes() { inflateEnd(&stream_); }

int64_t UnpackedBytes::bound() const {
  int64_t len = end_ - at_, most;
  return packed_ && !__builtin_mul_overflow(len + 1, mostRatio, &most) ? most : len;
}

/// Whether another member begins where one has ended, or behind zeros, with which files are filled up.
bool UnpackedBytes::startMember() {
  while (at_ < end_ && *at_ == 0) at_++;
  if (at_ == end_) return false;
  if (!isGzip(at_, end_)) {
    problem_ = "something stands behind its gzip data";
    return false;
  }
  inMember_ = inflateReset(&stream_) == Z_OK;
  return inMember_;
}

int64_t UnpackedBytes::unpack(uint8_t* to, int64_t count) {
  int64_t done = 0;
  while (done < count && !problem_ && (inMember_ || startMember())) {
    stream_.next_in = const_cast<uint8_t*>(at_);
    stream_.avail_in = pieceOf(end_ - at_);
    stream_.next_out = to + done;
    stream_.avail_out = pieceOf(count - done);
    int status = inflate(&stream_, Z_NO_FLUSH);
    at_ = stream_.next_in;
    done = stream_.next_out - to;
    inMember_ = status != Z_STREAM_END;
    if (status == Z_MEM_ERROR)
      problem_ = "there is not enough memory to unpack it";
    else if (status == Z_BUF_ERROR || (status == Z_OK && at_ == end_ && stream_.avail_out > 0))
      problem_ = "its gzip data is cut off";
    else if (status != Z_OK && status != Z_STREAM_END)
      problem_ = "its gzip data is damaged";
  }
  return done;
}

int64_t UnpackedBytes::read(uint8_t* to, int64_t count) {
  if (packed_) return unpack(to, count);
  if (count > end_ - at_) count = end_ - at_;
  if (count > 0) memcpy(to, at_, static_cast<size_t>(count));
  at_ += count;
  return count;
}

bool packBytes(const uint8_t* data, int64_t len, TextBuffer& out) {
  constexpr int memoryLevel = 8; // zlib's own default
  z_stream stream;
  memset(&stream, 0, sizeof stream);
  if (deflateInit2(&stream, Z_DEFAULT_COMPRESSION, Z_DEFLATED, gzipFormat, memoryLevel, Z_DEFAULT_STRATEGY) !=
      Z_OK)
    return false;
  stream.next_in = const_cast<uint8_t*>(data);
  int status = Z_OK;
  while (status == Z_OK && out.reserve(64 * 1024)) {
    int64_t left = len - (stream.next_in - data);
    stream.avail_in = pieceOf(left);
    stream.next_out = out.data + out.len;
    stream.avail_out = pieceOf(out.cap - out.len);
    status = deflate(&stream, left > piece ? Z_NO_FLUSH : Z_FINISH);
    out.len = stream.next_out - out.data;
  }
  deflateEnd(&stream);
  return status == Z_STREAM_END;
}

} // namespace melix::runtime
