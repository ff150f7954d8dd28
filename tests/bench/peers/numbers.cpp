// The cases of subjects/numbers.mlx with std::to_chars and std::from_chars:
//   g++ -O3 -march=native -std=c++20 tests/bench/peers/numbers.cpp -o /tmp/numbers
//   chrt -f 1 taskset -c 1 /tmp/numbers 100000
// prints a case, its check value, and the least seconds of a call.
#include <algorithm>
#include <charconv>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

namespace {

double sample(int64_t i, int64_t seed) {
  const int64_t v = (i * 7919 + seed * 104729) % 10007;
  return static_cast<double>(v * v % 10007) / 10007 - 0.5;
}

template <class Call>
void measure(const char* name, Call call) {
  using Clock = std::chrono::steady_clock;
  double value = 0, least = 1e9, total = 0;
  while (total < 0.3) {
    const auto begin = Clock::now();
    value = static_cast<double>(call());
    const double taken = std::chrono::duration<double>(Clock::now() - begin).count();
    least = std::min(least, taken);
    total += taken;
  }
  std::printf("%s %.17g %.6g\n", name, value, least);
}

/// A shortest text reads back; whole numbers get the `.0` that Melix writes.
void addNumber(std::string& out, double x) {
  char text[32];
  char* end = std::to_chars(text, text + sizeof text, x).ptr;
  if (std::find_if(text, end, [](char c) { return c == '.' || c == 'e'; }) == end) {
    *end++ = '.';
    *end++ = '0';
  }
  out.append(text, end);
}

std::string joined(const std::vector<double>& x) {
  std::string out;
  for (const double v : x) {
    addNumber(out, v);
    out += ',';
  }
  out.pop_back();
  return out;
}

std::string rounded(const std::vector<double>& x) {
  std::string out;
  char text[400];
  for (const double v : x) {
    out.append(text, std::to_chars(text, text + sizeof text, v, std::chars_format::fixed, 3).ptr);
    out += ',';
  }
  out.pop_back();
  return out;
}

double number(const char* begin, const char* end) {
  double value = 0;
  std::from_chars(begin, end, value);
  return value;
}

double parsed(const std::vector<std::string_view>& texts) {
  double sum = 0;
  for (const std::string_view text : texts) sum += number(text.data(), text.data() + text.size());
  return sum;
}

int64_t writeTable(const std::vector<double>& x, const char* path) {
  std::string out;
  for (size_t k = 0; k < x.size(); k++) {
    addNumber(out, x[k]);
    out += k % 10 == 9 ? '\n' : ',';
  }
  FILE* file = std::fopen(path, "wb");
  std::fwrite(out.data(), 1, out.size(), file);
  std::fclose(file);
  return static_cast<int64_t>(x.size() / 10);
}

double readTable(const char* path) {
  FILE* file = std::fopen(path, "rb");
  std::fseek(file, 0, SEEK_END);
  std::string content(static_cast<size_t>(std::ftell(file)), ' ');
  std::rewind(file);
  if (std::fread(content.data(), 1, content.size(), file) != content.size()) std::exit(1);
  std::fclose(file);
  std::vector<double> table;
  const char* at = content.data();
  const char* end = at + content.size();
  while (at < end) {
    double value = 0;
    at = std::from_chars(at, end, value).ptr + 1;
    table.push_back(value);
  }
  double sum = 0;
  for (const double v : table) sum += v;
  return sum;
}

} // namespace

int main(int count, char** arguments) {
  const int64_t n = count > 1 ? std::atoll(arguments[1]) : 100000;
  std::vector<double> x;
  for (int64_t i = 0; i < n; i++) x.push_back(sample(i, 1));
  measure("to_text", [&] { return joined(x).size(); });
  measure("rounded", [&] { return rounded(x).size(); });
  const std::string all = joined(x);
  std::vector<std::string_view> texts;
  for (size_t from = 0, to; from < all.size(); from = to + 1) {
    to = std::min(all.find(',', from), all.size());
    texts.push_back(std::string_view(all).substr(from, to - from));
  }
  measure("from_text", [&] { return parsed(texts); });
  measure("csv_write", [&] { return writeTable(x, "/tmp/numbers_peer.csv"); });
  measure("csv_read", [&] { return readTable("/tmp/numbers_peer.csv"); });
}
