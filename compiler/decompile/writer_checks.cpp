// Checks and other effects. Where the op that a check guards is written, the check is implicit in it; where
// nothing uses that op's value, what panics is written for itself.

#include "decompile/writer.h"

namespace melix::decompile {

using namespace core;

/// The operand by which a check is found to guard an op.
static ValueId guarded(const Op& check) {
  return check.operands[check.as<CheckAttr>().kind == CheckKind::DivideOverflow ? 1 : 0];
}

/// Notes the checks that are implicit in an op.
void FunctionWriter::noteImplicit(const Op& o) {
  auto note = [&](size_t operand, std::initializer_list<CheckKind> kinds) {
    for (CheckKind kind : kinds) implicit_.insert({kind, o.operands[operand]});
  };
  switch (o.kind) {
  case OpKind::Get:
  case OpKind::Set:
  case OpKind::AddAt:
    for (size_t k = 1; k < o.operands.size(); ++k)
      note(k, {CheckKind::Index, CheckKind::ListIndex, CheckKind::Slice});
    return;
  case OpKind::IDiv:
  case OpKind::IRem: return note(1, {CheckKind::Divisor, CheckKind::DivideOverflow});
  case OpKind::Convert: return note(0, {CheckKind::Converts});
  case OpKind::Add: return note(0, {CheckKind::AddFits});
  case OpKind::Sub: return note(0, {CheckKind::SubFits});
  case OpKind::Mul: return note(0, {CheckKind::MulFits});
  case OpKind::Neg: return note(0, {CheckKind::NegFits});
  default: return;
  }
}

bool FunctionWriter::isWritten(const Op& check) const {
  const CheckKind kind = check.as<CheckAttr>().kind;
  switch (kind) {
  case CheckKind::Assert: return true;
  case CheckKind::DimEqual:
  case CheckKind::DimNonNegative:
  case CheckKind::NotEmpty:
  case CheckKind::Exponent: return false;
  case CheckKind::Index:
    if (types().dims.asConstant(check.dims[0]) == 0) return true; // its op is left out
    break;
  default: break;
  }
  return !implicit_.contains({kind, guarded(check)});
}

/// Whether the op does something beside giving its results.
bool FunctionWriter::acts(OpId id) const {
  const Op& o = op(id);
  if (o.kind == OpKind::Check) return isWritten(o);
  if (o.regions.empty()) return shared_.effects.ofOp(f_, id).any();
  bool found = false;
  for (RegionId r : o.regions)
    for (OpId inner : f_.regions[r].ops) found = found || acts(inner);
  return found;
}

void FunctionWriter::check(const Op& o) {
  const CheckKind kind = o.as<CheckAttr>().kind;
  if (kind == CheckKind::NotEmpty) notEmpty_.insert(o.dims[0]);
  if (!isWritten(o)) return;
  auto unless = [&](const std::string& condition, const std::string& message) {
    line("if " + condition + " { panic(\"" + message + "\") }");
  };
  auto shown = [](const std::string& number) { // a literal stands in no braces
    return number.find_first_not_of("0123456789") == std::string::npos ? number : "{" + number + "}";
  };
  auto number = [&](size_t k) { return named(value(o.operands[k]), "i"); };
  auto computed = [&](const char* symbol) {
    line("let _ = " + value(o.operands[0], 14) + symbol + value(o.operands[1], 15));
  };
  switch (kind) {
  case CheckKind::Assert:
    return line("assert " + value(o.operands[0]) +
                (o.operands.size() > 1 ? ", " + value(o.operands[1]) : ""));
  case CheckKind::Index:
  case CheckKind::ListIndex: {
    const bool isList = kind == CheckKind::ListIndex;
    const std::string i = number(0), n = isList ? number(1) : dim(o.dims[0], 10);
    return unless(i + " < 0 or " + i + " >= " + n, "index " + shown(i) + " is out of range for " +
                                                       (isList ? "a list of length " : "an axis of size ") +
                                                       shown(n));
  }
  case CheckKind::Slice: {
    const std::string a = number(0), e = number(1), n = dim(o.dims[0], 10);
    return unless(a + " < 0 or " + a + " > " + e + " or " + e + " > " + n,
                  "slice " + shown(a) + ".." + shown(e) + " does not fit an axis of size " + shown(n));
  }
  case CheckKind::Converts:
    return line("let _ = " + value(o.operands[0], 20) + " as " + type(o.as<CheckAttr>().type));
  case CheckKind::Divisor: return line("let _ = 1 / " + value(o.operands[0], 15));
  case CheckKind::DivideOverflow: return computed(" / ");
  case CheckKind::AddFits: return computed(" + ");
  case CheckKind::SubFits: return computed(" - ");
  case CheckKind::MulFits: return computed(" * ");
  case CheckKind::NegFits: return line("let _ = -" + value(o.operands[0], 20));
  default: return;
  }
}

} // namespace melix::decompile
