// Operators that do not apply to what they are given, and what was meant.
#include "check/tree/build.h"

namespace melix::check {

/// How products of a batch are written, where `@` is given arrays of matrices; empty where it is not.
static std::string productsHint(NodeBuilder& b, TypeId left, TypeId right) {
  const size_t leftRank = b.types.rank(left), rightRank = b.types.rank(right);
  if (leftRank == 0 || rightRank < 3 || !b.isNumber(b.types.element(left)) ||
      !b.isNumber(b.types.element(right)))
    return {};
  std::string names;
  for (size_t k = 0; k + 2 < rightRank; ++k) names += k == 0 ? "h" : ", h" + std::to_string(k);
  const std::string at = "[" + names + "]";
  const std::string product = "a" + (leftRank > 2 ? at : "") + " @ b" + at;
  std::string hint =
      "`@` takes matrices and vectors: `[for " + names + ": " + product + "]` is a product of each";
  if (leftRank == 3 && rightRank == 3) hint += ", and so is `vmap((a, b) => a @ b)(a, b)`";
  return hint;
}

/// Of an operator between a List and a number: it is for the elements.
std::string NodeBuilder::eachHint(BinaryKind kind, NodeId a, NodeId b) {
  const bool isLeft = types.kind(typeOf(a)) == TypeKind::List;
  const NodeId list = isLeft ? a : b, other = isLeft ? b : a;
  const TypeId element = infer.shallow(types[typeOf(list)].parts[0]);
  if (!isNumber(element) || !isNumber(types.element(typeOf(other)))) return {};
  const std::string written = library.writtenOperand(spanOf(list)),
                    scalar = library.writtenOperand(spanOf(other)), sign(binaryText(kind));
  if (kindOf(other) == TypeKind::Array)
    return "`array(" + written + ")` is the array of the elements of a List";
  return "of each element: `list(for x in " + written + ": " +
         (isLeft ? "x " + sign + " " + scalar : scalar + " " + sign + " x") + ")`";
}

/// Of a comparison of a character with a text.
std::string NodeBuilder::textHint(BinaryKind kind, NodeId a, NodeId b) {
  const bool isLeft = kindOf(a) == TypeKind::Char;
  const NodeId character = isLeft ? a : b, text = isLeft ? b : a;
  if (kindOf(character) != TypeKind::Char || kindOf(text) != TypeKind::Str) return {};
  const std::string letter = library.writtenOperand(spanOf(character)), sign(binaryText(kind));
  std::string written = library.writtenOperand(spanOf(text));
  const bool isLetter = instance.nodes[text].kind == NodeKind::Const && written.size() > 2 &&
                        (written.size() == 3 || written[1] == '\\' || (written[1] & 0x80));
  if (!isLetter) return "`str(" + letter + ")` is the string of a character";
  written.front() = written.back() = '\'';
  return "a character stands in single quotes: `" +
         (isLeft ? letter + " " + sign + " " + written : written + " " + sign + " " + letter) + "`";
}

NodeId NodeBuilder::operatorError(BinaryKind kind, NodeId a, NodeId b, Span span) {
  if (lacksFor(kind, typeOf(a), span) || lacksFor(kind, typeOf(b), span)) return error(span);
  Diagnostic& d = sink.report(DiagId::OperatorTypes, span, "`" + std::string(binaryText(kind)) + "`",
                              show(typeOf(a)), show(typeOf(b)));
  const bool joinsText = kind == BinaryKind::Add &&
                         (types.kind(typeOf(a)) == TypeKind::Str) != (types.kind(typeOf(b)) == TypeKind::Str);
  if (kind == BinaryKind::MatMul) d.hint = productsHint(*this, typeOf(a), typeOf(b));
  const std::string left = library.takesOut(typeOf(a)), right = library.takesOut(typeOf(b));
  if (left.empty() != right.empty()) d.hint = left + right;
  if (kind == BinaryKind::Add && types.kind(typeOf(a)) == TypeKind::List &&
      types.kind(typeOf(b)) == TypeKind::List)
    d.hint = "`+` adds tangents: `concat(xs, ys)` joins two Lists";
  if (kind == BinaryKind::Mul && types.kind(typeOf(a)) == TypeKind::Str && isNumber(typeOf(b)))
    d.hint = "`s.repeat(n)` is a string `n` times";
  if (types.kind(typeOf(a)) == TypeKind::List || types.kind(typeOf(b)) == TypeKind::List)
    if (const std::string each = eachHint(kind, a, b); !each.empty()) d.hint = each;
  if (kind >= BinaryKind::Eq)
    if (const std::string compared = textHint(kind, a, b); !compared.empty()) d.hint = compared;
  const bool formatsText = kind == BinaryKind::Rem && types.kind(typeOf(a)) == TypeKind::Str;
  if (joinsText || formatsText) d.hint = "values stand in braces in a string: `\"n = {n}\"`";
  return error(span);
}

} // namespace melix::check
