#include "fuzz/programs/coverage.h"

#include <set>

namespace melix::fuzz::programs {

namespace {

/// A construct and, where one form stands for several, which.
std::string constructOf(const Node& n) {
  std::string out = nameOf(n.form);
  switch (n.form) {
  case Form::Unary:
  case Form::Binary:
  case Form::Convert:
  case Form::Builtin:
  case Form::Reduce:
  case Form::Assign:
  case Form::Gradient:
  case Form::Zeros: return out + " " + n.name;
  case Form::Literal: return out + " " + (n.type ? n.type->text : "");
  case Form::Builder: return n.flag ? "filter" : out;
  default: return out;
  }
}

bool namesSizes(const Type& type) {
  if (!type) return false;
  for (const std::string& d : type->dims)
    if (!isNumeral(d)) return true;
  for (const Type& part : type->parts)
    if (namesSizes(part)) return true;
  return false;
}

/// Functions whose results the script names.
size_t calledByScript(const Program& program) {
  std::set<std::string> names;
  for (const NodePtr& n : program.script->kids)
    if (n->form == Form::Let && n->kids[0]->form == Form::Call) names.insert(n->kids[0]->name);
  names.erase("hidden");
  return names.size();
}

} // namespace

void Coverage::add(const Case& c, const Checked& checked) {
  std::set<std::string> held;
  bool repeats = false, unknown = false;
  walk(c.program, [&](const NodePtr& n) {
    held.insert(constructOf(*n));
    repeats = repeats || n->form == Form::While || n->form == Form::Loop;
    unknown = unknown || namesSizes(n->type) || namesSizes(n->asked);
    gradients_ += n->form == Form::Gradient;
  });
  for (const auto& f : c.program.functions) {
    repeats = repeats || f->recursive;
    if (f->recursive) held.insert("recursive function");
    if (!f->variables.empty()) held.insert("generic function");
    if (f->result->kind == Kind::Unit) held.insert("inout function");
  }
  for (const std::string& name : held) ++constructs_[name];
  ++programs_;
  functions_ += calledByScript(c.program);
  numbers_ += checked.numbers;
  repeating_ += repeats;
  unknownSizes_ += unknown;
  evaluated_ += checked.evaluated;
  panicked_ += checked.panicked;
  refused_ += checked.refused;
  derivatives_ += checked.derivatives;
  kinks_ += checked.kinks;
}

std::string Coverage::report() const {
  std::string out;
  size_t column = 0;
  for (const auto& [name, count] : constructs_) {
    std::string cell = name + " " + std::to_string(count);
    out += cell;
    bool last = ++column % 4 == 0;
    out += last ? "\n" : std::string(cell.size() < 28 ? 28 - cell.size() : 1, ' ');
  }
  if (column % 4) out += "\n";
  auto share = [&](const char* what, unsigned count) {
    out += std::string(what) + ": " + std::to_string(programs_ ? 100 * count / programs_ : 0) + " %\n";
  };
  out += std::to_string(programs_) + " programs\n";
  share("with recursion or while", repeating_);
  share("with sizes unknown when compiling", unknownSizes_);
  share("compared with the evaluator", evaluated_);
  share("ended by a panic", panicked_);
  share("refused for an index that leaves its range", refused_);
  out += std::to_string(functions_) + " functions called by scripts, " + std::to_string(gradients_) +
         " exact gradients, " + std::to_string(numbers_) + " numbers as the evaluator says\n";
  out += std::to_string(derivatives_) + " derivatives compared, " + std::to_string(kinks_) +
         " left out near a kink\n";
  return out;
}

} // namespace melix::fuzz::programs
