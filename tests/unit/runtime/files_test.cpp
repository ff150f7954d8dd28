// Files, CSV, npy and IDX: what is read, and what is said when it cannot be (rule 47).
#include "runtime_fixture.h"

#include <cmath>
#include <cstdlib>
#include <fstream>
#include <sstream>
#include <unistd.h>
#include <zlib.h>

namespace melix::test {
namespace {

class Files : public RuntimeTest {
protected:
  void SetUp() override {
    char name[] = "/tmp/melix_files_XXXXXX";
    folder = mkdtemp(name);
    path = folder + "/t.csv";
  }
  void TearDown() override {
    EXPECT_EQ(live(), 0);
    std::string command = "rm -rf " + folder;
    EXPECT_EQ(std::system(command.c_str()), 0);
  }
  void write(std::string_view content) { std::ofstream(path, std::ios::binary) << content; }

  /// Reads with a builtin; the printed array, or the message with the folder taken out.
  std::string read(MelixBuiltinFn fn, Slots args, int kind, std::vector<int64_t> wanted) {
    MelixType type = arrayType(scalar(kind), static_cast<int>(wanted.size()));
    call(fn, args.add(&type).add(wanted.data()));
    int rank = static_cast<int>(wanted.size());
    if (!results[0]) {
      EXPECT_EQ(results[1], 0u);
      std::string text = takeText(2 + rank);
      for (size_t at; (at = text.find(folder + "/")) != std::string::npos;) text.erase(at, folder.size() + 1);
      return text;
    }
    struct {
      void* data;
      int64_t dims[6];
    } stored{reinterpret_cast<void*>(results[1]), {}};
    for (int k = 0; k < rank; k++) stored.dims[k] = static_cast<int64_t>(results[2 + k]);
    std::string out = rank == 0 ? format(scalar(kind), stored.data) : format(&type, &stored);
    melix_release(task, stored.data);
    return out;
  }
  std::string csv(std::string_view content, int kind = MELIX_KIND_F32, std::vector<int64_t> wanted = {-1, -1},
                  int64_t skip = 0) {
    write(content);
    return read(melix_csv_read, Slots().add(path).add(skip), kind, wanted);
  }
  std::string npy(const std::string& file, int kind, std::vector<int64_t> wanted) {
    return read(melix_npy_read, Slots().add(file), kind, wanted);
  }

  std::string idx(const std::string& file, int kind, std::vector<int64_t> wanted) {
    return read(melix_idx_read, Slots().add(file), kind, wanted);
  }
  /// What reading a file of these bytes says, but for its name; all files are asked for u8[_, _].
  std::string idxProblem(const std::string& content) {
    write(content);
    std::string text = idx(path, MELIX_KIND_U8, {-1, -1}), start = "cannot read `t.csv`: ";
    return text.starts_with(start) ? text.substr(start.size()) : "no problem: " + text;
  }

