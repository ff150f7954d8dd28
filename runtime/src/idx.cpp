// The IDX format of the MNIST database, packed by gzip or not: two bytes 0, a byte for the element type, one
// for the rank, each size in four bytes, then the data row by row; numbers have their highest byte first.
#include "asked.h"
#include "files.h"
#include "gzip.h"

namespace melix::runtime {

namespace {

constexpr int64_t fixedBytes = 4; ///< of a header, before the sizes

struct Header {
  uint8_t kind = 0; ///< MelixKind of the elements
  int rank = 0;
  int64_t dims[maxRank];
  int64_t bytes = 0; ///< of the data
};

struct CodeKind {
  uint8_t code, kind;
};
constexpr CodeKind codeKinds[] = {{0x08, MELIX_KIND_U8},  {0x09, MELIX_KIND_I8},  {0x0b, MELIX_KIND_I16},
                                  {0x0c, MELIX_KIND_I32}, {0x0d, MELIX_KIND_F32}, {0x0e, MELIX_KIND_F64}};

uint8_t kindOf(uint8_t code) {
  for (const CodeKind& k : codeKinds)
    if (k.code == code) return k.kind;
  return 0;
}

uint8_t codeOf(uint8_t kind) {
  for (const CodeKind& k : codeKinds)
    if (k.kind == kind) return k.code;
  return 0;
}

/// Numbers of `size` bytes from highest byte first to this machine's order, or back.
void turnBytes(uint8_t* data, int64_t bytes, uint32_t size) {
  for (uint8_t* at = data; size > 1 && at < data + bytes; at += size) {
    for (uint32_t k = 0; k < size / 2; k++) {
      uint8_t kept = at[k];
      at[k] = at[size - 1 - k];
      at[size - 1 - k] = kept;
    }
  }
}

/// Null, or what is wrong with the header; what is wrong with the packing comes first.
const char* readHeader(UnpackedBytes& file, Header& header) {
  uint8_t bytes[4 * maxRank];
  auto has = [&](int64_t count) { return file.read(bytes, count) == count; };
  if (!has(fixedBytes)) return file.problem() ? file.problem() : "it is not an IDX file";
  if (bytes[0] != 0 || bytes[1] != 0) return "it is not an IDX file";
  header.kind = kindOf(bytes[2]);
  if (header.kind == 0) return "its element type is none of the format";
  header.rank = bytes[3];
  if (header.rank > maxRank) return "it has too many dimensions";
  if (!has(4 * header.rank)) return file.problem() ? file.problem() : "its header is cut off";
  for (int k = 0; k < header.rank; k++) {
    uint32_t size;
    memcpy(&size, bytes + 4 * k, sizeof size);
    header.dims[k] = __builtin_bswap32(size);
  }
  if (!countElements(header.rank, header.dims, header.bytes)) return "its sizes are too large";
  header.bytes *= static_cast<int64_t>(melix_scalar_types[header.kind].size);
  return nullptr;
}

/// Null, or what is wrong with the data, which ends where the file does.
const char* readData(UnpackedBytes& file, const Header& header, uint8_t* to) {
  int64_t got = file.read(to, header.bytes);
  uint8_t more;
  bool longer = got == header.bytes && file.read(&more, 1) == 1;
  if (file.problem()) return file.problem();
  if (got < header.bytes) return "its data is cut off";
  return longer ? "it goes on behind the data that its sizes tell" : nullptr;
}

/// Reads what is asked for; null with the message in `error` if that cannot be.
uint8_t* readArray(MelixTask* task, MelixStr path, const Asked& asked, Header& header, TextBuffer& error) {
  ScopedBuffer content;
  if (!readFile(path, content, error)) return nullptr;
  UnpackedBytes file(content);
  const char* wrong = readHeader(file, header);
  if (!wrong && header.bytes > file.bound()) wrong = "its data is cut off";
  error.add("cannot read `");
  error.addShown(path);
  error.add("`: ");
  if (!wrong && (header.kind != asked.elem()->kind || !fitsShape(asked, header.rank, header.dims))) {
    addMismatch(error, asked, header.kind, header.rank, header.dims);
    return nullptr;
  }
  uint8_t* data = nullptr;
  if (!wrong) {
    data = static_cast<uint8_t*>(melix_alloc(task, header.bytes));
    wrong = readData(file, header, data);
  }
  if (!wrong) return data;
  error.add(wrong);
  melix_release(task, data);
  return nullptr;
}

void addHeader(TextBuffer& out, uint8_t code, int rank, const int64_t* dims) {
  const uint8_t start[fixedBytes] = {0, 0, code, static_cast<uint8_t>(rank)};
  out.add(start, fixedBytes);
  for (int k = 0; k < rank; k++) {
    uint32_t size = __builtin_bswap32(static_cast<uint32_t>(dims[k]));
    out.add(&size, sizeof size);
  }
}

bool endsWith(MelixStr text, const char* end) {
  auto len = static_cast<int64_t>(strlen(end));
  return text.len >= len && memcmp(text.data + text.len - len, end, static_cast<size_t>(len)) == 0;
}

/// Null, or why an array cannot be written.
const char* writeArray(MelixStr path, const MelixType* type, const uint8_t* stored, TextBuffer& error) {
  bool array = type->kind == MELIX_KIND_ARRAY;
  const MelixType* elem = array ? type->elem : type;
  uint8_t code = codeOf(elem->kind);
  if (code == 0) return "idx.write takes arrays of u8, i8, i16, i32, f32 or f64";
  const uint8_t* data = stored;
  if (array) memcpy(&data, stored, sizeof data);
  auto* dims = reinterpret_cast<const int64_t*>(stored + 8);
  int rank = array ? type->rank : 0;
  auto bytes = static_cast<int64_t>(elem->size);
  for (int k = 0; k < rank; k++) {
    if (dims[k] > UINT32_MAX) return "idx.write takes arrays with sizes below 2^32";
    bytes *= dims[k];
  }
  ScopedBuffer out;
  addHeader(out, code, rank, dims);
  int64_t dataAt = out.len;
  out.add(data, bytes);
  bool complete = out.len == dataAt + bytes;
  if (complete) turnBytes(out.data + dataAt, bytes, elem->size);
  ScopedBuffer packed;
  bool pack = endsWith(path, ".gz");
  if (!complete || (pack && !packBytes(out.data, out.len, packed))) return "idx.write has not enough memory";
  const TextBuffer& file = pack ? packed : out;
  writeFile(path, file.data, file.len, false, error);
  return nullptr;
}

} // namespace

} // namespace melix::runtime

using namespace melix::runtime;

void melix_idx_read(MelixTask* task, const uint64_t* args, uint64_t* results) {
  checkStack(task);
  Asked asked(args + 2);
  TextBuffer error;
  Header header;
  uint8_t* data = readArray(task, strArg(args), asked, header, error);
  if (!data) {
    giveError(task, results, asked, error);
    return;
  }
  error.release();
  turnBytes(data, header.bytes, melix_scalar_types[header.kind].size);
  giveAsked(task, results, asked, data, header.dims);
}

void melix_idx_write(MelixTask* task, const uint64_t* args, uint64_t* results) {
  checkStack(task);
  TextBuffer error;
  auto* type = reinterpret_cast<const MelixType*>(args[2]);
  const char* wrong = writeArray(strArg(args), type, reinterpret_cast<const uint8_t*>(args[3]), error);
  if (wrong) error.add(wrong);
  results[0] = error.len == 0;
  setStr(results + 1, takeStr(task, error));
}
