// Checks: what each tests, and the numbers its message tells.
#include "loops/lower.h"
#include "loops/overflow.h"

#include <limits>

namespace melix::loops {
namespace {

using core::CheckKind;
using ops::CmpKind;

std::string_view messageOf(CheckKind kind) {
  switch (kind) {
#define CHECK(Kind, Name, Operands, Dims, Message)                                                           \
  case CheckKind::Kind: return Message;
#include "core/checks.def"
  }
  return {};
}

void replaceText(std::string& message, const std::string& text) {
  size_t at = message.find("{text}");
  if (at != std::string::npos) message.replace(at, 6, text);
}

struct IntRange {
  double lowF, highF; ///< a float fits iff lowF < x < highF after truncation
  int64_t low;
  uint64_t high;
};

IntRange rangeOf(TypeKind kind) {
  unsigned bits = types::scalarBits(kind);
  if (types::scalarClass(kind) == types::ScalarClass::SInt) {
    double end = bits == 64 ? 9223372036854775808.0 : static_cast<double>(1ull << (bits - 1));
    return {-end - 1, end, bits == 64 ? INT64_MIN : -(int64_t(1) << (bits - 1)),
            bits == 64 ? uint64_t(INT64_MAX) : (1ull << (bits - 1)) - 1};
  }
  double end = bits == 64 ? 18446744073709551616.0 : static_cast<double>(1ull << bits);
  return {-1, end, 0, bits == 64 ? UINT64_MAX : (1ull << bits) - 1};
}

uint64_t bitsOf(double v) {
  uint64_t bits;
  __builtin_memcpy(&bits, &v, 8);
  return bits;
}

uint64_t minusOneOf(TypeKind kind) {
  unsigned bits = types::scalarBits(kind);
  return bits == 64 ? ~uint64_t(0) : (uint64_t(1) << bits) - 1;
}

} // namespace

/// Whether a number fits another type (floats after rounding towards zero).
ValueId Lower::fits(ValueId v, TypeKind from, TypeKind to) {
  if (to == TypeKind::Bool && types::isIntKind(from))
    return b_.scalar(
        OpKind::Cmp,
        {b_.scalar(OpKind::Convert, {v}, from, TypeKind::U64, 1), b_.constant(scalarType(TypeKind::U64), 1)},
        TypeKind::U64, TypeKind::Bool, static_cast<uint32_t>(CmpKind::Le));
  if (!types::isIntKind(to) && to != TypeKind::Char) return b_.boolean(true);
  IntRange range = rangeOf(to == TypeKind::Char ? TypeKind::U32 : to);
  if (types::isFloatKind(from)) {
    ValueId wide = from == TypeKind::F64 ? v : b_.scalar(OpKind::Convert, {v}, from, TypeKind::F64);
    auto f64 = [&](double x) { return b_.constant(scalarType(TypeKind::F64), bitsOf(x)); };
    // -2^63 - 1 is no double: there the lower bound itself is the first that fits.
    bool exact = range.lowF + 1 - range.lowF == 1;
    ValueId low = exact ? b_.compare(CmpKind::Gt, wide, f64(range.lowF), TypeKind::F64)
                        : b_.compare(CmpKind::Ge, wide, f64(-9223372036854775808.0), TypeKind::F64);
    ValueId high = b_.compare(CmpKind::Lt, wide, f64(range.highF), TypeKind::F64);
    return b_.arith(OpKind::And, low, high, TypeKind::Bool);
  }
  if (to == TypeKind::Char) {
    // A Unicode scalar value: below 0x110000 and no surrogate.
    ValueId wide = from == TypeKind::I64 ? v : b_.scalar(OpKind::Convert, {v}, from, TypeKind::I64, 1);
    auto between = [&](int64_t a, int64_t b) {
      return b_.arith(OpKind::And, b_.compare(CmpKind::Ge, wide, b_.integer(a)),
                      b_.compare(CmpKind::Lt, wide, b_.integer(b)), TypeKind::Bool);
    };
    return b_.arith(OpKind::Or, between(0, 0xD800), between(0xE000, 0x110000), TypeKind::Bool);
  }
  IntRange source = rangeOf(types::isIntKind(from) ? from : TypeKind::U32);
  auto same = [&](uint64_t bits) { return b_.constant(scalarType(from), bits); };
  ValueId ok = b_.boolean(true);
  if (range.low > source.low) ok = b_.compare(CmpKind::Ge, v, same(static_cast<uint64_t>(range.low)), from);
  if (range.high < source.high)
    ok = b_.arith(OpKind::And, ok, b_.compare(CmpKind::Le, v, same(range.high), from), TypeKind::Bool);
  return ok;
}

/// Number `k` of a failed check's message as 64 bits; one that is no i64 marks its place in the message (see
/// melix_panic_format).
ValueId Lower::toldNumber(ValueId v, std::string& message, size_t k) {
  TypeKind kind = b_.fn.typeOf(v).scalar;
  std::string place = "{" + std::to_string(k);
  auto mark = [&](char letter) {
    if (size_t at = message.find(place + "}"); at != std::string::npos)
      message.insert(at + place.size(), 1, letter);
  };
  if (types::isFloatKind(kind) && kind != TypeKind::F64) {
    ValueId single = kind == TypeKind::F32 ? v : b_.scalar(OpKind::Convert, {v}, kind, TypeKind::F32);
    mark('s');
    ValueId bits = b_.scalar(OpKind::Bitcast, {single}, TypeKind::F32, TypeKind::U32);
    return b_.scalar(OpKind::Convert, {bits}, TypeKind::U32, TypeKind::I64, 1);
  }
  if (kind == TypeKind::F64) {
    mark('d');
    return b_.scalar(OpKind::Bitcast, {v}, TypeKind::F64, TypeKind::I64);
  }
  if (kind == TypeKind::U64) mark('u');
  return kind == TypeKind::I64 ? v : b_.scalar(OpKind::Convert, {v}, kind, TypeKind::I64, 1);
}

/// The condition of a check.
ValueId Lower::checkHolds(const core::Op& op, const std::vector<ValueId>& args,
                          const std::vector<ValueId>& dims) {
  const auto& attr = op.as<core::CheckAttr>();
  ValueId zero = b_.integer(0);
  TypeKind kind = args.empty() ? TypeKind::I64 : b_.fn.typeOf(args[0]).scalar;
  auto inRange = [&](ValueId size) {
    return b_.both(b_.compare(CmpKind::Ge, args[0], zero), b_.compare(CmpKind::Lt, args[0], size));
  };
  auto constant = [&](uint64_t bits) { return b_.constant(scalarType(kind), bits); };
  switch (attr.kind) {
  case CheckKind::Index: return inRange(dims[0]);
  case CheckKind::ListIndex: return inRange(args[1]);
  case CheckKind::Slice:
    return b_.both(b_.both(b_.compare(CmpKind::Ge, args[0], zero), b_.compare(CmpKind::Le, args[0], args[1])),
                   b_.compare(CmpKind::Le, args[1], dims[0]));
  case CheckKind::DimEqual: return b_.compare(CmpKind::Eq, dims[0], dims[1]);
  case CheckKind::DimNonNegative: return b_.compare(CmpKind::Ge, dims[0], zero);
  case CheckKind::DimFits: return b_.compare(CmpKind::Le, dims[0], b_.integer(types::maxExtent));
  case CheckKind::ArrayFits: return productFits(b_, dims, types::maxExtent, true);
  case CheckKind::PointsFit: return productFits(b_, dims, std::numeric_limits<int64_t>::max(), false);
  case CheckKind::NotEmpty: return b_.compare(CmpKind::Gt, dims[0], zero);
  case CheckKind::Divisor: return b_.compare(CmpKind::Ne, args[0], constant(0), kind);
  case CheckKind::DivideOverflow:
    if (!isSigned(kind)) return b_.boolean(true);
    return b_.either(b_.compare(CmpKind::Ne, args[0], constant(leastOf(kind)), kind),
                     b_.compare(CmpKind::Ne, args[1], constant(minusOneOf(kind)), kind));
  case CheckKind::Exponent: return b_.compare(CmpKind::Ge, args[0], constant(0), kind);
  case CheckKind::Converts: return fits(args[0], kind, types_.kind(attr.type));
  case CheckKind::Assert: return args[0];
  case CheckKind::AddFits:
  case CheckKind::SubFits:
  case CheckKind::MulFits:
  case CheckKind::NegFits: return resultFits(b_, attr.kind, args, kind);
  }
  return b_.boolean(true);
}

/// An assertion whose message is a text made by the program: it is made before, and told if the condition
/// fails.
void Lower::assertWithText(ValueId holds, const std::vector<ValueId>& text) {
  RegionId fine = b_.begin();
  b_.end();
  RegionId failed = b_.begin();
  b_.stmt(StmtKind::Panic, text);
  b_.end();
  b_.stmt(StmtKind::If, {holds}, {}, {}, {fine, failed});
}

void Lower::lowerCheck(const core::Op& op) {
  const auto& attr = op.as<core::CheckAttr>();
  std::vector<ValueId> args, dims;
  for (core::ValueId v : op.operands) args.push_back(leaf(v));
  ValueId exact = b_.boolean(true);
  bool fits = attr.kind == CheckKind::DimFits;
  for (types::DimId d : op.dims) dims.push_back(dim(d, fits ? &exact : nullptr));
  ValueId holds = checkHolds(op, args, dims);
  if (fits) holds = b_.both(holds, exact);
  bool asserts = attr.kind == CheckKind::Assert;
  if (asserts && op.operands.size() > 1) return assertWithText(holds, leaves(op.operands[1]));
  std::string message(messageOf(attr.kind));
  replaceText(message, attr.text);
  std::vector<ValueId> operands{holds};
  if (!asserts)
    for (ValueId v : args) operands.push_back(toldNumber(v, message, operands.size() - 1));
  operands.insert(operands.end(), dims.begin(), dims.end());
  b_.stmt(StmtKind::Check, operands, {}, Message{message});
}

} // namespace melix::loops
