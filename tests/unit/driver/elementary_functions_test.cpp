// The elementary functions are within 2 units in the last place: at the directed cases of ARM's
// optimized-routines, where they lie beside the checkout, and at a table of this folder. Both are lines
// `func=exp op1=hi.lo [op2=…] result=hi.lo[extra]` of bits in hex; names that end in `f` are f32, of one
// word; `extra` is a fraction of the last place in 4096ths. Their slopes are within 4 units, forwards and
// backwards: another table of the same form, where `slope=0` says by which operand.
#include "driver/melix_process.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <filesystem>
#include <map>

namespace melix::driver {
namespace {

constexpr double mostUlps = 2, mostUlpsOfSlopes = 4;

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

/// What a group of cases asks of a function: its value, or its slope by an operand.
struct Asked {
  std::string name; ///< of the function
  std::string slope;
  auto operator<=>(const Asked&) const = default;

  bool isWide() const { return name.back() != 'f' || name == "erf"; }
  std::string function() const { return isWide() ? name : name.substr(0, name.size() - 1); }
};

using Cases = std::map<Asked, std::vector<Case>>;

void addCases(const std::string& text, Cases& out) {
  for (const std::string& line : harness::splitLines(text)) {
    if (!line.starts_with("func=")) continue;
    Asked asked{line.substr(5, line.find(' ') - 5), field(line, "slope")};
    bool wide = asked.isWide();
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
    out[asked].push_back(made);
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

/// Expressions of `x0`, and `x1` if there are two operands, for what is asked: of a slope forwards and
/// backwards.
std::vector<std::string> expressionsOf(const Asked& asked, int arity) {
  auto call = [&](const std::string& first, const std::string& second) {
    if (asked.function() == "rem") return "(" + first + " % " + second + ")";
    return asked.function() + "(" + first + (arity == 2 ? ", " + second : "") + ")";
  };
  if (asked.slope.empty()) return {call("x0", "x1")};
  std::string by = "x" + asked.slope;
  std::string inner = "t => " + (asked.slope == "0" ? call("t", "x1") : call("x0", "t"));
  return {"grad(" + inner + ")(" + by + ")", "jvp(" + inner + ", " + by + ", 1).1"};
}

/// A program that prints the bits of each result, a line each.
std::string programOf(const Asked& asked, const std::vector<Case>& cases) {
  bool wide = asked.isWide();
  std::string type = wide ? "u64" : "u32", from = wide ? "f64_from_bits(" : "f32_from_bits(", text, body;
  for (int k = 0; k < cases[0].arity; ++k) {
    std::string name = std::to_string(k);
    text += "let bits" + name + ": " + type + "[_] = [";
    for (const Case& c : cases) text += std::to_string(c.operands[k]) + ", ";
    text += "]\n";
    body += "  let x" + name + " = " + from + "bits" + name + "[k])\n";
  }
  for (const std::string& e : expressionsOf(asked, cases[0].arity)) body += "  print(bits(" + e + "))\n";
  return text + "for k in 0..len(bits0) {\n" + body + "}\n";
}

void check(const Asked& asked, const std::vector<Case>& cases) {
  const double most = asked.slope.empty() ? mostUlps : mostUlpsOfSlopes;
  harness::ProcessResult run = melix("run -", programOf(asked, cases));
  ASSERT_EQ(run.status, 0) << asked.name << "\n" << run.errors;
  std::vector<std::string> lines = harness::splitLines(run.output);
  const size_t each = asked.slope.empty() ? 1 : 2;
  ASSERT_EQ(lines.size(), each * cases.size()) << asked.name;
  for (size_t k = 0; k < lines.size(); ++k)
    EXPECT_LE(distance(cases[k / each], std::stoull(lines[k]), asked.isWide()), most)
        << cases[k / each].line << "\ngot " << lines[k];
}

TEST(ElementaryFunctions, AreWithinTwoUnitsInTheLastPlace) {
  Cases cases;
  addCases(
#include "driver/elementary_functions.inc"
      , cases);
  EXPECT_EQ(cases.size(), 14u);
  for (const auto& [asked, list] : cases) check(asked, list);
}

TEST(ElementaryFunctions, HaveSlopesWithinFourUnitsInTheLastPlace) {
  Cases cases;
  addCases(
#include "driver/elementary_slopes.inc"
      , cases);
  for (const auto& [asked, list] : cases) check(asked, list);
#define MATH(Kind, Name, Arity, Derivative) EXPECT_TRUE(cases.contains({Name, "0"})) << Name;
#include "ops/math.def"
}

TEST(ElementaryFunctions, AreWithinTwoUnitsInTheLastPlaceAtDirectedCases) {
  std::filesystem::path folder = MELIX_SOURCE_DIR "/../shared/data/libm_directed";
  if (!std::filesystem::exists(folder)) GTEST_SKIP() << "the directed cases are not beside the checkout";
  Cases cases;
  for (const auto& entry : std::filesystem::directory_iterator(folder))
    if (entry.path().extension() == ".tst") addCases(harness::readText(entry.path()), cases);
  EXPECT_GE(cases.size(), 12u);
  for (const auto& [asked, list] : cases) check(asked, list);
}

} // namespace
} // namespace melix::driver
