// Checks and other effects. A check is implicit in the op that it guards, which is written as what panics
// alike; where there is none, its value being unused, what panics is written for itself.

#include "decompile/writer_checks.h"

#include "decompile/writer.h"
#include "decompile/writer_sums.h"
#include "decompile/writer_types.h"

#include <algorithm>

namespace melix::decompile {

using namespace core;

namespace {

/// Whether an op reads or changes a place by index or slice `check` is of.
bool reaches(const Module& m, const Function& f, const Op& check, const Op& o) {
  const size_t first = o.kind == OpKind::Get ? 1 : 2;
  if (std::find(o.operands.begin() + static_cast<ptrdiff_t>(first), o.operands.end(), check.operands[0]) ==
      o.operands.end())
    return false;
  if (check.as<CheckAttr>().kind == CheckKind::ListIndex) {
    const OpId length = f.values[check.operands[1]].def;
    return length.valid() && f.ops[length].operands == std::vector<ValueId>{o.operands[0]};
  }
  const types::Type& whole = m.types[f.typeOf(o.operands[0])];
  return std::find(whole.dims.begin(), whole.dims.end(), check.dims[0]) != whole.dims.end();
}

/// Whether an op, written, panics where the check does.
bool guards(const Module& m, const Function& f, const Op& check, const Op& o) {
  const bool sameOperands = o.operands == check.operands;
  switch (check.as<CheckAttr>().kind) {
  case CheckKind::Index:
  case CheckKind::ListIndex:
  case CheckKind::Slice:
    return (o.kind == OpKind::Get || o.kind == OpKind::Set || o.kind == OpKind::AddAt) &&
           reaches(m, f, check, o);
  case CheckKind::Divisor:
    return (o.kind == OpKind::IDiv || o.kind == OpKind::IRem) && o.operands[1] == check.operands[0];
  case CheckKind::DivideOverflow: return (o.kind == OpKind::IDiv || o.kind == OpKind::IRem) && sameOperands;
  case CheckKind::Converts:
    return o.kind == OpKind::Convert && sameOperands && f.typeOf(o.results[0]) == check.as<CheckAttr>().type;
  case CheckKind::AddFits: return o.kind == OpKind::Add && sameOperands;
  case CheckKind::SubFits: return o.kind == OpKind::Sub && sameOperands;
  case CheckKind::MulFits: return o.kind == OpKind::Mul && sameOperands;
  case CheckKind::NegFits: return o.kind == OpKind::Neg && sameOperands;
  default: return false;
  }
}

/// Whether the check has to be written: what follows it in its region does not imply it.
bool isWritten(const FunctionWriter& w, OpId id) {
  const Op& check = w.op(id);
  switch (check.as<CheckAttr>().kind) {
  case CheckKind::Assert: return true;
  case CheckKind::DimEqual:
  case CheckKind::DimNonNegative:
  case CheckKind::DimFits:
  case CheckKind::ArrayFits:
  case CheckKind::PointsFit:
  case CheckKind::NotEmpty:
  case CheckKind::Exponent: return false;
  case CheckKind::Index:
    if (w.types().dims.asConstant(check.dims[0]) == 0) return true; // its op is left out
    break;
  default: break;
  }
  const std::vector<OpId>& ops = w.f.regions[w.uses.regionOf(id)].ops;
  return std::none_of(std::find(ops.begin(), ops.end(), id), ops.end(),
                      [&](OpId after) { return guards(w.m, w.f, check, w.op(after)); });
}

} // namespace

/// Whether the op does something beside giving its results.
bool acts(const FunctionWriter& w, OpId id) {
  const Op& o = w.op(id);
  if (o.kind == OpKind::Check) return isWritten(w, id);
  if (o.regions.empty()) return w.shared.effects.ofOp(w.f, id).any();
  bool found = false;
  for (RegionId r : o.regions)
    for (OpId inner : w.f.regions[r].ops) found = found || acts(w, inner);
  return found;
}

void writeCheck(FunctionWriter& w, OpId id) {
  const Op& o = w.op(id);
  const CheckKind kind = o.as<CheckAttr>().kind;
  if (kind == CheckKind::NotEmpty) w.sizes.addAboveZero(o.dims[0]);
  if (!isWritten(w, id)) return;
  auto unless = [&](const std::string& condition, const std::string& message) {
    w.lines.add("if " + condition + " { panic(\"" + message + "\") }");
  };
  auto shown = [](const std::string& number) { // a literal stands in no braces
    return number.find_first_not_of("0123456789") == std::string::npos ? number : "{" + number + "}";
  };
  auto number = [&](size_t k) { return named(w, w.value(o.operands[k]), "i"); };
  auto computed = [&](const char* symbol) {
    w.lines.add("let _ = " + w.value(o.operands[0], 14) + symbol + w.value(o.operands[1], 15));
  };
  switch (kind) {
  case CheckKind::Assert:
    return w.lines.add("assert " + w.value(o.operands[0]) +
                       (o.operands.size() > 1 ? ", " + w.value(o.operands[1]) : ""));
  case CheckKind::Index:
  case CheckKind::ListIndex: {
    const bool isList = kind == CheckKind::ListIndex;
    const std::string i = number(0), n = isList ? number(1) : dimText(w, o.dims[0], 10);
    return unless(i + " < 0 or " + i + " >= " + n, "index " + shown(i) + " is out of range for " +
                                                       (isList ? "a list of length " : "an axis of size ") +
                                                       shown(n));
  }
  case CheckKind::Slice: {
    const std::string a = number(0), e = number(1), n = dimText(w, o.dims[0], 10);
    return unless(a + " < 0 or " + a + " > " + e + " or " + e + " > " + n,
                  "slice " + shown(a) + ".." + shown(e) + " does not fit an axis of size " + shown(n));
  }
  case CheckKind::Converts:
    return w.lines.add("let _ = " + w.value(o.operands[0], 20) + " as " +
                       typeText(w, o.as<CheckAttr>().type));
  case CheckKind::Divisor: return w.lines.add("let _ = 1 / " + w.value(o.operands[0], 15));
  case CheckKind::DivideOverflow: return computed(" / ");
  case CheckKind::AddFits: return computed(" + ");
  case CheckKind::SubFits: return computed(" - ");
  case CheckKind::MulFits: return computed(" * ");
  case CheckKind::NegFits: return w.lines.add("let _ = -" + w.value(o.operands[0], 20));
  default: return;
  }
}

} // namespace melix::decompile
