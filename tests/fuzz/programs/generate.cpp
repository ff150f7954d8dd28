#include "fuzz/programs/generate.h"

#include "fuzz/programs/context.h"

namespace melix::fuzz::programs {

namespace {

constexpr double costOfProgram = 40'000; ///< nodes evaluated, guessed
constexpr double largeSize = 5'000;      ///< elements that several threads share

/// At the end everything is printed once more: what a later statement changed shows.
void printAll(Context& c, std::vector<NodePtr>& out) {
  for (const Variable& v : c.variables)
    if (printable(v.type)) out.push_back(make(Form::Print, unit(), {nameOf(v.name, v.type)}));
}

/// A size that the compiler cannot know, and an array of it.
void largeArray(Context& c, std::vector<NodePtr>& out) {
  std::string size = c.freshName("K"), name = c.freshName("x");
  Type element = c.chance(50) ? scalar(Kind::F64) : scalar(Kind::I64);
  std::string index = c.freshName("i");
  NodePtr range = make(Form::Range, unit(), {number(0), number(static_cast<int64_t>(c.style.large))}, index);
  NodePtr remainder =
      make(Form::Binary, scalar(Kind::I64), {nameOf(index, scalar(Kind::I64)), number(17)}, "%");
  NodePtr value = remainder;
  if (element->kind == Kind::F64)
    value = make(Form::Binary, element,
                 {make(Form::Convert, element, {remainder}, "as"), literal(element, 0, 0.25)}, "*");
  NodePtr array = make(Form::Builder, arrayOf(element, {"?"}), {range, value});
  NodePtr let = make(Form::Let, unit(), {array}, name);
  let->asked = arrayOf(element, {"?" + size});
  out.push_back(let);
  c.sizes.push_back({size, c.style.large, false});
  c.variables.push_back({name, arrayOf(element, {size})});
}

} // namespace

Program generateValues(Random& random) {
  Program program;
  Context c{random, program};
  c.style.elementary = c.chance(20);
  c.style.risky = c.chance(35);
  c.style.large = c.chance(8) ? largeSize : 0;
  program.strict = c.chance(50);
  declareTypes(c);
  c.limit = 1000;
  declareFunctions(c, 1 + c.below(5));
  c.limit = c.style.large ? c.style.large * 120 : costOfProgram;
  c.cost = 0;
  c.prints = true;
  std::vector<NodePtr> script;
  if (c.style.large) largeArray(c, script);
  statements(c, script, 3 + c.below(9), 4);
  printAll(c, script);
  program.script = block(std::move(script));
  return program;
}

Program generate(Subject subject, Random& random) {
  switch (subject) {
  case Subject::Derivatives: return generateDerivatives(random);
  case Subject::Indices: return generateIndices(random);
  case Subject::Sizes: return generateSizes(random);
  case Subject::Domains: return generateDomains(random);
  default: return generateValues(random);
  }
}

} // namespace melix::fuzz::programs
