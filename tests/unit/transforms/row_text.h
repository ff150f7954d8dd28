#pragma once
// Core text of functions that run the rows of `x`.
#include "transforms/pass_text.h"

namespace melix::transforms::row_text {

using interp::Value;

constexpr int64_t rows = 7, columns = 16;

/// Small whole numbers: their sums are exact in any order.
inline std::vector<float> numbers(int64_t n) {
  std::vector<float> out;
  for (int64_t k = 0; k < n; ++k) out.push_back(static_cast<float>(k * 7 % 5) - 2);
  return out;
}
inline std::vector<Value> arguments(std::vector<int64_t> counts = {3, 0, 5, 1, -2, 5, 2}) {
  return {Value::floats(numbers(rows * columns), {rows, columns}),
          Value::floats(numbers(columns * columns), {columns, columns}),
          Value::array(types::TypeKind::I64, std::vector<int64_t>{rows}, counts.data())};
}

/// The product of a row and a matrix, clamped so that numbers stay small; `n` makes names its own.
inline std::string step(const std::string& result, const std::string& row, const std::string& n,
                        const std::string& matrix = "%w") {
  return "%p" + n + " = nest (%j" + n + ": D, %k" + n + ": D) -> keep[j" + n + "] sum {\n%a" + n + " = get " +
         row + "[%k" + n + "] : f32\n%m" + n + " = get " + matrix + "[%k" + n + ", %j" + n + "] : f32\n%q" +
         n + " = mul %a" + n + ", %m" + n + " : f32\nyield %q" + n + "\n} : f32[D]\n" + result +
         " = nest (%o" + n + ": D) -> collect[o" + n + "] {\n%e" + n + " = get %p" + n + "[%o" + n +
         "] : f32\n%hi" + n + " = const 3.0 : f32\n%lo" + n + " = neg %hi" + n + " : f32\n%f" + n +
         " = min %e" + n + ", %hi" + n + " : f32\n%g" + n + " = max %f" + n + ", %lo" + n +
         " : f32\nyield %g" + n + "\n} : f32[D]\n";
}
/// Adds the outer product of two rows to an accumulator.
inline std::string outer(const std::string& result, const std::string& sum, const std::string& x,
                         const std::string& y) {
  return result + " = nest (%u: D, %v: D) -> accs (%s = " + sum + ") {\n%xu = get " + x +
         "[%u] : f32\n%yv = get " + y +
         "[%v] : f32\n%xy = mul %xu, %yv : f32\n%t1 = add_at %s[%u, %v] += %xy : acc f32[D, D]\nyield %t1\n"
         "} : acc f32[D, D]\n";
}
inline std::string function(const std::string& results, const std::string& body) {
  return "fn f [B, D] (%x: f32[B, D], %w: f32[D, D], %n: i64[B]) -> (" + results + ") {\n" + body + "}\n";
}
inline std::string collected(const std::string& body, const std::string& yields = "%y") {
  return function("f32[B, D]", "%all = nest (%b: B) -> collect[b] {\n%row = get %x[%b] : f32[D]\n"
                               "%count = get %n[%b] : i64\n" +
                                   body + "yield " + yields + "\n} : f32[B, D]\nyield %all\n");
}
inline std::string counted(const std::string& count = "%count") {
  return "%y = for collects 0 " + count + ", %row { (%t: i64, %h: f32[D])\n" + step("%g", "%h", "1") +
         "yield %g\n} : f32[D]\n";
}

} // namespace melix::transforms::row_text
