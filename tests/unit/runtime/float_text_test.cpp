// Floats print as the shortest text that reads back, and round exactly when digits are asked for.
#include "parse_number.h"
#include "runtime_fixture.h"

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <limits>
#include <random>

namespace melix::test {
namespace {

class FloatText : public RuntimeTest {
protected:
  std::string f64(double x, std::string_view spec = "") { return show(MELIX_KIND_F64, x, spec); }
  std::string f32(float x, std::string_view spec = "") { return show(MELIX_KIND_F32, x, spec); }
  static uint64_t bitsOf(double x) {
    uint64_t bits;
    std::memcpy(&bits, &x, sizeof bits);
    return bits;
  }
  /// The bits that a text is read as; all ones if it is no number.
  static uint64_t parsed(int kind, std::string_view text) {
    uint64_t bits = 0;
    const auto status = runtime::parseFloat(str(text), static_cast<uint8_t>(kind), bits);
    return status == runtime::ParseStatus::Ok ? bits : ~0ull;
  }
};

TEST_F(FloatText, has_a_point_or_an_exponent) {
  EXPECT_EQ(f32(1.0f), "1.0");
  EXPECT_EQ(f32(0.1f), "0.1");
  EXPECT_EQ(f32(1e-30f), "1e-30");
  EXPECT_EQ(f32(16777216.0f), "16777216.0");
  EXPECT_EQ(f64(0.1 + 0.2), "0.30000000000000004");
  EXPECT_EQ(f64(1e15), "1000000000000000.0");
  EXPECT_EQ(f64(1e16), "1e16");
  EXPECT_EQ(f64(1.5e300), "1.5e300");
  EXPECT_EQ(f64(1e-5), "0.00001");
  EXPECT_EQ(f64(1e-6), "1e-6");
  EXPECT_EQ(f64(-0.0), "-0.0");
  EXPECT_EQ(f64(5e-324), "5e-324");
  EXPECT_EQ(f64(std::numeric_limits<double>::max()), "1.7976931348623157e308");
  EXPECT_EQ(f64(9007199254740993.0), "9007199254740992.0");
  EXPECT_EQ(f64(1e23), "1e23");
  EXPECT_EQ(f64(2.2250738585072014e-308), "2.2250738585072014e-308");
  EXPECT_EQ(f32(3.4028235e38f), "3.4028235e38");
  EXPECT_EQ(f32(1.1754944e-38f), "1.1754944e-38");
}

TEST_F(FloatText, names_what_is_no_number) {
  double inf = std::numeric_limits<double>::infinity();
  EXPECT_EQ(f64(inf), "inf");
  EXPECT_EQ(f64(-inf), "-inf");
  EXPECT_EQ(f64(std::nan("")), "nan");
  EXPECT_EQ(f64(-std::nan("")), "nan");
  EXPECT_EQ(f64(inf, "06"), "   inf");
}

TEST_F(FloatText, narrow_floats_read_back) {
  EXPECT_EQ(show(MELIX_KIND_F16, uint16_t(0x3c00)), "1.0");
  EXPECT_EQ(show(MELIX_KIND_F16, uint16_t(0x7bff)), "65500.0");
  EXPECT_EQ(show(MELIX_KIND_F16, uint16_t(0x0001)), "6e-8");
  EXPECT_EQ(show(MELIX_KIND_F16, uint16_t(0x2e66)), "0.1");
  EXPECT_EQ(show(MELIX_KIND_BF16, uint16_t(0x3dcd)), "0.1");
  EXPECT_EQ(show(MELIX_KIND_F8E4M3, uint8_t(0x7e)), "450.0");
  EXPECT_EQ(show(MELIX_KIND_F8E4M3, uint8_t(0x7f)), "nan");
  EXPECT_EQ(show(MELIX_KIND_F8E5M2, uint8_t(0x7c)), "inf");
}

TEST_F(FloatText, narrow_floats_are_shortest_where_more_room_is_above_than_below) {
  EXPECT_EQ(show(MELIX_KIND_F8E4M3, uint8_t(0x20)), "0.13"); // 0.125; 0.12 reads as the number below it
  EXPECT_EQ(show(MELIX_KIND_F8E5M2, uint8_t(0x2e)),
            "0.09"); // 0.09375; 0.1 would do too, but lies further away
  EXPECT_EQ(show(MELIX_KIND_BF16, uint16_t(0x0001)), "9e-41");
  EXPECT_EQ(show(MELIX_KIND_BF16, uint16_t(0x7f7f)), "3.39e38");
}

TEST_F(FloatText, all_narrow_floats_read_back) {
  for (int kind : {MELIX_KIND_F16, MELIX_KIND_BF16}) {
    for (uint32_t bits = 0; bits < 0x10000; bits++) {
      const std::string shown = show(kind, static_cast<uint16_t>(bits));
      if (shown == "nan") continue;
      ASSERT_EQ(parsed(kind, shown), bits) << shown;
    }
  }
}

size_t significant(const std::string& text) {
  size_t count = 0;
  bool leading = true;
  size_t zeros = 0;
  for (char c : text) {
    if (c == 'e') break;
    if (c < '0' || c > '9') continue;
    leading = leading && c == '0';
    if (leading) continue;
    zeros = c == '0' ? zeros + 1 : 0;
    count++;
  }
  return count - zeros;
}

TEST_F(FloatText, random_f64_read_back_and_are_shortest) {
  std::mt19937_64 random(1);
  for (int k = 0; k < 20'000; k++) {
    uint64_t bits = random();
    if (k % 3 == 0) bits = (bits & 0x800fffffffffffffull) | (0x3f0ull + bits % 64) << 52; // ordinary sizes
    if (k % 7 == 0) bits &= 0xfff0000000000000ull;                                        // powers of two
    double x;
    std::memcpy(&x, &bits, sizeof x);
    if (!std::isfinite(x)) continue;
    std::string shown = f64(x);
    ASSERT_EQ(std::strtod(shown.c_str(), nullptr), x) << shown;
    size_t digits = significant(shown);
    char shorter[40];
    if (digits > 1) {
      std::snprintf(shorter, sizeof shorter, "%.*e", static_cast<int>(digits) - 2, x);
      ASSERT_NE(std::strtod(shorter, nullptr), x) << shown << " could be " << shorter;
    }
    // The nearest of the shortest is what rounding to that many digits gives, if that reads back.
    std::snprintf(shorter, sizeof shorter, "%.*e", static_cast<int>(digits ? digits : 1) - 1, x);
    if (std::strtod(shorter, nullptr) == x) {
      ASSERT_EQ(std::strtold(shown.c_str(), nullptr), std::strtold(shorter, nullptr)) << shown;
    }
  }
}

TEST_F(FloatText, random_f32_read_back_and_are_shortest) {
  std::mt19937 random(2);
  for (int k = 0; k < 20'000; k++) {
    uint32_t bits = static_cast<uint32_t>(random());
    if (k % 7 == 0) bits &= 0xff800000u;
    float x;
    std::memcpy(&x, &bits, sizeof x);
    if (!std::isfinite(x)) continue;
    std::string shown = f32(x);
    ASSERT_EQ(std::strtof(shown.c_str(), nullptr), x) << shown;
    size_t digits = significant(shown);
    char shorter[40];
    if (digits > 1) {
      std::snprintf(shorter, sizeof shorter, "%.*e", static_cast<int>(digits) - 2, static_cast<double>(x));
      ASSERT_NE(std::strtof(shorter, nullptr), x) << shown << " could be " << shorter;
    }
  }
}

TEST_F(FloatText, asked_digits_round_half_to_even_on_the_exact_value) {
  EXPECT_EQ(f64(0.125, ".2"), "0.12");
  EXPECT_EQ(f64(0.375, ".2"), "0.38");
  EXPECT_EQ(f64(2.5, ".0"), "2");
  EXPECT_EQ(f64(0.5, ".0f"), "0");
  EXPECT_EQ(f64(1.5, ".0f"), "2");
  EXPECT_EQ(f64(9.995, ".2"), "9.99"); // the double is below 9.995
  EXPECT_EQ(f64(99.99, ".1"), "100.0");
  EXPECT_EQ(f64(1e-9, ".3"), "0.000");
  EXPECT_EQ(f64(0.0, ".3"), "0.000");
  EXPECT_EQ(f64(-0.0001, ".2"), "-0.00");
  EXPECT_EQ(f64(1e22, ".1"), "10000000000000000000000.0");
}

TEST_F(FloatText, rounding_agrees_with_the_c_library) {
  std::mt19937_64 random(3);
  for (int k = 0; k < 20'000; k++) {
    uint64_t bits = random();
    bits = (bits & 0x800fffffffffffffull) | (0x3d0ull + bits % 128) << 52;
    double x;
    std::memcpy(&x, &bits, sizeof x);
    int digits = static_cast<int>(random() % 20);
    char expected[400], spec[16];
    std::snprintf(expected, sizeof expected, "%.*f", digits, x);
    std::snprintf(spec, sizeof spec, ".%df", digits);
    ASSERT_EQ(f64(x, spec), expected);
  }
}

TEST_F(FloatText, rounding_of_short_decimals_asks_the_exact_value) {
  std::mt19937_64 random(4);
  for (int k = 0; k < 20'000; k++) {
    // Half a unit of the last digit, as far as decimals tell: most of them are above or below it.
    const int digits = static_cast<int>(random() % 6);
    const double x = (static_cast<double>(random() % 200'000) + 0.5) / std::pow(10.0, digits);
    char expected[400], spec[16];
    std::snprintf(expected, sizeof expected, "%.*f", digits, x);
    std::snprintf(spec, sizeof spec, ".%df", digits);
    ASSERT_EQ(f64(x, spec), expected);
    std::snprintf(expected, sizeof expected, "%.*e", digits, x);
    std::snprintf(spec, sizeof spec, ".%de", digits);
    ASSERT_EQ(std::strtod(f64(x, spec).c_str(), nullptr), std::strtod(expected, nullptr)) << x;
  }
}

TEST_F(FloatText, digits_beyond_the_shortest_are_those_of_the_exact_value) {
  EXPECT_EQ(f64(0.1, ".20"), "0.10000000000000000555");
  EXPECT_EQ(f64(1e23, ".0f"), "99999999999999991611392");
  EXPECT_EQ(f64(1e23, ".3e"), "1.000e23");
  EXPECT_EQ(f64(0.5, ".20"), "0.50000000000000000000");
  EXPECT_EQ(f64(5e-324, ".3e"), "4.941e-324");
  EXPECT_EQ(f64(5e-324, ".2"), "0.00");
  EXPECT_EQ(f64(0.0, ".2%"), "0.00%");
  EXPECT_EQ(f64(-0.0, ".1"), "-0.0");
  EXPECT_EQ(f32(0.1f, ".12"), "0.100000001490");
  EXPECT_EQ(f64(999999.9999999, ".3"), "1000000.000");
}

TEST_F(FloatText, texts_are_read_as_the_c_library_reads_them) {
  std::mt19937_64 random(5);
  for (int k = 0; k < 20'000; k++) {
    uint64_t bits = random();
    double x;
    std::memcpy(&x, &bits, sizeof x);
    if (!std::isfinite(x)) continue;
    char text[64];
    std::snprintf(text, sizeof text, "%.*e", static_cast<int>(random() % 25), x);
    ASSERT_EQ(parsed(MELIX_KIND_F64, text), bitsOf(std::strtod(text, nullptr))) << text;
    const float single = std::strtof(text, nullptr);
    uint32_t low;
    std::memcpy(&low, &single, sizeof low);
    ASSERT_EQ(parsed(MELIX_KIND_F32, text), low) << text;
  }
}

TEST_F(FloatText, letters_choose_the_notation) {
  EXPECT_EQ(f64(1234.5, "e"), "1.2345e3");
  EXPECT_EQ(f64(1234.5, ".2e"), "1.23e3");
  EXPECT_EQ(f64(0.0, ".2e"), "0.00e0");
  EXPECT_EQ(f64(1234.5, "f"), "1234.5");
  EXPECT_EQ(f64(1e20, "f"), "100000000000000000000");
  EXPECT_EQ(f64(1234.5678, ".6g"), "1234.57");
  EXPECT_EQ(f64(1234567.0, ".3g"), "1.23e6");
  EXPECT_EQ(f64(0.07, "%"), "7%");
  EXPECT_EQ(f64(0.12345, ".1%"), "12.3%");
  EXPECT_EQ(f64(1.0, ".0%"), "100%");
  EXPECT_EQ(f64(0.0, ".1%"), "0.0%");
  EXPECT_EQ(f64(1.5, "x"), "panic: `x` and `b` are for integers");
}

} // namespace
} // namespace melix::test
