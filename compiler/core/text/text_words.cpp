#include "core/text/text_words.h"

#include "core/ir/build.h"

#include <cinttypes>
#include <cmath>
#include <cstdio>
#include <cstdlib>

namespace melix::core {

std::string quoted(std::string_view s) {
  std::string out = "\"";
  for (char c : s) {
    if (c == '"' || c == '\\')
      out += std::string("\\") + c;
    else if (c == '\n')
      out += "\\n";
    else if (static_cast<unsigned char>(c) < 32 || c == 127) {
      char buffer[8];
      std::snprintf(buffer, sizeof buffer, "\\x%02x", static_cast<unsigned char>(c));
      out += buffer;
    } else
      out += c;
  }
  return out + "\"";
}

constexpr uint32_t cmpCount = static_cast<uint32_t>(ops::CmpKind::Ge) + 1;
constexpr uint32_t roundCount = static_cast<uint32_t>(ops::RoundMode::HalfEven) + 1;

static std::string hexText(uint64_t bits) {
  char buffer[24];
  std::snprintf(buffer, sizeof buffer, "0x%" PRIx64, bits);
  return buffer;
}

static std::string floatText(TypeKind kind, uint64_t bits) {
  double number = floatValue(kind, bits);
  char buffer[40];
  for (int digits = 1; digits <= 17 && std::isfinite(number); ++digits) {
    std::snprintf(buffer, sizeof buffer, "%.*g", digits, number);
    if (floatBits(kind, std::strtod(buffer, nullptr)) != bits) continue;
    std::string text = buffer;
    return text.find_first_of(".e") == std::string::npos ? text + ".0" : text;
  }
  return hexText(bits);
}

std::string bitsText(TypeKind kind, uint64_t bits) {
  switch (types::scalarClass(kind)) {
  case types::ScalarClass::Bool: return bits ? "true" : "false";
  case types::ScalarClass::SInt: {
    unsigned width = types::scalarBits(kind);
    return std::to_string(static_cast<int64_t>(bits << (64 - width)) >> (64 - width));
  }
  case types::ScalarClass::UInt:
  case types::ScalarClass::Char: return std::to_string(bits);
  case types::ScalarClass::Float: return floatText(kind, bits);
  default: return hexText(bits);
  }
}

uint64_t textBits(TypeKind kind, std::string_view text) {
  const std::string number(text);
  if (number == "true" || number == "false") return number == "true";
  if (number.starts_with("0x")) return std::strtoull(number.c_str(), nullptr, 16);
  if (types::isFloatKind(kind)) return floatBits(kind, std::strtod(number.c_str(), nullptr));
  if (types::scalarClass(kind) != types::ScalarClass::SInt) return std::strtoull(number.c_str(), nullptr, 10);
  const unsigned width = types::scalarBits(kind);
  const auto bits = static_cast<uint64_t>(std::strtoll(number.c_str(), nullptr, 10));
  return width < 64 ? bits & ((uint64_t(1) << width) - 1) : bits;
}

std::string_view indexWord(OpKind kind, uint32_t index) {
  auto among = [&](auto... words) {
    const std::string_view all[] = {words...};
    return index < sizeof...(words) ? all[index] : std::string_view();
  };
  switch (kind) {
  case OpKind::Cmp: return index < cmpCount ? ops::cmpText(static_cast<ops::CmpKind>(index)) : "";
  case OpKind::Round: return index < roundCount ? ops::roundText(static_cast<ops::RoundMode>(index)) : "";
  case OpKind::Math: return index < ops::mathCount ? ops::mathName(static_cast<ops::MathKind>(index)) : "";
  case OpKind::Scale: return among("any", "near");
  case OpKind::Directed:
    return index < ops::directedCount ? ops::directedRow(static_cast<ops::DirectedKind>(index)).name : "";
  case OpKind::Convert: return among("saturate", "wrap");
  case OpKind::ArgSort: return among("ascending", "descending");
  default: return {};
  }
}

std::optional<uint32_t> indexOfWord(OpKind kind, std::string_view word) {
  for (uint32_t k = 0; !indexWord(kind, k).empty(); ++k)
    if (indexWord(kind, k) == word) return k;
  return std::nullopt;
}

} // namespace melix::core
