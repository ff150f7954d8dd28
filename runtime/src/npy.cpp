// NumPy's .npy files, versions 1 to 3: magic, version, length of the header, a header that is a Python
// dictionary
// `{'descr': '<f4', 'fortran_order': False, 'shape': (3, 4), }`, then the data.
#include "asked.h"
#include "decimal.h"
#include "files.h"

namespace melix::runtime {

namespace {

struct Header {
  uint8_t kind = 0; ///< MelixKind of the elements
  bool bigEndian = false;
  bool fortran = false;
  int rank = -1; ///< before a shape was read
  int64_t dims[maxRank];
  int64_t dataAt = 0;
};

struct DescrKind {
  const char* text; ///< without the byte order
  uint8_t kind;
};
constexpr DescrKind descrKinds[] = {
    {"b1", MELIX_KIND_BOOL}, {"i1", MELIX_KIND_I8},    {"i2", MELIX_KIND_I16}, {"i4", MELIX_KIND_I32},
    {"i8", MELIX_KIND_I64},  {"u1", MELIX_KIND_U8},    {"u2", MELIX_KIND_U16}, {"u4", MELIX_KIND_U32},
    {"u8", MELIX_KIND_U64},  {"f2", MELIX_KIND_F16},   {"f4", MELIX_KIND_F32}, {"f8", MELIX_KIND_F64},
    {"c8", MELIX_KIND_C64},  {"c16", MELIX_KIND_C128},
};

/// Walks the dictionary of the header.
struct HeaderText {
  const char* at;
  const char* end;

