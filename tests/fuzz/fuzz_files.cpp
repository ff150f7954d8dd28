// Files of numbers with bytes changed at random are read as a value, or refused with a message that names the
// file and what is wrong with it: CSV with line and column.
#include "fuzz/mutate.h"
#include "fuzz/run.h"

#include "melix/abi.h"

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <unistd.h>
#include <zlib.h>

extern "C" void melix_csv_read(MelixTask*, const uint64_t*, uint64_t*);
extern "C" void melix_npy_read(MelixTask*, const uint64_t*, uint64_t*);
extern "C" void melix_idx_read(MelixTask*, const uint64_t*, uint64_t*);

using namespace melix;

namespace {

constexpr int maxRank = 3;

enum class Format { Csv, Npy, Idx };

/// What a step asks of a file.
struct Asked {
  Format format;
  int kind, rank;
  int64_t dims[maxRank], skip;
};

[[noreturn]] void fail(const std::string& what, const std::string& bytes) {
  std::fprintf(stderr, "%s\n--- file\n%s\n", what.c_str(), bytes.c_str());
  std::abort();
}

int pickKind(fuzz::Random& random) {
  static constexpr int kinds[] = {MELIX_KIND_BOOL, MELIX_KIND_I8,  MELIX_KIND_U8,  MELIX_KIND_I32,
                                  MELIX_KIND_I64,  MELIX_KIND_F16, MELIX_KIND_F32, MELIX_KIND_F64};
  return kinds[random() % std::size(kinds)];
}

std::string csvFile(fuzz::Random& random) {
  static constexpr const char* fields[] = {"1",     "-2",   "0",   "3.25", "1e30", " 7 ",
                                           "\"4\"", "true", "nan", "-inf", "255"};
  std::string out;
  uint64_t rows = 1 + random() % 4, columns = 1 + random() % 4;
  for (uint64_t row = 0; row < rows; ++row)
    for (uint64_t column = 0; column < columns; ++column)
      out += std::string(fields[random() % std::size(fields)]) + (column + 1 < columns ? "," : "\n");
  return out;
}

std::string npyFile(fuzz::Random& random) {
  static constexpr const char* descrs[] = {"|b1", "|i1", "|u1", "<i4", ">i4", "<i8",
                                           "<f2", "<f4", ">f8", "<f8", "<c8"};
  std::string shape;
  for (uint64_t axis = random() % 4; axis > 0; --axis) shape += std::to_string(random() % 4) + ",";
  std::string header = std::string("{'descr': '") + descrs[random() % std::size(descrs)] +
                       "', 'fortran_order': " + (random() % 2 ? "True" : "False") + ", 'shape': (" + shape +
                       "), }\n";
  std::string out = "\x93NUMPY\x01";
  out += '\0';
  out += static_cast<char>(header.size());
  out += '\0';
  out += header;
  for (uint64_t k = 0; k < 64 * 8; ++k) out += static_cast<char>(random());
  return out;
}

std::string packed(const std::string& bytes) {
  z_stream stream{};
  deflateInit2(&stream, 6, Z_DEFLATED, 16 + MAX_WBITS, 8, Z_DEFAULT_STRATEGY);
  std::string out(bytes.size() + 256, '\0');
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(bytes.data()));
  stream.avail_in = static_cast<uInt>(bytes.size());
  stream.next_out = reinterpret_cast<Bytef*>(out.data());
  stream.avail_out = static_cast<uInt>(out.size());
  deflate(&stream, Z_FINISH);
  out.resize(stream.total_out);
  deflateEnd(&stream);
  return out;
}

/// The element types of IDX, the bytes of each, and what else may stand there.
std::string idxFile(fuzz::Random& random) {
  static constexpr std::pair<char, size_t> codes[] = {{8, 1},  {9, 1},  {11, 2}, {12, 4},
                                                      {13, 4}, {14, 8}, {10, 1}};
  auto [code, size] = codes[random() % std::size(codes)];
  auto rank = static_cast<size_t>(random() % 4);
  std::string out{'\0', '\0', code, static_cast<char>(rank)};
  for (size_t axis = 0; axis < rank; ++axis) {
    auto extent = static_cast<char>(random() % 4);
    size *= static_cast<size_t>(extent);
    out += std::string(3, '\0') + extent;
  }
  for (size_t k = 0; k < size; ++k) out += static_cast<char>(random());
  return random() % 2 ? packed(out) : out;
}

