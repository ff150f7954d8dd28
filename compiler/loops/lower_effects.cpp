// Checks, panics, builtins, formatting.
#include "loops/lower.h"

namespace melix::loops {
namespace {

using ops::BuiltinKind;

/// What a parameter or result of a builtin is (compiler/ops/builtins.def), by the words of that table.
struct Signature {
  std::vector<std::string_view> params, results;
};

std::vector<std::string_view> words(std::string_view list) {
  std::vector<std::string_view> out;
  size_t at = 0;
  while (at < list.size()) {
    size_t begin = list.find_first_not_of("(), ", at);
    if (begin == std::string_view::npos) break;
    size_t end = list.find_first_of("(), ", begin);
    out.push_back(list.substr(begin, end - begin));
    at = end;
  }
  return out;
}

Signature signatureOf(BuiltinKind kind) {
  switch (kind) {
#define BUILTIN(Kind, Name, Symbol, Effects, Params, Results, Purpose)                                       \
  case BuiltinKind::Kind: return {words(#Params), words(#Results)};
#include "ops/builtins.def"
  }
  return {};
}

std::string_view messageOf(core::CheckKind kind) {
  switch (kind) {
#define CHECK(Kind, Name, Message)                                                                           \
  case core::CheckKind::Kind: return Message;
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

} // namespace

/// Whether a number fits another type (floats after rounding towards zero).
ValueId Lower::fits(ValueId v, TypeKind from, TypeKind to) {
  using ops::CmpKind;
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

void Lower::lowerCheck(const core::Op& op) {
  using ops::CmpKind;
  const auto& attr = op.as<core::CheckAttr>();
  std::string message(messageOf(attr.kind));
  replaceText(message, attr.text);
  std::vector<ValueId> args, dims;
  for (core::ValueId v : op.operands) args.push_back(leaf(v));
  for (types::DimId d : op.dims) dims.push_back(dim(d));
  auto both = [&](ValueId a, ValueId b) { return b_.arith(OpKind::And, a, b, TypeKind::Bool); };
  ValueId zero = b_.integer(0), ok;
  TypeKind kind = args.empty() ? TypeKind::I64 : b_.fn.typeOf(args[0]).scalar;
  switch (attr.kind) {
  case core::CheckKind::Index:
    ok = both(b_.compare(CmpKind::Ge, args[0], zero), b_.compare(CmpKind::Lt, args[0], dims[0]));
    break;
  case core::CheckKind::ListIndex:
    ok = both(b_.compare(CmpKind::Ge, args[0], zero), b_.compare(CmpKind::Lt, args[0], args[1]));
    break;
  case core::CheckKind::Slice:
    ok = both(both(b_.compare(CmpKind::Ge, args[0], zero), b_.compare(CmpKind::Le, args[0], args[1])),
              b_.compare(CmpKind::Le, args[1], dims[0]));
    break;
  case core::CheckKind::DimEqual: ok = b_.compare(CmpKind::Eq, dims[0], dims[1]); break;
  case core::CheckKind::DimNonNegative: ok = b_.compare(CmpKind::Ge, dims[0], zero); break;
  case core::CheckKind::NotEmpty: ok = b_.compare(CmpKind::Gt, dims[0], zero); break;
  case core::CheckKind::Divisor:
    ok = b_.compare(CmpKind::Ne, args[0], b_.zero(scalarType(kind)), kind);
    break;
  case core::CheckKind::DivideOverflow: {
    if (types::scalarClass(kind) != types::ScalarClass::SInt) return;
    unsigned bits = types::scalarBits(kind);
    ValueId least = b_.constant(scalarType(kind), uint64_t(1) << (bits - 1));
    ValueId minusOne = b_.constant(scalarType(kind), bits == 64 ? ~uint64_t(0) : (uint64_t(1) << bits) - 1);
    ok = b_.arith(OpKind::Or, b_.compare(CmpKind::Ne, args[0], least, kind),
                  b_.compare(CmpKind::Ne, args[1], minusOne, kind), TypeKind::Bool);
    break;
  }
  case core::CheckKind::Exponent:
    ok = b_.compare(CmpKind::Ge, args[0], b_.zero(scalarType(kind)), kind);
    break;
  case core::CheckKind::Converts: ok = fits(args[0], kind, types_.kind(attr.type)); break;
  case core::CheckKind::Assert: ok = args[0]; break;
  }
  if (attr.kind == core::CheckKind::Assert && op.operands.size() > 1) {
    RegionId fine = b_.begin();
    b_.end();
    RegionId failed = b_.begin();
    b_.stmt(StmtKind::Panic, leaves(op.operands[1]));
    b_.end();
    b_.stmt(StmtKind::If, {ok}, {}, {}, {fine, failed});
    return;
  }
  std::vector<ValueId> operands{ok};
  if (attr.kind != core::CheckKind::Assert)
    for (ValueId v : args) operands.push_back(toldNumber(v, message, operands.size() - 1));
  operands.insert(operands.end(), dims.begin(), dims.end());
  b_.stmt(StmtKind::Check, operands, {}, Message{message});
}

void Lower::lowerPanic(const core::Op& op) { b_.stmt(StmtKind::Panic, leaves(op.operands[0])); }

// --- builtins and formatting
// ------------------------------------------------------------------------------------------

/// Calls with arguments that are slots already; gives the first `results` slots as integers.
std::vector<ValueId> Lower::callBuiltin(BuiltinKind kind, const std::vector<ValueId>& args,
                                        uint32_t results) {
  ValueId in = b_.scratch(8 * std::max<size_t>(args.size(), 1)), out = b_.scratch(8 * std::max(results, 1u));
  for (size_t k = 0; k < args.size(); ++k) {
    ValueType type = b_.fn.typeOf(args[k]);
    Access a{type, 8, static_cast<int64_t>(8 * k), false, true};
    b_.store(in, {}, a, args[k]);
  }
  b_.stmt(StmtKind::Builtin, {in, out}, {}, kind);
  for (ValueId v : args)
    if (b_.fn.typeOf(v).counted()) b_.stmt(StmtKind::KeepAlive, {v});
  std::vector<ValueId> values;
  for (uint32_t k = 0; k < results; ++k)
    values.push_back(b_.load(out, {}, {indexType, 8, 8 * k, false, false}));
  return values;
}

void Lower::lowerBuiltin(const core::Op& op) {
  BuiltinKind kind = op.as<core::BuiltinAttr>().builtin;
  Signature signature = signatureOf(kind);
  std::vector<ValueId> slots, alive;
  size_t next = 0;
  auto addAll = [&](const std::vector<ValueId>& v) { slots.insert(slots.end(), v.begin(), v.end()); };
  for (std::string_view param : signature.params) {
    if (param == "StrPack") {
      size_t count = op.operands.size() - next;
      ValueId pack = b_.scratch(16 * std::max<size_t>(count, 1));
      for (size_t k = 0; next < op.operands.size(); ++next, ++k) {
        Place at = memoryPlace(pack, types_.str());
        at.offset = static_cast<int64_t>(16 * k);
        storeStored(at, leaves(op.operands[next]), StoreMode::Lend);
        alive.push_back(leaf(op.operands[next]));
      }
      addAll({b_.integer(static_cast<int64_t>(count)), pack});
      break;
    }
    if (next >= op.operands.size()) return fail("a builtin with too few arguments");
    core::ValueId v = op.operands[next++];
    TypeId type = typeOf(v);
    for (ValueId x : leaves(v))
      if (b_.fn.typeOf(x).counted()) alive.push_back(x);
    if (param == "Value") {
      addAll({b_.descriptor(type), spill(type, leaves(v))});
    } else if (param == "Bytes") {
      bool packed = types_.kind(type) == TypeKind::Pack;
      addAll({leaves(v)[packed ? 1 : 0], packed ? leaves(v)[0] : dimsOf(type)[0]});
    } else {
      addAll(leaves(v));
    }
  }

  // Result types: one by one, or the parts of a tuple.
  std::vector<TypeId> results;
  for (core::ValueId v : op.results) {
    TypeId type = typeOf(v);
    if (types_.kind(type) == TypeKind::Tuple && (signature.results.size() != 1 || types_.isUnit(type)))
      for (TypeId part : types_[type].parts) results.push_back(part);
    else
      results.push_back(type);
  }
  if (results.size() != signature.results.size()) return fail("a builtin whose results do not fit");
  uint32_t resultSlots = 0;
  for (size_t k = 0; k < results.size(); ++k) {
    std::string_view word = signature.results[k];
    if (word != "Asked") {
      resultSlots += word == "Str" || word == "Bytes" ? 2 : 1;
      continue;
    }
    // The array asked for: known dims are demanded, the others found.
    TypeId type = results[k];
    if (types_.kind(type) == TypeKind::Pack) type = layouts_.packInner(type);
    std::vector<types::DimId> dims = types_[type].dims;
    ValueId wanted = b_.scratch(8 * dims.size());
    for (size_t d = 0; d < dims.size(); ++d) {
      ValueId extent = dimInScope(dims[d]) ? dim(dims[d]) : b_.integer(-1);
      b_.store(wanted, {}, {indexType, 8, static_cast<int64_t>(8 * d), false, false}, extent);
    }
    addAll({b_.descriptor(type), wanted});
    resultSlots += 1 + static_cast<uint32_t>(dims.size());
  }

  ValueId in = b_.scratch(8 * std::max<size_t>(slots.size(), 1)),
          out = b_.scratch(8 * std::max(resultSlots, 1u));
  for (size_t k = 0; k < slots.size(); ++k)
    b_.store(in, {}, {b_.fn.typeOf(slots[k]), 8, static_cast<int64_t>(8 * k), false, true}, slots[k]);
  b_.stmt(StmtKind::Builtin, {in, out}, {}, kind);
  for (ValueId v : alive) b_.stmt(StmtKind::KeepAlive, {v});

  int64_t at = 0;
  auto slot = [&](ValueType type) {
    ValueId v = b_.load(out, {}, {type, 8, at, true, false});
    at += 8;
    return v;
  };
  std::vector<ValueId> values;
  for (size_t k = 0; k < results.size(); ++k) {
    std::string_view word = signature.results[k];
    if (word == "Str") {
      values.push_back(slot(dataType));
      values.push_back(slot(indexType));
      continue;
    }
    if (word != "Bytes" && word != "Asked") {
      ValueType type = layouts_.leaves(results[k])[0];
      values.push_back(slot(type));
      continue;
    }
    bool packed = types_.kind(results[k]) == TypeKind::Pack;
    TypeId type = packed ? layouts_.packInner(results[k]) : results[k];
    std::vector<types::DimId> dims = types_[type].dims;
    ValueId data = slot(dataType);
    std::vector<ValueId> found, hidden(packed ? layouts_.packCount(results[k]) : 0);
    for (size_t d = 0; d < dims.size(); ++d) found.push_back(slot(indexType));
    for (size_t d = 0; d < dims.size(); ++d) {
      auto symbol = types_.dims.asSymbol(dims[d]);
      if (!symbol) continue;
      for (uint32_t h = 0; h < hidden.size(); ++h)
        if (*symbol == types_.boundSym(h)) hidden[h] = found[d];
      if (!packed && std::find(op.resultDims.begin(), op.resultDims.end(), *symbol) != op.resultDims.end())
        defineDim(*symbol, found[d]);
    }
    values.insert(values.end(), hidden.begin(), hidden.end());
    values.push_back(data);
  }
  size_t from = 0;
  bind(op.results, values, from);
}

std::vector<ValueId> Lower::format(TypeId type, const std::vector<ValueId>& v, const std::string& spec,
                                   bool quoted) {
  ValueId slot = spill(type, v);
  StmtId s = b_.stmt(StmtKind::Format, {slot}, {dataType, indexType}, FormatCall{type, spec, quoted});
  std::vector<ValueId> text = b_.results(s);
  for (ValueId x : v)
    if (b_.fn.typeOf(x).counted()) b_.stmt(StmtKind::KeepAlive, {x});
  return text;
}

void Lower::lowerFormat(const core::Op& op) {
  const auto& attr = op.as<core::FormatAttr>();
  const std::vector<ValueId> v = leaves(op.operands[0]);
  TypeId type = typeOf(op.operands[0]);
  if (types_.kind(type) == TypeKind::Str && attr.spec.empty() && !attr.quoted)
    return define(op.results[0], v);
  define(op.results[0], format(type, v, attr.spec, attr.quoted));
}

void Lower::lowerDebug(const core::Op& op) {
  const std::vector<ValueId> v = leaves(op.operands[0]);
  std::vector<ValueId> text = format(typeOf(op.operands[0]), v, "", true);
  ValueId pack = b_.scratch(16);
  storeStored(memoryPlace(pack, types_.str()), text, StoreMode::Lend);
  callBuiltin(BuiltinKind::Eprint, {b_.integer(1), pack}, 0);
  b_.stmt(StmtKind::KeepAlive, {text[0]});
  define(op.results[0], v);
}

} // namespace melix::loops
