#pragma once
// Values of the evaluator, which shares nothing with the compiler: scalars with exact arithmetic, and
// aggregates that are copied when they are changed.

#include "fuzz/programs/tree.h"

#include <string_view>

namespace melix::fuzz::programs {

struct Object;

struct Value {
  Kind kind = Kind::Unit; ///< of a scalar its type
  int64_t i = 0;          ///< bool, integers; u64 by its bits
  double d = 0;           ///< floats; an f32 as the same number
  std::shared_ptr<Object> o{};
  uint32_t slot = 0; ///< of a float that varies, where the trace has it
};

using Variables = std::vector<std::pair<std::string_view, Value>>;

struct Object {
  std::vector<int64_t> dims{};    ///< of an array
  std::vector<Value> items{};     ///< elements in row-major order, fields
  const Record* record = nullptr; ///< of a struct or a case
  const Node* lambda = nullptr;   ///< of a function value, or …
  const Function* function = nullptr;
  Variables captured{};
};

struct Panic {
  std::string message;
  bool certain = true; ///< no other panic may come first
};
/// The evaluator does not know the value, or gives up.
struct Unknown {
  std::string why;
};

Value integerValue(Kind kind, int64_t exact); ///< wrapped to the type
Value realValue(Kind kind, double value);     ///< rounded to the type
Value boolValue(bool value);
Value arrayValue(std::vector<int64_t> dims, std::vector<Value> items);
Value aggregate(Kind kind, std::vector<Value> items, const Record* record = nullptr);
/// The object of a value that is about to be changed, no other value's.
Object& own(Value& value);
int64_t elements(const std::vector<int64_t>& dims);

/// What `print` shows.
std::string text(const Value& value, bool nested = false);

// Scalars. Kinds of both operands are equal but where an integer meets a float or a narrower one.
Value binary(const std::string& op, Kind result, const Value& a, const Value& b);
Value negative(const Value& a);
Value convert(const std::string& how, Kind to, const Value& a);
/// Functions of one or two scalars; Unknown where only the compiler's library defines the bits.
Value mathFunction(const std::string& name, const std::vector<Value>& arguments);
bool less(const Value& a, const Value& b);
bool equal(const Value& a, const Value& b);

} // namespace melix::fuzz::programs
