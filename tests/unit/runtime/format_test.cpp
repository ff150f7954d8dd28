// What `print` and `"{x:spec}"` show (rule 5).
#include "runtime_fixture.h"

namespace melix::test {
namespace {

class Format : public RuntimeTest {
protected:
  std::string i64(int64_t x, std::string_view spec = "") { return show(MELIX_KIND_I64, x, spec); }
  std::string word(std::string_view s, std::string_view spec = "", bool quoted = false) {
    MelixStr value = str(s);
    return format(scalar(MELIX_KIND_STR), &value, spec, quoted);
  }
};

TEST_F(Format, integers_of_all_widths) {
  EXPECT_EQ(i64(INT64_MIN), "-9223372036854775808");
  EXPECT_EQ(show(MELIX_KIND_U64, UINT64_MAX), "18446744073709551615");
  EXPECT_EQ(show(MELIX_KIND_I8, int8_t(-128)), "-128");
  EXPECT_EQ(show(MELIX_KIND_U8, uint8_t(200)), "200");
  EXPECT_EQ(show(MELIX_KIND_I16, int16_t(-2)), "-2");
  EXPECT_EQ(show(MELIX_KIND_U32, UINT32_MAX), "4294967295");
}

TEST_F(Format, width_fill_and_sign) {
  EXPECT_EQ(i64(42, "6"), "    42");
  EXPECT_EQ(i64(42, "<6"), "42    ");
  EXPECT_EQ(i64(42, "*^6"), "**42**");
  EXPECT_EQ(i64(-42, "06"), "-00042");
  EXPECT_EQ(i64(42, "+"), "+42");
  EXPECT_EQ(i64(42, "+06"), "+00042");
  EXPECT_EQ(i64(255, "x"), "ff");
  EXPECT_EQ(i64(-255, "x"), "-ff");
  EXPECT_EQ(i64(5, "08b"), "00000101");
  EXPECT_EQ(i64(5, ".2"), "5.00");
  EXPECT_EQ(i64(123456, "e"), "1.23456e5");
  EXPECT_EQ(i64(3, "%"), "300%");
  EXPECT_EQ(i64(9007199254740993, ".1f"), "9007199254740993.0");
  EXPECT_EQ(word("ab", "5"), "ab   ");
  EXPECT_EQ(word("ab", "→>5"), "→→→ab");
  EXPECT_EQ(word("äöü", "5"), "äöü  ");
  EXPECT_EQ(word("äöü", ".2"), "äö");
  double pi = 3.14159;
  EXPECT_EQ(format(scalar(MELIX_KIND_F64), &pi, "8.3"), "   3.142");
  EXPECT_EQ(format(scalar(MELIX_KIND_F64), &pi, "+08.3"), "+003.142");
}

TEST_F(Format, a_bad_specification_says_what_is_wrong) {
  EXPECT_EQ(i64(1, "q"), "panic: expected `[[fill]<^>][+][0][width][.digits][e|f|g|x|b|%]`");
  EXPECT_EQ(i64(1, "."), "panic: `.` needs a number of digits");
  EXPECT_EQ(i64(1, "99999999999"), "panic: the width is too large");
  EXPECT_EQ(word("a", "x"), "panic: this letter is for numbers");
  EXPECT_EQ(word("a", "+"), "panic: `+` and `0` are for numbers");
  EXPECT_STREQ(melix_check_format(reinterpret_cast<const uint8_t*>("x"), 1, MELIX_KIND_F32),
               "`x` and `b` are for integers");
  EXPECT_EQ(melix_check_format(reinterpret_cast<const uint8_t*>("8.3"), 3, MELIX_KIND_F32), nullptr);
}

TEST_F(Format, texts_are_bare_alone_and_quoted_inside) {
  EXPECT_EQ(word("a\"b"), "a\"b");
  EXPECT_EQ(word("a\"b\n\t\\\x01", "", true), R"("a\"b\n\t\\\u{1}")");
  EXPECT_EQ(show(MELIX_KIND_CHAR, uint32_t('x')), "x");
  uint32_t quote = '\'';
  EXPECT_EQ(format(scalar(MELIX_KIND_CHAR), &quote, "", true), R"('\'')");
  EXPECT_EQ(show(MELIX_KIND_BOOL, uint8_t(1)), "true");
  EXPECT_EQ(format(scalar(MELIX_KIND_UNIT), nullptr), "()");
}

TEST_F(Format, vectors_and_matrices) {
  float x[] = {1, 2.5f, 3, 4, 5, 6};
  MelixType vector = arrayType(scalar(MELIX_KIND_F32), 1), matrix = arrayType(scalar(MELIX_KIND_F32), 2),
            cube = arrayType(scalar(MELIX_KIND_F32), 3);
  StoredArray v{x, {3}}, m{x, {2, 3}}, c{x, {1, 2, 3}}, none{x, {0}}, noRows{x, {0, 3}};
  EXPECT_EQ(format(&vector, &v), "[1.0, 2.5, 3.0]");
  EXPECT_EQ(format(&vector, &v, ".2"), "[1.00, 2.50, 3.00]");
  EXPECT_EQ(format(&matrix, &m), "[[1.0, 2.5, 3.0],\n [4.0, 5.0, 6.0]]");
  EXPECT_EQ(format(&cube, &c), "[[[1.0, 2.5, 3.0],\n  [4.0, 5.0, 6.0]]]");
  EXPECT_EQ(format(&vector, &none), "[]");
  EXPECT_EQ(format(&matrix, &noRows), "[]");
  EXPECT_EQ(format(&matrix, &m, "4.0"), "[[   1,    2,    3],\n [   4,    5,    6]]");
}

TEST_F(Format, above_a_thousand_elements_the_middle_is_left_out) {
  std::vector<int64_t> x(2000);
  for (size_t k = 0; k < x.size(); k++) x[k] = static_cast<int64_t>(k);
  MelixType vector = arrayType(scalar(MELIX_KIND_I64), 1), matrix = arrayType(scalar(MELIX_KIND_I64), 2);
  StoredArray small{x.data(), {1000}}, big{x.data(), {1001}}, m{x.data(), {1000, 2}},
      wide{x.data(), {2, 1000}};
  EXPECT_EQ(format(&vector, &small).find("…"), std::string::npos);
  EXPECT_EQ(format(&vector, &big), "[0, 1, 2, …, 998, 999, 1000]");
  EXPECT_EQ(format(&matrix, &m),
            "[[0, 1],\n [2, 3],\n [4, 5],\n …,\n [1994, 1995],\n [1996, 1997],\n [1998, 1999]]");
  EXPECT_EQ(format(&matrix, &wide),
            "[[0, 1, 2, …, 997, 998, 999],\n [1000, 1001, 1002, …, 1997, 1998, 1999]]");
}

TEST_F(Format, structs_tuples_and_cases) {
  MelixType list = listType(scalar(MELIX_KIND_STR));
  MelixField fields[] = {{"x", scalar(MELIX_KIND_I32), 0}, {"name", scalar(MELIX_KIND_STR), 8}};
  MelixType point{};
  point.kind = MELIX_KIND_STRUCT;
  point.size = 24;
  point.name = "Point";
  point.fields = fields;
  point.fieldCount = 2;
  struct {
    int32_t x;
    MelixStr name;
  } p{7, str("a")};
  EXPECT_EQ(format(&point, &p), "Point(x: 7, name: \"a\")");

  MelixField parts[] = {{nullptr, scalar(MELIX_KIND_I32), 0}, {nullptr, scalar(MELIX_KIND_STR), 8}};
  MelixType tuple = point;
  tuple.kind = MELIX_KIND_TUPLE;
  tuple.fields = parts;
  EXPECT_EQ(format(&tuple, &p), "(7, \"a\")");
  tuple.fieldCount = 1;
  EXPECT_EQ(format(&tuple, &p), "(7,)");

  MelixField payload[] = {{nullptr, scalar(MELIX_KIND_F64), 8}};
  MelixCase cases[] = {{"None", nullptr, 0, 4}, {"Some", payload, 1, 16}};
  MelixType option{};
  option.size = 16;
  option.cases = cases;
  option.caseCount = 2;
  struct {
    int32_t tag;
    double value;
  } some{1, 2.5};
  option.kind = MELIX_KIND_ENUM;
  uint64_t boxedNone = 0 << 1 | 1;
  void* boxed = &some;
  EXPECT_EQ(format(&option, &boxedNone), "None");
  EXPECT_EQ(format(&option, &boxed), "Some(2.5)");

  void* empty = nullptr;
  EXPECT_EQ(format(&list, &empty), "[]");
  MelixType arrays = listType(&point);
  alignas(8) uint8_t block[16 + 48];
  MelixListHead head{2, 2};
  std::memcpy(block, &head, 16);
  std::memcpy(block + 16, &p, 24);
  std::memcpy(block + 40, &p, 24);
  void* data = block;
  EXPECT_EQ(format(&arrays, &data), "[Point(x: 7, name: \"a\"), Point(x: 7, name: \"a\")]");
}

TEST_F(Format, arrays_inside_a_value_stay_on_one_line) {
  MelixType matrix = arrayType(scalar(MELIX_KIND_I32), 2);
  MelixField fields[] = {{"w", &matrix, 0}};
  MelixType layer{};
  layer.kind = MELIX_KIND_STRUCT;
  layer.name = "Layer";
  layer.fields = fields;
  layer.fieldCount = 1;
  int32_t data[] = {1, 2, 3, 4};
  StoredArray m{data, {2, 2}};
  EXPECT_EQ(format(&layer, &m), "Layer(w: [[1, 2], [3, 4]])");
}

TEST_F(Format, complex_numbers) {
  float z[] = {1.0f, -2.5f};
  EXPECT_EQ(format(scalar(MELIX_KIND_C64), z), "1.0 - 2.5i");
  double w[] = {-1.0, 2.0};
  EXPECT_EQ(format(scalar(MELIX_KIND_C128), w, ".2"), "-1.00 + 2.00i");
}

} // namespace
} // namespace melix::test
