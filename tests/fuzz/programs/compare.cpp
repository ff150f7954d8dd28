#include "fuzz/programs/compare.h"

#include "fuzz/programs/evaluate.h"
#include "fuzz/programs/write.h"

namespace melix::fuzz::programs {

namespace {

constexpr int panicked = 101;

/// The first lines that differ.
std::string difference(const std::string& a, const std::string& b) {
  size_t start = 0;
  for (size_t k = 0; k < a.size() && k < b.size() && a[k] == b[k]; ++k)
    if (a[k] == '\n') start = k + 1;
  auto line = [&](const std::string& s) {
    return start < s.size() ? s.substr(start, s.find('\n', start) - start) : "(nothing)";
  };
  return "  " + line(a) + "\n  " + line(b) + "\n";
}

std::string statusText(const Outcome& o) {
  if (o.slow) return "takes too long";
  if (o.status >= 256) return "signal " + std::to_string(o.status - 256);
  return "exit status " + std::to_string(o.status);
}

/// The line of `MELIX_STATS`, taken out of what a program wrote; how many blocks still live.
std::string takeLiveBlocks(Outcome& o) {
  const std::string head = "melix: live blocks ";
  size_t at = o.errors.rfind(head);
  if (at == std::string::npos) return "";
  std::string count = o.errors.substr(at + head.size(), o.errors.find(',', at) - at - head.size());
  o.errors.erase(at, o.errors.find('\n', at) - at + 1);
  return count;
}

/// What one run shows by itself.
std::optional<Finding> sane(const Outcome& o, const std::string& liveBlocks) {
  if (o.status >= 256 || o.slow)
    return Finding{"ends: " + o.way, o.way + ": " + statusText(o) + "\n" + o.errors};
  for (const char* own : {"bug of the", "an index is out of range", "an element of a list is out of range",
                          "an undefined value", "runtime error:", "AddressSanitizer"})
    if (o.errors.find(own) != std::string::npos) return Finding{"bug: " + o.way, o.way + ": " + o.errors};
  if (o.status != 0 && o.status != panicked)
    return Finding{"ends: " + o.way, o.way + ": " + statusText(o) + "\n" + o.errors};
  if (!liveBlocks.empty() && liveBlocks != "0")
    return Finding{"leaks: " + o.way, o.way + ": " + liveBlocks + " live blocks at the end\n"};
  return std::nullopt;
}

std::optional<Finding> agree(const Outcome& a, const Outcome& b) {
  std::string both = a.way + " and " + b.way;
  if (a.output != b.output)
    return Finding{"output: " + both,
                   both + " print\n" + difference(a.output, b.output) + a.errors + b.errors};
  if (a.status != b.status)
    return Finding{"status: " + both,
                   both + ": " + statusText(a) + ", " + statusText(b) + "\n" + a.errors + b.errors};
  if (a.errors != b.errors)
    return Finding{"errors: " + both, both + " say\n" + difference(a.errors, b.errors)};
  return std::nullopt;
}

std::optional<Finding> asExpected(const Expected& expected, const Outcome& o) {
  bool panics = o.status == panicked;
  std::string wanted = expected.panic ? "panic: " + expected.panic->message : "no panic";
  if (expected.panic.has_value() != panics)
    return Finding{"evaluator: panic",
                   "expected " + wanted + "; " + o.way + ": " + statusText(o) + "\n" + o.errors};
  bool certain = !expected.panic || expected.panic->certain;
  if (expected.output != o.output)
    return Finding{"evaluator: output",
                   "expected, and " + o.way + "\n" + difference(expected.output, o.output)};
  if (panics && certain && o.errors.find(wanted + "\n") == std::string::npos)
    return Finding{"evaluator: message", "expected " + wanted + "; " + o.way + ": " + o.errors};
  return std::nullopt;
}

bool hasFloats(const Program& program) {
  bool found = false;
  walk(program, [&](const NodePtr& n) { found = found || (n->type && isFloat(n->type->kind)); });
  return found;
}

/// Products of many floats round, and how depends on their order.
bool hasFloatProducts(const Program& program) {
  bool found = false;
  walk(program, [&](const NodePtr& n) {
    found = found || (n->form == Form::Reduce && n->name == "prod" && n->type && isFloat(n->type->kind));
  });
  return found;
}

/// Whether the evaluator's bits are those of every way to run the program.
bool exactly(const Case& c) {
  if (c.options.strict || c.subject == Subject::Domains || !hasFloats(c.program)) return true;
  return c.subject == Subject::Indices && !hasFloatProducts(c.program);
}

size_t countNumbers(const std::string& output) {
  size_t count = 0;
  bool inside = false;
  for (char ch : output) {
    bool digit = ch >= '0' && ch <= '9';
    count += digit && !inside;
    inside = digit || (inside && ch == '.');
  }
  return count;
}

/// The checker may refuse an index that leaves the range for some value of the names around it, and a slice
/// that never is one, wherever it stands: in what is never run too.
bool refusedForRange(const Case& c, const Runs& runs) {
  auto tells = [&](const char* id) { return runs.refused && runs.problem.find(id) != std::string::npos; };
  if (c.subject == Subject::Indices && (tells("[index-out-of-range]") || tells("[index-leaves-range]")))
    return true;
  return tells("[slice-backwards]");
}

/// Where a message about a refused program is, without the program's own words.
std::string diagnosticId(const std::string& text) {
  size_t end = text.find("]\n"), begin = text.rfind('[', end);
  return end == std::string::npos || begin == std::string::npos ? "" : text.substr(begin, end - begin + 1);
}

} // namespace

std::optional<Finding> check(const Case& c, Checked& checked) {
  Runs runs = runEveryWay(write(c.program), c.options);
  if (!runs.compiled) {
    checked.refused = refusedForRange(c, runs);
    if (checked.refused) return std::nullopt;
    return Finding{(runs.refused ? "refused " : "compiler ") + diagnosticId(runs.problem), runs.problem};
  }
  if (!runs.problem.empty()) return Finding{"compiler writes", runs.problem};
  for (Outcome& o : runs.outcomes) {
    std::string live = takeLiveBlocks(o);
    if (auto found = sane(o, live)) return found;
  }
  const Outcome& first = runs.outcomes.front();
  for (Outcome& o : runs.outcomes) {
    if (o.rounds) {
      if (auto found = checkRounding(first.output, o.output)) return found;
      o.output = first.output;
    }
    if (auto found = agree(first, o)) return found;
  }
  Expected expected = evaluate(c.program, c.subject == Subject::Indices);
  checked.panicked = first.status == panicked;
  checked.evaluated = expected.known && exactly(c);
  if (checked.evaluated) {
    if (auto found = asExpected(expected, first)) return found;
    checked.numbers = countNumbers(first.output);
  }
  if (c.subject == Subject::Sizes) return checkSizes(first.output, checked.panicked);
  return c.subject == Subject::Derivatives ? checkDerivatives(first.output, checked) : std::nullopt;
}

} // namespace melix::fuzz::programs
