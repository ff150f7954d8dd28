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

std::optional<Finding> checkLine(const Line& line, Checked& checked) {
  for (double v : line.values)
    if (!std::isfinite(v) || std::abs(v) > largest) return ++checked.kinks, std::nullopt;
  double differences = (line.values[3] - line.values[1]) / (2 * step);
  double scale = 1 + std::abs(line.values[2]) + std::abs(differences);
  for (double m : line.modes)
    if (std::isfinite(m)) scale = std::max(scale, std::abs(m));
  auto tell = [&](const char* what) {
    std::ostringstream text;
    text.precision(15);
    text << what << ":";
    for (double m : line.modes) text << " " << m;
    text << "; differences " << differences << "\n";
    return Finding{"derivatives: " + line.name + " " + what, text.str()};
  };
  if (!smoothThere(line.values, scale)) return ++checked.kinks, std::nullopt;
  ++checked.derivatives;
  for (double m : line.modes) {
    if (!(std::abs(m - line.modes[0]) <= ofModes * scale)) return tell("modes differ");
    if (!(std::abs(m - differences) <= ofDifferences * scale)) return tell("differences differ");
  }
  return std::nullopt;
}

} // namespace

std::optional<Finding> checkDerivatives(const std::string& output, Checked& checked) {
  std::istringstream in(output);
  for (std::string text; std::getline(in, text);) {
    std::optional<Line> line = readLine(text);
    if (!line || line->values.size() != 5) continue;
    if (auto found = checkLine(*line, checked)) return found;
  }
  return std::nullopt;
}

} // namespace melix::fuzz::programs
