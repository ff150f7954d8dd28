#include "driver/measure.h"

#include <algorithm>
#include <chrono>
#include <cstdio>

namespace melix::driver {

namespace {

using Clock = std::chrono::steady_clock;

constexpr int mostSamples = 100, leastSamples = 5;

/// Seconds that a number of calls take.
double timeOf(MelixEntryFn entry, MelixTask* task, int64_t calls) {
  const Clock::time_point begin = Clock::now();
  for (int64_t k = 0; k < calls; ++k) entry(task);
  return std::chrono::duration<double>(Clock::now() - begin).count();
}

/// Seconds that one call takes once caches and clocks are warm.
double warmUp(MelixEntryFn entry, MelixTask* task, double seconds) {
  double total = 0, last = 0;
  int64_t calls = 1;
  for (;; calls *= 2) {
    last = timeOf(entry, task, calls);
    total += last;
    if (total >= seconds) return last / static_cast<double>(calls);
  }
}

/// A part of the sorted samples, between two of them in proportion.
double quantile(const double* sorted, int count, double part) {
  const double at = part * (count - 1);
  const int below = std::min(static_cast<int>(at), count - 2);
  return sorted[below] + (at - below) * (sorted[below + 1] - sorted[below]);
}

std::string durationText(double seconds) {
  static constexpr struct {
    double unit;
    const char* name;
  } units[] = {{1, "s"}, {1e-3, "ms"}, {1e-6, "µs"}, {1e-9, "ns"}};
  const auto* unit = units;
  while (unit + 1 != std::end(units) && seconds < unit->unit) ++unit;
  char text[64];
  std::snprintf(text, sizeof text, "%.4g %s", seconds / unit->unit, unit->name);
  return text;
}

size_t width(const std::string& text) {
  return static_cast<size_t>(
      std::count_if(text.begin(), text.end(), [](char c) { return (c & 0xc0) != 0x80; }));
}

std::string spaces(size_t wanted, const std::string& text) {
  return std::string(std::max(wanted, width(text)) - width(text), ' ');
}

} // namespace

Measurement measure(MelixEntryFn entry, MelixTask* task, double seconds) {
  const double one = std::max(warmUp(entry, task, seconds / 10), 1e-10);
  const int64_t before = melix_stats(task).allocations;
  entry(task);
  Measurement found;
  found.allocations = melix_stats(task).allocations - before;
  const int64_t calls = std::max<int64_t>(1, static_cast<int64_t>(seconds / mostSamples / one));
  double samples[mostSamples], total = 0;
  int count = 0;
  while (count < mostSamples && (count < leastSamples || total < seconds)) {
    const double taken = timeOf(entry, task, calls);
    samples[count++] = taken / static_cast<double>(calls);
    total += taken;
  }
  std::sort(samples, samples + count);
  found.median = quantile(samples, count, 0.5);
  found.spread = (quantile(samples, count, 0.75) - quantile(samples, count, 0.25)) / 2;
  return found;
}

std::string benchLine(const std::string& name, const Measurement* found) {
  constexpr size_t nameWidth = 40, timeWidth = 10;
  std::string line = name + spaces(nameWidth, name) + "  ";
  if (!found) return line + "FAILED\n";
  const std::string median = durationText(found->median);
  char rest[64];
  std::snprintf(rest, sizeof rest, " ± %4.1f %%  %6lld %s\n", 100 * found->spread / found->median,
                static_cast<long long>(found->allocations),
                found->allocations == 1 ? "allocation" : "allocations");
  return line + spaces(timeWidth, median) + median + rest;
}

} // namespace melix::driver
