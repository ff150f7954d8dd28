#include "fuzz/programs/context.h"

namespace melix::fuzz::programs {

double Context::guess(const std::string& dim) const {
  if (isNumeral(dim)) return static_cast<double>(std::stoll(dim));
  for (const Size& s : sizes)
    if (s.name == dim) return s.guess;
  return 6;
}

bool Context::mayBeZero(const std::string& dim) const {
  if (isNumeral(dim)) return dim == "0";
  for (const Size& s : sizes)
    if (s.name == dim) return s.mayBeZero;
  return true;
}

Inner::Inner(Context& c)
    : c_(c), variables_(c.variables.size()), sizes_(c.sizes.size()), assignableFrom_(c.assignableFrom),
      result_(c.result), loops_(c.loops), prints_(c.prints), times_(c.times) {}

Inner::~Inner() {
  c_.variables.resize(variables_, Variable{});
  c_.sizes.resize(sizes_, Size{});
  c_.assignableFrom = assignableFrom_;
  c_.result = result_;
  c_.loops = loops_;
  c_.prints = prints_;
  c_.times = times_;
}

void Inner::pure() {
  c_.assignableFrom = c_.variables.size();
  c_.result = nullptr;
  c_.loops = 0;
  c_.prints = false;
}

NodePtr choose(Context& c, std::initializer_list<Alternative> alternatives) {
  size_t total = 0;
  for (const Alternative& a : alternatives) total += a.weight;
  constexpr int tries = 6;
  for (int k = 0; k < tries; ++k) {
    size_t at = c.below(total);
    for (const Alternative& a : alternatives) {
      if (at >= a.weight) {
        at -= a.weight;
        continue;
      }
      if (NodePtr made = a.make()) return made;
      break;
    }
  }
  return nullptr;
}

Type randomNumber(Context& c) {
  if (c.style.smooth) return scalar(c.chance(80) ? Kind::F64 : Kind::I64);
  static const std::vector<Kind> kinds = {Kind::I64, Kind::I64, Kind::I64, Kind::F64, Kind::F64,
                                          Kind::F64, Kind::F32, Kind::F32, Kind::I8,  Kind::U8,
                                          Kind::I16, Kind::U16, Kind::I32, Kind::U32, Kind::U64};
  return scalar(c.pick(kinds));
}

Type randomScalar(Context& c) { return c.chance(15) ? scalar(Kind::Bool) : randomNumber(c); }

std::string randomDim(Context& c) {
  if (!c.sizes.empty() && c.chance(60)) return c.pick(c.sizes).name;
  return std::to_string(c.between(1, 5));
}

Type randomType(Context& c, int depth) {
  size_t roll = depth <= 0 ? c.below(40) : c.below(100);
  if (roll < 40) return randomScalar(c);
  if (roll < 70) {
    size_t rank = 1 + (c.chance(35) ? 1 : 0) + (c.chance(8) ? 1 : 0);
    std::vector<std::string> dims;
    for (size_t k = 0; k < rank; ++k) dims.push_back(randomDim(c));
    Type element = randomScalar(c);
    if (depth > 1 && c.chance(15) && !c.program.structs.empty())
      element = structOf(c.pick(c.program.structs).name);
    double total = 1;
    for (const std::string& d : dims) total *= c.guess(d);
    if (!c.affords(total * 3)) return randomScalar(c);
    return arrayOf(element, std::move(dims));
  }
  if (roll < 78 && !c.program.structs.empty()) return structOf(c.pick(c.program.structs).name);
  if (roll < 85 && !c.program.enums.empty()) return enumOf(c.pick(c.program.enums).name);
  if (roll < 91) return listOf(randomType(c, depth > 1 && c.chance(30) ? 1 : 0));
  if (roll < 96) return tupleOf({randomType(c, depth - 1), randomType(c, depth - 1)});
  std::vector<Type> parameters = {randomScalar(c)};
  if (c.chance(40)) parameters.push_back(randomScalar(c));
  return functionOf(std::move(parameters), randomScalar(c));
}

} // namespace melix::fuzz::programs
