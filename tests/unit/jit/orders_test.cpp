// Sums and products in their order, at sizes around lanes and blocks and over random nests: an evaluator made
// from the text of core/order/order.h against the interpreter, and the interpreter against compiled code.
#include "core/text/parse.h"
#include "interp/interp.h"
#include "jit/program.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <functional>
#include <numeric>
#include <random>
#include <regex>
#include <span>

namespace melix::jit {
namespace {

/// One reduction of an array read at the axes of the nest.
struct Reduction {
  std::vector<int64_t> extents;
  std::vector<size_t> keep;
  bool isProduct = false, isDouble = false, fused = false;
  bool tiny = false; ///< terms are so small that they may round to zeros of either sign
  size_t lanes = 0;  ///< 0: a chain
  size_t row = 0;
  bool knowsSizes = false; ///< when compiling

  bool keeps(size_t axis) const { return std::find(keep.begin(), keep.end(), axis) != keep.end(); }
  std::string order() const {
    std::string text = isProduct ? "prod " : "sum ";
    text += lanes ? "lanes(" + std::to_string(lanes) + ", i" + std::to_string(row) + ")" : "chain";
    return text + (fused ? " fused" : "");
  }
};

std::string listed(const std::vector<std::string>& parts) {
  std::string out;
  for (const std::string& p : parts) out += (out.empty() ? "" : ", ") + p;
  return out;
}

// --- the values
// ---------------------------------------------------------------------------------------------------------

template <class T>
T valueAt(const Reduction& r, int64_t flat) {
  const double hashed = static_cast<double>(flat * 7919 % 1009) - 504.25;
  const T x = static_cast<T>(hashed);
  return r.tiny        ? x * static_cast<T>(r.isDouble ? 1e-200 : 1e-30)
         : r.isProduct ? static_cast<T>(1) + x / 65536
                       : x / 37;
}

template <class T>
T join(const Reduction& r, T sum, T x) {
  if (r.fused) return std::fma(x, -x, sum);
  return r.isProduct ? sum * x : sum + x;
}

template <class T>
T both(const Reduction& r, T a, T b) {
  return r.isProduct ? a * b : a + b;
}

/// A block of terms, which begins with a row.
template <class T>
T blockOf(const Reduction& r, std::span<const T> terms, int64_t row) {
  const T unit = r.isProduct ? 1 : 0;
  if (r.lanes == 0) {
    T sum = unit;
    for (T x : terms) sum = join(r, sum, x);
    return sum;
  }
  std::vector<T> lanes(r.lanes, unit);
  for (size_t k = 0; k < terms.size(); ++k) {
    T& lane = lanes[k % static_cast<size_t>(row) % r.lanes];
    lane = join(r, lane, terms[k]);
  }
  while (lanes.size() > 1) {
    const size_t half = lanes.size() / 2;
    for (size_t l = 0; l < half; ++l) lanes[l] = both(r, lanes[l], lanes[l + half]);
    lanes.resize(half);
  }
  return both(r, lanes[0], unit);
}

/// All terms of one element, in sequence.
template <class T>
T reduced(const Reduction& r, std::span<const T> terms, int64_t row) {
  constexpr int64_t limit = 8192;
  if (terms.empty()) return r.isProduct ? 1 : 0;
  std::vector<T> blocks;
  const auto size = static_cast<int64_t>(terms.size());
  auto block = [&](int64_t begin, int64_t end) {
    const auto first = static_cast<size_t>(begin), count = static_cast<size_t>(end - begin);
    blocks.push_back(blockOf(r, terms.subspan(first, count), row));
  };
  if (limit / row >= 1) {
    const int64_t whole = limit / row * row;
    for (int64_t at = 0; at < size; at += whole) block(at, std::min(size, at + whole));
  } else {
    for (int64_t begin = 0; begin < size; begin += row)
      for (int64_t at = 0; at < row; at += limit) block(begin + at, begin + std::min(row, at + limit));
  }
  T total = blocks[0];
  for (size_t k = 1; k < blocks.size(); ++k) total = both(r, total, blocks[k]);
  return total;
}

/// Calls `visit` with each position of some axes, row-major.
void forPositions(const Reduction& r, const std::vector<size_t>& axes, std::vector<int64_t>& index, size_t at,
                  const std::function<void()>& visit) {
  if (at == axes.size()) return visit();
  for (int64_t k = 0; k < r.extents[axes[at]]; ++k) {
    index[axes[at]] = k;
    forPositions(r, axes, index, at + 1, visit);
  }
}

/// What main makes of the elements in order.
template <class T>
int64_t expected(const Reduction& r) {
  std::vector<size_t> sequence;
  for (size_t a = 0; a < r.extents.size(); ++a)
    if (!r.keeps(a) && !(r.lanes && a == r.row)) sequence.push_back(a);
  if (r.lanes) sequence.push_back(r.row);
  std::vector<int64_t> index(r.extents.size());
  uint64_t hash = 0;
  forPositions(r, r.keep, index, 0, [&] {
    std::vector<T> terms;
    forPositions(r, sequence, index, 0, [&] {
      int64_t flat = 0;
      for (size_t a = 0; a < index.size(); ++a) flat = flat * r.extents[a] + index[a];
      terms.push_back(valueAt<T>(r, flat));
    });
    const T sum = reduced<T>(r, terms, sequence.empty() ? 1 : r.extents[sequence.back()]);
    using Bits = std::conditional_t<sizeof(T) == 4, uint32_t, uint64_t>;
    hash = hash * 1099511628211u + std::bit_cast<Bits>(sum);
  });
  return static_cast<int64_t>(hash);
}

// --- the program
// --------------------------------------------------------------------------------------------------------

std::string textOf(const Reduction& r) {
  const std::string type = r.isDouble ? "f64" : "f32", bits = r.isDouble ? "u64" : "u32";
  std::vector<std::string> sizes, symbols, axes, kept, keptSizes, keptAxes, keptIndices, indices, heads;
  for (size_t a = 0; a < r.extents.size(); ++a) {
    const std::string n = std::to_string(a);
    sizes.push_back(std::to_string(r.extents[a]));
    symbols.push_back(r.knowsSizes ? sizes.back() : "N" + n);
    axes.push_back("%i" + n + ": " + symbols.back());
    indices.push_back("%i" + n);
    heads.push_back("%i" + n + ": " + sizes.back());
  }
  std::vector<std::string> keep, elementHeads, elementIndices, resultSizes, resultSymbols;
  for (size_t a : r.keep) {
    keep.push_back("i" + std::to_string(a));
    elementHeads.push_back("%e" + std::to_string(a) + ": " + sizes[a]);
    elementIndices.push_back("%e" + std::to_string(a));
    resultSizes.push_back(sizes[a]);
    resultSymbols.push_back(symbols[a]);
  }
  auto array = [&](const std::vector<std::string>& dims) {
    return dims.empty() ? type : type + "[" + listed(dims) + "]";
  };
  const std::string dims = r.knowsSizes ? "" : " [" + listed(symbols) + "]", result = array(resultSymbols);
  std::string text = "fn reduce" + dims + " (%x: " + array(symbols) + ") -> (" + result +
                     ") {\n  %r = nest (" + listed(axes) + ") -> keep[" + listed(keep) + "] " + r.order() +
                     " {\n    %v = get %x[" + listed(indices) + "] : " + type + "\n";
  if (r.fused) text += "    %m = neg %v : " + type + "\n    %p = mul %v, %m : " + type + "\n";
  text += std::string("    yield ") + (r.fused ? "%p" : "%v") + "\n  } : " + result + "\n  yield %r\n}\n";

  const std::string scale = r.tiny ? (r.isDouble ? "1e-200" : "1e-30") : r.isProduct ? "65536.0" : "37.0";
  text += "fn main () -> (i64) {\n  %x = nest (" + listed(heads) + ") -> collect[" +
          std::regex_replace(listed(indices), std::regex("%"), "") + "] {\n    %f0 = const 0 : i64\n";
  for (size_t a = 0; a < r.extents.size(); ++a) {
    const std::string n = std::to_string(a);
    text += "    %n" + n + " = const " + sizes[a] + " : i64\n    %g" + n + " = mul %f" + n + ", %n" + n +
            " : i64\n    %f" + std::to_string(a + 1) + " = add %g" + n + ", %i" + n + " : i64\n";
  }
  text += "    %k = const 7919 : i64\n    %m = const 1009 : i64\n    %a = mul %f" +
          std::to_string(r.extents.size()) +
          ", %k : i64\n    %b = irem %a, %m : i64\n    %c = convert saturate %b : f64\n    %d = const 504.25 "
          ": f64\n"
          "    %h = sub %c, %d : f64\n    %t = convert saturate %h : " +
          type + "\n    %s = const " + scale + " : " + type + "\n    %one = const 1.0 : " + type +
          "\n    %q = " + (r.tiny ? "mul" : "div") + " %t, %s : " + type + "\n";
  const bool near1 = r.isProduct && !r.tiny;
  if (near1) text += "    %u = add %one, %q : " + type + "\n";
  text += std::string("    yield ") + (near1 ? "%u" : "%q") + "\n  } : " + array(sizes) + "\n";
  text += "  %r = call @reduce %x" + (r.knowsSizes ? "" : " dims [" + listed(sizes) + "]") + " : " +
          array(resultSizes) + "\n  %zero = const 0 : i64\n  %w = nest (" + listed(elementHeads) +
          ") -> keep[] combine 1 region 1 units (%zero) {\n";
  const std::string element = r.keep.empty() ? "%r" : "%v";
  if (!r.keep.empty()) text += "    %v = get %r[" + listed(elementIndices) + "] : " + type + "\n";
  return text + "    %hb = bitcast " + element + " : " + bits +
         "\n    %y = convert wrap %hb : i64\n    yield %y\n  } { (%hs: i64, %ht: i64)\n    %prime = const "
         "1099511628211 : i64\n"
         "    %s1 = mul %hs, %prime : i64\n    %s2 = add %s1, %ht : i64\n    yield %s2\n  } : i64\n  yield "
         "%w\n}\n";
}

std::string described(const Reduction& r) {
  std::vector<std::string> extents, keep;
  for (int64_t n : r.extents) extents.push_back(std::to_string(n));
  for (size_t a : r.keep) keep.push_back("i" + std::to_string(a));
  return r.order() + " of [" + listed(extents) + "] keeping [" + listed(keep) + "]" +
         (r.isDouble ? " f64" : " f32") + (r.tiny ? ", tiny" : "") + (r.knowsSizes ? ", sizes known" : "");
}

void expectOrder(const Reduction& r) {
  const int64_t want = r.isDouble ? expected<double>(r) : expected<float>(r);
  Program program(textOf(r));
  ASSERT_EQ(program.error, "") << described(r) << "\n" << textOf(r);
  const interp::RunResult oracle = interp::Program(program.core).run(program.core.entry, {});
  ASSERT_FALSE(oracle.panicked) << described(r) << ": " << oracle.panic.message;
  EXPECT_EQ(oracle.values[0].slot().i, want) << described(r) << ", interpreted";
  for (const Way& way : waysToCompile()) {
    const Outcome outcome = program.run(way.options);
    ASSERT_EQ(outcome.error, "") << described(r);
    EXPECT_EQ(outcome.status, MELIX_OK) << described(r) << "\n" << outcome.panic;
    EXPECT_EQ(outcome.result, want) << described(r) << ", " << way.name;
    EXPECT_EQ(outcome.stats.liveBlocks, 0) << described(r);
  }
}

// --- which
// --------------------------------------------------------------------------------------------------------------

TEST(OrderBits, OfOneAxis) {
  for (bool isDouble : {false, true}) {
    const size_t lanes = isDouble ? 32 : 64;
    const auto w = static_cast<int64_t>(lanes);
    for (int64_t n : {int64_t(0), int64_t(1), int64_t(2), int64_t(3), int64_t(5), int64_t(8), w - 1, w, w + 1,
                      int64_t(8191), int64_t(8192), int64_t(8193), int64_t(20000)})
      for (size_t width : {size_t(0), lanes})
        for (bool known : {false, true}) {
          Reduction r{{n}, {}, false, isDouble};
          r.lanes = width;
          r.knowsSizes = known;
          expectOrder(r);
          r.fused = true;
          expectOrder(r);
          r.tiny = n < 100;
          expectOrder(r);
          r = Reduction{{n}, {}, true, isDouble};
          r.lanes = width;
          r.knowsSizes = known;
          expectOrder(r);
        }
  }
}

TEST(OrderBits, OfRowsAndBlocks) {
  const std::vector<std::vector<int64_t>> shapes = {
      {3, 8193}, {8193, 3}, {100, 100}, {2, 8192}, {91, 90, 1}, {2, 3, 3000}, {65, 2, 64},
      {0, 5},    {5, 0},    {5, 16},    {5, 17},   {5, 80},     {5, 81}};
  for (const std::vector<int64_t>& shape : shapes)
    for (bool known : {false, true})
      for (size_t row = 0; row <= shape.size(); ++row) { // beyond the axes: a chain
        Reduction r;
        r.extents = shape;
        r.knowsSizes = known;
        r.lanes = row < shape.size() ? 64 : 0;
        r.row = row;
        expectOrder(r);
      }
}

TEST(OrderBits, OfRandomNests) {
  std::mt19937 random(20260);
  auto pick = [&](size_t n) { return static_cast<size_t>(random() % n); };
  for (int turn = 0; turn < 120; ++turn) {
    Reduction r;
    const size_t rank = 1 + pick(4);
    const int64_t sizes[] = {0, 1, 2, 3, 4, 5, 7, 31, 32, 33, 63, 64, 65, 130, 2000};
    int64_t points = 1;
    for (size_t a = 0; a < rank; ++a) {
      const int64_t n = sizes[turn % 9 == 0 && pick(4) == 0 ? 0 : 1 + pick(14)];
      r.extents.push_back(points * n > 40000 ? 2 : n);
      points *= std::max<int64_t>(1, r.extents.back());
    }
    std::vector<size_t> axes(rank);
    std::iota(axes.begin(), axes.end(), 0);
    std::shuffle(axes.begin(), axes.end(), random);
    r.keep.assign(axes.begin(), axes.begin() + static_cast<long>(pick(rank)));
    r.isDouble = pick(3) == 0;
    r.isProduct = pick(5) == 0;
    r.fused = !r.isProduct && pick(2) == 0;
    r.tiny = r.fused && pick(4) == 0;
    r.knowsSizes = pick(3) == 0;
    if (pick(3) != 0) {
      r.lanes = r.isDouble ? 32 : 64;
      r.row = axes[r.keep.size() + pick(rank - r.keep.size())];
    }
    expectOrder(r);
    if (HasFatalFailure()) return;
  }
}

} // namespace
} // namespace melix::jit
