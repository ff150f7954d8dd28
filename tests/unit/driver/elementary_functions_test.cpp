// The elementary functions are within 2 units in the last place: at the directed cases of ARM's
// optimized-routines, where they lie beside the checkout, and at a table of this file. Both are lines
// `func=exp op1=hi.lo [op2=…] result=hi.lo[extra]` of bits in hex; names that end in `f` are f32, of one
// word; `extra` is a fraction of the last place in 4096ths. Their slopes are within 4, measured against long
// double.
#include "driver/melix_process.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <limits>
#include <map>
#include <numbers>

namespace melix::driver {
namespace {

constexpr double mostUlps = 2;

struct Case {
  uint64_t operands[2] = {};
  int arity = 1;
  uint64_t result = 0;
  double extra = 0; ///< what the exact result is above `result`, in units of the last place
  std::string line;
};

/// The text after `name=` up to the next blank.
std::string field(const std::string& line, const std::string& name) {
  size_t at = line.find(" " + name + "=");
  if (at == std::string::npos) return "";
  at += name.size() + 2;
  return line.substr(at, line.find_first_of(" \r", at) - at);
}

uint64_t words(const std::string& text, bool wide, double& extra) {
  std::string digits;
  for (char c : text)
    if (c != '.') digits += c;
  size_t length = wide ? 16 : 8;
  if (digits.size() > length)
    extra = static_cast<double>(std::stoull(digits.substr(length), nullptr, 16)) /
            std::pow(16.0, static_cast<double>(digits.size() - length));
  return std::stoull(digits.substr(0, length), nullptr, 16);
}

double valueOf(uint64_t bits, bool wide) {
  double value;
  float narrow;
  auto half = static_cast<uint32_t>(bits);
  std::memcpy(&value, &bits, sizeof value);
  std::memcpy(&narrow, &half, sizeof narrow);
  return wide ? value : static_cast<double>(narrow);
}

/// Melix has one NaN (rule 46): C's functions tell signalling ones apart.
bool isSignalling(uint64_t bits, bool wide) {
  uint64_t quiet = wide ? uint64_t(1) << 51 : uint64_t(1) << 22;
  return std::isnan(valueOf(bits, wide)) && !(bits & quiet);
}

using Cases = std::map<std::string, std::vector<Case>>; // by function name

void addCases(const std::string& text, Cases& out) {
  for (const std::string& line : harness::splitLines(text)) {
    if (!line.starts_with("func=")) continue;
    std::string name = line.substr(5, line.find(' ') - 5);
    bool wide = name.back() != 'f' || name == "erf";
    Case made;
    made.line = line;
    double ignored = 0;
    made.operands[0] = words(field(line, "op1"), wide, ignored);
    if (std::string second = field(line, "op2"); !second.empty()) {
      made.operands[1] = words(second, wide, ignored);
      made.arity = 2;
    }
    if (isSignalling(made.operands[0], wide) || (made.arity == 2 && isSignalling(made.operands[1], wide)))
      continue;
    made.result = words(field(line, "result"), wide, made.extra);
    out[name].push_back(made);
  }
}

/// Consecutive floats are consecutive numbers, through zero.
double ordered(uint64_t bits, bool wide) {
  uint64_t sign = wide ? uint64_t(1) << 63 : uint64_t(1) << 31;
  auto magnitude = static_cast<double>(bits & ~sign);
  return bits & sign ? -magnitude : magnitude;
}

double distance(const Case& c, uint64_t got, bool wide) {
  double want = valueOf(c.result, wide), value = valueOf(got, wide);
  if (std::isnan(want) || std::isnan(value)) return std::isnan(want) && std::isnan(value) ? 0 : INFINITY;
  if (value == 0 && want == 0) return std::signbit(value) == std::signbit(want) ? 0 : INFINITY;
  uint64_t sign = wide ? uint64_t(1) << 63 : uint64_t(1) << 31;
  auto last = static_cast<double>(static_cast<int64_t>((got & ~sign) - (c.result & ~sign)));
  if ((got ^ c.result) & sign) return std::abs(ordered(got, wide) - ordered(c.result, wide));
  return std::abs(last - c.extra);
}

std::string programOf(const std::string& function, const std::vector<Case>& cases, bool wide) {
  std::string type = wide ? "u64" : "u32", from = wide ? "f64_from_bits(" : "f32_from_bits(", text;
  for (int k = 0; k < cases[0].arity; ++k) {
    text += "let x" + std::to_string(k) + ": " + type + "[_] = [";
    for (const Case& c : cases) text += std::to_string(c.operands[k]) + ", ";
    text += "]\n";
  }
  std::string arguments = from + "x0[k])" + (cases[0].arity == 2 ? ", " + from + "x1[k])" : "");
  return text + "for k in 0..len(x0) { print(bits(" + function + "(" + arguments + "))) }\n";
}

void check(const std::string& name, const std::vector<Case>& cases) {
  bool wide = name.back() != 'f' || name == "erf";
  std::string function = wide ? name : name.substr(0, name.size() - 1);
  harness::ProcessResult run = melix("run -", programOf(function, cases, wide));
  ASSERT_EQ(run.status, 0) << name << "\n" << run.errors;
  std::vector<std::string> lines = harness::splitLines(run.output);
  ASSERT_EQ(lines.size(), cases.size()) << name;
  for (size_t k = 0; k < cases.size(); ++k)
    EXPECT_LE(distance(cases[k], std::stoull(lines[k]), wide), mostUlps)
        << cases[k].line << "\ngot " << lines[k];
}

TEST(ElementaryFunctions, AreWithinTwoUnitsInTheLastPlace) {
  Cases cases;
  addCases(
#include "driver/elementary_functions.inc"
      , cases);
  EXPECT_EQ(cases.size(), 14u);
  for (const auto& [name, list] : cases) check(name, list);
}

TEST(ElementaryFunctions, AreWithinTwoUnitsInTheLastPlaceAtDirectedCases) {
  std::filesystem::path folder = MELIX_SOURCE_DIR "/../shared/data/libm_directed";
  if (!std::filesystem::exists(folder)) GTEST_SKIP() << "the directed cases are not beside the checkout";
  Cases cases;
  for (const auto& entry : std::filesystem::directory_iterator(folder))
    if (entry.path().extension() == ".tst") addCases(harness::readText(entry.path()), cases);
  EXPECT_GE(cases.size(), 12u);
  for (const auto& [name, list] : cases) check(name, list);
}

/// A derivative, computed with more digits, and where it is asked for beside both signs of powers of two.
struct Slope {
  const char* name;
  long double (*exact)(long double);
  double most; ///< powers of two go up to this
};

std::vector<double> placesOf(const Slope& slope) {
  std::vector<double> out{0};
  for (double sign : {-1.0, 1.0})
    for (int k = -60; k <= 60; ++k)
      for (double part : {1.0, 1.1, 1.37, 1.5, 1.83})
        if (double x = std::ldexp(part, k); x <= slope.most) out.push_back(sign * x);
  for (double sign : {-1.0, 1.0}) // the ends of asin and acos, and where the others vanish
    for (int k = 1; k <= 52; ++k) out.push_back(sign * (1 - std::ldexp(1.0, -k)));
  for (double x = 0.25; x <= slope.most; x += 0.37) out.insert(out.end(), {x, -x});
  return out;
}

double ulpsBetween(double got, long double exact, int digits, int smallest) {
  if (exact == 0) return got == 0 ? 0 : INFINITY;
  const int exponent = std::max(std::ilogb(exact), smallest);
  return static_cast<double>(std::fabs((got - exact) / std::ldexp(1.0L, exponent - digits + 1)));
}

TEST(ElementaryFunctions, SlopesAreWithinFourUnitsInTheLastPlace) {
  static_assert(std::numeric_limits<long double>::digits >= 64);
  const Slope slopes[] = {
      {"tanh", [](long double x) { return 1 / (std::cosh(x) * std::cosh(x)); }, 380},
      {"expm1", [](long double x) { return std::exp(x); }, 700},
      {"asin", [](long double x) { return 1 / std::sqrt((1 - x) * (1 + x)); }, 0.99},
      {"acos", [](long double x) { return -1 / std::sqrt((1 - x) * (1 + x)); }, 0.99},
      {"atan", [](long double x) { return 1 / (1 + x * x); }, 1e18},
      {"log1p", [](long double x) { return 1 / (1 + x); }, 0.99},
      {"sinh", [](long double x) { return std::cosh(x); }, 700},
      {"cosh", [](long double x) { return std::sinh(x); }, 700},
      {"erf", [](long double x) { return 2 / std::sqrt(std::numbers::pi_v<long double>) * std::exp(-x * x); },
       26},
  };
  for (const Slope& slope : slopes)
    for (bool wide : {true, false}) {
      std::vector<double> places;
      std::string text = "let at: " + std::string(wide ? "u64" : "u32") + "[_] = [";
      for (double x : placesOf(slope)) {
        if (wide) {
          places.push_back(x);
          text += std::to_string(std::bit_cast<uint64_t>(x)) + ", ";
        } else if (auto narrow = static_cast<float>(x); std::fabs(slope.exact(narrow)) < 1e38L) {
          places.push_back(narrow);
          text += std::to_string(std::bit_cast<uint32_t>(narrow)) + ", ";
        }
      }
      const std::string from = wide ? "f64_from_bits" : "f32_from_bits";
      text += "]\nfor k in 0..len(at) { print(bits(grad(x => " + std::string(slope.name) + "(x))(" + from +
              "(at[k])))) }\n";
      harness::ProcessResult run = melix("run -", text);
      ASSERT_EQ(run.status, 0) << slope.name << "\n" << run.errors;
      std::vector<std::string> lines = harness::splitLines(run.output);
      ASSERT_EQ(lines.size(), places.size()) << slope.name;
      for (size_t k = 0; k < places.size(); ++k) {
        const double got = valueOf(std::stoull(lines[k]), wide);
        EXPECT_LE(ulpsBetween(got, slope.exact(places[k]), wide ? 53 : 24, wide ? -1022 : -126), 4)
            << slope.name << (wide ? "" : "f") << " at " << places[k] << ": " << got;
      }
    }
}

} // namespace
} // namespace melix::driver