  void blanks() {
    while (at < end && (*at == ' ' || *at == '\n' || *at == '\t')) at++;
  }
  bool take(const char* word) {
    blanks();
    auto len = static_cast<ptrdiff_t>(strlen(word));
    if (end - at < len || memcmp(at, word, static_cast<size_t>(len)) != 0) return false;
    at += len;
    return true;
  }
  /// What stands between quotes.
  bool quoted(MelixStr& out) {
    blanks();
    if (at == end || (*at != '\'' && *at != '"')) return false;
    const char quote = *at++;
    const char* first = at;
    while (at < end && *at != quote) at++;
    out = {reinterpret_cast<const uint8_t*>(first), at - first};
    return at < end && *at++ == quote;
  }
  bool number(int64_t& out) {
    blanks();
    const char* first = at;
    out = 0;
    for (; at < end && *at >= '0' && *at <= '9'; at++) {
      if (__builtin_mul_overflow(out, 10, &out) || __builtin_add_overflow(out, *at - '0', &out)) return false;
    }
    const bool some = at > first;
    if (some && at < end && *at == 'L') at++; // as Python 2 wrote them
    return some;
  }
};

/// Adds what is wrong with a file; false.
bool refuse(TextBuffer& wrong, const char* text) {
  wrong.add(text);
  return false;
}
bool refuseHeader(TextBuffer& wrong) { return refuse(wrong, "its header is malformed"); }

bool isText(MelixStr text, const char* word) {
  return text.len == static_cast<int64_t>(strlen(word)) &&
         memcmp(text.data, word, static_cast<size_t>(text.len)) == 0;
}

bool parseDescr(HeaderText& text, Header& header, TextBuffer& wrong) {
  if (text.take("[")) return refuse(wrong, "its elements are records, which are not supported");
  MelixStr descr;
  if (!text.quoted(descr)) return refuseHeader(wrong);
  const bool ordered = descr.len > 0 && memchr("<>|=", *descr.data, 4);
  header.bigEndian = descr.len > 0 && *descr.data == '>';
  for (const DescrKind& k : descrKinds) {
    if (ordered && isText({descr.data + 1, descr.len - 1}, k.text)) {
      header.kind = k.kind;
      return true;
    }
  }
  wrong.add("its element type `");
  wrong.addShown(descr, 40);
  return refuse(wrong, "` is not supported");
}

bool parseShape(HeaderText& text, Header& header, TextBuffer& wrong) {
  if (header.rank >= 0 || !text.take("(")) return refuseHeader(wrong); // twice
  int64_t rank = 0;
  while (!text.take(")")) {
    int64_t size;
    if (!text.number(size)) return refuseHeader(wrong);
    if (rank < maxRank) header.dims[rank] = size;
    rank++;
    if (text.take(",")) continue;
    if (!text.take(")")) return refuseHeader(wrong);
    break;
  }
  header.rank = static_cast<int>(rank < maxRank ? rank : maxRank);
  if (rank <= maxRank) return true;
  wrong.add("it has ");
  wrong.addInt(rank);
  wrong.add(" dimensions, at most ");
  wrong.addInt(maxRank);
  return refuse(wrong, " are supported");
}

bool parseEntry(HeaderText& text, Header& header, TextBuffer& wrong) {
  MelixStr key;
  if (!text.quoted(key) || !text.take(":")) return refuseHeader(wrong);
  if (isText(key, "descr")) return parseDescr(text, header, wrong);
  if (isText(key, "shape")) return parseShape(text, header, wrong);
  header.fortran = text.take("True");
  const bool known = isText(key, "fortran_order") && (header.fortran || text.take("False"));
  return known || refuseHeader(wrong);
}

bool parseDictionary(HeaderText text, Header& header, TextBuffer& wrong) {
  if (!text.take("{")) return refuseHeader(wrong);
  while (!text.take("}")) {
    if (!parseEntry(text, header, wrong)) return false;
    if (text.take(",")) continue;
    if (!text.take("}")) return refuseHeader(wrong);
    break;
  }
  return (header.kind && header.rank >= 0) || refuseHeader(wrong);
}

bool parseHeader(const TextBuffer& file, Header& header, TextBuffer& wrong) {
  if (file.len >= 4 && memcmp(file.data, "PK\3\4", 4) == 0)
    return refuse(wrong, "it is an archive, as .npz files are; npy.read takes the .npy files in it");
  if (file.len < 10 || memcmp(file.data, "\x93NUMPY", 6) != 0) return refuse(wrong, "it is not a .npy file");
  int version = file.data[6];
  if (version < 1 || version > 3) return refuse(wrong, "its version is not supported");
  int64_t start = version == 1 ? 10 : 12;
  if (file.len < start) return refuse(wrong, "its header is cut off");
  uint32_t length = static_cast<uint32_t>(file.data[8]) | static_cast<uint32_t>(file.data[9]) << 8;
  if (version > 1)
    length |= static_cast<uint32_t>(file.data[10]) << 16 | static_cast<uint32_t>(file.data[11]) << 24;
  if (file.len - start < length) return refuse(wrong, "its header is cut off");
  header.dataAt = start + length;
  auto* text = reinterpret_cast<const char*>(file.data + start);
  return parseDictionary({text, text + length}, header, wrong);
}

/// Bytes of an element part that byte order turns around: complex numbers have two.
uint32_t partSize(uint8_t kind) {
  uint32_t size = melix_scalar_types[kind].size;
  return kind == MELIX_KIND_C64 || kind == MELIX_KIND_C128 ? size / 2 : size;
}

void copyElement(uint8_t* to, const uint8_t* from, const Header& header) {
  uint32_t size = melix_scalar_types[header.kind].size;
  if (!header.bigEndian) {
    memcpy(to, from, size);
    return;
  }
  uint32_t part = partSize(header.kind);
  for (uint32_t base = 0; base < size; base += part) {
    for (uint32_t k = 0; k < part; k++) to[base + k] = from[base + part - 1 - k];
  }
}

/// Row-major data in this machine's byte order.
void copyData(uint8_t* to, const uint8_t* from, const Header& header, int64_t count) {
  uint32_t size = melix_scalar_types[header.kind].size;
  if (!header.bigEndian && (!header.fortran || header.rank < 2)) {
    memcpy(to, from, static_cast<size_t>(count) * size);
    return;
  }
  int64_t index[maxRank] = {};
  int64_t strides[maxRank];
  int64_t stride = 1;
  for (int k = 0; k < header.rank; k++) {
    int axis = header.fortran ? k : header.rank - 1 - k;
    strides[axis] = stride;
    stride *= header.dims[axis];
  }
  int64_t at = 0;
  for (int64_t n = 0; n < count; n++) {
    copyElement(to + static_cast<uint64_t>(n) * size, from + static_cast<uint64_t>(at) * size, header);
    for (int k = header.rank - 1; k >= 0; k--) {
      at += strides[k];
      if (++index[k] < header.dims[k]) break;
      at -= strides[k] * index[k];
      index[k] = 0;
    }
  }
}

bool fits(const Header& header, const Asked& asked) {
  bool widened = header.kind == MELIX_KIND_F16 &&
                 (asked.elem()->kind == MELIX_KIND_F32 || asked.elem()->kind == MELIX_KIND_F64);
  return (header.kind == asked.elem()->kind || widened) && fitsShape(asked, header.rank, header.dims);
}

bool checkFile(MelixStr path, const TextBuffer& file, Header& header, const Asked& asked, int64_t& count,
               TextBuffer& error) {
  const int64_t before = error.len;
  error.add("cannot read `");
  error.addShown(path);
  error.add("`: ");
  if (!parseHeader(file, header, error)) return false;
  if (!countElements(header.rank, header.dims, count)) return refuse(error, "its sizes are too large");
  if (file.len - header.dataAt < count * static_cast<int64_t>(melix_scalar_types[header.kind].size))
    return refuse(error, "its data is cut off");
  if (!fits(header, asked)) {
    addMismatch(error, asked, header.kind, header.rank, header.dims);
    return false;
  }
  error.len = before;
  return true;
}

/// f16 values, in place of which f32 or f64 were asked for.
void widenHalves(uint8_t* to, const uint8_t* from, int64_t count, uint8_t kind) {
  for (int64_t n = 0; n < count; n++) {
    uint16_t bits;
    memcpy(&bits, from + 2 * n, sizeof bits);
    const double value = floatFromBits(bits, MELIX_KIND_F16).value();
    if (kind == MELIX_KIND_F64) {
      memcpy(to + 8 * n, &value, sizeof value);
      continue;
    }
    auto single = static_cast<float>(value);
    memcpy(to + 4 * n, &single, sizeof single);
  }
}

const char* descrOf(uint8_t kind) {
  for (const DescrKind& k : descrKinds) {
    if (k.kind == kind) return k.text;
  }
  return nullptr;
}

void addHeader(TextBuffer& out, const char* descr, bool oneByte, int rank, const int64_t* dims) {
  out.add("\x93NUMPY\x01", 7);
  out.addByte(0);
  int64_t lengthAt = out.len;
  out.add("\0\0", 2);
  out.add("{'descr': '");
  out.addByte(oneByte ? '|' : '<');
  out.add(descr);
  out.add("', 'fortran_order': False, 'shape': (");
  for (int k = 0; k < rank; k++) {
    out.addInt(dims[k]);
    out.add(k + 1 < rank ? ", " : rank == 1 ? "," : "");
  }
  out.add("), }");
  while ((out.len + 1) % 64 != 0) out.addByte(' ');
  out.addByte('\n');
  int64_t length = out.len - lengthAt - 2;
  if (out.len > lengthAt + 2) {
    out.data[lengthAt] = static_cast<uint8_t>(length);
    out.data[lengthAt + 1] = static_cast<uint8_t>(length >> 8);
  }
}

} // namespace

} // namespace melix::runtime

