// Derivatives against one another and against differences, from the numbers that a program prints.
#include "fuzz/programs/compare.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <sstream>

namespace melix::fuzz::programs {

namespace {

constexpr double step = 1e-5;          ///< between the values along the line
constexpr double ofModes = 1e-7;       ///< how far derivatives may differ, of the scale
constexpr double ofRounding = 1e-9;    ///< how far what other orders of the same ops give may be
constexpr double ofDifferences = 1e-4; ///< how far from the differences
constexpr double ofSteps = 2e-5;       ///< differences of one and two steps that differ more are near a kink
constexpr double ofSides = 1e-2;       ///< slopes of both sides that differ more are those of a kink
constexpr double ofNoise = 2e-5;       ///< differences whose rounding errors are larger say nothing
constexpr double largest = 1e7;        ///< beyond, differences say nothing

struct Line {
  std::string name;
  std::vector<double> modes, values; ///< derivatives; values at -2, -1, 0, 1, 2 steps
};

std::optional<Line> readLine(const std::string& text) {
  std::istringstream in(text);
  Line out;
  std::string word;
  in >> out.name;
  if (out.name != "first" && out.name != "second") return std::nullopt;
  bool values = false;
  while (in >> word) {
    if (word == "|")
      values = true;
    else
      (values ? out.values : out.modes).push_back(std::strtod(word.c_str(), nullptr));
  }
  return out;
}

/// Whether the values along the line are those of a smooth function there, computed well: its fourth
/// difference is nothing, what is seen of it are rounding errors, perhaps of larger numbers that cancelled.
bool smoothThere(const std::vector<double>& v, double scale) {
  double noise = std::abs(v[0] - 4 * v[1] + 6 * v[2] - 4 * v[3] + v[4]) / 16;
  if (noise / step > ofNoise * scale) return false;
  double one = (v[3] - v[1]) / (2 * step), two = (v[4] - v[0]) / (4 * step);
  double left = (v[2] - v[1]) / step, right = (v[3] - v[2]) / step;
  return std::abs(one - two) <= ofSteps * scale && std::abs(left - right) <= ofSides * scale;
}

double differencesOf(const Line& line) { return (line.values[3] - line.values[1]) / (2 * step); }

/// What the numbers of a line are small or large beside; nothing where they say nothing, near a kink, say.
std::optional<double> scaleOf(const Line& line) {
  for (double v : line.values)
    if (!std::isfinite(v) || std::abs(v) > largest) return std::nullopt;
  double scale = 1 + std::abs(line.values[2]) + std::abs(differencesOf(line));
  for (double m : line.modes)
    if (std::isfinite(m)) scale = std::max(scale, std::abs(m));
  return smoothThere(line.values, scale) ? std::optional(scale) : std::nullopt;
}

std::optional<Finding> checkLine(const Line& line, Checked& checked) {
  const std::optional<double> scale = scaleOf(line);
  if (!scale) return ++checked.kinks, std::nullopt;
  const double differences = differencesOf(line);
  auto tell = [&](const char* what) {
    std::ostringstream text;
    text.precision(15);
    text << what << ":";
    for (double m : line.modes) text << " " << m;
    text << "; differences " << differences << "\n";
    return Finding{"derivatives: " + line.name + " " + what, text.str()};
  };
  ++checked.derivatives;
  for (double m : line.modes) {
    if (!(std::abs(m - line.modes[0]) <= ofModes * *scale)) return tell("modes differ");
    if (!(std::abs(m - differences) <= ofDifferences * *scale)) return tell("differences differ");
  }
  return std::nullopt;
}

std::vector<Line> readLines(const std::string& output) {
  std::vector<Line> out;
  std::istringstream in(output);
  for (std::string text; std::getline(in, text);)
    if (std::optional<Line> line = readLine(text); line && line->values.size() == 5)
      out.push_back(std::move(*line));
  return out;
}

} // namespace

std::optional<Finding> checkDerivatives(const std::string& output, Checked& checked) {
  for (const Line& line : readLines(output))
    if (auto found = checkLine(line, checked)) return found;
  return std::nullopt;
}

std::optional<Finding> checkRounding(const std::string& output, const std::string& other) {
  const std::vector<Line> lines = readLines(output), others = readLines(other);
  if (lines.size() != others.size()) return Finding{"passes: lines", output + "and\n" + other};
  for (size_t k = 0; k < lines.size(); ++k) {
    const std::optional<double> scale = scaleOf(lines[k]);
    const size_t modes = lines[k].modes.size();
    if (modes != others[k].modes.size()) return Finding{"passes: modes", output + "and\n" + other};
    for (size_t m = 0; scale && m < modes; ++m)
      if (!(std::abs(lines[k].modes[m] - others[k].modes[m]) <= ofRounding * *scale))
        return Finding{"passes: " + lines[k].name, output + "and\n" + other};
  }
  return std::nullopt;
}

} // namespace melix::fuzz::programs