std::string fileOf(Format format, fuzz::Random& random) {
  switch (format) {
  case Format::Csv: return csvFile(random);
  case Format::Npy: return npyFile(random);
  case Format::Idx: return idxFile(random);
  }
  return {};
}

MelixBuiltinFn readerOf(Format format) {
  return format == Format::Csv ? melix_csv_read : format == Format::Npy ? melix_npy_read : melix_idx_read;
}

/// A few bytes other than they were; now and then the header alone, or none changed.
std::string changed(std::string bytes, fuzz::Random& random) {
  if (random() % 8 == 0) return bytes;
  if (random() % 3 == 0)
    return fuzz::changeBytes(bytes.substr(0, 80), random) + bytes.substr(std::min<size_t>(80, bytes.size()));
  return fuzz::changeBytes(bytes, random);
}

/// Bools of a value that was read are 0 or 1.
void requireBools(const uint64_t* results, const Asked& asked, const std::string& bytes) {
  if (asked.kind != MELIX_KIND_BOOL) return;
  int64_t count = 1;
  for (int k = 0; k < asked.rank; ++k) count *= static_cast<int64_t>(results[2 + k]);
  auto* data = reinterpret_cast<const uint8_t*>(results[1]);
  for (int64_t k = 0; k < count; ++k)
    if (data[k] > 1) fail("a bool that is " + std::to_string(data[k]), bytes);
}

void requireMessage(const std::string& message, const std::string& path, const std::string& bytes) {
  if (message.empty()) fail("refused without a message", bytes);
  if (message.find(path) == std::string::npos && message.find("csv.read gives arrays") == std::string::npos)
    fail("the message does not name the file: " + message, bytes);
}

/// The value, printed and released; or the message.
void read(MelixTask* task, const std::string& path, const Asked& asked, const std::string& bytes) {
  MelixType type{};
  type.kind = MELIX_KIND_ARRAY;
  type.rank = static_cast<uint8_t>(asked.rank);
  type.flags = MELIX_HOLDS_REFS;
  type.align = 8;
  type.size = static_cast<uint32_t>(8 + 8 * asked.rank);
  type.elem = &melix_scalar_types[asked.kind];
  std::vector<uint64_t> args{reinterpret_cast<uint64_t>(path.data()), path.size()};
  if (asked.format == Format::Csv) args.push_back(static_cast<uint64_t>(asked.skip));
  args.push_back(reinterpret_cast<uint64_t>(&type));
  args.push_back(reinterpret_cast<uint64_t>(asked.dims));
  uint64_t results[16] = {};
  if (melix_call_builtin(task, readerOf(asked.format), args.data(), results) != MELIX_OK)
    fail("a panic", bytes);
  size_t textAt = 2 + static_cast<size_t>(asked.rank);
  if (results[0]) {
    requireBools(results, asked, bytes);
    melix_release(task, reinterpret_cast<void*>(results[1]));
  } else {
    auto* text = reinterpret_cast<uint8_t*>(results[textAt]);
    requireMessage(std::string(reinterpret_cast<char*>(text), results[textAt + 1]), path, bytes);
    melix_release(task, text);
  }
  if (melix_stats(task).liveBlocks != 0) fail("blocks are left", bytes);
}

void step(fuzz::Random& random) {
  static MelixTask* task = melix_task_create();
  static const std::string path = "/tmp/melix_fuzz_files_" + std::to_string(getpid());
  Asked asked{Format(random() % 3), pickKind(random), 1 + static_cast<int>(random() % maxRank), {}, 0};
  for (int64_t& d : asked.dims) d = random() % 4 == 0 ? static_cast<int64_t>(random() % 4) : -1;
  asked.skip = static_cast<int64_t>(random() % 2);
  std::string bytes = changed(fileOf(asked.format, random), random);
  std::ofstream(path, std::ios::binary) << bytes;
  read(task, path, asked, bytes);
  unlink(path.c_str());
}

} // namespace

int main(int argc, char** argv) { return fuzz::runFuzzer(argc, argv, step); }