using namespace melix::runtime;

void melix_npy_read(MelixTask* task, const uint64_t* args, uint64_t* results) {
  checkStack(task);
  MelixStr path = strArg(args);
  Asked asked(args + 2);
  TextBuffer file, error;
  Header header;
  int64_t count = 0;
  if (!readFile(path, file, error) || !checkFile(path, file, header, asked, count, error)) {
    file.release();
    giveError(task, results, asked, error);
    return;
  }
  error.release();
  auto* data = static_cast<uint8_t*>(melix_alloc(task, count * static_cast<int64_t>(asked.elem()->size)));
  const uint8_t* source = file.data + header.dataAt;
  if (header.kind == asked.elem()->kind) {
    copyData(data, source, header, count);
  } else {
    auto* halves = static_cast<uint8_t*>(melix_alloc(task, 2 * count));
    copyData(halves, source, header, count);
    widenHalves(data, halves, count, asked.elem()->kind);
    melix_release(task, halves);
  }
  if (header.kind == MELIX_KIND_BOOL) // any other byte than 0 is true, as in NumPy
    for (int64_t k = 0; k < count; k++) data[k] = data[k] != 0;
  file.release();
  giveAsked(task, results, asked, data, header.dims);
}

void melix_npy_write(MelixTask* task, const uint64_t* args, uint64_t* results) {
  MelixStr path = strArg(args);
  auto* type = reinterpret_cast<const MelixType*>(args[2]);
  auto* stored = reinterpret_cast<const uint8_t*>(args[3]);
  bool array = type->kind == MELIX_KIND_ARRAY;
  const MelixType* elem = array ? type->elem : type;
  const char* descr = descrOf(elem->kind);
  TextBuffer out, error;
  if (!descr) {
    error.add("npy.write takes arrays of numbers or bools");
    results[0] = 0;
    setStr(results + 1, takeStr(task, error));
    return;
  }
  const uint8_t* data = stored;
  if (array) memcpy(&data, stored, sizeof data);
  auto* dims = reinterpret_cast<const int64_t*>(stored + 8);
  int rank = array ? type->rank : 0;
  addHeader(out, descr, elem->size == 1, rank, dims);
  int64_t count = 1;
  for (int k = 0; k < rank; k++) count *= dims[k];
  out.add(data, count * static_cast<int64_t>(elem->size));
  results[0] = writeFile(path, out.data, out.len, false, error);
  out.release();
  setStr(results + 1, takeStr(task, error));
}
