// Checks, panics, builtins.
#include "core/ir/build.h"
#include "interp/steps.h"

#include <cmath>

namespace melix::interp {

static bool fits(TypeKind from, TypeKind to, Slot v) {
  if (types::isFloatKind(to)) return true;
  unsigned width = types::scalarBits(to);
  bool isSigned = types::scalarClass(to) == types::ScalarClass::SInt;
  if (types::isFloatKind(from)) {
    double x = std::trunc(core::floatValue(from, v.u));
    double end = std::ldexp(1.0, static_cast<int>(width) - (isSigned ? 1 : 0));
    return x < end && x >= (isSigned ? -end : 0.0);
  }
  if (to == TypeKind::Bool) return v.u <= 1;
  if (to == TypeKind::Char) return v.u < 0xd800 || (v.u >= 0xe000 && v.u < 0x110000);
  bool negative = types::scalarClass(from) == types::ScalarClass::SInt && v.i < 0;
  if (negative) return isSigned && (width == 64 || v.i >= -(int64_t(1) << (width - 1)));
  unsigned bits = isSigned ? width - 1 : width;
  return bits >= 64 || v.u >> bits == 0;
}

/// Whether a sum, difference, product or negative of integers fits their type.
static bool resultFits(core::CheckKind check, TypeKind kind, Slot a, Slot b) {
  bool isSigned = types::scalarClass(kind) == types::ScalarClass::SInt;
  auto wide = [&](Slot s) { return isSigned ? static_cast<__int128>(s.i) : static_cast<__int128>(s.u); };
  if (check == core::CheckKind::MulFits && !isSigned) {
    uint64_t low;
    return !__builtin_mul_overflow(a.u, b.u, &low) && slotOfBits(kind, low).u == low;
  }
  __int128 x = wide(a), y = wide(b), end = static_cast<__int128>(1) << (types::scalarBits(kind) - isSigned);
  __int128 result = check == core::CheckKind::AddFits   ? x + y
                    : check == core::CheckKind::SubFits ? x - y
                    : check == core::CheckKind::MulFits ? x * y
                                                        : -x;
  return result < end && result >= (isSigned ? -end : 0);
}

/// Whether the product of sizes, or of those that are not 0, is at most `most`.
static bool productFits(const std::vector<int64_t>& sizes, int64_t most, bool skipsZero) {
  int64_t product = 1;
  bool fits = true;
  for (int64_t d : sizes) {
    if (d == 0 && !skipsZero) return true;
    if (d != 0) fits = fits && !__builtin_mul_overflow(product, d, &product) && product <= most;
  }
  return fits;
}

static bool holds(const CheckExtra& x, TypeKind target, const std::vector<Slot>& v,
                  const std::vector<int64_t>& d) {
  switch (x.check.kind) {
  case core::CheckKind::Index: return v[0].i >= 0 && v[0].i < d[0];
  case core::CheckKind::ListIndex: return v[0].i >= 0 && v[0].i < v[1].i;
  case core::CheckKind::Slice: return v[0].i >= 0 && v[0].i <= v[1].i && v[1].i <= d[0];
  case core::CheckKind::DimEqual: return d[0] == d[1];
  case core::CheckKind::DimNonNegative: return d[0] >= 0;
  case core::CheckKind::DimFits: return d[0] <= types::maxExtent;
  case core::CheckKind::ArrayFits: return productFits(d, types::maxExtent, true);
  case core::CheckKind::PointsFit: return productFits(d, INT64_MAX, false);
  case core::CheckKind::Divisor: return v[0].u != 0;
  case core::CheckKind::DivideOverflow: {
    unsigned width = types::scalarBits(x.kinds[0]);
    bool isSigned = types::scalarClass(x.kinds[0]) == types::ScalarClass::SInt;
    int64_t smallest = width == 64 ? INT64_MIN : -(int64_t(1) << (width - 1));
    return !isSigned || v[0].i != smallest || v[1].i != -1;
  }
  case core::CheckKind::Exponent:
    return types::scalarClass(x.kinds[0]) == types::ScalarClass::UInt || v[0].i >= 0;
  case core::CheckKind::Converts: return fits(x.kinds[0], target, v[0]);
  case core::CheckKind::NotEmpty: return d[0] > 0;
  case core::CheckKind::Assert: return v[0].u != 0;
  case core::CheckKind::AddFits:
  case core::CheckKind::SubFits:
  case core::CheckKind::MulFits:
  case core::CheckKind::NegFits: return resultFits(x.check.kind, x.kinds[0], v[0], v.back());
  }
  return true;
}

static std::string numberText(const Frame& f, TypeKind kind, Slot s) {
  if (!types::isFloatKind(kind))
    return types::scalarClass(kind) == types::ScalarClass::SInt ? std::to_string(s.i) : std::to_string(s.u);
  const Program& program = f.machine->program;
  const types::TypeStore& types = program.module().types;
  const Hooks& h = program.hooks();
  return h.format ? h.format(types, types.scalar(kind), Value(kind, s), core::FormatAttr{}, {}) : "a float";
}

/// The catalogue's message; `{text}` is the check's text, in which numbers stand as in the catalogue.
static std::string messageOf(const Frame& f, const CheckExtra& x, const std::vector<Slot>& v,
                             const std::vector<int64_t>& d) {
  constexpr std::string_view messages[] = {
#define CHECK(Kind, Name, Operands, Dims, Message) Message,
#include "core/ir/checks.def"
  };
  if (x.check.kind == core::CheckKind::Assert && v.size() == 2) return static_cast<const Str*>(v[1].o)->text;
  std::string pattern(messages[static_cast<size_t>(x.check.kind)]), out;
  if (size_t at = pattern.find("{text}"); at != std::string::npos) pattern.replace(at, 6, x.check.text);
  if (x.check.kind == core::CheckKind::Assert) return pattern; // any text
  for (size_t i = 0; i < pattern.size(); ++i) {
    bool number = pattern[i] == '{' && i + 2 < pattern.size() && pattern[i + 2] == '}';
    auto k = static_cast<size_t>(number ? pattern[i + 1] - '0' : 0);
    if (!number || k >= v.size() + d.size()) {
      out += pattern[i];
      continue;
    }
    out += k < v.size() ? numberText(f, x.kinds[k], v[k]) : std::to_string(d[k - v.size()]);
    i += 2;
  }
  return out;
}

namespace {

/// A check with the numbers that it reads.
struct Tested {
  Tested(const Frame& f, const CheckExtra& x) {
    for (uint32_t r : x.operands) values.push_back(f.r[r]);
    for (uint32_t r : x.dims) dims.push_back(f.r[r].i);
    const TypeKind target =
        x.check.type.valid() ? f.machine->program.module().types.kind(x.check.type) : TypeKind::Error;
    holds = interp::holds(x, target, values, dims);
  }
  std::vector<Slot> values;
  std::vector<int64_t> dims;
  bool holds;
};

} // namespace

const Instr* runCheck(Frame& f, const Instr* in) {
  const auto& x = extraOf<CheckExtra>(in);
  // The frequent one, without ado.
  if (x.check.kind == core::CheckKind::Index) {
    if (f.r[x.operands[0]].u < f.r[x.dims[0]].u) return in + 1;
  }
  const Tested tested(f, x);
  if (tested.holds) return in + 1;
  return f.machine->fail(f, in, messageOf(f, x, tested.values, tested.dims));
}

const Instr* runHolds(Frame& f, const Instr* in) {
  f.r[in->a].u = Tested(f, extraOf<CheckExtra>(in)).holds;
  return in + 1;
}

const Instr* runPanic(Frame& f, const Instr* in) {
  return f.machine->fail(f, in, static_cast<const Str*>(f.r[in->a].o)->text);
}

/// A value of the module as the host sees it.
static Value shown(const Frame& f, types::TypeId type, Slot s) {
  Program& program = f.machine->program;
  return program.forms().outward(type, Value::sharing(slotKind(program.module().types, type), s));
}

const Instr* runBuiltin(Frame& f, const Instr* in) {
  const auto& x = extraOf<BuiltinExtra>(in);
  const types::TypeStore& types = f.machine->program.module().types;
  const Hooks& h = f.machine->program.hooks();
  if (!h.builtin)
    return f.machine->fail(f, in, "`" + std::string(ops::builtinName(x.builtin)) + "` is not available here");
  std::vector<Value> args;
  for (size_t k = 0; k < x.args.size(); ++k) args.push_back(shown(f, x.argTypes[k], f.r[x.args[k]]));
  std::vector<int64_t> dims;
  for (uint32_t r : x.dims) dims.push_back(f.r[r].i);
  BuiltinCall call{types, x.argTypes, x.resultTypes, args, dims, {}, {}};
  h.builtin(x.builtin, call);
  if (!call.panic.empty()) return f.machine->fail(f, in, std::move(call.panic));
  if (call.results.size() != x.results.size())
    return f.machine->fail(
        f, in, "`" + std::string(ops::builtinName(x.builtin)) + "` gave a wrong number of results");
  for (size_t k = 0; k < x.dimResults.size(); ++k) {
    const Value& sized = call.results[x.dimSources[k].first];
    f.r[x.dimResults[k]].i = sized.asArray().dims[x.dimSources[k].second];
  }
  for (size_t k = 0; k < x.results.size(); ++k) {
    Value own = f.machine->program.forms().inward(x.resultTypes[k], call.results[k]);
    if (isObject(own.kind()))
      putObject(f, x.results[k], own.takeSlot().o);
    else
      f.r[x.results[k]] = own.slot();
  }
  return in + 1;
}

const Instr* runFormat(Frame& f, const Instr* in) {
  const auto& x = extraOf<FormatExtra>(in);
  const Hooks& h = f.machine->program.hooks();
  if (!h.format) return f.machine->fail(f, in, "formatting is not available here");
  const Value v = shown(f, x.type, f.r[in->b]);
  std::vector<int64_t> numbers;
  for (uint32_t r : x.numbers) numbers.push_back(f.r[r].i);
  putObject(f, in->a, new Str(h.format(f.machine->program.module().types, x.type, v, x.attr, numbers)));
  return in + 1;
}

const Instr* runDebug(Frame& f, const Instr* in) {
  const auto& x = extraOf<FormatExtra>(in);
  const Hooks& h = f.machine->program.hooks();
  if (h.debug) h.debug(f.machine->program.module().types, x.type, shown(f, x.type, f.r[in->b]));
  return in + 1;
}

} // namespace melix::interp