  std::string folder, path;
};

TEST_F(Files, csv_tables) {
  EXPECT_EQ(csv("1,2\n3,4\n"), "[[1.0, 2.0],\n [3.0, 4.0]]");
  EXPECT_EQ(csv("1,2\r\n3,4"), "[[1.0, 2.0],\n [3.0, 4.0]]");
  EXPECT_EQ(csv("\xef\xbb\xbf 1 ,\t2.5e1\n\"3\",-inf\n\n \n"), "[[1.0, 25.0],\n [3.0, -inf]]");
  EXPECT_EQ(csv("x,y\n1,2\n", MELIX_KIND_F64, {-1, 2}, 1), "[[1.0, 2.0]]");
  EXPECT_EQ(csv("1,-2\n", MELIX_KIND_I8), "[[1, -2]]");
  EXPECT_EQ(csv("true,0\n", MELIX_KIND_BOOL), "[[true, false]]");
  EXPECT_EQ(csv("0.1\n", MELIX_KIND_BF16), "[[0.1]]");
  EXPECT_EQ(csv("1\n2\n3\n", MELIX_KIND_I64, {-1}), "[1, 2, 3]");
  EXPECT_EQ(csv("1,2,3\n", MELIX_KIND_I64, {3}), "[1, 2, 3]");
}

TEST_F(Files, csv_mistakes_are_told_with_their_place) {
  EXPECT_EQ(csv("1,2\n3\n"), "t.csv:2:2: this row has 1 number, the first row has 2");
  EXPECT_EQ(csv("1,2\n3,4,5\n"), "t.csv:2:5: this row has more than the 2 numbers of the first row");
  EXPECT_EQ(csv("1,2\n\n3,4\n"), "t.csv:2:1: a number is missing");
  EXPECT_EQ(csv("1,2\n3,abc\n"), "t.csv:2:3: `abc` is not a number");
  EXPECT_EQ(csv("a\x1b[2J\u202e\xff,2\n"), "t.csv:1:1: `a\\u{1b}[2J\\u{202e}\\xff` is not a number");
  EXPECT_EQ(csv(std::string(50, 'x') + "\n"), "t.csv:1:1: `" + std::string(40, 'x') + "…` is not a number");
  EXPECT_EQ(csv("ä,2\n"), "t.csv:1:1: `ä` is not a number");
  EXPECT_EQ(csv("1, ,2\n"), "t.csv:1:4: a number is missing");
  EXPECT_EQ(csv("1.5\n", MELIX_KIND_I32), "t.csv:1:1: `1.5` is written as a float, asked for is `i32`");
  EXPECT_EQ(csv("4.0\n", MELIX_KIND_I64), "t.csv:1:1: `4.0` is written as a float, asked for is `int`");
  EXPECT_EQ(csv("1\n300\n", MELIX_KIND_U8), "t.csv:2:1: `300` does not fit `u8`");
  for (int kind : {MELIX_KIND_I64, MELIX_KIND_F64})
    for (const std::string field : {"0x10", "-0b11", "0o7"})
      EXPECT_EQ(csv(field + "\n", kind), "t.csv:1:1: `" + field + "` is not a number");
  EXPECT_EQ(csv("0e1\n"), "[[0.0]]");
  EXPECT_EQ(csv("2\n", MELIX_KIND_BOOL), "t.csv:1:1: `2` is not a bool");
  EXPECT_EQ(csv(""), "t.csv:1:1: the file is empty");
  EXPECT_EQ(csv("\n\n"), "t.csv:1:1: the file is empty");
  EXPECT_EQ(csv("x,y\n", MELIX_KIND_F32, {-1, -1}, 1),
            "t.csv:2:1: there is no row behind the lines that are left out");
  EXPECT_EQ(csv("1\n", MELIX_KIND_F32, {-1, -1}, -1), "csv.read cannot leave out -1 lines");
  EXPECT_EQ(csv("\xff\xfe"
                "1"),
            "t.csv:1:1: the file is UTF-16; csv.read takes UTF-8");
  EXPECT_EQ(csv("\x1f\x8b\x08"), "t.csv:1:1: the file is packed by gzip; unpack it first");
  EXPECT_EQ(csv(std::string(1, '\0') + "04\n"), "t.csv:1:1: `\\u{0}04` is not a number");
  EXPECT_EQ(csv("1,2\n", MELIX_KIND_F32, {-1, 65}),
            "t.csv:1:1: the file has 2 columns, `f32[_, 65]` asks for 65");
  EXPECT_EQ(csv("1,2\n3,4\n", MELIX_KIND_F32, {3, -1}),
            "t.csv:3:1: the file has 2 rows, `f32[3, _]` asks for 3");
  EXPECT_EQ(csv("1,2\n3,4\n", MELIX_KIND_F32, {-1}),
            "t.csv:2:1: a vector is one row or one column, here is a second row");
  EXPECT_EQ(csv("1\n2\n", MELIX_KIND_F32, {3}), "t.csv:3:1: the file has 2 numbers, `f32[3]` asks for 3");
  EXPECT_EQ(csv("1\n", MELIX_KIND_F32, {-1, -1, -1}),
            "csv.read gives arrays of numbers with one or two dimensions, not `f32[_, _, _]`");
  unlink(path.c_str());
  EXPECT_EQ(read(melix_csv_read, Slots().add(path).add(int64_t(0)), MELIX_KIND_F32, {-1, -1}),
            "cannot read `t.csv`: No such file or directory");
  EXPECT_EQ(read(melix_csv_read, Slots().add(folder).add(int64_t(0)), MELIX_KIND_F32, {-1, -1}),
            "cannot read `" + folder + "`: Is a directory");
}

TEST_F(Files, csv_of_random_bytes_is_an_answer) {
  uint32_t state = 1;
  for (int round = 0; round < 3000; round++) {
    std::string content;
    for (uint32_t n = (state = state * 1664525 + 1013904223) >> 26; n > 0; n--) {
      state = state * 1664525 + 1013904223;
      content += "0123456789.,,\n\n-e\"\r x\xff\0"[state >> 28 | (state >> 24 & 1) << 2];
    }
    csv(content, round % 2 ? MELIX_KIND_F64 : MELIX_KIND_I32);
  }
}

TEST_F(Files, csv_round_trip) {
  double x[] = {0.1, -2, 1e300, 4};
  MelixType type = arrayType(scalar(MELIX_KIND_F64), 2);
  StoredArray stored{x, {2, 2}};
  call(melix_csv_write, Slots().add(path).add(&type).add(&stored));
  EXPECT_EQ(results[0], 1u);
  std::stringstream content;
  content << std::ifstream(path).rdbuf();
  EXPECT_EQ(content.str(), "0.1,-2.0\n1e300,4.0\n");
  EXPECT_EQ(read(melix_csv_read, Slots().add(path).add(int64_t(0)), MELIX_KIND_F64, {2, 2}),
            "[[0.1, -2.0],\n [1e300, 4.0]]");
  std::string nowhere = folder + "/none/t.csv";
  call(melix_csv_write, Slots().add(nowhere).add(&type).add(&stored));
  EXPECT_EQ(results[0], 0u);
  EXPECT_EQ(takeText(1), "cannot write `" + nowhere + "`: No such file or directory");
}

TEST_F(Files, whole_files) {
  call(melix_file_write, Slots().add(path).add("one\n"));
  EXPECT_EQ(results[0], 1u);
  call(melix_file_append, Slots().add(path).add("two\n"));
  call(melix_file_read, Slots().add(path));
  EXPECT_EQ(results[0], 1u);
  EXPECT_EQ(takeText(1), "one\ntwo\n");
  EXPECT_EQ(call(melix_file_exists, Slots().add(path))[0], 1u);
  EXPECT_EQ(call(melix_file_exists, Slots().add("/none/such"))[0], 0u);
  call(melix_file_write_bytes, Slots().add(path).add("a\xff"));
  call(melix_file_read, Slots().add(path));
  EXPECT_EQ(results[0], 0u);
  EXPECT_EQ(takeText(3), "cannot read `" + path + "` as text: byte 1 is not UTF-8");
  call(melix_file_read_bytes, Slots().add(path));
  EXPECT_EQ(results[0], 1u);
  EXPECT_EQ(takeText(1), "a\xff");
  call(melix_file_read, Slots().add(std::string_view("a\0b", 3)));
  EXPECT_EQ(results[0], 0u);
  EXPECT_EQ(takeText(3), "cannot read `a\\0b`: not a path");
}

std::string hex(std::string_view digits) {
  std::string out;
  for (size_t k = 0; k + 1 < digits.size(); k += 2)
    out += static_cast<char>(std::stoi(std::string(digits.substr(k, 2)), nullptr, 16));
  return out;
}

/// A file of version 1 with this dictionary and data.
std::string npyFile(std::string dictionary, const std::string& data, char version = 1) {
  while ((dictionary.size() + 11 + (version > 1 ? 2 : 0)) % 64) dictionary += ' ';
  dictionary += '\n';
  std::string out = "\x93NUMPY";
  out += version;
  out += '\0';
  size_t n = dictionary.size();
  for (int k = 0; k < (version > 1 ? 4 : 2); k++) out += static_cast<char>(n >> (8 * k) & 255);
  return out + dictionary + data;
}

TEST_F(Files, npy_of_each_order) {
  write(npyFile("{'descr': '<i2', 'fortran_order': False, 'shape': (2, 2), }", hex("0100020003000400")));
  EXPECT_EQ(npy(path, MELIX_KIND_I16, {-1, 2}), "[[1, 2],\n [3, 4]]");
  write(npyFile("{'descr': '>i2', 'fortran_order': False, 'shape': (2, 2), }", hex("0001000200030004"), 2));
  EXPECT_EQ(npy(path, MELIX_KIND_I16, {-1, -1}), "[[1, 2],\n [3, 4]]");
  write(npyFile("{'shape': (2, 3), 'fortran_order': True, 'descr': '|u1'}", hex("010203040506"), 3));
  EXPECT_EQ(npy(path, MELIX_KIND_U8, {-1, -1}), "[[1, 3, 5],\n [2, 4, 6]]");
  write(npyFile("{'descr': '<f2', 'fortran_order': False, 'shape': (2,), }", hex("003c00c1")));
  EXPECT_EQ(npy(path, MELIX_KIND_F16, {-1}), "[1.0, -2.5]");
  EXPECT_EQ(npy(path, MELIX_KIND_F32, {-1}), "[1.0, -2.5]");
  EXPECT_EQ(npy(path, MELIX_KIND_F64, {2}), "[1.0, -2.5]");
  write(npyFile("{'descr': '|b1', 'fortran_order': False, 'shape': (3,), }", hex("000147")));
  EXPECT_EQ(npy(path, MELIX_KIND_BOOL, {-1}), "[false, true, true]");
}

TEST_F(Files, names_of_files_are_escaped_in_messages) {
  path = folder + "/a\x1b[31m\u202e.x";
  const std::string shown = "a\\u{1b}[31m\\u{202e}.x";
  EXPECT_EQ(csv("no\n"), shown + ":1:1: `no` is not a number");
  EXPECT_EQ(npy(path, MELIX_KIND_F32, {-1}), "cannot read `" + shown + "`: it is not a .npy file");
  EXPECT_EQ(idx(path, MELIX_KIND_F32, {-1}).rfind("cannot read `" + shown + "`: ", 0), 0u);
}

TEST_F(Files, npy_mistakes) {
  std::string good =
      npyFile("{'descr': '<f4', 'fortran_order': False, 'shape': (2, 1), }", hex("0000803f00000040"));
  write(good);
  EXPECT_EQ(npy(path, MELIX_KIND_F64, {-1, -1}),
            "cannot read `t.csv`: it holds `f32[2, 1]`, asked for is `f64[_, _]`");
  EXPECT_EQ(npy(path, MELIX_KIND_F32, {-1}),
            "cannot read `t.csv`: it holds `f32[2, 1]`, asked for is `f32[_]`");
  EXPECT_EQ(npy(path, MELIX_KIND_F32, {3, -1}),
            "cannot read `t.csv`: it holds `f32[2, 1]`, asked for is `f32[3, _]`");
  write(good.substr(0, good.size() - 1));
  EXPECT_EQ(npy(path, MELIX_KIND_F32, {-1, -1}), "cannot read `t.csv`: its data is cut off");
  write(good.substr(0, 40));
  EXPECT_EQ(npy(path, MELIX_KIND_F32, {-1, -1}), "cannot read `t.csv`: its header is cut off");
  write("hello");
  EXPECT_EQ(npy(path, MELIX_KIND_F32, {-1, -1}), "cannot read `t.csv`: it is not a .npy file");
  write(npyFile("{'descr': '|O', 'fortran_order': False, 'shape': (2,), }", ""));
  EXPECT_EQ(npy(path, MELIX_KIND_F32, {-1}), "cannot read `t.csv`: its element type `|O` is not supported");
  write(npyFile("{'descr': [('a', '<i4')], 'fortran_order': False, 'shape': (2,), }", ""));
  EXPECT_EQ(npy(path, MELIX_KIND_F32, {-1}),
            "cannot read `t.csv`: its elements are records, which are not supported");
  std::string axes;
  for (int k = 0; k < 40; k++) axes += "1, ";
  write(npyFile("{'descr': '<f4', 'fortran_order': False, 'shape': (" + axes + "), }", hex("0000803f")));
  EXPECT_EQ(npy(path, MELIX_KIND_F32, {-1}),
            "cannot read `t.csv`: it has 40 dimensions, at most 32 are supported");
  write(npyFile("{'descr': '<f4', 'fortran_order': False, 'shape': (1L,), }", hex("0000803f")));
  EXPECT_EQ(npy(path, MELIX_KIND_F32, {-1}), "[1.0]") << "as Python 2 wrote it";
  write("PK\3\4 archive");
  EXPECT_EQ(npy(path, MELIX_KIND_F32, {-1}),
            "cannot read `t.csv`: it is an archive, as .npz files are; npy.read takes the .npy files in it");
  write(npyFile("{'descr': '<f4', 'fortran_order': False, 'shape': (99999999999, 99999999999), }", ""));
  EXPECT_EQ(npy(path, MELIX_KIND_F32, {-1, -1}), "cannot read `t.csv`: its sizes are too large");
  for (const std::string shape : {"(0, 4611686018427387904)", "(99999999999, 0, 99999999999)"}) {
    write(npyFile("{'descr': '<f4', 'fortran_order': False, 'shape': " + shape + ", }", ""));
    EXPECT_EQ(npy(path, MELIX_KIND_F32, {-1, -1}), "cannot read `t.csv`: its sizes are too large");
  }
  for (const char* shape : {"", ", 'shape': (1,), 'shape': (1,)"}) { // none, and two
    write(npyFile(std::string("{'descr': '<f4', 'fortran_order': False") + shape + "}", hex("0000803f")));
    EXPECT_EQ(npy(path, MELIX_KIND_F32, {-1}), "cannot read `t.csv`: its header is malformed");
  }
  for (size_t cut = 0; cut < good.size(); cut++) { // every prefix, and every byte changed
    write(good.substr(0, cut));
    npy(path, MELIX_KIND_F32, {-1, -1});
    std::string changed = good;
    changed[cut] = static_cast<char>(changed[cut] ^ 0x15);
    write(changed);
    npy(path, MELIX_KIND_F32, {-1, -1});
  }
}

TEST_F(Files, npy_round_trip) {
  int64_t x[] = {1, -2, 3, 4, 5, 6};
  MelixType type = arrayType(scalar(MELIX_KIND_I64), 3);
  StoredArray stored{x, {1, 2, 3}};
  call(melix_npy_write, Slots().add(path).add(&type).add(&stored));
  EXPECT_EQ(results[0], 1u);
  EXPECT_EQ(npy(path, MELIX_KIND_I64, {-1, -1, -1}), "[[[1, -2, 3],\n  [4, 5, 6]]]");
}

TEST_F(Files, npy_files_of_numpy) {
  // Reference files beside the checkout; they are not part of it.
  std::string base = MELIX_SOURCE_DIR "/../shared/data/io/npy/";
  if (access((base + "f8_2x3.npy").c_str(), R_OK) != 0) GTEST_SKIP() << "no reference files";
  EXPECT_EQ(npy(base + "f8_2x3.npy", MELIX_KIND_F64, {-1, -1}).substr(0, 46),
            "[[0.0, 0.14285714285714285, 0.2857142857142857");
  EXPECT_EQ(npy(base + "f4_fortran_3x4.npy", MELIX_KIND_F32, {3, 4}).substr(0, 46),
            "[[-0.80193144, -1.3243589, -0.24836162, 0.4204");
  EXPECT_EQ(npy(base + "bool_2x2.npy", MELIX_KIND_BOOL, {-1, -1}), "[[true, false],\n [false, true]]");
  EXPECT_EQ(npy(base + "i4_empty_0x5.npy", MELIX_KIND_I32, {-1, 5}), "[]");
  EXPECT_EQ(npy(base + "f2_vec.npy", MELIX_KIND_F64, {-1}),
            "[1.5, -2.25, 65504.0, 5.960464477539063e-8, inf]");
  EXPECT_EQ(npy(base + "u1_vec.npy", MELIX_KIND_U8, {256}).substr(0, 16), "[0, 1, 2, 3, 4, ");
  EXPECT_EQ(npy(base + "c16_vec.npy", MELIX_KIND_C128, {-1}), "[1.0 + 2.0i, -0.0 - 3.5i]");
  EXPECT_EQ(npy(base + "i8_scalar.npy", MELIX_KIND_I64, {}), "42");
}

/// An IDX file; `header` in hex, without the two bytes 0.
std::string idxFile(std::string_view header, std::string_view data) {
  return std::string(2, '\0') + hex(header) + std::string(data);
}

std::string gzip(const std::string& content) {
  z_stream stream{};
  deflateInit2(&stream, 9, Z_DEFLATED, 16 + MAX_WBITS, 9, Z_DEFAULT_STRATEGY);
  std::string out(deflateBound(&stream, content.size()) + 32, '\0');
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(content.data()));
  stream.avail_in = static_cast<uInt>(content.size());
  stream.next_out = reinterpret_cast<Bytef*>(out.data());
  stream.avail_out = static_cast<uInt>(out.size());
  EXPECT_EQ(deflate(&stream, Z_FINISH), Z_STREAM_END);
  out.resize(stream.total_out);
  deflateEnd(&stream);
  return out;
}

const std::string sixBytes = idxFile("08020000000200000003", "\1\2\3\4\5\6");

TEST_F(Files, idx_of_each_element_type) {
  write(sixBytes);
  EXPECT_EQ(idx(path, MELIX_KIND_U8, {-1, 3}), "[[1, 2, 3],\n [4, 5, 6]]");
  write(idxFile("090100000002", hex("01ff")));
  EXPECT_EQ(idx(path, MELIX_KIND_I8, {-1}), "[1, -1]");
  write(idxFile("0b0100000002", hex("0102fffe")));
  EXPECT_EQ(idx(path, MELIX_KIND_I16, {2}), "[258, -2]");
  write(idxFile("0c0100000001", hex("01020304")));
  EXPECT_EQ(idx(path, MELIX_KIND_I32, {-1}), "[16909060]");
  write(idxFile("0d0100000002", hex("3fc00000c0000000")));
  EXPECT_EQ(idx(path, MELIX_KIND_F32, {-1}), "[1.5, -2.0]");
  write(idxFile("0e00", hex("3ff8000000000000")));
  EXPECT_EQ(idx(path, MELIX_KIND_F64, {}), "1.5");
  write(idxFile("0803000000000000000500000007", ""));
  EXPECT_EQ(idx(path, MELIX_KIND_U8, {-1, 5, -1}), "[]");
}

TEST_F(Files, idx_packed_by_gzip) {
  write(gzip(sixBytes));
  EXPECT_EQ(idx(path, MELIX_KIND_U8, {-1, -1}), "[[1, 2, 3],\n [4, 5, 6]]");
  write(gzip(sixBytes.substr(0, 9)) + gzip("") + gzip(sixBytes.substr(9))); // members one after another
  EXPECT_EQ(idx(path, MELIX_KIND_U8, {2, 3}), "[[1, 2, 3],\n [4, 5, 6]]");
}

TEST_F(Files, idx_mistakes) {
  EXPECT_EQ(idxProblem(""), "it is not an IDX file");
  EXPECT_EQ(idxProblem("hello, this is text"), "it is not an IDX file");
  EXPECT_EQ(idxProblem(idxFile("0a0100000001", "\1")), "its element type is none of the format");
  EXPECT_EQ(idxProblem(idxFile("08ff", "")), "it has too many dimensions");
  EXPECT_EQ(idxProblem(sixBytes.substr(0, 11)), "its header is cut off");
  EXPECT_EQ(idxProblem(sixBytes.substr(0, 17)), "its data is cut off");
  EXPECT_EQ(idxProblem(sixBytes + "\7"), "it goes on behind the data that its sizes tell");
  EXPECT_EQ(idxProblem(idxFile("080100000002", "\1\2")), "it holds `u8[2]`, asked for is `u8[_, _]`");
  EXPECT_EQ(idxProblem(idxFile("09020000000100000001", "\1")),
            "it holds `i8[1, 1]`, asked for is `u8[_, _]`");
  EXPECT_EQ(idxProblem(idxFile("08020000000000000000", "")), "no problem: []");
  // Sizes that lie are told before anything is made of them.
  EXPECT_EQ(idxProblem(idxFile("0802ffffffffffffffff", "\1")), "its sizes are too large");
  EXPECT_EQ(idxProblem(idxFile("08020000ffff0000ffff", "\1")), "its data is cut off");
  EXPECT_EQ(idxProblem(gzip(idxFile("08020000ffff0000ffff", "\1"))), "its data is cut off");
  EXPECT_EQ(idxProblem(idxFile("0803ffffffffffffffff00000000", "")), "its sizes are too large");
}

TEST_F(Files, idx_packed_by_gzip_and_damaged) {
  std::string packed = gzip(sixBytes);
  EXPECT_EQ(idxProblem(packed.substr(0, 6)), "its gzip data is cut off");
  EXPECT_EQ(idxProblem(packed.substr(0, packed.size() - 1)), "its gzip data is cut off");
  std::string changed = packed;
  changed[packed.size() - 6] = static_cast<char>(changed[packed.size() - 6] ^ 1); // of the checksum
  EXPECT_EQ(idxProblem(changed), "its gzip data is damaged");
  EXPECT_EQ(idxProblem(packed + "more"), "something stands behind its gzip data");
  EXPECT_EQ(idxProblem(packed + std::string(512, 0) + "more"), "something stands behind its gzip data");
  EXPECT_EQ(idxProblem(packed + std::string(512, 0)), idxProblem(packed)); // filled up
  EXPECT_EQ(idxProblem(gzip("hello, this is text")), "it is not an IDX file");
  EXPECT_EQ(idxProblem(gzip(sixBytes + "\7")), "it goes on behind the data that its sizes tell");
  EXPECT_EQ(idxProblem(gzip(idxFile("08020000010000000100", std::string(65535, 'x')))),
            "its data is cut off");
  for (const std::string& good : {packed, sixBytes})
    for (size_t cut = 0; cut < good.size(); cut++) { // every prefix, and every byte changed
      idxProblem(good.substr(0, cut));
      changed = good;
      changed[cut] = static_cast<char>(changed[cut] ^ 0x15);
      idxProblem(changed);
    }
}

TEST_F(Files, idx_round_trip) {
  int32_t x[] = {1, -2, 300, 70000, 5, 6};
  MelixType type = arrayType(scalar(MELIX_KIND_I32), 2);
  StoredArray stored{x, {2, 3}};
  for (const std::string& file : {folder + "/x.idx", folder + "/x.idx.gz"}) {
    call(melix_idx_write, Slots().add(file).add(&type).add(&stored));
    EXPECT_EQ(results[0], 1u);
    EXPECT_EQ(idx(file, MELIX_KIND_I32, {-1, 3}), "[[1, -2, 300],\n [70000, 5, 6]]");
  }
  EXPECT_EQ(x[1], -2); // what is written stays as it is
  MelixType wide = arrayType(scalar(MELIX_KIND_I64), 1);
  call(melix_idx_write, Slots().add(path).add(&wide).add(&stored));
  EXPECT_EQ(results[0], 0u);
  EXPECT_EQ(takeText(1), "idx.write takes arrays of u8, i8, i16, i32, f32 or f64");
}

TEST_F(Files, idx_files_of_mnist) {
  // Reference files beside the checkout; they are not part of it.
  std::string base = MELIX_SOURCE_DIR "/../shared/data/mnist/";
  if (access((base + "t5k-first-labels-idx1-ubyte.gz").c_str(), R_OK) != 0)
    GTEST_SKIP() << "no reference files";
  EXPECT_EQ(idx(base + "t5k-first-labels-idx1-ubyte.gz", MELIX_KIND_U8, {5000}).substr(0, 10), "[7, 2, 1, ");
  EXPECT_TRUE(
      idx(base + "t5k-first-images-idx3-ubyte.gz", MELIX_KIND_U8, {-1, 28, 28}).starts_with("[[[0, 0, 0"));
}

} // namespace
} // namespace melix::test
