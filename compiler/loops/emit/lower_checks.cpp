// Checks: what each tests, and the numbers its message prints.
#include "loops/emit/lower_checks.h"
#include "loops/emit/lower.h"
#include "loops/ir/overflow.h"

#include <limits>

namespace melix::loops {
namespace {

using core::CheckKind;
using core::OpKind;
using ops::CmpKind;

std::string_view messageOf(CheckKind kind) {
  switch (kind) {
#define CHECK(Kind, Name, Operands, Dims, Message)                                                           \
  case CheckKind::Kind: return Message;
#include "core/ir/checks.def"
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

/// Whether a number fits another type (floats after rounding towards zero).
ValueId fits(Builder& b, ValueId v, TypeKind from, TypeKind to) {
  if (to == TypeKind::Bool && types::isIntKind(from))
    return b.scalar(
        OpKind::Cmp,
        {b.scalar(OpKind::Convert, {v}, from, TypeKind::U64, 1), b.constant(scalarType(TypeKind::U64), 1)},
        TypeKind::U64, TypeKind::Bool, static_cast<uint32_t>(CmpKind::Le));
  if (!types::isIntKind(to) && to != TypeKind::Char) return b.boolean(true);
  IntRange range = rangeOf(to == TypeKind::Char ? TypeKind::U32 : to);
  if (types::isFloatKind(from)) {
    ValueId wide = from == TypeKind::F64 ? v : b.scalar(OpKind::Convert, {v}, from, TypeKind::F64);
    auto f64 = [&](double x) { return b.constant(scalarType(TypeKind::F64), bitsOf(x)); };
    // -2^63 - 1 is no double: there the lower bound itself is the first that fits.
    bool exact = range.lowF + 1 - range.lowF == 1;
    ValueId low = exact ? b.compare(CmpKind::Gt, wide, f64(range.lowF), TypeKind::F64)
                        : b.compare(CmpKind::Ge, wide, f64(-9223372036854775808.0), TypeKind::F64);
    ValueId high = b.compare(CmpKind::Lt, wide, f64(range.highF), TypeKind::F64);
    return b.arith(OpKind::And, low, high, TypeKind::Bool);
  }
  if (to == TypeKind::Char) {
    // A Unicode scalar value: below 0x110000 and no surrogate.
    ValueId wide = from == TypeKind::I64 ? v : b.scalar(OpKind::Convert, {v}, from, TypeKind::I64, 1);
    auto between = [&](int64_t low, int64_t high) {
      return b.arith(OpKind::And, b.compare(CmpKind::Ge, wide, b.integer(low)),
                     b.compare(CmpKind::Lt, wide, b.integer(high)), TypeKind::Bool);
    };
    return b.arith(OpKind::Or, between(0, 0xD800), between(0xE000, 0x110000), TypeKind::Bool);
  }
  IntRange source = rangeOf(types::isIntKind(from) ? from : TypeKind::U32);
  auto same = [&](uint64_t bits) { return b.constant(scalarType(from), bits); };
  ValueId ok = b.boolean(true);
  if (range.low > source.low) ok = b.compare(CmpKind::Ge, v, same(static_cast<uint64_t>(range.low)), from);
  if (range.high < source.high)
    ok = b.arith(OpKind::And, ok, b.compare(CmpKind::Le, v, same(range.high), from), TypeKind::Bool);
  return ok;
}

/// Number `k` of a failed check's message as 64 bits; one that is no i64 marks its place in the message (see
/// melix_panic_format).
ValueId numberInMessage(Builder& b, ValueId v, std::string& message, size_t k) {
  TypeKind kind = b.fn.typeOf(v).scalar;
  std::string place = "{" + std::to_string(k);
  auto mark = [&](char letter) {
    if (size_t at = message.find(place + "}"); at != std::string::npos)
      message.insert(at + place.size(), 1, letter);
  };
  if (types::isFloatKind(kind) && kind != TypeKind::F64) {
    ValueId single = kind == TypeKind::F32 ? v : b.scalar(OpKind::Convert, {v}, kind, TypeKind::F32);
    mark('s');
    ValueId bits = b.scalar(OpKind::Bitcast, {single}, TypeKind::F32, TypeKind::U32);
    return b.scalar(OpKind::Convert, {bits}, TypeKind::U32, TypeKind::I64, 1);
  }
  if (kind == TypeKind::F64) {
    mark('d');
    return b.scalar(OpKind::Bitcast, {v}, TypeKind::F64, TypeKind::I64);
  }
  if (kind == TypeKind::U64) mark('u');
  return kind == TypeKind::I64 ? v : b.scalar(OpKind::Convert, {v}, kind, TypeKind::I64, 1);
}

/// The condition of a check.
ValueId checkHolds(Builder& b, const types::TypeStore& types, const core::CheckAttr& attr,
                   const std::vector<ValueId>& args, const std::vector<ValueId>& dims) {
  ValueId zero = b.integer(0);
  TypeKind kind = args.empty() ? TypeKind::I64 : b.fn.typeOf(args[0]).scalar;
  auto inRange = [&](ValueId size) {
    return b.both(b.compare(CmpKind::Ge, args[0], zero), b.compare(CmpKind::Lt, args[0], size));
  };
  auto constant = [&](uint64_t bits) { return b.constant(scalarType(kind), bits); };
  switch (attr.kind) {
  case CheckKind::Index: return inRange(dims[0]);
  case CheckKind::ListIndex: return inRange(args[1]);
  case CheckKind::Slice:
    return b.both(b.both(b.compare(CmpKind::Ge, args[0], zero), b.compare(CmpKind::Le, args[0], args[1])),
                  b.compare(CmpKind::Le, args[1], dims[0]));
  case CheckKind::DimEqual: return b.compare(CmpKind::Eq, dims[0], dims[1]);
  case CheckKind::DimNonNegative: return b.compare(CmpKind::Ge, dims[0], zero);
  case CheckKind::DimFits: return b.compare(CmpKind::Le, dims[0], b.integer(types::maxExtent));
  case CheckKind::ArrayFits: return productFits(b, dims, types::maxExtent, true);
  case CheckKind::PointsFit: return productFits(b, dims, std::numeric_limits<int64_t>::max(), false);
  case CheckKind::NotEmpty: return b.compare(CmpKind::Gt, dims[0], zero);
  case CheckKind::Divisor: return b.compare(CmpKind::Ne, args[0], constant(0), kind);
  case CheckKind::DivideOverflow:
    if (!isSigned(kind)) return b.boolean(true);
    return b.either(b.compare(CmpKind::Ne, args[0], constant(leastOf(kind)), kind),
                    b.compare(CmpKind::Ne, args[1], constant(minusOneOf(kind)), kind));
  case CheckKind::Exponent: return b.compare(CmpKind::Ge, args[0], constant(0), kind);
  case CheckKind::Converts: return fits(b, args[0], kind, types.kind(attr.type));
  case CheckKind::Assert: return args[0];
  case CheckKind::AddFits:
  case CheckKind::SubFits:
  case CheckKind::MulFits:
  case CheckKind::NegFits: return resultFits(b, attr.kind, args, kind);
  }
  return b.boolean(true);
}

/// An assertion whose message is a text made by the program: it is made before, and printed if the condition
/// fails.
void assertWithText(Builder& b, ValueId holds, const std::vector<ValueId>& text) {
  RegionId fine = b.begin();
  b.end();
  RegionId failed = b.begin();
  b.stmt(StmtKind::Panic, text);
  b.end();
  b.stmt(StmtKind::If, {holds}, {}, {}, {fine, failed});
}

/// A check in Loops: its condition, and the numbers that its message may print.
struct LoweredCheck {
  ValueId holds;
  std::vector<ValueId> args, dims;
};

LoweredCheck lowered(Lower& l, const core::Op& op) {
  const auto& attr = op.as<core::CheckAttr>();
  LoweredCheck out;
  for (core::ValueId v : op.operands) out.args.push_back(l.leaf(v));
  ValueId exact = l.b.boolean(true);
  const bool fitsIn = attr.kind == CheckKind::DimFits;
  for (types::DimId d : op.dims) out.dims.push_back(l.dim(d, fitsIn ? &exact : nullptr));
  out.holds = checkHolds(l.b, l.types, attr, out.args, out.dims);
  if (fitsIn) out.holds = l.b.both(out.holds, exact);
  return out;
}

} // namespace

void lowerCheck(Lower& l, const core::Op& op) {
  const auto& attr = op.as<core::CheckAttr>();
  const auto [holds, args, dims] = lowered(l, op);
  bool asserts = attr.kind == CheckKind::Assert;
  if (asserts && op.operands.size() > 1) return assertWithText(l.b, holds, l.leaves(op.operands[1]));
  std::string message(messageOf(attr.kind));
  replaceText(message, attr.text);
  std::vector<ValueId> operands{holds};
  if (!asserts)
    for (ValueId v : args) operands.push_back(numberInMessage(l.b, v, message, operands.size() - 1));
  operands.insert(operands.end(), dims.begin(), dims.end());
  l.b.stmt(StmtKind::Check, operands, {}, Message{message});
}

void lowerHolds(Lower& l, const core::Op& op) { l.define(op.results[0], {lowered(l, op).holds}); }

} // namespace melix::loops
